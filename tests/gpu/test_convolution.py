"""Convolutions on a GPU, with their gradients, against float64 on the CPU."""

import itertools

import numpy as np
import pytest
from emulator import control
from reducing import FLOATS, bits, close, numbers, wide

import autograd_cy as torch
from autograd_cy._C import cuda_blas, cuda_convolution
from autograd_cy.nn import functional as F

LAST = {4: torch.channels_last, 5: torch.channels_last_3d}


@pytest.fixture
def own_products():
    cuda_blas.choose(False)
    yield
    cuda_blas.choose(True)


# dimensions: (sizes of images, of kernels)
SIZES = {1: ((9,), (3,)), 2: ((7, 6), (3, 2)), 3: ((4, 5, 3), (2, 3, 1))}


@pytest.fixture(params=["all at once", "in parts"])
def memory(request):
    """Columns of all images fit into memory, or of few places of one."""
    before = cuda_convolution._set_most_columns(400 if request.param == "in parts" else 64 << 20)
    yield
    cuda_convolution._set_most_columns(before)


def call(x, weight, bias, rank, transposed, options):
    name = f"conv{'_transpose' * transposed}{rank}d"
    return getattr(F, name)(x, weight, bias, **options)


def gradients(device, dtype, tensors, grad, together, *arguments):
    """The result, and the gradients of tensors."""
    leaves = [t if t is None else t.to(device).to(dtype) for t in tensors]
    if together:
        leaves[:2] = [t.to(memory_format=LAST[t.ndim]) for t in leaves[:2]]
    leaves = [t if t is None else t.detach().requires_grad_() for t in leaves]
    result = call(*leaves, *arguments)
    grad = numbers(result.shape, "float64", 9) if grad is None else grad
    given = grad.to(device).to(dtype)
    result.backward(given.to(memory_format=LAST[given.ndim]) if together else given)
    return grad, [result, *(t.grad for t in leaves if t is not None)]


def agree(x, weight, bias, rank, transposed, together=False, grad=None, **options):
    """Compare with float64, by the sums of absolute values."""
    dtype, name = x.dtype, str(x.dtype).removeprefix("torch.").removeprefix("autograd_cy.")
    tensors, arguments = (x, weight, bias), (rank, transposed, options)
    grad, exact = gradients("cpu", torch.float64, tensors, None, False, *arguments)
    grad = grad.to(dtype).double()
    exact = gradients("cpu", torch.float64, tensors, grad, False, *arguments)[1]
    sizes = [t if t is None else t.abs() for t in tensors]
    scale = gradients("cpu", torch.float64, sizes, grad.abs(), False, *arguments)[1]
    found = gradients("cuda", dtype, tensors, grad, together, *arguments)[1]
    for mine, expected, size in zip(found, exact, scale, strict=True):
        assert mine.dtype == dtype and mine.device.type == "cuda"
        # Sums in float32 or float64 of any order, rounded once.
        close(mine, wide(expected), wide(size), name, error=2)
    if together and rank > 1:
        assert all(t.is_contiguous(memory_format=LAST[t.ndim]) for t in found[:2])


WINDOWS = list(itertools.product((1, 2, 3), (0, 2), (1, 2)))  # stride, padding, dilation


