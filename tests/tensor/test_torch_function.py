"""Dispatch to __torch_function__: its order, what subclasses get back, and that nothing is lost."""

import copy
import inspect
import pickle
from functools import partial
from typing import ClassVar

import pytest
from grouping import each

import autograd_cy as torch
from autograd_cy import Tensor
from autograd_cy._C import overrides as compiled


class Kept(Tensor):
    """A subclass without a protocol of its own."""


class Logged(Tensor):
    calls: ClassVar[list] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append((func, tuple(types)))
        return super().__torch_function__(func, types, args, kwargs)


class Foreign:
    """A class with the protocol that is no tensor."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, args, kwargs


class Silent:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Answering(Tensor):
    """Answer everything without computing."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "answered"


def kept(*shape):
    return torch.ones(*(shape or (3,))).as_subclass(Kept)


def logged():
    x = torch.ones(3).as_subclass(Logged)
    Logged.calls.clear()
    return x


@pytest.mark.parametrize(
    "make",
    [
        lambda d, t: d + 1,
        lambda d, t: 1 + d,
        lambda d, t: t + d,
        lambda d, t: d - t,
        lambda d, t: t - d,
        lambda d, t: 2 / d,
        lambda d, t: d**2,
        lambda d, t: 2**d,
        lambda d, t: d // 2,
        lambda d, t: d @ t,
        lambda d, t: -d,
        lambda d, t: abs(d),
        lambda d, t: d == t,
        lambda d, t: d < 1,
        lambda d, t: d[0],
        lambda d, t: d[1:],
        lambda d, t: d.sin(),
        lambda d, t: torch.sin(d),
        lambda d, t: torch.sin(input=d),
        lambda d, t: torch.add(t, d),
        lambda d, t: torch.cat([t, d]),
        lambda d, t: torch.stack((t, d)),
        lambda d, t: torch.hstack((t, d)),
        lambda d, t: torch.where(t > 0, t, d),
        lambda d, t: d.sum(),
        lambda d, t: torch.sum(d, 0),
        lambda d, t: d.max(0).values,
        lambda d, t: d.split(2)[1],
        lambda d, t: d.view(3, 1),
        lambda d, t: d.detach(),
        lambda d, t: d.clone(),
        lambda d, t: d.data,
        lambda d, t: d.T,
        lambda d, t: d.real,
        lambda d, t: d.to(torch.float64),
        lambda d, t: d.double(),
        lambda d, t: d.new_zeros(2),
        lambda d, t: torch.zeros_like(d),
        lambda d, t: next(iter(d)),
        lambda d, t: d.requires_grad_(),
        lambda d, t: torch.nn.functional.relu(d),
        lambda d, t: torch.nn.functional.linear(d, torch.ones(2, 3)),
        lambda d, t: torch.autograd.grad((d.requires_grad_() * 2).sum(), d)[0],
        lambda d, t: copy.copy(d),
        lambda d, t: copy.deepcopy(d),
        lambda d, t: pickle.loads(pickle.dumps(d)),
    ],
)
def test_results_are_of_the_subclass(make):
    assert type(make(kept(), torch.ones(3))) is Kept


def test_values_and_history_go_through():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    d = x.as_subclass(Kept)
    assert d._base is x and not d.is_leaf
    (d * d).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    d = x.detach().as_subclass(Kept)
    d += 1
    assert type(d) is Kept and x.tolist() == [2.0, 3.0]


def test_numbers_shapes_and_text_are_themselves():
    d = kept()
    assert d.shape == (3,) and d.dtype is torch.float32 and len(d) == 3 and d.dim() == 1
    assert d.tolist() == [1.0] * 3 and float(d[0]) == 1.0 and bool(d[0])
    assert torch.numel(d) == 3 and torch.allclose(d, d)
    assert "1., 1., 1." in repr(d)
    assert (d == "text") is False
    assert d in {d: 1}


@pytest.mark.parametrize(
    ("call", "func"),
    [
        (lambda d: d + 1, Tensor.add),
        (lambda d: 1 + d, Tensor.add),
        (lambda d: torch.ones(3) * d, Tensor.mul),
        (lambda d: d - 1, Tensor.sub),
        (lambda d: 1 - d, Tensor.__rsub__),
        (lambda d: d < 1, Tensor.lt),
        (lambda d: -d, Tensor.neg),
        (lambda d: d[0], Tensor.__getitem__),
        (lambda d: d.sin(), Tensor.sin),
        (lambda d: torch.sin(d), torch.sin),
        (lambda d: Tensor.sin(d), Tensor.sin),
        (lambda d: torch.cat([torch.ones(1), d]), torch.cat),
        (lambda d: torch.isclose(d, d), torch.isclose),
        (lambda d: d.shape, Tensor.shape.__get__),
        (lambda d: d.size(), Tensor.size),
        (lambda d: setattr(d, "grad", None), Tensor.grad.__set__),
        (lambda d: delattr(d, "grad"), Tensor.grad.__delete__),
        (lambda d: torch.add(torch.ones(3), 1, out=d), torch.add),
        (lambda d: torch.ones(3).__iadd__(d), Tensor.add_),
    ],
)
def test_the_function_that_was_called_is_passed_on(call, func):
    d = logged()
    call(d)
    assert Logged.calls[0] == (func, (Logged,))


