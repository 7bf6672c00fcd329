"""Smooth activations."""

from autograd_cy.ops.layers._schema import layer

layer(
    "Tanh",
    "tanh",
    "The hyperbolic tangent.",
    ">>> torch.nn.Tanh()(torch.tensor([0.0]))\ntensor([0.])",
    gives="the hyperbolic tangent of the input",
)
layer(
    "Sigmoid",
    "sigmoid",
    "The logistic function, :math:`1 / (1 + e^{-x})`.",
    ">>> torch.nn.Sigmoid()(torch.tensor([0.0]))\ntensor([0.5000])",
    gives="the logistic function of the input",
)
layer(
    'GELU(approximate: str = "none")',
    "gelu",
    r"The Gaussian error linear unit, :math:`x\,\Phi(x)`.",
    ">>> torch.nn.GELU()(torch.tensor([0.0]))\ntensor([0.])",
    texts={"approximate": "Whether the normal distribution is approximated by a tanh."},
    kinds={"approximate": '{"none", "tanh"}'},
    arguments="approximate=self.approximate",
    shown="approximate={self.approximate!r}",
)
layer(
    "SiLU(inplace)",
    "silu",
    r"The swish function, :math:`x \sigma(x)`.",
    ">>> torch.nn.SiLU()(torch.tensor([-1.0, 1.0]))\ntensor([-0.2689,  0.7311])",
)
layer(
    "Mish(inplace)",
    "mish",
    r"The function :math:`x \tanh(\log(1 + e^x))`.",
    ">>> torch.nn.Mish()(torch.tensor([-1.0, 1.0]))\ntensor([-0.3034,  0.8651])",
)
layer(
    "Softplus(beta: float = 1.0, threshold: float = 20.0)",
    "softplus",
    r"A smooth positive part, :math:`\log(1 + e^{\beta x}) / \beta`.",
    ">>> torch.nn.Softplus()(torch.tensor([0.0, 30.0]))\ntensor([ 0.6931, 30.0000])",
    texts={
        "beta": "How sharp the bend is.",
        "threshold": r"Where :math:`\beta x` exceeds it, the result is the input.",
    },
)
layer(
    "Softsign",
    "softsign",
    "The function :math:`x / (1 + |x|)`.",
    ">>> torch.nn.Softsign()(torch.tensor([1.0, -3.0]))\ntensor([ 0.5000, -0.7500])",
)
layer(
    "Tanhshrink",
    "tanhshrink",
    r"The function :math:`x - \tanh(x)`.",
    ">>> torch.nn.Tanhshrink()(torch.tensor([1.0]))\ntensor([0.2384])",
)
layer(
    "LogSigmoid",
    "logsigmoid",
    "The logarithm of the logistic function, without overflow.",
    ">>> torch.nn.LogSigmoid()(torch.tensor([0.0]))\ntensor([-0.6931])",
)
layer(
    "GLU(dim: int = -1)",
    "glu",
    r"The gated linear unit: :math:`a\,\sigma(b)` of the halves `a` and `b` of a dimension.",
    ">>> torch.nn.GLU()(torch.tensor([2.0, 0.0]))\ntensor([1.])",
    texts={"dim": "The dimension, of even size."},
)
