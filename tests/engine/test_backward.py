"""backward() and grad(): arguments, accumulation, orders, freed graphs."""

import numpy as np
import pytest

import autograd_cy as torch


def leaf(*values):
    return torch.tensor(list(values), dtype=torch.float64, requires_grad=True)


def test_gradient_of_product_is_the_other_factor():
    a, b = leaf(2.0, 3.0), leaf(5.0, 7.0)
    (a * b).sum().backward()
    assert a.grad.tolist() == [5.0, 7.0]
    assert b.grad.tolist() == [2.0, 3.0]


def test_gradients_accumulate_into_the_same_tensor():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad is first
    assert x.grad.tolist() == [4.0, 8.0]


def test_create_graph_replaces_the_gradient_tensor():
    x = leaf(3.0)
    with pytest.warns(UserWarning, match="reference cycle"):
        (x**2).sum().backward(create_graph=True)
    first = x.grad
    with pytest.warns(UserWarning, match="reference cycle"):
        (x**2).sum().backward(create_graph=True)
    assert x.grad is not first
    assert x.grad.requires_grad
    x.grad = None


def test_non_scalar_needs_a_gradient():
    x = leaf(1.0, 2.0)
    with pytest.raises(
        RuntimeError, match="grad can be implicitly created only for scalar outputs"
    ):
        (x * 2).backward()
    (x * 2).backward(torch.tensor([1.0, 10.0], dtype=torch.float64))
    assert x.grad.tolist() == [2.0, 20.0]


def test_complex_scalar_needs_a_gradient():
    z = torch.tensor(1 + 2j, requires_grad=True)
    with pytest.raises(RuntimeError, match="only for real scalar outputs"):
        (z * z).backward()


def test_gradient_of_wrong_shape_is_refused():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 2).backward(torch.ones(3, dtype=torch.float64))


def test_output_without_graph_is_refused():
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        torch.ones(1).backward()


def test_second_backward_needs_retain_graph():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_nothing_saved_means_backward_may_run_twice():
    x, y = leaf(1.0), leaf(2.0)
    z = (x + y).sum()
    z.backward()
    z.backward()
    assert x.grad.tolist() == [2.0]


def test_grad_returns_and_does_not_accumulate():
    x = leaf(3.0)
    (g,) = torch.autograd.grad((x**3).sum(), x)
    assert g.tolist() == [27.0]
    assert x.grad is None


def test_grad_of_grad_to_the_fourth_order():
    x = leaf(2.0)
    y = (x**5).sum()
    expected = [80.0, 160.0, 240.0, 240.0]
    for value in expected:
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        assert g.tolist() == pytest.approx([value])
        y = g.sum()


def test_unused_input_is_an_error_unless_allowed():
    x, y = leaf(1.0), leaf(2.0)
    out = (x * 2).sum()
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(out, (x, y), retain_graph=True)
    gx, gy = torch.autograd.grad(out, (x, y), allow_unused=True, retain_graph=True)
    assert gx.tolist() == [2.0] and gy is None
    _, gy = torch.autograd.grad(out, (x, y), materialize_grads=True)
    assert gy.tolist() == [0.0]


def test_materialize_grads_contradicts_allow_unused_false():
    x = leaf(1.0)
    with pytest.raises(ValueError, match="allow_unused"):
        torch.autograd.grad((x * 2).sum(), x, allow_unused=False, materialize_grads=True)


