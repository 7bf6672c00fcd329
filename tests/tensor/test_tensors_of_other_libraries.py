"""Tensors of two libraries that both answer `__torch_function__` are refused."""

import pytest

import autograd_cy as ag


class Foreign:
    """A tensor of another library, which takes every function for its own."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


CALLS = {
    "add": lambda m, t: ag.add(m, t),
    "cat": lambda m, t: ag.cat([m, t]),
    "add_": lambda m, t: m.add_(t),
    "copy_": lambda m, t: m.copy_(t),
    "exp": lambda m, t: ag.exp(t),
    "linear": lambda m, t: ag.nn.functional.linear(m, t),
    "m + t": lambda m, t: m + t,
    "t + m": lambda m, t: t + m,
    "m == t": lambda m, t: m == t,
    "m < t": lambda m, t: m < t,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_class_that_calls_the_function_again_is_a_type_error(call):
    with pytest.raises(TypeError):
        call(ag.ones(3), Foreign())


def test_the_error_says_how_to_convert():
    with pytest.raises(TypeError, match=r"can't mix.*autograd_cy.from_dlpack\(x\).*x.numpy\(\)"):
        ag.cat([ag.ones(3), Foreign()])


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_tensors_of_torch_are_refused(call):
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError):
        call(ag.ones(3), torch.ones(3))


def test_functions_of_torch_refuse_our_tensors():
    torch = pytest.importorskip("torch")
    for call in (
        lambda: torch.exp(ag.ones(3)),
        lambda: torch.cat([torch.ones(3), ag.ones(3)]),
        lambda: torch.ones(3) == ag.ones(3),
    ):
        with pytest.raises(TypeError, match="from_dlpack|unsupported operand"):
            call()


def test_a_second_call_with_other_arguments_is_answered():
    class Wrapped(Foreign):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(*(ag.ones(2) if isinstance(x, cls) else x for x in args))

    for _ in range(2):
        assert ag.add(ag.ones(2), Wrapped()).tolist() == [2, 2]


class OwnSubclass(ag.Tensor):
    """Its comparisons try the other side after a TypeError, and would be False in the end."""


@pytest.mark.parametrize("name", ["m + t", "t + m", "m == t", "m < t", "add"])
def test_a_subclass_of_ours_refuses_too(name):
    mine = ag.ones(3).as_subclass(OwnSubclass)
    with pytest.raises(TypeError):
        CALLS[name](mine, Foreign())
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError):
        CALLS[name](mine, torch.ones(3))
