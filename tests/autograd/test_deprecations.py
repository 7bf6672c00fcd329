"""Interfaces of older versions of torch: tensors, warnings and errors that name the replacement."""

import importlib
import warnings

import pytest

import autograd_cy
from autograd_cy.autograd import Function, Variable


def functions(torch):
    """Functions as they were written for instances."""

    class Old(torch.autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, grad):
            return grad * 2

    class WithState(Old):
        def __init__(self, factor):
            self.factor = factor

    class InPlace(torch.autograd.function.InplaceFunction):
        def forward(self, x):
            return x * 2

    return Old, WithState, InPlace


def volatile_of(torch, value=None):
    t = torch.ones(2)
    if value is not None:
        t.volatile = value
    return t.volatile


# Each of both libraries: the same result, type of error, beginning of the text, and warnings.
CASES = {
    "Variable": lambda t: t.autograd.Variable(t.ones(2)).tolist(),
    "Variable that requires grad": lambda t: t.autograd.Variable(t.ones(2), True).requires_grad,
    "volatile Variable that requires grad": lambda t: t.autograd.Variable(
        t.ones(2), requires_grad=True, volatile=True
    ),
    "volatile Variable": lambda t: t.autograd.Variable(t.ones(2), volatile=True).tolist(),
    "Variable of a list": lambda t: t.autograd.Variable([1.0]),
    "Variable with creator": lambda t: t.autograd.Variable(t.ones(2), creator=None),
    "isinstance": lambda t: isinstance(t.ones(2), t.autograd.Variable),
    "volatile": lambda t: volatile_of(t),
    "set volatile": lambda t: volatile_of(t, True),
    "reinforce": lambda t: t.ones(2).reinforce(1),
    "resize": lambda t: t.ones(2).resize(2, 1).tolist(),
    "resize to another number": lambda t: t.ones(2).resize(3),
    "resize_as": lambda t: t.ones(2).resize_as(t.ones(2, 1)).tolist(),
    "range": lambda t: t.range(1, 2, 0.25).tolist(),
    "range of integers": lambda t: t.range(3, 1, -1, dtype=t.int64).tolist(),
    "range against its step": lambda t: t.range(3, 1),
    "range without step": lambda t: t.range(1, 3, 0),
    "range without end": lambda t: t.range(1, float("inf")),
    "symeig": lambda t: t.symeig(t.ones(1, 1)),
    "symeig of a tensor": lambda t: t.ones(1, 1).symeig(),
    "solve": lambda t: t.solve(t.ones(1, 1), t.ones(1, 1)),
    "solve of a tensor": lambda t: t.ones(1, 1).solve(t.ones(1, 1)),
    "instance": lambda t: functions(t)[0]() is None,
    "call of an instance": lambda t: functions(t)[0]()(t.ones(1)),
    "call of an instance with state": lambda t: functions(t)[1](2)(t.ones(1)),
    "call of an in-place instance": lambda t: functions(t)[2](True)(t.ones(1)),
    "apply of a method": lambda t: functions(t)[0].apply(t.ones(1)).tolist(),
    "mark_shared_storage": lambda t: t.autograd.function.FunctionCtx().mark_shared_storage(),
    "init.constant": lambda t: t.nn.init.constant(t.zeros(2), 3).tolist(),
    "init.eye": lambda t: t.nn.init.eye(t.zeros(2, 2)).tolist(),
    "init.uniform": lambda t: t.nn.init.uniform(t.zeros(2), 1, 1).tolist(),
    "init.normal": lambda t: t.nn.init.normal(t.zeros(2), 3, 0).tolist(),
    **{
        f"init.{name}": lambda t, name=name: getattr(t.nn.init, name)(t.ones(2, 2)).shape == (2, 2)
        for name in "xavier_uniform xavier_normal kaiming_uniform kaiming_normal".split()
    },
}
# How much of the text is torch's: after that comes the way out.
SAME = {
    "Variable with creator": "'creator' is an invalid keyword argument for",
    "reinforce": "reinforce() was removed.\nUse",
    "solve": "This function was deprecated since version 1.9 and is now removed. `torch.solve` is",
    "solve of a tensor": "This function was deprecated since version 1.9 and is now removed.",
    "call": "Legacy autograd function with non-static forward method is deprecated. Please use "
    "new-style autograd function with static forward method. (",
}


def outcome(module, case):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = CASES[case](module)
        except Exception as error:
            result = type(error), str(error).strip()
    return result, {(w.category, str(w.message).replace("torch.", "")) for w in caught}


@pytest.mark.parametrize("case", CASES)
def test_as_in_torch(case):
    torch = pytest.importorskip("torch")
    theirs, their_warnings = outcome(torch, case)
    ours, our_warnings = outcome(autograd_cy, case)
    kind = "call" if case.startswith("call") else case
    if kind in SAME:
        assert ours[0] is theirs[0]
        assert ours[1].startswith(SAME[kind]) and theirs[1].startswith(SAME[kind])
    else:
        assert ours == theirs
    assert {(c, w.replace("autograd_cy.", "")) for c, w in our_warnings} == their_warnings


def test_errors_name_the_way_out():
    old, _, _ = functions(autograd_cy)
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = old()
    with pytest.raises(RuntimeError, match=r"Old\.apply.*autograd_cy\.legacy"):
        instance(autograd_cy.ones(1))
    with pytest.raises(RuntimeError, match="log"):
        autograd_cy.ones(1).reinforce(1)
    with pytest.raises(TypeError, match="grad_fn took the place of creator"):
        Variable(autograd_cy.ones(1), creator=None)


def test_a_resize_leads_gradients_through():
    x = autograd_cy.ones(2, 3, requires_grad=True)
    with pytest.warns(UserWarning, match="non-inplace resize"):
        x.t().resize(6).sum().backward()
    assert x.grad.shape == (2, 3)


def test_old_names_are_found_when_asked_for_and_shadow_nothing():
    assert "range" not in autograd_cy.__all__
    with pytest.warns(UserWarning, match="range is deprecated"):
        assert autograd_cy.range(1, 2, requires_grad=True).requires_grad
    assert range(3)[1] == 1 and importlib.import_module("autograd_cy").arange(2).tolist() == [0, 1]


def test_static_functions_are_what_is_asked_for():
    class New(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = autograd_cy.ones(1, requires_grad=True)
    New.apply(x).backward()
    assert x.grad.item() == 2
