"""Dropout: of elements, of whole channels, and that which keeps mean and variance."""

from autograd_cy.ops._schema import (
    arg,
    call,
    composite,
    error,
    nondiff,
    op,
    randomly,
    sample,
)

LOADED = "at first use"

DRAWN = nondiff("the mask is random")
P = {"p": "The probability to drop something.", "train": "Whether to do it at all."}
NO_PROBABILITY = {"RuntimeError": "`p` is no probability."}
STILL = [sample((arg((3, 4)), 0.5, False)), sample((arg((3, 4, 2)), 0.0, True))]
# In place they leave the tensor as it is.
NOTHING = "0 <= p <= 1 and (not train or p == 0 or self.count == 0)"
REFUSED = (
    error(
        sample((arg((3, 4)), 1.5, True)),
        RuntimeError,
        "dropout probability has to be between 0 and 1",
    ),
)

# --- of elements -------------------------------------------------------------------------------

op(
    "_dropout_mask(self, keep: float)",
    kernel=call(
        "random_fills.scaled_mask",
        shape="rules_random.scaled_mask(self, keep)",
        args=("keep",),
        draws=True,
    ),
    shown_as="dropout",
    out=False,
    vjp=nondiff("the mask is random"),
    vmap=randomly("one mask for all examples, or one each", draws="elements"),
    doc="A random 0-1 mask divided by the chance to keep an element.",
)

op(
    "dropout(self, p: float = 0.5, train: bool = True)",
    functional="dropout(input, p, training, inplace)",
    method=False,
    checks="probability",
    inplace=True,
    idle="not train or p == 0 or self.count == 0",
    kernel=composite("self * _dropout_mask(self, 1.0 - p) if train and p > 0.0 else self"),
    samples=[sample((arg((3, 4)), 0.5, False)), sample((arg((3, 4)), 0.0, True))],
    reference="self",
    doc=(
        "Elements zeroed with probability `p`, the others scaled by ``1 / (1 - p)``; nothing in "
        "evaluation."
    ),
    example=">>> ag.dropout(ag.tensor([1.0, 2.0]), 0.5, train=False)\ntensor([1., 2.])",
    raises={"ValueError": "`p` is no probability."},
)

# --- of channels, and of deviations from the mean ----------------------------------------------

op(
    "feature_dropout(self, p: float, train: bool)",
    method=False,
    inplace=True,
    idle=NOTHING,
    kernel=composite("dropout.feature_dropout"),
    samples=STILL,
    reference="self",
    params=P,
    raises=NO_PROBABILITY,
    errors=(
        *REFUSED,
        error(
            sample((arg((3,)), 0.5, True)),
            RuntimeError,
            "Feature dropout requires at least 2 dimensions",
        ),
    ),
    doc=(
        "Channels (places in the first two dimensions) zeroed with probability `p`, the others "
        "scaled by ``1 / (1 - p)``."
    ),
    example=">>> ag.feature_dropout(ag.ones(1, 2), 0.5, train=False)\ntensor([[1., 1.]])",
)

op(
    "alpha_dropout(self, p: float, train: bool)",
    functional="alpha_dropout(input, p: float = 0.5, training: bool = False, inplace)",
    method=False,
    inplace=True,
    idle=NOTHING,
    kernel=composite("dropout.alpha_dropout"),
    samples=STILL,
    reference="self",
    params=P,
    raises=NO_PROBABILITY,
    errors=REFUSED,
    doc=(
        "Elements set to what :func:`selu` approaches on the left with probability `p`, and all "
        "scaled and moved so that mean 0 and\nvariance 1 stay [1]_.\n\n"
        ".. [1] Klambauer et al., Self-Normalizing Neural Networks, 2017."
    ),
    example=">>> ag.alpha_dropout(ag.ones(2), 0.5, train=False)\ntensor([1., 1.])",
)

op(
    "feature_alpha_dropout(self, p: float, train: bool)",
    functional="feature_alpha_dropout(input, p: float = 0.5, training: bool = False, inplace)",
    method=False,
    inplace=True,
    idle=NOTHING,
    kernel=composite("dropout.feature_alpha_dropout"),
    samples=STILL,
    reference="self",
    params=P,
    raises=NO_PROBABILITY,
    errors=(
        *REFUSED,
        error(
            sample((arg((3,)), 0.5, True)),
            RuntimeError,
            "Feature dropout requires at least 2 dimensions",
        ),
    ),
    doc="alpha_dropout of whole channels.",
    example=">>> ag.feature_alpha_dropout(ag.ones(1, 2), 0.5, train=False)\ntensor([[1., 1.]])",
)

op(
    "_channel_mask(self, keep: float)",
    shown_as="feature_dropout",
    event="autograd_cy::channel_mask",
    kernel=call(
        "random_fills.bernoulli",
        shape="rules_random.channel_mask(self)",
        args=("keep",),
        draws=True,
    ),
    out=False,
    dtypes="hf",
    vjp=DRAWN,
    vmap=randomly("one mask for all examples, or one each", draws="shape"),
    doc="1 for channels that are kept, 0 for others.",
)

op(
    "_element_mask(self, keep: float)",
    shown_as="alpha_dropout",
    event="autograd_cy::element_mask",
    kernel=call(
        "random_fills.bernoulli", shape="rules_random.mask(self)", args=("keep",), draws=True
    ),
    out=False,
    dtypes="hf",
    vjp=DRAWN,
    vmap=randomly("one mask for all examples, or one each", draws="elements"),
    doc="1 for elements that are kept, 0 for others.",
)
