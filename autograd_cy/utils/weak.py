"""Weak references to tensors, and dictionaries whose keys are tensors: ``torch.utils.weak``.

Tensors compare element by element, so keys are compared by identity.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, MutableMapping
from copy import deepcopy
from typing import Any
from weakref import ref

from autograd_cy import Tensor

__all__ = [
    "TensorWeakRef",
    "WeakIdKeyDictionary",
    "WeakIdRef",
    "WeakTensorKeyDictionary",
]

WeakRef = ref


class WeakIdRef(weakref.ref):
    """A weak reference that is equal to those to the same object, and to no others.

    Parameters
    ----------
    key : object
    callback : callable, optional
        Called with the reference when the object is gone.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.utils.weak import WeakIdRef
    >>> x = torch.ones(2)
    >>> WeakIdRef(x) == WeakIdRef(x), WeakIdRef(x) == WeakIdRef(torch.ones(2))
    (True, False)
    """

    __slots__ = ("_id",)
    _id: int

    def __init__(self, key: Any, callback: Any = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __call__(self) -> Any:
        return super().__call__()

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        a = self()
        b = other() if isinstance(other, weakref.ref) else None
        if a is not None and b is not None:
            return a is b
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other


class _WeakHashRef(weakref.ref):
    """A weak reference that is equal to those to equal objects."""

    __slots__ = ("_id",)
    _id: int

    def __init__(self, key: Any, callback: Any = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = hash(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        a = self()
        b = other() if isinstance(other, weakref.ref) else None
        if a is not None and b is not None:
            return bool(a == b)
        return self is other


class WeakIdKeyDictionary(MutableMapping):
    """A dictionary whose keys are compared by identity, and whose entries go with their keys.

    Parameters
    ----------
    dict : mapping, optional
        The first entries.
    ref_type : type, optional
        The class of references to keys.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.utils.weak import WeakIdKeyDictionary
    >>> x, names = torch.ones(2), WeakIdKeyDictionary()
    >>> names[x] = "x"
    >>> names[x], torch.ones(2) in names
    ('x', False)
    >>> del x
    >>> len(names)
    0
    """

    data: dict[Any, Any]

    def __init__(self, dict: Any = None, ref_type: Any = WeakIdRef) -> None:
        self.data = {}
        self.ref_type = ref_type
        owner = ref(self)

        def remove(key: Any) -> None:
            own = owner()
            if own is not None:
                own.data.pop(key, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __contains__(self, key: Any) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # what takes no weak reference is no key
            return False

    def __len__(self) -> int:
        return sum(key() is not None for key in [*self.data])

    def __iter__(self) -> Iterator[Any]:
        for key in [*self.data]:
            obj = key()
            if obj is not None:
                yield obj

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def __copy__(self) -> WeakIdKeyDictionary:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary:
        result = type(self)()
        for key, value in self.items():
            result[key] = deepcopy(value, memo)
        return result

    def copy(self) -> WeakIdKeyDictionary:
        """Return a dictionary with the same entries."""
        return type(self)(self)

    def keyrefs(self) -> list[Any]:
        """Return weak references to the keys, some of which may be gone."""
        return [*self.data]


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor.

    Parameters
    ----------
    tensor : Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.utils.weak import TensorWeakRef
    >>> x = torch.ones(2)
    >>> reference = TensorWeakRef(x)
    >>> reference() is x
    True
    >>> del x
    >>> reference() is None
    True
    """

    ref: WeakRef[Tensor]

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected a Tensor, not {type(tensor).__name__}")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
