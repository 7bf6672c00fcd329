"""The values that a call saves for its gradients, and the dtypes it takes: decisions that both
tiers share.

operators.py writes them as Cython, interpreted.py as data of an `Operation`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from ext.codegen.dtypes import CLASS_BITS
from ext.codegen.formula import FormulaError, Uses, parse, uses

ALL_CLASSES = sum(CLASS_BITS.values())


def bits_of(letters: str) -> int:
    """The bits of the dtype codes of some classes of `Record.dtypes`."""
    return sum(bits for letter, bits in CLASS_BITS.items() if letter in letters)


def letters_of(record: Any) -> str:
    """
    Return the classes of dtypes that a record takes.

    Unsigned integers are among them where they are computed as floats, and in composites, whose
    operators check.
    """
    letters, kernel = record.call.dtypes, record.kernel
    kind = type(kernel).__name__
    rules = (
        getattr(kernel, "rules", ()) if kind == "elementwise" else (getattr(kernel, "dtypes", ""),)
    )
    widened = record.call.widen and "i" in record.call.widen[0] and record.call.widen[1] == "float"
    if "i" in letters and (kind in ("composite", "view") or "float" in rules or widened):
        return letters + "u"
    return letters


def widened_bits(record: Any) -> int:
    """The bits of the dtype codes that a record converts before its kernel."""
    letters = record.call.widen[0]
    return bits_of(letters + "u" if "i" in letters else letters)


# --- what a node keeps ----------------------------------------------------------------------------


@dataclass
class Plan:
    """
    The values that the node of one record saves, and the places of its gradients.

    Attributes
    ----------
    formulas : dict
        Tree of each gradient formula, by the arguments that it is for.
    uses : dict
        What each of them uses.
    slots : list of str
        Arguments and outputs that are saved as tensors.
    plain : list of str
        Arguments that are no tensors, and `attrs`.
    metadata : list of (str, str)
        (argument, what): shapes and the like of arguments that are not saved.
    edges : dict
        Number of the edge of each differentiable argument; of a list, that of its first tensor.
    """

    record: Any
    formulas: dict[tuple[str, ...], ast.expr] = field(default_factory=dict)
    uses: dict[tuple[str, ...], Uses] = field(default_factory=dict)
    slots: list[str] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    metadata: list[tuple[str, str]] = field(default_factory=list)
    edges: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for keys, text in self.record.derivatives.joint.items():
            self.formulas[keys] = parse(text)
            self.uses[keys] = uses(self.formulas[keys])
            self._keep(keys)
        for name in self.record.derivatives.keeps:
            _add(self.plain, name)
        self._number_edges()

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs; a tuple of any length has none."""
        return () if self.record.returns == ("*",) else self.record.returns

    def _keep(self, keys: tuple[str, ...]) -> None:
        r, used = self.record, self.uses[keys]
        types = {a.name: a for a in r.args}
        for name in sorted(used.values):
            if name in types and types[name].type == "Tensor[]":
                raise FormulaError(f"{r.key}: the formula saves a list; use attrs")
            if name in self.outputs or (name in types and types[name].is_tensor):
                _add(self.slots, name)
            elif name in types or name in r.derivatives.attrs:
                _add(self.plain, name)
        for name, what in sorted(used.metadata):
            if is_gradient(name) or name in used.values or (name,) == keys:
                continue  # the edge of an argument knows its shape and dtype
            if name in self.outputs:
                _add(self.slots, name)
            else:
                _add(self.metadata, (name, what))

    def _number_edges(self) -> None:
        lists = 0
        for number, name in enumerate(self.record.derivatives.differentiable):
            if lists:
                raise FormulaError(f"{self.record.key}: a list of tensors must come last in vjp")
            lists += self.record.arg(name).type == "Tensor[]"
            self.edges[name] = number

    def needs(self, keys: tuple[str, ...], name: str) -> bool:
        """Return whether the formula for `keys` needs the saved tensor `name`."""
        used = self.uses[keys]
        return name in used.values or any(
            m == name and (m,) != keys and (m, what) not in self.metadata
            for m, what in used.metadata
        )

    @property
    def staying(self) -> tuple[tuple[int, int], ...]:
        """Edges whose gradient stays in the graph, and bits of those in whose graph."""
        return tuple(
            (self.edges[key], sum(1 << self.edges[name] for name in inputs))
            for key, inputs in self.record.derivatives.stays.items()
        )

    def users(self, name: str) -> list[str]:
        """Arguments whose gradient needs the saved tensor `name`."""
        return [key for keys in self.formulas if self.needs(keys, name) for key in keys]

    def shapes_behind(self) -> list[str]:
        """Arguments of which a formula reads the shape from the edge."""
        return [
            name
            for name in self.edges
            if any(
                (what == "shape" and n == name)
                for u in self.uses.values()
                for n, what in u.metadata
            )
            and (name, "shape") not in self.metadata
            and self.record.arg(name).type != "Tensor[]"
        ]


def is_gradient(name: str) -> bool:
    """Return whether a name of a formula is a gradient of an output."""
    return name in ("grad", "grads") or name.startswith(("grad_", "given_"))


def _add(where: list, what: object) -> None:
    if what not in where:
        where.append(what)


# --- which dtypes it takes ------------------------------------------------------------------------


@dataclass(frozen=True)
class DtypeCheck:
    """
    The check that a call makes of the dtypes of its arguments.

    Attributes
    ----------
    bits : int
        The dtype codes that it takes.
    names : tuple of str
        The arguments that must be of one.
    promoted : bool
        Their promoted dtype must be, not each of them.
    by_dtype : bool
        The argument ``dtype``, where it is given, counts instead.
    """

    bits: int
    names: tuple[str, ...]
    promoted: bool = False
    by_dtype: bool = False


def dtype_check_of(record: Any) -> DtypeCheck | None:
    """Return the dtype check of a record; None if every dtype will do."""
    r, kernel = record, type(record.kernel).__name__
    letters = letters_of(r)
    bits = bits_of(letters)
    if kernel == "elementwise" and set("bihfc") <= set(letters):
        return None  # the table of kernels says what there is
    if bits == ALL_CLASSES or kernel == "view":
        return None  # views of some dtypes only have an error of their own
    tensors = [a for a in r.args if a.type in ("Tensor", "operand")]
    if kernel != "elementwise" and not any(a.type == "operand" for a in tensors):
        # No promotion: each argument by itself (indices and targets aren't differentiable).
        if r.batching.vmap == "elementwise" and len(tensors) == 2:
            return DtypeCheck(bits, tuple(a.name for a in tensors), promoted=True)
        checked = [a for a in tensors if a.name in r.derivatives.differentiable] or tensors[:1]
        by_dtype = any(a.type == "dtype?" for a in r.args)
        return DtypeCheck(bits, tuple(a.name for a in checked), by_dtype=by_dtype)
    first = int(getattr(r.kernel, "skip_first", False))
    return DtypeCheck(bits, tuple(a.name for a in tensors[first:]), promoted=True)
