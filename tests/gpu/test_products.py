"""Products on CUDA devices, by cuBLAS and by kernels of our own, against NumPy in float64."""

import ctypes
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from emulator import control, places

import autograd_cy as ag
from autograd_cy._C import cuda_blas, cuda_products, devices

REAL = os.environ.get("AUTOGRAD_CY_GPU") == "real"

DTYPES = {
    "float32": (ag.float32, 2.0**-23),
    "float64": (ag.float64, 2.0**-52),
    "float16": (ag.float16, 2.0**-10),
    "bfloat16": (ag.bfloat16, 2.0**-7),
    "complex64": (ag.complex64, 2.0**-23),
    "complex128": (ag.complex128, 2.0**-52),
    "int64": (ag.int64, 0),
    "int32": (ag.int32, 0),
    "int16": (ag.int16, 0),
    "int8": (ag.int8, 0),
    "uint8": (ag.uint8, 0),
}
HALVES = ("float16", "bfloat16")
MATRICES = ((1, 1, 1), (5, 7, 3), (64, 16, 65), (0, 3, 2), (2, 0, 3), (2, 3, 0))
LARGE = (130, 21, 131)  # beyond one tile, and beyond what a tile of 16 divides
LAYOUTS = ("plain", "turned", "window", "steps", "one row", "one column", "conjugated")
BATCHES = ("plain", "turned", "one for all", "batch inside")


@pytest.fixture(params=["own", "cublas"])
def library(request):
    """The code that computes the products."""
    if request.param == "cublas":
        in_use, place = cuda_blas.library()
        if not in_use:
            pytest.skip(f"cuBLAS is {place}")
    cuda_blas.choose(request.param == "cublas")
    yield request.param
    cuda_blas.choose(True)


# --- operands and expected values ---------------------------------------------------------------


class Numbers:
    """Random tensors of a dtype on the GPU, each with its values as an array of NumPy."""

    def __init__(self, name, seed=0):
        self.name = name
        self.dtype, self.eps = DTYPES[name]
        self.random = np.random.default_rng(seed)

    def tensor(self, *shape):
        if self.name.startswith(("int", "uint")):
            low = 0 if self.name == "uint8" else -100
            values = self.random.integers(low, 100, shape)
        elif self.name.startswith("complex"):
            values = self.random.standard_normal(shape) + 1j * self.random.standard_normal(shape)
        else:
            values = self.random.standard_normal(shape)
        return ag.tensor(values).to(self.dtype).to("cuda")

    def matrix(self, rows, columns, how):
        """A matrix that lies as `how` says."""
        if how == "turned":
            return self.tensor(columns, rows).t()
        if how == "window":
            return self.tensor(rows + 2, columns + 3)[1 : rows + 1, 2 : columns + 2]
        if how == "steps":
            return self.tensor(2 * rows, 3 * columns)[::2, ::3]
        if how == "one row":
            return self.tensor(1, columns).expand(rows, columns)
        if how == "one column":
            return self.tensor(rows, 1).expand(rows, columns)
        if how == "conjugated":
            return self.tensor(rows, columns).conj()
        return self.tensor(rows, columns)

    def batch(self, count, rows, columns, how):
        if how == "turned":
            return self.tensor(count, columns, rows).transpose(1, 2)
        if how == "one for all":
            return self.tensor(rows, columns).expand(count, rows, columns)
        if how == "batch inside":
            return self.tensor(rows, count, columns).transpose(0, 1)
        return self.tensor(count, rows, columns)


def values(t):
    """The values of a tensor, of integers as int64, else in double precision."""
    t = t.detach().cpu().resolve_conj()
    wide = ag.complex128 if t.dtype.is_complex else ag.float64
    return t.to(wide if t.dtype.is_floating_point or t.dtype.is_complex else ag.int64).numpy()


