"""Each saved tensor of each operator is packed once and unpacked once in a backward.

Hooks may give out what they keep a single time, as checkpoints and hooks that free memory do. What
a hook gets and what comes out is counted for every sample of every record, whichever of its
arguments require grad; and each record is differentiated up to three times inside of a checkpoint,
beside the same call without one.
"""

import functools
import itertools
import weakref

import numpy as np
import pytest
from calls import (
    CLASS_OF,
    TABLE,
    Case,
    cases,
    few,
    make,
    method_name,
    outputs,
    public_function,
    tensor,
    to_array,
)
from derivatives import smooth
from grouping import each
from test_op_inplace_and_out import inplace_form, keeps_itself

import autograd_cy as ag
from autograd_cy.autograd.graph import saved_tensors_hooks
from autograd_cy.ops import _schema as schema
from autograd_cy.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
    noop_context_fn,
)

DTYPES = ("float64", "complex128")


def calls_of(case):
    """The call of a sample in each dtype in which something can be differentiated."""
    for name in DTYPES:
        if CLASS_OF[name] in case.record.call.dtypes and make(case, name).moving:
            yield make(case, name)


def subsets(places):
    """Return the sets of arguments that require grad: all choices, of many the smallest and the
    largest."""
    n = len(places)
    sizes = range(1, n + 1) if n < 5 else (1, n - 1, n)
    return [s for size in sizes for s in itertools.combinations(places, size)]


def leaves_of(call, chosen):
    return [tensor(leaf.array, i in chosen) for i, leaf in enumerate(call.leaves)]


def weights_of(results):
    return [
        tensor(np.cos(0.7 * np.arange(t.numel())).reshape(t.shape)).to(t.dtype) for t in results
    ]


def smooth_results(found):
    return [t for t in outputs(found) if isinstance(t, ag.Tensor) and t.requires_grad]


class Packed:
    """An object that a node holds in place of a saved tensor."""

    def __init__(self, number):
        self.number = number


class Keeping:
    """Hooks that keep values by number, count, and forget what they have given out."""

    def __init__(self, forget=True):
        self.kept, self.unpacked, self.forget = {}, {}, forget
        self.packed = weakref.WeakValueDictionary()

    def pack(self, t):
        packed = Packed(len(self.kept))
        self.kept[packed.number] = t.detach()
        self.packed[packed.number] = packed
        return packed

    def unpack(self, packed):
        number = packed.number
        self.unpacked[number] = self.unpacked.get(number, 0) + 1
        if self.forget:
            found, self.kept[number] = self.kept[number], None
            return found
        return self.kept[number]

    def check(self, call, chosen, times):
        """Count in so many backwards over one graph; returns the gradients of the last."""
        with saved_tensors_hooks(self.pack, self.unpack):
            ins, results = recorded(call, chosen)
        expected = dict.fromkeys(self.packed, times)  # without what led nowhere
        found = gradients(ins, results, chosen, times)
        assert self.unpacked == expected
        return found


def arrays(tensors):
    return [None if t is None else to_array(t) for t in tensors]


def recorded(call, chosen):
    ins = leaves_of(call, chosen)
    ag.manual_seed(0)
    return ins, smooth_results(call(ins))


def gradients(ins, results, chosen, times=1):
    wanted, weights = [ins[i] for i in chosen], weights_of(results)
    for left in reversed(range(times)):
        found = ag.autograd.grad(results, wanted, weights, retain_graph=left > 0, allow_unused=True)
    return arrays(found)


def assert_same(found, expected, bound=1e-12):
    assert [g is None for g in found] == [g is None for g in expected]
    for x, y in zip(found, expected):
        if x is not None:
            scale = max(1.0, float(np.abs(y).max(initial=0.0)))
            np.testing.assert_allclose(x, y, bound, bound * scale)


@each("case", few(cases(smooth), 1))
def test_a_backward_unpacks_each_saved_tensor_once(case):
    for call in calls_of(case):
        for chosen in subsets(call.moving):
            ins, results = recorded(call, chosen)
            if results:
                expected = gradients(ins, results, chosen)
                assert_same(Keeping().check(call, chosen, 1), expected)
                assert_same(Keeping(forget=False).check(call, chosen, 2), expected)


class Written:
    """The in-place form of a call, on a copy of its first argument or on a view of that."""

    def __init__(self, call, view):
        self.call, self.view, self.leaves = call, view, call.leaves

    def __call__(self, tensors):
        base = tensors[0] * 1
        first = base.view_as(base) if self.view else base
        self.call([first, *tensors[1:]], inplace_form(self.call.record))
        return base


def written(record):
    return smooth(record) and record.call.inplace and record.tests.samples


