"""No fault of one rank leaves the others waiting: the job ends, and says why."""

import pytest
from grouping import each
from ranks import fails, passes

ALL_ALIKE = "Ranks must make the same calls in the same order"
# Fault -> what the message says.
MESSAGES = {
    "shape": ["all_reduce of float32 [2] by SUM", "all_reduce of float32 [3] by SUM"],
    "dtype": ["broadcast of float32 [2] from rank 0", "broadcast of int32 [2] from rank 0"],
    "operation": [
        "rank 0 called all_reduce of float32 [5]",
        "rank 1 called broadcast of float32 [5]",
    ],
    "skipped": [
        "all_reduce of float32 [2] by SUM (call 2 of group 0) waits for rank 1",
        "has ended",
    ],
    "exits": ["waits for rank 1", "has ended"],
    "exception": ["an exception on rank 1", "KeyError: 'ouch'"],
    "stopped": ["its timeout", "rank 1", "gives no answer: it computes, is stopped or is gone"],
    "computes": ["its timeout", "rank 1", "gives no answer: it computes, is stopped or is gone"],
    "monitored": ["timed out in monitoredBarrier after 3000 ms", "1 (gives no answer"],
    "message_dtype": ["recv of float64 [3] from rank 0", "another dtype or tag"],
    "message_size": ["recv of float32 [2] from rank 0", "another number of elements"],
    "splits": ["all_to_all_single: rank 0 sends 2 elements to rank 1, which expects 1"],
    "splits_of_one": ["rank 0 called all_to_all_single of float32 with sizes; rank 1 called"],
    "leaf": ["a leaf Variable that requires grad", "distributed.nn.functional"],
    "modules_differ": ["rank 0 has weight: float32 [3, 3], and rank 1 weight: float32 [4, 3]"],
    "unused": ["third.weight, third.bias had no gradient", "find_unused_parameters=True"],
    "second_backward": ["a second backward after one forward pass", "no_sync()"],
    "added": ["fourth.weight, fourth.bias record now, and didn't when the module was wrapped"],
    "begins_again": ["init_process_group", "waits for rank 1", "has ended"],
    "alarm": ["an exception on rank 1", "TimeoutError: rang"],
}


@each("fault", sorted(MESSAGES))
def test_a_fault_ends_the_job_with_its_message(fault):
    text = fails("faults", fault, timeout=40)
    for part in MESSAGES[fault]:
        assert part in text, text[-4000:]


@each("fault", ["shape", "dtype", "operation", "skipped", "exits", "stopped", "modules_differ"])
def test_the_message_of_a_fault_is_printed_once(fault):
    text = fails("faults", fault, timeout=40)
    assert text.count("autograd_cy.distributed: ") == 1, text


@each("fault", ["killed", "killed_in_backward"])
def test_a_rank_that_is_killed_ends_the_job(fault):
    fails("faults", fault, timeout=40)


def test_calls_in_another_order_are_noticed_where_each_is_compared():
    text = fails("faults", "order", timeout=40, TORCH_DISTRIBUTED_DEBUG="DETAIL")
    assert "ranks of group 0 don't agree" in text


def test_ranks_may_end_at_different_times():
    assert "plotted" in passes("quiet_end")


@pytest.mark.parametrize("ranks", [1, 2])
def test_forked_processes_leave_mpi_to_their_parents(ranks):
    text = passes("forks", ranks=ranks)
    assert text.count("whole") == text.count("KeyError: 'of a child'") == ranks
    assert "ends the job" not in text


def test_a_process_that_was_started_alone_is_told_so():
    text = fails("quiet_end", ranks=1, WORLD_SIZE="2")
    assert "2 ranks are asked for, and this process was started alone" in text
    assert "mpirun -n 2" in text
