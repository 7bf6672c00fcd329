"""Ranks that srun, salloc and sbatch start: one world, or an error; and faults under bare srun."""

import sys

import pytest
import ranks
from disks import check_first_checkpoint, small_disk
from faults_of_ranks import MESSAGES, ONCE
from grouping import each

PLACES = [f"RANK={rank}, WORLD_SIZE=2, LOCAL_RANK={rank}, LOCAL_WORLD_SIZE=2" for rank in range(2)]
ALONE = "srun started 2 processes, but MPI sees one: each would train alone"


@pytest.fixture
def mpi4py():
    """The name of mpi4py's MPI; without one the test is skipped."""
    starter = ranks.launcher()
    if isinstance(starter, str):
        pytest.skip(starter)
    return starter.vendor


def test_srun_with_a_protocol_of_mpi_gives_one_world(jobs):
    outcome = jobs.srun_of_mpich("world")
    assert outcome.status == 0, outcome.text
    assert "a world of 2" in outcome.text
    assert all(place in outcome.text for place in PLACES), outcome.text


@each("options", [(), ("--mpi=none",), ("--mpi=pmi2",)])
def test_single_processes_of_srun_are_an_error(jobs, mpi4py, options):
    if mpi4py == "MPICH" and "--mpi=pmi2" in options:
        return  # they are one world
    outcome = jobs.srun("world", options=options)
    assert outcome.status != 0
    assert ALONE in outcome.text, outcome.text
    assert "try srun --mpi=list and srun --mpi=pmix or --mpi=pmi2, or use mpirun" in outcome.text
    assert "a world of" not in outcome.text


def test_one_process_of_srun_is_a_world(jobs, mpi4py):
    outcome = jobs.srun("world", options=("-n", 1))
    assert outcome.status == 0, outcome.text
    assert "a world of 1" in outcome.text


def test_mpirun_within_salloc_gives_one_world(jobs, mpi4py):
    script = str(ranks.PROGRAMS / "world.py")
    command, variables = ranks.mpi_launcher.command_of(ranks.launcher(), 2, [script])
    variables = {name: value for name, value in variables.items() if name.startswith("OMPI_")}
    outcome = jobs.run("salloc", "-n", 2, *command, **variables)
    assert outcome.status == 0, outcome.text
    assert all(place in outcome.text for place in PLACES), outcome.text


@each("command", ["salloc", "sbatch"])
def test_python_of_a_job_without_srun_is_a_world_of_one(jobs, command, tmp_path):
    program = [sys.executable, str(ranks.PROGRAMS / "world.py")]
    if command == "salloc":
        text = jobs.run("salloc", "-n", 2, *program).text
    else:
        jobs.batch(tmp_path / "job.sh", " ".join(program), "-n2", "--wait", f"-o{tmp_path}/out")
        text = (tmp_path / "out").read_text()
    assert "a world of 1" in text, text


@each("fault", sorted(MESSAGES))
def test_a_fault_under_bare_srun_ends_the_job_with_its_message(jobs, fault):
    outcome = jobs.srun_of_mpich("faults", fault, timeout=30)
    assert outcome.status != 0, outcome.text
    for part in MESSAGES[fault]:
        assert part in outcome.text, outcome.text[-4000:]
    if fault in ONCE:
        assert outcome.text.count("autograd_cy.distributed: ") == 1, outcome.text


@each("fault", ["killed", "killed_at_the_end", "killed_in_backward"])
def test_srun_says_once_which_rank_was_killed(jobs, fault):
    outcome = jobs.srun_of_mpich("faults", fault, timeout=30)
    assert outcome.status != 0, outcome.text
    assert outcome.text.count("task 1: Killed") == 1, outcome.text
    assert outcome.text.count("autograd_cy.distributed: ") == 1, outcome.text


def test_a_rank_that_ends_by_os_exit_under_bare_srun_ends_the_job(jobs):
    outcome = jobs.srun_of_mpich("faults", "vanishes", timeout=30)
    assert outcome.status != 0, outcome.text
    assert "rank 1 on" in outcome.text, outcome.text


def test_a_rank_that_ends_before_mpi_starts_ends_the_job(jobs):
    outcome = jobs.srun_of_mpich("faults", "never_begins", timeout=30)
    assert outcome.status != 0, outcome.text
    assert outcome.text.count("in init_process_group for MPI to start") == 1, outcome.text


def test_a_full_disk_under_bare_srun_leaves_the_checkpoint_of_before(jobs, tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        outcome = jobs.srun_of_mpich("saving", "full_disk", disk, timeout=30)
        assert outcome.status != 0, outcome.text
        assert outcome.text.count("CheckpointException: ") == 1, outcome.text
        assert "No space left on device; free space" in outcome.text, outcome.text
        assert outcome.text.count("autograd_cy.distributed: ") == 1, outcome.text
        check_first_checkpoint(disk)


def test_a_rank_killed_while_saving_under_bare_srun_leaves_the_checkpoint(jobs, tmp_path):
    outcome = jobs.srun_of_mpich("saving", "killed", tmp_path, timeout=30)
    assert outcome.status != 0, outcome.text
    assert outcome.text.count("task 1: Killed") == 1, outcome.text
    check_first_checkpoint(tmp_path)
