"""The errors that the emulated driver finds, under the unmodified PyCUDA."""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from emulator import control, places
from small import SIZE, arrays, call, empty, free, read, upload

pytestmark = pytest.mark.emulated
breaks = pytest.mark.breaks


@pytest.fixture
def streams(context):
    """Two streams that wait for nothing, as handles' owners of PyCUDA."""
    import pycuda.driver as cuda

    return cuda.Stream(1), cuda.Stream(1)


def found(words):
    """Exactly one finding, with these words in it."""
    (finding,) = control.broken()
    assert words in finding
    return finding


def event_between(a, b):
    import pycuda.driver as cuda

    event = cuda.Event(cuda.event_flags.DISABLE_TIMING)
    event.record(a)
    b.wait_for_event(event)


# Building ---------------------------------------------------------------------------------------


def test_a_copied_checkout_looks_at_its_own_files():
    """Otherwise a change in the copy would leave its kernels as they are."""
    kept = [json.loads(path.read_text()) for path in places.BUILT.glob("objects/*.json")]
    assert kept
    for one in kept:
        own = [path for path in one["files"] if "ext/cuda" in path or "/emulator/" in path]
        assert own and not any(map(os.path.isabs, own)), one


# Computing ---------------------------------------------------------------------------------------


def test_kernels_compute(small):
    x, y = arrays(2)
    px, py, out = upload(x), upload(y), empty()
    small.launch("add", out, px, py)
    np.testing.assert_array_equal(read(out), x + y)
    free(px, py, out)


@pytest.mark.parametrize("order", ["late", "random", "now"])
@pytest.mark.parametrize("seed", range(3))
def test_barriers_and_shuffles(small, order, seed):
    (x,) = arrays(1)
    px, sums, turned = upload(x), empty(4), empty(512)
    with control.ordered(order, seed):
        small.launch("sum_of_blocks", sums, px, grid=4)
        small.launch("turn", turned, px, grid=2, shared=4 * 256)
        parts = [x[i * 256 : (i + 1) * 256] for i in range(4)]
        np.testing.assert_allclose(read(sums, 4), [p.sum() for p in parts], rtol=1e-4)
        expected = np.concatenate([x[255::-1], x[511:255:-1]])
        np.testing.assert_array_equal(read(turned, 512), expected)
    free(px, sums, turned)


