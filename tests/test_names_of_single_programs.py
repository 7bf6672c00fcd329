"""Modules and functions that single programs import: weak keys, biases, conversions, files."""

import copy
import gc
import inspect
import warnings

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import nn

# --- weak references ------------------------------------------------------------------------------


def test_tensors_are_keys_by_identity():
    from autograd_cy.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakTensorKeyDictionary

    x, y = ag.ones(2), ag.ones(2)
    names = WeakTensorKeyDictionary({x: "x"})
    names[y] = "y"
    assert names[x] == "x" and names[y] == "y" and len(names) == 2 and ag.ones(2) not in names
    assert [k is v for k, v in zip(names, (x, y))] == [True, True] and 3 not in names
    assert names.setdefault(x, "z") == "x" and names.pop(y) == "y" and y not in names
    assert copy.copy(names)[x] == "x" and copy.deepcopy(names)[x] == "x"
    reference = TensorWeakRef(x)
    assert reference() is x
    del x
    gc.collect()
    assert len(names) == 0 and [*names] == [] and reference() is None
    with pytest.raises(KeyError):
        names[y]
    with pytest.raises(AssertionError):
        TensorWeakRef(3)
    assert WeakTensorKeyDictionary is WeakIdKeyDictionary


# --- causal biases --------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(3, 3), (2, 4)])
def test_causal_biases_are_masks_of_attention(size):
    from autograd_cy.nn.attention.bias import causal_lower_right, causal_upper_left

    q, k, v = ag.randn(2, size[0], 4), ag.randn(2, size[1], 4), ag.randn(2, size[1], 4)
    q.requires_grad_()
    for make, diagonal in ((causal_upper_left, 0), (causal_lower_right, size[1] - size[0])):
        bias, mask = make(*size), ag.ones(size, dtype=ag.bool).tril(diagonal)
        assert repr(bias) == repr(mask) and bias.shape == size
        found = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        expected = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        assert ag.equal(found, expected) and type(found) is ag.Tensor and found.requires_grad
        with pytest.raises(NotImplementedError, match="only supports scaled_dot_product_attention"):
            bias + 1
    with pytest.warns(UserWarning, match="Lower right causal bias will produce NaNs"):
        causal_lower_right(3, 2)


# --- conversions of modules -----------------------------------------------------------------------


@pytest.fixture
def conversions():
    future = ag.__future__
    yield future
    future.set_overwrite_module_params_on_conversion(False)
    future.set_swap_module_params_on_conversion(False)


def test_conversions_overwrite_parameters_if_that_is_set(conversions):
    layer = nn.BatchNorm1d(2)
    weight = layer.weight
    weight.grad = ag.ones(2)
    layer.double()
    assert layer.weight is weight
    conversions.set_overwrite_module_params_on_conversion(True)
    assert conversions.get_overwrite_module_params_on_conversion()
    layer.float()
    assert layer.weight is not weight and type(layer.weight) is nn.Parameter
    assert weight.dtype is ag.float64 and layer.weight.dtype is ag.float32
    assert layer.weight.grad.dtype is ag.float32 and layer.running_mean.dtype is ag.float32


def test_conversions_and_states_swap_parameters_if_that_is_set(conversions):
    conversions.set_swap_module_params_on_conversion(True)
    assert conversions.get_swap_module_params_on_conversion()
    layer, other = nn.Linear(2, 3), nn.Linear(2, 3)
    weight = layer.weight
    weight.grad = ag.ones(3, 2)
    layer.double()
    assert layer.weight is weight and weight.dtype is ag.float64 and weight.requires_grad
    assert weight.grad.dtype is ag.float64
    weight.grad = None
    for assign in (False, True):
        state = other.state_dict()
        layer.load_state_dict(state, assign=assign)
        assert layer.weight is weight and type(weight) is nn.Parameter
        assert np.allclose(weight.detach().numpy(), other.weight.detach().numpy())
        assert weight.dtype is (ag.float32 if assign else ag.float64)
        assert ag.equal(state["weight"], other.weight)

    class Own(nn.Parameter):
        def module_load(self, value, assign=False):
            return value * 2

    layer.bias = Own(ag.zeros(3))
    layer.load_state_dict(other.state_dict())
    assert np.allclose(layer.bias.detach().numpy(), 2 * other.bias.detach().numpy())


# --- orders of dimensions -------------------------------------------------------------------------


def test_dimensions_of_stride_0_keep_their_place_in_the_order():
    assert ag.zeros(1, 3).expand(4, 3).dim_order() == (0, 1)
    assert ag.zeros(3, 1, 2).expand(3, 5, 2).permute(2, 1, 0).dim_order() == (2, 1, 0)
    assert ag.zeros(2, 3, 4, 5).permute(1, 3, 0, 2).dim_order() == (2, 0, 3, 1)


