"""Formulas of the table in a plain Python evaluator, against the generated nodes.

This shows that generated Cython computes what the text says; test_op_mutations.py shows that a
wrong text would be noticed.
"""

import numpy as np
from calls import EVALUATOR, TABLE, cases, formulas_of, to_array
from derivatives import gradients, weights_of
from formulas import calls_of, evaluate, formula_names, with_formulas
from grouping import each

import autograd_cy as ag
from ext.codegen.formula import parse


@each("case", cases(with_formulas))
def test_generated_node_computes_the_formula(case):
    for call in calls_of(case):
        weights = weights_of(call, np.random.default_rng(0))
        grads, _, _ = gradients(call, call.arrays, weights)
        names = formula_names(call, weights)
        generated = dict(zip(call.moving, grads))
        for key, text in formulas_of(case.record.derivatives.vjp).items():
            for i, value in evaluate(call, names, (key, parse(text))).items():
                found = to_array(generated[i])
                np.testing.assert_allclose(found, value, rtol=1e-12, atol=1e-13, err_msg=str(key))


def test_evaluator_and_composites_agree():
    """Composites by their text and by their compiled form."""
    x = ag.randn(3, 4, dtype=ag.float64)
    compiled = type(EVALUATOR)(TABLE, enter=False)
    for text in (
        "gelu(self)",
        "_silu_curvature(self, sigmoid(self))",
        "self.t()",
        "clamp(self, 0, 1)",
    ):
        a = EVALUATOR.evaluate(text, {"self": x})
        b = compiled.evaluate(text, {"self": x})
        np.testing.assert_allclose(to_array(a), to_array(b), rtol=1e-13)
