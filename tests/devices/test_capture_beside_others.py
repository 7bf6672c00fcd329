"""A capture beside other threads, other devices, and whatever else reaches memory."""

import copy
import io
import pickle
import threading

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._C.launch import capture, is_capturing

X = ag.arange(6.0).reshape(2, 3)


# --- versions ---------------------------------------------------------------------------------


def test_a_run_is_a_write_that_backward_notices():
    a, b = ag.ones(2, requires_grad=True), ag.ones(2)
    program = capture(lambda: b.add_(1))
    y = (a * b).sum()
    before = b._version
    program.replay()
    assert b._version == before + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_run_increments_a_version_once_and_those_of_inputs_not():
    a, b, c = ag.ones(2), ag.ones(2), ag.ones(2)

    def step():
        for _ in range(3):
            b.add_(a)
            c.mul_(2)

    program = capture(step)
    before = [t._version for t in (a, b, c)]
    program.replay()
    program.replay()
    assert [t._version for t in (a, b, c)] == [before[0], before[1] + 2, before[2] + 2]


def test_results_that_others_hold_are_written_by_a_run():
    """Make something while capturing that is saved by a graph afterwards."""
    w, x, kept = ag.ones(2, requires_grad=True), ag.ones(2), []
    program = capture(lambda: kept.append((x * 2 + 1).exp()))
    y = (w * kept[0]).sum()
    x.fill_(3)
    program.replay()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_moved_memory_is_what_is_written():
    a, b = ag.ones(2), ag.zeros(2)
    program = capture(lambda: a.add_(1))
    program.move(a, b)
    before = a._version, b._version
    program.replay()
    assert (a._version, b._version) == (before[0], before[1] + 1)
    assert b.tolist() == [1.0, 1.0]


def test_an_alias_has_the_memory_of_its_tensor():
    x, kept = ag.ones(3), []

    def step():
        y = x + 1
        y.data.mul_(2)
        kept.append(y.data + y)

    program = capture(step)
    x.fill_(4)
    program.poison()
    program.replay_elsewhere([x], watched=True)
    assert kept[0].tolist() == [20.0] * 3
    with pytest.raises(RuntimeError, match="reads memory that no launch has written"):
        capture(lambda: ag.empty(3).data + x)


# --- threads ----------------------------------------------------------------------------------


class Other:
    """A thread that does what it is told while another one captures."""

    def __init__(self, work):
        self.error = None
        self.start, self.done = threading.Event(), threading.Event()

        def run():
            self.start.wait(30)
            try:
                work()
            except BaseException as error:
                self.error = error
            self.done.set()

        self.thread = threading.Thread(target=run)
        self.thread.start()

    def finish(self):
        self.start.set()
        assert self.done.wait(30)
        self.thread.join()
        if self.error is not None:
            raise self.error


OTHERS = {
    "random numbers": lambda: ag.rand(3).normal_(),
    "operators": lambda: (X * 2 + ag.tensor(1.0, dtype=ag.float64)).sum(0),
    "values": lambda: (X.tolist(), X[X > 1].numpy(), bool(X.sum() > 0), X.data_ptr()),
    "NumPy": lambda: ag.linalg.inv(ag.eye(2) + X[:, :2].numpy().sum()),
    "memory of NumPy": lambda: ag.from_numpy(np.ones(3)) + 1,
    "meta": lambda: ag.empty(3, device="meta") + 1,
    "an optimizer": lambda: _step_of_adam(),
    "masks": lambda: X.clone().__setitem__(X > 1, 2.0),
    "backward": lambda: ag.ones(3, requires_grad=True).exp().sum().backward(),
}


def _step_of_adam():
    p = ag.nn.Parameter(ag.ones(3))
    optimizer = ag.optim.Adam([p])
    p.sum().backward()
    optimizer.step()


@pytest.mark.parametrize("what", OTHERS)
def test_another_thread_is_not_disturbed(what):
    other, x, kept = Other(OTHERS[what]), ag.ones(3), []

    def step():
        y = x + 1
        other.finish()
        assert is_capturing()
        kept.append(y * 2)

    program = capture(step)
    assert program.names() == ["flat", "flat"]
    x.fill_(3)
    program.replay()
    assert kept[0].tolist() == [8.0] * 3


