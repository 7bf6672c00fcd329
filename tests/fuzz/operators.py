"""Random calls of the operators of the table: an Operation is a record with arguments of its own.

Elementwise operators get shapes that broadcast; for the others the sizes of a sample are replaced,
equal ones by equal ones. Whether a call is right is decided elsewhere (parts/calls.py).
"""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from . import values
from .case import chance, choice

ROOT = Path(__file__).resolve().parents[2]
LARGE = 60_000  # elements, from which work is split over threads


@cache
def schema():
    records()
    from autograd_cy.ops import _schema

    return _schema


@cache
def records():
    """Records that have a public form and samples."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    import autograd_cy  # noqa: F401  first: else the table stands in for it
    from ext.codegen import table

    found = [r for family in table.load().values() for r in family]
    public = [r for r in found if not r.name.startswith("_") and (r.call.function or r.call.method)]
    return [r for r in public if r.tests.samples]


@dataclass(frozen=True)
class Operation:
    """One call. Tensors in `args` and `kwargs` are Inputs."""

    record: object
    form: str  # function, method, inplace
    args: tuple
    kwargs: dict

    @property
    def inputs(self):
        found = []
        for x in (*self.args, *self.kwargs.values()):
            found += [y for y in x if is_input(y)] if isinstance(x, tuple) else [x] * is_input(x)
        return found

    @property
    def name(self):
        return self.record.name + "_" * (self.form == "inplace")

    @property
    def method(self):
        """The name as a method; what is in a namespace has one by its other name only."""
        name = self.record.call.aliases[0] if self.record.namespace else self.record.name
        return name + "_" * (self.form == "inplace")

    def arguments(self, replacements):
        """(args, kwargs) with `replacements` for the Inputs."""
        rest = iter(replacements)

        def put(x):
            if is_input(x):
                return next(rest)
            if isinstance(x, tuple):
                return tuple(put(y) for y in x)
            return x

        return tuple(put(x) for x in self.args), {k: put(v) for k, v in self.kwargs.items()}

    def call(self, lib, replacements):
        args, kwargs = self.arguments(replacements)
        if self.form == "function" or not self.record.call.method:
            return function_of(lib, self.record, self.name)(*args, **kwargs)
        return getattr(args[0], self.method)(*args[1:], **kwargs)

    def source(self, dtypes=None):
        """Lines that make the arguments, and the call."""
        lines, names = [], []
        for i, x in enumerate(self.inputs):
            names.append(f"x{i}")
            lines.append(f"x{i} = {x.source(dtypes[i] if dtypes else None)}")
        args, kwargs = self.arguments([Name(n) for n in names])
        texts = [python(x) for x in args]
        keywords = [f"{k}={python(v)}" for k, v in kwargs.items()]
        if self.form == "function" or not self.record.call.method:
            head = "torch." + "".join(f"{word}." for word in namespace_of(self.record))
            call = f"{head}{self.name}({', '.join(texts + keywords)})"
        else:
            call = f"{texts[0]}.{self.method}({', '.join(texts[1:] + keywords)})"
        return "\n".join([*lines, f"result = {call}"])


# What torch has in torch.nn.functional only.
NN_ONLY = ("cross_entropy", "gelu", "linear", "mse_loss", "nll_loss", "silu")


def namespace_of(record):
    """The words that lead to a function, as torch has it."""
    if record.namespace:
        return record.namespace.split(".")
    return ["nn", "functional"] if record.name in NN_ONLY else []


def function_of(lib, record, name):
    found = lib
    for word in namespace_of(record) if record.name != "silu" else ():
        found = getattr(found, word)
    return getattr(found, name)


class Name(str):
    """The name of a variable in a source."""


# Their results depend on the strides of the argument.
OF_MEMORY = ("as_strided", "as_strided_scatter")


def is_input(x):
    return isinstance(x, values.Input)


def python(x):
    """Source of an argument."""
    if isinstance(x, Name):
        return str(x)
    if isinstance(x, tuple):
        return "(" + ", ".join(map(python, x)) + ("," if len(x) == 1 else "") + ")"
    if type(x).__module__.startswith("autograd_cy"):  # dtypes, memory formats
        return str(x).replace("autograd_cy.", "torch.")
    return repr(x)


# --- random ones ----------------------------------------------------------------------------


def random_operation(rng, record=None, dtype=None, plain=False, large=False):
    """
    An operation with random arguments.

    `dtype` is that of the tensors; None takes any that the record claims, and sometimes several.
    `plain`: only values of the record's domain, and no numbers in place of tensors.
    """
    record = record or choice(rng, records())
    sample = choice(rng, record.tests.samples)
    kind = choice(rng, list(record.call.dtypes))
    mixed = dtype is None and not plain and chance(rng, 0.15)
    name = dtype or choice(rng, values.KINDS[kind])
    manner = "plain" if plain else choice(rng, ("plain", "plain", "special", "wide"))
    shape_of = _new_shapes(rng, record, sample, large)
    types = {a.name: a.type for a in record.args}

    def tensor(x):
        own = name
        if mixed and x.values is None:
            own = choice(rng, values.MIXED)
        return _input(rng, record, x, shape_of(x), own, manner, ties=not plain)

    def put(argument, x):
        if isinstance(x, schema().arg):
            if types.get(argument) == "operand" and not plain and chance(rng, 0.2):
                return _number(rng, name)
            return tensor(x)
        if isinstance(x, tuple) and any(isinstance(y, schema().arg) for y in x):
            return tuple(tensor(y) for y in x)
        return x

    names = [a.name for a in record.args]
    args = [put(n, x) for n, x in zip(names, sample.args)]
    kwargs = {k: put(k, v) for k, v in sample.kwargs.items()}
    forms = ["function"] * record.call.function + ["method"] * record.call.method
    if record.call.inplace and not plain:
        forms.append("inplace")
    if args and not is_input(args[0]):
        forms = [f for f in forms if f == "function"]
    return Operation(record, choice(rng, forms or ["function"]), tuple(args), kwargs)


def _new_shapes(rng, record, sample, large):
    """A function from an `arg` of the sample to its new shape."""
    given = [x for x in _args_of(sample) if isinstance(x, schema().arg)]
    elementwise = isinstance(record.kernel, schema().elementwise)
    if large:
        return _large_shapes(rng, elementwise, given)
    if elementwise and chance(rng, 0.8):
        found = dict(zip(map(id, given), values.broadcast_shapes(rng, len(given))))
        return lambda x: found[id(x)]
    if chance(rng, 0.3):
        return lambda x: x.shape
    sizes = {n: choice(rng, values.SIZES) for x in given for n in x.shape if n > 1}
    while any(np.prod([sizes.get(n, n) for n in x.shape]) > 4000 for x in given):
        sizes = {n: max(1, size // 2) for n, size in sizes.items()}
    return lambda x: tuple(sizes.get(n, n) for n in x.shape)


def _large_shapes(rng, elementwise, given):
    """Shapes of which one is large enough for several threads."""
    most = max((x.shape for x in given), key=np.prod, default=())
    if not most or not np.prod(most):
        return lambda x: x.shape
    grow = LARGE / max(np.prod(most), 1) * float(rng.uniform(1, 3))
    if elementwise:
        factor = int(grow) + 1
        sizes = {most[-1]: most[-1] * factor}
    else:
        # All sizes alike, so that products stay small enough.
        sizes = {n: n * (int(grow ** (1 / len(most))) + 1) for n in most if n > 1}
    return lambda x: tuple(sizes.get(n, n) for n in x.shape)


def _args_of(sample):
    for x in (*sample.args, *sample.kwargs.values()):
        if isinstance(x, tuple):
            yield from x
        else:
            yield x


def _input(rng, record, spec, shape, dtype, manner, ties):
    domain = spec.values or record.tests.domain or schema().real()
    if isinstance(domain, schema().booleans):
        return values.with_layout(rng, rng.random(shape) < 0.5, "bool")
    if isinstance(domain, schema().integers):
        array = rng.integers(domain.low, domain.high, shape)
        own = dtype if spec.differentiable else "int64"
        return values.with_layout(rng, values.rounded(array, own), own)
    if values.KIND_OF[dtype] == "c" and spec.values is None:
        domain = record.tests.complex_domain or schema().box()
    points = getattr(domain, "avoid", ())
    gap = getattr(domain, "gap", 0.1)
    array = values.numbers(rng, shape, dtype, domain.low, domain.high, points, gap)
    if manner == "special":
        array = values.special(rng, array, dtype)
    elif manner == "wide":
        array = values.wide_range(rng, array, dtype)
    layout = "plain" if record.name in OF_MEMORY else None
    return values.with_layout(rng, array, dtype, spec.differentiable, layout, ties)


def _number(rng, dtype):
    """A Python number in place of a tensor."""
    pool = [0, 1, -1, 2, 3, 0.5, -0.3, 2.5, True]
    if values.KIND_OF[dtype] == "c":
        pool += [1j, 0.3 - 2j]
    return choice(rng, pool)
