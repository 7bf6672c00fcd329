"""Reports of recordings made by hand say what stands in the files."""

import by_hand


def test_reports():
    calls = by_hand.read()
    assert calls and all(text for _, text in calls)
    wrong = {c: found for c, text in calls if (found := by_hand.text_of(c)) != text}
    assert not wrong
