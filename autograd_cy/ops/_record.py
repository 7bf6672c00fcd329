"""The record of an operator: its signature, its kernel, and five parts with the rest."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from autograd_cy.ops._kernels import composite, only_if, with_conditions
from autograd_cy.ops._rules import randomly
from autograd_cy.ops._samples import by_test, differs, error, sample
from autograd_cy.ops._types import arg_type


class RecordError(ValueError):
    """A record that can't be built; the text says what is missing."""


#: The words of `autocast=`.
AUTOCAST = ("lower", "float32", "widest", "input", "padding")


@dataclass(frozen=True)
class Arg:
    """An argument of a signature."""

    name: str
    type: str
    default: str | None  # Python text, or None for a required argument
    keyword: bool  # after the star

    @property
    def is_tensor(self) -> bool:
        return arg_type(self.type).tensor


# --- the parts --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """The functions, methods and forms of an operator, and the arguments that they take."""

    #: Class letters of the dtypes that it takes: b i u h f c; u has uint16, uint32 and uint64.
    dtypes: str = "bihfc"
    #: The text of a RuntimeError for other dtypes, or one for each class letter ({} is the dtype);
    #: what has no text is a NotImplementedError.
    refusal: str | Mapping[str, str] | None = None
    #: Class letters whose tensors are converted, and to what ("int64", "float").
    widen: tuple[str, str] | None = None
    function: bool = True
    method: bool = True
    #: Other public names; of an operator in a namespace, names of the top level and of the method.
    aliases: tuple[str, ...] = ()
    #: Other namespaces whose modules have the function, too.
    also: tuple[str, ...] = ()
    #: The function in nn.functional with further options: "relu(input, inplace)", "elu(...) elu_".
    functional: str | None = None
    dunder: str | None = None
    #: Special method of `dunder` -> name of the method that __torch_function__ is shown.
    dispatched_as: Mapping[str, str] = field(default_factory=dict)
    inplace: bool = False
    #: When the in-place form of a composite changes nothing.
    idle: str | None = None
    #: "exact": of the dtype of the result only; "truth": bool or uint8; "joined": of any dtype that
    #: the result can be cast to, and others are a TypeError; None: as the kernel can.
    out: bool | str | None = None
    #: ``out=`` of float32 or float64 computes half types in its own dtype.
    wide_out: bool = False
    #: Several outputs come as a namedtuple.
    named: bool = True
    #: It takes alpha=, a factor of the last tensor: the record that does both at once ("-": with
    #: the factor negated); a bool is for bools.
    alpha: bool | str = False
    #: Keyword arguments of the Python forms, with the record called if one is given; written as a
    #: dict from the text of the argument.
    options: tuple[tuple[Arg, str], ...] = ()
    #: Choice of the overload: an expression over args and kwargs.
    when: str | None = None
    #: The record called (with True) where only the first argument is given.
    alone: str | None = None
    #: The Python form calls check_<this> (rules_common.pyx) first.
    checks: str | None = None
    #: Of two Python numbers it makes a tensor; others refuse them.
    two_numbers: bool = False
    #: The dtype of the call in mixed precision, one of AUTOCAST.
    autocast: str | None = None
    #: Arguments that the kernel changes in place, as running statistics.
    mutates: tuple[str | only_if, ...] = ()

    @property
    def changes(self) -> tuple[tuple[str, str], ...]:
        """The arguments that the kernel changes, each with the condition."""
        return with_conditions(self.mutates)


