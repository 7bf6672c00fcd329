"""Bounds of random integers, in any order and by name."""

from call_tables import assert_given, assert_refused

import autograd_cy as torch

x2 = torch.zeros(2)


def drawn(*args, **named):
    torch.manual_seed(0)
    return sorted(set(torch.randint(*args, **named).tolist()))


def drawn_like(*args, **named):
    torch.manual_seed(0)
    return sorted(set(torch.randint_like(torch.zeros(50), *args, **named).tolist()))


def drawn_in_place(*args, **named):
    torch.manual_seed(0)
    return sorted(set(torch.zeros(50).random_(*args, **named).tolist()))


# call: its value
GIVEN = {
    "drawn(2, size=(50,))": [0, 1],
    "drawn(3, 5, size=(50,))": [3, 4],
    "drawn(high=2, size=(50,))": [0, 1],
    "drawn(low=2, high=4, size=(50,))": [2, 3],
    "drawn(2, high=4, size=(50,))": [2, 3],
    "drawn(2, (50,))": [0, 1],
    "drawn(2, 4, (50,))": [2, 3],
    "drawn(-2, 0, (50,))": [-2, -1],
    "drawn_like(2)": [0.0, 1.0],
    "drawn_like(2, 4)": [2.0, 3.0],
    "drawn_like(high=2)": [0.0, 1.0],
    "drawn_like(2, high=4)": [2.0, 3.0],
    "drawn_like(low=2, high=4)": [2.0, 3.0],
    "drawn_in_place(2)": [0.0, 1.0],
    "drawn_in_place(to=2)": [0.0, 1.0],
    "drawn_in_place(2, 4)": [2.0, 3.0],
    "drawn_in_place(2, to=4)": [2.0, 3.0],
    "drawn_in_place(**{'from': 2, 'to': 4})": [2.0, 3.0],
    "drawn_in_place(-2, 0)": [-2.0, -1.0],
    "min(torch.zeros(99, dtype=torch.uint8).random_().tolist()) >= 0": True,
    "min(torch.zeros(9, dtype=torch.int8).random_(0, 1).tolist())": 0,
    "max(torch.zeros(500, dtype=torch.bool).random_().tolist())": True,
    "min(torch.zeros(500, dtype=torch.bool).random_().tolist())": False,
}


def test_integers_lie_within_their_bounds():
    assert_given(GIVEN, globals())


# call: (type of error, words of its message)
REFUSED = {
    "torch.randint_like(x2, 1, 3, low=0)": (TypeError, "multiple values for argument 'low'"),
    "torch.randint_like(x2, 1, 3, high=5)": (TypeError, "multiple values for argument 'low'"),
    "torch.zeros(2).random_(5, **{'from': 4})": (TypeError, "multiple values for argument 'from'"),
    "torch.zeros(2).random_(4, 5, to=6)": (TypeError, "multiple values for argument 'to'"),
}


def test_bounds_given_twice_are_refused():
    assert_refused(REFUSED, globals())
