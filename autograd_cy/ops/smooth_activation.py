"""Smooth activations and their fused backward operators, which are operators themselves.

tanh, sigmoid, gelu, silu, softplus, logsigmoid, mish, glu; those made of pieces:
piecewise_activation.py.
"""

from autograd_cy.ops._schema import (
    UNARY,
    arg,
    box,
    call,
    composite,
    differs,
    elementwise,
    error,
    one,
    op,
    real,
    sample,
)

LOADED = "at first use"

AT_INFINITY = "the limit; torch multiplies infinity and 0"

# --- tanh and sigmoid --------------------------------------------------------------------------

op(
    "tanh(self)",
    functional="tanh(input)",
    kernel=elementwise("tanh", dtypes="float"),
    inplace=True,
    vjp={"self": "tanh_backward(grad, result)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    complex_domain=box(-1, 1),
    reference="np.tanh(self)",
    doc="Hyperbolic tangent.",
    example=">>> ag.tanh(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 0.7616])",
)

op(
    "tanh_backward(grad_output, output)",
    kernel=elementwise("tanh_backward"),
    method=False,
    vjp={
        "grad_output": "grad * (1 - output * output)",
        "output": "-2 * grad.conj() * grad_output * output.conj()",
    },
    jvp={
        "grad_output": "grad_output_t * (1 - output * output).conj()",
        "output": "-2 * grad_output * (output * output_t).conj()",
    },
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4))))],
    dtypes="hfc",
    reference="grad_output * np.conj(1 - output * output)",
    doc="Gradient of tanh from its result.",
    example=">>> ag.tanh_backward(ag.ones(2), ag.tensor([0.0, 0.5]))\ntensor([1.0000, 0.7500])",
)

op(
    "sigmoid(self)",
    functional="sigmoid(input)",
    kernel=elementwise("sigmoid", dtypes="float"),
    inplace=True,
    vjp={"self": "sigmoid_backward(grad, result)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    complex_domain=box(-1, 1),
    reference="1 / (1 + np.exp(-self.astype(np.result_type(self.dtype, np.float32))))",
    special=differs(
        ("value", "gradient", "second"),
        "is_complex & (np.real(self) < -np.log(largest))",
        "0 far on the left, whatever the angle, as C99's exp; torch divides infinite parts",
    ),
    doc="Logistic function ``1 / (1 + exp(-self))``.",
    example=">>> ag.sigmoid(ag.tensor([0.0, 2.0]))\ntensor([0.5000, 0.8808])",
)

op(
    "sigmoid_backward(grad_output, output)",
    kernel=elementwise("sigmoid_backward"),
    method=False,
    vjp={
        "grad_output": "grad * (output - output * output)",
        "output": "grad.conj() * grad_output * (1 - 2 * output).conj()",
    },
    jvp={
        "grad_output": "grad_output_t * (output - output * output).conj()",
        "output": "grad_output * (output_t - 2 * output * output_t).conj()",
    },
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4))))],
    dtypes="hfc",
    reference="grad_output * np.conj((1 - output) * output)",
    doc="Gradient of sigmoid from its result.",
    example=">>> ag.sigmoid_backward(ag.ones(2), ag.tensor([0.5, 0.9]))\ntensor([0.2500, 0.0900])",
)

# --- gelu and silu -----------------------------------------------------------------------------

op(
    "gelu(self, *, approximate: str = 'none')",
    functional="gelu(input, *, approximate, out)",
    dtypes="hf",
    out="exact",
    kernel=composite("_gelu_tanh(self) if approximate == 'tanh' else _gelu_erf(self)"),
    checks="gelu_kind",
    samples=[*UNARY, sample((arg((3, 4)),), {"approximate": "tanh"})],
    reference=(
        "0.5 * self * (1 + scipy.special.erf(self / np.sqrt(2))) if approximate == 'none' "
        "else 0.5 * self * (1 + np.tanh(np.sqrt(2 / np.pi) * (self + 0.044715 * self**3)))"
    ),
    special=(
        differs(
            "value", "self < -2.5", "the left tail, of which torch keeps no digits; -0 at -inf"
        ),
        differs(
            "gradient",
            "infinite(self) | (np.abs(self) > largest**0.4)",
            "the limits 0 and 1; torch multiplies infinity and 0",
        ),
    ),
    doc="Gaussian error linear unit, exact or with the tanh approximation [1]_.\n\n"
    ".. [1] Hendrycks, Gimpel, Gaussian Error Linear Units, 2016.",
    example=">>> ag.nn.functional.gelu(ag.tensor([-1.0, 1.0]))\ntensor([-0.1587,  0.8413])",
)

