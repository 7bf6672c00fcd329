"""The key words of PyTorch's messages, by class, and the calls for which they were recorded.

A class is a regular expression; its key words are what it matches in a message of PyTorch, with
the names, dtypes and numbers of that call. Ours say more around them.
"""

import re
from pathlib import Path

FILE = Path(__file__).parent / "torch_messages.txt"

DT = r"(?:Bool|Byte|Char|Short|Int|Long|Half|BFloat16|Float|Double|ComplexFloat|ComplexDouble)"
CPP = r"(?:bool|unsigned char|short int|long int|int|float|double|c10::[\w<>:]+)"
CLASSES = {
    "type of an argument": r"argument '\w+'(?: \(position \d+\))? must be [\w. ]+, not [\w.]+",
    "type of an element": r"must be tuple of ints, but found element of type [\w.]+ at pos \d+",
    "unknown name": r"got an unexpected keyword argument '\w+'",
    "two values": r"got multiple values for argument '\w+'",
    "number of arguments": r"takes \d+ positional arguments? but \d+ were given",
    "dimension": r"Dimension out of range \(expected to be in range of \[-?\d+, -?\d+\], "
    r"but got -?\d+\)",
    "repeated dimension": r"dim \d+ appears multiple times in the list of dims",
    "broadcasting": r"The size of tensor a \(\d+\) must match the size of tensor b \(\d+\) at "
    r"non-singleton dimension \d+",
    "shape in place": r"output with shape \[[\d, ]*\] doesn't match the broadcast shape "
    r"\[[\d, ]*\]",
    "expansion": r"The expanded size of the tensor \(\d+\) must match the existing size \(\d+\) at "
    r"non-singleton dimension \d+",
    "shapes of products": r"mat1 and mat2 shapes cannot be multiplied \(\S+ and \S+\)",
    "dtype without a kernel": rf"not implemented for '{DT}'",
    "dtype of the result": rf"result type {DT} can't be cast to the desired output type {DT}",
    "dtype of out": rf"Expected out tensor to have dtype {CPP}, but got {CPP} instead",
    "dtype of out, exact": rf"Found dtype {DT} but expected {DT}",
    "dtypes of products": rf"have the same dtype, but got:? {CPP} != {CPP}",
    "dtypes of operands": rf"have the same dtype, but got {DT} and {DT}",
    "dtype of indices": rf"Expected a long tensor for index, but got {DT}",
    "number too large": r"value cannot be converted to type [\w:<>]+ without overflow",
    "index": r"index -?\d+ is out of bounds for dimension \d+ with size \d+",
    "leaf in place": r"a leaf Variable that requires grad is being used in an in-place operation",
    "gradient and out": r"functions with out=\.\.\. arguments don't support automatic "
    r"differentiation, but one of the arguments requires grad",
    "overlapping result": r"more than one element of the written-to tensor refers to a single "
    r"memory location",
}
FORMS = ("function", "out", "in-place", "method")
PATTERNS = {name: re.compile(pattern) for name, pattern in CLASSES.items()}


EARLIER = "something else that is wrong with the call is found first"
ORDER = "operands are named in the order of the arguments"
#: Where the key words are others: (operators, key words, reason).
DIFFERENT = [
    (r"(gru|lstm|rnn_relu|rnn_tanh)(_cell)?", ".*", "shapes and dtypes are checked before"),
    (
        r"bilinear|(batch|group)_norm|conv_.*|nn_functional_scaled_dot_product_attention",
        ".*",
        EARLIER,
    ),
    ("addr|mean_dim|square|trace", "size of|result type|not implemented", EARLIER),
    ("binary_cross_entropy_with_logits", "output with shape|size of tensor", "the target is named"),
    ("kl_div|margin_ranking_loss|masked_select|take_along_dim", "size of tensor", ORDER),
    (
        r"adaptive_\w+|broadcast_to|expand|flip|permute|repeat|reshape|sum_to_size|tile",
        "takes [12]",
        "ints may come one by one",
    ),
    ("max_other|min_other", "argument 'dim'", "another of the signatures is named"),
    ("unflatten", "takes 3", "a function in Python counts the tensor"),
    ("dot", "multiple values", "the argument of the method is called tensor"),
    ("add|sub|mul|div", "must be Tensor", "numbers are taken, and the message says so"),
    (r"norm|split(_size)?|nn_functional_\w+", "argument|tuple of ints", "of a function inside"),
    ("clamp|conj_physical", "Found dtype", "the words of other operators that want this dtype"),
    ("matmul", "cannot be multiplied", "shapes are those that were given, not folded ones"),
    ("inner", "leaf", "out= is what must not require a gradient"),
    ("pdist", "not implemented", "the dtypes that there are are named"),
]


def says_otherwise(operator, words):
    """Return whether a row of the table excuses a message."""
    return any(re.fullmatch(row[0], operator) and re.search(row[1], words) for row in DIFFERENT)


def key_words(message):
    """(class, key words) of a message; None for one of no class."""
    for name, pattern in PATTERNS.items():
        if found := pattern.search(message.partition("\n")[0]):
            return name, found[0]
    return None


def read():
    """[(key of a line, value, key words)] of the file."""
    rows = [row.split("\t") for row in FILE.read_text().splitlines() if not row.startswith("#")]
    return [tuple(row) for row in rows]


def written(version, rows):
    """The text of the file: a row for the first call of each operator and class."""
    head = f"# Key words of PyTorch {version}: call, value, words (record_torch.py writes them).\n"
    return head + "".join("\t".join(row) + "\n" for row in sorted(rows))
