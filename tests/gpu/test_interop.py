"""Memory of GPUs shared with others: DLPack, the CUDA array interface, PyCUDA's arrays and kernels.

Libraries that speak these protocols aren't here; small objects that follow them to the letter are.
Streams of the emulated driver run late, so that a wait that is missing shows as wrong values.
"""

import gc
import os
import threading
import weakref

import numpy as np
import pytest
from emulator import build, control

import autograd_cy as ag


class ByInterface:
    """An array of somebody who speaks the CUDA array interface, on memory of a tensor."""

    def __init__(self, tensor, **changes):
        self.kept = tensor
        shown = dict(tensor.__cuda_array_interface__)
        self.__cuda_array_interface__ = shown | changes


class ByDLPack:
    """A producer of capsules that notes how it was asked; ``old`` ones know no versions."""

    def __init__(self, tensor, old=False):
        self.tensor, self.old, self.asked = tensor, old, []

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **options):
        self.asked.append(options)
        if self.old and options.keys() - {"stream"}:
            raise TypeError("unexpected keyword argument")
        return self.tensor.__dlpack__(**options)


@pytest.fixture
def side():
    """A stream that isn't the default one."""
    return ag.cuda.Stream()


def handle(stream):
    return stream.cuda_stream


@pytest.fixture
def no_copies():
    """Check that nothing is copied, allocated or waited for by the host meanwhile."""
    ag.ones(3, device="cuda").cpu()
    control.finish()
    before = control.counts()
    yield
    spent = control.spent(before)
    refused = {"copies_in", "copies_out", "copies_within", "copies_between", "synchronizations"}
    if "AUTOGRAD_CY_NO_CUDA_MEMORY_CACHING" not in os.environ:
        refused.add("allocations")
    assert not refused & spent.keys() and spent["launches"] == 1, spent  # that makes ones


# --- the CUDA array interface -------------------------------------------------------------------


def test_the_interface_says_where_a_tensor_is():
    x = ag.arange(24.0).reshape(4, 6).to("cuda")
    shown = x.__cuda_array_interface__
    assert shown == {
        "typestr": "<f4",
        "shape": (4, 6),
        "strides": None,
        "data": (x.data_ptr(), False),
        "version": 3,
        "stream": 1,
    }
    part = x[1:, ::2].t()
    shown = part.__cuda_array_interface__
    assert shown["shape"] == (3, 3) and shown["strides"] == (8, 24)
    assert shown["data"][0] == x.data_ptr() + 24
    assert ag.empty(0, 3, device="cuda").__cuda_array_interface__["data"] == (0, False)


def test_the_interface_names_the_current_stream(side):
    x = ag.ones(2, device="cuda")
    with ag.cuda.stream(side):
        assert x.__cuda_array_interface__["stream"] == handle(side)
    assert x.__cuda_array_interface__["stream"] == 1


DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


@pytest.mark.parametrize("name", [*DTYPES, "complex64", "complex128"])
def test_each_dtype_comes_back_by_the_interface(name):
    x = ag.tensor([[0, 1, 2], [1, 0, 3]]).to(getattr(ag, name)).to("cuda")
    back = ag.as_tensor(ByInterface(x), device="cuda")
    assert back.dtype is x.dtype and back.data_ptr() == x.data_ptr()
    assert ag.equal(back.cpu(), x.cpu())


def test_an_array_comes_in_without_a_copy_and_writes_show():
    x = ag.arange(12.0).reshape(3, 4).to("cuda")
    theirs = ByInterface(x[:, 1::2])
    ours = ag.as_tensor(theirs, device="cuda")
    assert ours.device == x.device and ours.stride() == (4, 2)
    ours += 100
    assert x.cpu().tolist()[0] == [0, 101, 2, 103]
    copy = ag.tensor(theirs, device="cuda")
    copy.zero_()
    assert x.cpu()[0, 1] == 101
    assert ag.as_tensor(theirs).device.type == "cpu"  # as in torch, where no device is named


@pytest.mark.emulated
def test_sharing_copies_nothing(no_copies):
    x = ag.ones(4, 5, device="cuda")
    for _ in range(3):
        back = ag.as_tensor(ByInterface(x.t()), device="cuda")
        assert back.data_ptr() == x.data_ptr()
        assert ag.from_dlpack(ByDLPack(x)).data_ptr() == x.data_ptr()
        assert ag.from_dlpack(x).data_ptr() == x.data_ptr()


