"""The classes of ``autograd_cy.nn`` by the path under which torch keeps them."""

from ..activation import GELU, LogSoftmax, ReLU, Sigmoid, Softmax, Tanh, Threshold
from ..container import ModuleDict, ModuleList, Sequential
from ..layer import Dropout, Flatten, Identity, Linear
from ..loss import CrossEntropyLoss, MSELoss, NLLLoss
from ..parameter_container import ParameterDict, ParameterList
from ..pointwise_loss import (
    BCELoss,
    BCEWithLogitsLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    SmoothL1Loss,
    SoftMarginLoss,
)
from . import module as module
from .module import Module

__all__ = [
    "GELU",
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "Dropout",
    "Flatten",
    "HuberLoss",
    "Identity",
    "KLDivLoss",
    "L1Loss",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "ParameterDict",
    "ParameterList",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Tanh",
    "Threshold",
]
