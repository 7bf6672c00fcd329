"""In-place changes of saved tensors, made harmless: originals are cloned before they change."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator

from autograd_cy._C import node as _node
from autograd_cy._C import saved as _saved
from autograd_cy._C.inplace import detach as _detach
from autograd_cy._C.tensor import Tensor, _get_modes, _set_modes

__all__ = ["allow_mutation_on_saved_tensors"]

_GUARD = 64  # M_GUARD_SAVED of tensor.pxd
_thread = threading.local()


class _Kept:
    """A saved tensor: itself until somebody changes its memory, then a copy of the old value."""

    __slots__ = ("__weakref__", "context", "tensor")

    def __init__(self, context, tensor):
        self.context, self.tensor = context, tensor


class AllowMutationContext:
    """What :func:`allow_mutation_on_saved_tensors` gives: the tensors that are watched."""

    def __init__(self):
        # Address of a storage -> what was saved of it. Entries die with the graph.
        self._watched: dict[int, list[weakref.ref]] = {}
        self._open = True

    def clear(self) -> None:
        """Forget all; a graph that was recorded before can't be run after this."""
        self._watched.clear()
        self._open = False

    def _pack(self, tensor):
        kept = _Kept(self, _detach(tensor) if tensor.grad_fn is not None else tensor)
        address = tensor._storage_address()
        row = self._watched.setdefault(address, [])
        row[:] = [r for r in row if r() is not None]
        row.append(weakref.ref(kept))
        return kept

    def _unpack(self, kept):
        if not self._open:
            raise RuntimeError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in "
                "which the graph was originally recorded."
            )
        return kept.tensor

    def _before(self, tensor):
        """Called before `tensor` is written: whatever was saved of its memory is cloned."""
        row = self._watched.pop(tensor._storage_address(), None)
        if row is None:
            return
        before = _get_modes()
        _set_modes((before | 1) & ~(_GUARD | 8))
        try:
            for ref in row:
                kept = ref()
                if kept is not None:
                    kept.tensor = _detach(kept.tensor).clone()
        finally:
            _set_modes(before)


def _note(tensor: Tensor) -> None:
    for context in getattr(_thread, "contexts", ()):
        context._before(tensor)


_node._set_write_guard(_note)


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[AllowMutationContext]:
    """
    Allow in-place changes of tensors that were saved for backward.

    Inside the block a saved tensor is cloned before it is changed, so that backward sees the value
    that was saved; backward must run inside the block too.

    Returns
    -------
    AllowMutationContext
        With a method ``clear()`` that drops all copies.

    Raises
    ------
    RuntimeError
        If nested, or from a backward after the end of the block.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.autograd.graph.allow_mutation_on_saved_tensors():
    ...     x = ag.ones(2, requires_grad=True)
    ...     y = x.clone()
    ...     loss = (y**2).sum()
    ...     _ = y.zero_()
    ...     loss.backward()
    >>> x.grad
    tensor([2., 2.])
    """
    if getattr(_thread, "contexts", ()):
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = AllowMutationContext()
    _saved._push_hooks(context._pack, context._unpack)
    _thread.contexts = (context,)
    _set_modes(_get_modes() | _GUARD)
    try:
        yield context
    finally:
        _set_modes(_get_modes() & ~_GUARD)
        _thread.contexts = ()
        context.clear()
        _saved._pop_hooks()
