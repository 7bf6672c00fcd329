"""Names of ``torch.onnx``, which can be imported; there is no exporter, and calls say so."""

from __future__ import annotations

from autograd_cy._lazy import attach as _attach

__all__ = ["is_in_onnx_export"]


def is_in_onnx_export() -> bool:
    """
    Tell whether the program is being exported: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.onnx.is_in_onnx_export()
    False
    """
    return False


__getattr__, __dir__ = _attach(__name__)
