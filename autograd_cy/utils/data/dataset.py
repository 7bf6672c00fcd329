"""Collections of samples: by index (`Dataset`) or as a stream (`IterableDataset`)."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from autograd_cy import Generator, Tensor, default_generator, randperm
from autograd_cy._C._warned import warn as _warn

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]


class Dataset:
    """
    Samples by index: a subclass defines ``__getitem__``, and ``__len__`` for most samplers.

    A method ``__getitems__(indices)``, if there is one, gives the samples of a batch at once.

    Examples
    --------
    >>> from autograd_cy.utils.data import Dataset
    >>> class Squares(Dataset):
    ...     def __len__(self):
    ...         return 4
    ...
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> Squares()[3]
    9
    """

    def __class_getitem__(cls, item: Any) -> type[Dataset]:
        return cls

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset) -> Dataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """
    Samples as a stream: a subclass defines ``__iter__``.

    Each worker process of a loader has a copy of it and gives all of its samples, unless
    ``__iter__`` asks `get_worker_info` for its share.

    Examples
    --------
    >>> from autograd_cy.utils.data import DataLoader, IterableDataset
    >>> class Count(IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(3))
    >>> list(DataLoader(Count(), batch_size=2))
    [tensor([0, 1]), tensor([2])]
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Dataset) -> Dataset:
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """
    Rows of tensors: sample i is the i-th of each.

    Parameters
    ----------
    *tensors : Tensor
        With first dimensions of one size.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.utils.data.TensorDataset(torch.arange(3), torch.eye(3))[1]
    (tensor(1), tensor([0., 1., 0.]))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(len(x) != len(tensors[0]) for x in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(x[index] for x in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class StackDataset(Dataset):
    """
    Several data sets side by side: sample i is a tuple, or a dictionary, of the i-th of each.

    Parameters
    ----------
    *args, **kwargs : Dataset
        Of one length; those with names make dictionaries.

    Examples
    --------
    >>> from autograd_cy.utils.data import StackDataset
    >>> StackDataset(image="ab", label=[0, 1])[1]
    {'image': 'b', 'label': 1}
    """

    datasets: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like "
                "input/output, but both types are given."
            )
        self.datasets = args or kwargs
        if not self.datasets:
            raise ValueError("At least one dataset should be passed")
        if len({len(x) for x in self._parts()}) > 1:
            raise ValueError("Size mismatch between datasets")

    def _parts(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _sample(self, parts: Iterable[Any]) -> Any:
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, parts))
        return tuple(parts)

    def __getitem__(self, index: Any) -> Any:
        return self._sample([x[index] for x in self._parts()])

    def __getitems__(self, indices: list) -> list:
        columns = []
        for dataset in self._parts():
            samples = _several(dataset, indices)
            if len(samples) != len(indices):
                raise ValueError(
                    f"Nested dataset's output size mismatch. Expected {len(indices)}, got "
                    f"{len(samples)}"
                )
            columns.append(samples)
        return [self._sample(parts) for parts in zip(*columns)]

    def __len__(self) -> int:
        return len(self._parts()[0])


class ConcatDataset(Dataset):
    """
    Data sets one after the other.

    Parameters
    ----------
    datasets : iterable of Dataset
        At least one, each with a length.

    Examples
    --------
    >>> from autograd_cy.utils.data import ConcatDataset
    >>> ConcatDataset(["abc", "de"])[3]
    'd'
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(x, IterableDataset) for x in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(x) for x in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        number = bisect.bisect_right(self.cumulative_sizes, index)
        if number == len(self.datasets):
            size = self.cumulative_sizes[-1]
            raise IndexError(f"index {index} is out of range: there are {size} samples")
        return self.datasets[number][index - (self.cumulative_sizes[number - 1] if number else 0)]


class ChainDataset(IterableDataset):
    """
    Streams one after the other.

    Parameters
    ----------
    datasets : iterable of IterableDataset
        They may be made while they are gone over.

    Examples
    --------
    >>> from autograd_cy.utils.data import ChainDataset, IterableDataset
    >>> class Count(IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(2))
    >>> list(ChainDataset([Count(), Count()]))
    [0, 1, 0, 1]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            _check_stream(dataset)
            yield from dataset

    def __len__(self) -> int:
        total = 0
        for dataset in self.datasets:
            _check_stream(dataset)
            total += len(dataset)
        return total


def _check_stream(dataset: Any) -> None:
    if not isinstance(dataset, IterableDataset):
        raise AssertionError("ChainDataset only supports IterableDataset")


class Subset(Dataset):
    """
    Some samples of a data set.

    Parameters
    ----------
    dataset : Dataset
        All of them.
    indices : sequence of int
        Which ones.

    Examples
    --------
    >>> from autograd_cy.utils.data import Subset
    >>> list(Subset("abcd", [3, 0]))
    ['d', 'a']
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list:
        cls = type(self)
        if cls.__getitem__ is not Subset.__getitem__ and cls.__getitems__ is Subset.__getitems__:
            # The subclass says how a sample is made.
            return [self[i] for i in indices]
        return _several(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def _several(dataset: Any, indices: list) -> list:
    """The samples of some indices, at once if the data set can do that."""
    at_once: Callable[[list], list] | None = getattr(dataset, "__getitems__", None)
    return at_once(indices) if callable(at_once) else [dataset[i] for i in indices]


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset]:
    """
    Divide a data set into parts without common samples.

    Parameters
    ----------
    dataset : Dataset
        What is divided.
    lengths : sequence of int or float
        Sizes that sum to that of the data set, or fractions that sum to 1; what rounding leaves
        goes one by one to the first parts.
    generator : Generator, optional
        Where the order comes from; by default the default generator.

    Returns
    -------
    list of Subset

    Raises
    ------
    ValueError
        If the lengths don't sum to that, or one is no fraction.

    Examples
    --------
    >>> from autograd_cy.utils.data import random_split
    >>> [len(part) for part in random_split(range(11), [0.3, 0.3, 0.4])]
    [4, 3, 4]
    """
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        sizes = []
        for i, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
            sizes.append(math.floor(total * fraction))
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
        for i, size in enumerate(sizes):
            if size == 0:
                _warn(
                    f"Length of split at index {i} is 0. This might result in an empty dataset.",
                )
        lengths = sizes
    if sum(lengths) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    drawing = generator or default_generator
    order = randperm(total, generator=drawing, device=drawing.device).tolist()
    ends = list(itertools.accumulate(int(n) for n in lengths))
    return [Subset(dataset, order[end - int(n) : end]) for end, n in zip(ends, lengths)]
