"""The mode in which waits of the host are warnings or errors, by torch's names."""

from __future__ import annotations

from autograd_cy.cuda import _core

__all__ = ["get_sync_debug_mode", "set_sync_debug_mode"]

MODES = ("default", "warn", "error")


def get_sync_debug_mode() -> int:
    """
    Return the mode of :func:`set_sync_debug_mode`: 0, as others can't be set.

    Returns
    -------
    int

    Raises
    ------
    RuntimeError
        If GPUs can't be used; the text says what is missing.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     assert ag.cuda.get_sync_debug_mode() == 0
    """
    _core.start()
    return 0


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """
    Refuse all modes but the default one.

    Parameters
    ----------
    debug_mode : int or str
        0 or ``"default"``.

    Raises
    ------
    RuntimeError
        If it is another mode, no mode, or GPUs can't be used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     ag.cuda.set_sync_debug_mode("default")
    """
    _core.start()
    if debug_mode not in (0, 1, 2, *MODES):
        raise RuntimeError(
            "invalid value of debug_mode, expected one of `default`, `warn`, `error`"
        )
    if debug_mode not in (0, "default"):
        raise RuntimeError(
            "set_sync_debug_mode: waits are counted instead: "
            "autograd_cy._C.devices.host_reads() before and after"
        )
