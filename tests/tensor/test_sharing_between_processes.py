"""
Tensors that several processes see: by every start method, through queues, pipes and pools.

The programs are files, as spawned processes import them. What a child wrote, the parent must see.
"""

import os
import pickle
import subprocess
import sys
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest

import autograd_cy as ag
from autograd_cy import multiprocessing as mp

ROOT = Path(ag.__file__).parents[1]
FOLDER = Path("/dev/shm")
STRATEGIES = sorted(mp.get_all_sharing_strategies())

HEAD = """
import sys
import autograd_cy as ag
import autograd_cy.multiprocessing as mp
from autograd_cy._tensors import sharing
mp.set_sharing_strategy(sys.argv[2])
sharing.PREFIX = sys.argv[3]
"""


def run(tmp_path, text, method="spawn", strategy="file_descriptor", timeout=120):
    path = tmp_path / "program.py"
    path.write_text(HEAD + text)
    environ = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, str(path), method, strategy, prefix(tmp_path)],
        env=environ, text=True, capture_output=True, timeout=timeout,
    )  # fmt: skip


def said(*args, **kwargs):
    done = run(*args, **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr
    # The resource tracker complains of what was left behind.
    assert not done.stderr.strip(), done.stderr
    return done.stdout.split()


def prefix(tmp_path):
    """The beginning of names of this test's files, which no process beside it makes."""
    return f"autograd_cy_{os.getpid()}_{tmp_path.name}_"


def left(tmp_path):
    """Shared files that the program of a test has left behind."""
    return sorted(FOLDER.glob(prefix(tmp_path) + "*")) if FOLDER.is_dir() else []


# --- everything that travels --------------------------------------------------------------------

ALL = """
def child(shared, queue, answers, pipe, model):
    shared += 1
    x = queue.get()
    x.fill_(4)
    view, base = queue.get()
    assert view.data_ptr() == base.data_ptr() + 8, (view, base)
    view.mul_(10)
    assert base.tolist() == [0, 1, 20, 30, 40], base
    p = queue.get()
    assert type(p) is ag.nn.Parameter and p.requires_grad and p.grad is None
    with ag.no_grad():
        p.add_(1)
    y = pipe.recv()
    y[0] = 7
    pipe.send(y[1:])
    with ag.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.5)
    model.running.add_(3)
    answers.put(ag.arange(3.0))
    answers.put(ag.nn.Parameter(ag.ones(2)))
    assert queue.get() == "end"

class Model(ag.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = ag.nn.Linear(2, 3)
        self.register_buffer("running", ag.zeros(2))

if __name__ == "__main__":
    context = mp.get_context(sys.argv[1])
    queue, answers = context.Queue(), context.Queue()
    ours, theirs = context.Pipe()
    shared = ag.zeros(4).share_memory_()
    model = Model().share_memory()
    process = context.Process(target=child, args=(shared, queue, answers, theirs, model))
    process.start()
    x, base = ag.zeros(2), ag.arange(5.0)
    p = ag.nn.Parameter(ag.zeros(3))
    queue.put(x)
    base.share_memory_()
    queue.put((base[2:], base))
    queue.put(p)
    y = ag.zeros(4, dtype=ag.int64)
    ours.send(y)
    back = ours.recv()
    back[0] = 8
    answer, parameter = answers.get(timeout=60), answers.get(timeout=60)
    queue.put("end")
    process.join()
    assert process.exitcode == 0, process.exitcode
    assert shared.tolist() == [1] * 4, shared
    assert x.tolist() == [4, 4], x
    assert base.tolist() == [0, 1, 20, 30, 40], base
    assert p.tolist() == [1, 1, 1] and p.is_leaf and p.is_shared(), p
    assert y.tolist() == [7, 8, 0, 0], y
    assert all((w == 0.5).all() for w in model.parameters()), list(model.parameters())
    assert model.running.tolist() == [3, 3]
    assert answer.tolist() == [0, 1, 2] and answer.is_shared()
    assert type(parameter) is ag.nn.Parameter and parameter.tolist() == [1, 1]
    print("right")
"""


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_the_parent_sees_what_a_child_wrote(tmp_path, method, strategy):
    assert said(tmp_path, ALL, method, strategy) == ["right"]
    assert not left(tmp_path)


POOL = """
def double(x):
    return x * 2
def write(x):
    x.fill_(3)
    return x
def fail(x):
    return (x.clone().requires_grad_() * 2)
if __name__ == "__main__":
    given = [ag.arange(3.0) + i for i in range(6)]
    with mp.get_context(sys.argv[1]).Pool(2) as pool:
        assert [x.tolist() for x in pool.map(double, given)] == [(x * 2).tolist() for x in given]
        assert all(x.tolist() == [3, 3, 3] for x in pool.map(write, given))
        assert all(x.tolist() == [3, 3, 3] for x in given), given
        try:
            pool.map(fail, given)
        except Exception as error:
            assert "requires_grad" in str(error), error
            print("refused")
        # The end of the block kills workers, also those about to forget what they have sent.
        pool.close()
        pool.join()
"""


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_pools_share_arguments_and_results(tmp_path, strategy):
    assert said(tmp_path, POOL, "spawn", strategy) == ["refused"]
    assert not left(tmp_path)


ENDING = """
import time
def child(queue, done):
    for i in range(3):
        queue.put(ag.full((1000,), float(i)))
    done.set()
if __name__ == "__main__":
    context = mp.get_context(sys.argv[1])
    for kind in (context.SimpleQueue, context.Queue):
        queue, done = kind(), context.Event()
        process = context.Process(target=child, args=(queue, done))
        process.start()
        done.wait()
        time.sleep(0.1)             # it is at its end now
        print(*[int(queue.get()[0]) for _ in range(3)])
        process.join()
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_process_that_ends_waits_until_what_it_sent_was_fetched(tmp_path, method):
    assert said(tmp_path, ENDING, method) == ["0", "1", "2"] * 2


@pytest.mark.skipif("file_system" not in STRATEGIES, reason="needs /dev/shm")
def test_nothing_is_left_behind_by_a_killed_child(tmp_path):
    text = """
import os, signal, warnings
def child(queue, shared):
    kept = [ag.ones(1000).share_memory_() for _ in range(3)]
    queue.put(kept[0])
    shared.fill_(2)
    os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    context = mp.get_context("spawn")
    queue = context.SimpleQueue()
    shared = ag.zeros(3).share_memory_()
    process = context.Process(target=child, args=(queue, shared))
    process.start()
    x = queue.get()
    process.join()
    print(process.exitcode, int(shared.sum()), int(x.sum()))
"""
    done = run(tmp_path, text, "spawn", "file_system")
    assert done.stdout.split() == ["-9", "6", "1000"], done.stdout + done.stderr
    assert not left(tmp_path)


SENT_AT_THE_END = """
def child(queue):
    mp.set_sharing_strategy("file_system")
    for i in range(20):
        queue.put(ag.full((3,), float(i)))
if __name__ == "__main__":
    context = mp.get_context(sys.argv[1])
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    first = queue.get()
    process.join()
    print(int(sum(x[0] for x in [first] + [queue.get() for _ in range(19)])))
"""


@pytest.mark.skipif("file_system" not in STRATEGIES, reason="needs /dev/shm")
@pytest.mark.parametrize("parent", STRATEGIES)
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_files_of_a_child_outlive_it_until_they_are_received(tmp_path, method, parent):
    # A child that is forked before there is a resource tracker would have one of its own, which
    # removes at the end of the child what was sent and not received yet.
    assert said(tmp_path, SENT_AT_THE_END, method, parent) == ["190"]
    assert not left(tmp_path)


def test_many_tensors_need_no_more_files_than_there_are(tmp_path):
    text = """
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
if __name__ == "__main__":
    mp.set_sharing_strategy("file_system")
    kept = [ag.ones(3).share_memory_() for _ in range(200)]
    assert all(x.is_shared() for x in kept)
    made = [name for name in os.listdir(sharing.FOLDER) if name.startswith(sharing.PREFIX)]
    assert len(made) == 400, made   # each with a count of its users
    mp.set_sharing_strategy("file_descriptor")
    try:
        kept += [ag.ones(3).share_memory_() for _ in range(200)]
    except RuntimeError as error:
        assert "unable to allocate 12 bytes of shared memory" in str(error), error
        assert "set_sharing_strategy('file_system')" in str(error), error
        print("refused")
"""
    if "file_descriptor" not in STRATEGIES:
        pytest.skip("needs file descriptors")
    assert said(tmp_path, text) == ["refused"]
    assert not left(tmp_path)


# --- what is refused, and what is copied --------------------------------------------------------


def sent(x):
    """A tensor that went through multiprocessing's pickler, as to this process itself."""
    from multiprocessing import context, popen_spawn_posix

    class Here:
        """Stand for a process that is being started: it inherits all descriptors."""

        DupFd = popen_spawn_posix._DupFd

        @staticmethod
        def duplicate_for_child(fd):
            return os.dup(fd)

    context.set_spawning_popen(Here)
    try:
        return pickle.loads(bytes(ForkingPickler.dumps(x)))
    finally:
        context.set_spawning_popen(None)


def test_parameters_are_shared_whatever_was_imported_first(tmp_path):
    text = """
assert "autograd_cy.nn" not in sys.modules
from multiprocessing.reduction import ForkingPickler
for p in (ag.nn.Parameter(ag.ones(2)), ag.nn.Buffer(ag.ones(2))):
    ForkingPickler.dumps(p)
    assert p.is_shared()
print("shared")
"""
    assert said(tmp_path, text) == ["shared"]


def test_history_is_refused_and_what_is_refused_is_unchanged():
    x = ag.ones(2, requires_grad=True)
    y = x * 2
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which"):
        sent(y)
    assert not y.is_shared() and y.tolist() == [2, 2]
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


@pytest.mark.parametrize(
    "make",
    [
        lambda: ag.arange(6.0),
        lambda: ag.arange(6.0).reshape(2, 3).t(),
        lambda: ag.arange(12)[2::3],
        lambda: ag.tensor(3.5),
        lambda: ag.tensor([True, False]),
        lambda: ag.tensor([1 + 2j]).conj(),
        lambda: ag.rand(3).bfloat16(),
        lambda: ag.ones(2, requires_grad=True),
        lambda: ag.ones(3, 0)[:, :0],
        lambda: ag.nn.Parameter(ag.ones(2), requires_grad=False),
        lambda: ag.from_numpy(__import__("numpy").arange(3.0)),
    ],
)
def test_what_arrives_is_what_was_sent_on_the_same_memory(make):
    x = make()
    y = sent(x)
    assert type(y) is type(x) and y.dtype == x.dtype and y.stride() == x.stride()
    assert y.requires_grad == x.requires_grad and y.is_leaf and y.tolist() == x.tolist()
    if x.numel():
        assert x.is_shared() and y.is_shared()
        with ag.no_grad():
            x.zero_()
        assert y.tolist() == x.tolist()


def test_parameters_share_their_memory_however_late_nn_is_loaded(tmp_path):
    text = """
def child(queue):
    p = queue.get()
    with ag.no_grad():
        p.fill_(7)
if __name__ == "__main__":
    assert "autograd_cy.nn" not in sys.modules
    context = mp.get_context(sys.argv[1])
    queue = context.SimpleQueue()
    parameters = ag.nn.Parameter(ag.ones(2)), ag.nn.Buffer(ag.ones(2))
    for p in parameters:
        process = context.Process(target=child, args=(queue,))
        process.start()
        queue.put(p)
        process.join()
    print([int(p.sum()) for p in parameters], all(p.is_shared() for p in parameters))
"""
    assert said(tmp_path, text, "fork") == ["[14,", "14]", "True"]


def test_views_sent_together_stay_views_of_one_memory():
    x = ag.arange(6.0).share_memory_()
    a, b = sent((x[:4], x[2:]))
    a[3] = 9
    assert b.tolist() == [2, 9, 4, 5] and x.tolist() == [0, 1, 2, 9, 4, 5]
    assert a.untyped_storage() == b.untyped_storage()


def test_memory_of_other_tensors_is_copied_and_theirs_stays():
    x = ag.zeros(3)
    other, array = x[1:], x.numpy()
    y = sent(x)
    y.fill_(1)
    assert x.tolist() == [0, 0, 0] and not x.is_shared()
    x[2] = 5
    assert other.tolist() == [0, 5] and array.tolist() == [0, 0, 5]


def test_a_moved_tensor_goes_on_as_it_was():
    x = ag.ones(3, requires_grad=True)
    w = ag.arange(3.0).add_(1)
    y = (x * w).sum()  # saves w
    version, storage = w._version, w.untyped_storage()
    w.share_memory_()
    assert w._version == version == 1 and w.tolist() == [1, 2, 3]
    assert storage.data_ptr() == w.data_ptr() and w.untyped_storage() is storage
    y.backward()
    assert x.grad.tolist() == [1, 2, 3]
    z = (x * w).sum()
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_what_a_graph_alone_holds_stays_where_it_is():
    x = ag.ones(3, requires_grad=True)
    y = x.exp()  # saves its result
    held = y.detach()
    with pytest.raises(RuntimeError, match="use the memory of this one"):
        held.share_memory_()
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_a_view_moves_with_its_base():
    x = ag.arange(4.0)
    view = x[1:]
    assert view.share_memory_() is view
    assert x.is_shared() and view._base is x
    view[0] = 9
    assert x.tolist() == [0, 9, 2, 3]
    x.add_(1)
    assert view.tolist() == [10, 3, 4]


def test_gradients_move_with_their_module():
    m = ag.nn.Linear(2, 2)
    m(ag.ones(2)).sum().backward()
    m.share_memory()
    assert m.weight.grad.is_shared() and m.bias.is_shared()
    m(ag.ones(2)).sum().backward()
    assert m.weight.grad.tolist() == [[2, 2], [2, 2]] and m.weight.grad.is_shared()


# --- errors and ends ----------------------------------------------------------------------------


def test_exceptions_of_spawned_processes_can_be_pickled():
    for error in (
        mp.ProcessRaisedException("worker 3 failed", 3, 77),
        mp.ProcessExitedException("killed", 2, 78, -9, "SIGKILL"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)
        assert vars(again) == vars(error)
        assert isinstance(again, mp.ProcessException)


def end(i, how):
    import signal

    if how == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    raise SystemExit(how)


def test_spawn_says_how_a_process_ended():
    with pytest.raises(mp.ProcessExitedException, match=r"process 0 .*terminated with signal SIGK"):
        mp.spawn(end, ("signal",), start_method="fork")
    with pytest.raises(mp.ProcessExitedException, match="terminated with exit code 3") as found:
        mp.spawn(end, (3,), start_method="fork")
    assert (found.value.exit_code, found.value.signal_name) == (3, None)
