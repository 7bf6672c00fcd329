"""Resources that rare paths take are given back: C's memory, references in cycles, old values."""

import contextlib
import copy
import gc
import pickle
import sys
import tracemalloc
import weakref

import numpy as np
import pytest
from grouping import each
from mallinfo import heap

import autograd_cy as torch
from autograd_cy import autograd
from autograd_cy._C import storage
from autograd_cy._C.launch import capture
from autograd_cy._C.ops_optimizers import _fused_sgd_
from autograd_cy.autograd import forward_ad
from autograd_cy.profiler._session import Session

TIMES = 20
# Bytes that a round must lose to be a leak: less than any object has. Sessions of a profiler keep
# what they have seen in tables that grow now and then.
LEAST = {"sessions": 200 * TIMES}


class Kept(autograd.Function):
    """A result that has a history of its own, which is cut off."""

    @staticmethod
    def forward(ctx, x, other):
        with torch.enable_grad():
            made = other * 2
        ctx.mark_non_differentiable(made)
        return x * 2, made

    @staticmethod
    def backward(ctx, grad, _):
        return grad * 2, None


x = torch.ones(3, requires_grad=True)
y = torch.ones(3)
names = np.ones((2, 3))[:, ::-1]
data = bytearray(range(64))


def grads():
    w = torch.ones(3, requires_grad=True)
    for value in (y * 1, y * 2, None, y * 3):
        w.grad = value
    del w.grad
    w.grad = y * 4


def cycles():
    """Python state that leads back to its owner: only the collector frees it."""
    w = x * 1
    w.grad_fn.metadata["me"] = w.grad_fn
    v = w[:2]
    v.mul_(y[:2])
    w.grad_fn.metadata["me"] = w.grad_fn
    v.grad_fn.metadata["view"] = v
    leaf = torch.ones(2, requires_grad=True)
    leaf.grad = torch.ones(2)
    leaf.me = leaf
    leaf[0].me = leaf
    out = Kept.apply(leaf, x)[0]
    out.grad_fn.me = out
    (leaf * 2).exp().grad_fn.metadata["leaf"] = leaf
    deep = torch.ones((1,) * 7, requires_grad=True) * 2
    deep.me = deep
    w = x * 1
    v = w[:2]
    w.mul_(2)
    w.grad_fn.metadata["view"] = v  # whose own node is made below, with the newer history
    autograd.grad(v.sum(), x)
    gc.collect()


def detached():
    w = x * 1
    v = w[:2]
    w.detach_()
    with contextlib.suppress(RuntimeError):
        v.mul_(x[:2])
        autograd.grad(v.sum(), x)
    (x * 2).detach_()
    autograd.grad(Kept.apply(x, x)[0].sum(), x)


def storages():
    memory = y.untyped_storage()
    again = copy.deepcopy([memory, memory])
    assert again[0] is again[1]
    for other in (memory.clone(), pickle.loads(pickle.dumps(memory))):
        assert other.tolist() == memory.tolist()
    copy.deepcopy(torch.empty(3, device="meta").untyped_storage())
    torch.frombuffer(data, dtype=torch.float32, offset=4)
    with contextlib.suppress(ValueError):
        torch.frombuffer(data, dtype=torch.float32, offset=3)


def exchanged():
    for version in (None, (1, 0)):
        y.__dlpack__(max_version=version)  # never taken
        capsule = y.__dlpack__(max_version=version)
        torch.from_dlpack(capsule)
        with contextlib.suppress(Exception):
            torch.from_dlpack(capsule)
    with contextlib.suppress(ValueError):
        torch.from_numpy(names)
    view = memoryview(torch.ones((1, 2) * 4).numpy())
    memoryview(torch.ones(3, 2)).release()
    view.release()


def packed_duals():
    with forward_ad.dual_level():
        d = forward_ad.make_dual(x * 1, y)
        with autograd.graph.saved_tensors_hooks(lambda t: (t, 1), lambda p: p[0]):
            out = (d * d).exp()
        autograd.grad(out.sum(), x)


