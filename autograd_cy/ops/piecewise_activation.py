"""Activations made of pieces: rectified, leaky, exponential below 0, bounded, shrinking.

Those that are smooth: smooth_activation.py.
"""

from autograd_cy.ops._schema import (
    UNARY,
    arg,
    call,
    composite,
    differs,
    elementwise,
    error,
    nondiff,
    op,
    randomly,
    real,
    sample,
)

LOADED = "at first use"

AT_NAN = (
    "1, as outside of the interval; torch's loops over vectors and over single elements disagree"
)
OFF_ZERO = real(-2, 2, avoid=(0.0,))
PAIR = sample((arg((3, 4)), arg((3, 4), None, False)))


def bent(*numbers):
    """A gradient, a point without a tangent, and numbers."""
    return sample((arg((3, 4)), arg((3, 4), None, False), *numbers))


# --- the positive part, and what is above a threshold ------------------------------------------

op(
    "relu(self)",
    functional="relu(input, inplace)",
    kernel=elementwise("relu"),
    inplace=True,
    vjp={"self": "threshold_backward(grad, result)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    dtypes="ihf",
    refusal={"b": "Boolean inputs not supported for relu"},
    domain=real(-2, 2, avoid=(0.0,)),
    reference="np.maximum(self, 0)",
    doc="``max(self, 0)``.",
    example=">>> ag.relu(ag.tensor([-1.0, 2.0]))\ntensor([0., 2.])",
)

op(
    "threshold_backward(grad_output, self)",
    kernel=elementwise("threshold_backward"),
    method=False,
    node="ThresholdBackwardBackward0",
    vjp={"grad_output": "threshold_backward(grad, self)", "self": "zeros_like(self)"},
    jvp={"grad_output": "threshold_backward(grad_output_t, self)"},
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4), None, False)))],
    dtypes="ihf",
    domain=real(-2, 2, avoid=(0.0,)),
    reference="np.where(self > 0, grad_output, 0)",
    doc="`grad_output` where ``self > 0``, 0 elsewhere.",
    example=">>> ag.threshold_backward(ag.ones(2), ag.tensor([-1.0, 2.0]))\ntensor([0., 1.])",
)

op(
    "threshold(self, threshold: Scalar, value: Scalar)",
    functional="threshold(input, threshold, value, inplace)",
    kernel=call("special.threshold_plain", anywhere=True, into=True),
    method=False,
    inplace=True,
    vjp={"self": "_threshold_backward(grad, self, threshold)"},
    jvp={"self": "_threshold_backward(self_t, self, threshold)"},
    vmap="threshold(self, threshold, value)",
    samples=[sample((arg((3, 4)), 1, 2)), sample((arg((5,)), 0.5, -3)), sample((arg(()), 0, 7))],
    dtypes="ihf",
    domain=real(-2, 2, avoid=(0.0, 0.5, 1.0)),
    reference="np.where(self <= np.asarray(threshold).astype(self.dtype), "
    "np.asarray(value).astype(self.dtype), self)",
    doc="Elements above `threshold`, `value` in place of the others.",
    example=">>> ag.threshold(ag.tensor([0.5, 2.0]), 1.0, 9.0)\ntensor([9., 2.])",
    params={"value": "What the others become."},
)

op(
    "_threshold_backward(grad_output, self, threshold: Scalar)",
    event="threshold_backward",
    kernel=call("special.threshold_backward_plain", anywhere=True),
    out=False,
    node="ThresholdBackwardBackward0",
    vjp={"grad_output": "_threshold_backward(grad, self, threshold)", "self": "zeros_like(self)"},
    jvp={"grad_output": "_threshold_backward(grad_output_t, self, threshold)"},
    vmap="_threshold_backward(grad_output, self, threshold)",
    samples=[sample((arg((3, 4)), arg((3, 4), None, False), 1))],
    dtypes="ihf",
    domain=real(-2, 2, avoid=(1.0,)),
    reference="np.where(self <= threshold, 0, grad_output)",
    doc="`grad_output` where ``self > threshold``, 0 elsewhere.",
)

# --- exponential to the left of 0 ----------------------------------------------------------------

