"""Medians, searches, unique elements, thresholds and reductions at indices beyond the samples."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.autograd import forward_ad, gradcheck, gradgradcheck

NAN = float("nan")


def leaf(values, dtype=ag.float64):
    return ag.tensor(values, dtype=dtype, requires_grad=True)


def gradient(y, *xs):
    return [g.tolist() for g in ag.autograd.grad(y, xs)]


# --- medians ----------------------------------------------------------------------------------


def test_median_is_the_lower_of_two_middle_elements_and_nan_wins():
    assert ag.tensor([4, 1, 3, 2]).median().item() == 2
    assert np.isnan(ag.tensor([1.0, NAN, 0.0]).median().item())
    assert ag.tensor([1.0, NAN, 0.0]).nanmedian().item() == 0
    assert np.isnan(ag.tensor([NAN, NAN]).nanmedian().item())
    assert np.isnan(ag.ones(0).median().item())


def test_median_of_everything_shares_the_gradient_among_equal_elements_and_among_nans():
    x = leaf([3.0, 1.0, 2.0, 2.0])
    assert gradient(x.median(), x) == [[0, 0, 0.5, 0.5]]
    y = leaf([NAN, 1.0, NAN, 0.0])
    assert gradient(y.median(), y) == [[0.5, 0, 0.5, 0]]
    assert gradient(y.nanmedian(), y) == [[0, 0, 0, 1]]


def test_median_along_a_dimension_gives_the_gradient_to_the_element_it_names():
    x = leaf([[3.0, 1.0, 2.0, 2.0], [NAN, 1.0, NAN, 0.0]])
    values, indices = x.median(1)
    assert indices.tolist() == [2, 0]
    assert not indices.requires_grad and type(values.grad_fn).__name__ == "MedianBackward1"
    assert gradient(values.sum(), x) == [[[0, 0, 1, 0], [1, 0, 0, 0]]]
    assert ag.nanmedian(x, dim=1, keepdim=True).indices.tolist() == [[2], [3]]


def test_median_of_an_empty_dimension_is_an_index_error():
    with pytest.raises(IndexError, match=r"Expected reduction dim 0 to have non-zero size"):
        ag.ones(0, 3).median(0)
    assert ag.ones(0, 3).median(1).values.shape == (0,)


# --- searches ---------------------------------------------------------------------------------


def test_searchsorted_takes_rows_sorters_and_nan():
    rows = ag.tensor([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]])
    wanted = ag.tensor([[3.0, 6.0], [2.0, NAN]])
    assert ag.searchsorted(rows, wanted).tolist() == [[1, 3], [0, 3]]
    assert ag.searchsorted(rows, wanted, side="right").tolist() == [[2, 3], [1, 3]]
    assert ag.searchsorted(rows, wanted, side="left").tolist() == [[1, 3], [0, 3]]
    assert ag.searchsorted(rows, wanted, side="right", right=True).tolist() == [[2, 3], [1, 3]]
    shuffled = ag.tensor([5.0, 1.0, 3.0])
    found = ag.searchsorted(shuffled, 3.0, sorter=shuffled.argsort(), out_int32=True)
    assert found.item() == 1 and found.dtype == ag.int32
    assert ag.searchsorted(ag.tensor([1.0, NAN]), ag.tensor([5.0])).tolist() == [2]
    assert ag.searchsorted(ag.ones(0), ag.ones(2)).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        (((2, 3), (3, 2)), {}, "must match, but we got boundaries tensor"),
        (
            ((2, 3), ()),
            {},
            "input value can be a scalar only when boundaries tensor dimension is 1",
        ),
        (((), (1,)), {}, "boundaries tensor should have positive dimension"),
        (((3,), (1,)), {"side": "x"}, "side can only be 'left' or 'right' but got x"),
        (((3,), (1,)), {"side": "left", "right": True}, "side and right can't be set to opposites"),
    ],
)
def test_searchsorted_says_what_is_wrong(args, kwargs, message):
    with pytest.raises(RuntimeError, match=message):
        ag.searchsorted(*map(ag.ones, args), **kwargs)


def test_searchsorted_checks_the_sorter():
    s = ag.ones(3)
    for sorter, message in (
        (ag.tensor([0, 1]), "must have the same size"),
        (ag.tensor([0, 1, 3]), "sorter index out of range"),
        (ag.tensor([0, -1, 1]), "sorter index out of range"),
        (ag.tensor([0.0, 1.0, 2.0]), "sorter must be a tensor of long dtype"),
    ):
        with pytest.raises(RuntimeError, match=message):
            ag.searchsorted(s, s, sorter=sorter)


def test_bucketize_takes_numbers_and_refuses_several_rows():
    assert ag.bucketize(2, ag.tensor([1.0, 3.0])).item() == 1
    with pytest.raises(RuntimeError, match="boundaries tensor must be 1 dimension"):
        ag.bucketize(ag.ones(2), ag.ones(2, 2))


def test_isin_promotes_takes_numbers_and_never_requires_grad():
    x = leaf([1.0, NAN])
    found = ag.isin(x, ag.tensor([1.0, NAN]))
    assert found.tolist() == [True, False] and not found.requires_grad
    assert ag.isin(ag.arange(3), 1.5).tolist() == [False, False, False]
    assert ag.isin(1, ag.tensor([1, 2])).item() is True
    with pytest.raises(TypeError, match="must be Tensor"):
        ag.isin(1, 2)


def test_search_results_are_constants_in_forward_mode():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(ag.ones(2), ag.ones(2))
        assert ag.isin(x, x).tolist() == [True, True]
        assert forward_ad.unpack_dual(ag.searchsorted(x, x)).tangent is None


@pytest.mark.parametrize("in_dims", [(0, None), (None, 0), (0, 0)])
def test_searches_run_under_vmap(in_dims):
    rows = ag.tensor([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]])
    values = ag.tensor([[3.0, 6.0], [2.0, 1.0]])
    rows = rows if in_dims[0] == 0 else rows[0]
    values = values if in_dims[1] == 0 else values[0]
    for function in (ag.searchsorted, lambda a, b: ag.bucketize(b, a), ag.isin):
        expected = [
            function(
                rows[i] if in_dims[0] == 0 else rows, values[i] if in_dims[1] == 0 else values
            ).tolist()
            for i in range(2)
        ]
        assert ag.vmap(function, in_dims)(rows, values).tolist() == expected


# --- unique elements --------------------------------------------------------------------------


def test_unique_gives_elements_their_places_and_counts():
    x = ag.tensor([[3, 1], [1, 3]])
    values, inverse, counts = ag.unique(x, return_inverse=True, return_counts=True)
    assert values.tolist() == [1, 3]
    assert inverse.tolist() == [[1, 0], [0, 1]] and counts.tolist() == [2, 2]
    assert x.unique(dim=0).tolist() == [[1, 3], [3, 1]]
    nans = ag.tensor([NAN, 1.0, NAN])
    assert ag.unique(nans, return_counts=True)[1].tolist() == [1, 1, 1]
    assert ag.unique(ag.ones(0)).shape == (0,)
    assert ag.unique(ag.tensor(3.0), return_inverse=True)[1].shape == ()


def test_unique_consecutive_keeps_the_order():
    x = ag.tensor([1, 1, 2, 1])
    values, inverse, counts = ag.unique_consecutive(x, True, True)
    assert values.tolist() == [1, 2, 1]
    assert inverse.tolist() == [0, 0, 1, 2] and counts.tolist() == [2, 1, 1]
    assert ag.unique_consecutive(ag.tensor([[1, 1], [1, 1]]), dim=1).tolist() == [[1], [1]]


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: x.unique(return_inverse=True), "_unique2"),
        (lambda x: x.unique(dim=0, return_inverse=True), "unique_dim"),
        (lambda x: ag.unique_consecutive(x, return_inverse=True), "unique_consecutive"),
    ],
)
def test_only_unique_values_require_grad_and_their_derivative_is_an_error(function, name):
    x = leaf([[1.0, 2.0]])
    values, inverse = function(x)
    assert values.requires_grad and not inverse.requires_grad
    with pytest.raises(
        NotImplementedError, match=f"the derivative for '{name}' is not implemented"
    ):
        values.sum().backward()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x.detach(), ag.ones(1, 2, dtype=ag.float64))
        with pytest.raises(NotImplementedError, match=f"Trying to use forward AD with {name}"):
            function(dual)
    with pytest.raises(RuntimeError, match="can output dynamic shape"):
        ag.vmap(lambda t: function(t)[0])(ag.ones(2, 1, 2))


def test_unique_refuses_empty_slices():
    with pytest.raises(RuntimeError, match="There are 0 sized dimensions"):
        ag.ones(3, 0).unique(dim=0)


# --- thresholds -------------------------------------------------------------------------------


def test_threshold_keeps_nan_and_computes_in_the_dtype_of_the_tensor():
    x = ag.tensor([-1.0, 0.5, NAN, 2.0])
    np.testing.assert_array_equal(ag.threshold(x, 0.5, 7).numpy(), [7, 7, NAN, 2])
    assert ag.threshold(ag.arange(4), 1.5, 9.7).tolist() == [9, 9, 2, 3]
    assert ag.nn.functional.threshold(x.clone(), 1, 3, inplace=True).tolist()[0] == 3


def test_threshold_in_place_on_a_view_can_be_differentiated_twice():
    x = leaf([-1.0, 0.2, 2.0])

    def function(x):
        y = x * x
        ag.threshold_(y[1:], 0.1, 3.0)
        return y * x

    assert gradcheck(function, (x,)) and gradgradcheck(function, (x,))


@pytest.mark.parametrize("function", [ag.relu, lambda x: ag.threshold(x, 0.5, 7)])
def test_the_gradient_of_a_threshold_has_a_graph_to_both_of_its_arguments(function):
    x, g = leaf([-1.0, 2.0]), leaf([1.0, 1.0])
    (first,) = ag.autograd.grad(function(x), x, g, create_graph=True)
    assert type(first.grad_fn).__name__ == "ThresholdBackwardBackward0"
    assert len(first.grad_fn.next_functions) == 2
    assert gradient(first.sum(), x, g) == [[0, 0], [0, 1]]


def test_threshold_module_says_its_numbers():
    module = ag.nn.Threshold(0.1, 20, inplace=True)
    assert repr(module) == "Threshold(threshold=0.1, value=20, inplace=True)"
    assert module(ag.tensor([0.0, 1.0])).tolist() == [20, 1]


# --- special functions ------------------------------------------------------------------------


def test_igamma_has_no_derivative_in_its_order():
    a, x = leaf([0.5, 2.0]), leaf([0.1, 3.0])
    y = ag.igamma(a, x)
    assert gradient(y.sum(), x)
    with pytest.raises(NotImplementedError, match="the derivative for 'igamma: input'"):
        ag.autograd.grad(ag.igamma(a, x).sum(), a)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(a.detach(), ag.ones(2, dtype=ag.float64))
        message = "Trying to use forward AD with igammac that does not support it"
        with pytest.raises(NotImplementedError, match=message):
            ag.igammac(dual, x.detach())


def test_igamma_at_zero_and_outside_its_domain():
    a = ag.tensor([0.0, -1.0, 1.0, 0.0, 2.0])
    x = ag.tensor([1.0, 1.0, -1.0, 0.0, 0.0])
    np.testing.assert_array_equal(ag.igamma(a, x).numpy(), [1, NAN, NAN, NAN, 0])


def test_gamma_functions_of_negative_numbers():
    x = leaf([-0.5, 3.0])
    (first,) = ag.autograd.grad(ag.lgamma(x).sum(), x, create_graph=True)
    np.testing.assert_allclose(first.tolist(), [0.03648997, 0.92278434], rtol=1e-6)
    np.testing.assert_allclose(ag.polygamma(1, x).tolist(), [8.93480220, 0.39493407], rtol=1e-6)
    assert x.detach().clone().polygamma_(0).tolist() == ag.digamma(x).tolist()
    assert gradcheck(ag.digamma, (x,)) and gradgradcheck(ag.lgamma, (x,))
    with pytest.raises(RuntimeError, match="does not support negative n"):
        ag.polygamma(-1, x)


def test_polygamma_of_large_orders():
    """Its sign is that of -1 to the power of n + 1, and n! / x**(n + 1) tells its size."""
    x = ag.tensor([0.5, 2.0, 3.7, 1e3, 1e9], dtype=ag.float64)
    assert ag.polygamma(2**40, x).tolist() == [-np.inf] * 5
    assert ag.polygamma(2**40 + 1, x).tolist() == [np.inf] * 5
    assert ag.polygamma(2**62, x).tolist() == [-np.inf] * 5
    assert ag.polygamma(1000, x)[3:].tolist() == [0, 0]
    assert ag.polygamma(1001, x)[:3].tolist() == [np.inf] * 3
    assert ag.polygamma(2**40, ag.tensor([np.nan])).isnan().all()


# --- reductions at indices --------------------------------------------------------------------

INDEX = [0, 1, 0, 1]
SOURCES = [("scatter_reduce", "src"), ("index_reduce", "source")]


@pytest.mark.parametrize(
    ("reduce", "include_self", "value", "of_self", "of_src"),
    [
        ("sum", True, [7, 13, 4], [1, 10, 100], [1, 10, 1, 10]),
        ("sum", False, [5, 10, 4], [0, 0, 100], [1, 10, 1, 10]),
        ("prod", True, [0, 63, 4], [0, 210, 100], [0, 210, 10, 90]),
        ("prod", False, [0, 21, 4], [0, 0, 100], [0, 70, 5, 30]),
        ("mean", False, [2.5, 5, 4], [0, 0, 100], [0.5, 5, 0.5, 5]),
        ("amin", True, [0, 3, 4], [0, 5, 100], [0, 5, 1, 0]),
        ("amin", False, [0, 3, 4], [0, 0, 100], [0, 10, 1, 0]),
        ("amax", True, [5, 7, 4], [0, 0, 100], [1, 0, 0, 10]),
        ("amax", False, [5, 7, 4], [0, 0, 100], [1, 0, 0, 10]),
    ],
)
@pytest.mark.parametrize("inplace", [False, True])
def test_reductions_at_indices(reduce, include_self, value, of_self, of_src, inplace):
    index = ag.tensor(INDEX)
    for name in ("scatter_reduce", "index_reduce"):
        if reduce == "sum" and name == "index_reduce":
            continue
        x, src = leaf([2.0, 3.0, 4.0]), leaf([5.0, 3.0, 0.0, 7.0])
        target = x * 1 if inplace else x
        function = getattr(target, name + "_" * inplace)
        y = function(0, index, src, reduce, include_self=include_self)
        assert y.tolist() == value
        weight = ag.tensor([1.0, 10.0, 100.0], dtype=ag.float64)
        assert gradient((y * weight).sum(), x, src) == [of_self, of_src]


def test_reductions_at_indices_round_halves_once_and_keep_integers():
    index = ag.tensor(INDEX)
    for dtype in (ag.float16, ag.bfloat16):
        x = ag.tensor([2.0, 3.0, 4.0], dtype=dtype)
        src = ag.tensor([5.0, 3.0, 0.0, 7.0], dtype=dtype)
        mean = ag.scatter_reduce(x, 0, index, src, "mean")
        assert mean.tolist() == ag.tensor([7 / 3, 13 / 3, 4.0], dtype=dtype).tolist()
    down = ag.scatter_reduce(ag.arange(3), 0, index, -ag.arange(4), "mean")
    assert down.tolist() == [-1, -1, 2]
    least = ag.scatter_reduce(
        ag.zeros(1, dtype=ag.uint8),
        0,
        ag.tensor([0]),
        ag.full((1,), 7, dtype=ag.uint8),
        "amin",
        include_self=False,
    )
    assert least.tolist() == [7]


@pytest.mark.parametrize(("name", "source"), SOURCES)
def test_products_with_several_zeros_have_a_gradient_but_no_second_one(name, source):
    index = ag.tensor([0, 0, 0])
    x, one, two = leaf([2.0, 3.0]), leaf([0.0, 3.0, 4.0]), leaf([0.0, 0.0, 4.0])
    function = getattr(ag, name)
    assert gradgradcheck(lambda x, s: function(x, 0, index, s, "prod"), (x, one))
    y = function(x, 0, index, two, "prod").sum()
    first = ag.autograd.grad(y, (x, two), create_graph=True)
    assert [g.tolist() for g in first] == [[0, 1], [0, 0, 0]]
    message = f"Double backward is unsupported for {source} when >1 zeros in {source}"
    with pytest.raises(RuntimeError, match=message):
        first[1].sum().backward()


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_derivatives_of_reductions_at_indices_of_part_of_the_source(reduce, include_self):
    rng = np.random.default_rng(3)
    x, src = (
        ag.from_numpy(rng.permutation(12).reshape(3, 4) + 1.5).requires_grad_(),
        ag.from_numpy(rng.permutation(12).reshape(3, 4) + 1.25).requires_grad_(),
    )
    index = ag.tensor([[0, 2, 2], [0, 0, 2]])

    def function(x, src):
        return ag.scatter_reduce(x, 0, index, src, reduce, include_self=include_self)

    assert gradcheck(function, (x, src), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(function, (x, src), check_fwd_over_rev=True)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x, i, s: x.scatter_reduce(0, i, s, "add"),
            RuntimeError,
            "must be either sum, prod",
        ),
        (lambda x, i, s: x.scatter_reduce(0, i + 2, s, "sum"), RuntimeError, "index 3 is out of"),
        (lambda x, i, s: x.scatter_reduce(0, i, s[:2], "sum"), RuntimeError, "Expected index"),
        (lambda x, i, s: x.scatter_reduce(0, i, s.float(), "sum"), RuntimeError, "self.dtype"),
        (lambda x, i, s: x.scatter_reduce(0, i.float(), s, "sum"), RuntimeError, "int32/int64"),
        (lambda x, i, s: x.scatter_reduce(1, i, s, "sum"), IndexError, "Dimension out of range"),
        (lambda x, i, s: x.index_reduce(0, i, s, "sum"), RuntimeError, "one of prod, mean"),
        (lambda x, i, s: x.index_reduce(0, i + 2, s, "prod"), IndexError, "index out of range"),
        (lambda x, i, s: x.index_reduce(0, i - 1, s, "prod"), IndexError, "index out of range"),
        (lambda x, i, s: x.index_reduce(0, i[None], s, "prod"), IndexError, "to be a vector"),
        (lambda x, i, s: x.index_reduce(0, i[:2], s, "prod"), RuntimeError, "Number of indices"),
        (lambda x, i, s: x.index_reduce(0, i, s.float(), "prod"), RuntimeError, "scalar type"),
        (lambda x, i, s: x.index_reduce(0, i, s[None], "prod"), RuntimeError, "tensor shape must"),
    ],
)
def test_reductions_at_indices_refuse_before_they_change_anything(call, error, message):
    x, index = ag.zeros(3, dtype=ag.float64), ag.tensor(INDEX)
    src = ag.ones(4, dtype=ag.float64)
    with pytest.raises(error, match=message):
        call(x, index, src)
    assert x.tolist() == [0, 0, 0] and x._version == 0


# --- the k-th smallest ------------------------------------------------------------------------


def test_kthvalue_counts_equal_elements_from_the_first_and_nan_last():
    x = leaf([[3.0, NAN, 2.0, 2.0], [0.0, -1.0, 5.0, -0.0]])
    values, indices = x.kthvalue(2)
    assert values.tolist() == [2.0, 0.0] and indices.tolist() == [3, 0]
    assert type(values.grad_fn).__name__ == "KthvalueBackward0"
    assert gradient(values.sum(), x) == [[[0, 0, 0, 1], [1, 0, 0, 0]]]
    assert np.isnan(ag.kthvalue(x, 4).values[0].item())
    assert ag.kthvalue(x, k=1, dim=0, keepdim=True).indices.shape == (1, 4)
    assert ag.kthvalue(ag.ones(0, 3), 1).values.shape == (0,)


@pytest.mark.parametrize("dtype", [ag.uint8, ag.int64, ag.float16, ag.bfloat16, ag.float32])
def test_kthvalue_of_rows_of_all_lengths_is_that_of_sorted_rows(dtype):
    for size in (1, 2, 31, 33, 300, 2000):
        x = ag.randint(0, 99, (3, size, 2), generator=ag.Generator().manual_seed(size)).to(dtype)
        values, indices = x.sort(1)
        for k in sorted({1, 2, size // 8, size // 2 + 1, size} & set(range(1, size + 1))):
            found = x.kthvalue(k, 1)
            assert ag.equal(found.values, values[:, k - 1])
            assert ag.equal(found.indices, indices[:, k - 1])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ag.ones(2, 3).kthvalue(4), RuntimeError, "k out of range for dimension 1"),
        (lambda: ag.ones(2, 3).kthvalue(0), RuntimeError, "k out of range for dimension 1"),
        (lambda: ag.tensor(1.0).kthvalue(2), RuntimeError, "k out of range for dimension 0"),
        (lambda: ag.ones(2, 0).kthvalue(1), IndexError, "reduction dim 1 to have non-zero size"),
        (lambda: ag.ones(2, dtype=ag.bool).kthvalue(1), NotImplementedError, "kthvalue"),
        (lambda: ag.ones(2, dtype=ag.complex64).kthvalue(1), NotImplementedError, "kthvalue"),
    ],
)
def test_kthvalue_refuses(call, error, text):
    with pytest.raises(error, match=text):
        call()
