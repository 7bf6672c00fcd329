"""Options of optimizers at the edge of what is allowed, as torch allows it; order of the groups."""

import inspect
import math

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy import optim
from autograd_cy.optim._fused import FLAGS as FLAGS_OF_STEPS

METHODS = ["SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "Adagrad"]
METHODS += ["Adadelta", "ASGD", "LBFGS"]


def leaf(library=ag):
    return library.tensor([1.0, 2.0], requires_grad=True)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("lr", [[0.1, 0.2], []])
def test_rates_of_several_elements_are_refused(name, lr):
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        getattr(optim, name)([leaf()], lr=ag.tensor(lr))


@pytest.mark.parametrize("name", METHODS)
def test_rates_of_one_element_are_taken(name):
    for lr in (ag.tensor(0.5), ag.tensor([0.5])):
        assert getattr(optim, name)([leaf()], lr=lr).param_groups[0]["lr"] is lr


PAIRS = [(name, "betas") for name in ("Adam", "AdamW", "Adamax", "NAdam", "RAdam")]
PAIRS += [("Rprop", "etas"), ("Rprop", "step_sizes")]


@pytest.mark.parametrize(("name", "option"), PAIRS)
def test_pairs_are_pairs(name, option):
    for given, error in (((0.5,), IndexError), ((0.5, 1.5, 0.9), ValueError), (0.5, TypeError)):
        with pytest.raises(error, match=f"{option} must be two numbers, but got"):
            getattr(optim, name)([leaf()], **{option: given})


@pytest.mark.parametrize(("name", "option"), PAIRS)
def test_pairs_of_groups_are_pairs(name, option):
    x = leaf()
    method = getattr(optim, name)([{"params": [x], option: (0.5,)}])
    x.grad = ag.ones(2)
    with pytest.raises(ValueError, match="not enough values"):
        method.step()
    assert x.tolist() == [1, 2]


OPTIONS = {
    "SGD": ["lr", "momentum", "dampening", "weight_decay"],
    "Adam": ["lr", "eps", "weight_decay"],
    "Adamax": ["lr", "eps", "weight_decay"],
    "NAdam": ["lr", "eps", "weight_decay", "momentum_decay"],
    "RAdam": ["lr", "eps", "weight_decay"],
    "RMSprop": ["lr", "alpha", "eps", "weight_decay", "momentum"],
    "Rprop": ["lr"],
    "Adagrad": ["lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps"],
    "Adadelta": ["lr", "rho", "eps", "weight_decay"],
    "ASGD": ["lr", "lambd", "alpha", "t0", "weight_decay"],
}


@each("name", [pytest.param(name, id=name) for name in OPTIONS])
def test_nan_is_taken_where_torch_takes_it(name):
    torch = pytest.importorskip("torch")
    for option in OPTIONS[name]:
        for value in (math.nan, math.inf, -1.0):
            found = []
            for library in (ag, torch):
                try:
                    x = leaf(library)
                    method = getattr(library.optim, name)([x], **{option: value})
                    x.grad = library.tensor([1.0, -3.0])
                    method.step()
                    found.append(pytest.approx(x.tolist(), nan_ok=True))
                except ValueError as error:
                    found.append(str(error))
            assert found[0] == (found[1].expected if hasattr(found[1], "expected") else found[1])


def test_a_rate_that_is_nan():
    x = leaf()
    method = optim.SGD([x], lr=math.nan, momentum=math.nan, weight_decay=math.nan)
    assert math.isnan(method.param_groups[0]["lr"])
    with pytest.raises(ValueError, match="Invalid learning rate: nan"):
        optim.Adam([x], lr=math.nan)


def test_a_gradient_without_a_sign_moves_nothing():
    for grad in ([1.0, math.nan], [1.0, 0.0]):
        x = leaf()
        method = optim.Rprop([x], lr=0.01)
        for _ in range(2):
            x.grad = ag.tensor(grad)
            method.step()
        assert x.tolist() == pytest.approx([0.978, 2.0])
        assert method.state[x]["step_size"].tolist() == pytest.approx([0.012, 0.01])
    x.grad = ag.tensor([1.0, 2.0])
    method.step()
    assert x.tolist() == pytest.approx([0.9636, 1.99])


@each("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_gradients_without_a_sign_as_in_torch(dtype):
    torch = pytest.importorskip("torch")
    found = []
    for library in (ag, torch):
        x = library.tensor([1.0, 2.0, 3.0, 4.0], dtype=getattr(library, dtype), requires_grad=True)
        method = library.optim.Rprop([x], lr=0.5)
        for grad in (
            [1.0, math.nan, math.inf, -1.0],
            [math.nan, 1.0, math.inf, math.nan],
            [1.0, 1.0, -1.0, 2.0],
        ):
            x.grad = library.tensor(grad, dtype=x.dtype)
            method.step()
        found.append([str(complex(v)) for v in x.tolist()])
    assert found[0] == found[1]


def test_bounds_of_steps_are_kept_in_the_order_of_torch():
    steps = {}
    for bounds in ((0.5, 0.1), (1e-6, 50), (math.nan, 1.0), (0.5, math.nan)):
        x = leaf()
        method = optim.Rprop([x], lr=0.01, step_sizes=bounds)
        x.grad = ag.ones(2)
        method.step()
        steps[bounds] = 1 - x[0].item()
    assert list(steps.values()) == pytest.approx([0.1, 0.01, math.nan, math.nan], nan_ok=True)


def test_options_stand_in_groups_in_the_order_of_torch():
    torch = pytest.importorskip("torch")
    for name in METHODS:
        orders = []
        for library in (ag, torch):
            method = getattr(library.optim, name)([{"lr": 0.5, "params": [leaf(library)]}])
            again = getattr(library.optim, name)([leaf(library)])
            again.load_state_dict(method.state_dict())
            orders.append(
                [
                    list(group)
                    for group in (
                        method.defaults,
                        method.param_groups[0],
                        method.state_dict()["param_groups"][0],
                        again.param_groups[0],
                    )
                ]
            )
        assert orders[0] == orders[1], name


def test_saved_groups_end_with_their_parameters():
    for name in METHODS:
        saved = getattr(optim, name)([leaf()]).state_dict()["param_groups"][0]
        assert next(iter(saved)) == "lr" and list(saved)[-1] == "params"


FLAGS = [
    (name, option)
    for name in optim.__all__
    if name in METHODS
    for option, parameter in inspect.signature(getattr(optim, name)).parameters.items()
    if isinstance(parameter.default, bool) and option not in ("capturable", "differentiable")
]


@pytest.mark.parametrize("differentiable", [False, True])
@pytest.mark.parametrize(("name", "flag"), FLAGS)
def test_flags_are_what_their_truth_is(name, flag, differentiable):
    """Programs have them from files and command lines: 0, 1, None and NumPy's."""

    def stepped(value):
        x = ag.tensor([1.0, 2.0])
        options = {"momentum": 0.9} if flag in ("nesterov", "centered") else {}
        optimizer = getattr(optim, name)(
            [x], lr=0.1, differentiable=differentiable, **options, **{flag: value}
        )
        for grad in ([1.0, -2.0], [0.5, 1.0]):
            x.grad = ag.tensor(grad)
            optimizer.step()
        return x.tolist()

    on, off = stepped(True), stepped(False)
    assert all(stepped(value) == on for value in (1, 1.0, np.True_, "yes"))
    assert all(stepped(value) == off for value in (0, None, np.False_, ""))


def test_all_flags_are_known():
    known = {option for _, option in FLAGS}
    assert known == FLAGS_OF_STEPS | {"maximize"}
