"""Copies, casts and fills: layouts, pairs of dtypes, directions, and who waits for what."""

import os
import threading

import elementwise_values as ev
import numpy as np
import pytest
from emulator import control

import autograd_cy as ag
from autograd_cy._C import cuda_elementwise

REAL = os.environ.get("AUTOGRAD_CY_GPU") == "real"
emulated = pytest.mark.emulated

# Views of a tensor of 6 x 8 x 10: dense, transposed, with gaps, expanded, of one element.
LAYOUTS = {
    "dense": lambda x: x,
    "permuted": lambda x: x.permute(2, 0, 1),
    "transposed": lambda x: x.transpose(1, 2),
    "gaps": lambda x: x[:, ::2],
    "inner gaps": lambda x: x[:, :, 1::3],
    "window": lambda x: x[1:4, 2:7, 3:9],
    "expanded": lambda x: x[:, :1].expand(6, 8, 10),
    "row expanded": lambda x: x[0, 0].expand(5, 10),
    "columns": lambda x: x[:, :, 4],
    "one": lambda x: x[2, 3, 4],
    "empty": lambda x: x[:, 8:],
}
FLOATS = ("f16", "bf16", "f32", "f64", "c64", "c128")
INTEGERS = ("u8", "i8", "i16", "i32", "i64")
DIRECTIONS = [("cpu", "cuda:0"), ("cuda:0", "cpu"), ("cuda:0", "cuda:0"), ("cuda:0", "cuda:1")]
DIRECTIONS = [pair for pair in DIRECTIONS if "cuda:1" not in pair or ag.cuda.device_count() > 1]


def source(dtype="f32", shape=(6, 8, 10)):
    return ev.values(shape, dtype, 0)


def spent_by(call):
    before = control.counts()
    call()
    return control.spent(before)


@pytest.mark.parametrize(("start", "end"), DIRECTIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_copy_of_any_layout_into_any_layout(start, end, layout):
    for dtype in ("u8", "f16", "f32", "f64", "c128"):
        base = source(dtype)
        want = LAYOUTS[layout](base)
        there = LAYOUTS[layout](base.to(start))
        ev.assert_bits(there.to(end) if start != end else there.clone(), want, (dtype, "to"))
        for target in ("dense", "permuted", "inner gaps", "window"):
            room = ag.zeros([3 * n + 3 for n in want.shape], dtype=base.dtype).to(end)
            view = {
                "dense": lambda room: room.new_empty(want.shape),
                "permuted": lambda room: room.new_empty(want.shape[::-1]).permute(
                    tuple(range(want.ndim - 1, -1, -1))
                ),
                "inner gaps": lambda room: room[tuple(slice(0, 2 * n, 2) for n in want.shape)],
                "window": lambda room: room[tuple(slice(1, n + 1) for n in want.shape)],
            }[target](room)
            view.copy_(there)
            ev.assert_bits(view, want, (dtype, layout, target))
            if target == "inner gaps" and want.ndim:
                between = room[tuple(slice(1, 2 * n + 1, 2) for n in want.shape)]
                assert not between.cpu().bool().any()


@pytest.mark.parametrize("target", ev.DTYPES)
@pytest.mark.parametrize("given", ev.DTYPES)
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_casts_of_all_pairs(given, target):
    a = source(given)
    if given in ("f16", "bf16", "f32", "f64", "c64", "c128") and target in (
        "u8",
        "i8",
        "i16",
        "i32",
        "i64",
    ):
        a = ag.nan_to_num(a.real if given[0] == "c" else a, 0, 100, -100).to(ev.DTYPES[given])
        a = a * (1 if target in ("i16", "i32", "i64") else a.real > 0)
    x = a.to("cuda")
    for layout, view in LAYOUTS.items():
        ev.assert_bits(
            view(x).to(ev.DTYPES[target]), view(a).to(ev.DTYPES[target]), (given, target, layout)
        )
    out = ag.zeros(6, 8, 20, dtype=ev.DTYPES[target]).to("cuda")
    out[:, :, ::2] = x
    ev.assert_bits(out[:, :, ::2], a.to(ev.DTYPES[target]), (given, target, "into gaps"))
    assert not out[:, :, 1::2].cpu().bool().any()


def test_a_complex_number_cast_to_a_real_one_warns():
    x = ag.ones(3, dtype=ag.complex64).to("cuda")
    before = ag.is_warn_always_enabled()
    ag.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="discards the imaginary part"):
            x.to(ag.float32)
    finally:
        ag.set_warn_always(before)


