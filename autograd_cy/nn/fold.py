"""Windows of images as columns, and back, as layers."""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor

from . import functional
from .module import Module

__all__ = ["Fold", "Unfold"]


class Fold(Module):
    """Adds columns up to images: each element of a window goes where it came from.

    Parameters
    ----------
    output_size : int or tuple of int
        The size of the images.
    kernel_size : int or tuple of int
        The size of a window.
    dilation : int or tuple of int, optional
        The steps between the elements of a window.
    padding : int or tuple of int, optional
        Zeros before and after each dimension.
    stride : int or tuple of int, optional
        The steps from one window to the next.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Fold((1, 3), (1, 2))(torch.ones(1, 2, 2))
    tensor([[[[1., 2., 1.]]]])
    """

    def __init__(
        self,
        output_size: Any,
        kernel_size: Any,
        dilation: Any = 1,
        padding: Any = 0,
        stride: Any = 1,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """Return the images.

        Parameters
        ----------
        input : Tensor
            Columns, of shape ``(N, C * elements of a window, windows)``, or without N.

        Returns
        -------
        Tensor
            Of shape ``(N, C, *output_size)``.
        """
        return functional.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        """Return the sizes and options."""
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )


class Unfold(Module):
    """Makes columns of the windows of images.

    Parameters
    ----------
    kernel_size : int or tuple of int
        The size of a window.
    dilation : int or tuple of int, optional
        The steps between the elements of a window.
    padding : int or tuple of int, optional
        Zeros before and after each dimension.
    stride : int or tuple of int, optional
        The steps from one window to the next.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> list(torch.nn.Unfold((2, 3))(torch.ones(1, 2, 4, 5)).shape)
    [1, 12, 9]
    """

    def __init__(
        self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """Return the columns.

        Parameters
        ----------
        input : Tensor
            Images, of shape ``(N, C, H, W)`` or ``(C, H, W)``.

        Returns
        -------
        Tensor
            Of shape ``(N, C * elements of a window, windows)``.
        """
        return functional.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """Return the size and options."""
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )
