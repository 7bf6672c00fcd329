"""NumPy arrays in and out of plain tensors, for the tests of kernels below the operators."""

import ctypes
import functools
import math

import ml_dtypes
import numpy as np

import autograd_cy as ag
from autograd_cy._C import reduce as _reduce
from autograd_cy._C.tensor import Tensor
from ext.codegen.dtypes import ELEMENT_TYPES

DTYPES = {t.name: np.dtype(getattr(ml_dtypes, t.name, None) or t.name) for t in ELEMENT_TYPES}
CODE = {name: code for code, name in enumerate(DTYPES)}
UNSIGNED = [t.name for t in ELEMENT_TYPES if t.letter == "u"]  # few operators compute in them
NAMES = [name for name in DTYPES if name not in UNSIGNED]
INTS = NAMES[:6]
HALVES = ["float16", "bfloat16"]
FLOATS = NAMES[6:10]
COMPLEX = NAMES[10:]


def tensor(array):
    """A tensor on the memory of `array`, strides included."""
    return _reduce._from_array(np.asanyarray(array))


def array(t):
    """A copy of a tensor as a NumPy array."""
    if isinstance(t, (tuple, list)):
        return tuple(array(x) for x in t)
    dtype, shape, strides = DTYPES[t.dtype.name], tuple(t.shape), t.stride()
    if t.numel() == 0:
        return np.empty(shape, dtype)
    extent = 1 + sum([(n - 1) * s for n, s in zip(shape, strides, strict=True)])
    memory = (ctypes.c_char * (extent * dtype.itemsize)).from_address(t.data_ptr())
    return np.ndarray(shape, dtype, memory, 0, [s * dtype.itemsize for s in strides]).copy()


def call(module, name, *args):
    """Call a kernel by name; arrays become tensors and results arrays."""
    converted = [tensor(a) if isinstance(a, np.ndarray) else a for a in args]
    result = module._call(name, *converted)
    return array(result) if isinstance(result, (Tensor, tuple, list)) else result


def dtype(code):
    """The dtype of a code; None for -1."""
    return None if code < 0 else getattr(ag, ELEMENT_TYPES[code].name)


def reduced(name):
    return lambda a, dim, keepdim, code: getattr(ag, name)(a, dim, keepdim, dtype=dtype(code))


def product(a, dim, keepdim, code):
    if dim is None:
        return ag.prod(a, dtype=dtype(code)).reshape((1,) * a.ndim if keepdim else ())
    return ag.prod(a, dim, keepdim, dtype=dtype(code))


REDUCTIONS = ("none", "mean", "sum")


def nll_loss(x, target, weight, reduction, ignore):
    return ag.nn.functional.nll_loss(
        x, target, weight, ignore_index=ignore, reduction=REDUCTIONS[reduction]
    )


def mse_loss(a, b, reduction):
    return ag.mse_loss(a, b, reduction=REDUCTIONS[reduction])


def gradient(function):
    """The gradient of the first argument; that of the result is the last one."""

    def call(first, *rest):
        leaf = first.detach().requires_grad_()
        return ag.autograd.grad(function(leaf, *rest[:-1]), leaf, rest[-1])[0]

    return call


OPERATORS = {
    "nll_loss": nll_loss,
    "nll_gradient": gradient(nll_loss),
    "mse_loss": mse_loss,
    "mse_gradient": gradient(mse_loss),
    "sum": reduced("sum"),
    "mean": reduced("mean"),
    "prod": product,
    "max_all": ag.max,
    "min_all": ag.min,
    "max_dim": ag.max,
    "min_dim": ag.min,
    "var": lambda a, dim, correction, keepdim: ag.var(
        a, dim, correction=correction, keepdim=keepdim
    ),
    "cumsum": lambda a, dim, code: ag.cumsum(a, dim, dtype=dtype(code)),
    "logsumexp": lambda a, dim, keepdim: ag.logsumexp(a, () if dim is None else dim, keepdim),
    "softmax": lambda a, dim, code: ag.softmax(a, dim, dtype(code)),
    "log_softmax": lambda a, dim, code: ag.log_softmax(a, dim, dtype(code)),
    "sum_to_shape": _reduce._sum_to_shape,
}


def operate(name, *args):
    """Call an operator."""
    converted = [tensor(a) if isinstance(a, np.ndarray) else a for a in args]
    return array((OPERATORS.get(name) or getattr(ag, name))(*converted))


def sample(name, shape, seed=0):
    """Random elements that exercise the dtype without overflowing sums of it."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if math.prod(shape) > 30_000:
        return made(name, shape, seed)
    return made_once(name, shape, seed).copy()


def made(name, shape, seed):
    rng = np.random.default_rng(seed)
    if name == "bool":
        x = rng.random(shape) < 0.5
    elif name.startswith("uint"):
        x = rng.integers(0, 200, shape)
    elif name in INTS:
        x = rng.integers(-100, 100, shape)
    else:
        x = rng.standard_normal(shape)
        if name in COMPLEX:
            x = x + 1j * rng.standard_normal(shape)
    return np.asarray(x).astype(DTYPES[name])


made_once = functools.lru_cache(512)(made)


def layouts(a):
    """Return the elements in several memory layouts."""
    yield a
    if a.ndim >= 2:
        yield np.asfortranarray(a)
        wide = np.zeros((*a.shape[:-1], 2 * a.shape[-1] + 1), a.dtype)
        view = wide[..., 1::2]
        view[...] = a
        yield view
        axes = (*range(1, a.ndim), 0)
        yield np.ascontiguousarray(a.transpose(axes)).transpose((a.ndim - 1, *range(a.ndim - 1)))


def tolerance(name):
    return {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "complex64": 4e-6}.get(
        name, 1e-13
    )


def wide(a):
    """The array in the widest dtype of its kind."""
    a = np.asarray(a)
    if a.dtype.kind in "biu":
        return a.astype(np.int64)
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
