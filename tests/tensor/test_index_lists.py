"""Lists as indices: a flat one is an index tensor, one that holds anything but numbers a tuple."""

import numpy as np
import pytest

import autograd_cy as ag

T0, T1 = ag.tensor([0, 1]), ag.tensor([1, 2])
MASK = ag.tensor([True, False, True, False])
AS_TUPLES = {
    "two lists": [[0, 1], [1, 2]],
    "one list": [[0, 1]],
    "two tensors": [T0, T1],
    "one tensor": [T0],
    "lists that broadcast": [[1, 1, 3], [0]],
    "a slice and a list": [slice(None), [1, 2]],
    "a tensor and dots": [T0, Ellipsis],
    "None and an int": [None, 0],
    "tuples": [(0, 1), (1, 2)],
    "ranges": [range(2), range(2)],
    "arrays": [np.array([0, 1]), np.array([1, 2])],
    "a mask and an int": [MASK, 0],
    "a nested list": [[[0, 1], [1, 2]]],
    "an empty list": [[]],
}
DEPRECATED = "Using a non-tuple sequence for multidimensional indexing is deprecated"


def base(requires_grad=False):
    x = ag.arange(24, dtype=ag.float64).reshape(4, 3, 2)
    return x.requires_grad_(requires_grad)


@pytest.mark.parametrize("index", AS_TUPLES.values(), ids=AS_TUPLES)
def test_reading_by_a_list_that_holds_more_than_numbers_reads_by_a_tuple(index):
    x = base(True)
    with pytest.warns(UserWarning, match=DEPRECATED):
        y = x[index]
    wanted = base(True)
    same = wanted[tuple(index)]
    assert y.shape == same.shape
    assert y.tolist() == same.tolist()
    weights = ag.arange(1, y.numel() + 1, dtype=ag.float64).reshape(y.shape)
    (y * weights).sum().backward()
    (same * weights).sum().backward()
    assert x.grad.tolist() == wanted.grad.tolist()


@pytest.mark.parametrize("index", AS_TUPLES.values(), ids=AS_TUPLES)
def test_writing_by_such_a_list_writes_by_a_tuple(index):
    x, wanted = base(), base()
    value, other = (ag.tensor(-1.0, dtype=ag.float64, requires_grad=True) for _ in range(2))
    with pytest.warns(UserWarning, match=DEPRECATED):
        x[index] = value
    wanted[tuple(index)] = other
    assert x.tolist() == wanted.tolist()
    x.sum().backward()
    wanted.sum().backward()
    assert value.grad.item() == other.grad.item()


@pytest.mark.parametrize(
    ("index", "as_tensor"),
    [
        ([0, 2], [0, 2]),
        ([], np.zeros(0, "int64")),
        ([np.int64(0), 1], [0, 1]),
        ([True, False, True, False], [True, False, True, False]),
        ([0] * 40, [0] * 40),
        ([[0]] * 32, [[0]] * 32),
        (range(2), [0, 1]),
    ],
)
def test_flat_and_long_lists_are_index_tensors(index, as_tensor):
    x = base()
    y = x[index]
    assert y.tolist() == x[ag.tensor(as_tensor)].tolist()
    x[index] = -1.0
    assert (y != -1).all()
    assert (x[ag.tensor(as_tensor)] == -1).all()


def test_numbers_are_not_written_to_memory_that_elements_share():
    x = ag.zeros(1).expand(3)
    for index in (Ellipsis, slice(1, None), slice(None)):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            x[index] = 1.0
    assert x.tolist() == [0.0, 0.0, 0.0]
    x[0] = 1.0
    x[1:2] = 2.0
    assert x.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.filterwarnings(f"ignore:{DEPRECATED}:UserWarning")
def test_lists_that_hold_themselves_are_refused():
    alone, often = [], []
    alone.append(alone)
    often += [often] * 3
    x = ag.ones(3)
    for index in (alone, (alone,), often, (often, 0)):
        with pytest.raises((ValueError, IndexError), match="at most 64|too many indices"):
            x[index]
        with pytest.raises((ValueError, IndexError), match="at most 64|too many indices"):
            x[index] = 1.0
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_shapes_whose_product_leaves_64_bits_are_refused():
    for size in ((2,) * 64, (4,) * 32, (2**32, 2**32), (2**63 - 1, 2)):
        for x in (ag.zeros(0), ag.zeros(1)):
            with pytest.raises(RuntimeError):
                x.view(size)
            with pytest.raises(RuntimeError):
                x.reshape(size)