op(
    "_gelu_erf(self)",
    shown_as="gelu",
    kernel=elementwise("gelu"),
    node="GeluBackward0",
    shows={"approximate": "'none'"},
    vjp={"self": "gelu_backward(grad, self)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    dtypes="hf",
    reference="0.5 * self * (1 + scipy.special.erf(self / np.sqrt(2)))",
    doc="Exact gelu.",
)

# gelu' = Phi(x) + x phi(x), gelu'' = phi(x) (2 - x^2)
op(
    "gelu_backward(grad_output, self)",
    kernel=elementwise("gelu_backward"),
    method=False,
    vjp={
        "grad_output": "gelu_backward(grad, self)",
        "self": (
            "grad * grad_output * (0.3989422804014327 * exp(-0.5 * self * self) * (2 - self "
            "* self))"
        ),
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4))))],
    dtypes="hf",
    reference="grad_output * (0.5 * (1 + scipy.special.erf(self / np.sqrt(2))) + "
    "self * np.exp(-0.5 * self**2) / np.sqrt(2 * np.pi))",
    doc="Gradient of the exact gelu.",
    example=">>> ag.gelu_backward(ag.ones(2), ag.tensor([0.0, 1.0]))\ntensor([0.5000, 1.0833])",
)

op(
    "_gelu_tanh(self)",
    shown_as="gelu",
    kernel=elementwise("gelu_tanh"),
    node="GeluBackward0",
    shows={"approximate": "'tanh'"},
    vjp={"self": "gelu_tanh_backward(grad, self)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    dtypes="hf",
    reference="0.5 * self * (1 + np.tanh(np.sqrt(2 / np.pi) * (self + 0.044715 * self**3)))",
    doc="gelu with the tanh approximation.",
)

op(
    "gelu_tanh_backward(grad_output, self)",
    event="autograd_cy::gelu_tanh_backward",
    kernel=elementwise("gelu_tanh_backward"),
    method=False,
    vjp={
        "grad_output": "gelu_tanh_backward(grad, self)",
        "self": "grad * grad_output * _gelu_tanh_curvature(self)",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4))))],
    dtypes="hf",
    reference="grad_output * (lambda t, d: 0.5 * (1 + t) + 0.5 * self * (1 - t * t) * d)("
    "np.tanh(np.sqrt(2 / np.pi) * (self + 0.044715 * self**3)), "
    "np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * self**2))",
    doc="Gradient of the tanh approximation of gelu.",
    example=(
        ">>> ag.gelu_tanh_backward(ag.ones(2), ag.tensor([0.0, 1.0]))\ntensor([0.5000, 1.0830])"
    ),
)

# With u = k (x + c x^3) and t = tanh u: (1 - t^2) (u' + x u''/2 - x t u'^2).
op(
    "_gelu_tanh_curvature(self)",
    method=False,
    kernel=composite(
        "_gelu_tanh_curve(self, tanh(0.7978845608028654 * (self + 0.044715 * self * self * self)),"
        " 0.7978845608028654 * (1 + 0.134145 * self * self))"
    ),
    doc="Second derivative of the tanh approximation of gelu.",
)

op(
    "_gelu_tanh_curve(self, t, du)",
    method=False,
    kernel=composite("(1 - t * t) * (du + 0.10703222440890037 * self * self - self * t * du * du)"),
    doc="The curvature from t = tanh(u) and the derivative `du` of u.",
)

op(
    "silu(self)",
    functional="silu(input, inplace)",
    kernel=elementwise("silu", dtypes="float"),
    inplace=True,
    vjp={"self": "silu_backward(grad, self)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    complex_domain=box(-1, 1),
    special=differs(
        "value",
        "self < np.log(smallest)",
        "e^-self overflows in torch's formula before the result is 0",
    ),
    reference="self / (1 + np.exp(-self.astype(np.result_type(self.dtype, np.float32))))",
    doc="``self * sigmoid(self)``.",
    example=">>> ag.silu(ag.tensor([-1.0, 1.0]))\ntensor([-0.2689,  0.7311])",
)

op(
    "silu_backward(grad_output, self)",
    kernel=elementwise("silu_backward"),
    method=False,
    vjp={
        "grad_output": "silu_backward(grad, self.conj())",
        "self": "grad.conj() * grad_output * _silu_curvature(self, sigmoid(self)).conj()",
    },
    jvp={
        "grad_output": "silu_backward(grad_output_t, self)",
        "self": "grad_output * (self_t * _silu_curvature(self, sigmoid(self))).conj()",
    },
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4))))],
    dtypes="hfc",
    complex_domain=box(-1, 1),
    reference=(
        "grad_output * np.conj((1 + self * (1 - 1 / (1 + np.exp(-self)))) / (1 + np.exp(-self)))"
    ),
    doc="Gradient of silu.",
    example=">>> ag.silu_backward(ag.ones(2), ag.tensor([0.0, 1.0]))\ntensor([0.5000, 0.9277])",
)

