"""Samples made one batch."""

from __future__ import annotations

import collections
import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from autograd_cy import Tensor, as_tensor, float64, stack, tensor

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

CollateMap = dict[Any, Callable[..., Any]]

_NO_NUMBERS = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def default_convert(data: Any) -> Any:
    """
    Return arrays of NumPy as tensors, also inside of containers; all else as it is.

    Parameters
    ----------
    data : object
        A sample.

    Returns
    -------
    object

    Examples
    --------
    >>> import numpy as np
    >>> from autograd_cy.utils.data import default_convert
    >>> default_convert({"x": np.ones(2), "name": "a"})
    {'x': tensor([1., 1.], dtype=autograd_cy.float64), 'name': 'a'}
    """
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        if data.dtype.kind in "SUO":
            return data
        return as_tensor(np.asarray(data))
    if isinstance(data, Mapping):
        items = {key: default_convert(value) for key, value in data.items()}
        return _like_mapping(data, items)
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(x) for x in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(x) for x in data])
    return data


def collate(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """
    Return samples as one batch, each kind of them by a function of its own.

    Parameters
    ----------
    batch : sequence
        Samples of one form.
    collate_fn_map : dict, optional
        Functions by type, or by tuple of types: they get the samples, and the dictionary as
        ``collate_fn_map=``. Containers that are not in it are gone through.

    Returns
    -------
    object

    Raises
    ------
    TypeError, RuntimeError
        If there is no function for a kind of samples, or they have different sizes.

    Examples
    --------
    >>> from autograd_cy.utils.data.collate import collate
    >>> collate([("a", 1), ("b", 2)], collate_fn_map={
    ...     str: lambda batch, *, collate_fn_map: "".join(batch),
    ...     int: lambda batch, *, collate_fn_map: sum(batch),
    ... })
    ['ab', 3]
    """
    first = batch[0]
    if collate_fn_map is not None:
        function = collate_fn_map.get(type(first))
        if function is None:
            fitting = (f for kind, f in collate_fn_map.items() if isinstance(first, kind))
            function = next(fitting, None)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)

    def inner(samples: Any) -> Any:
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        items = {key: inner([sample[key] for sample in batch]) for key in first}
        return _like_mapping(first, items)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(inner(samples) for samples in zip(*batch)))
    if isinstance(first, Sequence):
        samples = list(batch)
        if any(len(sample) != len(first) for sample in samples):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [inner(column) for column in zip(*samples)]
        return columns if isinstance(first, tuple) else _like_sequence(first, columns)
    raise TypeError(_NO_NUMBERS.format(type(first)))


def collate_tensor_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Stack tensors."""
    return stack(list(batch), 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Stack arrays of NumPy."""
    if batch[0].dtype.kind in "SUO":
        raise TypeError(_NO_NUMBERS.format(batch[0].dtype))
    return stack([as_tensor(x) for x in batch], 0)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Make a tensor of numbers of NumPy."""
    return as_tensor(np.asarray(batch))


def collate_float_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Make a tensor of floats, of dtype float64."""
    return tensor(batch, dtype=float64)


def collate_int_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Make a tensor of ints or of truth values."""
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Leave texts as they are."""
    return batch


#: What `default_collate` does by type, in this order; NumPy's float64 is a float, too, and its
#: texts are texts. Programs may add types of their own.
default_collate_fn_map: CollateMap = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    float: collate_float_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
    np.generic: collate_numpy_scalar_fn,
    int: collate_int_fn,
}


def default_collate(batch: Any) -> Any:
    """
    Return samples as one batch: tensors are stacked, numbers become tensors, containers are kept.

    Parameters
    ----------
    batch : sequence
        Samples of one form.

    Returns
    -------
    object

    Raises
    ------
    TypeError, RuntimeError
        If samples can't be put together, or have different sizes.

    Examples
    --------
    >>> from autograd_cy.utils.data import default_collate
    >>> default_collate([{"x": 1, "y": "a"}, {"x": 2, "y": "b"}])
    {'x': tensor([1, 2]), 'y': ['a', 'b']}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def _like_mapping(example: Any, items: dict) -> Any:
    """Return the items in a mapping of the example's type, if one can be made."""
    if type(example) is dict:
        return items
    try:
        if isinstance(example, MutableMapping):
            result = copy.copy(example)  # which keeps more than items, as `defaultdict` has
            result.update(items)
            return result
        return type(example)(items)  # type: ignore[call-arg]
    except TypeError:
        return items


def _like_sequence(example: Any, items: list) -> Any:
    if type(example) is list:
        return items
    try:
        if isinstance(example, (MutableSequence, collections.deque)):
            result = copy.copy(example)
            for i, x in enumerate(items):
                result[i] = x
            return result
        if isinstance(example, range):
            return items
        return type(example)(items)  # type: ignore[call-arg]
    except TypeError:
        return items
