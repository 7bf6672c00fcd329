"""A small disk, and a checkpoint that survives a fault."""

import contextlib
import subprocess

import pytest

import autograd_cy as torch
from autograd_cy.distributed import checkpoint


@contextlib.contextmanager
def small_disk(path):
    """Mount a disk of 4 MB; without the right to mount the test is skipped."""
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount, which makes a small disk")
    if done.returncode:
        pytest.skip(f"no small disk can be mounted: {done.stderr.strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def check_first_checkpoint(folder):
    """The checkpoint of before the fault is the last one, and whole."""
    last = checkpoint.latest(folder)
    assert last is not None
    assert last.name == "step_1"
    state = {"weight": torch.zeros(10), "step": 0}
    checkpoint.load(state, checkpoint_id=last)
    assert state["step"] == 1
    assert torch.equal(state["weight"], torch.arange(10.0))
