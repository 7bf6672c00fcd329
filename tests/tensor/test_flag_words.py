"""Bits of the words of flags and modes: each means one thing, wherever it is declared."""

import re
from collections import Counter
from pathlib import Path

import pytest

import autograd_cy as ag

DECLARED = Path(__file__).resolve().parents[2] / "autograd_cy" / "_C"
BIT = re.compile(r"^    ([FMGN]_\w+) *= *(0x[0-9A-Fa-f]+|[0-9]+)\b", re.M)


def bits(prefix):
    """(name, value) of all single bits of a word in the .pxd files; masks and shifts aside."""
    for path in sorted(DECLARED.glob("*.pxd")):
        for name, number in BIT.findall(path.read_text()):
            value = int(number, 0)
            if name.startswith(prefix) and value & (value - 1) == 0 and "_SHIFT" not in name:
                yield name, value


@pytest.mark.parametrize("prefix", ["F_", "M_", "G_", "N_"])
def test_no_two_names_share_a_bit(prefix):
    found = list(bits(prefix))
    assert len(found) > 2
    shared = {value for value, count in Counter(value for _, value in found).items() if count > 1}
    assert [name for name, value in found if value in shared] == []


def test_views_that_are_replayed_are_no_unfilled_objects():
    base = ag.zeros(4, requires_grad=True) * 1
    with ag.autograd._force_original_view_tracking(True):
        view = base.view(4)
    view.__init__([1.0, 2.0, 3.0, 4.0])
    assert view.tolist() == [0, 0, 0, 0] and view.data_ptr() == base.data_ptr()