def check(numbers, found, terms, depth):
    """Compare with the sum of `terms`: pairs of a factor and a product's operands, or of a value.

    The error bound is that of any order of summation, and one rounding to the dtype.
    """
    exact = found.dtype not in (ag.float16, ag.bfloat16, ag.float32, ag.float64)
    exact = exact and not found.dtype.is_complex
    want, size = 0, 0
    for factor, *operands in terms:
        product = operands[0] if len(operands) == 1 else operands[0] @ operands[1]
        absolute = [np.abs(x) for x in operands]
        want = want + factor * product
        bound = absolute[0] if len(absolute) == 1 else absolute[0] @ absolute[1]
        size = size + np.abs(factor) * bound
    assert found.dtype is numbers.dtype and found.is_contiguous()
    found = values(found)
    assert found.shape == np.shape(want)
    if exact:
        narrow = np.dtype(numbers.name)
        np.testing.assert_array_equal(found.astype(narrow), np.asarray(want).astype(narrow))
        return
    summed = 2.0**-23 if numbers.name in HALVES else numbers.eps
    error = np.abs(found - want)
    assert (error <= numbers.eps * np.abs(want) + 4 * (depth + 2) * summed * size + 1e-7 * 0).all()


# --- each slot, dtype and layout ----------------------------------------------------------------


def pairs(layouts):
    """Each layout on either side, and beside a plain one."""
    return [(how, "plain") for how in layouts] + [("turned", how) for how in layouts]


def test_mm_and_addmm(library, each_dtype):
    numbers = Numbers(each_dtype)
    sizes = [*MATRICES, LARGE] if each_dtype in ("float32", "complex64", "int8") else MATRICES
    for m, k, n in sizes:
        for left, right in pairs(LAYOUTS):
            a, b = numbers.matrix(m, k, left), numbers.matrix(k, n, right)
            product = (1, values(a), values(b))
            check(numbers, ag.mm(a, b), [product], k)
            c = numbers.tensor(m, n)
            check(numbers, ag.addmm(c, a, b), [product, (1, values(c))], k)
        for shape in ((n,), (1, n), (m, 1), ()):
            c = numbers.tensor(*shape)
            added = np.broadcast_to(values(c), (m, n))
            terms = [(-2, values(a), values(b)), (3, added)]
            check(numbers, ag.addmm(c, a, b, beta=3, alpha=-2), terms, k)


def test_bmm_baddbmm_and_addbmm(library, each_dtype):
    numbers = Numbers(each_dtype, 1)
    for count, m, k, n in ((3, 5, 7, 4), (1, 1, 1, 1), (0, 2, 3, 2), (2, 3, 0, 2), (2, 17, 33, 65)):
        for left, right in pairs(BATCHES):
            a, b = numbers.batch(count, m, k, left), numbers.batch(count, k, n, right)
            product = (1, values(a), values(b))
            check(numbers, ag.bmm(a, b), [product], k)
            for shape in ((count, m, n), (m, n), (n,), (count, 1, n), ()):
                c = numbers.tensor(*shape)
                added = np.broadcast_to(values(c), (count, m, n))
                check(numbers, ag.baddbmm(c, a, b), [product, (1, added)], k)
            c = numbers.tensor(m, n)
            flat = values(a).transpose(1, 0, 2).reshape(m, -1), values(b).reshape(-1, n)
            terms = [(-1, *flat), (2, values(c))]
            check(numbers, ag.addbmm(c, a, b, beta=2, alpha=-1), terms, count * k)


def test_mv_addmv_and_dot(library, each_dtype):
    numbers = Numbers(each_dtype, 2)
    for m, k in ((1, 1), (5, 7), (300, 3), (3, 1500), (0, 3), (3, 0), (2, 9001)):
        for how in LAYOUTS:
            a, v = numbers.matrix(m, k, how), numbers.tensor(3 * k)[::3]
            product = (1, values(a), values(v))
            check(numbers, ag.mv(a, v), [product], k)
        for c in (numbers.tensor(m), numbers.tensor()):
            added = np.broadcast_to(values(c), (m,))
            terms = [(4, values(a), values(v)), (2, added)]
            check(numbers, ag.addmv(c, a, v, beta=2, alpha=4), terms, k)
        one, other = numbers.tensor(k), numbers.tensor(2 * k)[1::2]
        for x in (one, one.conj()):
            check(numbers, ag.dot(x, other), [(1, values(x), values(other))], k)


