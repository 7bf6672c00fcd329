"""
Several processes that compute together, by the names of ``torch.distributed``.

The processes communicate by MPI (mpi4py, the extra ``mpi``), and ``mpirun`` or ``srun`` starts
them. A process that was started alone is a world of one, without MPI. No import of this package
loads MPI: :func:`init_process_group` does, if a launcher has started several processes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_cy._lazy import attach as _attach

from ._world import ProcessGroup
from .collectives import all_reduce, barrier, broadcast, monitored_barrier, reduce
from .constants import Backend, ReduceOp, default_pg_timeout
from .exchanging import all_to_all, all_to_all_single
from .gathering import all_gather, all_gather_into_tensor, gather
from .groups import (
    GroupMember,
    destroy_process_group,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_available,
    is_backend_available,
    is_gloo_available,
    is_initialized,
    is_mpi_available,
    is_nccl_available,
    is_torchelastic_launched,
    is_ucc_available,
    is_xccl_available,
    new_group,
)
from .groups import (
    _rank_not_in_group as _rank_not_in_group,
)
from .objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from .point_to_point import P2POp, batch_isend_irecv, irecv, isend, recv, send
from .scattering import reduce_scatter, reduce_scatter_tensor, scatter
from .work import Work

__all__ = [
    "Backend",
    "GroupMember",
    "P2POp",
    "ProcessGroup",
    "ReduceOp",
    "Work",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "default_pg_timeout",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "irecv",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "isend",
    "monitored_barrier",
    "new_group",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
]

reduce_op = ReduceOp  # of older programs


def _record(fn: Callable, error_handler: Any = None) -> Callable:
    """Return a main function as it is: there is no agent that would be told its errors."""
    return fn


__getattr__, __dir__ = _attach(
    __name__,
    ["algorithms", "checkpoint", "launch", "nn", "optim", "run"],
    {"distributed._ddp.buckets": "GradBucket"},
)
