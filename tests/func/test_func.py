"""Arguments, results and errors of autograd_cy.func."""

from collections import namedtuple

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)

X = ag.tensor([0.0, 1.0, 2.0])
Pair = namedtuple("Pair", "first second")


def product(x, y):
    return (x * y).sum()


# --- grad -----------------------------------------------------------------------------------


def test_argnums():
    y = ag.ones(3) * 5
    assert grad(product)(X, y).tolist() == y.tolist()
    assert grad(product, argnums=-1)(X, y).tolist() == X.tolist()
    both = grad(product, argnums=(1, 0))(X, y)
    assert isinstance(both, tuple) and [g.tolist() for g in both] == [X.tolist(), y.tolist()]
    assert isinstance(grad(product, argnums=(0,))(X, y), tuple)


@pytest.mark.parametrize(
    ("argnums", "text"),
    [
        (2, "Got argnum=2, but only 2 positional inputs"),
        ((0, 0), "argnums elements must be unique"),
        ((0, -2), "argnums elements must be unique"),
        ((), "argnums must be non-empty"),
        ("0", "argnums must be int or Tuple"),
        (0.0, "argnums must be int or Tuple"),
        (True, "argnums must be int or Tuple"),
        ((0, 1.0), r"argnums must be int or Tuple\[int, \.\.\.\], got: \(0, 1\.0\)"),
        (("0",), "argnums must be int or Tuple"),
        ((0, True), "argnums must be int or Tuple"),
        ((0, 2), "Got argnum=2, but only 2 positional inputs"),
        ((-3,), "Got argnum=-3, but only 2 positional inputs"),
    ],
)
@pytest.mark.parametrize("transform", [grad, grad_and_value, jacrev, jacfwd, hessian])
def test_wrong_argnums(transform, argnums, text):
    with pytest.raises(RuntimeError, match=text):
        transform(product, argnums=argnums)(X, X)


def test_containers_go_in_and_out():
    def f(d):
        return (d["a"] * d["b"][0]).sum() + d["b"][1].first.sum() * 3

    point = {"a": X, "b": [X + 1, Pair(ag.ones(1), ag.ones(2))]}
    found = grad(f)(point)
    assert list(found) == ["a", "b"] and isinstance(found["b"], list)
    assert isinstance(found["b"][1], Pair)
    assert found["a"].tolist() == [1.0, 2.0, 3.0]
    assert found["b"][1].first.tolist() == [3.0] and found["b"][1].second.tolist() == [0.0, 0.0]


def test_aux_and_value():
    def f(x):
        return (x * x).sum(), {"double": x * 2}

    g, aux = grad(f, has_aux=True)(X)
    assert g.tolist() == [0.0, 2.0, 4.0] and aux["double"].tolist() == [0.0, 2.0, 4.0]
    g, (value, aux) = grad_and_value(f, has_aux=True)(X)
    assert value.item() == 5.0 and not value.requires_grad and not aux["double"].requires_grad
    g, value = grad_and_value(lambda x: f(x)[0])(X)
    assert (g.tolist(), value.item()) == ([0.0, 2.0, 4.0], 5.0)
    batch = vmap(grad(f, has_aux=True))(ag.stack([X, X + 1]))
    assert batch[1]["double"].tolist() == [[0.0, 2.0, 4.0], [2.0, 4.0, 6.0]]


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (lambda x: x, RuntimeError, "scalar Tensor, got tensor with 1 dims.*vjp or jacrev"),
        (lambda x: 1.0, RuntimeError, "Expected f.*to return a Tensor, got <class 'float'>"),
        (lambda x: (x.sum(),), RuntimeError, "to return a Tensor, got <class 'tuple'>"),
        (lambda x: x.sum() * 1j, RuntimeError, "only for real scalar outputs"),
    ],
)
def test_grad_refuses_results(function, error, text):
    for transform in (grad, grad_and_value):
        with pytest.raises(error, match=text):
            transform(function)(X)


