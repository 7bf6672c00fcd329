"""Padding that takes away on one side or both, by each mode."""

from call_tables import assert_given, assert_refused

import autograd_cy as torch
from autograd_cy.nn import functional as F

x5 = torch.arange(5.0)[None, None]


def padded(pad, mode):
    return F.pad(x5, pad, mode=mode)[0, 0].tolist()


# call: its value
GIVEN = {
    "padded((-1, 2), 'circular')": [1.0, 2.0, 3.0, 4.0, 1.0, 2.0],
    "padded((2, -1), 'circular')": [2.0, 3.0, 0.0, 1.0, 2.0, 3.0],
    "padded((-1, -2), 'circular')": [1.0, 2.0],
    "padded((5, 5), 'circular')": [0.0, 1.0, 2.0, 3.0, 4.0] * 3,
    "padded((2, -4), 'replicate')": [0.0, 0.0, 0.0],
    "padded((2, -5), 'replicate')": [0.0, 0.0],
    "padded((-5, 2), 'replicate')": [4.0, 4.0],
    "padded((2, -5), 'reflect')": [2.0, 1.0],
    "padded((-5, 2), 'reflect')": [3.0, 2.0],
    "padded((-4, 2), 'replicate')": [4.0, 4.0, 4.0],
    "padded((-1, -1), 'replicate')": [1.0, 2.0, 3.0],
    "padded((-1, 3), 'reflect')": [1.0, 2.0, 3.0, 4.0, 3.0, 2.0, 1.0],
    "padded((4, -3), 'reflect')": [4.0, 3.0, 2.0, 1.0, 0.0, 1.0],
    "padded((-2, 1), 'constant')": [2.0, 3.0, 4.0, 0.0],
}


def test_what_is_left_is_repeated():
    assert_given(GIVEN, globals())


# call: (type of error, words of its message)
REFUSED = {
    "padded((-1, 6), 'circular')": (RuntimeError, "wrapping around more than once"),
    "padded((6, 0), 'circular')": (RuntimeError, "wrapping around more than once"),
    "padded((-5, 2), 'circular')": (RuntimeError, "takes away what it would repeat"),
    "padded((-2, -3), 'replicate')": (RuntimeError, "too small. Calculated output W: 0"),
}


def test_padding_that_leaves_too_little_is_refused():
    assert_refused(REFUSED, globals())
