"""Samples made one batch."""

from __future__ import annotations

import collections
import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from autograd_cy import Tensor, as_tensor, float64, stack, tensor

__all__ = ["default_collate", "default_convert"]

_NO_NUMBERS = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def default_convert(data: Any) -> Any:
    """
    Arrays of NumPy as tensors, also inside of containers; all else as it is.

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
        found = {key: default_convert(value) for key, value in data.items()}
        return _like_mapping(data, found)
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(x) for x in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(x) for x in data])
    return data


def default_collate(batch: Any) -> Any:
    """
    Samples as one batch: tensors are stacked, numbers become tensors, containers are kept.

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
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch), 0)
    if isinstance(first, np.ndarray):
        if first.dtype.kind in "SUO":
            raise TypeError(_NO_NUMBERS.format(first.dtype))
        return stack([as_tensor(x) for x in batch], 0)
    if isinstance(first, float):  # NumPy's float64 is one, too
        return tensor(batch, dtype=float64)
    if isinstance(first, (str, bytes)):  # NumPy's texts are such, too
        return batch
    if isinstance(first, np.generic):
        return as_tensor(np.asarray(batch))
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, Mapping):
        found = {key: default_collate([sample[key] for sample in batch]) for key in first}
        return _like_mapping(first, found)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(samples) for samples in zip(*batch)))
    if isinstance(first, Sequence):
        samples = list(batch)
        if any(len(sample) != len(first) for sample in samples):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*samples)]
        return columns if isinstance(first, tuple) else _like_sequence(first, columns)
    raise TypeError(_NO_NUMBERS.format(type(first)))


def _like_mapping(example: Any, found: dict) -> Any:
    """The items in a mapping of the example's type, if one can be made."""
    if type(example) is dict:
        return found
    try:
        if isinstance(example, MutableMapping):
            made = copy.copy(example)  # which keeps more than items, as `defaultdict` has
            made.update(found)
            return made
        return type(example)(found)  # type: ignore[call-arg]
    except TypeError:
        return found


def _like_sequence(example: Any, found: list) -> Any:
    if type(example) is list:
        return found
    try:
        if isinstance(example, (MutableSequence, collections.deque)):
            made = copy.copy(example)
            for i, x in enumerate(found):
                made[i] = x
            return made
        if isinstance(example, range):
            return found
        return type(example)(found)  # type: ignore[call-arg]
    except TypeError:
        return found
