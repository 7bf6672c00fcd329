"""
The names that programs for several processes import: there is one process, and this says so.

:func:`is_available` and :func:`is_initialized` are False, as in torch without the package. What
would start a group of processes, or needs one, raises an error that says what to do; names of
``torch.distributed`` can be imported all the same, as programs import them whether they are
started in several processes or in one.
"""

from __future__ import annotations

import datetime
import enum
from collections.abc import Callable
from typing import Any

from autograd_cy._lazy import attach as _attach

__all__ = [
    "Backend",
    "GroupMember",
    "ReduceOp",
    "default_pg_timeout",
    "group",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
]

default_pg_timeout = datetime.timedelta(minutes=30)


class ReduceOp(enum.Enum):
    """
    The operations that reduce values of several processes; programs name them as defaults of
    arguments.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.ReduceOp.SUM.name
    'SUM'
    """

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8


reduce_op = ReduceOp  # of older programs


class Backend(str):
    """
    The name of what processes talk through, in small letters.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.Backend("NCCL") == ag.distributed.Backend.NCCL
    True
    """

    __slots__ = ()
    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"

    def __new__(cls, name: str) -> Backend:
        return super().__new__(cls, name.lower())


class GroupMember:
    """
    The group of all processes, which is None, as in torch where there is none.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.GroupMember.WORLD
    """

    WORLD = None
    NON_GROUP_MEMBER = -100


class group:
    """
    The group of all processes, which is None, as in torch where there is none.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.group.WORLD
    """

    WORLD = None


def is_available() -> bool:
    """
    Tell whether processes can work together: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """
    Tell whether a group of processes was started: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.is_initialized()
    False
    """
    return False


def is_backend_available(backend: str) -> bool:
    """
    Tell whether processes can talk through a library: through none.

    Parameters
    ----------
    backend : str

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.is_backend_available("gloo")
    False
    """
    return False


def _no_library() -> bool:
    """
    Tell whether processes can talk through this library: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.is_nccl_available()
    False
    """
    return False


is_gloo_available = _no_library
is_mpi_available = _no_library
is_nccl_available = _no_library
is_ucc_available = _no_library
is_xccl_available = _no_library


def is_torchelastic_launched() -> bool:
    """
    Tell whether torchrun started this process: it starts nothing of this package.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.is_torchelastic_launched()
    False
    """
    return False


def _record(fn: Callable, error_handler: Any = None) -> Callable:
    """Return a main function as it is: there is no agent that would be told its errors."""
    return fn


__getattr__, __dir__ = _attach(__name__)
