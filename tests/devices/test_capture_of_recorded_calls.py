"""Replays of recorded calls of kernels, on other memory, have the recorded results."""

import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recorded"))

from recorded import FILES, alike, describe, error_type, load, results

import autograd_cy as ag
from autograd_cy._C.launch import capture


def captured(call, names):
    """The result of a call in a list, and its launches; None if it can't be captured."""
    made = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return made, capture(lambda: made.append(eval(call.code, dict(names))))
    except RuntimeError as error:
        if "can't be captured: " not in str(error):
            raise
        return made, None


def kernel_calls():
    """Each recorded call of a kernel, with the names of its file and its result."""
    for path in FILES:
        if path.parent.name == "kernels":
            names, calls = load(path, ag)
            recorded = results(path)
            for call in calls:
                # A program holds the memory, so an `out` that would have to grow is refused there.
                if not error_type(recorded[call.key]) and "out=x" not in call.source:
                    yield call, names, recorded[call.key]


CALLS = list(kernel_calls())
PARTS = 8  # Neighbours call mostly the same kernel with other numbers: the others are slow.


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, PARTS))]
)
def test_results_are_the_same_on_other_memory(part):
    wrong, replays = {}, 0
    calls = CALLS[part::PARTS]
    for call, names, recorded in calls:
        made, program = captured(call, names)
        if program is None:
            continue
        replays += 1
        program.poison()
        try:
            program.replay_elsewhere()
        except RuntimeError as error:
            wrong[call.source] = error
            continue
        if not alike(describe(ag, made[0]), recorded):
            wrong[call.source] = describe(ag, made[0]), recorded
    assert not wrong
    assert replays > 0.8 * len(calls)
