"""Operands for elementwise kernels of every dtype, and comparisons of what comes of them."""

import numpy as np

import autograd_cy as ag
from ext.codegen import kernel_loops
from ext.codegen.kernel_specs import SPECS

# torch's names of the types in the lists of the code generator.
DTYPES = {
    "b1": ag.bool,
    "u8": ag.uint8,
    "u16": ag.uint16,
    "u32": ag.uint32,
    "u64": ag.uint64,
    "i8": ag.int8,
    "i16": ag.int16,
    "i32": ag.int32,
    "i64": ag.int64,
    "f16": ag.float16,
    "bf16": ag.bfloat16,
    "f32": ag.float32,
    "f64": ag.float64,
    "c64": ag.complex64,
    "c128": ag.complex128,
}
BITS = {"f16": np.int16, "bf16": np.int16, "f32": np.int32, "f64": np.int64}
BITS |= {"c64": np.int32, "c128": np.int64}
TYPES = tuple(DTYPES)
NAMES = {dtype: name for name, dtype in DTYPES.items()}
BY_NAME = {spec.name: spec for spec in SPECS}

# Kernels whose CPU loops are of other formulas than the scalar ones, or of two by turns, and those
# that have formulas of their own on GPUs.
CLOSE = {spec.name for spec in SPECS if spec.wide or spec.far} | {"gelu"}


def types_of(name):
    """The types that a kernel computes in."""
    return kernel_loops.types_of(BY_NAME[name])


def operand_types(name, dtype):
    """Types of result and inputs, the result first."""
    return kernel_loops.operand_types(BY_NAME[name], dtype)


def values(shape, dtype, seed, nonzero=False):
    """A tensor of the CPU with numbers of all kinds that the type has."""
    random = np.random.default_rng(seed)
    count = int(np.prod(shape))
    if dtype == "b1":
        return ag.tensor(random.integers(0, 2, count).tolist(), dtype=ag.bool).reshape(shape)
    if dtype[0] in "ui":
        low, high = (0, 256) if dtype[0] == "u" else (-128, 128)
        numbers = random.integers(low, high, count)
        if dtype in ("u32", "u64", "i32", "i64"):
            numbers[::5] *= 1_000_003
        if nonzero:
            numbers[numbers == 0] = 3
        return ag.tensor(numbers.tolist(), dtype=DTYPES[dtype]).reshape(shape)
    numbers = random.normal(size=count) * 2
    if dtype in ("c64", "c128"):
        numbers = numbers + 1j * random.normal(size=count)
    elif count > 20:
        numbers[[3, 7, 11, 13, 17]] = [0.0, -0.0, np.inf, -np.inf, np.nan]
    return ag.tensor(numbers.tolist(), dtype=DTYPES[dtype]).reshape(shape)


def bits(t):
    """The elements of a tensor as integers, and which are NaN; of its parts if it is complex."""
    t = t.detach().cpu().contiguous()
    name = NAMES[t.dtype]
    if name not in BITS:
        return t.to(ag.int64).numpy(), None
    if name in ("c64", "c128"):
        t = ag.view_as_real(t)
    whole = t.to(ag.float64).numpy()
    signed = {np.int16: ag.int16, np.int32: ag.int32, np.int64: ag.int64}[BITS[name]]
    return t.view(signed).numpy().astype(np.int64), np.isnan(whole)


def assert_bits(got, want, what, ulps=0):
    """Compare elements, which may be so many steps apart; any NaN is one."""
    assert got.dtype == want.dtype and got.shape == want.shape, what
    a, nan = bits(got)
    b, nan_too = bits(want)
    if nan is None:
        assert np.array_equal(a, b), what
        return
    assert np.array_equal(nan, nan_too), what
    if ulps:
        # Bits of floats in the order of their values.
        least = np.iinfo(BITS[NAMES[got.dtype]]).min
        a, b = np.where(a < 0, least - a, a), np.where(b < 0, least - b, b)
    apart = np.where(nan, 0, np.abs(a - b))
    assert apart.max(initial=0) <= ulps, f"{what}: {apart.max()} steps apart"


def assert_near(got, want, what):
    """Nearly the same floats, beside their size and that of operands, as functions of a GPU are."""
    assert got.dtype == want.dtype and got.shape == want.shape, what
    kind = ag.complex128 if want.dtype.is_complex else ag.float64
    a, b = (t.detach().cpu().to(kind).numpy() for t in (got, want))
    step = 64 * ag.finfo(want.dtype).eps
    near = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        near |= np.abs(a - b) <= step * (4 + np.abs(b))
    assert near.all(), f"{what}: {a[~near][:5]} and not {b[~near][:5]}"
