"""The operator table as test cases: one call of an operator, with arrays made from its sample.

`cases` lists every sample of every record. `Call` holds the arrays of one sample in one dtype and
calls the operator with tensors in their place. What a result must be is in expected.py.
"""

import functools
import itertools
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

import autograd_cy as ag

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from autograd_cy.ops import _schema as schema  # noqa: E402
from ext.codegen import table as _table  # noqa: E402
from ext.codegen.evaluate import Evaluator  # noqa: E402

TABLE = _table.load()
RECORDS = [r for records in TABLE.values() for r in records]
EVALUATOR = Evaluator(TABLE)

CLASSES = {
    "b": ("bool",),
    "i": ("uint8", "int8", "int16", "int32", "int64"),
    "h": ("float16", "bfloat16"),
    "f": ("float32", "float64"),
    "c": ("complex64", "complex128"),
}
CLASS_OF = {name: letter for letter, names in CLASSES.items() for name in names}
NAMES = list(CLASS_OF)
NUMPY = {name: np.dtype(getattr(ml_dtypes, name, None) or name) for name in NAMES}


def dtype_name(t):
    return str(t.dtype).rpartition(".")[2]


def tensor(array, requires_grad=False):
    """A tensor with a copy of an array; one that isn't contiguous is shared, for its strides."""
    array = np.asarray(array)
    if array.flags.c_contiguous:
        t = ag.from_numpy(array.copy())
        if array.dtype.char == "?":
            t = t.clone()  # nobody else writes its bytes, as with most tensors
    else:
        t = ag.from_numpy(array)
    return t.requires_grad_() if requires_grad else t


def to_array(t):
    """A copy of a tensor, or of each of several, as array."""
    if isinstance(t, (tuple, list)):
        return tuple(to_array(x) for x in t)
    return np.array(t.detach().resolve_conj().resolve_neg().numpy())


def claimed(record, letters="bihfc"):
    """Names of the dtypes that a record claims."""
    return [n for c in letters if c in record.call.dtypes for n in CLASSES[c]]


# Formulas that are errors: there is no such derivative.
ABSENT = ("_not_implemented(", "_not_forward(")


def formulas_of(rule):
    """A dictionary of formulas without those that are errors."""
    return {k: v for k, v in rule.items() if isinstance(v, dict) or not v.startswith(ABSENT)}


def differentiable(record):
    """Arguments with a gradient, also with one by a formula for several."""
    keys = formulas_of(record.derivatives.vjp)
    return {name for key in keys for name in (key if isinstance(key, tuple) else (key,))}


IDS = {}


@dataclass(frozen=True)
class Case:
    """One sample of one record."""

    record: object
    number: int

    @property
    def sample(self):
        return self.record.tests.samples[self.number]

    @property
    def id(self):
        key = id(self.record), self.number
        if key not in IDS:
            IDS[key] = self.record, self.described()  # the record stays, and so its id
        return IDS[key][1]

    def described(self):
        def text(x):
            if isinstance(x, schema.arg):
                return "x".join(map(str, x.shape)) or "0d"
            if isinstance(x, tuple):
                return "(" + ",".join(map(text, x)) + ")"
            return str(x)

        parts = [text(x) for x in self.sample.args]
        parts += [f"{k}={text(v)}" for k, v in self.sample.kwargs.items()]
        return f"{self.record.key}-{','.join(parts)}"


def public_function(record):
    """The function of a record where users find it, or None."""
    found = ag
    for word in filter(None, [*record.namespace.split("."), record.name]):
        found = getattr(found, word, None)
    return found if found is not None else getattr(ag.nn.functional, record.name, None)


def method_name(record):
    """The name of the method; an operator of a namespace has one by its other name only."""
    return record.call.aliases[0] if record.namespace else record.name


def said_name(record):
    """The operator in errors about its arguments."""
    return record.presentation.shown_as or (
        record.name if record.namespace == "nn.functional" else record.symbol
    )


@functools.cache
def all_cases():
    """[(record, a `pytest.param` for each of its samples)]: most files ask for nearly all."""
    found = []
    for r in RECORDS:
        seen, params = {}, []
        for case in [Case(r, i) for i in range(len(r.tests.samples))]:
            seen[case.id] = seen.get(case.id, 0) + 1
            name = case.id if seen[case.id] == 1 else f"{case.id}#{seen[case.id]}"
            params.append(pytest.param(case, id=name))
        found.append((r, params))
    return found


def cases(keep=lambda record: True):
    """A `parametrize` list of all samples of the records that `keep` accepts."""
    return [param for record, params in all_cases() if keep(record) for param in params]


def few(params, many=2):
    """
    The cases; those beyond the first samples of a record are slow.

    For what is the work of parts that all operators share, of which a record says nothing, and
    what other tests ask of all samples in another way.
    """
    return [
        pytest.param(*p.values, id=p.id, marks=[*p.marks, pytest.mark.slow])
        if p.values[0].number >= many
        else p
        for p in params
    ]


def records(keep=lambda record: True):
    """A `parametrize` list of records."""
    return [pytest.param(r, id=r.key) for r in RECORDS if keep(r)]


# --- values ---------------------------------------------------------------------------------


