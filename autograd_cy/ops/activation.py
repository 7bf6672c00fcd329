"""Activations and their fused backward operators, which are operators themselves; softmax."""

from autograd_cy.ops._schema import (
    UNARY,
    arg,
    box,
    call,
    composite,
    differs,
    elementwise,
    op,
    real,
    sample,
)

LOADED = "at first use"

ROWS = [sample((arg((3, 4)), 1)), sample((arg((3, 4)), 0)), sample((arg((2, 3, 4)), -1)), sample((arg((5,)), 0)), sample((arg(()), 0)),
        sample((arg((0, 3)), 1))]

# --- elementwise -------------------------------------------------------------------------------

op("relu(self)", kernel=elementwise("relu"), inplace=True, vjp={"self": "threshold_backward(grad, result)"},
   jvp="elementwise", vmap="elementwise", samples=UNARY, dtypes="ihf", domain=real(-2, 2, avoid=(0.0,)),
   reference="np.maximum(self, 0)", doc="``max(self, 0)``.",
   example=">>> ag.relu(ag.tensor([-1.0, 2.0]))\ntensor([0., 2.])")

op("threshold_backward(grad_output, self)", kernel=elementwise("threshold_backward"), method=False, node="ThresholdBackwardBackward0",
   vjp={"grad_output": "threshold_backward(grad, self)", "self": "zeros_like(self)"},
   jvp={"grad_output": "threshold_backward(grad_output_t, self)"}, vmap="elementwise",
   samples=[sample((arg((3, 4)), arg((3, 4), None, False)))], dtypes="ihf", domain=real(-2, 2, avoid=(0.0,)),
   reference="np.where(self > 0, grad_output, 0)", doc="`grad_output` where ``self > 0``, 0 elsewhere.",
   example=">>> ag.threshold_backward(ag.ones(2), ag.tensor([-1.0, 2.0]))\ntensor([0., 1.])")

op("threshold(self, threshold: Scalar, value: Scalar)", kernel=call("special.threshold_plain", anywhere=True, into=True), method=False, inplace=True,
   vjp={"self": "_threshold_backward(grad, self, threshold)"}, jvp={"self": "_threshold_backward(self_t, self, threshold)"},
   vmap="threshold(self, threshold, value)", samples=[sample((arg((3, 4)), 1, 2)), sample((arg((5,)), 0.5, -3)), sample((arg(()), 0, 7))],
   dtypes="ihf", domain=real(-2, 2, avoid=(0.0, 0.5, 1.0)), reference="np.where(self <= np.asarray(threshold).astype(self.dtype), "
   "np.asarray(value).astype(self.dtype), self)", doc="Elements above `threshold`, `value` in place of the others.",
   example=">>> ag.threshold(ag.tensor([0.5, 2.0]), 1.0, 9.0)\ntensor([9., 2.])",
   params={"value": "What the others become."})

op("_threshold_backward(grad_output, self, threshold: Scalar)", event="threshold_backward", kernel=call("special.threshold_backward_plain", anywhere=True), out=False,
   node="ThresholdBackwardBackward0", vjp={"grad_output": "_threshold_backward(grad, self, threshold)", "self": "zeros_like(self)"},
   jvp={"grad_output": "_threshold_backward(grad_output_t, self, threshold)"}, vmap="_threshold_backward(grad_output, self, threshold)",
   samples=[sample((arg((3, 4)), arg((3, 4), None, False), 1))], dtypes="ihf", domain=real(-2, 2, avoid=(1.0,)),
   reference="np.where(self <= threshold, 0, grad_output)", doc="`grad_output` where ``self > threshold``, 0 elsewhere.")

op("tanh(self)", kernel=elementwise("tanh", dtypes="float"), inplace=True, vjp={"self": "tanh_backward(grad, result)"},
   jvp="elementwise", vmap="elementwise", samples=UNARY, complex_domain=box(-1, 1), reference="np.tanh(self)",
   doc="Hyperbolic tangent.",
   example=">>> ag.tanh(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 0.7616])")

