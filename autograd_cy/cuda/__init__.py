"""NVIDIA's GPUs: which there are, their streams, memory and random generators.

The first use of a GPU starts it: ``x.to("cuda")`` or a function here that needs one. Without
kernels, PyCUDA or driver, `is_available` says False, questions are answered as of no GPU, and
what needs one is an error that says which of the three is missing.

Importing this package starts nothing. `nvtx` marks ranges for NVIDIA's tools, `profiler` starts
and stops them, `amp` has older names of mixed precision, `comm` copies tensors among GPUs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from autograd_cy._absent.stand_ins import stand_in
from autograd_cy.cuda import devices as devices
from autograd_cy.cuda import memory as memory
from autograd_cy.cuda import random as random
from autograd_cy.cuda import streams as streams
from autograd_cy.cuda.devices import *  # noqa: F403
from autograd_cy.cuda.memory import *  # noqa: F403
from autograd_cy.cuda.random import *  # noqa: F403
from autograd_cy.cuda.streams import *  # noqa: F403

if TYPE_CHECKING:
    from autograd_cy.cuda import amp as amp
    from autograd_cy.cuda import comm as comm
    from autograd_cy.cuda import graphs as graphs
    from autograd_cy.cuda import nvtx as nvtx
    from autograd_cy.cuda import profiler as profiler
    from autograd_cy.cuda._by_host import host_operators
    from autograd_cy.cuda.errors import CudaError, DeferredCudaCallError
    from autograd_cy.cuda.graphs import is_current_stream_capturing
    from autograd_cy.cuda.interop import Kernel, as_gpuarray, kernel
    from autograd_cy.cuda.monitoring import (
        clock_rate,
        device_memory_used,
        list_gpu_processes,
        memory_usage,
        power_draw,
        temperature,
        utilization,
    )
    from autograd_cy.cuda.sync_debug import get_sync_debug_mode, set_sync_debug_mode
    from autograd_cy.cuda.tensor_types import (
        BFloat16Tensor,
        BoolTensor,
        ByteTensor,
        CharTensor,
        DoubleTensor,
        FloatTensor,
        HalfTensor,
        IntTensor,
        LongTensor,
        ShortTensor,
    )

# Modules, and names of modules, that are loaded when a program asks for them.
_MODULES = ("amp", "comm", "graphs", "nvtx", "profiler")
_LATER = {
    "_by_host": "host_operators",
    "errors": "CudaError DeferredCudaCallError",
    "graphs": "is_current_stream_capturing",
    "interop": "Kernel as_gpuarray kernel",
    "monitoring": "clock_rate device_memory_used list_gpu_processes memory_usage power_draw "
    "temperature utilization",
    "sync_debug": "get_sync_debug_mode set_sync_debug_mode",
    "tensor_types": "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor "
    "HalfTensor IntTensor LongTensor ShortTensor",
}
_module_of = {name: module for module, names in _LATER.items() for name in names.split()}

has_half = True  # GPUs compute in float16
has_magma = False  # linear algebra is the host's

__all__ = [  # noqa: PLE0604
    *devices.__all__,
    *memory.__all__,
    *random.__all__,
    *streams.__all__,
    *_module_of,
    *_MODULES,
    "default_generators",
    "devices",
    "has_half",
    "has_magma",
    "memory",
    "random",
    "streams",
]


def __getattr__(name: str) -> object:
    if name == "default_generators":  # how many there are is known when GPUs are in use
        return random.all_generators()
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _module_of:
        found = getattr(import_module(f"{__name__}.{_module_of[name]}"), name)
        globals()[name] = found
        return found
    return stand_in(__name__, name)
