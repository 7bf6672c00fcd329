"""The rules for batched tensors: one class for each kind of vmap rule.

A rule gives the expression of the result (`call`), for arguments of which some are batched, and the
function behind it (`function`), if it needs one of its own. What only depends on the number of
tensors is a function of batching.pyx, which gets a pointer to the operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ext.codegen.formula import parse
from ext.codegen.kernel_runs import has_shape, without_sizes
from ext.codegen.kernel_runs import rule_of as rule_of_shape
from ext.codegen.lines import Function, indent

if TYPE_CHECKING:
    from autograd_cy.ops._schema import Arg
    from ext.codegen.operator_base import Operator

DIMS = ("dim?", "dims", "dims?")


class Rule:
    """A rule with a function of its own, ``vmap_<key>``."""

    def __init__(self, op: Operator):
        self.op, self.r, self.rule = op, op.r, op.r.batching.vmap
        self.tensors: list[Arg] = [a for a in op.r.args if a.is_tensor]
        self.single = [a.name for a in self.tensors if a.type != "Tensor[]"]
        self.lists = [a.name for a in self.tensors if a.type == "Tensor[]"]
        self.every = op.every
        self.several = op.multi or op.many

    @property
    def call(self) -> str:
        """The expression of the result."""
        return f"vmap_{self.op.key}({self.op.names})"

    def body(self, f: Function) -> None:
        raise NotImplementedError

    def function(self) -> list[str]:
        """The lines of the function, if there is one."""
        f = Function(f"cdef {self.op.ret} vmap_{self.op.key}({self.op.params}):")
        self.body(f)
        return f.lines

    # --- what rules begin and end with ---

    def lower(self, f: Function) -> None:
        """The tensors as operators below the innermost vmap see them."""
        f.declare("int", "level", f"top_level({self.every})")
        f.add(*(f"{name} = lowered({name}, level)" for name in self.single))
        f.add(*(f"{name} = all_lowered({name}, level)" for name in self.lists))

    def refuse(self, f: Function) -> None:
        """Examples that are refused alone are refused: the formula sees other dimensions."""
        kernel = self.r.kernel
        if has_shape(self.r):
            module, function, args = rule_of_shape(self.r)
            f.add(f"cdef Result[{len(self.r.returns)}] results")
            f.add(f'{module}_{function}(results, {without_sizes(args)}, "{self.r.shown}")')
        elif getattr(kernel, "by_shape", False):
            module, _, function = kernel.target.partition(".")
            f.add(f"{module}_{function}({self.op.names})")
        else:
            return
        self.op.imports.setdefault(module, set()).add(function)

    def share(self, f: Function) -> None:
        """Leave where nothing is batched at this level."""
        wrap = "wrap_shared_all" if self.several else "wrap_shared"
        f.block(
            f"if not any_batched({self.every}, level):", [f"return {wrap}({self.again()}, level)"]
        )

    def again(self, names: str | None = None) -> str:
        """A call of the operator."""
        return f"T.{self.op.key}({self.op.names if names is None else names})"

    @property
    def wrap(self) -> str:
        return "wrap_results" if self.several else "wrap_batch"


class Shared(Rule):
    """A rule without a function of its own."""

    def function(self) -> list[str]:
        return []


class ByHand(Shared):
    """``by_hand("module.function")``"""

    @property
    def call(self) -> str:
        module, _, function = self.rule.target.partition(".")
        self.op.imports.setdefault(module, set()).add(function)
        return f"{module}_{function}({self.op.names})"


class Refused(Shared):
    """``refuse("text")``"""

    @property
    def call(self) -> str:
        return f"refuse_batch({self.rule.text!r})"


class Random(Shared):
    """``randomly("text")``: `randomness` of vmap decides."""

    @property
    def call(self) -> str:
        return self.random_call(self.r.shown)

    @property
    def in_place(self) -> str:
        """The expression of the result of the in-place form."""
        return self.random_call(f"{self.r.shown}_")

    def random_call(self, shown: str) -> str:
        how = f'"{shown}", "{self.op.key}", ({self.op.names},)'
        return f"random_under_vmap({how}, {self.rule.draws!r})"


class Looped(Shared):
    """``loop("reason")``: one call for each example."""

    @property
    def call(self) -> str:
        return f'loop_lowered("{self.op.key}", {self.every}, ({self.op.names},))'


class Aligned(Shared):
    """``"elementwise"`` of tensors only: batch dimensions to the front, the others aligned."""

    MOST = 4

    @classmethod
    def serves(cls, op: Operator) -> bool:
        plain = all(a.is_tensor and a.type != "Tensor[]" for a in op.r.args)
        return plain and len(op.r.args) <= cls.MOST and not (op.multi or op.many)

    @property
    def call(self) -> str:
        skip = getattr(self.r.kernel, "skip_first", False)
        return f"batch_aligned(<void*>T.{self.op.key}, {self.every}, {skip})"


class AlignedWithMore(Rule):
    """``"elementwise"`` of an operator with other arguments, too."""

    def body(self, f: Function) -> None:
        promoted = self.tensors[int(getattr(self.r.kernel, "skip_first", False)) :]
        self.lower(f)
        self.share(f)
        f.declare("int", "nd", f"widest({self.every}, level)")
        names = "".join(f"{a.name}, " for a in promoted)
        f.declare("int", "dt", f"common_dtype(({names}))")
        for a in self.tensors:
            dt = "dt" if a in promoted else "-1"
            f.add(f"{a.name} = align_batch({a.name}, level, nd, {dt})")
        f.add(f"return {self.wrap}({self.again()}, level)")


class Dims(Rule):
    """``"dims"``: the batch dimension to the front, `dim` arguments moved by one."""

    def body(self, f: Function) -> None:
        first = self.tensors[0].name
        f.declare("bint", "lifted", "False")
        self.refuse(f)
        self.lower(f)
        f.declare("bint", "shared", f"not any_batched({self.every}, level)")
        f.declare("int", "nd", f"{first}.nd")
        lines, scalar = [], []
        for a in self.r.args:
            if a.type == "dim":
                lines.append(f"{a.name} = normal_dim({a.name}, nd) + 1")
                scalar.append(lines[-1])
            elif a.type in DIMS:
                lines.append(f"{a.name} = shift_dims({a.name}, nd)")
                scalar.append(lines[-1])
        front = f"{first} = batch_front({first}, level)"
        if self.op.many:
            # What the operator says to a 0-d tensor.
            zero = [f"T.new_zeros({first}, ())" if a.name == first else a.name for a in self.r.args]
            alone = [f"return {self.again(', '.join(zero))}"]
        else:
            alone = [f"{first} = T.unsqueeze({first}, 1)", *scalar, "lifted = True"]
        inside = [front, "if nd == 0:", *indent(alone), "else:", *indent(lines or ["pass"])]
        f.block("if not shared:", inside)
        end = "end_dims_all" if self.several else "end_dims"
        f.add(f"return {end}({self.again()}, level, shared, lifted)")


class Formulas(Rule):
    """A formula on physical tensors, or one for each set of batched arguments."""

    def body(self, f: Function) -> None:
        op, r, rule = self.op, self.r, self.rule
        everything = tuple(a.name for a in self.tensors)
        rules = rule if isinstance(rule, dict) else {everything: rule}
        table = {names_in_key(key): value for key, value in rules.items()}
        loops = [key for key, value in table.items() if type(value).__name__ == "loop"]
        formulas = {key: text for key, text in table.items() if key not in loops}
        self.refuse(f)
        self.lower(f)
        self.share(f)
        f.declare("Py_ssize_t", "B", f"batch_size_of({self.every}, level)")
        for a in self.tensors:
            predicate = "any_batched" if a.type == "Tensor[]" else "is_batched"
            f.declare("bint", f"has_{a.name}", f"{predicate}({a.name}, level)")
        looped = [f'return loop_batch("{op.key}", ({op.names},), level)']
        if everything in formulas:
            for key in loops:
                f.block(f"if {self.batched_are(key)}:", looped)
        elif loops:
            # Every set of batched arguments without a formula.
            known = " or ".join(f"({self.batched_are(key)})" for key in formulas)
            f.block(f"if not ({known}):" if known else "if True:", looped)
        self.move(f)
        names = op.arg_names()
        names["B"] = ("B", "i")
        emitter = op.emitter(names, op.plain_metadata)
        for key, text in formulas.items():
            if key != everything:
                value, _ = emitter.emit(parse(text))
                f.block(f"if {self.batched_are(key)}:", [f"return {self.wrap}({value}, level)"])
        if everything not in formulas:
            f.add(f"raise RuntimeError('vmap: no rule of {r.name} for these batched arguments')")
            return
        if len(self.tensors) > 1:
            for a in self.tensors:
                if a.type not in ("Tensor[]", "Scalar"):
                    f.add(f"{a.name} = batch_expand({a.name}, has_{a.name}, B)")
        value, _ = emitter.emit(parse(formulas[everything]))
        f.add(f"return {self.wrap}({value}, level)")

    def move(self, f: Function) -> None:
        """Physical tensors, batch first, and dimensions of the logical ones."""
        first = self.tensors[0]
        nd = f"(<Tensor>{first.name}[0]).nd" if first.type == "Tensor[]" else f"{first.name}.nd"
        for a in self.r.args:
            if a.type == "dim":
                f.add(f"{a.name} = normal_dim({a.name}, {nd})")
        for a in self.tensors:
            if a.type == "Tensor[]":
                f.add(f"{a.name} = all_front({a.name}, level)")
            else:
                f.add(f"{a.name} = batch_front({a.name}, level)")

    def batched_are(self, wanted: tuple[str, ...]) -> str:
        """The test that exactly these arguments are batched."""
        return " and ".join(
            f"has_{a.name}" if a.name in wanted else f"not has_{a.name}" for a in self.tensors
        )


def names_in_key(key: str | tuple[str, ...]) -> tuple[str, ...]:
    """The arguments that a key of a rule names: one, or a tuple of them."""
    return (key,) if isinstance(key, str) else key


BY_TYPE: dict[str, type[Rule]] = {
    "by_hand": ByHand,
    "refuse": Refused,
    "randomly": Random,
    "loop": Looped,
}


def rule_of(op: Operator) -> Rule:
    """The vmap rule of an operator."""
    rule = op.r.batching.vmap
    kind = BY_TYPE.get(type(rule).__name__)
    if kind is None and rule == "elementwise":
        kind = Aligned if Aligned.serves(op) else AlignedWithMore
    elif kind is None:
        kind = Dims if rule == "dims" else Formulas
    return kind(op)
