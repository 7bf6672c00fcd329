"""
Forward what a program logs to tensorboardX, if that is installed.

It is imported when ``SummaryWriter`` is first asked for. Without it the name can be imported, and
says so when it is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NoReturn

from autograd_cy._lazy import attach as _attach

__all__ = ["SummaryWriter"]  # made when it is first asked for


_TEXT = """
Write what a program logs to files for TensorBoard, by tensorboardX.

Tensors are given on as arrays; ``add_graph`` is refused, as there is no graph of the program.

Parameters
----------
*args, **kwargs
    As of ``tensorboardX.SummaryWriter``.

Raises
------
ModuleNotFoundError
    If tensorboardX isn't installed.

Examples
--------
>>> from autograd_cy.utils.tensorboard import SummaryWriter
>>> def train(logged_to=None):
...     writer = SummaryWriter(logged_to) if logged_to else None
>>> train()
"""


class _Missing:
    """The stand-in of the writer where tensorboardX isn't installed."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ModuleNotFoundError(
            "SummaryWriter: what is logged is written by tensorboardX, which isn't installed. "
            "Install it (pip install tensorboardX), or log by other means, such as a CSV file",
            name="tensorboardX",
        )


def _find(name: str) -> Any:
    if name != "SummaryWriter":
        return None
    try:
        installed = import_module("tensorboardX")
    except ModuleNotFoundError as error:
        if error.name != "tensorboardX":
            raise
        cls: type = type(name, (_Missing,), {"__doc__": _TEXT, "__module__": __name__})
    else:
        from autograd_cy.utils.tensorboard._forwarding import writer

        cls = writer(installed.SummaryWriter, _TEXT)
    globals()[name] = cls
    return cls


__getattr__, __dir__ = _attach(__name__, find=_find)
