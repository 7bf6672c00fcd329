"""Sampling at grids: kernels beside the formula of operators, with which derivatives go on."""

import itertools

import numpy as np
import programs
import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy._C import cpu
from autograd_cy._interpreted import Family, _resampling_composites
from autograd_cy.nn.functional import _grid

F = ag.nn.functional
KERNELS = Family("ops_resampling")
MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
# Images and grids: sizes of 1, blocks of points that are full and not, several tiles, many channels
# (laid last by the kernel, and taken by eights; of the nearest element, for many points alone), no
# example, no channel, no point.
SHAPES = [
    ((2, 3, 4, 5), (3, 7)),
    ((1, 2, 1, 6), (13, 11)),
    ((3, 9, 3, 1), (8, 8)),
    ((1, 1, 7, 2), (97, 89)),
    ((2, 3, 4, 3, 5), (2, 5, 4)),
    ((1, 2, 1, 6, 1), (7, 5, 3)),
    ((2, 19, 3, 4), (5, 17)),
    ((1, 70, 5, 3), (3, 5)),
    ((2, 17, 2, 3, 2), (3, 2, 5)),
    ((1, 16, 46, 45), (50, 43)),
    ((2, 8, 5, 6), (9, 11)),
    ((1, 24, 9, 7), (20, 13)),
    ((0, 2, 3, 4), (2, 2)),
    ((2, 0, 3, 4), (2, 2)),
    ((2, 2, 3, 4), (0, 2)),
]
PLACES = ("anywhere", "on elements", "not finite")
HOWS = [
    (mode, padding, aligned) for mode in MODES for padding in PADDINGS for aligned in (False, True)
]
CASES = [
    pytest.param(shape, points, *how, id=f"{len(shape)}d {how[0]}-{shape}-{points}-{how[1:]}")
    for shape, points in SHAPES
    for how in HOWS
    if how[0] != "bicubic" or len(shape) == 4
]


def image_and_grid(shape, points, aligned, places, dtype, seed=0):
    rng = np.random.default_rng([seed, *shape, *points])
    grid = rng.uniform(-1.6, 1.6, (shape[0], *points, len(points)))
    if places == "on elements":  # and halfway between them, and beyond the edges
        size = np.array(shape[:1:-1])
        steps = rng.integers(-3, 2 * size.max() + 4, grid.shape) / 2
        grid = steps * 2 / np.maximum(size - 1, 1) - 1 if aligned else (2 * steps + 1) / size - 1
    if places == "not finite":
        chosen = rng.random(grid.shape) < 0.2
        grid[chosen] = rng.choice([np.nan, np.inf, -np.inf, 1e30, -1e30], chosen.sum())
    return [ag.tensor(values.astype(dtype)) for values in (rng.normal(size=shape), grid)]


def by_formula(input, grid, mode, padding, aligned):
    how = MODES.index(mode), PADDINGS.index(padding), aligned
    return _resampling_composites.grid_sample(input, grid, *how)


def value_and_gradients(function, input, grid, *how):
    leaves = [t.detach().requires_grad_() for t in (input, grid)]
    result = function(*leaves, *how)
    weights = np.random.default_rng(1).normal(size=tuple(result.shape))
    weights = ag.tensor(weights.astype(str(input.dtype).rpartition(".")[2]))
    return result.detach(), *ag.autograd.grad(result, leaves, weights)


@each("shape, points, mode, padding, aligned", CASES)
def test_kernels_give_what_the_formula_does(shape, points, mode, padding, aligned):
    for dtype, places in itertools.product(("float64", "float32"), PLACES):
        given = image_and_grid(shape, points, aligned, places, dtype)
        found = value_and_gradients(F.grid_sample, *given, mode, padding, aligned)
        expected = value_and_gradients(by_formula, *given, mode, padding, aligned)
        # The same sums, of products that are rounded once.
        np.testing.assert_array_equal(found[0].numpy(), expected[0].numpy())
        for a, b in zip(found[1:], expected[1:], strict=True):
            assert a.shape == b.shape
            most = max([1.0, *abs(b[b.isfinite()]).tolist()])
            rounding = most * (1e-13 if dtype == "float64" else 5e-6)
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=0, atol=rounding)


@each("mode, padding, aligned", [pytest.param(*how, id=f"{how[0]}-{how}") for how in HOWS])
def test_derivatives_are_right(mode, padding, aligned):
    for shape, points in (((1, 2, 3, 4), (2, 2)), ((1, 2, 3, 2, 3), (2, 1, 1))):
        if mode == "bicubic" and len(shape) == 5:
            continue
        given = image_and_grid(shape, points, aligned, "anywhere", "float64", seed=3)
        given = [t.requires_grad_() for t in given]

        def sample(input, grid):
            return F.grid_sample(input, grid, mode, padding, aligned)

        for wanted in ([0, 1], [0], [1]):
            some = [given[i] for i in wanted]

            def by_some(*some, wanted=wanted):
                now = dict(zip(wanted, some))
                return sample(*(now.get(i, given[i].detach()) for i in range(2)))

            assert ag.autograd.gradcheck(by_some, some, check_forward_ad=len(wanted) == 2)
        assert ag.autograd.gradgradcheck(sample, given)


