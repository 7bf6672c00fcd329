"""The tolerated distance of a result from a more exact one.

The bound of an element is what it moves by when every input is changed by one unit in its last
place, times SLACK, plus SLACK units in its own last place: an algorithm may be wrong by as much as
its data, no more. That holds for sums of any length and for cancellation, without a table of
operators.
"""

import numpy as np

from .values import EPSILON, KIND_OF, LARGEST, SMALLEST, WIDE, rounded

SLACK = 16


def perturbed(rng, array, dtype):
    """The array with every element moved by about one unit in the last place of `dtype`."""
    if KIND_OF[dtype] not in "hfc":
        return array
    step = EPSILON[dtype] * rng.choice([-1.0, 1.0], np.shape(array))
    if KIND_OF[dtype] == "c":
        # Each part by what is small for the number: across a branch cut if it lies on one.
        step = step + 1j * EPSILON[dtype] * rng.choice([-1.0, 1.0], np.shape(array))
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(array), array * (1 + step), array)


def bounds(exact, moved, dtype):
    """The bound of each element of `exact`; `moved` are results with one input perturbed each."""
    epsilon, kind = EPSILON[dtype], KIND_OF[dtype]
    with np.errstate(all="ignore"):
        reach = np.zeros(np.shape(exact))
        for other in moved:
            if np.shape(other) == np.shape(exact):
                reach = reach + _size(np.subtract(other, exact, dtype=WIDE[kind]))
        size = _size(exact)
        return SLACK * (reach + epsilon * size + epsilon * SMALLEST[dtype])


def _size(x):
    """Absolute values, of which infinite and undefined parts are left out."""
    parts = (x.real, x.imag) if np.iscomplexobj(x) else (np.asarray(x, np.float64),)
    return sum(np.where(np.isfinite(p), np.abs(p), 0) for p in parts)


def difference(result, exact, dtype, bound, nonfinite=True):
    """
    Describe the fault of `result`, or return None. NaN equals NaN, infinities must agree.

    Where the exact number is next to the largest of the dtype, infinity is right too. Without
    `nonfinite` only elements that are finite in both are compared.
    """
    result, exact = np.asarray(result), np.asarray(exact)
    if result.shape != exact.shape:
        return f"shape {result.shape}, expected {exact.shape}"
    if KIND_OF[dtype] not in "hfc":
        wrong = result != exact
        return _first(wrong, result, exact)
    if KIND_OF[dtype] == "c":
        parts = ((result.real, exact.real), (result.imag, exact.imag))
        real = {"complex64": "float32", "complex128": "float64"}[dtype]
    else:
        parts, real = ((result, exact),), dtype
    for got, wanted in parts:
        with np.errstate(all="ignore"):
            near_end = np.abs(wanted) + bound >= LARGEST[real] * (1 - EPSILON[real])
            goal = rounded(wanted, real)
            finite = np.isfinite(got) & np.isfinite(goal)
            wrong = finite & (np.abs(got - goal) > bound)
            if nonfinite:
                same = (np.isnan(got) & np.isnan(goal)) | (got == goal)
                wrong |= ~finite & ~same & ~(near_end & ~np.isnan(got))
        found = _first(wrong, result, exact, bound)
        if found:
            return found
    return None


def _first(wrong, result, exact, bound=None):
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    text = f"{result[place]!r} at {place}, expected {exact[place]!r}"
    if bound is not None:
        text += f" within {np.broadcast_to(bound, result.shape)[place]:.3g}"
    return f"{text} ({int(wrong.sum())} of {result.size} elements)"
