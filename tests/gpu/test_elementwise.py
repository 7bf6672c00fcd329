"""Every elementwise kernel in every dtype and layout, beside the loops of the CPU."""

import os

import elementwise_values as ev
import numpy as np
import pytest
from emulator import control

import autograd_cy as ag
from autograd_cy._C import cuda_elementwise

REAL = os.environ.get("AUTOGRAD_CY_GPU") == "real"
HALVES = ("f16", "bf16")
# Steps between the CPU's loops and the scalar formulas, where these are two.
ULPS = 4


def empty_result(name, dtype, shape):
    return ag.empty(shape, dtype=ev.DTYPES[ev.operand_types(name, dtype)[0]])


def operands_of(name, dtype, shapes):
    """Operands on the CPU, of these shapes."""
    types = ev.operand_types(name, dtype)[1:]
    divides = ev.BY_NAME[name].divides
    return [
        ev.values(shape, t, seed, nonzero=divides and seed == 1)
        for seed, (shape, t) in enumerate(zip(shapes, types))
    ]


def expected(name, dtype, shape, operands, single=False):
    """Return the results of the CPU's loop; `single`: in float32, rounded once."""
    out = empty_result(name, dtype, shape)
    if single:
        wide = [x.float() if x.dtype == out.dtype else x for x in operands]
        result = ag.empty(shape, dtype=ag.float32 if out.dtype.is_floating_point else out.dtype)
        cuda_elementwise._compute(name, ag.float32, result, tuple(wide))
        return result.to(out.dtype)
    cuda_elementwise._compute(name, ev.DTYPES[dtype], out, tuple(operands))
    return out


def check(name, dtype, out, operands, want, what):
    """Compute into `out`, which is on the device."""
    cuda_elementwise._compute(name, ev.DTYPES[dtype], out, tuple(operands))
    what = f"{name} {dtype} {what}"
    if REAL and (out.is_floating_point() or out.is_complex()):
        ev.assert_near(out, want, what)
    else:
        ev.assert_bits(out, want, what, ULPS if name in ev.CLOSE else 0)


def inputs(name):
    return ev.BY_NAME[name].nin


@pytest.mark.parametrize("name", ev.BY_NAME)
def test_dense_operands(name):
    for dtype in ev.types_of(name):
        for shape in ((1,), (7,), (5, 67)):
            given = operands_of(name, dtype, [shape] * inputs(name))
            want = expected(name, dtype, shape, given)
            out = empty_result(name, dtype, shape).to("cuda")
            check(name, dtype, out, [x.to("cuda") for x in given], want, shape)


@pytest.mark.parametrize("name", ev.BY_NAME)
def test_operands_at_odd_offsets(name):
    for dtype in ev.types_of(name):
        given = operands_of(name, dtype, [(40,)] * inputs(name))
        there = [x.to("cuda") for x in given]
        for k in range(inputs(name) + 1):
            windows = [slice(1, 38) if i == k else slice(0, 37) for i in range(inputs(name) + 1)]
            want = expected(name, dtype, (37,), [x[w] for x, w in zip(given, windows[1:])])
            out = empty_result(name, dtype, (40,)).to("cuda")
            seen = [x[w] for x, w in zip(there, windows[1:])]
            check(name, dtype, out[windows[0]], seen, want, f"operand {k} at 1")


@pytest.mark.parametrize("name", ev.BY_NAME)
def test_strided_operands(name):
    n = inputs(name)
    for dtype in ev.types_of(name):
        given = operands_of(name, dtype, [(6, 5, 8), (8, 5, 6), (6, 10, 4), (12, 5, 4)][:n])
        views = [lambda x: x[:, :, ::2], lambda x: x[::2].permute(2, 1, 0)]
        views += [lambda x: x[:, ::2], lambda x: x[::2]]
        seen = [view(x) for view, x in zip(views, given)]
        there = [view(x.to("cuda")) for view, x in zip(views, given)]
        want = expected(name, dtype, (6, 5, 4), seen)
        dense = empty_result(name, dtype, (6, 5, 4)).to("cuda")
        check(name, dtype, dense, there, want, "strided")
        gaps = ag.zeros((6, 5, 8), dtype=dense.dtype).to("cuda")
        check(name, dtype, gaps[:, :, 1::2], there, want, "into every second element")
        assert not gaps[:, :, ::2].cpu().bool().any(), f"{name} {dtype} wrote between elements"


