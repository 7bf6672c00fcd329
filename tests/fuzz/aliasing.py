"""The steps of programs of views and writes: each as a line of code, and as NumPy does it.

A Seen is what NumPy knows of one tensor of a program: a jet (jets.py) whose memory is shared as the
tensor's is, and whether conjugation and negation are still to be done. What an operator is asked
for comes from `make(rng, x, others)`, which gives None where it doesn't fit, or what `code` and
`numpy` then get.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from . import jets
from .case import chance, choice

LEAD = 2  # axes of a jet before those of the tensor


@dataclass
class Seen:
    """One tensor. `packed`: its memory is known to lie as NumPy's; `frozen`: it isn't written."""

    array: np.ndarray
    conj: bool = False
    neg: bool = False
    base: int = 0
    packed: bool = True
    frozen: bool = False

    shape = property(lambda self: self.array.shape[LEAD:])
    ndim = property(lambda self: self.array.ndim - LEAD)
    is_complex = property(lambda self: self.array.dtype.kind == "c")

    @property
    def value(self):
        a = self.array.conj() if self.conj else self.array
        return -a if self.neg else a

    def write(self, value, at=...):
        """`at` indexes the axes of the tensor."""
        value = np.asarray(value)
        if not self.is_complex and value.dtype.kind == "c":
            raise TypeError("a complex value for a real tensor")
        value = value.conj() if self.conj else value
        at = at if isinstance(at, tuple) else (at,)
        self.array[(slice(None), slice(None), *at)] = -value if self.neg else value

    @property
    def strides(self):
        return tuple(s // self.array.itemsize for s in self.array.strides[LEAD:])

    @property
    def is_contiguous(self):
        return self.array[0, 0].flags.c_contiguous


def fresh(array, packed=True):
    """A result in memory of its own."""
    return Seen(np.array(array, order="C"), packed=packed)


def seen_as(x, array, **changes):
    return replace(x, array=array, **changes)


# --- views ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Op:
    make: object
    code: object
    numpy: object


def dims(rng, x, count):
    """Different dimensions, some counted from the end, or None."""
    if x.ndim < count:
        return None
    found = rng.permutation(x.ndim)[:count]
    return [int(d) - (x.ndim if chance(rng, 0.3) else 0) for d in found]


def axis(x, d):
    return d % x.ndim + LEAD


def indexed(x, d, at):
    return x.array[(slice(None),) * axis(x, d) + (at,)]


def make_select(rng, x, others):
    d = dims(rng, x, 1)
    return d and x.shape[d[0]] and (d[0], int(rng.integers(x.shape[d[0]])))


def make_narrow(rng, x, others):
    d = dims(rng, x, 1)
    if not d or not x.shape[d[0]]:
        return None
    start = int(rng.integers(x.shape[d[0]]))
    return d[0], start, int(rng.integers(1, x.shape[d[0]] - start + 1))


def make_steps(rng, x, others):
    if not x.ndim or 0 in x.shape:
        return None
    start, step = int(rng.integers(min(2, x.shape[-1]))), int(rng.integers(1, 3))
    return start, step, chance(rng, 0.2)


def make_diagonal(rng, x, others):
    d = dims(rng, x, 2)
    return d and (int(rng.integers(-1, 2)) if min(x.shape[i] for i in d) > 1 else 0, *d)


def diagonal(x, offset, one, two):
    a = np.diagonal(x.array, offset, axis(x, one), axis(x, two))
    a.flags.writeable = x.array.flags.writeable
    return seen_as(x, a, packed=x.packed)


def make_unfold(rng, x, others):
    d = dims(rng, x, 1)
    if not d or not x.shape[d[0]]:
        return None
    size = int(rng.integers(1, x.shape[d[0]] + 1))
    return d[0], size, int(rng.integers(1, 3))


def unfold(x, d, size, step):
    a = sliding_window_view(x.array, size, axis(x, d), writeable=not x.frozen)
    a = a[(slice(None),) * axis(x, d) + (slice(None, None, step),)]
    return seen_as(x, a, frozen=x.frozen or step < size)


def make_expand(rng, x, others):
    sizes = [choice(rng, (2, 3)) if n == 1 else n for n in x.shape]
    return ((2, *sizes) if chance(rng, 0.4) else tuple(sizes),) if x.array.size < 200 else None


def expand(x, sizes):
    a = x.array
    for _ in range(len(sizes) - x.ndim):
        a = a[:, :, None]
    return seen_as(x, np.broadcast_to(a, (*a.shape[:LEAD], *sizes)), frozen=True)


def make_permute(rng, x, others):
    return (tuple(dims(rng, x, x.ndim)),) if x.ndim else None


def permute(x, order):
    return seen_as(x, x.array.transpose(0, 1, *(axis(x, d) for d in order)))


def make_two(rng, x, others):
    return dims(rng, x, 2)


def swap(x, one, two):
    return seen_as(x, x.array.swapaxes(axis(x, one), axis(x, two)))


def make_move(rng, x, others):
    return [int(rng.integers(x.ndim)) for _ in range(2)] if x.ndim else None


def move(x, source, target):
    return seen_as(x, np.moveaxis(x.array, axis(x, source), axis(x, target)))


def only(ndim):
    return lambda rng, x, others: () if x.ndim in ndim else None


def make_any(rng, x, others):
    return ()


def turn(x):
    return swap(x, -2, -1) if x.ndim > 1 else seen_as(x, x.array[...])


def turn_all(x):
    return permute(x, range(x.ndim)[::-1])


def make_squeeze(rng, x, others):
    ones = [d for d in range(x.ndim) if x.shape[d] == 1]
    return (choice(rng, ones),) if ones else None


def squeeze(x, d):
    return seen_as(x, x.array.squeeze(axis(x, d)))


def make_unsqueeze(rng, x, others):
    return (int(rng.integers(-x.ndim - 1, x.ndim + 1)),) if x.ndim < 4 else None


def unsqueeze(x, d):
    return seen_as(x, np.expand_dims(x.array, d % (x.ndim + 1) + LEAD))


def factored(rng, count):
    """A shape with so many elements."""
    shape = []
    while count > 1:
        factor = choice(rng, [f for f in range(2, count + 1) if count % f == 0])
        shape.append(factor)
        count //= factor
    if chance(rng, 0.2):
        shape.insert(int(rng.integers(len(shape) + 1)), 1)
    return tuple(shape) if shape else choice(rng, ((), (1,)))


def make_reshape(rng, x, others):
    return (factored(rng, math.prod(x.shape)),) if x.packed else None


def shows_memory(of, array):
    return np.may_share_memory(of.array, array)


def reshape(x, shape):
    a = x.array.reshape(*x.array.shape[:LEAD], *shape)
    if shows_memory(x, a):
        return seen_as(x, a)
    return fresh(x.value.reshape(a.shape))


def make_view(rng, x, others):
    args = make_reshape(rng, x, others)
    return args if args and shows_memory(x, reshape(x, *args).array) else None


def make_like(rng, x, others):
    if not x.packed:
        return None
    count = math.prod(x.shape)
    found = [i for i, y in enumerate(others) if math.prod(y.shape) == count and y.ndim]
    return (choice(rng, found),) if found else None


def make_flatten(rng, x, others):
    if not x.packed:
        return None
    if not x.ndim:
        return 0, -1
    one, two = sorted(int(rng.integers(x.ndim)) for _ in range(2))
    return one, two - (x.ndim if chance(rng, 0.3) else 0)


def flatten(x, start, end):
    if not x.ndim:
        return reshape(x, (1,))
    end %= x.ndim
    if start == end:
        return x
    return reshape(x, (*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :]))


def make_module(rng, x, others):
    return () if x.packed and x.ndim > 1 else None


def make_packed(rng, x, others):
    return () if x.packed else None


def ravel(x):
    if not x.is_contiguous:
        x = fresh(x.value)
    return reshape(x, (-1,))


def make_unflatten(rng, x, others):
    if not x.packed or not x.ndim:
        return None
    d = int(rng.integers(x.ndim))
    return (d, factored(rng, x.shape[d]) or (1,)) if x.shape[d] else None


def unflatten(x, d, sizes):
    return reshape(x, (*x.shape[:d], *sizes, *x.shape[d + 1 :]))


def make_unflatten_view(rng, x, others):
    args = make_unflatten(rng, x, others)
    return args if args and shows_memory(x, unflatten(x, *args).array) else None


def owner(array):
    """The array whose memory it is."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def make_as_strided(rng, x, others):
    if not x.packed or not x.is_contiguous or x.frozen or x.conj or x.neg:
        return None
    memory, count = owner(x.array), math.prod(x.shape)
    if memory.nbytes != x.array.nbytes or memory.dtype != x.array.dtype or count < 2:
        return None
    step = int(rng.integers(1, 3))
    rows = int(rng.integers(1, (count - 1) // step + 2))
    return (rows,), (step,), int(rng.integers(count - (rows - 1) * step))


def strided(x, size, stride, offset):
    a = x.array.reshape(*x.array.shape[:LEAD], -1)[:, :, offset:]
    steps = (*a.strides[:LEAD], *(s * a.itemsize for s in stride))
    return seen_as(x, as_strided(a, (*a.shape[:LEAD], *size), steps), packed=False)


def real(x):
    return seen_as(x, x.array.real, conj=False) if x.is_complex else x


def imag(x):
    return seen_as(x, x.array.imag, conj=False, neg=x.neg != x.conj)


def make_complex(rng, x, others):
    return () if x.is_complex else None


def make_parts(rng, x, others):
    return () if x.is_complex and not x.conj else None


def parts(x):
    return seen_as(x, x.array[..., None].view(x.array.real.dtype))


def make_pairs(rng, x, others):
    """Find the real numbers that can be read as complex ones."""
    if x.is_complex or not x.packed or x.frozen or x.neg or not x.ndim or x.shape[-1] != 2:
        return None
    base = owner(x.array)
    start = x.array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    steps = [s for s, n in zip(x.strides, x.shape) if n > 1]
    if x.strides[-1] != 1 or any(s % 2 for s in steps[:-1]) or start % 16:
        return None
    return ()


def pairs(x):
    return seen_as(x, x.array.view(complex)[..., 0])


def conj(x):
    return seen_as(x, x.array[...], conj=not x.conj) if x.is_complex else x


def adjoint(x):
    return conj(swap(x, -2, -1))


def made(name):
    """`t.name(arguments)`."""
    return lambda t, *args: f"{t}.{name}({', '.join(map(repr, args))})"


def of_other(name):
    return lambda t, other: f"{t}.{name}({other})"


VIEWS = {
    "select": Op(make_select, made("select"), lambda x, d, i: seen_as(x, indexed(x, d, i))),
    "narrow": Op(
        make_narrow,
        made("narrow"),
        lambda x, d, start, n: seen_as(x, indexed(x, d, slice(start, start + n))),
    ),
    "slices": Op(
        make_steps,
        lambda t, start, step, new: f"{t}[..., {'None, ' if new else ''}{start}::{step}]",
        lambda x, start, step, new: seen_as(
            x,
            x.array[
                (..., None, slice(start, None, step)) if new else (..., slice(start, None, step))
            ],
        ),
    ),
    "diagonal": Op(make_diagonal, made("diagonal"), diagonal),
    "unfold": Op(make_unfold, made("unfold"), unfold),
    "expand": Op(make_expand, made("expand"), expand),
    "permute": Op(make_permute, made("permute"), permute),
    "transpose": Op(make_two, made("transpose"), swap),
    "swapdims": Op(make_two, made("swapdims"), swap),
    "movedim": Op(make_move, made("movedim"), move),
    "t": Op(only((0, 1, 2)), made("t"), turn),
    "mT": Op(lambda rng, x, others: () if x.ndim > 1 else None, lambda t: f"{t}.mT", turn),
    "T": Op(only((2,)), lambda t: f"{t}.T", turn_all),
    "squeeze": Op(make_squeeze, made("squeeze"), squeeze),
    "unsqueeze": Op(make_unsqueeze, made("unsqueeze"), unsqueeze),
    "all": Op(make_any, lambda t: f"{t}[...]", lambda x: seen_as(x, x.array[...])),
    "reshape": Op(make_reshape, made("reshape"), reshape),
    "view": Op(make_view, made("view"), reshape),
    "reshape_as": Op(make_like, of_other("reshape_as"), None),
    "view_as": Op(make_like, of_other("view_as"), None),
    "flatten": Op(make_flatten, made("flatten"), flatten),
    "Flatten": Op(
        make_module,
        lambda t: f"torch.nn.Flatten()({t})",
        lambda x: flatten(x, 1, x.ndim - 1),
    ),
    "ravel": Op(make_packed, made("ravel"), ravel),
    "unflatten": Op(make_unflatten_view, made("unflatten"), unflatten),
    "as_strided": Op(make_as_strided, made("as_strided"), strided),
    "real": Op(make_complex, lambda t: f"{t}.real", real),
    "imag": Op(make_complex, lambda t: f"{t}.imag", imag),
    "view_as_real": Op(make_parts, lambda t: f"torch.view_as_real({t})", parts),
    "view_as_complex": Op(make_pairs, lambda t: f"torch.view_as_complex({t})", pairs),
    "conj": Op(make_complex, made("conj"), conj),
    "mH": Op(
        lambda rng, x, others: () if x.is_complex and x.ndim > 1 else None,
        lambda t: f"{t}.mH",
        adjoint,
    ),
}

# --- results in memory of their own -----------------------------------------------------------


def smooth(derivatives):
    return lambda x: fresh(jets.through(derivatives, x.value), x.packed and x.is_contiguous)


def linear(f):
    return lambda x, *args: fresh(f(x.value, *args), x.packed and x.is_contiguous)


def made_anew(number):
    """Tensors without derivatives, of the shape of one that is there."""

    def found(x):
        return fresh(jets.constant(np.full(x.shape, number, x.array.dtype), x.array))

    return found


OPS = {
    "sin": Op(make_any, made("sin"), smooth(jets.sine)),
    "tanh": Op(only((0, 1, 2, 3)), made("tanh"), smooth(jets.tangent)),
    "exp": Op(make_any, lambda t: f"({t} * 0.3).exp()", smooth(jets.exponential)),
    "square": Op(make_any, lambda t: f"{t} ** 2", smooth(jets.square)),
    "cube": Op(make_any, lambda t: f"{t} ** 3", smooth(jets.cube)),
    "scaled": Op(make_any, lambda t: f"{t} * 1.3", linear(lambda v: v * 1.3)),
    "negative": Op(make_any, lambda t: f"-{t}", linear(np.negative)),
    "clone": Op(make_any, made("clone"), linear(np.copy)),
    "flip": Op(
        lambda rng, x, others: dims(rng, x, 1),
        lambda t, d: f"{t}.flip({d})",
        lambda x, d: fresh(np.flip(x.value, axis(x, d)), False),
    ),
    "sum": Op(
        lambda rng, x, others: dims(rng, x, 1),
        made("sum"),
        lambda x, d: fresh(x.value.sum(axis(x, d)), False),
    ),
    "cumsum": Op(
        lambda rng, x, others: dims(rng, x, 1),
        made("cumsum"),
        lambda x, d: fresh(x.value.cumsum(axis(x, d)), False),
    ),
    "parts": Op(
        lambda rng, x, others: () if not x.is_complex else None,
        lambda t: f"torch.complex({t}, {t} * 0.5)",
        lambda x: fresh(x.value + 0.5j * x.value, x.packed and x.is_contiguous),
    ),
}
NEW = {
    "zeros_like": Op(make_any, lambda t: f"torch.zeros_like({t})", made_anew(0.0)),
    "new_ones": Op(make_any, lambda t: f"{t}.new_ones({t}.shape)", made_anew(1.0)),
    "zeros": Op(make_any, lambda t: f"torch.zeros({t}.shape, dtype={t}.dtype)", made_anew(0.0)),
}


PAIRS = {
    "product": (lambda t, u: f"{t} * {u}", lambda a, b: jets.times(a, b)),
    "sum": (lambda t, u: f"{t} + {u}", lambda a, b: a + b),
    "difference": (lambda t, u: f"torch.sub({t}, {u}, alpha=0.5)", lambda a, b: a - 0.5 * b),
}

# --- writes -----------------------------------------------------------------------------------
# (code of t, u, the value of a number from u), (new value, from those of t and u)

WRITES = {
    "mul_": ("{t}.mul_(0.9)", lambda a: a * 0.9),
    "add_": ("{t}.add_(0.5)", lambda a: a + jets.constant(np.full(a.shape[2:], 0.5), a)),
    "sin_": ("{t}.sin_()", lambda a: jets.through(jets.sine, a)),
    "neg_": ("{t}.neg_()", np.negative),
    "square_": ("{t}.square_()", lambda a: jets.through(jets.square, a)),
    "zero_": ("{t}.zero_()", np.zeros_like),
    "fill_": ("{t}.fill_(0.7)", lambda a: jets.constant(np.full(a.shape[2:], 0.7), a)),
    "tanh_": ("{t}.tanh_()", lambda a: jets.through(jets.tangent, a)),
}
WITH_OTHER = {
    "mul_": ("{t}.mul_({u})", jets.times),
    "add_": ("{t}.add_({u}, alpha=0.5)", lambda a, b: a + 0.5 * b),
    "copy_": ("{t}.copy_({u})", lambda a, b: 0 * a + b),
    "lerp_": ("{t}.lerp_({u}, 0.25)", lambda a, b: 0.75 * a + 0.25 * b),
    "addcmul_": ("{t}.addcmul_({u}, {u})", lambda a, b: a + jets.times(b, b)),
    "set": ("{t}[...] = {u} * 2", lambda a, b: 0 * a + 2 * b),
}

# What changes the shape of a tensor in place, and no memory.
GEOMETRY = {
    "t_": Op(only((2,)), made("t_"), turn),
    "transpose_": Op(make_two, made("transpose_"), swap),
    "unsqueeze_": Op(make_unsqueeze, made("unsqueeze_"), unsqueeze),
    "squeeze_": Op(make_squeeze, made("squeeze_"), squeeze),
}