@dataclass(frozen=True)
class Derivatives:
    """The formulas of gradients and tangents, and the node that keeps what they use."""

    vjp: object = None
    jvp: object = None
    #: The name of the node's class; None: made of the operator's name.
    node: str | None = None
    #: Other names of the node -> when it has them, a formula.
    variants: Mapping[str, str] = field(default_factory=dict)
    #: Name -> expression computed when recording.
    attrs: Mapping[str, str] = field(default_factory=dict)
    #: Names of the `_saved_*` attributes that torch has -> what they are made of.
    shows: Mapping[str, str] = field(default_factory=dict)
    #: Arguments that the node keeps only to show them.
    keeps: tuple[str, ...] = ()
    #: Gradients that stay in the graph of these inputs.
    stays: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    nondiff_outputs: tuple[str, ...] = ()
    #: Operands that, as numbers, have no edge and are shown as numbers.
    plain_numbers: tuple[str, ...] = ()
    #: Several views of one base: in-place operations on them are refused.
    multi_view: bool = False

    @property
    def joint(self) -> dict[tuple[str, ...], str]:
        """Gradient formulas by the arguments that each is for."""
        if not isinstance(self.vjp, dict):
            return {}
        return {k if isinstance(k, tuple) else (k,): v for k, v in self.vjp.items()}

    @property
    def differentiable(self) -> tuple[str, ...]:
        """The arguments that have a gradient."""
        return tuple(name for keys in self.joint for name in keys)


@dataclass(frozen=True)
class Batching:
    """The rule for batched tensors."""

    vmap: object = None


@dataclass(frozen=True)
class Presentation:
    """The text for users: documents, names in errors and in profiles."""

    doc: str = ""
    #: Argument -> its meaning; of public records for all of them.
    params: Mapping[str, str] = field(default_factory=dict)
    #: Names of errors, with the condition for each; written as a dict.
    raises: tuple[tuple[str, str], ...] = ()
    example: str | None = None
    #: The name that error messages show in place of a private one.
    shown_as: str | None = None
    #: The name of its events, where that isn't the function's.
    event: str | None = None
    #: Floating-point operations of a call, by the sizes of its arguments.
    flops: str | None = None


@dataclass(frozen=True)
class Tests:
    """The calls of the generated tests, and what they compare with."""

    #: NumPy or SciPy expression over the arguments, or by_test(...).
    reference: str | by_test | None = None
    samples: Sequence[sample] | None = None
    #: Values of sample arguments that say nothing else.
    domain: object = None
    complex_domain: object = None
    #: In float32, relative.
    tolerance: float = 2e-5
    #: Special values at which the results are not torch's; one may be written by itself.
    special: tuple[differs, ...] = ()
    #: Calls that must be refused.
    errors: tuple[error, ...] = ()


PARTS = {
    "call": Call,
    "derivatives": Derivatives,
    "batching": Batching,
    "presentation": Presentation,
    "tests": Tests,
}


