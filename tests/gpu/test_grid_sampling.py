"""Images at the points of a grid on a GPU, and the gradients of both, beside the CPU."""

import itertools

import pytest
from emulator import control
from reducing import FLOATS, bits, close, numbers, wide

import autograd_cy as torch
from autograd_cy._C import cuda_grid
from autograd_cy.nn import functional as F

HOW = [
    (rank, mode, padding)
    for rank, mode, padding in itertools.product(
        (2, 3), ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    )
    if rank == 2 or mode != "bicubic"
]
SIZES = {2: (5, 6), 3: (3, 4, 5)}
POINTS = {2: (4, 7), 3: (2, 3, 4)}


@pytest.fixture(params=["all at once", "one by one"])
def memory(request):
    """Elements around the points of all examples are sorted together, or of one."""
    before = cuda_grid._set_most_pairs(1 if request.param == "one by one" else 1 << 24)
    yield
    cuda_grid._set_most_pairs(before)


def moved(x, device, dtype):
    """A leaf with the same strides on the GPU."""
    if x._base is not None:
        made = x._base.to(device).to(dtype).as_strided(x.shape, x.stride())
    else:
        made = x.to(device).to(dtype)
    return made.detach().requires_grad_()


def agree(image, grid, dtype, scale=4, **options):
    found = []
    for device, to in (("cuda", image.dtype), ("cpu", torch.float64)):
        leaves = [moved(t, device, to) for t in (image, grid)]
        result = F.grid_sample(*leaves, **options)
        grad = numbers(result.shape, dtype, 3).to(to).to(device)
        result.backward(grad)
        found.append([result, *(t.grad for t in leaves)])
    for k, (mine, exact) in enumerate(zip(*found, strict=True)):
        assert mine.dtype == image.dtype and mine.device.type == "cuda"
        close(mine, wide(exact), scale * (1 if k < 2 else 20), dtype, error=12)


@pytest.mark.parametrize(("rank", "mode", "padding"), HOW)
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("dtype", FLOATS)
def test_values_and_gradients(memory, rank, mode, padding, align, dtype):
    # Coordinates are whole multiples of 2^-6, and so exact in halves; none is at an edge of an
    # element, where a rounding would decide about it.
    image = numbers((3, 10, *SIZES[rank]), dtype, 1)
    points = numbers((3, *POINTS[rank], rank), "float64", 2, -1.7, 1.7)
    grid = ((points * 64).round() / 64 + 1 / 128).to(image.dtype)
    options = {"mode": mode, "padding_mode": padding, "align_corners": align}
    agree(image, grid, dtype, **options)


VIEWS = {
    "channels last": lambda x: x.to(memory_format=torch.channels_last),
    "transposed": lambda x: x.transpose(2, 3),
    "gaps": lambda x: x[..., ::2],
    "one image for all": lambda x: x[:1].expand(3, -1, -1, -1),
}


@pytest.mark.parametrize("view", VIEWS)
def test_strides(view):
    image, grid = numbers((3, 9, 6, 8), "float64", 1), numbers((2, 5, 3, 2), "float64", 2)
    agree(VIEWS[view](image), grid.permute(1, 0, 2, 3)[:3], "float64", align_corners=False)


def test_many_points_at_one_element():
    image, grid = numbers((1, 3, 4, 4), "float64", 1), numbers((1, 20, 30, 2), "float64", 2) + 9
    for padding in ("border", "reflection"):
        agree(image, grid, "float64", 600, padding_mode=padding, align_corners=False)


def test_no_numbers_and_infinite_ones():
    inf, nan = float("inf"), float("nan")
    points = [[nan, 0.0], [0.0, nan], [inf, 0.1], [0.2, -inf], [nan, 9.0], [1e30, 0.0], [0.1, 0.2]]
    grid = torch.tensor([[points]])
    image = numbers((1, 2, 4, 4), "float32", 1)
    for mode, padding in itertools.product(
        ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    ):
        found = []
        for device in ("cuda", "cpu"):
            leaf = image.to(device).clone().requires_grad_()
            result = F.grid_sample(
                leaf, grid.to(device), mode=mode, padding_mode=padding, align_corners=False
            )
            result.sum().backward()
            found.append((result, leaf.grad))
        for mine, exact in zip(*found, strict=True):
            close(mine, wide(exact), 8, "float32", error=8)


def test_second_derivatives_and_vmap():
    image = numbers((1, 2, 3, 4), "float64", 1).to("cuda").requires_grad_()
    grid = numbers((1, 3, 2, 2), "float64", 2, -0.9, 0.9).to("cuda").requires_grad_()

    def call(image, grid):
        return F.grid_sample(image, grid, align_corners=False)

    assert torch.autograd.gradcheck(call, (image, grid))
    assert torch.autograd.gradgradcheck(call, (image, grid))
    images, grids = numbers((2, 3, 2, 4, 4), "float32", 1), numbers((2, 3, 2, 5, 2), "float32", 2)

    def step(image, grid):
        return torch.func.grad(lambda image: call(image, grid).square().sum())(image)

    mine, exact = (torch.func.vmap(step)(images.to(d), grids.to(d)) for d in ("cuda", "cpu"))
    close(mine, wide(exact), 20, "float32", error=4)


def test_affine_maps():
    theta = numbers((2, 2, 3), "float32", 1)
    image = numbers((2, 3, 6, 6), "float32", 2)
    found = []
    for device in ("cuda", "cpu"):
        leaf = theta.to(device).clone().requires_grad_()
        grid = F.affine_grid(leaf, (2, 3, 5, 4), align_corners=False)
        F.grid_sample(image.to(device), grid, align_corners=False).sum().backward()
        found.append((grid, leaf.grad))
    for mine, exact in zip(*found, strict=True):
        close(mine, wide(exact), 100, "float32", error=8)


@pytest.mark.parametrize("shape", [((0, 2, 4, 4), (0, 3, 3, 2)), ((2, 2, 4, 4), (2, 0, 3, 2))])
def test_of_nothing(shape):
    image, grid = (torch.empty(s, device="cuda").zero_().requires_grad_() for s in shape)
    F.grid_sample(image, grid, align_corners=False).sum().backward()
    assert not image.grad.any() and grid.grad.shape == shape[1]


def test_the_same_bits_in_any_order_of_threads():
    image = numbers((2, 9, 12, 11), "float32", 1).to("cuda")
    grid = numbers((2, 30, 20, 2), "float32", 2, -1.1, 1.1).to("cuda")

    def step():
        leaves = image.clone().requires_grad_(), grid.clone().requires_grad_()
        result = F.grid_sample(*leaves, align_corners=False)
        result.square().sum().backward()
        return [bits(t) for t in (result.detach(), *(t.grad for t in leaves))]

    first = step()
    for seed in range(2):
        with control.ordered("random", seed):
            assert step() == first


@pytest.mark.emulated
@pytest.mark.cached
def test_a_step_neither_copies_nor_waits_nor_allocates():
    image = numbers((2, 3, 8, 8), "float32", 1).to("cuda").requires_grad_()
    grid = numbers((2, 9, 9, 2), "float32", 2).to("cuda").requires_grad_()

    def step():
        F.grid_sample(image, grid, align_corners=False).square().sum().backward()
        image.grad = grid.grad = None

    step()
    step()
    before = control.counts()
    step()
    spent = control.spent(before)
    for what in ("allocations", "synchronizations", "copies_in", "copies_out"):
        assert not spent.get(what), spent
