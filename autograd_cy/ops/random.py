"""Random draws.

Methods and functions around these records, which take their arguments, are in
ext/engine/random_operators. A kernel that draws gets the state of a generator as its last argument
(`draws` in _schema.py), and each of these records has a slot for one. Random values don't depend on
the values before, so that gradients are zero.
"""

from autograd_cy.ops._schema import call, nondiff, op, randomly

EACH = randomly("the same numbers for all examples, or others for each", draws="elements")


def random_fill(signature, shape, kernel, args, doc, name, node=None, draws=EACH, **more):
    """Overwrite a tensor, which keeps its history with a zero gradient."""
    return op(
        signature,
        shown_as=name,
        node=node,
        event=more.pop("event", name),
        inplace=True,
        out=False,
        jvp="elementwise",
        vmap=draws,
        doc=doc,
        kernel=call(
            f"random_fills.{kernel}",
            shape=f"rules_random.{shape}",
            over="self",
            draws=True,
            args=args,
        ),
        vjp=more.pop("vjp", {"self": "zeros_like(grad)"}),
        **more,
    )


# --- fills --------------------------------------------------------------------------------------

random_fill(
    "_uniform(self, low: float, high: float, generator: Generator?)",
    shape="uniform(self, low, high)",
    kernel="uniform",
    args=("low", "high"),
    doc="Numbers drawn evenly from ``[low, high)``.",
    name="uniform",
    node="UniformBackward0",
)

random_fill(
    "_normal(self, mean: float, std: float, generator: Generator?)",
    shape="normal(self, mean, std)",
    kernel="normal",
    args=("mean", "std"),
    doc="Normally distributed numbers.",
    name="normal",
    node="NormalBackward0",
)

random_fill(
    "_exponential(self, lambd: float, generator: Generator?)",
    shape="exponential(self, lambd)",
    kernel="exponential",
    args=("lambd",),
    doc="Exponentially distributed numbers.",
    name="exponential",
    node="ExponentialBackward0",
)

random_fill(
    "_bernoulli(self, p: float, generator: Generator?)",
    shape="bernoulli(self, p)",
    kernel="bernoulli",
    args=("p",),
    doc="Ones with probability `p`, and zeros.",
    name="bernoulli",
    node="BernoulliBackward2",
)

random_fill(
    "_bernoulli_each(self, p, generator: Generator?)",
    shape="bernoulli_each(self, p)",
    kernel="bernoulli_each",
    args=("p",),
    doc="Ones with the probabilities of a tensor, and zeros.",
    name="bernoulli",
    node="BernoulliBackward1",
    vjp={"self": "zeros_like(grad)", "p": "zeros_like(grad)"},
)

# `form` says which bounds were given: both, the upper one, or none.
random_fill(
    "_random(self, low: int, last: int, form: int, generator: Generator?)",
    shape="random(self, low, last)",
    kernel="random",
    args=("low", "last"),
    doc="Integers drawn evenly from `low` to `last`.",
    name="random",
    dtypes="biuhfc",
    node="RandomBackward0",
    variants={"RandomBackward1": "form == 1", "RandomBackward2": "form == 2"},
)

random_fill(
    "_randperm(self, generator: Generator?)",
    shape="alike(self)",
    kernel="permutation",
    args=(),
    doc="The integers from 0 on in random order, in an int64 vector.",
    name="randperm",
    draws=randomly("one order for all examples, or one each"),
    event="autograd_cy::randperm",
)

# --- of tensors of parameters ---------------------------------------------------------------------


def drawn(signature, shape, kernel, doc, name, node, args, zero, draws="around"):
    """A maker of tensors like `self`, which records the tensors that it was drawn with."""
    return op(
        signature,
        shown_as=name,
        node=node,
        event=f"autograd_cy::{signature.partition('(')[0].strip('_')}",
        out=False,
        kernel=call(f"random_fills.{kernel}", shape=f"rules_random.{shape}", args=args, draws=True),
        vjp=dict.fromkeys(zero, "zeros_like(grad)"),
        jvp="elementwise",
        vmap=randomly("other numbers for each example", draws=draws),
        doc=doc,
    )


drawn(
    "_normal_mean(self, mean, std: float, generator: Generator?)",
    shape="normal_mean(self, mean, std)",
    kernel="normal_mean",
    doc="Normally distributed numbers around those of `mean`.",
    name="normal",
    node="NormalBackward1",
    args=("mean", "std"),
    zero=("mean",),
)

drawn(
    "_normal_std(self, mean: float, std, generator: Generator?)",
    shape="normal_std(self, std)",
    kernel="normal_std",
    doc="Normally distributed numbers, each with a deviation of its own.",
    name="normal",
    node="NormalBackward2",
    args=("mean", "std"),
    zero=("std",),
)

drawn(
    "_normal_both(self, mean, std, generator: Generator?)",
    shape="normal_std(self, std)",
    kernel="normal_both",
    doc="Normally distributed numbers, each with a mean and a deviation of its own.",
    name="normal",
    node="NormalBackward3",
    args=("mean", "std"),
    zero=("mean", "std"),
)

drawn(
    "_bernoulli_of(self, generator: Generator?)",
    shape="chances(self)",
    kernel="bernoulli_each",
    doc="Ones and zeros; the elements are the probabilities of ones.",
    name="bernoulli",
    node="BernoulliBackward0",
    args=("self",),
    zero=("self",),
    draws="chances",
)

drawn(
    "_bernoulli_like(self, p: float, generator: Generator?)",
    shape="chance(self, p)",
    kernel="bernoulli",
    doc="Ones with probability `p` and zeros, in the shape of a tensor.",
    name="bernoulli",
    node="BernoulliBackward0",
    args=("p",),
    zero=("self",),
    draws="chances",
)

# --- categories -----------------------------------------------------------------------------------

op(
    "_category_weights(self)",
    shown_as="multinomial",
    event="autograd_cy::category_weights",
    kernel=call("random_fills.weights", shape="rules_random.weights(self)"),
    out=False,
    vjp=nondiff("indices are drawn by them"),
    vmap="elementwise",
    doc="Weights of categories in float64, none of which is negative.",
)
