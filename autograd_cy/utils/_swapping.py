"""Tensors that exchange what they are."""

from __future__ import annotations

import weakref

from autograd_cy import Tensor
from autograd_cy._C.accumulate import _swap


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange what two tensors are: everything that refers to one has the other then.

    Classes, memory, gradients, hooks and attributes change their places.

    Parameters
    ----------
    t1, t2 : Tensor

    Raises
    ------
    RuntimeError
        If something would take one for the other: a weak reference, a view or another tensor on
        its memory, a graph, a transformation; or if the classes differ in their ``__slots__``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> a, b = torch.nn.Parameter(torch.ones(2)), torch.zeros(3)
    >>> torch.utils.swap_tensors(a, b)
    >>> a
    tensor([0., 0., 0.])
    """
    for which, t in (("t1", t1), ("t2", t2)):
        if not isinstance(t, Tensor):
            raise TypeError(f"swap_tensors(): {which} must be a Tensor, not {type(t).__name__}")
        if t1 is not t2 and weakref.getweakrefs(t):
            raise RuntimeError(f"Cannot swap {which} because it has weakref associated with it")
    slots = [_slots(type(t)) for t in (t1, t2)]
    if slots[0] != slots[1]:
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    _swap(t1, t2)
    for name in slots[0] if t1 is not t2 else ():
        held = [getattr(t, name, _NONE) for t in (t1, t2)]
        for t, value in zip((t2, t1), held):
            if value is not _NONE:
                setattr(t, name, value)
            elif hasattr(t, name):
                delattr(t, name)


_NONE = object()


def _slots(cls: type) -> list[str]:
    slots: list[str] = []
    for base in cls.__mro__:
        if base is Tensor:
            break
        names = vars(base).get("__slots__", ())
        slots += [names] if isinstance(names, str) else names
    return slots


swap_tensors.__module__ = "autograd_cy.utils"
