"""Tests of the engine, streams, bad values and indices on the asynchronous device, on CUDA.

What these ask of that device and the driver doesn't know isn't taken: that reads and calls of
services are counted by operator, that a wait is left out, that a service fails.
"""

import contextlib
import gc

import pytest
from borrowed import NAME, borrowed, current, generators, near  # noqa: F401
from emulator import control

import autograd_cy as ag

streams = borrowed("test_streams_of_backward")
draws = borrowed("test_random_on_a_device", own_name="drawdevice")
draws.NoReads = contextlib.nullcontext  # the host draws
MODULES = {module.__name__: module for module in (streams, draws)}
ORDERS = [("late",), ("now",), *(("random", seed) for seed in range(6))]

TAKEN = {
    "test_streams_of_backward": """
        test_one_stream_needs_no_wait test_nodes_run_on_the_stream_of_their_forward
        test_the_callers_streams_come_back_after_an_error
        test_a_backward_that_fails_leaves_its_gradients_for_the_caller
        test_a_deep_backward_has_the_streams_of_its_caller
        test_a_deep_backward_has_the_device_of_its_caller""",
    "test_bad_values_on_a_device": """
        test_bad_integers_are_the_error_of_the_cpu test_a_bad_value_is_the_error_of_the_cpu
        x_there""",
    "test_indices_of_the_host": """
        test_what_is_selected_and_written_is_that_of_the_cpu test_operators_take_them_too
        test_bad_ones_are_the_errors_of_the_cpu""",
    "test_failing_device": """
        test_an_index_that_does_not_exist test_tensors_of_two_devices test_both_devices_are_named
        test_a_gradient_of_another_device test_a_stream_of_another_device test_what_is_no_stream
        test_peak_memory_of_a_step_is_given_back""",
    "test_fast_ways": """
        test_the_gradient_of_a_leaf_stays_where_it_is
        test_the_gradient_of_a_base_is_laid_out_in_place
        test_a_gradient_from_another_device_is_refused
        test_expanded_memory_is_filled_without_a_read
        test_checkpoints_compute_in_the_regions_of_their_forward test_forward_mode_goes_along""",
    "test_records_on_a_device": "test_distances_are_those_of_the_cpu",
    "test_random_on_a_device": """
        test_a_seed_gives_the_same_numbers_on_all_devices test_dropout_of_a_device
        test_each_device_has_a_default_generator test_a_generator_knows_its_device
        test_a_generator_of_another_device_is_refused
        test_copies_and_pickles_stay_on_the_device
        test_the_state_of_the_cpu_is_that_of_get_rng_state test_states_go_between_devices
        test_a_checkpoint_draws_again_what_it_drew
        test_device_states_of_checkpoints test_vmap_draws_on_the_device""",
}
for _module, _names in TAKEN.items():
    _found = MODULES.get(_module) or borrowed(_module)
    for _name in _names.split():
        globals()[_name] = getattr(_found, _name)


class Driver:
    """The interface that tests of the asynchronous device use, for CUDA."""

    def state(self):
        memory = ag.cuda.memory_stats()
        waits = control.report()["calls_of"].get("cuStreamWaitEvent", 0)
        return {"waits": waits, "blocks": memory["active.all.current"], "reads": 0, "calls": {}}

    def run_all(self):
        for index in (0, 1):
            ag.cuda.synchronize(index)


@pytest.fixture
def late():
    return Driver()


@pytest.fixture
def device():
    return NAME


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "-".join(map(str, order)))
@pytest.mark.parametrize("scenario", streams.SCENARIOS)
def test_backward_over_streams_in_any_legal_order(scenario, order):
    expected = [near(t) for t in scenario(streams.Place(None), lambda: None)]
    control.order(*order)
    found = [near(t) for t in scenario(streams.Place(NAME), lambda: None)]
    gc.collect()
    assert found == expected


def test_errors_are_kept_for_each_device_and_the_first_is_told():
    """Errors of kernels of the device wait; those of the host come at once."""
    x = [ag.tensor([4, 5, 6], device=f"{NAME}:{index}") for index in (0, 1)]
    zero = ag.tensor([2, 0, 1])
    x[1] // zero.to(x[1].device)
    x[0] % zero.to(x[0].device)
    x[0] // zero.to(x[0].device)
    later = x[0] + 1
    for index in (1, 0):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            current(index).synchronize()
        current(index).synchronize()
    assert later.tolist() == [5, 6, 7]
