"""Reductions and softmax on `meta`: sizes, dtypes, errors and gradients without a number."""

import pytest
from grouping import each
from helpers import claimed, family, meta_agrees, meta_gradients_agree

import autograd_cy as ag

CASES = family("reduction", "statistics", keep=lambda r: r.kernel.shape is not None) + family(
    "softmax"
)


@each("case,dtype", claimed(CASES, "float64", "complex64", "int32", "bfloat16", "bool"))
def test_results_are_sized_as_on_the_cpu(case, dtype):
    meta_agrees(case, dtype)


@each("case", CASES)
def test_gradients_are_sized_as_on_the_cpu(case):
    meta_gradients_agree(case)


BAD = [
    (ag.sum, (2, 3), 2),
    (ag.sum, (2, 3), (0, -2)),
    (ag.mean, (2, 3), -3),
    (ag.amax, (2, 0), 1),
    (ag.amin, (2, 0)),
    (ag.max, (0,)),
    (ag.max, (2, 0), 1),
    (ag.argmin, (2, 0), 1),
    (ag.argmax, (0, 2)),
    (ag.all, (2, 3), 5),
    (ag.logsumexp, (2, 3), (1, 1)),
    (ag.std, (2, 3), (1, -1)),
    (ag.var_mean, (2, 3), 4),
    (ag.cumsum, (2, 3), 3),
    (ag.prod, (2, 3), -4),
    (ag.softmax, (2, 3), 2),
    (ag.log_softmax, (), 1),
]


@pytest.mark.parametrize("case", BAD, ids=lambda case: f"{case[0].__name__}-{case[1:]}")
def test_wrong_dimensions_have_the_same_error(case):
    function, shape, *rest = case
    texts = []
    for device in ("cpu", "meta"):
        with pytest.raises((RuntimeError, IndexError)) as caught:
            function(ag.empty(shape, device=device), *rest)
        texts.append((type(caught.value), str(caught.value)))
    assert texts[0] == texts[1]


def test_dtypes_are_refused_alike():
    for function in (ag.mean, ag.std, ag.amax, ag.argmax):
        dtype = ag.complex64 if function in (ag.amax, ag.argmax) else ag.int64
        for device in ("cpu", "meta"):
            words = "not implemented for|only support|must be floating|does not support"
            with pytest.raises((RuntimeError, NotImplementedError), match=words):
                function(ag.empty(3, dtype=dtype, device=device))


def test_gradients_of_what_was_broadcast():
    a = ag.empty(4, 1, device="meta", requires_grad=True)
    b = ag.empty(3, device="meta", requires_grad=True)
    (a * b).mean().backward()
    assert a.grad.shape == (4, 1) and b.grad.shape == (3,)
    assert str(b.grad.device) == "meta"


def test_out_on_meta_is_resized():
    values, where = ag.empty(0, device="meta"), ag.empty(0, dtype=ag.int64, device="meta")
    result = ag.max(ag.empty(3, 4, device="meta"), 1, out=(values, where))
    assert result.values is values and values.shape == where.shape == (3,)
    with pytest.raises(RuntimeError, match="Expected out tensor to have device"):
        ag.sum(ag.empty(3, 4, device="meta"), 1, out=ag.empty(3))
