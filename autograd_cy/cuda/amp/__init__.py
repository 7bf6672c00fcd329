"""Mixed precision by the names of older programs: those of :mod:`autograd_cy.amp` for a GPU.

Where there is none, nothing is converted and no loss scaled; programs that ask run as they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autograd_cy import amp
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.dtypes import float16
from autograd_cy.amp._older_names import OlderGradScaler as _OlderGradScaler
from autograd_cy.amp._older_names import warn_of_name as _warn_of_name
from autograd_cy.cuda.devices import is_available as _is_available

__all__ = [
    "GradScaler",
    "amp_definitely_not_available",
    "autocast",
    "custom_bwd",
    "custom_fwd",
]


class autocast(amp.autocast):
    """
    The context for a GPU; where there is none, operators compute in the dtypes of arguments.

    Parameters
    ----------
    enabled : bool, default True
    dtype : dtype, default float16
    cache_enabled : bool, default True
        See :class:`autograd_cy.amp.autocast`, which took its place.

    Warns
    -----
    FutureWarning
        Always: the name is deprecated.
    UserWarning
        If `enabled`, and there is no GPU.

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as ag
    >>> warnings.simplefilter("ignore")
    >>> with ag.cuda.amp.autocast():  # tensors on the CPU are left as they are
    ...     (ag.ones(1, 2) @ ag.ones(2, 1)).dtype
    autograd_cy.float32
    """

    def __init__(
        self, enabled: bool = True, dtype: _dtype = float16, cache_enabled: bool = True
    ) -> None:
        _warn_of_name("cuda", "autocast")
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_OlderGradScaler):
    """
    The scaler of a GPU; where there is none, every method does the plain thing.

    Parameters
    ----------
    init_scale : float
    growth_factor, backoff_factor : float
    growth_interval : int
    enabled : bool, default True
        See :class:`autograd_cy.amp.GradScaler`, which took its place.

    Warns
    -----
    FutureWarning
        Always: the name is deprecated.
    UserWarning
        If `enabled`, and there is no GPU.

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     scaler = ag.cuda.amp.GradScaler()
    >>> scaler.is_enabled() == ag.cuda.is_available()
    True
    """

    _of_device = "cuda"


def custom_fwd(fwd: Callable | None = None, *, cast_inputs: _dtype | None = None) -> Any:
    """
    Decorate the ``forward`` of a Function; :func:`autograd_cy.amp.custom_fwd` took its place.

    Parameters
    ----------
    fwd : callable
        The method.
    cast_inputs : dtype, optional
        That tensors on a GPU are converted to.

    Returns
    -------
    callable

    Warns
    -----
    FutureWarning
        Always: the name is deprecated.

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as ag
    >>> warnings.simplefilter("ignore")
    >>> class Double(ag.autograd.Function):
    ...     @staticmethod
    ...     @ag.cuda.amp.custom_fwd
    ...     def forward(ctx, x):
    ...         return x * 2
    ...
    ...     @staticmethod
    ...     @ag.cuda.amp.custom_bwd
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> Double.apply(ag.ones(1))
    tensor([2.])
    """
    _warn_of_name("cuda", "custom_fwd", "custom_fwd(args..., device_type='cuda')")
    if fwd is None:
        return functools.partial(amp.custom_fwd, device_type="cuda", cast_inputs=cast_inputs)
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable) -> Callable:
    """
    Decorate the ``backward`` of a Function; :func:`autograd_cy.amp.custom_bwd` took its place.

    Parameters
    ----------
    bwd : callable
        The method.

    Returns
    -------
    callable

    Warns
    -----
    FutureWarning
        Always: the name is deprecated.

    Examples
    --------
    See `custom_fwd`.
    """
    _warn_of_name("cuda", "custom_bwd", "custom_bwd(args..., device_type='cuda')")
    return amp.custom_bwd(bwd, device_type="cuda")


def amp_definitely_not_available() -> bool:
    """
    Tell if there is no GPU to compute with.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.amp.amp_definitely_not_available() is not ag.cuda.is_available()
    True
    """
    return not _is_available()
