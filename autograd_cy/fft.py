"""
Discrete Fourier transforms by the names they have in ``torch.fft``.

Examples
--------
>>> import autograd_cy as ag
>>> ag.fft.ifft(ag.fft.fft(ag.tensor([1.0, 2.0]))).real
tensor([1., 2.])
"""

from autograd_cy._interpreted import complete as _complete
from autograd_cy._interpreted.fft import fft, fftfreq, ifft, irfft, rfft, rfftfreq

__all__ = ["fft", "fftfreq", "ifft", "irfft", "rfft", "rfftfreq"]

_complete("fft", globals())
