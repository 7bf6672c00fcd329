"""A loader whose place in the data can be saved and taken up again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from autograd_cy import Generator, default_generator

from .dataloader import DataLoader
from .distributed import DistributedSampler, MicroBatchSampler
from .sampler import BatchSampler, SequentialSampler

__all__ = ["StatefulDataLoader"]


class StatefulDataLoader(DataLoader):
    """
    A :class:`DataLoader` that knows its place: after loading, a pass goes on with the next batch.

    Batches that were taken count, not those that workers have made in advance. Samplers give their
    order again, so that the batches before aren't made again; only a stream
    (:class:`IterableDataset`) is read from its beginning. With :class:`DistributedSampler` and
    :class:`MicroBatchSampler` the number of processes may be another than before, if the batch over
    all processes has the same size.

    Numbers that workers draw at random are others after loading; those that are drawn in the
    process itself are the same if :class:`~autograd_cy.distributed.checkpoint.RandomState` is
    loaded, too.

    Parameters
    ----------
    *args, **kwargs
        As of :class:`DataLoader`.

    Examples
    --------
    >>> from autograd_cy.utils.data import StatefulDataLoader
    >>> loader = StatefulDataLoader(range(6), batch_size=2)
    >>> passing = iter(loader)
    >>> next(passing)
    tensor([0, 1])
    >>> state = loader.state_dict()
    >>> again = StatefulDataLoader(range(6), batch_size=2)
    >>> again.load_state_dict(state)
    >>> list(again)
    [tensor([2, 3]), tensor([4, 5])]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._batches = 0  # that the last pass has given
        self._start: list[Any] | None = None  # the generators' states when it began
        self._pending: _Place | None = None  # that the next pass begins with
        self._skip = 0
        super().__init__(*args, **kwargs)

    # --- a pass ---------------------------------------------------------------------------------

    @property
    def _indices(self) -> Iterable:
        indices = super()._indices
        return _Rest(indices, self._skip) if self._skip else indices

    def __iter__(self) -> Iterator[Any]:
        place, self._pending = self._pending, None
        if place is None:
            self._batches, self._start = 0, self._generator_states()
            return _Counting(self, super().__iter__())
        now = default_generator.get_state()
        if place.start is not None:
            for generator, state in zip(self._generators(), place.start):
                generator.set_state(state)
        self._batches, self._start = place.batches, self._generator_states()
        self._skip = 0 if self._streams else place.batches
        try:
            passing = super().__iter__()
        finally:
            self._skip = 0
        if self._streams:
            for _ in range(place.batches):
                next(passing, None)
        default_generator.set_state(now)
        return _Counting(self, passing)

    def _generators(self) -> list[Generator]:
        """Return the generators that an order may come from: the default one first."""
        owners = [self, self.sampler, self.batch_sampler, getattr(self.batch_sampler, "sampler", 0)]
        drawn = [default_generator, *(getattr(owner, "generator", None) for owner in owners)]
        return list({id(each): each for each in drawn if isinstance(each, Generator)}.values())

    def _generator_states(self) -> list[Any]:
        return [generator.get_state() for generator in self._generators()]

    # --- the place ------------------------------------------------------------------------------

    def _shares(self) -> _Shares | None:
        """Return how processes share a batch; None if they don't."""
        if isinstance(self.batch_sampler, MicroBatchSampler):
            sampler = self.batch_sampler
            step = sampler.batch_size // sampler.micro_batches * sampler.num_replicas
            return _Shares(sampler, step, sampler.batch_size)
        inner: Any
        if isinstance(self.batch_sampler, BatchSampler):
            inner, size = self.batch_sampler.sampler, self.batch_sampler.batch_size
        else:
            inner, size = self.sampler, 1
        if isinstance(inner, DistributedSampler):
            return _Shares(inner, size * inner.num_replicas, 1)
        return None

    def state_dict(self) -> dict[str, Any]:
        """
        Return the place in the pass that goes on, or the beginning of the next one.

        Returns
        -------
        dict
        """
        batches, start = self._batches, self._start
        if self._pending is not None:
            batches, start = self._pending.batches, self._pending.start
        shares = self._shares()
        sized = not self._streams
        return {
            "batches": batches,
            "batch_size": self.batch_size,
            "is_whole": sized and 0 < batches == len(self),
            "samples": None if shares is None else batches * shares.step,
            "epoch": None if shares is None else shares.sampler.epoch,
            "size": len(self.dataset) if sized else None,
            "generators": {f"rank{_rank()}": start if batches else None},
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """
        Let the next pass begin at a place; a sampler's epoch is that of the place.

        Parameters
        ----------
        state_dict : dict
            As :meth:`state_dict` returned it.

        Raises
        ------
        ValueError
            If the data set has another size, or the place lies within a batch.
        """
        size = None if self._streams else len(self.dataset)
        if size != state_dict["size"]:
            raise ValueError(
                f"StatefulDataLoader: the place is in a data set of {state_dict['size']} samples, "
                f"and this one has {size}; use the same data"
            )
        shares = self._shares()
        batches = self._batches_until(state_dict, shares)
        start = None
        if batches:
            start = self._start_of(state_dict["generators"], shares)
        if shares is not None and state_dict["epoch"] is not None:
            shares.sampler.set_epoch(state_dict["epoch"])
        self._batches, self._start = 0, None
        self._pending = _Place(batches, start) if batches else None

    def _batches_until(self, state: dict[str, Any], shares: _Shares | None) -> int:
        """Return how many of this process's batches come before a place."""
        if state["is_whole"]:
            return len(self)
        if (shares is None) != (state["samples"] is None):
            raise ValueError(
                "StatefulDataLoader: the place is of another kind of sampler; use the one of before"
            )
        if shares is None:
            return self._batches_of_own_size(state)
        batches, rest = divmod(state["samples"], shares.step)
        if rest or (state["samples"] % shares.whole and batches != state["batches"]):
            raise ValueError(
                f"StatefulDataLoader: {state['samples']} samples were taken over all processes, "
                f"which isn't a multiple of the batch over all processes, "
                f"{max(shares.step, shares.whole)}; use batches of the same size over all "
                "processes, and save between steps"
            )
        return batches

    def _batches_of_own_size(self, state: dict[str, Any]) -> int:
        """Return how many batches of this loader have as many samples as those of a place."""
        batches, own = state["batches"], self.batch_size
        size = state.get("batch_size", own)  # unknown in places of older versions
        if size == own or not batches:
            return batches
        if size and own and batches * size % own == 0:
            return batches * size // own
        raise ValueError(
            f"StatefulDataLoader: the place is after {batches} batches of batch_size={size}, and "
            f"this loader has batch_size={own}; use the same"
        )

    def _start_of(self, states: dict[str, Any], shares: _Shares | None) -> list[Any] | None:
        """Return the generators' states at the beginning of the pass, of this process."""
        start = states.get(f"rank{_rank()}")
        if start is not None and len(start) == len(self._generators()):
            return start
        if shares is None and not isinstance(self.sampler, SequentialSampler):
            raise ValueError(
                "StatefulDataLoader: the order was drawn from generators that aren't known for "
                f"process {_rank()}; load with as many processes and generators as before, or use "
                "a DistributedSampler"
            )
        return None


class _Place(NamedTuple):
    """A place in a pass: batches before it, and the generators' states when the pass began."""

    batches: int
    start: list[Any] | None


class _Shares(NamedTuple):
    """A sampler that processes share, and the samples over all of them in a batch and a step."""

    sampler: Any
    step: int
    whole: int


class _Rest:
    """The indices after some, which are drawn and left out."""

    def __init__(self, indices: Iterable, skip: int) -> None:
        self._source = indices
        self._count = skip

    def __iter__(self) -> Iterator[Any]:
        rest = iter(self._source)
        for _ in range(self._count):
            next(rest, None)
        return rest


class _Counting:
    """A pass that tells its loader how many batches it has given."""

    def __init__(self, loader: StatefulDataLoader, passing: Iterator[Any]) -> None:
        self._loader = loader
        self._passing = passing
        self._start = loader._start

    def __iter__(self) -> Iterator[Any]:
        return self

    def __len__(self) -> int:
        return len(self._loader)

    def __next__(self) -> Any:
        loader = self._loader
        is_last = loader._start is self._start  # no other pass has begun
        try:
            batch = next(self._passing)
        except StopIteration:
            if is_last:
                loader._batches, loader._start = 0, None
            raise
        if is_last:
            loader._batches += 1
        return batch


def _rank() -> int:
    from autograd_cy import distributed

    return distributed.get_rank() if distributed.is_initialized() else 0
