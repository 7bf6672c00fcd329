"""The share of one process in a data set that several processes go over."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from autograd_cy import Generator, randperm

from .sampler import Sampler

__all__ = ["DistributedSampler", "MicroBatchSampler"]


class DistributedSampler(Sampler):
    """
    Every `num_replicas`-th index, in an order that all processes share.

    Parameters
    ----------
    dataset : sized
        What is sampled.
    num_replicas, rank : int, optional
        How many processes there are, and which of them this is; by default as the default group of
        :mod:`autograd_cy.distributed` says.
    shuffle : bool, default True
        Whether the order is random; :meth:`set_epoch` chooses it.
    seed : int, default 0
        The same in all processes.
    drop_last : bool, default False
        Whether indices are left out so that all processes have as many; otherwise the first ones
        come twice.

    Raises
    ------
    ValueError
        If one of them is left out and there is no group, or `rank` can't be.

    Examples
    --------
    >>> from autograd_cy.utils.data.distributed import DistributedSampler
    >>> list(DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False))
    [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            from autograd_cy import distributed

            if num_replicas is None:
                num_replicas = distributed.get_world_size()
            if rank is None:
                rank = distributed.get_rank()
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        size = len(dataset)
        self.num_samples = size // num_replicas if drop_last else math.ceil(size / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        size = len(self.dataset)
        if self.shuffle:
            generator = Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = randperm(size, generator=generator, device="cpu").tolist()
        else:
            order = list(range(size))
        if size:
            order *= math.ceil(self.total_size / size)
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """
        Say which pass comes next, so that each has an order of its own.

        Parameters
        ----------
        epoch : int
            The number of the pass.

        Examples
        --------
        >>> from autograd_cy.utils.data.distributed import DistributedSampler
        >>> sampler = DistributedSampler(range(5), num_replicas=2, rank=1)
        >>> sampler.set_epoch(3)
        """
        self.epoch = epoch


class MicroBatchSampler(Sampler):
    """
    Batches of indices that don't depend on the number of processes.

    A global batch is ``micro_batches`` parts of equal size; each process gets its neighbouring
    parts, one after the other. With the same option of
    :class:`~autograd_cy.nn.parallel.DistributedDataParallel`, training gives the same bits for any
    number of processes.

    Parameters
    ----------
    dataset : sized
        What is sampled.
    batch_size : int
        Of the global batch; `micro_batches` divides it. A last incomplete batch is left out.
    micro_batches : int
        Over all processes.
    num_replicas, rank : int, optional
        As of :class:`DistributedSampler`.
    shuffle : bool, default True
        Whether the order is random; :meth:`set_epoch` chooses it.
    seed : int, default 0
        The same in all processes.

    Raises
    ------
    ValueError
        If the numbers don't divide each other.

    Examples
    --------
    >>> from autograd_cy.utils.data.distributed import MicroBatchSampler
    >>> list(MicroBatchSampler(range(8), 4, 2, num_replicas=2, rank=1, shuffle=False))
    [[2, 3], [6, 7]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        micro_batches: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
    ) -> None:
        order = DistributedSampler(dataset, num_replicas, rank, shuffle, seed)
        self.num_replicas, self.rank = order.num_replicas, order.rank
        if batch_size < 1 or micro_batches < 1 or batch_size % micro_batches:
            raise ValueError(
                f"MicroBatchSampler: {micro_batches} micro-batches don't divide a batch of "
                f"{batch_size}"
            )
        if micro_batches % self.num_replicas:
            raise ValueError(
                f"MicroBatchSampler: {self.num_replicas} processes don't divide {micro_batches} "
                "micro-batches"
            )
        # All indices in one order; which are of this process is decided here.
        self._order = DistributedSampler(dataset, 1, 0, shuffle, seed)
        self.batch_size = batch_size
        self.micro_batches = micro_batches

    def __iter__(self) -> Iterator[list[int]]:
        order = list(self._order)
        part = self.batch_size // self.micro_batches
        own = self.micro_batches // self.num_replicas
        for start in range(0, len(order) - self.batch_size + 1, self.batch_size):
            for number in range(self.rank * own, (self.rank + 1) * own):
                first = start + number * part
                yield order[first : first + part]

    def __len__(self) -> int:
        batches = len(self._order) // self.batch_size
        return batches * (self.micro_batches // self.num_replicas)

    @property
    def epoch(self) -> int:
        """Return the number of the pass."""
        return self._order.epoch

    def set_epoch(self, epoch: int) -> None:
        """
        Say which pass comes next, so that each has an order of its own.

        Parameters
        ----------
        epoch : int
            The number of the pass.

        Examples
        --------
        >>> from autograd_cy.utils.data.distributed import MicroBatchSampler
        >>> sampler = MicroBatchSampler(range(8), 4, 2, num_replicas=1, rank=0)
        >>> sampler.set_epoch(3)
        """
        self._order.set_epoch(epoch)
