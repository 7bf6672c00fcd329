"""Interpolation beside torch's, shuffles and unpooling against NumPy, and their modules."""

import functools

import numpy as np
import pytest

import autograd_cy as ag

F = ag.nn.functional
RNG = np.random.default_rng(5)

# shape, mode, sizes and factors
CASES = [
    (shape, mode, given)
    for shape, modes, sizes, factors in (
        (
            (2, 3, 7),
            ("nearest", "nearest-exact", "linear", "area"),
            (7, 14, 5, 11, 1),
            (2, 1.7, 0.6),
        ),
        (
            (2, 2, 5, 6),
            ("nearest", "nearest-exact", "bilinear", "bicubic", "area"),
            ((10, 12), (3, 7), (5, 6), 1, (13, 2)),
            (2, (1.5, 0.5), 0.9),
        ),
        (
            (1, 2, 3, 4, 5),
            ("nearest", "nearest-exact", "trilinear", "area"),
            ((6, 8, 10), (2, 5, 7), 1),
            (2, (1.5, 0.7, 2.5)),
        ),
    )
    for mode in modes
    for given in [{"size": s} for s in sizes] + [{"scale_factor": f} for f in factors]
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("shape", "mode", "given"), CASES, ids=str)
def test_against_torch(shape, mode, given, dtype):
    torch = pytest.importorskip("torch")
    options = [{}]
    if mode not in ("nearest", "nearest-exact", "area"):
        options = [{}, {"align_corners": True}, {"align_corners": False}]
    if "scale_factor" in given:
        options += [{**o, "recompute_scale_factor": True} for o in options]
    for more in options:
        x = RNG.normal(size=shape).astype(dtype)
        ours, theirs = ag.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
        a = F.interpolate(ours, mode=mode, **given, **more)
        b = torch.nn.functional.interpolate(theirs, mode=mode, **given, **more)
        close = {"rtol": 1e-5, "atol": 2e-5 if dtype == "float32" else 1e-6}
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), **close)
        grad = RNG.normal(size=tuple(a.shape)).astype(dtype)
        a.backward(ag.tensor(grad))
        b.backward(torch.tensor(grad))
        np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-4, atol=1e-4)


def test_linear_functions_are_interpolated_exactly():
    x = ag.tensor(np.arange(5.0)[None, None])
    y = F.interpolate(x, 9, mode="linear", align_corners=True)
    np.testing.assert_allclose(y.numpy()[0, 0], np.arange(9) / 2, atol=1e-12)
    rows, columns = np.mgrid[0:6, 0:8]
    plane = ag.tensor((2.0 * rows + columns)[None, None])
    y = F.interpolate(plane, (11, 15), mode="bicubic", align_corners=True).numpy()[0, 0]
    rows, columns = np.mgrid[0:11, 0:15] / 2
    # Away from edges, whose elements stand for those beyond.
    np.testing.assert_allclose(y[2:-2, 2:-2], (2 * rows + columns)[2:-2, 2:-2], atol=1e-12)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_computed_in_float32(name):
    half = ag.tensor(RNG.normal(size=(1, 2, 5, 6)).astype("float32")).to(getattr(ag, name))
    for mode in ("nearest", "bilinear", "bicubic", "area"):
        found = F.interpolate(half, (7, 4), mode=mode)
        assert ag.equal(found, F.interpolate(half.float(), (7, 4), mode=mode).to(half.dtype))


def test_nearest_bytes():
    x = ag.tensor([[[1, 200, 255]]], dtype=ag.uint8)
    y = F.interpolate(x, 6)
    assert y.dtype == ag.uint8
    assert y.tolist() == [[[1, 1, 200, 200, 255, 255]]]


def test_results_are_the_same_for_any_number_of_threads():
    x, results = ag.tensor(RNG.normal(size=(4, 8, 40, 50))), []
    before = ag.get_num_threads()
    try:
        for threads in (1, 3):
            ag.set_num_threads(threads)
            t = x.clone().requires_grad_()
            y = F.interpolate(t, (90, 77), mode="bicubic")
            (y * y).sum().backward()
            results.append((y.detach().numpy(), t.grad.numpy()))
    finally:
        ag.set_num_threads(before)
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)


