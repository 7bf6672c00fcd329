"""Tests of other folders as material for those on CUDA: their cases, networks and scenarios.

What those of tests/devices ask for by `proof` is of CUDA here. Results need not have the CPU's
bits, because sums have another order.
"""

import contextlib
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._C.streams import _stream_on

TESTS = Path(__file__).resolve().parents[1]
NAME = "cuda"


@pytest.fixture(scope="module", autouse=True)
def generators():
    """Each device has its default generator, which stays, before tests count what is left."""
    for index in (0, 1):
        ag.rand(1, device=f"{NAME}:{index}")


class Near:
    """Values that are equal to others within some roundings, of numbers of their size."""

    def __init__(self, t, roundings=256):
        t = t.detach().cpu().resolve_conj().resolve_neg()
        self.dtype, self.shape, self.roundings = str(t.dtype), tuple(t.shape), roundings
        half = self.dtype.endswith("float16")
        self.array = (t.float() if half else t).numpy()
        self.epsilon = {"complex64": 2**-23, "float32": 2**-23, "bfloat16": 2**-10}.get(
            self.dtype.rpartition(".")[2], 2**-13 if half else 2**-52
        )

    def __eq__(self, other):
        if (self.dtype, self.shape) != (other.dtype, other.shape):
            return False
        if self.array.dtype.kind not in "fc":
            return np.array_equal(self.array, other.array)
        finite = np.abs(self.array[np.isfinite(self.array)])
        room = self.roundings * self.epsilon * max(1.0, finite.max() if finite.size else 0.0)
        return np.allclose(self.array, other.array, rtol=0, atol=room, equal_nan=True)

    __hash__ = None

    def __repr__(self):
        return repr(self.array)


def near(t):
    """Return the values for a comparison, as `bits` does for the asynchronous device."""
    return Near(t)


def current(index=0):
    """The current stream of a device."""
    return _stream_on(f"{NAME}:{index}")


def borrowed(name, folder="devices", own_name=""):
    """A copy of a module of tests for this device, which may call its own by `own_name`."""
    path = TESTS / folder / f"{name}.py"
    proof = types.ModuleType("proof")
    proof.NAME, proof.bits, proof.current = NAME, near, current
    # What goes by the host reads; which steps read nothing is for the kernels that they need.
    proof.no_reads = lambda device: contextlib.nullcontext()
    module = types.ModuleType(name)
    module.__file__ = str(path)
    text = path.read_text(encoding="utf-8")
    if own_name:
        assert f'NAME = "{own_name}"' in text
        text = text.replace(f'NAME = "{own_name}"', f'NAME = "{NAME}"')
    before, paths = sys.modules.get("proof"), list(sys.path)
    sys.modules["proof"] = proof
    sys.path.insert(0, str(path.parent))
    try:
        exec(compile(text, path, "exec"), vars(module))
    finally:
        sys.path[:] = paths
        del sys.modules["proof"]
        if before is not None:
            sys.modules["proof"] = before
    return module
