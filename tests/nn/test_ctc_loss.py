"""The loss of sequences without an alignment: all alignments one by one, differences, PyTorch."""

import itertools

import numpy as np
import pytest

import autograd_cy as ag


def logarithms(times, batch, classes, seed=0):
    x = np.random.default_rng(seed).normal(size=(times, batch, classes))
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def collapsed(path, blank):
    """The classes of a path: repeated ones once, without blanks."""
    return [c for i, c in enumerate(path) if c != blank and (i == 0 or path[i - 1] != c)]


def by_paths(x, target, blank):
    """-log of the sum over all paths of one example."""
    times, classes = x.shape
    total = 0.0
    for path in itertools.product(range(classes), repeat=times):
        if collapsed(path, blank) == list(target):
            total += np.exp(sum(x[t, c] for t, c in enumerate(path)))
    return -np.log(total) if total else np.inf


TARGETS = [[1, 2], [1, 1], [2], [], [2, 1, 2]]


@pytest.mark.parametrize("blank", [0, 2])
def test_all_alignments(blank):
    targets = [[(c + blank) % 3 for c in t] for t in TARGETS]
    lengths = [4, 3, 1, 4, 2]
    x = logarithms(4, 5, 3)
    rows = np.zeros((5, 3), "int64")
    for row, t in zip(rows, targets):
        row[: len(t)] = t
    expected = [by_paths(x[:n, i], t, blank) for i, (n, t) in enumerate(zip(lengths, targets))]
    assert np.isinf(expected).sum() == 1  # three classes in two times
    counts = [len(t) for t in targets]
    flat = ag.tensor([c for t in targets for c in t])
    for given in (ag.tensor(rows), flat):
        found = ag.ctc_loss(ag.tensor(x), given, lengths, ag.tensor(counts), blank)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10)
    some = np.where(np.isinf(expected), 0, expected)
    functional = ag.nn.functional.ctc_loss
    for reduction, value in (
        ("none", some),
        ("sum", some.sum()),
        ("mean", (some / np.maximum(counts, 1)).mean()),
    ):
        found = functional(
            ag.tensor(x), flat, ag.tensor(lengths), counts, blank, reduction, zero_infinity=True
        )
        np.testing.assert_allclose(found.numpy(), value, rtol=1e-10)


def test_derivatives_are_those_of_differences():
    x = ag.tensor(logarithms(4, 2, 3)).requires_grad_()
    y = ag.tensor([[1, 1], [2, 0]])

    def loss(x):
        return ag.nn.functional.ctc_loss(x, y, (4, 3), (2, 1), reduction="sum")

    assert ag.autograd.gradcheck(loss, (x,))
    assert ag.autograd.gradgradcheck(loss, (x,))


def test_what_cannot_be_has_no_gradient():
    x = ag.tensor(logarithms(2, 2, 3)).requires_grad_()
    losses = ag.nn.functional.ctc_loss(
        x, ag.tensor([[1, 1, 1], [1, 2, 0]]), (2, 2), (3, 2), reduction="none", zero_infinity=True
    )
    assert losses[0].item() == 0 and losses[1].item() > 0
    losses.sum().backward()
    assert x.grad.isfinite().all() and (x.grad[:, 0] == 0).all() and (x.grad[:, 1] != 0).any()


def test_long_sequences_keep_their_digits():
    """The probability of all paths is far below what a float32 can hold."""
    x = logarithms(400, 2, 5)
    y = np.random.default_rng(1).integers(1, 5, (2, 60))
    found = [
        ag.ctc_loss(ag.tensor(x).to(dtype), ag.tensor(y), (400, 350), (60, 40)).numpy()
        for dtype in (ag.float64, ag.float32)
    ]
    assert (found[0] > 200).all()
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)


def test_against_torch():
    torch = pytest.importorskip("torch")
    assert repr(ag.nn.CTCLoss(1)) == repr(torch.nn.CTCLoss(1))
    scores = np.random.default_rng(2).normal(size=(12, 3, 6))
    y = np.random.default_rng(3).integers(1, 6, (3, 5))
    for reduction in ("none", "mean", "sum"):
        found = []
        for library in (ag, torch):
            x = library.tensor(scores, requires_grad=True)
            loss = library.nn.CTCLoss(reduction=reduction)(
                library.nn.functional.log_softmax(x, 2),
                library.tensor(y),
                library.tensor([12, 9, 10]),
                library.tensor([5, 0, 3]),
            )
            loss.sum().backward()
            found.append((loss.detach().numpy(), x.grad.numpy()))
        for ours, theirs in zip(*found):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    x, t = scores[:, 0], y[0]
    ours = ag.nn.functional.ctc_loss(ag.tensor(x), ag.tensor(t), ag.tensor(12), ag.tensor(5))
    theirs = torch.nn.functional.ctc_loss(
        torch.tensor(x), torch.tensor(t), torch.tensor(12), torch.tensor(5)
    )
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours.item(), theirs.item(), rtol=1e-10)
    wrong = {
        "lengths of inputs": ((12, 13, 10), (5, 0, 3), 0),
        "number of inputs": ((12, 9), (5, 0, 3), 0),
        "lengths of targets": ((12, 9, 10), (6, 0, 3), 0),
        "blank": ((12, 9, 10), (5, 0, 3), 6),
    }
    for given, wanted, blank in wrong.values():
        for library in (ag, torch):
            with pytest.raises(RuntimeError):
                library.ctc_loss(library.tensor(scores), library.tensor(y), given, wanted, blank)
    for library in (ag, torch):
        with pytest.raises(NotImplementedError):
            library.ctc_loss(
                library.tensor(scores).half(), library.tensor(y), (12, 9, 10), (5, 0, 3)
            )


def test_an_impossible_target_of_no_input_has_no_gradient():
    """Nothing depends on the input there, which is more than that the loss is infinite."""
    x = ag.randn(3, 2, 4).log_softmax(2).requires_grad_()
    losses = ag.nn.functional.ctc_loss(
        x, ag.ones(2, 1, dtype=ag.int32), ag.tensor([0, 3]), ag.tensor([1, 1]), reduction="none"
    )
    assert losses[0].item() == float("inf") and losses[1].isfinite()
    losses.sum().backward()
    assert not x.grad[:, 0].any() and x.grad[:, 1].isfinite().all() and x.grad[:, 1].any()
    x.grad = None
    # Here the input is too short: it has no gradient, and says so.
    losses = ag.nn.functional.ctc_loss(
        x, ag.ones(2, 4, dtype=ag.int32), ag.tensor([3, 3]), ag.tensor([4, 1]), reduction="none"
    )
    losses.sum().backward()
    assert x.grad[:, 0].isnan().any() and x.grad[:, 1].isfinite().all()