def test_arguments_arrive_as_they_were_given():
    f = Foreign()
    t = torch.ones(2)
    assert torch.add(t, f) == (torch.add, (t, f), {})
    assert torch.sum(f, dim=1) == (torch.sum, (f,), {"dim": 1})
    assert torch.cat([t, f], 1)[1][1] == 1
    for value, func in ((t + f, Tensor.add), (f * t, Tensor.mul), (t @ f, Tensor.matmul)):
        assert value[0] is func
    assert torch.allclose(f, t)[0] is torch.allclose


def test_dispatch_is_to_subclasses_before_their_bases():
    class Lower(Logged):
        pass

    torch.add(torch.ones(3).as_subclass(Logged), torch.ones(3).as_subclass(Lower))
    assert Logged.calls[-1][1] == (Lower, Logged)


def test_nobody_has_an_answer():
    t = torch.ones(2)
    with pytest.raises(TypeError, match="no implementation found for"):
        torch.add(t, Silent())
    with pytest.raises(TypeError, match="all __torch_function__ handlers returned NotImplemented"):
        torch.sin(Silent())
    with pytest.raises(TypeError, match="unsupported operand"):
        t + Silent()
    assert torch.cat([Silent(), Foreign()])[0] is torch.cat


# Calls of a form, a method, an attribute, and of public functions that dispatch by themselves, by
# an operator, and by methods.
RAISING = {
    "form": torch.sin,
    "two operands": lambda x: torch.add(torch.ones(2), other=x),
    "method": lambda x: x.exp(),
    "attribute": lambda x: x.shape,
    "einsum": lambda x: torch.einsum("i->", x),
    "python": lambda x: torch.cartesian_prod(x),
    "method in Python": lambda x: torch.ones(2, dtype=torch.int64).gcd(other=x),
    "public": lambda x: torch.nn.functional.l1_loss(x, target=x),
    "public by name": lambda x: torch.nn.functional.dropout3d(input=x),
    "public by an operator": lambda x: torch.nn.functional.relu(x, inplace=True),
    "public by methods": lambda x: torch.nn.functional.normalize(x, dim=0),
}
# What messages of this package begin with, and the names and positions in them.
TEXTS = (
    "add(): argument 'other' (position 2) must be what the program wants",
    "sin: no such thing",
    "l1_loss(): argument 'target' (position 2) must be it",
    "gcd(): argument 'other' (position 2) must be it",
    "relu() got an unexpected keyword argument 'x'",
)


