"""Activations that are more than their options: bounds with older names, slopes that are learned.

The others are rows of ``autograd_cy/ops/layers/activation/``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_cy import Tensor, empty
from autograd_cy._C._warned import warn as _warn

from .. import functional
from ..init import constant_
from ..module import Module
from ..parameter import Parameter

__all__ = ["Hardtanh", "PReLU", "ReLU6"]


class Hardtanh(Module):
    """The elements limited to an interval.

    Parameters
    ----------
    min_val, max_val : float, optional
        The bounds.
    inplace : bool, optional
        Whether the input itself is changed.
    min_value, max_value : float, optional
        Deprecated names of the bounds.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Hardtanh(-2, 2)(torch.tensor([-3.0, 0.5, 3.0]))
    tensor([-2.0000,  0.5000,  2.0000])
    """

    __constants__: ClassVar[list[str]] = ["min_val", "max_val", "inplace"]

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        if min_value is not None:
            _renamed("min_value", "min_val")
            min_val = min_value
        if max_value is not None:
            _renamed("max_value", "max_val")
            max_val = max_value
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace
        if max_val <= min_val:  # NaN is neither, as in torch
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")

    def forward(self, input: Tensor) -> Tensor:
        """Return the elements of the input between the bounds."""
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """Return the bounds, and whether it works in place."""
        inplace = ", inplace=True" if self.inplace else ""
        return f"min_val={self.min_val}, max_val={self.max_val}{inplace}"


def _renamed(old: str, new: str) -> None:
    _warn(
        f"keyword argument `{old}` is deprecated and renamed to `{new}`",
        FutureWarning,
    )


class ReLU6(Hardtanh):
    r"""The positive part limited to 6, :math:`\min(\max(0, x), 6)`.

    Parameters
    ----------
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ReLU6()(torch.tensor([-1.0, 2.0, 9.0]))
    tensor([0., 2., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """Return whether it works in place."""
        return "inplace=True" if self.inplace else ""


class PReLU(Module):
    r"""The input, times a slope below 0 that is learned.

    Parameters
    ----------
    num_parameters : int, optional
        The number of slopes: 1, or that of the channels.
    init : float, optional
        What they start from.
    device, dtype : optional
        Of the slopes.

    Attributes
    ----------
    weight : Parameter
        The slopes, of shape ``(num_parameters,)``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.PReLU()(torch.tensor([-1.0, 1.0])).detach()
    tensor([-0.2500,  1.0000])
    """

    __constants__: ClassVar[list[str]] = ["num_parameters"]

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes back to what they started from.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.PReLU(2, init=0.5)
        >>> layer.reset_parameters()
        >>> layer.weight.tolist()
        [0.5, 0.5]
        """
        constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Return the number of slopes."""
        return f"num_parameters={self.num_parameters}"
