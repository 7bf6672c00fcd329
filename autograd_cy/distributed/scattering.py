"""Collectives that give each rank a part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_cy import Tensor
from autograd_cy._C import rank_messages

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
from ._operation import (
    average,
    check_list,
    check_op,
    check_whole,
    joined,
    parts_of,
    run,
    takes_messages,
)
from ._world import ProcessGroup
from .constants import ReduceOp
from .groups import own_group
from .work import Work

__all__ = [
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
]


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """
    Give each rank one tensor of a list that one rank has.

    Parameters
    ----------
    tensor : Tensor
        Written; of the same shape and dtype on all ranks.
    scatter_list : list of Tensor, optional
        One tensor a rank: on rank ``src`` alone.
    src : int, default 0
        The rank in the world that has the list.
    group : ProcessGroup, optional
        By default all processes.
    async_op : bool, default False
        Return at once, with the operation.
    group_src : int, optional
        The rank in the group, instead of ``src``.

    Returns
    -------
    Work or None

    Raises
    ------
    RuntimeError
        On every rank, if shapes or dtypes differ; of a leaf that records.
    ValueError
        If the list doesn't fit, is missing on ``src``, or is given elsewhere.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.scatter(ag.zeros(2), [ag.ones(2)], src=0)
    >>> ag.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    mine = own_group(group, "scatter")
    if mine is None:
        return None
    src = mine._ranks[0] if src is None and group_src is None else src
    root = group_root(mine, src, group_src, "scatter", "src")
    is_root = mine.rank() == root
    if is_root and not scatter_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    if not is_root and scatter_list:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    check_written(tensor, "scatter")
    source: Any = None
    if is_root:
        check_list(scatter_list, "scatter_list", tensor, mine.size(), "scatter")
    output = output_of(tensor)
    direct = takes_messages(mine)
    sources: list[Tensor] = []
    if is_root and direct:
        sources = [apart(as_input(each), output.memory) for each in scatter_list or ()]
    elif is_root:
        source = joined(scatter_list or ())

    def by_messages(number: int) -> Any:
        parts = [_mpi.buffer_of(each) for each in sources]
        return rank_messages.scatter(mine, parts, _mpi.buffer_of(output.memory), root, number)

    def start() -> Any:
        parts = None if source is None else parts_of(source, mine)
        return mine._comm.Iscatter(parts, _mpi.buffer_of(output.memory), root)

    def finish() -> None:
        if mine._comm is None:
            write(tensor, source)
        else:
            output.finish()

    return run(
        mine,
        lambda: f"scatter of {describe(tensor)} from rank {mine._ranks[root]}",
        ("scatter", tensor.dtype, tensor.shape, root),
        start,
        finish,
        async_op,
        [tensor],
        output.memory.nbytes,
        by_messages if direct else None,
    )


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """
    Reduce a list of tensors over all ranks, and give each rank one of the results.

    Parameters
    ----------
    output : Tensor
        Written.
    input_list : list of Tensor
        One tensor a rank, of the shape and dtype of ``output``.
    op : ReduceOp, default ReduceOp.SUM
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
        If the list doesn't fit, or the operation isn't one of the dtype.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.reduce_scatter(ag.zeros(2), [ag.ones(2)])
    >>> ag.distributed.destroy_process_group()
    """
    check_tensor(output, "output")
    mine = own_group(group, "reduce_scatter")
    if mine is None:
        return None
    check_list(input_list, "input_list", output, mine.size(), "reduce_scatter")
    return _reduce_scatter(mine, "reduce_scatter", output, input_list, op, async_op)


def _reduce_scatter(
    mine: ProcessGroup,
    function: str,
    result: Tensor,
    inputs: Sequence[Tensor],
    op: ReduceOp,
    async_op: bool,
) -> Work | None:
    check_written(result, function)
    operation = check_op(op, function, result.dtype)
    output = output_of(result)
    memory = output.memory
    source = apart(joined(inputs), memory)

    def start() -> Any:
        return mine._comm.Ireduce_scatter_block(
            parts_of(source, mine), _mpi.buffer_of(memory), operation
        )

    def by_messages(number: int) -> Any:
        return rank_messages.reduce_scatter(mine, source, memory, operation, number)

    def finish() -> None:
        if mine._comm is None:
            write(result, source)
        else:
            if op is ReduceOp.AVG:
                average(memory, mine.size())
            output.finish()

    return run(
        mine,
        lambda: f"{function} to {describe(result)} by {op.name}",
        (function, result.dtype, result.shape, op._value_),
        start,
        finish,
        async_op,
        [result],
        source.nbytes,
        by_messages if takes_messages(mine, source.nbytes) else None,
    )


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """
    Reduce a tensor over all ranks, and give each rank its part of the result.

    Parameters
    ----------
    output : Tensor
        Written.
    input : Tensor
        Of as many times the elements of ``output`` as there are ranks.
    op : ReduceOp, default ReduceOp.SUM
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
        If the sizes don't fit, or the operation isn't one of the dtype.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.reduce_scatter_tensor(ag.zeros(2), ag.ones(2))
    >>> ag.distributed.destroy_process_group()
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    mine = own_group(group, "reduce_scatter_tensor")
    if mine is None:
        return None
    check_whole(input, output, mine.size(), "reduce_scatter_tensor", "input and output")
    return _reduce_scatter(mine, "reduce_scatter_tensor", output, [input], op, async_op)
