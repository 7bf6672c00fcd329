"""
Discrete Fourier transforms by the names they have in ``torch.fft``.

Examples
--------
>>> import autograd_cy as ag
>>> ag.fft.ifft(ag.fft.fft(ag.tensor([1.0, 2.0]))).real
tensor([1., 2.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_cy._interpreted import complete as _complete
from autograd_cy._lazy import attach as _attach

__all__: list[str] = []  # the records say them by namespace="fft"

_complete("fft", globals())


if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__, __dir__ = _attach(__name__)