op(
    "_silu_curvature(self, s)",
    method=False,
    kernel=composite("s * (1 - s) * (2 + self * (1 - 2 * s))"),
    doc="Second derivative of silu; s = sigmoid(self).",
)

# --- softplus ------------------------------------------------------------------------------------

op(
    "softplus(self, beta: Scalar = 1, threshold: Scalar = 20)",
    out="exact",
    namespace="nn.functional",
    kernel=call("activations.softplus", anywhere=True, into=True),
    vjp={"self": "_softplus_backward(grad, self, beta, threshold)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=[*UNARY, sample((arg((3, 4)), 2.0)), sample((arg((3, 4)), 1.0, 0.5))],
    dtypes="hf",
    domain=real(-2, 2, avoid=(0.5,)),
    reference="np.where(self * beta > threshold, self, np.log1p(np.exp(self * beta)) / beta)",
    params={
        "beta": "How sharp the bend is.",
        "threshold": "Where ``beta * self`` exceeds it, the result is `self`.",
    },
    doc="A smooth positive part, ``log(1 + exp(beta * self)) / beta``.",
    example=">>> ag.nn.functional.softplus(ag.tensor([0.0, 30.0]))\ntensor([ 0.6931, 30.0000])",
)

op(
    "_softplus_backward(grad_output, self, beta: Scalar, threshold: Scalar)",
    event="softplus_backward",
    node="SoftplusBackwardBackward0",
    out=False,
    kernel=call("activations.softplus_backward", anywhere=True),
    vjp={
        "grad_output": "_softplus_backward(grad, self, beta, threshold)",
        "self": (
            "grad * grad_output * where(ge(self * beta, threshold), 0, beta "
            "* _sigmoid_derivative(self * beta))"
        ),
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=[
        sample((arg((3, 4)), arg((3, 4)), 2.0, 20.0)),
        sample((arg((3, 4)), arg((3, 4)), 1.0, 0.5)),
        sample((arg((3, 4)), arg((3, 4)), 2.0, 2.0)),
    ],
    dtypes="hf",
    domain=real(-2, 2, avoid=(0.5, 1.0)),
    reference=(
        "np.where(self * beta > threshold, grad_output, grad_output / (1 + np.exp(-self * beta)))"
    ),
    doc="Gradient of softplus.",
)

op(
    "_sigmoid_derivative(self)",
    method=False,
    kernel=composite("sigmoid(self) * sigmoid(-self)"),
    doc="Derivative of the logistic function; the difference ``1 - s`` would cancel.",
)

# --- logarithm of the logistic function ----------------------------------------------------------

op(
    "logsigmoid(self)",
    out="exact",
    namespace="nn.functional",
    event="log_sigmoid",
    kernel=elementwise("log_sigmoid"),
    node="LogSigmoidBackward0",
    vjp={"self": "_log_sigmoid_backward(grad, self)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    dtypes="hf",
    reference="-np.log1p(np.exp(-self))",
    doc="``log(sigmoid(self))``, without overflow.",
    example=">>> ag.nn.functional.logsigmoid(ag.tensor([0.0]))\ntensor([-0.6931])",
)

op(
    "_log_sigmoid_backward(grad_output, self)",
    event="log_sigmoid_backward",
    kernel=elementwise("log_sigmoid_backward"),
    out=False,
    node="LogSigmoidBackwardBackward0",
    vjp={
        "grad_output": "_log_sigmoid_backward(grad, self)",
        "self": "-grad * grad_output * _sigmoid_derivative(self)",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4))))],
    dtypes="hf",
    reference="grad_output / (1 + np.exp(self))",
    doc="Gradient of logsigmoid.",
)

# --- mish ----------------------------------------------------------------------------------------