def test_the_owner_lives_as_long_as_the_tensor():
    theirs = ByInterface(ag.ones(3, device="cuda"))
    seen = weakref.ref(theirs)
    ours = ag.as_tensor(theirs, device="cuda")
    view = ours[1:]
    del theirs, ours
    gc.collect()
    assert seen() is not None and view.tolist() == [1, 1]
    del view
    gc.collect()
    assert seen() is None


def test_a_stream_that_the_interface_names_is_waited_for(side):
    x = ag.zeros(100, device="cuda")
    side.wait_stream(ag.cuda.current_stream())
    with ag.cuda.stream(side):
        x += 7
        theirs = ByInterface(x)
    ours = ag.as_tensor(theirs, device="cuda")
    assert theirs.__cuda_array_interface__["stream"] == handle(side)
    assert (ours * 2).tolist() == [14] * 100


@pytest.mark.emulated
@pytest.mark.parametrize("stream", [1, 2, None])
def test_numbers_of_streams(stream):
    x = ag.ones(3, device="cuda")
    control.finish()
    before = control.counts()
    assert ag.as_tensor(ByInterface(x, stream=stream), device="cuda").tolist() == [1, 1, 1]
    waits = control.spent(before).get("waits", 0)
    assert waits == (1 if stream == 2 else 0), control.spent(before)


REFUSED = {
    "on the CPU": (lambda: ag.ones(2), AttributeError, "on non-CUDA tensor type"),
    "requires grad": (
        lambda: ag.ones(2, device="cuda", requires_grad=True),
        RuntimeError,
        "on Variable that requires grad",
    ),
    "bfloat16": (
        lambda: ag.ones(2, device="cuda", dtype=ag.bfloat16),
        TypeError,
        "bfloat16.*DLPack",
    ),
    "conjugate": (
        lambda: ag.ones(2, device="cuda", dtype=ag.complex64).conj(),
        RuntimeError,
        "conjugate bit set",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_interface_refuses(name):
    make, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        _ = make().__cuda_array_interface__
    assert hasattr(ag.ones(2), "__cuda_array_interface__") is False


BAD = {
    "stream": ({"stream": 0}, ValueError, "stream 0"),
    "mask": ({"mask": object()}, ValueError, "mask"),
    "byte order": ({"typestr": ">f4"}, ValueError, "native order"),
    "negative": ({"strides": (-4,)}, ValueError, "negative"),
    "between": ({"strides": (6,)}, ValueError, "multiples"),
    "size": ({"shape": (-2,)}, ValueError, "negative size"),
    "unaligned": ({"shift": 2}, ValueError, "multiples of their size"),
    "dtype": ({"typestr": "<M8"}, TypeError, "datetime64"),
}


@pytest.mark.parametrize("name", BAD)
def test_interfaces_that_no_tensor_can_show(name):
    changes, kind, words = BAD[name]
    x = ag.ones(4, device="cuda")
    changes = dict(changes)
    if "shift" in changes:
        changes["data"] = (x.data_ptr() + changes.pop("shift"), False)
    with pytest.raises(kind, match=words):
        ag.as_tensor(ByInterface(x, **changes), device="cuda")
    assert ag.as_tensor(ByInterface(x), device="cuda").tolist() == [1] * 4


@pytest.mark.breaks
def test_memory_of_the_host_is_refused():
    array = np.ones(4, np.float32)
    x = ag.ones(4, device="cuda")
    with pytest.raises(ValueError, match="no memory of a CUDA device"):
        ag.as_tensor(ByInterface(x, data=(array.ctypes.data, False)), device="cuda")


def test_read_only_memory_is_not_written():
    x = ag.ones(3, device="cuda")
    ours = ag.as_tensor(ByInterface(x, data=(x.data_ptr(), True)), device="cuda")
    with pytest.raises(RuntimeError, match="read-only"):
        ours += 1
    assert (ours + 1).tolist() == [2, 2, 2]


# --- DLPack ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*DTYPES, "bfloat16", "complex64", "complex128"])
@pytest.mark.parametrize("old", [False, True])
def test_each_dtype_comes_back_by_dlpack(name, old):
    x = ag.tensor([[0, 1, 2], [1, 0, 3]]).to(getattr(ag, name)).to("cuda").t()
    back = ag.from_dlpack(ByDLPack(x, old))
    assert back.dtype is x.dtype and back.data_ptr() == x.data_ptr()
    assert back.stride() == x.stride() and back.device == x.device
    assert ag.equal(back.cpu(), x.cpu())


def test_a_consumer_says_its_stream(side):
    theirs = ByDLPack(ag.ones(2, device="cuda"))
    assert theirs.__dlpack_device__() == (2, 0)
    ag.from_dlpack(theirs)
    with ag.cuda.stream(side):
        ag.from_dlpack(theirs)
    assert [asked["stream"] for asked in theirs.asked] == [1, handle(side)]
    assert theirs.asked[0]["max_version"] == (1, 0)


def test_the_consumers_stream_waits_for_the_producer(side):
    x = ag.zeros(100, device="cuda")
    x += 3  # on the default stream, late
    with ag.cuda.stream(side):
        ours = ag.from_dlpack(x_of_default(x))
        doubled = ours * 2
    assert doubled.device == x.device
    side.synchronize()
    assert doubled.cpu().tolist() == [6] * 100


class x_of_default:
    """A producer whose memory was written on the default stream."""

    def __init__(self, x):
        self.x = x

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, *, stream, **options):
        with ag.cuda.stream(ag.cuda.default_stream()):
            return self.x.__dlpack__(stream=stream, **options)


@pytest.mark.emulated
def test_minus_one_lets_nobody_wait(side):
    x = ag.ones(3, device="cuda")
    before = control.counts()
    x.__dlpack__(stream=-1)
    x.__dlpack__()  # the default stream, which is the current one
    assert "waits" not in control.spent(before)
    x.__dlpack__(stream=handle(side))
    assert control.spent(before)["waits"] == 1


def test_streams_that_dlpack_refuses():
    x = ag.ones(3, device="cuda")
    for stream in (0, -2):
        with pytest.raises(ValueError, match="no stream of CUDA"):
            x.__dlpack__(stream=stream)
    with pytest.raises(TypeError, match="int"):
        x.__dlpack__(stream="1")
    with pytest.raises(ValueError, match="stream should be None on cpu"):
        ag.ones(2).__dlpack__(stream=1)


def test_capsules_are_consumed_once_and_freed_if_never():
    x = ag.ones(3, device="cuda")
    capsule = x.__dlpack__(max_version=(1, 0))
    ours = ag.from_dlpack(capsule)
    assert ours.data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="only once"):
        ag.from_dlpack(capsule)
    del capsule
    for version in (None, (1, 0)):
        unused = x.__dlpack__(max_version=version)
        del unused
    seen = ours.untyped_storage().nbytes()
    assert seen == 12


