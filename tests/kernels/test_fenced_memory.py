"""Kernels read and write nothing beside their operands, whose memory is fenced by pages of none."""

import sys

import pytest
from programs import run

PROGRAM = """
import ctypes, mmap
import numpy as np
import autograd_cy as ag
from autograd_cy.nn import functional as F

PAGE = mmap.PAGESIZE
protect = ctypes.CDLL(None, use_errno=True).mprotect
rng = np.random.default_rng(0)
blocks = []

def fenced(x, first):
    "The same numbers, right behind a page that nobody may touch (`first`), or in front of one."
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
    "batches": (FLOATS, ag.bmm, [(r(3, 5, 7), r(3, 7, 9))]),
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
        FLOATS[:1], lambda x, w: F.conv2d(x, w, padding=1), [(r(2, 35, 9, 11), r(37, 35, 3, 3))]
    ),
    "transposed": (
        REAL, lambda x, w: F.conv_transpose2d(x, w, stride=2), [(r(2, 19, 7, 5), r(19, 18, 3, 3))]
    ),
    "largest": (REAL, lambda x: F.max_pool2d(x, 3, 2, 1), [(r(2, 3, 9, 11),)]),
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
    "group norm": (
        REAL, lambda x, w, b: F.group_norm(x, 3, w, b), [(r(2, 9, 7), r(9), r(9))]
    ),
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
    "rows": (FLOATS, lambda x: x[ag.tensor([3, 0, 3])] + x.index_select(0, ag.tensor([1, 1, 4])),
             [(r(5, 7),)]),
    "order": (REAL, lambda x: x.sort(1)[0] + x.topk(1)[0], [(r(5, 19),)]),
}

def results(function, operands, place):
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
                    ag.testing.assert_close(a, b)
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mprotect is called by ctypes")
def test_nothing_is_touched_beside_operands():
    done = run("-c", PROGRAM)
    said = done.stdout.splitlines()
    assert said and said[-1] == "done", (done.returncode, said[-1:], done.stderr[-2000:])
