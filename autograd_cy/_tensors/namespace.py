"""The names of the top level, gathered from the compiled modules."""

from importlib import import_module
from types import FunctionType

from autograd_cy._C import (
    copying,
    creation,
    default_device,
    dtypes,
    engine,
    exchange,
    getitem,
    inplace,
    iterate,
    placement,
    storage,
    tensor,
    views,
)
from autograd_cy._C import overrides as _overrides
from autograd_cy._C import parallel as _parallel
from autograd_cy._C import random as _random
from autograd_cy._C import random_operators as _random_operators
from autograd_cy._C.tensor import Tensor, _set_repr

from autograd_cy import storage as _typed_storage
from autograd_cy._interpreted import find_function
from autograd_cy._interpreted._index import COMPILED, FUNCTIONS
from autograd_cy._lazy import attach as _attach
from autograd_cy._lazy import methods as _absent_methods
from autograd_cy._tensors import (
    combining,
    comparison,
    constants,
    contraction,
    conversion,
    deprecated,
    eigen,
    flags,
    gamma,
    hooks,
    joining,
    loops,
    overriding,
    predicates,
    printing,
    sampling,
    sharing,
    tensor_types,
    unique,
    view_attributes,
)
from autograd_cy._tensors.public import public as _public

# These install methods.
_loaded = (
    copying,
    getitem,
    inplace,
    iterate,
    engine,
    placement,
    storage,
    tensor,
    views,
    _typed_storage,
    _absent_methods,
    deprecated,
    flags,
    hooks,
    loops,
    overriding,
    sharing,
    view_attributes,
)
_set_repr(printing.tensor_text)

# The operators: loading a family fills its part of the table.
_families = [import_module(f"autograd_cy._C.{_name}") for _name in COMPILED]

# What makes tensors of other things: a tensor among these is data.
_CONSTRUCTORS = {
    "tensor",
    "as_tensor",
    "asarray",
    "from_numpy",
    "frombuffer",
    "from_dlpack",
    "is_tensor",
    "as_subclass",
}

# Modules whose public names are those of the top level; of two with one name the later one counts.
_WHOLE = (
    creation,
    exchange,
    _random,
    _random_operators,
    combining,
    comparison,
    constants,
    contraction,
    conversion,
    gamma,
    joining,
    predicates,
    sampling,
    unique,
    eigen,
    printing,
    tensor_types,
)
# Some names of a module.
_PARTS = {
    dtypes: (
        "bfloat16 can_cast complex64 complex128 dtype finfo float16 float32 float64 "
        "get_default_dtype iinfo int8 int16 int32 int64 promote_types set_default_dtype "
        "uint8 uint16 uint32 uint64"
    ),
    default_device: "get_default_device set_default_device",
    placement: (
        "channels_last channels_last_3d contiguous_format device layout memory_format "
        "preserve_format sparse_bsc sparse_bsr sparse_coo sparse_csc sparse_csr strided"
    ),
    storage: (
        "OutOfMemoryError empty_cache memory_summary reset_peak_memory set_allocator_caching"
    ),
    tensor: "Size Tensor",
    _parallel: "get_num_threads set_num_threads",
}
# What has another name here.
_RENAMED = {
    "bool": dtypes._bool,
    "cdouble": dtypes.complex128,
    "cfloat": dtypes.complex64,
    "double": dtypes.float64,
    "float": dtypes.float32,
    "half": dtypes.float16,
    "int": dtypes.int32,
    "long": dtypes.int64,
    "short": dtypes.int16,
}

# Names that Python has too are bound last, in this module only.
_published = {}
for _module in (*_families, *_WHOLE):
    for _name in _module.__all__:
        _published[_name] = getattr(_module, _name)
for _module, _names in _PARTS.items():
    for _name in _names.split():
        _published[_name] = getattr(_module, _name)
_published.update(_RENAMED)

# Compiled functions and methods dispatch to subclasses; those in Python get a form that does.
_in_python = {
    module.__name__
    for module in (
        combining,
        comparison,
        contraction,
        conversion,
        eigen,
        gamma,
        joining,
        predicates,
        sampling,
        unique,
    )
}
for _names in (dict(vars(Tensor)), dict(_published)):
    for _name, _value in _names.items():
        if _name in _CONSTRUCTORS or isinstance(_value, type) or _name.startswith("__"):
            continue
        if _overrides._intercept(_value) or not isinstance(_value, FunctionType):
            continue
        if _value is _published.get(_name) and _value.__globals__["__name__"] in _in_python:
            _published[_name] = _public(_value, module="autograd_cy")

__all__ = sorted(_published)
globals().update(_published)


def _find(name):
    if name in FUNCTIONS:
        globals()[name] = function = find_function(*FUNCTIONS[name])
        return function
    return None


# Operators that are loaded when they are first used.
__getattr__, __dir__ = _attach(__name__, find=_find)
