"""Layers in evaluation with the batch normalization behind them as one layer."""

from __future__ import annotations

import copy
from typing import Any

from autograd_cy import Tensor, ones_like, rsqrt, zeros_like

from ..parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """Return a convolution that does what two layers in evaluation do.

    Parameters
    ----------
    conv : Module
        A convolution.
    bn : Module
        The batch normalization of its results.
    transpose : bool, optional
        Whether `conv` is a transposed convolution.

    Returns
    -------
    Module
        A copy of `conv` with other parameters.

    Raises
    ------
    AssertionError
        If one of them is in training, or `bn` has no running statistics.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils.fusion import fuse_conv_bn_eval
    >>> conv, bn = torch.nn.Conv1d(2, 3, 2).eval(), torch.nn.BatchNorm1d(3).eval()
    >>> x = torch.randn(1, 2, 5)
    >>> torch.allclose(fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-5)
    True
    """
    _check_layers("fuse_conv_bn_eval", conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight,
        fused.bias,
        bn.running_mean,
        bn.running_var,
        bn.eps,
        bn.weight,
        bn.bias,
        transpose,
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Return the weight and the bias of a convolution with a batch normalization behind it.

    Parameters
    ----------
    conv_w, conv_b : Tensor
        Weight and bias of the convolution; the bias may be None.
    bn_rm, bn_rv : Tensor
        Running mean and variance.
    bn_eps : float
        What is added to variances.
    bn_w, bn_b : Tensor
        Weight and bias of the normalization, or None.
    transpose : bool, optional
        Whether the channels of results are the second dimension of the weight.

    Returns
    -------
    (Parameter, Parameter)

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils.fusion import fuse_conv_bn_weights
    >>> one, zero = torch.ones(1), torch.zeros(1)
    >>> fuse_conv_bn_weights(torch.ones(1, 1, 1), None, one, one, 0.0, one, zero)[1]
    Parameter containing:
    tensor([-1.])
    """
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """Return an affine map that does what it and a batch normalization do in evaluation.

    Parameters
    ----------
    linear : Module
        A `Linear`.
    bn : Module
        The batch normalization of its results, of as many features, or of one.

    Returns
    -------
    Module
        A copy of `linear` with other parameters.

    Raises
    ------
    AssertionError
        If one of them is in training, or the numbers of features differ.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils.fusion import fuse_linear_bn_eval
    >>> linear, bn = torch.nn.Linear(2, 3).eval(), torch.nn.BatchNorm1d(3).eval()
    >>> x = torch.randn(4, 2)
    >>> torch.allclose(fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-5)
    True
    """
    _check_layers("fuse_linear_bn_eval", linear, bn)
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, but they are "
            f"{linear.out_features} and {bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Return the weight and the bias of an affine map with a batch normalization behind it.

    Parameters
    ----------
    linear_w, linear_b : Tensor
        Weight and bias of the map; the bias may be None.
    bn_rm, bn_rv : Tensor
        Running mean and variance.
    bn_eps : float
        What is added to variances.
    bn_w, bn_b : Tensor
        Weight and bias of the normalization, or None.

    Returns
    -------
    (Parameter, Parameter)

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils.fusion import fuse_linear_bn_weights
    >>> one, zero = torch.ones(1), torch.zeros(1)
    >>> fuse_linear_bn_weights(torch.ones(1, 1), None, one, one, 0.0, one, zero)[1]
    Parameter containing:
    tensor([-1.])
    """
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def _check_layers(op: str, layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError(f"{op}: Fusion only for eval! Call .eval() of both layers before")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError(f"{op}: Expected bn.running_mean and bn.running_var to be non-None")


def _fused(
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    eps: float,
    factor: Tensor | None,
    shift: Tensor | None,
    shape: list[int],
) -> tuple[Parameter, Parameter]:
    """Scale channels of results, and move them; dtypes are those of the layer."""
    bias = zeros_like(mean) if bias is None else bias
    factor = ones_like(mean) if factor is None else factor
    shift = zeros_like(mean) if shift is None else shift
    scale = factor * rsqrt(variance + eps)
    new_weight = (weight * scale.reshape(shape)).to(weight.dtype)
    new_bias = ((bias - mean) * scale + shift).to(bias.dtype)
    return Parameter(new_weight, weight.requires_grad), Parameter(new_bias, bias.requires_grad)
