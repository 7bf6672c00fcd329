"""Arguments that no honest program passes: huge numbers, odd containers and kinds."""

from __future__ import annotations

import collections

import pytest

import autograd_cy as torch

BEYOND = (2**31, 2**32, -(2**32), 2**32 + 1, 2**62)
OVER_ONE_DIM = (
    "cumprod cumsum log_softmax max min softmax sort "
    "argsort argmax argmin unbind flip squeeze unsqueeze"
).split()


@pytest.mark.parametrize("dim", BEYOND)
@pytest.mark.parametrize("name", OVER_ONE_DIM)
def test_a_dimension_beyond_32_bits_is_out_of_range_and_not_cut_down(name, dim):
    x = torch.ones(2, 3)
    with pytest.raises(IndexError, match=rf"Dimension out of range .* but got {dim}"):
        getattr(x, name)(dim)


@pytest.mark.parametrize("dim", BEYOND)
def test_rearranging_along_a_dimension_beyond_32_bits_is_out_of_range(dim):
    x = torch.ones(2, 3)
    index = torch.zeros(1, 1, dtype=torch.int64)
    for attempt in (
        lambda: torch.cat([x, x], dim),
        lambda: torch.stack([x, x], dim),
        lambda: x.select(dim, 0),
        lambda: x.narrow(dim, 0, 1),
        lambda: x.gather(dim, index),
        lambda: x.scatter(dim, index, 1.0),
        lambda: x.index_select(dim, index[0]),
        lambda: x.topk(1, dim),
        lambda: x.unfold(dim, 1, 1),
        lambda: x.split(1, dim),
        lambda: x.chunk(1, dim),
        lambda: x.transpose(dim, 0),
        lambda: x.transpose_(0, dim),
        lambda: x.unsqueeze_(dim),
        lambda: x.cumsum_(dim),
    ):
        with pytest.raises(IndexError, match=rf"Dimension out of range .* but got {dim}"):
            attempt()
    assert x.tolist() == torch.ones(2, 3).tolist()


def test_tuple_subclasses_are_indices():
    x = torch.arange(6.0).reshape(2, 3)
    pair = collections.namedtuple("pair", "row column")
    assert x[torch.Size([1, 2])].item() == x[pair(1, 2)].item() == 5
    x[pair(0, 1)] = 9.0
    assert x[0, 1].item() == 9


def test_slices_end_where_the_tensor_ends_however_large_their_bounds():
    x = torch.arange(4.0)
    assert x[: 10**30].tolist() == x[-(10**30) :].tolist() == x.tolist()
    assert x[10**30 :].tolist() == []
    assert x[1 :: 10**30].tolist() == [1]


@pytest.mark.parametrize("part", [slice("a"), slice(1.5), slice(None, None, "a"), slice(None, 2j)])
def test_slice_bounds_must_be_integers(part):
    with pytest.raises(TypeError, match="slice indices must be integers or None"):
        torch.ones(3)[part]


@pytest.mark.parametrize("index", [0, [0], slice(0, 2)])
@pytest.mark.parametrize(
    ("dtype", "value"),
    [("float32", 1j), ("int64", 2j), ("int8", 300), ("int8", 1e10), ("int64", float("nan"))],
)
def test_an_element_takes_no_number_that_its_dtype_cannot_hold(index, dtype, value):
    x = torch.ones(3, dtype=getattr(torch, dtype))
    with pytest.raises(RuntimeError, match="value cannot be converted to type"):
        x[index] = value
    assert x.tolist() == [1, 1, 1]


def test_elements_take_what_their_dtype_holds_after_rounding():
    x = torch.zeros(2, dtype=torch.float16)
    x[0], x[[1]] = 1e10, 1 + 0j
    assert x.tolist() == [float("inf"), 1]


def test_more_pieces_than_memory_holds_fail_at_once():
    with pytest.raises(MemoryError):
        torch.ones(3).tensor_split(2**60)
    assert [len(t) for t in torch.ones(3).tensor_split(4)] == [1, 1, 1, 0]


