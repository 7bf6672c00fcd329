"""A dimension may be counted from either end: values and derivatives of all orders are the same."""

from dataclasses import replace

import numpy as np
import pytest
from calls import cases, make, outputs, tensor, to_array
from derivatives import differentiable_outputs, gradients, random_like, weights_of
from grouping import each

import autograd_cy as ag
from autograd_cy.autograd import forward_ad as fwAD
from autograd_cy.ops import _schema as schema

# Operators whose dimensions count those of the result, which has one more.
ONE_MORE = ("unsqueeze", "stack", "diag_embed")
DIM_TYPES = ("dim", "dim?", "dims", "dims?")
NAMES = ("dim", "dims", "dim0", "dim1", "dim2", "axis", "start_dim", "end_dim")


def is_dim(argument):
    return argument.type in DIM_TYPES or argument.name in NAMES


def dims_of_first(case):
    """Count the dimensions that a `dim` argument of this case may name."""
    first = case.sample.args[0]
    if isinstance(first, tuple):
        first = max(first, key=lambda x: len(x.shape))
    return max(len(first.shape) + (case.record.name in ONE_MORE), 1)


def turned(x, nd):
    """Count the dimensions from the other end; None if there are none."""
    if isinstance(x, bool) or not isinstance(x, (int, tuple, list)):
        return None
    if isinstance(x, int):
        return x - nd if x >= 0 else x + nd
    if not x or not all(type(d) is int for d in x):
        return None
    return type(x)(d - nd if d >= 0 else d + nd for d in x)


def turned_sample(case):
    """The sample with all its dimensions counted from the other end, or None."""
    nd = dims_of_first(case)
    arguments = {a.name: a for a in case.record.args}
    found = False
    args, kwargs = list(case.sample.args), dict(case.sample.kwargs)
    for i, a in enumerate(case.record.args[: len(args)]):
        other = turned(args[i], nd) if is_dim(a) else None
        if other is not None:
            args[i], found = other, True
    for name, x in kwargs.items():
        other = turned(x, nd) if name in arguments and is_dim(arguments[name]) else None
        if other is not None:
            kwargs[name], found = other, True
    return replace(case.sample, args=tuple(args), kwargs=kwargs) if found else None


def with_dims():
    # Names with an underscore are for formulas: some count the dimensions of a size they are given.
    found = cases(
        lambda r: (
            any(is_dim(a) for a in r.args)
            and r.args[0].is_tensor
            and not r.name.startswith("_")
            and r.name != "tile"  # whose `dims` are numbers of copies
        )
    )
    return [
        p
        for p in found
        if isinstance(p.values[0].sample.args[0], (schema.arg, tuple))
        and turned_sample(p.values[0]) is not None
    ]


def derivatives(call, rng):
    """Values, gradients, second derivatives and forward derivatives, as one list of arrays."""
    found = [to_array(t) for t in outputs(call(call.tensors()))]
    if not call.moving or not differentiable_outputs(call, call(call.tensors())):
        return found
    weights = weights_of(call, rng)
    grads, ins, given = gradients(call, call.arrays, weights, create_graph=True)
    found += [to_array(g) for g in grads]
    live = [g for g in grads if g.requires_grad]
    if live:
        seeds = [tensor(random_like(to_array(g), rng)) for g in live]
        sources = [*[ins[i] for i in call.moving], *given]
        second = ag.autograd.grad(live, sources, seeds, allow_unused=True)
        found += [np.zeros(0) if g is None else to_array(g) for g in second]
    with fwAD.dual_level():
        duals = [
            fwAD.make_dual(tensor(x.array), tensor(random_like(x.array, rng)))
            if i in call.moving
            else tensor(x.array)
            for i, x in enumerate(call.leaves)
        ]
        for t in differentiable_outputs(call, call(duals)):
            tangent = fwAD.unpack_dual(t).tangent
            found.append(np.zeros(0) if tangent is None else to_array(tangent))
    return found


@each("case", with_dims())
def test_negative_dims_mean_those_counted_from_the_end(case):
    call = make(case)
    other = replace(call, sample=turned_sample(case))
    expected = derivatives(call, np.random.default_rng(1))
    found = derivatives(other, np.random.default_rng(1))
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a, b)


@each("case", with_dims())
def test_saved_dims_are_not_negative(case):
    call = make(case)
    for sample in (case.sample, turned_sample(case)):
        for t in outputs(replace(call, sample=sample)(call.tensors(grad=True))):
            node = t.grad_fn
            for name in dir(node) if node is not None else ():
                if name.startswith("_saved_dim") and case.record.name not in ONE_MORE:
                    saved = getattr(node, name)
                    dims = saved if isinstance(saved, tuple) else (saved,)
                    assert all(d is None or d >= 0 for d in dims), (node, name, saved)


@pytest.mark.parametrize("start", [-1, -4, 0, 3])
def test_narrow_counts_dims_and_starts_from_the_end(start):
    x = ag.ones(4, 9, requires_grad=True)
    for dim in (0, -2):
        x.grad = None
        (x.narrow(dim, start, 1) * 3).sum().backward()
        expected = np.zeros((4, 9))
        expected[start] = 3
        np.testing.assert_array_equal(x.grad.numpy(), expected)
