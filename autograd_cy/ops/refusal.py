"""Operators that stand for derivatives that there aren't: errors when they are asked for."""

from autograd_cy.ops._schema import composite, op

op(
    "_not_implemented(grad_output, name: str)",
    kernel=composite("refusal.not_implemented"),
    doc="The error of a derivative that there isn't.",
)

op(
    "_not_forward(tangent, name: str)",
    kernel=composite("refusal.not_forward"),
    doc="The error of a tangent that there isn't.",
)
