"""Ways that one call in a thousand goes: ragged sequences, long steps, nothing, shared memory.

Each was a way on which a changed line went unnoticed; the siblings stand beside it.
"""

import ctypes

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy import func, nn, optim
from autograd_cy.nn import functional as F

inf, nan = float("inf"), float("nan")
rng = np.random.default_rng(0)

# --- losses of nothing ----------------------------------------------------------------------------

nothing, none, ones = ag.zeros(0, 3), ag.zeros(0, dtype=ag.int64), ag.ones(0)
LOSSES = {
    "multi_margin_loss": ((nothing, none), 0.0),
    "multilabel_margin_loss": ((nothing, ag.zeros(0, 3, dtype=ag.int64)), 0.0),
    "cross_entropy": ((nothing, none), nan),
    "nll_loss": ((nothing, none), nan),
    "mse_loss": ((nothing, nothing), nan),
    "l1_loss": ((nothing, nothing), nan),
    "smooth_l1_loss": ((nothing, nothing), nan),
    "huber_loss": ((nothing, nothing), nan),
    "binary_cross_entropy": ((nothing, nothing), nan),
    "binary_cross_entropy_with_logits": ((nothing, nothing), nan),
    "kl_div": ((nothing, nothing), nan),
    "poisson_nll_loss": ((nothing, nothing), nan),
    "soft_margin_loss": ((nothing, nothing), nan),
    "hinge_embedding_loss": ((nothing, nothing), nan),
    "margin_ranking_loss": ((ones, ones, ones), nan),
    "triplet_margin_loss": ((nothing, nothing, nothing), nan),
    "cosine_embedding_loss": ((nothing, nothing, ones), nan),
    "multilabel_soft_margin_loss": ((nothing, nothing), nan),
}


@each("name", LOSSES)
@pytest.mark.filterwarnings("ignore")
def test_losses_of_no_example(name):
    args, mean = LOSSES[name]
    function = getattr(F, name)
    assert function(*args, reduction="none").numel() == 0
    for reduction, want in (("mean", mean), ("sum", 0.0)):
        found = function(*args, reduction=reduction)
        assert found.shape == ()
        np.testing.assert_equal(found.item(), want)


# --- convolutions with steps beyond their reach ---------------------------------------------------


