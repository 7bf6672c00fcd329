"""Operators on lazy conjugates and negatives: they do what they do on resolved copies.

`turns` are the views that a tensor argument is replaced by. Each undoes what was done to the memory
before, so that operators get the values of their samples.
"""

import numpy as np
import pytest
from calls import CLASS_OF, EVALUATOR, cases, few, make, outputs, tensor, to_array
from expected import assert_identical, assert_same
from grouping import each
from test_op_inplace_and_out import inplace, inplace_form, keeps_itself

import autograd_cy as ag
from autograd_cy.autograd import forward_ad
from autograd_cy.ops import _schema as schema

NEG, CONJ, BOTH = "negative", "conjugate", "negative of the conjugate"
TURNS = {
    NEG: (lambda a: -a, lambda t: t._neg_view()),
    CONJ: (np.conj, lambda t: t.conj()),
    BOTH: (lambda a: -np.conj(a), lambda t: t.conj()._neg_view()),
}
REFUSED = {
    # On purpose: the bits aren't those of the values, or the view would not be one.
    "view_as_real": "doesn't work on unresolved conjugated",
    "_view_dtype": "is not supported for",
}
# Of these the results are other tensors each time, or say where memory is.
EXCLUDED = ("_as_strided_gather", "_as_strided_backward", "as_strided")


def is_random(record):
    return isinstance(record.batching.vmap, schema.randomly)


def usable(record):
    return not is_random(record) and record.name not in REFUSED


def variants(record):
    """(dtype, turn) of all tests of a record."""
    for letter, name, turns in (
        ("f", "float64", (NEG,)),
        ("c", "complex128", (NEG, CONJ, BOTH)),
        ("i", "int64", (NEG,)),
        ("i", "uint8", (NEG,)),
    ):
        if letter in record.call.dtypes:
            for turn in turns:
                yield name, turn


def calls(case, letters="fci"):
    """(call, dtype, turn) of a case; integers where the operator takes those of the sample."""
    for name, turn in variants(case.record):
        if CLASS_OF[name] not in letters:
            continue
        call = make(case, name)
        if CLASS_OF[name] == "i":
            try:
                call(call.tensors())
            except RuntimeError:  # division by zero, fractional factors
                continue
        yield call, name, turn


def differentiable(record):
    return usable(record) and not isinstance(record.derivatives.vjp, schema.nondiff)


def turn_of(array, turn):
    """The turn that is possible for an array, or None."""
    if array.dtype.kind == "b" or array.dtype.kind == "V":
        return None
    return turn if array.dtype.kind == "c" else NEG


def roots(call, turn, grad=False):
    """Tensors whose views have the values of the call."""
    found = []
    for leaf in call.leaves:
        way = turn_of(leaf.array, turn)
        array = leaf.array if way is None else np.asarray(TURNS[way][0](leaf.array))
        found.append(tensor(array, grad and leaf.differentiable))
    return found


def views(call, tensors, turn):
    """Lazy views of the roots."""
    return [
        t if turn_of(leaf.array, turn) is None else TURNS[turn_of(leaf.array, turn)][1](t)
        for t, leaf in zip(tensors, call.leaves)
    ]


def copies(call, tensors, turn):
    return [t.clone() for t in views(call, tensors, turn)]


def is_lazy(t):
    return t.is_conj() or t.is_neg()


@each("case", cases(usable))
def test_values_are_those_of_resolved_copies(case):
    for call, name, turn in calls(case):
        tensors = roots(call, turn)
        before = [to_array(t) for t in tensors]
        plain = copies(call, tensors, turn)
        assert not any(is_lazy(t) for t in plain)
        expected = outputs(call(plain))
        found = outputs(call(views(call, tensors, turn)))
        assert len(found) == len(expected)
        for x, y in zip(found, expected):
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(to_array(x), to_array(y), f"{name}, {turn}")
        for t, array in zip(tensors, before):
            np.testing.assert_array_equal(to_array(t), array, "an argument was changed")


