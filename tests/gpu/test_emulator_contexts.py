"""Contexts, devices, limits, failures and counts of the emulated driver."""

import ctypes
import threading

import numpy as np
import pytest
from emulator import control
from small import SIZE, Small, arrays, call, driver, empty, free, read, upload
from test_emulator import found, run_alone

pytestmark = pytest.mark.emulated
breaks = pytest.mark.breaks


# Contexts ----------------------------------------------------------------------------------------


def test_a_thread_has_no_context_of_its_own(context):
    results = []

    def work():
        at = ctypes.c_uint64()
        results.append(call("cuMemAlloc_v2", ctypes.byref(at), 64))
        results.append(call("cuCtxSetCurrent", ctypes.c_void_p(context.handle)))
        results.append(call("cuMemAlloc_v2", ctypes.byref(at), 64))
        results.append(call("cuMemFree_v2", at.value))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == [control.INVALID_CONTEXT, 0, 0, 0]


def test_kernels_and_streams_of_another_context_are_refused(small, second):
    import pycuda.driver as cuda

    second.pop()
    kernel = small.module.get_function("add")
    second.push()
    with pytest.raises(cuda.LogicError, match="the module is of another context"):
        small.launch("add", 0)
    with pytest.raises(cuda.LogicError, match="the kernel was loaded in another context"):
        kernel._launch_kernel((1,), (1,), bytes(40), 0, None)
    there = cuda.Stream(1)
    second.pop()
    try:
        with pytest.raises(cuda.LogicError, match="stream of the launch is of another context"):
            small.launch("add", 0, stream=there)
        event = cuda.Event()
        with pytest.raises(cuda.LogicError, match="recorded on a stream of another context"):
            event.record(there)
    finally:
        second.push()


@breaks
def test_memory_of_another_device_needs_peer_access(context, second):
    theirs = empty()
    there = Small()
    second.pop()
    ours = upload(np.ones(SIZE, np.float32))
    second.push()
    there.launch("add", theirs, ours)
    assert call("cuCtxSynchronize") == control.ILLEGAL_ADDRESS
    found("device 1 has no access to")
    control.reset()
    second.enable_peer_access(context)
    there.launch("add", theirs, ours)
    assert (read(theirs) == 2).all()
    second.disable_peer_access(context)
    free(theirs, ours)


def test_copies_between_devices(context, second):
    (x,) = arrays(1)
    there = upload(x)
    second.pop()
    here, before = empty(), control.counts()
    contexts = (ctypes.c_void_p(c.handle) for c in (context, second))
    to, of = contexts
    assert call("cuMemcpyPeerAsync", here, to, there, of, 4 * SIZE, ctypes.c_void_p()) == 0
    np.testing.assert_array_equal(read(here), x)
    assert control.spent(before)["copies_between"] == 1
    free(here)
    second.push()
    free(there)


def test_what_is_known_about_an_address(context):
    at, kind, ordinal, start = empty(), ctypes.c_uint(), ctypes.c_int(-1), ctypes.c_uint64()
    assert call("cuPointerGetAttribute", ctypes.byref(kind), ctypes.c_int(2), at + 8) == 0
    assert call("cuPointerGetAttribute", ctypes.byref(ordinal), ctypes.c_int(9), at + 8) == 0
    assert call("cuPointerGetAttribute", ctypes.byref(start), ctypes.c_int(11), at + 8) == 0
    assert (kind.value, ordinal.value, start.value) == (2, 0, at)
    mine = np.zeros(1)
    result = call("cuPointerGetAttribute", ctypes.byref(kind), ctypes.c_int(2), mine.ctypes.data)
    assert result == control.INVALID_VALUE
    free(at)


