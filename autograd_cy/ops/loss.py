"""Losses."""

from autograd_cy.ops._schema import (
    arg,
    by_hand,
    by_test,
    call,
    composite,
    integers,
    op,
    real,
    sample,
)

LOADED = "at first use"

# --- likelihood --------------------------------------------------------------------------------

op(
    "nll_loss_forward(self, target, weight: Tensor?, reduction: int, ignore_index: int) "
    "-> (output, total_weight)",
    shown_as="nll_loss",
    event="nll_loss_forward",
    method=False,
    named=False,
    function=False,
    kernel=call("loss.nll_loss_into", shape="rules_loss.nll(self, target, weight, reduction)"),
    node="NllLossBackward0",
    nondiff_outputs=("total_weight",),
    vjp={
        "self": (
            "nll_loss_backward(grad_output, target, weight, total_weight, self.shape, reduction, "
            "ignore_index)"
        )
    },
    stays={"self": ("self",)},
    jvp={"output": {"self": "_nll_loss_only(self_t, target, weight, reduction, ignore_index)"}},
    vmap=by_hand("loss_batching.nll_forward_each"),
    samples=[
        sample((arg((3, 4)), arg((3,), integers(0, 4), False), None, r, -100)) for r in (0, 1, 2)
    ],
    dtypes="hf",
    reference=by_test("tests/kernels/test_loss.py::test_nll"),
    doc="Negative log-likelihood and the weight it was divided by.",
)

op(
    "_nll_loss_only(self, target, weight: Tensor?, reduction: int, ignore_index: int)",
    kernel=composite("loss.nll_output"),
    doc="The loss of nll_loss_forward.",
)

op(
    "nll_loss_backward(grad_output, target, weight: Tensor?, total_weight, size: sizes, "
    "reduction: int, ignore_index: int)",
    method=False,
    function=False,
    kernel=call(
        "loss.nll_loss_backward_into",
        ("grad_output", "target", "weight", "total_weight", "reduction", "ignore_index"),
        shape="rules_loss.nll_backward(grad_output, target, weight, size, reduction)",
    ),
    out=False,
    vjp={"grad_output": "_nll_loss_only(grad, target, weight, reduction, ignore_index)"},
    jvp="linear",
    vmap=by_hand("loss_batching.nll_backward_each"),
    samples=[
        sample(
            (
                arg((3,)),
                arg((3,), integers(0, 4), False),
                None,
                arg((), real(1, 2), False),
                (3, 4),
                0,
                -100,
            )
        )
    ],
    dtypes="hf",
    reference=by_test("tests/kernels/test_loss.py::test_nll"),
    doc="Gradient of the negative log-likelihood with respect to the log-probabilities.",
)

op(
    "nll_loss(input, target, weight: Tensor? = None, *, ignore_index: int = -100, "
    "reduction: str = 'mean')",
    method=False,
    functional="nll_loss(input, target, weight, size_average, ignore_index, reduce, reduction)",
    autocast="float32",
    kernel=composite("loss.nll_loss"),
    samples=[
        sample((arg((3, 4)), arg((3,), integers(0, 4), False)), {"reduction": r})
        for r in ("mean", "sum", "none")
    ],
    dtypes="hf",
    reference=by_test("tests/nn/test_nn_layers.py::test_nll_loss_of_log_softmax_is_cross_entropy"),
    doc="Negative log-likelihood of class indices under log-probabilities.",
    example=">>> ag.nn.functional.nll_loss(ag.tensor([[-1.0, -2.0]]), ag.tensor([1]))\ntensor(2.)",
    raises={"IndexError": "A class is out of range."},
)

op(
    "cross_entropy(input, target, weight: Tensor? = None, *, ignore_index: int = -100, "
    "reduction: str = 'mean', label_smoothing: float = 0.0)",
    method=False,
    functional=(
        "cross_entropy(input, target, weight, size_average, ignore_index, reduce, reduction, "
        "label_smoothing)"
    ),
    event="cross_entropy_loss",
    kernel=composite("loss.cross_entropy_form"),
    autocast="float32",
    samples=[
        sample((arg((3, 4)), arg((3,), integers(0, 4), False)), {"reduction": r})
        for r in ("mean", "sum", "none")
    ],
    dtypes="hf",
    reference=by_test("tests/nn/test_nn_layers.py::test_cross_entropy_is_its_formula"),
    doc="Negative log-likelihood of classes under logits: nll_loss of log_softmax.",
    example=(
        ">>> ag.nn.functional.cross_entropy(ag.tensor([[0.0, 1.0]]), ag.tensor([1]))\n"
        "tensor(0.3133)"
    ),
    raises={"IndexError": "A class is out of range."},
)

# --- squares -----------------------------------------------------------------------------------

op(
    "mse_loss(input, target, *, reduction: str = 'mean')",
    functional="mse_loss(input, target, size_average, reduce, reduction, weight)",
    method=False,
    kernel=composite("loss.mse_loss"),
    autocast="float32",
    samples=[sample((arg((3, 4)), arg((3, 4))), {"reduction": r}) for r in ("mean", "sum", "none")],
    dtypes="hf",
    reference=(
        "{'mean': np.mean, 'sum': np.sum, 'none': lambda x: x}[reduction]((input - target) ** 2)"
    ),
    doc="Mean (or sum) of squared differences.",
    example=(
        ">>> ag.nn.functional.mse_loss(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 4.0]))\ntensor(2.)"
    ),
)

op(
    "_mse_loss(self, target, reduction: int)",
    kernel=call("loss.mse_loss_into", shape="rules_loss.squares(self, target, reduction)"),
    out=False,
    shown_as="mse_loss",
    node="MseLossBackward0",
    vjp={
        "self": "_mse_backward(grad, self, target, reduction)",
        "target": "-_mse_backward(grad, self, target, reduction)",
    },
    jvp={
        "self": "_mse_jvp(self_t, self, target, reduction)",
        "target": "-_mse_jvp(target_t, self, target, reduction)",
    },
    vmap="_mse_each(self, target, reduction)",
    dtypes="hf",
    samples=[sample((arg((3, 4)), arg((3, 4)), code)) for code in (0, 1, 2)],
    reference="[lambda x: x, np.mean, np.sum][reduction]((self - target) ** 2)",
    doc="Squared differences, reduced by code (0 none, 1 mean, 2 sum).",
)

op(
    "_mse_backward(grad_output, self, target, reduction: int)",
    kernel=composite(
        "(self - target) * (grad_output * (2.0 / self.numel() if reduction == 1 and self.numel() "
        "> 0 else 2.0))"
    ),
    doc="Gradient of mse_loss; differentiates by its parts.",
)

op(
    "_mse_jvp(self, a, b, reduction: int)",
    kernel=composite("loss.mse_jvp"),
    doc="Tangent of mse_loss.",
)

op(
    "_mse_each(self, target, reduction: int)",
    kernel=composite("loss.mse_each"),
    doc="mse_loss of each example of a batch.",
)
