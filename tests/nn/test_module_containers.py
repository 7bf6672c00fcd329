"""Containers as Python's lists and dictionaries: what goes in comes out, in order."""

import copy

import pytest

import autograd_cy as torch
from autograd_cy import nn


def letters(container):
    return "".join(type(m).__name__[0] for m in container)


def test_a_dictionary_of_modules():
    relu, tanh, third = nn.ReLU(), nn.Tanh(), nn.Sigmoid()
    d = nn.ModuleDict({"a": relu})
    d["b"] = tanh
    d.update([("c", third)])
    assert list(d) == list(d.keys()) == ["a", "b", "c"]
    assert list(d.values()) == [relu, tanh, third] and list(d.items())[1] == ("b", tanh)
    assert d["b"] is tanh and "c" in d and "x" not in d and len(d) == 3
    assert d.pop("a") is relu and list(d) == ["b", "c"]
    del d["c"]
    assert [name for name, _ in d.named_children()] == ["b"]
    for key in ("a", "c"):
        with pytest.raises(KeyError):
            d[key]
    d.clear()
    assert len(d) == 0 and list(d) == []


def test_a_list_of_modules():
    m = nn.ModuleList([nn.ReLU()])
    m.append(nn.Tanh())
    m.extend([nn.Sigmoid(), nn.Identity()])
    assert letters(m) == "RTSI" and len(m) == 4
    m.insert(1, nn.Linear(1, 1))
    assert letters(m) == "RLTSI"
    assert list(dict(m.named_children())) == ["0", "1", "2", "3", "4"]
    m.insert(0, nn.Dropout())
    m.insert(6, nn.Flatten())
    assert letters(m) == "DRLTSIF"
    m.insert(-1, nn.Softmax(0))
    assert letters(m) == "DRLTSISF"
    del m[0]
    assert letters(m) == "RLTSISF"
    del m[1:3]
    assert letters(m) == "RSISF"
    del m[-1]
    assert letters(m) == "RSIS"
    assert list(dict(m.named_children())) == ["0", "1", "2", "3"]
    assert letters(m[1:3]) == "SI" and m[-1] is m[3] and isinstance(m[:1], nn.ModuleList)
    m[0] = nn.Tanh()
    assert letters(m) == "TSIS"
    for index in (4, -5):
        with pytest.raises(IndexError, match="out of range"):
            m[index]
    with pytest.raises(TypeError):
        m.extend(5)


def test_a_sequence_of_modules():
    s = nn.Sequential(nn.ReLU(), nn.Tanh())
    s.append(nn.Sigmoid())
    assert letters(s) == "RTS"
    s.append(nn.Identity())
    assert letters(s) == "RTSI"
    del s[3]
    assert letters(s) == "RTS" and letters(s[1:]) == "TS"
    assert list(dict(s.named_children())) == ["0", "1", "2"]
    x = torch.tensor([-1.0, 2.0])
    assert s(x).tolist() == torch.sigmoid(torch.tanh(torch.relu(x))).tolist()
    assert len(nn.Sequential()) == 0 and nn.Sequential()(x) is x


def test_a_shared_buffer_is_copied_once():
    m = nn.Module()
    m.a = nn.Buffer(torch.ones(2))
    m.b = m.a
    m.c = nn.Buffer(torch.zeros(2), persistent=False)
    m.p = nn.Parameter(torch.ones(1), requires_grad=False)
    m.q = m.p
    twin = copy.deepcopy(m)
    assert twin.a is twin.b and twin.a is not m.a
    assert twin.p is twin.q and twin.p is not m.p and not twin.p.requires_grad
    assert isinstance(twin.a, nn.Buffer) and twin.a.persistent and not twin.c.persistent
    assert list(twin.state_dict()) == list(m.state_dict()) == ["p", "q", "a", "b"]
    twin.a.fill_(5.0)
    assert m.a.tolist() == [1.0, 1.0]


def test_what_comes_before_the_first_line_of_init():
    class Early(nn.Module):
        def __init__(self, kind):
            if kind == "parameter":
                self.p = nn.Parameter(torch.ones(1))
            elif kind == "module":
                self.m = nn.ReLU()
            else:
                self.b = nn.Buffer(torch.ones(1))
            super().__init__()

    for kind in ("parameter", "module", "buffer"):
        with pytest.raises(AttributeError, match="before Module.__init__"):
            Early(kind)


def test_members_that_a_module_lacks_or_cannot_have():
    m = nn.Module()
    with pytest.raises(TypeError, match="cannot assign 'Tensor' object to parameter 'p'"):
        m.register_parameter("p", nn.Parameter(torch.ones(1)) * 2)
    with pytest.raises(AttributeError, match="has no attribute `nosuch`"):
        m.get_submodule("nosuch")
    with pytest.raises(AttributeError, match="nosuch"):
        m.get_buffer("nosuch")
    layer = nn.Linear(2, 2)
    with pytest.raises(TypeError, match="cannot assign"):
        layer.weight = torch.ones(2, 2)
    with pytest.raises(TypeError, match="cannot assign"):
        layer.weight = 5
    layer.bias = None
    assert layer.bias is None and len(list(layer.parameters())) == 1


def test_memory_of_modules_can_be_shared():
    m = nn.Linear(2, 2)
    m.register_buffer("b", torch.ones(2))
    m(torch.ones(2)).sum().backward()
    assert m.share_memory() is m
    for t in (m.weight, m.bias, m.b, m.weight.grad, m.bias.grad):
        assert t.is_shared()