@pytest.mark.parametrize("name", [n for n in ev.BY_NAME if inputs(n) > 1])
def test_broadcast_operands(name):
    n = inputs(name)
    for dtype in ev.types_of(name):
        for shapes in ([(9, 1), (1, 35), (9, 35), (1, 1)], [(9, 35), (), (9, 35), (35,)]):
            given = operands_of(name, dtype, shapes[:n])
            want = expected(name, dtype, (9, 35), given)
            out = empty_result(name, dtype, (9, 35)).to("cuda")
            check(name, dtype, out, [x.to("cuda") for x in given], want, shapes[:n])


@pytest.mark.parametrize("name", [n for n in ev.BY_NAME if inputs(n) > 1])
def test_numbers_among_operands(name):
    n = inputs(name)
    for dtype in ev.types_of(name):
        for which in {(0,), (1,), (n - 1,), tuple(range(1, n))}:
            shapes = [() if k in which else (35,) for k in range(n)]
            given = operands_of(name, dtype, shapes)
            out = empty_result(name, dtype, (70,)).to("cuda")
            there = [x if k in which else x.to("cuda") for k, x in enumerate(given)]
            want = expected(name, dtype, (35,), given)
            check(name, dtype, out[:35], there, want, f"numbers {which}")
            check(name, dtype, out[::2], there, want, f"numbers {which}, strided")


@pytest.mark.parametrize("name", [n for n, spec in ev.BY_NAME.items() if spec.keeps])
@pytest.mark.parametrize("dtype", HALVES)
def test_numbers_beside_halves_are_not_rounded(name, dtype):
    n = inputs(name)
    given = operands_of(name, dtype, [(35,)] * (n - 1) + [()])
    given[-1] = ag.tensor(0.3330078125 + 2**-14)
    out = empty_result(name, dtype, (35,)).to("cuda")
    there = [*(x.to("cuda") for x in given[:-1]), given[-1]]
    want = expected(name, dtype, (35,), given, single=True)
    check(name, dtype, out, there, want, "unrounded")


@pytest.mark.parametrize("name", ev.BY_NAME)
def test_results_in_the_place_of_an_operand(name):
    for dtype in ev.types_of(name):
        types = ev.operand_types(name, dtype)
        for k in range(inputs(name)):
            if types[k + 1] != types[0]:
                continue
            given = operands_of(name, dtype, [(300,)] * inputs(name))
            want = expected(name, dtype, (300,), given)
            there = [x.to("cuda") for x in given]
            check(name, dtype, there[k], there, want, f"in operand {k}")


@pytest.mark.parametrize("dtype", ["u8", "f16", "f32", "f64", "c64", "c128"])
def test_sizes_around_vectors_and_blocks(dtype):
    most = 256 * 8
    for n in (
        0,
        1,
        2,
        3,
        4,
        5,
        8,
        15,
        16,
        17,
        255,
        256,
        257,
        most - 1,
        most,
        most + 1,
        3 * most + 5,
    ):
        given = operands_of("add", dtype, [(n,)] * 2)
        want = expected("add", dtype, (n,), given)
        # One element beyond the end, which has to stay as it is.
        out = ag.full((n + 1,), 1, dtype=ev.DTYPES[dtype]).to("cuda")
        check("add", dtype, out[:n], [x.to("cuda") for x in given], want, n)
        assert out[n].cpu() == 1


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_dense_operands_in_any_order_of_dimensions_are_one_launch(order):
    a, b = (ev.values((4, 6, 5), "f32", seed).permute(order) for seed in (0, 1))
    x, y = a.to("cuda"), b.to("cuda")
    assert x.stride() == a.stride()
    z = x * y
    assert z.stride() == a.stride()
    ev.assert_bits(z, a * b, order)
    ev.assert_bits(x + 2.5, a + 2.5, order)


