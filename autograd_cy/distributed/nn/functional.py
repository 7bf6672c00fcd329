"""Collectives that return new tensors and have derivatives, of any order.

The derivative of each is the collective that runs the other way: of a sum over ranks the sum of
gradients, of a broadcast the sum at its source, of a gathering a scattering. All ranks must call
backward, since each derivative needs them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy.autograd import Function
from autograd_cy.distributed import collectives, exchanging, gathering, scattering
from autograd_cy.distributed._operands import group_root
from autograd_cy.distributed._world import ProcessGroup
from autograd_cy.distributed.constants import ReduceOp
from autograd_cy.distributed.groups import own_group

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]


def _group(group: Any, function: str) -> ProcessGroup:
    mine = own_group(group, function)
    if mine is None:
        raise ValueError(f"{function}: this process isn't in the group")
    return mine


def _check_linear(op: ReduceOp, function: str, tensors: Sequence[Tensor]) -> None:
    """Refuse operations whose derivative isn't the same operation on gradients.

    Raises
    ------
    ValueError
    """
    records = ag.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
    if records and op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise ValueError(
            f"{function}: ReduceOp.{op.name} has no derivative here, only SUM and AVG have; call "
            "it under no_grad(), or gather the tensors by all_gather and reduce them"
        )


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, op: ReduceOp, group: ProcessGroup, tensor: Tensor) -> Tensor:
        ctx.op, ctx.group = op, group
        result = tensor.detach().clone(memory_format=ag.contiguous_format)
        collectives.all_reduce(result, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, root: int, group: ProcessGroup, tensor: Tensor) -> Tensor:
        ctx.root, ctx.group = root, group
        result = tensor.detach().clone(memory_format=ag.contiguous_format)
        collectives.broadcast(result, group=group, group_src=root)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return None, None, _Reduce.apply(ctx.root, ReduceOp.SUM, ctx.group, grad)


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, root: int, op: ReduceOp, group: ProcessGroup, tensor: Tensor) -> Tensor:
        ctx.root, ctx.op, ctx.group = root, op, group
        result = tensor.detach().clone(memory_format=ag.contiguous_format)
        collectives.reduce(result, op=op, group=group, group_dst=root)
        return result if group.rank() == root else result.zero_()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        grad = _Broadcast.apply(ctx.root, ctx.group, grad)
        if ctx.op is ReduceOp.AVG:
            grad = grad / ctx.group.size()
        return None, None, None, grad


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, root: int, group: ProcessGroup, tensor: Tensor) -> Any:
        ctx.root, ctx.group = root, group
        results = [ag.zeros_like(tensor.detach()) for _ in range(group.size())]
        into = results if group.rank() == root else None
        gathering.gather(tensor.detach(), into, group=group, group_dst=root)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return None, None, _Scatter.apply(ctx.root, ctx.group, *grads)


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Any, root: int, group: ProcessGroup, *tensors: Tensor) -> Tensor:
        ctx.root, ctx.group = root, group
        result = ag.zeros_like(tensors[0].detach())
        parts = [tensor.detach() for tensor in tensors] if group.rank() == root else None
        scattering.scatter(result, parts, group=group, group_src=root)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return None, None, *_Gather.apply(ctx.root, ctx.group, grad)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: ProcessGroup, tensor: Tensor) -> Any:
        ctx.group = group
        results = [ag.zeros_like(tensor.detach()) for _ in range(group.size())]
        gathering.all_gather(results, tensor.detach(), group)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return None, _ReduceScatter.apply(ReduceOp.SUM, ctx.group, *grads)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, op: ReduceOp, group: ProcessGroup, *tensors: Tensor) -> Tensor:
        ctx.op, ctx.group = op, group
        result = ag.zeros_like(tensors[0].detach())
        scattering.reduce_scatter(result, [tensor.detach() for tensor in tensors], op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        if ctx.op is ReduceOp.AVG:
            grad = grad / ctx.group.size()
        return None, None, *_AllGather.apply(ctx.group, grad)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, group: ProcessGroup, shapes: Any, *tensors: Tensor) -> Any:
        ctx.group = group
        ctx.shapes = [tensor.shape for tensor in tensors]
        results = [tensors[0].detach().new_zeros(shape) for shape in shapes]
        exchanging.all_to_all(results, [tensor.detach() for tensor in tensors], group)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return None, None, *_AllToAll.apply(ctx.group, ctx.shapes, *grads)


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """
    Return the reduction of a tensor over all ranks.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape and dtype on all ranks.
    op : ReduceOp, default ReduceOp.SUM
        SUM or AVG, where a derivative is recorded.
    group : ProcessGroup, optional
        By default all processes.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If the operation has no derivative, or there is no group.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> x = ag.ones(2, requires_grad=True)
    >>> ag.distributed.nn.functional.all_reduce(x).sum().backward()
    >>> ag.distributed.destroy_process_group()
    """
    mine = _group(group, "all_reduce")
    _check_linear(op, "all_reduce", [tensor])
    return _AllReduce.apply(op, mine, tensor)


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """
    Return the values of one rank, on every rank.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape and dtype on all ranks.
    src : int
        The rank in the world whose values they are. It gets the sum of all gradients.
    group : ProcessGroup, optional
        By default all processes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.nn.functional.broadcast(ag.ones(2), 0)
    tensor([1., 1.])
    >>> ag.distributed.destroy_process_group()
    """
    mine = _group(group, "broadcast")
    return _Broadcast.apply(group_root(mine, src, None, "broadcast", "src"), mine, tensor)


def reduce(tensor: Tensor, dst: int, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """
    Return the reduction of a tensor over all ranks on one rank, zeros elsewhere.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape and dtype on all ranks.
    dst : int
        The rank in the world that gets the result.
    op : ReduceOp, default ReduceOp.SUM
        SUM or AVG, where a derivative is recorded.
    group : ProcessGroup, optional
        By default all processes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.nn.functional.reduce(ag.ones(2), 0)
    tensor([1., 1.])
    >>> ag.distributed.destroy_process_group()
    """
    mine = _group(group, "reduce")
    _check_linear(op, "reduce", [tensor])
    return _Reduce.apply(group_root(mine, dst, None, "reduce", "dst"), op, mine, tensor)


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """
    Return the tensors of all ranks on one rank, zeros elsewhere.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape and dtype on all ranks.
    dst : int, default 0
        The rank in the world that gets them.
    group : ProcessGroup, optional
        By default all processes.

    Returns
    -------
    tuple of Tensor
        One a rank.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.nn.functional.gather(ag.ones(2))
    (tensor([1., 1.]),)
    >>> ag.distributed.destroy_process_group()
    """
    mine = _group(group, "gather")
    return _Gather.apply(group_root(mine, dst, None, "gather", "dst"), mine, tensor)


def scatter(tensors: Sequence[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """
    Return the tensor of a list on one rank that is meant for this rank.

    Parameters
    ----------
    tensors : sequence of Tensor
        One a rank; on all ranks of the same shapes, those of rank ``src`` count.
    src : int, default 0
        The rank in the world whose list it is.
    group : ProcessGroup, optional
        By default all processes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.nn.functional.scatter([ag.ones(2)])
    tensor([1., 1.])
    >>> ag.distributed.destroy_process_group()
    """
    mine = _group(group, "scatter")
    return _Scatter.apply(group_root(mine, src, None, "scatter", "src"), mine, *tensors)


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """
    Return the tensors of all ranks, on every rank.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape and dtype on all ranks.
    group : ProcessGroup, optional
        By default all processes.

    Returns
    -------
    tuple of Tensor
        One a rank.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.nn.functional.all_gather(ag.ones(2))
    (tensor([1., 1.]),)
    >>> ag.distributed.destroy_process_group()
    """
    return _AllGather.apply(_group(group, "all_gather"), tensor)


def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: ReduceOp = ReduceOp.SUM, group: Any = None
) -> Tensor:
    """
    Return this rank's part of the reduction of a list of tensors over all ranks.

    Parameters
    ----------
    output : Tensor
        Ignored: a new tensor is returned, as in torch.
    input_list : sequence of Tensor
        One a rank.
    op : ReduceOp, default ReduceOp.SUM
        SUM or AVG, where a derivative is recorded.
    group : ProcessGroup, optional
        By default all processes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.nn.functional.reduce_scatter(ag.zeros(2), [ag.ones(2)])
    tensor([1., 1.])
    >>> ag.distributed.destroy_process_group()
    """
    mine = _group(group, "reduce_scatter")
    _check_linear(op, "reduce_scatter", input_list)
    return _ReduceScatter.apply(op, mine, *input_list)


def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: Any = None
) -> tuple[Tensor, ...]:
    """
    Return one tensor from each rank, of the lists that each has for all.

    Parameters
    ----------
    output_tensor_list : sequence of Tensor
        Their shapes are those of the results; they aren't written.
    input_tensor_list : sequence of Tensor
        The one at ``i`` goes to rank ``i``.
    group : ProcessGroup, optional
        By default all processes.

    Returns
    -------
    tuple of Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.nn.functional.all_to_all([ag.zeros(2)], [ag.ones(2)])
    (tensor([1., 1.]),)
    >>> ag.distributed.destroy_process_group()
    """
    shapes = [tensor.shape for tensor in output_tensor_list]
    return _AllToAll.apply(_group(group, "all_to_all"), shapes, *input_tensor_list)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
) -> Tensor:
    """
    Return parts of a tensor from each rank, one after the other.

    Parameters
    ----------
    output : Tensor
        Its shape is that of the result; it isn't written.
    input : Tensor
        Rows for rank 0, then for rank 1 and so on.
    output_split_sizes, input_split_sizes : sequence of int, optional
        Rows a rank; by default equal parts.
    group : ProcessGroup, optional
        By default all processes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.nn.functional.all_to_all_single(ag.zeros(2), ag.ones(2))
    tensor([1., 1.])
    >>> ag.distributed.destroy_process_group()
    """
    mine = _group(group, "all_to_all_single")
    to = output_split_sizes or [output.shape[0] // mine.size()] * mine.size()
    sent = input_split_sizes or [input.shape[0] // mine.size()] * mine.size()
    shapes = [(rows, *output.shape[1:]) for rows in to]
    return ag.cat(_AllToAll.apply(mine, shapes, *input.split(list(sent))))
