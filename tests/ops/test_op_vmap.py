"""vmap rules against a loop over examples, for every set of batched arguments."""

from itertools import combinations

import numpy as np
import pytest
from calls import CLASS_OF, cases, dtype_name, make, outputs, public_function, tensor, to_array
from expected import assert_same
from grouping import each

import autograd_cy as ag
from autograd_cy._C import batching
from autograd_cy._vmap import vmap
from autograd_cy._vmap.mapping import these_vmaps
from autograd_cy.ops import _schema as schema

LEVEL = 1
SIZE = 3


def supported(record):
    return not isinstance(record.batching.vmap, (schema.refuse, schema.randomly))


def subsets(count):
    """Sets of batched arguments: all of up to three arguments."""
    for n in range(1, count + 1):
        yield from combinations(range(count), n)


def unwrapped(result):
    """Each output with its batch dimension first (repeated where it has none)."""
    found = []
    for t in outputs(result):
        physical, place = batching._unwrap(t, LEVEL)
        x = to_array(physical)
        found.append(
            np.broadcast_to(x, (SIZE, *x.shape)) if place is None else np.moveaxis(x, place, 0)
        )
    return found


def within_vmap(call, *arguments, **named):
    """The result of a call while a vmap runs: wrappers belong to one that does."""
    with these_vmaps([(SIZE, "error")]):
        return call(*arguments, **named)


def batched_call(examples, chosen, place):
    """The operator with the leaves in `chosen` batched along dimension 0 or the last."""
    tensors = []
    for i, leaf in enumerate(examples[0].leaves):
        if i not in chosen:
            tensors.append(tensor(leaf.array))
            continue
        stacked = np.stack([e.arrays[i] for e in examples], axis=0 if place == 0 else -1)
        tensors.append(batching._wrap(tensor(stacked), place, LEVEL))
    return within_vmap(examples[0], tensors)


def loop(examples, chosen):
    rows = []
    for e in examples:
        arrays = [
            e.arrays[i] if i in chosen else examples[0].arrays[i] for i in range(len(e.leaves))
        ]
        rows.append([to_array(t) for t in outputs(examples[0]([tensor(a) for a in arrays]))])
    return [np.stack(column) for column in zip(*rows)]


def same_number_of_results(record):
    # The shape of these depends on the values: examples can't be stacked.
    return record.name not in ("nonzero", "masked_select")


@each("case", cases(lambda r: supported(r) and same_number_of_results(r)))
@pytest.mark.filterwarnings("ignore:torch.searchsorted:UserWarning")  # of other layouts
def test_equals_a_loop(case):
    name = next(
        n for n in ("float64", "complex128", "int64") if CLASS_OF[n] in case.record.call.dtypes
    )
    examples = [make(case, name, seed) for seed in range(SIZE)]
    count = len(examples[0].leaves)
    for chosen in subsets(min(count, 4)):
        expected = loop(examples, chosen)
        # What as_strided sees of an example depends on where the batch dimension lies.
        # view_as_complex is refused where the numbers of a pair are apart.
        by_memory = case.record.name.startswith(("as_strided", "view_as_complex"))
        for place in (0,) if by_memory else (0, -1):
            found = unwrapped(batched_call(examples, chosen, place))
            assert len(found) == len(expected)
            for x, y in zip(found, expected):
                which = [examples[0].leaves[i].name for i in chosen]
                assert x.dtype == y.dtype, f"batched {which} along {place}"
                assert_same(x, y, 1e-11, f"batched {which} along {place}")