def convolved(x, w, stride, dilation, padding, groups):
    """By NumPy's windows, group by group."""
    x = np.pad(x, [(0, 0), (0, 0)] + [(padding, padding)] * (x.ndim - 2))
    reach = [(k - 1) * dilation + 1 for k in w.shape[2:]]
    axes = tuple(range(2, x.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(x, reach, axis=axes)
    each_step = (slice(None), slice(None)) + (slice(None, None, stride),) * len(axes)
    windows = windows[each_step + (slice(None, None, dilation),) * len(axes)]
    n, m = x.shape[1] // groups, w.shape[0] // groups
    letters = "xy"[: len(axes)], "kl"[: len(axes)]
    rule = f"nc{letters[0]}{letters[1]},oc{letters[1]}->no{letters[0]}"
    return np.concatenate(
        [
            np.einsum(rule, windows[:, g * n : (g + 1) * n], w[g * m : (g + 1) * m])
            for g in range(groups)
        ],
        1,
    )


@each(
    "dims,k,dilation,stride,groups",
    [
        (dims, k, dilation, stride, groups)
        for dims, dtype in ((1, "float64"), (2, "float32"))
        for k, dilation in ((1, 1), (3, 1), (3, 2), (4, 3))
        for stride in (1, 2, 5, 8, 11)
        for groups in (1, 2)
    ],
)
def test_convolutions_with_long_steps(dims, k, dilation, stride, groups):
    dtype = np.float32 if dims == 2 else np.float64
    x = rng.standard_normal((2, 4) + (26,) * dims).astype(dtype)
    w = rng.standard_normal((4, 4 // groups) + (k,) * dims).astype(dtype)
    options = {"stride": stride, "dilation": dilation, "padding": 1, "groups": groups}
    leaves = [ag.from_numpy(a.copy()).requires_grad_(True) for a in (x, w)]
    out = getattr(F, f"conv{dims}d")(*leaves, **options)
    want = convolved(x, w, **options)
    close = {"rtol": 1e-3, "atol": 1e-3} if dims == 2 else {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(out.detach().numpy(), want, **close)
    g = rng.standard_normal(want.shape).astype(dtype)
    grads = [t.numpy() for t in ag.autograd.grad(out, leaves, ag.from_numpy(g.copy()))]
    # Linear in either: the gradient is the transposed map.
    other = rng.standard_normal(x.shape).astype(dtype), rng.standard_normal(w.shape).astype(dtype)
    for found, moved, args in ((grads[0], other[0], (other[0], w)), (grads[1], other[1],
                                                                    (x, other[1]))):  # fmt: skip
        np.testing.assert_allclose(
            (found * moved).sum(), (g * convolved(*args, **options)).sum(), rtol=1e-3, atol=1e-2
        )


# --- ragged sequences -----------------------------------------------------------------------------


@each("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("both", [False, True])
def test_ragged_sequences_move_as_each_of_them(kind, both):
    ag.manual_seed(0)
    net = getattr(nn, kind)(3, 4, num_layers=2, bidirectional=both, dtype=ag.float64)
    lengths = [5, 3, 3, 1]
    data = [ag.randn(n, 3, dtype=ag.float64) for n in lengths]
    moved = [ag.randn(n, 3, dtype=ag.float64) for n in lengths]

    def together(*parts):
        packed = nn.utils.rnn.pack_sequence(parts)
        out, last = net(packed)
        out, _ = nn.utils.rnn.pad_packed_sequence(out)
        return (out, *(last if kind == "LSTM" else (last,)))

    def alone(part):
        out, last = net(part[:, None])
        return (out, *(last if kind == "LSTM" else (last,)))

    found = func.jvp(together, tuple(data), tuple(moved))
    for i, n in enumerate(lengths):
        want = func.jvp(alone, (data[i],), (moved[i],))
        for got, one in zip(found, want):  # values, then tangents
            np.testing.assert_allclose(
                got[0][:n, i].detach().numpy(), one[0][:, 0].detach().numpy(), rtol=1e-9
            )
            assert not got[0][n:, i].any()
            for state, other in zip(got[1:], one[1:]):
                np.testing.assert_allclose(
                    state[:, i].detach().numpy(), other[:, 0].detach().numpy(), rtol=1e-9
                )


# --- memory of several owners ---------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 1])
def test_a_step_of_parameters_that_share_memory_goes_one_by_one(first):
    windows = [slice(0, 100), slice(60, 160, 2)][:: 1 - 2 * first]
    numbers = np.arange(200.0)
    memory = ag.from_numpy(numbers.copy())
    params = [memory[window].requires_grad_(True) for window in windows]
    for p in params:
        p.grad = ag.ones_like(p)
    optim.SGD(params, lr=0.5, weight_decay=0.5).step()
    for window in windows:
        numbers[window] -= 0.5 * (1 + 0.5 * numbers[window])
    np.testing.assert_allclose(memory.detach().numpy(), numbers)


@each("name", ["batch_norm", "instance_norm", "group_norm", "layer_norm"])
def test_norms_of_windows_of_one_channel(name):
    call = {
        "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
        "instance_norm": F.instance_norm,
        "group_norm": lambda x: F.group_norm(x, 1),
        "layer_norm": lambda x: F.layer_norm(x, x.shape[1:]),
    }[name]
    large = ag.from_numpy(rng.standard_normal((4, 3, 5, 6)))
    for x in (
        large[:, 1:2], large[1:2], large[1:2, 1:2], large[:, :, 2:3], large[::2, :1], large[:, ::2],
        large.permute(0, 2, 3, 1)[:, 1:2], large[:, 1:2].transpose(2, 3),
        large[:1].expand(3, -1, -1, -1),
    ):  # fmt: skip
        leaves = [t.detach().requires_grad_(True) for t in (x, x.contiguous())]
        outs = [call(t) for t in leaves]
        np.testing.assert_allclose(*(t.detach().numpy() for t in outs), rtol=1e-9, atol=1e-12)
        g = ag.from_numpy(rng.standard_normal(tuple(x.shape)))
        grads = [ag.autograd.grad(o, t, g)[0].numpy() for o, t in zip(outs, leaves)]
        np.testing.assert_allclose(*grads, rtol=1e-7, atol=1e-9)


# --- what others read -----------------------------------------------------------------------------


def flags(t, **options):
    """The word of flags in a capsule of DLPack 1.0: 1 is read-only, 2 a copy."""
    capsule = t.__dlpack__(max_version=(1, 0), **options)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.c_uint64.from_address(get(capsule, b"dltensor_versioned") + 24).value


def test_flags_of_capsules():
    frozen = ag.from_numpy(np.frombuffer(bytes(16), dtype=np.float32))
    assert [flags(ag.ones(2)), flags(ag.ones(2), copy=False)] == [0, 0]
    assert [flags(ag.ones(2), copy=True), flags(frozen), flags(frozen, copy=True)] == [2, 1, 2]


class Hook:
    """A callable without a name of its own."""

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, *args):
        return self.answer


@pytest.mark.parametrize("answer", ["a", ag.ones(3), (ag.ones(3),), (ag.ones(3), ag.ones(2))])
@pytest.mark.parametrize("kind", ["tensor", "node", "before the node"])
def test_errors_of_hooks_name_their_class(kind, answer):
    y = ag.ones(2, requires_grad=True) * 2
    add = {
        "tensor": y.register_hook,
        "node": y.grad_fn.register_hook,
        "before the node": y.grad_fn.register_prehook,
    }[kind]
    add(Hook(answer))
    with pytest.raises((TypeError, RuntimeError), match="hook 'Hook'"):
        y.sum().backward()


def test_a_mode_that_is_left_without_being_entered_changes_nothing():
    for mode in (ag.no_grad, ag.enable_grad, ag.inference_mode):
        for outside in (ag.no_grad, ag.enable_grad):
            with outside():
                before = ag.is_grad_enabled()
                mode().__exit__(None, None, None)
                assert ag.is_grad_enabled() == before


def test_complex_logarithms_of_running_sums_with_zeros():
    def sums(*numbers):
        return ag.tensor(numbers).logcumsumexp(0).tolist()

    zero, one = complex(-inf, 0), complex(1, 1)
    assert sums(zero, one) == [zero, one]
    assert sums(one, zero) == [one, one]
    assert sums(zero, zero, one)[1:] == [zero, one]
    assert [x.real for x in sums(complex(-inf, 1), complex(-inf, 2))] == [-inf, -inf]
    found = sums(complex(-inf, nan), complex(1, 0))[1]
    assert np.isnan(found.real) and np.isnan(found.imag)


def test_structures_of_dims_fit_those_of_arguments():
    x = ag.ones(2, 3)
    refused = [
        ("in_dims", lambda: func.vmap(lambda t: t, in_dims=([0],))(x)),
        ("in_dims", lambda: func.vmap(lambda t: t, in_dims=({"a": 0},))([x])),
        ("in_dims", lambda: func.vmap(lambda t: t[0], in_dims=([0, 1],))([x])),
        ("in_dims", lambda: func.vmap(lambda t: t[0], in_dims=((),))([x])),
        ("in_dims", lambda: func.vmap(lambda t: t, in_dims=((),))(x)),
        ("in_dims", lambda: func.vmap(lambda t, u: t, in_dims=(0, ()))(x, x)),
        ("out_dims", lambda: func.vmap(lambda t: (t, t), out_dims=(0, 1, 2))(x)),
        ("out_dims", lambda: func.vmap(lambda t: t, out_dims=(0, 1))(x)),
    ]
    for name, call in refused:
        with pytest.raises(ValueError, match=f"{name} is not compatible with the structure"):
            call()
    assert func.vmap(lambda t: t[0], in_dims=([0, None],))([x, 5]).shape == (2, 3)
    assert func.vmap(lambda t: {"a": t}, out_dims={"a": 1})(x)["a"].shape == (3, 2)
    assert func.vmap(lambda t: (t, t), out_dims=(0, 1))(x)[1].shape == (3, 2)


def test_heads_that_fit_and_that_do_not():
    def attend(q, k, v, **options):
        shapes = ((*shape, 3, 5) for shape in (q, k, v))
        return F.scaled_dot_product_attention(*map(ag.ones, shapes), **options).shape

    assert attend((2, 4), (2, 2), (2, 2), enable_gqa=True) == (2, 4, 3, 5)
    assert attend((2, 4), (2, 2), (2, 4), enable_gqa=True) == (2, 4, 3, 5)
    assert attend((4,), (2,), (2,), enable_gqa=True) == (4, 3, 5)
    assert attend((2, 4), (1, 4), (1, 4)) == (2, 4, 3, 5)
    assert attend((2, 4), (2, 1), (2, 1)) == (2, 4, 3, 5)
    with pytest.raises(RuntimeError, match="must match the size"):
        attend((2, 4), (2, 2), (2, 2))
    with pytest.raises(RuntimeError, match="must divide the number of heads"):
        attend((2, 4), (2, 3), (2, 3), enable_gqa=True)


def test_what_is_repeated_and_how_often():
    x = ag.tensor([1, 2])
    assert x.repeat_interleave(2).tolist() == [1, 1, 2, 2]
    assert x.repeat_interleave(ag.tensor(2)).tolist() == [1, 1, 2, 2]
    assert x.repeat_interleave(ag.tensor([2])).tolist() == [1, 1, 2, 2]
    assert x.repeat_interleave(ag.tensor([0, 3], dtype=ag.int32)).tolist() == [2, 2, 2]
    for wrong in (ag.ones(2, 2, dtype=ag.int64), ag.ones(1, 2, dtype=ag.int64), ag.ones(2)):
        with pytest.raises(RuntimeError, match="repeats"):
            x.repeat_interleave(wrong)
    with pytest.raises(RuntimeError, match="repeats"):
        x.repeat_interleave(ag.tensor([1, 2, 3]))


def test_hooks_of_a_tensor_whose_node_has_others():
    x = ag.ones(2, requires_grad=True)
    for give in (
        lambda node: node.metadata.update(a=1),
        lambda node: node.register_hook(lambda a, b: None),
        lambda node: node.register_prehook(lambda a: None),
    ):
        y = x * 2
        give(y.grad_fn)
        assert y._backward_hooks is None
        handle = y.register_hook(lambda g: g)
        assert len(y._backward_hooks) == 1
        handle.remove()
        assert not y._backward_hooks
    y = x * 2
    y.retain_grad()
    assert y._backward_hooks is None


@each("call", ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d"])
def test_kernels_of_no_element_are_refused(call):
    dims = int(call[-2])
    for shape in {(0,) + (2,) * (dims - 1), (2,) * (dims - 1) + (0,)}:
        with pytest.raises(RuntimeError, match="kernel size should be greater than zero"):
            getattr(F, call)(ag.ones((1, 1) + (3,) * dims), ag.ones((1, 1, *shape)))


def test_copies_by_index_into_a_number():
    for index, source in (([0], [5.0]), ([0], 5.0), (0, 5.0), ([-1], [5.0])):
        found = ag.tensor(1.0).index_copy(0, ag.tensor(index) % 1, ag.tensor(source))
        assert found.shape == () and found.item() == 5.0
    each_one = func.vmap(lambda t, s: t.index_copy(0, ag.tensor([0]), s))
    assert each_one(ag.zeros(2), ag.ones(2, 1)).tolist() == [1.0, 1.0]


@each("dtype", [ag.float16, ag.bfloat16])
def test_norms_of_halves_round_once(dtype):
    x = ag.from_numpy(rng.standard_normal((7, 300)).astype(np.float32)).to(dtype)
    for p in (0, 0.5, 1, 2, 3, inf, -inf):
        for dim in (None, 0, 1, (0, 1)):
            for norm in (ag.norm, ag.linalg.vector_norm):
                assert ag.equal(norm(x, p, dim), norm(x.float(), p, dim).to(dtype)), (p, dim)


# --- memory of a dimension of one, formats of what is resized -------------------------------------


def test_resizing_asks_for_the_format_where_the_shape_stays_and_where_memory_grows():
    last = {"memory_format": ag.channels_last}
    for x, size in ((ag.ones(1, 2, 3, 4), (1, 2, 3, 4)), (ag.empty(0), (1, 2, 3, 4)),
                    (ag.ones(1, 2, 3, 4), (1, 4, 2, 2))):  # fmt: skip
        before = x._version
        assert x.resize_(size, **last) is x
        _, c, h, w = size
        assert (x.shape, x.stride()) == (size, (c * h * w, 1, c * w, c))
        assert x._version == before + 1
    x = ag.ones(2, 3)
    assert (x.resize_(2, 3)._version, x.t().resize_(3, 2).stride()) == (0, (1, 3))


def test_a_dimension_of_one_may_have_any_stride():
    x = ag.arange(6.0).as_strided((1, 2), (3, 1))
    assert x.view(ag.float64).shape == (1, 1)
    assert x.view(ag.float64).view(ag.float32).tolist() == [[0.0, 1.0]]
    with pytest.raises(RuntimeError, match="divisible by 2"):
        ag.arange(6.0).as_strided((2, 2), (3, 1)).view(ag.float64)


class Buffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p),
                ("internal", ctypes.c_void_p)]  # fmt: skip


def buffer_of(x, flags):
    """What an exporter says to a request: sizes and strides, or that it refuses."""
    found = Buffer()
    try:
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(x), ctypes.byref(found), flags)
    except (BufferError, ValueError):
        return "refused"
    try:
        shape = found.shape[: found.ndim] if found.ndim and found.shape else None
        strides = found.strides[: found.ndim] if found.ndim and found.strides else None
        return found.len, found.itemsize, shape, strides, bool(found.format)
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(found))


ND, STRIDES, FORMAT = 8, 0x18, 4
REQUESTS = [
    0,
    FORMAT,
    ND,
    STRIDES,
    STRIDES | 0x20,
    STRIDES | 0x40,
    STRIDES | 0x80,
    STRIDES | FORMAT,
]
WINDOWS = [
    (shape, strides)
    for shape in ((2, 3), (1, 3), (3, 1), (1, 1), (2, 1, 3), (4,), (1,), ())
    for strides in {(3, 1, 5), (1, 2, 2), (1, 3, 1), (7, 1, 3), (1, 5, 2), (6, 3, 1)}
]


def test_buffers_are_given_as_numpy_gives_them():
    memory = ag.arange(64.0)
    for shape, strides in WINDOWS:
        strides = strides[-len(shape) :] if shape else ()
        x = memory.as_strided(shape, strides)
        theirs = np.lib.stride_tricks.as_strided(
            memory.numpy(), shape, tuple(4 * s for s in strides)
        )
        for flags in REQUESTS:
            ours, expected = buffer_of(x, flags), buffer_of(theirs, flags)
            if expected != "refused" and ours != "refused" and expected[3] and 1 in shape:
                # NumPy tidies up the strides of dimensions of one.
                ours, expected = ours[:3], expected[:3]
            assert ours == expected, (shape, strides, flags)


def test_running_products_go_where_out_says():
    for dtype in (ag.float16, ag.float32, ag.float64, ag.int64, ag.complex64):
        for start in (ag.empty(0, dtype=dtype), ag.empty(3, 2, dtype=dtype).t()):
            x = ag.tensor([[2, 3, 4], [1, 5, 6]], dtype=dtype)
            strides, before = start.stride(), start._version
            assert ag.cumprod(x, 1, out=start) is start
            assert start.tolist() == [[2, 6, 24], [1, 5, 30]]
            assert start.stride() == (strides if len(strides) == 2 else (3, 1))
            assert start._version > before


# --- defaults that differ from what most ask for --------------------------------------------------


@pytest.mark.filterwarnings("ignore:Default grid_sample")
def test_grids_are_not_aligned_by_default():
    x, grid = ag.arange(12.0).reshape(1, 1, 3, 4), ag.tensor([[[[-1.0, -0.3], [0.2, 0.9]]]])
    theta, size = ag.tensor([[[1.0, 2, 0], [0, 1, 3]]]), (1, 1, 2, 3)
    for function, args in ((F.grid_sample, (x, grid)), (F.affine_grid, (theta, size))):
        plain = function(*args)
        assert ag.equal(plain, function(*args, align_corners=False))
        assert not ag.equal(plain, function(*args, align_corners=True))


# --- which indices show memory --------------------------------------------------------------------


def test_one_place_is_shown_and_a_list_of_places_is_copied():
    x = ag.arange(12.0).reshape(3, 4)
    numbers = [1, np.int64(1), np.int8(1), np.uint8(1), np.array(1), ag.tensor(1),
               ag.tensor(1, dtype=ag.int32), ag.tensor(-2)]  # fmt: skip
    for i in numbers:
        for y, expected in ((x[i], [4, 5, 6, 7]), (x[:, i][:2], None), (x[i, 1:], [5, 6, 7])):
            assert y._is_view(), i
            assert expected is None or y.tolist() == expected
    for i in ([1], np.array([1]), ag.tensor([1]), True, ag.tensor(True), [True] * 3):
        assert not x[i]._is_view(), i
    x[np.int64(1)][0] = 100.0
    assert x[1, 0].item() == 100.0
