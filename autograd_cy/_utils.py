"""Functions that programs import as ``torch._utils``: flat tensors, pickles, errors of workers."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from autograd_cy import Tensor, cat
from autograd_cy import device as _device
from autograd_cy._C.copying import _rebuild_tensor as _tensor_on_storage
from autograd_cy._lazy import attach as _attach
from autograd_cy.nn.parameter import Parameter

__all__ = [
    "ExceptionWrapper",
    "KeyErrorMessage",
    "_element_size",
    "_flatten_dense_tensors",
    "_get_all_device_indices",
    "_get_available_device_type",
    "_get_device_index",
    "_import_dotted_name",
    "_rebuild_parameter",
    "_rebuild_tensor",
    "_rebuild_tensor_v2",
    "_reorder_tensors_as",
    "_take_tensors",
    "_unflatten_dense_tensors",
    "classproperty",
    "is_compiling",
]


# --- several tensors as one ---------------------------------------------------------------------


def _flatten_dense_tensors(tensors: Iterable[Tensor]) -> Tensor:
    """Join the elements of all tensors in one vector, whose gradient reaches them."""
    return cat([tensor.contiguous().view(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Return views of a vector that have the shapes of tensors, one after the other."""
    views, start = [], 0
    for tensor in tensors:
        number = tensor.numel()
        views.append(flat.narrow(0, start, number).view(tensor.shape))
        start += number
    return tuple(views)


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Group tensors of one type, up to a number of bytes; what is left of each comes last."""
    groups: dict[str, list[Any]] = defaultdict(lambda: [[], 0])
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        group = groups[tensor.type()]
        if group[1] + size > size_limit and group[1] > 0:
            yield group[0]
            group = groups[tensor.type()] = [[], 0]
        group[0].append(tensor)
        group[1] += size
    for taken, _ in groups.values():
        if taken:
            yield taken


def _reorder_tensors_as(
    tensors: Iterable[Tensor], ordered_tensors: Iterable[Tensor]
) -> tuple[Tensor, ...]:
    """Bring tensors into the order of types of others."""
    by_type: dict[str, list[Tensor]] = defaultdict(list)
    for tensor in tensors:
        by_type[tensor.type()].append(tensor)
    following = {kind: iter(group) for kind, group in by_type.items()}
    return tuple(next(following[tensor.type()]) for tensor in ordered_tensors)


# --- what pickles call --------------------------------------------------------------------------


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Tensor:
    """Make a tensor on a storage that knows a dtype."""
    untyped = storage.untyped() if hasattr(storage, "untyped") else storage
    return _tensor_on_storage(
        Tensor, untyped, storage.dtype, storage_offset, tuple(size), tuple(stride), False
    )


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """Make a tensor on a storage that knows a dtype; what pickles of tensors call in torch."""
    result = _rebuild_tensor(storage, storage_offset, size, stride)
    result.requires_grad = requires_grad
    return result


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    """Make a parameter of a tensor; what pickles of parameters call in torch."""
    return Parameter(data, requires_grad)


# --- devices ------------------------------------------------------------------------------------


def _get_all_device_indices() -> None:
    """List the numbers of GPUs: None, as in torch where there are none."""
    return


def _get_available_device_type() -> None:
    """Name the kind of GPUs: None, as in torch where there are none."""
    return


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """Return the number of a device, as torch's function of this name does without GPUs."""
    if isinstance(device, str):
        device = _device(device)
    if isinstance(device, _device):
        if device.type == "cpu" and not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        return -1 if device.type == "cpu" else device.index
    if isinstance(device, int):
        return device
    if device is None and optional:
        return None
    raise ValueError(
        f"Expected a torch.device with a specified index or an integer, but got:{device}"
    )


# --- others -------------------------------------------------------------------------------------


def _element_size(dtype: Any) -> int:
    """Return the bytes of an element of a dtype."""
    return dtype.itemsize


def _import_dotted_name(name: str) -> Any:
    """Return what a path of names leads to, of which the first is a module."""
    first, *others = name.split(".")
    obj = importlib.import_module(first)
    for part in others:
        obj = getattr(obj, part)
    return obj


def is_compiling() -> bool:
    """Tell whether the program is being compiled: never."""
    return False


class classproperty:
    """An attribute of a class that a function computes."""

    def __init__(self, func: Any) -> None:
        self.func = func if isinstance(func, (classmethod, staticmethod)) else classmethod(func)

    def __get__(self, instance: Any, owner: type) -> Any:
        return self.func.__get__(instance, owner)()


class KeyErrorMessage(str):
    """The text of a KeyError, which Python would show with its escapes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An error with its traceback as text, which can be sent from a process to another."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        if exc_info is None:
            exc_info = sys.exc_info()
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise an error of the same class, whose text has the traceback."""
        words = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            words = KeyErrorMessage(words)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=words)
        try:
            error = self.exc_type(words)
        except Exception:
            raise RuntimeError(words) from None
        raise error


__getattr__, __dir__ = _attach(__name__)
