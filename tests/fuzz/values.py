"""Tensors of random cases: dtypes, odd sizes, layouts and special values.

An Input has its elements as an array in the widest dtype of their kind, already rounded to the
dtype that the tensor has. So the same numbers can be given to NumPy, or to the operator in float64.
"""

from dataclasses import dataclass

import numpy as np

from .case import chance, choice

KINDS = {
    "b": ("bool",),
    "u": ("uint16", "uint32", "uint64"),
    "i": ("uint8", "int8", "int16", "int32", "int64"),
    "h": ("float16", "bfloat16"),
    "f": ("float32", "float64"),
    "c": ("complex64", "complex128"),
}
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names}
# What is mixed with others; uint16, uint32 and uint64 are promoted with few of them.
MIXED = [name for name, kind in KIND_OF.items() if kind != "u"]
WIDE = {
    "b": "bool",
    "u": "uint64",
    "i": "int64",
    "h": "float64",
    "f": "float64",
    "c": "complex128",
}
EPSILON = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
}
LARGEST = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
}
LARGEST |= {"complex64": LARGEST["float32"], "complex128": LARGEST["float64"]}
SMALLEST = {  # normal numbers
    "float16": 2.0**-14,
    "bfloat16": 2.0**-126,
    "float32": 2.0**-126,
    "float64": 2.0**-1022,
}
SMALLEST |= {"complex64": SMALLEST["float32"], "complex128": SMALLEST["float64"]}

COMPLEX_OF = {"float32": "complex64", "float64": "complex128"}

# Nothing, one, primes, and both sides of vector widths and tiles.
SIZES = (0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 61, 63, 64, 65, 127, 128, 129)
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 3e-42, -1e-310, 1e300, -7e4, 88.8)


def rounded(array, dtype):
    """The array with its elements rounded to `dtype`, in the widest dtype of the kind."""
    kind = KIND_OF[dtype]
    array = np.asarray(array)
    with np.errstate(all="ignore"):
        if dtype == "bfloat16":
            return _to_bfloat16(array.astype(np.float64))
        return array.astype(dtype).astype(WIDE[kind])


def _to_bfloat16(x):
    """Rounded to eight bits of precision, ties to even, by arithmetic on float64."""
    _, exponent = np.frexp(x)
    # Denormal numbers have fewer bits: their last one is 2**-133.
    drop = np.maximum(exponent - 8, -133)
    y = np.ldexp(np.rint(np.ldexp(x, -drop)), drop)
    y = np.where(np.abs(y) > LARGEST["bfloat16"], np.copysign(np.inf, x), y)
    return np.where(np.isfinite(x), np.copysign(y, x), x)


@dataclass(frozen=True)
class Input:
    """A tensor: elements, dtype, and the view that gives it its layout."""

    array: np.ndarray
    dtype: str
    base: np.ndarray  # the array that the view is taken of
    view: str = ""  # source of the view: ".permute(1, 0)", "[..., ::2]"
    requires_grad: bool = False
    of_complex: bool = False  # the base is complex, the view real

    @property
    def shape(self):
        return self.array.shape

    @property
    def is_smooth(self):
        return KIND_OF[self.dtype] in "hfc"

    def tensor(self, lib, dtype=None):
        """The tensor, also in another dtype."""
        wide = np.array(self.base, order="C")
        t = lib.from_numpy(wide).to(getattr(lib, self._base_dtype(dtype)))
        if self.view:
            t = eval("t" + self.view, {"t": t})
        if self.requires_grad and self.is_smooth:
            t = t.detach().requires_grad_(True)
        return t

    def source(self, dtype=None):
        """Return the value as Python source."""
        name = self._base_dtype(dtype)
        if self.base.size:
            text = f"torch.tensor({self.base.tolist()!r}, dtype=torch.{name})"
        else:
            text = f"torch.zeros({tuple(self.base.shape)}, dtype=torch.{name})"
        grad = ".detach().requires_grad_()" if self.requires_grad and self.is_smooth else ""
        return text + self.view + grad

    def _base_dtype(self, dtype):
        dtype = dtype or self.dtype
        return COMPLEX_OF[dtype] if self.of_complex else dtype


def numbers(rng, shape, dtype, low=-2.0, high=2.0, avoid=(), gap=0.1):
    """Random elements between two bounds, away from some points."""
    kind = KIND_OF[dtype]
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        low, high = int(np.ceil(low)), int(np.floor(high))
        low = max(low, 0) if dtype[0] == "u" else low
        return rng.integers(low, max(high, low) + 1, shape, WIDE[kind])
    x = np.asarray(rng.uniform(low, high, shape))
    for point in avoid:
        side = np.where(x < point, -1.0, 1.0)
        x = np.where(np.abs(x - point) < gap, point + side * gap, x)
    if kind == "c":
        x = x + 1j * rng.uniform(low, high, shape)
    return rounded(x, dtype)


