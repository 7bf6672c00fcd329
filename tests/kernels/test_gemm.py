"""Matrix products on pointers, through the entry point that takes buffers."""

import ast
import itertools
import os

import numpy as np
import programs
import pytest
from endless import in_child

import autograd_cy as ag
from autograd_cy._C import blas, cpu, gemm, parallel
from ext.codegen.dtypes import ELEMENT_TYPES

ml_dtypes = pytest.importorskip("ml_dtypes")

NAMES = [t.name for t in ELEMENT_TYPES]
# Dtype codes by name.
INTS = {name: NAMES.index(name) for name in ("uint8", "int8", "int16", "int32", "int64")}
FLOATS = {name: NAMES.index(name) for name in ("float16", "bfloat16", "float32", "float64")}
COMPLEX = {name: NAMES.index(name) for name in ("complex64", "complex128")}
CODES = INTS | FLOATS | COMPLEX

# Around the sides of the blocks of every instruction set, and each routine of gemm.pyx.
SHAPES = [
    (1, 1, 1),
    (1, 1, 203),  # two vectors
    (2, 3, 4),
    (5, 7, 3),
    (13, 33, 9),
    (1, 70, 40),  # narrow: one row
    (3, 70, 300),
    (70, 1, 40),  # narrow: one column
    (1100, 4, 30),
    (50, 20, 600),  # k in several pieces
    (8, 300, 260),
    (107, 130, 270),  # packed
]


