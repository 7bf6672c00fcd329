"""
Tensors whose memory several processes see.

Shared memory is a mapped file: without a name, whose descriptor travels between processes
(``file_descriptor``), or in /dev/shm (``file_system``). What `multiprocessing` pickles (queues,
pipes, pools, arguments of spawned processes) arrives on the same memory.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from autograd_cy._C.copying import _rebuild_tensor
from autograd_cy._C.exchange import (
    UntypedStorage,
    _memory_owner,
    _move_memory,
    _move_storage,
    _set_later,
    _shared_block,
    _SharedBlock,
)
from autograd_cy._C.tensor import Tensor, _install

FOLDER = "/dev/shm"
PREFIX = "autograd_cy_"
UNTRACKED = "untracked_"

_strategy = "file_descriptor" if sys.platform.startswith("linux") else "file_system"
_numbers = itertools.count()


def is_shared(self: Tensor) -> bool:
    """
    Tell whether the memory is shared with child processes.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.zeros(2)
    >>> x.is_shared(), x.share_memory_().is_shared()
    (False, True)
    """
    owner = _memory_owner(self)
    if owner is None:
        return False
    if isinstance(owner, _SharedBlock):
        return True
    import mmap

    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = owner.obj if isinstance(owner, memoryview) else getattr(owner, "base", None)
    return owner is not None


def share_memory_(self: Tensor) -> Tensor:
    """
    Move this tensor to memory that other processes share, if it isn't there.

    Processes that are forked later, and those that get the tensor by :mod:`multiprocessing` (as an
    argument, by a queue, a pipe or a pool), work on the same elements. What it is a view of moves
    with it.

    Returns
    -------
    Tensor
        This one.

    Raises
    ------
    RuntimeError
        If other tensors use the same memory, which they would go on to do.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.tensor([1.0, 2.0]).share_memory_()
    tensor([1., 2.])
    """
    if not is_shared(self) and self.device.type == "cpu" and _move(self) is None:
        raise RuntimeError(
            "share_memory_(): other tensors (views of it, .data, arrays) use the memory of this "
            "one and would keep it. Call it before they are made, or on a clone."
        )
    register()
    return self


def share_storage_(storage: UntypedStorage) -> None:
    """Move a storage that no tensor uses to memory that other processes share."""
    probe = _on_storage(storage)
    shared = probe is None or is_shared(probe)
    del probe  # which uses it
    if not shared and not _move_storage(storage, lambda size: new_block(size).storage(0, size)):
        raise RuntimeError(
            "share_memory_(): tensors or arrays use the memory of this storage and would keep it. "
            "Call share_memory_() of the tensor, before there are views of it."
        )
    register()


def block_of(t: Tensor) -> Any:
    """Return the shared block that a tensor lies in, whole, or None."""
    owner = _memory_owner(t)
    return owner if isinstance(owner, _SharedBlock) else None


def new_block(size: int) -> Any:
    """Make a shared block of zeros."""
    size = max(size, 1)
    name = None
    try:
        if _strategy == "file_system" and os.path.isdir(FOLDER):
            tracked = "" if has_tracker() else UNTRACKED
            name = f"{PREFIX}{tracked}{os.getpid()}_{next(_numbers)}_{os.urandom(4).hex()}"
            descriptor = os.open(f"{FOLDER}/{name}", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        elif hasattr(os, "memfd_create"):
            descriptor = os.memfd_create("autograd_cy")
        else:
            import tempfile

            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
        try:
            os.ftruncate(descriptor, size)
            if hasattr(os, "posix_fallocate") and name is not None:
                os.posix_fallocate(descriptor, 0, size)  # a full /dev/shm is an error now
            block = _shared_block(descriptor, size, name)
        except BaseException:
            os.close(descriptor)
            if name is not None:
                os.unlink(f"{FOLDER}/{name}")
            raise
    except OSError as error:
        raise RuntimeError(
            f"unable to allocate {size} bytes of shared memory ({_strategy}): {error.strerror}; "
            "too many open files want ulimit -n or "
            "multiprocessing.set_sharing_strategy('file_system')"
        ) from error
    if name is not None:
        _register_block(block)
    return block


def _move(t: Tensor) -> UntypedStorage | None:
    """Move a tensor to shared memory, and return the old; None if others use its memory."""
    return _move_memory(t, lambda size: new_block(size).storage(0, size))


# --- pickles of multiprocessing ------------------------------------------------------------------


def reduce_tensor(t: Tensor) -> tuple:
    """
    Pickle a tensor for multiprocessing: its memory is shared from then on.

    Where other tensors use the memory, which would not go with it, a copy is sent.
    """
    if t.requires_grad and not t.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd "
            "does not support crossing process boundaries. If you just want to transfer the data, "
            "call detach() on the tensor before serializing (e.g., putting it on the queue)."
        )
    if t.device.type == "cpu" and t.numel() and not is_shared(t):
        # Queues pickle in a thread of their own, and another may be computing with the old memory.
        now = time.monotonic()
        while _parted and _parted[0][0] < now - PATIENCE:
            _parted.popleft()
        _parted.append((now, _move(t)))
    return t.__reduce_ex__(4)


_parted: collections.deque = collections.deque()


def reduce_storage(storage: UntypedStorage) -> tuple:
    """Pickle the memory of tensors for multiprocessing."""
    probe = _on_storage(storage)
    block = None if probe is None else block_of(probe)
    if block is None:
        return storage.__reduce_ex__(2)
    if block.name is not None:
        _count_users(block.name, 1)
        return _attach_name, (block.name, block.size, storage.nbytes())
    from multiprocessing.reduction import DupFd

    return _attach, (DupFd(block.descriptor), block.size, storage.nbytes())


def _on_storage(storage: UntypedStorage) -> Tensor | None:
    import autograd_cy as ag

    if storage.device.type != "cpu":
        return None
    return _rebuild_tensor(Tensor, storage, ag.uint8, 0, (storage.nbytes(),), (1,), False)


_blocks: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def _attach(handle: Any, size: int, nbytes: int) -> UntypedStorage:
    """Return the memory that another process sent."""
    register()
    descriptor = handle.detach()
    status = os.fstat(descriptor)
    key = status.st_dev, status.st_ino
    block = _blocks.get(key)
    if block is None:
        block = _blocks[key] = _shared_block(descriptor, size)
    else:
        os.close(descriptor)  # it is mapped already
    return block.storage(0, nbytes)


def _attach_name(name: str, size: int, nbytes: int) -> UntypedStorage:
    register()
    block = _blocks.get(name)
    if block is not None:
        _count_users(name, -1)  # the message
        return block.storage(0, nbytes)
    try:
        descriptor = os.open(_path(name), os.O_RDWR)
    except FileNotFoundError:
        raise RuntimeError(
            f"unable to open shared memory object </{name}>: the process that made it has ended, "
            "or gave the tensor up, before this process got it"
        ) from None
    # What counted as the message counts as this process now.
    return _follow(_shared_block(descriptor, size, name)).storage(0, nbytes)


# --- files with names ----------------------------------------------------------------------------

# How many processes and messages know such a file, stands in another one beside it. Who brings that
# to none removes both. What is left by processes that were killed, the resource tracker of
# multiprocessing removes, which outlives them.


def has_tracker() -> bool:
    """
    Tell if the resource tracker outlives this process.

    A child that was forked before there was one would start its own, which removes at the end of
    the child what others have yet to open. Nobody tracks the files of such a child.
    """
    from multiprocessing import parent_process, resource_tracker

    descriptor = resource_tracker._resource_tracker._fd  # type: ignore[attr-defined]
    return parent_process() is None or descriptor is not None


def start_tracker() -> None:
    """Start the resource tracker that this process and all its children will have in common."""
    from multiprocessing import resource_tracker

    if has_tracker():
        with contextlib.suppress(OSError):  # it is tried again with the first file
            resource_tracker.ensure_running()


def _is_tracked(name: str) -> bool:
    return not name.startswith(PREFIX + UNTRACKED)


def _path(name: str) -> str:
    return f"{FOLDER}/{name}"


def _files(name: str) -> tuple[str, str]:
    return name, name + ".users"


def _count_users(name: str, change: int) -> None:
    import fcntl
    from multiprocessing import resource_tracker

    try:
        descriptor = os.open(_path(name) + ".users", os.O_RDWR)
    except OSError:
        return  # it is gone
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        users = int(os.pread(descriptor, 20, 0) or b"0") + change
        os.pwrite(descriptor, b"%-20d" % users, 0)
    finally:
        os.close(descriptor)
    if users <= 0:
        for file in _files(name):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(_path(file))
                if _is_tracked(name):
                    resource_tracker.unregister("/" + file, "shared_memory")


def _register_block(block: Any) -> Any:
    from multiprocessing import resource_tracker

    if _is_tracked(block.name):
        for file in _files(block.name):
            resource_tracker.register("/" + file, "shared_memory")
    os.close(os.open(_path(block.name) + ".users", os.O_RDWR | os.O_CREAT, 0o600))
    _count_users(block.name, 1)
    return _follow(block)


def _follow(block: Any) -> Any:
    """Count this process out when it no longer uses the block, or ends."""
    from multiprocessing import util

    _blocks[block.name] = block
    block.close()  # the name is enough
    _counted_in[block] = os.getpid()
    util.Finalize(block, _left, (block.name, os.getpid()), exitpriority=-100)
    util.register_after_fork(block, _follow_again)
    return block


_counted_in: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def _follow_again(block: Any) -> None:
    # A child of the fork server has its arguments before it forgets what is to be done at its end.
    from multiprocessing import util

    if _counted_in.get(block) == os.getpid():
        util.Finalize(block, _left, (block.name, os.getpid()), exitpriority=-100)


def _left(name: str, pid: int) -> None:
    if os.getpid() == pid:  # a forked child has the memory, and was not counted
        _count_users(name, -1)


# --- what multiprocessing is told ----------------------------------------------------------------

_classes: list[type] = [Tensor]
_registered: set = set()
PATIENCE = 5.0  # seconds


def register() -> None:
    """Tell multiprocessing's pickler how tensors travel."""
    from multiprocessing import util
    from multiprocessing.reduction import ForkingPickler

    for cls in _classes:
        _register_class(ForkingPickler, cls, reduce_tensor)
    if UntypedStorage not in _registered:
        _register_class(ForkingPickler, UntypedStorage, reduce_storage)
        util.register_after_fork(_wait_at_the_end, lambda wait: wait())
        _wait_at_the_end()


