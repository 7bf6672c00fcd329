"""Losses of classes, bags of embeddings and checks of values on a GPU."""

import numpy as np
import pytest
from emulator import control
from indexed import no_host, places  # noqa: F401 - a fixture
from reducing import FLOATS, bits, close, numbers, same, wide

import autograd_cy as torch
from autograd_cy.nn import functional as F

pytestmark = pytest.mark.usefixtures("no_host")
dtypes = pytest.mark.parametrize("dtype", FLOATS)
SHAPES = {
    "samples": ((5, 7), (5,)),
    "one sample": ((7,), ()),
    "images": ((3, 7, 4, 5), (3, 4, 5)),
    "many": ((5000, 3), (5000,)),
    "none": ((0, 3), (0,)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
@dtypes
def test_losses_of_classes(shape, reduction, weighted, dtype):
    (given, aimed) = SHAPES[shape]
    classes = given[0 if len(given) == 1 else 1]
    x = numbers(given, dtype, low=-3, high=0)
    target = places(aimed, classes)
    if target.numel() > 3:
        target.reshape(-1)[1] = -100
    weight = numbers(classes, dtype, 2, low=0.25, high=1) if weighted else None
    found = []
    for device in ("cuda", "cpu"):
        kind = x.dtype if device == "cuda" else torch.float64
        leaf = x.to(device).to(kind).requires_grad_()
        w = None if weight is None else weight.to(device).to(kind)
        loss = F.nll_loss(leaf, target.to(device), w, reduction=reduction)
        g = numbers(loss.shape, dtype, 3).to(device).to(kind)
        loss.backward(g)
        found.append((loss, leaf.grad))
    scale = 3 * max(target.numel(), 1) if reduction == "sum" else 30
    close(found[0][0], wide(found[1][0]), scale, dtype, error=2)
    close(found[0][1], wide(found[1][1]), 2, dtype, error=2)


@dtypes
def test_cross_entropy_with_smoothing(dtype):
    x, target = numbers((40, 11), dtype), places(40, 11)
    found = []
    for device in ("cuda", "cpu"):
        leaf = x.to(device).to(x.dtype if device == "cuda" else torch.float64).requires_grad_()
        loss = F.cross_entropy(leaf, target.to(device), label_smoothing=0.1)
        loss.backward()
        found.append((loss, leaf.grad))
    close(found[0][0], wide(found[1][0]), 10, dtype, error=4)
    close(found[0][1], wide(found[1][1]), 1, dtype, error=4)


@pytest.mark.cached
def test_a_loss_waits_for_nothing():
    x = numbers((300, 7), "float32").to("cuda").requires_grad_()
    target = places(300, 7).to("cuda")
    for _ in range(3):
        before = control.counts()
        F.cross_entropy(x, target).backward()
        spent = control.spent(before)
    assert not set(spent) & {"copies_in", "copies_out", "synchronizations", "allocations"}


def test_the_same_bits_in_any_order_of_threads():
    x, target = numbers((9000, 3), "float32").to("cuda"), places(9000, 3).to("cuda")
    first = bits(F.nll_loss(x, target))
    for seed in range(2):
        with control.ordered("random", seed):
            assert bits(F.nll_loss(x, target)) == first


def test_bad_targets_are_raised_and_left_out():
    x = numbers((4, 3), "float32").to("cuda")
    for bad in (3, -1):
        target = torch.tensor([0, bad, 2, 1], device="cuda")
        loss = F.nll_loss(x, target, reduction="none")
        with pytest.raises(IndexError, match=f"Target {bad} is out of bounds."):
            torch.cuda.synchronize()
        close(loss[2:], -wide(x)[[2, 3], [2, 1]], 1, "float32")


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 2])
@pytest.mark.parametrize("last", [False, True])
@dtypes
def test_bags(mode, padding, last, dtype):
    table, index = numbers((6, 7), dtype), places(40, 6)
    offsets = torch.tensor([0, 3, 3, 9, 39] + [40] * last)
    samples = numbers(40, dtype, 1) if mode == "sum" else None
    found = []
    for device in ("cuda", "cpu"):
        kind = table.dtype if device == "cuda" else torch.float64
        leaf = table.to(device).to(kind).requires_grad_()
        each = None if samples is None else samples.to(device).to(kind).requires_grad_()
        bags = F.embedding_bag(
            index.to(device), leaf, offsets.to(device), mode=mode, per_sample_weights=each,
            padding_idx=padding, include_last_offset=last,
        )  # fmt: skip
        bags.backward(numbers(bags.shape, dtype, 2).to(device).to(kind))
        found.append((bags, leaf.grad, *(() if each is None else (each.grad,))))
    for a, b in zip(*found, strict=True):
        close(a, wide(b), 60, dtype)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_no_bags(mode):
    """The only offset is the end of the last bag."""
    results, n = [], 0
    for device in ("cuda", "cpu"):
        table = numbers((6, 7), "float32").to(device).requires_grad_()
        each = torch.ones(n, device=device, requires_grad=True) if mode == "sum" else None
        bags = F.embedding_bag(
            places(n, 6).to(device), table, torch.tensor([0], device=device), mode=mode,
            per_sample_weights=each, include_last_offset=True,
        )  # fmt: skip
        bags.sum().backward()
        results.append((bags, table.grad, *(() if each is None else (each.grad,))))
    for a, b in zip(*results, strict=True):
        assert a.shape == b.shape and wide(a).tolist() == wide(b).tolist()


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_indices_beyond_the_last_offset_are_in_no_bag(mode):
    results = []
    for device in ("cuda", "cpu"):
        table = numbers((6, 7), "float32").to(device).requires_grad_()
        each = torch.arange(9.0, device=device, requires_grad=True) if mode == "sum" else None
        bags = F.embedding_bag(
            places(9, 6).to(device), table, torch.tensor([0, 4, 4, 6], device=device), mode=mode,
            per_sample_weights=each, include_last_offset=True,
        )  # fmt: skip
        bags.backward(numbers((3, 7), "float32", 1).to(device))
        results.append((bags, table.grad, *(() if each is None else (each.grad,))))
    for a, b in zip(*results, strict=True):
        close(a, wide(b), 9, "float32")


