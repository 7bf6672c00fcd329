"""Functions over lists of tensors, ``_foreach_add`` and its like, against loops and torch."""

import inspect

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._tensors import foreach

NAMES = foreach.__all__
UNARY = foreach._UNARY


def tensors(lib=ag, low=0.2, high=0.8, seed=0):
    rng = np.random.default_rng(seed)
    return [lib.tensor(rng.uniform(low, high, shape)) for shape in ((3,), (2, 2), (1,))]


def calls(name, lib):
    """Arguments after the list with which a function is called."""
    other, third = tensors(lib, seed=1), tensors(lib, seed=2)
    base = name.removeprefix("_foreach_").rstrip("_")
    if base in UNARY or base in ("zero", "clone", "max", "norm", "powsum"):
        yield (), {}
    elif base in ("addcdiv", "addcmul"):
        yield (other, third), {}
        yield (other, third), {"value": 2}
        yield (other, third, [1.0, 2.0, 3.0]), {}
        yield (other, third, lib.tensor([1.0, 2.0, 3.0])), {}
    elif base == "lerp":
        yield (other, 0.3), {}
        yield (other, third), {}
        yield (other, [0.1, 0.2, 0.3]), {}
    elif base in ("copy", "mm"):
        yield (other,), {}
    else:
        yield (other,), {}
        yield (2.0,), {}
        yield ([1.0, 2.0, 3.0],), {}
        if base in ("add", "mul", "div"):
            yield (lib.tensor(3.0, dtype=lib.float64),), {}
        if base in ("add", "sub"):
            yield (other,), {"alpha": 3}


def first(name, lib):
    if "_mm" in name:
        return [t.reshape(1, 1) for t in tensors(lib)[-1:]]
    return tensors(lib)


def run(name, lib, args, kwargs):
    given = first(name, lib)
    if "_mm" in name:
        args = (given,)
    found = getattr(lib, name)(given, *args, **kwargs)
    return given, found


def test_all_names_of_torch_are_there():
    torch = pytest.importorskip("torch")
    theirs = {name for name in dir(torch) if name.startswith("_foreach_")}
    assert theirs == {*NAMES}


@pytest.mark.parametrize("name", sorted({*NAMES} - {"_foreach_norm"}))
def test_results_are_those_of_torch(name):
    torch = pytest.importorskip("torch")
    for (args, kwargs), (their_args, their_kwargs) in zip(calls(name, ag), calls(name, torch)):
        given, found = run(name, ag, args, kwargs)
        _, wanted = run(name, torch, their_args, their_kwargs)
        assert (found is given) == name.endswith("_"), name
        assert name.endswith("_") or type(found) is tuple
        for x, y in zip(found, wanted, strict=True):
            np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", UNARY)
def test_in_place_and_out_of_place_agree_with_the_function_of_one(name):
    given = tensors()
    expected = [getattr(ag, name)(t) for t in given]
    found = getattr(ag, f"_foreach_{name}")(given)
    changed = getattr(ag, f"_foreach_{name}_")(given)
    assert changed is given
    for x, y, z in zip(found, changed, expected):
        assert ag.equal(x, z) and ag.equal(y, z)


def test_gradients_and_tangents_go_through_lists():
    x, y = (t.requires_grad_() for t in tensors()[:2])

    def f(x, y):
        product = ag._foreach_mul([x, y], 3.0)
        return tuple(ag._foreach_addcdiv(product, [x, y], [x, y], value=2))

    assert ag.autograd.gradcheck(f, (x, y), check_forward_ad=True, check_batched_grad=True)
    assert ag.autograd.gradgradcheck(f, (x, y))


def test_a_number_may_stand_before_the_exponents():
    assert [t.tolist() for t in ag._foreach_pow(2.0, [ag.tensor([1.0, 3.0])])] == [[2.0, 8.0]]


