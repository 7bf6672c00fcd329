"""Names of backends, operations and the default time-out."""

from __future__ import annotations

import datetime
import enum
from typing import Any, ClassVar

__all__ = ["Backend", "ReduceOp", "default_pg_timeout"]

default_pg_timeout = datetime.timedelta(minutes=30)


class ReduceOp(enum.Enum):
    """
    The operations that reduce values of several processes.

    ``AVG`` sums and divides, of floating and complex dtypes. ``BAND``, ``BOR`` and ``BXOR`` are of
    integers and bools. Of bools, ``SUM`` and ``MAX`` are "or", ``PRODUCT`` and ``MIN`` are "and".
    Half dtypes are added in float32 and rounded after each addition.

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


class Backend(str):
    """
    The name of a library through which processes communicate, in small letters.

    All names mean the same engine here, which is MPI.

    Parameters
    ----------
    name : str

    Raises
    ------
    ValueError
        If it isn't a string.

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
    backend_list: ClassVar[list[str]] = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI]

    def __new__(cls, name: Any) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, got {name!r}")
        return super().__new__(cls, name.lower())
