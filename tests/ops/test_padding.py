"""Padding against NumPy's, by all modes, and modules beside torch's."""

import numpy as np
import pytest

import autograd_cy as ag

F = ag.nn.functional
RNG = np.random.default_rng(4)
NUMPY = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
DTYPES = ["bool", "uint8", "int16", "int64", "float16", "float32", "float64", "complex64"]
CASES = [
    ((3, 5), (2, 1)),
    ((2, 3, 5), (0, 4)),
    ((2, 3, 4), (1, 2, 2, 1)),
    ((2, 2, 3, 40), (3, 0, 0, 2)),
    ((1, 3, 2, 4), (1, 1, 1, 0, 2, 1)),
    ((2, 1, 3, 3, 4), (0, 0, 2, 1, 0, 2)),
    ((2, 1, 3, 3, 4), (2, 3, 0, 0, 0, 0)),
    ((0, 3, 4), (1, 1)),
]


def widths(shape, pad):
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)][::-1]
    return [(0, 0)] * (len(shape) - len(pairs)) + pairs


def cropped(x, pad):
    """The array without what negative numbers take away, and the numbers that are left."""
    cuts = widths(x.shape, pad)
    where = tuple(slice(max(-a, 0), n + min(b, 0)) for n, (a, b) in zip(x.shape, cuts))
    return x[where], [(max(a, 0), max(b, 0)) for a, b in cuts]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "pad"),
    [*CASES, ((4,), (1, 2)), ((3, 5), (-2, 3)), ((3, 5), (1, 1, -1, -1)), ((3, 5), ()),
     ((2, 0, 3), (1, 1, 2, 1)), ((3, 5), (-5, 2)), ((2, 3, 2, 2), (1, 0, 0, 1, 2, 2, 1, 1))],
    ids=str,
)  # fmt: skip
def test_constant(shape, pad, dtype):
    x = RNG.integers(0, 100, shape).astype(dtype)
    inner, more = cropped(x, pad)
    for value in (0, 1, 2.5):
        if dtype in ("bool", "uint8", "int16", "int64"):
            value = int(value)
        expected = np.pad(inner, more, constant_values=np.array(value).astype(dtype))
        for found in (
            ag.constant_pad_nd(ag.tensor(x), pad, value),
            F.pad(ag.tensor(x), pad, value=value),
        ):
            assert found.numpy().dtype == dtype
            np.testing.assert_array_equal(found.numpy(), expected)
    assert ag.equal(F.pad(ag.tensor(x), pad), ag.constant_pad_nd(ag.tensor(x), pad))


