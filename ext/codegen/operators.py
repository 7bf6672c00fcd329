"""Write the operators: typed node, recording, forward mode, vmap and dispatch of each record.

For a record `mul` the generated Cython is, in this order: `apply_mul`, the backward of nodes of the
class `MulBackward0`, and `node_mul`, which makes the node and saves what it needs (node_text.py);
`tangent_mul` (forward_rules.py); `vmap_mul`, if the rule needs a function of its own
(vmap_rules.py); `c_mul`, the operator itself, `c_mul_`, its in-place form, and `c_mul_out`
(operator_forms.py). A record with a shape rule, such as `sum`, has `run_sum` before all of these
(kernel_runs.py). The Python functions around them are written by python_forms.py.
"""

from __future__ import annotations

from ext.codegen.form_parts import CheckDtype
from ext.codegen.forward_rules import ForwardRule
from ext.codegen.kernel_runs import has_shape, run_function
from ext.codegen.node_text import NodeText
from ext.codegen.operator_base import Operator
from ext.codegen.operator_forms import FreshForm, InPlaceForm, OutForm, OutsForm, ResultForm
from ext.codegen.vmap_rules import rule_of


def text_of_operator(op: Operator) -> list[str]:
    """All lines of one operator."""
    r, lines = op.r, []
    if has_shape(r):
        lines += run_function(r, op.shown, op.imports)
    node = NodeText(op) if op.diff and op.kind != "composite" else None
    lines += CheckDtype(op, node).function()
    if node is not None:
        lines += [*node.node_class(), *node.node_function(), *ForwardRule(op).function()]
    if op.kind != "composite":
        lines += rule_of(op).function()
    forms = {
        ResultForm: True,
        InPlaceForm: r.call.inplace,
        FreshForm: r.fresh,
        OutForm: r.call.out,
        OutsForm: r.outs and has_shape(r),
    }
    for form, exists in forms.items():
        if exists:
            lines += form(op, node).lines()
    return lines
