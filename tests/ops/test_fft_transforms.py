"""Transforms by the compiled module of scipy.fft alone, and by the package where that can't be."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.fft

import autograd_cy as ag
from autograd_cy._interpreted import _fft_kernels


def arrays(name, dtype):
    """Arrays of all kinds of layout, of lengths with large and small factors."""
    rng = np.random.default_rng(3)
    for shape, n, dim in (
        ((6,), None, -1), ((1,), None, 0), ((5, 7), 4, 0), ((5, 7), 9, 1), ((3, 4, 5), 8, -2),
        ((2, 101), None, 1),
    ):  # fmt: skip
        x = rng.normal(size=shape)
        if name in ("ifft", "irfft") or dtype in ("complex64", "complex128"):
            x = x + 1j * rng.normal(size=shape)
        x = x.astype(dtype)
        yield x, n, dim
        yield np.swapaxes(x, 0, -1)[::-1], n, dim if x.ndim == 1 else -1


@pytest.mark.parametrize("whole", [False, True], ids=["module", "package"])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [(n, d) for n in ("fft", "ifft") for d in ("float32", "float64", "complex64", "complex128")]
    + [(n, d) for n in ("rfft",) for d in ("float32", "float64", "int32")]
    + [(n, d) for n in ("irfft",) for d in ("complex64", "complex128", "float64")],
)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_transforms_are_those_of_scipy(name, dtype, whole, monkeypatch):
    if whole:
        monkeypatch.setattr(_fft_kernels, "_transforms", lambda: None)
    for x, n, dim in arrays(name, dtype):
        if name == "irfft" and n is None and x.shape[dim] == 1:
            continue
        for norm in (None, "backward", "ortho", "forward"):
            result = getattr(ag.fft, name)(ag.tensor(x), n, dim, norm)
            exact = getattr(scipy.fft, name)(x, n, dim, norm)
            single = dtype in ("float32", "complex64", "int32")
            np.testing.assert_allclose(
                result.numpy(),
                exact,
                rtol=1e-4 if single else 1e-12,
                atol=1e-4 if single else 1e-12,
            )


def test_a_module_that_does_something_else_is_not_used():
    class Other:
        def c2c(self, *args):
            return np.zeros(3)

        r2c = c2r = c2c

    assert not _fft_kernels._works(Other())
    assert not _fft_kernels._works(object())


@pytest.mark.parametrize(
    "call",
    ["fft.fft(ag.ones(8))", "fft.irfft(ag.ones(5))", "i0(ag.ones(8))", "lgamma(ag.ones(8))",
     "polygamma(1, ag.ones(8))", "special.i1e(ag.ones(8))", "digamma(ag.ones(8))"],
)  # fmt: skip
def test_the_first_call_loads_few_modules(call):
    program = (
        "import sys, autograd_cy as ag; before = set(sys.modules);"
        f"ag.{call}; new = set(sys.modules) - before; print(len(new))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= 80


def test_the_package_can_be_imported_after_the_module():
    program = (
        "import autograd_cy as ag, numpy as np; ag.fft.fft(ag.ones(8)); import scipy.fft;"
        "assert abs(scipy.fft.fft(np.ones(4)) - [4, 0, 0, 0]).max() < 1e-12;"
        "assert scipy.fft.dct(np.ones(2)).shape == (2,)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
