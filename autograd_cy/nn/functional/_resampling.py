"""Interpolation: which sizes and scales are meant, and the mode for so many dimensions."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.arguments import _check_arguments
from autograd_cy._interpreted import Family
from autograd_cy._tensors.events import seen_as
from autograd_cy._tensors.public import names_errors, public
from autograd_cy.nn.functional._antialias import REACH, antialiased
from autograd_cy.nn.functional._byte_images import resized_bytes

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_pools = Family("ops_pooling")
_resampling = Family("ops_resampling")

# mode -> its code, and for which dimensions of the input it is
_MODES = {
    "nearest": (0, (3, 4, 5)),
    "nearest-exact": (1, (3, 4, 5)),
    "linear": (2, (3,)),
    "bilinear": (2, (4,)),
    "trilinear": (2, (5,)),
    "bicubic": (3, (4,)),
    "area": (-1, (3, 4, 5)),
}
_NAMES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
_FREE = ("nearest", "area", "nearest-exact")  # of how corners are aligned


@functools.cache
def _resample(mode: str, nd: int) -> Callable[..., Tensor]:
    name = "_upsample_nearest_exact" if mode == "nearest-exact" else f"upsample_{mode}"
    return seen_as(f"aten::{name}{nd}d")(_resampling._resample_form)


def _sizes_or_factors(
    input: Tensor, size: Any, scale_factor: Any
) -> tuple[list[int] | None, list[float]]:
    """Sizes or scale factors, of which one is given, for each dimension."""
    dims = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, (tuple, list)):
            return [size] * dims, []
        if len(size) != dims:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(input.shape[2:])} and output size of {size}. "
                "Please provide input tensor in (N, C, d1, d2, ...,dK) format and output size in "
                "(o1, o2, ...,oK) format."
            )
        if not all(hasattr(n, "__index__") for n in size):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, "
                f"int, int], but got size with types {[type(n) for n in size]}"
            )
        return list(size), []
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if not isinstance(scale_factor, (tuple, list)):
        return None, [scale_factor] * dims
    if len(scale_factor) != dims:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input "
            f"with spatial dimensions of {list(input.shape[2:])} and scale_factor of shape "
            f"{scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "scale_factor in (s1, s2, ...,sK) format."
        )
    return None, list(scale_factor)


def _size_by(n: int, factor: Any) -> int:
    product = n * factor
    if isinstance(product, float) and not -(2.0**63) <= product < 2.0**63:
        raise RuntimeError(f"interpolate: scale_factor {factor} of {n} elements is no size")
    return math.floor(product)


def _whole(n: Any) -> int:
    if isinstance(n, bool):
        raise TypeError("interpolate: size must be whole numbers, not truth values")
    try:
        whole = operator.index(n)
    except TypeError as error:
        raise TypeError(f"interpolate: size must be whole numbers, not {n!r}") from error
    if not -(2**63) <= whole < 2**63:
        raise TypeError(f"interpolate: size {whole} doesn't fit into 64 bits; give a smaller one")
    return whole


def _check_sizes(input: Tensor, size: list[int]) -> None:
    """Raise RuntimeError unless images (N, C, H, W) and those of `size` have elements."""
    if not all(n > 0 for n in (*input.shape[1:], *size)):
        raise RuntimeError(
            "Input and output sizes should be greater than 0, but got input (H: "
            f"{input.shape[2]}, W: {input.shape[3]}) output (H: {size[0]}, W: {size[1]})"
        )


def _filtered(
    input: Tensor,
    sizes: list[int],
    scales: list[float],
    mode: str,
    align_corners: bool,
    antialias: bool,
) -> Tensor:
    """The image by filters that NumPy makes, in the memory format of the input."""
    _check_sizes(input, sizes)
    # Sizes that nothing can have are refused in the words of all operators.
    _operators.empty((*input.shape[:2], *sizes), dtype=input.dtype, device="meta")
    how = input, sizes, scales, mode, align_corners
    try:
        if input.dtype is _operators.uint8:
            result = resized_bytes(*how, antialias)
        else:
            result = antialiased(*how)
    except (MemoryError, ValueError) as error:  # NumPy's for an array beyond all memory is the last
        if isinstance(error, _operators.OutOfMemoryError):
            raise
        raise _operators.OutOfMemoryError(
            f"interpolate: no memory for {input.dtype} {list(input.shape)} in the size {sizes}; "
            "ask for a smaller one"
        ) from error
    last = _operators.channels_last
    # A sliced image counts as what its dense copy is.
    dense = _operators.empty_like(input, device="meta")
    follows = dense.is_contiguous(memory_format=last) and not dense.is_contiguous()
    return result.contiguous(memory_format=last) if follows else result


@public
def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Return the input with more or fewer elements in the dimensions behind batch and channels.

    Parameters
    ----------
    input : Tensor
        A batch, channels, and one to three dimensions.
    size : int or sequence of int, optional
        The sizes of the result. Either this or `scale_factor` is given.
    scale_factor : float or sequence of float, optional
        Factors of the sizes.
    mode : str, optional
        ``"nearest"``, ``"nearest-exact"``, ``"area"`` (averages), or by the number of dimensions
        ``"linear"``, ``"bilinear"``, ``"bicubic"`` or ``"lanczos"`` (with `antialias` only),
        ``"trilinear"``.
    align_corners : bool, optional
        Whether the first and last elements stay where they are, not the edges; for the last four.
    recompute_scale_factor : bool, optional
        Use the ratio of the sizes, which are whole numbers, in place of the given factor.
    antialias : bool, optional
        Average all elements of the input where the result is smaller; for float32, float64 and
        uint8 images with ``"bilinear"``, ``"bicubic"`` or ``"lanczos"``, as image libraries do it.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        Sizes are missing, given twice, or not for all dimensions.
    NotImplementedError
        The mode isn't for so many dimensions, or `antialias` not for the dtype.

    Notes
    -----
    Cubic weights are those of R. Keys, "Cubic convolution interpolation for digital image
    processing" (1981), with a = -3/4, and -1/2 with `antialias`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.tensor([[[0.0, 1.0]]])
    >>> torch.nn.functional.interpolate(x, scale_factor=2)
    tensor([[[0., 0., 1., 1.]]])
    >>> torch.nn.functional.interpolate(x, 3, mode="linear", align_corners=True)
    tensor([[[0.0000, 0.5000, 1.0000]]])
    """
    if align_corners is not None and isinstance(mode, str) and mode in _FREE:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: "
            "linear | bilinear | bicubic | trilinear"
        )
    if not isinstance(mode, str):
        raise NotImplementedError(f"interpolate: there is no mode {mode!r}; give the name of one")
    if align_corners is not None:
        _check_arguments("interpolate", (align_corners, "bool", "align_corners", 5))
    sizes, scales = _sizes_or_factors(input, size, scale_factor)
    if recompute_scale_factor and sizes is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if sizes is None:
        sizes = [_size_by(input.size(2 + d), factor) for d, factor in enumerate(scales)]
    sizes, scales = [_whole(n) for n in sizes], [float(factor) for factor in scales]
    if mode == "area" or recompute_scale_factor:
        scales = []
    filtered = mode in REACH and input.ndim == 4
    if antialias and not filtered:
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    if filtered and mode == "lanczos" and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if filtered and mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    if antialias or (filtered and input.dtype is _operators.uint8):
        return _filtered(input, sizes, scales, mode, bool(align_corners), antialias)
    code, dims = _MODES.get(mode, (0, ()))
    if not dims or not 3 <= input.dim() <= 5:
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported "
            f"(got {input.dim()}D) for the modes: {_NAMES} (got {mode})"
        )
    if input.dim() not in dims:
        raise NotImplementedError(
            f"Got {input.dim()}D input, but {mode} mode needs {dims[0]}D input"
        )
    if code < 0:
        return getattr(_pools, f"adaptive_avg_pool{input.dim() - 2}d")(input, tuple(sizes))
    factors = [0.0] * (3 - len(scales)) + scales
    return _resample(mode, input.dim() - 2)(
        input, tuple(sizes), *factors, code, bool(align_corners)
    )


