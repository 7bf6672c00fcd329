"""Convolutions against their definition, over random options; what torch refuses is refused."""

import itertools
import random

import numpy as np
import pytest

import autograd_cy as ag


def defined(x, w, bias, stride, padding, dilation, transposed, output_padding, groups):
    """The sum, tap by tap, in the widest type of its kind."""
    dims = w.ndim - 2
    if transposed:
        size = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1 + o
            for n, s, p, d, k, o in zip(
                x.shape[2:], stride, padding, dilation, w.shape[2:], output_padding
            )
        ]
        y = np.zeros((x.shape[0], w.shape[1] * groups, *size), x.dtype)
    else:
        size = [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, s, p, d, k in zip(x.shape[2:], stride, padding, dilation, w.shape[2:])
        ]
        y = np.zeros((x.shape[0], w.shape[0], *size), x.dtype)
    # One of the two is read at `places`, the other one at places * stride - padding + tap.
    small, large = (x, y) if transposed else (y, x)
    inside, outside = w.shape[0] // groups, w.shape[1]
    for tap in itertools.product(*map(range, w.shape[2:])):
        for place in itertools.product(*map(range, small.shape[2:])):
            at = [p * s - m + q * d for p, s, m, q, d in zip(place, stride, padding, tap, dilation)]
            if any(not 0 <= a < n for a, n in zip(at, large.shape[2:])):
                continue
            for g in range(groups):
                rows = slice(g * inside, (g + 1) * inside)
                columns = slice(g * outside, (g + 1) * outside)
                taps = w[(rows, slice(None), *tap)]
                if transposed:
                    y[(slice(None), columns, *at)] += x[(slice(None), rows, *place)] @ taps
                else:
                    y[(slice(None), rows, *place)] += x[(slice(None), columns, *at)] @ taps.T
    if bias is not None:
        y += bias.reshape(-1, *(1,) * dims)
    return y


TOLERANCES = {"float64": 1e-10, "float32": 1e-4, "float16": 2e-2, "bfloat16": 8e-2}
TOLERANCES |= {"complex64": 1e-4, "complex128": 1e-10, "int64": 0, "int32": 0, "uint8": 0}


def numbers(rng, shape, name):
    if name.startswith(("int", "uint")):
        return rng.integers(0 if name[0] == "u" else -4, 5, shape)
    values = rng.standard_normal(shape)
    if name.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape)
    return values


def options(choose, dims, transposed):
    stride = tuple(choose.choice((1, 1, 2, 3)) for _ in range(dims))
    padding = tuple(choose.choice((0, 1, 2)) for _ in range(dims))
    dilation = tuple(choose.choice((1, 1, 2, 3)) for _ in range(dims))
    more = tuple(choose.randrange(max(s, d)) if transposed else 0 for s, d in zip(stride, dilation))
    return stride, padding, dilation, transposed, more


def cases(count, seed):
    """Random ones whose results are not empty."""
    choose, rng = random.Random(seed), np.random.default_rng(seed)
    names = list(TOLERANCES)
    while count:
        dims, transposed = choose.choice((1, 2, 2, 3)), choose.random() < 0.4
        name = names[count % len(names)]
        stride, padding, dilation, transposed, more = options(choose, dims, transposed)
        if name in ("int32", "uint8"):
            dilation, transposed, more = (1,) * dims, False, (0,) * dims
        groups, inside, outside = (choose.choice((1, 1, 2, 3)), choose.choice((1, 2, 5)), 0)
        outside = choose.choice((1, 2, 7, 13)) if dims < 3 else 2
        kernel = tuple(choose.choice((1, 2, 3, 4)) for _ in range(dims))
        size = tuple(
            choose.choice((1, 3, 4, 8, 17) if dims < 3 else (2, 3, 5)) for _ in range(dims)
        )
        batch = choose.choice((1, 2, 5))
        reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
        if transposed:
            sizes = [
                (n - 1) * s - 2 * p + r + o
                for n, s, p, r, o in zip(size, stride, padding, reach, more)
            ]
        else:
            sizes = [n + 2 * p - r + 1 for n, p, r in zip(size, padding, reach)]
        if min(sizes) <= 0:
            continue
        shape = (groups * inside, outside) if transposed else (groups * outside, inside)
        x = numbers(rng, (batch, groups * inside, *size), name)
        w = numbers(rng, (*shape, *kernel), name)
        bias = numbers(rng, (groups * outside,), name) if choose.random() < 0.6 else None
        yield name, x, w, bias, (stride, padding, dilation, transposed, more, groups)
        count -= 1


