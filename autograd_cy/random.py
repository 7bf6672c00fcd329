"""The state of the default random generator; the functions that draw are on the top level."""

from __future__ import annotations

from autograd_cy._C.random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from autograd_cy._environment.contexts import _Context

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


def fork_rng(
    devices: object = None, enabled: bool = True, *, device_type: str | None = None
) -> _Context:
    """
    Put the default generator back into its state at the end of a ``with`` block.

    Parameters
    ----------
    devices : object, optional
        Ignored: only the CPU has a generator.
    enabled : bool
        False does nothing, which spares a second version of the block.
    device_type : str, optional
        Ignored, too.

    Returns
    -------
    context manager

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.random.fork_rng():
    ...     inside = ag.rand(2)
    >>> bool((ag.rand(2) == inside).all())
    True
    """
    if not enabled:
        return _Context()
    return _Context(saved=[(default_generator.get_state, default_generator.set_state)])
