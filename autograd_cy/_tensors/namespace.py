"""The names of the top level, gathered from the compiled modules."""

from importlib import import_module
from types import FunctionType

from autograd_cy._C import (
    copying,
    creation,
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
from autograd_cy._C.dtypes import (  # noqa: F401
    bfloat16,
    can_cast,
    complex64,
    complex128,
    dtype,
    finfo,
    float16,
    float32,
    float64,
    get_default_dtype,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    promote_types,
    set_default_dtype,
    uint8,
)
from autograd_cy._C.default_device import get_default_device, set_default_device  # noqa: F401
from autograd_cy._C.placement import (  # noqa: F401
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    layout,
    memory_format,
    preserve_format,
    strided,
)
from autograd_cy._C.storage import (  # noqa: F401
    OutOfMemoryError,
    empty_cache,
    memory_summary,
    reset_peak_memory,
    set_allocator_caching,
)
from autograd_cy._C.tensor import Size, Tensor, _set_repr

from autograd_cy import overrides
from autograd_cy import storage as _typed_storage
from autograd_cy._interpreted import find
from autograd_cy._interpreted._index import COMPILED, FUNCTIONS
from autograd_cy._tensors import (
    absent,
    combining,
    constants,
    contraction,
    deprecated,
    eigen,
    flags,
    functions,
    hooks,
    joining,
    loops,
    printing,
    sampling,
    sharing,
    tensor_types,
    unique,
)

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
    absent,
    deprecated,
    flags,
    hooks,
    loops,
    sharing,
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

# Names that Python has too are bound last, in this module only.
_published = {}
for _module in (
    *_families,
    creation,
    exchange,
    _random,
    _random_operators,
    combining,
    constants,
    contraction,
    functions,
    joining,
    sampling,
    unique,
    eigen,
    printing,
    tensor_types,
):
    for _name in _module.__all__:
        _published[_name] = getattr(_module, _name)

_published.update(
    Size=Size,
    Tensor=Tensor,
    bool=dtypes._bool,
    float=float32,
    double=float64,
    half=float16,
    int=int32,
    long=int64,
    short=int16,
    cfloat=complex64,
    cdouble=complex128,
    set_num_threads=_parallel.set_num_threads,
    get_num_threads=_parallel.get_num_threads,
)
for _name in (
    "bfloat16 can_cast complex64 complex128 dtype finfo float16 float32 float64 "
    "get_default_dtype iinfo int8 int16 int32 int64 promote_types set_default_dtype uint8 "
    "channels_last channels_last_3d contiguous_format device layout memory_format "
    "get_default_device set_default_device "
    "preserve_format strided empty_cache memory_summary reset_peak_memory set_allocator_caching "
    "OutOfMemoryError"
).split():
    _published[_name] = globals()[_name]

# Compiled functions and methods ask subclasses; those in Python get a form that does.
_in_python = {
    module.__name__
    for module in (combining, contraction, eigen, functions, joining, sampling, unique)
}
for _name, _value in {**vars(Tensor), **_published}.items():
    if _name in _CONSTRUCTORS or isinstance(_value, type) or _name.startswith("__"):
        continue
    if _overrides._intercept(_value) or not isinstance(_value, FunctionType):
        continue
    if _name in _published and _value.__module__ in _in_python:
        _published[_name] = overrides.overridable(_value)

__all__ = sorted(_published)
globals().update(_published)


def __getattr__(name):
    # Operators that are loaded when they are first used.
    if name in FUNCTIONS:
        globals()[name] = found = find(*FUNCTIONS[name])
        return found
    raise AttributeError(f"module 'autograd_cy' has no attribute {name!r}")
