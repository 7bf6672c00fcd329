"""Optimizer: groups, options, state, saving and loading."""

import copy
import pickle

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy import optim


def leaf(*values):
    return torch.tensor(list(values), requires_grad=True)


def with_grad(*values):
    x = leaf(*values)
    x.grad = torch.ones(len(values))
    return x


def test_options_of_a_group_win_over_defaults():
    x, y = leaf(1.0), leaf(2.0)
    optimizer = optim.SGD([{"params": [x], "lr": 0.5}, {"params": y}], lr=0.1, momentum=0.9)
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.1]
    assert all(group["momentum"] == 0.9 for group in optimizer.param_groups)
    assert optimizer.param_groups[1]["params"] == [y]


def test_group_given_by_the_caller_is_not_changed():
    group = {"params": leaf(1.0)}
    optim.SGD([group], lr=0.1)
    assert list(group) == ["params"]


def test_parameters_may_come_from_a_generator():
    xs = [leaf(1.0), leaf(2.0)]
    optimizer = optim.SGD((x for x in xs), lr=0.1)
    assert len(optimizer.param_groups[0]["params"]) == 2


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        (lambda: leaf(1.0), TypeError, "should be an iterable of Tensors or dicts"),
        (list, ValueError, "empty parameter list"),
        (lambda: [1.0], TypeError, "can only optimize Tensors"),
        (lambda: [leaf(1.0) * 2.0], ValueError, "can't optimize a non-leaf Tensor"),
        (lambda: [{"params": {leaf(1.0)}}], TypeError, "ordered collections"),
    ],
)
def test_what_cannot_be_optimized_is_refused(params, error, words):
    with pytest.raises(error, match=words):
        optim.SGD(params(), lr=0.1)


def test_parameter_in_two_groups_is_refused():
    x = leaf(1.0)
    with pytest.raises(ValueError, match="more than one parameter group"):
        optim.SGD([{"params": [x]}, {"params": [x]}], lr=0.1)


def test_parameter_twice_in_one_group_warns():
    x = leaf(1.0)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([x, x], lr=0.1)


def test_group_must_be_a_dict_with_every_required_option():
    optimizer = optim.SGD([leaf(1.0)], lr=0.1)
    with pytest.raises(TypeError, match="must be a dict"):
        optimizer.add_param_group([leaf(1.0)])

    class Needy(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": optim.optimizer.required})

    with pytest.raises(ValueError, match="required optimization parameter lr"):
        Needy([leaf(1.0)])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lr": -1.0}, "Invalid learning rate: -1.0"),
        ({"momentum": -1.0}, "Invalid momentum value: -1.0"),
        ({"weight_decay": -1.0}, "Invalid weight_decay value: -1.0"),
        ({"nesterov": True}, "Nesterov momentum requires a momentum and zero dampening"),
        ({"nesterov": True, "momentum": 0.9, "dampening": 0.1}, "Nesterov"),
    ],
)
def test_sgd_checks_its_options(options, words):
    with pytest.raises(ValueError, match=words):
        optim.SGD([leaf(1.0)], **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lr": -1.0}, "Invalid learning rate: -1.0"),
        ({"eps": -1.0}, "Invalid epsilon value: -1.0"),
        ({"betas": (1.0, 0.9)}, "Invalid beta parameter at index 0: 1.0"),
        ({"betas": (0.9, -0.1)}, "Invalid beta parameter at index 1: -0.1"),
        ({"weight_decay": -1.0}, "Invalid weight_decay value: -1.0"),
    ],
)
def test_adam_checks_its_options(options, words):
    with pytest.raises(ValueError, match=words):
        optim.Adam([leaf(1.0)], **options)


def test_zero_grad_forgets_or_clears():
    x = with_grad(1.0, 2.0)
    optimizer = optim.SGD([x], lr=0.1)
    grad = x.grad
    optimizer.zero_grad(set_to_none=False)
    assert x.grad is grad
    assert grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert x.grad is None


