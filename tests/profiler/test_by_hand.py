"""Reports of recordings made by hand say what stands in the files."""

import by_hand
from endless import soon


def test_reports():
    calls = by_hand.read()
    assert calls and all(text for _, text in calls)
    wrong = {}
    for call, text in calls:
        with soon():
            found = by_hand.text_of(call)
        if found != text:
            wrong[call] = found
    assert not wrong
