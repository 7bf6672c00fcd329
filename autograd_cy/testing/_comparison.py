"""assert_close: numbers, arrays and tensors, alone or in sequences and mappings."""

from __future__ import annotations

import cmath
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograd_cy._C import dtypes as _dtypes
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.creation import as_tensor
from autograd_cy._C.exchange import from_numpy as _from_numpy
from autograd_cy._C.tensor import Tensor

# (rtol, atol) by dtype; other dtypes are compared exactly.
_TOLERANCES = {
    _dtypes.float16: (1e-3, 1e-5),
    _dtypes.bfloat16: (1.6e-2, 1e-5),
    _dtypes.float32: (1.3e-6, 1e-5),
    _dtypes.float64: (1e-7, 1e-7),
    _dtypes.complex64: (1.3e-6, 1e-5),
    _dtypes.complex128: (1e-7, 1e-7),
}
_NUMBERS = (bool, int, float, complex)
# Those of the older `assert_allclose`; exactly for other dtypes.
_OLDER_TOLERANCES = {
    _dtypes.float16: (1e-3, 1e-3),
    _dtypes.float32: (1e-4, 1e-5),
    _dtypes.float64: (1e-5, 1e-8),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    r"""
    Assert that two things are close: ``|actual - expected| <= atol + rtol * |expected|``.

    Infinities of one sign are close; tensors also need the same shape. Sequences and mappings are
    compared item by item.

    Parameters
    ----------
    actual, expected : Tensor, array, number, None, sequence or mapping
        Of the same kind.
    allow_subclasses : bool, default True
        Accept tensors of different classes.
    rtol, atol : float, optional
        Relative and absolute tolerance, both or neither. By default they follow the dtype: 1e-3 and
        1e-5 for float16, 1.6e-2 and 1e-5 for bfloat16, 1.3e-6 and 1e-5 for float32 and complex64,
        1e-7 twice for float64 and complex128; the larger ones of two dtypes. Integers and truth
        values must be equal.
    equal_nan : bool, default False
        Take NaN for equal to NaN.
    check_device : bool, default True
        Require the same device.
    check_layout : bool, default True
        Every tensor here has the same layout, so that this finds nothing.
    check_dtype : bool, default True
        Require the same dtype, or the same type of number. Otherwise both are promoted.
    check_stride : bool, default False
        Require the same strides.
    msg : str or callable, optional
        A message instead of the usual one, or a function of the usual one.

    Raises
    ------
    AssertionError
        If they aren't close; it says how many elements differ, and where most.
    ValueError
        If only one of `rtol` and `atol` is given.
    TypeError
        If the two can't be compared.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.testing.assert_close(ag.ones(2), ag.ones(2) + 1e-7)
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
        )
    options = {
        "allow_subclasses": allow_subclasses,
        "tolerances": None if rtol is None else (rtol, atol),
        "equal_nan": equal_nan,
        "check_device": check_device,
        "check_dtype": check_dtype,
        "check_stride": check_stride,
    }
    difference = _difference(actual, expected, options, "")
    if difference is None:
        return
    text, where = difference
    if where:
        text += f"\n\nThe failure occurred for item {where}"
    raise AssertionError(text if msg is None else msg(text) if callable(msg) else msg)


def _difference(actual, expected, options, where):
    """(what differs, in which item), or None."""
    if _both(actual, expected, Sequence) and not (isinstance(actual, str) or _numpy(actual)):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", where
        pairs = [(f"[{i}]", a, e) for i, (a, e) in enumerate(zip(actual, expected))]
    elif _both(actual, expected, Mapping):
        text = _key_difference(actual, expected)
        if text:
            return text, where
        pairs = [(f"[{k!r}]", actual[k], expected[k]) for k in actual]
    else:
        text = _single_difference(actual, expected, options)
        return None if text is None else (text, where)
    for name, a, e in pairs:
        difference = _difference(a, e, options, where + name)
        if difference is not None:
            return difference
    return None


def _both(a, b, kind):
    return isinstance(a, kind) and isinstance(b, kind)


def _numpy(x):
    return isinstance(x, (np.ndarray, np.generic))


def _key_difference(actual, expected):
    if set(actual) == set(expected):
        return None
    missing = sorted((k for k in expected if k not in actual), key=repr)
    extra = sorted((k for k in actual if k not in expected), key=repr)
    return (
        "The keys of the mappings do not match:\n"
        f"Missing keys in the actual mapping: {missing}\n"
        f"Additional keys in the actual mapping: {extra}"
    )


def _single_difference(actual, expected, options):
    if actual is None or expected is None:
        same = actual is None and expected is None
        return None if same else f"None mismatch: {actual} is not {expected}"
    if _both(actual, expected, (bool, np.bool_)):
        return None if actual == expected else f"Booleans mismatch: {actual} is not {expected}"
    if _both(actual, expected, _NUMBERS):
        return _number_difference(actual, expected, options)
    if (_numpy(actual) and _numpy(expected)) or (
        _both(actual, expected, Tensor)
        and (options["allow_subclasses"] or type(actual) is type(expected))
    ):
        return _tensor_difference(_as_tensor(actual), _as_tensor(expected), options)
    raise TypeError(
        f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
    )


def _as_tensor(x):
    return x.detach() if isinstance(x, Tensor) else _from_numpy(np.array(x))


def _number_difference(actual, expected, options):
    if options["check_dtype"] and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    exact = isinstance(actual, int) and isinstance(expected, int)
    rtol, atol = options["tolerances"] or ((0.0, 0.0) if exact else (1e-7, 1e-7))
    if actual == expected or (
        options["equal_nan"] and cmath.isnan(actual) and cmath.isnan(expected)
    ):
        return None
    absolute = abs(actual - expected)
    if absolute <= atol + rtol * abs(expected) and not cmath.isinf(absolute):
        return None
    relative = absolute / abs(expected) if expected else float("inf")
    return _scalar_text(actual, expected, absolute, relative, rtol, atol)


def _scalar_text(actual, expected, absolute, relative, rtol, atol):
    word, up_to, up_to_relative = _wording(rtol, atol)
    return (
        f"Scalars are not {word}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {absolute}{up_to}\nRelative difference: {relative}{up_to_relative}"
    )


def _wording(rtol, atol):
    if rtol == 0 and atol == 0:
        return "equal", "", ""
    return "close", f" (up to {atol} allowed)", f" (up to {rtol} allowed)"


def _tensor_difference(actual, expected, options):
    for name, a, e, checked in (
        ("shape", actual.shape, expected.shape, True),
        ("device", actual.device, expected.device, options["check_device"]),
        ("dtype", actual.dtype, expected.dtype, options["check_dtype"]),
        ("stride()", actual.stride(), expected.stride(), options["check_stride"]),
    ):
        if checked and a != e:
            return f"The values for attribute '{name}' do not match: {a} != {e}."
    tolerances = options["tolerances"]
    if tolerances is None:
        pairs = [_TOLERANCES.get(t.dtype, (0.0, 0.0)) for t in (actual, expected)]
        tolerances = tuple(max(column) for column in zip(*pairs))
    rtol, atol = tolerances
    a, e = _wide(actual), _wide(expected)
    with np.errstate(all="ignore"):
        absolute = np.array(np.abs(a - e))
        size = np.array(np.abs(e))
        close = np.array((a == e) | (absolute <= atol + rtol * size) & (size < np.inf), bool)
        if options["equal_nan"]:
            close |= (a != a) & (e != e)
        if close.all():
            return None
        relative = np.array(absolute.astype(float) / size.astype(float))
        # Elements that are close don't count, also where both are infinite.
        absolute[close], relative[close] = 0, 0
    if a.ndim == 0:
        return _scalar_text(
            actual.item(), expected.item(), absolute.item(), relative.item(), rtol, atol
        )
    word, up_to, up_to_relative = _wording(rtol, atol)
    wrong = int((~close).sum())
    return (
        f"Tensor-likes are not {word}!\n\n"
        f"Mismatched elements: {wrong} / {a.size} ({wrong / a.size:.1%})\n"
        f"Greatest absolute difference: {_greatest(absolute)}{up_to}\n"
        f"Greatest relative difference: {_greatest(relative)}{up_to_relative}"
    )


def _greatest(values):
    # A NaN is the greatest of all.
    numbers = values.astype(float)
    flat = int(np.argmax(np.where(np.isnan(numbers), np.inf, numbers)))
    at = np.unravel_index(flat, values.shape)
    value = values[at]
    value = value.item() if hasattr(value, "item") else value
    return f"{value} at index {tuple(int(i) for i in at)}"


def _wide(t):
    """The elements in a type where their differences are exact enough, and can't wrap."""
    t = t.detach().cpu()  # before it is converted: not each device has float64
    if t.is_complex():
        return t.to(_dtypes.complex128).numpy().copy()
    if t.is_floating_point():
        return t.to(_dtypes.float64).numpy().copy()
    # Python's integers don't wrap.
    return (t if t.dtype == _dtypes.uint64 else t.to(_dtypes.int64)).numpy().astype(object)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """
    Assert that two things are close, by the older name and tolerances. Use `assert_close`.

    Parameters
    ----------
    actual, expected : Tensor, array or number
        Also of different kinds and dtypes.
    rtol, atol : float, optional
        Relative and absolute tolerance, both or neither.
    equal_nan : bool, default True
        Take NaN for equal to NaN.
    msg : str, optional
        The message of the error.

    Raises
    ------
    AssertionError
        If they are not close.

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ag.testing.assert_allclose(ag.ones(2), ag.ones(2) + 1e-5)
    """
    _warn(
        "`testing.assert_allclose()` is deprecated. Use `testing.assert_close()` instead, whose "
        "tolerances are smaller.",
        FutureWarning,
    )
    actual, expected = (x if isinstance(x, Tensor) else as_tensor(x) for x in (actual, expected))
    if rtol is None and atol is None:
        either = [_OLDER_TOLERANCES.get(x.dtype, (0.0, 0.0)) for x in (actual, expected)]
        rtol, atol = (max(pair) for pair in zip(*either))
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        check_stride=False,
        msg=msg or None,
    )
