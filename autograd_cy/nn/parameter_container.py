"""Containers of parameters, which may hold other things, too."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, KeysView, Mapping
from typing import Any

from autograd_cy import Tensor

from .module import Module
from .parameter import Parameter

__all__ = ["ParameterDict", "ParameterList"]


class ParameterList(Module):
    """Parameters in a list; a tensor that is put in becomes a parameter.

    Parameters
    ----------
    values : iterable, optional
        Parameters, tensors, or anything else, which is kept as it is.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> weights = torch.nn.ParameterList([torch.ones(2), torch.zeros(3)])
    >>> [name for name, _ in weights.named_parameters()]
    ['0', '1']
    """

    _size: int

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def append(self, value: Any) -> ParameterList:
        """Add a value at the end.

        Parameters
        ----------
        value : object
            A tensor becomes a parameter.

        Returns
        -------
        ParameterList
            This list.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> len(torch.nn.ParameterList().append(torch.ones(2)))
        1
        """
        index = len(self)
        self._size += 1
        try:
            self[index] = value
        except BaseException:
            self._size -= 1
            raise
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add several values at the end.

        Parameters
        ----------
        values : iterable
            Tensors become parameters.

        Returns
        -------
        ParameterList
            This list.

        Raises
        ------
        TypeError
            If `values` is a tensor or can't be iterated over.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> len(torch.nn.ParameterList().extend([torch.ones(2), torch.ones(3)]))
        2
        """
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}"
            )
        for value in list(iter(values)):  # which may be this list
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[i] for i in range(len(self)))

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            result = type(self)()
            for i in range(*index.indices(len(self))):
                result.append(self[i])
            return result
        return getattr(self, _name(self, index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, _name(self, index), _as_parameter(value))

    def extra_repr(self) -> str:
        """Return a line for each value."""
        return "\n".join(
            f"  ({i}): "
            + (
                f"{_kind(value)} containing: [{value.dtype} of size {_sizes_text(value)}]"
                if isinstance(value, Tensor)
                else f"Object of type: {type(value).__name__}"
            )
            for i, value in enumerate(self)
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters in a dictionary; a tensor that is put in becomes a parameter.

    Parameters
    ----------
    parameters : mapping or iterable of pairs, optional
        Parameters, tensors, or anything else, by name.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> weights = torch.nn.ParameterDict({"left": torch.ones(2)})
    >>> weights["left"].requires_grad
    True
    """

    _keys: dict[str, None]

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _attribute(key))

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, _attribute(key), _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        attribute = _attribute(key)
        del self._keys[key]
        delattr(self, attribute)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Return a new dictionary of the same values.

        Returns
        -------
        ParameterDict

        Examples
        --------
        >>> import autograd_cy as torch
        >>> weights = torch.nn.ParameterDict({"a": torch.ones(1)})
        >>> weights.copy()["a"] is weights["a"]
        True
        """
        return ParameterDict((key, self[key]) for key in self._keys)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of a name, which is `default` from now on if there was none.

        Parameters
        ----------
        key : str
            The name.
        default : object, optional
            What is put in if the name is new.

        Returns
        -------
        object

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.ParameterDict().setdefault("a", torch.ones(1))
        Parameter containing:
        tensor([1.], requires_grad=True)
        """
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove all values."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove a value and return it.

        Parameters
        ----------
        key : str
            Its name.

        Returns
        -------
        object

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.ParameterDict({"a": 3}).pop("a")
        3
        """
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the newest value and return it with its name.

        Returns
        -------
        (str, object)

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.ParameterDict({"a": 3, "b": 4}).popitem()
        ('b', 4)
        """
        key = next(reversed(self._keys), None)
        if key is None:
            raise KeyError("popitem(): dictionary is empty")
        value = self[key]
        del self[key]
        return key, value

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a name, or `default`.

        Parameters
        ----------
        key : str
            The name.
        default : object, optional
            What is returned if there is no such name.

        Returns
        -------
        object

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.ParameterDict().get("a", 5)
        5
        """
        return self[key] if key in self else default  # noqa: SIM401 - this is `get`

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return a new dictionary with one value under several names.

        Parameters
        ----------
        keys : iterable of str
            The names.
        default : object, optional
            The value.

        Returns
        -------
        ParameterDict

        Examples
        --------
        >>> import autograd_cy as torch
        >>> list(torch.nn.ParameterDict().fromkeys(["a", "b"], torch.ones(1)))
        ['a', 'b']
        """
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return pairs of name and value."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """Return the values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add or replace several values.

        Parameters
        ----------
        parameters : mapping or iterable of pairs
            The values by name. Those of a mapping are added in the order of their names, unless it
            is an OrderedDict or a ParameterDict.

        Raises
        ------
        TypeError, ValueError
            If these are no pairs.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> weights = torch.nn.ParameterDict()
        >>> weights.update({"a": torch.ones(1)})
        >>> list(weights)
        ['a']
        """
        if not isinstance(parameters, Iterable):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, but "
                f"got {type(parameters).__name__}"
            )
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            parameters = parameters.items()
        elif isinstance(parameters, Mapping):
            parameters = sorted(parameters.items())  # as in torch, whatever their order
        for number, pair in enumerate(parameters):
            if not isinstance(pair, Iterable):
                raise TypeError(
                    f"ParameterDict update sequence element #{number} should be Iterable; is "
                    f"{type(pair).__name__}"
                )
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(
                    f"ParameterDict update sequence element #{number} has length {len(pair)}; "
                    "2 is required"
                )
            self[pair[0]] = pair[1]

    def extra_repr(self) -> str:
        """Return a line for each value."""
        return "\n".join(
            f"  ({key}): "
            + (
                f"{_kind(value)} containing: [{value.type()} of size {_sizes_text(value)}]"
                if isinstance(value, Tensor)
                else f"Object of type: {type(value).__name__}"
            )
            for key, value in self.items()
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: Any) -> ParameterDict:
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: Any) -> ParameterDict:
        result = ParameterDict(other.items() if isinstance(other, Mapping) else other)
        result.update((key, self[key]) for key in self.keys())
        return result

    def __ior__(self, other: Any) -> ParameterDict:
        self.update(other)
        return self


def _name(values: ParameterList, index: int) -> str:
    size, index = len(values), operator.index(index)
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range")
    return str(index % size)


def _attribute(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string "
            f"(type is '{type(key).__name__}')."
        )
    return key


def _as_parameter(value: Any) -> Any:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _kind(value: Tensor) -> str:
    return "Parameter" if isinstance(value, Parameter) else "Tensor"


def _sizes_text(value: Tensor) -> str:
    return "x".join(map(str, value.shape))
