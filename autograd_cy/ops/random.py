"""Random draws.

Methods and functions around these records, which take their arguments, are in
ext/engine/random_operators. A kernel that draws gets the state of a generator as its last argument
(`draws` in _schema.py), and each of these records has a slot for one. Random values don't depend on
the values before, so that gradients are zero.
"""

from autograd_cy.ops._schema import call, nondiff, op, randomly

EACH = randomly("the same numbers for all examples, or others for each", draws="elements")


def fill(signature, shape, kernel, args, doc, name, node=None, draws=EACH, **more):
    """Overwrites a tensor, which keeps its history with a zero gradient."""
    return op(signature, shown_as=name, node=node, event=more.pop("event", name), inplace=True, out=False, jvp="elementwise", vmap=draws, doc=doc,
              kernel=call(f"random_fills.{kernel}", shape=f"rules_random.{shape}", over="self", draws=True, args=args),
              vjp=more.pop("vjp", {"self": "zeros_like(grad)"}), **more)


# --- fills --------------------------------------------------------------------------------------

fill("_uniform(self, low: float, high: float, generator: Generator?)", "uniform(self, low, high)", "uniform", ("low", "high"),
     "Numbers drawn evenly from ``[low, high)``.", "uniform", "UniformBackward0")

fill("_normal(self, mean: float, std: float, generator: Generator?)", "normal(self, mean, std)", "normal", ("mean", "std"),
     "Normally distributed numbers.", "normal", "NormalBackward0")

fill("_exponential(self, lambd: float, generator: Generator?)", "exponential(self, lambd)", "exponential", ("lambd",),
     "Exponentially distributed numbers.", "exponential", "ExponentialBackward0")

fill("_bernoulli(self, p: float, generator: Generator?)", "bernoulli(self, p)", "bernoulli", ("p",),
     "Ones with probability `p`, and zeros.", "bernoulli", "BernoulliBackward2")

fill("_bernoulli_each(self, p, generator: Generator?)", "bernoulli_each(self, p)", "bernoulli_each", ("p",),
     "Ones with the probabilities of a tensor, and zeros.", "bernoulli", "BernoulliBackward1",
     vjp={"self": "zeros_like(grad)", "p": "zeros_like(grad)"})

# `form` says which bounds were given: both, the upper one, or none.
fill("_random(self, low: int, last: int, form: int, generator: Generator?)", "random(self, low, last)", "random", ("low", "last"),
     "Integers drawn evenly from `low` to `last`.", "random", "RandomBackward0",
     variants={"RandomBackward1": "form == 1", "RandomBackward2": "form == 2"})

fill("_randperm(self, generator: Generator?)", "alike(self)", "permutation", (), "The integers from 0 on in random order, in an int64 vector.",
     "randperm", draws=randomly("one order for all examples, or one each"), event="autograd_cy::randperm")

# --- of tensors of parameters -----------------------------------------------------------------------


def drawn(signature, shape, kernel, doc, name, node, args, zero, draws="around"):
    """Makes a tensor like `self`, which records the tensors that it was drawn with."""
    return op(signature, shown_as=name, node=node, event=f"autograd_cy::{signature.partition('(')[0].strip('_')}", out=False,
              kernel=call(f"random_fills.{kernel}", shape=f"rules_random.{shape}", args=args, draws=True),
              vjp=dict.fromkeys(zero, "zeros_like(grad)"), jvp="elementwise", vmap=randomly("other numbers for each example", draws=draws), doc=doc)


drawn("_normal_mean(self, mean, std: float, generator: Generator?)", "normal_mean(self, mean, std)", "normal_mean",
      "Normally distributed numbers around those of `mean`.", "normal", "NormalBackward1", ("mean", "std"), ("mean",))

drawn("_normal_std(self, mean: float, std, generator: Generator?)", "normal_std(self, std)", "normal_std",
      "Normally distributed numbers, each with a deviation of its own.", "normal", "NormalBackward2", ("mean", "std"), ("std",))

drawn("_normal_both(self, mean, std, generator: Generator?)", "normal_std(self, std)", "normal_both",
      "Normally distributed numbers, each with a mean and a deviation of its own.", "normal", "NormalBackward3", ("mean", "std"), ("mean", "std"))

drawn("_bernoulli_of(self, generator: Generator?)", "chances(self)", "bernoulli_each",
      "Ones and zeros; the elements are the probabilities of ones.", "bernoulli", "BernoulliBackward0", ("self",), ("self",), "chances")

drawn("_bernoulli_like(self, p: float, generator: Generator?)", "chance(self, p)", "bernoulli",
      "Ones with probability `p` and zeros, in the shape of a tensor.", "bernoulli", "BernoulliBackward0", ("p",), ("self",), "chances")

# --- categories -------------------------------------------------------------------------------------

op("_category_weights(self)", shown_as="multinomial", event="autograd_cy::category_weights", kernel=call("random_fills.weights", shape="rules_random.weights(self)"),
   out=False, vjp=nondiff("indices are drawn by them"), vmap="elementwise", doc="Weights of categories in float64, none of which is negative.")
