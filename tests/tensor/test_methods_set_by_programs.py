"""Programs set, replace and delete methods and attributes of the class Tensor."""

import subprocess
import sys
from unittest import mock

import pytest

import autograd_cy as ag


@pytest.fixture(autouse=True)
def clean():
    before = dict(vars(ag.Tensor))
    yield
    for name in set(vars(ag.Tensor)) - set(before):
        delattr(ag.Tensor, name)
    assert dict(vars(ag.Tensor)) == before


def test_a_method_of_its_own_is_found_by_tensors_and_subclasses():
    ag.Tensor.rms = lambda self: self.pow(2).mean().sqrt()
    x = ag.tensor([3.0, 4.0])
    assert x.rms().item() == pytest.approx(12.5**0.5)
    assert ag.nn.Parameter(x).rms().item() == pytest.approx(12.5**0.5)
    del ag.Tensor.rms
    with pytest.raises(AttributeError, match="rms"):
        x.rms()
    with pytest.raises(AttributeError):
        del ag.Tensor.rms


def test_properties_and_class_methods_are_set():
    ag.Tensor.squares = property(lambda self: self * self)
    ag.Tensor.of = classmethod(lambda cls, *values: ag.tensor(values))
    assert ag.tensor([2.0]).squares.tolist() == [4.0]
    assert ag.Tensor.of(1, 2).tolist() == [1, 2]
    del ag.Tensor.squares, ag.Tensor.of


@pytest.mark.parametrize("name", ["cuda", "add", "shape", "backward", "numpy", "cos"])
def test_one_of_the_package_is_replaced_and_comes_back(name):
    own = vars(ag.Tensor)[name]
    x = ag.tensor([1.0, 2.0])
    replaced = "replaced" if name != "shape" else property(lambda self: "replaced")
    setattr(ag.Tensor, name, replaced)
    assert getattr(x, name) == "replaced"
    assert getattr(ag.nn.Parameter(x), name) == "replaced"
    assert (x + x).sum().item() == 6.0  # what is compiled goes its way
    delattr(ag.Tensor, name)
    assert getattr(x, name) != "replaced"
    setattr(ag.Tensor, name, own)
    assert vars(ag.Tensor)[name] is own


def test_mock_and_setattr_restore_what_was_there(monkeypatch):
    own = vars(ag.Tensor)["cuda"]
    with mock.patch.object(ag.Tensor, "cuda", lambda self, *args, **named: self):
        x = ag.ones(2)
        assert x.cuda() is x
    assert vars(ag.Tensor)["cuda"] is own
    with monkeypatch.context() as patch:
        patch.setattr(ag.Tensor, "item", lambda self: 7)
        assert ag.ones(1).item() == 7
    assert ag.ones(1).item() == 1


def test_special_methods_are_replaced():
    own = ag.Tensor.__repr__
    ag.Tensor.__repr__ = lambda self: f"<{tuple(self.shape)}>"
    assert repr(ag.ones(2, 3)) == "<(2, 3)>"
    ag.Tensor.__repr__ = own
    assert repr(ag.ones(1)) == "tensor([1.])"
    ag.Tensor.__rrshift__ = ag.Tensor.__rrshift__


class Seen(ag.overrides.TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


def test_a_mode_leaves_them_and_shows_what_they_call():
    own = vars(ag.Tensor)["tolist"]
    ag.Tensor.tolist = lambda self: "mine"
    ag.Tensor.twice = lambda self: self + self
    with Seen() as seen:
        assert ag.ones(2).tolist() == "mine"
        assert ag.ones(2).twice().shape == (2,)
        assert "add" in seen.names
        ag.Tensor.thrice = lambda self: self * 3
    assert ag.ones(2).tolist() == "mine"
    assert float(ag.ones(1).thrice()) == 3
    del ag.Tensor.twice, ag.Tensor.thrice
    ag.Tensor.tolist = own
    with Seen():
        pass
    assert vars(ag.Tensor)["tolist"] is own


def test_one_set_while_a_mode_is_active_stays():
    own = vars(ag.Tensor)["cuda"]
    with Seen():
        ag.Tensor.cuda = lambda self: self
    x = ag.ones(1)
    assert x.cuda() is x
    ag.Tensor.cuda = own


def test_a_subclass_inherits_what_was_set():
    own = vars(ag.Tensor)["tolist"]
    ag.Tensor.tolist = lambda self: "mine"

    class Sub(ag.Tensor):
        pass

    assert ag.ones(1).as_subclass(Sub).tolist() == "mine"
    ag.Tensor.tolist = own
    assert ag.ones(1).as_subclass(Sub).tolist() == [1.0]


def test_a_family_that_is_loaded_later_leaves_them():
    text = (
        "import autograd_cy as torch\n"
        "torch.Tensor.erfinv = lambda self: 'mine'\n"
        "torch.Tensor.lgamma = lambda self: 'mine'\n"
        "import autograd_cy.special, autograd_cy.nn.functional as F\n"
        "torch.special.i0(torch.ones(1)); torch.lgamma(torch.ones(1)); F.softplus(torch.ones(1))\n"
        "assert torch.ones(1).erfinv() == 'mine' and torch.ones(1).lgamma() == 'mine'\n"
        "del torch.Tensor.lgamma\n"
        "assert torch.ones(1).lgamma().item() == 0\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
