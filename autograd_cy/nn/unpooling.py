"""Pooling by norms, and unpooling, as modules; their functions: ``functional/_unpooling.py``."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_cy import Tensor

from . import functional
from ._constructors import own_constructor
from .functional._arguments import each_dim
from .module import Module

_Sizes = int | Sequence[int]


class _LPPoolNd(Module):
    _dims: int

    def __init__(
        self,
        norm_type: float,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """Return the norms of the windows."""
        function = getattr(functional, f"lp_pool{self._dims}d")
        return function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        """Return the order and the windows."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class _MaxUnpoolNd(Module):
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    _dims: int

    def __init__(
        self, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0
    ) -> None:
        super().__init__()
        self.kernel_size = each_dim(kernel_size, self._dims)
        self.stride = each_dim(stride if stride is not None else kernel_size, self._dims)
        self.padding = each_dim(padding, self._dims)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Return the elements where they were; `output_size` where several are possible."""
        function = getattr(functional, f"max_unpool{self._dims}d")
        return function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        """Return the windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class LPPool1d(_LPPoolNd):
    """The norm of the elements of each window of one dimension.

    Parameters
    ----------
    norm_type : float
        The order; infinity for the largest element.
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    ceil_mode : bool, optional
        Have a last window that isn't full.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.LPPool1d(2, 2)(torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """

    _dims = 1


@own_constructor
class MaxUnpool1d(_MaxUnpoolNd):
    """Zeros but for elements that MaxPool1d chose, which are where they were.

    Parameters
    ----------
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    padding : int or sequence of int, optional
        How far windows began before the first element.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x, at = torch.tensor([[3.0, 2.0]]), torch.tensor([[1, 2]])
    >>> torch.nn.MaxUnpool1d(2)(x, at)
    tensor([[0., 3., 2., 0.]])
    """

    _dims = 1


class LPPool2d(_LPPoolNd):
    """The norm of the elements of each window of two dimensions.

    Parameters
    ----------
    norm_type : float
        The order; infinity for the largest element.
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    ceil_mode : bool, optional
        Have a last window that isn't full.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.LPPool2d(2, (1, 2))(torch.tensor([[[3.0, 4.0]]]))
    tensor([[[5.]]])
    """

    _dims = 2


@own_constructor
class MaxUnpool2d(_MaxUnpoolNd):
    """Zeros but for elements that MaxPool2d chose, which are where they were.

    Parameters
    ----------
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    padding : int or sequence of int, optional
        How far windows began before the first element.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x, at = torch.tensor([[[3.0, 2.0]]]), torch.tensor([[[1, 2]]])
    >>> torch.nn.MaxUnpool2d((1, 2))(x, at)
    tensor([[[0., 3., 2., 0.]]])
    """

    _dims = 2


class LPPool3d(_LPPoolNd):
    """The norm of the elements of each window of three dimensions.

    Parameters
    ----------
    norm_type : float
        The order; infinity for the largest element.
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    ceil_mode : bool, optional
        Have a last window that isn't full.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.LPPool3d(2, (1, 1, 2))(torch.tensor([[[[3.0, 4.0]]]]))
    tensor([[[[5.]]]])
    """

    _dims = 3


@own_constructor
class MaxUnpool3d(_MaxUnpoolNd):
    """Zeros but for elements that MaxPool3d chose, which are where they were.

    Parameters
    ----------
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    padding : int or sequence of int, optional
        How far windows began before the first element.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x, at = torch.tensor([[[[3.0, 2.0]]]]), torch.tensor([[[[1, 2]]]])
    >>> torch.nn.MaxUnpool3d((1, 1, 2))(x, at)
    tensor([[[[0., 3., 2., 0.]]]])
    """

    _dims = 3
