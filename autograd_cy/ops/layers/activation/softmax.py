"""Softmax and its relatives."""

from autograd_cy.ops.layers._schema import layer

GIVEN = {
    "kinds": {"dtype": "dtype"},
    "function_texts": {
        "dim": "The dimension. Leaving it out is deprecated.",
        "dtype": "Converts the input first.",
    },
}


def implicit_dim(name):
    """The statement that chooses the dimension of older programs."""
    return f'dim = implicit_dim("{name}", input) if dim is None else dim'


layer(
    "Softmax(dim)",
    "softmax",
    "Exponentials scaled to sum up to one along a dimension.",
    ">>> torch.nn.Softmax(dim=0)(torch.tensor([1.0, 1.0]))\ntensor([0.5000, 0.5000])",
    function_start=implicit_dim("softmax"),
    **GIVEN,
    result="Any",
    gives="the softmax of the input",
)
layer(
    "LogSoftmax(dim)",
    "log_softmax",
    "The logarithm of `Softmax`, computed without overflow.",
    ">>> torch.nn.LogSoftmax(dim=0)(torch.tensor([1.0]))\ntensor([0.])",
    function_doc="Return the logarithm of the softmax along a dimension, without overflow.",
    function_start=implicit_dim("log_softmax"),
    **GIVEN,
    result="Any",
    gives="the logarithm of the softmax of the input",
)
layer(
    "Softmin(dim)",
    "softmin",
    "The softmax of the negated input.",
    ">>> torch.nn.Softmin(dim=0)(torch.tensor([1.0, 1.0]))\ntensor([0.5000, 0.5000])",
)
layer(
    "Softmax2d",
    "softmax",
    "The softmax over the channels of images, of shape ``(N, C, H, W)`` or ``(C, H, W)``.",
    ">>> torch.nn.Softmax2d()(torch.zeros(2, 1, 1)).flatten()\ntensor([0.5000, 0.5000])",
    check_input="""\
if input.dim() not in (3, 4):
    raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")""",
    arguments="-3",
    gives="the softmax of the input",
)
