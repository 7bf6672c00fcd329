"""CUDA graphs, which are not recorded yet; nothing is being captured."""

from __future__ import annotations

from autograd_cy._absent.stand_ins import stand_in

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


def __getattr__(name: str) -> object:
    return stand_in(__name__, name)