def test_linear(library, each_dtype):
    numbers = Numbers(each_dtype, 3)
    linear = ag.nn.functional.linear
    for rows in ((4,), (), (2, 3), (3, 1, 2), (0, 2)):
        x = numbers.tensor(*rows, 6)
        for weight in (numbers.tensor(5, 6), numbers.tensor(6, 5).t(), numbers.tensor(0, 6)):
            outputs = weight.shape[0]
            product = (1, values(x), values(weight).T)
            check(numbers, linear(x, weight), [product], 6)
            for bias in (numbers.tensor(outputs), numbers.tensor(1), numbers.tensor()):
                added = np.broadcast_to(values(bias), (*rows, outputs))
                check(numbers, linear(x, weight, bias), [product, (1, added)], 6)
        vector, bias = numbers.tensor(6), numbers.tensor()
        terms = [(1, values(x), values(vector)), (1, np.broadcast_to(values(bias), rows))]
        check(numbers, linear(x, vector, bias), terms, 6)
    x = numbers.tensor(3, 2, 6).transpose(0, 1)  # its rows have no single stride
    weight, bias = numbers.tensor(5, 6), numbers.tensor(3, 5)
    terms = [(1, values(x), values(weight).T), (1, np.broadcast_to(values(bias), (2, 3, 5)))]
    check(numbers, linear(x, weight, bias), terms, 6)


@pytest.fixture(params=DTYPES)
def each_dtype(request):
    return request.param


# --- results of any strides, factors ------------------------------------------------------------


def test_results_of_any_strides(library):
    numbers = Numbers("float32", 4)
    a, b = numbers.tensor(9, 6), numbers.tensor(6, 8)
    want = values(a) @ values(b)
    for out in (
        ag.empty(8, 9, device="cuda").t(),
        ag.empty(9, 20, device="cuda")[:, 3:11],
        ag.empty(18, 16, device="cuda")[::2, ::2],
    ):
        assert ag.mm(a, b, out=out) is out
        np.testing.assert_allclose(values(out), want, rtol=1e-5, atol=1e-5)
        c = out.clone()
        ag.addmm(c, a, b, beta=0.5, out=out)
        np.testing.assert_allclose(values(out), 1.5 * want, rtol=1e-5, atol=1e-5)
        out.addmm_(a, b)
        np.testing.assert_allclose(values(out), 2.5 * want, rtol=1e-5, atol=1e-5)
    a, b = numbers.tensor(3, 9, 6), numbers.tensor(3, 6, 8)
    out = ag.empty(9, 3, 8, device="cuda").transpose(0, 1)
    ag.bmm(a, b, out=out)
    np.testing.assert_allclose(values(out), values(a) @ values(b), rtol=1e-5, atol=1e-5)


def test_factors_are_numbers_or_tensors_anywhere(library):
    numbers = Numbers("float64", 5)
    c, a, b = numbers.tensor(3, 4), numbers.tensor(3, 5), numbers.tensor(5, 4)
    product = values(a) @ values(b)
    for made in (float, ag.tensor, lambda x: ag.tensor(x, device="cuda")):
        got = ag.addmm(c, a, b, beta=made(0.25), alpha=made(-3.0))
        np.testing.assert_allclose(values(got), 0.25 * values(c) - 3 * product, rtol=1e-12)
    got = ag.addmm(c, a, b, beta=2.0, alpha=ag.tensor(3.0, device="cuda"))
    np.testing.assert_allclose(values(got), 2 * values(c) + 3 * product, rtol=1e-12)
    for zero in (0, 0.0, ag.tensor(0.0)):
        unread = ag.full((3, 4), float("nan"), dtype=ag.float64, device="cuda")
        got = ag.addmm(unread, a, b, beta=zero)
        np.testing.assert_allclose(values(got), product, rtol=1e-12)
        bad = ag.full((3, 5), float("nan"), dtype=ag.float64, device="cuda")
        np.testing.assert_array_equal(values(ag.addmm(c, bad, b, alpha=zero)), values(c))


