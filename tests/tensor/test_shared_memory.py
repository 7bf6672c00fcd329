"""Memory that processes share, elements that Python functions compute, and named numbers."""

import math
import multiprocessing

import pytest

import autograd_cy as ag


def test_constants_are_those_of_math():
    assert (ag.pi, ag.e, ag.inf) == (math.pi, math.e, math.inf)
    assert math.isnan(ag.nan) and ag.ones(2)[:, ag.newaxis].shape == (2, 1)


# --- elements by a Python function ------------------------------------------------------------


def test_apply_and_map_compute_each_element_in_order():
    x = ag.arange(4.0).reshape(2, 2).t()
    seen = []
    assert x.apply_(lambda v: seen.append(v) or v + 1) is x
    assert seen == [0, 2, 1, 3] and x.tolist() == [[1, 3], [2, 4]]
    assert x.map_(ag.tensor([10.0, 20.0]), lambda a, b: a * b).tolist() == [[10, 60], [20, 80]]
    assert ag.arange(3).apply_(lambda v: v * 1.7).tolist() == [0, 1, 3]
    assert ag.tensor([1j]).apply_(lambda v: v * 2).tolist() == [2j]
    assert ag.tensor([True, False]).apply_(lambda v: not v).tolist() == [False, True]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.apply_(lambda v: "a"), TypeError, "must be real number, not str"),
        (lambda x: x.apply_(3), TypeError, "'int' object is not callable"),
        (lambda x: x.map_(3, max), TypeError, "must be Tensor, not int"),
        (lambda x: x.map_(ag.arange(2), max), TypeError, "expected .*FloatTensor for 'other'"),
        (lambda x: x.map_(ag.ones(3), max), RuntimeError, "expanded size"),
        (lambda x: x.map_(ag.ones(2, requires_grad=True), max), RuntimeError, "Can't call map_"),
    ],
)
def test_apply_and_map_refuse_before_they_change_anything(call, error, message):
    x = ag.ones(2)
    with pytest.raises(error, match=message):
        call(x)
    assert x.tolist() == [1, 1] and x._version == 0


def test_apply_refuses_what_requires_grad_and_is_noticed_by_graphs_that_saved_the_value():
    x = ag.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Can't call apply_\(\) on Variable that requires grad"):
        x.apply_(abs)
    factor = ag.ones(2)
    y = x * factor
    factor.apply_(lambda v: v + 1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


# --- shared memory ----------------------------------------------------------------------------


def test_a_forked_process_writes_to_shared_memory():
    x = ag.zeros(3)
    assert not x.is_shared()
    assert x.share_memory_() is x
    assert x.is_shared() and x[1:].is_shared() and x.data.is_shared()
    context = multiprocessing.get_context("fork")
    process = context.Process(target=x.fill_, args=(7,))
    process.start()
    process.join()
    assert process.exitcode == 0 and x.tolist() == [7, 7, 7]


def test_sharing_keeps_values_strides_and_identity():
    x = ag.nn.Parameter(ag.arange(6.0).reshape(2, 3).t())
    stride, version = x.stride(), x._version
    x.share_memory_()
    assert x.stride() == stride and x._version == version
    assert x.requires_grad and x.is_leaf and x.tolist() == [[0, 3], [1, 4], [2, 5]]
    (x * 2).sum().backward()
    assert x.grad.tolist() == [[2, 2]] * 3
    assert ag.ones(0).share_memory_().is_shared()


def test_memory_of_several_tensors_is_not_moved():
    x = ag.ones(3)
    view, another = x[1:], x[:1]
    for t in (x, view, x.data):
        with pytest.raises(RuntimeError, match="other tensors .* use the memory"):
            t.share_memory_()
    assert not x.is_shared() and view._base is x and another.tolist() == [1]


# --- pieces and random ones -------------------------------------------------------------------


def test_split_with_sizes_gives_views_that_are_not_changed_in_place():
    x = ag.arange(6.0, requires_grad=True)
    first, second = ag.split_with_sizes(x * 1, [2, 4])
    assert type(first.grad_fn).__name__ == "SplitWithSizesBackward0"
    assert type(x.split([2, 4])[0].grad_fn).__name__ == "SplitWithSizesBackward0"
    assert type(x.split(2)[0].grad_fn).__name__ == "SplitBackward0"
    with pytest.raises(RuntimeError, match=r"Output 1 of SplitWithSizes.* is a view and is being"):
        second.mul_(2)


@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        ([2, 3], RuntimeError, r"to sum exactly to 6 \(input tensor's size at dimension 0\)"),
        ([2, -1, 5], RuntimeError, "have only non-negative entries"),
        ([], RuntimeError, "to sum exactly to 6"),
    ],
)
def test_split_with_sizes_refuses_sizes_that_do_not_fit(sizes, error, message):
    for function in (ag.split_with_sizes, ag.unsafe_split_with_sizes):
        with pytest.raises(error, match=message):
            function(ag.ones(6), sizes)


def test_unsafe_pieces_have_version_counters_of_their_own():
    x = ag.arange(6.0, requires_grad=True)
    for pieces in (
        ag.unsafe_split_with_sizes(x * 1, [2, 4]),
        ag.unsafe_split(x * 1, 3),
        ag.unsafe_chunk(x * 1, 2),
    ):
        first, second = pieces
        y = second * second
        first.mul_(2)
        assert (first._version, second._version) == (1, 0)
        x.grad = None
        (y.sum() + first.sum()).backward()
        n = len(first)
        assert x.grad.tolist() == [2.0] * n + [2.0 * i for i in range(n, 6)]


def test_bernoulli_is_a_method():
    assert ag.tensor([0.0, 1.0]).bernoulli().tolist() == [0, 1]
    assert ag.ones(3).bernoulli(0).tolist() == [0, 0, 0]
    x = ag.full((2,), 0.5, requires_grad=True)
    x.bernoulli().sum().backward()
    assert x.grad.tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="p"):
        ag.ones(3).bernoulli(2)
