"""MPI by mpi4py: loading it, its datatypes and operations, and the memory of tensors for it.

Only :func:`load` imports mpi4py. Everything else is called after it.
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy._C import rank_memory, rank_messages
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.rank_halves import reducer
from autograd_cy._environment.launcher import detect

from .constants import ReduceOp

__all__ = [
    "MANY",
    "buffer_of",
    "check_count",
    "check_operation",
    "code_of",
    "datatype",
    "known_operation",
    "load",
    "operation",
    "prepare",
    "too_many",
]

_MPI: Any = None
#: Elements that are too many at once for MPI before its version 4.
MANY = 1 << 31
#: Operations of MPI by operation and dtype, as far as they were needed.
_FOR_DTYPES: dict[tuple[int, Any], Any] = {}

#: Names of MPI's datatypes by dtype. Half dtypes travel as two bytes.
_TYPES = {
    ag.float32: "FLOAT",
    ag.float64: "DOUBLE",
    ag.float16: "UINT16_T",
    ag.bfloat16: "UINT16_T",
    ag.complex64: "C_FLOAT_COMPLEX",
    ag.complex128: "C_DOUBLE_COMPLEX",
    ag.bool: "UINT8_T",
    ag.uint8: "UINT8_T",
    ag.uint16: "UINT16_T",
    ag.uint32: "UINT32_T",
    ag.uint64: "UINT64_T",
    ag.int8: "INT8_T",
    ag.int16: "INT16_T",
    ag.int32: "INT32_T",
    ag.int64: "INT64_T",
}
_HALVES = (ag.float16, ag.bfloat16)
_OPERATIONS = {
    ReduceOp.SUM: "SUM",
    ReduceOp.AVG: "SUM",
    ReduceOp.PRODUCT: "PROD",
    ReduceOp.MIN: "MIN",
    ReduceOp.MAX: "MAX",
    ReduceOp.BAND: "BAND",
    ReduceOp.BOR: "BOR",
    ReduceOp.BXOR: "BXOR",
}
_ORDER = (ReduceOp.MIN, ReduceOp.MAX)
_BITS = (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)
_OF_BOOLS = {
    ReduceOp.SUM: "LOR",
    ReduceOp.MAX: "LOR",
    ReduceOp.BOR: "LOR",
    ReduceOp.PRODUCT: "LAND",
    ReduceOp.MIN: "LAND",
    ReduceOp.BAND: "LAND",
    ReduceOp.BXOR: "LXOR",
}
_OF_HALVES = {
    "SUM": "add",
    "PROD": "mul",
    "MIN": "minimum",
    "MAX": "maximum",
}


def load() -> Any:
    """Import mpi4py, start MPI and return the module MPI.

    Raises
    ------
    ImportError
        If it is missing, or was built for an MPI that isn't there.
    """
    global _MPI
    if _MPI is None:
        try:
            import mpi4py

            # mpi4py would end MPI in forked processes, too, where it belongs to the parent.
            starts = "mpi4py.MPI" not in sys.modules and mpi4py.rc.initialize
            ends = starts and mpi4py.rc.finalize in (None, True)
            if ends:
                mpi4py.rc.finalize = False
            if starts:
                mpi4py.rc.initialize = False
            from mpi4py import MPI

            if starts:
                _start(MPI, mpi4py.rc)
        except ModuleNotFoundError as error:
            if error.name != "mpi4py":
                raise
            raise ImportError(
                "distributed: several processes communicate by MPI, and mpi4py isn't installed; "
                'install it for the MPI whose mpirun starts them: pip install "autograd_cy[mpi]"'
            ) from None
        except (ImportError, RuntimeError, OSError) as error:
            raise ImportError(
                f"distributed: mpi4py can't load its MPI ({error}); load the module of the MPI "
                "that "
                "it was built for, or build it again: pip install --force-reinstall --no-binary "
                "mpi4py mpi4py"
            ) from error
        _MPI = MPI
        if ends:
            atexit.register(_end, MPI, os.getpid())
    return _MPI


def prepare(mpi: Any) -> None:
    """Tell the compiled modules of MPI, before the first operation."""
    rank_memory.set_mpi(mpi.buffer, {dtype: getattr(mpi, name) for dtype, name in _TYPES.items()})
    rank_messages.set_mpi(mpi)


def _start(mpi: Any, rc: Any) -> None:
    """Start MPI as mpi4py would."""
    rc.initialize = True
    vendor, launch = mpi.get_vendor()[0], detect()
    if launch is not None and launch.launcher == "mpirun (Open MPI)" and vendor != "Open MPI":
        # An MPI that can't reach its launcher ends the process, without an exception.
        _warn(
            f"distributed: Open MPI's mpirun started this process, and mpi4py uses {vendor}; if "
            f"MPI fails now, use the launcher of {vendor}, or build mpi4py for Open MPI"
        )
    if mpi.Is_initialized():
        return
    level = rc.thread_level if rc.threads else "single"
    mpi.Init_thread(getattr(mpi, f"THREAD_{level.upper()}"))


def _end(mpi: Any, process: int) -> None:
    if os.getpid() == process and mpi.Is_initialized() and not mpi.Is_finalized():
        mpi.Finalize()


@functools.cache
def code_of(dtype: Any) -> int:
    """Return a number for a dtype, alike on all ranks."""
    datatype(dtype)
    return list(_TYPES).index(dtype)


def datatype(dtype: Any) -> Any:
    """Return MPI's datatype of a dtype."""
    name = _TYPES.get(dtype)
    if name is None:
        raise TypeError(f"distributed: tensors of {dtype} can't be sent; convert them first")
    return getattr(_MPI, name)


