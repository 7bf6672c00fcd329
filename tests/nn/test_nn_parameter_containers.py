"""`ParameterList` and `ParameterDict`."""

import copy
import pickle

import pytest

import autograd_cy as ag
from autograd_cy import nn


def filled(lib):
    nn = lib.nn
    return nn.ParameterList([lib.ones(2), nn.Parameter(lib.ones(3, 1)), "x", None, 4])


def named(lib):
    return lib.nn.ParameterDict({"a": lib.ones(2), "b": None, "c": lib.nn.Parameter(lib.ones(()))})


def test_tensors_become_parameters_and_the_rest_is_kept():
    values = filled(ag)
    assert [name for name, _ in values.named_parameters()] == ["0", "1"]
    assert list(values.state_dict()) == ["0", "1"]
    assert values[2:].extra_repr().count("Object of type") == 3
    assert list(values)[2:] == ["x", None, 4] and len(values) == 5 and values[-1] == 4


def test_list_grows_and_items_are_replaced():
    values = nn.ParameterList()
    assert values.append(ag.ones(1)) is values
    values += [ag.zeros(2), ag.zeros(3)]
    values[-1] = ag.ones(4)
    assert [tuple(v.shape) for v in values] == [(1,), (2,), (4,)]
    values.extend(values)
    assert len(values) == 6 and values[3] is values[0]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda v: v[5], IndexError, "index 5 is out of range"),
        (lambda v: v[-6], IndexError, "index -6 is out of range"),
        (lambda v: v["a"], TypeError, "cannot be interpreted as an integer"),
        (lambda v: v.extend(3), TypeError, "should be called with an iterable, but got int"),
        (lambda v: v.extend(ag.ones(2)), TypeError, "should be called with an iterable"),
        (lambda v: v.append(ag.ones(1, dtype=ag.int64)), RuntimeError, "can require gradients"),
        (lambda v: v(1), RuntimeError, "ParameterList should not be called"),
    ],
)
def test_list_refuses(call, error, text):
    values = filled(ag)
    with pytest.raises(error, match=text):
        call(values)
    assert len(values) == 5


def test_dict_is_a_dict():
    d = named(ag)
    assert list(d) == list(d.keys()) == ["a", "b", "c"] and "b" in d and len(d) == 3
    assert list(reversed(d)) == ["c", "b", "a"]
    assert d.get("q", 7) == 7 and d.get("b", 7) is None
    assert d.setdefault("a", None) is d["a"]
    made = d.setdefault("n", ag.zeros(3))
    assert isinstance(made, nn.Parameter) and d["n"] is made
    assert d.pop("b") is None and "b" not in d
    assert d.popitem() == ("n", made)
    assert [k for k, _ in d.items()] == ["a", "c"] and next(iter(d.values())) is d["a"]
    both = d | {"z": ag.ones(1)}
    assert list(both) == ["a", "c", "z"] and list(d) == ["a", "c"]
    assert list({"y": 1} | d) == ["y", "a", "c"]
    d |= nn.ParameterDict([("k", ag.ones(1))])
    assert d.copy()["k"] is d["k"]
    assert list(d.fromkeys("uv", 3).values()) == [3, 3]
    d.clear()
    assert len(d) == 0 and list(d.parameters()) == []
    with pytest.raises(KeyError, match="dictionary is empty"):
        d.popitem()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda d: d["zz"], AttributeError, "no attribute 'zz'"),
        (lambda d: d.update(3), TypeError, "iterable of key/value pairs, but got int"),
        (lambda d: d.update([3]), TypeError, "element #0 should be Iterable; is int"),
        (lambda d: d.update([(1,)]), ValueError, "element #0 has length 1; 2 is required"),
        (lambda d: d.__setitem__(3, ag.ones(1)), TypeError, "not a string"),
        (lambda d: d.update({"i": ag.ones(1, dtype=ag.int64)}), RuntimeError, "require gradients"),
        (lambda d: d(1), RuntimeError, "ParameterDict should not be called"),
    ],
)
def test_dict_refuses(call, error, text):
    d = named(ag)
    with pytest.raises(error, match=text):
        call(d)
    assert list(d) == ["a", "b", "c"]


@pytest.mark.parametrize("make", [filled, named])
def test_containers_are_copied_pickled_converted_and_loaded(make):
    values = make(ag)
    for other in (copy.deepcopy(values), pickle.loads(pickle.dumps(values))):
        assert repr(other) == repr(values)
        first, second = next(other.parameters()), next(values.parameters())
        assert first is not second and (first == second).all()
    assert all(p.dtype is ag.float64 for p in make(ag).double().parameters())
    zeros = {key: ag.zeros_like(value) for key, value in values.state_dict().items()}
    values.load_state_dict(zeros)
    assert all((p == 0).all() for p in values.parameters())


@pytest.mark.parametrize("make", [filled, named])
def test_text_and_keys_are_those_of_torch(make):
    torch = pytest.importorskip("torch")
    ours, theirs = make(ag), make(torch)
    assert repr(ours).replace("autograd_cy.", "torch.") == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
