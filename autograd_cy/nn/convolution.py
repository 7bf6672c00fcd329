"""Convolutions as layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar

from autograd_cy import Tensor, empty
from autograd_cy._environment.docstrings import described_like

from . import functional, init
from ._constructors import own_constructor
from .functional._arguments import each_dim
from .module import Module
from .parameter import Parameter

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]

_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """The base of convolutions and their transposes."""

    __constants__: ClassVar[list[str]] = (
        "stride padding dilation groups padding_mode output_padding "
        "in_channels out_channels kernel_size".split()
    )
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    weight: Tensor
    bias: Tensor | None

    _dims = 0

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        transposed: bool,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        stride = each_dim(stride, self._dims)
        if isinstance(padding, str):
            if padding not in ("valid", "same"):
                raise ValueError(
                    f"Invalid padding string {padding!r}, should be one of 'valid', 'same'"
                )
            if padding == "same" and any(step != 1 for step in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        else:
            padding = each_dim(padding, self._dims)
        if padding_mode not in _MODES:
            names = ", ".join(map(repr, _MODES))
            raise ValueError(
                f"padding_mode must be one of {names}, but got padding_mode={padding_mode!r}"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = each_dim(kernel_size, self._dims)
        self.stride = stride
        self.padding = padding
        self.dilation = each_dim(dilation, self._dims)
        self.transposed = transposed
        self.output_padding = each_dim(output_padding, self._dims)
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._margins()
        first, second = out_channels, in_channels // groups
        if transposed:
            first, second = in_channels, out_channels // groups
        self.weight = Parameter(empty(first, second, *self.kernel_size, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _margins(self) -> list[int]:
        """Before and after each dimension, from the last one on."""
        if self.padding == "valid":
            return [0, 0] * self._dims
        if isinstance(self.padding, str):
            total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            return list(chain.from_iterable((n // 2, n - n // 2) for n in reversed(total)))
        return list(chain.from_iterable((n, n) for n in reversed(self.padding)))

    def reset_parameters(self) -> None:
        r"""Draw weight and bias anew, from the uniform distribution on
        :math:`[-1/\sqrt{k}, 1/\sqrt{k}]`, where `k` is the number of elements of a window.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.Conv2d(1, 2, 2)
        >>> layer.reset_parameters()
        >>> bool((layer.weight.abs() <= 0.5).all())
        True
        """
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            count = self.weight.shape[1] * math.prod(self.kernel_size)
            if count:
                init.uniform_(self.bias, -1 / math.sqrt(count), 1 / math.sqrt(count))

    def extra_repr(self) -> str:
        """Return the sizes, and the options that are not their defaults."""
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            value = getattr(self, name)
            if isinstance(value, str) or value != (usual,) * len(value):
                text += f", {name}={value}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Forward(_ConvNd):
    """A convolution that isn't transposed."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            False,
            0,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            margins = self._reversed_padding_repeated_twice
            input = functional.pad(input, margins, mode=self.padding_mode)
            padding = 0
        convolve = (functional.conv1d, functional.conv2d, functional.conv3d)[self._dims - 1]
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        """Return the convolution of the input.

        Parameters
        ----------
        input : Tensor
            Of shape ``(N, in_channels, ...)``, or without the batch dimension.

        Returns
        -------
        Tensor
            Of shape ``(N, out_channels, ...)``.
        """
        return self._conv_forward(input, self.weight, self.bias)


@own_constructor
class Conv2d(_Forward):
    r"""Convolution (cross-correlation) of images with learned weights.

    Each element of the result is the sum, over a window of all channels of a group, of elements
    times weights, plus a bias: the discrete cross-correlation. Weight and bias start from the
    uniform distribution on :math:`[-1/\sqrt{k}, 1/\sqrt{k}]`, where `k` is the number of elements
    of a window.

    Parameters
    ----------
    in_channels, out_channels : int
        Channels of input and result.
    kernel_size : int or tuple of int
        The size of the windows.
    stride : int or tuple of int, optional
        The steps from one window to the next.
    padding : int, tuple of int or {"same", "valid"}, optional
        Elements added before and after each dimension.
    dilation : int or tuple of int, optional
        The steps between the elements of a window.
    groups : int, optional
        Groups of channels that know nothing of each other.
    bias : bool, optional
        Whether a number is added to each channel of the result.
    padding_mode : {"zeros", "reflect", "replicate", "circular"}, optional
        What the added elements are.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    weight : Parameter
        Of shape ``(out_channels, in_channels / groups, *kernel_size)``.
    bias : Parameter or None
        Of shape ``(out_channels,)``.

    Raises
    ------
    ValueError
        If the groups don't divide the channels, or a word is none of those above.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.Conv2d(2, 3, 3, stride=2)
    >>> layer
    Conv2d(2, 3, kernel_size=(3, 3), stride=(2, 2))
    >>> list(layer(torch.ones(1, 2, 7, 7)).shape)
    [1, 3, 3, 3]
    """

    _dims = 2


