"""Methods that convert take a memory format by name and nothing else."""

import pytest

import autograd_cy as ag

CONVERSIONS = (
    "float double half bfloat16 int long short char byte bool cfloat cdouble contiguous"
).split()


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_take_nothing_but_a_memory_format_by_name(name):
    x = ag.ones(2, 3)
    method = getattr(x, name)
    for wrong in ("tanh", 5, None, ag.contiguous_format):
        with pytest.raises(TypeError, match=rf"\b{name}\(\)"):
            method(wrong)
    with pytest.raises(TypeError):
        method(dtype=ag.float64)
    same = method(memory_format=ag.contiguous_format)
    assert same.tolist() == method().tolist()
    assert same.dtype == method().dtype


def test_conversions_keep_to_the_memory_format():
    x = ag.ones(2, 3, 4, 5)
    assert x.double(memory_format=ag.channels_last).is_contiguous(memory_format=ag.channels_last)