def test_conversions_reach_gradients_and_buffers():
    m = nn.Linear(2, 2)
    m.register_buffer("b", torch.ones(2))
    m.register_buffer("whole", torch.ones(2, dtype=torch.int64))
    m(torch.ones(2)).sum().backward()
    for args in ((torch.float64,), ("cpu", torch.float64), (torch.zeros(1).double(),)):
        other = copy.deepcopy(m)
        assert other.to(*args) is other
        assert other.weight.dtype == other.b.dtype == torch.float64
        assert other.whole.dtype == torch.int64
    m.to(torch.float64, non_blocking=True)
    assert m.weight.grad.dtype == torch.float64
    m.to(torch.float32, True)
    assert m.weight.dtype == torch.float32 and m.weight.requires_grad
    m.to("cpu")
    assert m.weight.dtype == torch.float32


def test_a_submodule_is_replaced_or_added():
    m = nn.Sequential(nn.Sequential(nn.ReLU()), nn.Tanh())
    m[0].register_buffer("b", torch.ones(1))
    for strict in (False, True):
        new = nn.Sigmoid()
        m.set_submodule("0.0", new, strict=strict)
        assert m[0][0] is new and len(m) == 2
        with pytest.raises(AttributeError, match="`b` is not an nn.Module"):
            m.set_submodule("0.b", new, strict=strict)
        with pytest.raises(AttributeError, match="nosuch"):
            m.set_submodule("nosuch.0", new, strict=strict)
    with pytest.raises(AttributeError, match="Sequential has no attribute `more`"):
        m.set_submodule("0.more", new, strict=True)
    m.set_submodule("0.more", new)
    assert m[0].more is new
    m.set_submodule("last", new)
    assert m.last is new and list(dict(m.named_children())) == ["0", "1", "last"]
    with pytest.raises(ValueError, match="without a target name"):
        m.set_submodule("", new)
    with pytest.raises(ValueError, match="not an nn.Module"):
        m.set_submodule("0", torch.ones(1))


def kinds(modules):
    return [type(m).__name__ for m in modules]


def test_modules_are_put_into_a_sequence_and_taken_out():
    s = nn.Sequential(nn.ReLU(), nn.Tanh())
    assert s.insert(1, nn.Sigmoid()) is s
    s.insert(-1, nn.Flatten()).insert(4, nn.Identity()).insert(-5, nn.GELU())
    names = ["GELU", "ReLU", "Sigmoid", "Flatten", "Tanh", "Identity"]
    assert kinds(s) == names and list(s._modules) == [str(i) for i in range(6)]
    for index in (7, -7):
        with pytest.raises(IndexError, match=f"Index out of range: {index}"):
            s.insert(index, nn.ReLU())
    with pytest.raises(AssertionError, match="module should be of type"):
        s.insert(0, 5)
    assert isinstance(s.pop(0), nn.GELU) and isinstance(s.pop(-1), nn.Identity)
    assert kinds(s.pop(slice(1, 3))) == ["Sigmoid", "Flatten"]
    assert kinds(s) == ["ReLU", "Tanh"] and list(s._modules) == ["0", "1"]
    with pytest.raises(IndexError, match="index 5 is out of range"):
        s.pop(5)
    named = nn.Sequential({"a": nn.ReLU(), "b": nn.Tanh()})
    del named[0]
    assert list(named._modules) == ["0"]


def test_sequences_are_added_and_multiplied():
    a, b = nn.Sequential(nn.ReLU(), nn.Linear(1, 1)), nn.Sequential(nn.Tanh())
    assert kinds(a + b) == ["ReLU", "Linear", "Tanh"] and len(a) == 2
    twice = 2 * b * 1
    assert kinds(twice) == ["Tanh", "Tanh"] and twice[0] is twice[1]
    same = b
    same += a
    assert same is b and kinds(b) == ["Tanh", "ReLU", "Linear"]
    b *= 2
    assert kinds(b) == ["Tanh", "ReLU", "Linear"] * 2
    b += b
    assert len(b) == 12
    with pytest.raises(ValueError, match="supports only objects of Sequential class, but"):
        a.__add__((1,))
    for factor in (0, -1):
        with pytest.raises(ValueError, match=f"Non-positive multiplication factor {factor}"):
            a * factor
    with pytest.raises(TypeError, match="unsupported operand type"):
        a * "a"


def test_lists_of_modules_grow_and_shrink():
    m = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    assert kinds(m.__add__([nn.Sigmoid()])) == ["ReLU", "Tanh", "Sigmoid"] and len(m) == 2
    m += [nn.Sigmoid()]
    assert kinds(m) == ["ReLU", "Tanh", "Sigmoid"]
    assert isinstance(m.pop(0), nn.ReLU) and kinds(m.pop(slice(0, 1))) == ["Tanh"]
    assert list(m._modules) == ["0"]
    for wrong in (5, nn.ReLU()):
        with pytest.raises(TypeError, match="ModuleList.extend should be called with an iterable"):
            m.extend(wrong)
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        m.insert(0, 5)
    with pytest.raises(TypeError, match="interpreted as an integer"):
        m["a"]
    d = nn.ModuleDict()
    with pytest.raises(TypeError, match="ModuleDict.update should be called with an iterable"):
        d.update(5)
    with pytest.raises(ValueError, match="sequence element #0 has length 3; 2 is required"):
        d.update([(1, 2, 3)])
