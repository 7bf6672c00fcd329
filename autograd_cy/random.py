"""The states of the default random generators; the functions that draw are on the top level."""

from __future__ import annotations

from collections.abc import Iterable

from autograd_cy._C.random import (
    Generator,
    _default_of,
    _default_states,
    _defaults,
    _put_back_defaults,
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
    devices: Iterable | None = None, enabled: bool = True, *, device_type: str | None = None
) -> _Context:
    """
    Put default generators back into their states at the end of a ``with`` block.

    Parameters
    ----------
    devices : iterable of device or int, optional
        Devices whose generators are put back beside that of the CPU; all if left out.
    enabled : bool
        False does nothing, which spares a second version of the block.
    device_type : str, optional
        What kind of device numbers in `devices` mean, ``"cuda"`` if left out. Without `devices`,
        the kind whose generators are put back.

    Returns
    -------
    context manager

    Notes
    -----
    States are copied on their devices; the host doesn't wait for them.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.random.fork_rng():
    ...     inside = ag.rand(2)
    >>> bool((ag.rand(2) == inside).all())
    True
    """
    if not enabled or device_type == "meta":
        return _Context()
    if devices is None and device_type is None:
        return _Context(saved=[(_default_states, _put_back_defaults)])
    chosen = [default_generator]
    if devices is None:
        chosen += [g for g in _defaults()[1:] if g.device.type == device_type]
    else:
        kind = device_type or "cuda"
        named = [f"{kind}:{d}" if isinstance(d, int) else d for d in devices]
        chosen += [_default_of(d) for d in named]
    return _Context(saved=[(g._snapshot, g._restore) for g in chosen])
