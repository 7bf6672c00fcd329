"""CUDA graphs, which are not recorded yet; nothing is being captured."""

from __future__ import annotations

from autograd_cy._lazy import attach as _attach

__all__ = ["is_current_stream_capturing"]


def is_current_stream_capturing() -> bool:
    """
    Tell if work of the current stream is recorded instead of run: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.is_current_stream_capturing()
    False
    """
    return False


__getattr__, __dir__ = _attach(__name__)