# --- records ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Record:
    """One operator. What values the fields of its parts take is in the docstring of _schema.py."""

    name: str
    overload: str
    args: tuple[Arg, ...]
    #: Names of outputs; ("*",) for a tuple of tensors, () for None.
    returns: tuple[str, ...]
    #: The module of the public function, as "linalg"; "" is the top level.
    namespace: str
    #: "compiled", or "interpreted": Python and no C of its own.
    tier: str
    kernel: object
    call: Call
    derivatives: Derivatives
    batching: Batching
    presentation: Presentation
    tests: Tests
    #: The family: the file that it stands in.
    file: str = ""
    #: The family is loaded at first use: LOADED, or interpreted.
    later: bool = False

    @property
    def label(self) -> str:
        """The name in errors of the table."""
        return self.name + ("." + self.overload if self.overload else "")

    @property
    def public(self) -> bool:
        """True if programs can call it."""
        return not self.name.startswith("_") and (self.call.function or self.call.method)

    @property
    def fresh(self) -> bool:
        """True if it has the form for functions that make random tensors (see `randomly`)."""
        random = isinstance(self.batching.vmap, randomly)
        return self.call.inplace and random and len(self.tensor_args) == 1

    @functools.cached_property
    def key(self) -> str:
        """Name of the C function and of the entry in the table of operators."""
        return self.symbol + ("_" + self.overload if self.overload else "")

    @functools.cached_property
    def symbol(self) -> str:
        """The operator's name in formulas."""
        return "_".join([*self.namespace.split("."), self.name] if self.namespace else [self.name])

    @property
    def shown(self) -> str:
        """The name in error messages."""
        inside = f"{self.namespace}.{self.name}" if self.namespace else self.name
        return self.presentation.shown_as or inside

    @property
    def said(self) -> str:
        """The operator in errors about its arguments."""
        inside = self.name if self.namespace == "nn.functional" else self.symbol
        return self.presentation.shown_as or inside

    @property
    def event_name(self) -> str:
        """The name of its events in profiles: torch's, or with our prefix what torch hasn't."""
        event, shown_as = self.presentation.event, self.presentation.shown_as
        if event is not None:
            return event if "::" in event else f"aten::{event}"
        if self.name.startswith("_") and shown_as is None:
            return f"autograd_cy::{self.symbol.strip('_')}"
        return "aten::" + self.shown.removeprefix("nn.functional.").replace(".", "_")

    @property
    def silent(self) -> bool:
        """True if it has no events: made of operators, and torch has no operator of the name."""
        return isinstance(self.kernel, composite) and self.event_name.startswith("autograd_cy::")

    @property
    def outs(self) -> bool:
        """True if ``out=`` takes a tuple: values and indices, or the least and the largest."""
        return self.call.named and len(self.returns) == 2 and not self.call.out

    @property
    def tensor_args(self) -> tuple[Arg, ...]:
        return tuple(a for a in self.args if a.is_tensor)

    def arg(self, name: str) -> Arg:
        return next(a for a in self.args if a.name == name)

    def replace(self, **values: Any) -> Record:
        """Return the record with other values of some fields, in whichever part they are."""
        parts: dict[str, Any] = {}
        for key, part in PARTS.items():
            if own := take_fields(values, part):
                parts[key] = replace(getattr(self, key), **own)
        return replace(self, **values, **parts)


def take_fields(values: dict[str, Any], part: type) -> dict[str, Any]:
    """Take the fields of a part out of the values of a record."""
    return {f.name: values.pop(f.name) for f in fields(part) if f.name in values}


# --- signatures -------------------------------------------------------------------------------

_HEAD = re.compile(r"^(\w+)(?:\.(\w+))?\((.*)\)$", re.S)


def parse_signature(text: str) -> tuple[str, str, tuple[Arg, ...], tuple[str, ...]]:
    """``"name.overload(args) -> returns"`` as (name, overload, args, returns)."""
    head, _, returns = text.partition("->")
    m = _HEAD.match(head.strip())
    if not m:
        raise RecordError(f"cannot read the signature {text!r}")
    name, overload, inside = m.groups()
    args, keyword = [], False
    for part in filter(None, (p.strip() for p in _split(inside))):
        if part == "*":
            keyword = True
            continue
        left, _, default = part.partition("=")
        arg_name, _, kind = left.partition(":")
        kind = kind.strip() or "Tensor"
        try:
            arg_type(kind)
        except KeyError:
            raise RecordError(f"{name}: unknown argument type {kind!r}") from None
        args.append(Arg(arg_name.strip(), kind, default.strip() or None, keyword))
    return name, overload or "", tuple(args), _outputs(returns.strip())


def _outputs(returns: str) -> tuple[str, ...]:
    """The names of the outputs that a signature gives."""
    if returns == "Tensor[]":
        return ("*",)
    if returns.startswith("("):
        return tuple(p.strip() for p in returns.strip("()").split(",") if p.strip())
    return ("result",)


def _split(text: str):
    """Split at commas outside brackets."""
    depth, start = 0, 0
    for i, c in enumerate(text):
        depth += c in "(["
        depth -= c in ")]"
        if c == "," and depth == 0:
            yield text[start:i]
            start = i + 1
    yield text[start:]
