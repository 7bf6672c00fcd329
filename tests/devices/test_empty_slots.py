"""Each slot that a device leaves empty: the one clear error, or composites with the same values."""

import json
import re
import subprocess
import sys
from pathlib import Path

import built_devices
import empty_slots
import pytest

HERE = Path(__file__).parent
SLOTS = empty_slots.slots()
SOME = ["mm", "_attention", "_fused_adam_", "_uniform", "sum_dim", "_index", "elementwise sin"]


def verdicts(library, *slots):
    """The answers of empty_slots.py; its processes register the devices."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "empty_slots.py"), str(library), *slots],
        capture_output=True,
        text=True,
        env=built_devices.environment(),
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def all_verdicts(tmp_path_factory):
    return verdicts(built_devices.library(tmp_path_factory))


def check(slot, kind, text):
    if kind == "same":
        return
    assert kind == "error", f"{slot}: {kind}: {text}"
    said = re.match(
        r"NotImplementedError: ([\w.]+): there is no (elementwise )?kernel of this operator for "
        "device 'late:0'",
        text,
    )
    assert said is not None, text
    _, record = SLOTS[slot]
    if record is not None and record.tests.samples:
        names = {
            slot.split()[-1],
            record.name,
            record.symbol,
            record.shown,
            record.presentation.shown_as,
        }
        assert said[1] in names


def test_some_empty_slots(tmp_path_factory):
    for slot, verdict in verdicts(built_devices.library(tmp_path_factory), *SOME).items():
        check(slot, *verdict)


@pytest.mark.slow
@pytest.mark.parametrize("slot", SLOTS)
def test_an_empty_slot_is_one_clear_error(all_verdicts, slot):
    check(slot, *all_verdicts[slot])


@pytest.mark.slow
def test_most_slots_are_errors(all_verdicts):
    """Composites are the exception."""
    kinds = [kind for kind, _ in all_verdicts.values()]
    assert kinds.count("error") > 0.9 * len(kinds)
