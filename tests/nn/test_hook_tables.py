"""The dictionaries of hooks of modules, for programs that look for, fill or delete them."""

import copy
import inspect
import pickle
from collections import OrderedDict

import pytest
from grouping import each

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.nn.hooks import TABLES

NAMES = sorted(TABLES)
DICTIONARIES = sorted(TABLES - {"_is_full_backward_hook"})
X = torch.ones(1)


def layer():
    made = nn.Linear(1, 1)
    with torch.no_grad():
        made.weight.fill_(2)
        made.bias.fill_(0)
    return made


def test_a_plain_module_is_called_without_a_look_at_them():
    m = layer()
    m(X)
    for again in (copy.deepcopy(m), pickle.loads(pickle.dumps(m)), copy.copy(m)):
        again.state_dict(), again.to(torch.float64), repr(again)
        assert "_hooked" not in vars(again) and not [n for n in DICTIONARIES if vars(again)[n]]


@each("name", NAMES)
def test_a_table_is_in_the_dictionary_of_its_module(name):
    m, other = layer(), layer()
    assert name in m.__dict__ and name in vars(m) and hasattr(m, name)
    assert m.__dict__[name] is getattr(m, name)
    if name in DICTIONARIES:
        assert (
            isinstance(m.__dict__[name], OrderedDict) and repr(getattr(m, name)) == "OrderedDict()"
        )
        assert getattr(m, name) is not getattr(other, name)
    else:
        assert m.__dict__[name] is None
    assert not hasattr(nn.Module, name)
    assert m(X).item() == 2


@each("name", NAMES)
def test_a_table_can_be_deleted_and_set(name):
    m = layer()
    delattr(m, name)
    assert name not in m.__dict__ and not hasattr(m, name)
    assert m(X).item() == 2 and sorted(m.state_dict()) == ["bias", "weight"]
    m.load_state_dict(m.state_dict())
    m.register_forward_hook(lambda module, args, output: output)
    m.register_state_dict_pre_hook(lambda *args: None)
    assert m(X).item() == 2 and copy.deepcopy(m)(X).item() == 2
    with pytest.raises(AttributeError, match=name):
        delattr(layer(), name + "s")
    m = layer()
    if name in DICTIONARIES:
        setattr(m, name, OrderedDict())
        own = getattr(m, name)
        assert m.__dict__[name] is own and not own and m(X).item() == 2


def test_hooks_are_run_however_they_came_into_a_table():
    def pre(module, args):
        return (args[0] + 1,)

    def post(module, args, output):
        return output * 10

    for put in (
        lambda m, name, hook: m.__dict__[name].update({-1: hook}),
        lambda m, name, hook: vars(m)[name].__setitem__(-1, hook),
        lambda m, name, hook: getattr(m, name).update({-1: hook}),
        lambda m, name, hook: getattr(m, name).setdefault(-1, hook),
        lambda m, name, hook: setattr(m, name, OrderedDict({-1: hook})),
        lambda m, name, hook: m.__setstate__({**m.__dict__, name: {-1: hook}}),
    ):
        m = layer()
        put(m, "_forward_pre_hooks", pre)
        assert m(X).item() == 4
        put(m, "_forward_hooks", post)
        assert m(X).item() == 40
        m._forward_hooks.clear()
        m._forward_pre_hooks.clear()
        assert m(X).item() == 2
        put(m, "_state_dict_hooks", lambda m, state, prefix, meta: state.clear())
        assert not m.state_dict()


def test_hooks_of_backward_in_a_table():
    m, seen = layer(), []
    m.__dict__["_is_full_backward_hook"] = True
    m.__dict__["_backward_hooks"][0] = lambda m, given, made: seen.append(made[0].item())
    m(torch.ones(1, requires_grad=True)).backward()
    assert seen == [1.0]


def test_copies_of_a_module_that_was_looked_at_have_their_own_tables():
    m = layer()
    m.__dict__["_forward_hooks"][0] = len
    deep = copy.deepcopy(m)
    deep._forward_hooks.clear()
    assert m._forward_hooks == {0: len} and deep(X).item() == 2
    again = pickle.loads(pickle.dumps(m))
    assert again._forward_hooks == {0: len} and again._hooked
    assert copy.copy(m)._forward_hooks is m._forward_hooks
    other = nn.Linear.__new__(nn.Linear)
    other.__dict__ = m.__dict__
    assert other.weight is m.weight and other._forward_hooks is m._forward_hooks


class Stateful(nn.Linear):
    def __getstate__(self):
        return {**self.__dict__, "note": 1}


class Copying(nn.Linear):
    def __getstate__(self):
        state = self.__dict__.copy()
        del state["_forward_hooks"]
        return state


@pytest.mark.parametrize("cls", [Stateful, Copying])
def test_modules_with_a_state_of_their_own(cls):
    m = cls(1, 1)
    again = copy.deepcopy(m)
    assert torch.equal(again(X), m(X)) and again._forward_hooks == {}
    assert torch.equal(pickle.loads(pickle.dumps(m)).weight, m.weight)


def test_a_module_before_its_init_has_no_tables():
    class Early(nn.Module):
        def __init__(self):
            self.__dict__["early"] = 1
            super().__init__()

    m = Early()
    assert m.early == 1 and "_forward_hooks" in m.__dict__
    old = nn.Linear.__new__(nn.Linear)
    old.__setstate__({"_parameters": {}, "_buffers": {}, "_modules": {}, "training": True})
    assert set(NAMES) <= set(old.__dict__)
    bare = nn.Module.__new__(nn.Module)
    assert bare.__dict__ == {}


def test_the_tables_are_those_of_torch():
    oracle = pytest.importorskip("torch")
    theirs = set(oracle.nn.Linear(1, 1).__dict__)
    ours = set(layer().__dict__)
    assert ours == theirs
    assert inspect.getattr_static(layer(), "in_features") == 1
