"""Products on `meta`: sizes, dtypes, errors and gradients without a number."""

import pytest
from grouping import each
from helpers import family, meta_agrees, meta_gradients_agree

import autograd_cy as ag

PRODUCTS = family("products")
LINEAR = family("linear", keep=lambda r: r.key == "linear")


@pytest.mark.parametrize("dtype", ["float64", "complex64", "int32"])
@each("case", PRODUCTS + LINEAR)
def test_results_are_sized_as_on_the_cpu(case, dtype):
    meta_agrees(case, dtype)


@each("case", PRODUCTS + LINEAR)
def test_gradients_are_sized_as_on_the_cpu(case):
    meta_gradients_agree(case)


BAD = [
    (ag.mm, (3, 4), (3, 4)),
    (ag.mm, (3,), (3, 4)),
    (ag.bmm, (2, 3, 4), (2, 3, 4)),
    (ag.bmm, (3, 4), (4, 2)),
    (ag.dot, (3,), (4,)),
    (ag.dot, (3, 1), (3,)),
    (ag.mv, (3, 4), (3,)),
    (ag.addmm, (5,), (3, 4), (4, 2)),
    (ag.addmm, (1, 3, 2), (3, 4), (4, 2)),
    (ag.addmm, (3, 2), (3, 4), (3, 2)),
    (ag.nn.functional.linear, (3, 4), (5,)),
    (ag.nn.functional.linear, (), (2, 4)),
    (ag.nn.functional.linear, (3, 4), (2, 3)),
    (ag.nn.functional.linear, (3, 4), (2, 4), (3,)),
]


@pytest.mark.parametrize("case", BAD, ids=lambda case: f"{case[0].__name__}-{case[1:]}")
def test_shapes_that_do_not_fit_have_the_same_error(case):
    function, *shapes = case
    texts = []
    for device in ("cpu", "meta"):
        with pytest.raises(RuntimeError) as caught:
            function(*(ag.empty(shape, device=device) for shape in shapes))
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("function", [ag.mm, ag.addmm, ag.nn.functional.linear])
def test_dtypes_that_differ_have_the_same_error(function):
    texts = []
    for device in ("cpu", "meta"):
        a, b = ag.empty(3, 3, device=device), ag.empty(3, 3, device=device, dtype=ag.float64)
        with pytest.raises(RuntimeError, match="dtype") as caught:
            function(a, b) if function is not ag.addmm else function(a, a, b)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_two_devices_are_refused():
    with pytest.raises(RuntimeError, match="at least two devices"):
        ag.mm(ag.ones(2, 2), ag.ones(2, 2, device="meta"))


def test_a_perceptron_has_sizes_and_gradients():
    x = ag.empty(5, 4, device="meta")
    first = ag.empty(8, 4, device="meta", requires_grad=True)
    bias = ag.empty(8, device="meta", requires_grad=True)
    second = ag.empty(3, 8, device="meta", requires_grad=True)
    y = ag.nn.functional.linear(ag.nn.functional.linear(x, first, bias).tanh(), second)
    assert y.shape == (5, 3)
    grads = ag.autograd.grad(y, [first, second], ag.empty(5, 3, device="meta"))
    assert [tuple(g.shape) for g in grads] == [(8, 4), (3, 8)]
