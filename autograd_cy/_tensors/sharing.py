"""Tensors whose memory several processes see."""

from __future__ import annotations

from autograd_cy._C.copying import _rebuild_tensor
from autograd_cy._C.exchange import _memory_owner, _memory_users, from_numpy
from autograd_cy._C.tensor import Tensor, _install


def is_shared(self: Tensor) -> bool:
    """
    Whether the memory is shared with child processes.

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
    import mmap

    owner = _memory_owner(self)
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = owner.obj if isinstance(owner, memoryview) else getattr(owner, "base", None)
    return owner is not None


def share_memory_(self: Tensor) -> Tensor:
    """
    Move this tensor to memory that child processes share, if it isn't there.

    A process forked later (``multiprocessing``'s start method ``"fork"``) sees the same elements;
    one that gets the tensor by pickle gets a copy.

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
    import mmap

    import numpy as np

    if is_shared(self):
        return self
    if _memory_users(self) > 1:
        raise RuntimeError(
            "share_memory_(): other tensors (views, the base of this view, arrays) use the memory "
            "of this one and would keep it. Call it before they are made, or on a clone."
        )
    size = self.untyped_storage().nbytes()
    block = np.frombuffer(mmap.mmap(-1, max(size, 1)), np.uint8, size)
    storage = from_numpy(block).untyped_storage()
    plain = self.detach()
    args = storage, self.dtype, self.storage_offset(), tuple(self.shape), tuple(self.stride())
    shared = _rebuild_tensor(Tensor, *args, False)
    shared.copy_(plain)
    self.data = shared
    return self


_install("is_shared", is_shared)
_install("share_memory_", share_memory_)
