"""Time per element of the elementwise loops on one thread, next to NumPy and PyTorch.

    python -m benchmarks.programs.kernels_scalar [--target avx2] [--folder F] [NAME ...]

The loops are called through the kernel table, without the package around them. Samples of the three
are interleaved; the smallest of each is shown, in ns per element, and the ratio to PyTorch.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import time
from pathlib import Path

import numpy as np

try:
    import torch

    torch.set_num_threads(1)
except ImportError:
    torch = None

ROOT = Path(__file__).resolve().parents[2]
CODES = {"float32": 8, "float64": 9}
LOOP = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_ssize_t), ctypes.c_ssize_t
)
BINARY = ("add", "mul", "pow", "tanh_backward", "gelu_backward", "atan2", "hypot")
NAMES = (
    "add mul sqrt exp exp2 expm1 log log1p log2 sin cos tan tanh sinh sigmoid silu erf erfc gelu "
    "gelu_tanh gelu_backward log_sigmoid tanh_backward pow atan2 hypot"
).split()
POSITIVE = ("log", "log2", "log1p", "sqrt", "pow")


class Kernels:
    """The table of one kernel module."""

    def __init__(self, folder: Path, target: str):
        path = next(folder.glob(f"kern_{target}.*so"))
        spec = importlib.util.spec_from_file_location(f"autograd_cy._C.kern_{target}", path)
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        self.capsule = self.module.table_capsule()
        address = pointer(self.capsule, b"autograd_cy.kernel_table")
        count = len(self.module.KERNELS) * 12
        self.loops = (ctypes.c_void_p * count).from_address(address)

    def call(self, name, out, inputs):
        """A function without arguments that runs the loop once."""
        index = self.module.KERNELS.index(name) * 12 + CODES[out.dtype.name]
        arrays = (out, *inputs)
        p = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
        s = (ctypes.c_ssize_t * len(arrays))(*[a.itemsize for a in arrays])
        loop, n = LOOP(self.loops[index]), out.size
        return lambda: loop(p, s, n)


def numpy_call(name, out, inputs):
    function = getattr(
        np, {"pow": "power", "atan2": "arctan2", "mul": "multiply"}.get(name, name), 0
    )
    return (lambda: function(*inputs, out=out)) if isinstance(function, np.ufunc) else None


def torch_call(name, out, inputs):
    if torch is None:
        return None
    aten, out = torch.ops.aten, torch.from_numpy(out.copy())
    inputs = [torch.from_numpy(a) for a in inputs]
    if name.startswith("gelu"):
        kind = "tanh" if name == "gelu_tanh" else "none"
        if name.endswith("backward"):
            return lambda: aten.gelu_backward.grad_input(*inputs, approximate=kind, grad_input=out)
        return lambda: aten.gelu.out(*inputs, approximate=kind, out=out)
    if name.endswith("_backward"):
        function = getattr(aten, name).grad_input
        return lambda: function(*inputs, grad_input=out)
    if name in ("silu", "log_sigmoid"):
        function = getattr(aten, name).out
        return lambda: function(*inputs, out=out)
    function = getattr(torch, name)
    return lambda: function(*inputs, out=out)


def smallest(calls, n, rounds):
    """Smallest time per element in ns of each call, their samples interleaved."""
    repeats = max(1, 60_000 // n)
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            if call is None:
                continue
            start = time.perf_counter()
            for _ in range(repeats):
                call()
            best[k] = min(best[k], (time.perf_counter() - start) / repeats / n * 1e9)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--target", default="avx2")
    parser.add_argument("--folder", type=Path, default=ROOT / "autograd_cy" / "_C")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 30_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    kernels = Kernels(args.folder, args.target)
    print(f"ns per element, one thread, kern_{args.target}, numpy {np.__version__}, "
          f"torch {torch.__version__ if torch else 'absent'}")  # fmt: skip
    print(f"{'':16}{'':9}{'n':>9}{'ours':>9}{'numpy':>9}{'torch':>9}{'ours/torch':>12}")
    for dtype in CODES:
        for name in args.names or NAMES:
            for n in args.sizes:
                rng = np.random.default_rng(0)
                inputs = [rng.standard_normal(n).astype(dtype) for _ in range(1 + (name in BINARY))]
                if name in POSITIVE:
                    inputs[0] = np.abs(inputs[0])
                out = np.empty_like(inputs[0])
                calls = [make(name, out, inputs) for make in (kernels.call, numpy_call, torch_call)]
                with np.errstate(all="ignore"):
                    ours, theirs, other = smallest(calls, n, args.rounds)
                print(
                    f"{name:16}{dtype:9}{n:9}{ours:9.2f}{theirs:9.2f}{other:9.2f}"
                    f"{ours / other:12.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
