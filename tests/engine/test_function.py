"""Custom Functions: both styles, every context method, every misuse."""

import gc
import weakref
from collections import namedtuple

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy.autograd import Function
from autograd_cy.autograd.function import (
    BackwardCFunction,
    FunctionCtx,
    InplaceFunction,
    NestedIOFunction,
    once_differentiable,
)


def make(forward, backward=None, **more):
    """A Function class of plain functions."""
    members = {"forward": staticmethod(forward), **more}
    if backward is not None:
        members["backward"] = staticmethod(backward)
    return type("Made", (Function,), members)


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad


class SplitCube(Function):
    @staticmethod
    def forward(x, scale=1.0):
        return scale * x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.scale = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def vjp(ctx, grad):
        (x,) = ctx.saved_tensors
        return ctx.scale * 3 * x**2 * grad, None


# --- both styles ------------------------------------------------------------------------------


@pytest.mark.parametrize("cube", [Cube.apply, SplitCube.apply, lambda x: SplitCube.apply(x, 1.0)])
def test_first_three_derivatives(cube):
    x = leaf(2.0, -1.0)
    y = cube(x)
    np.testing.assert_allclose(y.detach().numpy(), [8, -1])
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    (k,) = torch.autograd.grad(h.sum(), x)
    np.testing.assert_allclose(g.detach().numpy(), [12, 3])
    np.testing.assert_allclose(h.detach().numpy(), [12, -6])
    np.testing.assert_allclose(k.numpy(), [6, 6])


def test_keywords_and_defaults():
    x = leaf(2.0)
    assert SplitCube.apply(x, scale=2.0).item() == 16
    assert make(lambda ctx, a, b=3: a * b).apply(x, b=4).item() == 8
    with pytest.raises(TypeError, match="unexpected keyword|got an unexpected"):
        SplitCube.apply(x, wrong=1)


def test_the_node_is_the_context():
    seen = {}

    def forward(ctx, x):
        seen["ctx"] = weakref.ref(ctx)
        ctx.note = "kept"
        return x * 2

    def backward(ctx, grad):
        assert ctx.note == "kept"
        return grad * 2

    y = make(forward, backward).apply(leaf(1.0))
    node = y.grad_fn
    assert node is seen["ctx"]()
    assert node.name() == "MadeBackward"
    assert isinstance(node, (BackwardCFunction, FunctionCtx))
    assert isinstance(node, torch.autograd.graph.Node)
    assert node.next_functions[0][0].variable.is_leaf
    assert repr(y).endswith("grad_fn=<MadeBackward>)")
    y.backward()


def test_grad_mode_inside_forward_is_off_and_restored():
    modes = []

    def forward(ctx, x):
        modes.append(torch.is_grad_enabled())
        return x * 2

    F = make(forward, lambda ctx, g: g)
    F.apply(leaf(1.0))
    assert modes == [False]
    assert torch.is_grad_enabled()

    def failing(ctx, x):
        raise ValueError("from forward")

    with pytest.raises(ValueError, match="from forward"):
        make(failing).apply(leaf(1.0))
    assert torch.is_grad_enabled()


def test_grad_mode_inside_backward_follows_create_graph():
    modes = []

    def backward(ctx, g):
        modes.append(torch.is_grad_enabled())
        return g * 2

    F = make(lambda ctx, x: x * 2, backward)
    x = leaf(1.0)
    torch.autograd.grad(F.apply(x), x)
    torch.autograd.grad(F.apply(x), x, create_graph=True)
    assert modes == [False, True]


def test_needs_input_grad_and_skipped_gradients():
    seen = []

    def forward(ctx, a, b, number, c):
        seen.append(ctx.needs_input_grad)
        return a * b + number * c

    def backward(ctx, g):
        return g, None, None, g * 2

    F = make(forward, backward)
    a, c = leaf(1.0), leaf(3.0)
    F.apply(a, torch.ones(1).double(), 2, c).backward()
    assert seen == [(True, False, False, True)]
    assert a.grad.item() == 1
    assert c.grad.item() == 2


