"""Normalisation beside torch: values, gradients, running statistics, layouts, halves."""

import numpy as np
import pytest

import autograd_cy as ag

torch = pytest.importorskip("torch")

SHAPES = [(8, 5), (6, 5, 9), (3, 6, 7, 4), (2, 4, 3, 5, 2), (1, 6, 2100), (130, 3), (70, 300)]
TOLERANCE = {"float32": 3e-5, "float64": 1e-11, "float16": 4e-3, "bfloat16": 3e-2}


def both(array, dtype="float32", grad=True, last=False):
    """Return the values in both libraries; `last`: with channels last in memory."""
    theirs = torch.tensor(array).to(getattr(torch, dtype))
    ours = ag.tensor(array).to(getattr(ag, dtype))
    if last and theirs.ndim > 2:
        theirs = theirs.movedim(1, -1).contiguous().movedim(-1, 1)
        ours = ours.movedim(1, -1).contiguous().movedim(-1, 1)
    if grad:
        theirs, ours = theirs.detach().requires_grad_(), ours.detach().requires_grad_()
    return ours, theirs


def near(ours, theirs, tolerance):
    theirs = theirs.detach().double().numpy()
    ours = ours.detach().double().numpy()
    size = max(np.abs(theirs).max(initial=0), 1.0)
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * size)


def compare(call, arrays, dtype="float32", last=False, factor=1.0, seed=0):
    """Values and gradients of ``call(library, *tensors)``; returns the results."""
    pairs = [None if a is None else both(a, dtype, last=last) for a in arrays]
    ours = call(ag, *[None if p is None else p[0] for p in pairs])
    theirs = call(torch, *[None if p is None else p[1] for p in pairs])
    tolerance = TOLERANCE[dtype] * factor
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
    near(ours, theirs, tolerance)
    g = np.random.default_rng(seed + 7).standard_normal(theirs.shape)
    mine, their = both(g, dtype, grad=False)
    ours.backward(mine)
    theirs.backward(their)
    for p in pairs:
        if p is not None:
            assert tuple(p[0].grad.shape) == tuple(p[1].grad.shape)
            near(p[0].grad, p[1].grad, tolerance * 8)
    return ours, theirs