@own_constructor
@described_like(
    Conv2d,
    {
        "Conv2d": "Conv1d",
        "images": "sequences",
        "(3, 3)": "(3,)",
        "(2, 2)": "(2,)",
        "(1, 2, 7, 7)": "(1, 2, 7)",
        "[1, 3, 3, 3]": "[1, 3, 3]",
    },
)
class Conv1d(_Forward):
    _dims = 1


@own_constructor
@described_like(
    Conv2d,
    {
        "Conv2d": "Conv3d",
        "images": "volumes",
        "(3, 3)": "(3, 3, 3)",
        "(2, 2)": "(2, 2, 2)",
        "(1, 2, 7, 7)": "(1, 2, 7, 7, 7)",
        "[1, 3, 3, 3]": "[1, 3, 3, 3, 3]",
    },
)
class Conv3d(_Forward):
    _dims = 3


class _Transposed(_ConvNd):
    """A transposed convolution."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            True,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(self, input: Tensor, output_size: Sequence[int]) -> tuple[int, ...]:
        """Return by how much the result is to be larger to have this size."""
        dims = self._dims
        sizes = list(output_size)
        if len(sizes) == input.dim():
            sizes = sizes[-dims:]
        if len(sizes) != dims:
            raise ValueError(
                f"{type(self).__name__}: for {input.dim()}D input, output_size must have {dims} or "
                f"{input.dim()} elements (got {len(output_size)})"
            )
        paddings = []
        for d, size in enumerate(sizes):
            smallest = (input.shape[d - dims] - 1) * self.stride[d] - 2 * int(self.padding[d])
            smallest += self.dilation[d] * (self.kernel_size[d] - 1) + 1
            if not smallest <= size < smallest + self.stride[d]:
                raise ValueError(
                    f"requested an output size of {sizes}, but valid sizes of dimension {d} range "
                    f"from {smallest} to {smallest + self.stride[d] - 1} (for an input of "
                    f"{list(input.shape[-dims:])})"
                )
            paddings.append(size - smallest)
        return tuple(paddings)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Return the transposed convolution of the input.

        Parameters
        ----------
        input : Tensor
            Of shape ``(N, in_channels, ...)``, or without the batch dimension.
        output_size : sequence of int, optional
            The size that the result is to have, where several are possible.

        Returns
        -------
        Tensor
            Of shape ``(N, out_channels, ...)``.
        """
        more = self.output_padding
        padding: Any = self.padding
        if output_size is not None:
            more = self._output_padding(input, output_size)
        convolve = (
            functional.conv_transpose1d,
            functional.conv_transpose2d,
            functional.conv_transpose3d,
        )[self._dims - 1]
        return convolve(
            input,
            self.weight,
            self.bias,
            self.stride,
            padding,
            more,
            self.groups,
            self.dilation,
        )


@own_constructor
class ConvTranspose2d(_Transposed):
    r"""Transposed convolution of images with learned weights.

    It is the gradient of a convolution with respect to its input: each element of the input adds
    the weights, times itself, to a window of the result. Weight and bias start from the uniform
    distribution on :math:`[-1/\sqrt{k}, 1/\sqrt{k}]`, where `k` is the number of elements of a
    window of ``out_channels / groups`` channels.

    Parameters
    ----------
    in_channels, out_channels : int
        Channels of input and result.
    kernel_size : int or tuple of int
        The size of the windows.
    stride : int or tuple of int, optional
        The steps from one window to the next.
    padding : int or tuple of int, optional
        Elements left out before and after each dimension of the result.
    output_padding : int or tuple of int, optional
        By how much the result is larger at the end of each dimension.
    groups : int, optional
        Groups of channels that know nothing of each other.
    bias : bool, optional
        Whether a number is added to each channel of the result.
    dilation : int or tuple of int, optional
        The steps between the elements of a window.
    padding_mode : {"zeros"}, optional
        Nothing else is known here.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    weight : Parameter
        Of shape ``(in_channels, out_channels / groups, *kernel_size)``.
    bias : Parameter or None
        Of shape ``(out_channels,)``.

    Raises
    ------
    ValueError
        If the groups don't divide the channels, or ``padding_mode`` isn't ``"zeros"``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.ConvTranspose2d(2, 3, 3, stride=2)
    >>> list(layer(torch.ones(1, 2, 3, 3)).shape)
    [1, 3, 7, 7]
    """

    _dims = 2


@own_constructor
@described_like(
    ConvTranspose2d,
    {
        "ConvTranspose2d": "ConvTranspose1d",
        "images": "sequences",
        "(1, 2, 3, 3)": "(1, 2, 3)",
        "[1, 3, 7, 7]": "[1, 3, 7]",
    },
)
class ConvTranspose1d(_Transposed):
    _dims = 1


@own_constructor
@described_like(
    ConvTranspose2d,
    {
        "ConvTranspose2d": "ConvTranspose3d",
        "images": "volumes",
        "(1, 2, 3, 3)": "(1, 2, 3, 3, 3)",
        "[1, 3, 7, 7]": "[1, 3, 7, 7, 7]",
    },
)
class ConvTranspose3d(_Transposed):
    _dims = 3
