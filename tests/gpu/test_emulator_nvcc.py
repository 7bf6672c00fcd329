"""A user's CUDA source on the emulated driver: PyCUDA's SourceModule, with a stand-in for nvcc."""

import numpy as np
import pytest
from small import free, read, upload

pytestmark = pytest.mark.emulated

SOURCE = """
#define TWICE 2
/* __global__ void not_this(float *x) */
__device__ float twice(float x) { return TWICE * x; }

__global__ void add_twice(float *out, const float *a, float b, short c, int n) // sizes
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = twice(a[i]) + b + c;
}
"""
MEETING = """
extern __shared__ float parts[];
__global__ void __launch_bounds__(256) turn(float *out, const float *a)
{
    __shared__ float fixed[1];
    parts[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x == 0) fixed[0] = 10.0f;
    __syncthreads();
    out[threadIdx.x] = parts[blockDim.x - 1 - threadIdx.x] + fixed[0];
}
"""


def test_a_kernel_with_ordinary_arguments(context):
    from pycuda.compiler import SourceModule

    kernel = SourceModule(SOURCE).get_function("add_twice")
    x = np.arange(100, dtype=np.float32)
    at, out = upload(x), upload(np.zeros(100, np.float32))
    kernel(
        np.uint64(out), np.uint64(at), np.float32(0.5), np.int16(-3), np.int32(90),
        grid=(2, 1), block=(64, 1, 1),
    )  # fmt: skip
    np.testing.assert_array_equal(read(out, 90), 2 * x[:90] - 2.5)
    assert (read(out, 100)[90:] == 0).all()
    kernel.prepare("PPfhi")
    kernel.prepared_call((2, 1), (64, 1, 1), out, at, 1.0, 0, 100)
    np.testing.assert_array_equal(read(out, 100), 2 * x + 1)
    free(at, out)


def test_barriers_and_both_kinds_of_shared_memory(context):
    from pycuda.compiler import SourceModule

    kernel = SourceModule(MEETING).get_function("turn")
    x = np.arange(64, dtype=np.float32)
    at, out = upload(x), upload(np.zeros(64, np.float32))
    kernel(np.uint64(out), np.uint64(at), block=(64, 1, 1), shared=256)
    np.testing.assert_array_equal(read(out, 64), x[::-1] + 10)
    free(at, out)


def test_names_of_cpp(context):
    from pycuda.compiler import SourceModule

    module = SourceModule("__global__ void put(int *p) { *p = 7; }", no_extern_c=True)
    out = upload(np.zeros(1, np.float32))
    module.get_function("_Z3putPi")(np.uint64(out), block=(1, 1, 1))
    assert read(out, 1).view(np.int32) == 7
    free(out)


def test_a_source_with_a_fault_says_where_it_is(context):
    import pycuda.driver as cuda
    from pycuda.compiler import SourceModule

    with pytest.raises(cuda.CompileError, match=r"kernel\.cu:2.*unknown_name"):
        SourceModule("__global__ void f(int *p) {\n*p = unknown_name; }", no_extern_c=True)


def test_arrays_of_pycuda_compute(context):
    from pycuda import gpuarray

    x = gpuarray.to_gpu(np.arange(1000, dtype=np.float32))
    y = 2 * x + 1
    np.testing.assert_array_equal(y.get(), 2 * np.arange(1000, dtype=np.float32) + 1)
    for array in (x, y):
        array.gpudata.free()
