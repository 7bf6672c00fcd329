"""The order of dimensions in memory, and what a parameter takes of another tensor."""

import pytest
from grouping import each

import autograd_cy as ag

SHAPES = {
    "contiguous": lambda t: t.ones(2, 3),
    "transposed": lambda t: t.ones(2, 3).t(),
    "channels last": lambda t: t.ones(2, 3, 4, 5).contiguous(memory_format=t.channels_last),
    "leading ones": lambda t: t.ones(1, 1, 2),
    "a one within": lambda t: t.ones(2, 1, 3),
    "expanded": lambda t: t.ones(1).expand(3, 2),
    "permuted": lambda t: t.ones(2, 3, 4).permute(2, 0, 1),
    "empty": lambda t: t.ones(0, 2),
    "a number": lambda t: t.tensor(1.0),
    "one element": lambda t: t.ones(1),
    "a slice": lambda t: t.ones(4, 4)[::2, ::2],
    "volumes": lambda t: t.ones(2, 3, 4, 5, 6).contiguous(memory_format=t.channels_last_3d),
}


def orders(t, name):
    x, found = SHAPES[name](t), []
    formats = [t.contiguous_format, t.channels_last]
    for check in (False, True, formats, formats[:1], [t.channels_last_3d], []):
        try:
            found.append(x.dim_order(ambiguity_check=check))
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    return found


@each("name", sorted(SHAPES))
def test_dimensions_lie_in_the_order_that_torch_gives(name):
    torch = pytest.importorskip("torch")
    assert orders(ag, name) == orders(torch, name)


@each("name", sorted(SHAPES))
def test_the_order_is_that_of_a_dense_tensor(name):
    x = SHAPES[name](ag)
    order = x.dim_order()
    assert sorted(order) == list(range(x.ndim))
    strides = [x.stride(d) for d in order]
    assert strides == sorted(strides, reverse=True)


def test_wrong_checks_of_orders():
    for wrong in (3, "x", [3], None):
        with pytest.raises(TypeError, match="must be a bool or a list of memory formats"):
            ag.ones(2).dim_order(ambiguity_check=wrong)
    with pytest.raises(TypeError):
        ag.ones(2).dim_order(True)


def test_a_parameter_takes_values_or_another_tensor():
    p = ag.nn.Parameter(ag.ones(2))
    other = ag.zeros(2, requires_grad=True)
    with ag.no_grad():
        made = p.module_load(other)
        assert made.data_ptr() == p.data_ptr() and p.tolist() == [0, 0] and not made.requires_grad
    made = p.module_load(other, assign=True)
    assert made.data_ptr() == other.data_ptr() and not made.requires_grad
    with pytest.raises(RuntimeError):
        ag.ones(2).module_load(ag.zeros(3))