@public(forwards=())
@names_errors("upsample")
def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Return what `interpolate` does; deprecated.

    Parameters
    ----------
    input : Tensor
        A batch, channels, and one to three dimensions.
    size : int or sequence of int, optional
        The sizes of the result.
    scale_factor : float or sequence of float, optional
        Factors of the sizes.
    mode : str, optional
        The mode of `interpolate`.
    align_corners : bool, optional
        Whether the first and last elements stay where they are.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.upsample(torch.tensor([[[0.0, 1.0]]]), 4).flatten()  # doctest: +SKIP
    tensor([0., 0., 1., 1.])
    """
    _deprecated("upsample")
    return _operators.nn.functional.interpolate(input, size, scale_factor, mode, align_corners)


@public(forwards=())
@names_errors("upsample_nearest")
def upsample_nearest(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """Return the nearest elements; deprecated in favour of `interpolate`.

    Parameters
    ----------
    input : Tensor
        A batch, channels, and one to three dimensions.
    size : int or sequence of int, optional
        The sizes of the result.
    scale_factor : float or sequence of float, optional
        Factors of the sizes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.tensor([[[0.0, 1.0]]])
    >>> torch.nn.functional.upsample_nearest(x, 4).flatten()  # doctest: +SKIP
    tensor([0., 0., 1., 1.])
    """
    _deprecated("upsample_nearest")
    return _operators.nn.functional.interpolate(input, size, scale_factor, mode="nearest")


@public(forwards=())
@names_errors("upsample_bilinear")
def upsample_bilinear(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """Return bilinear interpolation with aligned corners; deprecated in favour of `interpolate`.

    Parameters
    ----------
    input : Tensor
        A batch, channels, rows and columns.
    size : int or sequence of int, optional
        The sizes of the result.
    scale_factor : float or sequence of float, optional
        Factors of the sizes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.tensor([[[[0.0, 1.0]]]])
    >>> torch.nn.functional.upsample_bilinear(x, (1, 3)).flatten()  # doctest: +SKIP
    tensor([0.0000, 0.5000, 1.0000])
    """
    _deprecated("upsample_bilinear")
    return _operators.nn.functional.interpolate(
        input, size, scale_factor, mode="bilinear", align_corners=True
    )


def _deprecated(name: str) -> None:
    _warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
    )
