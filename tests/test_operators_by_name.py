"""Operators by the names of torch's dispatcher, `autograd_cy.ops`."""

import pytest
from grouping import each

import autograd_cy as torch
from autograd_cy import ops


def x():
    return torch.tensor([1.0, -2.0])


CALLS = [
    (lambda: torch.ops.aten.add(x(), 1), lambda: x() + 1),
    (lambda: torch.ops.aten.add.Tensor(x(), x(), alpha=2), lambda: 3 * x()),
    (lambda: torch.ops.aten.mul.Scalar(x(), 2), lambda: 2 * x()),
    (lambda: torch.ops.aten.add_.Tensor(x(), 1), lambda: x() + 1),
    (lambda: torch.ops.aten.view.default(x(), (2, 1)), lambda: x().view(2, 1)),
    (lambda: torch.ops.aten.relu.default(x()), lambda: x().relu()),
    (lambda: torch.ops.aten.sum.dim_IntList(x(), [0]), lambda: x().sum(0)),
    (lambda: torch.ops.aten.special_erfinv(x() / 4), lambda: (x() / 4).erfinv()),
    (lambda: torch.ops.aten.linalg_vector_norm(x()), lambda: x().norm()),
    (lambda: torch.ops.aten.linear(x(), x()), lambda: (x() * x()).sum()),
    (lambda: torch.ops.aten.slice.Tensor(x()[None], 1, 1, 2), lambda: x()[None, 1:2]),
    (
        lambda: torch.ops.aten.index.Tensor(x()[None], [None, torch.tensor([1])]),
        lambda: x()[None, 1:],
    ),
    (lambda: torch.ops.aten._to_copy(x(), dtype=torch.float64), lambda: x().double()),
    (lambda: torch.ops.aten.alias(x()), x),
    (lambda: torch.ops.aten.zeros([2]), lambda: torch.zeros(2)),
    (
        lambda: torch.ops.aten.mm.out(x()[None], x()[:, None], out=torch.empty(1, 1)),
        lambda: torch.tensor([[5.0]]),
    ),
]


def test_operators_are_called_by_name():
    for call, expected in CALLS:
        assert call().equal(expected())


def test_names_of_operators():
    add = torch.ops.aten.add
    assert torch.ops is ops and add is torch.ops.aten.add and add.Tensor is add.Tensor
    assert (str(add), repr(add)) == ("aten.add", "<OpOverloadPacket(op='aten.add')>")
    assert (str(add.Tensor), add.Tensor.__name__) == ("aten.add.Tensor", "add.Tensor")
    assert (add.Tensor.name(), add.default.name()) == ("aten::add.Tensor", "aten::add")
    assert add.Tensor.overloadpacket is add and add.Tensor.namespace == "aten"
    assert torch.ops.loaded_libraries == set()
    from autograd_cy._ops import OpOverload, OpOverloadPacket

    assert isinstance(add, OpOverloadPacket) and isinstance(add.Tensor, OpOverload)


def test_a_gradient_passes_through():
    leaf = x().requires_grad_()
    torch.ops.aten.mul.Tensor(leaf, leaf).sum().backward()
    assert leaf.grad.equal(2 * x())


ABSENT = [
    ("'_OpNamespace' 'aten' object has no attribute 'foo'", lambda: torch.ops.aten.foo),
    ("'_OpNamespace' 'aten' object has no attribute 'save'", lambda: torch.ops.aten.save),
    ("'aten' object has no attribute 'Tensor'", lambda: torch.ops.aten.Tensor),
    ("'_OpNamespace' 'torchvision' object has no attribute", lambda: torch.ops.torchvision.nms),
    ("'aten.add' has no overload name 'foo'", lambda: torch.ops.aten.add.foo),
    ("has no attribute '_private'", lambda: torch.ops._private),
]


@each("text, call", ABSENT)
def test_what_is_absent_is_an_attribute_error(text, call):
    with pytest.raises(AttributeError, match=text):
        call()


def test_copies_are_copies_and_aliases_share():
    one = x()
    assert torch.ops.aten._to_copy(one).data_ptr() != one.data_ptr()
    assert torch.ops.aten.alias(one).data_ptr() == one.data_ptr()
    with pytest.raises(RuntimeError, match="dense tensors only"):
        torch.ops.aten._sparse_addmm(one, one, one)


def test_libraries_are_refused():
    with pytest.raises(OSError, match=r"^Could not load this library: /x/y\.so"):
        torch.ops.load_library("/x/y.so")
