"""Calls of kernels that have answers say which memory they use: on another they have the same."""

import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "answers"))

from answers import FILES, like, names, read, refused, shown

import autograd_cy as ag
from autograd_cy._C.launch import capture


def kept(call, known):
    """What a call gives, and its launches; none if it reads values or does what is no launch."""
    found = []
    *before, call = call.split("\n")
    known = dict(known)

    def run():
        exec("\n".join(before), known)
        found.append(eval(call, known))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return found, capture(run)
    except RuntimeError as error:
        if "can't be captured: " not in str(error):
            raise
        return found, None


ASKED = [
    (call, wanted)
    for path in FILES
    if path.parent.name == "kernels"
    for call, _, wanted in read(path)
    # A program holds the memory, so an `out` that would have to grow is refused there.
    if not refused(wanted) and "torch.cat([x, x], out=x)" not in call
]
PARTS = 12  # Neighbours ask mostly the same kernel for other numbers: the others are slow.


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, PARTS))]
)
def test_answers_are_the_same_on_other_memory(part):
    known, wrong, again = names(ag), {}, 0
    calls = ASKED[part::PARTS]
    for call, wanted in calls:
        found, program = kept(call, known)
        if program is None:
            continue
        again += 1
        program.poison()
        try:
            program.replay_elsewhere()
        except RuntimeError as error:
            wrong[call] = error
            continue
        if not like(shown(ag, found[0]), wanted):
            wrong[call] = shown(ag, found[0]), wanted
    assert not wrong
    assert again > 0.8 * len(calls)