def tensor(values, name):
    return None if values is None else ag.tensor(values).to(getattr(ag, name))


def wide(t):
    """The values of a tensor, rounded as its dtype does, as a NumPy array of 64 bits."""
    if t is None:
        return None
    t = t.detach()
    if t.dtype.is_complex:
        return t.to(ag.complex128).numpy()
    return t.to(ag.float64 if t.dtype.is_floating_point else ag.int64).numpy()


def close(found, expected, name):
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    tolerance = TOLERANCES[name] * scale
    assert found.shape == tuple(expected.shape)
    if name == "uint8":
        expected = expected % 256
    np.testing.assert_allclose(wide(found), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("seed", range(3))
def test_convolution_is_its_sum(seed):
    for name, x, w, bias, rest in cases(30, seed):
        t, u, b = tensor(x, name), tensor(w, name), tensor(bias, name)
        expected = defined(wide(t), wide(u), wide(b), *rest)
        close(ag.convolution(t, u, b, *rest), expected, name)


@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_those_of_the_sum(seed):
    """The sum is linear in each argument, so its gradients follow from inner products."""
    rng = np.random.default_rng(seed)
    for name, x, w, bias, rest in cases(30, seed + 10):
        if "int" in name:
            continue
        t, u, b = tensor(x, name), tensor(w, name), tensor(bias, name)
        given = [a.requires_grad_() for a in (t, u, b) if a is not None]
        y = ag.convolution(t, u, b, *rest)
        grad = tensor(numbers(rng, y.shape, name), name)
        found = ag.autograd.grad(y, given, grad)
        values, zero = [wide(t), wide(u), wide(b)], 0.0
        for i, (a, g) in enumerate(zip(given, found)):
            step = wide(tensor(numbers(rng, a.shape, name), name))
            moved = list(values)
            moved[i] = step
            if i < 2:
                moved[2] = None
                change = defined(*moved, *rest)
            else:
                change = np.broadcast_to(step.reshape(-1, *(1,) * (w.ndim - 2)), y.shape)
            expected = np.vdot(wide(grad), change)
            size = np.linalg.norm(wide(grad)) * np.linalg.norm(change) + 1.0
            got = np.vdot(wide(g), step)
            assert abs(got - expected) <= 4 * TOLERANCES[name] * size, (name, i, rest)
            zero += abs(expected)
        assert zero > 0


def test_images_of_any_strides_are_read():
    x = ag.randn(2, 3, 6, 5)
    w = ag.randn(4, 3, 3, 2)
    expected = ag.conv2d(x, w, padding=1, stride=2)
    for other in (
        x.to(memory_format=ag.channels_last),
        x.flip(3).flip(3),
        ag.cat([x, x], 3)[..., :5],
        x.transpose(2, 3).contiguous().transpose(2, 3),
    ):
        assert ag.equal(ag.conv2d(other, w, padding=1, stride=2), expected)
    turned = w.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)
    assert ag.equal(ag.conv2d(x, turned, padding=1, stride=2), expected)
    assert ag.equal(ag.conv2d(x[:1].expand(2, 3, 6, 5), w), ag.conv2d(x[[0, 0]], w))


def test_any_number_of_threads_gives_the_same_bits():
    x = ag.randn(6, 8, 20, 20, requires_grad=True)
    for w, groups in (
        (ag.randn(16, 8, 3, 3), 1),
        (ag.randn(70, 8, 3, 3), 1),
        (ag.randn(8, 1, 3, 3), 8),
        (ag.randn(4, 4, 5, 5), 2),
    ):
        w.requires_grad_()
        results = []
        before = ag.get_num_threads()
        for threads in (1, 2, 3):
            ag.set_num_threads(threads)
            y = ag.conv2d(x, w, padding=1, groups=groups)
            results.append((y, *ag.autograd.grad(y, (x, w), ag.ones_like(y))))
        ag.set_num_threads(before)
        for other in results[1:]:
            assert all(ag.equal(a, b) for a, b in zip(results[0], other))