def test_copies_and_other_devices_by_dlpack():
    x = ag.arange(4.0).to("cuda")
    copy = ag.from_dlpack(ByDLPack(x), copy=True)
    copy += 1
    assert x.tolist() == [0, 1, 2, 3] and copy.tolist() == [1, 2, 3, 4]
    host = ag.from_dlpack(x.__dlpack__(dl_device=(1, 0)))
    assert host.device.type == "cpu" and host.tolist() == [0, 1, 2, 3]
    there = ag.from_dlpack(ag.ones(2).__dlpack__(dl_device=(2, 1)))
    assert str(there.device) == "cuda:1" and there.tolist() == [1, 1]
    with pytest.raises(BufferError, match="copy=False"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="not on"):
        x.__dlpack__(dl_device=(7, 0))
    assert ag.from_dlpack(x, device="cpu").tolist() == [0, 1, 2, 3]


def test_numpy_says_that_it_cannot_read_a_gpu():
    with pytest.raises((BufferError, RuntimeError)):
        np.from_dlpack(ag.ones(2, device="cuda"))


def test_gradients_and_lazy_values_are_not_exported():
    with pytest.raises(BufferError, match="require gradient"):
        ag.ones(2, device="cuda", requires_grad=True).__dlpack__()
    z = ag.ones(2, device="cuda", dtype=ag.complex64).conj()
    with pytest.raises(BufferError, match="conjugate bit"):
        z.__dlpack__()
    assert ag.from_dlpack(z.__dlpack__(copy=True)).tolist() == [1, 1]


# --- PyCUDA ---------------------------------------------------------------------------------------


@pytest.fixture
def gpuarray(context):
    ag.cuda.synchronize(0)  # PyCUDA works where the last call of CUDA was
    return pytest.importorskip("pycuda.gpuarray")


def test_arrays_of_pycuda_come_in_and_keep_their_memory(gpuarray):
    array = gpuarray.to_gpu(np.arange(6, dtype=np.float64).reshape(2, 3))
    seen = weakref.ref(array)
    x = ag.as_tensor(array, device="cuda")
    assert x.dtype is ag.float64 and x.shape == (2, 3)
    assert x.data_ptr() == int(array.gpudata)
    x *= 2
    ag.cuda.synchronize()
    np.testing.assert_array_equal(array.get(), np.arange(6).reshape(2, 3) * 2)
    del array
    gc.collect()
    assert seen() is not None and (x + 1).sum().item() == 36
    del x
    gc.collect()
    assert seen() is None


