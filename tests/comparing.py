"""
NumPy's assertions about two arrays, quick where they hold.

NumPy takes 0.1 ms to find that nothing is wrong, and many tests ask thousands of times. Here the
plain comparison comes first; whatever it doesn't settle goes to NumPy's function, which also says
what is wrong. conftest.py puts these functions in the place of NumPy's.
"""

import functools

import numpy as np

PLAIN = "biufc"  # kinds of dtypes whose elements compare as numbers
BYTES = PLAIN + "V"  # that are equal where their bytes are; halves of ml_dtypes are among them
SMALL = 1000  # elements whose bytes are compared sooner than all() is called


def alike(a, b, kinds):
    """Return whether both are arrays of one shape with dtypes of these kinds."""
    return (
        type(a) is np.ndarray
        and type(b) is np.ndarray
        and a.shape == b.shape
        and a.dtype.kind in kinds
        and b.dtype.kind in kinds
    )


def are_identical(a, b):
    """Return whether both are small arrays of the same bytes, which says nothing of others."""
    return (
        type(a) is np.ndarray
        and type(b) is np.ndarray
        and a.size <= SMALL
        and a.shape == b.shape
        and a.dtype is b.dtype
        and a.dtype.kind in BYTES
        and a.tobytes() == b.tobytes()
    )


def are_equal(actual, desired, err_msg=""):
    if are_identical(actual, desired):
        return True
    if not alike(actual, desired, PLAIN):
        return False
    same = actual == desired
    if same.all():
        return True
    if actual.dtype.kind not in "fc" or desired.dtype.kind not in "fc":
        return False
    return bool((same | ((actual != actual) & (desired != desired))).all())


def are_close(actual, desired, rtol=1e-7, atol=0.0):
    if not alike(actual, desired, "fc"):
        return False
    if not actual.size:
        return True
    with np.errstate(all="ignore"):
        distance = np.abs(actual - desired)
        # An infinite bound is that of an infinite number.
        near = distance <= atol + rtol * np.abs(desired)
        return bool(near.all() and np.isfinite(distance.max()))


def quick(slow, hold):
    """`slow`, unless `hold` says that it would pass."""

    @functools.wraps(slow)
    def check(*args, **options):
        rest = options
        if "err_msg" in options:
            rest = {name: value for name, value in options.items() if name != "err_msg"}
        try:
            fine = hold(*args, **rest)
        except TypeError:  # other arguments, or what can't be compared
            fine = False
        if not fine:
            slow(*args, **options)

    return check


SLOW = {name: getattr(np.testing, name) for name in ("assert_array_equal", "assert_allclose")}
assert_array_equal = quick(SLOW["assert_array_equal"], are_equal)
assert_allclose = quick(SLOW["assert_allclose"], are_close)


def install():
    np.testing.assert_array_equal = assert_array_equal
    np.testing.assert_allclose = assert_allclose
