"""`autocast`, and what custom Functions say about it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from autograd_cy import Tensor, float64
from autograd_cy import dtype as _dtype
from autograd_cy._autocast import (
    autocast,
    get_autocast_dtype,
    is_autocast_available,
    is_autocast_enabled,
)

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def custom_fwd(
    fwd: Callable | None = None, *, device_type: str, cast_inputs: _dtype | None = None
) -> Callable:
    """
    Decorate the ``forward`` of a Function, for use in and outside of `autocast`.

    Parameters
    ----------
    fwd : callable
        The method.
    device_type : str
        ``"cpu"``.
    cast_inputs : dtype, optional
        In an `autocast`, floating-point tensors among the arguments are converted to it, and the
        method runs without. Left out, it runs as its surroundings do.

    Returns
    -------
    callable

    Examples
    --------
    >>> import autograd_cy as torch
    >>> class Product(torch.autograd.Function):
    ...     @staticmethod
    ...     @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    ...     def forward(ctx, x, y):
    ...         ctx.save_for_backward(x, y)
    ...         return x @ y
    ...
    ...     @staticmethod
    ...     @torch.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         x, y = ctx.saved_tensors
    ...         return grad @ y.t(), x.t() @ grad
    >>> with torch.autocast("cpu"):
    ...     Product.apply(torch.ones(1, 1), torch.ones(1, 1)).dtype
    autograd_cy.float32
    """
    _check(device_type, "custom_fwd")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        ctx._dtype = get_autocast_dtype(device_type)
        within = is_autocast_enabled(device_type)
        if cast_inputs is None or not within:
            ctx._fwd_used_autocast = within and cast_inputs is None
            return fwd(*args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return decorated


def custom_bwd(bwd: Callable | None = None, *, device_type: str) -> Callable:
    """
    Decorate the ``backward`` of a Function so that it runs as `custom_fwd` ran its ``forward``.

    Parameters
    ----------
    bwd : callable
        The method.
    device_type : str
        ``"cpu"``.

    Returns
    -------
    callable

    Examples
    --------
    See `custom_fwd`.
    """
    _check(device_type, "custom_bwd")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(*args, **kwargs)

    return decorated


def _check(device_type: Any, name: str) -> None:
    if not isinstance(device_type, str):
        raise ValueError(
            f"Expected `device_type` of type `str` in {name}, got: `{type(device_type)}`"
        )


def _cast(value: Any, dtype: _dtype) -> Any:
    if isinstance(value, Tensor):
        if value.is_floating_point() and value.dtype is not float64:
            return value.to(dtype)
        return value
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, dtype): _cast(v, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(v, dtype) for v in value)
    return value