def test_batches_fold_and_second_derivatives_are_right():
    x = ag.tensor(RNG.normal(size=(3, 1, 2, 4, 5)))
    for mode in ("bilinear", "bicubic", "nearest"):
        batched = ag.vmap(lambda t, mode=mode: F.interpolate(t, (6, 3), mode=mode))(x)
        each = [F.interpolate(t, (6, 3), mode=mode) for t in x]
        assert ag.equal(batched, ag.stack(each))
        t = x[0].clone().requires_grad_()
        assert ag.autograd.gradgradcheck(lambda t, m=mode: F.interpolate(t, (6, 3), mode=m), (t,))


REFUSED = [
    ((1, 2, 4, 4), {}),
    ((1, 2, 4, 4), {"size": 3, "scale_factor": 2}),
    ((1, 2, 4, 4), {"size": (3,)}),
    ((1, 2, 4, 4), {"scale_factor": (2,)}),
    ((1, 2, 4, 4), {"size": 3, "recompute_scale_factor": True}),
    ((1, 2, 4, 4), {"size": 3, "align_corners": True}),
    ((1, 2, 4, 4), {"size": 3, "mode": "linear"}),
    ((1, 2, 4, 4), {"size": 3, "mode": "other"}),
    ((1, 2, 4, 4), {"size": 3, "antialias": True}),
    ((1, 2, 4, 4), {"size": 3, "mode": "lanczos"}),
    ((1, 2, 4, 4), {"size": 3, "mode": "lanczos", "align_corners": True, "antialias": True}),
    ((2, 4, 4), {"size": 3, "mode": "lanczos"}),
    ((2, 4, 4), {"size": 3, "mode": "lanczos", "antialias": True}),
    ((1, 2, 4, 4), {"size": 0}),
    ((1, 2, 4, 4), {"size": (2.5, 2)}),
    ((1, 0, 4), {"size": 3}),
    ((1, 2, 0), {"size": 3}),
    ((2, 3), {"size": 3}),
]


@pytest.mark.parametrize(("shape", "given"), REFUSED, ids=str)
def test_errors_are_those_of_torch(shape, given):
    torch = pytest.importorskip("torch")
    wrong = (RuntimeError, NotImplementedError, ValueError, TypeError)
    with pytest.raises(wrong) as theirs:
        torch.nn.functional.interpolate(torch.zeros(shape), **given)
    with pytest.raises(theirs.type) as ours:
        F.interpolate(ag.zeros(shape), **given)
    assert str(ours.value)[:40] == str(theirs.value)[:40]


FILTERS = [("bilinear", False), ("bilinear", True), ("bicubic", False), ("bicubic", True)]


@pytest.mark.parametrize(("mode", "align"), [*FILTERS, ("lanczos", False)])
def test_antialiased_images_are_those_of_torch(mode, align):
    torch = pytest.importorskip("torch")
    theirs = torch.nn.functional.interpolate
    for rows, out in [(7, 3), (5, 9), (1, 4), (4, 1), (31, 4), (6, 6)]:
        x = RNG.normal(size=(2, 3, rows, rows + 2))
        for given in ({"size": (out, out + 1)}, {"scale_factor": 1.7}, {"scale_factor": (1, 0.6)}):
            given |= {"mode": mode, "align_corners": align, "antialias": True}
            want = theirs(torch.tensor(x), **given)
            np.testing.assert_allclose(
                F.interpolate(ag.tensor(x), **given), want, rtol=0, atol=1e-13, err_msg=str(given)
            )