def numbers(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [None if s is None else rng.standard_normal(s) * 1.5 + 0.5 for s in shapes]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_batch_norm(shape, last, dtype):
    c = shape[1]
    for affine in (True, False):
        x, w, b = numbers(shape, (c,), (c,))
        compare(
            lambda lib, x, w, b: lib.nn.functional.batch_norm(
                x, None, None, w, b, training=True, eps=1e-3
            ),
            (x, w if affine else None, b if affine else None),
            dtype,
            last,
        )
        mean, var = np.linspace(-1, 1, c), np.linspace(0.5, 2, c)
        compare(
            lambda lib, x, w, b: lib.nn.functional.batch_norm(
                x, lib.tensor(mean).to(x.dtype), lib.tensor(var).to(x.dtype), w, b
            ),
            (x, w if affine else None, b if affine else None),
            dtype,
            last,
        )


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_running_statistics(shape, last):
    (x,) = numbers(shape)
    ours, theirs = both(x, "float64", last=last)
    kept = []
    for lib, t in ((ag, ours), (torch, theirs)):
        mean = lib.zeros(shape[1], dtype=lib.float64)
        var = lib.ones(2 * shape[1], dtype=lib.float64)[::2]
        for _ in range(2):
            lib.nn.functional.batch_norm(t, mean, var, training=True, momentum=0.3)
        assert lib is torch or mean._version == var._version == 2
        kept.append((mean, var))
    for mine, their in zip(*kept):
        near(mine, their, 1e-12)


def test_layouts_are_kept():
    x = ag.randn(2, 3, 4, 5).to(memory_format=ag.channels_last).requires_grad_()
    y = ag.nn.functional.batch_norm(x, None, None, training=True)
    assert y.stride() == x.stride()
    y.backward(ag.ones_like(y))
    assert x.grad.stride() == x.stride()
    z = ag.nn.functional.batch_norm(x.transpose(2, 3), None, None, training=True)
    near(z, torch.tensor(y.detach().numpy()).transpose(2, 3), 1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("last", [False, True])
def test_half_types_have_statistics_in_float32(dtype, last):
    x, w, b = numbers((4, 6, 5, 3), (6,), (6,))
    ours, theirs = both(x, dtype, last=last)
    done = []
    for lib, t in ((ag, ours), (torch, theirs)):
        weight, bias = lib.tensor(w).float().requires_grad_(), lib.tensor(b).float()
        mean, var = lib.zeros(6), lib.ones(6)
        y = lib.nn.functional.batch_norm(t, mean, var, weight, bias, training=True)
        y.float().pow(2).sum().backward()
        done.append((y, mean, var, weight.grad, t.grad))
    for k, (mine, their) in enumerate(zip(*done)):
        near(mine, their, TOLERANCE[dtype] * (8 if k > 2 else 1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("shape", "rows"),
    [((8, 5), 1), ((3, 4, 6), 2), ((2, 3, 700), 1), ((300, 33), 1), ((7,), 1), ((2, 5000), 1)],
)
def test_rows(shape, rows, dtype):
    own = shape[len(shape) - rows :]
    x, w, b = numbers(shape, own, own)
    for weight, bias in ((w, b), (w, None), (None, b), (None, None)):
        compare(
            lambda lib, x, w, b: lib.nn.functional.layer_norm(x, own, w, b, eps=1e-4),
            (x, weight, bias),
            dtype,
        )
    for weight in (w, None):
        compare(lambda lib, x, w: lib.rms_norm(x, own, w, 1e-3), (x, weight), dtype)
        compare(lambda lib, x, w: lib.nn.functional.rms_norm(x, own, w), (x, weight), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("shape", "groups"),
    [((4, 6), 3), ((2, 6, 5), 2), ((3, 8, 7, 6), 4), ((2, 4, 40, 50), 1), ((5, 4, 1), 2)],
)
def test_groups(shape, groups, dtype):
    c = shape[1]
    x, w, b = numbers(shape, (c,), (c,))
    for weight, bias in ((w, b), (w, None), (None, None)):  # torch fails with a bias alone
        compare(
            lambda lib, x, w, b: lib.nn.functional.group_norm(x, groups, w, b),
            (x, weight, bias),
            dtype,
        )


@pytest.mark.parametrize("shape", [(2, 3, 8), (3, 4, 5, 6), (2, 2, 3, 4, 5)])
def test_instances(shape):
    c = shape[1]
    x, w, b = numbers(shape, (c,), (c,))
    compare(lambda lib, x, w, b: lib.nn.functional.instance_norm(x, None, None, w, b), (x, w, b))
    compare(lambda lib, x: lib.nn.functional.instance_norm(x), (x,))
    done = []
    for lib in (ag, torch):
        mean, var = lib.zeros(c, dtype=lib.float64), lib.ones(c, dtype=lib.float64)
        lib.nn.functional.instance_norm(lib.tensor(x), mean, var, momentum=0.3)
        y = lib.nn.functional.instance_norm(lib.tensor(x), mean, var, use_input_stats=False)
        done.append((mean, var, y))
    for mine, their in zip(*done):
        near(mine, their, 1e-10)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rows_and_groups_of_half_types(dtype):
    x, w, b, v, u = numbers((3, 6, 20), (20,), (20,), (6,), (6,))
    compare(lambda lib, x, w, b: lib.nn.functional.layer_norm(x, (20,), w, b), (x, w, b), dtype)
    compare(lambda lib, x, w: lib.rms_norm(x, (20,), w), (x, w), dtype)
    compare(
        lambda lib, x, w, b: lib.nn.functional.group_norm(x, 3, w, b), (x, v, u), dtype, factor=2
    )


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 9])
def test_local_response(size):
    (x,) = numbers((2, 5, 3, 2))
    compare(
        lambda lib, x: lib.nn.functional.local_response_norm(x, size, 0.3, 0.6, 1.5),
        (x,),
        "float64",
    )


@pytest.mark.parametrize(
    ("p", "dim"), [(2.0, 1), (1.0, 0), (3, -1), (2, (0, 2)), (float("inf"), 1)]
)
def test_normalize(p, dim):
    (x,) = numbers((3, 4, 5))
    compare(lambda lib, x: lib.nn.functional.normalize(x, p, dim), (x,), "float64")


def test_large_means_do_not_cancel():
    x = np.random.default_rng(0).standard_normal((64, 3, 50)) + 3000.0
    for array in (x, np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)):
        t = ag.tensor(array).float()
        exact = np.array(t.double().numpy())
        for y, axes in (
            (ag.nn.functional.batch_norm(t, None, None, training=True), (0, 2)),
            (ag.nn.functional.layer_norm(t, (50,)), (2,)),
        ):
            scaled = (exact - exact.mean(axes, keepdims=True)) / np.sqrt(
                exact.var(axes, keepdims=True) + 1e-5
            )
            assert np.abs(y.numpy() - scaled).max() < 2e-3


