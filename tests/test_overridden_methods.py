"""Overridden methods are called by the operations that call them in torch, and by no others."""

import overridden_methods
import pytest
from grouping import each

import autograd_cy as ag

ANSWERS = overridden_methods.answers()


def differences(package, case):
    names, expected = ANSWERS[case]
    found = []
    for operation, wanted in expected.items():
        ran = overridden_methods.called(package, case, operation, names)
        if ran != sorted(wanted):
            found.append(f"{operation}: called {ran}, torch calls {sorted(wanted)}")
    return found


@each("case", ANSWERS)
def test_operations_call_the_overridden_methods_that_torch_calls(case):
    assert differences(ag, case) == []


def test_all_cases_have_answers():
    for case, (_, _, operations) in overridden_methods.CASES.items():
        assert list(ANSWERS[case][1]) == ["make", *operations]
    assert sum(len(expected) for _, expected in ANSWERS.values()) > 876


@pytest.mark.slow
@pytest.mark.parametrize("case", ANSWERS)
def test_torch_calls_them_still(case):
    assert differences(pytest.importorskip("torch"), case) == []