op("tanh_backward(grad_output, output)", kernel=elementwise("tanh_backward"), method=False,
   vjp={"grad_output": "grad * (1 - output * output)",
        "output": "-2 * grad.conj() * grad_output * output.conj()"},
   jvp={"grad_output": "grad_output_t * (1 - output * output).conj()",
        "output": "-2 * grad_output * (output * output_t).conj()"},
   vmap="elementwise", samples=[sample((arg((3, 4)), arg((3, 4))))], dtypes="hfc",
   reference="grad_output * np.conj(1 - output * output)", doc="Gradient of tanh from its result.",
   example=">>> ag.tanh_backward(ag.ones(2), ag.tensor([0.0, 0.5]))\ntensor([1.0000, 0.7500])")

op("sigmoid(self)", kernel=elementwise("sigmoid", dtypes="float"), inplace=True,
   vjp={"self": "sigmoid_backward(grad, result)"}, jvp="elementwise", vmap="elementwise", samples=UNARY,
   complex_domain=box(-1, 1), reference="1 / (1 + np.exp(-self.astype(np.result_type(self.dtype, np.float32))))",
   special=differs("value gradient second", "is_complex & (np.real(self) < -np.log(largest))",
                   "0 far on the left, whatever the angle, as C99's exp; torch divides infinite parts"),
   doc="Logistic function ``1 / (1 + exp(-self))``.",
   example=">>> ag.sigmoid(ag.tensor([0.0, 2.0]))\ntensor([0.5000, 0.8808])")

op("sigmoid_backward(grad_output, output)", kernel=elementwise("sigmoid_backward"), method=False,
   vjp={"grad_output": "grad * (output - output * output)",
        "output": "grad.conj() * grad_output * (1 - 2 * output).conj()"},
   jvp={"grad_output": "grad_output_t * (output - output * output).conj()",
        "output": "grad_output * (output_t - 2 * output * output_t).conj()"},
   vmap="elementwise", samples=[sample((arg((3, 4)), arg((3, 4))))], dtypes="hfc",
   reference="grad_output * np.conj((1 - output) * output)", doc="Gradient of sigmoid from its result.",
   example=">>> ag.sigmoid_backward(ag.ones(2), ag.tensor([0.5, 0.9]))\ntensor([0.2500, 0.0900])")

# --- gelu and silu -----------------------------------------------------------------------------

op("gelu(self, *, approximate: str = 'none')", dtypes="hf",
   kernel=composite("_gelu_tanh(self) if approximate == 'tanh' else _gelu_erf(self)"), checks="gelu_kind",
   samples=[*UNARY, sample((arg((3, 4)),), {"approximate": "tanh"})],
   reference="0.5 * self * (1 + scipy.special.erf(self / np.sqrt(2))) if approximate == 'none' else "
             "0.5 * self * (1 + np.tanh(np.sqrt(2 / np.pi) * (self + 0.044715 * self**3)))",
   special=(differs("value", "self < -2.5", "the left tail, of which torch keeps no digits; -0 at -inf"),
            differs("gradient", "infinite(self) | (np.abs(self) > largest**0.4)", "the limits 0 and 1; torch multiplies infinity and 0")),
   doc="Gaussian error linear unit, exact or with the tanh approximation [1]_.\n\n"
       ".. [1] Hendrycks, Gimpel, Gaussian Error Linear Units, 2016.",
   example=">>> ag.nn.functional.gelu(ag.tensor([-1.0, 1.0]))\ntensor([-0.1587,  0.8413])")

op("_gelu_erf(self)", shown_as="gelu", kernel=elementwise("gelu"), node="GeluBackward0", shows={"approximate": "'none'"}, vjp={"self": "gelu_backward(grad, self)"},
   jvp="elementwise", vmap="elementwise", samples=UNARY, dtypes="hf",
   reference="0.5 * self * (1 + scipy.special.erf(self / np.sqrt(2)))", doc="Exact gelu.")

# gelu' = Phi(x) + x phi(x), gelu'' = phi(x) (2 - x^2)
op("gelu_backward(grad_output, self)", kernel=elementwise("gelu_backward"), method=False,
   vjp={"grad_output": "gelu_backward(grad, self)",
        "self": "grad * grad_output * (0.3989422804014327 * exp(-0.5 * self * self) * (2 - self * self))"},
   jvp="elementwise", vmap="elementwise", samples=[sample((arg((3, 4)), arg((3, 4))))], dtypes="hf",
   reference="grad_output * (0.5 * (1 + scipy.special.erf(self / np.sqrt(2))) + "
             "self * np.exp(-0.5 * self**2) / np.sqrt(2 * np.pi))",
   doc="Gradient of the exact gelu.",
   example=">>> ag.gelu_backward(ag.ones(2), ag.tensor([0.0, 1.0]))\ntensor([0.5000, 1.0833])")

