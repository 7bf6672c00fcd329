"""The grid of special values: every elementwise operator, where it is taken, and what comes out.

`forms` finds the elementwise operators among the records by what they do, and makes of each one or
more forms: a call with tensors, and numbers where its samples have some. `Grid` holds the points of
a form in one dtype, all combinations of its tensor arguments. `results` takes a form there, with
its first and second derivatives, in this library or in another one with the same functions.
"""

import itertools
import math
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from calls import RECORDS, Case, make

import autograd_cy as ag
from autograd_cy.ops import _schema as schema

inf, nan = math.inf, math.nan
DTYPES = {"f": ("float64", "float32"), "c": ("complex128", "complex64")}
NUMBERS = (0.0, 1.0, 2.0, 3.0, 0.5, -1.0, inf, nan)
TYPES = ("Tensor", "operand", "operand?", "Scalar", "float", "float?", "int", "str")


# --- points ---------------------------------------------------------------------------------


def both_signs(*sizes):
    return [nan, *[s * x for x in sizes for s in (1.0, -1.0)]]


def edges(dtype):
    """Sizes in a real dtype: subnormal, with squares that underflow, that overflow, the largest."""
    info = np.finfo(dtype)
    tiny = float(info.smallest_normal)
    largest = float(info.max)
    return float(info.smallest_subnormal) * 3, math.sqrt(tiny) / 8, math.sqrt(largest) * 8, largest


def real_points(dtype, count):
    """Points of one of `count` real arguments."""
    low, small, big, top = edges(dtype)
    if count == 1:
        info = np.finfo(dtype)
        eps, tiny, rise = float(info.eps), float(info.smallest_normal), math.log(top)
        near = (1 - eps / 2, 1 + eps, 0.125, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 10.0, 20.0, 50.0, 1e4)
        far = (rise - 1, rise + 1, rise * 1.2, low, tiny, eps / 64, small, big, top / 2, top)
        return both_signs(inf, 0.0, *near, *far)
    if count == 2:
        return both_signs(inf, 0.0, low, small, 0.5, 1.0, 2.0, 3.0, big, top)
    return [nan, inf, -inf, 0.0, -0.0, 1.0, -2.0, top] if count == 3 else [nan, inf, -0.0, -2.0]


def complex_points(dtype, count):
    """Points of one of `count` complex arguments."""
    low, small, _, top = edges(np.dtype(dtype).type(0).real.dtype)
    if count == 1:
        parts = both_signs(inf, 0.0, low, small, 0.5, 1.0, 2.5, 1e4, top)
        return [complex(a, b) for a in parts for b in parts]
    pairs = [(0.0, 0.0), (2.0, -1.5), (inf, nan), (0.0, 1.0), (nan, 0.0), (inf, 0.0)]
    if count == 2:
        pairs += [
            (-0.0, -0.0),
            (1.0, 0.0),
            (-1.0, 0.0),
            (2.0, 0.0),
            (-inf, 0.0),
            (0.0, inf),
            (0.0, -inf),
        ]
        pairs += [
            (-inf, inf),
            (nan, nan),
            (1.0, nan),
            (top, 0.0),
            (0.0, -top),
            (top, top),
            (low, 0.0),
        ]
    return [complex(a, b) for a, b in pairs]


# --- forms ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """A call of an operator: `template` has `schema.arg` where tensors are put."""

    record: object
    name: str  # of the public function
    template: tuple
    keywords: tuple

    @property
    def id(self):
        words = ["x" if isinstance(x, schema.arg) else f"{x}" for x in self.template]
        return f"{self.name}({', '.join([*words, *[f'{k}={v}' for k, v in self.keywords]])})"

    @cached_property
    def leaves(self):
        """(name, arg) of each tensor argument."""
        names = [a.name for a in self.record.args]
        return [(n, a) for n, a in zip(names, self.template) if isinstance(a, schema.arg)]

    @property
    def moving(self):
        """Numbers of the tensor arguments that have derivatives."""
        return [i for i, (_, a) in enumerate(self.leaves) if not truth(a) and a.differentiable]

    @property
    def dtypes(self):
        return [n for c in "fc" if c in self.record.call.dtypes for n in DTYPES[c]]

    def __call__(self, library, tensors):
        rest = iter(tensors)
        given = [next(rest) if isinstance(x, schema.arg) else x for x in self.template]
        function = public(library, self.name)
        return function(*given, **dict(self.keywords))


def truth(a):
    return isinstance(a.values, schema.booleans)


