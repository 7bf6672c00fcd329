"""Layers of images whose channels lie last in memory: forward, and with backward."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.case import Case
from benchmarks.groups import pooling

_MAPS = {"8x64x56x56": (8, 64, 56, 56), "8x16x32x32": (8, 16, 32, 32)}


def _convolution(size: int) -> Callable:
    def called(F: Any, a: Any) -> Any:
        w = a.new_ones((64, a.shape[1], size, size)) / 16
        return F.conv2d(a, w, padding=size // 2)

    return called


#: Name, operation on (nn.functional, images).
_OPERATIONS: tuple[tuple[str, Callable], ...] = (
    *((name.removeprefix("interpolate "), function) for name, function in pooling.OPERATIONS),
    ("adaptive_max_pool2d 7", lambda F, a: F.adaptive_max_pool2d(a, 7)),
    ("group_norm", lambda F, a: F.group_norm(a, 4)),
    ("batch_norm", lambda F, a: F.batch_norm(a, None, None, training=True)),
    ("conv2d 1", _convolution(1)),
    ("conv2d 3", _convolution(3)),
    ("relu", lambda F, a: F.relu(a)),
)


def _channels_last(torch: Any, tensor: Any) -> Any:
    return tensor.contiguous(memory_format=torch.channels_last)


CASES = [
    Case(f"{name}{tail} {size}", setup(function, shape))
    for name, function in _OPERATIONS
    for size, shape in _MAPS.items()
    for tail, setup in (
        ("", partial(pooling.forward, in_format=_channels_last)),
        (" and backward", partial(pooling.with_backward, in_format=_channels_last)),
    )
]
