"""Samples in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import numpy as np

import autograd_cy as ag

from ...creation import from_numpy
from ...creation import stack as stacked
from ...tensors.classes import TYPES
from .sampler import RandomSampler, SequentialSampler

__all__ = ["DataLoader", "default_collate"]


def default_collate(batch: Sequence[Any]) -> Any:
    """
    One batch of samples: tensors are stacked, numbers become tensors, containers are kept.

    Examples
    --------
    >>> from autograd_cy.legacy.utils.data import default_collate
    >>> default_collate([1, 2]).type()
    'torch.LongTensor'
    """
    first = batch[0]
    if isinstance(first, ag.Tensor):
        return stacked(list(batch), 0)
    if isinstance(first, np.ndarray):
        return from_numpy(np.stack(batch))
    if isinstance(first, np.generic):
        return from_numpy(np.array(batch))
    if isinstance(first, int):
        return TYPES["LongTensor"](batch)
    if isinstance(first, float):
        return TYPES["DoubleTensor"](batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in batch]) for key in first}
    if isinstance(first, Sequence):
        return [default_collate(samples) for samples in zip(*batch)]
    raise TypeError(
        "batch must contain tensors, numbers, dicts or lists; found " + type(first).__name__
    )


class DataLoader:
    """
    An iterable over the samples of a data set, in batches.

    Parameters
    ----------
    dataset : Dataset
    batch_size : int, optional
    shuffle : bool, optional
        A new random order each time.
    sampler : Sampler, optional
        The order; not together with `shuffle`.
    num_workers : int, optional
        Threads that fetch batches ahead. There were processes then; the batches are the same.
    collate_fn : callable, optional
        Makes a batch of a list of samples.
    pin_memory : bool, optional
        Ignored.
    drop_last : bool, optional
        Leave a smaller last batch out.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> data = torch.utils.data.TensorDataset(torch.rand(5, 2), torch.zeros(5))
    >>> [len(x) for x, y in torch.utils.data.DataLoader(data, batch_size=2)]
    [2, 2, 1]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[..., Any] = default_collate,
        pin_memory: bool = False,
        drop_last: bool = False,
    ):
        if sampler is not None and shuffle:
            raise ValueError("DataLoader: give sampler or shuffle=True, not both")
        if batch_size < 1 or num_workers < 0:
            raise ValueError(
                f"DataLoader: batch_size must be positive and num_workers not negative, got "
                f"{batch_size} and {num_workers}"
            )
        self.dataset = dataset
        self.batch_size = batch_size
        self.num_workers = num_workers
        self.collate_fn = collate_fn
        self.pin_memory = pin_memory
        self.drop_last = drop_last
        if sampler is None:
            sampler = (RandomSampler if shuffle else SequentialSampler)(dataset)
        self.sampler = sampler

    def _numbers(self) -> Iterator[list[int]]:
        order = iter(self.sampler)
        while batch := list(islice(order, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def _fetch(self, numbers: list[int]) -> Any:
        return self.collate_fn([self.dataset[i] for i in numbers])

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers:
            return map(self._fetch, self._numbers())
        return self._ahead()

    def _ahead(self) -> Iterator[Any]:
        # Two batches for each thread are under way, so memory stays bounded.
        with ThreadPoolExecutor(self.num_workers) as pool:
            numbers = self._numbers()
            running = [pool.submit(self._fetch, n) for n in islice(numbers, 2 * self.num_workers)]
            while running:
                batch = running.pop(0).result()
                running += [pool.submit(self._fetch, n) for n in islice(numbers, 1)]
                yield batch

    def __len__(self) -> int:
        whole, rest = divmod(len(self.sampler), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)