def numpy_type(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def epsilon(name):
    return float((ml_dtypes if name == "bfloat16" else np).finfo(numpy_type(name)).eps)


def random(rng, name, shape):
    if name in INTS:
        limits = np.iinfo(name)
        return rng.integers(limits.min, limits.max, shape, dtype=name, endpoint=True)
    found = rng.standard_normal(shape)
    if name in COMPLEX:
        found = found + 1j * rng.standard_normal(shape)
    return found.astype(numpy_type(name))


def stored(matrix, trans):
    """Return the operand of which op() gives `matrix`."""
    if trans == 0:
        return matrix.copy()
    swapped = np.swapaxes(matrix, -1, -2)
    return np.ascontiguousarray(swapped.conj() if trans == 2 else swapped)


def strided(matrix, gap):
    """Return the matrix with longer rows in memory."""
    room = np.empty((*matrix.shape[:-1], matrix.shape[-1] + gap), matrix.dtype)
    room.view(np.uint8)[...] = 0xFF
    found = room[..., : matrix.shape[-1]]
    found[...] = matrix
    return found


def raw(array):
    # bfloat16 has no buffer format; the entry point looks at the size alone.
    return array.view(np.uint16) if array.dtype == ml_dtypes.bfloat16 else array


def product(name, a, b, c, trans_a=0, trans_b=0, alpha=1.0, beta=0.0):
    gemm.gemm_numpy(CODES[name], raw(a), raw(b), raw(c), trans_a, trans_b, alpha, beta)
    return c


def product_of(name, a, b):
    """The product in the widest type, and that of the absolute values."""
    if name in INTS:
        return np.matmul(a, b), None
    wide = np.complex128 if name in COMPLEX else np.float64
    a, b = a.astype(wide), b.astype(wide)
    return np.matmul(a, b), np.matmul(abs(a), abs(b))


def assert_product(name, found, a, b, alpha=1.0, beta=0.0, c=None, products=None):
    """Compare with `product_of` (`products`, where it is known), element by element."""
    expected, magnitude = products or product_of(name, a, b)
    if name in INTS:
        expected = expected * a.dtype.type(alpha)
        if beta:
            expected = expected + a.dtype.type(beta) * c
        np.testing.assert_array_equal(found, expected.astype(found.dtype))
        return
    wide = np.complex128 if name in COMPLEX else np.float64
    expected = alpha * expected
    magnitude = abs(alpha) * magnitude
    if beta:
        expected = expected + beta * c.astype(wide)
        magnitude = magnitude + abs(beta * c.astype(wide))
    # The half types are summed in float32 and rounded once.
    sums = epsilon("float32" if name in ("float16", "bfloat16") else name)
    terms = a.shape[-1] + 2
    bound = (
        2 * sums * terms * magnitude
        + 2 * epsilon(name) * abs(expected)
        + 1e-7 * (name == "float16")
    )
    error = abs(found.astype(wide) - expected)
    assert np.all(error <= bound), f"{np.max(error - bound)} above the bound"


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture
def threads():
    """Set the number of threads; put back afterwards."""
    before = parallel.get_num_threads()
    yield parallel.set_num_threads
    parallel.set_num_threads(before)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", CODES)
def test_product_for_every_dtype_and_transposition(name, shape, rng):
    m, n, k = shape
    a, b = random(rng, name, (m, k)), random(rng, name, (k, n))
    flags = (0, 1, 2) if name in COMPLEX else (0, 1)
    products = product_of(name, a, b)
    for trans_a, trans_b in itertools.product(flags, flags):
        c = np.empty((m, n), a.dtype)
        product(name, stored(a, trans_a), stored(b, trans_b), c, trans_a, trans_b)
        assert_product(name, c, a, b, products=products)


@pytest.mark.parametrize(
    "shape", [(5, 7, 3), (2, 40, 30), (40, 1, 30), (3, 70, 300), (107, 40, 270)], ids=str
)
@pytest.mark.parametrize("name", CODES)
def test_alpha_and_beta(name, shape, rng):
    m, n, k = shape
    a, b, c = random(rng, name, (m, k)), random(rng, name, (k, n)), random(rng, name, (m, n))
    alpha = 3 if name in INTS else 0.5
    if name in COMPLEX:
        alpha = 0.5 - 2j
    products = product_of(name, a, b)
    for beta, (trans_a, trans_b) in itertools.product((1, 3), itertools.product((0, 1), (0, 1))):
        found = c.copy()
        product(name, stored(a, trans_a), stored(b, trans_b), found, trans_a, trans_b, alpha, beta)
        assert_product(name, found, a, b, alpha, beta, c, products)


@pytest.mark.parametrize(
    "shape", [(5, 7, 3), (70, 2, 40), (2, 70, 40), (107, 130, 270), (5, 6, 8200)], ids=str
)
@pytest.mark.parametrize("name", CODES)
def test_rows_may_lie_apart_and_gaps_stay_untouched(name, shape, rng):
    m, n, k = shape
    a, b = random(rng, name, (m, k)), random(rng, name, (k, n))
    products = product_of(name, a, b)
    for trans_a, trans_b in itertools.product((0, 1), (0, 1)):
        c = strided(np.zeros((m, n), a.dtype), 5)
        product(
            name,
            strided(stored(a, trans_a), 3),
            strided(stored(b, trans_b), 1),
            c,
            trans_a,
            trans_b,
        )
        assert_product(name, c, a, b, products=products)
        gap = c.base[:, n:].view(np.uint8) if c.base is not None else None
        assert gap is not None
        assert np.all(gap == 0xFF)


@pytest.mark.parametrize("shape", [(3, 5, 4), (40, 2, 30), (2, 40, 30), (60, 50, 300)], ids=str)
@pytest.mark.parametrize("name", [*FLOATS, *COMPLEX])
def test_result_is_not_read_when_beta_is_zero(name, shape, rng):
    m, n, k = shape
    a, b = random(rng, name, (m, k)), random(rng, name, (k, n))
    c = np.full((m, n), np.nan, a.dtype)
    assert_product(name, product(name, a, b, c), a, b)


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("beta", [0, 1, 2])
def test_empty_sum_scales_the_result(name, beta, rng):
    c = random(rng, name, (3, 4))
    found = product(name, np.empty((3, 0), c.dtype), np.empty((0, 4), c.dtype), c.copy(), beta=beta)
    np.testing.assert_array_equal(found, (c * np.array(beta).astype(c.dtype)).astype(c.dtype))


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)], ids=str)
def test_empty_results_are_left_alone(name, shape):
    m, n = shape
    dtype = numpy_type(name)
    c = product(name, np.ones((m, 3), dtype), np.ones((3, n), dtype), np.empty((m, n), dtype))
    assert c.shape == shape


@pytest.mark.parametrize("name", [*FLOATS, *COMPLEX])
def test_nan_and_infinity_reach_the_elements_they_belong_to(name, rng):
    a, b = random(rng, name, (20, 30)), random(rng, name, (30, 25))
    a[3, 4] = np.nan
    b[5, 6] = np.inf
    c = product(name, a, b, np.zeros((20, 25), a.dtype))
    assert np.isnan(c[3]).all()
    assert not np.isfinite(c[:, 6]).any()
    others = np.ones_like(c, bool)
    others[3] = False
    others[:, 6] = False
    assert np.isfinite(c[others]).all()


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_sums_are_rounded_once(name):
    # 2049 ones: in half precision the running sum would stick at 2048 (float16) or 256 (bfloat16).
    k = 2049
    dtype = numpy_type(name)
    c = product(name, np.ones((2, k), dtype), np.ones((k, 3), dtype), np.empty((2, 3), dtype))
    assert np.all(c == dtype.type(k))


