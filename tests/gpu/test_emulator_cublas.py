"""The stand-in for cuBLAS: what it computes, and what it refuses."""

import ctypes
from ctypes import c_int, c_longlong, c_void_p

import numpy as np
import pytest
from emulator import control, places
from small import call, free

pytestmark = pytest.mark.emulated

TYPES = {"f4": (0, 68), "f8": (1, 70), "c8": (4, 68), "c16": (5, 70)}
INVALID_VALUE, NOT_SUPPORTED, EXECUTION_FAILED = 7, 15, 13


@pytest.fixture
def blas():
    if not places.CUBLAS.exists():
        pytest.skip("the stand-in for cuBLAS is not built")
    return ctypes.CDLL(str(places.CUBLAS))


@pytest.fixture
def handle(blas, context):
    made = c_void_p()
    assert blas.cublasCreate_v2(ctypes.byref(made)) == 0
    yield made
    assert blas.cublasDestroy_v2(made) == 0


def put(x):
    at = ctypes.c_uint64()
    assert call("cuMemAlloc_v2", ctypes.byref(at), x.nbytes) == 0
    assert call("cuMemcpyHtoD_v2", at.value, x.ctypes.data_as(c_void_p), x.nbytes) == 0
    return at.value


def got(at, like):
    out = np.empty_like(like)
    assert call("cuMemcpyDtoH_v2", out.ctypes.data_as(c_void_p), at, out.nbytes) == 0
    return out


def numbers(rng, dtype, *shape):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)


def gemm(blas, handle, dtype, m, n, k, a, b, c, lda, ldb, ldc, *, ops=(0, 0), alpha=1, beta=0,
         strides=(0, 0, 0), batch=1, compute=None, types=None):  # fmt: skip
    kind, usual = TYPES[dtype]
    kinds = types or (kind,) * 3
    scale = np.array([alpha, beta], dtype)
    one, other = (c_void_p(scale.ctypes.data + i * scale.itemsize) for i in (0, 1))
    return blas.cublasGemmStridedBatchedEx(
        handle, c_int(ops[0]), c_int(ops[1]), c_int(m), c_int(n), c_int(k), one,
        c_void_p(a), c_int(kinds[0]), c_int(lda), c_longlong(strides[0]),
        c_void_p(b), c_int(kinds[1]), c_int(ldb), c_longlong(strides[1]), other,
        c_void_p(c), c_int(kinds[2]), c_int(ldc), c_longlong(strides[2]),
        c_int(batch), c_int(compute or usual), c_int(-1),
    )  # fmt: skip


OPS = [lambda x: x, lambda x: x.swapaxes(-1, -2), lambda x: x.swapaxes(-1, -2).conj()]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("ops", [(i, j) for i in range(3) for j in range(3)])
def test_products_of_batches(blas, handle, dtype, ops):
    rng = np.random.default_rng(1)
    m, n, k, batch = 5, 3, 4, 2
    # Column-major matrices: [batch, columns, rows], one more row than is used.
    a = numbers(rng, dtype, batch, m if ops[0] else k, (k if ops[0] else m) + 1)
    b = numbers(rng, dtype, batch, k if ops[1] else n, (n if ops[1] else k) + 1)
    c = numbers(rng, dtype, batch, n, m + 1)
    at = [put(x) for x in (a, b, c)]
    alpha, beta = (2 - 1j, 0.5j) if dtype[0] == "c" else (2, 0.5)
    status = gemm(
        blas, handle, dtype, m, n, k, *at, a.shape[2], b.shape[2], c.shape[2], ops=ops,
        alpha=alpha, beta=beta, strides=[x[0].size for x in (a, b, c)], batch=batch,
    )  # fmt: skip
    assert status == 0
    whole = [OPS[op](x.swapaxes(-1, -2)[:, :-1]) for op, x in zip(ops, (a, b))]
    expected = c.copy()
    expected[:, :, :m] = (alpha * whole[0] @ whole[1]).swapaxes(-1, -2) + beta * c[:, :, :m]
    tolerance = 1e-5 if dtype in ("f4", "c8") else 1e-13
    np.testing.assert_allclose(got(at[2], c), expected, tolerance, tolerance)
    free(*at)


