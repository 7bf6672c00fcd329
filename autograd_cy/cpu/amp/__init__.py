"""Mixed precision by the names of older programs: those of :mod:`autograd_cy.amp` for the CPU."""

from __future__ import annotations

from autograd_cy import amp
from autograd_cy._C.dtypes import bfloat16
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy.amp._older_names import OlderGradScaler as _OlderGradScaler
from autograd_cy.amp._older_names import warn_of_name as _warn_of_name

__all__ = ["GradScaler", "autocast"]


class autocast(amp.autocast):
    """
    Compute products in bfloat16, sums and losses in float32.

    Parameters
    ----------
    enabled : bool, default True
    dtype : dtype, default bfloat16
    cache_enabled : bool, default True
        See :class:`autograd_cy.amp.autocast`, which took its place.

    Warns
    -----
    FutureWarning
        Always: the name is deprecated.

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as ag
    >>> warnings.simplefilter("ignore")
    >>> with ag.cpu.amp.autocast():
    ...     (ag.ones(1, 2) @ ag.ones(2, 1)).dtype
    autograd_cy.bfloat16
    """

    def __init__(
        self, enabled: bool = True, dtype: _dtype = bfloat16, cache_enabled: bool = True
    ) -> None:
        _warn_of_name("cpu", "autocast")
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_OlderGradScaler):
    """
    Scale losses, so that small gradients of float16 don't vanish.

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

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     scaler = ag.cpu.amp.GradScaler(init_scale=8.0)
    >>> scaler.scale(ag.ones(1))
    tensor([8.])
    """

    _of_device = "cpu"