def test_grad_refuses_arguments():
    with pytest.raises(RuntimeError, match="only Tensors of floating point dtype"):
        grad(lambda x: x.sum())(ag.arange(3))
    for wrong in (1.0, (X, 2.0), (X, None)):
        with pytest.raises(ValueError, match="must be Tensor, got"):
            grad(lambda x: X.sum())(wrong)
    with pytest.raises(RuntimeError, match="should be a tuple: \\(output, aux\\)"):
        grad(lambda x: x.sum(), has_aux=True)(X)
    with pytest.raises(RuntimeError, match="unsupported type <class 'str'>"):
        grad(lambda x: (x.sum(), "text"), has_aux=True)(X)


def test_unused_arguments_get_zeros():
    g = grad(lambda x, y: x.sum(), argnums=(0, 1))(X, X)
    assert g[1].tolist() == [0.0] * 3
    assert grad(lambda x: ag.tensor(1.0))(X).tolist() == [0.0] * 3
    assert jacrev(lambda x: ag.ones(2))(X).tolist() == [[0.0] * 3] * 2
    assert jacfwd(lambda x: ag.ones(2))(X).tolist() == [[0.0] * 3] * 2
    xs = ag.ones(2, 3)
    assert vmap(grad(lambda x, y: x.sum(), argnums=1))(xs, xs).tolist() == [[0.0] * 3] * 2


def test_keyword_arguments_pass():
    assert grad(lambda x, *, power: (x**power).sum())(X, power=3).tolist() == [0.0, 3.0, 12.0]
    assert jacrev(lambda x, scale=1: x * scale)(X, scale=2)[1].tolist() == [0.0, 2.0, 0.0]


def test_the_caller_keeps_its_graph_and_its_gradients():
    x = X.clone().requires_grad_()
    y = x * 2
    grad(lambda a: (a * x).sum())(y)
    assert x.grad is None
    y.sum().backward()
    assert x.grad.tolist() == [2.0] * 3


# --- vjp, jvp, linearize --------------------------------------------------------------------


def test_vjp_of_several_arguments_and_outputs():
    out, pull = vjp(lambda d, y: {"sum": d["x"] + y, "rest": (y * 3,)}, {"x": X}, X)
    assert out["sum"].tolist() == [0.0, 2.0, 4.0]
    seed = {"sum": ag.ones(3), "rest": (ag.ones(3) * 2,)}
    first, second = pull(seed)
    assert first["x"].tolist() == [1.0] * 3 and second.tolist() == [7.0] * 3
    assert pull(seed)[1].tolist() == [7.0] * 3, "it can be called again"


def test_what_has_no_graph_comes_back_as_it_is():
    kept = ag.ones(3)

    def both(c):
        with ag.no_grad():
            assert vjp(lambda x: (x * 2, kept), X)[0][1] is kept
        outputs, _ = vjp(lambda x: (x * 2, c), X)
        assert outputs[1] is c
        return outputs[0] * c

    both(kept)
    assert vmap(both)(ag.ones(2, 3)).tolist() == [[0.0, 2.0, 4.0]] * 2


def test_vjp_refuses():
    _, pull = vjp(lambda x: (x * 2, x), X)
    with pytest.raises(RuntimeError, match="Expected pytree structure of cotangents"):
        pull(X)
    with pytest.raises(RuntimeError, match="Mismatch in shape: grad_output\\[1\\]"):
        pull((X, ag.ones(4)))
    with pytest.raises(TypeError, match="cotangents must be Tensors"):
        pull((X, 1.0))
    with pytest.raises(RuntimeError, match="only tensors, got unsupported type <class 'float'>"):
        vjp(lambda x: 1.0, X)
    with pytest.raises(RuntimeError, match="should be a tuple"):
        vjp(lambda x: x, X, has_aux=True)
    _, pull, aux = vjp(lambda x: (x * 2, x * 3), X, has_aux=True)
    assert aux.tolist() == [0.0, 3.0, 6.0] and pull(X)[0].tolist() == [0.0, 2.0, 4.0]