def test_a_tensor_is_shown_to_pycuda_in_a_thread_that_has_not_used_the_gpu():
    x, shapes = ag.ones(3, device="cuda"), []
    thread = threading.Thread(target=lambda: shapes.append(ag.cuda.as_gpuarray(x).shape))
    thread.start()
    thread.join()
    assert shapes == [(3,)]


def test_tensors_go_to_pycuda_and_are_kept(gpuarray):
    x = ag.arange(6.0).reshape(2, 3).to("cuda")
    array = ag.cuda.as_gpuarray(x)
    assert int(array.gpudata) == x.data_ptr() and array.dtype == np.float32
    assert array.shape == (2, 3) and array.strides == (12, 4)
    del x
    gc.collect()
    np.testing.assert_array_equal(array.get(), np.arange(6).reshape(2, 3))
    turned = ag.cuda.as_gpuarray(ag.arange(6.0).reshape(2, 3).to("cuda").t())
    assert turned.strides == (4, 12)
    with pytest.raises(AttributeError, match="non-CUDA"):
        ag.cuda.as_gpuarray(ag.ones(2))


def test_pycuda_waits_for_the_stream_of_the_tensor(gpuarray, side):
    x = ag.zeros(50, device="cuda")
    side.wait_stream(ag.cuda.current_stream())
    with ag.cuda.stream(side):
        x += 5
        array = ag.cuda.as_gpuarray(x)
    np.testing.assert_array_equal(array.get(), np.full(50, 5, np.float32))


@pytest.mark.emulated
def test_arrays_go_both_ways_without_a_copy(gpuarray, no_copies):
    x = ag.ones(8, device="cuda")
    for _ in range(2):
        x = ag.as_tensor(ag.cuda.as_gpuarray(x), device="cuda")


SCALE = """
__global__ void scale(float *out, const float *x, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = by * x[i];
}
"""