def values(record, spec, name, rng):
    """Random elements for one `arg` of a sample in the dtype `name`."""
    domain = spec.values or record.tests.domain or schema.real()
    letter = CLASS_OF[name]
    if isinstance(domain, schema.booleans):
        return rng.random(spec.shape) < 0.5
    if isinstance(domain, schema.integers):
        x = rng.integers(domain.low, domain.high, spec.shape)
        return x if not spec.differentiable else cast(x, name)
    if letter == "c" and spec.values is None:
        domain = record.tests.complex_domain or schema.box()
    if isinstance(domain, schema.box):
        x = rng.uniform(domain.low, domain.high, spec.shape)
        return cast(x + 1j * rng.uniform(domain.low, domain.high, spec.shape), name)
    if letter in "bi":
        low, high = int(np.ceil(domain.low)), int(np.floor(domain.high))
        low = max(low, 0) if name in ("uint8", "bool") else low
        return cast(rng.integers(low, max(high, low) + 1, spec.shape), name)
    x = rng.uniform(domain.low, domain.high, spec.shape)
    for point in domain.avoid:
        side = np.where(x < point, -1.0, 1.0)
        x = np.where(np.abs(x - point) < domain.gap, point + side * domain.gap, x)
    return cast(x, name)


def cast(x, name):
    """The array in a dtype; what lies outside uint8 wraps."""
    return np.asarray(x).astype(NUMPY[name])


# --- calls ----------------------------------------------------------------------------------


class Leaf(NamedTuple):
    """A tensor argument of a call (`place`: its index if it is in a list)."""

    name: str
    place: int | None
    array: np.ndarray
    differentiable: bool


evaluated = functools.cache(eval)
TENSOR = object()
PATTERNS = {}


class Several(list):
    """A tuple with tensors in it."""


def pattern(sample):
    """
    (args, kwargs, count) of a sample with TENSOR where a tensor goes, found once.

    Where all tensors come first, `count` is their number; else it is None.
    """
    found = PATTERNS.get(id(sample))
    if found is None:

        def seen(x):
            if isinstance(x, schema.arg):
                return TENSOR
            if isinstance(x, tuple) and any(isinstance(y, schema.arg) for y in x):
                return Several(map(seen, x))
            return x

        args, kwargs = list(map(seen, sample.args)), {k: seen(v) for k, v in sample.kwargs.items()}
        rest = [*itertools.dropwhile(lambda x: x is TENSOR, args), *kwargs.values()]
        plain = not any(x is TENSOR or type(x) is Several for x in rest)
        count = len(args) + len(kwargs) - len(rest) if plain else None
        found = PATTERNS[id(sample)] = sample, (args, kwargs, count)  # it stays, and so its id
    return found[1]


def put(x, rest):
    """A part of a pattern with the next tensors in it."""
    if x is TENSOR:
        return next(rest)
    return tuple([put(y, rest) for y in x]) if type(x) is Several else x


@dataclass(frozen=True)
class Call:
    """A sample with arrays; `leaves` are its tensor arguments in order."""

    record: object
    sample: object
    leaves: tuple

    @property
    def arrays(self):
        return [leaf.array for leaf in self.leaves]

    def arguments(self, replacements):
        """(args, kwargs) of the sample with `replacements` for the tensor arguments."""
        args, kwargs, count = pattern(self.sample)
        if count == len(replacements):
            return (*replacements, *args[count:]), dict(kwargs)
        rest = iter(replacements)
        args = tuple([put(x, rest) for x in args])
        return args, {k: put(v, rest) for k, v in kwargs.items()}

    def shapes(self):
        """The `arg` of each tensor argument, in order."""
        found = []
        for x in [*self.sample.args, *self.sample.kwargs.values()]:
            found += [y for y in (x if isinstance(x, tuple) else (x,)) if isinstance(y, schema.arg)]
        return found

    def named(self, replacements):
        """Arguments by name, with defaults, and `replacements` for the tensors."""
        args, kwargs = self.arguments(replacements)
        given = dict(zip([a.name for a in self.record.args], args)) | kwargs
        for a in self.record.args:
            if a.name not in given:
                given[a.name] = None if a.default is None else evaluated(a.default)
        return given

    def __call__(self, tensors, form=None):
        args, kwargs = self.arguments(tensors)
        return (form or EVALUATOR.form(self.record))(*args, **kwargs)

    def tensors(self, grad=False):
        """Fresh tensors; with `grad` the differentiable ones require grad."""
        return [tensor(x.array, grad and x.differentiable) for x in self.leaves]

    def with_arrays(self, arrays):
        leaves = [Leaf(x.name, x.place, a, x.differentiable) for x, a in zip(self.leaves, arrays)]
        return Call(self.record, self.sample, tuple(leaves))

    @property
    def moving(self):
        """Numbers of the leaves that can be differentiated."""
        return [i for i, x in enumerate(self.leaves) if x.differentiable]


MADE = {}


def make(case, name="float64", seed=0):
    """The call of a case in the dtype `name`; the same seed gives the same numbers, made once."""
    key = (id(case.record), case.number, name, seed)
    if key not in MADE:
        MADE[key] = case.record, made(case, name, seed)  # the record stays, and so its id
    return MADE[key][1]


def made(case, name, seed):
    record, sample = case.record, case.sample
    rng = np.random.default_rng([zlib.crc32(case.id.encode()), seed])
    names = [a.name for a in record.args]
    leaves = []

    def add(x, argument, place):
        array = np.asarray(values(record, x, name, rng))
        array.flags.writeable = False
        can = x.differentiable and array.dtype == NUMPY[name] and CLASS_OF[name] in "hfc"
        if isinstance(record.derivatives.vjp, dict):
            can = can and argument in differentiable(record)
        elif not isinstance(record.kernel, schema.composite):
            can = False
        leaves.append(Leaf(argument, place, array, can))

    pairs = [*zip(names, sample.args), *sample.kwargs.items()]
    for argument, x in pairs:
        if isinstance(x, schema.arg):
            add(x, argument, None)
        elif isinstance(x, tuple):
            for i, y in enumerate(x):
                if isinstance(y, schema.arg):
                    add(y, argument, i)
    return Call(record, sample, tuple(leaves))


def outputs(result):
    """Results as a tuple."""
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)
