"""Classes that spread work over GPUs and processes in torch; here modules run as they are."""

from __future__ import annotations

from autograd_cy._lazy import attach as _attach

from . import distributed
from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "distributed"]


__getattr__, __dir__ = _attach(__name__)