@pytest.mark.parametrize("name", ["int32", "int64"])
def test_integers_wrap_around(name):
    top = np.iinfo(name).max
    a, b = np.full((2, 3), top, name), np.full((3, 2), 3, name)
    c = product(name, a, b, np.empty((2, 2), name))
    np.testing.assert_array_equal(c, np.matmul(a, b))


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("shape", [(9, 3, 4, 5), (2, 40, 50, 60), (5, 1, 30, 20)], ids=str)
def test_batches(name, shape, rng):
    batch, m, n, k = shape
    a, b = random(rng, name, (batch, m, k)), random(rng, name, (batch, k, n))
    for trans_a, trans_b in itertools.product((0, 1), (0, 1)):
        c = np.empty((batch, m, n), a.dtype)
        product(name, stored(a, trans_a), stored(b, trans_b), c, trans_a, trans_b)
        assert_product(name, c, a, b)


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_batches_of_small_matrices(name, rng):
    sides = (1, 2, 3, 5, 8, 9, 12, 13, 16, 17)
    shapes = [(s, s, s) for s in sides] + rng.choice(sides, (40, 3)).tolist()
    for m, n, k in [*shapes, (1, 64, 1), (64, 1, 1)]:
        a, b = random(rng, name, (5, m, k)), random(rng, name, (5, k, n))
        old = random(rng, name, (5, m, n))
        for trans_a, trans_b in itertools.product((0, 1), (0, 1)):
            x, y = strided(stored(a, trans_a), 3), strided(stored(b, trans_b), 2)
            for alpha, beta in ((1.0, 0.0), (-0.5, 2.0)):
                c = strided(old if beta else np.full_like(old, np.nan), 1)
                product(name, x, y, c, trans_a, trans_b, alpha, beta)
                want = alpha * np.matmul(a.astype("f8"), b.astype("f8")) + beta * old
                np.testing.assert_allclose(c, want, rtol=0, atol=40 * epsilon(name) * max(k, 4))


def test_a_small_matrix_has_the_same_bits_in_any_batch(rng, threads):
    a, b = random(rng, "float32", (3000, 7, 9)), random(rng, "float32", (3000, 9, 5))
    whole = []
    for count in (1, 2, 5):
        threads(count)
        whole.append(product("float32", a, b, np.empty((3000, 7, 5), "f4")))
    assert whole[0].tobytes() == whole[1].tobytes() == whole[2].tobytes()
    for i in (0, 1234, 2999):
        one = product("float32", a[i : i + 1], b[i : i + 1], np.empty((1, 7, 5), "f4"))
        assert one.tobytes() == whole[0][i].tobytes()


@pytest.mark.parametrize("name", ["float32", "complex64", "int16", "float16"])
def test_one_operand_may_serve_a_whole_batch(name, rng):
    a, b = random(rng, name, (6, 7, 8)), random(rng, name, (8, 5))
    repeated = np.broadcast_to(raw(b), (6, 8, 5))
    c = np.empty((6, 7, 5), a.dtype)
    gemm.gemm_numpy(CODES[name], raw(a), repeated, raw(c))
    assert_product(name, c, a, np.broadcast_to(b, (6, 8, 5)))
    c = np.empty((6, 8, 5), a.dtype)
    a = random(rng, name, (8, 8))
    b = random(rng, name, (6, 8, 5))
    gemm.gemm_numpy(CODES[name], np.broadcast_to(raw(a), (6, 8, 8)), raw(b), raw(c))
    assert_product(name, c, np.broadcast_to(a, (6, 8, 8)), b)


LARGE = [
    (300, 290, 310),
    (96, 700, 300),
    (1500, 3, 400),
    (3, 1500, 400),
    (40, 30, 20000),  # k in parts side by side
    (1, 1, 100000),
    (200, 200, 100),
]


BY_THREADS = [
    (n, s) for n in ("float32", "float64", "complex64", "bfloat16", "int32") for s in LARGE
]