op(
    "_elu(self, alpha: Scalar = 1.0)",
    functional="elu(input, alpha, inplace) elu_",
    shown_as="elu",
    event="elu",
    kernel=call("activations.elu", anywhere=True, into=True),
    inplace=True,
    node="EluBackward0",
    shows={"scale": "1", "input_scale": "1"},
    vjp={"self": "_elu_backward(grad, self, alpha)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=[*UNARY, sample((arg((3, 4)), 0.5))],
    dtypes="hf",
    domain=OFF_ZERO,
    reference="np.where(self > 0, self, alpha * np.expm1(self))",
    doc="``self``, and ``alpha * (exp(self) - 1)`` below 0.",
)

op(
    "_elu_backward(grad_output, self, alpha: Scalar)",
    event="elu_backward",
    kernel=call("activations.elu_backward", anywhere=True),
    node="EluBackwardBackward0",
    shows={"scale": "1", "input_scale": "1"},
    out=False,
    vjp={
        "grad_output": "_elu_backward(grad, self, alpha)",
        "self": "where(lt(self, 0), grad * _elu_backward(grad_output, self, alpha), 0)",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4)), 0.5))],
    dtypes="hf",
    domain=OFF_ZERO,
    reference="np.where(self > 0, grad_output, grad_output * alpha * np.exp(self))",
    doc="Gradient of elu.",
)

op(
    "selu(self)",
    functional="selu(input, inplace)",
    method=False,
    kernel=elementwise("selu"),
    inplace=True,
    node="EluBackward0",
    shows={"alpha": "1.6732632423543772", "scale": "1.0507009873554805", "input_scale": "1"},
    vjp={"self": "_selu_backward(grad, self)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    dtypes="hf",
    domain=OFF_ZERO,
    reference="1.0507009873554805 * np.where(self > 0, self, 1.6732632423543772 * np.expm1(self))",
    doc=(
        "Scaled exponential linear unit [1]_: elu with the two constants that keep mean 0 and "
        "variance 1.\n\n.. [1] Klambauer et al., Self-Normalizing Neural Networks, 2017."
    ),
    example=">>> ag.selu(ag.tensor([-1.0, 1.0]))\ntensor([-1.1113,  1.0507])",
)

op(
    "_selu_backward(grad_output, self)",
    event="elu_backward",
    kernel=elementwise("selu_backward"),
    out=False,
    node="EluBackwardBackward0",
    vjp={
        "grad_output": "_selu_backward(grad, self)",
        "self": "where(lt(self, 0), grad * _selu_backward(grad_output, self), 0)",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4))))],
    dtypes="hf",
    domain=OFF_ZERO,
    reference=(
        "grad_output * 1.0507009873554805 * np.where(self > 0, 1, 1.6732632423543772 "
        "* np.exp(self))"
    ),
    doc="Gradient of selu.",
)

op(
    "celu(self, alpha: Scalar = 1.0)",
    functional="celu(input, alpha, inplace)",
    method=False,
    kernel=call("activations.celu", anywhere=True, into=True),
    inplace=True,
    out=False,
    vjp={"self": "_celu_backward(grad, self, alpha)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=[*UNARY, sample((arg((3, 4)), 0.5)), sample((arg((5,)),), {"alpha": 2.0})],
    dtypes="hf",
    domain=OFF_ZERO,
    reference="np.where(self > 0, self, alpha * np.expm1(self / alpha))",
    params={"alpha": "What is approached on the left, negated."},
    errors=(error(sample((arg((3,)), 0.0)), RuntimeError, "alpha cannot be 0 for CELU"),),
    raises={"RuntimeError": "`alpha` is 0."},
    doc=(
        "``self``, and ``alpha * (exp(self / alpha) - 1)`` below 0 [1]_, which has a continuous "
        "derivative.\n\n.. [1] Barron, Continuously Differentiable Exponential Linear Units, 2017."
    ),
    example=">>> ag.celu(ag.tensor([-1.0, 1.0]), 2.0)\ntensor([-0.7869,  1.0000])",
)

op(
    "_celu_backward(grad_output, self, alpha: Scalar)",
    event="elu_backward",
    kernel=call("activations.celu_backward", anywhere=True),
    out=False,
    node="EluBackwardBackward0",
    vjp={
        "grad_output": "_celu_backward(grad, self, alpha)",
        "self": "where(lt(self, 0), grad * _celu_backward(grad_output, self, alpha) / alpha, 0)",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4)), 0.5))],
    dtypes="hf",
    domain=OFF_ZERO,
    reference="np.where(self > 0, grad_output, grad_output * np.exp(self / alpha))",
    doc="Gradient of celu.",
)

