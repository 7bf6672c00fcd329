"""Sampling at grids beside torch's."""

import numpy as np
import pytest

import autograd_cy as ag

torch = pytest.importorskip("torch")
F, G = ag.nn.functional, torch.nn.functional
RNG = np.random.default_rng(6)


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize(
    "shape", [(2, 3, 4, 5), (1, 2, 1, 6), (1, 2, 3, 2), (2, 2, 3, 4, 5)], ids=str
)
def test_samples_are_those_of_torch(shape, mode, padding, aligned):
    if mode == "bicubic" and len(shape) == 5:
        with pytest.raises(RuntimeError, match="only supports 4D"):
            F.grid_sample(ag.zeros(shape), ag.zeros(2, 1, 1, 1, 3), mode, padding, aligned)
        return
    x = RNG.normal(size=shape)
    grid = RNG.uniform(-1.8, 1.8, size=(shape[0], *(3, 4, 2)[: len(shape) - 2], len(shape) - 2))
    ours = ag.tensor(x, requires_grad=True), ag.tensor(grid, requires_grad=True)
    theirs = torch.tensor(x, requires_grad=True), torch.tensor(grid, requires_grad=True)
    a = F.grid_sample(*ours, mode, padding, aligned)
    b = G.grid_sample(*theirs, mode, padding, aligned)
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-10)
    weights = RNG.normal(size=tuple(a.shape))
    (a * ag.tensor(weights)).sum().backward()
    (b * torch.tensor(weights)).sum().backward()
    np.testing.assert_allclose(ours[0].grad.numpy(), theirs[0].grad.numpy(), atol=1e-10)
    if mode != "nearest":
        np.testing.assert_allclose(ours[1].grad.numpy(), theirs[1].grad.numpy(), atol=1e-9)


@pytest.mark.filterwarnings("ignore:Since version 1.3.0:UserWarning")  # of torch, for sizes of 1
@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (1, 1, 1, 3), (2, 1, 3, 2, 4)], ids=str)
def test_grids_are_those_of_torch(size, aligned):
    theta = RNG.normal(size=(size[0], len(size) - 2, len(size) - 1))
    found = F.affine_grid(ag.tensor(theta), size, aligned)
    expected = G.affine_grid(torch.tensor(theta), size, aligned)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "grid", "mode", "padding"),
    [
        ((1, 1, 2, 2), (1, 1, 1, 2), "other", "zeros"),
        ((1, 1, 2, 2), (1, 1, 1, 2), "nearest", "other"),
        ((1, 1, 2, 2), (2, 1, 1, 2), "nearest", "zeros"),
        ((1, 1, 2, 2), (1, 1, 1, 3), "nearest", "zeros"),
        ((1, 1, 0, 2), (1, 1, 1, 2), "nearest", "zeros"),
    ],
    ids=str,
)
def test_errors_are_those_of_torch(shape, grid, mode, padding):
    with pytest.raises((ValueError, RuntimeError)) as theirs:
        G.grid_sample(torch.zeros(shape), torch.zeros(grid), mode, padding, False)
    with pytest.raises(theirs.type) as ours:
        F.grid_sample(ag.zeros(shape), ag.zeros(grid), mode, padding, False)
    assert str(ours.value)[:60] == str(theirs.value)[:60]


@pytest.mark.parametrize("size", [(1, 1, 2), (1, 1, 0, 2), (1, 1, 2, 2, 2)], ids=str)
def test_matrices_have_to_fit(size):
    with pytest.raises((ValueError, NotImplementedError)) as theirs:
        G.affine_grid(torch.zeros(1, 2, 3), size, False)
    with pytest.raises(theirs.type):
        F.affine_grid(ag.zeros(1, 2, 3), size, False)


def test_corners_that_are_not_said_warn():
    with pytest.warns(UserWarning, match="align_corners=False since"):
        F.grid_sample(ag.zeros(1, 1, 2, 2), ag.zeros(1, 1, 1, 2))
    with pytest.warns(UserWarning, match="align_corners=False since"):
        F.affine_grid(ag.zeros(1, 2, 3), (1, 1, 2, 2))


@pytest.mark.filterwarnings("ignore:Since version 1.3.0, affine_grid behavior")
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("size", [(2, 1, 3, 4), (2, 1, 1, 2), (2, 1, 2, 3, 4)])
def test_grids_of_affine_maps_keep_nothing_and_are_linear(aligned, size):
    rank = len(size) - 2
    theta = ag.randn(2, rank, rank + 1, dtype=ag.float64, requires_grad=True)

    def function(theta):
        return ag.nn.functional.affine_grid(theta, size, align_corners=aligned)

    grid = function(theta)
    grid.sum().backward()
    first = theta.grad.clone()
    grid.sum().backward()  # nothing was freed
    assert ag.equal(theta.grad, 2 * first)
    assert ag.autograd.gradcheck(
        function, (theta,), check_forward_ad=True, check_batched_grad=True,
        check_batched_forward_grad=True,
    )  # fmt: skip
    assert ag.autograd.gradgradcheck(lambda t: function(t) ** 2, (theta,))
    each = ag.vmap(function)(ag.stack([theta.detach(), 2 * theta.detach()]))
    np.testing.assert_allclose(each[1].numpy(), 2 * grid.detach().numpy())
    axes = [np.linspace(-1, 1, n) if n > 1 else np.zeros(1) for n in size[2:]]
    if not aligned:
        axes = [line * (n - 1) / n for line, n in zip(axes, size[2:])]
    points = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(size[2:])], -1)
    expected = np.einsum("...j,nij->n...i", points, theta.detach().numpy())
    np.testing.assert_allclose(grid.detach().numpy(), expected, atol=1e-12)
    meta = ag.nn.functional.affine_grid(theta.detach().to("meta"), size, align_corners=aligned)
    assert meta.shape == grid.shape