def test_complex_factors(library):
    numbers = Numbers("complex128", 6)
    c, a, b = numbers.tensor(3, 4), numbers.tensor(3, 5), numbers.tensor(5, 4)
    got = ag.addmm(c, a, b, beta=2 - 1j, alpha=1 + 3j)
    want = (2 - 1j) * values(c) + (1 + 3j) * (values(a) @ values(b))
    np.testing.assert_allclose(values(got), want, rtol=1e-12)


def test_infinities_stay_infinities(library):
    big = ag.tensor([[complex(float("inf"), 1.0)]]).to("cuda")
    one = ag.tensor([[complex(1.0, 0.0)]]).to("cuda")
    cpu = ag.addmm(one.cpu(), big.cpu(), one.cpu())
    got = ag.addmm(one, big, one).cpu()
    assert str(got) == str(cpu)


def test_what_is_added_may_be_on_the_host(library):
    numbers = Numbers("float32", 7)
    a, b = numbers.tensor(3, 5), numbers.tensor(5, 4)
    got = ag.addmm(ag.tensor(2.0), a, b)
    np.testing.assert_allclose(values(got), values(a) @ values(b) + 2, rtol=1e-5, atol=1e-5)


def test_gradients_are_those_of_the_cpu(library):
    cpu = [ag.randn(3, 4), ag.randn(4, 5), ag.randn(3, 5)]
    results = []
    for device in ("cpu", "cuda"):
        a, b, c = leaves = [x.detach().to(device).requires_grad_() for x in cpu]
        (ag.addmm(c, a, b, beta=0.5).tanh() @ b.t()).sum().backward()
        results.append([values(x.grad) for x in leaves])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


# --- how they are launched ----------------------------------------------------------------------


def spent(call):
    """Return the counts of a call, when memory for its result is in the cache."""
    call()
    control.finish()
    before = control.counts()
    call()
    found = control.spent(before)
    return {name: found.get(name, 0) for name in ("launches", "allocations", "synchronizations")}


ONE_LAUNCH = {
    "mm": lambda a, b, v: ag.mm(a, b),
    "mm of turned": lambda a, b, v: ag.mm(b.t(), a.t()),
    "mm of steps": lambda a, b, v: ag.mm(a[:, ::2], b[::2]),
    "bmm of one for all": lambda a, b, v: ag.bmm(a.expand(3, 6, 8), b.expand(3, 8, 6)),
    "addmm": lambda a, b, v: ag.addmm(v[:6], a, b),
    "addbmm": lambda a, b, v: ag.addbmm(v[:3], a.reshape(2, 3, 8), b.t().reshape(2, 3, 8).mT),
    "linear": lambda a, b, v: ag.nn.functional.linear(a, b.t(), v[:6]),
    "mv": lambda a, b, v: ag.mv(a, v),
    "dot": lambda a, b, v: ag.dot(v, v),
}


@pytest.mark.emulated
@pytest.mark.cached
@pytest.mark.parametrize("name", ONE_LAUNCH)
def test_own_kernels_take_one_launch_and_no_copy(name):
    numbers = Numbers("float32", 8)
    a, b, v = numbers.tensor(6, 8), numbers.tensor(8, 6), numbers.tensor(8)
    cuda_blas.choose(False)
    try:
        cost = spent(lambda: ONE_LAUNCH[name](a, b, v))
    finally:
        cuda_blas.choose(True)
    assert cost == {"launches": 1, "allocations": 0, "synchronizations": 0}


@pytest.fixture
def cublas():
    in_use, place = cuda_blas.library()
    if not in_use:
        pytest.skip(f"cuBLAS is {place}")