@each("mode, padding, aligned", [pytest.param(*how, id=f"{how[0]}-{how}") for how in HOWS])
def test_higher_derivatives_are_those_of_the_formula(mode, padding, aligned):
    """The derivatives are of second and third order, by all three arguments, in forward mode,
    too."""
    rank = 2 if mode == "bicubic" else 3
    shape, points = (1, 2, 3, 4, 3)[: rank + 2], (2, 3, 1)[:rank]
    x, g = image_and_grid(shape, points, aligned, "anywhere", "float64", seed=5)

    def derivatives(function):
        def loss(x, g):
            return (function(x, g, mode, padding, aligned) ** 3).sum()

        first = ag.func.grad(loss, (0, 1))
        second = ag.func.hessian(loss, (0, 1))(x, g)

        def along(x, g):
            tangent = ag.func.jvp(first, (x, g), (x.cos(), g.cos()))[1]
            return sum((t * t).sum() for t in tangent)

        third = ag.func.grad(along, (0, 1))(x, g)
        return *itertools.chain(*second), *third

    found, expected = derivatives(F.grid_sample), derivatives(by_formula)
    for a, b in zip(found, expected, strict=True):
        ag.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


@each("mode", [pytest.param(mode, id=mode) for mode in MODES])
def test_batches_are_loops(mode):
    x, g = image_and_grid((2, 3, 4, 5), (3, 2), False, "anywhere", "float64")
    xs, gs = ag.stack([x, x.cos()]), ag.stack([g, g.cos()])
    u = ag.randn(2, 3, 3, 2, dtype=ag.float64)
    us = ag.stack([u, u.cos()])

    def pulled(x, g, u):
        found, back = ag.func.vjp(lambda x, g: F.grid_sample(x, g, mode, "reflection", False), x, g)
        return found, *back(u)

    for dims in itertools.product((0, None), repeat=3):
        if dims == (None, None, None):
            continue
        given = [b if d == 0 else a for d, a, b in zip(dims, (x, g, u), (xs, gs, us))]
        found = ag.vmap(pulled, dims)(*given)
        loop = [pulled(*(t[i] if d == 0 else t for d, t in zip(dims, given))) for i in range(2)]
        for a, b in zip(found, map(ag.stack, zip(*loop))):
            ag.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


def layouts(t):
    """Return the values in other memory layouts."""
    yield t.contiguous(memory_format=ag.channels_last)
    yield ag.cat((t, t), 1)[:, : t.shape[1]]
    yield ag.stack((t, t), -1)[..., 0]
    yield t.flip(2).flip(2)
    yield t.transpose(2, 3).contiguous().transpose(2, 3)


@each("mode", [pytest.param(mode, id=mode) for mode in MODES])
def test_any_layout_gives_the_same(mode):
    for channels in (3, 5, 20):
        check_layouts(mode, channels)


def check_layouts(mode, channels):
    x, g = image_and_grid((2, channels, 4, 5), (3, 9), False, "anywhere", "float64")
    expected = value_and_gradients(F.grid_sample, x, g, mode, "border", True)
    for image in layouts(x):
        for grid in layouts(g):
            found = value_and_gradients(F.grid_sample, image, grid, mode, "border", True)
            assert found[0].is_contiguous()
            assert ag.equal(found[0], expected[0])
            for a, b in zip(found[1:], expected[1:], strict=True):
                ag.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
    # Examples that share memory are seen once for each.
    shared = x[:1].expand(2, -1, -1, -1), g[:1].expand(2, -1, -1, -1)
    found = value_and_gradients(F.grid_sample, *shared, mode, "border", True)
    copied = value_and_gradients(
        F.grid_sample, *(t.contiguous() for t in shared), mode, "border", True
    )
    assert all(ag.equal(a, b) for a, b in zip(found, copied, strict=True))


def test_threads_give_the_same_bits():
    given = [
        image_and_grid(shape, points, False, "anywhere", "float32")
        for shape, points in (
            ((3, 12, 20, 30), (40, 50)),
            ((2, 70, 20, 30), (25, 50)),
            ((1, 2, 9, 8, 7), (30, 20, 11)),
        )
    ]
    results, before = [], ag.get_num_threads()
    try:
        for threads in (1, 2, 3):
            ag.set_num_threads(threads)
            results.append(
                [
                    t
                    for one, mode in itertools.product(given, MODES)
                    if mode != "bicubic" or one[0].dim() == 4
                    for t in value_and_gradients(F.grid_sample, *one, mode, "zeros", False)
                ]
            )
    finally:
        ag.set_num_threads(before)
    for other in results[1:]:
        assert all(ag.equal(a, b) for a, b in zip(results[0], other, strict=True))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_computed_in_float32(name):
    dtype = getattr(ag, name)
    for mode in MODES:
        given = image_and_grid((2, 3, 4, 5), (3, 2), False, "anywhere", "float32")
        given = [t.to(dtype) for t in given]
        found = F.grid_sample(*given, mode, "reflection", False)
        assert found.dtype == dtype
        wide = F.grid_sample(*(t.float() for t in given), mode, "reflection", False)
        assert ag.equal(found, wide.to(dtype))
        leaves = [t.requires_grad_() for t in given]
        floats = [t.detach().float().requires_grad_() for t in given]
        for these in (leaves, floats):
            F.grid_sample(*these, mode, "reflection", False).sum().backward()
        for a, b in zip(leaves, floats):
            assert a.grad.dtype == dtype
            assert ag.equal(a.grad, b.grad.to(dtype))


