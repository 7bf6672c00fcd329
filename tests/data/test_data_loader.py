"""Loaders, without and with worker processes: order, errors, killed processes, interrupts."""

import functools
import multiprocessing
import operator
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.utils import data as D

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


PATIENCE = 15  # seconds that a worker may take for a batch


@pytest.fixture(autouse=True)
def _forked_and_nobody_waits_for_ever(monkeypatch):
    made = D.DataLoader.__init__

    def make(self, *args, **options):
        # What these tests give workers is made in functions, which only a fork takes along; Python
        # forks by default before 3.14.
        if options.get("num_workers"):
            options.setdefault("multiprocessing_context", "fork")
        made(self, *args, **options)
        if self.num_workers and not self.timeout:
            self.timeout = PATIENCE

    monkeypatch.setattr(D.DataLoader, "__init__", make)


class Rows(D.Dataset):
    """Samples that tell their index, with one that fails."""

    def __init__(self, n=10, fails=None, error=None):
        self.n, self.fails, self.error = n, fails, error

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i == self.fails:
            raise self.error
        return i, ag.full((3,), float(i))


class Stream(D.IterableDataset):
    def __init__(self, n=7, length=None):
        self.n, self.length = n, length

    def __iter__(self):
        info = D.get_worker_info()
        step, first = (1, 0) if info is None else (info.num_workers, info.id)
        return iter(range(first, self.n, step))


class Counted(Stream):
    def __len__(self):
        return self.length


class Busy(D.Dataset):
    """Large products and loops, as would run in several threads."""

    def __len__(self):
        return 2

    def __getitem__(self, i):
        x = ag.full((300, 300), 1.0, requires_grad=True)
        (x @ x).exp().sum().backward()
        return float((ag.ones(1_000_000) * 2).sum()), ag.get_num_threads()


class Seeds(D.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        import random

        return ag.initial_seed(), random.random(), np.random.rand(), ag.rand(()).item()


class Special(D.Dataset):
    """Do what `act` says instead of giving a sample."""

    def __init__(self, act):
        self.act = act

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return self.act(i)


def killed(i):
    os.kill(os.getpid(), signal.SIGKILL)


def gone(i):
    os._exit(3)


def slow(i):
    time.sleep(60)


def loaded(*args, **options):
    return list(D.DataLoader(*args, **options))


def numbers(batches):
    return [b[0].tolist() for b in batches]


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("drop_last", [False, True])
def test_batches_come_in_order(workers, drop_last):
    loader = D.DataLoader(Rows(), 4, num_workers=workers, drop_last=drop_last)
    expected = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]][: 2 if drop_last else 3]
    batches = list(loader)
    assert numbers(batches) == expected and len(loader) == len(expected)
    assert batches[1][1].tolist() == [[float(i)] * 3 for i in range(4, 8)]
    assert numbers(loader) == expected  # a second pass


def test_a_seed_fixes_the_order_for_any_number_of_workers():
    orders = []
    for workers in (0, 1, 2):
        generator = ag.Generator()
        generator.manual_seed(5)
        loader = D.DataLoader(Rows(20), 3, shuffle=True, num_workers=workers, generator=generator)
        orders.append([numbers(loader), numbers(loader)])
        ag.manual_seed(5)
        orders[-1].append(numbers(D.DataLoader(Rows(20), 3, shuffle=True, num_workers=workers)))
    assert orders[0] == orders[1] == orders[2]
    assert orders[0][0] != orders[0][1]
    assert sorted(functools.reduce(operator.iadd, orders[0][0], [])) == list(range(20))


