"""Modules called with other parameters: an older name of `func.functional_call`."""

from __future__ import annotations

from typing import Any

import autograd_cy as _operators
from autograd_cy._C._warned import warn as _warn

from ..module import Module

__all__ = ["functional_call"]


def functional_call(
    module: Module,
    parameters_and_buffers: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Deprecated: :func:`autograd_cy.func.functional_call` took its place.

    Parameters
    ----------
    module : Module
        What is called.
    parameters_and_buffers : dict of Tensor
        What stands for its parameters and buffers, by name.
    args : tuple or object, optional
        Arguments of the call, or the only one.
    kwargs : dict, optional
        Keyword arguments of the call.
    tie_weights : bool, optional
        Whether parameters that are one stay one.
    strict : bool, optional
        Whether all must be given.

    Returns
    -------
    object
        What the module returns.

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as torch
    >>> layer, other = torch.nn.Linear(1, 1), {"weight": torch.ones(1, 1), "bias": torch.ones(1)}
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", FutureWarning)
    ...     y = torch.nn.utils.stateless.functional_call(layer, other, torch.ones(1))
    >>> y.item()
    2.0
    """
    _warn(
        "This API is deprecated as of PyTorch 2.0 and will be removed in a future version of "
        "PyTorch. Please use func.functional_call instead which is a drop-in replacement for this "
        "API.",
        FutureWarning,
    )
    return _operators.func.functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def _reparametrize_module(*args: Any, **kwargs: Any) -> Any:
    """Give a module other parameters for a ``with`` block; what functions of others call."""
    from autograd_cy.func._modules import _reparametrize_module

    return _reparametrize_module(*args, **kwargs)
