"""Elements by masks and indices, over layouts and sizes, against NumPy."""

import itertools

import numpy as np
import pytest

import autograd_cy as ag

RNG = np.random.default_rng(11)

# Results of size, strides and offsets that a mask of several dimensions can be laid over.
LAYOUTS = {
    "dense": lambda x: x,
    "transposed": lambda x: x.transpose(0, 1),
    "rows left out": lambda x: x[::2],
    "columns left out": lambda x: x[:, 1:],
    "repeated": lambda x: x[:1].expand(3, *x.shape[1:]),
    "one column": lambda x: x[:, :1],
}


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (8,), (9,), (1000,), (3, 5), (2, 1, 9)])
def test_nonzero_finds_all_and_nothing_else(shape, share):
    given = RNG.random(shape) < share
    found = ag.tensor(given).nonzero()
    assert found.tolist() == np.argwhere(given).tolist()
    places = ag.tensor(given.reshape(-1)).nonzero()[:, 0]
    assert places.tolist() == np.flatnonzero(given).tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rest", [(), (2,)])
def test_masks_over_any_layout(layout, rest):
    x = LAYOUTS[layout](ag.tensor(RNG.standard_normal((4, 5, *rest))))
    data = x.numpy().copy()
    mask = RNG.random(data.shape[:2]) < 0.5
    chosen = ag.tensor(mask)
    assert x[chosen].tolist() == data[mask].tolist()
    assert x.masked_fill(chosen.reshape(mask.shape + (1,) * len(rest)), 7).tolist() == (
        np.where(mask.reshape(mask.shape + (1,) * len(rest)), 7, data).tolist()
    )
    put = x.index_put((chosen,), ag.tensor(-1.0, dtype=x.dtype))
    data[mask] = -1
    assert put.tolist() == data.tolist()
    if layout != "repeated":
        x[chosen] = 3
        data[mask] = 3
        assert x.tolist() == data.tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_masked_scatter_over_any_layout(layout):
    x = LAYOUTS[layout](ag.tensor(RNG.standard_normal((4, 5)))).requires_grad_()
    mask = RNG.random(tuple(x.shape)) < 0.5
    source = ag.tensor(RNG.standard_normal(x.numel()), requires_grad=True)
    found = x.masked_scatter(ag.tensor(mask), source)
    expected = x.detach().numpy().copy()
    expected[mask] = source.detach().numpy()[: mask.sum()]
    assert found.tolist() == expected.tolist()
    weights = ag.tensor(RNG.standard_normal(tuple(x.shape)))
    to_x, to_source = ag.autograd.grad((found * weights).sum(), [x, source])
    assert to_x.tolist() == np.where(mask, 0, weights.numpy()).tolist()
    taken = np.zeros(source.numel())
    taken[: mask.sum()] = weights.numpy()[mask]
    assert to_source.tolist() == taken.tolist()


def test_a_mask_behind_and_before_whole_dimensions():
    data = RNG.standard_normal((2, 3, 4, 5))
    x = ag.tensor(data)
    mask = RNG.random((3, 4)) < 0.5
    assert x[:, ag.tensor(mask)].tolist() == data[:, mask].tolist()
    index = RNG.integers(0, 5, int(mask.sum()))
    found = x[:, ag.tensor(mask), ag.tensor(index)]
    assert found.tolist() == data[:, mask, index].tolist()


@pytest.mark.parametrize("wrong", [5, -6, 2**62, -(2**63), 2**63 - 1])
@pytest.mark.parametrize("before", [0, 1, 2, 1023, 1024])
def test_one_index_out_of_range_is_found_wherever_it_stands(wrong, before):
    x = ag.zeros(5)
    index = ag.zeros(before + 2, dtype=ag.int64)
    index[before] = wrong
    with pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
        x[index]
    for call in (ag.index_select, ag.gather):
        with pytest.raises((IndexError, RuntimeError), match=f"index {wrong} is out of"):
            call(x, 0, index)
    index[before] = 4
    assert x[index].tolist() == [0.0] * (before + 2)
    assert ag.gather(x, 0, index).tolist() == [0.0] * (before + 2)