def test_jvp():
    out, tangent = jvp(lambda x, y: {"p": x * y}, (X, X + 1), (ag.ones(3), ag.zeros(3)))
    assert out["p"].tolist() == [0.0, 2.0, 6.0] and tangent["p"].tolist() == [1.0, 2.0, 3.0]
    out, tangent, aux = jvp(lambda x: (x * 2, x * 3), (X,), (X,), has_aux=True)
    assert aux.tolist() == [0.0, 3.0, 6.0] and "tangent" not in repr(aux)
    assert jvp(lambda x: ag.ones(2), (X,), (X,))[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("primals", "tangents", "error", "text"),
    [
        (X, X, RuntimeError, "Expected primals to be a tuple"),
        ((), (), RuntimeError, "at least one Tensor"),
        ((1.0,), (1.0,), RuntimeError, "only contain Tensors, got <class 'float'>"),
        ((X,), (X, X), RuntimeError, "the same python structure"),
        ((X,), (ag.ones(4),), RuntimeError, "different size than that of the original Tensor"),
        ((ag.arange(3),), (X,), ValueError, "floating point or complex"),
    ],
)
def test_jvp_refuses_arguments(primals, tangents, error, text):
    with pytest.raises(error, match=text):
        jvp(lambda *x: x[0], primals, tangents)


def test_jvp_refuses_results():
    with pytest.raises(RuntimeError, match="only tensors, got unsupported type <class 'float'>"):
        jvp(lambda x: 1.0, (X,), (X,))
    with pytest.raises(RuntimeError, match="independent of the inputs"):
        jvp(lambda x: ag.ones(2), (X,), (X,), strict=True)
    with pytest.raises(RuntimeError, match="should be a tuple"):
        jvp(lambda x: x, (X,), (X,), has_aux=True)


def test_linearize():
    out, push = linearize(lambda x, y: (x * y, y.sum()), X, X + 1)
    assert out[0].tolist() == [0.0, 2.0, 6.0] and not out[0].requires_grad
    for _ in range(2):
        first, second = push(ag.ones(3), X)
        assert first.tolist() == [1.0, 3.0, 7.0] and second.item() == 3.0
        assert not first.requires_grad
    rows = vmap(push, in_dims=(0, None))(ag.eye(3), ag.zeros(3))[0]
    assert rows.tolist() == [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]
    with pytest.raises(RuntimeError, match="shape"):
        push(ag.ones(4), X)
    with pytest.raises(RuntimeError, match="dtype"):
        push(ag.ones(3, dtype=ag.float64), X)
    with pytest.raises(RuntimeError, match="argspec"):
        push(X)


def test_tangents_do_not_outlive_jvp():
    kept = []
    jvp(lambda x: kept.append(x * 2) or x, (X,), (X,))
    assert "tangent" not in repr(kept[0])


# --- Jacobians ------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", [jacrev, jacfwd])
def test_jacobian_structures(transform):
    def f(d, y):
        return d["x"] * y.sum(), {"s": (d["x"] * d["x"]).sum()}

    found = transform(f, argnums=(0, 1))({"x": X}, ag.ones(2))
    assert found[0][0]["x"].shape == (3, 3) and found[0][1].shape == (3, 2)
    assert found[1]["s"][0]["x"].tolist() == [0.0, 2.0, 4.0]
    assert found[1]["s"][1].tolist() == [0.0, 0.0]
    matrix = ag.ones(2, 3)
    assert transform(lambda m: m @ m.t())(matrix).shape == (2, 2, 2, 3)
    assert transform(lambda x: x.sum())(ag.tensor(2.0)).item() == 1.0
    found, aux = transform(lambda x: (x * x, x + 1), has_aux=True)(X)
    assert found.tolist() == np.diag([0.0, 2.0, 4.0]).tolist()
    assert aux.tolist() == [1.0, 2.0, 3.0]


def test_jacobian_in_chunks():
    expected = jacrev(lambda x: x.exp() * x.sum())(X)
    for chunk_size in (1, 2, 3, 100):
        found = jacrev(lambda x: x.exp() * x.sum(), chunk_size=chunk_size)(X)
        np.testing.assert_array_equal(found.numpy(), expected.numpy())
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="`chunk_size` should be greater than 0"):
            jacrev(lambda x: x, chunk_size=wrong)


def test_random_operators_in_jacfwd():
    def f(x):
        return x * ag.rand(3)

    with pytest.raises(RuntimeError, match="randomness"):
        jacfwd(f)(X)
    found = jacfwd(f, randomness="same")(X).numpy()
    assert np.count_nonzero(found) == 3 and (np.diag(found) > 0).all()


def test_hessian_of_several_arguments():
    found = hessian(lambda x, y: (x * y * y).sum(), argnums=(0, 1))(X, X)
    assert found[0][0].tolist() == np.zeros((3, 3)).tolist()
    assert found[0][1].tolist() == np.diag(2 * X.numpy()).tolist() == found[1][0].tolist()


