"""Losses with a number for each element; `reduction` is 0 (none), 1 (mean) or 2 (sum).

What users call adds the names of reductions and other options (`functional`). A loss has the
gradient ``share * derivative``: the share is the incoming gradient of one element, the derivative
an elementwise kernel that takes the share first.
"""

from autograd_cy.ops._schema import (
    arg,
    call,
    composite,
    elementwise,
    error,
    fixed,
    op,
    real,
    sample,
)

LOADED = "at first use"

PAIRS = ((3, 4), (), (0, 3), (5,))
REDUCED = "[lambda x: x, np.mean, np.sum][reduction]"
CROSS_ENTROPY = "-(target * np.log(self) + (1 - target) * np.log1p(-self))"
SOFTPLUS = "np.logaddexp(0, -self)"


def pairs(*more, values=None):
    """Samples of two tensors of one shape with every reduction (a mean of nothing is NaN)."""
    return [
        sample((arg(s), arg(s, values), *more, code))
        for s in PAIRS
        for code in (0, 1, 2)
        if code != 1 or 0 not in s
    ]


def loss_samples(*more, values=None):
    return [sample((arg(g), arg((3, 4)), arg((3, 4), values), *more)) for g in ((3, 4), ())]


# --- shares and sums ---------------------------------------------------------------------------

op(
    "_loss_share(grad_output, self, weight: Tensor?, reduction: int)",
    kernel=composite("pointwise_loss.share_of_gradient"),
    doc="Gradient of a loss with respect to the number of each element, times the weight.",
)

op(
    "_loss_total(self, weight: Tensor?, reduction: int)",
    kernel=composite("pointwise_loss.total"),
    doc="Numbers of all elements, times the weight, reduced.",
)

op(
    "_loss_each(self, reduction: int)",
    kernel=composite("pointwise_loss.per_example"),
    doc="Numbers of all elements of each example of a batch, reduced.",
)

# --- distances ---------------------------------------------------------------------------------

op(
    "_l1_loss(self, target, reduction: int)",
    functional="l1_loss(input, target, size_average, reduce, reduction, weight)",
    autocast="float32",
    kernel=call("pointwise_loss.l1_into", shape="rules_loss.pointwise(self, target, reduction)"),
    out=False,
    shown_as="l1_loss",
    node="L1LossBackward0",
    vjp={
        "self": "_l1_loss_backward(_loss_share(grad, self, None, reduction), self, target)",
        "target": "-_l1_loss_backward(_loss_share(grad, self, None, reduction), self, target)",
    },
    jvp={
        "self": "_loss_total(_l1_loss_backward(self_t, self, target), None, reduction)",
        "target": "-_loss_total(_l1_loss_backward(target_t, self, target), None, reduction)",
    },
    vmap="_loss_each(_l1_loss(self, target, 0), reduction)",
    dtypes="hf",
    samples=pairs(),
    reference=f"{REDUCED}(np.abs(self - target))",
    doc="Absolute differences, reduced.",
)