@each("case", cases(lambda r: r.name in REFUSED))
def test_what_reads_memory_refuses_the_conjugate(case):
    call = make(case, "complex128")
    with pytest.raises(RuntimeError, match=REFUSED[case.record.name]):
        call(views(call, roots(call, CONJ), CONJ))


def gradients(call, tensors, arguments, weights):
    """Gradients of the roots, and those of a function of the gradients."""
    found = [t for t in outputs(call(arguments)) if t.requires_grad]
    if not found:
        return [], []
    leaves = [t for t in tensors if t.requires_grad]
    weights = [tensor(w) for w in weights(found)]
    first = ag.autograd.grad(found, leaves, weights, create_graph=True, allow_unused=True)
    again = [g for g in first if g is not None and g.requires_grad]
    second = []
    if again:
        second = ag.autograd.grad(
            again, leaves, [g.detach().cos().clone() for g in again], allow_unused=True
        )
    return first, second


@each("case", few(cases(differentiable), 1))
def test_gradients_are_those_of_resolved_copies(case):
    def weights(found):
        rng = np.random.default_rng(0)
        return [
            rng.standard_normal(t.shape).astype(to_array(t).dtype)
            + (1j * rng.standard_normal(t.shape) if t.is_complex() else 0)
            for t in found
        ]

    for call, name, turn in calls(case):
        if not call.moving:
            continue
        tensors = roots(call, turn, True)
        expected = gradients(call, tensors, copies(call, tensors, turn), weights)
        found = gradients(call, tensors, views(call, tensors, turn), weights)
        for x, y in zip([*found[0], *found[1]], [*expected[0], *expected[1]], strict=True):
            assert (x is None) == (y is None)
            if x is not None:
                assert_same(to_array(x), to_array(y), 1e-10, f"{name}, {turn}")


@each("case", few(cases(differentiable)))
def test_tangents_are_those_of_resolved_copies(case):
    for call, name, turn in calls(case):
        if not call.moving:
            continue
        tensors = roots(call, turn)
        rng = np.random.default_rng(1)
        moves = [rng.standard_normal(t.shape) for t in tensors]

        def run(make_arguments, call=call, tensors=tensors, moves=moves, turn=turn):
            with forward_ad.dual_level():
                duals = [
                    forward_ad.make_dual(t, tensor(m).to(t.dtype)) if leaf.differentiable else t
                    for t, m, leaf in zip(tensors, moves, call.leaves)
                ]
                results = outputs(call(make_arguments(call, duals, turn)))
                unpacked = [forward_ad.unpack_dual(t).tangent for t in results]
                return [None if t is None else to_array(t) for t in unpacked]

        for x, y in zip(run(views), run(copies), strict=True):
            assert (x is None) == (y is None)
            if x is not None:
                assert_same(x, y, 1e-10, f"{name}, {turn}")


def batchable(record):
    return usable(record) and not isinstance(record.batching.vmap, schema.refuse) and (
        record.name not in ("nonzero", "masked_select", *EXCLUDED)
    )  # fmt: skip


def batches():
    for p in cases(batchable):
        for outside in (True, False):
            place = "below" if outside else "inside"
            yield pytest.param(*p.values, outside, id=f"{p.id}-{place}")


@each("case, outside", few(batches(), 1))
def test_batches_are_those_of_resolved_copies(case, outside):
    """The views are made before vmap, so that its wrappers hold them, or by the function."""
    for call, name, turn in calls(case, "fc"):
        examples = [make(case, name, seed) for seed in range(2)]
        stacked = [ag.stack(pair) for pair in zip(*[roots(e, turn) for e in examples])]
        if not stacked:
            continue

        def function(*tensors, call=call, turn=turn):
            made = tensors if outside else views(call, tensors, turn)
            return tuple(t.clone() for t in outputs(call(list(made))))

        def plain(*tensors, call=call):
            return tuple(t.clone() for t in outputs(call(list(tensors))))

        expected = ag.vmap(plain)(*copies(call, stacked, turn))
        found = ag.vmap(function)(*(views(call, stacked, turn) if outside else stacked))
        for x, y in zip(outputs(found), outputs(expected), strict=True):
            assert_same(to_array(x), to_array(y), 1e-12, f"{name}, {turn}")