def orders():
    seen = []
    ask = torch._C._current_graph_task_execution_order
    w = x * 2
    w.register_hook(lambda g: seen.append(len(ask())))
    with autograd.set_multithreading_enabled(False):
        w.exp().sum().backward()
    x.grad = None
    assert seen


def translated():
    for call in (
        lambda: torch.sum(y, axis=0, nosuch=1),
        lambda: y.sum(axis="a"),
        lambda: torch.add(input=y, other=y, nosuch=2),
        lambda: torch.stack([y, 2]),
        lambda: torch.mul(y, other=object()),
        lambda: torch.split(y, split_size=2),
        lambda: y.narrow(start=0),
        lambda: torch.sum(y, dim=[0, "b"]),
    ):
        with contextlib.suppress(TypeError, ValueError, RuntimeError):
            call()


def launches():
    z = torch.zeros(6)
    program = capture(lambda: torch.add(z, z, out=z).mul_(2))
    program.move(z, torch.ones(6))
    program.replay()
    for k in range(len(program)):
        program.operands(k)
    with contextlib.suppress(RuntimeError):
        capture(lambda: torch.rand(3) * 2)


def sessions():
    for options in ({}, {"record_shapes": True, "with_stack": True, "profile_memory": True}):
        session = Session(**options)
        session.start()
        for n in range(1, 40):
            (torch.ones(n, n) * 2 + y.new_ones((n,) + (2,) * (n % 4))[:0].sum()).sum()
        session.stop()


def geometries():
    wide = torch.ones((1, 2) * 4)
    wide.squeeze_().unsqueeze_(0).resize_(2, 2).resize_(1, 1, 1, 1, 1, 1, 4)
    wide.set_(torch.ones((1, 2) * 4))
    wide.data = torch.ones((2, 1) * 4)
    with torch.no_grad():
        grown = torch.ones(2)
        grown.resize_((3,) * 6)


def windows():
    pieces = torch.ones(40).split(1), torch.ones(40).unbind(), torch.ones(8, 5).chunk(4, 1)
    with torch.inference_mode():
        return pieces, torch.ones(7, 3).unbind(1), torch.unsafe_split(torch.ones(8), 3)


F = torch.nn.functional
ONES = {shape: torch.ones(shape, requires_grad=True) for shape in [
    (2, 3, 9, 8), (4, 3, 5, 4), (60, 16, 6, 6), (2, 16, 6, 6), (9, 16, 12, 12), (1, 16, 8, 8),
    (17, 16, 3, 3), (1, 90, 7, 5), (261, 90, 3, 3), (1, 340, 4, 4), (340, 70, 3, 3), (2, 2, 60, 8),
    (2, 2, 3, 8), (4, 7, 3), (1, 7, 2), (1, 7, 5), (20, 3), (20, 2), (20, 5), (20,), (2, 5),
    (15, 3), (15, 5), (15,),
]}  # fmt: skip
HALVES = torch.ones(8, 6, dtype=torch.float16)


def layers():
    """Sums, tiles and images that kernels keep while they work."""
    a = ONES
    with torch.no_grad():
        F.conv2d(a[1, 90, 7, 5], a[261, 90, 3, 3], stride=2)
        F.conv2d(a[1, 90, 7, 5].double(), a[261, 90, 3, 3].double())
        F.conv_transpose2d(a[1, 340, 4, 4], a[340, 70, 3, 3], stride=2)
    made = [
        F.conv2d(a[2, 3, 9, 8], a[4, 3, 5, 4], padding=2, bias=a[20,][:4]),
        *(F.conv2d(a[n, 16, s, s], a[17, 16, 3, 3], padding=1)
          for n, s in [(60, 6), (2, 6), (9, 12), (1, 8)]),
        *(F.scaled_dot_product_attention(a[2, 2, n, 8], a[2, 2, 60, 8], a[2, 2, 60, 8])
          for n in (3, 60)),
        torch.lstm(
            a[4, 7, 3], (a[1, 7, 2], a[1, 7, 5]),
            [a[20, 3], a[20, 2], a[20,], a[20,] * 1, a[2, 5]], True, 1, 0.0, False, False, False,
        )[0],
        torch.gru(
            a[4, 7, 3], a[1, 7, 5], [a[15, 3], a[15, 5], a[15,], a[15,] * 1], True, 1, 0.0, False,
            False, False,
        )[0],
    ]  # fmt: skip
    autograd.grad(sum(y.sum() for y in made), list(a.values()), allow_unused=True)
    F.fold(HALVES, (3, 4), 2)