def test_what_does_not_fit_is_refused_and_nothing_is_changed():
    a = [ag.ones(2), ag.ones(3)]
    for call, error, text in (
        (lambda: ag._foreach_add_([], 1), RuntimeError, "must have at least one tensor"),
        (lambda: ag._foreach_add_(a, a[:1]), RuntimeError, "same number of tensors, got 2 and 1"),
        (lambda: ag._foreach_add_(a, [1, 2, 3]), RuntimeError, "same number of elements as scalar"),
        (
            lambda: ag._foreach_add_(a, ag.ones(2)),
            RuntimeError,
            "expected to be 0 dim but it has 1",
        ),
        (lambda: ag._foreach_add_(a, 1, alpha=2), TypeError, "invalid combination of arguments"),
        (lambda: ag._foreach_sub_(a, ag.tensor([1.0])), TypeError, "invalid combination"),
        (lambda: ag._foreach_abs_(ag.ones(2)), TypeError, "must be tuple of Tensors, not Tensor"),
        (lambda: ag._foreach_abs_([1]), TypeError, "expected Tensor as element 0"),
        (lambda: ag._foreach_add_(a, [ag.ones(2), ag.ones(4)]), RuntimeError, "in place"),
        (lambda: ag._foreach_lerp_(a, a), TypeError, "invalid combination"),
        (lambda: ag._foreach_addcmul_(a, a, a, [1.0]), RuntimeError, "same number of elements"),
        (lambda: ag._foreach_addcmul_(a, a, a, ag.ones(3)), RuntimeError, "packed scalar Tensor"),
        (lambda: ag._foreach_max([ag.ones(0)]), RuntimeError, "of an empty tensor"),
    ):
        with pytest.raises(error, match=text):
            call()
        assert [t.tolist() for t in a] == [[1, 1], [1, 1, 1]]


def test_each_function_has_a_name_and_a_text():
    for name in foreach.__all__:
        function = getattr(ag, name)
        assert function.__name__ == name and function.__doc__.startswith("Return ")
        assert inspect.signature(function).parameters
    with pytest.raises(AttributeError):
        ag._foreach_nothing


@pytest.mark.parametrize("name", sorted({*foreach._BINARY, "lerp"}))
@pytest.mark.parametrize("value", ["2.0", "2", "True", "[2.0]", "requires grad"])
def test_a_tensor_stands_for_a_number_where_it_does_in_torch(name, value):
    torch = pytest.importorskip("torch")

    def outcome(lib):
        if value == "requires grad":
            number = lib.tensor(2.0, requires_grad=True)
        else:
            number = lib.tensor({"True": True, "2": 2, "2.0": 2.0, "[2.0]": [2.0]}[value])
        given = [lib.ones(2), lib.full((3,), 1.5)]
        try:
            found = getattr(lib, f"_foreach_{name}")(*[given] * (1 + (name == "lerp")), number)
        except Exception as error:
            return type(error).__name__
        return [(str(t.dtype).rpartition(".")[2], t.tolist(), t.requires_grad) for t in found]

    assert outcome(ag) == outcome(torch)


@pytest.mark.parametrize("name", NAMES)
def test_each_function_is_shown_to_modes_and_classes(name):
    seen = []

    class Seen(ag.overrides.TorchFunctionMode):
        def __torch_function__(self, function, kinds, args=(), kwargs=None):
            seen.append(function.__name__)
            return function(*args, **(kwargs or {}))

    args, kwargs = next(calls(name, ag))
    with Seen():
        run(name, ag, args, kwargs)
    assert name in seen

    class Blocking(ag.Tensor):
        @classmethod
        def __torch_function__(cls, function, kinds, args=(), kwargs=None):
            return "blocked"

    blocked = [ag.Tensor._make_subclass(Blocking, t) for t in first(name, ag)]
    assert getattr(ag, name)(blocked, *([blocked] if "_mm" in name else args)) == "blocked"
