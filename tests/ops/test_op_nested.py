"""Second derivatives of every record by nested transformations: all orders of modes agree.

Forward over forward, forward over reverse and reverse over forward are computed by different rules;
batched, they also go through the vmap rule of the record and those of its derivatives.
"""

import numpy as np
import pytest
from calls import CLASS_OF, cases, few, make, tensor, to_array
from derivatives import differentiable_outputs, inner, random_like, smooth, weights_of
from grouping import each

import autograd_cy as ag
from autograd_cy.func import jvp, vjp, vmap
from autograd_cy.ops import _schema as schema

SIZE = 2


def prepared(case):
    """(call, function of its moving arguments, their values) of each dtype with something to do."""
    for name in ("float64", "complex128"):
        if CLASS_OF[name] not in case.record.call.dtypes:
            continue
        call = make(case, name)
        if not call.moving or not differentiable_outputs(call, call(call.tensors())):
            continue

        def function(*moving, call=call):
            tensors = call.tensors()
            for place, t in zip(call.moving, moving):
                tensors[place] = t
            return tuple(differentiable_outputs(call, call(tensors)))

        yield call, function, tuple(tensor(call.arrays[i]) for i in call.moving)


def total(weights, results):
    return sum(inner(w, to_array(x.detach())) for w, x in zip(weights, results))


@each("case", few(cases(smooth), 1))
def test_orders_of_modes_agree(case):
    for call, f, xs in prepared(case):
        rng = np.random.default_rng(case.number)
        weights = weights_of(call, rng)
        u, v = (tuple(tensor(random_like(to_array(x), rng)) for x in xs) for _ in range(2))
        seeds = tuple(tensor(w) for w in weights)

        def derivative(*xs, f=f, u=u):
            return jvp(f, xs, u)[1]

        def gradient(*xs, f=f, seeds=seeds):
            return vjp(f, *xs)[1](seeds)

        forward_forward = total(weights, jvp(derivative, xs, v)[1])
        directions = [to_array(t) for t in u]
        forward_reverse = total(directions, jvp(gradient, xs, v)[1])
        reverse_forward = total([to_array(t) for t in v], vjp(derivative, *xs)[1](seeds))
        scale = 1 + abs(forward_forward) + abs(reverse_forward)
        assert abs(forward_forward - forward_reverse) < 1e-9 * scale
        assert abs(forward_forward - reverse_forward) < 1e-9 * scale


@each(
    "case",
    few(
        cases(
            lambda r: (
                smooth(r) and not isinstance(r.batching.vmap, (schema.refuse, schema.randomly))
            )
        )
    ),
)
def test_batched_second_derivatives(case):
    if case.record.name.startswith("as_strided"):
        pytest.skip("what it sees of an example depends on where the batch lies in memory")
    for call, f, xs in prepared(case):
        rng = np.random.default_rng(case.number)
        seeds = tuple(tensor(w) for w in weights_of(call, rng))
        batches = tuple(
            tensor(np.stack([random_like(to_array(x), rng) for _ in range(SIZE)])) for x in xs
        )

        def second(*us, f=f, xs=xs, seeds=seeds):
            return jvp(lambda *ys: vjp(f, *ys)[1](seeds), xs, us)[1]

        def forward_twice(*us, f=f, xs=xs):
            return jvp(lambda *ys: jvp(f, ys, us)[1], xs, us)[1]

        for function in (second, forward_twice):
            found = vmap(function)(*batches)
            rows = [function(*[b[i] for b in batches]) for i in range(SIZE)]
            for x, *expected in zip(found, *rows):
                for i in range(SIZE):
                    np.testing.assert_allclose(
                        to_array(x[i].detach()), to_array(expected[i].detach()), 1e-9, 1e-9
                    )


@pytest.mark.slow
@each(
    "case",
    few(
        cases(
            lambda r: (
                smooth(r) and not isinstance(r.batching.vmap, (schema.refuse, schema.randomly))
            )
        )
    ),
)
def test_second_derivatives_of_several_examples(case):
    if case.record.name.startswith("as_strided"):
        pytest.skip("what it sees of an example depends on where the batch lies in memory")
    for call, f, xs in prepared(case):
        rng = np.random.default_rng(case.number)
        seeds = tuple(tensor(w) for w in weights_of(call, rng))
        # The same point for each: values that a sample needs, as those without ties, stay so.
        points = tuple(tensor(np.stack([to_array(x)] * SIZE)) for x in xs)
        ways = tuple(
            tensor(np.stack([random_like(to_array(x), rng) for _ in range(SIZE)])) for x in xs
        )
        n = len(xs)

        def over_reverse(*both, f=f, seeds=seeds, n=n):
            return jvp(lambda *ys: vjp(f, *ys)[1](seeds), both[:n], both[n:])[1]

        def over_forward(*both, f=f, seeds=seeds, n=n):
            return vjp(lambda *ys: jvp(f, ys, both[n:])[1], *both[:n])[1](seeds)

        for function in (over_reverse, over_forward):
            found = vmap(function)(*points, *ways)
            rows = [function(*[b[i] for b in (*points, *ways)]) for i in range(SIZE)]
            for x, *expected in zip(found, *rows):
                for i in range(SIZE):
                    np.testing.assert_allclose(
                        to_array(x[i].detach()), to_array(expected[i].detach()), 1e-9, 1e-9
                    )


def test_the_grad_mode_is_as_before():
    assert ag.is_grad_enabled()
