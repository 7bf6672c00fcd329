"""Writes the operators: typed node, recording, forward mode, vmap and dispatch of each record.

For a record `mul` the generated Cython is, in this order: `apply_mul`, what nodes of
the class `MulBackward0` do in backward; `node_mul`, which makes the node and saves what it needs; `tangent_mul` (forward mode);
`vmap_mul`, where the rule needs a function of its own; `c_mul`, the operator itself; `c_mul_`, its
in-place form; `c_mul_out`. The Python functions around them are written by python_forms.py.
"""

from __future__ import annotations

from ext.codegen.forward_rules import ForwardRule
from ext.codegen.kernel_runs import has_shape, run_function
from ext.codegen.operator_forms import OperatorForms


class Operator(OperatorForms, ForwardRule):
    """The generated text of one record."""

    def text(self) -> list[str]:
        """All lines of this operator."""
        lines = run_function(self.r, self.shown, self.imports) if has_shape(self.r) else []
        if self.kind != "composite":
            if self.diff:
                lines += self.node_class()
                lines += self.node_function()
                lines += self.tangent_function()
            lines += self.batching.function()
        lines += self.operator()
        if self.r.call.inplace:
            lines += self.inplace_operator()
        if self.r.fresh:
            lines += self.fresh_operator()
        if self.r.call.out:
            lines += self.out_operator()
        if self.r.outs and has_shape(self.r):
            lines += self.outs_operator()
        return lines
