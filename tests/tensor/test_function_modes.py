"""`TorchFunctionMode`: functions, operators and attributes dispatch to the innermost mode."""

import pickle
import threading
import types

import pytest

import autograd_cy as torch
from autograd_cy.overrides import (
    BaseTorchFunctionMode,
    TorchFunctionMode,
    _get_current_function_mode,
    _get_current_function_mode_stack,
    get_ignored_functions,
    get_overridable_functions,
)


class Logged(TorchFunctionMode):
    def __init__(self, log, name=""):
        self.log, self.name = log, name

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.log.append(self.name + func.__name__)
        return func(*args, **(kwargs or {}))


def test_functions_methods_and_constructors_dispatch():
    log = []
    x = torch.ones(2, 3, requires_grad=True)
    with Logged(log):
        y = torch.add(x, x).sum(axis=0)
        y.clone().mul_(2)
        torch.zeros(2)
        y.sum().backward()
    assert log[:6] == ["add", "sum", "clone", "mul_", "zeros", "sum"] and len(log) == 7
    assert x.grad.tolist() == [[2.0] * 3] * 2


def test_what_modes_put_in_place_is_gone_after_the_last():
    before = dict(vars(torch.Tensor))
    for _ in range(2):
        with Logged([]), Logged([]):
            assert vars(torch.Tensor)["shape"] is not before["shape"]
        assert dict(vars(torch.Tensor)) == before


OPERATORS = {
    "add": lambda x: x + 1,
    "__rsub__": lambda x: 1 - x,
    "mul": lambda x: 2 * x,
    "div": lambda x: x / 2,
    "__floordiv__": lambda x: x // 2,
    "remainder": lambda x: x % 2,
    "__pow__": lambda x: x**2,
    "matmul": lambda x: x @ x,
    "lt": lambda x: x < 1,
    "le": lambda x: x <= 1,
    "gt": lambda x: x > 1,
    "ge": lambda x: x >= 1,
    "__eq__": lambda x: x == 1,
    "ne": lambda x: x != 1,
    "neg": lambda x: -x,
    "positive": lambda x: +x,
    "abs": lambda x: abs(x),
    "__getitem__": lambda x: x[0],
    "__get__": lambda x: x.shape,
}
ON_INTEGERS = {
    "__and__": lambda x: x & 1,
    "__or__": lambda x: x | 1,
    "__xor__": lambda x: x ^ 1,
    "__invert__": lambda x: ~x,
    "__lshift__": lambda x: x << 1,
    "__rshift__": lambda x: x >> 1,
}


METHODS_IN_PYTHON = [
    name
    for name, value in vars(torch.Tensor).items()
    if isinstance(value, types.FunctionType) and not name.startswith("__")
]