def test_bags_of_columns_with_gaps():
    table = numbers((6, 14), "float32")
    index, offsets = places(9, 6), torch.tensor([0, 4])
    for view in (lambda t: t[:, ::2], lambda t: t.t()[:6], lambda t: t[:, :0]):
        found = F.embedding_bag(index.to("cuda"), view(table.to("cuda")), offsets.to("cuda"))
        close(found, wide(F.embedding_bag(index, view(table), offsets)), 9, "float32")


@pytest.mark.parametrize(
    ("index", "offsets", "text"),
    [
        ([1, 9], [0], "Index 1 of input takes value 9"),
        ([1, 2], [1], "offsets.0. has to be 0"),
        ([1, 2], [0, 2, 1], "offsets must not decrease, but offsets.2. is 1 after 2"),
        ([1, 2], [0, 5], "offsets.-1. can not be greater than input's length 2"),
    ],
)
def test_bad_bags(index, offsets, text):
    table = numbers((6, 7), "float32").to("cuda")
    F.embedding_bag(torch.tensor(index, device="cuda"), table, torch.tensor(offsets, device="cuda"))
    with pytest.raises(RuntimeError, match=text):
        torch.cuda.synchronize()


@pytest.mark.parametrize("shape", [(3,), (2, 700)])
def test_one_hot_vectors(shape):
    index = places(shape, 5)
    same(F.one_hot(index.to("cuda"), 5), F.one_hot(index, 5))


def test_the_worst_class_is_named():
    index = np.zeros(900, "int64")
    for places_of, text in (({3: 7, 800: 9}, "there is 9 and"), ({5: -1, 700: -4}, "there is -4")):
        wrong = index.copy()
        for at, value in places_of.items():
            wrong[at] = value
        F.one_hot(torch.tensor(wrong, device="cuda"), 5)
        with pytest.raises(RuntimeError, match=text):
            torch.cuda.synchronize()


def test_negative_variances():
    x = torch.ones(3, device="cuda")
    F.gaussian_nll_loss(x, x, torch.tensor([1.0, -1.0, 1.0], device="cuda"))
    with pytest.raises(ValueError, match="var has negative"):
        torch.cuda.synchronize()
