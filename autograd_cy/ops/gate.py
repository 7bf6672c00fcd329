"""Smooth gates: softplus, logsigmoid, mish, glu."""

from autograd_cy.ops._schema import (
    UNARY,
    arg,
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

# --- softplus ------------------------------------------------------------------------------------

op("softplus(self, beta: Scalar = 1, threshold: Scalar = 20)", namespace="nn.functional",
   kernel=call("activations.softplus", anywhere=True, into=True), vjp={"self": "_softplus_backward(grad, self, beta, threshold)"},
   jvp="elementwise", vmap="elementwise", samples=[*UNARY, sample((arg((3, 4)), 2.0)), sample((arg((3, 4)), 1.0, 0.5))], dtypes="hf",
   domain=real(-2, 2, avoid=(0.5,)), reference="np.where(self * beta > threshold, self, np.log1p(np.exp(self * beta)) / beta)",
   params={"beta": "How sharp the bend is.", "threshold": "Where ``beta * self`` exceeds it, the result is `self`."},
   doc="A smooth positive part, ``log(1 + exp(beta * self)) / beta``.",
   example=">>> ag.nn.functional.softplus(ag.tensor([0.0, 30.0]))\ntensor([ 0.6931, 30.0000])")

op("_softplus_backward(grad_output, self, beta: Scalar, threshold: Scalar)", event="softplus_backward", node="SoftplusBackwardBackward0", out=False,
   kernel=call("activations.softplus_backward", anywhere=True),
   vjp={"grad_output": "_softplus_backward(grad, self, beta, threshold)",
        "self": "grad * grad_output * where(ge(self * beta, threshold), 0, beta * _logistic_slope(self * beta))"}, jvp="elementwise",
   vmap="elementwise", samples=[sample((arg((3, 4)), arg((3, 4)), 2.0, 20.0)), sample((arg((3, 4)), arg((3, 4)), 1.0, 0.5))], dtypes="hf",
   domain=real(-2, 2, avoid=(0.5,)), reference="np.where(self * beta > threshold, grad_output, grad_output / (1 + np.exp(-self * beta)))",
   doc="Gradient of softplus.")

op("_logistic_slope(self)", method=False, kernel=composite("sigmoid(self) * sigmoid(-self)"),
   doc="Derivative of the logistic function; the difference ``1 - s`` would cancel.")

# --- logarithm of the logistic function ----------------------------------------------------------

op("logsigmoid(self)", namespace="nn.functional", event="log_sigmoid", kernel=elementwise("log_sigmoid"), node="LogSigmoidBackward0",
   vjp={"self": "_log_sigmoid_backward(grad, self)"}, jvp="elementwise", vmap="elementwise", samples=UNARY, dtypes="hf",
   reference="-np.log1p(np.exp(-self))", doc="``log(sigmoid(self))``, without overflow.",
   example=">>> ag.nn.functional.logsigmoid(ag.tensor([0.0]))\ntensor([-0.6931])")

op("_log_sigmoid_backward(grad_output, self)", event="log_sigmoid_backward", kernel=elementwise("log_sigmoid_backward"), out=False,
   node="LogSigmoidBackwardBackward0",
   vjp={"grad_output": "_log_sigmoid_backward(grad, self)", "self": "-grad * grad_output * _logistic_slope(self)"}, jvp="elementwise",
   vmap="elementwise", samples=[sample((arg((3, 4)), arg((3, 4))))], dtypes="hf", reference="grad_output / (1 + np.exp(self))",
   doc="Gradient of logsigmoid.")

# --- mish ----------------------------------------------------------------------------------------

op("_mish(self)", shown_as="mish", event="mish", kernel=elementwise("mish"), inplace=True, node="MishBackward0",
   vjp={"self": "_mish_backward(grad, self)"}, jvp="elementwise", vmap="elementwise", samples=UNARY, dtypes="hf",
   special=(differs("value", "np.isneginf(self)", AT_INFINITY), differs("gradient", "infinite(self)", AT_INFINITY),
            differs("second", "self >= 10", "torch subtracts the square of tanh(softplus) from 1, which cancels, and overflows further out")),
   reference="self * np.tanh(np.log1p(np.exp(self)))", doc="``self * tanh(softplus(self))``.")

op("_mish_backward(grad_output, self)", event="mish_backward", kernel=elementwise("mish_backward"), out=False,
   vjp={"grad_output": "_mish_backward(grad, self)", "self": "grad * grad_output * _mish_curvature(self, nn_functional_softplus(self, 1, 20), sigmoid(self))"},
   jvp="elementwise", vmap="elementwise", samples=[sample((arg((3, 4)), arg((3, 4))))], dtypes="hf",
   reference="grad_output * (lambda t: t + self * (1 - t * t) / (1 + np.exp(-self)))(np.tanh(np.log1p(np.exp(self))))", doc="Gradient of mish.")

# With w = softplus(x), t = tanh(w), s = sigmoid(x): t' = s / cosh(w)^2, s' = s (1 - s).
op("_mish_curvature(self, w, s)", method=False,
   kernel=composite("s * square(reciprocal(cosh(w))) * (2 + self * (1 - s - 2 * tanh(w) * s))"), doc="Second derivative of mish.")

# --- one half times the gate that the other half is ----------------------------------------------

op("glu(self, dim: dim = -1)", namespace="nn.functional", kernel=call("activations.glu", anywhere=True, into=True),
   vjp={"self": "_glu_backward(grad, self, dim)"}, jvp={"self": "_glu_moved(self, self_t, dim)"}, vmap="dims",
   samples=[one((3, 4)), one((4, 3), 0), one((2, 6, 3), 1), one((2,)), one((0, 4)), one((3, 0))], dtypes="hf",
   reference="(lambda a, b: a / (1 + np.exp(-b)))(*np.split(self, 2, dim))",
   errors=(error(sample((arg((3,)),)), RuntimeError, "Halving dimension must be even, but dimension 0 is size 3"),
           error(sample((arg(()),)), RuntimeError, "glu does not support scalars")),
   raises={"RuntimeError": "The dimension has an odd size."},
   doc="Gated linear unit [1]_: the first half of a dimension times the logistic function of the second.\n\n"
       ".. [1] Dauphin et al., Language Modeling with Gated Convolutional Networks, 2017.",
   example=">>> ag.nn.functional.glu(ag.tensor([2.0, 0.0]))\ntensor([1.])")

op("_glu_backward(grad_output, self, dim: dim)", event="glu_backward", kernel=call("activations.glu_backward", anywhere=True), out=False,
   node="GluBackwardBackward0",
   vjp={"grad_output": "_glu_moved(self, grad, dim)", "self": "_glu_curved(grad_output, self, grad, dim)"},
   jvp={"grad_output": "_glu_backward(grad_output_t, self, dim)", "self": "_glu_curved(grad_output, self, self_t, dim)"},
   vmap="_glu_backward(grad_output, self, dim + 1)",
   samples=[sample((arg((3, 2)), arg((3, 4)), -1)), sample((arg((2, 3)), arg((4, 3)), 0))], dtypes="hf",
   reference="(lambda a, s: np.concatenate([grad_output * s, grad_output * a * s * (1 - s)], dim))("
             "np.split(self, 2, dim)[0], 1 / (1 + np.exp(-np.split(self, 2, dim)[1])))", doc="Gradient of glu.")

op("_glu_moved(self, moved, dim: dim)", kernel=composite("gate.glu_moved"), doc="Tangent of glu.")

op("_glu_curved(grad_output, self, moved, dim: dim)", kernel=composite("gate.glu_curved"),
   doc="Derivative of glu's gradient along `moved`; it is symmetric.")
