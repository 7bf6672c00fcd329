"""Collectives in which each rank sends a part to each."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any, TypeGuard

from autograd_cy import Tensor
from autograd_cy._C import rank_memory, rank_messages

from . import _mpi
from ._operands import (
    apart,
    as_input,
    check_tensor,
    check_tensors,
    check_written,
    describe,
    output_of,
    write,
)
from ._operation import joined, parts_of, run, takes_messages
from ._world import ProcessGroup, world
from .groups import own_group
from .work import Work

__all__ = [
    "all_to_all",
    "all_to_all_single",
]


def _exchange(
    mine: ProcessGroup,
    function: str,
    results: list[Tensor],
    source: Tensor,
    to: list[int],
    sent: list[int],
    uneven: bool,
    async_op: bool,
) -> Work | None:
    """Send ``sent[i]`` elements to rank i, and get ``to[i]`` from it."""
    output = output_of(*results)
    source = apart(source, output.memory)

    def start() -> Any:
        if not uneven:
            return mine._comm.Ialltoall(parts_of(source, mine), parts_of(output.memory, mine))
        address, _, datatype = _mpi.buffer_of(source)
        into, _, _ = _mpi.buffer_of(output.memory)
        return mine._comm.Ialltoallv([address, sent, datatype], [into, to, datatype])

    def by_messages(number: int) -> Any:
        parts = rank_memory.buffers_of(source, _bounds(sent))
        memories = rank_memory.buffers_of(output.memory, _bounds(to))
        return rank_messages.all_to_all(mine, parts, memories, number)

    def finish() -> None:
        if mine._comm is None:
            for result in results:
                write(result, source)
        else:
            output.finish()

    # Counts may differ between ranks where they are given; dtypes must not.
    def what() -> str:
        return str(source.dtype).rpartition(".")[2] if uneven else describe(source)

    nbytes = source.nbytes
    if uneven and mine._comm is not None:
        call = mine._call(lambda: f"{function} of {what()} with sizes")
        mine._agree(call, (function, source.dtype, "sizes"))
        total = _compare_counts(mine, function, to, sent)
        nbytes = total // mine.size() * source.element_size()
    return run(
        mine,
        lambda: f"{function} of {what()}",
        (function, source.dtype, () if uneven else source.shape),
        start,
        finish,
        async_op,
        results,
        nbytes,
        by_messages if takes_messages(mine, nbytes) else None,
    )


def _bounds(counts: list[int]) -> list[int]:
    return [0, *itertools.accumulate(counts)]


def _compare_counts(mine: ProcessGroup, function: str, to: list[int], sent: list[int]) -> int:
    """Refuse what one rank sends and another doesn't expect, on every rank; return the sum of all.

    Raises
    ------
    RuntimeError
    """
    import numpy as np

    own = np.array([to, sent], dtype=np.int64)
    every = np.empty((mine.size(), 2, mine.size()), dtype=np.int64)
    call = mine._call(f"{function}: counts")
    world.watch.wait(mine._control.Iallgather(own, every), call)
    for i in range(mine.size()):
        for j in range(mine.size()):
            if every[i, 1, j] != every[j, 0, i]:
                from ._watch import EverywhereError

                raise EverywhereError(
                    f"{function}: rank {mine._ranks[i]} sends {every[i, 1, j]} elements to rank "
                    f"{mine._ranks[j]}, which expects {every[j, 0, i]}"
                )
    return int(every[:, 1].sum())


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """
    Send each rank one tensor of a list, and get one from each.

    Parameters
    ----------
    output_tensor_list : list of Tensor
        Written: the one at ``i`` by rank ``i``.
    input_tensor_list : list of Tensor
        The one at ``i`` goes to rank ``i``. Sizes may differ.
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
        On every rank, if what one sends isn't what another expects; if a list hasn't one tensor
        for each rank.
    ValueError
        If dtypes differ.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.all_to_all([ag.zeros(2)], [ag.ones(2)])
    >>> ag.distributed.destroy_process_group()
    """
    check_tensors(output_tensor_list, "output_tensor_list")
    check_tensors(input_tensor_list, "input_tensor_list")
    mine = own_group(group, "all_to_all")
    if mine is None:
        return None
    size = mine.size()
    lists = (output_tensor_list, input_tensor_list)
    if any(len(each) != size for each in lists):
        raise RuntimeError(
            f"all_to_all: the lists have {len(lists[0])} and {len(lists[1])} tensors; one for each "
            f"of the {size} ranks is needed"
        )
    if len({tensor.dtype for each in lists for tensor in each}) > 1:
        raise ValueError("all_to_all: all tensors must have the same dtype")
    for each in output_tensor_list:
        check_written(each, "all_to_all")
    return _exchange(
        mine,
        "all_to_all",
        list(output_tensor_list),
        joined(input_tensor_list),
        [tensor.numel() for tensor in output_tensor_list],
        [tensor.numel() for tensor in input_tensor_list],
        True,
        async_op,
    )


def _are_given(sizes: Sequence[int] | None) -> TypeGuard[Sequence[int]]:
    return sizes is not None and len(sizes) > 0


def _counts(tensor: Tensor, sizes: Sequence[int] | None, ranks: int, name: str) -> list[int]:
    """Return the elements of a tensor for each rank, of rows along dimension 0."""
    rows = tensor.shape[0] if tensor.dim() else 1
    row = tensor.numel() // rows if rows else 0
    if not _are_given(sizes):
        if rows % ranks:
            raise RuntimeError(
                f"all_to_all_single: {name} has {rows} rows, which {ranks} ranks don't divide; "
                f"give {name}_split_sizes"
            )
        return [rows // ranks * row] * ranks
    if not all(hasattr(size, "__index__") for size in sizes):
        raise TypeError(
            f"all_to_all_single: {name}_split_sizes must be whole numbers, not {list(sizes)}"
        )
    sizes = [operator.index(size) for size in sizes]
    if len(sizes) != ranks or sum(sizes) != rows or min(sizes) < 0:
        raise RuntimeError(
            f"all_to_all_single: {name}_split_sizes {list(sizes)} must be {ranks} numbers whose "
            f"sum is {rows}, the rows of {name}"
        )
    return [size * row for size in sizes]


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """
    Send each rank a part of a tensor, and get one from each.

    Parameters
    ----------
    output : Tensor
        Written: rows of rank 0, then of rank 1 and so on.
    input : Tensor
        Rows for rank 0, then for rank 1 and so on.
    output_split_sizes, input_split_sizes : list of int, optional
        Rows a rank; by default equal parts.
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
        On every rank, if what one sends isn't what another expects; if the sizes don't fit.
    ValueError
        If dtypes differ.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.all_to_all_single(ag.zeros(2), ag.ones(2))
    >>> ag.distributed.destroy_process_group()
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    function = "all_to_all_single"
    mine = own_group(group, function)
    if mine is None:
        return None
    check_written(output, function)
    if output.dtype != input.dtype:
        raise ValueError(f"{function}: output is {output.dtype} and input {input.dtype}")
    to = _counts(output, output_split_sizes, mine.size(), "output")
    sent = _counts(input, input_split_sizes, mine.size(), "input")
    uneven = _are_given(output_split_sizes) or _are_given(input_split_sizes)
    if not uneven and output.numel() != input.numel():
        raise RuntimeError(
            f"{function}: output is {describe(output)} and input {describe(input)}; equal parts "
            "need as many elements, others output_split_sizes and input_split_sizes"
        )
    return _exchange(mine, function, [output], as_input(input), to, sent, uneven, async_op)
