"""AdaptiveLogSoftmaxWithLoss beside torch's and beside the definition."""

import numpy as np
import pytest

import autograd_cy as ag

RNG = np.random.default_rng(11)
KINDS = [(20, [4, 10], 2.0, True), (9, [3], 4.0, False), (12, [1, 2, 3], 1.0, False)]


def pair(torch, classes, cutoffs, div, bias):
    theirs = torch.nn.AdaptiveLogSoftmaxWithLoss(8, classes, cutoffs, div, bias).double()
    ours = ag.nn.AdaptiveLogSoftmaxWithLoss(8, classes, cutoffs, div, bias).double()
    ours.load_state_dict(
        {name: ag.tensor(value.numpy()) for name, value in theirs.state_dict().items()}
    )
    return ours, theirs


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_results_and_gradients_are_those_of_torch(kind):
    torch = pytest.importorskip("torch")
    ours, theirs = pair(torch, *kind)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert repr(ours) == repr(theirs)
    x = RNG.normal(size=(30, 8))
    for target in (RNG.integers(0, kind[0], 30), np.zeros(30, int), np.full(30, kind[0] - 1)):
        seen = []
        for package, layer in ((ag, ours), (torch, theirs)):
            layer.zero_grad()
            features = package.tensor(x).requires_grad_()
            output, loss = layer(features, package.tensor(target))
            (loss + (output * package.arange(30.0).double()).sum()).backward()
            grads = {n: p.grad for n, p in layer.named_parameters() if p.grad is not None}
            probabilities = layer.log_prob(features).detach()
            seen.append(
                {"out": output.detach(), "loss": loss.item(), "x": features.grad, **grads}
                | {"all": probabilities, "predicted": layer.predict(features)}
            )
        for name, value in seen[1].items():
            mine = seen[0].get(name, np.zeros_like(value))  # clusters that nobody asked for
            np.testing.assert_allclose(mine, value, rtol=1e-10, atol=1e-13, err_msg=name)


def test_log_probabilities_are_those_of_all_classes():
    layer = ag.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], 2.0).double()
    x = ag.tensor(RNG.normal(size=(20, 8)))
    everything = layer.log_prob(x)
    np.testing.assert_allclose(everything.detach().exp().sum(1), np.ones(20), rtol=1e-12)
    output, loss = layer(x, ag.arange(20))
    np.testing.assert_allclose(output.detach(), everything.detach().diagonal(), rtol=1e-12)
    assert loss.item() == pytest.approx(-output.mean().item(), rel=1e-14)
    one = layer(x[3], ag.tensor(17))
    assert one.output.shape == () and one.loss.item() == -one.output.item()


def test_second_derivatives():
    layer = ag.nn.AdaptiveLogSoftmaxWithLoss(4, 7, [2, 4], 2.0).double()
    x = ag.tensor(RNG.normal(size=(5, 4)), requires_grad=True)
    target = ag.tensor([0, 2, 6, 4, 1])
    assert ag.autograd.gradcheck(lambda t: layer(t, target).output, (x,), check_forward_ad=True)
    assert ag.autograd.gradgradcheck(lambda t: layer(t, target).loss, (x,))


CUTOFFS = [[], [4, 4], [10, 4], [0, 4], [4, 20], [4, 5.5], [-1]]
CALLS = [
    ((3, 8), [1, 5]),
    ((3, 8), 1),
    ((8,), [1]),
    ((3, 7), [1, 5, 2]),
    ((3, 8), [1, 5, 20]),
    ((3, 8), [1, 5, -1]),
    ((2, 3, 8), [1, 5]),
    ((3, 8), [[1, 5, 3]]),
    ((3, 8), [1.0, 5.0, 3.0]),
]


def test_errors_are_those_of_torch():
    torch = pytest.importorskip("torch")
    for cutoffs in CUTOFFS:
        for package in (torch, ag):
            with pytest.raises(ValueError, match="cutoffs should be a sequence of"):
                package.nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs)
    ours, theirs = pair(torch, *KINDS[0])
    for shape, target in CALLS:
        with pytest.raises((RuntimeError, IndexError)) as expected:
            theirs(torch.zeros(shape).double(), torch.tensor(target))
        with pytest.raises(expected.type):
            ours(ag.zeros(shape).double(), ag.tensor(target))
