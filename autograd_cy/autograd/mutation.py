"""In-place changes of saved tensors, made harmless: originals are cloned before they change."""

from __future__ import annotations

import weakref

from autograd_cy._C import node as _node
from autograd_cy._C import saved as _saved
from autograd_cy._C.inplace import detach as _detach
from autograd_cy._C.tensor import (
    _M_GUARD_SAVED,
    _M_NO_GRAD,
    _M_SAVED_HOOKS,
    Tensor,
    _call_with_modes,
)
from autograd_cy._environment.contexts import _Decorating

__all__ = ["allow_mutation_on_saved_tensors"]

# Of the mode word while an original is cloned: not recorded, not saved, not heard of.
_CLONING = _M_NO_GRAD | _M_GUARD_SAVED | _M_SAVED_HOOKS


class _Handle:
    """A saved tensor in the graph: what it stands for is looked up in its context."""

    __slots__ = ("__weakref__",)


class AllowMutationContext:
    """
    The object that :func:`allow_mutation_on_saved_tensors` gives: saved tensors that are watched or
    cloned.

    Attributes
    ----------
    cloned : WeakKeyDictionary
        The clones that are alive: from the graph's handle to the old value.
    original : WeakKeyDictionary
        The watched tensors, by handle.
    tid_to_weakhandle : WeakValueDictionary
        The handles of tensors that are watched, by what identifies a tensor and its version.
    sid_to_tid : dict
        Address of a memory -> identities of the tensors that are watched in it.
    """

    def __init__(self):
        # Handles belong to the graph; all else goes with them.
        self.cloned: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self.original: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self.tid_to_weakhandle: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
        self.sid_to_tid: dict[int, set[tuple]] = {}
        self._open = True

    def clear(self) -> None:
        """Forget all; a graph that was recorded before can't be run after this."""
        self._open = False
        self.cloned.clear()
        self.original.clear()
        self.tid_to_weakhandle.clear()
        self.sid_to_tid.clear()

    def _pack(self, tensor):
        address, tid = tensor._storage_address(), _identity(tensor)
        handle = self.tid_to_weakhandle.get(tid)
        if handle is None:
            handle = _Handle()
            self.original[handle] = _detach(tensor) if tensor.grad_fn is not None else tensor
            self.tid_to_weakhandle[tid] = handle
            tids = self.sid_to_tid.setdefault(address, set())
            tids.intersection_update(self.tid_to_weakhandle)
            tids.add(tid)
        return handle

    def _unpack(self, handle):
        if not self._open:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in "
                "which the graph was originally recorded."
            )
        clone = self.cloned.get(handle)
        return self.original[handle] if clone is None else clone

    def _before(self, tensor):
        """Called before `tensor` is written: whatever was saved of its memory is cloned."""
        tids = self.sid_to_tid.get(tensor._storage_address())
        if tids is None:
            return
        tids.intersection_update(self.tid_to_weakhandle)
        _call_with_modes(_CLONING, _M_NO_GRAD, lambda: self._clone(tids))

    def _clone(self, tids):
        for tid in tids:
            handle = self.tid_to_weakhandle.get(tid)
            if handle is not None and handle not in self.cloned:
                self.cloned[handle] = _detach(self.original[handle]).clone()
                del self.original[handle]


def _identity(tensor: Tensor) -> tuple:
    """Return the properties that two tensors share if one clone serves both."""
    leaf = id(tensor) if tensor.requires_grad and tensor.grad_fn is None else None
    return (
        tensor._storage_address(),
        tensor.storage_offset(),
        tuple(tensor.shape),
        tensor.stride(),
        tensor.dtype,
        tensor._version,
        leaf,
    )


def _note(tensor: Tensor) -> None:
    for context in _saved._write_guards():
        context._before(tensor)


_node._set_write_guard(_note)


class _Allowing(_Decorating, _saved.GuardContext):
    """The context of allow_mutation_on_saved_tensors."""

    _make_guard = AllowMutationContext


def allow_mutation_on_saved_tensors() -> _Allowing:
    """
    Allow in-place changes of tensors that were saved for backward.

    Inside the block a saved tensor is cloned before it is changed, so that backward sees the value
    that was saved; backward must run inside the block too.

    Returns
    -------
    AllowMutationContext
        With ``cloned``, the copies that are alive, and a method ``clear()`` that drops them.

    Raises
    ------
    RuntimeError
        If nested.
    AssertionError
        From a backward after the end of the block.

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
    return _Allowing()
