"""The expected properties of results: dtypes by torch's documented rules, and tolerances.

The rules are written down here once more, by hand; nothing is taken from the package.
"""

import numpy as np
from calls import CLASS_OF, dtype_name, schema

INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
WIDTH = {"int8": 1, "int16": 2, "int32": 3, "int64": 4}
RANK = {"b": 0, "i": 1, "h": 2, "f": 2, "c": 3}
HALVES = ("float16", "bfloat16")


def promote(a, b):
    """The dtype that holds both, as torch's table of dtypes says."""
    if a == b:
        return a
    if RANK[CLASS_OF[a]] > RANK[CLASS_OF[b]]:
        a, b = b, a
    x, y = CLASS_OF[a], CLASS_OF[b]
    if RANK[x] == RANK[y] == 1:
        if "uint8" in (a, b):
            other = b if a == "uint8" else a
            return "int16" if other == "int8" else other
        return max(a, b, key=WIDTH.get)
    if RANK[x] == RANK[y] == 2:
        if x == y == "h":
            return "float32"
        return "float64" if "float64" in (a, b) else "float32"
    if (y == "c" and a == "float64") or x == y == "c":
        return "complex128"
    return b


def number_dtype(x):
    """The dtype that a Python number stands for."""
    if isinstance(x, bool):
        return "bool"
    if isinstance(x, int):
        return "int64"
    return "complex64" if isinstance(x, complex) else "float32"


def promotion(tensors, numbers=()):
    """
    The dtype of a result from (dtype, number of dimensions) of tensors, and Python numbers.

    Tensors with dimensions decide; 0-d tensors, then numbers, only matter if their kind (bool,
    integer, floating, complex) is higher.
    """
    groups = [
        [d for d, n in tensors if n > 0],
        [d for d, n in tensors if n == 0],
        [number_dtype(x) for x in numbers],
    ]
    result = None
    for group in groups:
        if not group:
            continue
        best = group[0]
        for other in group[1:]:
            best = promote(best, other)
        if result is None:
            result = best
        elif RANK[CLASS_OF[best]] > RANK[CLASS_OF[result]]:
            if CLASS_OF[best] == "c" and CLASS_OF[result] in "hf":
                best = "complex128" if result == "float64" else "complex64"
            result = best
    return result


# Results that don't have the promoted dtype of the tensor arguments, for operators that aren't
# elementwise. "sum" keeps floating dtypes and counts integers in int64.
RESULT = {
    "sum": "count",
    "argmax": "int64",
    "argmin": "int64",
    "nonzero": "int64",
    "all": "truth",
    "any": "truth",
    "conj": "same",
    "real": "real",
    "imag": "real",
    "view_as_real": "real",
    "norm": "real",
    "dist": "real",
    "isposinf": "bool",
    "isneginf": "bool",
    "nansum": "count",
    "var": "real",
    "std": "real",
    "trace": "count",
    "prod": "count",
    "cumsum": "count",
    "cumprod": "count",
    "_cumprod": "count",
    "count_nonzero": "int64",
    "argsort": "int64",
    "bucketize": "int64",
    "isin": "bool",
    "searchsorted": "int64",
    "lgamma": "float",
    "digamma": "float",
    "_polygamma": "float",
    "var_mean.var": "real",
    "std_mean.std": "real",
    "deg2rad": "float",
    "rad2deg": "float",
    "logit": "float",
    "argwhere": "int64",
    "corrcoef": "float",
    "cov": "float",
    "cumulative_trapezoid": "float",
    "trapezoid": "float",
    "trapz": "float",
}


def result_dtype(record, name, output="result"):
    """The dtype of a result whose tensor arguments have the promoted dtype `name`."""
    rule = getattr(record.kernel, "dtypes", None) or RESULT.get(record.name, "same")
    if isinstance(record.kernel, schema.host) and isinstance(rule, tuple):
        rule = rule[record.returns.index(output)]
    rule = RESULT.get(f"{record.name}.{output}", rule)
    letter = CLASS_OF[name]
    if record.call.widen and letter in record.call.widen[0]:
        name = {"int64": "int64", "float": "float32"}[record.call.widen[1]]
        letter = CLASS_OF[name]
    if rule == "bool":
        return "bool"
    if rule == "truth":
        return "uint8" if name == "uint8" else "bool"
    if rule == "count":
        return "int64" if letter in "bi" else name
    if rule == "float":
        return "float32" if letter in "bi" else name
    if rule == ("float", "real"):
        name = "float32" if letter in "bi" else name
        rule = "real"
    if rule == "real":
        name = "float32" if letter in "bi" and isinstance(record.kernel, schema.host) else name
        return {"complex64": "float32", "complex128": "float64"}.get(name, name)
    if rule == "complex":
        name = "float32" if letter in "bih" else name
        return {"float32": "complex64", "float64": "complex128"}.get(name, name)
    return name if rule == "same" else rule


def tolerance(record, name):
    """Relative tolerance of a forward result that was computed in the dtype `name`."""
    if CLASS_OF[name] in "bi":
        return record.tests.tolerance
    return {
        "float16": 4e-3,
        "bfloat16": 3e-2,
        "float32": record.tests.tolerance,
        "complex64": 4 * record.tests.tolerance,
        "float64": 1e-11,
        "complex128": 1e-11,
    }[name]


def wide(array):
    """The array in the widest dtype of its kind."""
    array = np.asarray(array)
    if array.dtype.kind in "biu":
        return array.astype(np.int64)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def assert_same(result, wanted, relative, what="result"):
    """Shapes are equal and all elements close; NaN equals NaN."""
    result, wanted = wide(result), wide(wanted)
    assert result.shape == wanted.shape, f"{what}: shape {result.shape}, expected {wanted.shape}"
    if not result.size:
        return
    finite = wanted[np.isfinite(wanted)]
    scale = max(float(np.abs(finite).max()) if finite.size else 0.0, 1e-3)
    np.testing.assert_allclose(result, wanted, rtol=relative, atol=relative * scale, err_msg=what)


def assert_identical(a, b):
    """Equal dtype, shape and elements, of two tensors or two tuples of them."""
    if isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            assert_identical(x, y)
        return
    assert dtype_name(a) == dtype_name(b)
    assert tuple(a.shape) == tuple(b.shape)
    np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())