# --- a slope to the left of 0 --------------------------------------------------------------------

op(
    "_leaky_relu(self, negative_slope: Scalar = 0.01)",
    functional="leaky_relu(input, negative_slope, inplace) leaky_relu_",
    shown_as="leaky_relu",
    event="leaky_relu",
    kernel=call("activations.leaky_relu", anywhere=True, into=True),
    inplace=True,
    node="LeakyReluBackward0",
    vjp={"self": "_leaky_relu_backward(grad, self, negative_slope)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=[*UNARY, sample((arg((3, 4)), 0.2)), sample((arg((3,)), -1.5))],
    dtypes="hf",
    domain=OFF_ZERO,
    reference="np.where(self > 0, self, negative_slope * self)",
    doc="``self``, times `negative_slope` below 0.",
)

op(
    "_leaky_relu_backward(grad_output, self, negative_slope: Scalar)",
    event="leaky_relu_backward",
    out=False,
    kernel=call("activations.leaky_relu_backward", anywhere=True),
    node="LeakyReluBackwardBackward0",
    vjp={
        "grad_output": "_leaky_relu_backward(grad, self, negative_slope)",
        "self": "zeros_like(self)",
    },
    jvp={"grad_output": "_leaky_relu_backward(grad_output_t, self, negative_slope)"},
    vmap="elementwise",
    samples=[bent(0.2)],
    dtypes="hf",
    domain=OFF_ZERO,
    reference="np.where(self > 0, grad_output, negative_slope * grad_output)",
    doc="Gradient of leaky_relu.",
)

op(
    "prelu(self, weight)",
    also=("nn.functional",),
    kernel=composite("piecewise_activation.prelu"),
    autocast="lower",
    samples=[
        sample((arg((3, 4)), arg((4,)))),
        sample((arg((3, 4)), arg((1,)))),
        sample((arg((2, 3, 4)), arg((3,)))),
        sample((arg((5,)), arg(()))),
        sample((arg(()), arg((1,)))),
        sample((arg((0, 3)), arg((3,)))),
    ],
    dtypes="hf",
    domain=OFF_ZERO,
    reference=(
        "np.where(self > 0, self, self * weight.reshape(() if weight.size == 1 else (-1, *(1,) "
        "* (self.ndim - 2))))"
    ),
    errors=(
        error(
            sample((arg((3, 4)), arg((3,)))),
            RuntimeError,
            "Found parameter numbers = 3 and channel size = 4",
        ),
        error(sample((arg(()), arg((3,)))), RuntimeError, "Not allow zero-dim input tensor"),
        error(sample((arg((3, 4)), arg((4, 1)))), RuntimeError, "scalar or 1D"),
    ),
    params={"weight": "The slopes below 0: one, or one for each channel (the second dimension)."},
    raises={"RuntimeError": "There is another number of slopes than of channels."},
    doc=(
        "``self``, times `weight` below 0 [1]_.\n\n"
        ".. [1] He et al., Delving Deep into Rectifiers, 2015."
    ),
    example=(
        ">>> ag.prelu(ag.tensor([[-1.0, 2.0], [-3.0, -4.0]]), ag.tensor([0.5, 0.1]))\n"
        "tensor([[-0.5000,  2.0000],\n"
        "        [-1.5000, -0.4000]])"
    ),
)

op(
    "_prelu_kernel(self, weight)",
    shown_as="prelu",
    event="_prelu_kernel",
    kernel=elementwise("leaky_relu"),
    out=False,
    node="PreluKernelBackward0",
    vjp={"self": "_prelu_backward(grad, self, weight)", "weight": "_prelu_weight(grad, self)"},
    stays={"weight": ("weight",)},
    jvp="elementwise",
    vmap="elementwise",
    dtypes="hf",
    doc="prelu of weights that broadcast.",
)

op(
    "_prelu_backward(grad_output, self, weight)",
    event="_prelu_kernel_backward",
    kernel=elementwise("leaky_relu_backward"),
    out=False,
    node="PreluKernelBackwardBackward0",
    vjp={
        "grad_output": "_prelu_backward(grad, self, weight)",
        "self": "zeros_like(self)",
        "weight": "where(gt(self, 0), 0, grad * grad_output)",
    },
    jvp={
        "grad_output": "_prelu_backward(grad_output_t, self, weight)",
        "weight": "where(gt(self, 0), 0, grad_output * weight_t)",
    },
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4), None, False), arg((4,))))],
    dtypes="hf",
    domain=OFF_ZERO,
    reference="np.where(self > 0, grad_output, grad_output * weight)",
    doc="Gradient of prelu with respect to its input.",
)

