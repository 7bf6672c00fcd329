"""Tensors, Variables and modules in files, and the state of the random generator."""

from __future__ import annotations

import pickle
from typing import Any

import autograd_cy as ag

from .tensors.wrapping import core, wrap

__all__ = ["get_rng_state", "load", "save", "set_rng_state"]


def save(obj: Any, f: Any, pickle_module: Any = pickle, pickle_protocol: int = 2) -> None:
    """
    Write an object to a file.

    Parameters
    ----------
    obj : object
    f : path or binary file
    pickle_module : module, optional
        Python's; others aren't supported.
    pickle_protocol : int

    Examples
    --------
    >>> import io
    >>> import autograd_cy.legacy as torch
    >>> file = io.BytesIO()
    >>> torch.save(torch.ones(2), file)
    >>> _ = file.seek(0)
    >>> torch.load(file).tolist()
    [1.0, 1.0]
    """
    _require_standard(pickle_module)
    ag.save(obj, f, pickle_protocol=pickle_protocol)


def load(f: Any, map_location: Any = None, pickle_module: Any = pickle) -> Any:
    """
    Read what :func:`save` wrote. As then, a file can run any code: load what you trust only.

    Parameters
    ----------
    f : path or binary file
    map_location : object, optional
        Accepted; everything is on the CPU.
    pickle_module : module, optional
        Python's; others aren't supported.

    Examples
    --------
    See :func:`save`.
    """
    _require_standard(pickle_module)
    return ag.load(f, weights_only=False)


def _require_standard(pickle_module):
    if pickle_module is not pickle:
        raise RuntimeError(
            f"pickle_module={pickle_module!r}: files are written with Python's pickle only"
        )


def get_rng_state() -> Any:
    """
    The state of the random generator, a ByteTensor.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> state = torch.get_rng_state()
    >>> x = torch.rand(2)
    >>> torch.set_rng_state(state)
    >>> torch.rand(2).equal(x)
    True
    """
    return wrap(ag.get_rng_state())


def set_rng_state(new_state: Any) -> None:
    """
    Put the random generator into a state that :func:`get_rng_state` gave.

    Examples
    --------
    See :func:`get_rng_state`.
    """
    ag.set_rng_state(core(new_state))
