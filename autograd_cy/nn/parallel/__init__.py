"""Classes that spread work over GPUs and processes in torch; here modules run as they are."""

from __future__ import annotations

from typing import Any

from autograd_cy._absent.stand_ins import stand_in

from . import distributed
from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "distributed"]


def __getattr__(name: str) -> Any:
    return stand_in(__name__, name)