@pytest.mark.parametrize("nd", [8, 9, 11])
def test_more_dimensions_than_a_kernel_takes(nd):
    shape = [2, 3] + [2] * (nd - 2)
    # No two neighbours in memory are neighbours in shape.
    order = list(range(0, nd, 2)) + list(range(1, nd, 2))
    a, b = ev.values(shape, "f32", 0), ev.values([shape[d] for d in order], "f32", 1)
    back = [order.index(d) for d in range(nd)]
    want = a + b.permute(back)
    ev.assert_bits(a.to("cuda") + b.to("cuda").permute(back), want, nd)


@pytest.fixture
def small_launches():
    """Launches of a strided kernel have few elements, as if tensors were beyond 2**31."""
    before = cuda_elementwise._limit(50)
    yield
    cuda_elementwise._limit(before)


@pytest.mark.parametrize(
    "shape", [(49, 1), (50, 1), (51, 1), (101, 1), (7, 9), (3, 60), (2, 3, 4, 5), (3, 2, 70)]
)
def test_strided_work_beyond_the_limit_of_a_launch(small_launches, shape):
    a, b = (ev.values([2 * n for n in shape], "f32", seed) for seed in (0, 1))
    window = tuple(slice(None, None, 2) for _ in shape)
    x, y = a.to("cuda")[window], b.to("cuda")[window]
    out = ag.zeros([2 * n for n in shape]).to("cuda")
    cuda_elementwise._compute("sub", ag.float32, out[window], (x, y))
    want = ag.zeros([2 * n for n in shape])
    want[window] = a[window] - b[window]
    ev.assert_bits(out, want, shape)


