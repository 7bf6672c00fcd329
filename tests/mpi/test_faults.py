"""No fault of one rank leaves the others waiting: the job ends, and says why."""

import pytest
from disks import check_first_checkpoint, small_disk
from faults_of_ranks import MESSAGES, ONCE
from grouping import each
from ranks import fails, launcher, passes, run


@each("fault", sorted(MESSAGES))
def test_a_fault_ends_the_job_with_its_message(fault):
    text = fails("faults", fault, timeout=40)
    for part in MESSAGES[fault]:
        assert part in text, text[-4000:]


@each("fault", ONCE)
def test_the_message_of_a_fault_is_printed_once(fault):
    text = fails("faults", fault, timeout=40)
    assert text.count("autograd_cy.distributed: ") == 1, text


@each("fault", ["killed", "killed_at_the_end", "killed_in_backward", "never_begins"])
def test_a_rank_that_is_gone_ends_the_job(fault):
    fails("faults", fault, timeout=40)


def test_a_rank_that_ends_by_os_exit_ends_the_job():
    outcome = run("faults", "vanishes", timeout=40)
    # MPICH's mpirun kills the others at once, and reports success.
    if launcher().vendor == "Open MPI":
        assert outcome.status != 0
        assert "rank 1" in outcome.text, outcome.text


def test_calls_in_another_order_are_noticed_where_each_is_compared():
    text = fails("faults", "order", timeout=40, TORCH_DISTRIBUTED_DEBUG="DETAIL")
    assert "ranks of group 0 don't agree" in text


def test_ranks_may_end_at_different_times():
    assert "plotted" in passes("quiet_end")


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(
    "case",
    [
        "begun_by_a_handler",
        "by_handlers",
        "by_threads",
        "futures_by_threads",
        "failed",
        "interrupted",
        "interrupted_before",
        "while_results_are_brought",
        "tested_before",
        "destroyed",
        "after_a_failed_backward",
    ],
)
def test_each_wait_for_an_operation_has_its_result_or_its_error(case, ranks):
    text = passes("waits", case, ranks=ranks, AUTOGRAD_CY_MPI_THREAD="1")
    assert text.count("waited") == ranks


def test_an_operation_that_an_error_has_broken_is_never_complete():
    text = fails("waits", "out_of_memory", timeout=40, AUTOGRAD_CY_MPI_THREAD="1")
    assert "can't go on; end the job" in text, text
    assert "waited" not in text and "AssertionError" not in text, text


@pytest.mark.parametrize("switch", ["0", "1"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_forked_processes_leave_mpi_to_their_parents(ranks, switch):
    text = passes("forks", ranks=ranks, AUTOGRAD_CY_MPI_THREAD=switch)
    assert text.count("whole") == text.count("KeyError: 'of a child'") == ranks
    assert "ends the job" not in text


def test_a_process_that_was_started_alone_is_told_so():
    text = fails("quiet_end", ranks=1, WORLD_SIZE="2")
    assert "2 ranks are asked for, and this process was started alone" in text
    assert "mpirun -n 2" in text


def test_a_full_disk_ends_the_job_and_leaves_the_checkpoint_of_before(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        text = fails("saving", "full_disk", disk, timeout=40)
        assert text.count("CheckpointException: ") == 1, text
        assert "No space left on device; free space" in text, text
        assert text.count("autograd_cy.distributed: ") == 1, text
        check_first_checkpoint(disk)


def test_a_rank_killed_while_saving_leaves_the_checkpoint_of_before(tmp_path):
    fails("saving", "killed", tmp_path, timeout=40)
    check_first_checkpoint(tmp_path)
