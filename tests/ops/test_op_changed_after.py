"""In-place changes between forward and backward: an error, or the gradient without it.

For every sample of every operator each argument and each result is overwritten after the forward
in turn. Backward may refuse that; what it gives is the gradient of what was computed, never one of
the new numbers. Where torch needs the old value no more, neither may this library.
"""

import numpy as np
import pytest
from calls import RECORDS, Case, claimed, make, method_name, outputs, public_function

import autograd_cy as ag

CHANGED = ("modified by an inplace operation", "has been modified inplace")


def overwritten(library, t):
    """Change a tensor without a record; not if its memory may not be written as it is."""
    with library.no_grad():
        try:
            if t.dtype == library.bool:
                t.logical_not_()
            elif t.is_floating_point() or t.is_complex():
                t.mul_(0.5).add_(0.25)
            else:
                t.zero_()
        except RuntimeError:
            return False
    return True


def weights(library, t):
    x = np.cos(0.7 * np.arange(t.numel())).reshape(tuple(t.shape))
    return library.tensor(x + 0.3j * x if t.is_complex() else x).to(t.dtype)


def gradients(library, function, args, kwargs, leaves, target):
    """Values and gradients with one tensor overwritten; None if there is nothing to see.

    `target` is the number of a leaf, of a result if negative, or None.
    """
    found = [t for t in outputs(function(*args, **kwargs)) if isinstance(t, library.Tensor)]
    smooth = [t for t in found if t.requires_grad]
    moving = [t for t in leaves if t.requires_grad]
    if not smooth or not moving:
        return None
    values = [t.detach().clone() for t in found]
    loss = [weights(library, t) for t in smooth]
    if target is not None:
        changed = leaves[target] if target >= 0 else found[-target - 1]
        if not overwritten(library, changed):
            return None
    try:
        return values, library.autograd.grad(smooth, moving, loss, allow_unused=True)
    except RuntimeError as error:
        if not any(text in str(error) for text in CHANGED):
            raise
        return values, "refused"


def arrays(tensors):
    return [
        None if t is None else np.array(t.detach().resolve_conj().resolve_neg()) for t in tensors
    ]


def same(xs, ys):
    return all(
        (x is None) == (y is None) and (x is None or np.allclose(x, y, 1e-9, 1e-11, equal_nan=True))
        for x, y in zip(arrays(xs), arrays(ys))
    )


def flat(args, kwargs, kind):
    found = []
    for x in [*args, *kwargs.values()]:
        found += [t for t in (x if isinstance(x, (tuple, list)) else (x,)) if isinstance(t, kind)]
    return found


def trials(record, library, function, case, dtype):
    """(target, gradients) with each tensor of a call overwritten, the first with none."""

    def run(target):
        call = make(case, dtype)
        args, kwargs = call.arguments(call.tensors(True))
        leaves = flat(args, kwargs, library.Tensor)
        library.manual_seed(0)
        found = gradients(library, function, args, kwargs, leaves, target)
        return found, len(leaves)

    plain, leaves = run(None)
    if plain is None:
        return
    yield None, plain
    for target in [*range(leaves), *(-1 - k for k in range(len(plain[0])))]:
        found = run(target)[0]
        if found is not None:
            yield target, found


def check(record, samples):
    is_method = record.call.method and not record.call.function
    function = getattr(ag.Tensor, method_name(record)) if is_method else public_function(record)
    for number in range(len(record.tests.samples))[:samples]:
        for dtype in ("float64", "complex128"):
            if dtype not in claimed(record):
                continue
            plain = None
            for target, (_, found) in trials(record, ag, function, Case(record, number), dtype):
                plain = found if plain is None else plain
                assert found == "refused" or same(found, plain), (number, dtype, target)


SMOOTH = [r for r in RECORDS if r.public and r.tests.samples and r.derivatives.vjp]
PARAMS = [pytest.param(r, id=r.key) for r in SMOOTH]


@pytest.mark.parametrize("record", PARAMS)
def test_numbers_written_after_the_forward_reach_no_gradient(record):
    check(record, 2)


@pytest.mark.slow
@pytest.mark.parametrize("record", PARAMS)
def test_numbers_written_after_the_forward_reach_no_gradient_whatever_the_options(record):
    check(record, None)


def test_the_check_sees_a_gradient_of_new_numbers():
    class Forgetful(ag.autograd.Function):
        """Keep its input outside of what is checked."""

        @staticmethod
        def forward(ctx, x):
            ctx.x = x
            return x.detach() * x.detach()

        @staticmethod
        def backward(ctx, grad):
            return 2 * ctx.x * grad

    x = ag.tensor([1.0, 2.0], requires_grad=True)
    plain = gradients(ag, Forgetful.apply, (x,), {}, [x], None)[1]
    assert not same(gradients(ag, Forgetful.apply, (x,), {}, [x], 0)[1], plain)
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    assert gradients(ag, ag.square, (x,), {}, [x], 0)[1] == "refused"