# --- modules --------------------------------------------------------------------------------


def test_functional_call_uses_the_given_tensors():
    layer = ag.nn.Linear(2, 3)
    before = layer.weight
    new = {"weight": ag.ones(3, 2), "bias": ag.zeros(3)}
    assert functional_call(layer, new, ag.ones(1, 2)).tolist() == [[2.0] * 3]
    assert layer.weight is before
    only = functional_call(layer, {"weight": ag.zeros(3, 2)}, (ag.ones(2),))
    assert only.tolist() == layer.bias.tolist()
    twice = functional_call(layer, ({"weight": ag.ones(3, 2)}, {"bias": ag.ones(3)}), ag.ones(2))
    assert twice.tolist() == [3.0] * 3


def test_functional_call_refuses():
    layer = ag.nn.Linear(2, 3)
    weight = {"weight": ag.ones(3, 2)}
    with pytest.raises(ValueError, match="appeared in multiple dictionaries"):
        functional_call(layer, (weight, weight), ag.ones(2))
    with pytest.raises(RuntimeError, match="Missing key\\(s\\): 'bias'"):
        functional_call(layer, weight, ag.ones(2), strict=True)
    with pytest.raises(RuntimeError, match="Unexpected key\\(s\\): 'x'"):
        functional_call(layer, {**weight, "x": X}, ag.ones(2), strict=True)
    with pytest.raises(TypeError):
        functional_call(layer, weight, "text")
    assert layer.weight.shape == (3, 2) and layer.weight.requires_grad


def test_tied_weights_are_replaced_together():
    class Tied(ag.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = ag.nn.Linear(2, 2, bias=False)
            self.b = ag.nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    tied, zeros = Tied(), {"a.weight": ag.zeros(2, 2)}
    assert functional_call(tied, zeros, ag.ones(2)).tolist() == [0.0, 0.0]
    untied = functional_call(tied, {"a.weight": ag.eye(2)}, ag.ones(2), tie_weights=False)
    assert untied.tolist() == tied.b(ag.ones(2)).tolist()
    with pytest.raises(ValueError, match="tied"):
        functional_call(tied, {**zeros, "b.weight": ag.ones(2, 2)}, ag.ones(2))


def test_per_sample_gradients_of_a_module():
    ag.manual_seed(0)
    model = ag.nn.Sequential(ag.nn.Linear(4, 5), ag.nn.Tanh(), ag.nn.Linear(5, 3))
    params = {name: p.detach() for name, p in model.named_parameters()}
    x, target = ag.randn(6, 4), ag.tensor([0, 1, 2, 2, 1, 0])

    def loss(params, x, target):
        logits = functional_call(model, params, (x.unsqueeze(0),))
        return ag.nn.functional.cross_entropy(logits, target.unsqueeze(0))

    found = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, target)
    for i in range(6):
        model.zero_grad()
        ag.nn.functional.cross_entropy(model(x[i : i + 1]), target[i : i + 1]).backward()
        for name, p in model.named_parameters():
            np.testing.assert_allclose(found[name][i].numpy(), p.grad.numpy(), 1e-4, 1e-6)


def test_ensembles():
    models = [ag.nn.Linear(2, 3) for _ in range(4)]
    params, buffers = stack_module_state(models)
    assert params["weight"].shape == (4, 3, 2) and params["weight"].is_leaf
    assert params["weight"].requires_grad and buffers == {}
    x = ag.randn(5, 2)
    found = vmap(lambda p, b: functional_call(models[0], (p, b), x))(params, buffers)
    expected = ag.stack([m(x) for m in models])
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), 1e-6)
    found.sum().backward()
    assert params["bias"].grad.tolist() == [[5.0] * 3] * 4


def test_stack_module_state_refuses():
    layer = ag.nn.Linear(2, 3)
    for models, text in (
        ([], "at least one model, got 0"),
        ([layer, ag.nn.Tanh()], "of the same class"),
        ([layer, ag.nn.Linear(2, 3).eval()], "the same training/eval mode"),
    ):
        with pytest.raises(RuntimeError, match=text):
            stack_module_state(models)
