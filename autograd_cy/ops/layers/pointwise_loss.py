"""Losses that are a sum of one number for each element."""

from autograd_cy.ops.layers._losses import OF_ONE_SHAPE, PROMOTED, WITH_WEIGHT, loss

IMPORTS = "from autograd_cy.nn.loss import _Loss, _WeightedLoss\n"
FACTOR = "A factor for each element, of a shape that broadcasts to that of the input."


def broadcast(name):
    """Statements that give both tensors the shape of both together."""
    return f"""\
if target.shape != input.shape:
    warn_of_sizes(input, target)
    input, target = broadcast("{name}", input, target)"""


loss(
    "L1Loss",
    "l1_loss",
    "The absolute difference between input and target.",
    ">>> torch.nn.L1Loss()(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))\ntensor(1.)",
    function_texts=OF_ONE_SHAPE | WITH_WEIGHT,
    function_start=f"""\
{broadcast("l1_loss")}
if weight is not None:
    check_weight(input, weight)
    reduction = reduction_name(size_average, reduce, reduction)
    return weighted((input - target).abs(), weight, reduction)
code = reduction_code(size_average, reduce, reduction)
if not (input.is_floating_point() and target.is_floating_point()):
    return reduced((input - target).abs(), code)""",
)
loss(
    "SmoothL1Loss(size_average, reduce, reduction, beta: float = 1.0)",
    "smooth_l1_loss",
    "The squared difference where it is small, and the absolute one elsewhere.",
    ">>> torch.nn.SmoothL1Loss()(torch.tensor([3.0]), torch.tensor([1.0]))\ntensor(1.5000)",
    texts={"beta": "The difference at which one becomes the other, not negative."},
    function_doc=r"""
Return the squared difference where it is small, and the absolute one elsewhere.

With :math:`d = |x - y|` it is :math:`d^2 / (2 \beta)` if :math:`d < \beta`, else
:math:`d - \beta / 2` (Girshick, Fast R-CNN, 2015).""",
    function_texts=OF_ONE_SHAPE,
    function_start=f"""\
{broadcast("smooth_l1_loss")}
if beta == 0.0:
    return l1_loss(input, target, size_average, reduce, reduction)
{PROMOTED}""",
)
loss(
    "HuberLoss(reduction, delta: float = 1.0)",
    "huber_loss",
    "Half the squared difference where it is small, and a linear function elsewhere.",
    ">>> torch.nn.HuberLoss(delta=2.0)(torch.tensor([4.0]), torch.tensor([1.0]))\ntensor(4.)",
    texts={"delta": "The difference at which one becomes the other, positive."},
    function_doc=r"""
Return half the squared difference where it is small, and a linear function elsewhere.

With :math:`d = |x - y|` it is :math:`d^2 / 2` if :math:`d \le \delta`, else
:math:`\delta (d - \delta / 2)` (Huber, Robust estimation of a location parameter, 1964).""",
    function_texts={
        **OF_ONE_SHAPE,
        "weight": "A factor for each element; a mean is not divided by the weights.",
    },
    function_start=f"""\
{broadcast("huber_loss")}
if target.dtype is not input.dtype:
    target = in_dtype("huber_loss", input, target)
if weight is not None:
    check_weight(input, weight)
    values = _ops_pointwise_loss._huber_loss(input, target, delta, 0) * weight
    return values.mean() if reduction == "mean" else weighted(values, None, reduction)""",
    constants="reduction delta",
)
loss(
    "BCELoss",
    "binary_cross_entropy",
    "The cross entropy between probabilities and targets of two classes.",
    ">>> torch.nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0]))\ntensor(0.6931)",
    base="_WeightedLoss",
    texts={"weight": FACTOR},
    function_doc=r"""
Return the cross entropy between probabilities and targets of two classes.

It is :math:`-w (t \log x + (1 - t) \log (1 - x))`, where a logarithm is at least -100.""",
    function_texts={
        "input": "Probabilities.",
        "target": "Numbers between 0 and 1, of the shape and dtype of ``input``.",
    },
    function_raises={
        "RuntimeError": "If an element of ``input`` is not between 0 and 1.",
        "ValueError": "If the shapes differ.",
    },
    function_start="""\
code = reduction_code(size_average, reduce, reduction)
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
    function_doc=r"""
Return the cross entropy between the sigmoid of logits and targets of two classes.

It is :math:`-w (p t \log \sigma(x) + (1 - t) \log (1 - \sigma(x)))`, computed so that large
logits keep their digits.""",
    function_texts={
        "input": "Logits.",
        "target": "Numbers between 0 and 1, of the shape of ``input``.",
        "weight": "A factor `w` for each element, of a shape that broadcasts to that of ``input``.",
        "pos_weight": (
            "A factor `p` for positive targets, of a shape that broadcasts to that of ``input``."
        ),
    },
    function_raises={"ValueError": "If the shapes differ."},
    function_start="""\
code = reduction_code(size_average, reduce, reduction)
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
    function_doc=r"""
Return the Kullback-Leibler divergence of distributions from targets.

The numbers of all elements are :math:`y (\log y - x)`, where `x` are logarithms of
probabilities.""",
    function_texts={
        "input": "Logarithms of probabilities.",
        "target": "Probabilities, or their logarithms.",
        "log_target": "Whether the target is logarithms.",
    },
    function_start="""\
if size_average is not None or reduce is not None:
    code = reduction_code(size_average, reduce, reduction)
elif reduction == "batchmean":
    total = _operators.kl_div(input, target, 2, log_target=log_target)
    return total / input.shape[0] if input.ndim else total
else:
    if reduction == "mean":
        warn_of_mean()
    code = reduction_code(None, None, reduction)""",
)
loss(
    "SoftMarginLoss",
    "soft_margin_loss",
    "The logistic loss of targets 1 and -1.",
    ">>> torch.nn.SoftMarginLoss()(torch.tensor([0.0]), torch.tensor([1.0]))\ntensor(0.6931)",
    function_doc=r"Return the logistic loss :math:`\log(1 + e^{-t x})` of targets 1 and -1.",
    function_texts={"input": "Scores.", "target": "1 or -1 for each of them."},
    function_start="""\
code = reduction_code(size_average, reduce, reduction)
check_tensors("soft_margin_loss", input, target)
if target.shape != input.shape:
    own = input.shape
    input, target = broadcast("soft_margin_loss", input, target)
    if input.shape != own:
        raise RuntimeError(
            f"soft_margin_loss: output with shape {list(own)} doesn't match broadcast shape "
            f"{list(input.shape)}"
        )
if target.dtype is not input.dtype:
    target = in_dtype("soft_margin_loss", input, target)
if input.is_complex():
    return reduced((-target * input).exp().log1p(), code)""",
)
