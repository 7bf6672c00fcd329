"""Hooks for :meth:`DistributedDataParallel.register_comm_hook`: plain, and in half precision."""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy.distributed._ddp.buckets import GradBucket
from autograd_cy.distributed.collectives import all_reduce
from autograd_cy.distributed.groups import get_world_size

__all__ = ["allreduce_hook", "bf16_compress_hook", "fp16_compress_hook"]


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Any:
    """
    Average gradients over ranks, as without a hook.

    Parameters
    ----------
    process_group : ProcessGroup or None
        None: all processes.
    bucket : GradBucket

    Returns
    -------
    autograd_cy.futures.Future
        Of the averaged vector.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.algorithms.ddp_comm_hooks import default_hooks
    >>> ag.distributed.init_process_group()
    >>> model = ag.nn.parallel.DistributedDataParallel(ag.nn.Linear(2, 1))
    >>> model.register_comm_hook(None, default_hooks.allreduce_hook)
    >>> model(ag.ones(3, 2)).sum().backward()
    >>> ag.distributed.destroy_process_group()
    """
    buffer = bucket.buffer()
    with ag.no_grad():
        buffer.div_(get_world_size(process_group))
    work: Any = all_reduce(buffer, group=process_group, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


def _compressed(process_group: Any, bucket: GradBucket, dtype: Any) -> Any:
    buffer = bucket.buffer()
    half = buffer.to(dtype).div_(get_world_size(process_group))
    work: Any = all_reduce(half, group=process_group, async_op=True)

    def decompress(future: Any) -> Any:
        return buffer.copy_(future.value()[0])

    return work.get_future().then(decompress)


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Any:
    """
    Average gradients over ranks as float16: half the bytes, and rounded.

    Parameters
    ----------
    process_group : ProcessGroup or None
        None: all processes.
    bucket : GradBucket

    Returns
    -------
    autograd_cy.futures.Future
        Of the averaged vector, in the dtype of the gradients.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.algorithms.ddp_comm_hooks import default_hooks
    >>> ag.distributed.init_process_group()
    >>> model = ag.nn.parallel.DistributedDataParallel(ag.nn.Linear(2, 1))
    >>> model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    >>> model(ag.ones(3, 2)).sum().backward()
    >>> ag.distributed.destroy_process_group()
    """
    return _compressed(process_group, bucket, ag.float16)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Any:
    """
    Average gradients over ranks as bfloat16: half the bytes, and rounded.

    Parameters
    ----------
    process_group : ProcessGroup or None
        None: all processes.
    bucket : GradBucket

    Returns
    -------
    autograd_cy.futures.Future
        Of the averaged vector, in the dtype of the gradients.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.algorithms.ddp_comm_hooks import default_hooks
    >>> ag.distributed.init_process_group()
    >>> model = ag.nn.parallel.DistributedDataParallel(ag.nn.Linear(2, 1))
    >>> model.register_comm_hook(None, default_hooks.bf16_compress_hook)
    >>> model(ag.ones(3, 2)).sum().backward()
    >>> ag.distributed.destroy_process_group()
    """
    return _compressed(process_group, bucket, ag.bfloat16)