@pytest.mark.parametrize("kind", [2, 14])
def test_halves_are_summed_in_float32(blas, handle, kind):
    one = {2: 0x3C00, 14: 0x3F80}[kind]
    a = np.full((1, 4096), one, np.uint16)
    at = [put(a), put(a), put(np.zeros(1, np.uint16)), put(np.zeros(1, np.float32))]
    for out, types in ((at[2], (kind,) * 3), (at[3], (kind, kind, 0))):
        status = gemm(blas, handle, "f4", 1, 1, 4096, at[0], at[1], out, 1, 4096, 1, types=types)
        assert status == 0
    assert got(at[3], np.zeros(1, np.float32)) == 4096
    assert got(at[2], np.zeros(1, np.uint16)) == {2: 0x6C00, 14: 0x4580}[kind]
    free(*at)


def test_tf32_rounds_operands_where_it_is_asked_for(blas, handle):
    x = np.array([1 + 2.0**-12], np.float32)
    at = [put(x), put(np.ones(1, np.float32)), put(x)]
    results = []
    for compute, mode in ((68, 0), (77, 0), (68, 3)):
        assert blas.cublasSetMathMode(handle, c_int(mode)) == 0
        assert gemm(blas, handle, "f4", 1, 1, 1, *at, 1, 1, 1, compute=compute) == 0
        results.append(got(at[2], x)[0])
    assert results == [x[0], 1, 1]
    free(*at)


def test_with_beta_0_the_result_is_not_read(blas, handle):
    nan = np.full(4, np.nan, np.float32)
    at = [put(np.ones(4, np.float32)), put(np.ones(4, np.float32)), put(nan)]
    assert gemm(blas, handle, "f4", 2, 2, 2, *at, 2, 2, 2) == 0
    assert (got(at[2], nan) == 2).all()
    assert gemm(blas, handle, "f4", 2, 2, 0, 0, 0, at[2], 2, 2, 2) == 0
    assert (got(at[2], nan) == 0).all()
    free(*at)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"lda": 3}, INVALID_VALUE),
        ({"ldb": 1}, INVALID_VALUE),
        ({"ldc": 3}, INVALID_VALUE),
        ({"ldb": 2, "ops": (0, 1)}, INVALID_VALUE),
        ({"m": -1}, INVALID_VALUE),
        ({"batch": 2}, INVALID_VALUE),  # both products would be written to one place
        ({"compute": 70}, NOT_SUPPORTED),
        ({"types": (0, 1, 0)}, NOT_SUPPORTED),
    ],
)
def test_what_is_refused(blas, handle, change, status):
    given = {"m": 4, "n": 3, "k": 2, "lda": 4, "ldb": 2, "ldc": 4, **change}
    names = ("m", "n", "k", "lda", "ldb", "ldc")
    m, n, k, lda, ldb, ldc = (given.pop(name) for name in names)
    assert gemm(blas, handle, "f4", m, n, k, 0, 0, 0, lda, ldb, ldc, **given) == status


def test_a_handle_belongs_to_its_context(blas, handle, second):
    assert gemm(blas, handle, "f4", 1, 1, 1, 0, 0, 0, 1, 1, 1) == EXECUTION_FAILED
    assert blas.cublasDestroy_v2(c_void_p(1)) == 1


@pytest.mark.breaks
@pytest.mark.parametrize("which", ["operand", "workspace"])
def test_memory_is_looked_at_when_the_product_runs(blas, handle, which):
    x = np.ones(16, np.float32)
    at = [put(x) for _ in range(3)]
    room = put(np.ones(1024, np.float32))
    assert blas.cublasSetWorkspace_v2(handle, c_void_p(room), ctypes.c_size_t(4096)) == 0
    if which == "workspace":
        free(room)
    size = 4 if which == "workspace" else 5  # 5 x 5 elements are more than 16
    assert gemm(blas, handle, "f4", size, size, size, *at, size, size, size) == 0
    assert call("cuCtxSynchronize") == control.ILLEGAL_ADDRESS
    (finding,) = control.broken()
    words = "after it was freed" if which == "workspace" else "36 beyond their allocation"
    assert "cublas product" in finding and words in finding