def test_methods_in_python_dispatch():
    class Answers(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func, args, kwargs

    class Own(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func, args, kwargs

    before = {name: vars(torch.Tensor)[name] for name in METHODS_IN_PYTHON}
    x, own = torch.ones(2), torch.ones(2).as_subclass(Own)
    assert {"to", "double", "contiguous", "type", "register_hook", "unique"} <= set(before)
    for name, method in before.items():
        with Answers():
            func, args, kwargs = getattr(x, name)(3, unheard=4)
            assert func is getattr(torch.Tensor, name) and func.__name__ == method.__name__
            assert {method: "found"}[func] and func == method and method == func, name
            assert args[0] is x and args[1:] == (3,) and kwargs == {"unheard": 4}
            assert func.__doc__ == method.__doc__ and func != torch.Tensor.sum
        func, args, kwargs = getattr(own, name)(3, unheard=4)
        assert func is method and args[0] is own and kwargs == {"unheard": 4}
    assert before == {name: vars(torch.Tensor)[name] for name in METHODS_IN_PYTHON}


def test_methods_in_python_dispatch_to_each_mode_and_then_to_the_class():
    class Own(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log.append(f"class {func.__name__}")
            return super().__torch_function__(func, types, args, kwargs)

    log = []
    x, own = torch.ones(2), torch.ones(2).as_subclass(Own)
    with Logged(log, "outer "), Logged(log, "inner "):
        y = x.to(torch.float64)
        assert log == ["inner to", "outer to"] and y is not x
        log.clear()
        z = own.double()
    assert type(z) is Own and z.dtype == torch.float64
    assert log[:3] == ["inner double", "outer double", "class double"]
    log.clear()
    with Logged(log):
        assert pickle.loads(pickle.dumps(torch.Tensor.to)) is torch.Tensor.to
        assert "function" in repr(torch.Tensor.to) and torch.Tensor.cpu(x) is x
    assert log == ["cpu"]


@pytest.mark.parametrize("name", [*OPERATORS, *ON_INTEGERS])
def test_operators_of_plain_tensors_dispatch(name):
    x = torch.ones(3, 3) if name in OPERATORS else torch.tensor([1, 2, 3])
    operator = OPERATORS.get(name) or ON_INTEGERS[name]
    expected, log = operator(x), []
    with Logged(log):
        found = operator(x)
    assert log == [name]
    assert torch.equal(found, expected) if isinstance(found, torch.Tensor) else found == expected
    operator(x)
    assert log == [name]


def add(x):
    x += 1


def multiply(x):
    x *= 2


def raised(x):
    x **= 2


def shifted(x):
    x <<= 1


def assigned(x):
    x[0] = 5


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("add_", add),
        ("mul_", multiply),
        ("__ipow__", raised),
        ("__ilshift__", shifted),
        ("__setitem__", assigned),
    ],
)
def test_changes_in_place_dispatch(name, change):
    x, expected, log = torch.tensor([1, 2]), torch.tensor([1, 2]), []
    change(expected)
    with Logged(log):
        change(x)
    assert log == [name] and torch.equal(x, expected)


def test_modes_nest_and_each_runs_inside_of_those_around_it():
    log = []
    with Logged(log, "outer ") as outer, Logged(log, "inner ") as inner:
        assert _get_current_function_mode() is inner
        assert _get_current_function_mode_stack() == [outer, inner]
        torch.add(torch.ones(1), 1)
    assert log[-2:] == ["inner add", "outer add"]
    assert _get_current_function_mode() is None


def test_a_result_replaces_and_not_implemented_dispatches_on():
    class Answer(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return 42 if func in (torch.add, torch.Tensor.add) else NotImplemented

    class Own(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "own"

    x, own = torch.ones(1), torch.ones(1).as_subclass(Own)
    with Answer():
        assert torch.add(x, x) == 42 and x + 1 == 42
        assert torch.mul(own, own) == "own"
        with pytest.raises(TypeError, match=r"Multiple dispatch failed.*nor by the mode"):
            torch.mul(x, x)
    with TorchFunctionMode(), pytest.raises(NotImplementedError, match="must define"):
        torch.mul(x, x)


def test_types_are_those_of_subclasses():
    seen = []

    class Types(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(tuple(types))
            return func(*args, **(kwargs or {}))

    class Own(torch.Tensor):
        pass

    x = torch.ones(1)
    own = x.as_subclass(Own)
    with Types():
        torch.add(x, x)
        made = torch.add(x, own)
        assert type(made) is Own
    assert seen == [(), (Own,)]


def test_an_exception_leaves_the_mode():
    log = []
    with pytest.raises(ValueError, match="stop"), Logged(log):
        raise ValueError("stop")
    assert (torch.ones(1) + 1).shape == (1,) and log == []


def test_disabling_reaches_modes_too():
    log = []
    with Logged(log):
        with torch._C.DisableTorchFunction():
            torch.ones(1) + 1
        with torch._C.DisableTorchFunctionSubclass():
            torch.ones(1)
    assert log == ["ones"]


def test_other_threads_do_not_dispatch():
    log, seen = [], []
    x = torch.ones(2)

    def work():
        seen.append(((x + 1).tolist(), torch.exp(x).shape, x.shape, (-x)[0].item()))

    with Logged(log):
        other = threading.Thread(target=work)
        other.start()
        other.join()
    assert seen == [([2.0, 2.0], (2,), (2,), -1.0)] and log == []


def test_derivatives_are_recorded_under_a_mode():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with BaseTorchFunctionMode():
        y = (x * x)[1:].sum() + 2 * x.exp().mean()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
    assert torch.allclose(g, torch.tensor([0.0, 4.0]) + x.exp())
    assert torch.equal(torch.autograd.grad(g.sum(), x)[0], torch.tensor([0.0, 2.0]) + x.exp())


def test_what_can_be_overridden_is_listed():
    functions = get_overridable_functions()
    assert torch.add in functions[torch] and torch.Tensor.add_ in functions[torch.Tensor]
    assert torch.Tensor.shape.__get__ in functions[torch.Tensor]
    assert torch.hstack in functions[torch] and torch.linalg.norm in functions[torch.linalg]
    ignored = get_ignored_functions()
    assert torch.tensor in ignored and not ignored & set(functions[torch])


def test_operators_and_methods_without_a_function_are_listed():
    listed = get_overridable_functions()[torch.Tensor]
    for name in "__add__ __radd__ __iadd__ __getitem__ __setitem__ __len__ __bool__ add".split():
        assert getattr(torch.Tensor, name) in listed, name


def test_functions_of_nn_functional_can_be_overridden():
    class Answer:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    functional = torch.nn.functional
    listed = get_overridable_functions()[functional]
    assert functional.relu in listed and functional.softmax in listed
    older = {"sigmoid", "tanh", "upsample", "upsample_bilinear", "upsample_nearest"}
    for name in functional.__all__:  # older names of what is asked are not, as in torch
        assert (getattr(functional, name) in listed) == (name not in older), name
    x = Answer()
    for (
        name
    ) in "relu6 elu hardtanh leaky_relu mish softmin softsign tanhshrink interpolate".split():
        assert getattr(functional, name)(x) == name
    assert functional.relu(x) == "relu" and functional.softmax(x, 0) == "softmax"
    assert functional.mse_loss(x, torch.ones(1)) == functional.mse_loss(torch.ones(1), target=x)
    assert functional.affine_grid(x, [1, 1, 2, 2]) == "affine_grid"
    assert functional.multi_margin_loss(x, x) == "multi_margin_loss"
    log = []
    with Logged(log):
        functional.elu(torch.ones(2))
    assert log == ["ones", "elu"]


@pytest.mark.parametrize("module", [torch.linalg, torch.special])
def test_functions_of_linalg_and_special_can_be_overridden(module):
    listed = get_overridable_functions()[module]
    functions = {name for name in module.__all__ if name != "LinAlgError"}
    assert [name for name in sorted(functions) if getattr(module, name) not in listed] == []


@pytest.mark.parametrize(
    "function", [torch.special.softmax, torch.special.log_softmax, torch.linalg.vander]
)
def test_functions_made_of_others_dispatch_by_their_own_name(function):
    asked = []

    class Asked(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    x = torch.tensor([1.0, 2.0])
    given = {} if function is torch.linalg.vander else {"dim": 0}
    result = function(x.as_subclass(Asked), **given)
    assert asked == [function] and type(result) is Asked
    assert torch.equal(result.as_subclass(torch.Tensor), function(x, **given))


def test_push_is_the_older_way():
    with pytest.warns(UserWarning, match="no longer necessary"):
        mode = BaseTorchFunctionMode.push()
    with mode:
        assert _get_current_function_mode() is mode


def test_leaving_without_a_mode_is_an_error():
    with pytest.raises(RuntimeError, match="no function mode"):
        torch.overrides._pop_mode()
