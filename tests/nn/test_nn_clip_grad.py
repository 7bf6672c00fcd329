"""Gradients kept small, and parameters as vectors."""

import warnings

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.nn import utils

GRADS = [np.array([3.0, -4.0]), np.array([[12.0]]), np.zeros((0, 2))]


def params(dtype=None, grads=GRADS):
    made = [ag.nn.Parameter(ag.zeros(g.shape, dtype=dtype or ag.float32)) for g in grads]
    for p, g in zip(made, grads):
        p.grad = ag.tensor(g, dtype=p.dtype)
    return [*made, ag.nn.Parameter(ag.ones(2))]  # the last has no gradient


@pytest.mark.parametrize(
    ("order", "norm"), [(2.0, 13.0), (1, 19.0), ("inf", 12.0), (3.0, (27 + 64 + 1728) ** (1 / 3))]
)
@pytest.mark.parametrize("foreach", [None, False, True])
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.bfloat16, ag.float16])
def test_total_norm_is_clipped(order, norm, foreach, dtype):
    given = params(dtype, GRADS[:2])
    total = utils.clip_grad_norm_(iter(given), 2.0, order, foreach=foreach)
    assert total.dtype is dtype
    tolerance = {2: 2e-2, 4: 1e-5, 8: 1e-6}[dtype.itemsize]
    np.testing.assert_allclose(total.double().item(), norm, rtol=tolerance)
    for p, g in zip(given[:2], GRADS):
        np.testing.assert_allclose(p.grad.double().numpy(), g * (2.0 / norm), rtol=tolerance)
    assert given[-1].grad is None


def test_small_gradients_are_left_bit_for_bit():
    given = params()
    assert utils.clip_grad_norm_(given, 14.0).item() == 13.0
    assert all((p.grad.numpy() == g).all() for p, g in zip(given, GRADS))


def test_gradients_of_several_dtypes_have_one_norm():
    given = [*params(ag.float64, GRADS[:1]), *params(ag.float32, GRADS[1:2])]
    total = utils.clip_grad_norm_(given, 1.0)
    assert total.dtype is ag.float64
    assert given[0].grad.dtype is ag.float64 and given[2].grad.dtype is ag.float32
    np.testing.assert_allclose(given[2].grad.numpy(), [[12 / 13]], rtol=1e-6)


def test_norm_of_nothing_is_zero_and_an_empty_generator_is_reported():
    assert utils.clip_grad_norm_([], 1.0).item() == 0.0
    assert utils.get_total_norm([]).item() == 0.0
    with pytest.warns(UserWarning, match="`parameters` is an empty generator"):
        utils.clip_grad_norm_((p for p in ()), 1.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_norm_that_is_not_finite_is_an_error_if_asked_for(bad):
    given = params(grads=[np.array([1.0, bad])])
    with pytest.raises(RuntimeError, match="total norm of order 2.0 .* is non-finite"):
        utils.clip_grad_norm_(given, 1.0, error_if_nonfinite=True)
    assert given[0].grad[0].item() == 1.0
    total = utils.clip_grad_norm_(given, 1.0).item()
    assert total == bad or np.isnan(total)
    assert np.isnan(given[0].grad[1].item())


def test_values_are_cut_off_and_memory_kept():
    given = params()
    before = [p.grad for p in given]
    assert utils.clip_grad_value_(given, 3.5) is None
    assert all(p.grad is g for p, g in zip(given, before))
    assert given[0].grad.tolist() == [3.0, -3.5] and given[1].grad.tolist() == [[3.5]]
    utils.clip_grad_value_(given[0], 1)
    assert given[0].grad.tolist() == [1.0, -1.0]


def test_clipping_records_nothing_and_raises_versions():
    x = ag.nn.Parameter(ag.tensor([2.0, 3.0]))
    (grad,) = ag.autograd.grad((x**3).sum(), x, create_graph=True)
    x.grad = grad.detach().clone().requires_grad_()
    utils.clip_grads_with_norm_(x, 1.0, ag.tensor(10.0))
    assert x.grad.grad_fn is None and x.grad._version == 1


def test_meta_gradients_are_clipped_too():
    x = ag.nn.Parameter(ag.empty(3, device="meta"))
    x.grad = ag.empty(3, device="meta")
    assert utils.clip_grad_norm_([x], 1.0).device.type == "meta"


def test_the_old_name_warns():
    with pytest.warns(FutureWarning, match="clip_grad_norm_"):
        utils.clip_grad_norm(params(), 1.0)


def test_clipping_agrees_with_torch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    for order in (0.5, 1.0, 2.0, 3.0, float("inf"), float("-inf")):
        grads = [rng.standard_normal(s).astype(np.float32) for s in ((5, 3), (4,), (2, 2, 2))]
        sides = []
        for lib in (ag, torch):
            given = [lib.nn.Parameter(lib.zeros(*g.shape)) for g in grads]
            for p, g in zip(given, grads):
                p.grad = lib.tensor(g)
            total = lib.nn.utils.clip_grad_norm_(given, 0.7, order)
            sides.append([total.numpy(), *(p.grad.numpy() for p in given)])
        for ours, theirs in zip(*sides):
            np.testing.assert_allclose(ours, theirs, rtol=3e-6, err_msg=str(order))


def test_parameters_become_a_vector_with_history_and_come_back():
    layer = ag.nn.Linear(3, 2)
    vector = utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (8,)
    vector.sum().backward()
    assert (layer.weight.grad == 1).all()
    new = ag.arange(8.0)
    utils.vector_to_parameters(new, layer.parameters())
    assert layer.weight.tolist() == [[0, 1, 2], [3, 4, 5]] and layer.bias.tolist() == [6, 7]
    assert layer.weight.requires_grad and layer.weight.is_leaf
    assert layer.weight.data_ptr() == new.data_ptr()
    with pytest.raises(TypeError, match="expected torch.Tensor, but got"):
        utils.vector_to_parameters([1.0], layer.parameters())


def test_no_warning_where_nothing_is_wrong():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        utils.clip_grad_norm_((p for p in params()), 1.0)
