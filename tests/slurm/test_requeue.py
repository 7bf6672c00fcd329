"""A job that SLURM signals before its time is out saves, goes back to the queue, and resumes."""

import os
import re
import shlex
import subprocess
import sys
import time

import pytest
import ranks

EXAMPLE = str(ranks.ROOT / "examples" / "train_mpi.py")
ARGUMENTS = ["--epochs", "3"]


def weights_of(text):
    return re.findall(r"weights (\w+)", text)


def launch_of(starter):
    """Return the line of the job script that starts two ranks, and the signal's option.

    SLURM signals the steps of srun. Ranks of mpirun are no step on the first node: the script gets
    the signal, and is mpirun itself, which passes it on.
    """
    if starter.vendor == "MPICH":
        return ["srun", "-n", "2", "--mpi=pmi2", sys.executable, EXAMPLE], "USR1@20"
    command, _ = ranks.mpi_launcher.command_of(starter, 2, [EXAMPLE])
    return ["exec", *command], "B:USR1@20"


def test_a_signalled_job_goes_on_where_it_stopped(jobs, tmp_path):
    pytest.importorskip("sklearn", reason="the example's data are of scikit-learn")
    starter = ranks.launcher()
    if isinstance(starter, str):
        pytest.skip(starter)
    reference = ranks.mpi_launcher.command_of(starter, 2, [EXAMPLE, *ARGUMENTS])[0]
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        reference, env=jobs.variables | as_root, capture_output=True, text=True, timeout=120
    )
    assert weights_of(done.stdout), done.stderr

    line, signal = launch_of(starter)
    folder, output = tmp_path / "checkpoints", tmp_path / "output"
    # Longer than until the signal, which comes 10 to 40 s after the start.
    line += [*ARGUMENTS, "--checkpoints", str(folder), "--pause", "0.7", "--save-every", "1000"]
    options = ["-n2", "--time=1", f"--signal={signal}", "--requeue", "--open-mode=append"]
    jobs.variables |= as_root
    number = jobs.batch(tmp_path / "job.sh", shlex.join(line), *options, f"-o{output}")
    until = time.monotonic() + 240
    while jobs.ask("squeue", "-h", "-o", "%i", f"--jobs={number}").strip():
        assert time.monotonic() < until, output.read_text()
        time.sleep(0.5)
    text = output.read_text()
    assert "stopped at step" in text, text
    steps = re.findall(r"stopped at step (\d+)", text)
    assert re.findall(r"resumed at step (\d+)", text) == steps, text
    assert weights_of(text) == weights_of(done.stdout), text
    assert "Restarts=0" not in jobs.ask("scontrol", "show", "job", number)
    assert not [name for name in os.listdir(folder) if "incomplete" in name]
