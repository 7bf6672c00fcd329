"""Vectors in chains of products, sizes that pools leave, sizes and repeats that can't be."""

from call_tables import assert_given, assert_refused

import autograd_cy as torch
from autograd_cy.nn import functional as F

x2, v3 = torch.zeros(2), torch.ones(3)
m23 = torch.arange(6.0).reshape(2, 3)


NAMES = globals() | {"F": F}

# call: its value
GIVEN = {
    "torch.linalg.multi_dot([v3, torch.ones(3, 4)]).tolist()": [3.0] * 4,
    "torch.linalg.multi_dot([v3, torch.ones(3, 4), torch.ones(4, 5)]).tolist()": [12.0] * 5,
    "torch.linalg.multi_dot([v3, torch.ones(3, 4), torch.ones(4)]).tolist()": 12.0,
    "torch.linalg.multi_dot([m23, torch.ones(3, 4), torch.ones(4)]).tolist()": [12.0, 48.0],
    "torch.linalg.multi_dot([v3, torch.ones(3, 1)]).tolist()": [3.0],
    "torch.linalg.multi_dot([v3, torch.ones(3, 2), torch.ones(2, 1)]).tolist()": [6.0],
    "torch.linalg.multi_dot([m23[1:], torch.ones(3, 2), torch.ones(2)]).tolist()": [24.0],
    "torch.tensordot(m23, torch.ones(1, 4), ([1], [0])).tolist()": [[3.0] * 4, [12.0] * 4],
    "torch.tensordot(torch.ones(2, 1), m23, ([1], [0])).tolist()": [[3.0, 5.0, 7.0]] * 2,
    "F.adaptive_avg_pool2d(torch.ones(2, 3, 4), (None, 2)).shape": (2, 3, 2),
    "F.adaptive_avg_pool2d(torch.ones(2, 3, 4), (2, None)).shape": (2, 2, 4),
    "F.adaptive_max_pool2d(torch.ones(1, 2, 3, 4), (None, 2)).shape": (1, 2, 3, 2),
    "F.adaptive_avg_pool3d(torch.ones(1, 2, 3, 4), (None, 2, None)).shape": (1, 2, 2, 4),
}


def test_sizes_are_those_of_the_operands():
    assert_given(GIVEN, NAMES)


# call: (type of error, words of its message)
REFUSED = {
    "x2.repeat_interleave(torch.tensor([-1, 2]))": (
        RuntimeError,
        "repeat_interleave: repeats can not be negative",
    ),
    "x2.repeat_interleave(-1)": (RuntimeError, "repeat_interleave: repeats can not be negative"),
    "F.fold(torch.ones(1, 4, 4), (0, 3), 2)": (RuntimeError, "output_size should be greater than"),
    "F.fold(torch.ones(1, 4, 4), (3, 0), 2)": (RuntimeError, "output_size should be greater than"),
    "F.fold(torch.ones(1, 4, 4), (3, 3), (0, 2))": (RuntimeError, "kernel size should be greater"),
    "F.adaptive_avg_pool2d(m23, (None, 2))": (ValueError, "Input dimension should be at least 3"),
    "F.adaptive_max_pool2d(m23, (None, 2))": (ValueError, "Input dimension should be at least 3"),
    "x2.softmax(-65)": (IndexError, "expected to be in range of [-1, 0], but got -65"),
    "x2.softmax(64)": (IndexError, "expected to be in range of [-1, 0], but got 64"),
}


def test_sizes_that_cannot_be_are_refused():
    assert_refused(REFUSED, NAMES)
