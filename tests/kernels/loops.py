"""The elementwise loops, called straight through the kernel table of each compiled module."""

import ctypes
import importlib

import ml_dtypes
import numpy as np
import pytest

from autograd_cy._C import cpu as _cpu
from ext.codegen.dtypes import ELEMENT_TYPES
from ext.codegen.kernel_loops import SIZE, SPACE, TYPES, operand_types, types_of
from ext.codegen.kernel_specs import SPECS

NUMPY = {
    t.suffix: np.dtype(getattr(ml_dtypes, t.name) if t.name == "bfloat16" else t.name)
    for t in ELEMENT_TYPES
}
SPEC = {spec.name: spec for spec in SPECS}
INTS = ("u8", "i8", "i16", "i32", "i64")
UNSIGNED = ("u16", "u32", "u64")
LOOP = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_ssize_t), ctypes.c_ssize_t
)


class Table:
    """The kernel table of one module."""

    def __init__(self, target):
        self.module = importlib.import_module(f"autograd_cy._C.kern_{target}")
        self.capsule = self.module.table_capsule()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        where = pointer(self.capsule, b"autograd_cy.kernel_table")
        self.loops = (ctypes.c_void_p * (len(TYPES) * SPACE)).from_address(where)
        where += ctypes.sizeof(self.loops)
        self.casts = (ctypes.c_void_p * len(TYPES) ** 2).from_address(where)
        where += ctypes.sizeof(self.casts)
        self.costs = (ctypes.c_float * SPACE).from_address(where)

    def pointer(self, name, dtype):
        return self.loops[len(TYPES) * self.module.KERNELS.index(name) + TYPES.index(dtype)]

    def run(self, name, dtype, *inputs, out=None):
        """One loop over 1-d arrays; a 0-d array is an operand of stride 0."""
        kinds = operand_types(SPEC[name], dtype)
        n = max(np.size(x) for x in inputs) if out is None else len(out)
        if out is None:
            out = np.empty(n, NUMPY[kinds[0]])
        for x, kind in zip((out, *inputs), kinds, strict=True):
            assert x.dtype == NUMPY[kind], (name, x.dtype, kind)
        return _run(self.pointer(name, dtype), n, out, *inputs)

    def cast(self, x, target, out=None):
        source = next(t for t in TYPES if NUMPY[t] == x.dtype)
        out = np.empty(len(x), NUMPY[target]) if out is None else out
        return _run(
            self.casts[len(TYPES) * TYPES.index(source) + TYPES.index(target)], len(x), out, x
        )


def _run(pointer, n, out, *inputs):
    arrays = [out, *map(np.asarray, inputs)]
    p = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
    s = (ctypes.c_ssize_t * len(arrays))(*[a.strides[0] if a.ndim else 0 for a in arrays])
    LOOP(pointer)(p, s, n)
    return out


TABLES = {target: Table(target) for target in _cpu.usable_targets()}
each_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def sample(dtype, n, seed=0):
    """
    Random elements; small whole numbers for the integers, so that 0 and ties occur.

    Of unsigned integers that share loops with those of a sign, some exceed what these hold.
    """
    rng = np.random.default_rng(seed)
    if dtype == "b1":
        return rng.random(n) < 0.5
    if dtype in UNSIGNED:
        return rng.integers(-6, 12, n).astype(NUMPY[dtype])  # negative numbers wrap around
    if dtype in INTS:
        low = 0 if dtype.startswith("u") else -12
        return rng.integers(low, 12, n).astype(NUMPY[dtype])
    x = rng.standard_normal(n) * 2
    if dtype in ("c64", "c128"):
        x = x + 1j * rng.standard_normal(n)
    return x.astype(NUMPY[dtype])


def wide(x):
    """Convert to float64 or complex128, for which NumPy knows all functions."""
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


__all__ = ["INTS", "NUMPY", "SIZE", "SPEC", "SPECS", "TABLES", "TYPES", "UNSIGNED", "Table",
           "each_table", "operand_types", "sample", "types_of", "wide"]  # fmt: skip
