"""Every record through gradcheck: backward, forward mode, batches and undefined gradients.

By default the first sample of each, along random vectors; the slow tests look at every element of
the Jacobians of all samples.
"""

import pytest
from calls import CLASS_OF, cases, make, tensor
from derivatives import differentiable_outputs
from grouping import each
from test_op_derivatives import smooth

import autograd_cy as ag
from autograd_cy.autograd import gradcheck, gradgradcheck
from autograd_cy.ops import _schema as schema

ALL = cases(smooth)
FIRST = [case for case in ALL if case.values[0].number == 0]
# Second differences of a function are those of a computed gradient; its own error counts.
TOLERANCES = {"atol": 1e-5, "rtol": 1e-4}


def subjects(case):
    """(function of the differentiable arguments, these) for each dtype of a sample."""
    for name in ("float64", "complex128"):
        if CLASS_OF[name] not in case.record.call.dtypes:
            continue
        call = make(case, name)
        fixed = call.tensors()
        if not call.moving or not differentiable_outputs(call, call(fixed)):
            continue

        def function(*moving, call=call, fixed=fixed):
            merged = list(fixed)
            for i, t in zip(call.moving, moving):
                merged[i] = t
            return tuple(differentiable_outputs(call, call(merged)))

        yield function, [tensor(call.arrays[i], requires_grad=True) for i in call.moving]


def has_vmap(record):
    return not isinstance(record.batching.vmap, (schema.refuse, schema.randomly))


def check_first(case, fast):
    for function, inputs in checked(case):
        assert gradcheck(
            function,
            inputs,
            fast_mode=fast,
            check_forward_ad=True,
            check_grad_dtypes=True,
            check_batched_grad=has_vmap(case.record),
            check_batched_forward_grad=has_vmap(case.record),
            **TOLERANCES,
        )


def check_second(case, fast):
    for function, inputs in checked(case):
        assert gradgradcheck(
            function,
            inputs,
            fast_mode=fast,
            check_fwd_over_rev=True,
            check_grad_dtypes=True,
            check_batched_grad=has_vmap(case.record),
            gen_non_contig_grad_outputs=not fast,
            **TOLERANCES,
        )


def checked(case):
    found = list(subjects(case))
    if not found:
        pytest.skip("nothing to differentiate in this sample")
    return found


@pytest.mark.slow
@each("case", FIRST)
def test_along_random_vectors(case):
    check_first(case, fast=True)


@pytest.mark.slow
@each("case", FIRST)
def test_second_derivative_along_random_vectors(case):
    check_second(case, fast=True)


@pytest.mark.slow
@pytest.mark.parametrize("fast", [False, True], ids=["full", "random"])
@each("case", ALL)
def test_every_sample(case, fast):
    check_first(case, fast)


@pytest.mark.slow
@pytest.mark.parametrize("fast", [False, True], ids=["full", "random"])
@each("case", ALL)
def test_second_derivative_of_every_sample(case, fast):
    check_second(case, fast)


@pytest.mark.parametrize("dtype", [ag.float64, ag.complex128])
def test_complex_factors_of_sums_with_products(dtype):
    """The samples have real factors, which real dtypes take too."""
    shapes = ((3, 2), (3, 4), (4, 2))
    inputs = [ag.randn(s, dtype=dtype, requires_grad=True) for s in shapes]
    beta, alpha = (0.5 + 1j, 1 - 2j) if dtype == ag.complex128 else (0.5, -2.0)
    assert gradcheck(lambda a, b, c: ag.addmm(a, b, c, beta=beta, alpha=alpha), inputs)
    assert gradgradcheck(lambda a, b, c: ag.addmm(a, b, c, beta=beta, alpha=alpha), inputs)
    inputs = [ag.randn((2, *s), dtype=dtype, requires_grad=True) for s in shapes]
    assert gradcheck(lambda a, b, c: ag.baddbmm(a, b, c, beta=beta, alpha=alpha), inputs)
    assert gradgradcheck(lambda a, b, c: ag.baddbmm(a, b, c, beta=beta, alpha=alpha), inputs)


def test_complex_factor_of_add():
    a, b = (ag.randn(3, dtype=ag.complex128, requires_grad=True) for _ in range(2))
    assert gradcheck(lambda a, b: ag.add(a, b, alpha=1 - 2j), (a, b), check_forward_ad=True)
    assert gradcheck(lambda a, b: ag.sub(a, b, alpha=1 - 2j), (a, b), check_forward_ad=True)
