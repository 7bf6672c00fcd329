"""The classes of ``autograd_cy.nn`` by the path under which torch keeps them."""

from ..activation import GELU, LogSoftmax, ReLU, Sigmoid, Softmax, Tanh, Threshold
from ..container import ModuleDict, ModuleList, Sequential
from ..gate import GLU, LogSigmoid, Mish, SiLU, Softmax2d, Softmin, Softplus, Softsign, Tanhshrink
from ..layer import Dropout, Flatten, Identity, Linear
from ..loss import CrossEntropyLoss, MSELoss, NLLLoss
from ..parameter_container import ParameterDict, ParameterList
from ..rectifier import (
    CELU,
    ELU,
    SELU,
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    PReLU,
    ReLU6,
    RReLU,
    Softshrink,
)
from . import module as module
from .module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "CrossEntropyLoss",
    "Dropout",
    "Flatten",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "Identity",
    "LeakyReLU",
    "Linear",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "PReLU",
    "ParameterDict",
    "ParameterList",
    "RReLU",
    "ReLU",
    "ReLU6",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]