AS_THEY_LIE = {
    "mm": lambda a, b, c: ag.mm(a, b),
    "left turned": lambda a, b, c: ag.mm(b.t(), b),
    "both turned": lambda a, b, c: ag.mm(b.t(), a.t()),
    "window": lambda a, b, c: ag.mm(a[1:, 2:7], b[2:7, 1:]),
    "bmm, turned": lambda a, b, c: ag.bmm(c, c.mT),
    "bmm, one for all": lambda a, b, c: ag.bmm(c, b.expand(3, 8, 6)),
    "bmm, batch inside": lambda a, b, c: ag.bmm(c, c.mT),
    "in place": lambda a, b, c: c[0].addmm_(a, c.new_empty(8, 8)),
    "linear": lambda a, b, c: ag.nn.functional.linear(c, a),
    "result turned": lambda a, b, c: slot("mm", c.new_empty(6, 6).t(), a, b),
}


@pytest.mark.emulated
@pytest.mark.parametrize("name", AS_THEY_LIE)
def test_cublas_takes_operands_as_they_lie(name, cublas):
    numbers = Numbers("float32", 9)
    a, b, c = numbers.tensor(6, 8), numbers.tensor(8, 6), numbers.tensor(3, 6, 8)
    if name == "bmm, batch inside":
        c = numbers.tensor(6, 3, 8).transpose(0, 1)
    ag.cuda.synchronize()
    with control.traced() as names:
        AS_THEY_LIE[name](a, b, c)
        control.finish()
    assert names == ["cublas product"]


@pytest.mark.emulated
def test_cublas_packs_what_has_no_unit_stride(cublas):
    numbers = Numbers("float32", 9)
    a, b = numbers.tensor(6, 16)[:, ::2], numbers.tensor(8, 6)
    ag.cuda.synchronize()
    with control.traced() as names:
        got = ag.mm(a, b)
        control.finish()
    assert len(names) == 2 and names[-1] == "cublas product"
    np.testing.assert_allclose(values(got), values(a) @ values(b), rtol=1e-5, atol=1e-5)


@pytest.mark.emulated
def test_integers_and_vectors_are_never_for_cublas(cublas):
    x, v = ag.ones(3, 3, dtype=ag.int32).to("cuda"), ag.ones(3).to("cuda")
    ag.cuda.synchronize()
    with control.traced() as names:
        ag.mm(x, x)
        ag.dot(v, v)
        control.finish()
    assert names == ["product_i32", "vector_rows_f32"]


