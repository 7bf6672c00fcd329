"""Samples and their rewards."""

import pytest

import autograd_cy as modern
import autograd_cy.legacy as torch
from autograd_cy.legacy.autograd import StochasticFunction, Variable, backward
from autograd_cy.legacy.autograd._functions import Normal


def leaf(*values):
    return Variable(torch.DoubleTensor(list(values)), requires_grad=True)


def close(got, expected):
    # Denominators have 1e-6 added.
    pairs = zip(got, expected, strict=True)
    return all(abs(g - e) <= 1e-4 * (1 + abs(e)) for g, e in pairs)


def samples_of(x):
    std = Variable(torch.ones(x.size()).type_as(x.data), requires_grad=True)
    return [
        x.bernoulli(),
        x.multinomial(),
        torch.normal(x),
        torch.normal(x, 2.0),
        torch.normal(x, std),
    ]


def test_a_sample_is_one_output_without_gradient_of_a_stochastic_function():
    for sample in samples_of(leaf(0.2, 0.8)):
        assert isinstance(sample.creator, StochasticFunction)
        assert not sample.requires_grad and sample.creator.requires_grad
        assert len(sample.creator.saved_tensors) >= 2
    for sample in samples_of(Variable(torch.DoubleTensor([0.2, 0.8]))):
        assert isinstance(sample.creator, StochasticFunction)
    (plain, *_) = samples_of(Variable(torch.DoubleTensor([0.2, 0.8])))
    assert not plain.creator.requires_grad and plain.creator.saved_tensors == ()
    volatile = Variable(torch.DoubleTensor([0.2, 0.8]), volatile=True).bernoulli()
    assert volatile.volatile and volatile.creator is None


def test_kinds_and_sizes_of_samples():
    rows = Variable(torch.Tensor([[0, 0.5, 0.5], [1, 0, 0]]))
    drawn = rows.multinomial(2, True)
    assert drawn.size() == (2, 2) and isinstance(drawn.data, torch.LongTensor)
    assert drawn.data[1].tolist() == [0, 0]
    assert rows[0].multinomial().size() == (1,)
    assert sorted(rows[0].multinomial(2).data.tolist()) == [1, 2]
    p = Variable(torch.Tensor([0, 1, 0.5]))
    ones = p.bernoulli()
    assert ones.data[0] == 0 and ones.data[1] == 1 and isinstance(ones.data, torch.FloatTensor)
    means = Variable(torch.zeros(20000) + 3)
    for std in (2.0, Variable(torch.ones(20000) * 2)):
        drawn = torch.normal(means, std).data
        assert abs(drawn.mean() - 3) < 0.1 and abs(drawn.std() - 2) < 0.1
    assert torch.normal(means).creator.stddev == Variable.normal(means).creator.stddev == 1
    with pytest.raises(RuntimeError, match="positive"):
        torch.normal(means, 0)
    for wrong in (torch.ones(20000), "a", [1]):
        with pytest.raises(TypeError, match="deviation"):
            torch.normal(means, wrong)
    with pytest.raises(TypeError):
        torch.normal(torch.ones(2), Variable(torch.ones(2)))
    with pytest.raises(RuntimeError, match="once"):
        Normal()(means)
    with pytest.raises(RuntimeError, match="inconsistent tensor size"):
        torch.normal(means, Variable(torch.ones(2)))


def test_gradients_are_those_of_minus_reward_times_log_probability():
    p = leaf(0.2, 0.7)
    s = p.bernoulli()
    s.reinforce(3)
    s.backward()
    expected = [(q - x) / (q * (1 - q)) * 3 for q, x in zip((0.2, 0.7), s.data.tolist())]
    assert close(p.grad.data.tolist(), expected)

    weights = leaf(1, 3, 4)
    s = weights.multinomial(2)
    s.reinforce(torch.DoubleTensor([2, 5]))
    s.backward()
    expected = [0, 0, 0]
    for place, reward in zip(s.data.tolist(), (2, 5)):
        expected[place] = -reward / ([1, 3, 4][place] / 8)
    assert close(weights.grad.data.tolist(), expected)

    rows = Variable(torch.DoubleTensor([[1, 1], [1, 3]]), requires_grad=True)
    s = rows.multinomial(3, with_replacement=True)
    s.reinforce(1.0)
    s.backward()
    for i, weight in enumerate(([0.5, 0.5], [0.25, 0.75])):
        drawn = s.data[i].tolist()
        expected = [-drawn.count(j) / weight[j] for j in range(2)]
        assert close(rows.grad.data[i].tolist(), expected)

    m = leaf(1, -1)
    s = torch.normal(m, 2.0)
    s.reinforce(0.5)
    s.backward()
    assert close(m.grad.data.tolist(), ((m.data - s.data) / 4 * 0.5).tolist())


def test_the_gradient_of_a_deviation_is_the_exact_one():
    m, std = leaf(1, -1), leaf(2, 0.5)
    s = torch.normal(m, std)
    s.reinforce(3)
    s.backward()
    away = m.data - s.data
    expected = (1 / std.data - away * away / std.data**3) * 3
    assert close(std.grad.data.tolist(), expected.tolist())
    assert close(m.grad.data.tolist(), (away / std.data**2 * 3).tolist())


