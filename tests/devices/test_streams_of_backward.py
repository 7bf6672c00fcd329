"""
Backward over several streams: each wait that the engine puts there is needed.

A scenario runs on the CPU, and on the device in several legal orders; all must have the same bits.
Then each wait of its backward is left out in turn: some order must give other numbers.
"""

import contextlib
import gc

import pytest
from proof import NAME, bits, current

import autograd_cy as ag

ORDERS = [("late",), ("ahead",), *(("random", seed) for seed in range(6))]


class Place:
    """The place of a scenario: streams of a device, or the CPU, which has none."""

    def __init__(self, device):
        self.device = device

    def leaf(self, *shape, index=0, seed=1):
        ag.manual_seed(seed)
        return self.put(ag.rand(*shape), index).requires_grad_()

    def put(self, t, index=0):
        return t.to(f"{NAME}:{index}") if self.device else t

    def stream(self, index=0):
        """A new stream that has waited for what was done so far, as a context."""
        if not self.device:
            return contextlib.nullcontext()
        s = ag.Stream(f"{NAME}:{index}")
        s.wait_stream(current(index))
        return s

    def join(self, *streams, index=0):
        """Let the current stream wait for others, as users do in a forward pass."""
        if self.device:
            for s in streams:
                current(index).wait_stream(s)

    def current(self, index=0):
        return self.device and current(index)

    def used(self, t, stream):
        """A stream works on memory of another."""
        if self.device:
            t.record_stream(stream)
        return t


def forward_on_a_stream(at, start):
    x = at.leaf(5)
    with at.stream() as s:
        loss = (at.used(x, s) * x).sum()
    start()
    loss.backward()
    return [x.grad]


def given_gradient(at, start):
    x = at.leaf(5)
    with at.stream() as s:
        y = at.used(x, s).exp()
    start()
    g = at.put(ag.arange(5.0)).mul(2)
    y.backward(g)
    del g
    return [x.grad]


def backward_on_a_stream(at, start):
    x = at.leaf(5)
    loss = (x * x).sum()
    s = at.stream()
    start()
    with s:
        loss.backward()
        doubled = x.grad * 2
    at.join(s)
    return [at.used(doubled, at.current()) * 1]


def branches(at, start):
    """Gradients of two streams meet at one leaf."""
    x = at.leaf(4, 4)
    one, two = at.stream(), at.stream()
    with one:
        a = at.used(x, one).tanh()
    with two:
        b = at.used(x, two).exp()
    at.join(one, two)
    c = (at.used(a, at.current()) * at.used(b, at.current())).sum()
    start()
    c.backward()
    return [x.grad]


def meeting_inside(at, start):
    """Gradients of two streams meet at an operation of a third one."""
    x = at.leaf(6)
    h = x * 3
    one, two = at.stream(), at.stream()
    with one:
        a = (at.used(h, one) * h).sum()
    with two:
        b = at.used(h, two).sin().sum()
    at.join(one, two)
    start()
    ag.autograd.backward([a, b])
    return [x.grad]


def three_meet(at, start):
    """The sum of two is added to a third."""
    x = at.leaf(6)
    h = x * 3
    streams = [at.stream() for _ in range(3)]
    parts = []
    for k, s in enumerate(streams):
        with s:
            parts.append((at.used(h, s) * (k + 2)).sum())
    at.join(*streams)
    start()
    ag.autograd.backward(parts)
    return [x.grad]


def captured(at, start):
    x = at.leaf(5)
    with at.stream() as s:
        y = at.used(x, s) * x
        loss = y.exp().sum()
    start()
    return list(ag.autograd.grad(loss, [x, y]))


def accumulated(at, start):
    """A gradient is added to one that the caller has just changed."""
    x = at.leaf(5)
    with at.stream() as s:
        loss = (at.used(x, s) * x).sum()
    loss.backward(retain_graph=True)
    start()
    x.grad.mul_(3)
    loss.backward()
    return [x.grad]


def second_order(at, start):
    x = at.leaf(5)
    with at.stream() as s:
        loss = (at.used(x, s) ** 3).sum()
    start()
    (g,) = ag.autograd.grad(loss, x, create_graph=True)
    (g * g).sum().backward()
    return [x.grad]


