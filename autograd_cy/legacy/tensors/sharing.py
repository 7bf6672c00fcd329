"""Memory that processes share: mapped from a file without a name, whose descriptor travels.

A forked process sees it anyway. What `multiprocessing` pickles (queues, pipes, arguments of spawned
processes) arrives on the same memory, as in training by several processes without locks (Hogwild).
"""

from __future__ import annotations

from autograd_cy import Tensor
from autograd_cy._C.copying import _rebuild_tensor
from autograd_cy._tensors.sharing import block_of, new_block, register

from .wrapping import CLASSES

__all__ = ["block_of", "on_shared_block"]


def on_shared_block(t: Tensor) -> Tensor:
    """A core tensor of the same elements, strides and storage size on a new shared block."""
    _register()
    size = Tensor.untyped_storage(t).nbytes()
    storage = new_block(size).storage(0, size)
    place = Tensor.storage_offset(t), tuple(t.shape), tuple(Tensor.stride(t))
    result = _rebuild_tensor(Tensor, storage, t.dtype, *place, False)
    result.copy_(t)
    return result


def _reduce(t: Tensor) -> tuple:
    block = block_of(t)
    if block is None:
        return t.__reduce_ex__(2)
    place = Tensor.storage_offset(t), tuple(t.shape), tuple(Tensor.stride(t))
    return _attach, (type(t), Tensor.untyped_storage(t), t.dtype, *place)


def _attach(cls, storage, dtype, *place):
    """The tensor that another process sent."""
    _register()
    return _rebuild_tensor(cls, storage, dtype, *place, False)


def _register() -> None:
    """Tell multiprocessing's pickler; it is imported by programs that share memory only."""
    from multiprocessing.reduction import ForkingPickler

    register()
    for cls in CLASSES.values():
        ForkingPickler.register(cls, _reduce)
