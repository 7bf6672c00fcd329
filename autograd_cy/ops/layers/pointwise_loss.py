"""Losses that are a sum of one number for each element."""

from autograd_cy.ops.layers._schema import loss

IMPORTS = "from autograd_cy.nn.loss import _Loss, _WeightedLoss\n"
FACTOR = "A factor for each element, of a shape that broadcasts to that of the input."

loss(
    "L1Loss",
    "l1_loss",
    "The absolute difference between input and target.",
    ">>> torch.nn.L1Loss()(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))\ntensor(1.)",
)
loss(
    "SmoothL1Loss(size_average, reduce, reduction, beta: float = 1.0)",
    "smooth_l1_loss",
    "The squared difference where it is small, and the absolute one elsewhere.",
    ">>> torch.nn.SmoothL1Loss()(torch.tensor([3.0]), torch.tensor([1.0]))\ntensor(1.5000)",
    texts={"beta": "The difference at which one becomes the other, not negative."},
)
loss(
    "HuberLoss(reduction, delta: float = 1.0)",
    "huber_loss",
    "Half the squared difference where it is small, and a linear function elsewhere.",
    ">>> torch.nn.HuberLoss(delta=2.0)(torch.tensor([4.0]), torch.tensor([1.0]))\ntensor(4.)",
    texts={"delta": "The difference at which one becomes the other, positive."},
    constants="reduction delta",
)
loss(
    "BCELoss",
    "binary_cross_entropy",
    "The cross entropy between probabilities and targets of two classes.",
    ">>> torch.nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0]))\ntensor(0.6931)",
    base="_WeightedLoss",
    texts={"weight": FACTOR},
    says=r"""Return the cross entropy between probabilities and targets of two classes.

It is :math:`-w (t \log x + (1 - t) \log (1 - x))`, where a logarithm is at least -100.""",
    call_texts={
        "input": "Probabilities.",
        "target": "Numbers between 0 and 1, of the shape and dtype of ``input``.",
    },
    call_raises={
        "RuntimeError": "If an element of ``input`` is not between 0 and 1.",
        "ValueError": "If the shapes differ.",
    },
    check_call="""\
if target.shape != input.shape:
    raise ValueError(
        f"Using a target size ({target.shape}) that is different to the input size "
        f"({input.shape}) is deprecated. Please ensure they have the same size."
    )
if target.dtype is not input.dtype:
    raise RuntimeError(
        f"binary_cross_entropy: Found dtype {target.dtype._scalar} of the target but expected "
        f"{input.dtype._scalar}, that of the input; convert one of them"
    )""",
)
loss(
    "BCEWithLogitsLoss(weight, size_average, reduce, reduction, pos_weight: Tensor | None = None)",
    "binary_cross_entropy_with_logits",
    "The cross entropy between the sigmoid of logits and targets of two classes.",
    ">>> torch.nn.BCEWithLogitsLoss()(torch.tensor([0.0]), torch.tensor([1.0]))\ntensor(0.6931)",
    texts={
        "weight": FACTOR,
        "pos_weight": (
            "A factor for positive targets, of a shape that broadcasts to that of the input."
        ),
    },
    members={"weight:": "Tensor | None", "pos_weight:": "Tensor | None"},
    buffers=("weight", "pos_weight"),
    says=r"""Return the cross entropy between the sigmoid of logits and targets of two classes.

It is :math:`-w (p t \log \sigma(x) + (1 - t) \log (1 - \sigma(x)))`, computed so that large
logits keep their digits.""",
    call_texts={
        "input": "Logits.",
        "target": "Numbers between 0 and 1, of the shape of ``input``.",
        "weight": "A factor `w` for each element, of a shape that broadcasts to that of ``input``.",
        "pos_weight": (
            "A factor `p` for positive targets, of a shape that broadcasts to that of ``input``."
        ),
    },
    call_raises={"ValueError": "If the shapes differ."},
    check_call="""\
if isinstance(input, Tensor) and isinstance(target, Tensor) and target.shape != input.shape:
    raise ValueError(
        f"Target size ({target.shape}) must be the same as input size ({input.shape})"
    )""",
    constants="",
)
loss(
    "KLDivLoss(size_average, reduce, reduction, log_target: bool = False)",
    "kl_div",
    "The Kullback-Leibler divergence of distributions from targets.",
    """\
>>> loss = torch.nn.KLDivLoss(reduction="batchmean")
>>> loss(torch.tensor([[-1.0, -1.0]]), torch.tensor([[0.5, 0.5]]))
tensor(0.3069)""",
    texts={
        "reduction": """\
What becomes of the numbers of all elements. The divergence of a batch is "batchmean": the
sum, divided by the size of the first dimension.""",
        "log_target": "Whether targets are logarithms of probabilities, as inputs are.",
    },
    kinds={"reduction": '{"batchmean", "mean", "sum", "none"}'},
)
loss(
    "SoftMarginLoss",
    "soft_margin_loss",
    "The logistic loss of targets 1 and -1.",
    ">>> torch.nn.SoftMarginLoss()(torch.tensor([0.0]), torch.tensor([1.0]))\ntensor(0.6931)",
)