@pytest.mark.parametrize(
    "call",
    [
        lambda F, lib: F.batch_norm(lib.ones(1, 3), None, None, training=True),
        lambda F, lib: F.batch_norm(lib.ones(2, 3), None, None),
        lambda F, lib: F.batch_norm(lib.ones(2, 3), lib.ones(2), lib.ones(3)),
        lambda F, lib: F.group_norm(lib.ones(1, 4), 4),
        lambda F, lib: F.group_norm(lib.ones(2, 4), 3),
        lambda F, lib: F.group_norm(lib.ones(4), 2),
        lambda F, lib: F.instance_norm(lib.ones(2, 3, 1)),
        lambda F, lib: F.instance_norm(lib.ones(2, 3, 2), use_input_stats=False),
        lambda F, lib: F.layer_norm(lib.ones(2, 3), (2,)),
        lambda F, lib: F.layer_norm(lib.ones(2, 3), (3,), lib.ones(2)),
        lambda F, lib: F.layer_norm(lib.ones(2, 3), ()),
        lambda F, lib: F.layer_norm(lib.ones(2, 3), 3),
        lambda F, lib: F.rms_norm(lib.ones(2, 3), (2,)),
        lambda F, lib: F.local_response_norm(lib.ones(2, 3), 2),
        lambda F, lib: F.layer_norm(lib.ones(2, 3), (3,), lib.ones(3, dtype=lib.float64)),
    ],
)
def test_what_is_refused(call):
    with pytest.raises((RuntimeError, ValueError, TypeError)) as theirs:
        call(torch.nn.functional, torch)
    with pytest.raises(theirs.type):
        call(ag.nn.functional, ag)


def names_of(y):
    return y.grad_fn.name(), [
        f.name() if f is not None else None for f, _ in y.grad_fn.next_functions
    ]


@pytest.mark.parametrize(
    "call",
    [
        lambda F, x, w: F.batch_norm(x, None, None, w, None, True),
        lambda F, x, w: F.group_norm(x, 3, w),
        lambda F, x, w: F.layer_norm(x, x.shape[1:]),
        lambda F, x, w: F.instance_norm(x),
        lambda F, x, w: F.normalize(x),
    ],
)
def test_nodes_have_the_names_of_torch(call):
    found = []
    for lib in (ag, torch):
        x = lib.ones(4, 6, 5, requires_grad=True)
        found.append(names_of(call(lib.nn.functional, x, lib.ones(6, requires_grad=True))))
    assert found[0] == found[1]


# The order of dimensions in memory, from the outside.
ORDERS = {
    2: [(0, 1), (1, 0)],
    4: [(0, 1, 2, 3), (0, 2, 3, 1), (0, 3, 1, 2), (2, 0, 1, 3), (0, 2, 1, 3)],
    5: [(0, 1, 2, 3, 4), (0, 2, 3, 4, 1)],
}
LAID_OUT = [
    (shape, order)
    for shape in (
        (2, 4, 3, 5), (2, 1, 3, 5), (2, 4, 1, 5), (2, 4, 3, 1), (2, 4, 1, 1), (1, 4, 3, 5),
        (2, 4, 2, 3, 2), (2, 4, 1, 2, 1), (2, 4),
    )
    for order in ORDERS[len(shape)]
]  # fmt: skip


def results_of(library, shape, order):
    """Strides of what isn't of one element, and values, after each kind of normalization."""
    functional, channels = library.nn.functional, shape[1]
    memory = library.arange(float(np.prod(shape))).reshape([shape[d] for d in order])
    x = memory.permute([order.index(d) for d in range(len(shape))])
    zeros, ones = library.zeros(channels), library.ones(channels)
    for y in (
        functional.batch_norm(x, None, None, training=True),
        functional.batch_norm(x, zeros, ones),
        functional.batch_norm(x, zeros, ones, ones, zeros, training=True),
        functional.group_norm(x, 1),
        functional.group_norm(x, 2 if channels > 1 else 1, ones, zeros),
    ):
        yield [step for size, step in zip(shape, y.stride()) if size > 1], y.numpy()


def test_results_lie_in_memory_as_in_torch():
    for shape, order in LAID_OUT:
        pairs = zip(results_of(ag, shape, order), results_of(torch, shape, order), strict=True)
        for i, ((ours, y), (theirs, expected)) in enumerate(pairs):
            assert ours == theirs, (shape, order, i)
            np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 2, 2)])
def test_gradients_by_known_statistics_do_not_see_the_input(shape):
    x = ag.full(shape, float("nan"))
    x[0] = float("inf")
    for last in (False, True):
        a = x.movedim(1, -1).contiguous().movedim(-1, 1) if last else x.clone()
        a.requires_grad_()
        ag.nn.functional.batch_norm(a, ag.zeros(3), ag.ones(3), eps=0.0).sum().backward()
        assert ag.equal(a.grad, ag.ones(shape))