def check_operation(op: ReduceOp, dtype: Any) -> None:
    """Refuse an operation that isn't one of the dtype.

    Raises
    ------
    RuntimeError, ValueError
        As PyTorch's gloo does.
    """
    real = dtype.is_floating_point
    if op not in _OPERATIONS or (op is ReduceOp.AVG and not (real or dtype.is_complex)):
        raise RuntimeError(
            f"ReduceOp.{op.name} isn't an operation of {dtype}: reduce by ReduceOp.SUM, then "
            "multiply or divide"
        )
    if op in (*_BITS, *_ORDER) and dtype.is_complex:
        raise ValueError(f"ReduceOp.{op.name} isn't an operation of {dtype}; convert the tensor")
    if op in _BITS and real:
        raise RuntimeError(f"ReduceOp.{op.name} isn't an operation of {dtype}; convert the tensor")


def known_operation(op: Any, dtype: Any) -> Any:
    """Return MPI's operation for tensors of a dtype if it was asked for before, else None."""
    # The identity of an operation, since to hash one takes longer than the rest; those of an enum
    # are never freed.
    return _FOR_DTYPES.get((id(op), dtype))


def operation(op: ReduceOp, dtype: Any) -> Any:
    """Return MPI's operation for tensors of a dtype; None in a world without MPI.

    Raises
    ------
    RuntimeError, ValueError
        If the operation isn't one of the dtype.
    """
    check_operation(op, dtype)
    if _MPI is None:
        return None
    result = _FOR_DTYPES[id(op), dtype] = _operation(op, dtype)
    return result


def _operation(op: ReduceOp, dtype: Any) -> Any:
    if dtype == ag.bool:
        return getattr(_MPI, _OF_BOOLS[op])
    name = _OPERATIONS[op]
    if dtype in _HALVES:
        return _of_halves(name, dtype)
    return getattr(_MPI, name)


@functools.cache
def _of_halves(name: str, dtype: Any) -> Any:
    """Return an operation on half numbers, which MPI doesn't know: in float32, then rounded."""
    return _MPI.Op.Create(reducer(dtype, _OF_HALVES[name]), commute=True)


def too_many(call: str) -> RuntimeError:
    """Return the error of more elements at once than MPI takes before its version 4."""
    return RuntimeError(
        f"{call}: too many elements; this MPI is of version {_MPI.VERSION} and takes less than "
        f"{MANY} at once: use several calls, or an MPI of version 4, such as MPICH 4.1"
    )


def check_count(count: int, call: str) -> None:
    """Refuse more elements at once than MPI takes.

    Raises
    ------
    RuntimeError
    """
    if count >= MANY and _MPI.VERSION < 4:
        raise too_many(call)


def buffer_of(tensor: Tensor) -> list[Any]:
    """Return the memory of a contiguous tensor as mpi4py takes it: memory, count and datatype."""
    if not tensor.is_cpu:
        # MPI knows nothing of streams: what writes or reads the memory must have ended.
        ag.cuda.current_stream(tensor.device).synchronize()
    return rank_memory.buffer_of(tensor)