def test_two_threads_capture_at_once():
    x, y, found, kept = ag.ones(3), ag.ones(2), [], []

    def inner():
        found.append(capture(lambda: kept.append((y * 3).sum())))
        assert not is_capturing()

    other = Other(inner)

    def step():
        z = x + 1
        other.finish()
        with pytest.raises(RuntimeError, match="item"):
            z.sum().item()
        kept.append(z * z)

    program = capture(step)
    assert program.names()[0] == program.names()[-1] == "flat"
    (beside,) = found
    assert beside.names() == ["flat", "reduce"]
    x.fill_(2)
    y.fill_(5)
    program.replay()
    beside.replay()
    assert kept[0].item() == 30.0 and kept[1].tolist() == [9.0] * 3


def test_the_first_of_two_captures_may_end_first():
    x, begun, ended, found = ag.ones(3), threading.Event(), threading.Event(), []

    def inner():
        def step():
            begun.set()
            assert ended.wait(30)
            y = x * 3
            with pytest.raises(RuntimeError, match=r"tolist\(\): can't be captured"):
                y.tolist()

        found.append(capture(step))

    thread = threading.Thread(target=inner)

    def step():
        thread.start()
        assert begun.wait(30)
        return x + 1

    assert capture(step).names() == ["flat"]
    assert x.tolist() == [1.0] * 3
    ended.set()
    thread.join()
    assert found[0].names() == ["flat"]
    assert not is_capturing()


def test_long_loops_turn_round_in_other_threads_alone():
    """Their order is no matter of results, so it is asked by the launches that are described."""
    x = ag.ones(200_000)
    other = Other(lambda: [x + 1 for _ in range(3)])

    def step():
        other.finish()
        return x + 1

    assert len(capture(step)) == 1


def test_a_deep_backward_is_captured_in_its_thread():
    """Backward within backward goes on in another thread past some levels."""
    depth = 45
    kept, x = [], ag.ones(2, requires_grad=True)

    class Nested(ag.autograd.Function):
        @staticmethod
        def forward(ctx, a, level):
            ctx.level = level
            ctx.save_for_backward(a)
            return a * 1

        @staticmethod
        def backward(ctx, grad):
            (a,) = ctx.saved_tensors
            if ctx.level == 0:
                return grad * a, None
            with ag.enable_grad():
                inner = a.detach().requires_grad_()
                y = Nested.apply(inner, ctx.level - 1)
            return ag.autograd.grad(y, inner, grad)[0], None

    def step():
        y = Nested.apply(x, depth)
        kept.append(ag.autograd.grad(y, x, ag.ones(2))[0])

    program = capture(step)
    with ag.no_grad():
        x.fill_(3)
    program.poison()
    program.replay_elsewhere([x])
    assert kept[0].tolist() == [3.0, 3.0]


def test_a_program_runs_once_at_a_time():
    x = ag.ones(3)
    program = capture(lambda: x.add_(1))
    program.replay()
    program.replay()
    assert x.tolist() == [4.0] * 3


# --- what is no launch --------------------------------------------------------------------------

REFUSED = {
    "data_ptr()": lambda: X.data_ptr(),
    "__dlpack__()": lambda: X.__dlpack__(),
    "numpy()": lambda: np.asarray(X),
    "the buffer protocol": lambda: memoryview(X),
    "UntypedStorage: tolist()": lambda: X.untyped_storage().tolist(),
    "UntypedStorage: indexing": lambda: X.untyped_storage()[0],
    "UntypedStorage: the buffer protocol": lambda: bytes(X.untyped_storage()),
    "UntypedStorage: pickling": lambda: pickle.dumps(X),
    "from_numpy": lambda: ag.from_numpy(np.ones(3)) + 1,
    "from_dlpack": lambda: ag.from_dlpack(np.ones(3)) + 1,
    "frombuffer": lambda: ag.frombuffer(bytearray(8), dtype=ag.float32) + 1,
    "linalg.inv": lambda: ag.linalg.inv(ag.eye(2)),
    "histc": lambda: ag.histc(X),
}


@pytest.mark.parametrize("who", REFUSED)
def test_other_ways_to_memory_are_refused_by_name(who):
    with pytest.raises(RuntimeError, match="can't be captured: ") as error:
        capture(REFUSED[who])
    assert str(error.value).startswith(who)
    REFUSED[who]()


def test_foreign_memory_is_refused_where_it_is_read():
    """asarray() and as_tensor() share memory, too."""
    array = np.ones(3)
    with pytest.raises(RuntimeError, match="reads memory that no launch has written"):
        capture(lambda: ag.as_tensor(array) + 1)
    outside, kept = ag.as_tensor(array), []
    program = capture(lambda: kept.append(outside + 1))
    array[:] = 4  # an input as any other
    program.replay()
    assert kept[0].tolist() == [5.0] * 3


