"""Types that programs annotate scripted functions with."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035 - names of torch's module

__all__ = [
    "Any",
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "Dict",
    "List",
    "Optional",
    "Tuple",
    "Union",
]


class _BroadcastingList:
    """A list of numbers, for which one number may be given; in annotations, the element's type."""

    def __getitem__(self, types: Any) -> Any:
        return types


BroadcastingList1: Any = _BroadcastingList()
BroadcastingList2: Any = _BroadcastingList()
BroadcastingList3: Any = _BroadcastingList()
