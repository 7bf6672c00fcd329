"""Affine maps, as layers have them."""

from autograd_cy.ops._schema import call, composite, op, shapes

LOADED = "at first use"

op(
    "linear(input, weight, bias: Tensor? = None)",
    flops="2 * elements(input) * (weight[0] if len(weight) == 2 else 1)",
    method=False,
    also=("nn.functional",),
    kernel=call(
        "products.linear",
        shape="rules_products.linear(input, weight, bias)",
        conjugates=("input", "weight"),
    ),
    autocast="lower",
    vjp={
        "input": (
            "matmul(grad, weight.conj()) if weight.ndim == 2 else unsqueeze(grad, -1) "
            "* weight.conj()"
        ),
        "weight": "_linear_weight(grad, input)",
        "bias": "_sum_rows(grad) if bias.ndim < 2 else _linear_bias(grad, bias.shape)",
    },
    jvp={
        "input": "linear(input_t, weight)",
        "weight": "linear(input, weight_t)",
        "bias": "_linear_spread(bias_t, result.shape)",
    },
    vmap={
        "input": "_linear_of_examples(input, weight, bias)",
        ("input", "weight", "bias"): "_batched_linear(input, weight, bias)",
    },
    samples=shapes(
        ((5, 4), (3, 4), (3,)),
        ((4,), (3, 4), (3,)),
        ((2, 5, 4), (3, 4)),
        ((0, 4), (3, 4), (3,)),
        ((5, 4), (1, 4)),
        ((2, 5, 4), (4,)),
        ((4,), (4,), ()),
        ((5, 4), (3, 4), (1,)),
        ((2, 5, 4), (3, 4), ()),
        ((5, 4), (3, 4), (5, 3)),
        ((2, 5, 4), (3, 4), (5, 3)),
        ((5, 4), (3, 4), (5, 1)),
    ),
    dtypes="ihfc",
    reference="input @ weight.T + (0 if bias is None else bias)",
    tolerance=1e-4,
    doc=(
        "Affine map ``input @ weight.T + bias`` of the last dimension, which is left out where "
        "the weight is a vector."
    ),
    example=(
        ">>> ag.nn.functional.linear(ag.tensor([1.0, 2.0]), ag.tensor([[3.0, 4.0]]), "
        "ag.tensor([0.5]))\n"
        "tensor([11.5000])"
    ),
    params={
        "input": "Vectors in the last dimension.",
        "weight": "One row for each element of the result, or a vector for a single one.",
    },
)

op(
    "_linear_weight(grad_output, input)",
    kernel=composite("linear.weight_gradient"),
    doc="Gradient of linear with respect to its weight.",
)

op(
    "_linear_bias(grad_output, size: sizes)",
    kernel=composite("linear.bias_gradient"),
    doc=(
        "Gradient of linear with respect to a bias of several dimensions, which may have more of "
        "them."
    ),
)

op(
    "_linear_spread(bias, size: sizes)",
    kernel=composite("linear.spread"),
    doc="A bias in the shape of the results.",
)

op(
    "_linear_of_examples(input, weight, bias: Tensor?)",
    kernel=composite("linear.linear_of_examples"),
    doc="linear of a batch of inputs.",
)

op(
    "flatten_rows(self)",
    event="autograd_cy::flatten_rows",
    function=False,
    method=False,
    kernel=composite("linear.flatten_rows"),
    samples=shapes(((2, 3, 4),), ((4,),)),
    reference="self.reshape(-1, self.shape[-1])",
    doc="All dimensions but the last joined.",
)

op(
    "_sum_rows(self)",
    kernel=composite("sum(flatten_rows(self), 0, False)"),
    doc="Sum over all dimensions but the last.",
)

op(
    "_batched_linear(input, weight, bias: Tensor?)",
    kernel=composite("linear.batched_linear"),
    doc="linear with one weight per example.",
)
