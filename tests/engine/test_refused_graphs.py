"""Errors of freed graphs, of tensors without a history, and of wrong calls."""

import pytest
from call_tables import assert_refused

import autograd_cy as torch
from autograd_cy import autograd

x2 = torch.zeros(2)
i2 = torch.zeros(2, dtype=torch.int64)
leaf = torch.ones(2, requires_grad=True)


def assigned(name, value):
    t = torch.ones(2)
    setattr(t, name, value)


class Kept(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad


def freed(name):
    y = (leaf * leaf).exp()
    y.sum().backward()
    return getattr(y.grad_fn, name)


def freed_function(name):
    y = Kept.apply(leaf)
    y.sum().backward()
    return getattr(y.grad_fn, name)


def freed_list(name):
    y = torch.cat([leaf, leaf]).prod()
    y.backward()
    return getattr(y.grad_fn, name)


def freed_of(make, name):
    y = make(leaf)
    y.sum().backward()
    return getattr(y.grad_fn, name)


# call: (type of error, words of its message)
REFUSED = {
    "assigned('requires_grad', 1)": (RuntimeError, "requires_grad must be a bool"),
    "autograd.grad(5, leaf)": (TypeError, "Tensor"),
    "autograd.grad(leaf.sum(), 5)": (TypeError, "Tensor"),
    'freed_of(torch.exp, "_saved_result")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directl",
    ),
    "autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(1)": (RuntimeError, "a bool"),
    'freed_of(lambda l: l.pow(2), "_saved_exponent")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_of(lambda l: l.pow(2), "_saved_self")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_of(lambda l: l.clone()[torch.tensor([0,1])], "_saved_indices")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_of(lambda l: torch.index_select(l,0,i2), "_saved_index")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_of(lambda l: l.std(), "_saved_result")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_of(lambda l: torch.stack([l,l]).prod(0), "_saved_self")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    "(leaf*2).grad_fn(x2, x2)": (
        TypeError,
        "expected 1 arguments, got 2 instead (MulBackward0 takes one gradient",
    ),
    "x2.clone().requires_grad_(1)": (
        TypeError,
        "requires_grad_(): argument 'requires_grad' (position 1) must be bool,",
    ),
    "leaf.clone().register_post_accumulate_grad_hook(lambda t: None)": (
        RuntimeError,
        "post accumulate grad hooks cannot be registered on non-leaf tensors",
    ),
    'freed("_saved_result")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_function("saved_tensors")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_function("_raw_saved_tensors")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_list("_saved_self")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    "torch.autograd.graph.get_gradient_edge(x2)": (
        RuntimeError,
        "It is not possible to get the gradient edge for a Tensor that does",
    ),
}


def test_what_a_graph_cannot_answer_is_refused():
    assert_refused(REFUSED, globals())


def test_a_tensor_with_a_history_keeps_its_requires_grad():
    y = leaf * 2
    for value in (True, False):
        with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf"):
            y.requires_grad = value
    assert y.requires_grad
    x = torch.ones(2)
    x.requires_grad = False
    assert not x.requires_grad
