"""Common parts of rows of losses: inputs and a target, texts, and statements of functions."""

from autograd_cy.ops.layers._schema import LayerRow, layer


def loss(signature: str, function: str, doc: str, example: str, **more) -> LayerRow:
    """Add the row of a loss of an input and a target."""
    usual = {"base": "_Loss", "inputs": "input: Tensor, target: Tensor", "gives": "the loss"}
    return layer(signature, function, doc, example, **{**usual, "constants": "reduction", **more})


# --- what their functions have in common ---

OF_ONE_SHAPE = {"input target": "Of one shape."}
WITH_WEIGHT = {
    "reduction": (
        "What becomes of the values of all elements; with a weight the mean is a weighted one."
    ),
    "weight": "A factor for each element.",
}
PROMOTED = """\
if target.dtype is not input.dtype:
    dtype = _operators.promote_types(input.dtype, target.dtype)
    input, target = input.to(dtype), target.to(dtype)"""
