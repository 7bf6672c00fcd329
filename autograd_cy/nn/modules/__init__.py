"""The classes of ``autograd_cy.nn`` by the path under which torch keeps them.

Each module says its own in ``__all__``.
"""

from typing import TYPE_CHECKING

from autograd_cy._lazy import attach as _attach

from ..activation import *  # noqa: F403
from ..adaptive_softmax import *  # noqa: F403
from ..attention import MultiheadAttention as MultiheadAttention
from ..container import *  # noqa: F403
from ..convolution import *  # noqa: F403
from ..distance import *  # noqa: F403
from ..dropout import *  # noqa: F403
from ..embedding import *  # noqa: F403
from ..fold import *  # noqa: F403
from ..layer import *  # noqa: F403
from ..lazy import *  # noqa: F403
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
from ..shuffle import *  # noqa: F403
from ..synchronized_norm import *  # noqa: F403
from ..transformer import *  # noqa: F403
from ..unpooling import *  # noqa: F403
from . import module as module
from .module import Module as Module

if not TYPE_CHECKING:  # type checkers take all names that are imported, and name what isn't there
    __all__ = sorted(
        name
        for name, value in globals().items()
        if isinstance(value, type) and issubclass(value, Module)
    )

    __getattr__, __dir__ = _attach(__name__, ["utils"])