def working_memory():
    """Packed operands, parts of long sums, rooms of orders, segments of steps."""
    for dtype in (torch.float64, torch.complex64, torch.float16, torch.int32):
        for m, n, k in ((9, 1, 7), (1, 9, 7), (9, 9, 7), (2, 3, 9000)):
            made = torch.ones(m, k, dtype=dtype) @ torch.ones(n, k, dtype=dtype).t()
            assert made.shape == (m, n)
    x, y = torch.ones(3, 9), torch.ones(9, 2)
    torch.addmm(torch.ones(3, 2, dtype=torch.int8), x[:, :0].to(torch.int8), y[:0].to(torch.int8),
                beta=3)  # fmt: skip
    places = torch.arange(70) % 3
    x[places]
    x.index_put_((places,), x[places])
    for made in (x.sort(), x.topk(2), x.kthvalue(1), x.median(0), torch.isin(x, y)):
        assert made is not None
    p, g, m = torch.ones(7), torch.ones(7), torch.ones(7)
    numbers = {"weight_decay": 0, "momentum": 0.5, "lr": 0.5, "dampening": 0, "nesterov": False}
    for grad in (g, g[:3], torch.ones(14)[::2]):
        with contextlib.suppress(RuntimeError):
            _fused_sgd_([p], [grad], [m], **numbers, maximize=False, is_first_step=False)
    for method in (torch.optim.Adam, torch.optim.NAdam, torch.optim.RMSprop):
        p.grad = g
        method([p]).step()


ACTIONS = {
    f.__name__.replace("_", " "): f
    for f in (
        grads, cycles, detached, storages, exchanged, packed_duals, orders, translated, launches,
        sessions, geometries, windows, layers, working_memory,
    )
}  # fmt: skip


@each("action", [pytest.param(f, id=name) for name, f in ACTIONS.items()], group=str)
def test_all_is_given_back(action):
    """Whatever is kept in lists of free objects is full after some rounds; a leak goes on."""
    least = LEAST.get(action.__name__, 16 * TIMES)
    for _ in range(3):
        action()
    gc.collect()
    blocks, nones = storage.memory_summary()["live_blocks"], sys.getrefcount(None)
    lost = []
    tracemalloc.start()
    try:
        while len(lost) < 12 and (not lost or max(lost[-1]) > least):
            gc.collect()
            before = tracemalloc.get_traced_memory()[0], heap()
            for _ in range(TIMES):
                action()
            gc.collect()
            after = tracemalloc.get_traced_memory()[0], heap()
            lost.append((after[0] - before[0], after[1] - before[1]))
    finally:
        tracemalloc.stop()
    assert max(lost[-1]) <= least, f"bytes (of Python, of C) that each round lost: {lost}"
    assert storage.memory_summary()["live_blocks"] == blocks
    assert sys.getrefcount(None) - nones < TIMES


def test_old_gradients_are_let_go():
    for put in (None, y * 1, "delete"):
        w = torch.ones(3, requires_grad=True)
        w.grad = y * 2
        old = weakref.ref(w.grad)
        if isinstance(put, str):
            del w.grad
        else:
            w.grad = put
        assert old() is None


def test_nodes_that_die_together_are_released_twice():
    """The nodes are so many that the list of waiting ones is given back, too."""
    x = torch.ones(1, requires_grad=True)
    for _ in range(2):
        joined = torch.cat([x.neg() for _ in range((1 << 16) + 100)])
        gone = weakref.ref(joined)
        del joined
        assert gone() is None
        assert (x * 2).neg().grad_fn is not None
