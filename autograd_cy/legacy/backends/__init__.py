"""Settings of libraries that kernels came from."""

from . import cudnn

__all__ = ["cudnn"]
