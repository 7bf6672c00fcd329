"""The largest elements and the means of windows, and the way back."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .module import Module
from .utils import per_dimension

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "LPPool2d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _MaxPool(Module):
    dims: int

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride or kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        function = getattr(F, f"max_pool{self.dims}d")
        rules = self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        return function(input, self.kernel_size, *rules)

    def _extra(self) -> str:
        if self.dims == 1:
            return (
                f"size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
                f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
            )
        kernel, stride, padding, dilation = (
            per_dimension(option, self.dims)
            for option in (self.kernel_size, self.stride, self.padding, self.dilation)
        )
        shown = f", padding={padding}" if any(padding) else ""
        return f"size={kernel}, stride={stride}{shown}, dilation={dilation}"


class MaxPool1d(_MaxPool):
    """The largest elements of windows over one dimension."""

    dims = 1


class MaxPool2d(_MaxPool):
    """The largest elements of windows over two dimensions."""

    dims = 2


class MaxPool3d(_MaxPool):
    """The largest elements of windows over three dimensions."""

    dims = 3


class _AvgPool(Module):
    dims: int

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride or kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Any) -> Any:
        function = getattr(F, f"avg_pool{self.dims}d")
        rules = self.stride, self.padding, self.ceil_mode, self.count_include_pad
        return function(input, self.kernel_size, *rules)


class AvgPool1d(_AvgPool):
    """The means of windows over one dimension."""

    dims = 1

    def _extra(self) -> str:
        sizes = [per_dimension(n, 1) for n in (self.kernel_size, self.stride, self.padding)]
        return (
            f"size={sizes[0]}, stride={sizes[1]}, padding={sizes[2]}, ceil_mode={self.ceil_mode}, "
            f"count_include_pad={self.count_include_pad}"
        )


class AvgPool2d(_AvgPool):
    """The means of windows over two dimensions."""

    dims = 2


class AvgPool3d(_AvgPool):
    """The means of windows over three dimensions."""

    dims = 3


class _MaxUnpool(Module):
    dims: int

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0):
        super().__init__()
        self.kernel_size = per_dimension(kernel_size, self.dims)
        self.stride = self.kernel_size if stride is None else per_dimension(stride, self.dims)
        self.padding = per_dimension(padding, self.dims)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        function = getattr(F, f"max_unpool{self.dims}d")
        return function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def _extra(self) -> str:
        padding = f", padding={self.padding}" if any(self.padding) else ""
        return f"size={self.kernel_size}, stride={self.stride}{padding}"


class MaxUnpool1d(_MaxUnpool):
    """The way back from MaxPool1d: largest elements at their places among zeros."""

    dims = 1


class MaxUnpool2d(_MaxUnpool):
    """
    The way back from MaxPool2d: largest elements at their places among zeros.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import Variable
    >>> x = Variable(torch.range(1, 4).view(1, 1, 2, 2))
    >>> pooled = torch.nn.MaxPool2d(2, return_indices=True)(x)
    >>> torch.nn.MaxUnpool2d(2)(*pooled).data.view(-1).tolist()
    [0.0, 0.0, 0.0, 4.0]
    """

    dims = 2


class MaxUnpool3d(_MaxUnpool):
    """The way back from MaxPool3d: largest elements at their places among zeros."""

    dims = 3


class FractionalMaxPool2d(Module):
    """
    The largest elements of windows whose places are drawn, so that any output size is reached.

    Parameters
    ----------
    kernel_size : int or pair of int
    output_size : int or pair of int, optional
    output_ratio : float or pair of float, optional
        Of the input's size, in place of `output_size`.
    return_indices : bool, optional

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import Variable
    >>> torch.nn.FractionalMaxPool2d(2, output_size=5)(Variable(torch.ones(1, 1, 8, 8))).size()
    autograd_cy.Size([1, 1, 5, 5])
    """

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ):
        super().__init__()
        if (output_size is None) == (output_ratio is None):
            raise ValueError(
                "FractionalMaxPool2d: specify either output_size or output_ratio, and not both"
            )
        self.kh, self.kw = per_dimension(kernel_size, 2)
        self.output_size = output_size
        self.output_ratio = output_ratio
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)

    def forward(self, input: Any) -> Any:
        samples = None if self._random_samples is None else self._random_samples
        rules = self.output_size, self.output_ratio, self.return_indices, samples
        return F.fractional_max_pool2d(input, (self.kh, self.kw), *rules)


class LPPool2d(Module):
    """The p-norms of windows of images."""

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ):
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        rules = self.kernel_size, self.stride, self.ceil_mode
        return F.lp_pool2d(input, self.norm_type, *rules)

    def _extra(self) -> str:
        return (
            f"{self.norm_type}, size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class _Adaptive(Module):
    def __init__(self, output_size: Any):
        super().__init__()
        self.output_size = output_size

    def _extra(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveMaxPool(_Adaptive):
    def __init__(self, output_size: Any, return_indices: bool = False):
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest elements of as many windows as the result is to have."""

    def forward(self, input: Any) -> Any:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest elements of as many windows as the result is to have, of images."""

    def forward(self, input: Any) -> Any:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(_Adaptive):
    """The means of as many windows as the result is to have."""

    def forward(self, input: Any) -> Any:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_Adaptive):
    """The means of as many windows as the result is to have, of images."""

    def forward(self, input: Any) -> Any:
        return F.adaptive_avg_pool2d(input, self.output_size)
