"""Checkpoints of several ranks, and preemption."""

import os
import re

import pytest
from ranks import fails, passes


def hash_of(folder, until, ranks, spread="spread"):
    text = passes("checkpoints", "train", folder, until, spread, ranks=ranks)
    return re.search("hash ([0-9a-f]{64})", text).group(1)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The hash of a run of 12 steps in one process, without a pause."""
    return hash_of(tmp_path_factory.mktemp("whole"), 12, 1)


@pytest.mark.parametrize(("before", "after"), [(2, 1), (2, 4), (4, 2), (2, 2), (1, 2)])
def test_training_goes_on_with_the_same_bits_in_another_number_of_ranks(
    before, after, whole, tmp_path
):
    hash_of(tmp_path, 7, before)
    assert hash_of(tmp_path, 12, after) == whole


def test_a_spread_optimizer_and_a_plain_one_load_each_other(whole, tmp_path):
    hash_of(tmp_path, 4, 2, "plain")
    hash_of(tmp_path, 8, 2, "spread")
    assert hash_of(tmp_path, 12, 1, "plain") == whole
    assert sorted(os.listdir(tmp_path)) == ["step_12", "step_8"]


@pytest.mark.parametrize(
    ("part", "ranks"), [("written_once", 3), ("differing", 3), ("refused", 2), ("place", 2)]
)
def test_ranks_save_and_load_together(part, ranks, tmp_path):
    assert passes("checkpoints", part, tmp_path, ranks=ranks).count("passed") == ranks


def test_a_rank_that_is_killed_while_it_saves_leaves_what_was_there(tmp_path):
    hash_of(tmp_path, 3, 2)
    for name in ("step_3", "step_4"):
        fails("checkpoints", "killed", tmp_path, tmp_path / name, ranks=2)
        text = passes("checkpoints", "step", tmp_path, ranks=2)
        assert f"step 3 ['step_3', '{name}.incomplete']" in text, text
        os.rename(tmp_path / f"{name}.incomplete", tmp_path.parent / name)


def test_a_signal_of_one_rank_stops_all_at_the_same_step(tmp_path):
    command = tmp_path / "scontrol"
    command.write_text(f"#!/bin/sh\necho $* >> {tmp_path}/calls\n")
    command.chmod(0o755)
    assert passes("checkpoints", "preempted", tmp_path, ranks=2).count("passed") == 2
    assert (tmp_path / "calls").read_text() == "requeue 11_5\n"
