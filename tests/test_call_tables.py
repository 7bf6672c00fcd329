"""Tables of calls notice what goes through, what is refused otherwise, and other values."""

import call_tables
import pytest


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        ("int('1')", (ValueError, "base"), "went through: 1"),
        ("int('a')", (TypeError, "base"), "ValueError: invalid literal"),
        ("int('a')", (ValueError, "other words"), "ValueError: invalid literal"),
        ("{}['a']", (LookupError, "a"), "KeyError"),
    ],
)
def test_other_errors_are_noticed(call, error, said):
    call_tables.assert_refused({"int('a')": (ValueError, "invalid literal for int()")}, {})
    with pytest.raises(AssertionError) as found:
        call_tables.assert_refused({call: error}, {})
    assert call in str(found.value) and said in str(found.value)


@pytest.mark.parametrize("value", [2, "1", True, [1]])
def test_other_values_are_noticed(value):
    call_tables.assert_given({"x": 1}, {"x": 1})
    with pytest.raises(AssertionError):
        call_tables.assert_given({"x": value}, {"x": 1})


def test_numbers_are_the_same_but_for_rounding():
    nan = float("nan")
    assert call_tables.same([1.0, [nan, 2]], [1.0 + 1e-8, [nan, 2]])
    for other in ([1.0, [nan, 3]], [1.0, [0.0, 2]], [1.001, [nan, 2]], [1, [nan, 2]], [1.0]):
        assert not call_tables.same(other, [1.0, [nan, 2]])
