"""Convolutions with one channel in each group, whose rows are computed as they lie."""

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy.nn import functional as F

WIDTHS = (4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 64, 65, 70, 130)


def by_taps(x, w, bias, stride, padding, dilation):
    """One channel of images (n, c, h, w) by one filter (c, kh, kw) each, in float64."""
    x = np.pad(x.astype(float), ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2))
    kh, kw = w.shape[1:]
    high = (x.shape[2] - (kh - 1) * dilation - 1) // stride + 1
    wide = (x.shape[3] - (kw - 1) * dilation - 1) // stride + 1
    y = np.zeros((*x.shape[:2], high, wide)) + bias[:, None, None]
    for i in range(kh):
        for j in range(kw):
            rows = slice(i * dilation, i * dilation + (high - 1) * stride + 1, stride)
            cols = slice(j * dilation, j * dilation + (wide - 1) * stride + 1, stride)
            y += x[:, :, rows, cols] * w[:, i, j, None, None]
    return y


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(
    ("stride", "padding", "dilation"), [(1, 1, 1), (2, 1, 1), (1, 0, 2), (3, 2, 1), (2, 3, 2)]
)
def test_rows_of_any_width(stride, padding, dilation, dtype):
    rng = np.random.default_rng(stride)
    bits = {"float32": 24, "float64": 53, "bfloat16": 8}[dtype]
    for width in WIDTHS:
        high = 5 + width % 4
        x = rng.normal(size=(3, 4, high, width))
        w, bias = rng.normal(size=(4, 3, 3)), rng.normal(size=4)
        x, w, bias = (torch.tensor(a).to(getattr(torch, dtype)) for a in (x, w, bias))
        if min(high, width) + 2 * padding < 2 * dilation + 1:
            continue
        y = F.conv2d(x, w[:, None], bias, stride, padding, dilation, groups=4)
        x, w, bias = (a.double().numpy() for a in (x, w, bias))
        expected = by_taps(x, w, bias, stride, padding, dilation)
        assert y.shape == expected.shape
        np.testing.assert_allclose(y.double().numpy(), expected, atol=40 * 2.0**-bits, rtol=0)


@pytest.mark.parametrize("stride", [1, 2])
def test_gradients_of_images_of_any_width(stride):
    rng = np.random.default_rng(7)
    for width in WIDTHS:
        x = torch.tensor(rng.normal(size=(2, 3, 6, width)), requires_grad=True)
        w = torch.tensor(rng.normal(size=(3, 1, 3, 3)), requires_grad=True)
        y = F.conv2d(x, w, None, stride, 1, groups=3)
        seed = rng.normal(size=tuple(y.shape))
        y.backward(torch.tensor(seed))
        # The gradient is linear: <seed, conv(d)> = <grad, d> for any d.
        d = rng.normal(size=tuple(x.shape))
        moved = by_taps(d, w.detach().numpy()[:, 0], np.zeros(3), stride, 1, 1)
        np.testing.assert_allclose((x.grad.numpy() * d).sum(), (seed * moved).sum(), rtol=1e-9)
        e = rng.normal(size=(3, 3, 3))
        moved = by_taps(x.detach().numpy(), e, np.zeros(3), stride, 1, 1)
        np.testing.assert_allclose(
            (w.grad.numpy()[:, 0] * e).sum(), (seed * moved).sum(), rtol=1e-9
        )


def test_volumes_and_one_channel_of_many():
    rng = np.random.default_rng(3)
    x = torch.tensor(rng.normal(size=(2, 2, 4, 5, 21)))
    w = torch.tensor(rng.normal(size=(2, 1, 2, 3, 3)))
    y = F.conv3d(x, w, groups=2)
    expected = (
        sum(
            by_taps(
                x.numpy()[:, :, i : i + 3].transpose(0, 2, 1, 3, 4).reshape(6, 2, 5, 21),
                w.numpy()[:, 0, i],
                np.zeros(2),
                1,
                0,
                1,
            )
            for i in range(2)
        )
        .reshape(2, 3, 2, 3, 19)
        .transpose(0, 2, 1, 3, 4)
    )
    np.testing.assert_allclose(y.numpy(), expected, atol=1e-13)
    # One filter over seven channels is a row, too, of more taps.
    x, w = torch.tensor(rng.normal(size=(3, 7, 6, 40))), torch.tensor(rng.normal(size=(1, 7, 3, 3)))
    y = F.conv2d(x, w, padding=1)
    parts = by_taps(x.numpy(), w.numpy()[0], np.zeros(7), 1, 1, 1)
    np.testing.assert_allclose(y.numpy()[:, 0], parts.sum(1), atol=1e-13)


def test_images_and_threads_change_no_bit():
    rng = np.random.default_rng(5)
    x = torch.tensor(rng.normal(size=(9, 8, 33, 33)), dtype=torch.float32)
    w = torch.tensor(rng.normal(size=(8, 1, 3, 3)), dtype=torch.float32)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        whole = F.conv2d(x, w, padding=1, groups=8).numpy()
        for i in range(9):
            one = F.conv2d(x[i : i + 1], w, padding=1, groups=8).numpy()
            np.testing.assert_array_equal(one[0], whole[i])
        torch.set_num_threads(3)
        np.testing.assert_array_equal(F.conv2d(x, w, padding=1, groups=8).numpy(), whole)
    finally:
        torch.set_num_threads(before)