@pytest.mark.emulated
def test_source_text_is_an_operation_with_a_gradient(context):
    scale = ag.cuda.kernel(SCALE, "scale")

    class Scale(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x, by):
            ctx.by = by
            x = x.contiguous()
            out = ag.empty_like(x)
            n = x.numel()
            scale(out, x, np.float32(by), np.int32(n), grid=-(-n // 64), block=64)
            return out

        @staticmethod
        def backward(ctx, grad):
            return Scale.apply(grad, ctx.by), None

    for device in ("cuda:0", "cuda:1"):  # compiled for each
        x = ag.arange(6.0).reshape(2, 3).to(device).requires_grad_()
        y = Scale.apply(x.t(), 3.0)
        (y * y).sum().backward()
        assert ag.equal(y.detach().cpu(), 3 * ag.arange(6.0).reshape(2, 3).t())
        assert ag.equal(x.grad.cpu(), 18 * ag.arange(6.0).reshape(2, 3))


def test_memory_of_a_context_of_its_own_is_refused(context):
    import pycuda.driver as cuda

    own = cuda.Device(0).make_context()
    memory = cuda.mem_alloc(16)
    own.pop()
    try:
        x = ag.ones(4, device="cuda")
        with pytest.raises(RuntimeError, match="autoprimaryctx in place of pycuda.autoinit"):
            ag.as_tensor(ByInterface(x, data=(int(memory), False)), device="cuda")
        assert ag.as_tensor(ByInterface(x), device="cuda").tolist() == [1] * 4
    finally:
        own.push()
        memory.free()
        own.pop()
        own.detach()


def test_what_is_shared_is_not_captured():
    from autograd_cy._C.launch import capture

    x = ag.ones(3, device="cuda")
    theirs = ByInterface(x)
    for call in (
        lambda: ag.as_tensor(theirs, device="cuda"),
        lambda: ag.from_dlpack(x),
        lambda: x.__cuda_array_interface__,
        lambda: ag.cuda.as_gpuarray(x),
    ):
        with pytest.raises(RuntimeError, match="captur"):
            capture(call)
    assert ag.from_dlpack(x).tolist() == [1, 1, 1]


def test_capsules_by_the_functions_of_utils():
    x = ag.arange(3.0).to("cuda")
    back = ag.utils.dlpack.from_dlpack(ag.utils.dlpack.to_dlpack(x))
    assert back.data_ptr() == x.data_ptr() and back.tolist() == [0, 1, 2]


# --- kernels of others ----------------------------------------------------------------------------


@pytest.fixture
def add(context):
    """A kernel that PyCUDA loaded: out = a + b, as ``add(out, a, b, n, 0)``."""
    import pycuda.driver as cuda

    ag.cuda.synchronize(0)
    module = cuda.module_from_buffer(build.image_of(build.build_samples()["small"]))
    return ag.cuda.kernel(module.get_function("add"), "add")


def added(add, a, b, **options):
    out = ag.empty_like(a)
    n = np.uint64(a.numel())
    add(out, a, b, n, np.uint64(0), **({"grid": 2, "block": 64} | options))
    return out


@pytest.mark.emulated
def test_kernels_take_tensors_on_the_current_stream(add, side):
    x = ag.arange(100.0).to("cuda")
    assert ag.equal(added(add, x, x).cpu(), ag.arange(100.0) * 2)
    side.wait_stream(ag.cuda.current_stream())
    with ag.cuda.stream(side):
        y = x * 3
        z = added(add, y, x, grid=(2, 1), block=(32, 1, 1)) + 1
    ag.cuda.current_stream().wait_stream(side)
    assert ag.equal(z.cpu(), ag.arange(100.0) * 4 + 1)


@pytest.mark.emulated
def test_kernels_run_in_the_order_of_an_external_stream(add, context):
    import pycuda.driver as cuda

    stream = cuda.Stream(flags=1)
    x = ag.arange(100.0).to("cuda")
    ag.cuda.synchronize()
    with ag.cuda.stream(ag.cuda.ExternalStream(stream.handle)):
        y = x * 3
        z = added(add, y, x)
        w = z + 1
        assert ag.equal(w.cpu(), ag.arange(100.0) * 4 + 1)
    ag.cuda.synchronize()
    del y, z, w  # their memory goes back on that stream, which must be there


@pytest.mark.emulated
def test_a_kernel_is_an_operation_with_a_gradient(add):
    class Add(ag.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return added(add, a.contiguous(), b.contiguous())

        @staticmethod
        def backward(ctx, grad):
            return grad, grad

    a = ag.randn(20).to("cuda").requires_grad_()
    b = ag.randn(20).to("cuda").requires_grad_()
    (Add.apply(a, b) ** 2).sum().backward()
    np.testing.assert_allclose(a.grad.cpu(), 2 * (a + b).detach().cpu(), rtol=1e-6)
    assert ag.equal(a.grad.cpu(), b.grad.cpu())


@pytest.mark.emulated
def test_changed_tensors_are_refused_by_graphs_that_saved_them(add):
    w = ag.ones(4, device="cuda", requires_grad=True)
    x = ag.ones(4, device="cuda")
    y = (w * x).sum()
    add(x, x, x, np.uint64(4), np.uint64(0), grid=1, block=32, changes=[x])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.emulated
def test_what_kernels_refuse(add):
    x = ag.ones(4, 4, device="cuda")
    n = np.uint64(16), np.uint64(0)
    for arguments, kind, words in (
        ((x, x.t(), x, *n), RuntimeError, "argument 1 of shape .4, 4. isn't contiguous"),
        ((x, x, ag.ones(4, 4), *n), RuntimeError, "at least two devices, cpu and cuda:0"),
        ((ag.ones(3),), RuntimeError, "tensors are on 'cpu'"),
        (n, RuntimeError, "got no tensor"),
        ((x, x, x, 16, n[1]), TypeError, r"argument 3 is of type int.*np.float32\(2\)"),
    ):
        with pytest.raises(kind, match=words):
            add(*arguments, grid=1, block=32)
    for geometry in ({"grid": 0, "block": 32}, {"grid": 1, "block": (1, 1, 1, 1)}):
        with pytest.raises(RuntimeError, match="one to three positive numbers"):
            add(x, x, x, *n, **geometry)
    with pytest.raises(TypeError, match="name='...'"):
        ag.cuda.kernel("__global__ void f() {}")
    with pytest.raises(TypeError, match="Function of PyCUDA"):
        ag.cuda.kernel(3)
    assert ag.equal(added(add, x, x).cpu(), ag.full((4, 4), 2.0))


@pytest.mark.emulated
@pytest.mark.breaks
def test_a_geometry_that_the_device_refuses(add):
    x = ag.ones(4, device="cuda")
    with pytest.raises(RuntimeError, match="launching 'add'"):
        added(add, x, x, block=4096)
    assert added(add, x, x).tolist() == [2] * 4
