"""Pooling against loops over windows, for every kind of window, and against torch."""

import ctypes
import functools
import itertools
import sys

import ml_dtypes
import numpy as np
import pytest

import autograd_cy as ag

F = ag.nn.functional
RNG = np.random.default_rng(3)
INF = np.inf

# shape of a plane, kernel, stride, padding, dilation, ceil_mode
WINDOWS = [
    ((9,), (3,), (2,), (1,), (1,), False),
    ((7,), (2,), (3,), (1,), (3,), True),
    ((600,), (3,), (2,), (1,), (1,), True),
    ((300,), (5,), (1,), (2,), (1,), False),
    ((5, 6), (2, 3), (2, 3), (0, 0), (1, 1), False),
    ((5, 6), (3, 3), (1, 2), (1, 1), (1, 1), True),
    ((8, 8), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((7, 36), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((7, 36), (2, 2), (2, 2), (0, 0), (1, 1), True),
    ((6, 100), (2, 2), (2, 2), (0, 0), (1, 1), True),
    ((7, 40), (3, 3), (2, 2), (1, 1), (1, 1), False),
    ((6, 33), (2, 4), (3, 1), (1, 2), (2, 3), True),
    ((9, 30), (2, 3), (2, 11), (1, 0), (1, 1), True),
    ((6, 5), (6, 5), (1, 1), (0, 0), (1, 1), False),
    ((4, 70), (2, 70), (1, 1), (1, 35), (1, 1), False),
    ((3, 4, 5), (2, 2, 2), (1, 2, 1), (1, 0, 1), (1, 1, 1), True),
    ((4, 3, 18), (3, 1, 2), (2, 2, 2), (0, 0, 1), (1, 1, 2), False),
]
ADAPTIVE = [
    ((9,), (3,)), ((7,), (3,)), ((3,), (5,)), ((5, 6), (1, 1)), ((8, 12), (4, 6)),
    ((5, 7), (3, 7)), ((6, 100), (2, 1)), ((3, 4, 5), (2, 3, 1)), ((4, 4, 18), (2, 2, 9)),
]  # fmt: skip


def axis_windows(size, kernel, stride, padding, dilation, ceil_mode):
    """Return the places of each window's elements, those in the padding too."""
    n, at, end = [], -padding, size + padding
    while True:
        last = at + dilation * (kernel - 1)
        # Rounded up, one more window may begin in the input, if there is something left.
        partial = ceil_mode and last - stride < end - 1 and at < size
        if last >= end and not partial:
            return n
        n.append([at + dilation * i for i in range(kernel)])
        at += stride


def axis_parts(size, count):
    return [list(range(i * size // count, -(-(i + 1) * size // count))) for i in range(count)]


NOWHERE = sys.maxsize  # fills up short windows


def over_windows(x, axes, fill=0):
    """Return the elements of each window in a row, `fill` outside, and their places; -1 is
    outside."""
    rank, out = len(axes), x.astype(float)
    where = np.zeros((), int)
    for k, (axis, size) in enumerate(zip(axes, x.shape[-rank:])):
        long = max(map(len, axis))
        places = np.array([window + [NOWHERE] * (long - len(window)) for window in axis])
        inside = (places >= 0) & (places < size)
        # Two dimensions for one: windows and their elements, which are brought together below.
        at = x.ndim - rank + 2 * k
        out = np.take(out, np.where(inside, places, 0), at)
        out = np.where(inside.reshape(*inside.shape, *[1] * (out.ndim - at - 2)), out, fill)
        other = where[..., None, None]
        where = np.where((other >= 0) & inside, other * size + places, -1)
    lead = x.ndim - rank
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    counts = tuple(map(len, axes))
    out = out.transpose(*range(lead), *(lead + i for i in order))
    return out.reshape(*x.shape[:lead], *counts, -1), where.transpose(order).reshape(*counts, -1)


def averages(x, axes, padding=None, divisor=None):
    """`padding`: how much of it counts."""
    sums, where = over_windows(x, axes)
    n = (where >= 0).sum(-1)
    if padding is not None:
        sizes = x.shape[-len(axes) :]
        counted = [
            [sum(i < n + p for i in window) for window in axis]
            for axis, n, p in zip(axes, sizes, padding)
        ]
        n = functools.reduce(np.multiply.outer, counted)
    return sums.sum(-1) / (n if divisor is None else divisor)


def maxima(x, axes):
    """
    The first of the largest and its place, or the last NaN.

    -inf and -1 if the window is outside.
    """
    seen, where = over_windows(x, axes, -INF)
    nans = np.isnan(seen)
    some = nans.any(-1)
    largest = np.where(nans, -INF, seen).max(-1)
    first = ((seen == largest[..., None]) & (where >= 0)).argmax(-1)
    at = np.where(some, seen.shape[-1] - 1 - nans[..., ::-1].argmax(-1), first)
    places = np.take_along_axis(np.broadcast_to(where, seen.shape), at[..., None], -1)[..., 0]
    return np.where(some, np.nan, largest), places


def pool(name, rank):
    return getattr(F, name.format(rank))


def values(shape, ties=False):
    return RNG.integers(-2, 3, shape).astype(float) if ties else RNG.normal(size=shape)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_max_pool(window, dtype):
    size, *options = window
    axes = [axis_windows(*each, options[-1]) for each in zip(size, *options[:-1])]
    for lead, kind in (((3,), "plain"), ((2, 2), "ties"), ((2,), "nan"), ((1, 2), "low")):
        x = values(lead + size, kind == "ties").astype(dtype)
        if kind in ("nan", "low"):
            x[RNG.random(x.shape) < 0.5] = np.nan if kind == "nan" else -INF
        found = pool("max_pool{}d", len(size))(ag.tensor(x), *options, return_indices=True)
        expected = maxima(x, axes)
        np.testing.assert_array_equal(found[0].numpy(), expected[0])
        kept = expected[1] >= 0
        np.testing.assert_array_equal(found[1].numpy()[kept], expected[1][kept])
        alone = pool("max_pool{}d", len(size))(ag.tensor(x), *options)
        np.testing.assert_array_equal(alone.numpy(), expected[0])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("window", [w for w in WINDOWS if set(w[4]) == {1}], ids=str)
def test_avg_pool(window, dtype):
    size, kernel, stride, padding, dilation, ceil_mode = window
    axes = [axis_windows(*each, ceil_mode) for each in zip(size, kernel, stride, padding, dilation)]
    for lead, count, divisor in itertools.product(((3,), (2, 2)), (True, False), (None, -3)):
        if divisor and len(size) == 1:
            continue
        x = values(lead + size).astype(dtype)
        more = (divisor,) if len(size) > 1 else ()
        if len(size) == 3 and any(k > n for k, n in zip(kernel, size)):
            continue
        found = pool("avg_pool{}d", len(size))(
            ag.tensor(x), kernel, stride, padding, ceil_mode, count, *more
        )
        expected = averages(x, axes, padding if count else None, divisor)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("size", "count"), ADAPTIVE, ids=str)
def test_adaptive_max_pool(size, count):
    axes = [axis_parts(n, k) for n, k in zip(size, count)]
    for lead in ((3,), (2, 2)):
        x = values(lead + size, True)
        x[RNG.random(x.shape) < 0.1] = np.nan
        found = pool("adaptive_max_pool{}d", len(size))(ag.tensor(x), count, return_indices=True)
        for a, b in zip(found, maxima(x, axes)):
            np.testing.assert_array_equal(a.numpy(), b)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("size", "count"), ADAPTIVE, ids=str)
def test_adaptive_avg_pool(size, count, dtype):
    axes = [axis_parts(n, k) for n, k in zip(size, count)]
    for lead in ((3,), (2, 2)):
        x = values(lead + size).astype(dtype)
        found = pool("adaptive_avg_pool{}d", len(size))(ag.tensor(x), count)
        np.testing.assert_allclose(found.numpy(), averages(x, axes), rtol=1e-5, atol=1e-5)


# --- gradients ----------------------------------------------------------------------------------


def gradient(function, x, grad):
    t = ag.tensor(x, requires_grad=True)
    function(t).backward(ag.tensor(grad))
    return t.grad.numpy()


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_gradient_of_max_pool_goes_to_the_places(window):
    size, *options = window
    x = values((2, *size))
    function = pool("max_pool{}d", len(size))
    y, places = function(ag.tensor(x), *options, return_indices=True)
    grad = RNG.normal(size=tuple(y.shape))
    expected = np.zeros((2, x[0].size))
    for plane in range(2):
        for i, g in zip(places[plane].numpy().ravel(), grad[plane].ravel()):
            if i < x[0].size:
                expected[plane, i] += g
    found = gradient(lambda t: function(t, *options), x, grad)
    np.testing.assert_allclose(found, expected.reshape(x.shape), rtol=1e-12)


def transposed(linear, size, grad):
    """The gradient of a linear function, from its values on unit vectors."""
    units = np.eye(int(np.prod(size))).reshape(-1, *size)
    return np.tensordot(linear(units), grad, axes=grad.ndim).reshape(size)


@pytest.mark.parametrize("window", [w for w in WINDOWS if set(w[4]) == {1}], ids=str)
@pytest.mark.parametrize("count", [True, False])
def test_gradient_of_avg_pool_is_its_transpose(window, count):
    size, kernel, stride, padding, _, ceil_mode = window
    if len(size) == 3 and any(k > n for k, n in zip(kernel, size)):
        pytest.skip("refused, as in torch")
    function = pool("avg_pool{}d", len(size))
    for more in ((), (5,))[: len(size)]:
        options = (kernel, stride, padding, ceil_mode, count, *more)
        y = function(ag.zeros(1, *size), *options)
        grad = RNG.normal(size=tuple(y.shape[1:]))
        found = gradient(lambda t: function(t, *options), np.zeros((1, *size)), grad[None])
        expected = transposed(
            lambda units: function(ag.tensor(units), *options).numpy(), size, grad
        )
        np.testing.assert_allclose(found[0], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("size", "count"), ADAPTIVE, ids=str)
def test_gradient_of_adaptive_avg_pool_is_its_transpose(size, count):
    function = pool("adaptive_avg_pool{}d", len(size))
    grad = RNG.normal(size=count)
    found = gradient(lambda t: function(t, count), np.zeros((1, *size)), grad[None])
    expected = transposed(lambda units: function(ag.tensor(units), count).numpy(), size, grad)
    np.testing.assert_allclose(found[0], expected, rtol=1e-9, atol=1e-12)


def test_a_window_of_padding_alone_has_no_gradient():
    x = ag.zeros(2, 2, requires_grad=True)
    y = F.max_pool1d(x, 2, 1, 1, 3)
    assert y.tolist() == [[-INF], [-INF]]
    y.sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_no_windows_have_no_gradient():
    x = ag.ones(2, 3, 4, requires_grad=True)
    for function in (F.adaptive_avg_pool2d, F.adaptive_max_pool2d):
        x.grad = None
        y = function(x, (0, 2))
        assert y.shape == (2, 0, 2)
        y.sum().backward()
        assert not x.grad.any()


# --- dtypes, layouts, threads -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_computed_in_float32(name):
    x = RNG.normal(size=(2, 9, 11)).astype("float32")
    half = ag.tensor(x).to(getattr(ag, name))
    wide = half.float()
    for function in (
        lambda t: F.max_pool2d(t, 3, 2, 1),
        lambda t: F.avg_pool2d(t, 3, 1, 1),
        lambda t: F.adaptive_avg_pool2d(t, (4, 5)),
        lambda t: F.adaptive_max_pool2d(t, 3),
    ):
        y = function(half)
        assert y.dtype == half.dtype
        assert ag.equal(y, function(wide).to(half.dtype))
        a, b = half.clone().requires_grad_(), wide.clone().requires_grad_()
        function(a).sum().backward()
        function(b).sum().backward()
        assert ag.equal(a.grad, b.grad.to(half.dtype))


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64"])
def test_largest_integers(name):
    x = RNG.integers(0, 100, (2, 5, 6)).astype(name) * (-1 if name[0] == "i" else 1)
    x = x.astype(name)
    y, places = F.max_pool2d(ag.tensor(x), 2, return_indices=True)
    expected = maxima(x, [axis_windows(n, 2, 2, 0, 1, False) for n in (5, 6)])
    assert y.numpy().dtype == name
    np.testing.assert_array_equal(y.numpy(), expected[0])
    np.testing.assert_array_equal(places.numpy(), expected[1])


def test_averages_of_int64_are_cut():
    x = ag.tensor([[[-3, -4], [0, 0]]])
    assert F.avg_pool2d(x, 2).tolist() == [[[-1]]]
    assert F.avg_pool2d(x, 2, divisor_override=5).tolist() == [[[-1]]]


@pytest.mark.parametrize("function", ["max_pool2d", "avg_pool2d"])
def test_strides_do_not_matter(function):
    x = values((3, 4, 10, 12))
    t = ag.tensor(x.transpose(3, 1, 0, 2).copy()).permute(2, 1, 3, 0)
    assert not t.is_contiguous()
    assert ag.equal(getattr(F, function)(t, 3, 2, 1), getattr(F, function)(ag.tensor(x), 3, 2, 1))


def test_results_are_the_same_for_any_number_of_threads():
    x = ag.tensor(values((4, 8, 60, 60)).astype("float32"))
    before, results = ag.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            ag.set_num_threads(threads)
            for function in (
                lambda t: F.max_pool2d(t, 3, 2, 1),
                lambda t: F.avg_pool2d(t, 3, 1, 1),
                lambda t: F.adaptive_avg_pool2d(t, (7, 9)),
                lambda t: F.adaptive_avg_pool2d(t, 1),
            ):
                t = x.clone().requires_grad_()
                y = function(t)
                (y * y).sum().backward()
                results.append((threads, y.detach().numpy(), t.grad.numpy()))
    finally:
        ag.set_num_threads(before)
    first = [r for r in results if r[0] == 1]
    for (_, y, g), (_, y1, g1) in zip(results, first * 3):
        np.testing.assert_array_equal(y, y1)
        np.testing.assert_array_equal(g, g1)


def test_vmap_folds_batches_and_gradients_of_gradients_work():
    x = ag.tensor(values((3, 2, 6, 7)))
    for function in (
        lambda t: F.max_pool2d(t, 2, 1),
        lambda t: F.avg_pool2d(t, 3, 2, 1),
        lambda t: F.adaptive_avg_pool2d(t, (2, 3)),
    ):
        batched = ag.vmap(function)(x)
        assert ag.equal(batched, ag.stack([function(t) for t in x]))
        assert ag.autograd.gradgradcheck(function, (x.clone().requires_grad_(),))


# --- errors -------------------------------------------------------------------------------------

REFUSED = [
    ("max_pool1d", (2,), (2,)),
    ("max_pool1d", (2, 2, 2), (3,)),
    ("max_pool1d", (2, 2, 2), (0,)),
    ("max_pool1d", (2, 2, 2), (2, -1)),
    ("max_pool1d", (2, 2, 2), (2, 1, 2)),
    ("max_pool1d", (2, 2, 2), (2, 1, -1)),
    ("max_pool1d", (2, 2, 2), (2, 1, 0, 0)),
    ("max_pool1d", (2, 2, 2), ((2, 2),)),
    ("max_pool1d", (2, 2, 2), (2, (2, 2))),
    ("max_pool1d", (2, 2, 2), (2, 2, (1, 1))),
    ("max_pool1d", (2, 2, 2), (2, 2, 0, (1, 1))),
    ("max_pool2d", (2, 2), (2,)),
    ("max_pool2d", (2, 2, 2), (3,)),
    ("max_pool2d", (2, 2, 2), (0,)),
    ("max_pool2d", (2, 2, 2), (-1,)),
    ("max_pool2d", (2, 2, 2), (2, -1)),
    ("max_pool2d", (2, 2, 2), (2, 1, 2)),
    ("max_pool2d", (2, 2, 2), (2, 1, -1)),
    ("max_pool2d", (2, 2, 2), (2, 1, 0, 0)),
    ("max_pool2d", (2, 2, 2), (2, 1, 0, 3)),
    ("max_pool2d", (2, 2, 2), ((2, 2, 2),)),
    ("max_pool2d", (2, 2, 2), (2, (2, 2, 2))),
    ("max_pool2d", (2, 2, 2), (2, 2, (1, 1, 1))),
    ("max_pool2d", (2, 2, 2), (2, 2, 0, (1, 1, 1))),
    ("max_pool2d", (2, 0, 2), (2,)),
    ("max_pool2d", (0, 2, 2), (2,)),
    ("max_pool3d", (2, 2, 2), (2,)),
    ("max_pool3d", (2, 2, 2, 2, 2), (3,)),
    ("max_pool3d", (2, 2, 2, 2, 2), ((2, 2),)),
    ("avg_pool1d", (2,), (2,)),
    ("avg_pool1d", (2, 2, 2), (3,)),
    ("avg_pool1d", (2, 2, 2), ((2, 2),)),
    ("avg_pool1d", (2, 2, 2), (2, 1, 2)),
    ("avg_pool2d", (2, 2), (2,)),
    ("avg_pool2d", (2, 2, 2, 2, 2), (2,)),
    ("avg_pool2d", (2, 2, 2), (3,)),
    ("avg_pool2d", (2, 2, 2), (2, None, 0, False, True, 0)),
    ("avg_pool3d", (2, 2, 2), (2,)),
    ("avg_pool3d", (2, 2), (2,)),
    ("avg_pool2d", (2,), (2,)),
    ("avg_pool3d", (2, 2, 2, 2), (3,)),
    ("avg_pool3d", (2, 2, 2, 2), ((2, 2),)),
    ("avg_pool3d", (2, 2, 4, 4), ((3, 2, 2), 1, (1, 0, 0))),
    ("avg_pool3d", (2, 4, 2, 4), ((2, 3, 2), 1, (0, 1, 0))),
    ("avg_pool3d", (2, 4, 4, 2), ((2, 2, 3), 1, (0, 0, 1))),
    ("avg_pool2d", (2, 2, 4), ((3, 2),)),
    ("avg_pool2d", (2, 4, 2), ((2, 3),)),
    ("max_pool2d", (2, 2, 4), ((3, 2),)),
    ("max_pool2d", (2, 4, 2), ((2, 3),)),
    ("max_pool3d", (2, 2, 4, 4), ((3, 2, 2),)),
    ("max_pool1d", (2, 2, 2, 2), (2,)),
    ("max_pool2d", (2, 2, 2, 2, 2), (2,)),
    ("max_pool3d", (2, 2, 2, 2, 2, 2), (2,)),
    ("avg_pool1d", (2, 2, 2, 2), (2,)),
    ("avg_pool3d", (2, 2, 2, 2, 2, 2), (2,)),
    ("avg_pool3d", (0, 2, 2, 2), (2,)),
    ("adaptive_avg_pool1d", (2,), (2,)),
    ("adaptive_avg_pool1d", (2, 2), ((2, 2),)),
    ("adaptive_avg_pool2d", (2, 2), (2,)),
    ("adaptive_avg_pool2d", (2, 2, 2), ((2,),)),
    ("adaptive_avg_pool2d", (2, 2, 2, 2), ((None,) * 5,)),
    ("adaptive_avg_pool2d", (2, 2, 0, 2), (2,)),
    ("adaptive_avg_pool3d", (2, 2, 2), (2,)),
    ("adaptive_max_pool1d", (2,), (2,)),
    ("adaptive_max_pool1d", (2, 0, 2), (2,)),
    ("adaptive_max_pool2d", (2, 2), (2,)),
    ("adaptive_max_pool2d", (2, 2, 2), (-1,)),
    ("adaptive_max_pool3d", (2, 2, 2), (2,)),
]


@pytest.mark.parametrize(("name", "shape", "options"), REFUSED, ids=str)
def test_errors_are_those_of_torch(name, shape, options):
    torch = pytest.importorskip("torch")
    with pytest.raises((RuntimeError, ValueError, IndexError)) as theirs:
        getattr(torch.nn.functional, name)(torch.zeros(shape), *options)
    with pytest.raises(theirs.type) as ours:
        getattr(F, name)(ag.zeros(shape), *options)
    assert str(ours.value)[:40] == str(theirs.value)[:40]


@pytest.mark.parametrize("name", ["max_pool", "avg_pool", "adaptive_avg_pool", "adaptive_max_pool"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_dtypes_that_are_refused(name, rank):
    for dtype in (ag.bool, ag.complex64):
        with pytest.raises(NotImplementedError, match="not implemented for '(Bool|ComplexFloat)'"):
            pool(name + "{}d", rank)(ag.zeros((2,) * (rank + 1), dtype=dtype), 2)


def test_meta_tensors_know_the_shape():
    x = ag.empty(2, 3, 9, 8, device="meta")
    assert F.max_pool2d(x, 3, 2, 1).shape == (2, 3, 5, 4)
    assert F.avg_pool2d(x, 2, ceil_mode=True).shape == (2, 3, 5, 4)
    assert F.adaptive_avg_pool2d(x, (None, 5)).shape == (2, 3, 9, 5)


def test_bfloat16_of_numpy_is_pooled():
    x = RNG.normal(size=(1, 4)).astype(ml_dtypes.bfloat16)
    assert F.max_pool1d(ag.from_numpy(x), 4).item() == float(x.max())


def test_windows_beyond_the_end_see_nothing_behind_it():
    for height in range(2, 8):
        for width in range(2, 8):
            a = np.random.default_rng(height * width).standard_normal((2, 3, height, width))
            edge = np.pad(a, ((0, 0), (0, 0), (0, height % 2), (0, width % 2)),
                          constant_values=-np.inf)  # fmt: skip
            pairs = edge.reshape(2, 3, -(-height // 2), 2, -(-width // 2), 2)
            for dtype in (ag.float32, ag.float64):
                x = ag.tensor(a, dtype=dtype)
                y, at = F.max_pool2d(x, 2, ceil_mode=True, return_indices=True)
                assert ag.equal(y, ag.tensor(pairs.max((3, 5)), dtype=dtype))
                assert ag.equal(y, x.flatten(2).gather(2, at.flatten(2)).view(y.shape))
                assert ag.equal(F.max_pool2d(x, 2), y[:, :, : height // 2, : width // 2])


def whole_block(nbytes):
    """Return the size of the block that the allocator takes: four sizes for each power of two."""
    step = 1 << max((nbytes - 1).bit_length() - 3, 4)
    return max(-(-nbytes // step) * step, 64)


def keeps_its_end(make, shape, dtype):
    """Return whether a tensor that `make` gives leaves alone what is behind it in its block of
    memory."""
    nbytes = ag.empty(shape, dtype=dtype, device="meta").nbytes
    size = whole_block(nbytes)
    blocks = [ag.full((size,), 0xA5, dtype=ag.uint8) for _ in range(8)]
    places = {block.data_ptr() for block in blocks}
    del blocks
    made = make()
    assert made.nbytes == nbytes and made.data_ptr() in places
    rest = ctypes.string_at(made.data_ptr() + nbytes, size - nbytes)
    return rest == b"\xa5" * len(rest)


NARROW = [
    # Rows, width, kernel, step, margin: the last step, maybe of a second block, has few columns.
    (1, 513, 2, 2, 0), (1, 513, 3, 2, 1), (1, 257, 2, 1, 0), (1, 773, 4, 3, 0), (1, 1281, 3, 5, 1),
    (1, 2049, 1, 8, 0), (3, 67, 9, 4, 4), (3, 9, 2, 3, 0), (3, 7, 2, 9, 0), (5, 9, 1, 8, 0),
    (3, 9, 3, 7, 1), (3, 5, 2, 7, 1), (3, 1, 1, 2, 0), (3, 3, 1, 5, 0), (3, 3, 1, 8, 0),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64], ids=str)
@pytest.mark.parametrize("name", ["avg_pool1d", "max_pool1d"])
def test_nothing_is_written_behind_results_and_gradients(name, dtype):
    roomy = 0
    for fewest, width, kernel, step, margin in NARROW:
        function = functools.partial(
            getattr(F, name), kernel_size=kernel, stride=step, padding=margin
        )
        for rows in range(fewest, fewest + 3):
            x = ag.ones(1, rows, width, dtype=dtype).requires_grad_()
            y = function(x)
            seed = ag.ones_like(y)

            def back(y=y, x=x, seed=seed):
                return ag.autograd.grad(y, x, seed, retain_graph=True)[0]

            roomy += whole_block(x.nbytes) > x.nbytes
            with ag.no_grad():
                assert keeps_its_end(functools.partial(function, x), y.shape, dtype), x.shape
            assert keeps_its_end(back, x.shape, dtype), (x.shape, kernel, step, margin)
    assert roomy > 20


@pytest.mark.parametrize("shape", [(3, 4, 0), (3, 0, 4), (4, 0), (0, 4), (4,), (1, 2, 3, 4)])
def test_windows_in_a_line_need_elements_and_two_or_three_dimensions(shape):
    for op in (F.max_pool1d, ag.max_pool1d_with_indices):
        with pytest.raises(RuntimeError, match="max_pool1d.*: Expected 2D or 3D"):
            op(ag.ones(shape), 2)
    assert F.max_pool1d(ag.ones(0, 3, 4), 2).shape == (0, 3, 2)


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_largest_of_long_windows_wherever_it_stands(dtype):
    for n in (15, 16, 17, 33, 100):
        x = ag.zeros(n, n, dtype=dtype) - 1
        x += 2 * ag.eye(n, dtype=dtype)  # one largest in each row
        x[:, -1] = ag.maximum(x[:, -1], ag.tensor(1.0, dtype=dtype))  # and an equal one behind it
        found, places = ag.nn.functional.adaptive_max_pool1d(x, 1, return_indices=True)
        assert found.tolist() == [[1.0]] * n
        assert places.reshape(-1).tolist() == list(range(n))
        x[:, 1] = float("nan")
        x[0, n // 2] = float("nan")  # the last of them counts
        found, places = ag.nn.functional.adaptive_max_pool1d(x, 1, return_indices=True)
        assert found.isnan().all()
        assert places.reshape(-1).tolist() == [n // 2] + [1] * (n - 1)
        x = x * 0 - float("inf")
        x[:, 1] = -float("inf")
        found, places = ag.nn.functional.adaptive_max_pool1d(x[1:], 1, return_indices=True)
        assert found.tolist() == [[-float("inf")]] * (n - 1) and not places.any()


@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("dtype", [ag.float32, ag.int64, ag.int16, ag.uint8])
def test_long_windows_of_any_step(dtype, dilation):
    x = ag.tensor(np.random.default_rng(3).integers(0, 200, (3, 90))).to(dtype)
    kernel = 40
    found = ag.nn.functional.max_pool1d(x, kernel, stride=7, dilation=dilation)
    length = (kernel - 1) * dilation + 1
    for i in range(found.shape[1]):
        expected = x[:, 7 * i : 7 * i + length : dilation].amax(1)
        assert found[:, i].tolist() == expected.tolist()


LINES = [
    (width, kernel, step, margin, apart)
    for width in (7, 56, 300, 781)
    for kernel in (1, 2, 3, 4, 7, 20)
    for step in (1, 2, 3, 4, 6)
    for margin, apart in ((0, 1), (kernel // 2, 1), (0, 2), (kernel // 2, 3))
    if (kernel - 1) * apart + 1 <= width
]


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_values_alone_are_those_with_places(dtype):
    """max_pool1d goes another way where nothing is recorded."""
    for width, *options in LINES:
        for rows in ((1,), (3, 2)):
            a = RNG.standard_normal((*rows, width)).round(1)
            a[RNG.random(a.shape) < 0.05] = np.nan
            a[RNG.random(a.shape) < 0.3] = -INF
            x = ag.tensor(a, dtype=dtype)
            for ceil_mode in (False, True):
                alone = F.max_pool1d(x, *options, ceil_mode=ceil_mode)
                values, _ = F.max_pool1d(x, *options, ceil_mode=ceil_mode, return_indices=True)
                np.testing.assert_array_equal(alone.numpy(), values.numpy())
                recorded = F.max_pool1d(x.detach().requires_grad_(), *options, ceil_mode=ceil_mode)
                np.testing.assert_array_equal(alone.numpy(), recorded.detach().numpy())


def test_values_alone_in_other_dtypes_and_layouts():
    x = ag.arange(120).reshape(2, 6, 10) % 7
    for dtype in (ag.int8, ag.int64, ag.float16, ag.bfloat16):
        expected = F.max_pool1d(x.float(), 3, 2, 1)
        y = F.max_pool1d(x.to(dtype), 3, 2, 1)
        assert y.dtype is dtype and ag.equal(y.float(), expected)
    turned = x.float().transpose(1, 2).contiguous().transpose(1, 2)
    assert ag.equal(F.max_pool1d(turned, 3, 2, 1), expected)
    assert ag.equal(ag.func.vmap(lambda a: F.max_pool1d(a, 3, 2, 1))(x.float()), expected)
    with ag.no_grad():
        assert not F.max_pool1d(x.float().requires_grad_(), 3, 2, 1).requires_grad
