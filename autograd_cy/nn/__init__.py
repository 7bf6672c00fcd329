"""Modules: parameters with names, layers, losses. Plain Python over the operators.

``module.py`` holds the base class, ``functional.py`` the same operations without state.
"""

from . import functional, init, modules
from .activation import GELU, LogSoftmax, ReLU, Sigmoid, Softmax, Tanh, Threshold
from .container import ModuleDict, ModuleList, Sequential
from .layer import Dropout, Flatten, Identity, Linear
from .loss import CrossEntropyLoss, MSELoss, NLLLoss
from .module import Module
from .parameter import Buffer, Parameter

__all__ = [
    "GELU",
    "Buffer",
    "CrossEntropyLoss",
    "Dropout",
    "Flatten",
    "Identity",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "Parameter",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "Threshold",
    "functional",
    "init",
    "modules",
]