@each("case", cases(lambda r: supported(r) and isinstance(r.derivatives.vjp, dict)))
def test_gradient_goes_through_the_rule(case):
    """The gradient of a batched call is the batch of gradients."""
    name = next(
        (n for n in ("float64", "complex128") if CLASS_OF[n] in case.record.call.dtypes), None
    )
    examples = [make(case, name, seed) for seed in range(SIZE)] if name else []
    if not examples or not examples[0].moving:
        pytest.skip("nothing to differentiate")
    moving = examples[0].moving
    fixed = [tensor(a) for a in examples[0].arrays]

    def run(tensors):
        merged = list(fixed)
        for i, t in zip(moving, tensors):
            merged[i] = t
        return outputs(examples[0](merged))[0]

    stacked = [tensor(np.stack([e.arrays[i] for e in examples]), True) for i in moving]
    out = vmap(lambda *ts: run(ts))(*stacked)
    rng = np.random.default_rng(0)
    weight = np.asarray(rng.standard_normal(tuple(out.shape)), to_array(out).dtype)
    found = ag.autograd.grad(out, stacked, tensor(weight), allow_unused=True)
    for k in range(SIZE):
        single = [tensor(examples[k].arrays[i], True) for i in moving]
        expected = ag.autograd.grad(run(single), single, tensor(weight[k]), allow_unused=True)
        for g, e in zip(found, expected):
            if g is None or e is None:
                # A rule may leave out what doesn't count, or give zeros for it.
                assert not any(to_array(x).any() for x in (g, e) if x is not None)
            else:
                assert_same(to_array(g[k]), to_array(e), 1e-10)


def shaped_otherwise(x):
    """Batches of examples that have other numbers of dimensions than `x`."""
    if x.ndim:
        yield "0-d", np.resize(x.reshape(-1), SIZE)
    if x.ndim > 1:
        yield "one less", np.stack([x[0]] * SIZE)
    yield "one more", np.stack([x[None]] * SIZE)


def outcome(call):
    """(outputs, None), or None and the error."""
    try:
        return outputs(call()), None
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        return None, error


@each("case", cases(lambda r: supported(r) and public_function(r) and same_number_of_results(r)))
def test_examples_of_any_dimensions_are_taken_or_refused_as_alone(case):
    name = next(
        n for n in ("float64", "complex128", "int64") if CLASS_OF[n] in case.record.call.dtypes
    )
    call = make(case, name)
    for i, leaf in enumerate(call.leaves):
        for what, column in shaped_otherwise(leaf.array) if leaf.array.size else ():

            def run(x):
                return call([x if k == i else tensor(a) for k, a in enumerate(call.arrays)])

            where = f"{leaf.name}: {what}"
            expected, refused = outcome(lambda: run(tensor(column[0])))
            batch = batching._wrap(tensor(column), 0, LEVEL)
            found, error = outcome(lambda: unwrapped(within_vmap(run, batch)))
            if refused is None:
                assert error is None, where
                for x, y in zip(found, expected, strict=True):
                    assert_same(x[0], to_array(y), 1e-11, where)
            else:
                assert error is not None, f"{where}: {refused!r}"


@each("case", cases(lambda r: supported(r) and same_number_of_results(r)))
@pytest.mark.filterwarnings("ignore:torch.searchsorted:UserWarning")  # of other layouts
def test_no_examples_have_results_of_the_shape_of_one(case):
    name = next(
        n for n in ("float64", "complex128", "int64") if CLASS_OF[n] in case.record.call.dtypes
    )
    one = make(case, name)
    if any(not leaf.array.size for leaf in one.leaves):
        return
    expected = outputs(one([tensor(a) for a in one.arrays]))
    for chosen in subsets(min(len(one.leaves), 3)):
        tensors = [
            batching._wrap(tensor(a[None][:0]), 0, LEVEL) if i in chosen else tensor(a)
            for i, a in enumerate(one.arrays)
        ]
        for x, y in zip(outputs(within_vmap(one, tensors)), expected, strict=True):
            physical, place = batching._unwrap(x, LEVEL)
            where = f"batched {[one.leaves[i].name for i in chosen]}"
            assert (tuple(x.shape), x.dtype) == (tuple(y.shape), y.dtype), where
            assert place is None or physical.shape[place] == 0, where


@pytest.mark.parametrize("transposed", [False, True])
def test_no_examples_of_a_convolution_have_the_shape_of_one(transposed):
    weight = ag.rand(3, 3, 2, dtype=ag.float64)
    convolve = ag.nn.functional.conv_transpose1d if transposed else ag.nn.functional.conv1d
    x = ag.rand(0, 4, 3, 5, dtype=ag.float64, requires_grad=True)
    y = vmap(lambda e: convolve(e, weight))(x)
    assert y.shape == (0, *convolve(x.new_zeros(4, 3, 5), weight).shape)
    assert ag.autograd.grad(y.sum(), x)[0].shape == x.shape