@pytest.mark.parametrize("workers", [0, 2])
def test_streams(workers):
    batches = loaded(Stream(), batch_size=2, num_workers=workers)
    expected = {0: [[0, 1], [2, 3], [4, 5], [6]], 2: [[0, 2], [1, 3], [4, 6], [5]]}[workers]
    assert [b.tolist() for b in batches] == expected
    short = loaded(Stream(), batch_size=2, num_workers=workers, drop_last=True)
    assert [b.tolist() for b in short] == [b for b in expected if len(b) == 2]
    single = loaded(Stream(3), batch_size=None, num_workers=workers)
    assert sorted(single) == [0, 1, 2]


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8])
def test_rows_of_tensors_are_chosen_by_any_whole_numbers(kind):
    x, y = ag.arange(12.0).reshape(6, 2), ag.arange(6)
    batches = [[kind(i) for i in places] for places in ([0, 2], [5], [3, 3, 1])]
    for data in (D.TensorDataset(x, y), D.Subset(D.TensorDataset(x, y), list(range(6)))):
        found = list(D.DataLoader(data, batch_sampler=batches))
        for (rows, numbers), places in zip(found, ([0, 2], [5], [3, 3, 1]), strict=True):
            assert numbers.tolist() == places
            assert ag.equal(rows, x[places])


@pytest.mark.parametrize("workers", [0, 1])
def test_a_stream_longer_than_it_said_is_reported(workers):
    loader = D.DataLoader(Counted(4, length=2), batch_size=2, num_workers=workers)
    assert sum(1 for _ in loader) == 2  # nobody asked
    assert len(loader) == 1
    with pytest.warns(UserWarning, match="reported to be 1 .* but 2 samples"):
        assert sum(1 for _ in loader) == 2
    assert len(D.DataLoader(Counted(4, length=5), batch_size=2)) == 3


@pytest.mark.parametrize("workers", [0, 1])
def test_a_pass_over_a_stream_asks_for_no_length(workers):
    chain = D.ChainDataset([Stream(3), Stream(2)])  # neither has a length
    for batch_size, batches in ((None, [0, 1, 2, 0, 1]), (2, [[0, 1], [2, 0], [1]])):
        loader = D.DataLoader(chain, batch_size=batch_size, num_workers=workers)
        assert [b if batch_size is None else b.tolist() for b in loader] == batches
        assert len(list(loader)) == len(batches)  # list() asks, and goes on without an answer
        with pytest.raises(TypeError, match="no len"):
            len(loader)


def test_samplers_and_batch_samplers():
    assert numbers(loaded(Rows(), batch_size=2, sampler=[3, 1, 2])) == [[3, 1], [2]]
    batches = [[1, 2, 3], [4]]
    assert numbers(loaded(Rows(), batch_sampler=batches, num_workers=1)) == batches
    assert loaded("ab", batch_size=None) == ["a", "b"]
    assert loaded("abc", batch_size=2, collate_fn="".join) == ["ab", "c"]


def test_rows_of_tensors_are_taken_at_once_with_the_same_result():
    x, y = ag.rand(10, 3), ag.arange(10)
    rows = D.TensorDataset(x, y)
    for dataset in (rows, D.Subset(rows, [5, 1, 7, 0])):
        quick = loaded(dataset, batch_size=3)
        plain = loaded(dataset, batch_size=3, collate_fn=lambda b: D.default_collate(b))
        assert [type(b) for b in quick] == [list] * len(plain)
        for a, b in zip(quick, plain):
            assert all((p == q).all() and p.dtype is q.dtype for p, q in zip(a, b))


@pytest.mark.parametrize("workers", [0, 2])
def test_samples_are_asked_for_at_once_where_that_is_possible(workers):
    class Several(Rows):
        def __getitems__(self, indices):
            return [10 * i for i in indices]

    batches = loaded(Several(3), batch_size=2, num_workers=workers)
    assert [b.tolist() for b in batches] == [[0, 10], [20]]


@pytest.mark.parametrize("size", [10, 100_000])
def test_tensors_of_workers_are_whole_and_writable(size):
    """Small ones travel through the pipe, large ones in memory of both processes."""

    def sample(i):
        x = ag.arange(float(size)) + i
        return {"x": x, "view": ag.zeros(1000, 1000)[i, :5] + i, "n": np.full(size, i), "s": "text",
                "half": x.to(ag.bfloat16), "leaf": ag.nn.Parameter(x)}  # fmt: skip

    for i, got in enumerate(D.DataLoader(Special(sample), batch_size=None, num_workers=1)):
        assert (got["x"] == ag.arange(float(size)) + i).all()
        assert got["view"].tolist() == [i] * 5 and (got["n"] == i).all() and got["s"] == "text"
        assert got["half"].dtype is ag.bfloat16 and got["leaf"].requires_grad
        got["x"].add_(1.0)
        got["n"] += 1
        assert got["x"].is_shared() == (size > 10)