@each("case", few(cases(written), 1))
@pytest.mark.parametrize("view", [False, True])
def test_a_backward_of_what_was_written_unpacks_each_saved_tensor_once(case, view):
    for call in calls_of(case):
        if keeps_itself(call):
            for chosen in subsets(call.moving):
                changed = Written(call, view)
                ins, results = recorded(changed, chosen)
                if results:
                    expected = gradients(ins, results, chosen)
                    assert_same(Keeping().check(changed, chosen, 1), expected)


def batched(record):
    return smooth(record) and not isinstance(record.batching.vmap, (schema.refuse, schema.randomly))


def batch_of_gradients(call):
    ins, results = recorded(call, call.moving)
    seeds = [ag.stack([w, 2 * w]) for w in weights_of(results)]
    wanted = [ins[i] for i in call.moving]
    return ag.autograd.grad(results, wanted, seeds, allow_unused=True, is_grads_batched=True)


def pushed_gradients(call):
    """The gradients, and how they move along a direction."""

    def inner(*moving):
        ins = call.tensors()
        for i, x in zip(call.moving, moving):
            ins[i] = x
        ag.manual_seed(0)
        results = smooth_results(call(ins))
        return ag.autograd.grad(results, moving, weights_of(results), True, True, allow_unused=True)

    ins = [tensor(call.arrays[i], True) for i in call.moving]
    with ag.autograd.forward_ad.dual_level():
        duals = [ag.autograd.forward_ad.make_dual(x, weights_of([x])[0]) for x in ins]
        parts = [ag.autograd.forward_ad.unpack_dual(g) for g in inner(*duals) if g is not None]
        return [x for part in parts for x in part]


@each("case", few(cases(batched), 1))
@pytest.mark.parametrize("way", [batch_of_gradients, pushed_gradients])
def test_a_backward_in_vmap_or_forward_mode_unpacks_each_saved_tensor_once(case, way):
    for call in calls_of(case):
        if not recorded(call, call.moving)[1]:
            continue
        expected = way(call)
        once = Keeping()
        with saved_tensors_hooks(once.pack, once.unpack):
            found = way(call)
        assert_same(arrays(found), arrays(expected))
        assert set(once.unpacked.values()) <= {1}


# --- inside of checkpoints ------------------------------------------------------------------------


def public_form(call):
    record = call.record
    if record.call.method and not record.call.function:
        return getattr(ag.Tensor, method_name(record))
    return public_function(record)


def derivatives(call, order, inside, contexts=noop_context_fn, form=None):
    """Gradients up to an order, of the call or of a checkpoint of it, in all that can move."""
    ins = leaves_of(call, call.moving)
    ag.manual_seed(0)

    def function(*tensors):
        return tuple(smooth_results(call(list(tensors), form)))

    if inside:
        results = checkpoint(function, *ins, use_reentrant=False, context_fn=contexts)
    else:
        results = function(*ins)
    wanted, found = [ins[i] for i in call.moving], []
    for left in reversed(range(order)):
        if not results:
            break
        grads = ag.autograd.grad(
            results, wanted, weights_of(results), create_graph=left > 0, allow_unused=True
        )
        found += arrays(grads)
        results = [g for g in grads if g is not None and g.requires_grad]
    return found


def check_checkpoint(case, order):
    for call in calls_of(case):
        assert_same(derivatives(call, order, True), derivatives(call, order, False))


@each("case", few(cases(smooth), 1))
def test_second_derivatives_of_a_checkpoint(case):
    check_checkpoint(case, 2)


@each("case", few(cases(lambda r: smooth(r) and r.public), 1))
def test_second_derivatives_of_a_checkpoint_that_keeps_results(case):
    asked = []

    def policy(context, op, *args, **kwargs):
        asked.append(op)
        return CheckpointPolicy.MUST_SAVE

    for call in calls_of(case):
        form = public_form(call)
        keep = functools.partial(create_selective_checkpoint_contexts, policy)
        found = derivatives(call, 2, True, keep, form)
        assert_same(found, derivatives(call, 2, False, form=form))
        assert asked or not found


def first_of_families():
    """The first sample of a few records of each family, spread over it."""
    found = []
    for records in TABLE.values():
        fitting = [r for r in records if smooth(r) and r.tests.samples]
        found += [Case(r, 0) for r in fitting[:: max(1, len(fitting) // 3)]]
    return [pytest.param(case, id=case.id) for case in found]


@each("case", first_of_families())
def test_third_derivatives_of_a_checkpoint(case):
    check_checkpoint(case, 3)


def test_the_check_sees_what_is_unpacked_twice():
    class Twice(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0] + grad * ctx.saved_tensors[0]

    x = ag.tensor([1.0, 2.0], requires_grad=True)
    seen = Keeping(forget=False)
    with saved_tensors_hooks(seen.pack, seen.unpack):
        y = Twice.apply(x)
    ag.autograd.grad(y.sum(), x)
    assert seen.unpacked == {0: 2}