def share_instances_of(*classes: type) -> None:
    """Let tensors of further classes travel as others do; a pickler asks for the class itself."""
    _classes.extend(classes)
    if _registered:
        register()


def _register_class(pickler: Any, cls: type, function: Callable) -> None:
    if cls not in _registered:
        pickler.register(cls, function)
        _registered.add(cls)


def _wait_at_the_end() -> None:
    from multiprocessing import util

    # After queues were told to end, and before the sharer's socket goes.
    util.Finalize(None, _wait, exitpriority=5)


def _wait() -> None:
    """Let those fetch descriptors to whom this process, which ends, has sent some."""
    from multiprocessing import parent_process

    if parent_process() is None:
        return  # the first process waits for its children anyway
    end = time.monotonic() + PATIENCE
    for thread in threading.enumerate():
        if thread.name.startswith("QueueFeederThread"):  # it may not have pickled all yet
            thread.join(max(0.0, end - time.monotonic()))
    sharer = sys.modules.get("multiprocessing.resource_sharer")
    waiting = getattr(getattr(sharer, "_resource_sharer", None), "_cache", None)
    while waiting and time.monotonic() < end:
        time.sleep(0.002)


_set_later(is_shared=is_shared, share_storage_=share_storage_, new_block=new_block)
_install("is_shared", is_shared)
_install("share_memory_", share_memory_)