def test_a_window_on_large_memory_travels_alone():
    base = ag.zeros(4000, 1000)
    loader = D.DataLoader(D.TensorDataset(base), batch_size=None, num_workers=1)
    (row,) = next(iter(loader))
    assert row.untyped_storage().nbytes() < 10_000


def test_forked_workers_do_not_wait_for_threads_of_the_parent():
    before = ag.get_num_threads()
    try:
        ag.set_num_threads(2)
        x = ag.rand(400, 400)
        for _ in range(3):
            (x @ x).exp().sum()  # the threads are there now
        (ag.ones(1_000_000) * 2).sum()
        batches = loaded(
            Busy(), num_workers=2, multiprocessing_context="fork", batch_size=None, timeout=60
        )
    finally:
        ag.set_num_threads(before)
    assert batches == [(2e6, 1)] * 2 or batches == [[2e6, 1]] * 2


@pytest.mark.parametrize("start", ["spawn", "forkserver"])
def test_workers_that_are_not_forked_from_the_program(start):
    batches = loaded(
        Busy(), num_workers=1, multiprocessing_context=start, batch_size=2, timeout=120
    )
    assert batches[0][0].tolist() == [2e6, 2e6] and batches[0][1].tolist() == [1, 1]


def test_workers_have_seeds_and_random_numbers_of_their_own():
    passes = []
    for _ in range(2):
        generator = ag.Generator()
        generator.manual_seed(9)
        options = {"num_workers": 2, "batch_size": 2, "generator": generator}
        passes.append([[x.tolist() for x in b] for b in D.DataLoader(Seeds(), **options)])
    assert passes[0] == passes[1]
    (seeds, *_), (others, *_) = passes[0]
    assert others[0] == seeds[0] + 1 and seeds[0] == seeds[1]
    drawn = [{x for batch in passes[0] for x in batch[k]} for k in (1, 2, 3)]
    assert all(len(values) == 4 for values in drawn)


def test_workers_know_who_they_are():
    def describe(i):
        info = D.get_worker_info()
        return info.id, info.num_workers, info.seed - info.id, type(info.dataset).__name__

    found = loaded(Special(describe), batch_size=None, num_workers=2)
    assert [x[:2] + x[3:] for x in map(tuple, found)] == [(0, 2, "Special"), (1, 2, "Special")] * 2
    assert len({x[2] for x in found}) == 1
    assert D.get_worker_info() is None


class Unusual(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


@pytest.mark.parametrize(
    ("error", "kind"), [(KeyError("a key"), KeyError), (Unusual(1, 2), RuntimeError)]
)
def test_errors_come_with_the_traceback_of_the_worker(error, kind):
    loader = iter(D.DataLoader(Rows(6, 2, error), batch_size=2, num_workers=2))
    assert next(loader)[0].tolist() == [0, 1]
    with pytest.raises(kind) as caught:
        next(loader)
    text = str(caught.value)
    name = type(error).__name__
    assert text.startswith(f"Caught {name} in DataLoader worker process 1.\nOriginal Traceback")
    assert "in __getitem__" in text and "raise self.error" in text
    assert next(loader)[0].tolist() == [4, 5]  # the others are still there
    with pytest.raises(StopIteration):
        next(loader)


def test_errors_at_the_start_of_a_worker():
    def fails(number):
        raise ValueError(f"not number {number}")

    with pytest.raises(ValueError, match=r"worker process 0(.|\n)*not number 0"):
        loaded(Rows(), num_workers=1, worker_init_fn=fails)

    class NoStart(D.IterableDataset):
        def __iter__(self):
            raise OSError("no file")

    with pytest.raises(OSError, match="no file"):
        loaded(NoStart(), num_workers=1)


def test_what_cannot_be_pickled_is_an_error():
    with pytest.raises(Exception, match=r"worker process 0(.|\n)*pickle"):
        loaded(Special(lambda i: lambda: i), batch_size=None, num_workers=1)


def test_worker_init_fn_is_called_in_the_worker():
    def start(number):
        global value
        value = 10 + number

    found = loaded(Special(lambda i: value), 1, num_workers=2, worker_init_fn=start)
    assert [x.item() for x in found] == [10, 11, 10, 11]
    assert "value" not in globals()


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (killed, r"worker \(pid \d+\) is killed by signal: Killed \(SIGKILL\).*memory"),
        (gone, r"worker \(pid \d+\) exited with exit status 3"),
    ],
)
@pytest.mark.parametrize("in_order", [True, False])
def test_dead_workers_are_noticed(act, text, in_order):
    start = time.monotonic()
    loader = iter(D.DataLoader(Special(act), num_workers=2, in_order=in_order))
    pids = [p.pid for p in loader._processes]
    with pytest.raises(RuntimeError, match=rf"worker \(pid\(s\) .*exited unexpectedly.*{text}"):
        next(loader)
    assert time.monotonic() - start < 30
    for pid in pids:
        with pytest.raises(OSError, match=r"No (such process|child)"):
            os.kill(pid, 0)


