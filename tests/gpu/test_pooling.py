"""Pooling on a GPU, with its gradients, beside the CPU."""

import pytest
from emulator import control
from reducing import FLOATS, INTS, bits, close, numbers, same, wide

import autograd_cy as torch
from autograd_cy.nn import functional as F

LAST = {4: torch.channels_last, 5: torch.channels_last_3d}
SIZES = {1: (11,), 2: (8, 9), 3: (5, 6, 7)}
# kernel, stride, padding, dilation, ceil_mode
WINDOWS = [
    (2, None, 0, 1, False),
    (3, 2, 1, 1, True),
    (3, 1, 1, 2, False),
    (2, 3, 1, 1, True),
    (4, 4, 2, 1, False),
    (1, 2, 0, 5, True),
    (3, 1 << 30, 1, 1, False),
]
ranks = pytest.mark.parametrize("rank", SIZES)


def views(shape, dtype):
    """Tensors on the CPU: in C order, channels last, and with gaps."""
    x = numbers(shape, dtype, 1)
    found = {"C order": x, "gaps": numbers((*shape[:-1], shape[-1] * 2), dtype, 1)[..., ::2]}
    if len(shape) in LAST:
        found["channels last"] = x.to(memory_format=LAST[len(shape)])
    return found


def moved(x):
    """A copy on the GPU with the same strides."""
    if x._base is not None:
        return x._base.to("cuda").as_strided(x.shape, x.stride())
    return x.to("cuda")


def agree(call, x, dtype, error=2):
    """Values, other results and gradients; of float64 where a rounding can differ."""
    found = []
    for leaf, to in ((moved(x), x.dtype), (x, torch.float64)):
        leaf = leaf.to(to).detach().requires_grad_()
        results = call(leaf)
        result, others = results if isinstance(results, tuple) else (results, None)
        grad = numbers(result.shape, dtype, 3).to(to).to(leaf.device)
        if result.dim() in LAST and result.stride()[1] == 1:
            grad = grad.to(memory_format=LAST[result.dim()])
        result.backward(grad)
        found.append((result, leaf.grad, others))
    mine, exact = found
    assert mine[0].stride() == exact[0].stride() and mine[1].stride() == exact[1].stride()
    for k in range(2):
        assert mine[k].dtype == x.dtype and mine[k].device.type == "cuda"
        close(mine[k], wide(exact[k]), 4, dtype, error=error)
    if exact[2] is not None:
        same(mine[2], exact[2])
        assert mine[2].stride() == exact[2].stride()


@ranks
@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_largest(rank, windows, dtype):
    kernel, stride, padding, dilation, ceil = windows
    call = getattr(F, f"max_pool{rank}d")
    for x in views((2, 3, *SIZES[rank]), dtype).values():
        agree(
            lambda x: call(x, kernel, stride, padding, dilation, ceil, return_indices=True),
            x, dtype,
        )  # fmt: skip


