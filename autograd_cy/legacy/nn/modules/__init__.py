"""The modules, by kind."""

from . import activation, container, layers, loss, rnn
from .activation import *  # noqa: F403
from .container import *  # noqa: F403
from .layers import *  # noqa: F403
from .loss import *  # noqa: F403
from .module import Module
from .rnn import *  # noqa: F403

__all__ = [
    "Module",
    *activation.__all__,
    *container.__all__,
    *layers.__all__,
    *loss.__all__,
    *rnn.__all__,
]