def test_a_time_limit_for_batches(monkeypatch):
    monkeypatch.setattr("autograd_cy.utils.data.dataloader._PATIENCE", 0.1)
    loader = iter(D.DataLoader(Special(slow), num_workers=1, timeout=0.1))
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0.1 seconds"):
        next(loader)
    process = loader._processes[0]
    loader._stop()
    assert process.exitcode == -signal.SIGTERM


def test_workers_end_with_the_pass_and_when_it_is_left():
    loader = D.DataLoader(Rows(100), num_workers=2)
    one_pass = iter(loader)
    processes = list(one_pass._processes)
    next(one_pass)
    assert all(p.is_alive() for p in processes)
    del one_pass
    assert [p.exitcode for p in processes] == [0, 0]
    one_pass = iter(D.DataLoader(Rows(3), num_workers=2))
    assert len(list(one_pass)) == 3
    assert [p.exitcode for p in one_pass._processes] == [0, 0]
    with pytest.raises(StopIteration):
        next(one_pass)


def test_persistent_workers_stay_and_forget_a_pass_that_was_left():
    def describe(i):
        return os.getpid(), i

    loader = D.DataLoader(Special(describe), None, num_workers=2, persistent_workers=True)
    first = list(loader)
    left = iter(loader)
    next(left)
    again = list(loader)
    assert first == again and len({pid for pid, _ in first}) == 2
    stream = D.DataLoader(Stream(), 2, num_workers=2, persistent_workers=True)
    assert [b.tolist() for b in stream] == [b.tolist() for b in stream]
    failing = D.DataLoader(Rows(4, 1, ValueError("bad")), num_workers=1, persistent_workers=True)
    with pytest.raises(ValueError, match="bad"):
        list(failing)
    assert next(iter(failing))[0].item() == 0


def test_a_worker_ends_though_later_ones_have_its_pipe():
    first = iter(D.DataLoader(Rows(100), num_workers=1))
    second = iter(D.DataLoader(Rows(100), num_workers=1))
    process, start = first._processes[0], time.monotonic()
    del first
    assert process.exitcode == 0 and time.monotonic() - start < 4
    assert next(second)[0].tolist() == [0]


def test_batches_as_they_are_ready():
    go_on = multiprocessing.get_context("fork").Event()

    def sample(i):
        assert i or go_on.wait(PATIENCE)
        return i

    ready = []
    for batch in D.DataLoader(Special(sample), num_workers=2, in_order=False):
        ready.append(batch.item())
        go_on.set()  # with the first that is there, which can't be 0
    assert sorted(ready) == [0, 1, 2, 3] and ready[0] == 1


def test_tasks_and_results_larger_than_a_pipe():
    """Both ends would wait for each other if they didn't read while they write."""
    batches = [list(range(200_000))] * 6
    dataset = Special(lambda i: 0)
    loader = D.DataLoader(dataset, batch_sampler=batches, num_workers=1, prefetch_factor=6,
                          collate_fn=lambda b: "x" * 400_000, timeout=60)  # fmt: skip
    assert [len(b) for b in loader] == [400_000] * 6


