"""
Classes of several results with names, such as ``max(input, dim)`` returns.

They are named tuples, whose objects can be copied and pickled. Each is loaded with the operators
that return it.

Examples
--------
>>> import autograd_cy as ag
>>> found = ag.max(ag.tensor([[1, 5], [3, 4]]), 0)
>>> isinstance(found, ag.return_types.max)
True
>>> found.indices
tensor([1, 0])
"""

from __future__ import annotations

from typing import Any

from autograd_cy._interpreted import RESULTS, find

__all__ = sorted(RESULTS)


def __getattr__(name: str) -> Any:
    if name == "all_return_types":
        return [__getattr__(each) for each in __all__]
    if name not in RESULTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = find(RESULTS[name], f"{name}_result")
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "all_return_types"})
