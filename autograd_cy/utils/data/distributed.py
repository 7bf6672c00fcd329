"""The share of one process in a data set that several processes go over."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from autograd_cy import Generator, randperm

from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler):
    """
    Every `num_replicas`-th index, in an order that all processes share.

    Parameters
    ----------
    dataset : sized
        What is sampled.
    num_replicas, rank : int
        How many processes there are, and which of them this is. There are no process groups here
        that could tell.
    shuffle : bool, default True
        Whether the order is random; :meth:`set_epoch` chooses it.
    seed : int, default 0
        The same in all processes.
    drop_last : bool, default False
        Whether indices are left out so that all processes have as many; otherwise the first ones
        come twice.

    Raises
    ------
    RuntimeError, ValueError
        If `num_replicas` or `rank` is missing or can't be.

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
            raise RuntimeError(
                "DistributedSampler: Requires distributed package to be available, which isn't "
                "here; give num_replicas and rank (with mpi4py, comm.size and comm.rank)"
            )
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
