"""Nodes and functions that programs reach as ``torch._C._functions``."""

from autograd_cy._C.function import DelayedError, UndefinedGrad
from autograd_cy._C.node import AccumulateGrad

__all__ = ["AccumulateGrad", "DelayedError", "UndefinedGrad"]
