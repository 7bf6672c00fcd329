"""The hook by which functions of the namespace learn of Variables, which are made of tensors and
lie above.

``legacy.autograd`` calls :func:`register` once; before that nothing is a Variable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["FUNCTIONS", "is_variable", "register", "variable_among"]

_variable: tuple[type, ...] = ()

# Functions of Variables that are no methods: cat, stack, split, chunk, unbind, normal.
FUNCTIONS: dict[str, Callable[..., Any]] = {}


def register(variable: type, functions: dict[str, Callable[..., Any]]) -> None:
    """
    Name the class of Variables and the functions that take them and are no methods.

    Parameters
    ----------
    variable : type
    functions : dict
        By the name of the function, for which a Variable has no method.
    """
    global _variable
    _variable = (variable,)
    FUNCTIONS.update(functions)


def is_variable(x: object) -> bool:
    """Return whether an object is a Variable."""
    return isinstance(x, _variable)


def variable_among(args: Any) -> Any:
    """The first Variable of the arguments, also of one in a list or tuple; None without one."""
    for x in args:
        if isinstance(x, _variable):
            return x
        if isinstance(x, (list, tuple)):
            for y in x:
                if isinstance(y, _variable):
                    return y
    return None
