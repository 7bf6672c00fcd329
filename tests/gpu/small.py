"""Memory and kernels for tests of the emulated driver alone, without the library."""

import ctypes
import struct

import numpy as np
from emulator import build, control

SIZE = 1003


class Small:
    """The kernels of ``emulator/samples/small.cu``, loaded by PyCUDA."""

    def __init__(self):
        import pycuda.driver as cuda

        self.module = cuda.module_from_buffer(build.image_of(build.build_samples()["small"]))

    def launch(
        self, name, out, a=0, b=0, n=SIZE, *, grid=2, block=256, shared=0, stream=None, extra=b""
    ):
        arguments = struct.pack("QQQQQ", int(out), int(a), int(b), n, 0) + extra
        function = self.module.get_function(name)
        function._launch_kernel((grid,), (block,), arguments, shared, stream)


def driver():
    return ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    """A function of the driver; integers are 64 bits wide. Gives its result."""
    return getattr(driver(), name)(
        *(ctypes.c_uint64(a) if isinstance(a, int) else a for a in arguments)
    )


def arrays(count, size=SIZE):
    random = np.random.default_rng(0)
    return [random.standard_normal(size).astype(np.float32) for _ in range(count)]


def empty(count=SIZE):
    at = ctypes.c_uint64()
    assert call("cuMemAlloc_v2", ctypes.byref(at), 4 * count) == 0
    return at.value


def upload(x):
    at = empty(x.size)
    assert call("cuMemcpyHtoD_v2", at, x.ctypes.data_as(ctypes.c_void_p), x.nbytes) == 0
    return at


def read(at, count=SIZE):
    """Elements of device memory; the driver's result if that fails."""
    x = np.empty(count, np.float32)
    result = call("cuMemcpyDtoH_v2", x.ctypes.data_as(ctypes.c_void_p), int(at), x.nbytes)
    return x if result == 0 else result


def free(*addresses):
    for at in addresses:
        assert call("cuMemFree_v2", int(at)) == 0, control.last_message()