def test_nested_levels():
    x, y = ag.randn(2, 3), ag.randn(4, 3)
    found = vmap(lambda a: vmap(lambda b: ag.dot(a, b))(y))(x)
    np.testing.assert_allclose(to_array(found), to_array(x) @ to_array(y).T, rtol=1e-5)


def test_in_dims_and_out_dims():
    x, y = ag.randn(3, 2), ag.randn(3)
    found = vmap(lambda a, b, scale: (a * b, {"sum": a + scale}), (1, None, None), (1, 0))(
        x, y, 2.0
    )
    np.testing.assert_allclose(to_array(found[0]), to_array(x) * to_array(y)[:, None], rtol=1e-6)
    np.testing.assert_allclose(to_array(found[1]["sum"]), to_array(x).T + 2, rtol=1e-6)


def test_an_output_without_the_batch_is_repeated():
    found = vmap(lambda a: ag.ones(2))(ag.zeros(3, 1))
    assert tuple(found.shape) == (3, 2)


def test_chunks_give_the_same():
    x = ag.randn(5, 3)
    whole = vmap(lambda a: a.softmax(0))(x)
    assert_same(to_array(vmap(lambda a: a.softmax(0), chunk_size=2)(x)), to_array(whole), 1e-6)


@pytest.mark.parametrize(
    ("args", "dims", "text"),
    [
        ((ag.ones(2), ag.ones(3)), 0, "same size in the mapped dimension"),
        ((ag.ones(2),), 1, "dimensionality 1"),
        ((ag.ones(2),), None, "at least one Tensor"),
        ((2.0,), (0,), "non-Tensor"),
        ((ag.ones(2),), "x", "expected `in_dims`"),
        ((), 0, "no inputs"),
    ],
)
def test_wrong_arguments(args, dims, text):
    with pytest.raises(ValueError, match=text):
        vmap(lambda *a: a[0], dims)(*args)


def test_a_result_that_is_no_tensor_is_refused():
    with pytest.raises(ValueError, match="must only return Tensors"):
        vmap(lambda a: 1)(ag.ones(2))


def test_levels_are_released_after_an_error():
    def fail(a):
        raise KeyError("inside")

    with pytest.raises(KeyError):
        vmap(fail)(ag.ones(2))
    from autograd_cy._C.tensor import _get_modes
    from autograd_cy._vmap import mapping as _vmap

    assert _vmap.frames.list == [] and _get_modes() == 0


def test_dtype_of_a_batched_scalar_gives_way_like_a_scalar():
    x, y = ag.ones(3, dtype=ag.float64), ag.ones(2, dtype=ag.float32)
    assert dtype_name(vmap(lambda a: a + y)(x)) == "float32"


# --- grad(is_grads_batched=True) ------------------------------------------------------------


def test_batched_gradients_are_those_of_a_loop():
    x = ag.randn(3, dtype=ag.float64, requires_grad=True)
    y = x.exp() * x.sum()
    rows = ag.eye(3, dtype=ag.float64)
    (jacobian,) = ag.autograd.grad(y, x, rows, retain_graph=True, is_grads_batched=True)
    expected = [to_array(ag.autograd.grad(y, x, r, retain_graph=True)[0]) for r in rows]
    np.testing.assert_allclose(to_array(jacobian), np.stack(expected), rtol=1e-12)


def test_batched_gradients_differentiate_again():
    x = ag.randn(3, dtype=ag.float64, requires_grad=True)
    y = x**3
    rows = ag.eye(3, dtype=ag.float64)
    (jacobian,) = ag.autograd.grad(y, x, rows, create_graph=True, is_grads_batched=True)
    (second,) = ag.autograd.grad(jacobian.sum(), x)
    np.testing.assert_allclose(to_array(second), 6 * to_array(x), rtol=1e-12)


def test_batched_gradient_of_an_unused_input():
    x, z = ag.ones(2, requires_grad=True), ag.ones(2, requires_grad=True)
    y = x * 2
    with pytest.raises(RuntimeError, match="not have been used"):
        ag.autograd.grad(y, (x, z), ag.eye(2), retain_graph=True, is_grads_batched=True)
    found = ag.autograd.grad(y, (x, z), ag.eye(2), is_grads_batched=True, allow_unused=True)
    assert found[1] is None
    np.testing.assert_array_equal(to_array(found[0]), 2 * np.eye(2))
