"""Every operator of the table on CUDA: values, derivatives, in place, out=, vmap, in its dtypes."""

import operators
import pytest
from calls import RECORDS, cases, claimed
from grouping import each
from operators import LAID, ROUNDINGS

import autograd_cy as ag
from autograd_cy._C import cuda_host, cuda_mirrors
from autograd_cy.ops import _schema as schema

EVERY = cases(lambda r: bool(r.tests.samples))
# What has kernels of the device, whatever else has not.
REDUCTIONS = (
    "sum sum_dim _sum_of_squares mean mean_dim prod prod_dim logsumexp all any amax amin max min "
    "max_dim min_dim argmax argmin aminmax var std var_mean std_mean _mse_loss _l1_loss "
    "_smooth_l1_loss _huber_loss _soft_margin_loss _kl_div _binary_cross_entropy "
    "_logit_cross_entropy"
).split()
PRODUCTS = "mm bmm dot mv addmm addmv baddbmm addbmm linear".split()
ROWS = (
    "softmax softmax_backward log_softmax log_softmax_backward _native_layer_norm _fused_rms_norm"
).split()
INDICES = (
    "arange _index _index_put nonzero argwhere index_select gather index_add scatter_add "
    "scatter_src scatter_reduce index_reduce embedding embedding_dense_backward _embedding_rows "
    "_embedding_bag cat stack flip tril triu constant_pad_nd _pad _pad_backward nll_loss_forward "
    "nll_loss_backward _checked_values"
).split()
WINDOWS = "convolution _convolution_input _convolution_weight _im2col _col2im".split()
SETS = "_native_group_norm _batch_norm _batch_norm_fixed _fused_batch_norm_backward".split()
POOLS = ("_max_pool _avg_pool _adaptive_max_pool _adaptive_avg_pool _resample _grid_sample").split()
DRAWS = (
    "_uniform _normal _normal_mean _normal_std _normal_both _exponential _bernoulli "
    "_bernoulli_each _bernoulli_like _bernoulli_of _random _randperm _category_weights "
    "_dropout_mask _channel_mask _element_mask _rrelu_noise"
).split()
LAYERS = "_attention _attention_gradients _recurrent _recurrent_backward".split()
OWN = {
    *REDUCTIONS,
    *PRODUCTS,
    *ROWS,
    *WINDOWS,
    *SETS,
    *POOLS,
    *INDICES,
    *DRAWS,
    *LAYERS,
}
WITHOUT_HOST = cases(
    lambda r: (
        bool(r.tests.samples)
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


def pairs(params):
    """All cases with each of their dtypes; all but one dtype are slow."""
    found = []
    for p in params:
        case = p.values[0]
        quick = some(case.record)
        found += [
            pytest.param(case, n, id=f"{p.id}-{n}", marks=[] if n in quick else pytest.mark.slow)
            for n in claimed(case.record)
        ]
    return found


@each("case, name", pairs(EVERY))
def test_all_forms_in_all_dtypes(case, name):
    operators.agree(case, name)


@pytest.fixture
def no_host():
    cuda_mirrors.show("error")
    yield
    cuda_mirrors.show()


@each("case, name", pairs(WITHOUT_HOST))
def test_what_has_kernels_never_goes_by_the_host(no_host, case, name):
    """AUTOGRAD_CY_CUDA_HOST=error refuses what goes by the host."""
    operators.agree(case, name, forms=LAID, counted=False)


def test_the_list_of_what_goes_by_the_host_has_none_of_these():
    listed = ag.cuda.host_operators()
    assert OWN and not OWN & set(listed)
    assert listed == sorted(set(listed))
    slots = {key.removesuffix(".sizes") for key in cuda_host.KERNELS}
    assert set(listed) <= slots | set(cuda_host.NUMPY.values())


# Families that layers, losses and optimizers are made of.
OF_LAYERS = (
    "attention convolution dropout embedding linear loss margin_loss normalization optimizers "
    "padding piecewise_activation pointwise_loss pooling recurrent resampling sequence_loss "
    "smooth_activation softmax"
).split()


def test_layers_losses_and_optimizers_need_no_host():
    listed = set(ag.cuda.host_operators())
    for family in OF_LAYERS:
        keys = {r.key for r in RECORDS if r.file == family}
        assert keys, family
        assert not keys & listed, family


def test_the_table_has_forty_thousand_cases():
    """The count is that of `test_all_forms_in_all_dtypes`; each form has some."""
    made = dict.fromkeys(ROUNDINGS, 0)
    for p in EVERY:
        for name in claimed(p.values[0].record):
            for form in operators.forms_of(operators.make(p.values[0], name)):
                made[form] += 1
    assert min(made.values()) > 4000 and sum(made.values()) > 40_000
    assert {p.values[0].record.key for p in EVERY} == {r.key for r in RECORDS if r.tests.samples}
