"""Names of ``torch.onnx``, which can be imported; there is no exporter, and calls say so."""

from __future__ import annotations

from typing import Any

from autograd_cy._absent.stand_ins import stand_in

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


def __getattr__(name: str) -> Any:
    return stand_in(__name__, name)
