"""Pruning: masks, the methods that choose them, and the hooks that multiply by them."""

import copy

import pytest

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.nn.utils import prune


def layer(values):
    made = nn.Linear(len(values[0]), len(values), bias=True)
    made.weight.data = ag.tensor(values)
    return made


def test_the_least_elements_are_pruned():
    m = layer([[0.1, -3.0], [2.0, 0.2]])
    assert prune.l1_unstructured(m, "weight", amount=0.5) is m and prune.is_pruned(m)
    assert m.weight.tolist() == [[0.0, -3.0], [2.0, 0.0]]
    assert sorted(m.state_dict()) == ["bias", "weight_mask", "weight_orig"]
    m(ag.ones(1, 2)).sum().backward()
    assert m.weight_orig.grad.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    with ag.no_grad():
        m.weight_orig.add_(1)
    assert m(ag.tensor([[1.0, 0.0]])).sub(m.bias).tolist() == [[0.0, 3.0]]
    assert prune.remove(m, "weight") is m
    assert m.weight.tolist() == [[0.0, -2.0], [3.0, 0.0]] and not prune.is_pruned(m)
    assert sorted(m.state_dict()) == ["bias", "weight"] and m.weight.requires_grad
    with pytest.raises(ValueError, match="Parameter 'weight' of module Linear.* has to be pruned"):
        prune.remove(m, "weight")


def test_slices_are_pruned_by_norm_and_by_chance():
    m = layer([[1.0, 1.0], [3.0, 0.0], [0.5, 0.0]])
    prune.ln_structured(m, "weight", amount=1, n=2, dim=0)
    assert m.weight_mask.tolist() == [[1, 1], [1, 1], [0, 0]]
    prune.ln_structured(m, "weight", amount=0.5, n=1, dim=0)  # of the two that are left
    assert m.weight_mask.tolist() == [[0, 0], [1, 1], [0, 0]]
    assert len(m._forward_pre_hooks) == 1
    (hook,) = m._forward_pre_hooks.values()
    assert isinstance(hook, prune.PruningContainer) and len(hook) == 2 and hook[0].n == 2
    m = prune.random_structured(nn.Linear(4, 5), "weight", amount=0.25, dim=1)
    assert sorted(m.weight_mask.sum(0).tolist()) == [0, 5, 5, 5]


def test_elements_are_pruned_by_chance():
    m = prune.random_unstructured(nn.Linear(4, 5), "weight", amount=7)
    assert int(m.weight_mask.sum()) == 13
    prune.random_unstructured(m, "weight", amount=3)
    assert int(m.weight_mask.sum()) == 10  # of those that were left


def test_importance_may_be_given():
    m = layer([[1.0, 2.0], [3.0, 4.0]])
    scores = ag.tensor([[4.0, 3.0], [2.0, 1.0]])
    prune.l1_unstructured(m, "weight", amount=2, importance_scores=scores)
    assert m.weight.tolist() == [[1.0, 2.0], [0.0, 0.0]]
    with pytest.raises(AssertionError, match="should have the same shape as parameter"):
        prune.l1_unstructured(m, "bias", amount=1, importance_scores=scores)
    assert type(m._parameters["bias"]) is nn.Parameter


def test_several_parameters_are_pruned_as_one():
    a, b = layer([[1.0, 5.0]]), layer([[2.0, 3.0]])
    prune.global_unstructured(
        [(a, "weight"), (b, "weight")], pruning_method=prune.L1Unstructured, amount=2
    )
    assert a.weight.tolist() == [[0.0, 5.0]] and b.weight.tolist() == [[0.0, 3.0]]
    with pytest.raises(TypeError, match='Only "unstructured" PRUNING_TYPE supported'):
        prune.global_unstructured([(a, "weight")], prune.LnStructured, amount=1, n=1)


def test_a_mask_may_be_given_and_nothing_be_pruned():
    m = prune.custom_from_mask(layer([[1.0, 2.0]]), "weight", ag.tensor([[0, 1]]))
    assert m.weight.tolist() == [[0.0, 2.0]] and m.weight_mask.dtype is ag.float32
    m = prune.identity(layer([[1.0, 2.0]]), "weight")
    assert m.weight.tolist() == [[1.0, 2.0]] and m.weight_mask.tolist() == [[1, 1]]
    assert prune.is_pruned(nn.Sequential(nn.ReLU(), m))


def test_methods_prune_tensors():
    t = ag.tensor([3.0, -1.0, 2.0])
    assert prune.L1Unstructured(1).prune(t).tolist() == [3.0, -0.0, 2.0]
    mask = ag.tensor([0.0, 1.0, 1.0])
    assert prune.CustomFromMask(mask).prune(t, default_mask=mask).tolist() == [0.0, -1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda m: prune.L1Unstructured(1.5), ValueError, "in the range .0, 1. or a non-neg"),
        (lambda m: prune.L1Unstructured(-1), ValueError, "non-negative integer"),
        (lambda m: prune.L1Unstructured("1"), TypeError, "Invalid type for amount: 1"),
        (lambda m: prune.l1_unstructured(m, "weight", 9), ValueError, "smaller than the number of"),
        (
            lambda m: prune.random_structured(m, "bias", 1, 0),
            ValueError,
            "multidimensional tensors",
        ),
        (lambda m: prune.random_structured(m, "weight", 1, 2), IndexError, "Invalid index 2 for"),
        (lambda m: prune.custom_from_mask(m, "bias", ag.ones(9)), AssertionError, "mask"),
    ],
)
def test_what_cannot_be_pruned_is_refused_and_the_module_stays_as_it_was(call, error, text):
    m = layer([[1.0, 2.0]])
    before = {name: value.clone() for name, value in m.state_dict().items()}
    with pytest.raises(error, match=text):
        call(m)
    assert sorted(m.state_dict()) == sorted(before) and not m.__dict__.get("_forward_pre_hooks")
    assert all(ag.equal(m.state_dict()[name], value) for name, value in before.items())


def test_pruned_modules_are_saved_and_loaded():
    m = prune.l1_unstructured(layer([[1.0, 2.0], [3.0, 4.0]]), "weight", 2)
    other = prune.identity(nn.Linear(2, 2), "weight")
    other.load_state_dict(m.state_dict())
    x = ag.ones(1, 2)
    assert ag.equal(other(x), m(x))
    with ag.no_grad():
        again = copy.deepcopy(prune.remove(m, "weight"))
    assert ag.equal(again.weight, m.weight)


def test_names_are_those_of_torch():
    theirs = pytest.importorskip("torch.nn.utils.prune")
    for name in prune.__all__:
        assert hasattr(theirs, name), name
        assert getattr(prune, name).__module__ == "autograd_cy.nn.utils.prune"