REFUSED = [
    ({"batch_size": 0}, "positive integer value, but got batch_size=0"),
    ({"num_workers": -1}, "num_workers option should be non-negative"),
    ({"shuffle": True, "sampler": [1]}, "mutually exclusive with shuffle"),
    ({"batch_size": 2, "batch_sampler": [[1]]}, "batch_sampler option is mutually exclusive"),
    ({"batch_size": None, "drop_last": True}, "mutually exclusive with drop_last"),
    ({"prefetch_factor": 2}, "prefetch_factor option could only"),
    ({"num_workers": 1, "prefetch_factor": -1}, "prefetch_factor option should be"),
    ({"timeout": -1}, "timeout option should be non-negative"),
    ({"persistent_workers": True}, "needs num_workers > 0"),
    ({"multiprocessing_context": "fork"}, "can only be used with multi-process loading"),
    ({"num_workers": 1, "multiprocessing_context": "x"}, "valid start method in"),
]


@pytest.mark.parametrize(("options", "text"), REFUSED)
def test_options_that_do_not_go_together(options, text):
    with pytest.raises(ValueError, match=text):
        D.DataLoader(Rows(), **options)


@pytest.mark.parametrize("name", ["shuffle", "sampler", "batch_sampler"])
def test_streams_have_no_order(name):
    with pytest.raises(ValueError, match=f"expected unspecified {name} option"):
        D.DataLoader(Stream(), **{name: [[1]]})


def test_what_a_loader_is_made_of_stays():
    loader = D.DataLoader(Rows(), 3, pin_memory=True)
    with pytest.raises(ValueError, match="batch_size attribute should not be set"):
        loader.batch_size = 4
    with pytest.raises(TypeError, match="valid context object"):
        D.DataLoader(Rows(), num_workers=1, multiprocessing_context=3)
    loader.timeout = 3
    assert (loader.batch_size, loader.drop_last, loader.num_workers) == (3, False, 0)
    assert type(loader.sampler) is D.SequentialSampler
    assert loader.collate_fn is D.default_collate and loader.pin_memory


@pytest.mark.parametrize("timeout", [float("nan"), -1.0])
def test_a_timeout_that_never_comes_is_refused_before_workers_start(timeout):
    loader = D.DataLoader(Rows(), 3, num_workers=1)
    loader.timeout = timeout
    with pytest.raises(ValueError, match="timeout option should be non-negative"):
        iter(loader)
    loader.timeout = 60
    assert len(list(loader)) == len(loader)


def test_too_many_workers_are_reported():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        D.DataLoader(Rows(), num_workers=10_000)
    assert "will create 10000 worker processes" in str(caught[0].message)


PROGRAM = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from autograd_cy.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 1000
    def __getitem__(self, i):
        time.sleep(0.01)
        return i

