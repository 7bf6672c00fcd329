"""Parameters and buffers made of tensors of subclasses keep their class."""

import copy
import io
import pickle

import pytest

import autograd_cy as ag
from autograd_cy import nn


class Unit(ag.Tensor):
    """A tensor that says what it counts."""


class Plain(ag.Tensor):
    """A subclass whose detach() gives a plain tensor."""

    def detach(self):
        return super().detach().as_subclass(ag.Tensor)


def unit(*shape):
    return ag.ones(*shape).as_subclass(Unit)


def test_a_parameter_of_a_subclass_is_of_that_class():
    x = unit(2)
    p = nn.Parameter(x)
    assert type(p) is Unit and isinstance(p, nn.Parameter) and p._is_param is True
    assert p.requires_grad and p.is_leaf and p.data_ptr() == x.data_ptr()
    assert not isinstance(x, nn.Parameter) and not x.requires_grad and not hasattr(x, "_is_param")
    frozen = nn.Parameter(x, requires_grad=False)
    assert type(frozen) is Unit and not frozen.requires_grad and isinstance(frozen, nn.Parameter)
    z = ag.ones(2, requires_grad=True).as_subclass(Unit) * 2
    assert nn.Parameter(z).grad_fn is None
    (p * 3).sum().backward()
    assert p.grad.tolist() == [3.0, 3.0] and type(p * 3) is Unit
    for other in (p * 3, p.detach(), p.data):
        assert type(other) is Unit and not isinstance(other, nn.Parameter)


def test_the_mark_makes_a_parameter():
    x = ag.ones(1)
    assert not isinstance(x, nn.Parameter)
    x._is_param = True
    assert isinstance(x, nn.Parameter) and not isinstance(x, nn.Buffer)
    x._is_param = False
    assert not isinstance(x, nn.Parameter)
    for other in (None, 3, ag.ones, type("T", (), {"_is_param": True})()):
        assert not isinstance(other, nn.Parameter)

    class Own(nn.Parameter):
        pass

    assert type(Own(ag.ones(1))) is Own and isinstance(Own(ag.ones(1)), nn.Parameter)
    assert not isinstance(nn.Parameter(ag.ones(1)), Own)
    assert type(Own(unit(1))) is Unit and not isinstance(Own(unit(1)), Own)
    assert issubclass(Own, nn.Parameter) and not issubclass(Unit, nn.Parameter)


def test_plain_tensors_parameters_and_buffers_make_parameters():
    for x in (ag.ones(1), nn.Parameter(ag.ones(1)), nn.Buffer(ag.ones(1))):
        assert type(nn.Parameter(x)) is nn.Parameter
        assert type(nn.Buffer(x)) is nn.Buffer


@pytest.mark.parametrize("kind", [nn.Parameter, nn.Buffer])
def test_detach_must_keep_the_class(kind):
    with pytest.raises(
        RuntimeError, match=f"Creating a {kind.__name__} from an instance of type Pl"
    ):
        kind(ag.ones(1).as_subclass(Plain))


def test_copies_and_pickles_keep_class_and_mark():
    p = nn.Parameter(unit(2))
    p.note = ["a"]
    q = copy.deepcopy(p)
    assert type(q) is Unit and isinstance(q, nn.Parameter) and q.requires_grad and q.is_leaf
    assert q.data_ptr() != p.data_ptr() and q.note == ["a"] and q.note is not p.note
    for r in (copy.copy(p), pickle.loads(pickle.dumps(p))):
        assert type(r) is Unit and isinstance(r, nn.Parameter) and r.requires_grad
    file = io.BytesIO()
    ag.save(p, file)
    file.seek(0)
    r = ag.load(file, weights_only=False)
    assert type(r) is Unit and isinstance(r, nn.Parameter)


def test_modules_own_them():
    m = nn.Linear(2, 2, bias=False)
    m.weight = nn.Parameter(unit(2, 2))
    assert [(name, type(p)) for name, p in m.named_parameters()] == [("weight", Unit)]
    m.note = unit(1)
    with pytest.raises(TypeError, match="cannot assign 'Unit' object to parameter 'other'"):
        m.register_parameter("other", unit(1))
    assert len(list(m.parameters())) == 1
    state = m.state_dict()
    assert type(state["weight"]) is Unit and not isinstance(state["weight"], nn.Parameter)
    assert m.state_dict(keep_vars=True)["weight"] is m.weight
    m.load_state_dict({"weight": ag.zeros(2, 2)})
    assert type(m.weight) is Unit and m.weight.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    m.double().requires_grad_(False)
    assert type(m.weight) is Unit and isinstance(m.weight, nn.Parameter)
    assert m.weight.dtype is ag.float64 and not m.weight.requires_grad
    assert type(copy.deepcopy(m).weight) is Unit
    m.requires_grad_()
    m(ag.ones(1, 2, dtype=ag.float64)).sum().backward()
    ag.optim.SGD(m.parameters(), lr=0.5).step()
    assert m.weight.tolist() == [[-0.5, -0.5], [-0.5, -0.5]]
    x = unit(1)
    assert [type(p) for p in nn.ParameterList([x, ag.ones(1)])] == [Unit, nn.Parameter]
    assert [type(p) for p in nn.ParameterDict({"a": x}).values()] == [Unit]


def test_buffers_of_a_subclass():
    x = unit(1)
    b = nn.Buffer(x, persistent=False)
    assert type(b) is Unit and isinstance(b, nn.Buffer) and not isinstance(b, nn.Parameter)
    assert not isinstance(x, nn.Buffer) and b._is_buffer is True and b.persistent is False
    m = nn.Module()
    m.b = b
    assert [type(v) for _, v in m.named_buffers()] == [Unit] and not m.state_dict()


def test_they_are_shown_with_their_class():
    assert repr(nn.Parameter(unit(2))) == "Parameter(Unit([1., 1.], requires_grad=True))"
    assert repr(nn.Buffer(unit(2))) == "Unit([1., 1.])"
    x = ag.ones(1)
    x._is_param = True
    assert repr(x) == "tensor([1.])"
