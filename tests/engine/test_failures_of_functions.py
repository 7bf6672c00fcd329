"""A method of a custom Function raises: its exception comes out, and nothing else has changed."""

import pytest
from failures import (
    Planned,
    are_gone,
    assert_engine_works,
    fail,
    failing,
    nothing_stays_behind,
    weak,
)

import autograd_cy as torch
from autograd_cy.autograd import Function


def values(tensor):
    return None if tensor is None else tensor.tolist()


class Whole(Function):
    """``2 x``, in one forward."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        assert ctx.saved_tensors[0].shape == grad.shape
        return grad * 2


class Split(Function):
    """``2 x``, with a context that is set up apart."""

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


FORWARD = [(Whole, "forward"), (Split, "forward"), (Split, "setup_context")]
BACKWARD = [(Whole, "backward"), (Split, "backward")]


@pytest.mark.parametrize(("cls", "method"), FORWARD)
def test_a_failing_forward_records_nothing(cls, method):
    x = torch.ones(2, requires_grad=True)
    with nothing_stays_behind():
        function = failing(cls, method)
        y = x * 3
        with pytest.raises(Planned, match="on purpose"):
            function.apply(y)
        assert torch.is_grad_enabled() and y._version == 0
        z = function.apply(y)
        z.sum().backward()
        assert values(x.grad) == [6.0, 6.0]
        x.grad = None
        del y, z, function


@pytest.mark.parametrize(("cls", "method"), BACKWARD)
def test_a_failing_backward_can_be_repeated(cls, method):
    x, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with nothing_stays_behind():
        function = failing(cls, method, times=2)
        loss = function.apply(x * 3).sum() + (other * 5).sum()
        for _ in range(2):
            with pytest.raises(Planned):
                loss.backward(retain_graph=True)
            assert x.grad is None
            assert_engine_works()
        other.grad = None
        loss.backward()
        assert values(x.grad) == [6.0, 6.0] and values(other.grad) == [5.0, 5.0]
        x.grad = other.grad = None
        del function, loss


@pytest.mark.parametrize(("cls", "method"), [*FORWARD, *BACKWARD])
def test_nothing_holds_the_graph_afterwards(cls, method):
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    function = failing(cls, method, times=100)
    references = weak(x, y)
    with pytest.raises(Planned):
        function.apply(y).sum().backward()
    del x, y
    assert are_gone(references)


@pytest.mark.parametrize(("cls", "method"), BACKWARD)
def test_modes_come_back(cls, method):
    x = torch.ones(2, requires_grad=True)
    z = failing(cls, method, times=100).apply(x)
    with torch.no_grad():
        with pytest.raises(Planned):
            z.backward(torch.ones(2))
        assert not torch.is_grad_enabled()
    with pytest.raises(Planned):
        torch.autograd.grad(z.sum(), x, create_graph=True)
    assert torch.is_grad_enabled()
    assert_engine_works()


def test_a_failing_second_backward():
    function = failing(Whole, "backward", times=0)

    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return Square.apply(x) * 3 * grad

    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, grad):
            fail()

    x = torch.full((2,), 2.0, requires_grad=True)
    (first,) = torch.autograd.grad(Cube.apply(function.apply(x)).sum(), x, create_graph=True)
    assert values(first) == [96.0, 96.0]
    with pytest.raises(Planned):
        torch.autograd.grad(first.sum(), x)
    assert x.grad is None
    assert_engine_works()


def test_a_failing_in_place_forward_keeps_the_history():
    class Triple(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            fail()

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = torch.ones(2, requires_grad=True)
    y = x * 2
    fn = y.grad_fn
    with pytest.raises(Planned):
        Triple.apply(y)
    assert y.grad_fn is fn and values(y) == [2.0, 2.0]
    y.sum().backward()
    assert values(x.grad) == [2.0, 2.0]


@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        ((), RuntimeError, "incorrect number of gradients"),
        ((torch.ones(2), torch.ones(2)), RuntimeError, "incorrect number of gradients"),
        ("text", (RuntimeError, TypeError), "str"),
        (torch.ones(3), RuntimeError, "invalid gradient at index 0"),
    ],
)
def test_wrong_gradients_are_errors_that_change_nothing(result, error, text):
    class Wrong(Whole):
        @staticmethod
        def backward(ctx, grad):
            return result

    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2)
    with pytest.raises(error, match=text):
        Wrong.apply(x).sum().backward()
    assert values(x.grad) == [1.0, 1.0] and x.grad._version == 0
    assert_engine_works()


def test_failures_in_re_entrant_backward():
    class Inner(Function):
        @staticmethod
        def forward(ctx, x, deep):
            ctx.save_for_backward(x)
            ctx.deep = deep
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            if ctx.deep == 0:
                fail()
            with torch.enable_grad():
                again = torch.ones(2, requires_grad=True)
                Inner.apply(again, ctx.deep - 1).sum().backward()
            return grad * 2, None

    for deep in (0, 1, 10, 120):
        x = torch.ones(2, requires_grad=True)
        with pytest.raises(Planned):
            Inner.apply(x, deep).sum().backward()
        assert x.grad is None and torch.is_grad_enabled()
        assert_engine_works()


def test_many_failures_leave_no_memory_behind():
    x = torch.ones(1000, requires_grad=True)
    function = failing(Whole, "backward", times=1_000)
    with nothing_stays_behind():
        for _ in range(200):
            with pytest.raises(Planned):
                (function.apply(x.exp()) * x).sum().backward()
            x.grad = None