@pytest.mark.parametrize("item", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("shape", [(16, 16), (33, 65), (64, 129), (3, 40, 70), (2, 3, 35, 2, 20)])
def test_transposes_by_tiles(item, shape):
    dtype = {1: "u8", 2: "i16", 4: "i32", 8: "i64", 16: "c128"}[item]
    a = source(dtype, shape)
    x = a.to("cuda")
    ev.assert_bits(x.transpose(-1, -2).contiguous(), a.transpose(-1, -2).contiguous(), shape)
    ev.assert_bits(x.transpose(0, -1).contiguous(), a.transpose(0, -1).contiguous(), shape)
    ev.assert_bits(x[..., 1:].transpose(0, -1).contiguous(), a[..., 1:].transpose(0, -1), shape)


@emulated
def test_which_way_a_copy_on_the_device_takes():
    def kernels(call):
        with control.traced() as names:
            call()
            control.finish()
        return names

    x = source("f32", (40, 4, 48)).to("cuda")
    assert kernels(lambda: x.clone()) == []  # the driver's copy
    assert kernels(lambda: x.permute(2, 0, 1).clone()) == []
    assert kernels(lambda: x.transpose(0, 2).contiguous()) == ["turn_w32"]
    assert kernels(lambda: x[:, 1:3].contiguous()) == ["copy_w128_strided"]
    assert kernels(lambda: x[:, :, 1::2].contiguous()) == ["copy_w32_strided"]
    assert kernels(lambda: x[:, :, 1:3].contiguous()) == ["copy_w32_strided"]
    assert kernels(lambda: x[:, :, 2:4].contiguous()) == ["copy_w64_strided"]
    assert kernels(lambda: x.fill_(2.0)) == ["copy_w32"]
    assert kernels(lambda: x.zero_()) == []  # the driver's memset
    assert kernels(lambda: x[:, 1].fill_(2.0)) == ["copy_w128_strided"]
    assert kernels(lambda: x[:, 1, 1:].fill_(2.0)) == ["copy_w32_strided"]


@pytest.mark.parametrize("dtype", ev.DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_fills(dtype, layout):
    for number in (0, 1, -1 if dtype not in ("b1", "u8") else 1, 2.5 if dtype[0] in "fbc" else 3):
        a = source(dtype)
        x = a.to("cuda")
        LAYOUTS[layout](a).fill_(number)
        LAYOUTS[layout](x).fill_(number)
        ev.assert_bits(x, a, (dtype, layout, number))


def test_fills_by_a_tensor_of_the_host():
    x = ag.zeros(5, 7).to("cuda")
    x[:, 2] = ag.tensor(3.5)
    x[1] = ag.tensor([4.5], dtype=ag.float64)
    want = ag.zeros(5, 7)
    want[:, 2], want[1] = 3.5, 4.5
    ev.assert_bits(x, want, "filled")


def test_lazy_bits_travel():
    a = source("c64", (5, 6))
    x = a.conj().to("cuda")
    assert x.is_conj()
    ev.assert_bits(x.cpu().resolve_conj(), a.conj().resolve_conj(), "conjugated")
    y = ag.empty(6, 5, dtype=ag.complex64).to("cuda")
    y.copy_(x.t())
    ev.assert_bits(y, a.conj().t().resolve_conj(), "copied")
    ev.assert_bits(a.conj().imag.to("cuda").cpu().resolve_neg(), -a.imag, "negated")


def test_fewer_bytes_travel_than_an_expanded_source_has():
    row = ag.arange(100.0)
    want = row.expand(50, 100)
    for x in (row.to("cuda").expand(50, 100).cpu(), row.expand(50, 100).to("cuda")):
        ev.assert_bits(x, want, "expanded")
    if not REAL:
        target = ag.empty(50, 100).to("cuda")
        spent = spent_by(lambda: target.copy_(row.expand(50, 100)))
        assert spent["bytes_in"] == 400


# ---- who waits for what ----


def test_pageable_memory_has_been_read_when_the_call_returns():
    a = ag.ones(1000)
    strided = ag.ones(100, 20)
    x, y = a.to("cuda", non_blocking=True), strided.t().to("cuda", non_blocking=True)
    z = ag.zeros(20, 100).to("cuda")
    z.copy_(strided.t(), non_blocking=True)
    a.fill_(2)
    strided.fill_(2)
    for t in (x, y, z):
        assert t.min().item() == t.max().item() == 1


def test_blocking_copies_have_read_pinned_memory():
    a = ag.ones(1000).pin_memory()
    strided = ag.ones(100, 20).pin_memory()
    x, y = a.to("cuda"), strided.t().to("cuda")
    a.fill_(2)
    strided.fill_(2)
    assert x.max().item() == 1 and y.max().item() == 1


@emulated
def test_copies_of_pinned_memory_wait_for_nobody():
    a = ag.ones(1000).pin_memory()
    spent = spent_by(lambda: a.to("cuda", non_blocking=True))
    assert "synchronizations" not in spent, spent
    # The copy comes late, and reads what is there then.
    x = a.to("cuda", non_blocking=True)
    a.fill_(2)
    assert x.max().item() == 2


@emulated
def test_a_strided_copy_of_pinned_memory_goes_by_a_pinned_buffer():
    a = ag.arange(2000.0).reshape(100, 20).pin_memory()
    want = a.t().contiguous()
    out = ag.zeros(20, 100).to("cuda")
    turned = a.t()
    spent = spent_by(lambda: out.copy_(turned, non_blocking=True))
    assert "synchronizations" not in spent, spent
    a.fill_(2)
    ev.assert_bits(out, want, "read before")
    # The buffers live until their copies are done, whoever needs pinned memory meanwhile.
    outs = [ag.zeros(20, 100).to("cuda") for _ in range(20)]
    for i, x in enumerate(outs):
        x.copy_(ag.full((100, 20), float(i)).pin_memory().t(), non_blocking=True)
    for i, x in enumerate(outs):
        assert x.min().item() == x.max().item() == i
    a = turned = None
    ag.zeros(1).pin_memory()  # when pinned memory is asked for, buffers that are done go back


def test_copies_to_the_host_have_arrived_unless_pinned():
    x = ag.full((1000,), 3.0).to("cuda")
    room = ag.zeros(1000)
    room.copy_(x, non_blocking=True)
    assert room.min() == 3
    assert x.to("cpu", non_blocking=True).min() == 3
    pinned = ag.zeros(1000).pin_memory()
    pinned.copy_(x, non_blocking=True)
    ag.cuda.synchronize()
    assert pinned.min() == 3
    # Into memory with gaps the host has to write.
    gaps = ag.zeros(2000).pin_memory()
    gaps[::2].copy_(x, non_blocking=True)
    assert gaps[::2].min() == 3 and gaps[1::2].max() == 0


@emulated
def test_copies_to_pinned_memory_come_late():
    x = ag.full((40, 50), 3.0).to("cuda")
    pinned = ag.zeros(50, 40).pin_memory()
    spent = spent_by(lambda: pinned.copy_(x.t(), non_blocking=True))
    assert "synchronizations" not in spent, spent
    assert pinned.max() == 0
    ag.cuda.synchronize()
    assert pinned.min() == 3


def test_memory_that_another_library_has_pinned_has_been_read():
    import pycuda.driver as cuda

    ag.zeros(1).to("cuda")
    context = cuda.Device(0).retain_primary_context()
    context.push()
    try:
        block = cuda.pagelocked_empty(5000, np.float32)
        block[:] = 1
        x = ag.from_numpy(block).to("cuda")
        block[:] = 2
        assert x.max().item() == 1
        del block
    finally:
        context.pop()
        context.detach()


@pytest.mark.skipif(ag.cuda.device_count() < 2, reason="there is one GPU")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("how", ["late", "random", "now"])
def test_copies_between_devices_see_what_was_put_before(layout, how):
    if not REAL:
        control.order(how, seed=7)
    a = ag.arange(480.0).reshape(6, 8, 10)
    x = a.to("cuda:0")
    ag.cuda.synchronize()
    side, other = ag.cuda.Stream("cuda:0"), ag.cuda.Stream("cuda:1")
    for i in range(4):
        with side, other:
            x.add_(1)
            y = LAYOUTS[layout](x).to("cuda:1")
            x.mul_(0)  # comes after the copy
            x.copy_(a.to("cuda:0") + i + 1)
        with other:
            ev.assert_bits(y, LAYOUTS[layout](a + i + 1), (layout, i))
        with side:
            x.cpu()


@pytest.mark.skipif(ag.cuda.device_count() < 2, reason="there is one GPU")
def test_peers_and_dtypes():
    a = source("f64")
    x = a.to("cuda:0")
    room = ag.zeros(6, 8, 20, dtype=ag.float32).to("cuda:1")
    room[:, :, ::2] = x
    assert room.device.index == 1
    ev.assert_bits(room[:, :, ::2], a.float(), "cast on the way")


def test_copies_from_several_threads():
    a = source("f32", (40, 50))
    x = a.to("cuda")
    results = []

    def work(i):
        y = x.t().contiguous() + i
        results.append((i, y.cpu(), y.t().cpu()))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 8
    for i, y, z in results:
        ev.assert_bits(y, a.t().contiguous() + i, i)
        ev.assert_bits(z, a + i, i)


@emulated
@pytest.mark.parametrize(
    "function", ["cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync", "cuMemcpyPeerAsync"]
)
def test_a_copy_that_fails_leaves_the_tensors_as_they_were(function):
    a = source("f32", (30, 40))
    x, y = a.to("cuda:0"), ag.zeros(30, 40).to("cuda:0")
    calls = {
        "cuMemcpyHtoDAsync": lambda: y.copy_(a),
        "cuMemcpyDtoHAsync": lambda: x.t().cpu(),
        "cuMemcpyDtoDAsync": lambda: y.copy_(x),
        "cuMemcpyPeerAsync": lambda: x[:, ::2].to("cuda:1"),
    }
    control.fail(function)
    with pytest.raises(RuntimeError, match="CUDA error"):
        calls[function]()
    calls[function]()
    ev.assert_bits(x, a, "source")
    written = function in ("cuMemcpyHtoDAsync", "cuMemcpyDtoDAsync")
    ev.assert_bits(y, a if written else ag.zeros(30, 40), "target")


def test_copies_beyond_the_limit_of_a_launch():
    before = cuda_elementwise._limit(100)
    try:
        a = source("i16", (7, 9, 11))
        x = a.to("cuda")
        ev.assert_bits(x[:, ::2, ::2].contiguous(), a[:, ::2, ::2].contiguous(), "copied")
        ev.assert_bits(x[:, ::2, ::2].float(), a[:, ::2, ::2].float(), "cast")
        x[:, ::2, ::2], a[:, ::2, ::2] = 5, 5
        ev.assert_bits(x, a, "filled")
    finally:
        cuda_elementwise._limit(before)
