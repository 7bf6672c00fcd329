"""Saved-tensor hooks that change which hooks apply, and what the mutation guard shows."""

import gc
import weakref

import pytest

import autograd_cy as torch
from autograd_cy.autograd import graph

Hooks = graph.saved_tensors_hooks


def same(t):
    return t


def leaf():
    return torch.ones(2, requires_grad=True)


def saved_with(unpack):
    x = leaf()
    with Hooks(same, unpack):
        y = x.exp()
    return x, y.sum()


def test_a_context_that_is_left_inside_of_backward_is_still_entered_after_it():
    seen = []
    outer = Hooks(lambda t: seen.append(1) or t, same)

    def unpack(t):
        outer.__exit__()
        leaf().exp()
        assert seen == []
        return t

    x, total = saved_with(unpack)
    outer.__enter__()
    try:
        total.backward()
        leaf().exp()
        assert seen == [1]
    finally:
        outer.__exit__()
    leaf().exp()
    assert seen == [1] and x.grad is not None


def test_hooks_that_are_entered_inside_of_backward_are_gone_after_it():
    class Pack:
        def __call__(self, t):
            return t

    pack = Pack()
    ref = weakref.ref(pack)
    inner = [Hooks(pack, pack)]
    del pack

    def unpack(t):
        inner.pop().__enter__()
        return t

    _, total = saved_with(unpack)
    gc.disable()
    try:
        total.backward()
        assert ref() is None
    finally:
        gc.enable()
    with graph.disable_saved_tensors_hooks("allowed: there are none left"):
        pass


def test_what_a_failing_hook_has_entered_is_gone_too():
    seen = []

    def unpack(t):
        Hooks(lambda t: seen.append(1) or t, same).__enter__()
        raise KeyError

    _, total = saved_with(unpack)
    with pytest.raises(KeyError):
        total.backward()
    leaf().exp()
    assert seen == []


def test_numbers_of_outputs_are_kept_by_hooks():
    x = leaf()
    a, b = (x * 3).unbind()
    seen = []

    def pack(t):
        seen.append((t.grad_fn, t.output_nr))
        return t

    with Hooks(pack, lambda t: t.detach()):
        total = a * b
    made = torch.autograd.grad(total, x, create_graph=True)[0]
    assert made.tolist() == [9.0, 9.0]
    # d(a b)/da = b: the second derivative with respect to x is that of the other output.
    assert torch.autograd.grad(made[0], x)[0].tolist() == [0.0, 9.0]
    assert sorted(nr for _, nr in seen) == [0, 1]


# --- allow_mutation_on_saved_tensors ----------------------------------------------------------

allow = graph.allow_mutation_on_saved_tensors


def test_a_saved_tensor_is_watched_and_cloned_once():
    with allow() as context:
        x = leaf()
        a = x.clone()
        out = (a * a).sum() + (a**2).sum()
        assert len(context.tid_to_weakhandle) == 1 and len(context.cloned) == 0
        assert len(context.original) == len(context.sid_to_tid) == 1
        a.mul_(3)
        a.mul_(3)
        assert [t.tolist() for _, t in context.cloned.items()] == [[1.0, 1.0]]
        assert len(context.original) == 0
        out.backward()
        assert x.grad.tolist() == [4.0, 4.0]
        assert len(context.cloned) == len(context.tid_to_weakhandle) == 0


def by_view(a):
    a[:1].zero_()


def by_out(a):
    torch.add(torch.zeros(2), 1, out=a.detach())


@pytest.mark.parametrize("write", [by_view, by_out, lambda a: a.zero_()])
def test_every_way_to_write_makes_a_clone(write):
    with allow() as context:
        x = leaf()
        a = x * 2
        out = a.square().sum()
        write(a)
        assert [t.tolist() for _, t in context.cloned.items()] == [[2.0, 2.0]]
        out.backward()
        assert x.grad.tolist() == [8.0, 8.0]


def test_a_write_to_the_base_clones_what_a_view_has_saved():
    with allow() as context:
        x = leaf()
        base = x * 2
        out = base[:1].square().sum()
        base.zero_()
        assert [t.tolist() for _, t in context.cloned.items()] == [[2.0]]
        out.backward()
        assert x.grad.tolist() == [8.0, 0.0]


def test_each_version_that_is_needed_is_cloned():
    with allow() as context:
        x = leaf()
        a = x * 1
        first = a.square()
        a.detach().add_(1)
        second = a.square()
        a.detach().add_(1)
        assert sorted(t.tolist() for _, t in context.cloned.items()) == [[1.0] * 2, [2.0] * 2]
        (first + second).sum().backward()
        assert x.grad.tolist() == [6.0, 6.0]


def test_nothing_is_cloned_for_a_graph_that_is_gone_and_clones_go_with_theirs():
    with allow() as context:
        a = leaf() * 1
        out = a.square()
        del out
        a.detach().zero_()
        assert len(context.cloned) == len(context.tid_to_weakhandle) == 0
        out = a.square()
        a.detach().zero_()
        assert len(context.cloned) == 1
        del out
        assert len(context.cloned) == 0


def test_a_detached_tensor_does_not_stand_for_the_leaf():
    with allow():
        x = leaf()
        y = x.detach() * x
        (made,) = torch.autograd.grad((y * x).sum(), x, create_graph=True)
        # y = c x, so d/dx of c x^2 is 2 c x, and its derivative 2 c: c is a constant.
        assert torch.autograd.grad(made.sum(), x)[0].tolist() == [2.0, 2.0]


@pytest.mark.parametrize("leave", [lambda context: context.clear(), None])
def test_backward_outside_of_the_context(leave):
    with allow() as context:
        out = leaf().exp().sum()
        if leave is not None:
            leave(context)
            with pytest.raises(AssertionError, match="Trying to backward outside of the 'allow_mu"):
                out.backward()
    with pytest.raises(AssertionError, match="Trying to backward outside of the 'allow_mutation"):
        out.backward()
