"""The module that averages gradients over processes: it isn't there yet."""

from __future__ import annotations

from typing import Any

from autograd_cy._lazy.table import NO_GROUP
from autograd_cy.nn.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """
    The class that programs ask for by isinstance, and wrap a module in if there are processes.

    Parameters
    ----------
    module : Module
        What would be wrapped; all else is of processes, too.

    Raises
    ------
    ValueError
        If one is made: it isn't there yet, and one process needs none.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.nn.Linear(1, 1), ag.nn.parallel.DistributedDataParallel)
    False
    """

    def __init__(self, module: Any = None, *args: Any, **kwargs: Any) -> None:
        raise ValueError(
            f"DistributedDataParallel: {NO_GROUP}. It isn't there yet, and one process needs none: "
            "use the module itself where distributed.is_available() is False"
        )