@pytest.mark.parametrize(
    ("name", "shape"), [*BY_THREADS, ("int64", LARGE[0]), ("complex128", LARGE[0])], ids=str
)
def test_results_are_bit_equal_for_any_number_of_threads(name, shape, rng, threads):
    m, n, k = shape
    a, b = random(rng, name, (m, k)), random(rng, name, (k, n))
    for trans_a, trans_b in itertools.product((0, 1), (0, 1)):
        if trans_a == trans_b and name in ("int32", "bfloat16"):
            continue  # copied first, as one of the others is
        x, y = stored(a, trans_a), stored(b, trans_b)
        found = []
        for count in (1, 2, 7):
            threads(count)
            found.append(product(name, x, y, np.empty((m, n), a.dtype), trans_a, trans_b).tobytes())
        assert found.count(found[0]) == len(found)


def test_a_row_that_is_added_meets_its_columns_with_any_number_of_threads(threads):
    for dtype in (ag.float32, ag.float64):
        x, weight, bias = (ag.rand(*size, dtype=dtype) for size in ((130, 260), (300, 260), (300,)))
        expected = x.double().numpy() @ weight.double().numpy().T + bias.double().numpy()
        found = []
        for count in (1, 2, 4, 6):
            threads(count)
            found.append(ag.nn.functional.linear(x, weight, bias).numpy())
            np.testing.assert_allclose(found[-1], expected, rtol=1e-5)
        assert all(f.tobytes() == found[0].tobytes() for f in found)


@pytest.mark.parametrize("name", ["float32", "float64", "complex64"])
def test_rows_that_lie_pages_apart_give_the_same_bits(name, rng, threads):
    # They share places of the caches, so blocks of them are copied first.
    k, page = 300, 4096 // numpy_type(name).itemsize
    for m, n in ((13, 130), (107, 260)):
        a, b = random(rng, name, (m, k)), random(rng, name, (k, n))
        apart, row = strided(a, page * 2 - k), random(rng, name, (m, n))
        for count, beta in itertools.product((1, 3), (0.0, 2.0)):
            threads(count)
            near, far = (product(name, x, b, row.copy(), beta=beta) for x in (a, apart))
            assert near.tobytes() == far.tobytes()


@pytest.mark.parametrize("name", ["float32", "complex128"])
def test_batches_are_bit_equal_for_any_number_of_threads(name, rng, threads):
    a, b = random(rng, name, (7, 150, 80)), random(rng, name, (7, 80, 120))
    found = []
    for count in (1, 2, 5):
        threads(count)
        found.append(product(name, a, b, np.empty((7, 150, 120), a.dtype)).tobytes())
    assert found.count(found[0]) == len(found)


@pytest.mark.parametrize("shape", LARGE, ids=str)
def test_large_products_with_threads(shape, rng, threads):
    threads(3)
    m, n, k = shape
    a, b = random(rng, "float32", (m, k)), random(rng, "float32", (k, n))
    assert_product("float32", product("float32", a, b, np.empty((m, n), "f4")), a, b)


def test_a_forked_child_multiplies(rng, threads):
    threads(2)
    a, b = random(rng, "float32", (256, 256)), random(rng, "float32", (256, 256))
    expected = product("float32", a, b, np.empty((256, 256), "f4"))
    z = a.astype("c8")
    product("complex64", z, z, np.empty_like(z))

    def work():
        found = product("float32", a, b, np.empty((256, 256), "f4"))
        product("complex64", z, z, np.empty_like(z))
        assert found.tobytes() == expected.tobytes()

    assert in_child(work, 10) == 0


# Errors of the entry point.


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="do not give"):
        product("float32", np.ones((2, 3), "f4"), np.ones((4, 2), "f4"), np.ones((2, 2), "f4"))
    with pytest.raises(ValueError, match="batches"):
        product(
            "float32", np.ones((2, 1, 1), "f4"), np.ones((3, 1, 1), "f4"), np.ones((3, 1, 1), "f4")
        )
    with pytest.raises(ValueError, match="unit stride"):
        product(
            "float32", np.ones((4, 4), "f4")[:, ::2], np.ones((2, 2), "f4"), np.ones((4, 2), "f4")
        )
    with pytest.raises(ValueError, match="bytes"):
        product("float64", *(np.ones((2, 2), "f4"),) * 3)
    for code in (-1, 0, NAMES.index("uint16"), NAMES.index("uint64"), len(NAMES)):
        with pytest.raises(ValueError, match=f"unknown dtype code {code}"):
            gemm.gemm_numpy(code, *(np.ones((2, 2), "u1"),) * 3)
    fixed = np.ones((2, 2), "f4")
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        product("float32", np.ones((2, 2), "f4"), np.ones((2, 2), "f4"), fixed)


