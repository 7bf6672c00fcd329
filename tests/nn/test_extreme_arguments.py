"""Options and values at the ends of what numbers can be: the usual answer, or an error."""

from __future__ import annotations

import math

import pytest

import autograd_cy as torch

F = torch.nn.functional
HUGE = (2**31, 2**40, 2**62, 2**63 - 1)


def _grads(make, *tensors):
    result = make()
    return [result.detach(), *torch.autograd.grad(result.sum(), tensors)]


@pytest.mark.parametrize("stride", HUGE)
def test_a_stride_that_is_never_taken(stride):
    """One window only: any stride means the same, and no loop goes over all of its steps."""
    x, w = (torch.randn(*s, requires_grad=True) for s in ((1, 2, 3, 3), (2, 2, 3, 3)))
    for make in (
        lambda step: F.conv2d(x, w, stride=step, padding=1)[:, :, :1, :1],
        lambda step: F.conv_transpose2d(x[:, :, :1, :1], w, stride=min(step, 2**40)),
    ):
        for got, expected in zip(
            _grads(lambda: make(stride), x, w), _grads(lambda: make(7), x, w), strict=True
        ):
            assert torch.equal(got, expected)
    for got, expected in zip(
        _grads(lambda: F.unfold(x, 3, padding=1, stride=stride), x),
        _grads(lambda: F.unfold(x, 3, padding=1, stride=7), x),
        strict=True,
    ):
        assert torch.equal(got, expected)


@pytest.mark.parametrize("n", [2**62, 2**63 - 1])
def test_sizes_beyond_arithmetic_are_refused(n):
    """Sums that would wrap around give an error, not a small result or memory that isn't there."""
    x, w = torch.ones(1, 2, 6, 6), torch.ones(2, 2, 3, 3)
    calls = {
        "conv dilation": lambda: F.conv2d(x, w, dilation=n),
        "conv padding": lambda: F.conv2d(x, w, padding=n),
        "transposed stride": lambda: F.conv_transpose2d(x, w, stride=n),
        "transposed padding": lambda: F.conv_transpose2d(x, w, padding=n),
        "transposed dilation": lambda: F.conv_transpose2d(x, w, dilation=n),
        "output padding": lambda: F.conv_transpose2d(x, w, stride=n, output_padding=n - 1),
        "unfold padding": lambda: F.unfold(x, 3, padding=n),
        "unfold dilation": lambda: F.unfold(x, 3, dilation=n),
        "unfold kernel": lambda: F.unfold(x, n),
        "fold size": lambda: F.fold(torch.ones(1, 18, 16), n, 3),
        "fold padding": lambda: F.fold(torch.ones(1, 18, 16), 6, 3, padding=n),
        "pad": lambda: F.pad(x, (n, n)),
        "replicate": lambda: F.pad(x, (n, n), mode="replicate"),
        "max_pool kernel": lambda: F.max_pool2d(x, n),
        "max_pool dilation": lambda: F.max_pool2d(x, 2, dilation=n),
        "max_pool padding": lambda: F.max_pool2d(x, 2, padding=n),
        "avg_pool stride": lambda: F.avg_pool2d(x, 2, stride=n),
        "avg_pool kernel": lambda: F.avg_pool3d(x, n),
        "response": lambda: F.local_response_norm(x, n),
    }
    for name, call in calls.items():
        with pytest.raises(RuntimeError):
            raise AssertionError(f"{name}: {call().shape}")


def test_wide_response_goes_over_channels_alone():
    x = torch.randn(1, 3, 2, 2)
    size = 2**31 - 1
    expected = x / (x.square().sum(1, keepdim=True) * (2.0 / size) + 1)
    assert torch.allclose(F.local_response_norm(x, size, alpha=2.0, beta=1.0), expected)


def test_batch_norm_takes_both_statistics_or_none():
    x, one = torch.randn(4, 3), torch.ones(3)
    for mean, variance in ((one, None), (None, one)):
        with pytest.raises(ValueError, match="both be None or neither"):
            F.batch_norm(x, mean, variance, training=True)
        with pytest.raises(ValueError, match="both be None or neither"):
            F.instance_norm(x[:, :, None].expand(4, 3, 2), mean, variance)
    for eps in (0, -1.0):
        with pytest.raises(ValueError, match="eps must be positive"):
            F.batch_norm(x, None, None, training=True, eps=eps)
    assert torch.equal(one, torch.ones(3))


def test_grids_of_nan_and_infinity():
    """Such points give NaN where zeros are around, else the first element."""
    x = torch.arange(1.0, 7).reshape(1, 1, 2, 3)
    nan = torch.full((1, 1, 1, 2), math.nan)
    assert F.grid_sample(x, nan, align_corners=False).isnan().all()
    for mode in ("bilinear", "nearest"):
        for padding in ("border", "reflection"):
            assert F.grid_sample(x, nan, mode, padding, False).item() == 1.0
        infinite = torch.full((1, 1, 1, 2), math.inf)
        assert F.grid_sample(x, infinite, mode, "reflection", False).item() == 1.0
        assert F.grid_sample(x, infinite, mode, "border", False).item() == 6.0


@pytest.mark.parametrize("shape", [(2, 1, 4, 3), (2, 3, 4, 3), (1, 2, 3, 2, 4)])
def test_sampled_images_lie_as_images_do(shape):
    grid = torch.zeros(shape[0], *(2,) * (len(shape) - 2), len(shape) - 2)
    found = F.grid_sample(torch.ones(shape), grid, align_corners=False)
    assert found.is_contiguous()
    assert found.view(-1).tolist() == [1.0] * found.numel()


def test_distances_with_exponents_that_float32_lacks():
    a, b = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.5, 0.25]])
    assert torch.cdist(a, b, p=1e300).tolist() == [[4.0, 0.5]]
    assert torch.pdist(torch.cat((a, b)), p=1e300)[:2].tolist() == [4.0, 0.5]


def test_lstm_without_states_is_refused():
    params = [torch.ones(16, 3), torch.ones(16, 4), torch.ones(16), torch.ones(16)]
    end = (params, True, 1, 0.0, False, False)
    for empty in ((), []):
        with pytest.raises(RuntimeError, match="two hidden states"):
            torch.lstm(torch.ones(5, 2, 3), empty, *end, False)
        with pytest.raises(RuntimeError, match="two hidden states"):
            torch.lstm(torch.ones(8, 3), torch.tensor([2, 2, 2, 2]), empty, *end)
