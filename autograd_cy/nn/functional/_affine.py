"""Affine maps."""

from __future__ import annotations

import autograd_cy as _operators
from autograd_cy import Tensor

__all__ = ["linear"]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    r"""Return the affine map :math:`x W^T + b`.

    Parameters
    ----------
    input : Tensor
        Of shape ``(*, in_features)``.
    weight : Tensor
        Of shape ``(out_features, in_features)``.
    bias : Tensor, optional
        Of shape ``(out_features,)``.

    Returns
    -------
    Tensor
        Of shape ``(*, out_features)``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> linear(torch.ones(1, 2), torch.tensor([[3.0, 4.0]]))
    tensor([[7.]])
    """
    return _operators.linear(input, weight, bias)
