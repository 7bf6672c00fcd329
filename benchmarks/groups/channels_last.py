"""Layers of images whose channels lie last in memory: forward, and with backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, normal, uniform

_MAPS = {"8x64x56x56": (8, 64, 56, 56), "8x16x32x32": (8, 16, 32, 32)}


def _convolution(size: int) -> Callable:
    def called(torch: Any, a: Any) -> Any:
        w = torch.ones(64, a.shape[1], size, size) / 16
        return torch.nn.functional.conv2d(a, w, padding=size // 2)

    return called


#: Name, operation on (library, images).
_OPERATIONS: tuple[tuple[str, Callable], ...] = (
    ("max_pool2d 2", lambda torch, a: torch.nn.functional.max_pool2d(a, 2)),
    ("max_pool2d 3 by 2", lambda torch, a: torch.nn.functional.max_pool2d(a, 3, 2, 1)),
    ("avg_pool2d 2", lambda torch, a: torch.nn.functional.avg_pool2d(a, 2)),
    ("avg_pool2d 3 by 1", lambda torch, a: torch.nn.functional.avg_pool2d(a, 3, 1, 1)),
    ("adaptive_avg_pool2d 1", lambda torch, a: torch.nn.functional.adaptive_avg_pool2d(a, 1)),
    ("adaptive_avg_pool2d 7", lambda torch, a: torch.nn.functional.adaptive_avg_pool2d(a, 7)),
    ("adaptive_max_pool2d 7", lambda torch, a: torch.nn.functional.adaptive_max_pool2d(a, 7)),
    ("pad", lambda torch, a: torch.nn.functional.pad(a, (1, 1, 1, 1))),
    ("pad reflect", lambda torch, a: torch.nn.functional.pad(a, (1, 1, 1, 1), "reflect")),
    ("nearest", lambda torch, a: torch.nn.functional.interpolate(a, scale_factor=2)),
    (
        "bilinear",
        lambda torch, a: torch.nn.functional.interpolate(a, scale_factor=2, mode="bilinear"),
    ),
    (
        "bicubic",
        lambda torch, a: torch.nn.functional.interpolate(a, scale_factor=2, mode="bicubic"),
    ),
    ("group_norm", lambda torch, a: torch.nn.functional.group_norm(a, 4)),
    (
        "batch_norm",
        lambda torch, a: torch.nn.functional.batch_norm(a, None, None, training=True),
    ),
    ("conv2d 1", _convolution(1)),
    ("conv2d 3", _convolution(3)),
    ("relu", lambda torch, a: torch.relu(a)),
)


def _images(torch: Any, shape: tuple[int, ...]) -> Any:
    return normal(torch, *shape).contiguous(memory_format=torch.channels_last)


def _forward(function: Callable, shape: tuple[int, ...]) -> Callable:
    def setup(torch: Any) -> Callable:
        a = _images(torch, shape)
        return lambda: function(torch, a)

    return setup


def _with_backward(function: Callable, shape: tuple[int, ...]) -> Callable:
    def setup(torch: Any) -> Callable:
        a = leaf(_images(torch, shape))
        grad = uniform(torch, *function(torch, a).shape, seed=2)
        grad = grad.contiguous(memory_format=torch.channels_last)

        def run() -> Any:
            a.grad = None
            function(torch, a).backward(grad)
            return a.grad

        return run

    return setup


CASES = [
    Case(f"{name}{tail} {size}", setup(function, shape))
    for name, function in _OPERATIONS
    for size, shape in _MAPS.items()
    for tail, setup in (("", _forward), (" and backward", _with_backward))
]