def test_no_gradient_is_computed_that_nobody_wants():
    x, w = ag.randn(1, 2, 4, 4), ag.randn(3, 2, 3, 3, requires_grad=True)
    y = ag.conv2d(x, w)
    assert type(y.grad_fn).__name__ == "ConvolutionBackward0"
    assert y.grad_fn.next_functions[0][0] is None
    assert [f is not None for f, _ in y.grad_fn.next_functions] == [False, True, False]


def test_images_without_a_batch_are_batches_of_one():
    for dims in (1, 2, 3):
        x, w = ag.randn(2, *(5,) * dims), ag.randn(3, 2, *(2,) * dims)
        conv = getattr(ag, f"conv{dims}d")
        assert ag.equal(conv(x, w), conv(x[None], w)[0])
        back = getattr(ag, f"conv_transpose{dims}d")
        turned = w.transpose(0, 1)
        assert ag.equal(back(x, turned, stride=2), back(x[None], turned, stride=2)[0])


def test_same_padding_keeps_the_size():
    for kernel, dilation in itertools.product(range(1, 6), (1, 2)):
        x, w = ag.randn(1, 2, 9), ag.randn(2, 2, kernel)
        y = ag.conv1d(x, w, padding="same", dilation=dilation)
        total = dilation * (kernel - 1)
        padded = ag.cat([ag.zeros(1, 2, total // 2), x, ag.zeros(1, 2, total - total // 2)], 2)
        assert y.shape == x.shape
        ag.testing.assert_close(y, ag.conv1d(padded, w, dilation=dilation))


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64"])
def test_integers_that_torch_refuses_are_refused(dtype):
    x = ag.ones(1, 1, 4, 4).to(getattr(ag, dtype))
    w = ag.ones(1, 1, 2, 2).to(getattr(ag, dtype))
    if dtype == "int64":
        assert ag.conv_transpose2d(x, w, dilation=2).dtype is ag.int64
        return
    with pytest.raises(NotImplementedError, match="not implemented for"):
        ag.conv_transpose2d(x, w)
    with pytest.raises(NotImplementedError, match="not implemented for"):
        ag.conv2d(x, w, dilation=2)


def test_dtypes_that_differ_are_refused():
    x, w = ag.ones(1, 1, 4), ag.ones(1, 1, 2)
    with pytest.raises(RuntimeError, match=r"\(double\).*\(float\) should be the same"):
        ag.conv1d(x.double(), w)
    with pytest.raises(RuntimeError, match=r"bias type \(double\) should be the same"):
        ag.conv1d(x, w, ag.ones(1).double())


def test_columns_are_the_windows():
    unfold, fold = ag.nn.functional.unfold, ag.nn.functional.fold
    rng = np.random.default_rng(0)
    for kernel, dilation, padding, stride in itertools.product(
        ((2, 3), (1, 1), (3, 2)), ((1, 1), (2, 1)), ((0, 0), (1, 2)), ((1, 1), (2, 3))
    ):
        rest = {"dilation": dilation, "padding": padding, "stride": stride}
        values = rng.standard_normal((2, 3, 6, 7))
        sizes = ((0, 0), (0, 0), *((p, p) for p in padding))
        room = np.pad(values, sizes)
        places = [
            range(0, n - d * (k - 1), s)
            for n, d, k, s in zip(room.shape[2:], dilation, kernel, stride)
        ]
        columns = np.empty((2, 3, *kernel, *map(len, places)))
        back = np.zeros_like(room)
        for i, j in itertools.product(*map(range, kernel)):
            rows = [y + i * dilation[0] for y in places[0]]
            across = [x + j * dilation[1] for x in places[1]]
            columns[:, :, i, j] = room[:, :, rows][..., across]
        for i, j in itertools.product(*map(range, kernel)):
            for (a, y), (b, x) in itertools.product(*map(enumerate, places)):
                at = y + i * dilation[0], x + j * dilation[1]
                back[(slice(None), slice(None), *at)] += columns[:, :, i, j, a, b]
        columns = columns.reshape(2, 3 * kernel[0] * kernel[1], -1)
        back = back[:, :, padding[0] : padding[0] + 6, padding[1] : padding[1] + 7]
        for name in ("float64", "float32", "float16", "bfloat16", "complex128"):
            x = tensor(values, name)
            found = unfold(x, kernel, **rest)
            close(found, columns, name)
            close(fold(found, (6, 7), kernel, **rest), back, name)
            assert ag.equal(unfold(x[0], kernel, **rest), found[0])
            assert ag.equal(
                fold(found[0], (6, 7), kernel, **rest), fold(found, (6, 7), kernel, **rest)[0]
            )
        truth = ag.tensor(values) > 0
        assert ag.equal(unfold(truth, kernel, **rest), unfold(truth.float(), kernel, **rest) > 0)
        ones = unfold(truth, kernel, **rest)
        expected = fold(ones.float(), (6, 7), kernel, **rest) > 0
        assert ag.equal(fold(ones, (6, 7), kernel, **rest), expected)


def test_columns_of_integers_are_refused():
    with pytest.raises(NotImplementedError, match="not implemented for"):
        ag.nn.functional.unfold(ag.ones(1, 1, 2, 2).long(), 1)
    with pytest.raises(NotImplementedError, match="not implemented for"):
        ag.nn.functional.fold(ag.ones(1, 1, 4).long(), 2, 1)


@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16", "complex64"])
def test_weights_that_fill_the_cache_are_used_in_stretches(name):
    """Many rows of many taps, with vectors that are gathered (4 wide) and that are not."""
    rng = np.random.default_rng(0)
    for size, transposed, stride in ((6, False, 1), (18, False, 1), (4, True, 1), (4, True, 2)):
        x = tensor(rng.standard_normal((2, 128 if not transposed else 400, size, size)), name)
        shape = (400, 128, 3, 3) if not transposed else (400, 256, 3, 3)
        w = tensor(rng.standard_normal(shape) / 30, name)
        bias = tensor(rng.standard_normal(400 if not transposed else 256), name)
        rest = ((stride, stride), (0, 0), (1, 1), transposed, (0, 0), 1)
        a, taps = wide(x), wide(w)
        expected = np.zeros((2, bias.shape[0], *(2 * (stride * (size - 1) + 3,))), a.dtype)
        if not transposed:
            expected = expected[:, :, : size - 2, : size - 2]
        for i, j in itertools.product(range(3), range(3)):
            if transposed:
                ends = slice(i, i + stride * size, stride), slice(j, j + stride * size, stride)
                products = np.tensordot(a, taps[:, :, i, j], (1, 0))
                expected[(slice(None), slice(None), *ends)] += products.transpose(0, 3, 1, 2)
            else:
                windows = a[:, :, i : i + size - 2, j : j + size - 2]
                products = np.tensordot(windows, taps[:, :, i, j], (1, 1))
                expected += products.transpose(0, 3, 1, 2)
        expected += wide(bias).reshape(-1, 1, 1)
        close(ag.convolution(x, w, bias, *rest), expected, name)


@pytest.mark.parametrize(
    "wrong", [(), (0,), (1,), (3, 3), (1, 1, 2, 3), (2, 1, 3, 3), (1, 1, 1, 3, 3)]
)
@pytest.mark.parametrize("transposed", [False, True])
def test_a_convolution_refuses_other_shapes_than_those_it_saved(wrong, transposed):
    convolve = ag.conv_transpose2d if transposed else ag.conv2d
    x = ag.ones(1, 1, 5, 6, requires_grad=True)
    weight = ag.ones(1, 1, 3, 3, requires_grad=True)
    with ag.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t.new_zeros(wrong)):
        y = convolve(x, weight)
    for leaf in (x, weight):
        with pytest.raises(RuntimeError, match="has to give back what was saved"):
            ag.autograd.grad(y.sum(), leaf, retain_graph=True)


def test_an_image_that_is_smaller_than_the_window_was_not_the_one_saved():
    x = ag.ones(1, 1, 5, 6, requires_grad=True)
    weight = ag.ones(1, 1, 4, 4, requires_grad=True)
    with ag.autograd.graph.saved_tensors_hooks(
        lambda t: t, lambda t: t[:, :, :3] if t.shape == x.shape else t
    ):
        y = ag.conv2d(x, weight, stride=3)  # one place, as (3 - 4) / 3 + 1 in integers
    assert y.shape == (1, 1, 1, 1)
    with pytest.raises(RuntimeError, match="has to give back what was saved"):
        y.sum().backward()
