"""Tables of calls, a line each: what they give, and by which errors they are refused."""

from collections.abc import Mapping
from typing import Any


def assert_refused(table: Mapping[str, tuple[type, str]], known: Mapping[str, Any]) -> None:
    """
    Each call raises an error of just this type, with these words in its message.

    Parameters
    ----------
    table : mapping of str to (type, str)
        Type of the error and words of its message, by call.
    known : mapping
        What the calls speak of.
    """
    wrong = {}
    for call, (kind, words) in table.items():
        try:
            found = eval(call, dict(known))
        except Exception as error:
            if type(error) is not kind or words not in str(error):
                wrong[call] = f"{type(error).__name__}: {error}"[:200]
        else:
            wrong[call] = f"went through: {found}"
    assert not wrong, "\n".join(f"{call}\n    {said}" for call, said in wrong.items())


def assert_given(table: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """
    Each call gives the value beside it; truth values and texts are of just that type.

    Parameters
    ----------
    table : mapping of str to object
        Values by call.
    known : mapping
        What the calls speak of.
    """
    wrong = {}
    for call, value in table.items():
        found = eval(call, dict(known))
        if found != value or (type(value) in (bool, str) and type(found) is not type(value)):
            wrong[call] = found
    assert not wrong