passing = iter(DataLoader(Slow(), num_workers=2, multiprocessing_context="fork"))
for i, batch in enumerate(passing):
    if i == 2:
        print(*[p.pid for p in passing._processes], flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_program(how):
    """Ctrl-C reaches all processes, and only the program reports it; killed, it leaves nobody."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    pids = [int(word) for word in process.stdout.readline().split()]
    if how == signal.SIGINT:
        os.killpg(process.pid, how)
    else:
        process.kill()
    _, errors = process.communicate(timeout=30)
    assert len(pids) == 2 and process.returncode == -how
    if how == signal.SIGINT:
        assert errors.count("Traceback") == 1 and errors.rstrip().endswith("KeyboardInterrupt")
    deadline = time.monotonic() + 30
    while any(_runs(pid) for pid in pids):
        assert time.monotonic() < deadline, "workers outlive their program"
        time.sleep(0.01)


class Interrupted(BaseException):
    """The exception that a handler of signals raises."""


def interrupt(monkeypatch, function, place):
    """Let the n-th of these calls of a connection raise, as a signal between two of them would."""
    from autograd_cy.utils.data import _transport

    real, calls = getattr(_transport.Connection, function), []

    def interrupted(self, *given):
        calls.append(given)
        if len(calls) == place:
            raise Interrupted
        return real(self, *given)

    monkeypatch.setattr(_transport.Connection, function, interrupted)
    return calls


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("function", "persistent"),
    [
        ("send", False),
        ("send_bytes", True),
        ("recv", True),
        ("recv_bytes", False),
        pytest.param("send", True, marks=SLOW),
        pytest.param("send_bytes", False, marks=SLOW),
        pytest.param("recv", False, marks=SLOW),
        pytest.param("recv_bytes", True, marks=SLOW),
    ],
)
def test_messages_that_are_interrupted_end_the_workers_in_silence(
    function, persistent, monkeypatch, capfd
):
    """The rest of a message isn't taken for another; the pass can't go on, a new one can."""
    loader = D.DataLoader(Rows(), batch_size=1, num_workers=2, persistent_workers=persistent)
    passing = iter(loader)
    workers = passing._processes
    got = [next(passing)]
    calls = interrupt(monkeypatch, function, 2)
    with pytest.raises(Interrupted):
        got.extend(passing)
    assert len(calls) == 2 and [process.exitcode for process in workers] == [0, 0]
    with pytest.raises(RuntimeError, match="workers of this DataLoader have ended"):
        got.extend(passing)
    monkeypatch.undo()
    assert len(got) < len(loader) == len(list(loader))
    assert capfd.readouterr() == ("", "")


def _runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("workers", [0, 2])
def test_profiles_show_the_wait_for_each_batch(workers):
    kind = "MultiProcessing" if workers else "SingleProcess"
    with ag.profiler.profile() as prof:
        batches = list(D.DataLoader(Rows(), batch_size=4, num_workers=workers))
    name = f"enumerate(DataLoader)#_{kind}DataLoaderIter.__next__"
    seen = [event for event in prof.events() if event.name == name]
    assert len(seen) == len(batches) + 1
    assert not any(event.failed for event in seen)
    loader = D.DataLoader(Rows(fails=0, error=KeyError("first")), num_workers=workers)
    with ag.profiler.profile() as prof, pytest.raises(KeyError):
        next(iter(loader))
    assert [event.failed for event in prof.events() if event.name == name] == [True]


@pytest.mark.parametrize("timeout", [1, 0.5, float("inf"), float("nan"), True])
def test_a_timeout_without_workers_is_refused_when_a_pass_begins(timeout):
    loader = D.DataLoader(range(3), timeout=timeout)
    with pytest.raises(AssertionError, match="needs workers to wait for"):
        iter(loader)
    loader.timeout = 0
    assert [batch.tolist() for batch in loader] == [[0], [1], [2]]


class Shares(D.IterableDataset):
    """Each worker has a list of its own."""

    def __init__(self, *lists):
        self.lists = lists

    def __iter__(self):
        return iter(self.lists[D.get_worker_info().id])


@pytest.mark.parametrize("ahead", [0, pytest.param(1, marks=pytest.mark.slow), 2])
def test_workers_whose_stream_has_ended_are_passed_over(ahead):
    """The order is torch's."""
    for lists, wanted in (
        (([0, 1, 2, 3], [10], [20, 21, 22, 23]), [0, 10, 20, 1, 21, 2, 22, 3, 23]),
        (([], [10, 11, 12], [], [30, 31, 32, 33]), [10, 30, 11, 31, 12, 32, 33]),
    ):
        found = loaded(
            Shares(*lists), batch_size=None, num_workers=len(lists), prefetch_factor=ahead
        )
        assert found == wanted


def test_samples_go_to_workers_in_turn():
    def where(i):
        return D.get_worker_info().id

    loader = D.DataLoader(Special(where), None, sampler=[0] * 7, num_workers=3)
    passing = iter(loader)
    assert all(process.daemon for process in passing._processes)
    assert len(passing) == 7
    assert list(passing) == [0, 1, 2, 0, 1, 2, 0]
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(passing)


def cannot_send(_):
    from autograd_cy.utils.data import _transport

    def send(*_):
        raise MemoryError("no memory for what is sent")

    _transport.send = send


def test_a_worker_that_cannot_send_ends_and_is_noticed():
    loader = D.DataLoader(
        Rows(4), num_workers=1, worker_init_fn=cannot_send, multiprocessing_context="fork"
    )
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(loader)


def test_a_loader_that_keeps_its_workers_says_when_they_are_gone():
    loader = D.DataLoader(Special(gone), num_workers=1, persistent_workers=True)
    passing = iter(loader)
    with pytest.raises(
        RuntimeError, match=r"exited unexpectedly: .*worker \(pid \d+\) exited with exit status 3"
    ):
        next(passing)
    with pytest.raises(RuntimeError, match="workers of this DataLoader have ended; make another"):
        iter(loader)


def test_workers_that_do_not_listen_are_ended_by_force(monkeypatch):
    monkeypatch.setattr("autograd_cy.utils.data.dataloader._PATIENCE", 0.1)
    reading, writing = os.pipe()

    def stubborn(i):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.write(writing, b"x")
        time.sleep(60)

    passing = iter(D.DataLoader(Special(stubborn), num_workers=1, multiprocessing_context="fork"))
    assert os.read(reading, 1) == b"x"
    process = passing._processes[0]
    passing._stop()
    assert process.exitcode == -signal.SIGKILL
    for end in (reading, writing):
        os.close(end)


def test_workers_that_stay_begin_streams_anew_and_report_what_fails_then():
    class Once(D.IterableDataset):
        passes = 0

        def __iter__(self):
            self.passes += 1
            if self.passes == 2:
                raise ValueError("not a second time")
            return iter([self.passes])

    loader = D.DataLoader(Once(), None, num_workers=1, persistent_workers=True)
    assert list(loader) == [1]
    with pytest.raises(ValueError, match="not a second time"):
        list(loader)
    assert list(loader) == [3]


def test_a_worker_that_did_not_start_says_so_for_each_batch():
    def fails(number):
        raise ValueError("no start")

    passing = iter(D.DataLoader(Rows(3), num_workers=1, worker_init_fn=fails, timeout=60))
    for _ in range(3):
        with pytest.raises(ValueError, match="no start"):
            next(passing)
    with pytest.raises(StopIteration):
        next(passing)


def test_copies_of_a_loader_in_other_processes_do_not_end_its_workers():
    passing = iter(D.DataLoader(Rows(6), num_workers=1, multiprocessing_context="fork"))
    assert next(passing)[0].tolist() == [0]
    pid = os.fork()
    if not pid:
        passing._stop()
        os._exit(0)
    os.waitpid(pid, 0)
    assert [batch[0].item() for batch in passing] == [1, 2, 3, 4, 5]


def test_shares_of_several_processes_say_what_they_are():
    sampler = D.DistributedSampler(range(5), 2, 1, shuffle=False, seed=3, drop_last=True)
    assert (sampler.drop_last, sampler.shuffle, sampler.seed, sampler.epoch) == (True, False, 3, 0)
    assert (sampler.num_samples, sampler.total_size, len(sampler)) == (2, 4, 2)
    assert list(sampler) == [1, 3]


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("size", [None, 2])
def test_a_stream_has_ended_once_it_says_so(workers, size):
    class Again(D.IterableDataset):
        """Go on after its end."""

        def __iter__(self):
            self.given = 0
            return self

        def __next__(self):
            self.given += 1
            if self.given == 4:
                raise StopIteration
            return self.given

    passing = iter(D.DataLoader(Again(), size, num_workers=workers))
    found = list(passing)
    assert found == [1, 2, 3] if size is None else [x.tolist() for x in found] == [[1, 2], [3]]
    with pytest.raises(StopIteration):
        next(passing)


def test_programs_that_repeat_samplers_exchange_them():
    """By the name of what guards attributes, as loaders that keep their workers do."""

    class Repeated(D.DataLoader):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            with pytest.raises(ValueError, match="batch_sampler attribute should not be set"):
                self.batch_sampler = []
            self._DataLoader__initialized = False
            self.batch_sampler = [[1, 0], [2]]
            self._DataLoader__initialized = True

    loader = Repeated([5, 6, 7], batch_size=2)
    assert [batch.tolist() for batch in loader] == [[6, 5], [7]]
    with pytest.raises(ValueError, match="batch_sampler attribute should not be set"):
        loader.batch_sampler = []
