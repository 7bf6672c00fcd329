"""Images in another size: of floats and of bytes, with and without averaging filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.groups import pooling

#: Shape of the images, size of the results.
_SIZES = (
    ("3x256 to 224", (1, 3, 256, 256), (224, 224)),
    ("8x3x512 to 224", (8, 3, 512, 512), (224, 224)),
    ("3x224 to 512", (1, 3, 224, 224), (512, 512)),
)


def _resized(size: tuple[int, int], mode: str, antialias: bool) -> Callable:
    return lambda F, a: F.interpolate(a, size, mode=mode, antialias=antialias)


def _bytes(torch: Any, tensor: Any) -> Any:
    return (tensor * 60 + 128).clamp(0, 255).to(torch.uint8)


CASES = [
    Case(
        f"{kind} {mode}{' antialias' if antialias else ''} {name}",
        pooling.forward(_resized(size, mode, antialias), shape, in_format=prepared),
    )
    for kind, prepared in (("float32", lambda _, a: a), ("uint8", _bytes))
    for mode in ("bilinear", "bicubic")
    for antialias in (False, True)
    for name, shape, size in _SIZES
]