@pytest.mark.parametrize("lanes", [32, 20])
def test_votes_and_shuffles_of_a_warp(small, lanes):
    out = empty(8 * lanes)
    small.launch("votes", out, n=lanes, grid=1, block=lanes)
    got = read(out, 8 * lanes).reshape(lanes, 8)
    lane = np.arange(lanes)
    assert (got[:, 0] == len(range(0, lanes, 3))).all()
    assert (got[:, 1] == 1).all() and (got[:, 2] == 0).all()
    np.testing.assert_array_equal(got[:, 3], np.maximum(lane - 1, 0))
    np.testing.assert_array_equal(got[: lanes // 8 * 8, 4], (lane // 8 * 8 + 3)[: lanes // 8 * 8])
    np.testing.assert_array_equal(got[:, 5], lane ^ 1)
    assert (got[:, 6] == lanes // 2).all() and (got[:, 7] == lanes - 1).all()
    free(out)


@pytest.mark.parametrize("seed", range(3))
def test_the_last_block_sees_what_the_others_left(small, seed):
    counter, out = upload(np.zeros(1, np.float32)), empty(9)
    with control.ordered("random", seed):
        small.launch("last_block", out, 0, counter, grid=8, block=64)
        assert read(out, 9)[0] == sum(range(8))
    free(counter, out)


def test_threads_and_blocks_run_in_an_order_by_the_seed(small):
    def ranks(how, seed):
        counter, out = upload(np.zeros(1, np.float32)), empty(512)
        with control.ordered(how, seed):
            small.launch("order_of_threads", out, 0, counter, grid=4, block=128)
            got = read(out, 512).astype(int)
        free(counter, out)
        return got.tolist()

    assert ranks("late", 1) == list(range(512))
    one, other = ranks("random", 1), ranks("random", 2)
    assert one != other and sorted(one) == sorted(other) == list(range(512))
    assert ranks("random", 1) == one


def test_a_captured_program_runs_again(small, streams):
    stream = streams[0]
    x, y = arrays(2)
    px, py, out = upload(x), upload(y), empty()
    graph, program = ctypes.c_void_p(), ctypes.c_void_p()
    assert call("cuStreamBeginCapture_v2", stream.handle, 0) == 0
    small.launch("add", out, px, py, stream=stream)
    small.launch("add", out, out, py, stream=stream)
    assert call("cuStreamEndCapture", stream.handle, ctypes.byref(graph)) == 0
    assert call("cuGraphInstantiateWithFlags", ctypes.byref(program), graph, 0) == 0
    for _ in range(2):
        assert call("cuGraphLaunch", program, stream.handle) == 0
    stream.synchronize()
    np.testing.assert_array_equal(read(out), x + y + y)
    assert call("cuGraphExecDestroy", program) == call("cuGraphDestroy", graph) == 0
    free(px, py, out)


# Order -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_event", [False, True])
def test_a_missing_event_shows_as_poison(small, streams, with_event):
    x, y = arrays(2)
    px, py, between, out = upload(x), upload(y), empty(), empty()
    small.launch("add", between, px, py, stream=streams[0])
    if with_event:
        event_between(*streams)
    small.launch("add", out, between, py, stream=streams[1])
    streams[1].synchronize()
    got = read(out)
    assert np.isnan(got).all() != with_event
    if with_event:
        np.testing.assert_array_equal(got, x + y + y)
    for stream in streams:
        stream.synchronize()
    free(px, py, between, out)


def test_random_order_loses_the_race_for_some_seed(small, streams):
    x, y = arrays(2)
    px, py, between, out = upload(x), upload(y), empty(), empty()
    lost = []
    for seed in range(8):
        call("cuMemsetD8_v2", between, ctypes.c_ubyte(255), 4 * SIZE)
        call("cuCtxSynchronize")
        with control.ordered("random", seed):
            small.launch("add", between, px, py, stream=streams[0])
            small.launch("add", out, between, py, stream=streams[1])
            streams[1].synchronize()
            streams[0].synchronize()
        lost.append(bool(np.isnan(read(out)).all()))
    assert {True, False} == set(lost)
    free(px, py, between, out)


@pytest.mark.parametrize("blocking", [True, False])
def test_the_default_stream_waits_for_blocking_streams_alone(small, context, blocking):
    import pycuda.driver as cuda

    stream = cuda.Stream(0 if blocking else 1)
    x, y = arrays(2)
    px, py, between, out = upload(x), upload(y), empty(), empty()
    small.launch("add", between, px, py, stream=stream)
    small.launch("add", out, between, py)
    assert np.isnan(read(out)).all() != blocking
    stream.synchronize()
    small.launch("add", between, px)  # the other way round
    small.launch("add", out, between, px, stream=stream)
    stream.synchronize()
    assert np.array_equal(read(out), x + np.float32(1) + x) == blocking
    free(px, py, between, out)


def test_pinned_memory_is_read_late_and_other_memory_at_the_call(streams, context):
    import pycuda.driver as cuda

    out = empty()
    for memory in (cuda.pagelocked_empty(SIZE, np.float32), np.empty(SIZE, np.float32)):
        memory[:] = 1
        cuda.memcpy_htod_async(out, memory, streams[0])
        memory[:] = 2
        streams[0].synchronize()
        assert (read(out) == (2 if memory is not None and memory.base is not None else 1)).all()
    free(out)


def test_what_was_asked_for_is_done_step_by_step(small, streams):
    out = empty()
    for _ in range(3):
        small.launch("add", out, out, stream=streams[0])
    assert control.counts()["waiting"] == 3
    answers = [streams[0].is_done() for _ in range(4)]
    assert answers == [False, False, True, True]
    free(out)


def test_times_are_of_a_clock_of_its_own(small, streams):
    import pycuda.driver as cuda

    first, last = cuda.Event(), cuda.Event()
    out = empty()
    first.record(streams[0])
    for _ in range(10):
        small.launch("add", out, out, stream=streams[0])
    last.record(streams[0])
    last.synchronize()
    assert 0.02 < last.time_since(first) < 0.03  # ten launches of 2 us and some
    free(out)


# What a real GPU would do wrong in silence -------------------------------------------------------


def test_a_read_by_the_host_ends_at_the_guilty_line():
    text = "import small, ctypes, pycuda.autoprimaryctx; ctypes.string_at(small.empty(1), 4)"
    done = run_alone(text)
    assert done.returncode == -11


@breaks
@pytest.mark.parametrize("over", [1, 100])
def test_a_write_beyond_an_allocation(small, over):
    px, out = empty(2000), empty()
    small.launch("add", out, px, n=SIZE + over)
    free(px)
    finding = found(f"{4 * over} behind it were written over")
    assert f"({4 * SIZE} bytes" in finding


@breaks
def test_use_after_free(small):
    out = empty()
    call("cuMemFree_v2", out)
    small.launch("add", out, out)
    assert call("cuCtxSynchronize") == control.ILLEGAL_ADDRESS
    found("is used after it was freed")
    assert call("cuCtxSynchronize") == control.ILLEGAL_ADDRESS, "such a failure stays"
    control.reset()
    assert call("cuCtxSynchronize") == 0


@breaks
def test_a_second_free(context):
    out = empty()
    free(out)
    assert call("cuMemFree_v2", out) == control.INVALID_VALUE
    found("is freed twice")


@breaks
def test_use_before_the_allocation_in_stream_order(small, streams):
    out = ctypes.c_uint64()
    assert call("cuMemAllocAsync", ctypes.byref(out), 4 * SIZE, streams[0].handle) == 0
    small.launch("add", out.value, out.value, stream=streams[1])
    assert call("cuStreamSynchronize", streams[1].handle) == control.ILLEGAL_ADDRESS
    found("before its allocation has run in its stream")
    control.reset()
    assert call("cuMemFreeAsync", out.value, streams[0].handle) == 0


def test_memory_in_stream_order(small, streams):
    out, result = ctypes.c_uint64(), empty()
    assert call("cuMemAllocAsync", ctypes.byref(out), 4 * SIZE, streams[0].handle) == 0
    event_between(*streams)
    call("cuMemsetD32Async", out.value, ctypes.c_uint(0), SIZE, streams[1].handle)
    small.launch("add", result, out.value, stream=streams[1])
    event_between(streams[1], streams[0])
    assert call("cuMemFreeAsync", out.value, streams[0].handle) == 0
    streams[1].synchronize()
    assert (read(result) == 1).all()
    streams[0].synchronize()
    free(result)


@breaks
def test_a_free_without_an_event_ends_before_its_use(small, streams):
    out = ctypes.c_uint64()
    assert call("cuMemAllocAsync", ctypes.byref(out), 4 * SIZE, streams[0].handle) == 0
    event_between(*streams)
    small.launch("add", out.value, out.value, stream=streams[1])
    assert call("cuMemFreeAsync", out.value, streams[0].handle) == 0
    streams[0].synchronize()
    assert call("cuStreamSynchronize", streams[1].handle) == control.ILLEGAL_ADDRESS
    found("kernel add: memory at")


@breaks
def test_arguments_of_a_wrong_length(small):
    import pycuda.driver as cuda

    with pytest.raises(cuda.LogicError, match="kernel add takes 40 bytes of arguments, not 48"):
        small.launch("add", 0, extra=bytes(8))
    found("takes 40 bytes")


@breaks
def test_an_address_of_the_host_among_the_arguments(small):
    import pycuda.driver as cuda

    memory, out = np.zeros(SIZE, np.float32), empty()
    with pytest.raises(cuda.Error, match="byte 8 of its arguments.*of the host that is not pinned"):
        small.launch("add", out, memory.ctypes.data)
    free(out)


@breaks
def test_an_address_that_was_never_given_out(small):
    out = empty()
    small.launch("add", out + (1 << 30), out)
    assert call("cuCtxSynchronize") == control.ILLEGAL_ADDRESS
    found("is in no allocation")


@breaks
def test_a_kernel_that_writes_at_a_wrong_address(small):
    out = empty()
    small.launch("write_at_null", out, n=16)
    assert call("cuCtxSynchronize") == control.ILLEGAL_ADDRESS
    found("kernel write_at_null: read or write at 0x40")


@breaks
def test_pinned_memory_that_goes_before_its_copy(context, streams):
    host, out = ctypes.c_void_p(), empty()
    assert call("cuMemHostAlloc", ctypes.byref(host), 4 * SIZE, ctypes.c_uint(0)) == 0
    assert call("cuMemcpyDtoHAsync_v2", host, out, 4 * SIZE, streams[0].handle) == 0
    assert call("cuMemFreeHost", host) == 0
    assert call("cuStreamSynchronize", streams[0].handle) == control.ILLEGAL_ADDRESS
    found("was freed before the copy has run")


@breaks
def test_a_missing_barrier_gives_wrong_results(small):
    (x,) = arrays(1)
    px, out = upload(x), empty(256)
    small.launch("turn_without_a_barrier", out, px, grid=1, shared=4 * 256)
    assert not np.array_equal(read(out, 256), x[255::-1])
    free(px, out)


@breaks
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("half_of_a_barrier", "wait for each other at different barriers"),
        ("barrier_in_a_plain_kernel", "is not an AG_KERNEL_TOGETHER"),
        ("turn_out_of_bounds", "shared memory was written beyond its end"),
        ("write_at_an_odd_address", "an address that is not a multiple of what lies there"),
        ("index_outside", "an index outside of an array"),
    ],
)
def test_wrong_kernels(small, name, words):
    px, out = empty(), empty()
    small.launch(name, out, px, grid=1, block=128, shared=4 * 128)
    assert call("cuCtxSynchronize") != 0
    found(f"kernel {name}: ")
    assert words in control.last_message()


def run_alone(text, **settings):
    env = places.environment(**settings)
    env["PYTHONPATH"] += os.pathsep + str(Path(__file__).parent)
    return subprocess.run([sys.executable, "-c", text], env=env, capture_output=True, text=True)
