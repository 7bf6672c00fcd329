"""Optimizers and data loaders of the Variable era: steps, states, batches and refusals."""

import numpy as np
import pytest

import autograd_cy.legacy as torch
from autograd_cy.legacy import nn, optim
from autograd_cy.legacy.autograd import Variable
from autograd_cy.legacy.utils.data import DataLoader, Dataset, TensorDataset, sampler


@pytest.fixture
def p():
    return nn.Parameter(torch.ones(2))


def test_a_step_changes_data_in_place_and_returns_the_loss_of_its_closure(p):
    optimizer = optim.SGD([p], lr=0.1)
    data = p.data

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).data[0] == 2
    assert p.data is data and data.tolist() == pytest.approx([0.8, 0.8])
    assert optimizer.step() is None


def test_groups_have_options_of_their_own(p):
    q = nn.Parameter(torch.ones(1))
    optimizer = optim.SGD([{"params": [p], "lr": 0.5}, {"params": [q]}], lr=0.1)
    (p.sum() + q).backward()
    optimizer.step()
    assert p.data.tolist() == [0.5, 0.5] and q.data[0] == pytest.approx(0.9)


def test_zeroing_fills_gradients(p):
    p.sum().backward()
    grad = p.grad
    optim.Adam([p]).zero_grad()
    assert p.grad is grad and grad.data.sum() == 0


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda p: optim.SGD(p, lr=1), TypeError, "iterable of Variables"),
        (lambda p: optim.SGD(p.data, lr=1), TypeError, "iterable of Variables"),
        (lambda p: optim.SGD([], lr=1), ValueError, "empty parameter list"),
        (lambda p: optim.SGD([p]), ValueError, "required optimization parameter lr"),
        (lambda p: optim.SGD([p.data], lr=1), TypeError, "can only optimize Variables"),
        (lambda p: optim.SGD([p * 2], lr=1), ValueError, "non-leaf Variable"),
        (lambda p: optim.SGD([p, p.detach()], lr=1), ValueError, "doesn't require gradients"),
        (lambda p: optim.SGD([p, p], lr=1), ValueError, "more than one"),
        (lambda p: optim.SGD([p], lr=1, nesterov=True), ValueError, "Nesterov"),
    ],
)
def test_what_cannot_be_optimized_is_refused(p, make, kind, words):
    with pytest.raises(kind, match=words):
        make(p)


def test_states_of_other_groups_are_refused(p):
    one = optim.SGD([p], lr=1)
    two = optim.SGD([p, nn.Parameter(torch.ones(1))], lr=1)
    with pytest.raises(ValueError, match="doesn't match the size"):
        two.load_state_dict(one.state_dict())


def test_batches_of_pairs_cover_the_data():
    data = TensorDataset(torch.range(0, 9).view(5, 2), torch.LongTensor([0, 1, 2, 3, 4]))
    batches = list(DataLoader(data, batch_size=2))
    assert [len(x) for x, _ in batches] == [2, 2, 1] and len(DataLoader(data, batch_size=2)) == 3
    assert [type(t).__name__ for t in batches[0]] == ["FloatTensor", "LongTensor"]
    assert torch.cat([x for x, _ in batches]).equal(data.data_tensor)
    assert len(list(DataLoader(data, 2, drop_last=True))) == 2
    with pytest.raises(AssertionError, match="5 samples, but 4 targets"):
        TensorDataset(torch.ones(5), torch.ones(4))


@pytest.mark.parametrize("workers", [0, 3])
def test_shuffled_batches_have_each_sample_once(workers):
    data = TensorDataset(torch.range(0, 49), torch.zeros(50))
    loader = DataLoader(data, batch_size=7, shuffle=True, num_workers=workers)
    torch.manual_seed(1)
    seen = [v for x, _ in loader for v in x.tolist()]
    assert seen != sorted(seen) and sorted(seen) == list(range(50))
    torch.manual_seed(1)
    assert [v for x, _ in loader for v in x.tolist()] == seen


def test_samples_of_many_kinds_become_batches():
    class Mixed(Dataset):
        def __getitem__(self, i):
            return {"n": i, "f": i / 2, "a": np.ones(2) * i, "s": str(i), "p": (i, [i])}

        def __len__(self):
            return 3

    (batch,) = DataLoader(Mixed(), batch_size=3)
    assert batch["n"].tolist() == [0, 1, 2] and batch["f"].type() == "torch.DoubleTensor"
    assert batch["a"].size() == (3, 2) and batch["s"] == ["0", "1", "2"]
    assert batch["p"][1][0].tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="found NoneType"):
        next(iter(DataLoader([None])))


def test_samplers_choose():
    data = TensorDataset(torch.range(0, 9), torch.zeros(10))
    some = DataLoader(data, sampler=sampler.SubsetRandomSampler([1, 3]))
    assert sorted(x[0] for x, _ in some) == [1, 3] and len(some) == 2
    weighted = sampler.WeightedRandomSampler([0, 1, 0], 5)
    assert list(weighted) == [1] * 5 and len(weighted) == 5
    with pytest.raises(ValueError, match="not both"):
        DataLoader(data, sampler=some.sampler, shuffle=True)
    with pytest.raises(ValueError, match="batch_size must be positive"):
        DataLoader(data, batch_size=0)


def test_a_small_model_learns():
    torch.manual_seed(0)
    x = torch.rand(200, 2)
    y = x.select(1, 0).clone().gt(0.5).long()
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2), nn.LogSoftmax())
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    for _ in range(20):
        for inputs, targets in DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True):
            optimizer.zero_grad()
            loss = nn.functional.nll_loss(model(Variable(inputs)), Variable(targets))
            loss.backward()
            optimizer.step()
    found = model(Variable(x, volatile=True)).data.max(1)[1].squeeze()
    assert found.eq(y).sum() > 190
