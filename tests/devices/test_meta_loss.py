"""Losses on `meta`: sizes, dtypes, errors and gradients without a number."""

import pytest
from grouping import each
from helpers import claimed, family, meta_agrees, meta_gradients_agree

import autograd_cy as ag
import autograd_cy.nn.functional as F

CASES = family("loss", keep=lambda r: r.kernel.shape is not None)


@each("case,dtype", claimed(CASES, "float64", "float32", "float16"))
def test_results_are_sized_as_on_the_cpu(case, dtype):
    meta_agrees(case, dtype)


@each("case", CASES)
def test_gradients_are_sized_as_on_the_cpu(case):
    meta_gradients_agree(case)


BAD = {
    "batch": (F.nll_loss, ((4, 3), (3,)), {}),
    "many targets": (F.nll_loss, ((4, 3), (4, 1)), {}),
    "one sample": (F.nll_loss, ((3,), (2,)), {}),
    "no classes": (F.nll_loss, ((), ()), {}),
    "dimensions": (F.nll_loss, ((4, 3, 1), (4,)), {}),
    "sizes": (F.cross_entropy, ((4, 3, 2), (4, 1)), {}),
    "weights": (F.nll_loss, ((4, 3), (4,)), {"weight": 4}),
    "squares": (ag.mse_loss, ((4, 3), (4,)), {}),
}


@pytest.mark.parametrize("name", BAD)
def test_shapes_that_do_not_fit_have_the_same_error(name):
    function, (shape, other), more = BAD[name]
    texts = []
    for device in ("cpu", "meta"):
        dtype = ag.float32 if function is ag.mse_loss else ag.int64
        options = {k: ag.empty(n, device=device) for k, n in more.items()}
        with pytest.raises((RuntimeError, ValueError)) as caught:
            function(
                ag.empty(shape, device=device),
                ag.zeros(other, dtype=dtype, device=device),
                **options,
            )
        texts.append((type(caught.value), str(caught.value)))
    assert texts[0] == texts[1]
    assert "_mse_loss" not in texts[0][1]


@pytest.mark.parametrize("dtype", [ag.int32, ag.float32])
def test_targets_are_classes(dtype):
    for device in ("cpu", "meta"):
        with pytest.raises(RuntimeError, match="expected scalar type Long"):
            F.nll_loss(ag.empty(4, 3, device=device), ag.empty(4, dtype=dtype, device=device))


def test_a_network_learns_nothing_on_meta():
    w = ag.empty(3, 5, device="meta", requires_grad=True)
    x, t = ag.empty(7, 3, device="meta"), ag.empty(7, dtype=ag.int64, device="meta")
    scores = x @ w
    loss = F.cross_entropy(scores, t, label_smoothing=0.1) + F.mse_loss(scores, scores.detach())
    loss.backward()
    assert loss.shape == () and w.grad.shape == (3, 5)
    assert str(w.grad.device) == "meta"