@pytest.mark.parametrize("ndims", [p for p in itertools.product((1, 2, 3, 4), repeat=3)
                                   if p not in ((2, 2, 2), (3, 3, 3))], ids=str)  # fmt: skip
def test_matrices_and_batches_do_not_mix(ndims):
    a, b, c = (np.ones((2,) * n, "f4") for n in ndims)
    with pytest.raises(ValueError, match="must have 2 dimensions, or 3 with a batch"):
        gemm.gemm_numpy(CODES["float32"], a, b, c)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("rows", [2, 3])
def test_rows_that_overlap_are_refused(rows, place):
    matrices = [np.ones((rows, rows), "f4") for _ in range(3)]
    matrices[place] = np.lib.stride_tricks.as_strided(np.ones(9, "f4"), (rows, rows), (4, 4))
    with pytest.raises(ValueError, match=f"the rows of {'abc'[place]} overlap"):
        product("float32", *matrices)


def test_the_distance_of_a_single_row_does_not_matter():
    a = np.lib.stride_tricks.as_strided(np.arange(4, dtype="f4"), (1, 3), (4, 4))
    c = np.zeros((1, 2), "f4")
    product("float32", a, np.ones((3, 2), "f4"), c)
    assert c.tolist() == [[3, 3]]


# The choice of the BLAS and of the instruction set: each in a fresh process.

SCRIPT = """
import numpy as np
from autograd_cy._C import blas, gemm
a = np.arange(12, dtype={dtype!r}).reshape(3, 4)
b = np.arange(20, dtype={dtype!r}).reshape(4, 5)
c = np.empty((3, 5), {dtype!r})
gemm.gemm_numpy({code}, a, b, c)
assert (c == a @ b).all(), c
print(blas.blas_info())
"""


def run(script, **variables):
    # As programs have it: what limits the threads of libraries is for the tests themselves.
    ours = ("AUTOGRAD_CY_BLAS", "AUTOGRAD_CY_CPU", "OPENBLAS_NUM_THREADS")
    environ = {k: v for k, v in os.environ.items() if not k.startswith(ours)} | variables
    done = programs.run("-c", script, env=environ)
    return done.returncode, done.stdout + done.stderr


def script(dtype="f4", code=FLOATS["float32"]):
    return SCRIPT.format(dtype=dtype, code=code)


@pytest.fixture(scope="module")
def blas_library():
    """The shared library behind SciPy's BLAS."""
    code, out = run(script(), AUTOGRAD_CY_BLAS="scipy")
    assert code == 0, out
    path = ast.literal_eval(out)["library"]
    if path is None:
        pytest.skip("the library behind SciPy's BLAS is not known here")
    return path


def test_scipy_as_provider_is_held_at_one_thread():
    code, out = run(script(), AUTOGRAD_CY_BLAS="scipy")
    assert code == 0, out
    found = ast.literal_eval(out)
    assert found["provider"] == "scipy"
    assert found["threads"] == "own"
    assert found["library_threads"] in (1, None)
    if "openblas" in (found["setter"] or ""):  # it says what it is
        assert found["config"].startswith("OpenBLAS") and found["core"].isidentifier()


def test_own_loops_load_no_scipy():
    names = script("c8", COMPLEX["complex64"]).replace(
        "print(", "import sys; print('scipy' in sys.modules, "
    )
    code, out = run(names, AUTOGRAD_CY_BLAS="own")
    assert code == 0, out
    assert out.strip() == "False {'provider': 'own'}"


def test_the_library_may_keep_its_threads():
    code, out = run(
        script("c8", COMPLEX["complex64"]),
        AUTOGRAD_CY_BLAS="scipy",
        AUTOGRAD_CY_BLAS_THREADS="library",
    )
    assert code == 0, out
    assert "'setter': None" in out


