"""Indexing, joining and sorting on `meta`: sizes, dtypes, strides, errors and gradients."""

import pytest
from grouping import each
from helpers import family, meta_agrees, meta_gradients_agree, one_dtype

import autograd_cy as ag

FILES = ("indexing", "joining", "sorting", "statistics", "shape")


def fills(record):
    kernel = record.kernel
    return kernel.target.startswith("indexing.") and kernel.shape is not None and not kernel.sized


CASES = family(*FILES, keep=fills)
DIFFERENTIABLE = family(*FILES, keep=lambda r: fills(r) and isinstance(r.derivatives.vjp, dict))


@each("case", CASES)
def test_geometry(case):
    meta_agrees(case, one_dtype(case.record))


@each("case", DIFFERENTIABLE)
def test_gradients(case):
    meta_gradients_agree(case)


def on(device, *arguments):
    return [x.to(device) if isinstance(x, ag.Tensor) else x for x in arguments]


INDEX = ag.tensor([0, 2, 1])
REFUSED = {
    "a float index": lambda x: ag.index_select(x, 0, x[0]),
    "an index that is a matrix": lambda x: ag.index_select(x, 0, x.long()),
    "a dim": lambda x: ag.gather(x, 2, x.long()),
    "few dimensions": lambda x: ag.gather(x, 0, x[0].long()),
    "a large index": lambda x: ag.gather(x[:, :2], 0, x.long()),
    "a large index to write": lambda x: x.scatter(0, x.long(), x[:, :2]),
    "another dtype": lambda x: x.scatter_add(0, x.long(), x.double()),
    "another number of rows": lambda x: x.index_add(0, x[0].long(), x[:2]),
    "another shape": lambda x: x.index_add(0, x[:, 0].long(), x[:, :2]),
    "nothing to join": lambda x: ag.cat([]),
    "no dimensions": lambda x: ag.cat([x[0, 0], x[0, 0]]),
    "sizes that differ": lambda x: ag.cat([x, x[:, :2]]),
    "shapes that differ": lambda x: ag.stack([x, x[0]]),
    "a dim to stack": lambda x: ag.stack([x], 3),
    "a reduction": lambda x: x.scatter_reduce(0, x.long(), x, "median"),
    "rows to reduce": lambda x: x.index_reduce(0, x[0].long(), x[:2], "prod"),
    "many indices": lambda x: x[INDEX, INDEX, INDEX],
    "indices that don't go together": lambda x: x[INDEX, INDEX[:2]],
    "values of another shape": lambda x: x.index_put((INDEX,), x[:2]),
    "a vector's triangle": lambda x: ag.tril(x[0]),
    "more than there are": lambda x: ag.topk(x, 5),
    "a dim to sort": lambda x: ag.sort(x, 2),
    "complex numbers": lambda x: ag.sort(x.to(ag.complex64)),
    "no elements": lambda x: ag.median(x[:0], 0),
    "sides": lambda x: ag.searchsorted(x, x, right=True, side="left"),
    "rows": lambda x: ag.searchsorted(x, x[:2]),
    "boundaries": lambda x: ag.bucketize(x, x),
    "truth values": lambda x: ag.isin(x.bool(), x),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors(name):
    found = []
    for device in ("cpu", "meta"):
        with pytest.raises((RuntimeError, IndexError, ValueError)) as caught:
            REFUSED[name](ag.zeros(3, 4, device=device))
        found.append((caught.type, str(caught.value)))
    assert found[0] == found[1]


IN_PLACE = {
    "index_add_": lambda x, k: x.index_add_(0, k[0], x + 1),
    "scatter_": lambda x, k: x.scatter_(0, k, x + 1),
    "scatter_add_": lambda x, k: x.scatter_add_(0, k, x + 1),
    "scatter_reduce_": lambda x, k: x.scatter_reduce_(0, k, x + 1, "mean"),
    "index_reduce_": lambda x, k: x.index_reduce_(0, k[0], x + 1, "amax"),
    "index_put_": lambda x, k: x.index_put_((k[0],), x + 1),
    "tril_": lambda x, k: x.tril_(),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_forms(name):
    x, k = on("meta", ag.zeros(3, 3), INDEX.expand(3, 3))
    assert IN_PLACE[name](x, k) is x
    assert x._version == 1


def test_tensors_of_two_devices():
    here, there = ag.zeros(3), ag.zeros(3, device="meta")
    for call in (
        lambda: ag.cat([here, there]),
        lambda: ag.index_select(here, 0, INDEX.to("meta")),
        lambda: ag.gather(here, 0, INDEX.to("meta")),
        lambda: here.scatter_(0, INDEX, there + 1),
    ):
        with pytest.raises(RuntimeError, match="at least two devices"):
            call()


def test_indices_may_lie_on_the_cpu():
    x = ag.zeros(3, 4, device="meta", requires_grad=True)
    found = x[INDEX, 1:]
    assert (tuple(found.shape), str(found.device)) == ((3, 3), "meta")
    found.backward(ag.ones_like(found))
    assert str(x.grad.device) == "meta"
    with pytest.raises(RuntimeError, match="either on cpu or on the same device"):
        ag.zeros(3)[INDEX.to("meta")]


def test_masks_on_meta():
    x = ag.zeros(3, 4, device="meta")
    with pytest.raises(NotImplementedError, match="^index: .*mask on meta"):
        x[x > 0]
    x[x > 0] = 1
    here = ag.tensor([True, False, True])  # its values are known
    assert x[here].shape == (2, 4)
    x[here] = 2
    x[here] = ag.empty(2, 4, device="meta")
    with pytest.raises(RuntimeError, match=r"indexing result of shape \[2, 4\]"):
        x[here] = ag.empty(3, 4, device="meta")
    assert x._version == 3


@pytest.mark.parametrize("name", ["linalg.inv", "fft.fft", "linalg.cholesky"])
def test_what_numpy_computes_says_so_on_meta(name):
    pytest.importorskip("scipy")
    module, function = name.split(".")
    with pytest.raises(NotImplementedError, match=f"^{name}: .*NumPy or SciPy computes it"):
        getattr(getattr(ag, module), function)(ag.zeros(3, 3, device="meta"))


PLACES, ROWS = ag.zeros(2, 4, dtype=ag.int64), ag.tensor([0, 1])
# Whether torch takes indices, or sources, on the CPU for a tensor on meta.
MIXED = {
    "gather": (True, lambda x, t: x.gather(0, t(PLACES))),
    "index_select": (True, lambda x, t: x.index_select(0, t(ROWS))),
    "index": (True, lambda x, t: x[t(ROWS)]),
    "scatter": (True, lambda x, t: x.scatter(0, t(PLACES), t(ag.ones(2, 4)))),
    "scatter of a number": (True, lambda x, t: x.scatter(0, t(PLACES), 1.0)),
    "scatter_add": (True, lambda x, t: x.scatter_add(0, t(PLACES), t(ag.ones(2, 4)))),
    "scatter_reduce": (
        True,
        lambda x, t: x.scatter_reduce(0, t(PLACES), t(ag.ones(2, 4)), "sum"),
    ),
    "index_reduce": (True, lambda x, t: x.index_reduce(0, t(ROWS), t(ag.ones(2, 4)), "mean")),
    "index_add": (False, lambda x, t: x.index_add(0, t(ROWS), t(ag.ones(2, 4)))),
    "masked_fill": (False, lambda x, t: x.masked_fill(t(ag.ones(3, 4) > 0), 1.0)),
    "where": (False, lambda x, t: ag.where(t(ag.ones(3, 4) > 0), x, x)),
    "add": (False, lambda x, t: x + t(ag.ones(4))),
}


@pytest.mark.parametrize("name", MIXED)
def test_indices_on_the_cpu_go_with_meta_where_torch_takes_them(name):
    taken, call = MIXED[name]
    x = ag.empty(3, 4, device="meta")
    expected = call(x, lambda t: t.to("meta"))
    if taken:
        result = call(x, lambda t: t)
        assert result.device == x.device and result.shape == expected.shape
    else:
        with pytest.raises(RuntimeError, match="same device"):
            call(x, lambda t: t)


@pytest.mark.parametrize("name", ["gather", "index_select", "scatter", "scatter_add"])
def test_indices_on_meta_do_not_go_with_the_cpu(name):
    """torch gives memory that nobody has written."""
    with pytest.raises(RuntimeError, match="same device"):
        MIXED[name][1](ag.ones(3, 4), lambda t: t.to("meta"))
