"""The facts about a record that every part of the generator of operators uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from ext.codegen.formula import Emitter
from ext.codegen.vocabulary import arg_type

if TYPE_CHECKING:
    from autograd_cy.ops._schema import Arg

# Name in a formula -> (Cython text, letter of its type).
Names: TypeAlias = "dict[str, tuple[str, str]]"
# (name, what) -> Cython text of ``name.shape`` and the like.
Metadata: TypeAlias = "Callable[[str, str], str]"

METADATA = {
    "shape": "dims_of({0})",
    "ndim": "{0}.nd",
    "dtype": "{0}.dt",
    "numel": "{0}.count",
    "is_complex": "dt_is_complex({0}.dt)",
}


class Operator:
    """A record, and the texts that all parts use: arguments, flags, formulas."""

    def __init__(
        self,
        record: Any,
        records: Mapping[str, list],
        constants: dict[str, str],
        imports: dict[str, set[str]],
        kinds: list[tuple[str, str]],
        events: list[tuple[str, str]],
    ):
        self.r = record
        self.records, self.constants, self.imports = records, constants, imports
        self.kinds = kinds  # (line, name of `apply`) of the kinds of nodes of the module
        self.events = events  # (key of the record, name) of each event of the module
        self.key: str = record.key
        self.kind: str = type(record.kernel).__name__
        self.diff: tuple[str, ...] = record.derivatives.differentiable
        self.list_arg: Arg | None = next((a for a in record.args if a.type == "Tensor[]"), None)
        self.multi = len(record.returns) > 1
        self.many = record.returns == ("*",)
        self.nothing = not record.returns  # it changes its arguments, and returns None
        self.params = ", ".join(f"{arg_type(a.type).c} {a.name}" for a in record.args)
        self.names = ", ".join(a.name for a in record.args)
        self.ret = "object" if self.nothing else "tuple" if self.multi or self.many else "Tensor"

    @property
    def shown(self) -> str:
        """The name in error messages."""
        return self.r.shown

    def emitter(self, names: Names, metadata: Metadata) -> Emitter:
        return Emitter(self.records, names, metadata, self.constants, self.key)

    def plain_metadata(self, name: str, what: str) -> str:
        """The text of a tensor's metadata as formulas know it."""
        text = METADATA[what].format(name)
        return f"(<Py_ssize_t>{text})" if what == "ndim" else text

    def arg_names(self) -> Names:
        return {a.name: (a.name, arg_type(a.type).formula) for a in self.r.args}

    @staticmethod
    def tuple_of(names: Iterable[str], listed: str | None = None) -> str:
        """Text of the tuple of some tensor arguments, and of those of a list."""
        text = "(" + "".join(f"{n}, " for n in names).rstrip(" ") + ")"
        if listed:
            return f"{text} + {listed}" if names else listed
        return text

    @property
    def every(self) -> str:
        """Text of the tuple of all tensors of a call; those of optional arguments may be None."""
        args = [a for a in self.r.args if a.is_tensor]
        single = self.tuple_of(a.name for a in args if a.type != "Tensor[]")
        lists = [a.name for a in args if a.type == "Tensor[]"]
        return " + ".join([*([single] if single != "()" or not lists else []), *lists])

    @property
    def changed(self) -> str:
        """Text of the tuple of the tensors that the operator changes beside its results."""
        parts = self.r.call.changes
        if not any(when or self.r.arg(name).type == "Tensor[]" for name, when in parts):
            return self.tuple_of(name for name, _ in parts)
        texts = [name if self.r.arg(name).type == "Tensor[]" else f"({name},)" for name, _ in parts]
        return " + ".join(
            f"({text} if {when} else ())" if when else text for text, (_, when) in zip(texts, parts)
        )

    def flags(self, names: Iterable[str] | None = None) -> str:
        parts = []
        for a in self.r.args:
            if a.type == "indices" and names is None:
                parts.append(f"(flags_of_indices({a.name}) & (F_LAYERED | F_DEVICE))")
            if not a.is_tensor or (names is not None and a.name not in names):
                continue
            if a.type == "Tensor[]":
                parts.append(f"flags_of({a.name})")
            elif a.type in ("operand?", "Tensor?"):
                parts.append(f"({a.name}.flags if {a.name} is not None else 0)")
            else:
                parts.append(f"{a.name}.flags")
        return " | ".join(parts) or "0"

    def recording(self) -> str:
        """Return whether some differentiable argument requires grad."""
        parts = []
        for name in self.diff:
            kind = self.r.arg(name).type
            if kind == "Tensor[]":
                parts.append(f"any_requires_grad({name})")
            elif kind in ("operand?", "Tensor?"):
                parts.append(f"({name} is not None and requires_grad({name}))")
            else:
                parts.append(f"requires_grad({name})")
        return " or ".join(parts)

    def without_negative_dims(self) -> list[str]:
        """Lines after which no `dim` argument is negative: kernels, formulas and `_saved_*` see
        none."""
        args = self.r.args
        lines: list[str] = []
        if not args or not args[0].is_tensor:
            return lines
        first = args[0].name
        nd = f"widest_nd({first})" if args[0].type == "Tensor[]" else f"{first}.nd"
        for a in args:
            if a.type == "dim":
                lines += [f"if {a.name} < 0:", f"    {a.name} = normal_dim({a.name}, {nd})"]
            elif a.type in ("dim?", "dims", "dims?") or (
                a.name == "dims" and self.kind != "composite"
            ):
                lines.append(f"{a.name} = known_dims({a.name}, {nd})")
        return lines

    @property
    def resolves(self) -> bool:
        """True if tensors with F_LAZY must be resolved first; elementwise drivers do it
        themselves."""
        return self.kind == "call" and not self.r.kernel.lazy

    def resolved(self, name: str) -> str:
        """The text of an argument without F_LAZY."""
        kind = next((a.type for a in self.r.args if a.name == name), None)
        if name in getattr(self.r.kernel, "conjugates", ()):
            self.imports.setdefault("lazy", set()).add("unless_taken")
            return f"lazy_unless_taken({name})"
        if kind == "Tensor[]":
            return f"all_resolved({name})"
        if kind == "indices":
            return f"resolved_indices({name})"
        if kind in ("operand?", "Tensor?"):
            return f"(None if {name} is None else resolved({name}))"
        return f"resolved({name})" if kind in ("Tensor", "operand") else name
