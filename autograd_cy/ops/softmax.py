"""Softmax, its logarithm, and their fused backward operators."""

from autograd_cy.ops._schema import arg, call, op, sample

LOADED = "at first use"

ROWS = [
    sample((arg((3, 4)), 1)),
    sample((arg((3, 4)), 0)),
    sample((arg((2, 3, 4)), -1)),
    sample((arg((5,)), 0)),
    sample((arg(()), 0)),
    sample((arg((0, 3)), 1)),
]

op(
    "softmax(self, dim: dim, dtype: dtype? = None)",
    functional="softmax(input, dim: int | None = None, _stacklevel, dtype: Any = None)",
    kernel=call("softmax.softmax_into", shape="rules_reduction.softmax(self, dim, dtype)"),
    out="exact",
    vjp={"self": "softmax_backward(grad, result, dim)"},
    jvp={"self": "result * (self_t - sum(result * self_t, dim, True))"},
    vmap="dims",
    samples=ROWS,
    dtypes="hf",
    reference="scipy.special.softmax(self, axis=dim if self.ndim else None)",
    tolerance=1e-4,
    doc="Exponentials normalised to sum 1 along a dimension.",
    example=">>> ag.softmax(ag.tensor([0.0, 1.0]), dim=0)\ntensor([0.2689, 0.7311])",
)

op(
    "softmax_backward(grad_output, output, dim: dim)",
    node="SoftmaxBackwardDataBackward0",
    event="autograd_cy::softmax_backward",
    method=False,
    kernel=call(
        "softmax.softmax_backward_into",
        shape="rules_reduction.softmax_backward(grad_output, output, dim)",
    ),
    out=False,
    vjp={
        "grad_output": "softmax_backward(grad, output, dim)",
        "output": (
            "grad * (grad_output - sum(grad_output * output, dim, True)) - grad_output * sum(grad "
            "* output, dim, True)"
        ),
    },
    jvp={
        "grad_output": "softmax_backward(grad_output_t, output, dim)",
        "output": (
            "output_t * (grad_output - sum(grad_output * output, dim, True)) - output "
            "* sum(grad_output * output_t, dim, True)"
        ),
    },
    vmap="softmax_backward(grad_output, output, dim + 1) if grad_output.ndim > 1 else"
    " squeeze(softmax_backward(unsqueeze(grad_output, 1), unsqueeze(output, 1), 1), 1)",
    samples=[
        sample((arg((3, 4)), arg((3, 4)), 1)),
        sample((arg((3, 4)), arg((3, 4)), 0)),
        sample((arg(()), arg(()), 0)),
    ],
    dtypes="hf",
    reference="output * (grad_output - (grad_output * output).sum(dim, keepdims=True))",
    tolerance=1e-4,
    doc="Gradient of softmax from its result.",
    example=(
        ">>> ag.softmax_backward(ag.tensor([1.0, 0.0]), ag.tensor([0.25, 0.75]), 0)\n"
        "tensor([ 0.1875, -0.1875])"
    ),
)

op(
    "log_softmax(self, dim: dim, dtype: dtype? = None)",
    functional="log_softmax(input, dim: int | None = None, _stacklevel, dtype: Any = None)",
    kernel=call("softmax.log_softmax_into", shape="rules_reduction.softmax(self, dim, dtype)"),
    out="exact",
    vjp={"self": "log_softmax_backward(grad, result, dim)"},
    jvp={"self": "self_t - sum(exp(result) * self_t, dim, True)"},
    vmap="dims",
    samples=ROWS,
    dtypes="hf",
    reference="scipy.special.log_softmax(self, axis=dim if self.ndim else None)",
    tolerance=1e-4,
    doc="Logarithm of softmax, without overflow.",
    example=">>> ag.log_softmax(ag.tensor([0.0, 1.0]), dim=0)\ntensor([-1.3133, -0.3133])",
)

op(
    "log_softmax_backward(grad_output, output, dim: dim)",
    node="LogSoftmaxBackwardDataBackward0",
    event="autograd_cy::log_softmax_backward",
    method=False,
    kernel=call(
        "softmax.log_softmax_backward_into",
        shape="rules_reduction.softmax_backward(grad_output, output, dim)",
    ),
    out=False,
    vjp={
        "grad_output": "grad - sum(grad * exp(output), dim, True)",
        "output": "-grad * exp(output) * sum(grad_output, dim, True)",
    },
    jvp={
        "grad_output": "log_softmax_backward(grad_output_t, output, dim)",
        "output": "-exp(output) * output_t * sum(grad_output, dim, True)",
    },
    vmap="log_softmax_backward(grad_output, output, dim + 1) if grad_output.ndim > 1 else"
    " squeeze(log_softmax_backward(unsqueeze(grad_output, 1), unsqueeze(output, 1), 1), 1)",
    samples=[
        sample((arg((3, 4)), arg((3, 4)), 1)),
        sample((arg((3, 4)), arg((3, 4)), 0)),
        sample((arg(()), arg(()), 0)),
    ],
    dtypes="hf",
    reference="grad_output - np.exp(output) * grad_output.sum(dim, keepdims=True)",
    tolerance=1e-4,
    doc="Gradient of log_softmax from its result.",
    example=(
        ">>> ag.log_softmax_backward(ag.tensor([1.0, 0.0]), ag.tensor([-0.5, -1.0]), 0)\n"
        "tensor([ 0.3935, -0.3679])"
    ),
)
