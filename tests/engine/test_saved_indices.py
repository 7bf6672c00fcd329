"""Index tensors that a node keeps are saved tensors: hooks see them, changes are noticed."""

import gc
import weakref

import pytest

import autograd_cy as torch
from autograd_cy.autograd.graph import saved_tensors_hooks


def indexed(x, index):
    return x[index]


def put(x, index):
    return x.index_put((index,), torch.zeros(1))


@pytest.mark.parametrize("function", [indexed, put])
def test_hooks_pack_and_unpack_them(function):
    x = torch.arange(4.0).requires_grad_()
    packed, unpacked = [], []

    def pack(t):
        packed.append(t.tolist())
        return t.tolist()

    def unpack(kept):
        unpacked.append(kept)
        return torch.tensor(kept)

    index = torch.tensor([1, 2])
    with saved_tensors_hooks(pack, unpack):
        y = function(x, index)
    assert packed == [[1, 2]] and unpacked == []
    index.add_(1)  # what was packed doesn't change
    y.sum().backward()
    assert unpacked == [[1, 2]]
    expected = [0.0, 1.0, 1.0, 0.0] if function is indexed else [1.0, 0.0, 0.0, 1.0]
    assert x.grad.tolist() == expected


def test_they_are_shown_with_their_places():
    x = torch.ones(2, 3, 4, requires_grad=True)
    rows, columns = torch.tensor([0, 1]), torch.tensor([2, 0])
    node = x[rows, :, columns].grad_fn
    first, none, last = node._saved_indices
    assert first.tolist() == [0, 1] and none is None and last.tolist() == [2, 0]
    raw = node._raw_saved_indices
    assert raw[1] is None and raw[2].data.tolist() == [2, 0]
    raw[0].register_hooks(lambda t: t.tolist(), torch.tensor)
    assert node._saved_indices[0].tolist() == [0, 1]
    assert "_saved_indices" in dir(node) and "_raw_saved_indices" in dir(node)


def test_they_are_freed_and_the_error_says_so():
    x = torch.ones(3, requires_grad=True)
    index = torch.tensor([0])
    y = x[index]
    kept = weakref.ref(index)
    del index
    gc.collect()
    assert kept() is not None
    y.sum().backward()
    assert kept() is None
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        y.grad_fn._saved_indices
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        y.grad_fn._raw_saved_indices[0].unpack()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_a_change_of_any_is_an_error_that_shows_it():
    x = torch.ones(2, 3, 4, requires_grad=True)
    rows, columns = torch.tensor([0, 1]), torch.tensor([2, 0])
    y = x[rows, :, columns]
    columns.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    assert x.grad is None
