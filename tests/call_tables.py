"""Tables of calls, a line each: what they give, and by which errors they are refused."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np


def assert_refused(table: Mapping[str, tuple[type, str]], known: Mapping[str, Any]) -> None:
    """
    Each call raises an error of just this type, with these words in its message.

    Parameters
    ----------
    table : mapping of str to (type, str)
        Type of the error and words of its message, by call.
    known : mapping
        What the calls speak of.
    """
    wrong = {}
    for call, (kind, words) in table.items():
        try:
            found = eval(call, dict(known))
        except Exception as error:
            if type(error) is not kind or words not in str(error):
                wrong[call] = f"{type(error).__name__}: {error}"[:200]
        else:
            wrong[call] = f"went through: {found}"
    assert not wrong, "\n".join(f"{call}\n    {said}" for call, said in wrong.items())


def assert_given(table: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """
    Each call gives the value beside it; truth values and texts are of just that type.

    Parameters
    ----------
    table : mapping of str to object
        Values by call.
    known : mapping
        What the calls speak of.
    """
    wrong = {}
    for call, value in table.items():
        found = eval(call, dict(known))
        if found != value or (type(value) in (bool, str) and type(found) is not type(value)):
            wrong[call] = found
    assert not wrong


def names(lib):
    """
    Return the names that calls use, for one library, where their numbers are compared with torch's.

    t is tensor(), m(2, 3) counts from 0; v(tensor) is its shape, dtype and elements,
    g(function, x) the gradient at x.
    """

    def value(t):
        return [list(t.shape), str(t.dtype).rpartition(".")[2], t.tolist()]

    def gradient(function, x):
        x = lib.tensor(x, requires_grad=True)
        function(x).backward()
        return x.grad.tolist()

    def counted(*shape):
        return lib.arange(float(np.prod(shape))).reshape(shape)

    return {
        "torch": lib, "F": lib.nn.functional, "func": lib.func, "np": np,
        "inf": float("inf"), "nan": float("nan"),
        "v": value, "g": gradient, "t": lib.tensor, "m": counted,
        "ones": lib.ones, "zeros": lib.zeros, "empty": lib.empty, "rnn": lib.nn.utils.rnn,
        "w3": lib.tensor([1.0, 2.0, 3.0]), "m22": [[1.0, 2.0], [3.0, 4.0]],
    }  # fmt: skip


def same(a, b):
    """Return whether numbers are the same but for rounding, within lists too."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or abs(a - b) <= 1e-6 * abs(b)
    return type(a) is type(b) and a == b


def wrong_numbers(lib, calls):
    """List the calls of which a library gives other results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {c: x for c in calls if not same(x := eval(c, names(lib)), calls[c])}
