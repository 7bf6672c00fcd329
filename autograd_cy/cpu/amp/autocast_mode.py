"""The context of mixed precision on the CPU by its older name."""

from __future__ import annotations

from autograd_cy import amp
from autograd_cy._C.dtypes import bfloat16
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy.amp._older_names import warn_of_name as _warn_of_name

__all__ = ["autocast"]


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
