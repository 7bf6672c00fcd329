"""Python numbers in formulas are as exact as the tensors they meet: in values, gradients, second
derivatives and tangents, for every operator that takes numbers.

A number gives way in promotion as a number of the default dtype does. With float64 for the default
dtype nothing could be rounded to less, so results for float64 and complex128 tensors must be the
same, to the last bit, whatever the default dtype is.
"""

from dataclasses import replace

import numpy as np
import pytest
from calls import CLASS_OF, RECORDS, Case, make, to_array
from derivatives import differentiable_outputs, random_like
from grouping import each

import autograd_cy as ag
import autograd_cy.autograd.forward_ad as fw
from autograd_cy.ops import _schema as schema

# None of them is a float32.
FACTOR = 0.7123456789123
COMPLEX = 0.7123456789123 - 0.3123456789123j
# Plain floats of signatures, where the samples give integers or nothing.
PLAIN = {
    "correction": (0.3123456789123,),
    "p": (0.7123456789123, 2.1123456789123, 3, -1.5123456789123, float("inf"), 1),
    "eps": (0.0123456789123,),
    "label_smoothing": (0.1123456789123,),
    "momentum": (0.1123456789123,),
    "dropout": (),  # random
    "dropout_p": (),  # random
    "nan": (),
    "posinf": (),
    "neginf": (),
    "value": (),  # of some modes of pad only; constant_pad_nd has it, too
}
# Two numbers of which the first is the smaller one.
ORDERED = ("rrelu", "_rrelu_eval", "_rrelu_backward")
# Its bounds are both tensors or both numbers.
TOGETHER = ("clamp",)
RANDOM = ("dropout", "_dropout_mask", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")


def numbers_for(record, argument, name):
    if argument.name == "eps" and CLASS_OF[name] == "c":
        return ()  # refused
    if record.name in ("cdist", "pdist") and argument.name == "p":  # of norms: not negative
        return (0.7123456789123, 2.1123456789123, 3, 1)
    if argument.type in ("float", "float?") or (record.name, argument.name) == ("norm", "p"):
        return PLAIN.get(argument.name, (FACTOR,))
    if record.name in ORDERED:
        return (
            (0.0123456789123,)
            if argument.name == "lower"
            else (FACTOR,) * (argument.name == "upper")
        )
    if record.name == "dist" and argument.type == "Scalar":  # of the order of a norm
        return (0.7123456789123, 3)
    if argument.type == "Scalar":
        return (FACTOR, COMPLEX) if CLASS_OF[name] == "c" else (FACTOR,)
    return ()


def variants():
    """Cases with one number in the place of a tensor or of another number."""
    found = []
    for record in RECORDS:
        if (
            record.name in RANDOM
            or isinstance(record.derivatives.vjp, schema.nondiff)
            or not record.tests.samples
        ):
            continue
        if not any(a.is_tensor for a in record.args):
            continue
        for name in ("float64", "complex128"):
            if CLASS_OF[name] not in record.call.dtypes:
                continue
            for number, sample in enumerate(record.tests.samples):
                case = Case(record, number)
                for place, argument in enumerate(record.args):
                    given = place < len(sample.args)
                    tensors = sum(isinstance(x, schema.arg) for x in sample.args)
                    given_tensor = (
                        given and isinstance(sample.args[place], schema.arg) and tensors > 1
                    )
                    if argument.type in ("operand", "operand?") and given_tensor:
                        found.append((case, name, place, None))
                    for value in numbers_for(record, argument, name):
                        if given or argument.keyword or argument.default is not None:
                            found.append((case, name, place, value))
                if record.call.alpha:
                    for value in (FACTOR, COMPLEX) if CLASS_OF[name] == "c" else (FACTOR,):
                        found.append((case, name, "alpha", value))
    return [pytest.param(*v, id=f"{v[0].id}-{v[1]}-{v[2]}-{i}") for i, v in enumerate(found)]


def with_number(case, name, place, value):
    """The call with a number: `value`, or an element of the array that was there."""
    call = make(case, name)
    if place == "alpha":
        return replace(
            call, sample=replace(call.sample, kwargs={**call.sample.kwargs, "alpha": value})
        )
    argument = case.record.args[place]
    args = list(call.sample.args)
    leaves = call.leaves
    kwargs = dict(call.sample.kwargs)
    if value is None:
        operands = [i for i, a in enumerate(case.record.args) if a.type.startswith("operand")]
        for i in reversed(operands if case.record.name in TOGETHER else [place]):
            at = sum(isinstance(x, schema.arg) for x in args[:i])
            array = leaves[at].array
            args[i] = array.flat[0].item() if array.size else FACTOR
            leaves = leaves[:at] + leaves[at + 1 :]
    elif place < len(args):
        args[place] = value
    else:
        kwargs[argument.name] = value
    sample = replace(call.sample, args=tuple(args), kwargs=kwargs)
    return replace(call, sample=sample, leaves=leaves)


def everything(call, seed=5):
    """Values, gradients, second derivatives, tangents and tangents of gradients, as arrays."""
    rng = np.random.default_rng(seed)
    inputs = call.tensors(grad=True)
    results = differentiable_outputs(call, call(inputs))
    found = [to_array(r) for r in results]
    wanted = [inputs[i] for i in call.moving]
    live = [r for r in results if r.requires_grad]
    if not (wanted and live):
        return found
    weights = [ag.from_numpy(random_like(to_array(r), rng)).requires_grad_(True) for r in live]
    first = ag.autograd.grad(live, wanted, weights, create_graph=True, allow_unused=True)
    first = [g for g in first if g is not None]
    found += [to_array(g) for g in first]
    again = [g for g in first if g.requires_grad]
    if again:
        seeds = [ag.from_numpy(random_like(to_array(g), rng)) for g in again]
        second = ag.autograd.grad(again, [*wanted, *weights], seeds, allow_unused=True)
        found += [to_array(g) for g in second if g is not None]
    with fw.dual_level():
        duals = [t.detach() for t in inputs]
        for i in call.moving:
            leaf = inputs[i].detach().requires_grad_(True)
            duals[i] = fw.make_dual(leaf, ag.from_numpy(random_like(to_array(leaf), rng)))
        results = differentiable_outputs(call, call(duals))
        tangents = [fw.unpack_dual(r).tangent for r in results]
        tangents = [t for t in tangents if t is not None]
        found += [to_array(t) for t in tangents]
        live = [t for t in tangents if t.requires_grad]
        sources = [fw.unpack_dual(duals[i]).primal for i in call.moving]
        if live:
            seeds = [ag.from_numpy(random_like(to_array(t), rng)) for t in live]
            mixed = ag.autograd.grad(live, sources, seeds, allow_unused=True)
            found += [to_array(g) for g in mixed if g is not None]
    return found


@each("case, name, place, value", variants())
def test_the_default_dtype_rounds_no_number(case, name, place, value):
    call = with_number(case, name, place, value)
    found = everything(call)
    before = ag.get_default_dtype()
    ag.set_default_dtype(ag.float64)
    try:
        expected = everything(call)
    finally:
        ag.set_default_dtype(before)
    assert len(found) == len(expected)
    for x, y in zip(found, expected):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


BIG = 2**53 + 1


def test_whole_numbers_stay_whole_with_integers_and_are_rounded_once_with_floats():
    x = ag.ones(2, dtype=ag.int64)
    assert (x * BIG).tolist() == [BIG, BIG]
    assert (x + (2**63 - 2)).tolist() == [2**63 - 1] * 2
    assert (x * -(2**63)).tolist() == [-(2**63)] * 2
    assert ag.full((1,), BIG, dtype=ag.int64).item() == BIG
    assert (ag.ones(1, dtype=ag.float64) * BIG).item() == float(BIG)
    with pytest.raises(OverflowError, match="int too big to convert"):
        x * 2**64


@pytest.mark.parametrize("number", [0.1, 3, 0.1 + 0.3j, True])
def test_operators_on_numbers_only_make_tensors_of_the_default_dtype(number):
    expected = {bool: ag.int64, int: ag.int64, float: ag.float32, complex: ag.complex64}
    total = ag.add(number, 2)
    assert total.dtype == expected[type(number)]
    assert (total + ag.ones(1, dtype=ag.float64)).dtype.is_complex == isinstance(number, complex)
    # It is a tensor from here on, and promotes as one.
    assert (ag.ones((), dtype=ag.float16) * ag.add(0.5, 2)).dtype == ag.float32


# Closed forms of first and second derivatives, with numbers that no float32 holds.
P, Q = 0.7123456789123, 0.1 + 0.3j
REAL = {
    "x ** p": (lambda x: x**P, lambda x: P * x ** (P - 1), lambda x: P * (P - 1) * x ** (P - 2)),
    "p ** x": (
        lambda x: P**x,
        lambda x: P**x * np.log(P),
        lambda x: P**x * np.log(P) ** 2,
    ),
    "2 ** x": (
        lambda x: 2**x,
        lambda x: 2**x * np.log(2),
        lambda x: 2**x * np.log(2) ** 2,
    ),
    "xlogy(x, 3) * x": (
        lambda x: ag.xlogy(x, 3) * x,
        lambda x: 2 * x * np.log(3),
        lambda x: 2 * np.log(3) + 0 * x,
    ),
    "xlogy(p, x)": (lambda x: ag.xlogy(P, x), lambda x: P / x, lambda x: -P / x**2),
    "lerp": (
        lambda x: ag.lerp(x * x, x, P),
        lambda x: 2 * x * (1 - P) + P,
        lambda x: 2 * (1 - P) + 0 * x,
    ),
    "norm": (
        lambda x: (x.reshape(-1, 1) * ag.ones(1, 2, dtype=x.dtype)).norm(P, 1) * x,
        lambda x: 2 * x * 2 ** (1 / P),
        lambda x: 2 * 2 ** (1 / P) + 0 * x,
    ),
    "p / x": (lambda x: P / x, lambda x: -P / x**2, lambda x: 2 * P / x**3),
    "addcmul": (
        lambda x: ag.addcmul(x, x, x, value=P),
        lambda x: 1 + 2 * P * x,
        lambda x: 2 * P + 0 * x,
    ),
}
COMPLEX = {
    "z * q": (lambda z: z * z * Q, lambda z: 2 * z * Q, lambda z: 2 * Q + 0 * z),
    "z - q z": (
        lambda z: (z * z).sub(z * z, alpha=Q),
        lambda z: 2 * z * (1 - Q),
        lambda z: 2 * (1 - Q) + 0 * z,
    ),
    "z ** q": (lambda z: z**Q, lambda z: Q * z ** (Q - 1), lambda z: Q * (Q - 1) * z ** (Q - 2)),
    "q ** z": (
        lambda z: Q**z,
        lambda z: Q**z * np.log(Q),
        lambda z: Q**z * np.log(Q) ** 2,
    ),
    "2 ** z": (
        lambda z: 2**z,
        lambda z: 2**z * np.log(2),
        lambda z: 2**z * np.log(2) ** 2,
    ),
    "lerp": (
        lambda z: ag.lerp(z * z, z, Q),
        lambda z: 2 * z * (1 - Q) + Q,
        lambda z: 2 * (1 - Q) + 0 * z,
    ),
}


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_derivatives_with_numbers_equal_their_closed_forms(kind):
    x = np.array([0.3, 1.0, 2.7])
    forms = REAL
    if kind == "complex":
        x, forms = x * (1 + 0.5j), COMPLEX
    for name, (function, first, second) in forms.items():
        t = ag.from_numpy(x).requires_grad_(True)
        y = function(t)
        (g,) = ag.autograd.grad(y, t, ag.ones_like(y), create_graph=True)
        np.testing.assert_allclose(g.detach().numpy(), np.conj(first(x)), 1e-14, err_msg=name)
        (h,) = ag.autograd.grad(g, t, ag.ones_like(g))
        np.testing.assert_allclose(h.numpy(), np.conj(second(x)), 2e-14, err_msg=name)
        with fw.dual_level():
            tangent = fw.unpack_dual(function(fw.make_dual(ag.from_numpy(x), t.detach()))).tangent
        np.testing.assert_allclose(tangent.numpy(), first(x) * x, 1e-14, err_msg=name)
