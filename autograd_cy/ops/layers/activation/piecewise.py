"""Activations made of pieces; those that are more than their options are in ``classes.py``."""

from autograd_cy.ops.layers._schema import layer

LEFT = {"alpha": "What is approached on the left, negated."}
NUMBER = "{self.lambd}"

layer(
    "Threshold(threshold: float, value: float, inplace)",
    "threshold",
    "The elements above a threshold, and a value in place of the others.",
    ">>> torch.nn.Threshold(1, -1)(torch.tensor([0.5, 2.0]))\ntensor([-1.,  2.])",
    gives="the elements above the threshold, and the value for the others",
)
layer(
    "ReLU(inplace)",
    "relu",
    r"The positive part, :math:`\max(0, x)`.",
    ">>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))\ntensor([0., 2.])",
    gives="the positive part of the input",
)
layer(
    "ELU(alpha: float = 1.0, inplace)",
    "elu",
    r"The exponential linear unit: :math:`x`, and :math:`\alpha (e^x - 1)` below 0.",
    ">>> torch.nn.ELU()(torch.tensor([-1.0, 1.0]))\ntensor([-0.6321,  1.0000])",
    texts=LEFT,
)
layer(
    "CELU(alpha: float = 1.0, inplace)",
    "celu",
    r"The continuous `ELU`: :math:`x`, and :math:`\alpha (e^{x / \alpha} - 1)` below 0.",
    ">>> torch.nn.CELU()(torch.tensor([-1.0, 1.0]))\ntensor([-0.6321,  1.0000])",
    texts=LEFT,
)
layer(
    "SELU(inplace)",
    "selu",
    """\
The scaled exponential linear unit, which keeps mean 0 and variance 1.

It is :math:`\\lambda x`, and :math:`\\lambda \\alpha (e^x - 1)` below 0.""",
    ">>> torch.nn.SELU()(torch.tensor([-1.0, 1.0]))\ntensor([-1.1113,  1.0507])",
)
layer(
    "LeakyReLU(negative_slope: float = 0.01, inplace)",
    "leaky_relu",
    "The input, times a small slope below 0.",
    ">>> torch.nn.LeakyReLU(0.1)(torch.tensor([-1.0, 1.0]))\ntensor([-0.1000,  1.0000])",
    texts={"negative_slope": "The slope below 0."},
    constants="inplace negative_slope",
)
layer(
    "RReLU(lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace)",
    "rrelu",
    "The input, times a slope below 0 that is random in training, and the mean in evaluation.",
    ">>> torch.nn.RReLU(0.1, 0.3).eval()(torch.tensor([-1.0, 2.0]))\ntensor([-0.2000,  2.0000])",
    texts={"lower upper": "The limits of the slopes."},
    function_texts={
        "training": "Whether they are random; without, each is the mean of the limits."
    },
    arguments="self.lower, self.upper, self.training, self.inplace",
)
layer(
    "Hardsigmoid(inplace)",
    "hardsigmoid",
    "The line :math:`(x + 3) / 6` limited to :math:`[0, 1]`.",
    ">>> torch.nn.Hardsigmoid()(torch.tensor([-4.0, 0.0, 4.0]))\ntensor([0.0000, 0.5000, 1.0000])",
    shown="",
)
layer(
    "Hardswish(inplace)",
    "hardswish",
    r"The input times its `Hardsigmoid`: :math:`x \min(\max(0, x + 3), 6) / 6`.",
    ">>> torch.nn.Hardswish()(torch.tensor([-4.0, 0.0, 4.0]))\ntensor([-0., 0., 4.])",
    shown="",
)
layer(
    "Hardshrink(lambd: float = 0.5)",
    "hardshrink",
    r"The elements, and 0 in place of those within :math:`[-\lambda, \lambda]`.",
    ">>> torch.nn.Hardshrink()(torch.tensor([-1.0, 0.3, 2.0]))\ntensor([-1.,  0.,  2.])",
    texts={"lambd": "The end of the interval."},
    shown=NUMBER,
)
layer(
    "Softshrink(lambd: float = 0.5)",
    "softshrink",
    "The elements moved towards 0, as far as 0.",
    (
        ">>> torch.nn.Softshrink()(torch.tensor([-1.0, 0.3, 2.0]))\n"
        "tensor([-0.5000,  0.0000,  1.5000])"
    ),
    texts={"lambd": "By how much; not negative."},
    shown=NUMBER,
)