def test_provider_by_path(blas_library):
    large = FLOATS | COMPLEX
    scripts = [
        script(np.dtype(name).str[1:], large[name])
        for name in ("float32", "float64", "complex64", "complex128")
    ]
    status, out = run("".join(scripts), AUTOGRAD_CY_BLAS=blas_library)
    assert status == 0, out
    assert [blas_library in line for line in out.splitlines()] == [True] * len(scripts)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"AUTOGRAD_CY_BLAS": "fast"}, "choose own, scipy, mkl or the path"),
        ({"AUTOGRAD_CY_BLAS": "/no/such/libblas.so"}, "there is no such file"),
        ({"AUTOGRAD_CY_BLAS": "libnosuchblas.so.3"}, "cannot be loaded"),
        ({"AUTOGRAD_CY_BLAS": "libm.so.6"}, "the library has no sgemm_"),
        ({"AUTOGRAD_CY_BLAS": "mkl", "MKL_INTERFACE_LAYER": "ILP64"}, "64-bit integers"),
        ({"AUTOGRAD_CY_BLAS": "scipy", "AUTOGRAD_CY_BLAS_THREADS": "many"}, "`own` or `library`"),
    ],
)
def test_impossible_choices_say_what_to_do(variables, message):
    code, out = run(script(), **variables)
    assert code == 1
    assert message in out


def test_a_missing_mkl_is_named():
    code, out = run(script(), AUTOGRAD_CY_BLAS="mkl")
    if code == 0:
        pytest.skip("MKL is installed here")
    assert "AUTOGRAD_CY_BLAS=mkl: cannot be loaded" in out


SEVERAL = """
import sys
sys.path[:0] = {folders!r}
import numpy as np
import test_gemm as t
import autograd_cy as ag
from autograd_cy._C import parallel
assert ag.mm(ag.ones(2, 3), ag.ones(3, 4)).tolist() == [[3.0] * 4] * 2
t.test_the_distance_of_a_single_row_does_not_matter()
rng = np.random.default_rng(1)
for name in {names!r}:
    for shape in [*t.SHAPES[3::2], t.SHAPES[-1]]:  # each routine; all with this variable in CI
        t.test_product_for_every_dtype_and_transposition(name, shape, rng)
    t.test_batches(name, (9, 30, 4, 5), rng)
    if name in ("float32", "float64"):
        t.test_batches_of_small_matrices(name, rng)
    t.test_alpha_and_beta(name, (107, 40, 270), rng)
    for shape in t.LARGE[:1]:
        t.test_results_are_bit_equal_for_any_number_of_threads(
            name, shape, rng, parallel.set_num_threads)
"""


def run_several(names, **variables):
    folder = os.path.dirname(__file__)
    text = SEVERAL.format(folders=[folder, os.path.dirname(folder)], names=names)
    code, out = run(text, **variables)
    assert code == 0, out


@pytest.mark.parametrize("target", ["base", "avx2", "avx512"])
def test_every_instruction_set_gives_the_product(target):
    if target not in cpu.usable_targets():
        pytest.skip(f"this build or processor has no {target}")
    if target == cpu.selected_target() and blas.blas_info()["provider"] == "own":
        pytest.skip(f"{target} was tested above")
    names = ["float32", "float64", "bfloat16", "int32", "complex64"]
    # NumPy's threads wait for one another by turning, and there is nothing of theirs to see.
    run_several(names, AUTOGRAD_CY_CPU=target, AUTOGRAD_CY_BLAS="own", OPENBLAS_NUM_THREADS="1")


def test_scipy_as_provider_gives_the_product():
    names = ["float32", "float64", "complex64", "complex128", "float16"]
    run_several(names, AUTOGRAD_CY_BLAS="scipy")


@pytest.mark.parametrize(
    ("asked", "message"), [("avx3", "unknown instruction set"), ("AVX2", "unknown instruction set")]
)
def test_an_unknown_instruction_set_is_refused_at_import(asked, message):
    code, out = run("import autograd_cy._C.cpu", AUTOGRAD_CY_CPU=asked)
    assert code == 1
    assert message in out
    assert "ImportError" in out


def test_an_instruction_set_that_the_processor_lacks_is_refused():
    with pytest.raises(ImportError, match="this processor cannot run it"):
        cpu.choose("avx512", ("base", "avx2"), ("base", "avx2", "avx512"))
    assert cpu.choose("", ("base", "avx2"), ("base", "avx2", "avx512")) == "avx2"
    assert cpu.choose("", ("base", "avx2", "avx512"), ("base", "avx2")) == "avx2"
    with pytest.raises(ImportError, match="build of autograd_cy has no kernels"):
        cpu.choose("avx512", ("base", "avx2", "avx512"), ("base", "avx2"))
    assert cpu.choose("base", ("base", "avx2"), ("base",)) == "base"