@pytest.mark.parametrize("dtype", DTYPES[1:])
@pytest.mark.parametrize("mode", NUMPY)
@pytest.mark.parametrize(("shape", "pad"), CASES, ids=str)
def test_modes(shape, pad, mode, dtype):
    if mode == "reflect":
        n = len(pad) // 2
        pad = tuple(min(p, shape[-1 - i // 2] - 1) for i, p in enumerate(pad))[: 2 * n]
    if mode == "circular":
        pad = tuple(min(p, shape[-1 - i // 2]) for i, p in enumerate(pad))
    x = RNG.integers(0, 100, shape).astype(dtype)
    found = F.pad(ag.tensor(x), pad, mode).numpy()
    np.testing.assert_array_equal(found, np.pad(x, widths(shape, pad), mode=NUMPY[mode]))
    assert found.dtype == dtype


@pytest.mark.parametrize("mode", NUMPY)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "float16"])
def test_gradient_counts_how_often_an_element_is_there(mode, dtype):
    for shape, pad in CASES[2:6]:
        if mode != "replicate":
            pad = tuple(min(p, shape[-1 - i // 2] - 1) for i, p in enumerate(pad))
        x = ag.zeros(shape, dtype=getattr(ag, dtype), requires_grad=True)
        y = F.pad(x, pad, mode)
        weights = RNG.integers(0, 5, tuple(y.shape)).astype("float32")
        y.backward(ag.tensor(weights).to(y.dtype))
        number = np.arange(int(np.prod(shape))).reshape(shape)
        where = np.pad(number, widths(shape, pad), mode=NUMPY[mode])
        expected = np.zeros(number.size)
        np.add.at(expected, where.ravel(), weights.ravel())
        np.testing.assert_array_equal(x.grad.numpy().real, expected.reshape(shape))


@pytest.mark.parametrize("mode", NUMPY)
@pytest.mark.parametrize("pad", [(-1, 1), (2, -1), (-1, -2), (1, -1, -1, 2)], ids=str)
def test_negative_numbers_are_those_of_torch(mode, pad):
    torch = pytest.importorskip("torch")
    x = RNG.normal(size=(2, 3, 4, 5)[4 - len(pad) // 2 - 1 :])
    ours, theirs = ag.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    a, b = F.pad(ours, pad, mode), torch.nn.functional.pad(theirs, pad, mode)
    np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())
    (a * a).sum().backward()
    (b * b).sum().backward()
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy())


REFUSED = [
    ((2, 3), (1,), "constant", None),
    ((2, 3), (1, 1, 1, 1, 1, 1), "constant", None),
    ((2, 3), (1, 1), "other", None),
    ((2, 3), (1, 1), "reflect", 2.0),
    ((3,), (1, 1), "reflect", None),
    ((1, 1, 2, 3), (1, 1), "circular", None),
    ((2, 3), (), "replicate", None),
    ((2, 3), (3, 3), "reflect", None),
    ((2, 3), (-2, -2), "replicate", None),
    ((2, 3, 4), (-2, -2, -3, 0), "reflect", None),
    ((2, 0), (1, 1), "replicate", None),
    ((2, 3), (5, 5), "circular", None),
    ((2, 3), (-2, -2), "circular", None),
]


@pytest.mark.parametrize(("shape", "pad", "mode", "value"), REFUSED, ids=str)
def test_errors_are_those_of_torch(shape, pad, mode, value):
    torch = pytest.importorskip("torch")
    with pytest.raises((RuntimeError, NotImplementedError)) as theirs:
        torch.nn.functional.pad(torch.zeros(shape), pad, mode, value)
    with pytest.raises(theirs.type) as ours:
        F.pad(ag.zeros(shape), pad, mode, value)
    assert type(ours.value) is type(theirs.value)
    assert str(ours.value)[:70] == str(theirs.value)[:70]


def test_more_cannot_be_taken_away_than_there_is():
    with pytest.raises(RuntimeError, match="resulted in a negative output size"):
        F.pad(ag.zeros(2, 3), (-2, -2))


def test_results_are_the_same_for_any_number_of_threads():
    x, results = ag.tensor(RNG.normal(size=(40, 50, 60))), []
    before = ag.get_num_threads()
    try:
        for threads in (1, 3):
            ag.set_num_threads(threads)
            for mode in NUMPY:
                t = x.clone().requires_grad_()
                y = F.pad(t, (5, 6, 7, 8), mode)
                (y * y).sum().backward()
                results.append((y.detach().numpy(), t.grad.numpy()))
    finally:
        ag.set_num_threads(before)
    for (y, g), (y1, g1) in zip(results[:3], results[3:]):
        np.testing.assert_array_equal(y, y1)
        np.testing.assert_array_equal(g, g1)


# --- modules ------------------------------------------------------------------------------------

MODULES = [
    *((f"{kind}Pad{n}d", (2,)) for kind in ("Zero", "Circular", "Reflection", "Replication")
      for n in (1, 2, 3)),
    *((f"ConstantPad{n}d", (1, 3.5)) for n in (1, 2, 3)),
    ("ZeroPad2d", ((1, 0, 2, 1),)),
    ("ReflectionPad1d", ((1, 2),)),
    ("CircularPad3d", ((1, 0, 2, 1, 0, 2),)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), MODULES, ids=str)
def test_module_is_that_of_torch(name, args):
    torch = pytest.importorskip("torch")
    ours, theirs = getattr(ag.nn, name)(*args), getattr(torch.nn, name)(*args)
    assert repr(ours) == repr(theirs)
    public = [{k: v for k, v in vars(m).items() if k[0] != "_"} for m in (ours, theirs)]
    assert public[0] == public[1]
    for batch in ((2,), ()):
        x = RNG.normal(size=(*batch, 2, *(3, 4, 5)[: int(name[-2])]))
        np.testing.assert_array_equal(ours(ag.tensor(x)).numpy(), theirs(torch.tensor(x)).numpy())


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_circular_modules_refuse_other_inputs(rank):
    module = getattr(ag.nn, f"CircularPad{rank}d")(1)
    with pytest.raises(ValueError, match=rf"expected {rank + 1}D or {rank + 2}D input \(got 1D"):
        module(ag.zeros(3))


def test_what_is_repeated_may_be_cut_away():
    for mode, size, left, right in (
        ("replicate", 1, -1, 1),
        ("replicate", 1, 2, -2),
        ("replicate", 2, -3, 4),
        ("reflect", 2, -2, 1),
        ("reflect", 3, 2, -3),
    ):
        array = np.arange(2.0 * size).reshape(2, size) + 1
        places = np.arange(-left, size + right)
        places = np.clip(places, 0, size - 1) if mode == "replicate" else np.abs(places)
        places = np.where(places < size, places, 2 * (size - 1) - places)
        x = ag.tensor(array, requires_grad=True)
        found = F.pad(x, (left, right), mode=mode)
        np.testing.assert_array_equal(found.detach().numpy(), array[:, places])
        assert ag.autograd.gradcheck(lambda t: F.pad(t, (left, right), mode=mode), x)
    with pytest.raises(RuntimeError, match=r"pad: circular padding \(-1, 1\) .* size 1"):
        F.pad(ag.ones(2, 1), (-1, 1), mode="circular")
