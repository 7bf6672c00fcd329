"""Functions of two numbers take a Python number as first argument, where torch's do."""

import numpy as np
import pytest
from calls import EVALUATOR, public_function, records, to_array
from grouping import each

import autograd_cy as ag

FIRST = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "pow": np.power,
    "remainder": np.remainder, "floor_divide": np.floor_divide, "xlogy": lambda a, b: a * np.log(b),
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
    "bitwise_left_shift": np.left_shift, "bitwise_right_shift": np.right_shift,
    "subtract": np.subtract, "multiply": np.multiply, "divide": np.true_divide,
    "true_divide": np.true_divide,
}  # fmt: skip
TENSOR_FIRST = (
    "fmod", "eq", "ne", "lt", "le", "gt", "ge", "copysign", "maximum", "atan2", "clamp", "fmax",
    "logical_and", "hypot",
)  # fmt: skip


@pytest.mark.parametrize("name", FIRST)
def test_a_number_may_come_first(name):
    y = ag.tensor([1, 2, 3])
    result = getattr(ag, name)(2, y)
    np.testing.assert_allclose(result.numpy(), FIRST[name](2, y.numpy()), rtol=1e-6)
    assert result.dtype == (
        ag.int64 if name not in ("div", "divide", "true_divide", "xlogy") else ag.float32
    )


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow", "xlogy"])
def test_the_tensor_gets_its_gradient(name):
    y = ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
    getattr(ag, name)(2.0, y).sum().backward()
    step = 1e-6
    up, down = (FIRST[name](2.0, y.detach().numpy() + d) for d in (step, -step))
    np.testing.assert_allclose(y.grad.numpy(), (up - down) / (2 * step), rtol=1e-6, atol=1e-8)


def test_numbers_on_both_sides_give_a_tensor_and_alpha_still_counts():
    assert ag.add(2, 3).item() == 5
    assert ag.add(2, ag.tensor([1.0]), alpha=3).tolist() == [5.0]
    assert ag.sub(2, ag.tensor([1.0]), alpha=3).tolist() == [-1.0]


def takes_two_operands(record):
    return [a.type for a in record.args[:2]] == ["operand"] * 2 and public_function(record)


@each("record", records(takes_two_operands))
def test_two_numbers_are_what_a_tensor_and_a_number_are_or_refused(record):
    function = EVALUATOR.form(record)
    if record.call.two_numbers:
        found, expected = function(2, 3), function(ag.tensor(2), 3)
        assert found.dtype == expected.dtype and to_array(found) == to_array(expected)
    else:
        with pytest.raises(TypeError, match=r"\(position 2\) must be Tensor, not int"):
            function(2, 3)


@pytest.mark.parametrize("name", TENSOR_FIRST)
def test_elsewhere_a_number_first_is_refused(name):
    with pytest.raises(
        TypeError, match=rf"{name}\(\): argument 'input' .* must be Tensor, not int"
    ):
        getattr(ag, name)(2, ag.tensor([1.0]))


@pytest.mark.parametrize("name", [n for n in FIRST if n != "xlogy"])
def test_in_place_forms_need_a_tensor_first(name):
    function = getattr(ag.Tensor, f"{name}_")
    with pytest.raises(TypeError):
        function(2, ag.tensor([1]))
