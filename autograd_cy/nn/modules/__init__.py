"""The classes of ``autograd_cy.nn`` by the path under which torch keeps them.

Each module says its own in ``__all__``.
"""

from typing import TYPE_CHECKING, Any

from autograd_cy._environment.moved_modules import moved as _moved

from .. import (
    activation as _activation,
)
from .. import (
    adaptive_softmax as _adaptive_softmax,
)
from .. import (
    container as _container,
)
from .. import (
    convolution as _convolution,
)
from .. import (
    distance as _distance,
)
from .. import (
    dropout as _dropout,
)
from .. import (
    embedding as _embedding,
)
from .. import (
    fold as _fold,
)
from .. import (
    layer as _layer,
)
from .. import (
    loss as _loss,
)
from .. import (
    margin_loss as _margin_loss,
)
from .. import (
    normalization as _normalization,
)
from .. import (
    padding as _padding,
)
from .. import (
    parameter_container as _parameter_container,
)
from .. import (
    pointwise_loss as _pointwise_loss,
)
from .. import (
    pooling as _pooling,
)
from .. import (
    recurrent as _recurrent,
)
from .. import (
    recurrent_cells as _recurrent_cells,
)
from .. import (
    resampling as _resampling,
)
from .. import (
    sequence_loss as _sequence_loss,
)
from .. import (
    transformer as _transformer,
)
from .. import (
    unpooling as _unpooling,
)
from ..activation import *  # noqa: F403
from ..adaptive_softmax import *  # noqa: F403
from ..attention import MultiheadAttention
from ..container import *  # noqa: F403
from ..convolution import *  # noqa: F403
from ..distance import *  # noqa: F403
from ..dropout import *  # noqa: F403
from ..embedding import *  # noqa: F403
from ..fold import *  # noqa: F403
from ..layer import *  # noqa: F403
from ..loss import *  # noqa: F403
from ..margin_loss import *  # noqa: F403
from ..normalization import *  # noqa: F403
from ..padding import *  # noqa: F403
from ..parameter_container import *  # noqa: F403
from ..pointwise_loss import *  # noqa: F403
from ..pooling import *  # noqa: F403
from ..recurrent import *  # noqa: F403
from ..recurrent_cells import *  # noqa: F403
from ..resampling import *  # noqa: F403
from ..sequence_loss import *  # noqa: F403
from ..transformer import *  # noqa: F403
from ..unpooling import *  # noqa: F403
from . import module as module
from .module import Module

__all__ = ["Module", "MultiheadAttention"]
__all__ += _activation.__all__
__all__ += _adaptive_softmax.__all__
__all__ += _container.__all__
__all__ += _convolution.__all__
__all__ += _distance.__all__
__all__ += _dropout.__all__
__all__ += _embedding.__all__
__all__ += _fold.__all__
__all__ += _layer.__all__
__all__ += _loss.__all__
__all__ += _margin_loss.__all__
__all__ += _normalization.__all__
__all__ += _padding.__all__
__all__ += _parameter_container.__all__
__all__ += _pointwise_loss.__all__
__all__ += _pooling.__all__
__all__ += _recurrent.__all__
__all__ += _recurrent_cells.__all__
__all__ += _resampling.__all__
__all__ += _sequence_loss.__all__
__all__ += _transformer.__all__
__all__ += _unpooling.__all__

if not TYPE_CHECKING:  # type checkers name what isn't there themselves

    def __getattr__(name: str) -> Any:
        found = _moved(__name__, name)
        if found is not None:
            return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
