"""Pooling, padding and interpolation of images: forward, and with backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, normal, uniform

_MAPS = {"8x16x32x32": (8, 16, 32, 32), "4x8x112x112": (4, 8, 112, 112), "1x1x8x8": (1, 1, 8, 8)}

#: Name, operation on (nn.functional, images).
OPERATIONS: tuple[tuple[str, Callable], ...] = (
    ("max_pool2d 2", lambda F, a: F.max_pool2d(a, 2)),
    ("max_pool2d 3 by 2", lambda F, a: F.max_pool2d(a, 3, 2, 1)),
    ("avg_pool2d 2", lambda F, a: F.avg_pool2d(a, 2)),
    ("avg_pool2d 3 by 1", lambda F, a: F.avg_pool2d(a, 3, 1, 1)),
    ("adaptive_avg_pool2d 1", lambda F, a: F.adaptive_avg_pool2d(a, 1)),
    ("adaptive_avg_pool2d 7", lambda F, a: F.adaptive_avg_pool2d(a, 7)),
    ("pad", lambda F, a: F.pad(a, (1, 1, 1, 1))),
    ("pad reflect", lambda F, a: F.pad(a, (1, 1, 1, 1), "reflect")),
    ("interpolate nearest", lambda F, a: F.interpolate(a, scale_factor=2)),
    ("interpolate bilinear", lambda F, a: F.interpolate(a, scale_factor=2, mode="bilinear")),
    ("interpolate bicubic", lambda F, a: F.interpolate(a, scale_factor=2, mode="bicubic")),
)


def _as_drawn(torch: Any, tensor: Any) -> Any:
    return tensor


def forward(
    function: Callable, shape: tuple[int, ...], in_format: Callable = _as_drawn
) -> Callable:
    """Return what prepares the operation, on images in a memory format."""

    def setup(torch: Any) -> Callable:
        a = in_format(torch, normal(torch, *shape))
        return lambda: function(torch.nn.functional, a)

    return setup


def with_backward(
    function: Callable, shape: tuple[int, ...], in_format: Callable = _as_drawn
) -> Callable:
    """Return what prepares the same with its gradient; that of the result has the format, too."""

    def setup(torch: Any) -> Callable:
        a = leaf(in_format(torch, normal(torch, *shape)))
        result = function(torch.nn.functional, a)
        grad = in_format(torch, uniform(torch, *result.shape, seed=2))

        def run() -> Any:
            a.grad = None
            function(torch.nn.functional, a).backward(grad)
            return a.grad

        return run

    return setup


CASES = [
    Case(f"{name}{tail} {size}", setup(function, shape))
    for name, function in OPERATIONS
    for size, shape in _MAPS.items()
    for tail, setup in (("", forward), (" and backward", with_backward))
]