@pytest.mark.parametrize("name", [n for n, spec in ev.BY_NAME.items() if spec.divides])
@pytest.mark.parametrize("dtype", ["u8", "i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("step", [1, 2])
def test_an_integer_divided_by_zero_is_raised_at_the_next_synchronisation(name, dtype, step):
    a, b = operands_of(name, dtype, [(70,)] * 2)
    b[20] = 0
    x, y = a.to("cuda")[::step], b.to("cuda")[::step]
    out = ag.full((70 // step,), 7, dtype=ev.DTYPES[dtype]).to("cuda")
    cuda_elementwise._compute(name, ev.DTYPES[dtype], out, (x, y))
    later = out + 0
    with pytest.raises(RuntimeError, match="ZeroDivisionError: integer division or remainder"):
        later.cpu()
    # The element was left out, the others are there, and the error came once.
    b[20] = 1
    want = expected(name, dtype, (70 // step,), [a[::step], b[::step]])
    want[20 // step] = 7
    ev.assert_bits(later, want, f"{name} {dtype}")


def test_floats_divided_by_zero_are_no_error():
    x = ag.tensor([1.0, -1.0, 0.0]).to("cuda")
    assert ag.floor_divide(x, ag.zeros(3).to("cuda")).tolist()[:2] == [float("inf"), float("-inf")]


def test_a_number_of_another_dtype_is_converted():
    x = ag.tensor([1, 2, 3], dtype=ag.int32).to("cuda")
    assert (x + 2).tolist() == [3, 4, 5] and (x + 2).dtype == ag.int32
    assert (x * 0.5).tolist() == [0.5, 1.0, 1.5]
    assert (x > 1.5).tolist() == [False, True, True]
    assert ag.where(x > 1, x, 0).tolist() == [0, 2, 3]
    assert ag.logical_and(x, ag.tensor(2.0)).tolist() == [True, True, True]


def test_lazy_operands_are_resolved():
    a = ev.values((6, 5), "c64", 0)
    x = a.to("cuda")
    conjugated, negated = x.conj(), x.conj().imag
    assert conjugated.is_conj() and negated.is_neg()
    ev.assert_bits(conjugated * 2, a.conj() * 2, "conjugated")
    ev.assert_bits(negated * 2, a.imag * -2, "negated")
    ev.assert_bits(conjugated.t().contiguous(), a.conj().t().contiguous(), "conjugated, copied")
    ev.assert_bits(negated.t().contiguous(), -a.imag.t().contiguous(), "negated, copied")


def test_bools_of_other_bytes_count_as_true():
    raw = ag.tensor([0, 1, 2, 255], dtype=ag.uint8).to("cuda").view(ag.bool)
    assert (raw & True).tolist() == [False, True, True, True]
    assert (raw.to(ag.int32) + 1).tolist() == [1, 2, 2, 2]
    assert ag.logical_not(raw).tolist() == [True, False, False, False]


def test_parts_of_complex_numbers_are_operands():
    a = ev.values((4, 9), "c64", 0)
    x = a.to("cuda")
    ev.assert_bits(x.real + x.imag, a.real + a.imag, "parts")
    x.real.mul_(2)
    a.real.mul_(2)
    ev.assert_bits(x, a, "a part in place")


def test_each_kernel_of_the_table_is_found():
    for name in ev.BY_NAME:
        for dtype in ev.TYPES:
            found = cuda_elementwise._entry(name, ev.DTYPES[dtype])
            assert (found is not None) == (dtype in ev.types_of(name)), (name, dtype)


@pytest.mark.emulated
def test_an_operation_is_one_launch_and_nothing_waits():
    x = ev.values((40, 50), "f32", 0).to("cuda")
    scalar, row = ag.tensor(2.0).to("cuda"), x[0].clone()
    for call in (
        lambda: x + x,
        lambda: x.add_(1.5),
        lambda: x * scalar,
        lambda: x * row,
        lambda: x[:, :40].t() * x[:, :40],
        lambda: ag.where(x > 0, x, 0.0),
    ):
        call()
        before = control.counts()
        call()
        spent = control.spent(before)
        launches = 2 if "where" in call.__code__.co_names else 1
        assert spent.pop("launches") == launches
        assert not {k for k in spent if "copies" in k or "synchron" in k}, spent


@pytest.mark.emulated
def test_a_launch_that_fails_leaves_operands_as_they_were():
    a = ev.values((30, 40), "f32", 0)
    x = a.to("cuda")
    for call in (
        lambda: x + 1,
        lambda: x.mul_(2),
        lambda: x.t().double(),
        lambda: x[:, ::2].fill_(1),
    ):
        control.fail("cuLaunchKernel")
        with pytest.raises(RuntimeError, match="CUDA error"):
            call()
        ev.assert_bits(x, a, "after a launch that failed")
    ev.assert_bits(x + 1, a + 1, "afterwards")


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sigmoid", "silu", "gelu"])
def test_functions_of_networks_are_within_four_steps_of_float64(name):
    random = np.random.default_rng(5)
    x = np.concatenate(
        [random.uniform(-14, 10, 60_000), random.uniform(-2, 2, 60_000), -(10.0 ** -np.arange(30))]
    ).astype(np.float32)
    x = np.abs(x) if name == "log" else x
    wide = x.astype(np.float64)
    exact = {
        "exp": np.exp,
        "log": np.log,
        "tanh": np.tanh,
        "sigmoid": lambda t: 1 / (1 + np.exp(-t)),
        "silu": lambda t: t / (1 + np.exp(-t)),
        "gelu": lambda t: t * (ag.erfc(ag.tensor(-t * 0.5**0.5)) / 2).numpy(),
    }[name](wide)
    out = ag.empty(len(x), device="cuda")
    cuda_elementwise._compute(name, ag.float32, out, (ag.tensor(x).to("cuda"),))
    apart = np.abs(out.cpu().numpy() - exact) / np.spacing(np.abs(exact).astype(np.float32))
    assert apart.max() <= ULPS, x[apart.argmax()]
