"""Automatic differentiation with the semantics of torch.autograd."""

from . import _C as _C
from ._version import __version__ as __version__
