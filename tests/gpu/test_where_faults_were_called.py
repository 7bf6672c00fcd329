"""The exception of a bad value says which call of the program has found it."""

import os
import sys
import threading

import numpy as np
import pytest
from emulator import places

import autograd_cy as torch
from autograd_cy._C import cuda_calls, cuda_scatter

F = torch.nn.functional
HERE = __file__
ZERO = torch.tensor([1, 0, 2])


@pytest.fixture(params=[True, False], ids=["inside", "objects"])
def frames(request):
    """Both ways to read frames."""
    (torch.ones(2, device="cuda").int() // 1).tolist()  # the first call chooses
    before = cuda_calls.read_inside(request.param)
    yield
    cuda_calls.read_inside(before)


def line():
    return sys._getframe(1).f_lineno


def told(error):
    """The part of a message after the CPU's text."""
    if hasattr(error, "__notes__"):
        return error.__notes__
    return str(error).split("\n")[1:]


def text(error):
    return str(error) if hasattr(error, "__notes__") else str(error).split("\n")[0]


def raised(wait=torch.cuda.synchronize):
    with pytest.raises(Exception) as caught:
        wait()
    return caught.value


def floor_divide(device):
    return torch.tensor([4, 5, 6]).to(device) // ZERO.to(device), line(), "floor_divide"


def remainder_of_rows(device):
    rows = torch.arange(6).reshape(2, 3).to(device).t()
    return rows % torch.zeros(3, 2, dtype=torch.int64).to(device), line(), "remainder"


def in_place(device):
    x = torch.tensor([4, 5, 6]).to(device)
    return x.fmod_(ZERO.to(device)), line(), "fmod"


def probabilities(device):
    x, y = torch.tensor([0.5, 2.0]).to(device), torch.ones(2).to(device)
    return F.binary_cross_entropy(x, y), line(), "binary_cross_entropy"


def a_layer(device):
    loss = torch.nn.BCELoss()
    x, y = torch.tensor([0.5, 0.1]).to(device), torch.full((2,), -1.0).to(device)
    return loss(x, y), line(), "binary_cross_entropy"


def rows_by_index(device):
    x, i = torch.ones(3, 2).to(device), torch.tensor([0, 7]).to(device)
    return x.index_select(0, i), line(), "index_select"


def elements_by_index(device):
    x, i = torch.ones(3, 2).to(device), torch.tensor([0, 7]).to(device)
    return x[i], line(), "index"


def gathered(device):
    x, i = torch.ones(3, 2).to(device), torch.tensor([[0, 7]]).to(device)
    return x.gather(0, i), line(), "gather"


def added_by_a_short_index(device):
    x, i = torch.ones(3, 2).to(device), torch.tensor([[0, 7]]).to(device)
    return x.scatter_add(0, i, torch.ones(1, 2).to(device)), line(), "scatter_add"


def added_after_sorting(device):
    x, i = torch.ones(3).to(device), torch.tensor([0, 7]).to(device)
    before = cuda_scatter._look_through(0, 0)
    try:
        return x.index_add(0, i, torch.ones(2).to(device)), line(), "index_add"
    finally:
        cuda_scatter._look_through(*before)


def written_by_index(device):
    x, i = torch.ones(3).to(device), torch.tensor([0, 7]).to(device)
    return x.index_put((i,), torch.ones(2).to(device)), line(), "index_put"


CALLS = [
    floor_divide,
    remainder_of_rows,
    in_place,
    probabilities,
    a_layer,
    rows_by_index,
    elements_by_index,
    gathered,
    added_by_a_short_index,
    added_after_sorting,
    written_by_index,
]


@pytest.mark.parametrize("call", CALLS)
def test_the_line_of_the_call_is_in_the_exception(frames, call):
    cpu = raised(lambda: call("cpu"))
    _, at, op = call("cuda")
    later = torch.ones(2, device="cuda") + 1
    error = raised()
    assert type(error) is type(cpu) and text(error) == str(cpu)
    assert told(error) == [
        f"Found on device 'cuda:0' by {op}, called in File \"{HERE}\", line {at}, in "
        f"{call.__name__}"
    ]
    assert later.tolist() == [2.0, 2.0]
    torch.cuda.synchronize()


def test_steps_of_optimizers_say_where_they_were_called(frames):
    p = torch.ones(2, device="cuda", requires_grad=True)
    adam = torch.optim.Adam([p], fused=True)
    p.grad = torch.ones_like(p)
    adam.step()
    adam.state[p]["step"].fill_(float("nan"))
    adam.step()
    at = line() - 1
    error = raised()
    assert isinstance(error, ValueError) and "steps are counted from 1" in text(error)
    assert told(error)[0].endswith(f'File "{HERE}", line {at}, in {sys._getframe().f_code.co_name}')


def test_backward_says_where_backward_was_called(frames):
    class Divides(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            floor_divide("cuda")
            return g

    x = torch.ones(3, device="cuda", requires_grad=True)
    Divides.apply(x).sum().backward()
    assert told(raised())[0].endswith("in floor_divide")
    x = torch.tensor([0.5, 2.0], device="cuda", requires_grad=True)
    F.binary_cross_entropy(x, torch.ones(2, device="cuda")).backward()
    assert f"line {line() - 1}, " in told(raised())[0]


def divide(a, b):
    return a // b


def test_the_first_of_several_is_named():
    a, b = torch.ones(3, device="cuda").int(), torch.ones(3, device="cuda").int()
    zero = b * 0
    for c in (b, zero, b, zero):
        divide(a, c)
        torch.cuda.current_stream().query()
    lines = [divide(a, b), divide(a, b)]
    assert told(raised()) == [
        f"Found on device 'cuda:0' by floor_divide, called in File \"{HERE}\", line "
        f"{divide.__code__.co_firstlineno + 1}, in divide"
    ]
    assert all(x.tolist() == [1, 1, 1] for x in lines)


@pytest.mark.emulated
@pytest.mark.skipif(os.environ.get("EMU_ORDER", "late") != "late", reason="kernels run in time")
def test_only_the_operator_is_known_when_others_have_taken_the_place():
    a, b = torch.ones(3, device="cuda").int(), torch.ones(3, device="cuda").int()
    for more in (cuda_calls.call_capacity() - 1, cuda_calls.call_capacity()):
        zero = b * 0
        divide(a, zero)
        for _ in range(more):
            divide(a, b)
        error = raised()
        assert text(error) == "ZeroDivisionError: integer division or remainder by zero"
        if more < cuda_calls.call_capacity():
            assert told(error)[0].endswith("in divide")
    assert told(error) == [
        "Found on device 'cuda:0' by floor_divide, before the last 4,096 calls that can find such "
        "a value"
    ]


def test_a_fault_that_was_seen_in_time_keeps_its_line():
    a, b = torch.ones(3, device="cuda").int(), torch.ones(3, device="cuda").int()
    divide(a, b * 0)
    done = torch.cuda.Event()
    done.record()
    while not done.query():  # that looks at the stream and raises nothing
        torch.cuda.current_stream().query()
    for _ in range(cuda_calls.call_capacity() + 10):
        divide(a, b)
    assert "in divide" in told(raised())[0]
    divide(a, b * 0)
    assert "in divide" in told(raised())[0]


@pytest.mark.parametrize("streams", [2, 5])
def test_each_of_several_streams(streams):
    a, b = torch.ones(3, device="cuda").int(), torch.ones(3, device="cuda").int()
    zero = b * 0
    torch.cuda.synchronize()
    queues = [torch.cuda.Stream() for _ in range(streams)]
    for k in range(streams):
        names = {}
        exec(f"def on_{k}(a, b): return a // b", names)
        for i, queue in enumerate(queues):
            with torch.cuda.stream(queue):
                names[f"on_{k}"](a, zero if i == k else b)
        assert f"in on_{k}" in told(raised(queues[k].synchronize))[0]
    torch.cuda.synchronize()


def test_each_of_two_devices():
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    for index in (0, 1, 1, 0):
        floor_divide(f"cuda:{index}")
    _, at, _ = floor_divide("cuda:1")
    for index in (1, 0):
        error = raised(lambda index=index: torch.cuda.synchronize(index))
        assert f"device 'cuda:{index}'" in told(error)[0] and f"line {at}," in told(error)[0]
        torch.cuda.synchronize(index)


def test_threads():
    names = [f"in_thread_{k}" for k in range(4)]
    seen = []

    def work(name):
        found = {}
        exec(f"def {name}(a, b): return a // b", found)
        a = torch.ones(3, device="cuda").int()
        found[name](a, a * 0)

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
        thread.join()
        seen.append(told(raised())[0].rpartition(" ")[2])
    assert seen == names


def test_code_that_has_gone_is_kept_for_its_name():
    found = {}
    exec("def gone(a, b): return a // b", found)
    a = torch.ones(3, device="cuda").int()
    found.pop("gone")(a, a * 0)
    found.clear()
    assert "in gone" in told(raised())[0]


def test_floats_cost_no_note():
    before = cuda_calls.noted_calls()
    x = torch.ones(3, device="cuda")
    (x / 0 + x).sum().item()
    F.mse_loss(x, x).item()
    assert cuda_calls.noted_calls() == before
    (x.int() // 1).tolist()
    assert cuda_calls.noted_calls() == before + 1


@pytest.mark.emulated
def test_launches_that_wait_say_it_at_once():
    import subprocess

    program = (
        "import autograd_cy as torch\n"
        "a = torch.ones(3, device='cuda').int()\n"
        "try:\n"
        "    a // (a * 0)\n"
        "except RuntimeError as error:\n"
        "    print(error, *getattr(error, '__notes__', ()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=places.environment(CUDA_LAUNCH_BLOCKING="1"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "ZeroDivisionError" in done.stdout and "line 4, in <module>" in done.stdout


def test_values_beside_the_bad_one_are_there():
    a = torch.tensor([6, 7, 8]).to("cuda")
    q = a // torch.tensor([2, 0, 4]).to("cuda")
    raised()
    assert np.array_equal(np.array(q.tolist())[[0, 2]], [3, 2])
