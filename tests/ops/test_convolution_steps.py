"""Convolutions with a stride and more weights than stay in cache, beside float64."""

import functools

import programs
import pytest

import autograd_cy as ag
from autograd_cy._C import cpu

CASES = [
    # Shape, outputs, kernel, options.
    ((3, 96, 9, 8), 256, (3, 3), {"stride": 2, "padding": 1}),
    ((3, 128, 16, 16), 190, (3, 3), {"stride": 2, "padding": 1}),
    ((2, 300, 5, 7), 100, (3, 3), {"stride": (2, 1), "padding": (0, 2)}),
    ((4, 97, 12, 11), 260, (3, 3), {"stride": 3, "padding": 3}),
    ((4, 70, 13, 13), 260, (4, 3), {"stride": (2, 3), "dilation": (2, 1), "padding": (1, 0)}),
    ((5, 210, 29), 205, (5,), {"stride": 3, "padding": 2}),
    ((2, 64, 4, 6, 5), 160, (3, 3, 3), {"stride": (1, 2, 2), "padding": 1}),
    ((5, 400, 6, 6), 150, (2, 2), {"stride": 2}),
    ((2, 260, 6, 6), 130, (5, 5), {"stride": 4, "padding": 2}),
    ((6, 256, 8, 8), 256, (2, 2), {"stride": 3}),
    ((4, 192, 8, 8), 384, (3, 3), {"stride": 2, "padding": 1, "groups": 2}),
    ((7, 256, 4, 4), 256, (3, 3), {"dilation": 2, "padding": 2}),
]


def operands(case, transposed):
    shape, outputs, kernel, options = case
    groups = options.get("groups", 1)
    gen = ag.Generator().manual_seed(0)
    x = ag.randn(*shape, generator=gen)
    first, second = (shape[1], outputs // groups) if transposed else (outputs, shape[1] // groups)
    w = ag.randn(first, second, *kernel, generator=gen) / (shape[1] * len(kernel)) ** 0.5
    return x, w, ag.randn(outputs, generator=gen)


def results(x, w, b, dtype, transposed, options):
    x, w, b = (t.detach().to(dtype).requires_grad_() for t in (x, w, b))
    name = f"conv_transpose{w.dim() - 2}d" if transposed else f"conv{w.dim() - 2}d"
    y = getattr(ag, name)(x, w, b, **options)
    grad = ag.randn(y.shape, generator=ag.Generator().manual_seed(1)).to(dtype)
    return (y.detach(), *ag.autograd.grad(y, (x, w, b), grad))


@functools.cache
def by_threads(place, transposed, threads):
    """Results of a case in float32, computed once for all tests."""
    case, before = CASES[place], ag.get_num_threads()
    ag.set_num_threads(threads)
    try:
        return results(*operands(case, transposed), ag.float32, transposed, case[3])
    finally:
        ag.set_num_threads(before)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_as_in_float64(case, transposed):
    tensors = operands(case, transposed)
    found = by_threads(CASES.index(case), transposed, 3)
    expected = results(*tensors, ag.float64, transposed, case[3])
    for a, b in zip(found, expected, strict=True):
        ag.testing.assert_close(a.double(), b, rtol=0, atol=4e-6 * max(1.0, b.abs().max().item()))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_threads_give_the_same_bits(case, transposed):
    found = [by_threads(CASES.index(case), transposed, threads) for threads in (1, 3)]
    assert all(ag.equal(a, b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("transposed", [False, True])
def test_any_layout_gives_the_same(transposed):
    x, w, b = operands(CASES[0], transposed)
    options = CASES[0][3]
    expected = results(x, w, b, ag.float64, transposed, options)
    for images in (x, x.contiguous(memory_format=ag.channels_last)):
        for weight in (w, w.contiguous(memory_format=ag.channels_last)):
            found = results(images, weight, b, ag.float32, transposed, options)
            for a, e in zip(found, expected, strict=True):
                ag.testing.assert_close(a.double(), e, rtol=0, atol=4e-5)


def test_what_is_not_finite_reaches_what_it_is_multiplied_by():
    x, w, b = operands(CASES[0], False)
    x[1, 2, 3, 4] = float("inf")
    w[5, 6, 1, 1] = float("nan")
    found = results(x, w, b, ag.float32, False, CASES[0][3])
    expected = results(x, w, b, ag.float64, False, CASES[0][3])
    for a, e in zip(found, expected, strict=True):
        assert ag.equal(a.isnan(), e.isnan())
        assert ag.equal(a.isinf(), e.isinf())


def some_as_in_float64():
    """Those that reach each way; with AUTOGRAD_CY_CPU set, the tests above run all of them."""
    for case in CASES[::4]:
        test_as_in_float64(case, False)
    test_as_in_float64(CASES[5], True)


@pytest.mark.parametrize("target", ["base", "avx2", "avx512"])
def test_every_instruction_set(target):
    """Each instruction set runs in a process with its loops."""
    if target not in cpu.usable_targets() or target == cpu.selected_target():
        pytest.skip(f"{target} isn't there, or was tested above")
    names = [
        "some_as_in_float64",
        "test_any_layout_gives_the_same",
        "test_what_is_not_finite_reaches_what_it_is_multiplied_by",
    ]
    assert programs.run_tests(__file__, names, AUTOGRAD_CY_CPU=target) == 1 + 2 + 1


def test_gradients_of_single_channels_whose_rows_are_two_phases():
    """Sums of both phases meet in registers; float64 stores each by itself."""
    before = ag.get_num_threads()
    for shape, outputs, kernel, options in [
        ((9, 40, 12, 34), 40, (3, 3), {"padding": 1}),
        ((2, 3, 8, 70), 3, (5, 5), {"padding": 2}),
        ((2, 3, 7, 33), 6, (3, 3), {"padding": (0, 1), "dilation": (1, 2)}),
        ((1, 2, 5, 2), 2, (1, 1), {}),
        ((2, 2, 4, 65), 2, (2, 2), {}),
        ((2, 3, 6, 31), 3, (3, 3), {"padding": (2, 4), "dilation": (1, 3)}),
        ((1, 2, 3, 5, 9), 2, (2, 3, 3), {"padding": 1}),
    ]:
        gen = ag.Generator().manual_seed(0)
        x, w = (ag.randn(*s, generator=gen) for s in (shape, (outputs, 1, *kernel)))
        found = []
        for threads, dtype in ((1, ag.float32), (3, ag.float32), (1, ag.float64)):
            ag.set_num_threads(threads)
            image = x.to(dtype).requires_grad_()
            stride = (1,) * (len(kernel) - 1) + (2,) if outputs == 3 else 2
            conv = getattr(ag, f"conv{len(kernel)}d")
            y = conv(image, w.to(dtype), stride=stride, groups=shape[1], **options)
            grad = ag.randn(y.shape, generator=ag.Generator().manual_seed(1)).to(dtype)
            found.append(ag.autograd.grad(y, image, grad)[0])
        ag.set_num_threads(before)
        assert ag.equal(found[0], found[1])
        ag.testing.assert_close(found[0].double(), found[2], rtol=0, atol=2e-5)
