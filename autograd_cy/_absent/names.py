"""The errors of names that torch has and this package has not: they say what to use instead.

Modules ask here when a name isn't found.
"""

from __future__ import annotations

from typing import Any

from autograd_cy._absent.table import ABSENT, WITHOUT_DEVICE

__all__ = ["no_attribute", "no_method", "no_module"]


def no_attribute(module: str, name: str) -> AttributeError:
    """
    The error of a module without this name; it says what to do where torch has it.

    Examples
    --------
    >>> print(no_attribute("autograd_cy", "nested"))
    module 'autograd_cy' has no attribute 'nested': it has no counterpart of torch.nested (pad, ...
    """
    device = WITHOUT_DEVICE.get(module.partition(".")[2])
    hint = f": {device}" if device else _counterpart(module, name)
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")


def no_module(path: str) -> ModuleNotFoundError | None:
    """
    The error of an import of what torch has by this name, or None where nothing is known of it.

    It has no ``name``: importlib drops errors of ``from package import name`` that carry it.

    Examples
    --------
    >>> print(no_module("autograd_cy.library"))
    cannot import autograd_cy.library: it has no counterpart of torch.library (define an ...
    >>> no_module("autograd_cy.nothing")
    """
    hint = _counterpart(*path.rpartition(".")[::2])
    return ModuleNotFoundError(f"cannot import {path}{hint}") if hint else None


def _counterpart(module: str, name: str) -> str:
    """What an error adds where torch's module has this name: the way out."""
    inner = module.partition(".")[2]
    way_out = ABSENT.get(inner, {}).get(name)
    theirs = ".".join(filter(None, ("torch", inner, name)))
    return f": it has no counterpart of {theirs} ({way_out})" if way_out else ""


def no_method(tensor: Any, owner: type, name: str) -> AttributeError:
    """
    The error of a tensor, or of its class, without this name, which torch's tensors have.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> print(no_method(torch.ones(2), torch.Tensor, "lu"))
    'autograd_cy.Tensor' object has no attribute 'lu': it has no counterpart of torch.Tensor.lu ...
    """
    kind = "autograd_cy.Tensor" if owner.__name__ == "Tensor" else owner.__name__
    which = f"type object {kind!r}" if tensor is None else f"{kind!r} object"
    return AttributeError(
        f"{which} has no attribute {name!r}: it has no counterpart of torch.Tensor.{name} "
        f"({ABSENT['Tensor'][name]})",
        name=name,
        obj=owner if tensor is None else tensor,
    )
