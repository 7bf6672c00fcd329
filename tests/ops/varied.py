"""Calls of samples with one argument changed a little: its shape, or a number by one.

What a function checks shows at the edge: one dimension less or more, one element more, none at
all, a number that is one too large or small.
"""

import numpy as np
from calls import CLASS_OF, Case, make, tensor

from autograd_cy.ops import _schema as schema


def shapes_near(shape):
    """Shapes next to one, each with a name."""
    n = len(shape)
    yield "unsqueezed", (1, *shape)
    yield "pair", (2, *shape)
    if n:
        yield "without the first", shape[1:]
        yield "without the last", shape[:-1]
        yield "with a last", (*shape, 1)
        yield "of no dimension", ()
    for d in range(n):
        for size in {shape[d] + 1, max(shape[d] - 1, 0), 0, 1} - {shape[d]}:
            yield f"size {size} of {d}", (*shape[:d], size, *shape[d + 1 :])


def values_near(x):
    """Values next to an argument that is no tensor."""
    if isinstance(x, bool):
        yield not x
    elif isinstance(x, int):
        yield from {x - 1, x + 1, 0, -1, -2, -3, 5} - {x}
    elif isinstance(x, float):
        yield from (0.0, -1.0, x + 1, float("nan"), float("inf"))
    elif isinstance(x, str):
        yield from ("", "none such", x.upper())
    elif isinstance(x, tuple) and x and all(type(y) is int for y in x):
        yield x[:-1]
        yield (*x, 1)
        yield (*x, x[-1])
        for i, y in enumerate(x):
            for new in {y - 1, y + 1, 0, -1, -2} - {y}:
                yield (*x[:i], new, *x[i + 1 :])
    elif x is None:
        yield from (0, 1, -1)


def resized(array, shape):
    """Elements of an array, again from the start, in another shape."""
    if not array.size:
        return np.zeros(shape, array.dtype)
    return np.resize(array, shape)


FIRST_SAMPLES = 3


def dtype_of(record):
    return next(n for n in ("float64", "complex128", "int64") if CLASS_OF[n] in record.call.dtypes)


def calls(record):
    """(label, args, kwargs) of samples as they are, and with one argument changed."""
    # Elementwise operators share their shapes; one sample shows them.
    most = 1 if isinstance(record.kernel, schema.elementwise) else FIRST_SAMPLES
    for number in range(len(record.tests.samples)):
        for label, arrays, change in varied(record, number, number < most):
            call = make(Case(record, number), dtype_of(record))
            args, kwargs = call.arguments([tensor(array) for array in arrays])
            if change is not None and isinstance(change[0], str):
                kwargs |= [change]
            elif change is not None:
                args = (*args[: change[0]], change[1], *args[change[0] + 1 :])
            yield f"{number}: {label}", args, kwargs


def varied(record, number, also_near):
    """(label, arrays of the tensors, change of another argument) next to one sample.

    Of later samples only with another number of dimensions.
    """
    call = make(Case(record, number), dtype_of(record))
    yield "as it is", call.arrays, None
    one_sample = isinstance(record.kernel, schema.elementwise)
    for i, leaf in enumerate(call.leaves):
        name = leaf.name if leaf.place is None else f"{leaf.name}[{leaf.place}]"
        for label, shape in shapes_near(leaf.array.shape):
            if not also_near and (one_sample or label not in ("unsqueezed", "without the first")):
                continue
            arrays = list(call.arrays)
            arrays[i] = resized(leaf.array, shape)
            yield f"{name} {label}", arrays, None
    if not also_near:
        return
    for i, x in enumerate(call.sample.args):
        for value in values_near(x):
            yield f"{record.args[i].name}={value!r}", call.arrays, (i, value)
    for key, x in call.sample.kwargs.items():
        for value in values_near(x):
            yield f"{key}={value!r}", call.arrays, (key, value)
