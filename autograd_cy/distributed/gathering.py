"""Collectives that bring the tensors of all ranks together."""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor
from autograd_cy._C import rank_memory, rank_messages

from . import _mpi
from ._operands import (
    apart,
    as_input,
    check_tensor,
    check_written,
    describe,
    group_root,
    output_of,
    write,
)
from ._operation import LARGE, check_list, check_whole, parts_of, run, takes_messages
from ._world import ProcessGroup
from .groups import own_group
from .work import Work

__all__ = [
    "all_gather",
    "all_gather_into_tensor",
    "gather",
]


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """
    Give every rank the tensors of all ranks, as a list.

    Parameters
    ----------
    tensor_list : list of Tensor
        One tensor a rank, which is written.
    tensor : Tensor
        Of the same shape and dtype on all ranks.
    group : ProcessGroup, optional
        By default all processes.
    async_op : bool, default False
        Return at once, with the operation.

    Returns
    -------
    Work or None

    Raises
    ------
    RuntimeError
        On every rank, if shapes or dtypes differ; of leaves that record.
    ValueError
        If the list doesn't fit.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> results = [ag.zeros(2)]
    >>> ag.distributed.all_gather(results, ag.ones(2))
    >>> results
    [tensor([1., 1.])]
    >>> ag.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    mine = own_group(group, "all_gather")
    if mine is None:
        return None
    check_list(tensor_list, "tensor_list", tensor, mine.size(), "all_gather")
    for each in tensor_list:
        check_written(each, "all_gather")
    return _all_gather(mine, "all_gather", list(tensor_list), tensor, async_op)


def _all_gather(
    mine: ProcessGroup, function: str, results: list[Tensor], tensor: Tensor, async_op: bool
) -> Work | None:
    nbytes = tensor.nbytes * mine.size()
    direct = takes_messages(mine, LARGE if len(results) > 1 else nbytes)
    outputs = _outputs(results, direct)
    source = as_input(tensor)
    for output in outputs:
        source = apart(source, output.memory)

    def start() -> Any:
        (output,) = outputs
        return mine._comm.Iallgather(_mpi.buffer_of(source), parts_of(output.memory, mine))

    def by_messages(number: int) -> Any:
        memories = _memories(outputs, mine)
        return rank_messages.all_to_all(
            mine, [_mpi.buffer_of(source)] * mine.size(), memories, number
        )

    def finish() -> None:
        if mine._comm is None:
            write(results[0], source)
            return
        for output in outputs:
            output.finish()

    return run(
        mine,
        lambda: f"{function} of {describe(tensor)}",
        (function, tensor.dtype, tensor.shape),
        start,
        finish,
        async_op,
        results,
        nbytes,
        by_messages if direct else None,
    )


def _outputs(results: list[Tensor], direct: bool) -> list[Any]:
    """Return the memory that is written: for each tensor, or for all one after the other."""
    if direct:
        return [output_of(each) for each in results]
    return [output_of(*results)]


def _memories(outputs: list[Any], group: ProcessGroup) -> list[list[Any]]:
    """Return the memory for the tensor of each rank."""
    if len(outputs) == 1:
        memory = outputs[0].memory
        count = memory.numel() // group.size()
        return rank_memory.buffers_of(memory, [count * rank for rank in range(group.size() + 1)])
    return [_mpi.buffer_of(output.memory) for output in outputs]


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """
    Give every rank the tensors of all ranks, one after the other in one tensor.

    Parameters
    ----------
    output_tensor : Tensor
        Of as many times the elements as there are ranks, joined or stacked along dimension 0.
    input_tensor : Tensor
        Of the same shape and dtype on all ranks.
    group : ProcessGroup, optional
        By default all processes.
    async_op : bool, default False
        Return at once, with the operation.

    Returns
    -------
    Work or None

    Raises
    ------
    RuntimeError
        On every rank, if shapes or dtypes differ; of a leaf that records.
    ValueError
        If the sizes don't fit.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> result = ag.zeros(2)
    >>> ag.distributed.all_gather_into_tensor(result, ag.ones(2))
    >>> ag.distributed.destroy_process_group()
    """
    check_tensor(input_tensor, "input_tensor")
    check_tensor(output_tensor, "output_tensor")
    function = "all_gather_into_tensor"
    mine = own_group(group, function)
    if mine is None:
        return None
    check_written(output_tensor, function)
    check_whole(
        output_tensor, input_tensor, mine.size(), function, "output_tensor and input_tensor"
    )
    return _all_gather(mine, function, [output_tensor], input_tensor, async_op)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """
    Give one rank the tensors of all ranks, as a list.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape and dtype on all ranks.
    gather_list : list of Tensor, optional
        One tensor a rank, which is written: on rank ``dst`` alone.
    dst : int, default 0
        The rank in the world that gets them.
    group : ProcessGroup, optional
        By default all processes.
    async_op : bool, default False
        Return at once, with the operation.
    group_dst : int, optional
        The rank in the group, instead of ``dst``.

    Returns
    -------
    Work or None

    Raises
    ------
    RuntimeError
        On every rank, if shapes or dtypes differ; of leaves that record.
    ValueError
        If the list doesn't fit, is missing on ``dst``, or is given elsewhere.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.gather(ag.ones(2), [ag.zeros(2)], dst=0)
    >>> ag.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    mine = own_group(group, "gather")
    if mine is None:
        return None
    dst = mine._ranks[0] if dst is None and group_dst is None else dst
    root = group_root(mine, dst, group_dst, "gather", "dst")
    is_root = mine.rank() == root
    if is_root and not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if not is_root and gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    results = list(gather_list or ())
    if is_root:
        check_list(gather_list, "gather_list", tensor, mine.size(), "gather")
        for each in results:
            check_written(each, "gather")
    source = as_input(tensor)
    direct = takes_messages(mine)
    outputs = _outputs(results, direct) if is_root else []
    for output in outputs:
        source = apart(source, output.memory)

    def start() -> Any:
        to = parts_of(outputs[0].memory, mine) if is_root else None
        return mine._comm.Igather(_mpi.buffer_of(source), to, root)

    def by_messages(number: int) -> Any:
        memories = _memories(outputs, mine) if is_root else []
        return rank_messages.gather(mine, _mpi.buffer_of(source), memories, root, number)

    def finish() -> None:
        if mine._comm is None:
            write(results[0], source)
            return
        for output in outputs:
            output.finish()

    return run(
        mine,
        lambda: f"gather of {describe(tensor)} to rank {mine._ranks[root]}",
        ("gather", tensor.dtype, tensor.shape, root),
        start,
        finish,
        async_op,
        results,
        source.nbytes,
        by_messages if direct else None,
    )
