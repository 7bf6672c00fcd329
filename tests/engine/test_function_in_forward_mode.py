"""Custom Functions in forward mode."""

import pytest
from functions import Double_, leaf, make

import autograd_cy as torch
from autograd_cy.autograd import Function


class Sine(Function):
    @staticmethod
    def forward(x):
        return x.sin()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x.cos()

    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return tangent * x.cos()


def test_jvp():
    fwAD = torch.autograd.forward_ad
    x, t = leaf(0.5, 1.0), torch.tensor([2.0, 3.0]).double()
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, t)
        primal, tangent = fwAD.unpack_dual(Sine.apply(dual))
        assert torch.allclose(primal, x.sin())
        assert torch.allclose(tangent, t * x.cos())
        (g,) = torch.autograd.grad(tangent.sum(), x)
    assert torch.allclose(g, -t * x.detach().sin())


def test_jvp_of_nested_levels():
    from autograd_cy._C.forward import _begin_level, _make_dual, _unpack_dual

    x = torch.tensor([0.5]).double()
    outer, inner = _begin_level(), _begin_level()
    one = torch.ones(1).double()
    dual = _make_dual(_make_dual(x, one, outer), one, inner)
    y, dy = _unpack_dual(Sine.apply(dual), inner)
    first = _unpack_dual(y, outer)[1]
    second = _unpack_dual(dy, outer)[1]
    assert torch.allclose(first, x.cos())
    assert torch.allclose(_unpack_dual(dy, outer)[0], x.cos())
    assert torch.allclose(second, -x.sin())
    inner.end()
    outer.end()


def test_jvp_gets_zeros_or_none_for_arguments_without_tangent():
    fwAD = torch.autograd.forward_ad
    seen = []
    for keep in (True, False):

        def forward(ctx, a, b, n, keep=keep):
            ctx.set_materialize_grads(keep)
            return a * b

        def jvp(ctx, ta, tb, tn):
            seen.append((ta is None, tb is None, tn is None))
            return ta

        F = make(forward, jvp=staticmethod(jvp))
        with fwAD.dual_level():
            F.apply(fwAD.make_dual(torch.ones(1), torch.ones(1)), torch.ones(1), 3)
    assert seen == [(False, False, True), (False, True, True)]


def test_jvp_in_place_and_of_views():
    fwAD = torch.autograd.forward_ad

    class Twice_(Double_):
        @staticmethod
        def jvp(ctx, tangent):
            return tangent.mul_(2)

    class Wrong_(Double_):
        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 2

    with fwAD.dual_level():
        x = fwAD.make_dual(torch.ones(2), torch.full((2,), 3.0))
        assert torch.equal(fwAD.unpack_dual(Twice_.apply(x)).tangent, torch.full((2,), 6.0))
        with pytest.raises(RuntimeError, match="not modifying the forward mode gradients inplace"):
            Wrong_.apply(fwAD.make_dual(torch.ones(2), torch.ones(2)))
        view = make(lambda ctx, x: x[:1], jvp=staticmethod(lambda ctx, t: t[:1]))
        copy = make(lambda ctx, x: x[:1], jvp=staticmethod(lambda ctx, t: t[:1] * 1))
        assert fwAD.unpack_dual(view.apply(x)).tangent.item() == 6
        with pytest.raises(RuntimeError, match="the jvp is not returning a view"):
            copy.apply(x)


@pytest.mark.parametrize(
    ("error", "message", "jvp"),
    [
        (RuntimeError, "invalid number of forward gradients", lambda ctx, t: (t, t)),
        (RuntimeError, "expected Variable or None", lambda ctx, t: 3),
        (
            RuntimeError,
            "has a different size than that of the original",
            lambda ctx, t: torch.ones(7),
        ),
        (NotImplementedError, "must implement the jvp function", None),
    ],
)
def test_wrong_jvp(error, message, jvp):
    fwAD = torch.autograd.forward_ad
    more = {} if jvp is None else {"jvp": staticmethod(jvp)}
    F = make(lambda ctx, x: x * 2, **more)
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.ones(1), torch.ones(1))
        with pytest.raises(error, match=message):
            F.apply(x)
        assert fwAD.unpack_dual(x * 2).tangent.item() == 2
