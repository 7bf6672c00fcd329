"""
The operations of Variables: a Function each, which can also be called by itself.

Inputs of ``forward`` are tensors of the era. Gradients inside ``backward`` may be plain core
tensors, so only functions of the core compute with them.
"""

from ..function import Function, InplaceFunction
from ..stochastic_function import StochasticFunction
from . import (
    arithmetic,
    comparison,
    elementary,
    indexing,
    products,
    reductions,
    sampling,
    views,
)
from .arithmetic import *  # noqa: F403
from .comparison import *  # noqa: F403
from .elementary import *  # noqa: F403
from .indexing import *  # noqa: F403
from .products import *  # noqa: F403
from .reductions import *  # noqa: F403
from .sampling import *  # noqa: F403
from .views import *  # noqa: F403

__all__ = [
    "Function",
    "InplaceFunction",
    "StochasticFunction",
    *arithmetic.__all__,
    *comparison.__all__,
    *elementary.__all__,
    *indexing.__all__,
    *products.__all__,
    *reductions.__all__,
    *sampling.__all__,
    *views.__all__,
]