op(
    "_mish(self)",
    functional="mish(input, inplace)",
    shown_as="mish",
    event="mish",
    kernel=elementwise("mish"),
    inplace=True,
    node="MishBackward0",
    vjp={"self": "_mish_backward(grad, self)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    dtypes="hf",
    special=(
        differs("value", "np.isneginf(self)", AT_INFINITY),
        differs("gradient", "infinite(self)", AT_INFINITY),
        differs(
            "second",
            "self >= 10",
            (
                "torch subtracts the square of tanh(softplus) from 1, which cancels, and "
                "overflows further out"
            ),
        ),
    ),
    reference="self * np.tanh(np.log1p(np.exp(self)))",
    doc="``self * tanh(softplus(self))``.",
)

op(
    "_mish_backward(grad_output, self)",
    event="mish_backward",
    kernel=elementwise("mish_backward"),
    out=False,
    vjp={
        "grad_output": "_mish_backward(grad, self)",
        "self": (
            "grad * grad_output * _mish_curvature(self, nn_functional_softplus(self, 1, 20), "
            "sigmoid(self))"
        ),
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4))))],
    dtypes="hf",
    reference=(
        "grad_output * (lambda t: t + self * (1 - t * t) "
        "/ (1 + np.exp(-self)))(np.tanh(np.log1p(np.exp(self))))"
    ),
    doc="Gradient of mish.",
)

# With w = softplus(x), t = tanh(w), s = sigmoid(x): t' = s / cosh(w)^2, s' = s (1 - s).
op(
    "_mish_curvature(self, w, s)",
    method=False,
    kernel=composite("s * square(reciprocal(cosh(w))) * (2 + self * (1 - s - 2 * tanh(w) * s))"),
    doc="Second derivative of mish.",
)

# --- one half times the gate that the other half is ----------------------------------------------

op(
    "glu(self, dim: dim = -1)",
    namespace="nn.functional",
    kernel=call("activations.glu", anywhere=True, into=True),
    vjp={"self": "_glu_backward(grad, self, dim)"},
    jvp={"self": "_glu_jvp(self, self_t, dim)"},
    vmap="dims",
    samples=[one((3, 4)), one((4, 3), 0), one((2, 6, 3), 1), one((2,)), one((0, 4)), one((3, 0))],
    dtypes="hf",
    reference="(lambda a, b: a / (1 + np.exp(-b)))(*np.split(self, 2, dim))",
    errors=(
        error(
            sample((arg((3,)),)),
            RuntimeError,
            "Halving dimension must be even, but dimension 0 is size 3",
        ),
        error(sample((arg(()),)), RuntimeError, "glu does not support scalars"),
    ),
    raises={"RuntimeError": "The dimension has an odd size."},
    doc=(
        "Gated linear unit [1]_: the first half of a dimension times the logistic function of the "
        "second.\n\n.. [1] Dauphin et al., Language Modeling with Gated Convolutional Networks, "
        "2017."
    ),
    example=">>> ag.nn.functional.glu(ag.tensor([2.0, 0.0]))\ntensor([1.])",
)

op(
    "_glu_backward(grad_output, self, dim: dim)",
    event="glu_backward",
    kernel=call("activations.glu_backward", anywhere=True),
    out=False,
    node="GluBackwardBackward0",
    vjp={
        "grad_output": "_glu_jvp(self, grad, dim)",
        "self": "_glu_backward_jvp(grad_output, self, grad, dim)",
    },
    jvp={
        "grad_output": "_glu_backward(grad_output_t, self, dim)",
        "self": "_glu_backward_jvp(grad_output, self, self_t, dim)",
    },
    vmap="_glu_backward(grad_output, self, dim + 1)",
    samples=[sample((arg((3, 2)), arg((3, 4)), -1)), sample((arg((2, 3)), arg((4, 3)), 0))],
    dtypes="hf",
    reference=(
        "(lambda a, s: np.concatenate([grad_output * s, grad_output * a * s * (1 - s)], "
        "dim))(np.split(self, 2, dim)[0], 1 / (1 + np.exp(-np.split(self, 2, dim)[1])))"
    ),
    doc="Gradient of glu.",
)

op(
    "_glu_jvp(self, tangent, dim: dim)",
    kernel=composite("smooth_activation.glu_jvp"),
    doc="Tangent of glu.",
)

op(
    "_glu_backward_jvp(grad_output, self, tangent, dim: dim)",
    kernel=composite("smooth_activation.glu_backward_jvp"),
    doc="Derivative of glu's gradient along `tangent`; it is symmetric.",
)
