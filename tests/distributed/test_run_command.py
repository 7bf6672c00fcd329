"""``autograd-cy run``: the command line that starts ranks."""

import os
import sys

import pytest

from autograd_cy.__main__ import main
from autograd_cy._environment import mpi_launcher


@pytest.fixture
def started(monkeypatch):
    """The command lines that would have replaced this process."""
    lines = []
    launcher = mpi_launcher.Launcher("/opt/mpi/bin/mpiexec", "MPICH")
    monkeypatch.setattr(mpi_launcher, "find", lambda: launcher)
    monkeypatch.setattr(os, "execvpe", lambda program, line, variables: lines.append(line))
    return lines


PYTHON = [sys.executable]
AS_TORCH = [sys.executable, "-m", "autograd_cy", "as-torch"]


@pytest.mark.parametrize(("prefix", "python"), [([], PYTHON), (["as-torch"], AS_TORCH)])
@pytest.mark.parametrize("script", [[__file__, "--lr", "0.1"], ["-m", "package.module"]])
def test_ranks_are_started_by_the_launcher(started, prefix, python, script):
    main(["run", "-n", "3", *prefix, *script])
    assert started == [["/opt/mpi/bin/mpiexec", "-n", "3", *python, *script]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "how many ranks, and which script?"),
        (["-n", "0", __file__], "how many ranks"),
        (["-n", "two", __file__], "how many ranks"),
        (["-n", "2", "as-torch"], "which script?"),
        (["-n", "2", "nothing.py"], "there is no script nothing.py"),
        (["-n", "2", "as-torch", "nothing.py"], "there is no script nothing.py"),
    ],
)
def test_what_cannot_be_started_is_said(started, capsys, words, message):
    assert main(["run", *words]) == 2
    assert message in capsys.readouterr().err
    assert started == []


def test_the_way_out_is_said_without_a_launcher(monkeypatch, capsys):
    def find():
        raise RuntimeError("no mpirun is on PATH")

    monkeypatch.setattr(mpi_launcher, "find", find)
    assert main(["run", "-n", "2", __file__]) == 1
    assert capsys.readouterr().err == "autograd-cy run: no mpirun is on PATH\n"