def test_saving_is_refused_and_copying_is_captured():
    with pytest.raises(RuntimeError, match="can't be captured"):
        capture(lambda: ag.save(X, io.BytesIO()))
    x, kept = ag.ones(3), []
    program = capture(lambda: kept.append(copy.deepcopy(x)))
    x.fill_(2)
    program.replay()
    assert kept[0].tolist() == [2.0] * 3


def test_constants_are_no_reads():
    kept = []
    program = capture(
        lambda: kept.append(
            X[[1, 0]] * ag.tensor(np.full(3, 2.0), dtype=ag.float32) + ag.eye(2, 3) + ag.ones(3)
        )
    )
    program.poison()
    program.replay_elsewhere([X], watched=True)
    assert kept[0].tolist() == (X[[1, 0]] * 2 + ag.eye(2, 3) + 1).tolist()


def test_meta_is_captured_as_nothing():
    """There is no memory, so there is nothing to do again."""
    m, found = ag.empty(2, 3, device="meta"), []

    def step():
        found.append((m + 1) @ ag.zeros(3, 4, device="meta"))
        found[0].add_(1)
        return X.to("meta")

    assert len(capture(step)) == 0
    assert found[0].shape == (2, 4)


def test_indexing_under_vmap_is_captured():
    index, kept = ag.tensor([[0, 1], [1, 1]]), []
    rows = ag.arange(8.0).reshape(2, 4)
    program = capture(
        lambda: kept.append(ag.vmap(lambda row, k: row[k])(rows, index)),
    )
    index.copy_(ag.tensor([[3, 2], [0, 3]]))
    program.poison()
    program.replay_elsewhere([rows, index], watched=True)
    assert kept[0].tolist() == [[3.0, 2.0], [4.0, 7.0]]
    index[1, 1] = 4
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        program.replay()


def test_a_bound_that_does_not_fit_is_not_frozen():
    x, low = ag.ones(3, dtype=ag.int8), ag.tensor(5)
    with pytest.raises(RuntimeError, match="can't be captured"):
        capture(lambda: x.clone().masked_fill_(x > 0, low))


# --- operands and kinds -------------------------------------------------------------------------

INDEX = ag.tensor([0, 1])
WEIGHT = ag.ones(3, requires_grad=True)
WEIGHT.grad = ag.ones(3)
KINDS = {
    "ELEMENTWISE": lambda: X + 1,
    "COPY": lambda: X.clone(),
    "FILL": lambda: ag.zeros(3),
    "REDUCE": lambda: X.sum(),
    "SCAN": lambda: X.cumsum(0),
    "PRODUCT": lambda: X @ X.t(),
    "GATHER": lambda: X[INDEX],
    "SCATTER": lambda: X.clone().index_add_(0, INDEX, X),
    "SORT": lambda: X.sort(),
    "NORM": lambda: X.softmax(1),
    "WINDOW": lambda: ag.nn.functional.max_pool1d(X[None], 2),
    "RANDOM": lambda: ag.rand(3),
    "STEP": ag.optim.SGD([WEIGHT], lr=0.1).step,
    "CHECK": lambda: X.gather(0, INDEX[None].expand(1, 2)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_launches_say_what_kind_they_are(kind):
    program = capture(KINDS[kind])
    assert kind in program.kinds()
    assert len(program.kinds()) == len(program)


def test_operands_say_which_bytes_are_touched():
    x = ag.arange(24.0).reshape(4, 6)
    program = capture(lambda: x[1:3, 2:4].exp())
    written, read = program.operands(0)
    assert (read.dtype, read.count, read.low, read.high) == (ag.float32, 4, 32, 64)
    assert (written.dtype, written.count, written.low, written.high) == (ag.float32, 4, 0, 16)
    (_, turned) = capture(lambda: x.flip(0, 1)).operands(0)
    assert (turned.low, turned.high, turned.count) == (0, 96, 24)
    _, scaled, number = capture(lambda: x[3] * 2.5).operands(0)
    assert (scaled.low, scaled.high) == (72, 96)
    assert (number.storage, number.dtype, number.count) == (None, ag.float32, 1)
    program = capture(lambda: x[0].index_fill_(0, INDEX, 1.0))
    low, high = zip(*((u.low, u.high) for u in program.operands(len(program) - 1) if u.access & 2))
    assert (min(low), max(high)) == (0, 24)


def test_a_launch_that_writes_beside_its_operands_is_found():
    """Check what replay_elsewhere() watches: undeclared bytes are hidden, and may not change."""
    x = ag.zeros(8)
    program = capture(lambda: x[:4].add_(1))
    program.replay_elsewhere([x], watched=True)
    assert x.tolist() == [2.0] * 4 + [0.0] * 4
