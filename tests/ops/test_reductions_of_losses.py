"""Losses and their parts know three reductions, and refuse any other number by its value."""

import pytest
from calls import CLASS_OF, EVALUATOR, RECORDS, Case, make

# Torch takes another number for "none" in these, which functions of nn.functional never pass.
TAKE_ANY = (
    "margin_ranking_loss", "hinge_embedding_loss", "cosine_embedding_loss", "triplet_margin_loss",
    "poisson_nll_loss", "binary_cross_entropy_with_logits", "kl_div",
)  # fmt: skip
LOSSES = [
    r for r in RECORDS
    if r.tests.samples and r.key not in TAKE_ANY
    and any(a.name == "reduction" and a.type == "int" for a in r.args)
]  # fmt: skip


@pytest.mark.parametrize("value", [3, -1])
@pytest.mark.parametrize("record", LOSSES, ids=lambda r: r.key)
def test_another_reduction_is_refused(record, value):
    name = next(n for n in ("float64", "complex128", "int64") if CLASS_OF[n] in record.call.dtypes)
    call = make(Case(record, 0), name)
    given = call.named(call.tensors()) | {"reduction": value}
    positional = [given.pop(a.name) for a in record.args if not a.keyword]
    with pytest.raises((ValueError, RuntimeError), match=f"{value} is not a valid value for red"):
        EVALUATOR.form(record)(*positional, **given)
