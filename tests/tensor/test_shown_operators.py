"""The functions and arguments that classes and modes are shown for operators of Python, beside
torch's."""

import operator

import pytest

import autograd_cy as ag

# Operator -> methods of Tensor that are shown for x + y, 2 + x and x += y; None: there is none.
BINARY = {
    "add": ("add", "add", "add_"),
    "sub": ("sub", "__rsub__", "sub_"),
    "mul": ("mul", "mul", "mul_"),
    "truediv": ("div", "__rtruediv__", "div_"),
    "floordiv": ("__floordiv__", "__rfloordiv__", "floor_divide_"),
    "mod": ("remainder", "__rmod__", "remainder_"),
    "pow": ("__pow__", "__rpow__", "__ipow__"),
    "matmul": ("matmul", "__rmatmul__", None),
    "and_": ("__and__", "bitwise_and", "__iand__"),
    "or_": ("__or__", "bitwise_or", "__ior__"),
    "xor": ("__xor__", "bitwise_xor", "__ixor__"),
    "lshift": ("__lshift__", "__rlshift__", "__ilshift__"),
    "rshift": ("__rshift__", "__rrshift__", "__irshift__"),
    "lt": ("lt", "gt", None),
    "le": ("le", "ge", None),
    "gt": ("gt", "lt", None),
    "ge": ("ge", "le", None),
    "eq": ("__eq__", "__eq__", None),
    "ne": ("ne", "ne", None),
}
UNARY = {"neg": "neg", "pos": "positive", "invert": "__invert__", "abs": "abs"}
LIBRARIES = ("autograd_cy", "torch")
# A number has no product with a tensor as matrices.
NUMBERS = [name for name in BINARY if name != "matmul"]


@pytest.fixture(params=LIBRARIES)
def library(request):
    return ag if request.param == "autograd_cy" else pytest.importorskip("torch")


def in_place(name):
    return getattr(operator, "i" + name.strip("_"))