op("_gelu_tanh(self)", shown_as="gelu", kernel=elementwise("gelu_tanh"), node="GeluBackward0", shows={"approximate": "'tanh'"},
   vjp={"self": "gelu_tanh_backward(grad, self)"}, jvp="elementwise", vmap="elementwise",
   samples=UNARY, dtypes="hf", reference="0.5 * self * (1 + np.tanh(np.sqrt(2 / np.pi) * (self + 0.044715 * self**3)))",
   doc="gelu with the tanh approximation.")

op("gelu_tanh_backward(grad_output, self)", event="autograd_cy::gelu_tanh_backward", kernel=elementwise("gelu_tanh_backward"), method=False,
   vjp={"grad_output": "gelu_tanh_backward(grad, self)",
        "self": "grad * grad_output * _gelu_tanh_curvature(self)"},
   jvp="elementwise", vmap="elementwise", samples=[sample((arg((3, 4)), arg((3, 4))))], dtypes="hf",
   reference="grad_output * (lambda t, d: 0.5 * (1 + t) + 0.5 * self * (1 - t * t) * d)("
             "np.tanh(np.sqrt(2 / np.pi) * (self + 0.044715 * self**3)), "
             "np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * self**2))",
   doc="Gradient of the tanh approximation of gelu.",
   example=">>> ag.gelu_tanh_backward(ag.ones(2), ag.tensor([0.0, 1.0]))\ntensor([0.5000, 1.0830])")

# With u = k (x + c x^3) and t = tanh u: (1 - t^2) (u' + x u''/2 - x t u'^2).
op("_gelu_tanh_curvature(self)", method=False,
   kernel=composite("_gelu_tanh_curve(self, tanh(0.7978845608028654 * (self + 0.044715 * self * self * self)),"
                    " 0.7978845608028654 * (1 + 0.134145 * self * self))"),
   doc="Second derivative of the tanh approximation of gelu.")

op("_gelu_tanh_curve(self, t, slope)", method=False,
   kernel=composite("(1 - t * t) * (slope + 0.10703222440890037 * self * self - self * t * slope * slope)"),
   doc="The curvature from t = tanh(u) and slope = u'.")

op("silu(self)", kernel=elementwise("silu", dtypes="float"), inplace=True, vjp={"self": "silu_backward(grad, self)"},
   jvp="elementwise", vmap="elementwise", samples=UNARY, dtypes="bihf",
   special=differs("value", "self < np.log(smallest)", "e^-self overflows in torch's formula before the result is 0"),
   reference="self / (1 + np.exp(-self.astype(np.result_type(self.dtype, np.float32))))", doc="``self * sigmoid(self)``.",
   example=">>> ag.silu(ag.tensor([-1.0, 1.0]))\ntensor([-0.2689,  0.7311])")

op("silu_backward(grad_output, self)", kernel=elementwise("silu_backward"), method=False,
   vjp={"grad_output": "silu_backward(grad, self)", "self": "grad * grad_output * _silu_curvature(self, sigmoid(self))"},
   jvp="elementwise", vmap="elementwise", samples=[sample((arg((3, 4)), arg((3, 4))))], dtypes="hf",
   reference="grad_output * (1 + self * (1 - 1 / (1 + np.exp(-self)))) / (1 + np.exp(-self))",
   doc="Gradient of silu.",
   example=">>> ag.silu_backward(ag.ones(2), ag.tensor([0.0, 1.0]))\ntensor([0.5000, 0.9277])")

op("_silu_curvature(self, s)", method=False,
   kernel=composite("s * (1 - s) * (2 + self * (1 - 2 * s))"), doc="Second derivative of silu; s = sigmoid(self).")

# --- softmax -----------------------------------------------------------------------------------

