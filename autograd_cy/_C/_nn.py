"""Functions that programs reach as ``torch._C._nn``."""

from typing import Any

from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.placement import device as _device
from autograd_cy._C.tensor import Tensor

__all__ = ["_parse_to"]


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """Return (device, dtype, non_blocking, memory format) of the arguments of ``Module.to``."""
    wanted = dict(kwargs)
    example = wanted.pop("tensor", None)
    flags = ["copy", "non_blocking"]
    for argument in args:
        if isinstance(argument, Tensor):
            example = argument
        elif isinstance(argument, _dtype):
            wanted["dtype"] = argument
        elif isinstance(argument, bool):
            wanted[flags.pop()] = argument
        elif argument is not None:
            wanted["device"] = argument
    if example is not None:
        wanted.update(dtype=example.dtype, device=example.device)
    place = wanted.get("device")
    return (
        None if place is None else _device(place),
        wanted.get("dtype"),
        wanted.get("non_blocking", False),
        wanted.get("memory_format"),
    )
