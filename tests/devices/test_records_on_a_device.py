"""Every operator of the table on the asynchronous device: the CPU's bits, strides and errors."""

import pytest
from grouping import each
from helpers import CLASS_OF, cases, few, inplace_form, make, one_dtype, outputs
from proof import NAME, bits

import autograd_cy as ag
from autograd_cy._C import devices
from autograd_cy.ops import _schema as schema

# What NumPy or SciPy computes, at least in parts, has no slots: the host needs the values.
# `cdist` is a kernel of NumPy on the CPU, and made of other operators elsewhere: roundings differ.
OF_THE_HOST = {"linalg_solve", "linalg_pinv", "linalg_pinv_rcond", "pinverse", "cdist"}
# SciPy computes what only the second derivative has.
SECOND_OF_THE_HOST = {"special_i1e"}
EVERY = cases(
    lambda r: (
        bool(r.tests.samples)
        and any(a.is_tensor for a in r.args)
        and not isinstance(r.kernel, schema.host)
        and r.key not in OF_THE_HOST
    )
)
SMOOTH = [
    c
    for c in EVERY
    if c.values[0].record.derivatives.differentiable and "f" in c.values[0].record.call.dtypes
]


def on_device(t):
    return t if t is None else t.to(NAME)


def here(t):
    return t


def told(results):
    """Bits, dtypes, shapes and strides of what a call gives."""
    return [
        t if not isinstance(t, ag.Tensor) else (t.dtype, tuple(t.shape), t.stride(), bits(t))
        for t in results
    ]


def outcome(run, call, place):
    """The result of a call and what its arguments are afterwards, or the error."""
    ag.manual_seed(11)
    ins = [place(t) for t in call.tensors()]
    try:
        results = list(outputs(run(call, ins)))
        for t in results:
            assert not isinstance(t, ag.Tensor) or place is here or str(t.device) == f"{NAME}:0"
        return told(results) + [bits(t) for t in ins if t is not None]
    except Exception as error:
        return type(error), str(error).replace(f"{NAME}:0", "cpu")


def agrees(run, case, name):
    call = make(case, name)
    assert outcome(run, call, on_device) == outcome(run, call, here)


def plain(call, ins):
    return call(ins)


def first_derivatives(call, ins, **options):
    wanted = [ins[i].requires_grad_() for i in call.moving]
    results = [t for t in outputs(call(ins)) if t.requires_grad]
    if not wanted or not results:
        return []
    ones = [ag.ones_like(t).requires_grad_() for t in results]
    return ag.autograd.grad(results, wanted, ones, allow_unused=True, **options)


def second_derivatives(call, ins):
    found = first_derivatives(call, ins, create_graph=True)
    found = [t for t in found if t is not None and t.requires_grad]
    wanted = [t for t in ins if t is not None and t.requires_grad]
    if not found:
        return []
    ones = [ag.ones_like(t) for t in found]
    return ag.autograd.grad(found, wanted, ones, allow_unused=True)


def tangents(call, ins):
    if not call.moving:
        return []

    def function(*moved):
        given = list(ins)
        for i, t in zip(call.moving, moved):
            given[i] = t
        return [t for t in outputs(call(given)) if t.is_floating_point()]

    wanted = tuple(ins[i] for i in call.moving)
    return ag.func.jvp(function, wanted, tuple(map(ag.ones_like, wanted)))[1]


@pytest.mark.parametrize("p", [0.0, 1.0, 1.5, 2.0, 3.0, float("inf")])
def test_distances_are_those_of_the_cpu(late, p):
    ag.manual_seed(2)
    x, y = ag.rand(3, 2, dtype=ag.float64), ag.rand(4, 2, dtype=ag.float64)
    got = ag.cdist(x.to(NAME), y.to(NAME), p)
    assert str(got.device) == f"{NAME}:0"
    ag.testing.assert_close(got.cpu(), ag.cdist(x, y, p))


# Cases that check values before anything is computed, as torch does on every device.
CHECKS = {"cov": "fweights"}


@each("case", few(EVERY, 1))
def test_no_operator_reads_values_but_for_sizes(late, case):
    """Neither to check them nor to decide by them; a slot that counts answers the host."""
    call = make(case, one_dtype(case.record))
    ins = [on_device(t) for t in call.tensors()]
    checks = CHECKS.get(case.record.key) in call.arguments(ins)[1]
    late.forget()
    before = devices.host_reads()
    call(ins)
    made = late.state()["calls"]
    counted = sum(n for key, n in made.items() if key.endswith(".sizes"))
    read = devices.host_reads() - before, made.get("reads", 0) - counted
    assert all(n > 0 for n in read) if checks else read == (0, 0)


@each("case", few(EVERY, 1))
def test_results_have_the_bits_of_the_cpu(late, case):
    agrees(plain, case, one_dtype(case.record))


@pytest.mark.slow
@each("case", EVERY)
def test_results_in_every_dtype_have_the_bits_of_the_cpu(late, case):
    for name in [n for n in CLASS_OF if CLASS_OF[n] in case.record.call.dtypes]:
        agrees(plain, case, name)


@each("case", few(SMOOTH, 1))
def test_gradients_have_the_bits_of_the_cpu(late, case):
    agrees(first_derivatives, case, "float64")


@pytest.mark.slow
@each("case", few([c for c in SMOOTH if c.values[0].record.key not in SECOND_OF_THE_HOST], 2))
def test_second_derivatives_have_the_bits_of_the_cpu(late, case):
    agrees(second_derivatives, case, "float64")


@pytest.mark.slow
@each("case", few(SMOOTH, 2))
def test_tangents_have_the_bits_of_the_cpu(late, case):
    agrees(tangents, case, "float64")


@each("case", few([c for c in EVERY if c.values[0].record.call.inplace], 1))
def test_inplace_forms_have_the_bits_of_the_cpu(late, case):
    form = inplace_form(case.record)
    agrees(lambda call, ins: call(ins, form), case, one_dtype(case.record))