op(
    "_prelu_weight(grad_output, self)",
    event="_prelu_kernel_backward",
    kernel=elementwise("prelu_weight"),
    out=False,
    node="PreluKernelBackwardBackward0",
    vjp={
        "grad_output": "_prelu_weight(grad, self)",
        "self": "where(gt(self, 0), 0, grad * grad_output)",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4))))],
    dtypes="hf",
    domain=OFF_ZERO,
    reference="np.where(self > 0, 0, grad_output * self)",
    doc="Gradient of prelu with respect to its weight, for each element.",
)

op(
    "rrelu(self, lower: Scalar = 0.125, upper: Scalar = 0.3333333333333333, "
    "training: bool = False, generator: Generator? = None)",
    method=False,
    inplace=True,
    functional="rrelu(input, lower, upper, training, inplace)",
    kernel=composite(
        "_rrelu_with_noise(self, _rrelu_noise(self, lower, upper, generator), lower, upper) if "
        "training else _rrelu_eval(self, lower, upper)"
    ),
    samples=[*UNARY, sample((arg((3, 4)), 0.1, 0.3))],
    dtypes="hf",
    domain=OFF_ZERO,
    reference="np.where(self > 0, self, self * (lower + upper) / 2)",
    errors=(
        error(
            sample((arg((3,)), 0.5, 0.1)),
            RuntimeError,
            "Lower bound should be less than or equal to the upper bound",
        ),
    ),
    params={
        "lower": "The smallest slope.",
        "upper": "The largest slope.",
        "training": "Draw the slopes at random.",
    },
    raises={"RuntimeError": "`lower` is above `upper`."},
    doc=(
        "``self``, times a slope below 0 that is random for each element, or the mean of `lower` "
        "and `upper` without `training` [1]_.\n\n"
        ".. [1] Xu et al., Empirical Evaluation of Rectified Activations "
        "in Convolutional Network, 2015."
    ),
    example=">>> ag.rrelu(ag.tensor([-1.0, 2.0]), 0.1, 0.3)\ntensor([-0.2000,  2.0000])",
)

