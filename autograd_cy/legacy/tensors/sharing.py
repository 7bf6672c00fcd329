"""Memory that processes share: mapped from a file without a name, whose descriptor travels.

A forked process sees it anyway. What `multiprocessing` pickles (queues, pipes, arguments of spawned
processes) arrives on the same memory, as in training by several processes without locks (Hogwild).
"""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref

import numpy as np

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy._C.copying import _rebuild_tensor
from autograd_cy._C.exchange import UntypedStorage, _memory_owner

from .wrapping import CLASSES

__all__ = ["block_of", "on_shared_block"]


class SharedBlock(mmap.mmap):
    """A mapping that knows its descriptor, and closes it in the end."""

    descriptor: int


def _mapped(descriptor: int, size: int) -> SharedBlock:
    block = SharedBlock(descriptor, size)
    block.descriptor = descriptor
    weakref.finalize(block, os.close, descriptor)
    return block


def _new_block(size: int) -> SharedBlock:
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("autograd_cy")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return _mapped(descriptor, size)


def block_of(t: Tensor) -> SharedBlock | None:
    """The shared block that a tensor lies in, or None."""
    owner = _memory_owner(t)
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = owner.obj if isinstance(owner, memoryview) else getattr(owner, "base", None)
    return owner if isinstance(owner, SharedBlock) else None


def _on(block: SharedBlock, size: int) -> UntypedStorage:
    return ag.from_numpy(np.frombuffer(block, np.uint8, size)).untyped_storage()


def on_shared_block(t: Tensor) -> Tensor:
    """A core tensor of the same elements, strides and storage size on a new shared block."""
    _register()
    size = Tensor.untyped_storage(t).nbytes()
    storage = _on(_new_block(max(size, 1)), size)
    place = Tensor.storage_offset(t), tuple(t.shape), tuple(Tensor.stride(t))
    made = _rebuild_tensor(Tensor, storage, t.dtype, *place, False)
    made.copy_(t)
    return made


def _reduce(t: Tensor) -> tuple:
    from multiprocessing.reduction import DupFd

    block = block_of(t)
    if block is None:
        return t.__reduce_ex__(2)
    size = Tensor.untyped_storage(t).nbytes()
    place = Tensor.storage_offset(t), tuple(t.shape), tuple(Tensor.stride(t))
    return _attach, (type(t), DupFd(block.descriptor), size, t.dtype, *place)


def _attach(cls, descriptor, size, dtype, *place):
    """The tensor that another process sent."""
    _register()
    storage = _on(_mapped(descriptor.detach(), max(size, 1)), size)
    return _rebuild_tensor(cls, storage, dtype, *place, False)


def _register() -> None:
    """Tell multiprocessing's pickler; it is imported by programs that share memory only."""
    from multiprocessing.reduction import ForkingPickler

    for cls in CLASSES.values():
        ForkingPickler.register(cls, _reduce)
