"""Products with weights, normalisation, tables of vectors, margins and larger images."""

from __future__ import annotations

from typing import Any

from autograd_cy.nn import functional as _now

from .._functions import Linear
from .._modern import modern
from ._operands import batch_of, variable

__all__ = [
    "batch_norm",
    "bilinear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "embedding",
    "linear",
    "pad",
    "pixel_shuffle",
    "upsample_bilinear",
    "upsample_nearest",
]


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``x weight^T + bias`` of rows."""
    if variable(input, "linear").dim() != 2:
        raise RuntimeError(
            f"linear: expected rows in 2 dimensions, got size {tuple(input.size())}; use "
            "view(-1, features)"
        )
    return Linear()(input, weight) if bias is None else Linear()(input, weight, bias)


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """``x A y^T + bias`` of pairs of rows, with a matrix A for each output."""
    return modern("Bilinear", _now.bilinear, input1, input2, weight, bias)


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    scale_grad_by_freq: bool = False,
) -> Any:
    """
    The rows of `weight` that a LongTensor Variable names; no gradient for `padding_idx`.

    With `scale_grad_by_freq`, the gradient of a row is divided by how often it was named.
    """

    def compute(indices, table):
        return _now.embedding(indices, table, padding_idx, scale_grad_by_freq=scale_grad_by_freq)

    return modern("Embedding", compute, input, weight)


def _of_dims(dims: int) -> tuple[Any, Any]:
    """(convolution, transposed convolution) over so many dimensions."""
    forwards = getattr(_now, f"conv{dims}d")
    turned = getattr(_now, f"conv_transpose{dims}d")

    def conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        def compute(x, w, b):
            return forwards(x, w, b, stride, padding, dilation, groups)

        batch_of(input, (dims + 2,), f"conv{dims}d")
        return modern(f"Conv{dims}d", compute, input, weight, bias)

    def conv_transpose(
        input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
    ):
        def compute(x, w, b):
            return turned(x, w, b, stride, padding, output_padding, groups, dilation)

        batch_of(input, (dims + 2,), f"conv_transpose{dims}d")
        return modern(f"ConvTranspose{dims}d", compute, input, weight, bias)

    functions = conv, conv_transpose
    what = (
        ("conv", "The cross-correlation with weights"),
        ("conv_transpose", "The transpose of a convolution, as of its gradient,"),
    )
    for function, (name, does) in zip(functions, what):
        function.__name__ = function.__qualname__ = f"{name}{dims}d"
        function.__doc__ = f"{does} over {dims} dimension{'s' if dims > 1 else ''}."
    return functions


conv1d, conv_transpose1d = _of_dims(1)
conv2d, conv_transpose2d = _of_dims(2)
conv3d, conv_transpose3d = _of_dims(3)


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Channels of mean 0 and variance 1, of this batch or the running ones, which are tensors."""

    def compute(x, w, b):
        return _now.batch_norm(x, running_mean, running_var, w, b, training, momentum, eps)

    return modern("BatchNorm", compute, input, weight, bias)


def pad(input: Any, pad: Any, mode: str = "constant", value: float = 0) -> Any:
    """
    A margin around the last dimensions.

    Parameters
    ----------
    input : Variable
        Of four or five dimensions.
    pad : sequence of int
        Elements before and after the last dimension, then of the one before it, and so on.
    mode : {"constant", "reflect", "replicate"}, optional
    value : float, optional
        In a constant margin.
    """
    if mode not in ("constant", "reflect", "replicate"):
        raise NotImplementedError(f"pad: there is no mode {mode!r}")
    filling = value if mode == "constant" else None
    return modern("Pad", lambda x: _now.pad(x, tuple(pad), mode, filling), input)


def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """Channels as the pixels of an image that is larger by a factor."""
    batch_of(input, (4,), "pixel_shuffle")
    return modern("PixelShuffle", lambda x: _now.pixel_shuffle(x, upscale_factor), input)


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """A larger image whose pixels are the nearest ones of the smaller."""
    batch_of(input, (4,), "upsample_nearest")
    _check_factor("upsample_nearest", size, scale_factor)
    return modern(
        "UpsamplingNearest2d",
        lambda x: _now.interpolate(x, size, scale_factor, "nearest"),
        input,
    )


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """A larger image between the pixels of the smaller; the corners of both are the same."""
    batch_of(input, (4,), "upsample_bilinear")
    _check_factor("upsample_bilinear", size, scale_factor)
    return modern(
        "UpsamplingBilinear2d",
        lambda x: _now.interpolate(x, size, scale_factor, "bilinear", align_corners=True),
        input,
    )


def _check_factor(name: str, size: Any, scale_factor: Any) -> None:
    if size is None and scale_factor is None:
        raise ValueError(f"{name}: either size or scale_factor must be defined")
    factors = scale_factor if isinstance(scale_factor, tuple) else (scale_factor,)
    if size is None and not all(isinstance(factor, int) for factor in factors):
        raise ValueError(f"{name}: scale_factor must be of integer type, got {scale_factor!r}")