def test_zero_grad_cuts_a_gradient_with_history():
    x = leaf(1.0)
    (x.grad,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
    optim.SGD([x], lr=0.1).zero_grad(set_to_none=False)
    assert x.grad.grad_fn is None
    assert x.grad.tolist() == [0.0]


def test_parameters_without_gradient_stay():
    x, y = with_grad(1.0), leaf(2.0)
    optimizer = optim.SGD([x, y], lr=0.5, momentum=0.9)
    optimizer.step()
    assert (x.item(), y.item()) == (0.5, 2.0)
    assert list(optimizer.state) == [x]


def test_step_is_not_recorded_and_bumps_the_version_once():
    x = with_grad(1.0)
    version = x._version
    optim.SGD([x], lr=0.5).step()
    assert x.is_leaf
    assert x._version == version + 1


@pytest.mark.parametrize("method", [optim.SGD, optim.Adam, optim.AdamW])
def test_step_leaves_the_gradient_as_it_is(method):
    x = with_grad(1.0, 2.0)
    optimizer = method([x], lr=0.1, weight_decay=0.5, maximize=True)
    for _ in range(3):
        optimizer.step()
        assert x.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("method", [optim.SGD, optim.Adam])
def test_closure_runs_with_recording_and_its_loss_is_returned(method):
    x = leaf(3.0)
    optimizer = method([x], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 9.0
    assert x.item() < 3.0


def test_base_class_has_no_step():
    with pytest.raises(NotImplementedError):
        optim.Optimizer([leaf(1.0)], {}).step()


def test_state_dict_goes_by_numbers():
    x, y = with_grad(1.0), with_grad(2.0)
    optimizer = optim.SGD([{"params": [x]}, {"params": [y], "lr": 0.2}], lr=0.1, momentum=0.9)
    optimizer.step()
    state = optimizer.state_dict()
    assert sorted(state["state"]) == [0, 1]
    assert [group["params"] for group in state["param_groups"]] == [[0], [1]]
    assert state["state"][0]["momentum_buffer"].tolist() == [1.0]
    pickle.loads(pickle.dumps(state))


@pytest.mark.parametrize(
    ("method", "options"),
    [(optim.SGD, {"momentum": 0.9}), (optim.Adam, {"amsgrad": True}), (optim.AdamW, {})],
)
def test_loaded_optimizer_goes_on_where_the_saved_one_was(method, options):
    def run(optimizer, x, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            (x * x).sum().backward()
            optimizer.step()

    x = leaf(1.0, -2.0)
    optimizer = method([x], lr=0.05, **options)
    run(optimizer, x, 3)
    y = x.detach().clone().requires_grad_()
    other = method([y], lr=0.9, **options)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    run(optimizer, x, 3)
    run(other, y, 3)
    assert x.tolist() == y.tolist()
    assert other.param_groups[0]["lr"] == 0.05
    assert other.param_groups[0]["params"] == [y]


def test_loaded_state_takes_the_dtype_of_its_parameter():
    x = with_grad(1.0)
    optimizer = optim.SGD([x], lr=0.1, momentum=0.9)
    optimizer.step()
    y = torch.ones(1, dtype=torch.float64, requires_grad=True)
    other = optim.SGD([y], lr=0.1, momentum=0.9)
    other.load_state_dict(optimizer.state_dict())
    assert other.state[y]["momentum_buffer"].dtype is torch.float64


def test_groups_that_do_not_match_are_refused():
    one = optim.SGD([leaf(1.0)], lr=0.1)
    two = optim.SGD([leaf(1.0), leaf(2.0)], lr=0.1)
    apart = optim.SGD([{"params": leaf(1.0)}, {"params": leaf(2.0)}], lr=0.1)
    with pytest.raises(ValueError, match="different number of parameter groups"):
        one.load_state_dict(apart.state_dict())
    with pytest.raises(ValueError, match="doesn't match the size"):
        one.load_state_dict(two.state_dict())


def test_text_lists_the_options_of_each_group():
    text = repr(optim.SGD([leaf(1.0)], lr=0.1))
    assert text.startswith("SGD (\nParameter Group 0\n    dampening: 0\n")
    assert "    lr: 0.1\n" in text
    assert text.endswith("\n)")


def weight():
    return torch.ones(1, requires_grad=True)


def test_parameters_with_names():
    a, b = weight(), weight()
    optimizer = torch.optim.SGD([("a", a), ("b", b)], lr=0.5)
    (group,) = optimizer.param_groups
    assert group["param_names"] == ["a", "b"] and group["params"][1] is b
    (a * b).sum().backward()
    optimizer.step()
    assert a.item() == 0.5 and "param_names: ['a', 'b']" in repr(optimizer)
    optimizer.add_param_group({"params": [("c", weight())], "lr": 0.1})
    saved = optimizer.state_dict()
    assert [group["param_names"] for group in saved["param_groups"]] == [["a", "b"], ["c"]]
    module = torch.nn.Linear(1, 1)
    optimizer = torch.optim.Adam(module.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]


def test_loaded_names_win_over_those_there():
    named = torch.optim.SGD([("a", weight())], lr=0.1)
    named.load_state_dict(torch.optim.SGD([weight()], lr=0.3).state_dict())
    assert named.param_groups[0]["param_names"] == ["a"] and named.param_groups[0]["lr"] == 0.3
    named.load_state_dict(torch.optim.SGD([("z", weight())], lr=0.2).state_dict())
    assert named.param_groups[0]["param_names"] == ["z"]


def test_all_parameters_have_names_or_none():
    missing = "Some param names are missing"
    for params in ([("a", weight()), weight()], [weight(), ("a", weight())]):
        with pytest.raises(ValueError, match=missing):
            torch.optim.SGD(params, lr=0.1)
    optimizer = torch.optim.SGD([("a", weight())], lr=0.1)
    with pytest.raises(ValueError, match="cannot add param group without names"):
        optimizer.add_param_group({"params": weight()})
    optimizer = torch.optim.SGD([weight()], lr=0.1)
    with pytest.raises(ValueError, match="cannot add param group with names"):
        optimizer.add_param_group({"params": [("a", weight())]})
    with pytest.raises(TypeError, match="one of the params is int"):
        torch.optim.SGD([("a", 5)], lr=0.1)
    for pair in ((5, weight()), ("a", weight(), 1), ()):
        with pytest.raises(TypeError, match="pairs of name and Tensor"):
            torch.optim.SGD([pair], lr=0.1)


def test_what_is_no_tensor_of_this_package_is_named_with_the_way_out():
    class Parameter:
        def __array__(self):
            return np.ones(2)

    for params in ([Parameter()], [{"params": [Parameter()]}], [("w", Parameter())]):
        with pytest.raises(TypeError, match=r"one of the params is .*Parameter; .*from_dlpack"):
            optim.SGD(params, lr=0.1)
    with pytest.raises(TypeError, match=r"is numpy\.ndarray; .*Parameter\(from_numpy"):
        optim.SGD([np.ones(2)], lr=0.1)
    with pytest.raises(TypeError, match="one of the params is float$"):
        optim.SGD([1.0], lr=0.1)


class Decaying(optim.Optimizer):
    """An optimizer whose option came later; `__setstate__` adds it to older states."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr, "warm": True})

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("warm", False)


def test_states_come_in_by_setstate():
    optimizer = Decaying([leaf(1.0)], lr=0.1)
    older = optimizer.state_dict()
    del older["param_groups"][0]["warm"]
    optimizer.load_state_dict(older)
    assert optimizer.param_groups[0]["warm"] is False
    for copied in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        assert copied.param_groups[0]["warm"] is False and copied.defaults["warm"] is True


def options_added_to_older_states(library, name):
    made = getattr(library.optim, name)([library.ones(1, requires_grad=True)], lr=0.5)
    made.__setstate__({"state": {}, "param_groups": [{"params": []}]})
    return made.param_groups[0]


OLDER = {
    "SGD": {"momentum": 0.9, "dampening": 0, "weight_decay": 0},
    "Adam": {"betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0},
    "AdamW": {"betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.1},
    "Adagrad": {"lr_decay": 0, "eps": 1e-10, "weight_decay": 0, "initial_accumulator_value": 0},
    "Adadelta": {"rho": 0.9, "eps": 1e-6, "weight_decay": 0},
    "Adamax": {"betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0},
    "ASGD": {"lambd": 1e-4, "alpha": 0.75, "t0": 1e6, "weight_decay": 0},
    "NAdam": {"betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0, "momentum_decay": 4e-3},
    "RAdam": {"betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0},
    "RMSprop": {"alpha": 0.9, "eps": 1e-8, "weight_decay": 0},
    "Rprop": {"etas": (0.5, 1.2), "step_sizes": (1e-6, 50)},
}


@pytest.mark.parametrize("name", OLDER)
def test_groups_of_older_files_get_the_options_that_came_later(name):
    older, newer = with_grad(1.0), with_grad(1.0)
    options = {"lr": 0.1, **OLDER[name]}
    optimizer = getattr(optim, name)([older], lr=0.5)
    optimizer.load_state_dict({"state": {}, "param_groups": [{**options, "params": [0]}]})
    optimizer.step()
    getattr(optim, name)([newer], **options).step()
    assert older.item() == newer.item() != 1.0
    assert optimizer.param_groups[0].keys() == optimizer.defaults.keys() | {"params"}


@pytest.mark.parametrize("name", OLDER)
def test_options_that_came_later_are_those_of_torch(name):
    theirs = pytest.importorskip("torch")
    assert options_added_to_older_states(torch, name) == options_added_to_older_states(theirs, name)


@pytest.mark.parametrize("name", OLDER)
def test_states_are_in_the_order_of_torch(name):
    theirs = pytest.importorskip("torch")
    orders = []
    for library in (torch, theirs):
        x = library.ones(1, requires_grad=True)
        x.grad = library.ones(1)
        optimizer = getattr(library.optim, name)([x], lr=0.1, **OLDER[name])
        optimizer.step()
        orders.append(list(optimizer.state[x]))
    assert orders[0] == orders[1]


def test_loaded_lists_are_not_those_of_the_saved_state():
    x = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([x])
    optimizer.state[x] = {"a": [torch.ones(2), 3], "b": (torch.zeros(1), {"c": [4]}), "d": {5}}
    y = torch.ones(2, dtype=torch.float64, requires_grad=True)
    other = torch.optim.SGD([y])
    other.load_state_dict(optimizer.state_dict())
    optimizer.state[x]["a"].append(6)
    optimizer.state[x]["b"][1]["c"].append(7)
    optimizer.state[x]["d"].add(8)
    loaded = other.state[y]
    assert loaded["a"][0].dtype is torch.float64 and loaded["a"][1:] == [3]
    assert loaded["b"][0].dtype is torch.float64 and loaded["b"][1] == {"c": [4]}
    assert loaded["d"] == {5}
