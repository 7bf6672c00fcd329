"""Start programs in several ranks, and read what they say."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import NamedTuple

import pytest

from autograd_cy._environment import mpi_launcher

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).resolve().parents[2]


class Outcome(NamedTuple):
    """Exit status and output of a job, and how long it took."""

    status: int
    text: str
    seconds: float


@functools.cache
def launcher():
    """The launcher of this Python's mpi4py; without one the test is skipped."""
    try:
        return mpi_launcher.find()
    except RuntimeError as error:
        return str(error)


def variables_of_ranks():
    """Return the variables of programs here: where modules are, one thread, and whole lines.

    Python writes the parts of a line one by one where PYTHONUNBUFFERED is set, and ranks share
    their output.
    """
    modules = os.pathsep.join([str(ROOT), str(PROGRAMS)])
    return {"PYTHONPATH": modules, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": ""}


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
    variables |= variables_of_ranks() | environment
    return finish(command, variables, timeout)


def finish(command, variables, timeout, cancel=lambda: None):
    """Run the command of a job to its end, after which none of its processes may be left.

    ``cancel`` is called if the job doesn't end within the time.
    """
    mark = f"RANKS_OF_TEST={uuid.uuid4().hex}"
    name, _, value = mark.partition("=")
    start = time.monotonic()
    process = subprocess.Popen(
        command,
        env={**variables, name: value},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        text, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        stacks = "".join(f"\n{line}" for line in kill(mark).values())
        cancel()
        text, _ = process.communicate()
        pytest.fail(f"{command} still waits after {timeout} s:\n{text[-4000:]}{stacks}")
    seconds = time.monotonic() - start
    until = time.monotonic() + 5
    while processes_of(mark) and time.monotonic() < until:
        time.sleep(0.05)
    left = kill(mark)
    if left:
        cancel()
        pytest.fail(f"{command} has left processes: {left}:\n{text[-4000:]}")
    return Outcome(process.returncode, text, seconds)


def processes_of(mark):
    """Return the processes with a mark among their variables: command lines by number."""
    processes = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (path / "environ").read_bytes():
                words = (path / "cmdline").read_bytes().split(b"\0")
                processes[int(path.name)] = b" ".join(words).decode(errors="replace")
        except OSError:  # it has ended, or is another user's
            continue
    return processes


def kill(mark):
    """Kill the processes with a mark, and return them."""
    processes = processes_of(mark)
    for number in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    return processes


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
