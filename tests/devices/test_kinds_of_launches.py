"""Each launch says what sort of work it is."""

import re

import pytest
from grouping import each
from helpers import cases, make, one_dtype, outputs

import autograd_cy as ag
from autograd_cy._C.launch import capture

CASES = cases(lambda r: r.tests.samples)
RECORDS = sorted({p.values[0].record.key: p.values[0].record for p in CASES}.items())
REFUSED = re.compile(": can't be captured: ")
# Launches of no such sort, and why.
OTHERS = {}


def launched(run):
    """(name, kind) of each launch, or none if the call can't be captured."""
    try:
        program = capture(run)
    except RuntimeError as error:
        if not REFUSED.search(str(error)):
            raise
        return []
    return list(zip(program.names(), program.kinds(), strict=True))


@each("record", [pytest.param(r, id=key) for key, r in RECORDS])
def test_no_launch_of_an_operator_is_of_another_kind_without_a_reason(record):
    for param in cases(lambda r: r is record):
        call = make(param.values[0], one_dtype(record))
        ins = call.tensors()
        found = launched(lambda call=call, ins=ins: outputs(call(ins)))
        assert {name for name, kind in found if kind == "OTHER"} <= OTHERS.keys()


def stepped(method):
    x = ag.ones(3, requires_grad=True)
    x.grad = ag.ones(3)
    optimizer = getattr(ag.optim, method)([x], lr=0.1)
    optimizer.step()
    return launched(optimizer.step)


@pytest.mark.parametrize(
    "method",
    ["SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop"],
)
def test_steps_of_optimizers_are_steps(method):
    assert {kind for _, kind in stepped(method)} == {"STEP"}


RANDOM = {
    "uniform_": lambda x: x.uniform_(),
    "normal_": lambda x: x.normal_(),
    "exponential_": lambda x: x.exponential_(),
    "bernoulli_": lambda x: x.bernoulli_(0.5),
    "bernoulli": lambda x: ag.bernoulli(x),
    "random_": lambda x: x.random_(3),
    "randperm": lambda x: ag.randperm(5),
    "dropout": lambda x: ag.dropout(x, 0.5, True),
    "rrelu": lambda x: ag.rrelu(x, 0.1, 0.3, True),
}


@pytest.mark.parametrize("name", RANDOM)
def test_what_draws_is_random(name):
    x = ag.full((40,), 0.5)
    assert "RANDOM" in [kind for _, kind in launched(lambda: RANDOM[name](x))]


def test_scales_of_losses_are_updated_by_a_step():
    scaler = ag.amp.GradScaler("cpu", init_scale=8.0)
    x = ag.ones(3, requires_grad=True)
    optimizer = ag.optim.SGD([x], lr=0.1)
    scaler.scale(x.sum()).backward()
    scaler.step(optimizer)
    assert "STEP" in [kind for _, kind in launched(scaler.update)]