def test_without_tensors_and_with_other_outputs():
    F = make(lambda ctx, n: (n + 1, "text", None))
    assert F.apply(3) == (4, "text", None)
    G = make(lambda ctx, x: (x * 2, "text", [x], {"k": 1}), lambda ctx, g, *rest: g * 2)
    x = leaf(1.0)
    y, text, items, mapping = G.apply(x)
    assert text == "text"
    assert items[0] is x
    assert mapping == {"k": 1}
    y.backward()
    assert x.grad.item() == 2


def test_named_tuple_stays_one():
    Pair = namedtuple("Pair", "first second")
    F = make(lambda ctx, x: Pair(x * 2, x * 3), lambda ctx, g, h: 2 * g + 3 * h)
    x = leaf(1.0)
    out = F.apply(x)
    assert isinstance(out, Pair)
    (out.first + out.second).backward()
    assert x.grad.item() == 5


# --- outputs ----------------------------------------------------------------------------------


def test_unused_output_gets_zeros_or_none():
    seen = []

    def backward(ctx, g, h):
        seen.append((g, h))
        return g

    for materialize in (True, False):

        def forward(ctx, x, keep=materialize):
            ctx.set_materialize_grads(keep)
            return x * 2, x * 3

        make(forward, backward).apply(leaf(1.0, 2.0))[0].sum().backward()
    assert torch.equal(seen[0][1], torch.zeros(2).double())
    assert seen[1][1] is None


def test_non_differentiable_outputs():
    def forward(ctx, x):
        index = x.argmax()
        flat = x * 0
        ctx.mark_non_differentiable(flat)
        return x * 2, index, flat

    seen = []

    def backward(ctx, g, gi, gf):
        seen.append((gi, gf))
        return g * 2

    y, index, flat = make(forward, backward).apply(leaf(1.0, 2.0))
    assert not index.requires_grad
    assert not flat.requires_grad
    assert y.requires_grad
    y.sum().backward()
    assert torch.equal(seen[0][1], torch.zeros(2).double())


def test_input_returned_as_it_is_becomes_a_view():
    F = make(lambda ctx, x: x, lambda ctx, g: g * 5)
    x = leaf(1.0)
    y = F.apply(x)
    assert y is not x
    assert y._is_view()
    y.backward()
    assert x.grad.item() == 5
    with torch.no_grad():
        z = F.apply(x)
    assert z is not x
    assert not z.requires_grad
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        F.apply(x).mul_(2)


def test_one_tensor_returned_twice():
    def forward(ctx, x):
        y = x * 2
        return y, y

    seen = []

    def backward(ctx, g, h):
        seen.append((g.item(), h.item()))
        return g + h

    a, b = make(forward, backward).apply(leaf(1.0))
    assert a is b
    (a + b).backward()
    assert seen == [(0.0, 2.0)]


def test_views_made_inside():
    x = leaf(1.0, 2.0)
    one = make(lambda ctx, x: x[:1], lambda ctx, g: torch.cat([g, g])).apply(x * 1)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        one.mul_(2)
    two = make(lambda ctx, x: (x[:1], x[1:]), lambda ctx, g, h: torch.cat([g, h])).apply(x * 1)
    with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
        two[0].mul_(2)


# --- in-place ---------------------------------------------------------------------------------


class Double_(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_mark_dirty():
    x = leaf(1.0, 3.0)
    y = x * 1
    version = y._version
    z = Double_.apply(y)
    assert z is y
    assert y._version > version
    assert z.grad_fn.name() == "Double_Backward"
    (z * z).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * 2 * 2 * np.array([1.0, 3.0]))


def test_mark_dirty_on_a_view_rewrites_the_base():
    x = leaf(1.0, 3.0, 5.0)
    y = x * 1
    window = y[1:]
    assert Double_.apply(window) is window
    (y * torch.tensor([1.0, 10.0, 100.0]).double()).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1, 20, 200])