@pytest.mark.parametrize(
    ("mode", "align", "antialias"),
    [(*case, a) for case in FILTERS for a in (False, True)] + [("lanczos", False, True)],
)
def test_bytes_are_those_of_torch_to_the_last_bit(mode, align, antialias):
    torch = pytest.importorskip("torch")
    how = {"mode": mode, "align_corners": align, "antialias": antialias}
    for shape in [(1, 3, 4, 4), (2, 1, 7, 9), (1, 3, 31, 17), (1, 5, 1, 6)]:
        x = RNG.integers(0, 256, shape).astype(np.uint8)
        for given in (
            {"size": (3, 5)},
            {"size": shape[2:]},
            {"size": (20, 33)},
            {"size": (2, 1)},
            {"scale_factor": (1.7, 0.6)},
            {"scale_factor": 1.0},
        ):
            want = torch.nn.functional.interpolate(torch.tensor(x), **given, **how).numpy()
            found = F.interpolate(ag.tensor(x), **given, **how)
            assert found.dtype is ag.uint8
            np.testing.assert_array_equal(found.numpy(), want, err_msg=str((shape, given)))


def test_bytes_are_the_rounded_averages_and_stay_in_their_range():
    """Within one for the two roundings and the weights; a cubic overshoots an edge."""
    x = ag.tensor(RNG.integers(0, 2, (1, 2, 9, 8)) * 255).to(ag.uint8)
    wide = F.interpolate(x, (18, 16), mode="bicubic")
    assert (wide.min(), wide.max()) == (0, 255) and len(wide.unique()) > 20
    # A row that overshoots is cut off before columns see it. By how much is the sum of the weights
    # below zero, at most 0.19 and 0.27 of the range, times that of the sizes of all in a column.
    bounds = {"bilinear": 1.5, "bicubic": 255 * 0.19 * 1.38, "lanczos": 255 * 0.27 * 1.54}
    for mode, antialias in [("bilinear", False), ("bicubic", False), ("lanczos", True)]:
        for size in [(5, 13), (4, 3), (9, 20)]:
            exact = F.interpolate(x.double(), size, mode=mode, antialias=antialias)
            found = F.interpolate(x, size, mode=mode, antialias=antialias).double()
            assert (found - exact.clamp(0, 255)).abs().max() <= bounds[mode]
    same = F.interpolate(x, (9, 8), mode="bilinear")
    assert ag.equal(same, x) and same.data_ptr() != x.data_ptr()
    with pytest.raises(RuntimeError, match="should be greater than 0"):
        F.interpolate(x, (0, 3), mode="bilinear")
    with pytest.raises(NotImplementedError, match="not implemented for 'Char'"):
        F.interpolate(x.to(ag.int8), (3, 3), mode="bilinear")


def test_antialiasing_averages_every_element_and_has_all_derivatives():
    x = ag.tensor(RNG.normal(size=(1, 2, 9, 4)), requires_grad=True)
    resize = functools.partial(F.interpolate, size=(3, 3), mode="bicubic", antialias=True)
    assert ag.autograd.gradcheck(resize, (x,), check_forward_ad=True)
    assert ag.autograd.gradgradcheck(resize, (x,))
    batched = ag.vmap(resize)(ag.stack([x.detach(), x.detach() + 1]))
    np.testing.assert_allclose(batched[1], resize(x.detach()) + 1, rtol=0, atol=1e-14)
    F.interpolate(x, 1, mode="bilinear", antialias=True).sum().backward()
    assert (x.grad > 0).all()
    assert F.interpolate(x.to("meta"), (5, 2), mode="bilinear", antialias=True).shape[2:] == (5, 2)


def test_infinity_reaches_only_what_averages_it():
    x = ag.zeros(1, 1, 1, 10)
    x[..., 4] = float("inf")
    y = F.interpolate(x, (1, 4), mode="bilinear", antialias=True).flatten().tolist()
    assert y == [0, float("inf"), float("inf"), 0]


def test_antialiasing_refuses_what_torch_refuses():
    x = ag.zeros(1, 1, 4, 4)
    with pytest.raises(NotImplementedError, match="antialias=True is not implemented for Int"):
        F.interpolate(x.int(), 2, mode="bilinear", antialias=True)
    with pytest.raises(RuntimeError, match="should be greater than 0"):
        F.interpolate(x, 0, mode="bilinear", antialias=True)