def subclass(library, calls):
    class Watched(library.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append((func, args))
            return super().__torch_function__(func, types, args, kwargs or {})

    return Watched


def mode(library, calls):
    class Watching(library.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            calls.append((func, args))
            return func(*args, **(kwargs or {}))

    return Watching()


def check(library, calls, shown, *args):
    """Check that the first call was of this method, with these arguments and no others."""
    func, given = calls[0]
    assert func == getattr(library.Tensor, shown)
    assert len(given) == len(args) and all(x is y for x, y in zip(given, args))


@pytest.mark.parametrize("name", BINARY)
def test_classes_are_shown_the_operator(library, name):
    calls = []
    x, y = library.tensor([5, 3]).as_subclass(subclass(library, calls)), library.tensor([2, 1])
    result = getattr(operator, name)(x, y)
    check(library, calls, BINARY[name][0], x, y)
    assert type(result) is type(x)


@pytest.mark.parametrize("name", BINARY)
def test_modes_are_shown_the_operator(library, name):
    calls, x, y = [], library.tensor([5, 3]), library.tensor([2, 1])
    expected = getattr(operator, name)(x, y)
    with mode(library, calls):
        result = getattr(operator, name)(x, y)
    check(library, calls, BINARY[name][0], x, y)
    assert library.equal(result, expected) and len(calls) == 1


@pytest.mark.parametrize("name", BINARY)
def test_a_plain_tensor_on_the_left_leaves_the_operator_as_it_is(library, name):
    calls = []
    x, y = library.tensor([5, 3]), library.tensor([2, 1]).as_subclass(subclass(library, calls))
    expected = getattr(operator, name)(x, library.tensor([2, 1])).tolist()
    result = getattr(operator, name)(x, y)
    # Python asks the right side of a comparison first, by the mirrored one.
    mirrored = name in ("lt", "le", "gt", "ge", "eq", "ne")
    check(library, calls, BINARY[name][mirrored], *((y, x) if mirrored else (x, y)))
    assert result.tolist() == expected


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("override", ["class", "mode"])
def test_a_number_on_the_left_is_the_second_argument(library, name, override):
    calls, x = [], library.tensor([1, 3])
    expected = getattr(operator, name)(2, x).tolist()
    if override == "class":
        x = x.as_subclass(subclass(library, calls))
        result = getattr(operator, name)(2, x)
    else:
        with mode(library, calls):
            result = getattr(operator, name)(2, x)
    check(library, calls, BINARY[name][1], x, 2)
    assert result.tolist() == expected


@pytest.mark.parametrize("name", [name for name in BINARY if BINARY[name][2]])
@pytest.mark.parametrize("override", ["class", "class on the right", "mode"])
def test_the_operator_in_place(library, name, override):
    def fresh():
        made = library.tensor([5, 3])
        return made.double() if name == "truediv" else made

    calls, x, y = [], fresh(), library.tensor([2, 1])
    expected = in_place(name)(fresh(), y).tolist()
    if override == "mode":
        with mode(library, calls):
            result = in_place(name)(x, y)
    else:
        kind = subclass(library, calls)
        x, y = (x.as_subclass(kind), y) if override == "class" else (x, y.as_subclass(kind))
        result = in_place(name)(x, y)
    check(library, calls, BINARY[name][2], x, y)
    assert result.tolist() == expected == x.tolist()


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("override", ["class", "mode"])
def test_operators_of_one_operand(library, name, override):
    calls, x = [], library.tensor([5, -3])
    expected = getattr(operator, name)(x).tolist()
    if override == "class":
        x = x.as_subclass(subclass(library, calls))
        result = getattr(operator, name)(x)
    else:
        with mode(library, calls):
            result = getattr(operator, name)(x)
    check(library, calls, UNARY[name], x)
    assert result.tolist() == expected


def test_what_a_mode_leaves_open_is_left_to_python(library):
    x = library.ones(2)
    with mode(library, []):
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for @: 'int' and"):
            2 @ x
        assert (x == "text") is False


@pytest.mark.parametrize("name", BINARY)
def test_other_classes_are_shown_the_same(library, name):
    calls = []

    class Other:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append((func, args))
            return "answered"

    x, other = library.tensor([5, 3]), Other()
    shown = "eq" if name == "eq" else BINARY[name][0]
    assert getattr(operator, name)(x, other) == "answered"
    check(library, calls, shown, x, other)
    calls.clear()
    assert getattr(operator, name)(other, x) == "answered"
    check(library, calls, "eq" if name == "eq" else BINARY[name][1], x, other)
    if BINARY[name][2]:
        calls.clear()
        assert in_place(name)(x, other) == "answered"
        check(library, calls, BINARY[name][2], x, other)


def parameter(library):
    return library.nn.Parameter(library.tensor([5, 3]), requires_grad=False)


@pytest.mark.parametrize("name", BINARY)
def test_a_parameter_on_the_left_leaves_the_operator_to_the_class(library, name):
    """Its class overrides nothing, and isn't one from which the other derives."""
    calls = []
    x, y = parameter(library), library.tensor([2, 1]).as_subclass(subclass(library, calls))
    expected = getattr(operator, name)(x, library.tensor([2, 1])).tolist()
    result = getattr(operator, name)(x, y)
    check(library, calls, "eq" if name == "eq" else BINARY[name][0], x, y)
    assert result.tolist() == expected
    assert type(result) is type(y)


@pytest.mark.parametrize("name", BINARY)
def test_operators_of_the_base_dispatch(library, name):
    calls, special = [], f"__{name.strip('_')}__"
    kind = subclass(library, calls)
    setattr(kind, special, lambda self, other: getattr(super(kind, self), special)(other))
    x, y = library.tensor([5, 3]).as_subclass(kind), library.tensor([2, 1])
    expected = getattr(operator, name)(library.tensor([5, 3]), y).tolist()
    result = getattr(operator, name)(x, y)
    shown = BINARY[name][0]
    if name == "eq" and calls[0][0] == library.Tensor.eq:  # here; torch shows __eq__
        shown = "eq"
    check(library, calls, shown, x, y)
    assert result.tolist() == expected
    assert type(result) is kind


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("answer", ["not implemented", "an error"])
def test_what_a_class_refuses_is_not_computed_without_it(library, name, answer):
    class Refusing(library.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if answer == "an error":
                raise TypeError(f"not supported between: no {func.__name__} here")
            return NotImplemented

    x = library.tensor([2, 1]).as_subclass(Refusing)
    for other in (library.tensor([5, 3]), parameter(library)):
        for operands in ((x, other), (other, x)):
            if name in ("eq", "ne") and answer == "not implemented":
                assert getattr(operator, name)(*operands) is (name == "ne")  # by identity
                continue
            if name in ("eq", "ne"):
                continue  # Python compares by identity in torch
            with pytest.raises(TypeError, match=r"unsupported operand|not supported between"):
                getattr(operator, name)(*operands)
    assert library.tensor([5, 3]).tolist() == [5, 3]


def test_either_side_dispatches_to_unrelated_subclasses(library):
    calls = []

    class Silent(library.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append(func)
            return NotImplemented

    class Mute(library.Tensor):
        __torch_function__ = classmethod(Silent.__torch_function__.__func__)

    x, y = library.ones(2).as_subclass(Silent), library.ones(2).as_subclass(Mute)
    with pytest.raises(TypeError, match="unsupported operand type"):
        x - y
    Tensor = library.Tensor
    assert calls[0] == Tensor.sub and calls[-1] == Tensor.__rsub__
