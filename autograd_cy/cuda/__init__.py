"""NVIDIA's GPUs: which there are, their streams, memory and random generators.

The first use of a GPU starts it: ``x.to("cuda")`` or a function here that needs one. Without
kernels, PyCUDA or driver, `is_available` says False, questions are answered as of no GPU, and
what needs one is an error that says which of the three is missing.

Importing this package starts nothing. `nvtx` marks ranges for NVIDIA's tools, `profiler` starts
and stops them, `amp` has older names of mixed precision, `comm` copies tensors among GPUs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_cy._lazy import attach as _attach
from autograd_cy.cuda import devices as devices
from autograd_cy.cuda import memory as memory
from autograd_cy.cuda import random as random
from autograd_cy.cuda import streams as streams
from autograd_cy.cuda.devices import *  # noqa: F403
from autograd_cy.cuda.memory import *  # noqa: F403
from autograd_cy.cuda.random import *  # noqa: F403
from autograd_cy.cuda.streams import *  # noqa: F403

if TYPE_CHECKING:
    from autograd_cy._C.random import Generator
    from autograd_cy.cuda import amp as amp
    from autograd_cy.cuda import comm as comm
    from autograd_cy.cuda import graphs as graphs
    from autograd_cy.cuda import nvtx as nvtx
    from autograd_cy.cuda import profiler as profiler
    from autograd_cy.cuda._by_host import *  # noqa: F403
    from autograd_cy.cuda.errors import *  # noqa: F403
    from autograd_cy.cuda.graphs import *  # noqa: F403
    from autograd_cy.cuda.interop import *  # noqa: F403
    from autograd_cy.cuda.monitoring import *  # noqa: F403
    from autograd_cy.cuda.sync_debug import *  # noqa: F403
    from autograd_cy.cuda.tensor_types import *  # noqa: F403

    default_generators: tuple[Generator, ...]

# Names that are loaded when a program asks for them.
_LATER = {
    "cuda._by_host": "host_operators",
    "cuda.errors": "CudaError DeferredCudaCallError",
    "cuda.graphs": "is_current_stream_capturing",
    "cuda.interop": "Kernel as_gpuarray kernel",
    "cuda.monitoring": "clock_rate device_memory_used list_gpu_processes memory_usage power_draw "
    "temperature utilization",
    "cuda.sync_debug": "get_sync_debug_mode set_sync_debug_mode",
    "cuda.tensor_types": "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor "
    "HalfTensor IntTensor LongTensor ShortTensor",
}

has_half = True  # GPUs compute in float16
has_magma = False  # linear algebra is the host's

__all__ = [  # noqa: F405
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "CudaError",
    "DeferredCudaCallError",
    "DoubleTensor",
    "Event",
    "ExternalStream",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "OutOfMemoryError",
    "ShortTensor",
    "Stream",
    "StreamContext",
    "amp",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "can_device_access_peer",
    "clock_rate",
    "comm",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "devices",
    "empty_cache",
    "get_allocator_backend",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "get_per_process_memory_fraction",
    "get_rng_state",
    "get_rng_state_all",
    "get_stream_from_external",
    "get_sync_debug_mode",
    "graphs",
    "has_half",
    "has_magma",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "host_operators",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "list_gpu_processes",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "memory_usage",
    "nvtx",
    "power_draw",
    "profiler",
    "random",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "set_sync_debug_mode",
    "stream",
    "streams",
    "synchronize",
    "temperature",
    "utilization",
]


def _find(name: str) -> object:
    if name.endswith("Storage"):
        from autograd_cy import storage

        return storage._class_of(name, "cuda") if name in storage._DTYPES else None
    # How many there are is known when GPUs are in use.
    if name == "_initialized":
        return is_initialized()  # noqa: F405
    return random.all_generators() if name == "default_generators" else None


__getattr__, __dir__ = _attach(
    __name__, ["amp", "comm", "graphs", "nvtx", "profiler"], _LATER, _find
)
