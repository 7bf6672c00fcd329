"""``Subclass(tensor)`` is a view; pickles of subclasses and hooks; swapped tensors."""

import copy
import io
import pickle
import warnings
import weakref

import pytest

import autograd_cy as ag
from autograd_cy.utils.hooks import unserializable_hook, warn_if_has_hooks


class Plain(ag.Tensor):
    pass


class WithInit(ag.Tensor):
    def __init__(self, data):
        super().__init__()
        self.note = "made"


class WithNew(ag.Tensor):
    @staticmethod
    def __new__(cls, data, note="given"):
        made = super().__new__(cls, data)
        made.note = note
        return made

    def __init__(self, data, note="given"):
        super().__init__()


class Noted(ag.Tensor):
    def __getstate__(self):
        return ("kept",)

    def __setstate__(self, state):
        self.got = state


class OnlyGet(ag.Tensor):
    def __getstate__(self):
        return {"a": 1}


class Reduced(ag.Tensor):
    def __reduce_ex__(self, protocol):
        return int, (5,)


CLASSES = [ag.Tensor, Plain, WithInit, WithNew]
SOURCES = {
    "floats": lambda: ag.ones(2),
    "doubles": lambda: ag.ones(2, dtype=ag.float64),
    "integers": lambda: ag.ones(2, dtype=ag.int64),
    "a number": lambda: ag.tensor(3.0),
    "a view": lambda: ag.ones(4)[::2],
    "a leaf": lambda: ag.ones(2, requires_grad=True),
    "a result": lambda: ag.ones(2, requires_grad=True) * 2,
    "a parameter": lambda: ag.nn.Parameter(ag.ones(2)),
    "another class": lambda: ag.ones(2).as_subclass(Noted),
    "meta": lambda: ag.ones(2, device="meta"),
}


@pytest.mark.parametrize("cls", CLASSES)
def test_an_instance_made_of_a_tensor_is_a_view_of_it(cls):
    for source, make in SOURCES.items():
        x = make()
        y = cls(x)
        assert type(y) is cls, source
        assert y.dtype is x.dtype and y.shape == x.shape and y.device == x.device, source
        assert y._is_view() and y.data_ptr() == x.data_ptr(), source
        assert y._base is (x._base if x._is_view() else x), source
        assert y.requires_grad == x.requires_grad and y.is_leaf != x.requires_grad, source


@pytest.mark.parametrize("cls", [Plain, WithInit, WithNew])
def test_gradients_flow_through_it(cls):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    (cls(x) * cls(x)).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    found = ag.func.grad(lambda x: (cls(x) ** 2).sum())(ag.tensor([1.0, 2.0]))
    assert found.tolist() == [2.0, 4.0]
    _, tangent = ag.func.jvp(lambda x: cls(x) ** 2, (ag.ones(2),), (ag.ones(2),))
    assert tangent.tolist() == [2.0, 2.0]
    rows = ag.vmap(lambda row: cls(row) * 2)(ag.ones(3, 2))
    assert rows.tolist() == [[2.0, 2.0]] * 3


def test_writes_are_seen():
    x = ag.ones(2, requires_grad=True) * 1
    y, before = Plain(x), x._version
    y.add_(1)
    assert x.tolist() == [2.0, 2.0] and x._version == before + 1


def test_lists_arrays_and_sizes_are_as_before():
    assert ag.Tensor([1, 2]).tolist() == [1.0, 2.0]
    assert ag.Tensor(2, 3).shape == (2, 3) and ag.Tensor().shape == (0,)
    assert ag.Tensor(ag.Size([2, 3])).shape == (2, 3)
    assert WithNew([1, 2]).tolist() == [1.0, 2.0] and WithNew([1, 2], "x").note == "x"


# --- pickles -------------------------------------------------------------------------------------


def saved(x):
    file = io.BytesIO()
    ag.save(x, file)
    file.seek(0)
    return ag.load(file, weights_only=False)


COPIES = [lambda x: pickle.loads(pickle.dumps(x)), saved, copy.deepcopy, copy.copy]


@pytest.mark.parametrize("again", COPIES)
def test_a_subclass_has_a_state_of_its_own(again):
    x = ag.ones(2).as_subclass(Noted)
    x.foo = 3
    y = again(x)
    assert type(y) is Noted and y.got == ("kept",) and not hasattr(y, "foo")
    assert y.tolist() == [1.0, 1.0]
    z = again(ag.ones(2).as_subclass(OnlyGet))
    assert type(z) is OnlyGet and z.a == 1
    assert again(ag.ones(2).as_subclass(Reduced)) == 5


def messages(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in found]


def hook(grad):
    return grad


def test_pickling_a_tensor_with_hooks_warns():
    for again in (COPIES[0], COPIES[1], COPIES[3]):
        x = ag.ones(2, requires_grad=True)
        handle = x.register_hook(hook)
        (text,) = messages(lambda: again(x))
        assert "will not be serialized" in text and "function hook" in text
        handle.remove()
        assert messages(lambda: again(x)) == []
        y = x * 2
        y.register_hook(hook)
        assert len(messages(lambda: warn_if_has_hooks(y))) == 1


def test_copies_and_marked_hooks_do_not_warn():
    x = ag.ones(2, requires_grad=True)
    x.register_hook(unserializable_hook(lambda grad: grad))
    x.register_post_accumulate_grad_hook(lambda p: None)
    assert messages(lambda: pickle.dumps(x)) == []
    x = ag.ones(2, requires_grad=True)
    x.register_hook(hook)
    assert messages(lambda: copy.deepcopy(x)) == []
    layer = ag.nn.Linear(1, 1)
    layer.weight.register_hook(hook)
    assert messages(lambda: pickle.dumps(layer)) == []