@pytest.mark.parametrize(("stride", "padding", "dilation"), WINDOWS)
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("rank", SIZES)
def test_windows(memory, rank, transposed, groups, stride, padding, dilation):
    size, kernel = SIZES[rank]
    if not transposed and any(
        n + 2 * padding < dilation * (k - 1) + 1 for n, k in zip(size, kernel, strict=True)
    ):
        pytest.skip("the kernel is larger than the image")
    if transposed and any(
        (n - 1) * stride - 2 * padding + dilation * (k - 1) < 0
        for n, k in zip(size, kernel, strict=True)
    ):
        pytest.skip("nothing is left")
    x = numbers((3, 4, *size), "float64", 1)
    weight = numbers(((4, 8 // groups) if transposed else (8, 4 // groups)) + kernel, "float64", 2)
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    bias = numbers((8,), "float64", 3) if stride == 2 else None
    for together in (False, True)[: 1 + (rank > 1)]:
        agree(x, weight, bias, rank, transposed, together, **options)


# name: (channels, results, size, kernel, options)
SHAPES = {
    "one result": (5, 1, (6, 7), (3, 3), {}),
    "one channel": (1, 4, (6, 7), (3, 3), {"padding": 1}),
    "one place": (6, 5, (3, 3), (3, 3), {}),
    "windows of one element": (6, 5, (4, 9), (1, 1), {}),
    "windows of one element, apart": (6, 5, (5, 9), (1, 1), {"stride": 2}),
    "windows of one element, padded": (6, 5, (4, 4), (1, 1), {"padding": 1}),
    "a step that nobody takes": (2, 3, (3, 3), (3, 3), {"stride": 1 << 40}),
    "whole words of channels": (16, 8, (5, 5), (3, 3), {"padding": 1}),
    "more than a tile": (9, 70, (12, 13), (3, 3), {}),
    "many groups of few": (48, 48, (4, 4), (3, 3), {"groups": 16, "padding": 1}),
    "depthwise": (40, 40, (9, 8), (3, 3), {"groups": 40, "padding": 1}),
    "depthwise with a step": (5, 10, (9, 8), (3, 5), {"groups": 5, "stride": 2, "padding": 2}),
    "depthwise, many results each": (2, 20, (6, 5), (3, 3), {"groups": 2}),
    "patches": (3, 7, (12, 12), (6, 6), {"stride": 6}),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
def test_shapes_and_dtypes(memory, shape, dtype, together, transposed):
    channels, results, size, kernel, options = SHAPES[shape]
    groups = options.get("groups", 1)
    of_weight = (channels, results // groups) if transposed else (results, channels // groups)
    if transposed and options.get("stride", 1) > 100:
        pytest.skip("a result of that size")
    x = numbers((2, channels, *size), dtype, 1)
    weight, bias = numbers(of_weight + kernel, dtype, 2), numbers((results,), dtype, 3)
    agree(x, weight, bias, 2, transposed, together, **options)


@pytest.mark.parametrize("shape", ["many groups of few", "patches", "more than a tile"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_without_cublas(memory, shape, dtype, own_products):
    channels, results, size, kernel, options = SHAPES[shape]
    x = numbers((2, channels, *size), dtype, 1)
    weight = numbers((results, channels // options.get("groups", 1), *kernel), dtype, 2)
    agree(x, weight, None, 2, False, **options)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "complex64", "complex128"])
@pytest.mark.parametrize("groups", [1, 4])
def test_other_numbers(dtype, groups):
    x, weight = numbers((2, 4, 6, 5), dtype, 1), numbers((4, 4 // groups, 3, 2), dtype, 2)
    found, exact = (
        F.conv2d(x.to(device), weight.to(device), padding=1, groups=groups)
        for device in ("cuda", "cpu")
    )
    np.testing.assert_allclose(wide(found), wide(exact), rtol=1e-5, atol=1e-5)


VIEWS = {
    "transposed": lambda x: x.transpose(2, 3),
    "gaps": lambda x: x[:, :, ::2, 1:],
    "some channels": lambda x: x[:, 1:5],
    "expanded": lambda x: x[:1].expand(3, -1, -1, -1),
    "batch inside": lambda x: x.permute(1, 0, 2, 3)[:, :6],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kernel", [1, 3])
def test_strides(view, kernel):
    x = numbers((6, 6, 8, 8), "float32", 1)
    found, exact = [], []
    for device, dtype, to in (("cuda", torch.float32, found), ("cpu", torch.float64, exact)):
        leaf = x.to(device).to(dtype).requires_grad_()
        seen = VIEWS[view](leaf)
        weight = numbers((3, seen.shape[1], kernel, kernel), "float32", 2).to(device).to(dtype)
        weight.requires_grad_()
        result = F.conv2d(seen, weight)
        grad = numbers(result.shape[:2] + result.shape[:1:-1], "float32", 3).to(device).to(dtype)
        result.backward(grad.transpose(2, 3))
        to += [result, leaf.grad, weight.grad]
    for mine, expected in zip(found, exact, strict=True):
        close(mine, wide(expected), 200, "float32")


@pytest.mark.parametrize("shape", [(0, 2, 5, 5), (2, 0, 5, 5)])
def test_of_nothing(shape):
    x = torch.empty(shape, device="cuda", requires_grad=True)
    weight = torch.ones(3, shape[1], 3, 3, device="cuda", requires_grad=True)
    bias = torch.ones(3, device="cuda", requires_grad=True)
    result = F.conv2d(x, weight, bias)
    result.sum().backward()
    assert (result == 1).all() and x.grad.shape == shape
    assert not weight.grad.any() and bias.grad.tolist() == [9.0 * shape[0]] * 3


def test_columns_are_those_of_the_cpu():
    for dtype in ("bool", *FLOATS, "complex64"):
        x = numbers((2, 3, 7, 6), dtype, 1)
        options = {"kernel_size": (3, 2), "dilation": (1, 2), "padding": (2, 1), "stride": (2, 1)}
        columns = F.unfold(x.to("cuda").transpose(2, 3), **options)
        exact = F.unfold(x.transpose(2, 3), **options)
        assert bits(columns) == bits(exact)
        images = F.fold(columns, (6, 7), **options)
        close(images, wide(F.fold(exact, (6, 7), **options)), 12, dtype.replace("bool", "float64"))


@pytest.mark.parametrize("groups", [1, 32])
def test_the_same_bits_in_any_order_of_threads(groups):
    x = numbers((2, 32, 17, 19), "float32", 1).to("cuda")
    weight = numbers((32, 32 // groups, 3, 3), "float32", 2).to("cuda")

    def step():
        leaf, own = x.clone().requires_grad_(), weight.clone().requires_grad_()
        result = F.conv2d(leaf, own, stride=2, groups=groups)
        result.square().sum().backward()
        return bits(result.detach()), bits(leaf.grad), bits(own.grad)

    first = step()
    for seed in range(2):
        with control.ordered("random", seed):
            assert step() == first


def test_many_blocks_share_gradients_of_a_depthwise_weight():
    x, weight = numbers((4, 2, 90, 200), "float32", 1), numbers((2, 1, 1, 3), "float32", 2)
    for together in (False, True):
        agree(x, weight, None, 2, False, together, groups=2)


@pytest.mark.emulated
@pytest.mark.cached
@pytest.mark.parametrize("together", [False, True])
def test_a_step_neither_copies_nor_waits_nor_allocates(together):
    x = numbers((2, 8, 12, 12), "float32", 1).to("cuda")
    net = torch.nn.Sequential(
        torch.nn.Conv2d(8, 16, 3, padding=1),
        torch.nn.Conv2d(16, 16, 3, groups=16),
        torch.nn.Conv2d(16, 8, 1, stride=2),
        torch.nn.ConvTranspose2d(8, 4, 2, stride=2),
        torch.nn.BatchNorm2d(4),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(3, 2, 1),
        torch.nn.Upsample(scale_factor=2, mode="bilinear"),
        torch.nn.AvgPool2d(2),
        torch.nn.GroupNorm(2, 4),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(4, 3),
    ).to("cuda")
    if together:
        net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)

    def step():
        net(x).square().sum().backward()
        net.zero_grad()

    step()
    step()
    before = control.counts()
    step()
    spent = control.spent(before)
    for what in ("allocations", "synchronizations", "copies_in", "copies_out"):
        assert not spent.get(what), spent


@pytest.mark.emulated
def test_channels_last_is_read_as_it_lies():
    x = numbers((2, 8, 6, 6), "float32", 1).to("cuda").to(memory_format=torch.channels_last)
    weight = numbers((4, 8, 1, 1), "float32", 2).to("cuda")
    F.conv2d(x, weight)
    torch.cuda.synchronize()
    with control.traced() as ran:
        F.conv2d(x, weight)
        torch.cuda.synchronize()
    assert len(ran) == 1, ran
