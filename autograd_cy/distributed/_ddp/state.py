"""Checks that parameters and buffers of all ranks are alike, and copies of the values of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy.distributed._operands import describe
from autograd_cy.distributed._watch import EverywhereError
from autograd_cy.distributed._world import ProcessGroup
from autograd_cy.distributed.collectives import broadcast
from autograd_cy.distributed.objects import all_gather_object

__all__ = ["compare", "equalize"]

#: Bytes from which a tensor is broadcast alone.
_LARGE = 1 << 20


def compare(named: Iterable[tuple[str, Tensor]], group: ProcessGroup) -> None:
    """Refuse modules that differ between ranks.

    Parameters
    ----------
    named : iterable of (str, Tensor)
        Parameters and buffers.
    group : ProcessGroup

    Raises
    ------
    RuntimeError
        On every rank, with the first parameter that differs.
    """
    if group.size() == 1:
        return
    own = [f"{name}: {describe(tensor)}" for name, tensor in named]
    every: list[Any] = [None] * group.size()
    all_gather_object(every, own, group)
    for rank, other in enumerate(every):
        if other == every[0]:
            continue
        length = min(len(other), len(every[0]))
        place = next((i for i in range(length) if other[i] != every[0][i]), length)
        texts = [
            each[place] if place < len(each) else "no such parameter" for each in (every[0], other)
        ]
        raise EverywhereError(
            "DistributedDataParallel: the module differs between ranks: rank "
            f"{group._ranks[0]} has {texts[0]}, and rank {group._ranks[rank]} {texts[1]}. All "
            "ranks must make the same module"
        )


def _broadcast(parts: Sequence[Tensor], group: ProcessGroup, root: int) -> None:
    """Broadcast small tensors of one dtype in one message."""
    flat = ag.cat([part.reshape(-1) for part in parts])
    broadcast(flat, group=group, group_src=root)
    start = 0
    for part in parts:
        part.copy_(flat[start : start + part.numel()].view(part.shape))
        start += part.numel()


def equalize(tensors: Sequence[Tensor], group: ProcessGroup, root: int = 0) -> None:
    """Give all ranks the values of one, small ones of a dtype in one message.

    Parameters
    ----------
    tensors : sequence of Tensor
    group : ProcessGroup
    root : int, optional
        The rank in the group whose values they are.
    """
    if group.size() == 1:
        return
    small: dict[Any, list[Tensor]] = {}
    with ag.no_grad():
        for tensor in tensors:
            if tensor.nbytes >= _LARGE:  # no copy of all parameters
                broadcast(tensor.detach(), group=group, group_src=root)
            else:
                small.setdefault((tensor.dtype, tensor.device), []).append(tensor.detach())
        for parts in small.values():
            _broadcast(parts, group, root)