@ranks
@pytest.mark.parametrize("windows", [w for w in WINDOWS if w[3] == 1])
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("dtype", FLOATS)
def test_averages(rank, windows, counted, dtype):
    kernel, stride, padding, _, ceil = windows
    padding = min(padding, kernel // 2)
    call = getattr(F, f"avg_pool{rank}d")
    more = [{}] + [{"divisor_override": 5}] * (rank > 1)
    for options in more:
        for x in views((2, 3, *SIZES[rank]), dtype).values():
            agree(
                lambda x, options=options: call(
                    x, kernel, stride, padding, ceil, counted, **options
                ),
                x, dtype,
            )  # fmt: skip


@ranks
@pytest.mark.parametrize("size", [1, 2, 4, 13])
@pytest.mark.parametrize("dtype", FLOATS)
def test_nearly_equal_parts(rank, size, dtype):
    for x in views((2, 3, *SIZES[rank]), dtype).values():
        agree(lambda x: getattr(F, f"adaptive_avg_pool{rank}d")(x, size), x, dtype, error=4)
        agree(
            lambda x: getattr(F, f"adaptive_max_pool{rank}d")(x, size, return_indices=True),
            x, dtype,
        )  # fmt: skip


@pytest.mark.parametrize("dtype", INTS)
def test_whole_numbers(dtype):
    x = numbers((2, 3, 8, 9), dtype, 1)
    found = [F.max_pool2d(t, 3, 2, 1, return_indices=True) for t in (x.to("cuda"), x)]
    same(found[0][0], found[1][0])
    same(found[0][1], found[1][1])
    if dtype == "int64":
        same(F.avg_pool2d(x.to("cuda"), 3, 2, 1), F.avg_pool2d(x, 3, 2, 1))


@pytest.mark.parametrize("norm", [1.0, 2.0, 3.5])
def test_norms_of_windows(norm):
    x = numbers((2, 3, 8, 9), "float32", 1, 0.1, 2)
    agree(lambda x: F.lp_pool2d(x, norm, 3, 2), x, "float32", error=16)


def test_nan_and_equal_elements():
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([[[1.0, 1.0, nan, 2.0, nan, -inf, -inf, -inf, inf, inf]]])
    for stride in (1, 2, 3):
        found = [F.max_pool1d(t, 3, stride, 1, return_indices=True) for t in (x.to("cuda"), x)]
        same(found[0][0], found[1][0])
        same(found[0][1], found[1][1])


def test_values_without_places():
    """Nothing is recorded: what is found is that which is found with places."""
    for dtype in ("float32", "bfloat16", "int32"):
        for x in (numbers((2, 3, 17), dtype, 1), numbers((3, 2, 17), dtype, 2).transpose(0, 1)):
            for form in ((3, 2, 1, 1, False), (2, 2, 0, 3, True), (5, 1, 2, 1, False)):
                y = x.to("cuda")
                with torch.no_grad():
                    same(F.max_pool1d(y, *form), F.max_pool1d(x, *form))
                same(F.max_pool1d(y, *form), F.max_pool1d(y, *form, return_indices=True)[0].cpu())


@pytest.mark.parametrize("shape", [(0, 3, 4, 4), (3, 4, 4)])
def test_few_and_no_images(shape):
    x = numbers(shape, "float32", 1)
    agree(lambda x: F.max_pool2d(x, 2, return_indices=True), x, "float32")
    agree(lambda x: F.avg_pool2d(x, 2), x, "float32")


def test_batches_of_batches():
    x = numbers((2, 3, 4, 6, 7), "float32", 1)
    for y in (x, x.transpose(0, 2)):
        for call in (
            lambda t: F.max_pool2d(t, 3, 2, 1),
            lambda t: F.avg_pool2d(t, 3, 2, 1),
            lambda t: F.adaptive_max_pool2d(t, 2),
        ):

            def gradient(t, call=call):
                return torch.func.grad(lambda t: call(t).square().sum())(t)

            for function in (call, gradient):
                mine, exact = (torch.func.vmap(function)(moved(t) if on else t)
                               for t, on in ((y, True), (y, False)))  # fmt: skip
                close(mine, wide(exact), 8, "float32")


def test_back_to_images():
    x = numbers((2, 3, 8, 9), "float32", 1)
    found = []
    for t in (x.to("cuda"), x):
        values, places = F.max_pool2d(t, 2, return_indices=True)
        found.append(F.max_unpool2d(values, places, 2, output_size=(8, 9)))
    same(*found)


def test_second_derivatives():
    x = numbers((1, 2, 6, 6), "float64", 1).to("cuda").requires_grad_()
    for call in (lambda t: F.max_pool2d(t, 3, 2, 1), lambda t: F.adaptive_avg_pool2d(t, 4)):
        assert torch.autograd.gradcheck(call, (x,))
        assert torch.autograd.gradgradcheck(call, (x,))


def test_the_same_bits_in_any_order_of_threads():
    x = numbers((3, 8, 33, 35), "float32", 1).to("cuda")

    def step():
        leaf = x.clone().requires_grad_()
        result = F.max_pool2d(leaf, 3, 1, 1) + F.avg_pool2d(leaf, 3, 1, 1)
        result.square().sum().backward()
        return bits(result.detach()), bits(leaf.grad)

    first = step()
    for seed in range(2):
        with control.ordered("random", seed):
            assert step() == first


@pytest.mark.emulated
@pytest.mark.parametrize("name", ["max", "avg"])
@pytest.mark.parametrize("together", [False, True])
def test_one_launch_each(name, together):
    x = numbers((2, 4, 8, 8), "float32", 1).to("cuda")
    x = (x.to(memory_format=torch.channels_last) if together else x).requires_grad_()
    call = getattr(F, f"{name}_pool2d")
    grad = torch.zeros_like(call(x, 3, 2, 1))
    call(x, 3, 2, 1).backward(grad)
    x.grad = None
    torch.cuda.synchronize()
    before = control.counts()
    with control.traced() as ran:
        call(x, 3, 2, 1).backward(grad)
        torch.cuda.synchronize()
    assert ran == [f"{name}_pool_f32", f"{name}_pool_backward_f32"]
    assert not control.spent(before).get("copies_out")
