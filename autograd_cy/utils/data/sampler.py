"""The order in which samples are taken, and their batches."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np

from autograd_cy import Generator, as_tensor, empty, float64, int64, rand, randint, randperm

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]


def draw_seed(generator: Generator | None) -> int:
    """Return a number for seeding, drawn from a generator or the default one."""
    place = drawn_on(generator)
    return int(empty((), dtype=int64, device=place).random_(generator=generator).item())


def drawn_on(generator: Generator | None) -> Any:
    """Return the device of a generator, or the CPU, whatever tensors are made on by default."""
    return "cpu" if generator is None else generator.device


class Sampler:
    """
    The base of samplers: a subclass defines ``__iter__``, which gives indices.

    Examples
    --------
    >>> from autograd_cy.utils.data import DataLoader, Sampler
    >>> class Backwards(Sampler):
    ...     def __iter__(self):
    ...         return iter([2, 1, 0])
    >>> list(DataLoader("abc", batch_size=3, sampler=Backwards()))
    [['c', 'b', 'a']]
    """

    def __class_getitem__(cls, item: Any) -> type[Sampler]:
        return cls

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("Subclasses of Sampler should implement __iter__.")


class SequentialSampler(Sampler):
    """
    All indices in order.

    Parameters
    ----------
    data_source : sized
        What is sampled.

    Examples
    --------
    >>> from autograd_cy.utils.data import SequentialSampler
    >>> list(SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """
    Indices in random order.

    Parameters
    ----------
    data_source : sized
        What is sampled.
    replacement : bool, default False
        Whether each index is drawn from all.
    num_samples : int, optional
        How many are drawn; by default as many as there are.
    generator : Generator, optional
        Where the order comes from. Without one, each pass draws a seed from the default generator.

    Raises
    ------
    ValueError, TypeError
        If there is nothing to draw, or an argument is of another type.

    Examples
    --------
    >>> from autograd_cy.utils.data import RandomSampler
    >>> sorted(RandomSampler("abc"))
    [0, 1, 2]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        _check_count("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """The number of indices of a pass."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size, count = len(self.data_source), self.num_samples
        generator = self.generator
        if generator is None:
            generator = Generator()
            generator.manual_seed(draw_seed(None))
        drawing: dict[str, Any] = {"generator": generator, "device": drawn_on(generator)}
        if self.replacement:
            while count > 0:
                some = min(count, 4096)
                yield from randint(0, size, (some,), dtype=int64, **drawing).tolist()
                count -= some
        while count > 0:
            yield from randperm(size, **drawing).tolist()[:count]
            count -= size

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """
    Given indices in random order.

    Parameters
    ----------
    indices : sequence of int
        The indices.
    generator : Generator, optional
        Where the order comes from.

    Examples
    --------
    >>> from autograd_cy.utils.data import SubsetRandomSampler
    >>> sorted(SubsetRandomSampler([3, 5]))
    [3, 5]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        place = drawn_on(self.generator)
        for i in randperm(len(self.indices), generator=self.generator, device=place).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """
    Indices drawn with given weights.

    Parameters
    ----------
    weights : sequence of float
        A weight for each index; they need not sum to one.
    num_samples : int
        How many are drawn.
    replacement : bool, default True
        Whether an index may be drawn again.
    generator : Generator, optional
        Where they come from.

    Raises
    ------
    ValueError
        If `num_samples` or `weights` can't be used.

    Examples
    --------
    >>> from autograd_cy.utils.data import WeightedRandomSampler
    >>> list(WeightedRandomSampler([0.0, 2.0, 0.0], 3))
    [1, 1, 1]
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_count("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        self.weights = as_tensor(weights, dtype=float64, device="cpu")
        if self.weights.dim() != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        weights = self.weights.numpy()
        if not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
            raise RuntimeError(
                "WeightedRandomSampler: the weights must be finite and not negative, with a "
                "positive sum"
            )
        possible = np.flatnonzero(weights)
        weights, count = weights[possible], self.num_samples
        if self.replacement:
            # Inversion: the first sum of weights beyond an even number.
            drawn = self._drawn(count)
            sums = np.cumsum(weights)
            places = np.searchsorted(sums, drawn * sums[-1], side="right")
            places = np.minimum(places, len(sums) - 1)  # a product may be rounded up
        else:
            if count > len(possible):
                raise RuntimeError(
                    f"WeightedRandomSampler: {count} samples without replacement need as many "
                    f"weights that aren't zero, not {len(possible)}"
                )
            # The first of exponential waiting times (Efraimidis and Spirakis, 2006).
            drawn = self._drawn(len(possible))
            places = np.argsort(-np.log1p(-drawn) / weights, kind="stable")[:count]
        return iter(possible[places].tolist())

    def _drawn(self, count: int) -> np.ndarray:
        place = drawn_on(self.generator)
        drawn = rand(count, dtype=float64, generator=self.generator, device=place)
        return drawn.cpu().numpy()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """
    Lists of the indices that another sampler gives.

    Parameters
    ----------
    sampler : iterable
        Gives indices.
    batch_size : int
        Of each list.
    drop_last : bool
        Whether a last one that is shorter is left out.

    Raises
    ------
    ValueError
        If `batch_size` isn't positive or `drop_last` is no bool.

    Examples
    --------
    >>> from autograd_cy.utils.data import BatchSampler
    >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        _check_count("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        full, rest = divmod(len(self.sampler), self.batch_size)  # type: ignore[arg-type]
        return full + (rest > 0 and not self.drop_last)


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")