def public(library, name):
    """The function of a library, of its nn.functional, or the method."""
    if name == "polygamma":  # whose function has another order of arguments
        return library.Tensor.polygamma
    for place in (library, library.special, library.nn.functional, library.Tensor):
        if hasattr(place, name):
            return getattr(place, name)
    return None


def forms():
    """Every elementwise operator with a public name, in every way that its samples call it."""
    found = {}
    options = {key: (arg, r) for r in RECORDS for arg, key in r.call.options}
    for record in RECORDS:
        if not candidate(record):
            continue
        for number, sample in enumerate(record.tests.samples):
            call = make(
                Case(record, number), "complex128" if "c" in record.call.dtypes else "float64"
            )
            if len(call.leaves) > 4 or not is_elementwise(call):
                continue
            for template in templates(record, sample):
                keywords = tuple(sample.kwargs.items())
                name = record.name
                if record.key in options:  # an option of another operator
                    option, owner = options[record.key]
                    template, keywords = template[:-1], ((option.name, template[-1]),)
                    name = owner.name
                elif (
                    record.presentation.shown_as
                ):  # a private one that does the work of a public name
                    name = record.presentation.shown_as
                    if any(r.name == name and r.call.alpha for r in RECORDS):
                        template, keywords = template[:-1], (("alpha", template[-1]),)
                form = Form(record, name, template, keywords)
                if public(ag, name) is not None and form.leaves and not name.startswith("_"):
                    found.setdefault(form.id, form)
    return list(found.values())


def candidate(record):
    """Return whether a record has the arguments and results of an elementwise operator of
    numbers."""
    plain = all(a.type in TYPES for a in record.args) and record.returns == ("result",)
    return (
        plain
        and record.namespace in ("", "special", "nn.functional")
        and record.file not in ("shape", "copying")
        and record.name != "float_power"  # pow, but computes all dtypes in the widest
        # These take codes for words of the public form; tests of nn have them.
        and not record.symbol.startswith("_mse")
        and record.file not in ("pointwise_loss", "margin_loss")
        and any(c in record.call.dtypes for c in "fc")
        and record.tests.samples
    )


def is_elementwise(call):
    """Return whether elements of the result are made of those in their places, and aren't just
    these."""
    if any(isinstance(x.array, np.ndarray) and x.array.dtype.kind in "iu" for x in call.leaves):
        return False
    rng = np.random.default_rng(0)
    arrays = [
        np.resize(x.array, 7) if x.array.size else rng.uniform(0.2, 0.8, 7) for x in call.leaves
    ]
    order = rng.permutation(7)[:5]
    for a in arrays:
        if a.dtype.kind in "fc":
            a[order[:2]] = nan, 1.75
    try:
        whole = call([ag.from_numpy(a.astype(x.array.dtype)) for a, x in zip(arrays, call.leaves)])
        part = call(
            [ag.from_numpy(a[order].astype(x.array.dtype)) for a, x in zip(arrays, call.leaves)]
        )
    except (RuntimeError, TypeError, IndexError, ValueError):
        return False
    if tuple(whole.shape) != (7,) or tuple(part.shape) != (5,):
        return False
    whole, part, first = plain(whole)[order], plain(part), arrays[0][order]
    alike = np.isnan if part.dtype.kind in "fc" else np.zeros_like
    unchanged = bool(((part == first) | (np.isnan(first) & alike(part))).all())
    return np.allclose(whole, part, equal_nan=part.dtype.kind in "fc") and not unchanged


def templates(record, sample):
    """The arguments of a sample, and with special numbers for an operand that may be a number."""
    args = tuple(sample.args)
    yield args
    if len(args) == 2 and all(isinstance(a, schema.arg) for a in args):
        for place, a in enumerate(record.args[:2]):
            if a.name in record.derivatives.plain_numbers:
                for number in NUMBERS:
                    yield tuple(number if i == place else x for i, x in enumerate(args))


# --- what comes out -------------------------------------------------------------------------


def grid(form, dtype):
    """Arrays of the tensor arguments: all combinations of their points."""
    kind = complex_points if dtype.startswith("complex") else real_points
    count = sum(not truth(a) for _, a in form.leaves)
    lists = [[False, True] if truth(a) else kind(dtype, count) for _, a in form.leaves]
    columns = zip(*itertools.product(*lists))
    return [np.array(c, bool if truth(a) else dtype) for c, (_, a) in zip(columns, form.leaves)]