op(
    "_rrelu_eval(self, lower: Scalar, upper: Scalar)",
    shown_as="rrelu",
    event="rrelu_with_noise",
    node="RreluWithNoiseBackward0",
    kernel=call("activations.rrelu_eval", anywhere=True, into=True),
    shows={"training": "False"},
    inplace=True,
    out=False,
    vjp={"self": "_rrelu_backward(grad, self, lower, upper)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=[sample((arg((3, 4)), 0.1, 0.3))],
    dtypes="hf",
    domain=OFF_ZERO,
    reference="np.where(self > 0, self, self * (lower + upper) / 2)",
    doc="rrelu with the mean slope.",
)

op(
    "_rrelu_backward(grad_output, self, lower: Scalar, upper: Scalar)",
    event="rrelu_with_noise_backward",
    out=False,
    kernel=call("activations.rrelu_backward", anywhere=True),
    node="RreluWithNoiseBackwardBackward0",
    shows={"training": "False"},
    vjp={"grad_output": "_rrelu_backward(grad, self, lower, upper)", "self": "zeros_like(self)"},
    jvp={"grad_output": "_rrelu_backward(grad_output_t, self, lower, upper)"},
    vmap="elementwise",
    samples=[bent(0.1, 0.3)],
    dtypes="hf",
    domain=OFF_ZERO,
    reference="np.where(self > 0, grad_output, (lower + upper) / 2 * grad_output)",
    doc="Gradient of rrelu with the mean slope.",
)

op(
    "_rrelu_noise(self, lower: Scalar, upper: Scalar, generator: Generator?)",
    shown_as="rrelu",
    event="autograd_cy::rrelu_noise",
    out=False,
    dtypes="hf",
    kernel=call(
        "random_fills.rrelu_slopes",
        shape="rules_random.rrelu_slopes(self, lower, upper)",
        args=("self", "lower", "upper"),
        draws=True,
    ),
    vjp=nondiff("the slopes are random, and piecewise constant"),
    vmap=randomly("one slope for each place, or for each element of all examples"),
    doc="Random slopes below 0, and 1 above.",
)

op(
    "_rrelu_with_noise(self, noise, lower: Scalar, upper: Scalar)",
    shown_as="rrelu",
    event="rrelu_with_noise",
    node="RreluWithNoiseBackward0",
    kernel=call("activations.rrelu_noisy", anywhere=True, into=True),
    shows={"training": "True"},
    keeps=("lower", "upper"),
    inplace=True,
    out=False,
    vjp={"self": "grad * noise"},
    jvp="elementwise",
    vmap="elementwise",
    dtypes="hf",
    doc="``self * noise``.",
)

# --- bounds --------------------------------------------------------------------------------------

op(
    "_hardtanh(self, min_val: Scalar = -1.0, max_val: Scalar = 1.0)",
    shown_as="hardtanh",
    event="hardtanh",
    node="HardtanhBackward0",
    inplace=True,
    kernel=call("activations.hardtanh", anywhere=True, into=True),
    vjp={"self": "_hardtanh_backward(grad, self, min_val, max_val)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=[*UNARY, sample((arg((3, 4)), 0.0, 6.0)), sample((arg((5,)), -0.5, 1.5))],
    dtypes="hf",
    special=differs("gradient", "nan(self)", AT_NAN),
    domain=real(-2, 2, avoid=(-1.0, 1.0, 0.0, -0.5, 1.5)),
    reference="np.clip(self, min_val, max_val)",
    doc="Elements limited to [min_val, max_val].",
)

op(
    "_hardtanh_backward(grad_output, self, min_val: Scalar, max_val: Scalar)",
    event="hardtanh_backward",
    node="HardtanhBackwardBackward0",
    out=False,
    kernel=call("activations.hardtanh_backward", anywhere=True),
    vjp={
        "grad_output": "_hardtanh_backward(grad, self, min_val, max_val)",
        "self": "zeros_like(self)",
    },
    jvp={"grad_output": "_hardtanh_backward(grad_output_t, self, min_val, max_val)"},
    vmap="elementwise",
    samples=[bent(-1.0, 1.0)],
    dtypes="hf",
    domain=real(-2, 2, avoid=(-1.0, 1.0)),
    reference="np.where((self > min_val) & (self < max_val), grad_output, 0)",
    doc="`grad_output` between the bounds, 0 elsewhere.",
)

op(
    "_hardsigmoid(self)",
    functional="hardsigmoid(input, inplace)",
    shown_as="hardsigmoid",
    event="hardsigmoid",
    kernel=elementwise("hardsigmoid"),
    inplace=True,
    node="HardsigmoidBackward0",
    vjp={"self": "_hardsigmoid_backward(grad, self)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    dtypes="hf",
    special=differs(
        "gradient",
        "np.abs(self) < 3",
        "torch multiplies by a sixth of float32 precision in float64, too",
    ),
    domain=real(-5, 5, avoid=(-3.0, 3.0)),
    reference="np.clip(self + 3, 0, 6) / 6",
    doc="``(self + 3) / 6`` limited to [0, 1].",
)

op(
    "_hardsigmoid_backward(grad_output, self)",
    event="hardsigmoid_backward",
    kernel=elementwise("hardsigmoid_backward"),
    out=False,
    vjp={"grad_output": "_hardsigmoid_backward(grad, self)", "self": "zeros_like(self)"},
    jvp={"grad_output": "_hardsigmoid_backward(grad_output_t, self)"},
    vmap="elementwise",
    samples=[PAIR],
    dtypes="hf",
    domain=real(-5, 5, avoid=(-3.0, 3.0)),
    reference="np.where(np.abs(self) < 3, grad_output / 6, 0)",
    doc="Gradient of hardsigmoid.",
)

op(
    "_hardswish(self)",
    functional="hardswish(input, inplace)",
    shown_as="hardswish",
    event="hardswish",
    kernel=elementwise("hardswish"),
    inplace=True,
    node="HardswishBackward0",
    vjp={"self": "_hardswish_backward(grad, self)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    dtypes="hf",
    domain=real(-5, 5, avoid=(-3.0, 3.0)),
    reference="self * np.clip(self + 3, 0, 6) / 6",
    doc="``self * hardsigmoid(self)``.",
)

op(
    "_hardswish_backward(grad_output, self)",
    event="hardswish_backward",
    kernel=elementwise("hardswish_backward"),
    out=False,
    node="HardswishBackwardBackward0",
    vjp={
        "grad_output": "_hardswish_backward(grad, self)",
        "self": "where(lt(abs(self), 3), grad * grad_output / 3, 0)",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=[sample((arg((3, 4)), arg((3, 4))))],
    dtypes="hf",
    domain=real(-5, 5, avoid=(-3.0, 3.0)),
    reference="grad_output * np.where(self <= -3, 0, np.where(self < 3, self / 3 + 0.5, 1))",
    doc="Gradient of hardswish.",
)

# --- shrinking -----------------------------------------------------------------------------------

op(
    "hardshrink(self, lambd: Scalar = 0.5)",
    checks="real_limit",
    also=("nn.functional",),
    out="exact",
    kernel=elementwise("hardshrink"),
    vjp={"self": "_shrink_backward(grad, self, lambd)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=[*UNARY, sample((arg((3, 4)), 1.0)), sample((arg((5,)),), {"lambd": 0.0})],
    dtypes="hf",
    domain=real(-2, 2, avoid=(-0.5, 0.5, -1.0, 1.0, 0.0)),
    special=differs("gradient", "nan(self)", AT_NAN),
    reference="np.where(np.abs(self) <= lambd, 0, self)",
    params={"lambd": "Numbers of up to this size become 0."},
    doc="The elements, and 0 in place of those within ``[-lambd, lambd]``.",
    example=">>> ag.hardshrink(ag.tensor([-1.0, 0.3, 2.0]))\ntensor([-1.,  0.,  2.])",
)

op(
    "softshrink(self, lambd: Scalar = 0.5)",
    out="exact",
    namespace="nn.functional",
    kernel=call("activations.softshrink", anywhere=True, into=True),
    vjp={"self": "_softshrink_backward(grad, self, lambd)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=[*UNARY, sample((arg((3, 4)), 1.0))],
    dtypes="hf",
    domain=real(-2, 2, avoid=(-0.5, 0.5, -1.0, 1.0)),
    special=differs("gradient", "nan(self)", AT_NAN),
    reference="np.sign(self) * np.maximum(np.abs(self) - lambd, 0)",
    doc="Elements moved towards 0 by `lambd`, as far as 0.",
    errors=(error(sample((arg((3,)), -1.0)), RuntimeError, "lambda must be in range"),),
    params={"lambd": "By how much; not negative."},
    raises={"RuntimeError": "`lambd` is negative."},
    example=(
        ">>> ag.nn.functional.softshrink(ag.tensor([-1.0, 0.3, 2.0]))\n"
        "tensor([-0.5000,  0.0000,  1.5000])"
    ),
)

for _name, _node in (
    ("_shrink_backward", "HardshrinkBackwardBackward0"),
    ("_softshrink_backward", "SoftshrinkBackwardBackward0"),
):
    op(
        f"{_name}(grad_output, self, lambd: Scalar)",
        event=("hard" if _name == "_shrink_backward" else "") + _name.strip("_"),
        node=_node,
        out=False,
        kernel=call("activations.shrink_backward", anywhere=True),
        vjp={"grad_output": f"{_name}(grad, self, lambd)", "self": "zeros_like(self)"},
        jvp={"grad_output": f"{_name}(grad_output_t, self, lambd)"},
        vmap="elementwise",
        samples=[bent(0.5)],
        dtypes="hf",
        domain=real(-2, 2, avoid=(-0.5, 0.5)),
        reference="np.where(np.abs(self) <= lambd, 0, grad_output)",
        doc="`grad_output` outside of ``[-lambd, lambd]``, 0 within.",
    )