op("softmax(self, dim: dim, dtype: dtype? = None)", kernel=call("softmax.softmax_into", shape="rules_reduction.softmax(self, dim, dtype)"), out="exact",
   vjp={"self": "softmax_backward(grad, result, dim)"},
   jvp={"self": "result * (self_t - sum(result * self_t, dim, True))"}, vmap="dims", samples=ROWS, dtypes="hf",
   reference="scipy.special.softmax(self, axis=dim if self.ndim else None)", tolerance=1e-4, doc="Exponentials normalised to sum 1 along a dimension.",
   example=">>> ag.softmax(ag.tensor([0.0, 1.0]), dim=0)\ntensor([0.2689, 0.7311])")

op("softmax_backward(grad_output, output, dim: dim)", event="autograd_cy::softmax_backward", method=False, kernel=call("softmax.softmax_backward_into", shape="rules_reduction.softmax_backward(grad_output, output, dim)"), out=False,
   vjp={"grad_output": "softmax_backward(grad, output, dim)",
        "output": "grad * (grad_output - sum(grad_output * output, dim, True)) - grad_output * sum(grad * output, dim, True)"},
   jvp={"grad_output": "softmax_backward(grad_output_t, output, dim)",
        "output": "output_t * (grad_output - sum(grad_output * output, dim, True)) - output * sum(grad_output * output_t, dim, True)"},
   vmap="softmax_backward(grad_output, output, dim + 1) if grad_output.ndim > 1 else"
        " squeeze(softmax_backward(unsqueeze(grad_output, 1), unsqueeze(output, 1), 1), 1)",
   samples=[sample((arg((3, 4)), arg((3, 4)), 1)), sample((arg((3, 4)), arg((3, 4)), 0)),
            sample((arg(()), arg(()), 0))], dtypes="hf",
   reference="output * (grad_output - (grad_output * output).sum(dim, keepdims=True))", tolerance=1e-4,
   doc="Gradient of softmax from its result.",
   example=">>> ag.softmax_backward(ag.tensor([1.0, 0.0]), ag.tensor([0.25, 0.75]), 0)\ntensor([ 0.1875, -0.1875])")

op("log_softmax(self, dim: dim, dtype: dtype? = None)", kernel=call("softmax.log_softmax_into", shape="rules_reduction.softmax(self, dim, dtype)"), out="exact",
   vjp={"self": "log_softmax_backward(grad, result, dim)"},
   jvp={"self": "self_t - sum(exp(result) * self_t, dim, True)"}, vmap="dims", samples=ROWS, dtypes="hf",
   reference="scipy.special.log_softmax(self, axis=dim if self.ndim else None)", tolerance=1e-4, doc="Logarithm of softmax, without overflow.",
   example=">>> ag.log_softmax(ag.tensor([0.0, 1.0]), dim=0)\ntensor([-1.3133, -0.3133])")

op("log_softmax_backward(grad_output, output, dim: dim)", event="autograd_cy::log_softmax_backward", method=False, kernel=call("softmax.log_softmax_backward_into", shape="rules_reduction.softmax_backward(grad_output, output, dim)"), out=False,
   vjp={"grad_output": "grad - sum(grad * exp(output), dim, True)",
        "output": "-grad * exp(output) * sum(grad_output, dim, True)"},
   jvp={"grad_output": "log_softmax_backward(grad_output_t, output, dim)",
        "output": "-exp(output) * output_t * sum(grad_output, dim, True)"},
   vmap="log_softmax_backward(grad_output, output, dim + 1) if grad_output.ndim > 1 else"
        " squeeze(log_softmax_backward(unsqueeze(grad_output, 1), unsqueeze(output, 1), 1), 1)",
   samples=[sample((arg((3, 4)), arg((3, 4)), 1)), sample((arg((3, 4)), arg((3, 4)), 0)),
            sample((arg(()), arg(()), 0))], dtypes="hf",
   reference="grad_output - np.exp(output) * grad_output.sum(dim, keepdims=True)", tolerance=1e-4,
   doc="Gradient of log_softmax from its result.",
   example=">>> ag.log_softmax_backward(ag.tensor([1.0, 0.0]), ag.tensor([-0.5, -1.0]), 0)\ntensor([ 0.3935, -0.3679])")
