"""Versions that are shared through the graph, and in-place operations that they refuse."""

import gc

import pytest

import autograd_cy.legacy as torch
from autograd_cy.legacy.autograd import Function, Variable
from autograd_cy.legacy.autograd.function import InplaceFunction


def ones(*size, **flags):
    return Variable(torch.ones(*size), **flags)


VIEWS = {
    "index": lambda x: x[0],
    "view": lambda x: x.view(-1),
    "t": lambda x: x.t(),
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute(1, 0),
    "expand": lambda x: x.unsqueeze(0).expand(3, 2, 2),
    "squeeze": lambda x: x.squeeze(),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "chunk": lambda x: x.chunk(2),
    "split": lambda x: x.split(1),
    "select": lambda x: x.select(1, 0),
    "narrow": lambda x: x.narrow(0, 0, 1),
    "iteration": list,
    "resize": lambda x: x.resize(4),
    "detach": lambda x: x.detach(),
    "type": lambda x: x.float(),
    "cpu": lambda x: x.cpu(),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("flags", [{}, {"requires_grad": True}, {"volatile": True}], ids=str)
def test_views_share_a_version_and_are_refused_in_place_while_they_live(name, flags):
    x = ones(2, 2, **flags) * 1
    view = VIEWS[name](x)
    one = view[0] if isinstance(view, (list, tuple)) else view
    for v in (x, one):
        before = v.data.clone()
        with pytest.raises(RuntimeError, match="share storage"):
            v.add_(1)
        assert v.data.equal(before), "refused, but written"
    assert x._version == one._version == 0
    del view, one, v
    x.add_(1)
    assert x._version == 1


@pytest.mark.parametrize(
    "copy",
    [
        lambda x: x.clone(),
        lambda x: x.repeat(1, 1),
        lambda x: x[torch.LongTensor([0])],
        lambda x: x.masked_select(x > 0),
        lambda x: x + 0,
        lambda x: x.double(),
        lambda x: torch.cat([x]),
        lambda x: x.tril(),
        lambda x: x.diag(),
    ],
)
def test_copies_do_not_share(copy):
    x = ones(2, 2)
    y = copy(x)
    x.add_(1)
    y.neg_()
    assert x._version == y._version == 1


def test_the_version_is_that_of_all_and_survives_views():
    x = ones(2)
    x.add_(1)
    d = x.detach()
    assert d._version == 1
    del d
    x.mul_(2)
    assert x._version == 2 and x.detach()._version == 2


def test_many_views_that_are_gone_are_forgotten():
    x = ones(4)
    for _ in range(1000):
        x[0]
    assert len(x._ver._sharers) < 100
    x.add_(1)


def test_dirty_inputs_are_counted_each():
    class Both(Function):
        def forward(self, a, b):
            self.mark_dirty(a, b)
            return a.add_(1), b.add_(2)

    a, b = ones(1), ones(1)
    c, d = Both()(a, b)
    assert c is a and d is b and a._version == b._version == 1
    assert a.creator is b.creator and (a.output_nr, b.output_nr) == (0, 1)


def test_an_untouched_input_that_is_returned_shares():
    class Same(Function):
        def forward(self, x):
            return x

        def backward(self, grad):
            return grad

    x = ones(2, requires_grad=True) * 1
    y = Same()(x)
    assert y is not x and y.data is x.data
    with pytest.raises(RuntimeError, match="share storage"):
        y.add_(1)
    del x
    y.add_(1)
    assert y._version == 1


def test_marked_pairs_share():
    class View(Function):
        def forward(self, a, b):
            out, other = a.view(-1), b.view(-1)
            self.mark_shared_storage((a, out), (b, other))
            return out, other

    a, b = ones(2), ones(2)
    out, other = View()(a, b)
    for v in (a, b, out, other):
        with pytest.raises(RuntimeError, match="share storage"):
            v.add_(1)
    del out
    a.add_(1)
    assert (a._version, b._version) == (1, 0)


def test_two_versions_may_become_one():
    class Join(Function):
        def forward(self, a, b):
            out = a.view(-1)
            self.mark_shared_storage((a, out), (b, out))
            return out

    data = torch.ones(2)
    a, b = Variable(data), Variable(data.view(2))
    a.add_(1)
    kept = b * ones(2, requires_grad=True)  # saves b under its version of then
    out = Join()(a, b)
    assert a._version == b._version == out._version
    with pytest.raises(RuntimeError, match="3 objects"):
        a.add_(1)
    del out
    del a
    b.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        kept.sum().backward()


def test_a_marked_pair_must_be_an_input_and_an_output():
    class Wrong(Function):
        def forward(self, x):
            self.mark_shared_storage(self.pairs(x))
            return x.clone()

    Wrong.pairs = lambda self, x: (x, x.clone())
    with pytest.raises(RuntimeError, match="mark_shared_storage"):
        Wrong()(ones(1))
    Wrong.pairs = lambda self, x: x
    with pytest.raises(RuntimeError, match="mark_shared_storage"):
        Wrong()(ones(1))


# The graph ------------------------------------------------------------------------------------


def test_an_in_place_operation_moves_the_variable_in_the_graph():
    x = ones(2, requires_grad=True)
    y = x * 3
    first = y.creator
    assert y.exp_() is y
    assert y.creator is not first and y.creator.previous_functions == ((first, 0),)
    y.sum().backward()
    assert x.grad.data.sub(3 * torch.ones(2).mul(3).exp()).abs().max() < 1e-4


def test_a_leaf_that_requires_grad_is_refused_before_it_is_written():
    x = ones(2, requires_grad=True)
    for change in (
        lambda: x.add_(1),
        lambda: x.add_(ones(2)),
        lambda: x.mul_(2),
        lambda: x.exp_(),
        lambda: x.__setitem__(0, 5),
        lambda: x.__setitem__(x > 0, 5),
        lambda: x.index_fill_(0, Variable(torch.LongTensor([0])), 5),
    ):
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used"):
            change()
        assert x.data.tolist() == [1, 1] and x._version == 0

    class Mine(InplaceFunction):
        def forward(self, x):
            self.mark_dirty(x)
            return x.add_(1)

    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used"):
        Mine(True)(x)


def test_another_leaf_may_be_changed_and_a_dummy_stands_for_it():
    x = ones(2)
    y = ones(2, requires_grad=True)
    x.add_(y)
    assert x.requires_grad and x.creator is not None
    (dummy, number), (leaf, _) = x.creator.previous_functions
    assert isinstance(dummy, Variable) and dummy is not x and number == 0 and leaf is y
    assert dummy.creator is None and not dummy.requires_grad
    (x * 2).sum().backward()
    assert y.grad.data.tolist() == [2, 2] and x.grad is None


def test_assigning_a_part_makes_a_leaf_require_grad():
    x, y = ones(2, 2), ones(2, requires_grad=True)
    assert not x.requires_grad
    x[0] = y
    assert x.requires_grad
    x.sum().backward()
    assert y.grad.data.tolist() == [1, 1]


def test_no_cycle_keeps_a_changed_leaf():
    import weakref

    gc.collect()
    gc.disable()
    try:
        x = ones(2)
        x.add_(1)
        gone = weakref.ref(x)
        del x
        assert gone() is None
    finally:
        gc.enable()


def test_what_was_saved_must_not_have_changed():
    x = ones(2, requires_grad=True)
    y = x + 1
    z = y + 2  # saves nothing
    y.add_(1)
    z.sum().backward()
    y = x + 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    y = x + 1
    y.exp_()  # saves what it made
    y.sum().backward()
    y = (x + 1).exp_()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_change_through_a_view_is_seen_by_what_saved_the_whole():
    x = ones(2, requires_grad=True)
    y = x + 1
    z = y * y
    d = y.detach()
    del y
    d.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_the_error_comes_when_saved_tensors_are_read():
    class Careless(Function):
        def forward(self, x):
            self.save_for_backward(x)
            return x * 2

        def backward(self, grad):
            return grad * 2

    x = ones(2, requires_grad=True)
    y = x + 1
    z = Careless()(y)
    y.add_(1)
    z.sum().backward()
    assert x.grad.data.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="second time"):
        _ = z.creator.saved_tensors


def test_writes_through_data_are_not_seen():
    x = ones(2, requires_grad=True)
    y = x * x
    x.data.fill_(5)
    assert x._version == 0
    y.sum().backward()
    assert x.grad.data.tolist() == [10, 10]


def test_a_variable_may_be_added_to_itself_in_place():
    x = ones(2, requires_grad=True)
    y = x * 1
    y.add_(y)
    y.sum().backward()
    assert x.grad.data.tolist() == [2, 2]