def test_inputs_limits_accumulation():
    x, y = leaf(1.0), leaf(2.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.tolist() == [2.0]
    assert y.grad is None


def test_empty_inputs_are_an_error():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (x * 2).sum().backward(inputs=[])


def test_non_leaf_input_gets_its_gradient():
    x = leaf(3.0)
    y = x * x
    z = (y * y).sum()
    (g,) = torch.autograd.grad(z, y)
    assert g.tolist() == [18.0]


def test_several_outputs_add_up():
    x = leaf(1.0, 2.0)
    torch.autograd.backward([(x * 2).sum(), (x * 3).sum()])
    assert x.grad.tolist() == [5.0, 5.0]


def test_same_tensor_as_both_operands():
    x = leaf(4.0)
    (x + x).sum().backward()
    assert x.grad.tolist() == [2.0]


def test_diamond_runs_each_node_once():
    x = leaf(2.0)
    a = x * 3
    calls = []
    a.register_hook(lambda g: calls.append(g.tolist()))
    ((a * 2) + (a * 5)).sum().backward()
    assert calls == [[7.0]]
    assert x.grad.tolist() == [21.0]


def test_broadcasting_is_undone():
    a = torch.ones(3, 1, dtype=torch.float64, requires_grad=True)
    b = torch.ones(4, dtype=torch.float64, requires_grad=True)
    (a * b * 2).sum().backward()
    assert a.grad.shape == (3, 1) and b.grad.shape == (4,)
    assert a.grad.tolist() == [[8.0]] * 3
    assert b.grad.tolist() == [6.0] * 4


def test_gradient_takes_the_dtype_of_its_input():
    a = torch.ones(2, dtype=torch.float32, requires_grad=True)
    b = torch.ones(2, dtype=torch.float64, requires_grad=True)
    (a * b).sum().backward()
    assert a.grad.dtype == torch.float32
    assert b.grad.dtype == torch.float64


def test_complex_gradient_of_a_real_input_is_real():
    a = torch.ones(2, dtype=torch.float64, requires_grad=True)
    z = torch.tensor([1 + 2j, 3 - 1j])
    (a * z).real.sum().backward()
    assert a.grad.dtype == torch.float64
    assert a.grad.tolist() == [1.0, 3.0]


def test_gradient_follows_the_strides_of_a_dense_leaf():
    x = torch.ones(3, 4, dtype=torch.float64).t().requires_grad_()
    (x * torch.ones(4, 3, dtype=torch.float64)).sum().backward()
    assert x.grad.stride() == x.stride()


def test_incoming_gradient_isn_t_aliased():
    x = leaf(1.0, 2.0)
    seed = torch.ones(2, dtype=torch.float64)
    (x + 0).backward(seed)
    x.grad.add_(1)
    assert seed.tolist() == [1.0, 1.0]


def test_shared_gradient_isn_t_stolen_twice():
    a, b = leaf(1.0), leaf(1.0)
    (a + b).sum().backward()
    a.grad.add_(5)
    assert b.grad.tolist() == [1.0]


def test_deep_chain_runs_and_frees_without_recursion():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(250_000):
        y = y + x
    y.sum().backward()
    assert x.grad.item() == 250_001
    del y


def test_unused_deep_chain_frees_without_recursion():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(300_000):
        y = y * 1.0
    del y


def test_matches_numpy_for_a_small_network():
    rng = np.random.default_rng(0)
    w1, w2, x = (
        rng.standard_normal((5, 3)),
        rng.standard_normal((2, 5)),
        rng.standard_normal((4, 3)),
    )
    t1, t2 = (torch.tensor(w, requires_grad=True) for w in (w1, w2))
    out = torch.tanh(torch.tensor(x) @ t1.t()) @ t2.t()
    (out**2).mean().backward()
    h = np.tanh(x @ w1.T)
    g_out = 2 * (h @ w2.T) / 8
    assert np.allclose(t2.grad.numpy(), g_out.T @ h)
    assert np.allclose(t1.grad.numpy(), ((g_out @ w2) * (1 - h**2)).T @ x)


def test_failed_backward_leaves_the_engine_usable():
    x = leaf(1.0, 2.0)
    y = x * x

    def broken(grad):
        raise ValueError("from the hook")

    handle = y.register_hook(broken)
    with pytest.raises(ValueError, match="from the hook"):
        y.sum().backward(retain_graph=True)
    assert x.grad is None
    assert torch.is_grad_enabled()
    handle.remove()
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("shape", [(2, 2), (2, 1), (1, 2), (3, 2), (2, 2, 2)])
def test_a_gradient_of_other_strides_is_copied_into_those_of_the_leaf(shape):
    x = torch.ones(shape, requires_grad=True)
    weights = torch.arange(float(x.numel())).reshape(shape[::-1])
    turned = tuple(range(len(shape)))[::-1]
    (x.permute(turned) * weights).sum().backward()
    assert x.grad.stride() == x.stride()
    assert torch.equal(x.grad, weights.permute(turned))