def slot(name, *operands):
    """Call a kernel as the operator does, with operands that the operator would resolve before."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    signature = devices.signatures()[name].encode()
    address = get(cuda_products.KERNELS[name], signature)
    types = [ctypes.py_object] * len(operands)
    return ctypes.PYFUNCTYPE(ctypes.c_int, *types)(address)(*operands)


CONJUGATES = {
    "mm": lambda a, b, c: (ag.mm(a.t().conj(), b), [a.t().conj(), b]),
    "bmm": lambda a, b, c: (ag.bmm(c.mT.conj(), c), [c.mT.conj(), c]),
    "linear": lambda a, b, c: (ag.nn.functional.linear(c, a.conj()), [c, a.t().conj()]),
    "mv": lambda a, b, c: (ag.mv(a.t().conj(), b[:, 0]), [a.t().conj(), b[:, 0]]),
    "dot": lambda a, b, c: (ag.dot(a[:, 0].conj(), b[:, 0]), [a[:, 0].conj(), b[:, 0]]),
}


@pytest.mark.parametrize("name", CONJUGATES)
def test_conjugates_are_read_as_they_lie(name, library):
    numbers = Numbers("complex64", 10)
    a, b, c = numbers.tensor(5, 4), numbers.tensor(5, 6), numbers.tensor(3, 5, 4)
    ag.cuda.synchronize()
    if REAL:
        got, operands = CONJUGATES[name](a, b, c)
    else:
        with control.traced() as names:
            got, operands = CONJUGATES[name](a, b, c)
            control.finish()
        assert len(names) == 1
        assert names[0].startswith(("cublas product", "product_c64", "vector_"))
    check(numbers, got, [(1, *map(values, operands))], 5)


@pytest.mark.emulated
def test_cublas_packs_a_conjugate_that_is_not_turned(cublas):
    numbers = Numbers("complex64", 11)
    a, b = numbers.tensor(5, 5), numbers.tensor(5, 6)
    out = ag.mm(a.conj(), b.conj())
    check(numbers, out, [(1, values(a).conj(), values(b).conj())], 5)


@pytest.mark.emulated
def test_tf32_is_off_until_somebody_allows_it(cublas):
    x = ag.full((2, 2), 1 + 2.0**-12).to("cuda")
    exact = 2 * (1 + 2.0**-12) ** 2
    products = ag.backends.cuda.matmul

    def product():
        return (x @ x)[0, 0].item()

    assert not products.allow_tf32 and abs(product() - exact) < 1e-6
    for allow in (
        lambda: setattr(products, "allow_tf32", True),
        lambda: ag.set_float32_matmul_precision("high"),
        lambda: setattr(products, "fp32_precision", "tf32"),
    ):
        allow()
        try:
            assert products.allow_tf32 and products.fp32_precision == "tf32"
            assert product() == 2.0
        finally:
            ag.set_float32_matmul_precision("highest")
        assert abs(product() - exact) < 1e-6


def test_switches_of_products_are_those_of_torch():
    products = ag.backends.cuda.matmul
    products.allow_fp16_reduced_precision_reduction = False
    try:
        assert products.allow_fp16_reduced_precision_reduction is False
        half = ag.ones(3, 3, dtype=ag.float16, device="cuda")
        assert (half @ half).tolist() == [[3.0] * 3] * 3
    finally:
        products.allow_fp16_reduced_precision_reduction = True
    for wrong in (1, (True, 2), ()):
        with pytest.raises(TypeError, match="expects a bool or a tuple/list of bools"):
            products.allow_fp16_reduced_precision_reduction = wrong
    with pytest.raises(RuntimeError, match="Unknown precision"):
        products.fp32_precision = "half"
    with pytest.raises(RuntimeError, match="Choose from: default, cublas"):
        ag.backends.cuda.preferred_blas_library("mkl")
    assert ag.backends.cuda.preferred_blas_library("cublaslt").name == "Cublaslt"
    assert ag.backends.cuda.preferred_blas_library("default").name == "Cublas"


PROGRAM = """
import autograd_cy as ag
x = ag.ones(2, 2, device="cuda")
print(ag.backends.cuda.matmul._library())
print((x @ x).tolist())
"""


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("0", "(False, 'switched off by AUTOGRAD_CY_CUBLAS=0')\n[[2.0, 2.0], [2.0, 2.0]]"),
        ("/nowhere/libcublas.so", "AUTOGRAD_CY_CUBLAS=/nowhere/libcublas.so can't be loaded"),
        ("libcuda.so.1", "has no cublasCreate_v2"),
    ],
)
def test_a_library_is_named_or_switched_off(asked, words):
    env = places.environment(AUTOGRAD_CY_CUBLAS=asked)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=120
    )
    assert words in done.stdout + done.stderr
    assert (done.returncode == 0) == (asked == "0")


FAILING = """
#include <stdlib.h>
static int status(const char *name) { const char *s = getenv(name); return s ? atoi(s) : 0; }
int cublasCreate_v2(void **h) { *h = (void *)1; return status("CREATE"); }
int cublasGetVersion_v2(void *h, int *v) { *v = 130100; return 0; }
int cublasSetStream_v2(void *h, void *s) { return status("STREAM"); }
int cublasSetWorkspace_v2(void *h, void *p, size_t n) { return 0; }
int cublasSetMathMode(void *h, int m) { return 0; }
int cublasGemmEx() { return status("GEMM"); }
int cublasGemmStridedBatchedEx() { return status("GEMM"); }
"""
FAILED = """
import autograd_cy as ag
x = ag.ones(2, 2, device="cuda")
for call in (lambda: x @ x, lambda: ag.addmm(x, x, x), lambda: ag.bmm(x[None], x[None])):
    try:
        print(call().tolist())
    except RuntimeError as error:
        print(error)
