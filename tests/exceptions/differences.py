"""Exceptions that differ from PyTorch's by design: a row for each class of calls.

A row is (operators, forms, arguments, values, PyTorch's letters, ours, reason); the first four are
regular expressions for whole names. docs/coming-from-pytorch.md says the same to users.
"""

import re
from typing import NamedTuple


class Difference(NamedTuple):
    operators: str
    forms: str
    arguments: str
    values: str
    theirs: str
    ours: str
    reason: str


RECURRENT = r"(gru|lstm|rnn_relu|rnn_tanh)(_cell)?"
POOLS = r"nn_functional_(adaptive_\w+|fold|unfold)"
FIRST = "the other of two faults is found first"
DIFFERENT = [
    Difference(".*", ".*", ".*", r"tensor\(True\)", ".RV", "T", "a tensor of a bool is no int"),
    Difference(".*", ".*", ".*", "bytes", ".RVN", "T", "a word is a str, not bytes"),
    Difference(
        ".*",
        ".*",
        ".*",
        "on meta",
        ".NL",
        "RN",
        "an operand on meta beside one on the CPU, or NumPy as the kernel, is refused",
    ),
    Difference("masked_select", ".*", ".*", "on meta", "N", ".", "meta tensors have a shape"),
    Difference(".*", "out", "out", "expanded", ".", "R", "no result is written to one place twice"),
    Difference(
        RECURRENT,
        ".*",
        ".*",
        ".*",
        ".RINT",
        "RINT.",
        "recurrent functions check shapes and dtypes before they begin",
    ),
    Difference(
        ".*", ".*", ".*", ".*", "A", "T", "what is no tensor is a TypeError, not an AttributeError"
    ),
    Difference(
        POOLS,
        ".*",
        ".*",
        r"bytes|text|meta|\{1?\}|range|np\.int64|tensor\(1\)|tensor\(\[1,0\]\)",
        "RVT.",
        "T.R",
        "one int or a sequence of ints; nothing else that has a length",
    ),
    Difference(
        "norm|split|split_size",
        ".*",
        "dim|split_.*",
        r"np\.int64|tensor\(1\)|tensor\(0\.5\)",
        "TR",
        ".T",
        "an integer of NumPy is an int",
    ),
    Difference("add|sub|mul|div|floor_divide", "out", "out", "1", "R", "T", "out= takes tensors"),
    Difference(
        "broadcast_to|flip|permute|reshape|tile",
        "function",
        "size|dims|shape",
        ".*",
        "T",
        ".RI",
        "functions take one int for a sequence of one, as their methods do",
    ),
    Difference(
        "cross|histc|max_pool1d|nanmean|nansum|silu|std_unbiased|trace|var_unbiased|cumsum|cumprod|"
        "repeat_interleave|nn_functional_avg_pool3d",
        ".*",
        ".*",
        ".*",
        "N",
        ".R",
        "there is a kernel for the dtype",
    ),
    Difference(
        "embedding_bag", ".*", "padding_idx", ".*", "T", ".RV", "PyTorch takes it by position only"
    ),
    Difference(
        "layer_norm", "functional", "cudnn_enable", ".*", "T", ".", "both modules have one function"
    ),
    Difference(
        r"nn_functional_max_pool\dd_with_indices",
        ".*",
        "return_indices",
        ".*",
        ".",
        "T",
        "what is not used is checked, too",
    ),
    Difference(
        "embedding(_bag)?", ".*", "sparse", "True", ".", "N", "there are no sparse gradients"
    ),
    Difference(
        "binary_cross_entropy_with_logits|bmm|cdist|clamp_m(in|ax)|conv.*",
        ".*",
        ".*",
        ".*",
        "N",
        "R",
        FIRST,
    ),
    Difference("igammac?|nn_functional_glu|repeat_interleave", ".*", ".*", ".*", "RN", "NT", FIRST),
    Difference("embedding_bag", ".*", "weight", "complex.*", "R", "N", "a dtype without a kernel"),
    Difference(
        "batch_norm|group_norm",
        ".*",
        "input",
        ".*",
        "I",
        "R",
        "the functions of nn.functional, which are the same, raise a RuntimeError",
    ),
    Difference("bilinear|permute|narrow_copy", ".*", ".*", ".*", "R", "I", FIRST),
    Difference("movedim", ".*", ".*", ".*", "T", ".I", "one dimension, or a sequence of one"),
    Difference(
        "index_add|scatter.*|nn_functional_scaled_dot_product_attention",
        ".*",
        "source|src|attn_mask",
        ".*",
        "I",
        "R.",
        "shapes are compared; PyTorch reads a size that there isn't",
    ),
    Difference(
        "embedding|index_copy|index_fill",
        ".*",
        "weight|self",
        r"first=0|\[0\]d",
        "R",
        "I",
        "an index into nothing is out of range",
    ),
    Difference(
        "norm|(std|var)(_mean)?",
        ".*",
        "p|correction",
        "1j",
        "R",
        "T",
        "a complex number is of another type",
    ),
    Difference(
        "unflatten|cdist|view|fft_r?fftfreq",
        ".*",
        "sizes?|compute_mode|requires_grad|device",
        ".*",
        "RV.",
        "T",
        "types are checked before values",
    ),
    Difference(
        ".*", ".*", ".*", r"2\*\*70", "TV", "VT", "an int beyond 64 bits, as a size of several"
    ),
    Difference(
        "addbmm|as_strided|binary_cross_entropy_with_logits|conv_transpose[12]d|convolution|cross_entropy|embedding_bag|fft_rfftfreq|fill|"
        "index_add|nn_functional_scaled_dot_product_attention|view_as_complex",
        ".*",
        ".*",
        ".*",
        ".",
        "RN",
        "mixed dtypes and numbers out of range are refused, where PyTorch computes something",
    ),
    Difference(
        "logical_(and|not|or|xor)|histc",
        "in-place|out",
        "self|out",
        "leaf",
        ".",
        "R",
        "a tensor that requires a gradient isn't overwritten",
    ),
    Difference(
        "as_strided_scatter|polar|binary_cross_entropy_with_logits|fft_.*|histc|logsumexp|"
        "poisson_nll_loss|"
        "nn_functional_scaled_dot_product_attention",
        ".*",
        ".*",
        ".*",
        "R",
        ".",
        "the result that is meant is computed",
    ),
]


def different(line, value, theirs, ours):
    """The first row that a call belongs to, or None."""
    for row in DIFFERENT:
        if (
            theirs in row.theirs
            and ours in row.ours
            and re.fullmatch(row.values, value)
            and re.fullmatch(row.arguments, line.argument)
            and re.fullmatch(row.forms, line.form)
            and re.fullmatch(row.operators, line.record.key)
        ):
            return row
    return None