def test_mark_dirty_on_a_view_that_is_not_the_first_argument():
    def forward(ctx, factor, x):
        ctx.mark_dirty(x)
        ctx.save_for_backward(factor)
        ctx.before = x.clone()
        return x.mul_(factor)

    def backward(ctx, grad):
        (factor,) = ctx.saved_tensors
        return (grad * ctx.before).sum(), grad * factor

    x, factor = leaf(1.0, 3.0, 5.0), leaf(4.0)
    y = x * 1
    make(forward, backward).apply(factor[0], y[1:])
    (y * torch.tensor([1.0, 10.0, 100.0]).double()).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1, 40, 400])
    np.testing.assert_allclose(factor.grad.numpy(), [530])


def test_saving_what_was_changed_in_place():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.exp_()
        ctx.save_for_backward(x)
        return x

    F = make(forward, lambda ctx, g: g * ctx.saved_tensors[0])
    x = leaf(0.5, 1.0)
    y = F.apply(x * 1)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(g.detach().numpy(), np.exp([0.5, 1.0]))
    np.testing.assert_allclose(h.numpy(), np.exp([0.5, 1.0]))


MISUSES = [
    ("not returned as output", lambda ctx, x: (ctx.mark_dirty(x), x * 2)[1]),
    ("mark_dirty can only accept variables", lambda ctx, x: (ctx.mark_dirty(3), x * 2)[1]),
    (
        "mark_non_differentiable can only accept variables",
        lambda ctx, x: (ctx.mark_non_differentiable("a"), x * 2)[1],
    ),
    (
        "save_for_backward can only save variables, but argument 0 is of type int",
        lambda ctx, x: (ctx.save_for_backward(3), x * 2)[1],
    ),
    ("save_for_forward expects", lambda ctx, x: (ctx.save_for_forward(3), x * 2)[1]),
]


@pytest.mark.parametrize(("message", "forward"), MISUSES, ids=[m[0][:20] for m in MISUSES])
def test_misuse_in_forward(message, forward):
    x = leaf(1.0)
    with pytest.raises((RuntimeError, TypeError), match=message):
        make(forward, lambda ctx, g: g).apply(x * 1)
    assert torch.is_grad_enabled()
    (x * 2).backward()
    assert x.grad.item() == 2


def test_dirty_leaf_and_dirty_view_with_two_outputs():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Double_.apply(leaf(1.0))
    F = make(lambda ctx, x: (ctx.mark_dirty(x), (x.mul_(2), x * 2))[1], lambda ctx, g, h: g)
    with pytest.raises(RuntimeError, match="cannot return more than one Tensor"):
        F.apply((leaf(1.0, 2.0) * 1)[:1])


def test_dirty_tensor_that_is_no_input_warns():
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    with pytest.warns(UserWarning, match="was not an input"):
        make(forward, lambda ctx, g: g * 2).apply(leaf(1.0)).backward()


# --- what backward returns --------------------------------------------------------------------

WRONG = [
    (RuntimeError, r"incorrect number of gradients \(expected 1, got 2\)", lambda ctx, g: (g, g)),
    (RuntimeError, r"expected Variable or None \(got int\)", lambda ctx, g: 3),
    (RuntimeError, r"got \[3, 4\] but expected shape", lambda ctx, g: torch.ones(3, 4)),
    (ZeroDivisionError, "division", lambda ctx, g: 1 / 0),
]


@pytest.mark.parametrize(("error", "message", "backward"), WRONG, ids=range(len(WRONG)))
def test_wrong_gradients_are_named(error, message, backward):
    x = leaf(1.0, 2.0)
    y = make(lambda ctx, x: x * 1, backward).apply(x)
    with pytest.raises(error, match=message):
        y.sum().backward()
    assert x.grad is None
    assert torch.is_grad_enabled()
    (x * 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [2, 2])


def test_too_few_and_misplaced_gradients():
    x = leaf(1.0)
    y = make(lambda ctx, a, b: a * b, lambda ctx, g: g).apply(x, x)
    with pytest.raises(RuntimeError, match=r"expected 2, got 1"):
        y.backward()
    y = make(lambda ctx, a, b: a * b, lambda ctx, g: (g, g)).apply(x, 3)
    with pytest.raises(RuntimeError, match="different than None at position 2"):
        y.backward()


