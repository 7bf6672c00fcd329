"""Start programs in several ranks, and read what they say."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from autograd_cy._environment import mpi_launcher

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).resolve().parents[2]


class Outcome(NamedTuple):
    """Exit status and output of a job."""

    status: int
    text: str


@functools.cache
def launcher():
    """The launcher of this Python's mpi4py; without one the test is skipped."""
    try:
        return mpi_launcher.find()
    except RuntimeError as error:
        return str(error)


def run(program, *arguments, ranks=2, timeout=60, **environment):
    """Run a program of the folder in some ranks, each with one thread.

    A job that doesn't end within the time is a failure: no fault may leave ranks waiting.
    """
    starter = launcher()
    if isinstance(starter, str):
        pytest.skip(starter)  # says what is missing
    script = [str(PROGRAMS / f"{program}.py"), *map(str, arguments)]
    command, variables = mpi_launcher.command_of(starter, ranks, script)
    if starter.vendor == "Open MPI" and "--oversubscribe" not in command:
        command.insert(1, "--oversubscribe")
    variables |= {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(PROGRAMS)]),
        "OMP_NUM_THREADS": "1",
        **environment,
    }
    process = subprocess.Popen(
        command,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        text, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        text, _ = process.communicate()
        pytest.fail(f"{program} {arguments} still waits after {timeout} s:\n{text[-4000:]}")
    return Outcome(process.returncode, text)


def passes(program, *arguments, **options):
    """Run a program that must end well, and return what it said."""
    outcome = run(program, *arguments, **options)
    assert outcome.status == 0, outcome.text[-6000:]
    return outcome.text


def fails(program, *arguments, **options):
    """Run a program that must end with an error, and return what it said."""
    outcome = run(program, *arguments, **options)
    assert outcome.status != 0, outcome.text[-6000:]
    return outcome.text


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]).status)