class Secret:
    """Doesn't say of what class it is."""

    @property
    def __class__(self):
        raise ZeroDivisionError("secret")


TAKING_ANYTHING = {
    "Tensor": torch.Tensor,
    "Tensor of a list": lambda x: torch.Tensor([x]),
    "FloatTensor": torch.FloatTensor,
    "tensor": torch.tensor,
    "tensor of a list": lambda x: torch.tensor([1.0, x]),
    "as_tensor": torch.as_tensor,
    "Size": torch.Size,
    "Parameter": torch.nn.Parameter,
    "ones": torch.ones,
    "full": lambda x: torch.full((2,), x),
    "dtype": lambda x: torch.ones(2, dtype=x),
    "device": lambda x: torch.ones(2, device=x),
    "to": lambda x: torch.ones(2).to(x),
    "type": lambda x: torch.ones(2).type(x),
    "getitem": lambda x: torch.ones(2)[x],
    "getitem of a pair": lambda x: torch.ones(2, 2)[0, x],
    "setitem": lambda x: torch.ones(2).__setitem__(0, x),
    "add": lambda x: torch.add(torch.ones(2), x),
    "operator": lambda x: torch.ones(2) * x,
    "sum": lambda x: torch.ones(2).sum(x),
    "view": lambda x: torch.ones(2).view(x),
    "fill_": lambda x: torch.ones(2).fill_(x),
    "where": lambda x: torch.where(torch.ones(2) > 0, x, 1.0),
    "new_tensor": lambda x: torch.ones(2).new_tensor(x),
    "clamp": lambda x: torch.ones(2).clamp(x),
}


@pytest.mark.parametrize("name", TAKING_ANYTHING)
def test_an_object_that_does_not_say_its_class_ends_in_an_error(name):
    # An error that stays set while the work goes on ends as SystemError, or in another call.
    with pytest.raises(
        (ZeroDivisionError, TypeError, ValueError, IndexError, RuntimeError)
    ) as said:
        TAKING_ANYTHING[name](Secret())
    assert not isinstance(said.value, SystemError)
    assert torch.ones(2).tolist() == [1.0, 1.0]


def test_pieces_beyond_all_memory_are_refused_before_the_first_is_made():
    x = torch.zeros(1).expand(2**50)
    for take_apart in (iter, torch.unbind, list, lambda x: [*zip(x, x)]):
        with pytest.raises(MemoryError):
            take_apart(x)
    assert len(torch.zeros(1).expand(2**10).unbind()) == 2**10


class Emptying(list):
    """A list that is empty once one of its numbers has been asked."""


@pytest.mark.parametrize("kind", [list, Emptying])
def test_sizes_that_vanish_while_they_are_read(kind):
    """The sizes are those that the list had, or that it still has: memory behind it is not read."""
    sizes = kind()

    class Number:
        def __index__(self):
            sizes.clear()
            return 2

    def again():
        sizes[:] = [Number(), Number(), Number()]
        return sizes

    one, strides, shapes = torch.ones(1), (4, 2, 1), ((2, 2, 2), (2,))
    for make in (torch.zeros, torch.ones, torch.empty, torch.rand, torch.randn, one.new_zeros):
        assert make(again()).shape in shapes and not sizes
        assert make(size=again()).shape in shapes
    assert torch.full(again(), 3.0).tolist() == [[[3.0] * 2] * 2] * 2
    assert torch.randint(5, again()).shape in shapes
    assert torch.normal(0.0, 1.0, again()).shape in shapes
    assert torch.empty_strided(again(), strides).stride() == strides
    assert torch.empty_strided((2, 2, 2), again()).stride() == (2, 2, 2)
    assert torch.zeros(again(), device="meta").shape == (2, 2, 2)
    assert one.expand(again()).shape in shapes and one.repeat(again()).shape in shapes