def test_a_probability_of_zero_gives_a_large_gradient_and_no_infinity():
    p = leaf(0.0, 1.0)
    s = p.bernoulli()
    s.reinforce(1)
    s.backward()
    assert p.grad.data.tolist() == [0, 0]


def test_rewards_are_numbers_or_tensors_of_type_and_size():
    def sample():
        return leaf(0.2, 0.8).bernoulli()

    for reward in (1, 0.5, torch.DoubleTensor([1, 2]), modern.ones(2, dtype=modern.float64)):
        sample().reinforce(reward)
    for wrong in (torch.FloatTensor([1, 2]), torch.LongTensor([1, 2]), "a", None, sample()):
        with pytest.raises(TypeError):
            sample().reinforce(wrong)
    for wrong in (torch.DoubleTensor([1]), torch.DoubleTensor([[1, 2]])):
        with pytest.raises(ValueError, match="size"):
            sample().reinforce(wrong)
    # Indices are drawn with weights, whose type a reward has.
    leaf(1, 1).multinomial(2).reinforce(torch.DoubleTensor([0.5, 0.25]))


def test_a_sample_is_reinforced_once_and_others_never():
    s = leaf(0.5).bernoulli()
    s.reinforce(1)
    with pytest.raises(RuntimeError, match="once"):
        s.reinforce(1)
    for other in (leaf(0.5), leaf(0.5) * 2, s * 2, s.detach()):
        with pytest.raises(RuntimeError, match="stochastic"):
            other.reinforce(1)


def test_backward_finds_every_stochastic_ancestor():
    p, q = leaf(0.5, 0.5), leaf(0.3, 0.6)
    first = p.bernoulli()
    second = (q * first).bernoulli()  # its input needs a gradient, and so has its sample none
    loss = (second * 2).gt(1).double().sum()
    assert not loss.requires_grad
    first.reinforce(1)
    second.reinforce(1)
    loss.backward()
    assert p.grad is not None and q.grad is not None


def test_a_path_with_gradient_and_one_without():
    w = leaf(0.5)
    s = w.sigmoid().bernoulli()
    loss = (s * w).sum()
    s.reinforce(0)
    loss.backward()
    assert w.grad.data.tolist() == s.data.tolist()


def test_a_missing_reward_is_an_error_and_backward_can_be_repeated():
    w, p = leaf(2.0), leaf(0.5)
    a, b = p.bernoulli(), p.bernoulli()
    a.reinforce(1)
    loss = (a + b + w * w).sum()
    with pytest.raises(RuntimeError, match="reward"):
        loss.backward()
    assert w.grad is None and p.grad is None
    b.reinforce(1)
    loss.backward()
    assert w.grad.data[0] == 4 and p.grad is not None


def test_the_reward_is_dropped_unless_retained():
    p = leaf(0.5)
    s = p.bernoulli()
    s.reinforce(1)
    s.backward(retain_variables=True)
    once = p.grad.data[0]
    s.backward()
    assert abs(p.grad.data[0] - 2 * once) < 1e-9
    with pytest.raises(RuntimeError, match="reward"):
        s.backward()


def test_samples_are_roots_with_none_as_gradient():
    p = leaf(0.5, 0.25)
    samples = [p.bernoulli(), p.bernoulli()]
    w = leaf(3)
    for s in samples:
        s.reinforce(1)
    backward([w * 2, *samples], [torch.ones(1).double(), None, None])
    assert w.grad.data[0] == 2 and p.grad is not None


def test_a_sample_whose_input_needs_no_gradient_needs_no_reward():
    s = Variable(torch.DoubleTensor([0.5])).bernoulli()
    w = leaf(2)
    (w * s).sum().backward()
    assert w.grad.data.tolist() == s.data.tolist()
    with pytest.raises(RuntimeError, match="no graph nodes"):
        s.backward()


def test_users_write_stochastic_functions():
    class Fixed(StochasticFunction):
        def __init__(self):
            pass

        def forward(self, p):
            out = (p > 0.5).double()
            self.save_for_backward(p)
            self.mark_non_differentiable(out)
            return out

        def backward(self, reward):
            (p,) = self.saved_tensors
            return p * reward

    p = leaf(0.25, 0.75)
    s = Fixed()(p)
    s.reinforce(2)
    (s * 3).sum().backward()
    assert p.grad.data.tolist() == [0.5, 1.5]

    class Two(StochasticFunction):
        def forward(self, p):
            return p * 1, p * 2

    with pytest.raises(RuntimeError, match="single output"):
        Two()(p)


def test_samples_are_no_functions_of_what_they_are_drawn_by():
    p = leaf(0.2, 0.7)
    deviations = leaf(1.0, 2.0)
    drawn = (
        p.bernoulli(),
        p.multinomial(1),
        torch.normal(p, 1.0),
        torch.normal(p, deviations),
    )
    for sample in drawn:
        assert not sample.requires_grad
        assert sample.creator is not None
