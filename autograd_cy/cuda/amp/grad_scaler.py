"""The scaler of losses by its older name."""

from __future__ import annotations

from autograd_cy import amp
from autograd_cy.amp._older_names import warn_of_name as _warn_of_name

__all__ = ["GradScaler"]


class GradScaler(amp.GradScaler):
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

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _warn_of_name("cuda", "GradScaler")
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