SHAPES = [
    shape
    for n in (1, 2, 3)
    for shape in itertools.product((1, 3), repeat=n)
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_gather_and_scatter_where_dimensions_are_of_one_element(shape):
    for dim in range(len(shape)):
        sizes = tuple(4 if d == dim else n + 1 for d, n in enumerate(shape))
        data = RNG.standard_normal(sizes)
        index = RNG.integers(0, 4, shape)
        part = data[tuple(slice(n) if d != dim else slice(None) for d, n in enumerate(shape))]
        for x in (ag.tensor(data), ag.tensor(data.T.copy()).permute(*range(len(shape))[::-1])):
            found = ag.gather(x, dim, ag.tensor(index))
            assert found.tolist() == np.take_along_axis(part, index, dim).tolist()
            source = RNG.standard_normal(shape)
            added = data.copy()
            for place in np.ndindex(*shape):
                at = tuple(index[place] if d == dim else place[d] for d in range(len(shape)))
                added[at] += source[place]
            found = x.scatter_add(dim, ag.tensor(index), ag.tensor(source))
            np.testing.assert_allclose(found.numpy(), added, rtol=1e-15)


@pytest.mark.parametrize("name", ["cummax", "cummin"])
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.bfloat16, ag.int64, ag.uint8])
def test_running_extremes_of_rows_are_those_of_columns(name, dtype):
    given = ag.tensor(RNG.integers(0, 6, (9, 40))).to(dtype)
    if dtype.is_floating_point:
        given[3, 5] = given[3, 9] = float("nan")
        given[4, 0] = float("nan")
        given[5] = -given[5]
    call = getattr(ag, name)
    values, places = call(given, 1)
    other, others = call(given.T.contiguous(), 0)
    assert ag.equal(
        values.nan_to_num(-1) if dtype.is_floating_point else values,
        (other.nan_to_num(-1) if dtype.is_floating_point else other).T,
    )
    assert ag.equal(places, others.T)
    best = {"cummax": np.maximum, "cummin": np.minimum}[name].accumulate(
        given.to(ag.float64).numpy(), 1
    )
    np.testing.assert_array_equal(values.to(ag.float64).numpy(), best)


REPEATED = [  # shape of the index, before it is expanded, and after
    ((6, 1), (6, 5)),
    ((1, 6), (5, 6)),
    ((6, 1, 1), (6, 3, 5)),
    ((1, 6, 1), (3, 6, 5)),
    ((3, 6, 1), (3, 6, 300)),
    ((1, 6, 4), (3, 6, 4)),
    ((1, 1), (4, 5)),
    ((6, 1), (6, 0)),
]


@pytest.mark.parametrize("dtype", [ag.float32, ag.bfloat16, ag.int64, ag.bool, ag.complex64])
@pytest.mark.parametrize(("few", "shape"), REPEATED)
def test_an_index_that_repeats_itself_counts_as_its_copy(few, shape, dtype):
    for dim in range(len(few)):
        sizes = tuple(4 if d == dim else n + 1 for d, n in enumerate(shape))
        x = ag.tensor(RNG.integers(0, 5, sizes)).to(dtype)
        source = ag.tensor(RNG.integers(0, 5, shape)).to(dtype)
        index = ag.tensor(RNG.integers(0, 4, few)).expand(shape)
        for given in (index, index.int()):
            whole = index.clone(memory_format=ag.contiguous_format)
            assert ag.equal(x.gather(dim, given), x.gather(dim, whole))
            assert ag.equal(x.scatter(dim, given, source), x.scatter(dim, whole, source))
            assert ag.equal(x.scatter(dim, given, 1), x.scatter(dim, whole, 1))
            assert ag.equal(x.scatter_add(dim, given, source), x.scatter_add(dim, whole, source))
            for reduce in ("sum", "prod", "mean", "amax", "amin"):
                if dtype is ag.bool or (dtype.is_complex and reduce.startswith("am")):
                    continue
                for include_self in (True, False):
                    found, expected = (
                        x.scatter_reduce(dim, k, source, reduce, include_self=include_self)
                        for k in (given, whole)
                    )
                    assert ag.equal(found, expected), (reduce, include_self)


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_gradients_by_an_index_that_repeats_itself(reduce):
    x = ag.tensor(RNG.standard_normal((4, 3)), requires_grad=True)
    source = ag.tensor(RNG.standard_normal((6, 3)), requires_grad=True)
    index = ag.tensor(RNG.integers(0, 4, (6, 1))).expand(6, 3)
    weights = ag.tensor(RNG.standard_normal((4, 3)))

    def gradients(k):
        found = x.scatter_reduce(0, k, source, reduce) * weights
        return ag.autograd.grad(found.sum() + source.gather(0, k).sum(), [x, source])

    for found, expected in zip(gradients(index), gradients(index.contiguous())):
        assert ag.equal(found, expected)


def test_not_a_number_stays_whether_an_index_repeats_itself_or_not():
    nan = float("nan")
    x, source = ag.tensor([[nan, 0.0, 0.0]]), ag.tensor([[1.0, nan, 1.0], [2.0, 2.0, nan]])
    index = ag.zeros(2, 1, dtype=ag.int64).expand(2, 3)
    for k in (index, index.contiguous()):
        for reduce in ("amax", "amin"):
            assert x.scatter_reduce(0, k, source, reduce).isnan().all()
