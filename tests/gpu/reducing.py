"""Tensors to reduce, in all layouts, and what is expected of their reductions."""

import numpy as np

import autograd_cy as torch

INTS = ("uint8", "int8", "int16", "int32", "int64")
HALVES = ("float16", "bfloat16")
FLOATS = (*HALVES, "float32", "float64")
COMPLEX = ("complex64", "complex128")
ALL = ("bool", *INTS, *FLOATS, *COMPLEX)

# Largest error of a sum of numbers of size 1, relative to the sum of their absolute values.
TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 4e-7, "float64": 1e-15,
             "complex64": 4e-7, "complex128": 1e-15}  # fmt: skip


def numbers(shape, dtype, seed=0, low=-2.0, high=2.0):
    """Numbers of either sign on the CPU; whole ones of integers, both truth values of bool."""
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return torch.tensor(random.random(shape) < 0.7)
    if dtype in INTS:
        return torch.tensor(
            random.integers(0 if dtype == "uint8" else -9, 10, shape), dtype=getattr(torch, dtype)
        )
    x = random.uniform(low, high, shape)
    if dtype in COMPLEX:
        x = x + 1j * random.uniform(low, high, shape)
    return torch.tensor(x).to(getattr(torch, dtype))


def wide(x):
    """Convert to an array of float64, complex128 or int64, from any device."""
    x = x.detach().cpu()
    if x.is_complex():
        return x.to(torch.complex128).numpy()
    return (x.double() if x.is_floating_point() else x.long()).numpy()


# name: (shape of the memory, view of it, what is reduced)
LAYOUTS = {
    "rows": ((7, 33), lambda x: x, 1),
    "long rows": ((3, 1201), lambda x: x, -1),
    "short rows": ((300, 3), lambda x: x, 1),
    "rows off by one": ((9, 41), lambda x: x[:, 1:], 1),
    "rows with gaps": ((9, 80), lambda x: x[1:, ::2], 1),
    "columns": ((33, 7), lambda x: x, 0),
    "long columns": ((1201, 3), lambda x: x, 0),
    "wide columns": ((5, 300), lambda x: x, 0),
    "columns of a part": ((40, 50), lambda x: x[:, 3:41], 0),
    "middle": ((5, 19, 6), lambda x: x, 1),
    "outer and inner": ((4, 5, 6, 7), lambda x: x, (0, 2)),
    "inner and last": ((4, 5, 6, 7), lambda x: x, (1, 3)),
    "batch and places": ((4, 5, 6, 7), lambda x: x, (0, 2, 3)),
    "batch and maps": ((3, 5, 40, 7), lambda x: x[:, :, 1:, 1:], (0, 2, 3)),
    "long lines": ((3, 40, 90), lambda x: x[:, 2:38, :88], None),
    "lines of many results": ((6, 40, 33), lambda x: x.permute(1, 0, 2)[:, :4], (1, 2)),
    "lines of columns": ((4, 50, 40), lambda x: x[:, 1:49], (0, 1)),
    "all but one": ((4, 5, 6, 7), lambda x: x.permute(2, 0, 3, 1), (3, 1, 0)),
    "transposed": ((20, 30), lambda x: x.t(), 0),
    "expanded": ((20, 1), lambda x: x.expand(20, 30), 1),
    "expanded, kept": ((1, 30), lambda x: x.expand(20, 30), 1),
    "of size 1": ((6, 1, 5), lambda x: x, 1),
    "one element": ((), lambda x: x, 0),
    "whole": ((5003,), lambda x: x, None),
    "whole of a part": ((50, 60), lambda x: x[2:, 5:], None),
    "whole transposed": ((50, 60), lambda x: x.t(), None),
}


def axes_of(dim, ndim):
    if ndim == 0 or dim is None:
        return tuple(range(ndim))
    return tuple(d % ndim for d in (dim if isinstance(dim, tuple) else (dim,)))


def pair(layout, dtype, **more):
    """A view on the CPU, the same on the GPU, of memory that was moved as a whole, and the dims."""
    shape, view, dim = LAYOUTS[layout]
    x = numbers(shape, dtype, **more)
    return view(x), view(x.to("cuda")), dim


def close(actual, expected, scale, dtype, error=1):
    """Compare with float64 (or complex128); `scale` is the sum of absolute values."""
    actual, expected = wide(actual), np.asarray(expected)
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    allowed = error * TOLERANCE[dtype] * (np.abs(scale) + np.abs(expected)) + 1e-300
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(actual - expected) <= allowed)
        wrong &= ~((actual == expected) | (np.isnan(actual) & np.isnan(expected)))
    assert not wrong.any(), (actual[wrong][:5], expected[wrong][:5])


def same(actual, expected):
    """Compare dtype, shape and values, NaN among them."""
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    assert actual.device.type == "cuda"
    np.testing.assert_array_equal(wide(actual), wide(expected))


def bits(x):
    return x.cpu().reshape(-1).view(torch.uint8).numpy().tobytes()