def seen_by_a_hook(at, start):
    """A gradient that a hook has kept is used by the caller."""
    x = at.leaf(5)
    kept = []
    with at.stream() as s:
        y = at.used(x, s) * 2
        y.register_hook(lambda g: kept.append(g.clone()))
    at.join(s)
    z = (at.used(y, at.current()) * y).sum()
    start()
    z.backward()
    return [at.used(kept.pop(), at.current()) * 1, x.grad]


def from_the_cpu(at, start):
    """Nodes of the CPU between those of streams."""
    x = ag.rand(5, generator=ag.Generator().manual_seed(2)).requires_grad_()
    with at.stream():
        y = at.put(x) * 3
        loss = (y * y).sum().cpu()
    start()
    loss.backward()
    return [x.grad * 1]


def two_devices(at, start):
    x = at.leaf(5)
    one = at.stream()
    with one:
        y = at.used(x, one).exp()
        z = at.put(y, 1)
    other = at.stream(1)
    with other:
        loss = (at.used(z, other) * z).sum()
    start()
    loss.backward()
    return [x.grad]


def accumulator_elsewhere(at, start):
    """The leaf was used first on another stream than the one its gradient comes from."""
    x = at.leaf(5)
    first, second = at.stream(), at.stream()
    with first:
        a = at.used(x, first) * 2
    with second:
        loss = (at.used(x, second) * x).sum()
    start()
    loss.backward()
    del a
    return [x.grad]


def gradient_let_go(at, start):
    """The memory of a leaf's gradient goes while the caller's work on it waits."""
    x = at.leaf(5)
    with at.stream() as s:
        loss = (at.used(x, s) * x).sum()
    start()
    loss.backward()
    doubled = x.grad * 2
    x.grad = None
    return [doubled]


def result_let_go(at, start):
    x = at.leaf(5)
    with at.stream() as s:
        loss = (at.used(x, s) * x).sum()
    start()
    (g,) = ag.autograd.grad(loss, x)
    doubled = g * 2
    del g
    return [doubled]


def seed_let_go(at, start):
    """The memory of a gradient that the caller has made goes before it was used."""
    x = at.leaf(5)
    with at.stream() as s:
        y = at.used(x, s).exp()
    start()
    y.backward(at.put(ag.arange(5.0)))
    return [x.grad]


def passed_on_and_let_go(at, start):
    """The memory of a gradient goes that one stream has made and another has used."""
    x = at.leaf(5)
    one, two = at.stream(), at.stream()
    with one:
        y = at.used(x, one) * 2
    with two:
        two.wait_stream(one) if at.device else None
        loss = at.used(y, two).exp().sum()
    start()
    loss.backward()
    return [x.grad]


SCENARIOS = [
    gradient_let_go,
    result_let_go,
    seed_let_go,
    passed_on_and_let_go,
    forward_on_a_stream,
    given_gradient,
    backward_on_a_stream,
    branches,
    meeting_inside,
    three_meet,
    captured,
    accumulated,
    second_order,
    seen_by_a_hook,
    from_the_cpu,
    two_devices,
    accumulator_elsewhere,
]


# In others a wait may follow from two more: what one stream waits for has waited itself.
PLAIN = (forward_on_a_stream, given_gradient, backward_on_a_stream, captured, accumulated)
KEEPS_MEMORY = (gradient_let_go, result_let_go, passed_on_and_let_go)


