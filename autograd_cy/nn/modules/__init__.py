"""The classes of ``autograd_cy.nn`` by the path under which torch keeps them.

Each module says its own in ``__all__``.
"""

from typing import TYPE_CHECKING
from typing import Any as _Any

from autograd_cy._environment.moved_modules import moved as _moved

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
from .module import Module as Module

if not TYPE_CHECKING:  # type checkers take all names that are imported, and name what isn't there
    __all__ = sorted(
        name
        for name, value in globals().items()
        if isinstance(value, type) and issubclass(value, Module)
    )

    def __getattr__(name: str) -> _Any:
        found = _moved(__name__, name)
        if found is not None:
            return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
