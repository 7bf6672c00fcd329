"""A SLURM of one node for the tests of this folder, which reuse the programs of tests/mpi."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "mpi"))

import ranks
from one_node import OneNode, missing


class Jobs:
    """Starts the programs of ``tests/mpi/programs`` by SLURM."""

    def __init__(self, node):
        self._node = node
        self.variables = os.environ | node.variables | ranks.variables_of_ranks()
        self.ask = node.ask

    def _cancel(self):
        self.ask("scancel", "--signal=KILL", "--user=root")
        self.ask("scancel", "--user=root")

    def run(self, *command, timeout=60, **environment):
        """Run a command of SLURM to its end."""
        words = [str(word) for word in command]
        return ranks.finish(words, self.variables | environment, timeout, self._cancel)

    def srun(self, program, *arguments, options=(), **others):
        """Run a program by srun in two ranks, as processes that srun doesn't kill by itself."""
        script = ranks.PROGRAMS / f"{program}.py"
        command = ("srun", "-n", 2, *options, sys.executable, script, *arguments)
        return self.run(*command, **others)

    def srun_of_mpich(self, program, *arguments, **others):
        """Run a program by srun, with the protocol that MPICH and Debian's SLURM have in common."""
        starter = ranks.launcher()
        if isinstance(starter, str):
            pytest.skip(starter)
        if starter.vendor != "MPICH":
            pytest.skip(f"{starter.vendor} and Debian's srun have no protocol in common")
        return self.srun(program, *arguments, options=("--mpi=pmi2",), **others)

    def batch(self, path, script, *options):
        """Submit a script, and return the job's number."""
        path.write_text(f"#!/bin/bash\n{script}\n")
        done = subprocess.run(
            ["sbatch", "--parsable", *options, str(path)],
            env=self.variables,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture(scope="session")
def node():
    """A running SLURM; without its programs, root or MPI the tests are skipped."""
    starter = ranks.launcher()
    reason = starter if isinstance(starter, str) else missing()
    if reason:
        pytest.skip(reason)
    with OneNode() as running:
        yield running


@pytest.fixture
def jobs(node):
    return Jobs(node)
