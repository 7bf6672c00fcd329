"""The classes of ``autograd_cy.nn`` by the path under which torch keeps them."""

from ..activation import GELU, LogSoftmax, ReLU, Sigmoid, Softmax, Tanh, Threshold
from ..container import ModuleDict, ModuleList, Sequential
from ..layer import Dropout, Flatten, Identity, Linear
from ..loss import CrossEntropyLoss, MSELoss, NLLLoss
from ..parameter_container import ParameterDict, ParameterList
from ..recurrent import GRU, LSTM, RNN, RNNBase
from ..recurrent_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from . import module as module
from .module import Module

__all__ = [
    "GELU",
    "GRU",
    "LSTM",
    "RNN",
    "CrossEntropyLoss",
    "Dropout",
    "Flatten",
    "GRUCell",
    "Identity",
    "LSTMCell",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "ParameterDict",
    "ParameterList",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "Threshold",
]