def raising(error):
    """A tensor whose class answers everything by an error."""

    class Raising(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise error

    return Tensor._make_subclass(Raising, torch.ones(2))


@each("call", [pytest.param(call, id=name) for name, call in RAISING.items()])
def test_errors_of_overrides_keep_their_text(call):
    for kind in (TypeError, RuntimeError, ValueError):
        for text in TEXTS:
            error = kind(text)
            with pytest.raises(kind) as caught:
                call(raising(error))
            assert caught.value is error and error.args == (text,)


def test_operators_of_python_take_type_errors_of_overrides_for_no_implementation():
    with pytest.raises(TypeError, match=r"^unsupported operand type\(s\) for \+: 'int' and"):
        1 + raising(TypeError("add: own"))
    with pytest.raises(ValueError, match="^add: own$"):
        1 + raising(ValueError("add: own"))


def test_nothing_dispatches_inside_the_context():
    d = logged()
    with torch._C.DisableTorchFunctionSubclass():
        assert type(d + 1) is Tensor and type(torch.sin(d)) is Tensor and d.shape == (3,)
    assert Logged.calls == []
    d.sin()
    assert Logged.calls


def test_parameters_are_not_dispatched_to():
    p = torch.nn.Parameter(torch.ones(2))
    assert type(p * 1) is Tensor and type(p.detach()) is Tensor
    assert not torch.overrides.has_torch_function((p,))

    class Own(torch.nn.Parameter):
        __torch_function__ = torch._C._disabled_torch_function_impl

    assert type(Own(torch.ones(1)) + 1) is Tensor


def test_instances_are_made_from_values():
    class Named(Tensor):
        def __init__(self, data):
            super().__init__()

    t = torch.tensor([1.0, 2.0])
    assert Named(t).tolist() == [1.0, 2.0] and type(Named(t) + 1) is Named
    assert Named([3.0]).tolist() == [3.0]

    class Tagged(Tensor):
        def __init__(self, data, tag):
            super().__init__(data)
            self.tag = tag

    tagged = Tagged(t, "x")
    assert tagged.tolist() == [1.0, 2.0] and tagged.tag == "x"
    assert Kept(2, 3).shape == (2, 3)


def test_own_methods_of_a_subclass_stay():
    class Own(Tensor):
        def __add__(self, other):
            return "sum"

        @property
        def shape(self):
            return "shape"

    d = torch.ones(2).as_subclass(Own)
    assert d + 1 == "sum" and d.shape == "shape" and type(d * 2) is Own

    class Lower(Own):
        pass

    assert torch.ones(2).as_subclass(Lower) + 1 == "sum"


def test_custom_functions_keep_the_class_of_an_input_they_return():
    class Identity(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = torch.ones(2, requires_grad=True)
    y = Identity.apply(x.as_subclass(Kept))
    assert type(y) is Kept
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert type(Identity.apply(x)) is Tensor


def test_as_subclass_wants_a_subclass():
    with pytest.raises(TypeError, match="subclass of Tensor"):
        torch.ones(1).as_subclass(int)


# --- nothing is forgotten -------------------------------------------------------------------

# Attributes that say what an object is, or make one, and are no computation.
NOT_OVERRIDABLE = {
    *("__class__ __dict__ __dir__ __doc__ __init__ __init_subclass__ __module__ __new__").split(),
    *("__reduce__ __reduce_ex__ __setstate__ __deepcopy__ __setattr__ __delattr__").split(),
    *("__getattribute__ __hash__ __subclasshook__ __torch_function__ __array_priority__").split(),
    *("__weakref__ __sizeof__ __buffer__ __release_buffer__ __pyx_vtable__").split(),
    *("__reduce_cython__ __setstate_cython__ __getstate__ as_subclass _make_subclass").split(),
}


def is_slot(name):
    return isinstance(inspect.getattr_static(Tensor, name), (staticmethod, classmethod, type))


@each(
    "name",
    sorted(filter(partial(hasattr, Tensor), {*vars(Tensor)} - NOT_OVERRIDABLE)),
    group=lambda name: name[0],
)
def test_every_method_and_attribute_dispatches(name):
    value = inspect.getattr_static(Tensor, name)
    if is_slot(name):
        pytest.skip("of the class, not of an instance")
    found = inspect.getattr_static(Answering, name)
    x = torch.ones(2).as_subclass(Answering)
    if not callable(value):
        assert getattr(x, name) == "answered"
    elif name == "__iter__":
        assert list(found(x)) == list("answered")  # of unbind()
    else:
        others = 2 if name in ("__setitem__",) else name.startswith("__") and takes_other(name)
        assert found(x, *[1] * others) == "answered"


def takes_other(name):
    one = "neg pos invert abs bool int float complex index len repr iter array dlpack dlpack_device"
    return name.strip("_") not in one.split()


# Functions of the top level that get no tensor, or take one as data.
NO_TENSORS = {
    *("tensor as_tensor asarray from_numpy frombuffer from_dlpack is_tensor").split(),
}


def functions():
    for name in torch._names:
        value = getattr(torch, name)
        if callable(value) and not isinstance(value, type) and name not in NO_TENSORS:
            yield name


@each("name", sorted(functions()), group=lambda name: name[0])
def test_every_function_dispatches(name):
    function = getattr(torch, name)
    home = getattr(getattr(function, "__wrapped__", function), "__globals__", {})
    module = home.get("__name__", "").rpartition(".")[2]
    homes = "combining comparison contraction conversion eigen gamma joining predicates"
    in_python = module in f"{homes} sampling unique".split()
    if compiled._is_intercepted(function) or in_python:
        assert function(Foreign())[0] is function
    else:
        assert takes_no_tensors(function), f"{name} doesn't dispatch"


def takes_no_tensors(function):
    """Settings, files and numbers."""
    return function.__module__ in (
        "autograd_cy._tensors.printing",
        "autograd_cy._tensors.tensor_types",
        "autograd_cy.serialization",
        "autograd_cy._C.parallel",
        "autograd_cy._C.dtypes",
        "autograd_cy._C.storage",
    )


def test_functions_of_nn_dispatch():
    from autograd_cy.nn import functional as F

    d = logged()
    for call in (
        lambda: F.relu(d),
        lambda: F.gelu(d),
        lambda: F.tanh(d),
        lambda: F.sigmoid(d),
        lambda: F.softmax(d, 0),
        lambda: F.log_softmax(d, 0),
        lambda: F.dropout(d),
        lambda: F.linear(d, torch.ones(2, 3)),
        lambda: F.mse_loss(d, torch.zeros(3)),
        lambda: F.nll_loss(d, torch.tensor(1)),
        lambda: F.cross_entropy(d, torch.tensor(1)),
    ):
        Logged.calls.clear()
        assert type(call()) is Logged
        assert Logged.calls


def test_a_context_without_functions_dispatches_neither_to_classes_nor_to_modes():
    called = []

    class Overriding(torch.Tensor):
        @classmethod
        def __torch_function__(cls, f, types, args=(), kwargs=None):
            called.append(f)
            with torch._C.DisableTorchFunctionSubclass():
                return f(*args, **(kwargs or {}))

    x = torch.ones(2).as_subclass(Overriding)
    for context in (torch._C.DisableTorchFunction, torch._C.DisableTorchFunctionSubclass):
        called.clear()
        with context():
            torch.add(x, x)
            x * 2
        assert not called
        torch.add(x, x)
        assert called
