"""Derivatives of calls by central differences, and what to compare with them.

A result counts through a real number: the sum of ``Re(conj(weight) * output)`` over all outputs.
The gradient of a complex input is the conjugate Wirtinger one, so that a step `u` changes that
number by ``Re(conj(gradient) * u)``.
"""

import numpy as np
from calls import outputs, tensor, to_array

import autograd_cy as ag
from autograd_cy.ops import _schema as schema

STEP = 1e-6
# Central differences in float64 with STEP are good to some 1e-9 of the function's size; the second
# derivative is one of a computed gradient, so it is as good.
RELATIVE = 2e-6


def inner(a, b):
    """Re(sum(conj(a) * b))."""
    return float(np.vdot(a, b).real)


def random_like(array, rng):
    x = rng.standard_normal(array.shape)
    if array.dtype.kind == "c":
        x = x + 1j * rng.standard_normal(array.shape)
    return np.asarray(x, array.dtype)


def smooth(record):
    """Return whether results of an operator can be differentiated."""
    vjp, kernel = record.derivatives.vjp, record.kernel
    if isinstance(vjp, schema.nondiff) or not any(c in record.call.dtypes for c in "fc"):
        return False
    return isinstance(vjp, dict) or isinstance(kernel, schema.composite)


def is_smooth(t):
    return t.dtype.is_floating_point or t.dtype.is_complex


def differentiable_outputs(call, result):
    """Outputs that a gradient can flow into."""
    kept = []
    for i, t in enumerate(outputs(result)):
        name = call.record.returns[i] if len(call.record.returns) > 1 else "result"
        if is_smooth(t) and name not in call.record.derivatives.nondiff_outputs:
            kept.append(t)
    return kept


def forward(call, arrays, form=None):
    """Differentiable outputs, as arrays, at other values of the tensor arguments."""
    result = call([tensor(a) for a in arrays], form)
    return [to_array(t) for t in differentiable_outputs(call, result)]


def weights_of(call, rng):
    return [random_like(x, rng) for x in forward(call, call.arrays)]


def loss(weights, results):
    return sum(inner(w, x) for w, x in zip(weights, results))


def shifted(arrays, place, direction, step):
    moved = list(arrays)
    moved[place] = np.asarray(arrays[place] + step * direction, arrays[place].dtype)
    return moved


def slope(function, arrays, place, direction):
    """Central difference of `function(arrays)` along a direction of one array."""
    up = function(shifted(arrays, place, direction, STEP))
    down = function(shifted(arrays, place, direction, -STEP))
    if isinstance(up, list):
        return [(x - y) / (2 * STEP) for x, y in zip(up, down)]
    return (up - down) / (2 * STEP)


def gradients(call, arrays, weights, create_graph=False, form=None):
    """(gradient tensors, input tensors, weight tensors) of the weighted sum."""
    ins = [tensor(a, requires_grad=x.differentiable) for a, x in zip(arrays, call.leaves)]
    result = call(ins, form)
    outs = differentiable_outputs(call, result)
    given = [tensor(w, requires_grad=create_graph) for w in weights]
    wanted = [ins[i] for i in call.moving]
    pairs = [(o, w) for o, w in zip(outs, given) if o.requires_grad]
    if not pairs:
        return [ag.zeros(t.shape, dtype=t.dtype) for t in wanted], ins, given
    grads = ag.autograd.grad(
        [o for o, _ in pairs],
        wanted,
        [w for _, w in pairs],
        create_graph=create_graph,
        allow_unused=True,
    )
    grads = [ag.zeros(t.shape, dtype=t.dtype) if g is None else g for g, t in zip(grads, wanted)]
    return grads, ins, given


def assert_close(value, expected, size, what):
    """`size` is that of the numbers which the difference was taken of."""
    bound = RELATIVE * max(abs(expected), size, 1.0)
    assert abs(value - expected) <= bound, f"{what}: {value!r}, by differences {expected!r}"


def check_first(call, rng, form=None):
    """Gradients of every differentiable argument against differences."""
    weights = weights_of(call, rng)
    grads, ins, _ = gradients(call, call.arrays, weights, form=form)
    for place, g in zip(call.moving, grads):
        array = call.arrays[place]
        assert tuple(g.shape) == array.shape, "the gradient has another shape than its argument"
        assert g.dtype == ins[place].dtype
        g = to_array(g)
        assert np.isfinite(g).all()
        u = random_like(array, rng)
        expected = slope(lambda a: loss(weights, forward(call, a)), call.arrays, place, u)
        what = f"gradient of {call.leaves[place].name}"
        assert_close(inner(g, u), expected, np.abs(g).sum(), what)


def check_second(call, rng):
    """Derivatives of the gradients with respect to the arguments and the incoming gradients."""
    weights = weights_of(call, rng)
    grads, ins, given = gradients(call, call.arrays, weights, create_graph=True)
    seconds = [random_like(to_array(g), rng) for g in grads]
    everything = [*call.arrays, *weights]
    count = len(call.arrays)

    def total(arrays):
        grads, _, _ = gradients(call, arrays[:count], arrays[count:])
        return loss(seconds, [to_array(g) for g in grads])

    live = [(g, tensor(s)) for g, s in zip(grads, seconds) if g.requires_grad]
    sources = [*[(i, ins[i]) for i in call.moving], *[(count + i, w) for i, w in enumerate(given)]]
    if live:
        found = ag.autograd.grad(
            [g for g, _ in live], [t for _, t in sources], [s for _, s in live], allow_unused=True
        )
    else:
        found = [None] * len(sources)
    for (place, _), g in zip(sources, found):
        array = everything[place]
        g = np.zeros_like(array) if g is None else to_array(g)
        assert np.isfinite(g).all()
        what = call.leaves[place].name if place < count else f"grad_output {place - count}"
        u = random_like(array, rng)
        expected = slope(total, everything, place, u)
        assert_close(inner(g, u), expected, np.abs(g).sum(), f"second derivative, {what}")