class Outcome:
    """Bits of one run, and how many waits its backward had."""

    def __init__(self, late, scenario, order, drop=None):
        late.run_all()
        late.order(*order)
        begun = []

        def start():
            begun.append(late.state()["waits"])
            late.drop_wait(drop)

        try:
            results = scenario(Place(NAME), start)
            self.bits = [bits(t) for t in results]
        except Exception as error:  # poison as an index
            self.bits = error
        del start
        results = None
        gc.collect()
        state = late.state()
        self.waits = state["waits"] - begun[0]
        # Those for memory that goes, and those of the engine and the program.
        self.for_release = {n - begun[0] for n in state["for_release"] if n >= begun[0]}
        late.drop_wait()
        late.recover()
        late.order()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_wait_is_needed(late, scenario):
    expected = [bits(t) for t in scenario(Place(None), lambda: None)]
    waits = []
    for order in ORDERS:
        run = Outcome(late, scenario, order)
        assert run.bits == expected, order
        waits.append((run.waits, run.for_release))
    assert waits == waits[:1] * len(ORDERS)
    count, for_release = waits[0]
    needless = {
        n
        for n in range(count)
        if all(Outcome(late, scenario, order, n).bits == expected for order in ORDERS)
    }
    late.forgive()
    needed = set(range(count)) - needless
    assert needed - for_release, f"none of {count} waits"
    if scenario in PLAIN:
        assert needless <= for_release, f"of {count} waits"
    if scenario in KEEPS_MEMORY:
        assert needed & for_release, "no memory had to be kept for another stream"


def test_one_stream_needs_no_wait(late):
    x = ag.rand(4, device=NAME).requires_grad_()
    with ag.Stream(NAME) as s:
        s.wait_stream(ag.Stream(NAME))
        before = late.state()["waits"]
        (x * x).sum().backward()
        assert late.state()["waits"] == before
    current().synchronize()


def test_nodes_run_on_the_stream_of_their_forward(late):
    seen = []

    class Look(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(current())
            return g

    x = ag.rand(3, device=NAME).requires_grad_()
    s, t = ag.Stream(NAME), ag.Stream(NAME)
    s.wait_stream(current())
    with s:
        y = Look.apply(x)
    t.wait_stream(s)
    with t:
        z = Look.apply(y).sum()
    default = current()
    z.backward()
    assert seen == [t, s]
    assert current() == default
    current().synchronize()


def test_the_callers_streams_come_back_after_an_error(late):
    x = ag.rand(3, device=NAME).requires_grad_()
    s = ag.Stream(NAME)
    s.wait_stream(current())
    with s:
        y = (x * 2).sum()
        y.register_hook(lambda g: 1 / 0)
    default = current()
    with pytest.raises(ZeroDivisionError):
        y.backward()
    assert current() == default
    current().synchronize()
    del y
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_a_backward_that_fails_leaves_its_gradients_for_the_caller(late):
    x, y = (ag.rand(3, device=NAME).requires_grad_() for _ in range(2))
    s = ag.Stream(NAME)
    with s:
        s.wait_stream(current())
        a = x * 2
        b = a * y
        a.register_hook(lambda g: 1 / 0)
        loss = b.sum()
    with pytest.raises(ZeroDivisionError):
        loss.backward()
    if y.grad is not None:
        assert bits(y.grad) == bits(x * 2)


@pytest.mark.parametrize("depth", [3, 60])
def test_a_deep_backward_has_the_streams_of_its_caller(late, depth):
    """Past some depth it goes on in another thread."""
    seen = []

    class Deeper(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x, left):
            ctx.left = left
            return x.cpu() * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(current())
            if ctx.left:
                with ag.enable_grad():
                    x = ag.ones(1, device=NAME).requires_grad_()
                    Deeper.apply(x, ctx.left - 1).sum().backward()
            return g.to(NAME), None

    s = ag.Stream(NAME)
    s.wait_stream(current())
    with s:
        x = ag.ones(1, device=NAME).requires_grad_()
        Deeper.apply(x, depth).sum().backward()
    assert seen == [s] * (depth + 1)
    current().wait_stream(s)
    assert x.grad.tolist() == [1.0]


@pytest.mark.parametrize("depth", [3, 60])
def test_a_deep_backward_has_the_device_of_its_caller(late, depth):
    """A name without index means the same where backward goes on in another thread."""
    seen = []

    class Deeper(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x, left):
            ctx.left = left
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(ag.empty(0, device=NAME).device.index)
            if ctx.left:
                with ag.enable_grad():
                    x = ag.ones(1, requires_grad=True)
                    Deeper.apply(x, ctx.left - 1).sum().backward()
            return g, None

    with ag.Stream(f"{NAME}:1"):
        Deeper.apply(ag.ones(1, requires_grad=True), depth).sum().backward()
    assert seen == [1] * (depth + 1)
