"""The classes of ``autograd_cy.nn`` by the path under which torch keeps them."""

from ..activation import GELU, LogSoftmax, ReLU, Sigmoid, Softmax, Tanh, Threshold
from ..container import ModuleDict, ModuleList, Sequential
from ..embedding import Embedding, EmbeddingBag
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
from ..pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
)
from ..recurrent import GRU, LSTM, RNN, RNNBase
from ..recurrent_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from . import module as module
from .module import Module

__all__ = [
    "GELU",
    "GRU",
    "LSTM",
    "RNN",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "EmbeddingBag",
    "Flatten",
    "GRUCell",
    "HuberLoss",
    "Identity",
    "KLDivLoss",
    "L1Loss",
    "LSTMCell",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
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
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Tanh",
    "Threshold",
]
