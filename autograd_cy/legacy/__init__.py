"""
The namespace that stands in for ``torch`` of March 2017 (0.1.10), for programs of that time.

Examples
--------
>>> import autograd_cy.legacy as torch
>>> torch.ones(2, 3).sum(1)
<BLANKLINE>
 3
 3
[torch.FloatTensor of size 2x1]
<BLANKLINE>
"""

from __future__ import annotations

from typing import Any as _Any

from autograd_cy import (
    Generator,
    Size,
    default_generator,
    get_num_threads,
    initial_seed,
    manual_seed,
    set_num_threads,
)
from autograd_cy._lazy import attach as _attach

from . import tensors as _tensors
from .creation import (
    cat,
    chunk,
    default_type,
    eye,
    from_numpy,
    linspace,
    logspace,
    normal,
    ones,
    rand,
    randn,
    randperm,
    range,
    set_default_tensor_type,
    split,
    stack,
    unbind,
    zeros,
)
from .functions import FUNCTIONS as _functions
from .serialization import get_rng_state, load, save, set_rng_state
from .tensors.printing import set_printoptions
from .tensors.storages import STORAGES as _storages
from .tensors.storages import Storage as _Storage

__version__ = "0.1.10"

globals().update(_tensors.TYPES)
globals().update(_storages)
globals().update(_functions)

# What legacy.autograd defines and programs also found here.
_OF_AUTOGRAD = (
    "Variable",
    "Function",
    "StochasticFunction",
    "NestedIOFunction",
    "backward",
    "gradcheck",
)
_MODULES = ("autograd", "backends", "cuda", "multiprocessing", "nn", "optim", "utils")

__all__ = [
    *_tensors.TYPES,
    *_storages,
    *_functions,
    *_OF_AUTOGRAD,
    *_MODULES,
    "Generator",
    "Size",
    "Tensor",
    "__version__",
    "cat",
    "chunk",
    "default_generator",
    "eye",
    "from_numpy",
    "get_num_threads",
    "get_rng_state",
    "initial_seed",
    "is_storage",
    "is_tensor",
    "linspace",
    "load",
    "logspace",
    "manual_seed",
    "normal",
    "ones",
    "rand",
    "randn",
    "randperm",
    "range",
    "save",
    "set_default_tensor_type",
    "set_num_threads",
    "set_printoptions",
    "set_rng_state",
    "split",
    "stack",
    "typename",
    "unbind",
    "zeros",
]


def is_tensor(obj: _Any) -> bool:
    """
    Return whether an object is a tensor; a Variable is none.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.is_tensor(torch.ones(1))
    True
    """
    from autograd_cy import Tensor

    return isinstance(obj, Tensor)


def is_storage(obj: _Any) -> bool:
    """
    Return whether an object is a storage.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.is_storage(torch.ones(1).storage())
    True
    """
    return isinstance(obj, _Storage)


def typename(o: _Any) -> str:
    """
    The name of the type of an object, as programs write it.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.typename(torch.ones(1))
    'torch.FloatTensor'
    """
    if is_tensor(o):
        return _tensors.typename(o)
    if is_storage(o):
        return o.type()
    module = type(o).__module__.replace("autograd_cy.legacy", "torch")
    return f"{module}.{type(o).__qualname__}"


def _find(name: str) -> _Any:
    if name == "Tensor":
        return default_type()
    if name == "Storage":
        return _storages[default_type().__name__.replace("Tensor", "Storage")]
    return None


_HINT = (
    ": it offers what torch 0.1.10 had and docs/variable-era.md lists; newer functions are in "
    "autograd_cy"
)
_HOMES = {"legacy.autograd": " ".join(_OF_AUTOGRAD)}
__getattr__ = _attach(__name__, _MODULES, _HOMES, _find, _HINT)[0]


def __dir__() -> list[str]:
    return sorted(__all__)
