"""
Classes of several results with names, such as ``max(input, dim)`` returns.

They are named tuples, whose objects can be copied and pickled. Each is loaded with the operators
that return it.

Examples
--------
>>> import autograd_cy as ag
>>> result = ag.max(ag.tensor([[1, 5], [3, 4]]), 0)
>>> isinstance(result, ag.return_types.max)
True
>>> result.indices
tensor([1, 0])
"""

from __future__ import annotations

import sys
from typing import Any

from autograd_cy._interpreted import RESULTS, find_function
from autograd_cy._lazy import attach as _attach

__all__ = sorted(RESULTS)


def _find(name: str) -> Any:
    if name == "all_return_types":
        return [getattr(sys.modules[__name__], each) for each in __all__]
    if name not in RESULTS:
        return None
    globals()[name] = result = find_function(RESULTS[name], f"{name}_result")
    return result


__getattr__, __dir__ = _attach(__name__, find=_find)
