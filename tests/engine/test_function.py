"""Custom Functions: both styles, every context method, every misuse."""

import gc
import weakref
from collections import namedtuple

import numpy as np
import pytest
from functions import leaf, make

import autograd_cy as torch
from autograd_cy.autograd import Function
from autograd_cy.autograd.function import (
    BackwardCFunction,
    FunctionCtx,
    InplaceFunction,
    NestedIOFunction,
    once_differentiable,
)


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


def test_tuples_of_other_classes_are_taken_as_tuples():
    Pair = namedtuple("Pair", "first second")

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(a, b):
            return a * b

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.to_save = Pair(*inputs)

        @staticmethod
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            return Pair(grad * b, grad * a)

    a, b = leaf(2.0), leaf(5.0)
    Product.apply(a, b).backward()
    assert a.grad.item() == 5 and b.grad.item() == 2


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
    for _ in range(50_000):
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
