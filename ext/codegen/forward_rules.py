"""Forward mode: the function that gives the result of an operator its tangents."""

from __future__ import annotations

from ext.codegen.lines import Function
from ext.codegen.operator_base import Operator
from ext.codegen.tangents import jvp_formulas, sum_of_terms


class ForwardRule:
    """Write ``tangent_<key>``."""

    def __init__(self, op: Operator):
        self.op, self.r = op, op.r

    def function(self) -> list[str]:
        r = self.r
        tensors = [a for a in r.args if a.is_tensor and a.type != "Tensor[]"]
        differentiable = [a.name for a in tensors if a.name in self.op.diff]
        listed = None
        if self.op.list_arg is not None and self.op.list_arg.name in self.op.diff:
            listed = self.op.list_arg.name
        f = Function(
            f"cdef int tangent_{self.op.key}({self.op.ret} outcome, {self.op.params}) except -1:"
        )
        f.declare("Tensor", "total")
        f.declare(self.op.ret, "below", "outcome")
        f.declare(
            "ForwardLevel", "level", f"forward_level({self.op.tuple_of(differentiable, listed)})"
        )
        f.block("if level is None:", ["return 0"])
        for name in differentiable:
            f.declare("Tensor", f"{name}_t", f"tangent_at({name}, level)")
        f.add(*(f"{a.name} = primal_at({a.name}, level)" for a in tensors))
        if listed:
            f.declare("tuple", f"{listed}_t", f"tangents_at({listed}, level)")
            f.add(f"{listed} = primals_at({listed}, level)")
        alias = "place_aliases" if self.op.multi or self.op.many else "place_alias"
        f.block(
            f"if ({self.op.flags([*differentiable, *([listed] if listed else [])])}) & F_DUAL:",
            [f"below = {alias}(outcome)", f"tangent_{self.op.key}(below, {self.op.names})"],
        )
        if r.derivatives.jvp == "linear":
            self.by_the_operator(f)
        else:
            self.summed(f)
        f.add("return 0")
        return f.lines

    def by_the_operator(self, f: Function) -> None:
        """The operator itself on the tangents; tensors without one are taken as zeros."""
        for a in self.op.diff:
            if self.r.arg(a).type != "Tensor[]":
                f.block(f"if {a}_t is None and {a} is not None:", [f"{a}_t = zero_tangent({a})"])
        texts = ", ".join(f"{a.name}_t" if a.name in self.op.diff else a.name for a in self.r.args)
        f.declare(self.op.ret, "outcome_t", f"T.{self.op.key}({texts})")
        several = "s" if self.op.multi or self.op.many else ""
        f.add(f"set_tangent{several}(outcome, outcome_t, level, below)")

    def summed(self, f: Function) -> None:
        """The sum of a term for each argument, for each output."""
        r = self.r
        names = self.op.arg_names()
        if self.op.multi:
            for i, o in enumerate(r.returns):
                f.declare("Tensor", o, f"<Tensor>below[{i}]")
                names[o] = (o, "T")
        elif not self.op.many:
            names[r.returns[0]] = ("below", "T")
        for a in self.op.diff:
            names[f"{a}_t"] = (f"{a}_t", "L" if r.arg(a).type == "Tensor[]" else "T")

        def metadata(name: str, what: str) -> str:
            below = name in r.returns and not self.op.multi
            return self.op.plain_metadata("below" if below else name, what)

        emitter = self.op.emitter(names, metadata)
        for output, rows in jvp_formulas(r, self.op.diff).items():
            f.add(*sum_of_terms(rows, emitter))
            target = f"<Tensor>outcome[{r.returns.index(output)}]" if self.op.multi else "outcome"
            f.add(f"set_tangent({target}, total, level, {output if self.op.multi else 'below'})")