print((x + 1).tolist())
"""


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """A library that fails where the environment says so."""
    folder = tmp_path_factory.mktemp("cublas")
    source, library = folder / "failing.c", folder / "libcublas.so.13"
    source.write_text(FAILING)
    command = ["cc", "-shared", "-fPIC", "-w", "-o", str(library), str(source)]
    subprocess.run(command, check=True, timeout=60)
    return library


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("what", "status", "words"),
    [
        ("CREATE", 1, "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(h"),
        ("STREAM", 7, "CUDA error: CUBLAS_STATUS_INVALID_VALUE when calling `cublasSetStream("),
        ("GEMM", 13, "CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx(handle, ...)` in"),
        ("GEMM", 15, "[[2.0, 2.0], [2.0, 2.0]]\n[[3.0, 3.0], [3.0, 3.0]]\n[[[2.0"),
    ],
)
def test_failures_of_cublas(failing, what, status, words):
    env = places.environment(AUTOGRAD_CY_CUBLAS=failing, **{what: status})
    done = subprocess.run(
        [sys.executable, "-c", FAILED], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert words in done.stdout
    assert done.stdout.endswith("[[2.0, 2.0], [2.0, 2.0]]\n")


@pytest.mark.emulated
def test_handles_are_taken_over_from_threads_that_ended(cublas):
    x = ag.ones(3, 3, device="cuda")
    before = cuda_blas.handles()

    def work():
        ag.mm(x, x).cpu()

    for _ in range(4):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert cuda_blas.handles() <= before + 1


@pytest.mark.emulated
def test_long_inner_dimensions_take_two_passes():
    x = ag.randn(100_000).to("cuda")
    with control.traced() as names:
        ag.dot(x, x).item()
    assert names[-2:] == ["vector_rows_f32", "vector_finish_f32"]


def test_results_have_the_same_bits_in_each_run(library):
    x, y = ag.randn(200, 300).to("cuda"), ag.randn(300, 70).to("cuda")
    v = ag.randn(50_000).to("cuda")
    first = ag.mm(x, y).cpu(), ag.dot(v, v).cpu()
    for _ in range(2):
        assert ag.equal(ag.mm(x, y).cpu(), first[0]) and ag.equal(ag.dot(v, v).cpu(), first[1])


@pytest.mark.emulated
def test_more_matrices_than_a_grid_is_deep():
    before = cuda_products._set_matrices_of_grid(3)
    cuda_blas.choose(False)
    try:
        a, b, c = ag.randn(8, 2, 3), ag.randn(8, 3, 4), ag.randn(8, 2, 4)
        with control.traced() as names:
            got = ag.baddbmm(c.to("cuda"), a.to("cuda"), b.to("cuda")).cpu()
        assert names == ["product_f32"] * 3
    finally:
        cuda_products._set_matrices_of_grid(before)
        cuda_blas.choose(True)
    np.testing.assert_allclose(values(got), values(ag.baddbmm(c, a, b)), rtol=1e-5, atol=1e-5)


def test_threads_multiply_side_by_side(library):
    x, y = ag.randn(40, 30), ag.randn(30, 20)
    want, found = values(ag.mm(x, y)), []
    default = ag.cuda.current_stream()

    def work():
        a, b = x.to("cuda"), y.to("cuda")
        stream = ag.Stream("cuda")
        with stream:
            stream.wait_stream(default)
            found.extend(values(ag.mm(a, b)) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 15
    for got in found:
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


# --- what doesn't fit ---------------------------------------------------------------------------


def test_shapes_and_dtypes_that_do_not_fit_are_refused(library):
    x = ag.randn(3, 4).to("cuda")
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        ag.mm(x, x)
    with pytest.raises(RuntimeError, match="same dtype"):
        ag.mm(x, x.double().t())
    with pytest.raises(RuntimeError, match="same device"):
        ag.mm(x, ag.randn(4, 3))
    assert ag.mm(x, x.t()).shape == (3, 3)
