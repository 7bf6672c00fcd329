"""A parameter that a group lists twice: it is stepped twice, each time from what was left."""

import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy import optim

DUPLICATES = pytest.mark.filterwarnings("ignore:optimizer contains a parameter group")
OPTIONS = [
    *(("Adam", {"lr": 0.1, "amsgrad": amsgrad}) for amsgrad in (False, True)),
    *((name, {"lr": 0.1}) for name in ("AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop")),
    *((name, {"lr": 0.1}) for name in ("Adagrad", "Adadelta", "ASGD", "SGD")),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
]


def after(library, name, options, order, steps):
    params = [
        library.tensor(values, dtype=library.float64, requires_grad=True)
        for values in ([1.0, 2.0], [3.0])
    ]
    method = getattr(library.optim, name)([params[i] for i in order], **options)
    for _ in range(steps):
        for param in params:
            param.grad = param.detach() * 2 - 1
        method.step()
    state = {key: float(x) for key, x in method.state[params[0]].items() if key == "step"}
    return [param.tolist() for param in params], state


@DUPLICATES
@each("name, options", [pytest.param(*x, id=f"{x[0]}-{x[1]}") for x in OPTIONS])
def test_steps_are_those_of_torch(name, options):
    torch = pytest.importorskip("torch")
    for order in ((0, 0), (0, 1, 0), (1, 0, 0, 1)):
        found, count = after(ag, name, options, order, 3)
        expected, theirs = after(torch, name, options, order, 3)
        assert found == [pytest.approx(x, rel=1e-6) for x in expected]
        assert count == theirs


@DUPLICATES
@each("name, options", [pytest.param(*x, id=f"{x[0]}-{x[1]}") for x in OPTIONS[:-2]])
def test_one_step_of_both_is_two_steps_with_one_gradient(name, options):
    twice, once = (ag.tensor([1.0, -2.0], requires_grad=True) for _ in range(2))
    both = getattr(optim, name)([twice, twice], **options)
    alone = getattr(optim, name)([once], **options)
    twice.grad, once.grad = (ag.tensor([0.5, 3.0]) for _ in range(2))
    both.step()
    alone.step()
    alone.step()
    assert ag.equal(twice, once)
    assert both.state[twice]["step"] == alone.state[once]["step"] == 2


def test_parameters_listed_twice_are_warned_of():
    x = ag.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.Adam([x, x])