def test_gradients_too_many_but_none_broadcast_and_cast():
    x = torch.ones(3, requires_grad=True)
    F = make(lambda ctx, x: x * 1, lambda ctx, g: (torch.ones(2, 3).double(), None, None))
    F.apply(x).sum().backward()
    assert x.grad.dtype == torch.float32
    np.testing.assert_allclose(x.grad.numpy(), [2, 2, 2])


def test_missing_methods():
    x = leaf(1.0)
    with pytest.raises(NotImplementedError, match="must implement the forward"):
        type("Empty", (Function,), {}).apply(x)
    with pytest.raises(NotImplementedError, match="either the backward or vjp"):
        make(lambda ctx, x: x * 1).apply(x).backward()
    both = make(lambda ctx, x: x * 1, lambda ctx, g: g, vjp=staticmethod(lambda ctx, g: g))
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        both.apply(x).backward()
    with (
        pytest.warns(DeprecationWarning, match="should not be instantiated"),
        pytest.raises(RuntimeError, match="Legacy autograd function"),
    ):
        Cube()(x)


# --- saved tensors ----------------------------------------------------------------------------


def test_saved_tensors_are_checked_and_freed():
    x = leaf(2.0)
    y = x * 1
    z = Cube.apply(y)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    z = Cube.apply(x)
    node = z.grad_fn
    z.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        z.backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = node.saved_tensors


def test_saved_none_output_and_intermediate():
    def forward(ctx, x):
        middle = x * 3
        y = middle * x
        ctx.save_for_backward(x, None, y, middle)
        return y

    def backward(ctx, g):
        x, nothing, y, middle = ctx.saved_tensors
        assert nothing is None
        assert torch.equal(y, middle * x)
        return g * 2 * middle

    x = leaf(2.0)
    make(forward, backward).apply(x).backward()
    assert x.grad.item() == 12


def test_saved_tensors_hooks_see_what_functions_save():
    packed, unpacked = [], []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: packed.append(t) or len(packed) - 1,
        lambda i: unpacked.append(i) or packed[i],
    ):
        x = leaf(2.0)
        y = Cube.apply(x)
    assert len(packed) == 1
    y.backward()
    assert unpacked == [0]
    assert x.grad.item() == 12
    handles = Cube.apply(x).grad_fn._raw_saved_tensors
    assert len(handles) == 1
    assert handles[0].unpack() is x


def test_inference_tensor_cannot_be_saved():
    with torch.inference_mode():
        t = torch.ones(1)
    F = make(lambda ctx, x, t: (ctx.save_for_backward(t), x * 2)[1], lambda ctx, g: (g, None))
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        F.apply(leaf(1.0), t)


# --- decorators and old forms -----------------------------------------------------------------


def test_once_differentiable():
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        assert not torch.is_grad_enabled()
        return g * 2 * x

    F = make(lambda ctx, x: (ctx.save_for_backward(x), x * x)[1], once_differentiable(backward))
    x = leaf(3.0)
    (g,) = torch.autograd.grad(F.apply(x), x)
    assert g.item() == 6
    seed = torch.ones(1).double().requires_grad_()
    (g,) = torch.autograd.grad(F.apply(x), x, grad_outputs=seed, create_graph=True)
    assert g.item() == 6
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        g.backward()
    y = F.apply(x * x)
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        g.backward()


def test_nested_io_function():
    class Mix(NestedIOFunction):
        def forward_extended(self, pair, scale):
            a, (b, c) = pair
            self.save_for_backward([a, {"b": b}], c)
            self.scale = scale
            return [a * b * scale, {"sum": b + c}]

        def backward_extended(self, grads):
            product, rest = grads[0], grads[1]["sum"]
            (a, kept), _ = self.saved_tensors
            b = kept["b"]
            return (product * b * self.scale, (product * a * self.scale + rest, rest)), None

    a, b, c = leaf(2.0), leaf(3.0), leaf(4.0)
    out = Mix()((a, (b, c)), 10.0)
    assert out[0].item() == 60
    (out[0] + out[1]["sum"]).backward()
    assert (a.grad.item(), b.grad.item(), c.grad.item()) == (30, 21, 1)


