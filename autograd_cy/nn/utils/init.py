"""Modules made without starting values."""

from __future__ import annotations

import inspect
from typing import Any

from ..module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: type[Any], *args: Any, **kwargs: Any) -> Module:
    """Make a module whose parameters have memory and no values yet.

    Parameters
    ----------
    module_cls : type of Module
        Its constructor takes `device`.
    *args, **kwargs
        What it gets; `device` is where the parameters are in the end.

    Returns
    -------
    Module

    Raises
    ------
    RuntimeError
        If it is no class of modules, or its constructor takes no device.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.utils.skip_init(torch.nn.Linear, 5, 1).weight.shape
    autograd_cy.Size([1, 5])
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    where = kwargs.pop("device", "cpu")
    constructor: Any = module_cls
    return constructor(*args, device="meta", **kwargs).to_empty(device=where)