def special(rng, array, dtype, share=0.3):
    """Some elements replaced by zeros, infinities, NaN, the ends of the dtype and denormals."""
    kind = KIND_OF[dtype]
    if kind == "b":
        return array
    chosen = rng.random(array.shape) < share
    if kind in "iu":
        info = np.iinfo(dtype)
        pool = np.array([info.min, info.max, 0, 1, info.max - 1], WIDE[kind])
        found = rng.choice(pool, array.shape)
    else:
        pool = [*SPECIAL, LARGEST[dtype], -LARGEST[dtype], SMALLEST[dtype], SMALLEST[dtype] / 4]
        found = rng.choice(pool, array.shape)
        if kind == "c":
            # Set by parts: adding 1j * inf would make NaN.
            whole = np.empty(array.shape, np.complex128)
            whole.real, whole.imag = found, rng.choice(pool, array.shape)
            found = whole
    return rounded(np.where(chosen, found, array), dtype)


def wide_range(rng, array, dtype):
    """Elements of very different size."""
    if KIND_OF[dtype] not in "hfc":
        return array
    most = 4 if dtype == "float16" else 12
    return rounded(array * 10.0 ** rng.uniform(-most, most, array.shape), dtype)


def broadcast_shapes(rng, count, most=2000):
    """Shapes of `count` operands that fit together."""
    ndim = choice(rng, (0, 1, 1, 2, 2, 3, 4))
    full = []
    for _ in range(ndim):
        size = choice(rng, SIZES)
        full.append(size if np.prod([*full, size]) <= most else choice(rng, (1, 2, 3)))
    shapes = []
    for _ in range(count):
        start = int(rng.integers(0, ndim + 1)) if chance(rng, 0.3) else 0
        own = [1 if chance(rng, 0.2) else size for size in full[start:]]
        shapes.append(tuple(own))
    return shapes


def with_layout(rng, array, dtype, requires_grad=False, layout=None, ties=True):
    """An Input with these elements (`ties`: or some of them, repeated) and a layout, random if
    none is given."""
    array = np.asarray(array)
    base, view = array, ""
    layouts = ["plain", "plain", "offset"]
    if array.ndim >= 1:
        layouts += ["stepped"]
    if array.ndim >= 1 and array.size and ties:
        layouts += ["expanded"]
    if array.ndim >= 2:
        layouts += ["permuted", "permuted"]
    if KIND_OF[dtype] == "c":
        layouts += ["conjugate"]
    if dtype in ("float32", "float64"):
        layouts += ["negative"]
    layout = layout or choice(rng, layouts)
    if layout == "permuted":
        order = [int(i) for i in rng.permutation(array.ndim)]
        base = np.transpose(array, np.argsort(order))
        view = f".permute({', '.join(map(str, order))})"
    elif layout == "stepped":
        axis = int(rng.integers(array.ndim))
        base = np.repeat(array, 2, axis)
        inner = ", ".join("::2" if i == axis else ":" for i in range(array.ndim))
        view = f"[{inner}]"
    elif layout == "expanded":
        axis = int(rng.integers(array.ndim))
        base = array.take([0], axis)
        view = f".expand({tuple(array.shape)})"
        array = np.broadcast_to(base, array.shape)
    elif layout == "offset":
        extra = int(rng.integers(1, 5))
        base = np.concatenate([np.zeros(extra, array.dtype), array.ravel()])
        view = f"[{extra}:].view({tuple(array.shape)})"
    elif layout == "conjugate":
        base, view = np.conj(array), ".conj()"
    elif layout == "negative":
        # The imaginary part of a conjugate: a view with the negative bit where there is one.
        base = np.full(array.shape, 7.0, np.complex128)
        base.imag = -array
        return Input(array, dtype, base, ".conj().imag", requires_grad, of_complex=True)
    return Input(array, dtype, base, view, requires_grad)


def same_bits(a, b):
    """Return whether two tensors have equal dtype, shape and elements, NaN equal to NaN."""
    if a.dtype != b.dtype or tuple(a.shape) != tuple(b.shape):
        return False
    return bool(np.array_equal(to_array(a), to_array(b), equal_nan=True))


def dtype_name(t):
    return str(t.dtype).rpartition(".")[2]


def to_array(t):
    """The elements of a tensor in the widest dtype of their kind."""
    t = t.detach()
    for resolve in ("resolve_conj", "resolve_neg"):
        if hasattr(t, resolve):
            t = getattr(t, resolve)()
    name = dtype_name(t)
    if name == "bfloat16":
        t = t.float()
    return np.array(t.numpy()).astype(WIDE[KIND_OF.get(name, "f")])
