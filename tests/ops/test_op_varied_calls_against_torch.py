"""Calls next to the samples, one argument changed a little, as in torch; what is refused has words.

Whether a call is taken, its values, and the class of its error are torch's but for `DIFFERENT`.
`refusals.txt` holds the errors of each operator, numbers as #. One that isn't raised any more is a
fault; for new words, `python -m tests.ops.refused` writes the file anew.
"""

import re
import warnings

import numpy as np
import pytest
from calls import outputs
from grouping import each
from refused import FILE, chosen, outcomes, shown
from test_op_nodes_against_torch import as_torch, functions

import autograd_cy as ag

torch = pytest.importorskip("torch")

CLASS = "torch lets an index into a missing dimension fail; here the shape is named"
EARLIER = "another of two faults is named first"
EMPTY = "nothing of nothing is a result; torch, or its library of transforms, refuses it"
MEANT = "a shape that only fits by chance is refused"
BROADCAST = "what broadcasts to the shape is taken"
# (operators, kinds of difference, labels that it is for): why.
DIFFERENT = [
    ("conv.*", "class refused taken shape", "size [01] of", EMPTY),
    ("convolution", "shape", "11: as it is", "no channels in, some out: torch forgets those"),
    ("(nn_functional_unfold|mv|addmv|baddbmm|addbmm|diff|diag_embed|group_norm|batch_norm)",
     "class", "", CLASS),
    ("(instance_norm|norm|rnn_tanh|rnn_relu)", "class", "", CLASS),
    ("(embedding|index_select|index_fill|index_reduce)", "class", "size", EARLIER),
    ("(index_add|batch_norm|instance_norm)", "refused", "size 0 of", EARLIER),
    ("(index_add|index_copy|scatter_.*|cat|cross_entropy|bilinear)", "class", "", CLASS),
    ("fft_(i|r|ir)?fft", "taken", "size 0 of", EMPTY),
    ("fft_r?fftfreq", "refused", "n=", "of no elements or fewer there are no frequencies"),
    ("(slice_scatter|narrow_copy)", "class", "", "the error of the view that it takes"),
    ("linalg_inv", "class", "", "the same class: torch has one of this name of its own"),
    ("bilinear|linear", "refused", "(bias|weight)", MEANT),
    ("linear", "taken", "6: input unsqueezed", "a vector as weight has a bias for any input"),
    ("cosine_embedding_loss", "values", "size 1 of", "norms are those of the broadcast vectors"),
    ("instance_norm", "taken", "(unsqueezed|size 0 of)", EMPTY),
    ("constant_pad_nd", "taken", "(size 0 of|pad=|7: )", EMPTY),
    ("nn_functional_pad", "class", "mode=", "the unused value is named first"),
    ("nn_functional_pad", "refused", "pad=", "reflections of nothing"),
    ("binary_cross_entropy_with_logits", "taken", "3: ", BROADCAST),
    ("nn_functional_adaptive_avg_pool3d", "taken", "size 0 of 1", EMPTY),
    ("(cross|addr|as_strided_scatter)", "taken", "", BROADCAST),
    ("addmv", "shape", "", "torch forgets to expand where a product is empty"),
    ("addbmm", "values", "alpha=inf", "the sum of the products is scaled, not each"),
    (".*_cell|rnn_tanh|rnn_relu", "class refused", "", MEANT),
    ("rnn_tanh|rnn_relu", "taken", "dropout=", "without training no dropout is looked at"),
    ("diff", "shape", "n=0", "what is put before and behind is there without a difference, too"),
    ("pixel_unshuffle", "shape", "size 0 of", "sizes follow the rule also where nothing is there"),
    ("cummax|cummin", "refused", "(dim=|5: )", "out of range; torch takes any for no element"),
    ("expand", "refused", "-2", "a size below -1 means nothing"),
    ("repeat_interleave", "taken", "of no dimension", "a number is repeated as a vector of one"),
    ("topk", "values", "size", "of equal numbers, or in no order, any is right"),
    ("kthvalue", "values", "size", "of equal numbers any is right"),
]  # fmt: skip
# Torch ends the process for some of these calls.
ENDS_TORCH = (
    "nn_functional_scaled_dot_product_attention", "lstm", "gru", "embedding_bag",
)  # fmt: skip
RANDOM = ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "rrelu")


def ours_and_torch(record):
    """All results of a record; torch's beside them where there are any."""
    function = None if record.key in ENDS_TORCH else functions(record, False)[1]
    for label, args, kwargs, found in outcomes(record):
        wanted = None
        if function is not None:
            try:
                wanted = function(*as_torch(args), **{k: as_torch(v) for k, v in kwargs.items()})
            except Exception as error:
                wanted = error
        yield label, found, wanted


def difference(record, found, wanted):
    """Describe the difference between two results, or return None."""
    refused = [isinstance(x, Exception) for x in (found, wanted)]
    if all(refused):
        return None if isinstance(found, type(wanted)) else "class"
    if any(refused):
        return "refused" if refused[0] else "taken"
    for ours, theirs in zip(outputs(found), outputs(wanted)):
        if isinstance(ours, ag.Tensor) and (text := of_tensors(record, ours, theirs)):
            return text
    return None


def of_tensors(record, ours, theirs):
    if tuple(ours.shape) != tuple(theirs.shape):
        return "shape"
    if str(ours.dtype).rpartition(".")[2] != str(theirs.dtype).rpartition(".")[2]:
        return "dtype"
    if record.key in RANDOM:
        return None
    a, b = (x.detach().resolve_conj().resolve_neg().numpy() for x in (ours, theirs))
    return None if np.allclose(a, b, rtol=1e-7, atol=1e-9, equal_nan=True) else "values"


def reason(record, kind, label):
    for names, kinds, labels, text in DIFFERENT:
        if kind in kinds.split() and re.fullmatch(names, record.key) and re.search(labels, label):
            return text
    return None


WORDS: dict[str, set[str]] = {}
for line in FILE.read_text().splitlines():
    name, _, text = line.partition(": ")
    WORDS.setdefault(name, set()).add(text)


@each("record", [pytest.param(r, id=r.key) for r in chosen()])
def test_calls_next_to_samples(record):
    said, faults = set(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label, found, wanted in ours_and_torch(record):
            if isinstance(found, Exception):
                said.add(shown(found))
            kind = difference(record, found, wanted) if wanted is not None else None
            if kind is not None and reason(record, kind, label) is None:
                faults.append(f"{label}: {kind}: {found!r:.120}, torch: {wanted!r:.120}")
    assert not faults, "\n".join(faults)
    assert said == WORDS.get(record.key, set())
