"""Differences that have a reason: a finding that matches one is counted apart and fails nothing.

`title` and `text` are regular expressions that the title and the text of a finding must contain.
`only` is "torch" for what shows with ``--against torch`` only.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """One difference, and why it is right, or to be lived with."""

    part: str
    title: str
    text: str
    reason: str

    def covers(self, finding):
        return (
            finding.part == self.part
            and re.search(self.title, finding.title) is not None
            and re.search(self.text, finding.text) is not None
        )


KNOWN = (
    Known(
        "calls",
        r"softmax_backward",
        r"in float64|by NumPy",
        "outputs that are no probabilities: the sum over a row is multiplied by any number",
    ),
    Known(
        "calls",
        r"^(fmod|remainder|floor_divide)",
        r"by NumPy|in float64|by torch",
        "jumps at every multiple of the divisor, which rounding it to the dtype may cross",
    ),
    Known(
        "calls",
        r"^(sort|argsort|topk)",
        r"by torch: np\.int64",
        "equal elements: torch's order of them is arbitrary without stable=True, ours is stable",
    ),
    Known(
        "calls",
        r"^gelu",
        r"by torch: .* expected np\.float64\(nan\)",
        "at infinities torch multiplies zero by infinity, ours gives the limit",
    ),
    Known(
        "calls",
        r"^igammac?_? ",
        r"by torch",
        "torch's numbers are right to nine digits from arguments of about 50 on, ours to thirteen",
    ),
    Known(
        "calls",
        r"^(silu|sigmoid|softmin|softmax)_? (float|bfloat)",
        r"np\.float64\(-?\d[\d.]*e-4[0-9]\) at",
        "the sigmoid is subnormal there and has lost digits before it is multiplied",
    ),
    Known(
        "calls",
        r"^(hinge|cosine)_embedding_loss",
        r"in float64|by NumPy|by torch",
        "targets that are neither 1 nor -1 select both terms, and these cancel",
    ),
    Known(
        "calls",
        r"^poisson_nll_loss (u?int\d+|bool) float64",
        r"by NumPy|in float64",
        "the exponential of whole numbers is of the default dtype, as in torch",
    ),
    Known(
        "calls",
        r"^(triplet_margin_loss|pairwise_distance) .*int\d+",
        r"by NumPy|in float64",
        "differences of whole numbers are of the default dtype, as in torch",
    ),
    Known(
        "calls",
        r"^histc b?float",
        r"in float64: .* at \(\d+,\)",
        "a number at the edge of two bins is in the one that its own precision says, as in torch",
    ),
    Known(
        "calls",
        r"^log_softmax",
        r"in float64: np\.float64\(-?0\.0\)",
        "next to zero the logarithm of a sum has the precision of one, as in torch",
    ),
    Known(
        "calls",
        r"^logcumsumexp complex",
        r"by NumPy: .* expected np\.complex\d+\(-?[\d.]+e-(0[5-9]|[1-9]\d)",
        "next to zero the reference, a logarithm of a sum, has the precision of one",
    ),
    Known(
        "calls",
        r"^rnn_(tanh|relu) (float32|float16|bfloat16)",
        r"in float64|by torch",
        "with weights as large as these each step multiplies what the one before has rounded",
    ),
    Known(
        "calls",
        r"^gru(_cell)? (float32|float16|bfloat16)",
        r"in float64: np\.float64\(-?0\.0\)",
        "next to zero a mean of an old and a new state has the precision of the larger one",
    ),
    Known(
        "calls",
        r"_backward.* complex",
        r"inf",
        "a product of infinite parts next to one that overflows: fused or not by compilers",
    ),
    Known(
        "arguments",
        r"",
        r"This function was deprecated since version [\d.]+ and is now removed",
        "a removed function refuses every call in the same words, as torch does",
    ),
    Known(
        "arguments",
        r"^(sub|add|rsub|addmm|addmv|addr|addbmm|baddbmm|addcmul|addcdiv)_?$",
        r"doubled argument",
        "the order of arguments of 2017, a factor before a named tensor, is taken as in torch",
    ),
    Known(
        "arguments",
        r"nn\.functional\.([cs]?elu|r?relu6?|silu|mish|hard\w+|leaky_relu|threshold|\w*dropout\w*)",
        r"a call changed [a-z]\b",
        "any true value asks for `inplace`, as in torch",
    ),
    Known(
        "arguments",
        r"nn\.functional\.embedding|assert_close|assert_allclose",
        r"AssertionError",
        "torch asserts that, too",
    ),
    Known(
        "arguments",
        r"^(mean|std|var|sum|prod|any|all|amax|amin|ptp)$",
        r"TypeError: _\w+\(\) got an unexpected keyword argument 'keepdim'",
        "a method of a NumPy array, which speaks of the functions below it",
    ),
    Known(
        "arguments",
        r"lobpcg",
        r"AssertionError: A must be square",
        "torch's lobpcg asserts that, too",
    ),
    Known(
        "arguments",
        r"^(std|var)$",
        r"a private name in: TypeError: _(std|var)\(\)",
        "the method of an array of NumPy, which says so",
    ),
    Known(
        "calls",
        r"^poisson_nll_loss float32 float64",
        r"in float64",
        "the exponential of single numbers is a single number, as in torch",
    ),
)


def reason_of(finding):
    """The reason of a known difference, or None."""
    return next((k.reason for k in KNOWN if k.covers(finding)), None)
