"""Random generators of GPUs: seeds, and states that can be put back.

Each GPU has a default generator. ``autograd_cy.manual_seed`` seeds them with that of the CPU, and
the same seed gives the same numbers on all devices.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from autograd_cy._C.random import (
    Generator,
    _default_of,
    _initial_seed_of,
    _seed_default,
    _set_state_of_default,
    _state_of_default,
)
from autograd_cy._C.tensor import Tensor
from autograd_cy.cuda import _core

__all__ = [
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
]


# A GPU's first use takes time and memory: those that nobody has used are not used to be seeded.


def generator(index: int) -> Generator:
    """Return the default generator of a GPU, which is started."""
    return _default_of(_core.device_name(index))


def all_generators() -> tuple[Generator, ...]:
    """Return the default generators of all GPUs; none before CUDA was started."""
    return tuple(generator(i) for i in range(_core.count())) if _core.registered() else ()


def _from_system() -> int:
    return int.from_bytes(os.urandom(8), "little")


def _index(device: Any) -> int:
    """Return the index of a GPU that is there; CUDA is started."""
    return _core.index_of(_core.device_name(device))


def manual_seed(seed: int) -> None:
    """
    Seed the generator of the current GPU; without GPUs, nothing is done.

    Parameters
    ----------
    seed : int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.manual_seed(0)
    """
    _seed_default("cuda", _core.current(), int(seed))


def manual_seed_all(seed: int) -> None:
    """
    Seed the generators of all GPUs; without GPUs, nothing is done.

    Parameters
    ----------
    seed : int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.manual_seed_all(0)
    """
    _seed_default("cuda", None, int(seed))


def seed() -> None:
    """
    Seed the generator of the current GPU from the system; without GPUs, nothing is done.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.seed()
    """
    _seed_default("cuda", _core.current(), _from_system())


def seed_all() -> None:
    """
    Seed the generators of all GPUs with one number from the system; without GPUs, do nothing.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.seed_all()
    """
    _seed_default("cuda", None, _from_system())


def initial_seed() -> int:
    """
    Return the seed of the generator of the current GPU.

    Returns
    -------
    int

    Raises
    ------
    RuntimeError
        If kernels, PyCUDA or the driver are missing; the text says which.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     ag.cuda.manual_seed(3)
    ...     assert ag.cuda.initial_seed() == 3
    """
    return _initial_seed_of("cuda", _index(None))


def get_rng_state(device: Any = "cuda") -> Tensor:
    """
    Return the state of the generator of a GPU, as bytes on the CPU.

    Parameters
    ----------
    device : device or str or int, default "cuda"

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If kernels, PyCUDA or the driver are missing; the text says which.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     ag.cuda.set_rng_state(ag.cuda.get_rng_state())
    """
    return _state_of_default("cuda", _index(device))


def get_rng_state_all() -> list[Tensor]:
    """
    Return the states of the generators of all GPUs.

    Returns
    -------
    list of Tensor
        Empty without GPUs.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> len(ag.cuda.get_rng_state_all()) == ag.cuda.device_count()
    True
    """
    return [get_rng_state(index) for index in range(_core.count())]


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """
    Let the generator of a GPU go on from a state of :func:`get_rng_state`.

    Parameters
    ----------
    new_state : Tensor
    device : device or str or int, default "cuda"

    Raises
    ------
    RuntimeError
        If it is no such state, or there is no such GPU among others.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     ag.cuda.set_rng_state(ag.cuda.get_rng_state())
    """
    index = _index(device) if _core.count() else _core.index_of(device)
    _set_state_of_default("cuda", index, new_state)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """
    Let the generators of all GPUs go on from states of :func:`get_rng_state_all`.

    Parameters
    ----------
    new_states : iterable of Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.set_rng_state_all(ag.cuda.get_rng_state_all())
    """
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
