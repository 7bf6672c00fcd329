"""Every operator on operands that lie oddly in memory: the results are those of dense copies.

Windows of larger tensors (so that dimensions of one element have strides, too), memory in the order
of channels, and strides of dimensions of one element that mean nothing.
"""

import numpy as np
import pytest
from calls import CLASS_OF, cases, make, outputs
from grouping import each

import autograd_cy as ag

# These are about the strides themselves.
OF_STRIDES = ("view", "view_as", "view_as_complex", "as_strided", "as_strided_scatter")
RANDOM = ("dropout", "rrelu", "bernoulli", "multinomial", "random", "rand", "normal")


def window(t):
    """A window of a tensor that is larger on both sides in every dimension."""
    room = ag.full([n + 3 for n in t.shape], 77, dtype=t.dtype)
    inside = room[tuple(slice(1, n + 1) for n in t.shape)]
    inside.copy_(t)
    return inside


def stepping(t):
    """Every second element of the last dimension, from a memory that does not begin there."""
    if not t.ndim:
        return window(t)
    room = ag.full([*t.shape[:-1], 2 * t.shape[-1] + 1], 77, dtype=t.dtype)
    room[..., 1::2].copy_(t)
    return room[..., 1::2]


def channels_last(t):
    """The second dimension lies innermost; the first is a window."""
    if t.ndim < 3:
        return window(t.t()).t() if t.ndim == 2 else stepping(t)
    order = [0, *range(2, t.ndim), 1]
    back = [0, t.ndim - 1, *range(1, t.ndim - 1)]
    return window(t.permute(order)).permute(back)


def odd_ones(t):
    """Strides of dimensions of one element are any number."""
    strides = [s if n != 1 else 5 + d for d, (n, s) in enumerate(zip(t.shape, t.stride()))]
    return t.clone().as_strided(t.shape, strides)


LAYOUTS = (window, stepping, channels_last, odd_ones)


def gradients(call, tensors, places):
    for i in places:
        tensors[i].requires_grad_(True)
    found = [t for t in outputs(call(tensors)) if isinstance(t, ag.Tensor)]
    used = [t for t in found if t.requires_grad]
    if not used:
        return found, []
    given = [ag.linspace(0.5, 1.5, t.numel()).reshape(t.shape).to(t.dtype) for t in used]
    wanted = [tensors[i] for i in places]
    return found, list(ag.autograd.grad(used, wanted, given, allow_unused=True))


def plain(record):
    random = any(word in record.key for word in RANDOM)
    return bool(record.tests.samples) and not random and record.key not in OF_STRIDES


def close(got, want):
    assert (got is None) == (want is None)
    if got is None:
        return
    assert got.shape == want.shape and got.dtype == want.dtype
    a, b = (t.detach().resolve_conj().resolve_neg().numpy() for t in (got, want))
    if a.dtype.kind in "fc":
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    else:
        np.testing.assert_array_equal(a, b)


@each("case", [p for p in cases(plain) if p.values[0].number < 3])
@pytest.mark.filterwarnings("ignore")
def test_results_are_those_of_dense_operands(case):
    record = case.record
    order = ("float64", "complex128", "int64", "float32", "bool")
    call = make(case, next(n for n in order if CLASS_OF[n] in record.call.dtypes))
    changes = record.key.endswith("_")
    places = [] if changes or not record.derivatives.vjp else call.moving
    places = [i for i in places if call.tensors()[i].is_floating_point()]
    want = None
    for layout in LAYOUTS:
        if want is None:
            want = gradients(call, call.tensors(), places)
        tensors = [layout(t) for t in call.tensors()]
        got = gradients(call, tensors, places)
        for one, other in zip(got[0] + got[1], want[0] + want[1], strict=True):
            close(one, other)
