"""The states of random number generators, each rank's own."""

from __future__ import annotations

import random
import zlib
from typing import Any

import numpy as np

import autograd_cy as ag
from autograd_cy import Generator, Tensor
from autograd_cy.distributed._world import world

__all__ = ["RandomState"]


class RandomState:
    """
    The states of this rank's random number generators, as an object to save.

    These are the default generators of this package (CPU and GPUs), of Python and of NumPy, and the
    given ones. A rank that wasn't there when the states were saved takes the state of a generator
    that all ranks had alike; its other generators are seeded from a saved state and its rank.

    Parameters
    ----------
    *generators : Generator
        Further generators, in the same order when they are loaded.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed import checkpoint
    >>> _ = ag.manual_seed(0)
    >>> _ = checkpoint.save({"random": checkpoint.RandomState()}, checkpoint_id="five")
    >>> first = ag.rand(3)
    >>> checkpoint.load({"random": checkpoint.RandomState()}, checkpoint_id="five")
    >>> ag.equal(ag.rand(3), first)
    True
    """

    def __init__(self, *generators: Generator) -> None:
        for generator in generators:
            if not isinstance(generator, Generator):
                raise TypeError(
                    f"RandomState: expected generators, got a {type(generator).__name__}"
                )
        self._generators = generators

    def state_dict(self) -> dict[str, Any]:
        """
        Return the states of this rank's generators, under the name of the rank.

        Returns
        -------
        dict
        """
        name, *words = np.random.get_state()
        states = {
            "cpu": ag.get_rng_state(),
            "cuda": ag.cuda.get_rng_state_all() if ag.cuda.is_available() else [],
            "python": random.getstate(),
            "numpy": (str(name), *words),
            "generators": [generator.get_state() for generator in self._generators],
        }
        return {f"rank{_rank()}": states}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """
        Give this rank's generators their states.

        Parameters
        ----------
        state_dict : dict
            The states of all ranks.

        Raises
        ------
        ValueError
            If there are as many ranks, but another number of generators.
        """
        states = [state_dict[name] for name in sorted(state_dict, key=lambda name: int(name[4:]))]
        if not states:
            raise ValueError("RandomState: no state was saved")
        rank = _rank()
        is_new = f"rank{rank}" not in state_dict
        own = states[rank % len(states)] if is_new else state_dict[f"rank{rank}"]
        if len(own["generators"]) != len(self._generators):
            raise ValueError(
                f"RandomState: {len(own['generators'])} generators were saved, and "
                f"{len(self._generators)} are here: give the same ones"
            )
        for kind, state in own.items():
            is_common = not is_new or all(_equal(each[kind], state) for each in states)
            seed = None if is_common else zlib.crc32(_bytes(own["cpu"]), rank)
            getattr(self, f"_take_{kind}")(state, seed)

    # Each takes a state, or a seed.

    def _take_cpu(self, state: Tensor, seed: int | None) -> None:
        if seed is None:
            ag.set_rng_state(state)
        else:
            ag.default_generator.manual_seed(seed)

    def _take_cuda(self, states: list[Tensor], seed: int | None) -> None:
        if not ag.cuda.is_available():
            return
        for index in range(min(len(states), ag.cuda.device_count())):
            if seed is None:
                ag.cuda.set_rng_state(states[index], index)
            else:
                ag.cuda.default_generators[index].manual_seed(seed)

    def _take_python(self, state: Any, seed: int | None) -> None:
        if seed is None:
            random.setstate(state)
        else:
            random.seed(seed)

    def _take_numpy(self, state: Any, seed: int | None) -> None:
        if seed is None:
            np.random.set_state(state)
        else:
            np.random.seed(seed)

    def _take_generators(self, states: list[Tensor], seed: int | None) -> None:
        for number, (generator, state) in enumerate(zip(self._generators, states)):
            if seed is None:
                generator.set_state(state)
            else:
                generator.manual_seed(zlib.crc32(_bytes(state), seed + number))


def _rank() -> int:
    return 0 if world.default is None else world.default.rank()


def _bytes(state: Tensor) -> bytes:
    return state.numpy().tobytes()


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, Tensor):
        return ag.equal(first, second)
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second)
    if isinstance(first, dict):
        return all(_equal(first[name], second[name]) for name in first)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(_equal, first, second))
    return first == second