@pytest.mark.parametrize("name", ["upsample", "upsample_nearest", "upsample_bilinear"])
def test_old_names_warn(name):
    x = ag.tensor(RNG.normal(size=(1, 1, 2, 3)))
    with pytest.warns(UserWarning, match="is deprecated"):
        y = getattr(F, name)(x, (4, 5))
    more = {"mode": "bilinear", "align_corners": True} if name[-1] == "r" else {}
    assert ag.equal(y, F.interpolate(x, (4, 5), **more))


# --- shuffles -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("lead", "factor"), [((), 2), ((3,), 3), ((2, 2), 1)], ids=str)
def test_pixels_are_shuffled(lead, factor):
    c, h, w = 2, 3, 4
    x = RNG.normal(size=(*lead, c * factor**2, h, w))
    y = ag.pixel_shuffle(ag.tensor(x), factor)
    expected = np.zeros((*lead, c, h * factor, w * factor))
    for i in range(factor):
        for j in range(factor):
            expected[..., i::factor, j::factor] = x[..., i * factor + j :: factor**2, :, :]
    np.testing.assert_array_equal(y.numpy(), expected)
    np.testing.assert_array_equal(F.pixel_unshuffle(y, factor).numpy(), x)


def test_channels_are_shuffled():
    x = RNG.normal(size=(2, 6, 3, 1))
    expected = x[:, [0, 3, 1, 4, 2, 5]]
    np.testing.assert_array_equal(ag.channel_shuffle(ag.tensor(x), 2).numpy(), expected)


@pytest.mark.parametrize(
    ("name", "shape", "number"),
    [
        ("pixel_shuffle", (1, 3, 2, 2), 2),
        ("pixel_shuffle", (2, 2), 2),
        ("pixel_shuffle", (4, 2, 2), 0),
        ("pixel_unshuffle", (1, 3, 2, 3), 2),
        ("pixel_unshuffle", (1, 3, 3, 2), 2),
        ("pixel_unshuffle", (2, 2), 2),
        ("pixel_unshuffle", (4, 2, 2), -1),
        ("channel_shuffle", (1, 4, 2), 3),
        ("channel_shuffle", (1, 4), 2),
        ("channel_shuffle", (1, 4, 2), 0),
    ],
    ids=str,
)
def test_what_cannot_be_shuffled(name, shape, number):
    torch = pytest.importorskip("torch")
    with pytest.raises(RuntimeError) as theirs:
        getattr(torch, name)(torch.zeros(shape), number)
    with pytest.raises(RuntimeError) as ours:
        getattr(ag, name)(ag.zeros(shape), number)
    assert str(ours.value) == str(theirs.value)


# --- unpooling and norms ------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_unpooling_puts_elements_back(rank):
    x = RNG.normal(size=(2, 3, 5, 4, 6)[: rank + 2])
    pooled, at = getattr(F, f"max_pool{rank}d")(ag.tensor(x), 2, return_indices=True)
    pooled.requires_grad_()
    y = getattr(F, f"max_unpool{rank}d")(pooled, at, 2, output_size=x.shape)
    largest = pooled.detach().numpy()
    expected = np.where(np.isin(x, largest), x, 0)
    np.testing.assert_array_equal(y.detach().numpy(), expected)
    weights = RNG.normal(size=x.shape)
    (y * ag.tensor(weights)).sum().backward()
    np.testing.assert_array_equal(
        np.sort(pooled.grad.numpy().ravel()), np.sort(weights[expected != 0].ravel())
    )