@each("case", cases(lambda r: usable(r) and inplace(r)))
def test_inplace_forms_write_through_the_view(case):
    form = inplace_form(case.record)
    for call, name, turn in calls(case):
        if not keeps_itself(call):
            continue
        tensors = roots(call, turn)
        way = turn_of(call.leaves[0].array, turn)
        plain = copies(call, tensors, turn)
        call(plain, form)
        version = tensors[0]._version
        arguments = views(call, tensors, turn)
        assert call(arguments, form) is arguments[0]
        assert tensors[0]._version == version + (case.record.call.idle is None)
        np.testing.assert_array_equal(to_array(arguments[0]), to_array(plain[0]))
        if way is not None:
            assert is_lazy(arguments[0])
            held = np.asarray(TURNS[way][0](to_array(plain[0])))
            np.testing.assert_array_equal(to_array(tensors[0]), held, f"{name}, {turn}")


@each(
    "case",
    cases(lambda r: differentiable(r) and inplace(r) and not isinstance(r.derivatives.vjp, str)),
)
def test_gradients_of_inplace_forms_on_views(case):
    """Against the composition without views: turn, compute, turn back."""
    form = inplace_form(case.record)
    for call, name, turn in calls(case, "fc"):
        if not call.moving or not keeps_itself(call):
            continue
        if turn_of(call.leaves[0].array, turn) is None:
            continue
        way = TURNS[turn_of(call.leaves[0].array, turn)][1]
        tensors = roots(call, turn, True)
        wanted = [t for t in tensors if t.requires_grad]
        weight = tensor(np.random.default_rng(2).standard_normal(tensors[0].shape)).to(
            tensors[0].dtype
        )

        bases = [t * 1 if t.requires_grad else t.clone() for t in tensors]
        arguments = views(call, bases, turn)
        call(arguments, form)
        both = [arguments[0], bases[0]]
        # In place on copies, so that the rounding of the form is the same.
        others = copies(call, tensors, turn)
        call(others, form)
        expected = [others[0], way(others[0]).clone()]
        for x, y in zip(both, expected):
            assert x.requires_grad == y.requires_grad
            np.testing.assert_array_equal(to_array(x), to_array(y))
            if not y.requires_grad:
                continue
            found = ag.autograd.grad(x, wanted, weight, retain_graph=True, allow_unused=True)
            right = ag.autograd.grad(y, wanted, weight, retain_graph=True, allow_unused=True)
            for g, e in zip(found, right):
                g = ag.zeros(()) if g is None else g
                e = ag.zeros(()) if e is None else e
                assert_same(to_array(g + 0 * e), to_array(e + 0 * g), 1e-10, f"{name}, {turn}")


@each("case", cases(lambda r: usable(r) and r.call.out and not r.name.startswith("_")))
def test_out_forms_write_through_the_view(case):
    form = EVALUATOR.form(case.record)
    for call, name, turn in calls(case):
        expected = call(call.tensors())
        way = turn_of(to_array(expected), turn)
        if way is None:
            continue
        root = ag.ones(expected.shape, dtype=expected.dtype)
        args, kwargs = call.arguments(views(call, roots(call, turn), turn))
        out = TURNS[way][1](root)
        assert form(*args, **kwargs, out=out) is out
        assert is_lazy(out)
        assert_identical(out.clone(), expected.clone())
        np.testing.assert_array_equal(
            to_array(root), np.asarray(TURNS[way][0](to_array(expected))), f"{name}, {turn}"
        )
        empty = TURNS[way][1](ag.empty(0, dtype=expected.dtype))
        form(*args, **kwargs, out=empty)
        assert_identical(empty.clone(), expected.clone())