def results(library, form, arrays):
    """Values and derivatives at the points of `arrays`, by what they are.

    "value", "self" for the gradient, "self'" for the tangent along ones, "self,other" for the
    derivative of the gradient of `self` in `other`. None where there is no derivative.
    """
    names = [n for n, _ in form.leaves]
    moving = form.moving
    inputs = [tensor_of(library, a) for a in arrays]
    value = form(library, inputs)
    found = {"value": plain(value)}
    if not (value.dtype.is_floating_point or value.dtype.is_complex):
        return found
    inputs = [tensor_of(library, a).requires_grad_(i in moving) for i, a in enumerate(arrays)]
    value = form(library, inputs)
    if value.requires_grad:
        wanted = [inputs[i] for i in moving]
        for i, first in zip(moving, gradients(library, value, wanted)):
            found[names[i]] = plain(first)
            for j, second in zip(moving, gradients(library, first, wanted)):
                found[f"{names[i]},{names[j]}"] = plain(second)
        for i in moving:
            found[names[i] + "'"] = tangent(library, form, arrays, i)
    return {key: x for key, x in found.items() if x is not None}


def tensor_of(library, array):
    """A tensor with a copy of an array, of its strides."""
    if array.flags.c_contiguous:
        return library.from_numpy(array.copy())
    return library.from_numpy(np.repeat(array, 2))[::2].detach()


def gradients(library, value, inputs):
    """Gradients for ones; zeros in place of none, and nothing where a library has no derivative."""
    if not value.requires_grad:
        return [library.zeros_like(x) for x in inputs]
    ones = library.ones_like(value)
    try:
        found = library.autograd.grad(value, inputs, ones, create_graph=True, allow_unused=True)
    except RuntimeError:
        return []
    return [library.zeros_like(x) if g is None else g for g, x in zip(found, inputs)]


def tangent(library, form, arrays, place):
    forward = library.autograd.forward_ad
    inputs = [tensor_of(library, a) for a in arrays]
    with forward.dual_level():
        inputs[place] = forward.make_dual(inputs[place], library.ones_like(inputs[place]))
        try:
            value, result_tangent = forward.unpack_dual(form(library, inputs))
        except (RuntimeError, NotImplementedError):
            return None
        return plain(library.zeros_like(value) if result_tangent is None else result_tangent)


def plain(t):
    return np.array(t.detach().resolve_conj().resolve_neg().numpy(force=True))


def order_of(key):
    """Return the order by which `schema.differs` names a result of `results`."""
    return "value" if key == "value" else "second" if "," in key else "gradient"


def noise(array, key):
    """Sizes below which a part of an answer counts as 0.

    A value must be right until it is subnormal. In derivatives terms cancel that are of size 1, and
    in complex numbers the smaller part has the rounding errors of the larger one, of all steps.
    """
    info = np.finfo(array.dtype)
    least = float(info.smallest_normal) if key == "value" else 8 * float(info.eps)
    if array.dtype.kind != "c":
        return np.full(array.shape, least)
    size = np.abs(array)
    size = np.where(np.isfinite(size), np.maximum(least, 128 * float(info.eps) * size), least)
    return np.repeat(size, 2)


def classes(array, key="value"):
    """A letter for each part: n nan, i inf, j -inf, o 0, z -0, p positive, m negative.

    Truth is t and f. Only real values tell 0 from -0; annex_g.py has the signs of complex ones.
    """
    if array.dtype.kind == "b":
        return np.where(array, "t", "f")
    with np.errstate(all="ignore"):
        least = noise(array, key)
        if parts := array.dtype.kind == "c":
            array = array.view(array.real.dtype)
        sign = np.signbit(array)
        letters = np.where(sign, "m", "p")
        zero = np.abs(array) < least
        letters[zero] = "o"
        if key == "value" and not parts:
            letters[zero & sign] = "z"
        letters[array == inf] = "i"
        letters[array == -inf] = "j"
        letters[array != array] = "n"
    return letters


# --- the table ------------------------------------------------------------------------------

TABLE = Path(__file__).with_name("special_values.json")


def packed(letters):
    """Letters as text, repeated ones with their count."""
    runs = [(letter, sum(1 for _ in run)) for letter, run in itertools.groupby(letters)]
    return "".join(letter + (str(n) if n > 1 else "") for letter, n in runs)


def unpacked(text):
    return np.array(
        [c for letter, n in re.findall(r"(\D)(\d*)", text) for c in letter * int(n or 1)]
    )