def test_unpooling_refuses_what_does_not_fit():
    x, at = ag.ones(1, 1, 1, 1), ag.tensor([[[[1]]]])
    with pytest.raises(ValueError, match=r"must be between 0 and 4"):
        F.max_unpool2d(x, at, 2, output_size=(1, 1, 5, 5))
    with pytest.raises(ValueError, match=r"containing 2 or 4 elements"):
        F.max_unpool2d(x, at, 2, output_size=(5, 5, 5))
    with pytest.raises(RuntimeError, match="type int64 but got: Int"):
        F.max_unpool2d(x, at.int(), 2)
    with pytest.raises(RuntimeError, match="same as that of the input"):
        F.max_unpool2d(x, at[0], 2)
    with pytest.raises(RuntimeError, match="3d or 4d Tensor"):
        F.max_unpool2d(x[0, 0], at[0, 0], 2)
    with pytest.raises((RuntimeError, IndexError), match="7"):
        F.max_unpool2d(x, at * 7, 2)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("order", [1, 2, 3.0])
def test_norms_of_windows(rank, order):
    torch = pytest.importorskip("torch")
    x = RNG.uniform(0.1, 2, size=(2, 3, 5, 4, 6)[: rank + 2])
    for options in ((2,), (3, 1), (2, 3, True)):
        name = f"lp_pool{rank}d"
        ours, theirs = ag.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
        a = getattr(F, name)(ours, order, *options)
        b = getattr(torch.nn.functional, name)(theirs, order, *options)
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy())
        a.sum().backward()
        b.sum().backward()
        np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy())


def test_the_norm_of_order_infinity_is_the_largest_element():
    x = ag.tensor(RNG.normal(size=(1, 2, 6)))
    assert ag.equal(F.lp_pool1d(x, float("inf"), 2), F.max_pool1d(x.abs(), 2))


# --- modules ------------------------------------------------------------------------------------

MODULES = [
    ("Upsample", (), {"scale_factor": 2}, 2),
    ("Upsample", ((2, 3),), {"mode": "bilinear", "align_corners": True}, 2),
    ("Upsample", (), {"scale_factor": (2, 1.5), "mode": "bicubic"}, 2),
    ("Upsample", (5,), {"mode": "linear"}, 1),
    ("UpsamplingNearest2d", (3,), {}, 2),
    ("UpsamplingBilinear2d", (), {"scale_factor": 2}, 2),
    ("PixelShuffle", (2,), {}, 2),
    ("PixelUnshuffle", (2,), {}, 2),
    ("ChannelShuffle", (2,), {}, 2),
    ("LPPool1d", (2, 3), {"ceil_mode": True}, 1),
    ("LPPool2d", (2.0, (2, 1)), {}, 2),
    ("LPPool3d", (3, 2, 1), {}, 3),
]


@pytest.mark.parametrize(("name", "args", "kwargs", "rank"), MODULES, ids=str)
def test_module_is_that_of_torch(name, args, kwargs, rank):
    torch = pytest.importorskip("torch")
    ours, theirs = getattr(ag.nn, name)(*args, **kwargs), getattr(torch.nn, name)(*args, **kwargs)
    assert repr(ours) == repr(theirs)
    public = [{k: v for k, v in vars(m).items() if k[0] != "_"} for m in (ours, theirs)]
    assert public[0] == public[1]
    x = RNG.uniform(0.1, 2, size=(2, 4, 4, 6, 4)[: rank + 2])
    a, b = ours(ag.tensor(x)), theirs(torch.tensor(x))
    np.testing.assert_allclose(a.numpy(), b.numpy(), atol=1e-6)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_unpooling_modules_are_those_of_torch(rank):
    torch = pytest.importorskip("torch")
    for args in ((2,), (3, 2, 1)):
        name = f"MaxUnpool{rank}d"
        ours, theirs = getattr(ag.nn, name)(*args), getattr(torch.nn, name)(*args)
        assert repr(ours) == repr(theirs)
        x = torch.tensor(RNG.normal(size=(2, 3, 7, 6, 5)[: rank + 2]))
        pooled, at = getattr(torch.nn, f"MaxPool{rank}d")(*args, return_indices=True)(x)
        found = ours(ag.tensor(pooled.numpy()), ag.tensor(at.numpy()), x.shape)
        np.testing.assert_array_equal(found.numpy(), theirs(pooled, at, x.shape).numpy())
