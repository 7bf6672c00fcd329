"""Each slot that a device leaves empty: the one clear error, or composites with the same bits."""

import json
import subprocess
import sys
from pathlib import Path

import building
import empty_slots
import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def verdicts(tmp_path_factory):
    """What empty_slots.py finds; its processes register the devices."""
    run = subprocess.run(
        [sys.executable, str(HERE / "empty_slots.py"), str(building.library(tmp_path_factory))],
        capture_output=True,
        text=True,
        env=building.environment(),
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("slot", empty_slots.slots())
def test_an_empty_slot_is_one_clear_error(verdicts, slot):
    kind, text = verdicts[slot]
    if kind == "same":
        return
    assert kind == "error", text
    assert text.startswith("NotImplementedError: "), text
    _, record = empty_slots.slots()[slot]
    names = {slot.split()[-1], record.name, record.symbol, record.shown, record.shown_as}
    assert any(name and name in text for name in names), text
    assert "late:0" in text


def test_most_slots_are_errors(verdicts):
    """A composite is the exception: a slot that is never asked would be no error either."""
    kinds = [kind for kind, _ in verdicts.values()]
    assert kinds.count("error") > len(kinds) / 2
