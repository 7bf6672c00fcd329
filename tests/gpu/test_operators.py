"""Every operator of the table on CUDA: values, derivatives, in place, out=, vmap, in its dtypes."""

import operators
import pytest
from calls import RECORDS, cases, claimed, few
from grouping import each
from operators import LAID, ROUNDINGS

import autograd_cy as ag
from autograd_cy._C import cuda_host, cuda_mirrors
from autograd_cy.ops import _schema as schema

EVERY = cases(lambda r: bool(r.samples))
# What has kernels of the device, whatever else has not.
REDUCTIONS = (
    "sum sum_dim _sum_of_squares mean mean_dim prod prod_dim logsumexp all any amax amin max min "
    "max_dim min_dim argmax argmin aminmax var std var_mean std_mean _mse_loss _l1_loss "
    "_smooth_l1_loss _huber_loss _soft_margin_loss _kl_div _binary_cross_entropy "
    "_logit_cross_entropy"
).split()
PRODUCTS = "mm bmm dot mv addmm addmv baddbmm addbmm linear".split()
OWN = {*REDUCTIONS, *PRODUCTS}
WITHOUT_HOST = cases(
    lambda r: (
        bool(r.samples)
        and (
            isinstance(r.kernel, (schema.elementwise, schema.view))
            or r.key in OWN
            or getattr(r.kernel, "anywhere", False)
        )
    )
)


def some(record):
    """A dtype for each kind of kernel that a build of one group of dtypes has."""
    names = claimed(record)
    wanted = [n for n in ("float32", "int64", "bool") if n in names][:1]
    return wanted or names[:1]


@each("case", few(EVERY, 1))
def test_a_sample_of_each_operator(case):
    operators.all_agree(case, some(case.record))


@pytest.mark.slow
@each("case", EVERY)
def test_all_forms_in_all_dtypes(case):
    operators.all_agree(case)


@pytest.fixture
def no_host():
    cuda_mirrors.show("error")
    yield
    cuda_mirrors.show()


@each("case", few(WITHOUT_HOST, 1))
def test_what_has_kernels_never_goes_by_the_host(no_host, case):
    """With AUTOGRAD_CY_CUDA_HOST=error, which refuses it; in all dtypes, in the slow tests."""
    names = some(case.record) if case.number == 0 else claimed(case.record)
    operators.all_agree(case, names, forms=LAID)


def test_the_list_of_what_goes_by_the_host_has_none_of_these():
    listed = ag.cuda.host_operators()
    assert len(OWN) == 40 and not OWN & set(listed)
    assert listed == sorted(set(listed))
    slots = {key.removesuffix(".sizes") for key in cuda_host.KERNELS}
    assert set(listed) <= slots | set(cuda_host.NUMPY.values())


def test_the_table_has_forty_thousand_cases():
    """As many as `test_all_forms_in_all_dtypes` runs; each form has some."""
    made = {form: 0 for form in ROUNDINGS}
    for p in EVERY:
        for name in claimed(p.values[0].record):
            for form in operators.forms_of(operators.make(p.values[0], name)):
                made[form] += 1
    assert min(made.values()) > 4000 and sum(made.values()) > 40_000
    assert {p.values[0].record.key for p in EVERY} == {r.key for r in RECORDS if r.samples}