def test_inplace_function_is_a_function():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        assert InplaceFunction(inplace=True).inplace

    class Twice(InplaceFunction):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0)
    Twice.apply(x).backward()
    assert x.grad.item() == 2


# --- memory -----------------------------------------------------------------------------------


def test_cycles_through_the_context_are_collected():
    class Token:
        pass

    def forward(ctx, x):
        y = x * 2
        ctx.output = y
        ctx.token = token
        return y

    token = Token()
    alive = weakref.ref(token)
    y = make(forward, lambda ctx, g: g * 2).apply(leaf(1.0))
    token = None
    del y, forward
    gc.collect()
    assert alive() is None


def test_long_chains_are_released_without_recursion():
    x = torch.ones(1, requires_grad=True)
    F = make(lambda ctx, x: x * 1, lambda ctx, g: g)
    y = x
    for _ in range(100_000):
        y = F.apply(y)
    y.backward()
    assert x.grad.item() == 1
    node = weakref.ref(y.grad_fn)
    del y
    assert node() is None


def test_metadata_and_hooks_of_the_node():
    x = leaf(1.0)
    y = Cube.apply(x)
    y.grad_fn.metadata["tag"] = 7
    assert y.grad_fn.metadata == {"tag": 7}
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 10,))
    y.grad_fn.register_prehook(lambda go: (go[0] * 2,))
    y.backward()
    assert x.grad.item() == 60


def test_calling_a_node():
    y = Cube.apply(leaf(2.0))
    assert y.grad_fn(torch.ones(1).double()).item() == 12
    assert y.grad_fn.apply(torch.ones(1).double()).item() == 12
    with pytest.raises(TypeError, match="expected 1 arguments, got 0 instead"):
        y.grad_fn()


# --- forward mode -----------------------------------------------------------------------------


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
    def jvp(ctx, moved):
        (x,) = ctx.saved_tensors
        return moved * x.cos()


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
        def jvp(ctx, moved):
            return moved.mul_(2)

    class Wrong_(Double_):
        @staticmethod
        def jvp(ctx, moved):
            return moved * 2

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


# --- inputs that are passed through or changed --------------------------------------------------


class PassedThrough(torch.autograd.Function):
    """Returns its input, and saves it or the output in setup_context."""

    @staticmethod
    def forward(x, which):
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0] if which_is_input(inputs) else output)

    @staticmethod
    def backward(ctx, grad):
        return grad, None


def which_is_input(inputs):
    return inputs[1] == "input"


@pytest.mark.parametrize("which", ["input", "output"])
@pytest.mark.parametrize("needed", [True, False])
def test_setup_context_cannot_save_an_input_that_is_returned(which, needed):
    x = torch.ones(2, requires_grad=needed)
    with pytest.raises(RuntimeError, match=r"returned as-is as output is being saved.*view_as"):
        PassedThrough.apply(x, which)


@pytest.mark.parametrize("others", [(None,), ("text",), (None, "text")])
def test_a_changed_view_must_be_the_only_output(others):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return (x.mul_(2), *others)

        @staticmethod
        def backward(ctx, *grads):
            return grads[0] * 2

    base = torch.ones(4, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="cannot return more than one Tensor"):
        Doubled.apply(base[:2])
    plain = torch.ones(4, requires_grad=True)
    Doubled.apply(plain * 1)[0].sum().backward()
    assert plain.grad.tolist() == [2.0] * 4


def test_a_view_made_by_a_function_without_grad_mode_is_a_view():
    class Flat(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def backward(ctx, grad):
            return grad.view(2, 2)

    x = torch.ones(2, 2, requires_grad=True)
    with torch.no_grad():
        y = Flat.apply(x)
    assert y._is_view() and y.requires_grad and y.grad_fn is None
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        y.mul_(2)
