"""The error that a forked child gets, and the work that a spawned one can do."""

import pytest
from core_scripts import told

WORDS = "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must"

FORK = """
import os
def child(work):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except RuntimeError as error:
            print(type(error).__name__, str(error), flush=True)
            status = 3
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""

TOUCHES = {
    "a new tensor": "torch.ones(3).to('cuda')",
    "an operation": "x + 1",
    "a read": "x.cpu()",
    "an item": "x[0].item()",
    "a new stream": "torch.cuda.Stream()",
    "an event": "torch.cuda.Event().record()",
    "a synchronisation": "torch.cuda.synchronize()",
    "an allocation": "torch.empty(10, device='cuda')",
    "pinned memory": "torch.ones(10000).pin_memory()",
    "free memory": "torch.cuda.mem_get_info()",
    "properties": "torch.cuda.get_device_properties(0).name",
    "backward": "x.detach().requires_grad_().sum().backward()",
}


@pytest.mark.parametrize("touch", TOUCHES)
def test_a_forked_child_gets_torchs_error_and_the_parent_goes_on(touch):
    out = told(
        FORK
        + f"""
x = torch.arange(3.0).to("cuda")
s = torch.cuda.Stream()
assert child(lambda: {TOUCHES[touch]}) == 3
print((x + 1).tolist())
"""
    )
    first, last = out.splitlines()
    assert first.startswith("RuntimeError " + WORDS), first
    assert last == "[1.0, 2.0, 3.0]"


def test_a_forked_child_works_on_the_cpu_and_lets_go_of_what_it_inherited():
    out = told(
        FORK
        + """
import gc
x = torch.arange(3.0).to("cuda")
s, p = torch.cuda.Stream(), torch.ones(10).pin_memory()
q = p.to("cuda", non_blocking=True)
def work():
    global x, s, p, q
    y = torch.ones(3, requires_grad=True)
    (y * 2).sum().backward()
    print(y.grad.tolist(), flush=True)
    del x, s, p, q
    gc.collect()
assert child(work) == 0
print(x.tolist(), q.sum().item())
"""
    )
    assert out.splitlines() == ["[2.0, 2.0, 2.0]", "[0.0, 1.0, 2.0] 10.0"]


def test_a_forked_child_seeds_and_draws_on_the_cpu():
    out = told(
        FORK
        + """
torch.rand(3, device="cuda")
torch.manual_seed(5)
expected = torch.rand(3, device="cuda").tolist()
def work():
    torch.manual_seed(5)
    with torch.random.fork_rng():
        torch.rand(2)
    print(torch.rand(1).item() == torch.rand(1, generator=torch.Generator().manual_seed(5)).item(),
          flush=True)
    try:
        torch.rand(1, device="cuda")
    except RuntimeError as error:
        print(error, flush=True)
torch.manual_seed(5)
assert child(work) == 0
print(torch.rand(3, device="cuda").tolist() == expected)
"""
    )
    seeded, error, same = out.splitlines()
    assert seeded == same == "True" and error.startswith(WORDS)


def test_workers_of_a_loader_start_where_a_gpu_has_drawn_numbers():
    out = told(
        """
import autograd_cy as torch
torch.rand(3, device="cuda")
loader = torch.utils.data.DataLoader(torch.arange(6.0), batch_size=3, num_workers=2)
print([batch.to("cuda").tolist() for batch in loader])
"""
    )
    assert out.strip() == "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"


def test_a_child_lets_go_of_memory_that_other_streams_used():
    out = told(
        FORK
        + """
import gc
held = [torch.ones(3, device="cuda"), torch.ones(3).pin_memory()]
s = torch.cuda.Stream()
held[0].record_stream(s)
with torch.cuda.stream(s):
    held.append(held[1].to("cuda", non_blocking=True))
def work():
    held.clear()
    gc.collect()
print(child(work), (held[0] + 1).tolist())
"""
    )
    assert out.split() == ["0", "[2.0,", "2.0,", "2.0]"]


def test_a_child_that_was_forked_before_the_first_use_can_use_the_gpu():
    out = told(FORK + "assert child(lambda: print((torch.ones(2).to('cuda') + 1).tolist())) == 0")
    assert out.strip() == "[2.0, 2.0]"


def test_a_child_ends_silently_by_its_own_exit():
    out = told(
        FORK
        + """
x = torch.ones(3).to("cuda")
sys.stdout.flush()
pid = os.fork()
if pid == 0:
    try:
        x + 1
    except RuntimeError:
        pass
    sys.exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    )
    assert out.strip() == "0"


def test_counting_gpus_does_not_start_them_and_works_in_a_child():
    out = told(
        FORK
        + """
n = torch.cuda.device_count()
assert n and torch.cuda.is_available() and not torch.cuda.is_initialized()
def work():
    assert torch.cuda.device_count() == n
assert child(work) == 0
print(n)
"""
    )
    assert int(out) >= 1


def test_spawned_children_can_use_the_gpu(tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text(
        """
import multiprocessing as mp
import autograd_cy as torch

def work(n, queue):
    queue.put((torch.arange(float(n)).to("cuda") * 2).tolist())

if __name__ == "__main__":
    x = torch.ones(2).to("cuda")
    context = mp.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=work, args=(3, queue))
    child.start()
    print(queue.get(timeout=60))
    child.join()
    print(child.exitcode)
"""
    )
    out = told(f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')", begin="")
    assert out.splitlines() == ["[0.0, 2.0, 4.0]", "0"]