def test_a_forked_child_can_do_nothing():
    text = """
import os, small, pycuda.autoprimaryctx
if os.fork() == 0:
    os._exit(small.driver().cuCtxSynchronize())
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    assert run_alone(text).stdout.split() == [str(control.NOT_INITIALIZED)]


@pytest.mark.parametrize("devices", [0, 1, 3])
def test_as_many_devices_as_one_wants(devices):
    text = "import pycuda.driver as d; d.init(); print(d.Device.count())"
    done = run_alone(text, EMU_DEVICES=devices)
    assert done.stdout.strip() == (str(devices) if devices else "")
    assert ("no CUDA-capable device" in done.stderr) == (devices == 0)


# Limits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [
        {"grid": 0},
        {"block": 1025},
        {"shared": 48 * 1024 + 1},
        {"name": "sum_of_blocks", "block": 512},
    ],
)
def test_launches_beyond_what_a_device_has(small, how):
    import pycuda.driver as cuda

    with pytest.raises(cuda.LogicError, match="invalid argument.*grid .* threads"):
        small.launch(**{"name": "add", "out": 0, **how})


def memory():
    """Return the free memory, and all."""
    left, total = ctypes.c_size_t(), ctypes.c_size_t()
    assert call("cuMemGetInfo_v2", ctypes.byref(left), ctypes.byref(total)) == 0
    return left.value, total.value


@pytest.fixture
def one_mib_left(context):
    left, total = memory()
    control.limit(total - left + (1 << 20))
    yield
    control.limit(total)


def test_memory_has_a_limit(one_mib_left):
    at, whole = ctypes.c_uint64(), memory()[1]
    assert call("cuMemAlloc_v2", ctypes.byref(at), 1 << 21) == control.OUT_OF_MEMORY
    first = empty(1 << 17)
    assert memory() == (1 << 19, whole)
    assert call("cuMemAlloc_v2", ctypes.byref(at), (1 << 19) + 1) == control.OUT_OF_MEMORY
    free(first)
    free(empty(1 << 18))


def test_frees_that_wait_make_room(one_mib_left):
    import pycuda.driver as cuda

    stream, at = cuda.Stream(1), ctypes.c_uint64()
    for _ in range(3):
        assert call("cuMemAllocAsync", ctypes.byref(at), 1 << 20, stream.handle) == 0
        assert call("cuMemFreeAsync", at.value, stream.handle) == 0
    stream.synchronize()


def test_a_pool_keeps_what_its_threshold_says(context):
    import pycuda.driver as cuda

    stream, pool, at = cuda.Stream(1), ctypes.c_void_p(), ctypes.c_uint64()
    assert call("cuDeviceGetDefaultMemPool", ctypes.byref(pool), ctypes.c_int(0)) == 0

    def reserved():
        value = ctypes.c_uint64()
        assert call("cuMemPoolGetAttribute", pool, ctypes.c_int(5), ctypes.byref(value)) == 0
        return value.value

    for threshold in (0, 1 << 30):
        value = ctypes.c_uint64(threshold)
        assert call("cuMemPoolSetAttribute", pool, ctypes.c_int(4), ctypes.byref(value)) == 0
        assert call("cuMemAllocAsync", ctypes.byref(at), 4096, stream.handle) == 0
        assert reserved() >= 4096
        assert call("cuMemFreeAsync", at.value, stream.handle) == 0
        stream.synchronize()
        assert reserved() == (4096 if threshold else 0)
    assert (
        call("cuMemPoolSetAttribute", pool, ctypes.c_int(4), ctypes.byref(ctypes.c_uint64())) == 0
    )
    assert call("cuMemPoolTrimTo", pool, 0) == 0 and reserved() == 0


# Failures and counts -----------------------------------------------------------------------------


def test_any_call_can_fail(context):
    control.fail("cuMemAlloc", after=1, code=control.OUT_OF_MEMORY)
    first = empty(1)
    at = ctypes.c_uint64()
    results = [call("cuMemAlloc_v2", ctypes.byref(at), 64) for _ in range(2)]
    assert results == [control.OUT_OF_MEMORY, 0]
    free(first, at.value)
    control.fail("cuCtxSynchronize", times=3)
    assert [call("cuCtxSynchronize") for _ in range(4)] == [control.UNKNOWN] * 3 + [0]


@breaks
def test_a_context_can_be_broken(context):
    control.break_context(0, control.LAUNCH_FAILED)
    at = ctypes.c_uint64()
    assert call("cuMemAlloc_v2", ctypes.byref(at), 64) == control.LAUNCH_FAILED
    text = ctypes.c_char_p()
    assert driver().cuGetErrorString(control.LAUNCH_FAILED, ctypes.byref(text)) == 0
    assert text.value.startswith(b"unspecified launch failure")


def test_everything_is_counted(small):
    import pycuda.driver as cuda

    control.reset()
    before = control.counts()
    (x,) = arrays(1)
    px, out, stream = upload(x), empty(), cuda.Stream(1)
    small.launch("add", out, px, stream=stream)
    small.launch("add", out, out, stream=stream)
    stream.synchronize()
    read(out)
    spent = control.spent(before)
    assert spent["launches"] == 2 and control.launches() == {"add": 2}
    assert spent["allocations"] == spent["live_allocations"] == 2
    assert spent["live_bytes"] == 8 * SIZE == spent["bytes_in"] + spent["bytes_out"]
    assert spent["copies_in"] == spent["copies_out"] == 1 and spent["blocking_copies"] == 2
    assert spent["stream_synchronizations"] == spent["synchronizations"] == 1
    assert spent["streams_created"] == spent["live_streams"] == 1
    assert control.report()["calls_of"]["cuLaunchKernel"] == 2
    free(px, out)
    assert control.spent(before)["frees"] == 2


def test_what_ran_can_be_listed(small):
    out = empty()
    with control.traced() as names:
        small.launch("order_of_threads", out, 0, out)
        small.launch("add", out, out)
        control.finish()
    assert names == ["order_of_threads", "add"]
    free(out)


def test_launches_that_block_fail_where_they_are(small):
    import pycuda.driver as cuda

    out = empty()
    control.launch_blocking(True)
    try:
        with pytest.raises(cuda.Error, match="write_at_null"):
            small.launch("write_at_null", out, n=16)
    finally:
        control.launch_blocking(False)
        control.reset()
    free(out)


def test_launches_of_many_threads_with_the_gil_held(small, context):
    """PyCUDA keeps the GIL in a launch, and others wait for the device without it."""
    import pycuda.driver as cuda

    handle, out = ctypes.c_void_p(context.handle), empty(4 * 64)
    streams = [cuda.Stream(1) for _ in range(4)]
    failures = []

    def work(i):
        call("cuCtxSetCurrent", handle)
        for _ in range(200):
            small.launch("add", out + 256 * i, out + 256 * i, n=64, stream=streams[i])
            failures.extend([1] * (call("cuStreamSynchronize", streams[i].handle) != 0))
        call("cuCtxSetCurrent", ctypes.c_void_p())

    call("cuMemsetD8_v2", out, ctypes.c_ubyte(0), 4 * 256)
    call("cuCtxSynchronize")
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures and (read(out, 256) == 200).all()
    free(out)


@pytest.mark.parametrize("image", [b"\x7fELF" + bytes(60), b"nothing that is known" + bytes(60)])
def test_images_that_are_none(context, image):
    import pycuda.driver as cuda

    words = "no kernel image is available" if image[1:4] == b"ELF" else "kernel image is invalid"
    with pytest.raises(cuda.Error, match=words):
        cuda.module_from_buffer(image)
