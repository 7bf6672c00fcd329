"""Interpolation as modules; the functions are in ``functional/_resampling.py``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_cy import Tensor

from . import functional
from .module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


def _factors(scale: Any) -> Any:
    if isinstance(scale, (tuple, list)):
        return tuple(float(factor) for factor in scale)
    return float(scale) if scale else None


class Upsample(Module):
    """Interpolation to a size, or by factors.

    Parameters
    ----------
    size : int or sequence of int, optional
        The sizes of the result. Either this or `scale_factor` is given.
    scale_factor : float or sequence of float, optional
        Factors of the sizes.
    mode : str, optional
        The mode of `functional.interpolate`.
    align_corners : bool, optional
        Whether the first and last elements stay where they are.
    recompute_scale_factor : bool, optional
        Use the ratio of the sizes in place of the given factor.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Upsample(scale_factor=2)(torch.tensor([[[0.0, 1.0]]]))
    tensor([[[0., 0., 1., 1.]]])
    """

    __constants__: ClassVar[list[str]] = (
        "size scale_factor mode align_corners name recompute_scale_factor".split()
    )

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor = _factors(scale_factor)
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with more or fewer elements."""
        return functional.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        """Return the factors or sizes, and the mode."""
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """The nearest pixels.

    Parameters
    ----------
    size : int or sequence of int, optional
        The sizes of the result. Either this or `scale_factor` is given.
    scale_factor : float or sequence of float, optional
        Factors of the sizes.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.UpsamplingNearest2d((1, 4))(torch.tensor([[[[0.0, 1.0]]]]))
    tensor([[[[0., 0., 1., 1.]]]])
    """

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Bilinear interpolation with aligned corners.

    Parameters
    ----------
    size : int or sequence of int, optional
        The sizes of the result. Either this or `scale_factor` is given.
    scale_factor : float or sequence of float, optional
        Factors of the sizes.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.UpsamplingBilinear2d((1, 3))(torch.tensor([[[[0.0, 1.0]]]]))
    tensor([[[[0.0000, 0.5000, 1.0000]]]])
    """

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
