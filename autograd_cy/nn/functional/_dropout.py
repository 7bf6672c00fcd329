"""Dropout, of elements and of whole channels."""

from __future__ import annotations

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._C._warned import warn as _warn
from autograd_cy._environment.docstrings import described_like
from autograd_cy._tensors.public import public
from autograd_cy.nn.functional._arguments import check_probability

__all__ = ["dropout1d", "dropout2d", "dropout3d"]


@public
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Set whole channels of a signal to zero, and scale the others by ``1 / (1 - p)``.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, L)`` or ``(C, L)``.
    p : float, optional
        The probability.
    training : bool, optional
        Whether anything is done at all.
    inplace : bool, optional
        Whether the input itself is changed.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If ``p`` is not between 0 and 1.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.dropout1d(torch.ones(1, 2, 1), training=False).flatten()
    tensor([1., 1.])
    """
    check_probability(p)
    dims = input.dim()
    if dims not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {dims}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _of_channels(input, p, training, inplace, dims == 3)


@public
@described_like(
    dropout1d,
    {
        "a signal": "an image",
        "``(N, C, L)`` or ``(C, L)``": "``(N, C, H, W)``, or ``(N, C, L)`` as torch has it",
        "dropout1d(torch.ones(1, 2, 1)": "dropout2d(torch.ones(1, 2, 1, 1)",
    },
)
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    check_probability(p)
    dims = input.dim()
    if dims not in (3, 4):
        _warn_of_shape("dropout2d", dims, 2)
    if dims == 3:
        _warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel "
            "dim. This behavior will change in a future release to interpret the input as one "
            "without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead.",
        )
    return _of_channels(input, p, training, inplace, True)


@public
@described_like(
    dropout1d,
    {
        "a signal": "a volume",
        "``(N, C, L)`` or ``(C, L)``": "``(N, C, D, H, W)`` or ``(C, D, H, W)``",
        "dropout1d(torch.ones(1, 2, 1)": "dropout3d(torch.ones(2, 1, 1, 1)",
    },
)
def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    check_probability(p)
    dims = input.dim()
    if dims not in (4, 5):
        _warn_of_shape("dropout3d", dims, 3)
    return _of_channels(input, p, training, inplace, dims != 4)


def _drops(input: Tensor, p: float, training: bool) -> bool:
    """Return whether anything is dropped; where nothing is, the tensor may be a leaf, and stays."""
    return training and p > 0 and input.numel() > 0


def _of_channels(input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    """Channels are the second dimension, or the first without a batch."""
    x = input if batched else input.unsqueeze(0)
    if inplace:
        if _drops(input, p, training):
            _operators.feature_dropout_(x, p, training)
        return input
    result = _operators.feature_dropout(x, p, training)
    return result if batched else result.squeeze(0)


def _warn_of_shape(name: str, dims: int, spatial: int) -> None:
    _warn(
        f"{name}: Received a {dims}-D input to {name}, which is deprecated and will result in an "
        "error in a future release. To retain the behavior and silence this warning, please use "
        f"dropout instead. Note that {name} exists to provide channel-wise dropout on inputs with "
        f"{spatial} spatial dimensions, a channel dimension, and an optional batch dimension (i.e. "
        f"{spatial + 1}D or {spatial + 2}D inputs).",
    )