# --- swapping ------------------------------------------------------------------------------------


def test_swapped_tensors_exchange_what_they_are():
    a, b = ag.nn.Parameter(ag.ones(2)), ag.zeros(3, 1, dtype=ag.float64)
    a.foo, a.grad = 5, ag.full((2,), 7.0)
    seen, ids = [], (id(a), id(b))
    a.register_hook(lambda g: seen.append(g.tolist()))
    assert ag.utils.swap_tensors(a, b) is None
    assert (id(a), id(b)) == ids
    assert type(a) is ag.Tensor and type(b) is ag.nn.Parameter
    assert a.shape == (3, 1) and a.dtype is ag.float64 and b.tolist() == [1.0, 1.0]
    assert not hasattr(a, "foo") and b.foo == 5
    assert a.grad is None and b.grad.tolist() == [7.0, 7.0]
    assert b.requires_grad and not a.requires_grad
    (b * 2).sum().backward()
    assert seen == [[2.0, 2.0]] and b.grad.tolist() == [9.0, 9.0]
    a.add_(1)
    assert a.sum().item() == 3.0
    ag.utils.swap_tensors(a, b)
    assert type(a) is ag.nn.Parameter and a.foo == 5 and b.shape == (3, 1)


def test_tensors_of_many_dimensions_are_swapped():
    a, b = ag.ones((1,) * 9 + (2,)), ag.zeros(4)
    ag.utils.swap_tensors(a, b)
    assert a.tolist() == [0.0] * 4 and b.shape == (1,) * 9 + (2,) and b.stride(9) == 1
    ag.utils.swap_tensors(a, a)
    assert a.shape == (4,)


class Slotted(ag.Tensor):
    __slots__ = ("foo",)


def test_slots_are_swapped_too():
    a, b = ag.ones(2).detach_().as_subclass(Slotted), ag.zeros(2).as_subclass(Slotted)
    a, b = a.clone().as_subclass(Slotted).clone(), b.clone()
    if type(a) is Slotted and not a._is_view():
        a.foo = 1
        ag.utils.swap_tensors(a, b)
        assert b.foo == 1 and not hasattr(a, "foo")


def test_what_would_be_taken_for_the_other_is_not_swapped():
    def refused(words, a, b=None):
        before = a.tolist()
        with pytest.raises(RuntimeError, match=words):
            ag.utils.swap_tensors(a, ag.zeros(3) if b is None else b)
        assert a.tolist() == before

    x = ag.ones(2)
    reference = weakref.ref(x)
    refused("weakref", x)
    assert reference() is x
    x = ag.ones(2)
    view = x.view(2)
    refused("memory", x)
    refused("memory", view)
    x = ag.ones(2, requires_grad=True)
    y = x * 2
    refused("graph", x)
    refused("graph", y)
    refused("slots", ag.ones(2).as_subclass(Slotted))
    with pytest.raises(TypeError, match="t2 must be a Tensor"):
        ag.utils.swap_tensors(ag.ones(2), 3)
    with pytest.raises(RuntimeError, match="transformation"):
        ag.vmap(lambda t: ag.utils.swap_tensors(t, ag.zeros(3)))(ag.ones(2, 2))


def test_debug_unwrap_shows_all_examples():
    seen = []

    def f(x):
        seen.append(ag.func.debug_unwrap(x).tolist())
        seen.append(tuple(ag.func.debug_unwrap(x, recurse=False).shape))
        return (x * x).sum()

    ag.vmap(f)(ag.ones(3, 2))
    ag.vmap(f, in_dims=1)(ag.ones(2, 3))
    ag.vmap(ag.vmap(f))(ag.ones(4, 3, 2))
    assert seen == [
        [[1.0, 1.0]] * 3,
        (3, 2),
        [[1.0] * 3] * 2,
        (2, 3),
        [[[1.0, 1.0]] * 3] * 4,
        (3, 2),
    ]
    x = ag.ones(2)
    assert ag.func.debug_unwrap(x) is x


@pytest.mark.filterwarnings("ignore:.*private API:FutureWarning")
def test_jacobians_under_their_old_names_agree():
    from autograd_cy.autograd.gradcheck import get_analytical_jacobian, get_numerical_jacobian

    x = ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
    y = ag.tensor([3.0, 4.0, 5.0], dtype=ag.float64, requires_grad=True)

    def f(given):
        a, b = given
        return (a[:, None] * b).sum(1) * a

    numbers = get_numerical_jacobian(f, (x, y))
    exact, again, sizes, dtypes = get_analytical_jacobian((x, y), f((x, y)))
    assert again and sizes and dtypes
    assert exact[0].tolist() == [[24.0, 0.0], [0.0, 48.0]]
    assert exact[1].tolist() == [[1.0, 4.0]] * 3
    for one, other in zip(numbers, exact, strict=True):
        ag.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)
    assert len(get_numerical_jacobian(f, (x, y), target=y)) == 1
    for call in (
        lambda: get_numerical_jacobian(f, (x, y), grad_out=2.0),
        lambda: get_analytical_jacobian((x,), x * 2, grad_out=2.0),
        lambda: get_analytical_jacobian((x,), x * 1j),
    ):
        with pytest.raises(ValueError):
            call()


def test_a_memory_budget_does_nothing():
    budget = ag.autograd.graph.region_activation_memory_budget
    with budget(0.0):
        assert (ag.ones(1) * 2).item() == 2.0
    with pytest.raises(ValueError, match="must be in"):
        budget(2)
    with pytest.raises(TypeError, match="expects a float"):
        budget("a")
