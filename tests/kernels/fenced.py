"""Calls whose operands lie between pages that nobody may touch: test_fenced_memory.py runs it."""

import ctypes
import mmap

import numpy as np

import autograd_cy as ag
from autograd_cy.nn import functional as F

PAGE = mmap.PAGESIZE
protect = ctypes.CDLL(None, use_errno=True).mprotect
rng = np.random.default_rng(0)
blocks = []


def fenced(x, first):
    """Return the numbers right behind a page that nobody may touch (`first`), or in front of
    one."""
    size = x.numel() * x.itemsize
    room = -(-size // PAGE) * PAGE
    block = mmap.mmap(-1, room + 2 * PAGE)
    blocks.append(block)
    start = ctypes.addressof(ctypes.c_char.from_buffer(block))
    for place in (start, start + PAGE + room):
        assert protect(ctypes.c_void_p(place), ctypes.c_size_t(PAGE), 0) == 0
    offset = PAGE if first else PAGE + room - size
    made = ag.from_numpy(np.frombuffer(block, np.uint8, size, offset)).view(x.dtype)
    return made.view(x.shape).copy_(x)


def r(*shape):
    return ag.from_numpy(rng.standard_normal(shape).astype("float32"))


def i(n, *shape):
    return ag.from_numpy(rng.integers(0, n, shape))


FLOATS = (ag.float32, ag.float64, ag.bfloat16, ag.complex64)
REAL = FLOATS[:3]
CALLS = {
    "product": (FLOATS, ag.mm, [(r(m, 13), r(13, n)) for m in (1, 5, 18) for n in (1, 3, 9, 37)]),
    "linear": (FLOATS, F.linear, [(r(5, 11), r(n, 11), r(n)) for n in (1, 7, 35)]),
    "batches": (
        FLOATS,
        ag.bmm,
        [(r(3, m, k), r(3, k, n)) for m, k, n in ((5, 7, 9), (2, 3, 2), (16, 16, 16), (13, 4, 11))],
    ),
    "batches of columns": (
        FLOATS,
        lambda x, y: ag.bmm(x.mT, y.mT),
        [(r(3, k, m), r(3, n, k)) for m, k, n in ((5, 7, 9), (2, 3, 2), (16, 16, 16), (13, 4, 11))],
    ),
    "dot": (FLOATS, ag.vdot, [(r(n), r(n)) for n in (1, 7, 39, 203)]),
    "convolution": (
        FLOATS,
        lambda x, w: F.conv2d(x, w, padding=1),
        [(r(b, 3, s, s + 1), r(o, 3, 3, 3)) for b, s in ((1, 8), (3, 5)) for o in (1, 10, 22, 42)],
    ),
    "steps": (
        FLOATS,
        lambda x, w: F.conv2d(x, w, stride=2, dilation=(2, 1)),
        [(r(2, 5, 9, 8), r(o, 5, 2, 3)) for o in (3, 10, 42)],
    ),
    "groups": (REAL, lambda x, w: F.conv2d(x, w, groups=5), [(r(2, 5, 7, 9), r(5, 1, 3, 3))]),
    "many channels": (
        FLOATS[:1],
        lambda x, w: F.conv2d(x, w, padding=1),
        [(r(2, 35, 9, 11), r(37, 35, 3, 3))],
    ),
    "small images": (
        FLOATS[:1],
        F.conv2d,
        [(r(2, 6, s, s + 1), r(o, 6, 5, 5)) for s in (8, 14) for o in (8, 16, 31)],
    ),
    "transposed": (
        REAL,
        lambda x, w: F.conv_transpose2d(x, w, stride=2),
        [(r(2, 19, 7, 5), r(19, 18, 3, 3))],
    ),
    "largest": (REAL, lambda x: F.max_pool2d(x, 3, 2, 1), [(r(2, 3, 9, 11),)]),
    "largest of a row": (
        REAL,
        lambda x: x * F.max_pool1d(x.detach(), 3, 1, 1),
        [(r(2, 3, n),) for n in (9, 40, 300)],
    ),
    "averages": (REAL, lambda x: F.avg_pool2d(x, 3, 2, 1), [(r(2, 3, 9, 11),)]),
    "places": (
        REAL,
        lambda x: F.avg_pool2d(F.max_pool2d(x.permute(0, 3, 1, 2), 2), 2),
        [(r(2, 9, 7, c),) for c in (1, 5, 19)],
    ),
    "resized": (REAL, lambda x: F.interpolate(x, (7, 13), mode="bilinear"), [(r(2, 3, 9, 11),)]),
    "cubic": (REAL, lambda x: F.interpolate(x, (7, 13), mode="bicubic"), [(r(2, 3, 9, 11),)]),
    "margins": (FLOATS, lambda x: F.pad(x, (1, 2, 3, 0), "reflect"), [(r(2, 3, 5, 7),)]),
    "softmax": (REAL, lambda x: x.softmax(1), [(r(3, n),) for n in (1, 5, 37)] + [(r(3, 7, 5),)]),
    "layer norm": (
        REAL,
        lambda x, w, b: F.layer_norm(x, w.shape, w, b),
        [(r(4, n), r(n), r(n)) for n in (5, 37)],
    ),
    "group norm": (REAL, lambda x, w, b: F.group_norm(x, 3, w, b), [(r(2, 9, 7), r(9), r(9))]),
    "sums": (FLOATS, lambda x: x.sum(0) + x.sum(1).sum(), [(r(n, 2 * n + 1),) for n in (1, 5, 19)]),
    "statistics": (REAL, lambda x: x.var(0).sum() + x.std(1), [(r(5, 11),), (r(19, 39),)]),
    "turned": (FLOATS, lambda x: x.t().contiguous() * 2 + x.t(), [(r(37, 19),), (r(5, 3),)]),
    "elements": (REAL, lambda x, y: (x * y + x.exp()) / (y.abs() + 1), [(r(37), r(37))]),
    "running": (FLOATS, lambda x: x.cumsum(1) + x.cumsum(0), [(r(5, 19),)]),
    "attention": (
        REAL,
        F.scaled_dot_product_attention,
        [(r(2, 3, n, 5), r(2, 3, 7, 5), r(2, 3, 7, 9)) for n in (1, 19)],
    ),
    "rows": (
        FLOATS,
        lambda x: x[ag.tensor([3, 0, 3])] + x.index_select(0, ag.tensor([1, 1, 4])),
        [(r(5, 7),)],
    ),
    "order": (REAL, lambda x: x.sort(1)[0] + x.topk(1)[0], [(r(5, 19),)]),
    "unfold": (REAL, lambda x: F.unfold(x, 3, 1, 1, 2), [(r(2, 3, 7, 9),)]),
    "fold": (REAL, lambda x: F.fold(x, (5, 6), 2), [(r(2, 12, 20),)]),
    "antialias": (
        REAL[:2],
        lambda x: F.interpolate(x, (4, 5), mode="bilinear", antialias=True),
        [(r(2, 3, 9, 11),)],
    ),
    "trilinear": (
        REAL,
        lambda x: F.interpolate(x, (3, 5, 4), mode="trilinear"),
        [(r(1, 2, 4, 3, 5),)],
    ),
    "bilinear last": (
        REAL,
        lambda x: F.interpolate(x.permute(0, 3, 1, 2), (7, 13), mode="bilinear"),
        [(r(2, 9, 11, c),) for c in (1, 2, 5, 19)],
    ),
    **{
        f"grid {mode} {padding}": (
            REAL[:2],
            lambda x, g, m=mode, p=padding: F.grid_sample(x, 2 * g, m, p, False),
            [(r(2, c, 7, 9), r(2, 4, n, 2)) for c, n in ((3, 5), (19, 17))]
            + [(r(1, 3, 4, 3, 5), r(1, 2, 3, 4, 3))] * (mode != "bicubic"),
        )
        for mode in ("bilinear", "nearest", "bicubic")
        for padding in ("zeros", "border", "reflection")
    },
    "lstm cell": (
        REAL[:2],
        lambda x, h, c, w, v: sum(ag.lstm_cell(x, (h, c), w, v)),
        [(r(3, 5), r(3, n), r(3, n), r(4 * n, 5), r(4 * n, n)) for n in (1, 7, 19)],
    ),
    "gru cell": (
        REAL[:2],
        lambda x, h, w, v: ag.gru_cell(x, h, w, v),
        [(r(3, 5), r(3, n), r(3 * n, 5), r(3 * n, n)) for n in (1, 7, 19)],
    ),
    "embedding": (REAL, lambda w: F.embedding(i(11, 4, 3), w), [(r(11, n),) for n in (1, 5, 19)]),
    "bag": (REAL, lambda w: F.embedding_bag(i(11, 4, 3), w), [(r(11, n),) for n in (1, 5, 19)]),
    "cross entropy": (REAL, lambda x: F.cross_entropy(x, i(7, 5)), [(r(5, 7),)]),
    "mse": (
        REAL,
        lambda x, y: F.mse_loss(x, y) + F.smooth_l1_loss(x, y) + F.l1_loss(x, y),
        [(r(5, n), r(5, n)) for n in (1, 7, 19)],
    ),
    "bce": (REAL[:2], lambda x, y: F.binary_cross_entropy_with_logits(x, y), [(r(5, 7), r(5, 7))]),
    "batch norm": (
        REAL,
        lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
        [(r(3, n, 5), r(n), r(n)) for n in (1, 7)] + [(r(9, n), r(n), r(n)) for n in (1, 7, 19)],
    ),
    "norms": (
        REAL[:2],
        lambda x: ag.linalg.vector_norm(x, 2, 1) + x.norm(1, 1),
        [(r(5, n),) for n in (1, 7, 19)],
    ),
    "max": (
        REAL,
        lambda x: x.max(1)[0] + x.amax(1) + x.min(1)[0],
        [(r(5, n),) for n in (1, 7, 19)] + [(r(5, 7, 3),)],
    ),
    "prod": (REAL[:2], lambda x: x.prod(1) + x.cumprod(1).sum(1), [(r(5, n),) for n in (1, 7, 19)]),
    "logsumexp": (
        REAL[:2],
        lambda x: x.logsumexp(1) + x.log_softmax(1).sum(1),
        [(r(5, n),) for n in (1, 7, 19)],
    ),
    "cat": (FLOATS, lambda x, y: ag.cat((x, y, x), 1), [(r(5, n), r(5, 3)) for n in (1, 7, 19)]),
    "stack": (FLOATS, lambda x, y: ag.stack((x, y), 1), [(r(5, n), r(5, n)) for n in (1, 7, 19)]),
    "flip": (FLOATS, lambda x: x.flip(1) + x.roll(1, 0), [(r(5, n),) for n in (1, 7, 19)]),
    "where": (
        REAL,
        lambda x, y: ag.where(x > y, x, y) + x.clamp(-1, 1),
        [(r(5, n), r(5, n)) for n in (1, 7, 19)],
    ),
    "activations": (
        REAL,
        lambda x: (
            F.gelu(x)
            + F.silu(x)
            + x.tanh()
            + x.sigmoid()
            + F.elu(x)
            + F.softplus(x)
            + F.hardswish(x)
        ),
        [(r(n),) for n in (1, 7, 19, 35)],
    ),
    "special": (
        REAL[:2],
        lambda x: (
            x.erf()
            + x.lgamma()
            + x.sin()
            + x.cos()
            + x.atan()
            + (x.abs() + 1).log()
            + x.abs().sqrt()
        ),
        [(r(n),) for n in (1, 7, 19, 35)],
    ),
    "pow": (
        REAL[:2],
        lambda x, y: (x.abs() + 1) ** y + ag.atan2(x, y),
        [(r(n), r(n)) for n in (1, 7, 19, 35)],
    ),
    "conv1d": (
        FLOATS,
        lambda x, w: F.conv1d(x, w, padding=2),
        [(r(2, 3, 17), r(o, 3, 5)) for o in (1, 6, 11)],
    ),
    "conv3d": (
        REAL,
        lambda x, w: F.conv3d(x, w, padding=1),
        [(r(1, 2, 4, 5, 6), r(o, 2, 3, 3, 3)) for o in (1, 6, 11)],
    ),
    "one": (
        REAL,
        lambda x, w: F.conv2d(x.permute(0, 3, 1, 2), w),
        [(r(2, 5, 6, 9), r(o, 9, 1, 1)) for o in (1, 7, 19)],
    ),
    "scatter": (
        REAL,
        lambda x, y: x.scatter_add(1, i(7, 5, 3), y) + x.index_add(0, i(5, 5), x),
        [(r(5, 7), r(5, 3))],
    ),
    "gather": (REAL, lambda x: x.gather(1, i(7, 5, 4)), [(r(5, 7),)]),
    "triangle": (FLOATS, lambda x: x.tril() + x.triu(1) + x.diagonal()[:1], [(r(5, 7),)]),
    "outer": (
        FLOATS,
        lambda x, y: ag.outer(x, y) + ag.einsum("i,j->ij", x, y),
        [(r(n), r(7)) for n in (1, 7, 19)],
    ),
    "mv": (
        FLOATS,
        lambda x, y: ag.mv(x, y),
        [(r(m, n), r(n)) for m in (1, 5, 18) for n in (1, 7, 35)],
    ),
    "cdist": (REAL[:2], lambda x, y: ag.cdist(x, y), [(r(5, n), r(3, n)) for n in (1, 7, 19)]),
    "fft": (REAL[:2], lambda x: ag.fft.fft(x).abs(), [(r(3, n),) for n in (1, 7, 16)]),
    "casts": (
        FLOATS,
        lambda x: x.double().float() if not x.is_complex() else x.to(ag.complex128),
        [(r(n),) for n in (1, 7, 19)],
    ),
    "dropout": (REAL, lambda x: F.dropout(x, 0.0), [(r(n),) for n in (1, 7, 19)]),
    "lerp": (
        REAL[:2],
        lambda x, y: ag.lerp(x, y, 0.3) + ag.addcmul(x, x, y) + ag.addcdiv(x, x, y.abs() + 1),
        [(r(n), r(n)) for n in (1, 7, 19)],
    ),
    "prelu": (REAL[:2], lambda x, w: F.prelu(x, w), [(r(2, 3, 5), r(3))]),
    "glu": (REAL, lambda x: F.glu(x), [(r(3, 14),)]),
    "ctc": (
        REAL[:2],
        lambda x: F.ctc_loss(x.log_softmax(2), i(4, 2, 3) + 1, (7, 7), (3, 2)),
        [(r(7, 2, 6),)],
    ),
    "bilinear": (REAL[:2], lambda x, y, w: F.bilinear(x, y, w), [(r(3, 5), r(3, 4), r(2, 5, 4))]),
    "lppool": (REAL[:2], lambda x: F.lp_pool2d(x.abs() + 1, 2, 2), [(r(2, 3, 7, 9),)]),
    "adaptive": (
        REAL,
        lambda x: F.adaptive_avg_pool2d(x, (3, 4)) + F.adaptive_max_pool2d(x, (3, 4)),
        [(r(2, 3, 7, 9),)],
    ),
    "pool3d": (REAL, lambda x: F.max_pool3d(x, 2) + F.avg_pool3d(x, 2), [(r(1, 2, 4, 5, 7),)]),
    "median": (REAL, lambda x: x.median(1)[0] + x.kthvalue(2, 1)[0], [(r(5, n),) for n in (7, 19)]),
    "normalize": (REAL[:2], lambda x: F.normalize(x), [(r(5, 7),)]),
    "shuffle": (FLOATS, lambda x: F.pixel_shuffle(x, 2), [(r(2, 8, 3, 5),)]),
    "circular": (
        FLOATS,
        lambda x: F.pad(x, (2, 1, 1, 2), "circular") if not x.is_complex() else x * 1,
        [(r(2, 3, 5, 7),)],
    ),
    "rnn": (
        REAL[:2],
        lambda x, h, *w: ag.rnn_tanh(x, h, list(w), True, 1, 0.0, False, False, False)[0],
        [(r(4, 3, 5), r(1, 3, n), r(n, 5), r(n, n), r(n), r(n)) for n in (1, 7, 19)],
    ),
    "lstm": (
        REAL[:2],
        lambda x, h, c, *w: ag.lstm(x, (h, c), list(w), True, 1, 0.0, False, False, False)[0],
        [
            (r(4, 3, 5), r(1, 3, n), r(1, 3, n), r(4 * n, 5), r(4 * n, n), r(4 * n), r(4 * n))
            for n in (1, 7, 19)
        ],
    ),
}


def results(function, operands, place):
    global rng
    rng = np.random.default_rng(1)
    operands = [place(x).requires_grad_() for x in operands]
    y = function(*operands)
    weight = place(ag.ones_like(y).contiguous() * 0.5 + ag.arange(y.numel()).view(y.shape) % 3)
    return [t.detach() for t in (y, *ag.autograd.grad(y, operands, weight))]


for name, (dtypes, function, shapes) in CALLS.items():
    for dtype in dtypes:
        print(name, dtype, flush=True)
        for operands in shapes:
            operands = [x.to(dtype) for x in operands]
            wanted = results(function, operands, ag.clone)
            for first in (False, True):
                found = results(function, operands, lambda x: fenced(x.detach(), first))
                for a, b in zip(found, wanted, strict=True):
                    ag.testing.assert_close(a, b, equal_nan=True)
print("done")