def test_elements_that_no_point_is_near_count_for_nothing():
    """Not even where they are infinite; of those that count zeros keep their signs."""
    x = ag.full((1, 1, 3, 3), float("inf"))
    x[0, 0, 1, 1] = -0.0
    grid = ag.tensor([[[[0.0, 0.0], [7.0, 0.0], [-9.0, 9.0]]]])
    for mode in MODES[:2]:
        found = F.grid_sample(x, grid[:, :, :1], "nearest", "zeros", True)
        assert found.signbit().all()
        assert found.eq(0).all()
        leaves = x.clone().requires_grad_(), grid[:, :, 1:].clone().requires_grad_()
        found = F.grid_sample(*leaves, mode, "zeros", True)
        assert found.eq(0).all()
        gradients = ag.autograd.grad(found, leaves, ag.full_like(found, float("inf")))
        assert all(t.eq(0).all() for t in gradients)


@pytest.mark.parametrize("channels", [1, 7, 8, 16, 20])
def test_zeros_keep_their_signs_and_what_is_missing_adds_one(channels):
    """Channels are taken one by one, or by eights."""
    x = ag.full((1, channels, 3, 4), -0.0)
    grid = ag.tensor([[[[0.1, 0.2], [-0.2, 0.3], [0.99, 0.0], [9.0, 9.0]]]]).repeat(1, 5, 3, 1)
    for dtype, mode in itertools.product((ag.float32, ag.float64), ("nearest", "bilinear")):
        found = F.grid_sample(x.to(dtype), grid.to(dtype), mode, "zeros", False)
        signs = found.signbit().view(channels, 5, 3, 4)
        assert found.eq(0).all() and signs[..., :2].all() and not signs[..., 3].any()
        assert signs[..., 2].all() if mode == "nearest" else not signs[..., 2].any()


def test_larger_planes_than_kernels_count_are_sampled_by_the_formula(monkeypatch):
    x, g = image_and_grid((2, 3, 4, 5), (3, 2), False, "anywhere", "float64")
    expected = value_and_gradients(F.grid_sample, x, g, "bicubic", "zeros", False)
    monkeypatch.setattr(_grid, "_LARGEST", 19)
    leaf = x.clone().requires_grad_()
    assert "GridSampler" not in F.grid_sample(leaf, g, "nearest", "zeros", False).grad_fn.name()
    found = value_and_gradients(F.grid_sample, x, g, "bicubic", "zeros", False)
    for a, b in zip(found, expected, strict=True):
        ag.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
    huge = ag.zeros(()).expand(1, 1, 2**16, 2**15)
    with pytest.raises(RuntimeError, match=r"planes of 2 \*\* 31 elements and more"):
        KERNELS._grid_sample(huge, ag.zeros(1, 1, 1, 2), 0, 0, False)


def test_one_node_has_what_torch_shows():
    for rank in (2, 3):
        x, g = ag.ones(1, 2, *(3,) * rank), ag.zeros(1, *(2,) * rank, rank)
        node = F.grid_sample(x.requires_grad_(), g.requires_grad_(), "nearest", "border", True)
        node = node.grad_fn
        assert node.name() == f"GridSampler{rank}DBackward0"
        assert node._saved_interpolation_mode == node._saved_padding_mode == 1
        assert node._saved_align_corners is True
        assert ag.equal(node._saved_input, x)
        assert ag.equal(node._saved_grid, g)


def some_give_what_the_formula_does():
    """Those that reach each way; with AUTOGRAD_CY_CPU set, the tests above run all of them."""
    for case in CASES:
        test_kernels_give_what_the_formula_does.__wrapped__(*case.values)


@pytest.mark.parametrize("target", ["base", "avx2", "avx512"])
def test_every_instruction_set(target):
    """Each instruction set runs in a process with its loops."""
    if target not in cpu.usable_targets() or target == cpu.selected_target():
        pytest.skip(f"{target} isn't there, or was tested above")
    names = ["some_give_what_the_formula_does", "test_threads_give_the_same_bits"]
    assert programs.run_tests(__file__, names, AUTOGRAD_CY_CPU=target) == 2