op(
    "_l1_loss_backward(grad_output, self, target)",
    kernel=elementwise("l1_loss_backward"),
    out=False,
    vjp={
        "grad_output": "_l1_loss_backward(grad, self, target)",
        "self": "zeros_like(grad)",
        "target": "zeros_like(grad)",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=loss_samples(),
    dtypes="hf",
    reference="grad_output * np.sign(self - target)",
    doc="Gradient of l1_loss.",
)

op(
    "_smooth_l1_loss(self, target, beta: float, reduction: int)",
    functional=(
        "smooth_l1_loss(input, target, size_average, reduce, reduction, beta: float = 1.0)"
    ),
    autocast="float32",
    out=False,
    shown_as="smooth_l1_loss",
    node="SmoothL1LossBackward0",
    kernel=call(
        "pointwise_loss.smooth_l1_into", shape="rules_loss.smooth_l1(self, target, beta, reduction)"
    ),
    vjp={
        "self": (
            "_smooth_l1_loss_backward(_loss_share(grad, self, None, reduction), self, target, beta)"
        ),
        "target": (
            "-_smooth_l1_loss_backward(_loss_share(grad, self, None, reduction), self, target, "
            "beta)"
        ),
    },
    jvp={
        "self": (
            "_loss_total(_smooth_l1_loss_backward(self_t, self, target, beta), None, reduction)"
        ),
        "target": (
            "-_loss_total(_smooth_l1_loss_backward(target_t, self, target, beta), None, reduction)"
        ),
    },
    vmap="_loss_each(_smooth_l1_loss(self, target, beta, 0), reduction)",
    dtypes="hf",
    samples=pairs(0.7),
    reference=(
        f"{REDUCED}((lambda d: np.where(d < beta, d * d / (2 * beta), d - beta / 2))(np.abs(self "
        "- target)))"
    ),
    errors=(
        error(sample((arg((3,)), arg((3,)), -1.0, 1)), RuntimeError, "negative values for beta"),
    ),
    doc="Squared differences below `beta`, absolute ones above, reduced.",
)

op(
    "_smooth_l1_loss_backward(grad_output, self, target, beta: Scalar)",
    kernel=elementwise("smooth_l1_loss_backward"),
    out=False,
    node="SmoothL1LossBackwardBackward0",
    vjp={
        "grad_output": "_smooth_l1_loss_backward(grad, self, target, beta)",
        "self": "grad * grad_output * lt(abs(self - target), beta) / beta",
        "target": "-grad * grad_output * lt(abs(self - target), beta) / beta",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=loss_samples(0.7),
    dtypes="hf",
    reference="grad_output * np.clip((self - target) / beta, -1, 1)",
    doc="Gradient of smooth_l1_loss.",
)

op(
    "_huber_loss(self, target, delta: float, reduction: int)",
    functional="huber_loss(input, target, reduction, delta: float = 1.0, weight)",
    autocast="float32",
    out=False,
    shown_as="huber_loss",
    node="HuberLossBackward0",
    kernel=call(
        "pointwise_loss.huber_into", shape="rules_loss.huber(self, target, delta, reduction)"
    ),
    vjp={
        "self": (
            "_huber_loss_backward(_loss_share(grad, self, None, reduction), self, target, delta)"
        ),
        "target": (
            "-_huber_loss_backward(_loss_share(grad, self, None, reduction), self, target, delta)"
        ),
    },
    jvp={
        "self": "_loss_total(_huber_loss_backward(self_t, self, target, delta), None, reduction)",
        "target": (
            "-_loss_total(_huber_loss_backward(target_t, self, target, delta), None, reduction)"
        ),
    },
    vmap="_loss_each(_huber_loss(self, target, delta, 0), reduction)",
    dtypes="hf",
    samples=pairs(0.7),
    reference=(
        f"{REDUCED}((lambda d: np.where(d <= delta, d * d / 2, delta * (d - delta "
        "/ 2)))(np.abs(self - target)))"
    ),
    errors=(
        error(
            sample((arg((3,)), arg((3,)), 0.0, 1)), RuntimeError, "non-positive values for delta"
        ),
    ),
    doc="Half the squared differences below `delta`, multiples of absolute ones above, reduced.",
)

op(
    "_huber_loss_backward(grad_output, self, target, delta: Scalar)",
    kernel=elementwise("huber_loss_backward"),
    out=False,
    node="HuberLossBackwardBackward0",
    vjp={
        "grad_output": "_huber_loss_backward(grad, self, target, delta)",
        "self": "grad * grad_output * lt(abs(self - target), delta)",
        "target": "-grad * grad_output * lt(abs(self - target), delta)",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=loss_samples(0.7),
    dtypes="hf",
    reference="grad_output * np.clip(self - target, -delta, delta)",
    doc="Gradient of huber_loss.",
)

# --- cross entropy of two classes --------------------------------------------------------------

PROBABILITY = real(0.1, 0.9)

# L = -t log x - (1 - t) log(1 - x), L' = (x - t) / (x (1 - x)), L'' = (x^2 - 2 x t + t) / (x (1 -
# x))^2
op(
    "_binary_cross_entropy(self, target, weight: Tensor?, reduction: int)",
    out=False,
    shown_as="binary_cross_entropy",
    node="BinaryCrossEntropyBackward0",
    kernel=call(
        "pointwise_loss.cross_entropy_into",
        shape="rules_loss.probabilities(self, target, weight, reduction)",
        follows={"result": "self"},
    ),
    vjp={
        "self": (
            "_binary_cross_entropy_backward(_loss_share(grad, self, weight, reduction), self, "
            "target)"
        ),
        "target": "_loss_share(grad, self, weight, reduction) * (log1p(-self) - log(self))",
    },
    jvp={
        "self": (
            "_loss_total(_binary_cross_entropy_backward(self_t, self, target), weight, reduction)"
        ),
        "target": "_loss_total(target_t * (log1p(-self) - log(self)), weight, reduction)",
    },
    vmap="_binary_cross_entropy_each(self, target, weight, reduction)",
    dtypes="hf",
    domain=PROBABILITY,
    samples=[
        *(
            sample((arg(s), arg(s), None, code))
            for s in PAIRS
            for code in (0, 1, 2)
            if code != 1 or 0 not in s
        ),
        *(
            sample((arg((3, 4)), arg((3, 4)), fixed(w, PROBABILITY), code))
            for w in ((3, 4), (4,), (3, 1))
            for code in (0, 1, 2)
        ),
    ],
    reference=f"{REDUCED}({CROSS_ENTROPY} * (1 if weight is None else weight))",
    errors=(
        error(sample((arg((3, 4)), arg((3, 4)), arg((2, 3, 4)), 1)), RuntimeError, "broadcast"),
    ),
    doc=(
        "Cross entropy of probabilities and targets of two classes, reduced; a logarithm is at "
        "least -100."
    ),
)

op(
    "_binary_cross_entropy_backward(grad_output, self, target)",
    kernel=elementwise("binary_cross_entropy_backward"),
    out=False,
    node="BinaryCrossEntropyBackwardBackward0",
    vjp={
        "grad_output": "_binary_cross_entropy_backward(grad, self, target)",
        "self": (
            "grad * grad_output * (self * self - 2 * self * target + target) "
            "/ square(clamp_min((1 - self) * self, 1e-12))"
        ),
        "target": "-grad * grad_output / clamp_min((1 - self) * self, 1e-12)",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=loss_samples(),
    dtypes="hf",
    domain=PROBABILITY,
    tolerance=1e-4,
    reference="grad_output * (self - target) / (self * (1 - self))",
    doc="Gradient of binary_cross_entropy.",
)

op(
    "_weighted_cross_entropy(self, target, weight: Tensor?, reduction: int)",
    functional=(
        "binary_cross_entropy(input, target, weight: Tensor | None = None, size_average, reduce, "
        "reduction)"
    ),
    autocast="float32",
    shown_as="binary_cross_entropy",
    kernel=composite("pointwise_loss.cross_entropy"),
    doc="binary_cross_entropy of a weight that has no gradient.",
)

op(
    "_binary_cross_entropy_each(self, target, weight: Tensor?, reduction: int)",
    kernel=composite("pointwise_loss.cross_entropy_each"),
    doc="binary_cross_entropy of each example of a batch.",
)

# With y = sigmoid(x), p the weight of positive targets, w = 1 + (p - 1) t: L = x (1 - t) - w log y,
# L' = w y - p t, L'' = w y (1 - y)
op(
    "_logit_cross_entropy(self, target, weight: Tensor?, pos_weight: Tensor?, reduction: int)",
    out=False,
    shown_as="binary_cross_entropy_with_logits",
    node="BinaryCrossEntropyWithLogitsBackward0",
    kernel=call(
        "pointwise_loss.logit_cross_entropy_into",
        shape="rules_loss.logits(self, target, weight, pos_weight, reduction)",
    ),
    vjp={
        "self": (
            "_logit_cross_entropy_gradient(_loss_share(grad, self, weight, reduction), self, "
            "target, pos_weight)"
        ),
        "target": (
            "_logit_cross_entropy_of_target(_loss_share(grad, self, weight, reduction), self, "
            "pos_weight)"
        ),
    },
    jvp={
        "self": (
            "_loss_total(_logit_cross_entropy_gradient(self_t, self, target, pos_weight), weight, "
            "reduction)"
        ),
        "target": (
            "_loss_total(_logit_cross_entropy_of_target(target_t, self, pos_weight), weight, "
            "reduction)"
        ),
    },
    vmap="_logit_cross_entropy_each(self, target, weight, pos_weight, reduction)",
    dtypes="hf",
    samples=[
        *(
            sample((arg(s), arg(s), None, None, code))
            for s in PAIRS
            for code in (0, 1, 2)
            if code != 1 or 0 not in s
        ),
        *(
            sample((arg((3, 4)), arg((3, 4)), fixed(w, real(0.1, 2)), None, code))
            for w in ((3, 4), (3, 1))
            for code in (0, 1, 2)
        ),
        *(
            sample((arg((3, 4)), arg((3, 4)), None, fixed(p, real(0.1, 2)), code))
            for p in ((4,), (3, 4))
            for code in (0, 1, 2)
        ),
        sample(
            (
                arg((2, 3, 4)),
                arg((2, 3, 4)),
                fixed((4,), real(0.1, 2)),
                fixed((3, 1), real(0.1, 2)),
                1,
            )
        ),
    ],
    reference=(
        f"{REDUCED}((self * (1 - target) + (1 if pos_weight is None else 1 + (pos_weight - 1) "
        f"* target) * {SOFTPLUS}) * (1 if weight is None else weight))"
    ),
    errors=(
        error(
            sample((arg((3, 4)), arg((3, 4)), arg((2, 3, 4)), None, 1)), RuntimeError, "broadcast"
        ),
        error(
            sample((arg((3, 4)), arg((3, 4)), None, arg((3,)), 1)),
            RuntimeError,
            "The size of tensor",
        ),
    ),
    doc="Cross entropy of logits and targets of two classes, reduced.",
)

op(
    "_logit_cross_entropy_backward(grad_output, self, target)",
    kernel=elementwise("logit_cross_entropy_backward"),
    out=False,
    vjp={
        "grad_output": "_logit_cross_entropy_backward(grad, self, target)",
        "self": "grad * grad_output * _sigmoid_value_derivative(sigmoid(self))",
        "target": "-grad * grad_output",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=loss_samples(),
    dtypes="hf",
    reference="grad_output * (1 / (1 + np.exp(-self)) - target)",
    doc="Gradient of binary_cross_entropy_with_logits.",
)

op(
    "_weighted_logit_cross_entropy_backward(grad_output, self, target, pos_weight)",
    kernel=elementwise("weighted_logit_cross_entropy_backward"),
    out=False,
    vjp={
        "grad_output": "_weighted_logit_cross_entropy_backward(grad, self, target, pos_weight)",
        "self": (
            "grad * grad_output * (1 + (pos_weight - 1) * target) "
            "* _sigmoid_value_derivative(sigmoid(self))"
        ),
        "target": "grad * grad_output * ((pos_weight - 1) * sigmoid(self) - pos_weight)",
    },
    jvp="elementwise",
    vmap="elementwise",
    dtypes="hf",
    tolerance=1e-4,
    samples=[
        sample((arg(g), arg((3, 4)), arg((3, 4)), fixed(p, real(0.1, 2))))
        for g, p in (((3, 4), (3, 4)), ((), (4,)))
    ],
    reference=(
        "grad_output * ((1 + (pos_weight - 1) * target) / (1 + np.exp(-self)) - pos_weight "
        "* target)"
    ),
    doc="Gradient of binary_cross_entropy_with_logits with a weight of positive targets.",
)

op(
    "_sigmoid_value_derivative(self)",
    kernel=composite("self * (1 - self)"),
    doc="Derivative of sigmoid, of its value.",
)

op(
    "_logit_cross_entropy_gradient(grad_output, self, target, pos_weight: Tensor?)",
    kernel=composite("pointwise_loss.logit_gradient"),
    doc=(
        "Gradient of binary_cross_entropy_with_logits, with or without a weight of positive "
        "targets."
    ),
)

op(
    "_logit_cross_entropy_of_target(grad_output, self, pos_weight: Tensor?)",
    kernel=composite("pointwise_loss.logit_target"),
    doc="Gradient of binary_cross_entropy_with_logits with respect to the target.",
)

op(
    "_logit_cross_entropy_each(self, target, weight: Tensor?, pos_weight: Tensor?, reduction: int)",
    kernel=composite("pointwise_loss.logit_cross_entropy_each"),
    doc="binary_cross_entropy_with_logits of each example of a batch.",
)

op(
    "binary_cross_entropy_with_logits(input, target, weight: Tensor? = None, "
    "pos_weight: Tensor? = None, reduction: int = 0)",
    method=False,
    functional=(
        "binary_cross_entropy_with_logits(input, target, weight, size_average, reduce, reduction, "
        "pos_weight)"
    ),
    autocast="float32",
    kernel=composite("pointwise_loss.logit_cross_entropy"),
    dtypes="hf",
    samples=[sample((arg((3, 4)), arg((3, 4)), None, None, code)) for code in (0, 1, 2)]
    + [sample((arg((3, 4)), arg((3, 4)), fixed((3, 4), real(0.1, 2)), fixed((4,), real(0.1, 2))))],
    reference=(
        f"{REDUCED}((input * (1 - target) + (1 if pos_weight is None else 1 + (pos_weight - 1) "
        f"* target) * {SOFTPLUS.replace('self', 'input')}) * (1 if weight is None else weight))"
    ),
    params={
        "reduction": "0 for the losses themselves, 1 for their mean, 2 for their sum.",
        "weight": "A factor for each loss.",
        "pos_weight": "A factor for positive targets.",
    },
    doc="Cross entropy between the sigmoid of logits and targets between 0 and 1.",
    example=(
        ">>> ag.binary_cross_entropy_with_logits(ag.tensor([0.0]), ag.tensor([1.0]))\n"
        "tensor([0.6931])"
    ),
)

# --- divergence of distributions ---------------------------------------------------------------

op(
    "_kl_div(self, target, reduction: int, log_target: bool)",
    out=False,
    shown_as="kl_div",
    kernel=call(
        "pointwise_loss.kl_div_into", shape="rules_loss.pointwise(self, target, reduction)"
    ),
    vjp={
        "self": "_kl_div_gradient(_loss_share(grad, self, None, reduction), target, log_target)",
        "target": (
            "_kl_div_of_target(_loss_share(grad, self, None, reduction), self, target, log_target)"
        ),
    },
    jvp={
        "self": "_loss_total(_kl_div_gradient(self_t, target, log_target), None, reduction)",
        "target": (
            "_loss_total(_kl_div_of_target(target_t, self, target, log_target), None, reduction)"
        ),
    },
    vmap="_loss_each(_kl_div(self, target, 0, log_target), reduction)",
    dtypes="hf",
    domain=real(0.2, 2),
    samples=[
        sample((arg(s), arg(s), code, log))
        for s in PAIRS
        for code in (0, 1, 2)
        for log in (False, True)
        if code != 1 or 0 not in s
    ],
    reference=(
        f"{REDUCED}(np.exp(target) * (target - self) if log_target else target * (np.log(target) "
        "- self))"
    ),
    doc="Kullback-Leibler divergence of log-probabilities `self` from the target, reduced.",
)

op(
    "_kl_div_gradient(grad_output, target, log_target: bool)",
    kernel=composite(
        "_kl_div_log_backward(grad_output, target) if log_target else target * -grad_output"
    ),
    doc="Gradient of kl_div.",
)

op(
    "_kl_div_log_backward(grad_output, target)",
    kernel=elementwise("kl_div_log_backward"),
    out=False,
    vjp={
        "grad_output": "_kl_div_log_backward(grad, target)",
        "target": "grad * _kl_div_log_backward(grad_output, target)",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4)))), sample((arg(()), arg((3, 4))))],
    dtypes="hf",
    reference="-grad_output * np.exp(target)",
    doc="Gradient of kl_div with the logarithm of the target.",
)

op(
    "_kl_div_of_target(grad_output, self, target, log_target: bool)",
    kernel=composite(
        "grad_output * exp(target) * (target - self + 1) if log_target else grad_output "
        "* (log(target) + 1 - self)"
    ),
    doc="Gradient of kl_div with respect to the target.",
)

op(
    "kl_div(input, target, reduction: int = 0, *, log_target: bool = False)",
    functional=("kl_div(input, target, size_average, reduce, reduction, log_target: bool = False)"),
    method=False,
    kernel=composite("pointwise_loss.kl_div"),
    dtypes="hf",
    autocast="float32",
    domain=real(0.2, 2),
    samples=[
        sample((arg((3, 4)), arg((3, 4)), code), {"log_target": log})
        for code in (0, 1, 2)
        for log in (False, True)
    ],
    reference=(
        f"{REDUCED}(np.exp(target) * (target - input) if log_target else target * (np.log(target) "
        "- input))"
    ),
    params={
        "input": "Logarithms of probabilities.",
        "target": "Probabilities.",
        "reduction": "0 for the numbers of all elements, 1 for their mean, 2 for their sum.",
        "log_target": "Whether the target is logarithms, too.",
    },
    doc="Kullback-Leibler divergence: ``target * (log(target) - input)``.",
    example=">>> ag.kl_div(ag.tensor([-1.0, -1.0]), ag.tensor([0.5, 0.5]), 2)\ntensor(0.3069)",
)

# --- margins -----------------------------------------------------------------------------------

op(
    "_soft_margin_loss(self, target, reduction: int)",
    functional="soft_margin_loss(input, target, size_average, reduce, reduction)",
    autocast="float32",
    out=False,
    shown_as="soft_margin_loss",
    node="SoftMarginLossBackward0",
    kernel=call(
        "pointwise_loss.soft_margin_into", shape="rules_loss.pointwise(self, target, reduction)"
    ),
    vjp={
        "self": (
            "_soft_margin_loss_backward(_loss_share(grad, self, None, reduction), self, target)"
        ),
        "target": (
            "_soft_margin_loss_backward(_loss_share(grad, self, None, reduction), target, self)"
        ),
    },
    jvp={
        "self": "_loss_total(_soft_margin_loss_backward(self_t, self, target), None, reduction)",
        "target": (
            "_loss_total(_soft_margin_loss_backward(target_t, target, self), None, reduction)"
        ),
    },
    vmap="_loss_each(_soft_margin_loss(self, target, 0), reduction)",
    dtypes="hf",
    samples=pairs(),
    reference=f"{REDUCED}(np.logaddexp(0, -target * self))",
    doc="log(1 + exp(-target * self)), reduced.",
)

# With s = sigmoid(xt): the derivative of -t sigmoid(-xt) by x is t^2 s (1 - s), by t it is x t s (1
# - s) - (1 - s).
op(
    "_soft_margin_loss_backward(grad_output, self, target)",
    kernel=elementwise("soft_margin_loss_backward"),
    out=False,
    node="SoftMarginLossBackwardBackward0",
    vjp={
        "grad_output": "_soft_margin_loss_backward(grad, self, target)",
        "self": (
            "grad * grad_output * square(target) "
            "* _sigmoid_value_derivative(sigmoid(self * target))"
        ),
        "target": (
            "grad * grad_output * (self * target "
            "* _sigmoid_value_derivative(sigmoid(self * target)) - sigmoid(-self * target))"
        ),
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=loss_samples(),
    dtypes="hf",
    reference="-grad_output * target / (1 + np.exp(self * target))",
    doc="Gradient of soft_margin_loss.",
)
