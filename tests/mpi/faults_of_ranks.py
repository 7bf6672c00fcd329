"""The faults of programs/faults.py, and their messages, whatever starts the ranks."""

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
    "large_computes": ["all_reduce of float32 [1048576]", "its timeout", "rank 1", "no answer"],
    "large_late": ["all_reduce of float32 [1048576]", "its timeout", "rank 1", "no answer"],
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
    "workers": ["an exception on rank 1", "KeyError: 'beside workers'"],
    "alarm": ["an exception on rank 1", "TimeoutError: rang"],
}
# Faults whose message is printed by one rank.
ONCE = ["shape", "dtype", "operation", "skipped", "exits", "stopped", "modules_differ"]
