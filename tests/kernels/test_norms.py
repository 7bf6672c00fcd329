"""Kernels of normalisation: any number of threads, any sizes of blocks, memory of any kind."""

import numpy as np
import pytest

import autograd_cy as ag

F = ag.nn.functional
CALLS = {
    "rows": lambda x: F.layer_norm(x, x.shape[-1:]),
    "root mean square": lambda x: F.rms_norm(x, x.shape[-1:]),
    "groups": lambda x: F.group_norm(x, 4),
    "channels": lambda x: F.batch_norm(x, None, None, training=True),
    "channels together": lambda x: F.batch_norm(
        x.to(memory_format=ag.channels_last), None, None, training=True
    ),
}


def result(call, x):
    x = x.clone().requires_grad_()
    y = call(x)
    y.backward(ag.cos(y.detach() * 3 + x.detach()))
    return y.detach(), x.grad


@pytest.mark.parametrize("name", CALLS)
def test_results_are_the_same_for_any_number_of_threads(name):
    x = ag.randn(16, 32, 40, 41)
    before = ag.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            ag.set_num_threads(threads)
            found.append(result(CALLS[name], x))
    finally:
        ag.set_num_threads(before)
    for other in found[1:]:
        assert all(ag.equal(a, b) for a, b in zip(found[0], other))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 31, 33, 255, 1023, 1024, 1025, 2100])
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_rows_of_any_length(size, dtype):
    x = ag.randn(5, size, dtype=dtype) * 3 + 1
    exact = x.double().numpy()
    scaled = exact - exact.mean(1, keepdims=True)
    scaled = scaled / np.sqrt(exact.var(1, keepdims=True) + 1e-5)
    y, g = result(lambda x: F.layer_norm(x, (size,)), x)
    close = 1e-5 if dtype == ag.float32 else 1e-12
    np.testing.assert_allclose(y.numpy(), scaled, rtol=0, atol=close * 10)
    up = np.cos(scaled * 3 + exact)
    r = 1 / np.sqrt(exact.var(1, keepdims=True) + 1e-5)
    back = up - up.mean(1, keepdims=True) - scaled * (up * scaled).mean(1, keepdims=True)
    np.testing.assert_allclose(g.numpy(), back * r, rtol=0, atol=close * 40 * r.max())


@pytest.mark.parametrize("channels", [1, 3, 64, 255, 256, 257, 600])
@pytest.mark.parametrize("rows", [2, 63, 64, 65, 200])
def test_columns_of_any_number(channels, rows):
    x = ag.randn(rows, channels, dtype=ag.float64) * 2 + 5
    exact = x.numpy()
    y = F.batch_norm(x, None, None, training=True)
    expected = (exact - exact.mean(0)) / np.sqrt(exact.var(0) + 1e-5)
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-10, atol=1e-10)


def test_strided_memory_is_read_as_it_is_meant():
    x = ag.randn(6, 8, 10, dtype=ag.float64)
    for t in (x[::2], x.transpose(0, 2), x[:, :, ::3], x.expand(6, 8, 10)):
        dense = t.contiguous()
        for name in ("rows", "root mean square", "channels"):
            assert ag.equal(CALLS[name](t), CALLS[name](dense)), name
        wide = ag.ones(8, 2, dtype=ag.float64)[:, 0]
        if t.shape[1] == 8:
            y = F.batch_norm(t, None, None, wide, wide, training=True)
            assert ag.equal(y, F.batch_norm(dense, None, None, wide, wide, training=True))


@pytest.mark.parametrize("shape", [(0, 4, 5), (3, 4, 0), (0, 4)])
def test_nothing_to_normalise(shape):
    x = ag.zeros(shape, requires_grad=True)
    w = ag.ones(4, requires_grad=True)
    mean, var = ag.zeros(4), ag.ones(4)
    for y in (F.batch_norm(x, mean, var, w, training=True), F.group_norm(x, 2, w)):
        assert y.shape == x.shape
        y.sum().backward()
        assert x.grad.shape == x.shape and w.grad.tolist() == [0.0] * 4
        w.grad = None
    assert mean.tolist() == [0.0] * 4 and var.tolist() == [1.0] * 4
    if shape[-1]:
        y = F.layer_norm(x, shape[-1:])
        assert y.shape == x.shape


def test_not_a_number_stays_in_its_row_or_channel():
    x = ag.randn(4, 6, 5)
    x[1, 2, 3] = float("nan")
    rows = F.layer_norm(x, (5,)).isnan().any(-1)
    assert rows.sum().item() == 1 and rows[1, 2].item()
    channels = F.batch_norm(x, None, None, training=True).isnan().any(-1).any(0)
    assert channels.tolist() == [c == 2 for c in range(6)]
    together = x.movedim(1, -1).contiguous().movedim(-1, 1)
    assert F.batch_norm(together, None, None, training=True).isnan().any(-1).any(0).tolist() == [
        c == 2 for c in range(6)
    ]


def test_running_statistics_in_place_are_seen_by_autograd():
    x, mean, var = ag.randn(5, 3, requires_grad=True), ag.zeros(3), ag.ones(3)
    before = F.batch_norm(x, mean, var)  # takes no part in what follows
    kept = (mean * x).sum()
    F.batch_norm(x, mean, var, training=True)
    assert (mean._version, var._version) == (1, 1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        kept.backward()
    before.sum().backward()
    with pytest.raises(RuntimeError, match="'running_mean' is not implemented"):
        F.batch_norm(x, ag.zeros(3, requires_grad=True), var, training=True)


def test_vmap_refuses_statistics_that_examples_share():
    x = ag.randn(4, 5, 3)
    with pytest.raises(RuntimeError, match="all examples share"):
        ag.vmap(lambda x: F.batch_norm(x, ag.zeros(3), ag.ones(3), training=True))(x)
    means = ag.zeros(4, 3)
    ag.vmap(lambda x, m, v: F.batch_norm(x, m, v, training=True))(x, means, ag.ones(4, 3))
    np.testing.assert_allclose(means.numpy(), 0.1 * x.mean(1).numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["rows", "root mean square", "groups", "channels"])
def test_derivatives_of_higher_orders(name):
    x = ag.randn(3, 4, 6, dtype=ag.float64, requires_grad=True)
    call = CALLS[name]
    ag.autograd.gradcheck(call, (x,))
    ag.autograd.gradgradcheck(call, (x,))

    def gradient(x):
        (g,) = ag.autograd.grad(call(x).pow(3).sum(), x, create_graph=True)
        (h,) = ag.autograd.grad(g.pow(2).sum(), x, create_graph=True)
        return h

    ag.autograd.gradcheck(gradient, (x,), rtol=1e-3, atol=1e-4)
