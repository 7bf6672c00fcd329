"""Larger images."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .module import Module

__all__ = [
    "PixelShuffle",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


class PixelShuffle(Module):
    """
    Channels as the pixels of an image that is larger by a factor.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import Variable
    >>> torch.nn.PixelShuffle(3)(Variable(torch.ones(1, 9, 4, 4))).size()
    autograd_cy.Size([1, 1, 12, 12])
    """

    def __init__(self, upscale_factor: int):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        return F.pixel_shuffle(input, self.upscale_factor)

    def _extra(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class _Upsampling(Module):
    _function: Any

    def __init__(self, size: Any = None, scale_factor: Any = None):
        super().__init__()
        if size is None and scale_factor is None:
            raise ValueError("either size or scale_factor should be defined")
        if scale_factor is not None and not isinstance(scale_factor, (int, tuple)):
            raise ValueError(f"scale_factor must be of integer type, got {scale_factor!r}")
        self.size = size
        self.scale_factor = scale_factor

    def forward(self, input: Any) -> Any:
        return type(self)._function(input, self.size, self.scale_factor)

    def _extra(self) -> str:
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor}"
        return f"size={self.size}"


class UpsamplingNearest2d(_Upsampling):
    """A larger image whose pixels are the nearest ones of the smaller."""

    _function = staticmethod(F.upsample_nearest)


class UpsamplingBilinear2d(_Upsampling):
    """A larger image between the pixels of the smaller; the corners of both are the same."""

    _function = staticmethod(F.upsample_bilinear)
