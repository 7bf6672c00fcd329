"""Pooling as modules; the functions themselves are in ``functional/_pooling.py``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_cy import Tensor

from . import functional
from ._constructors import own_constructor
from .functional._arguments import each_dim
from .module import Module

_Sizes = int | Sequence[int]


class _MaxPoolNd(Module):
    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        """Return the windows."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class _AvgPoolNd(Module):
    def extra_repr(self) -> str:
        """Return the windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPoolOfPlanes(_AvgPoolNd):
    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override


class _AdaptiveAvgPoolNd(Module):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """Return the number of windows."""
        return f"output_size={self.output_size}"


class _AdaptiveMaxPoolNd(Module):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        """Return the number of windows."""
        return f"output_size={self.output_size}"


class MaxPool1d(_MaxPoolNd):
    """The largest elements of windows of one dimension.

    Parameters
    ----------
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    padding : int or sequence of int, optional
        How far windows begin before the first element.
    dilation : int or sequence of int, optional
        The distance of the elements of a window.
    return_indices : bool, optional
        Whether to return where in their plane the elements were, too.
    ceil_mode : bool, optional
        Have a last window that isn't full.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.MaxPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[3., 2.]])
    """

    def forward(self, input: Tensor) -> Any:
        """Return the largest elements of the windows."""
        return functional.max_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool2d(_MaxPoolNd):
    """The largest elements of windows of two dimensions.

    Parameters
    ----------
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    padding : int or sequence of int, optional
        How far windows begin before the first element.
    dilation : int or sequence of int, optional
        The distance of the elements of a window.
    return_indices : bool, optional
        Whether to return where in their plane the elements were, too.
    ceil_mode : bool, optional
        Have a last window that isn't full.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.MaxPool2d((1, 2))(torch.tensor([[[1.0, 3.0, 2.0, 0.0]]]))
    tensor([[[3., 2.]]])
    """

    def forward(self, input: Tensor) -> Any:
        """Return the largest elements of the windows."""
        return functional.max_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool3d(_MaxPoolNd):
    """The largest elements of windows of three dimensions.

    Parameters
    ----------
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    padding : int or sequence of int, optional
        How far windows begin before the first element.
    dilation : int or sequence of int, optional
        The distance of the elements of a window.
    return_indices : bool, optional
        Whether to return where in their plane the elements were, too.
    ceil_mode : bool, optional
        Have a last window that isn't full.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.MaxPool3d((1, 1, 2))(torch.tensor([[[[1.0, 3.0, 2.0, 0.0]]]]))
    tensor([[[[3., 2.]]]])
    """

    def forward(self, input: Tensor) -> Any:
        """Return the largest elements of the windows."""
        return functional.max_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class AvgPool1d(_AvgPoolNd):
    """The averages of windows of one dimension.

    Parameters
    ----------
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    padding : int or sequence of int, optional
        How far windows begin before the first element.
    ceil_mode : bool, optional
        Have a last window that isn't full.
    count_include_pad : bool, optional
        Count the padding, too.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.AvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[2., 1.]])
    """

    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = each_dim(kernel_size, 1)
        self.stride = each_dim(stride if stride is not None else kernel_size, 1)
        self.padding = each_dim(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """Return the averages of the windows."""
        return functional.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


@own_constructor
class AvgPool2d(_AvgPoolOfPlanes):
    """The averages of windows of two dimensions.

    Parameters
    ----------
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    padding : int or sequence of int, optional
        How far windows begin before the first element.
    ceil_mode : bool, optional
        Have a last window that isn't full.
    count_include_pad : bool, optional
        Count the padding, too.
    divisor_override : int, optional
        What to divide by, in place of the number of elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.AvgPool2d((1, 2))(torch.tensor([[[1.0, 3.0, 2.0, 0.0]]]))
    tensor([[[2., 1.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the averages of the windows."""
        return functional.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


@own_constructor
class AvgPool3d(_AvgPoolOfPlanes):
    """The averages of windows of three dimensions.

    Parameters
    ----------
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    padding : int or sequence of int, optional
        How far windows begin before the first element.
    ceil_mode : bool, optional
        Have a last window that isn't full.
    count_include_pad : bool, optional
        Count the padding, too.
    divisor_override : int, optional
        What to divide by, in place of the number of elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.AvgPool3d((1, 1, 2))(torch.tensor([[[[1.0, 3.0, 2.0, 0.0]]]]))
    tensor([[[[2., 1.]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the averages of the windows."""
        return functional.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The averages of as many windows of one dimension as are asked for.

    Parameters
    ----------
    output_size : int or sequence of int
        The number of windows.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.AdaptiveAvgPool1d(1)(torch.tensor([[1.0, 3.0, 2.0]]))
    tensor([[2.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the averages of the windows."""
        return functional.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The averages of as many windows of two dimensions as are asked for.

    Parameters
    ----------
    output_size : int or sequence of int
        The number of windows; None for as many as there are elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.AdaptiveAvgPool2d((1, 1))(torch.tensor([[[1.0, 3.0, 2.0]]]))
    tensor([[[2.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the averages of the windows."""
        return functional.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The averages of as many windows of three dimensions as are asked for.

    Parameters
    ----------
    output_size : int or sequence of int
        The number of windows; None for as many as there are elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.AdaptiveAvgPool3d((1, 1, 1))(torch.tensor([[[[1.0, 3.0, 2.0]]]]))
    tensor([[[[2.]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the averages of the windows."""
        return functional.adaptive_avg_pool3d(input, self.output_size)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of as many windows of one dimension as are asked for.

    Parameters
    ----------
    output_size : int or sequence of int
        The number of windows.
    return_indices : bool, optional
        Whether to return where in their plane the elements were, too.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.AdaptiveMaxPool1d(1)(torch.tensor([[1.0, 3.0, 2.0]]))
    tensor([[3.]])
    """

    def forward(self, input: Tensor) -> Any:
        """Return the largest elements of the windows."""
        return functional.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of as many windows of two dimensions as are asked for.

    Parameters
    ----------
    output_size : int or sequence of int
        The number of windows; None for as many as there are elements.
    return_indices : bool, optional
        Whether to return where in their plane the elements were, too.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.AdaptiveMaxPool2d((1, 1))(torch.tensor([[[1.0, 3.0, 2.0]]]))
    tensor([[[3.]]])
    """

    def forward(self, input: Tensor) -> Any:
        """Return the largest elements of the windows."""
        return functional.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of as many windows of three dimensions as are asked for.

    Parameters
    ----------
    output_size : int or sequence of int
        The number of windows; None for as many as there are elements.
    return_indices : bool, optional
        Whether to return where in their plane the elements were, too.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.AdaptiveMaxPool3d((1, 1, 1))(torch.tensor([[[[1.0, 3.0, 2.0]]]]))
    tensor([[[[3.]]]])
    """

    def forward(self, input: Tensor) -> Any:
        """Return the largest elements of the windows."""
        return functional.adaptive_max_pool3d(input, self.output_size, self.return_indices)