# --- overrides, checks, futures -------------------------------------------------------------------


def test_functions_with_the_parameters_of_those_that_dispatch():
    stand_ins = ag.overrides.get_testing_overrides()
    assert len(stand_ins) > 800
    assert stand_ins[ag.add](ag.ones(1), 2) == -1
    names = [*inspect.signature(stand_ins[nn.functional.linear]).parameters]
    assert names[:3] == ["input", "weight", "bias"]
    with pytest.raises(TypeError):
        stand_ins[nn.functional.linear]()


def test_checks_raise_errors_of_their_kinds():
    for name, error in (
        ("_check", RuntimeError),
        ("_check_index", IndexError),
        ("_check_value", ValueError),
        ("_check_type", TypeError),
        ("_check_not_implemented", NotImplementedError),
    ):
        check = getattr(ag, name)
        check(True)
        with pytest.raises(error, match="Expected cond to be True"):
            check(False)
        with pytest.raises(error, match="why"):
            check(False, lambda: "why")
    with pytest.raises(TypeError, match="cond must be a bool"):
        ag._check(1)
    with pytest.raises(RuntimeError):
        ag._check_tensor_all(ag.tensor([True, False]))
    ag._assert_async(ag.tensor(1))
    with pytest.raises(RuntimeError, match="nonzero value, but got zero"):
        ag._assert_async(ag.tensor(0))
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        ag._assert_async(ag.ones(2))


def test_results_of_forks_are_there_at_once():
    assert ag.jit.wait(ag.jit.fork(lambda a, b: a + b, 1, b=2)) == 3
    assert ag.jit.Future is ag.Future is ag.futures.Future
    assert ag.jit.annotations.List[int] == list[int] or ag.jit.annotations.List is not None
    assert not isinstance(ag.jit.script(lambda x: x), ag.jit.ScriptFunction)


def test_layers_with_the_normalization_behind_them_are_one_layer():
    from autograd_cy.nn.utils import fuse_conv_bn_eval, fuse_linear_bn_eval

    for conv, bn, x in (
        (nn.Conv2d(2, 4, 3, groups=2), nn.BatchNorm2d(4), ag.randn(2, 2, 5, 5)),
        (nn.Conv1d(2, 3, 2, bias=False), nn.BatchNorm1d(3, affine=False), ag.randn(2, 2, 5)),
    ):
        bn(conv(x))  # statistics
        conv.eval(), bn.eval()
        assert ag.allclose(fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-5)
    up, bn, x = nn.ConvTranspose1d(2, 3, 2).eval(), nn.BatchNorm1d(3).eval(), ag.randn(2, 2, 5)
    bn.running_var.fill_(3.0)
    assert ag.allclose(fuse_conv_bn_eval(up, bn, transpose=True)(x), bn(up(x)), atol=1e-5)
    linear = nn.Linear(2, 3).eval()
    x = ag.randn(4, 2)
    assert ag.allclose(fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-5)
    with pytest.raises(AssertionError, match="Fusion only for eval"):
        fuse_linear_bn_eval(linear.train(), bn)


def test_searches_of_optimizers_of_others():
    from autograd_cy.optim.lbfgs import _cubic_interpolate, _strong_wolfe

    zero, one = ag.tensor(0.0), ag.tensor(1.0)
    # x**2 - x: slopes -1 and 1, minimum at 1/2.
    assert float(_cubic_interpolate(zero, zero, -one, one, zero, one)) == 0.5
    assert float(_cubic_interpolate(0.0, 0.0, -1.0, 1.0, 0.0, 1.0, bounds=(0.6, 1.0))) == 0.6
    goal = ag.tensor([2.0, -1.0])

    def objective(x, t, d):
        at = x + t * d
        return float(((at - goal) ** 2).sum()), 2 * (at - goal)

    start = ag.zeros(2)
    loss, grad = objective(start, 0.0, start)
    found, _, length, calls = _strong_wolfe(
        objective, start, 1.0, -grad, loss, grad, float(-(grad @ grad))
    )
    assert found < 1e-6 and abs(float(length) - 0.5) < 1e-3 and calls >= 1


def test_module_parameters_are_replaced_within_a_block():
    from autograd_cy.nn.utils.stateless import _reparametrize_module

    layer = nn.Linear(1, 1)
    weight = layer.weight
    with _reparametrize_module(layer, {"weight": ag.full((1, 1), 2.0), "bias": ag.ones(1)}):
        assert layer(ag.ones(1, 1)).item() == 3.0
    assert layer.weight is weight


def test_a_product_by_names_for_sparse_matrices():
    a, b = ag.tensor([[0.0, 1.0], [2.0, 0.0]]), ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert ag.spmm(a, b).tolist() == ag.sparse.mm(a, b).tolist() == [[3.0, 4.0], [2.0, 4.0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ag.spmm(a, b.requires_grad_()).requires_grad
