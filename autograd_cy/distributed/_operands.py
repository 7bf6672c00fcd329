"""Tensors as operands of MPI: checks, and memory that is contiguous and that MPI can read.

That is memory of the host. Tensors of GPUs are copied by way of pinned memory, unless the
environment says that MPI takes pointers to their memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy._C import rank_memory
from autograd_cy.autograd.graph import increment_version

from ._world import ProcessGroup, world

__all__ = [
    "Output",
    "apart",
    "as_input",
    "check_tensor",
    "check_tensors",
    "check_written",
    "describe",
    "group_root",
    "output_of",
    "write",
]


def check_tensor(value: Any, name: str) -> None:
    """Refuse an argument that isn't a dense tensor with memory.

    Raises
    ------
    TypeError
    """
    if not isinstance(value, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(value)} instead."
        )
    if value.is_meta:
        raise TypeError(f"distributed: parameter `{name}` is on device meta, and has no values")


def check_tensors(values: Any, name: str) -> None:
    """Refuse an argument that isn't a list of tensors.

    Raises
    ------
    TypeError
    """
    if not _is_list_of_tensors(values):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(values)} instead."
        )
    for value in values:
        if value.is_meta:
            raise TypeError(
                f"distributed: a tensor of `{name}` is on device meta: it has no values"
            )


def _is_list_of_tensors(values: Any) -> bool:
    if not isinstance(values, (list, tuple)):
        return False
    for value in values:  # noqa: SIM110  a generator takes longer than the rest
        if not isinstance(value, Tensor):
            return False
    return True


def check_written(tensor: Tensor, function: str, writes: bool = True) -> None:
    """Refuse a tensor that must not be written in place, on all ranks or where it is written.

    On all ranks a leaf that records, since backward would not see what other ranks write into it.
    PyTorch does so where it copies results, and lets ``all_reduce``, ``broadcast`` and ``reduce``
    write. Where this rank ``writes``, memory that is read-only, or has elements in one place, is
    refused as well: MPI knows nothing of it.

    Raises
    ------
    RuntimeError
    """
    if rank_memory.is_free(tensor):
        return
    rank_memory.refuse_wrapper(tensor)
    if tensor.requires_grad and tensor.is_leaf and ag.is_grad_enabled():
        raise RuntimeError(
            f"{function}: a leaf Variable that requires grad is being used in an in-place "
            "operation; "
            "give tensor.detach(), call it under no_grad(), or use distributed.nn.functional for a "
            "call with a derivative"
        )
    if not writes:
        return
    values = tensor.data  # of a version of its own
    if values.is_conj():
        values = values.conj()  # else each element would be computed below
    try:
        values.copy_(values)  # nothing but its checks
    except RuntimeError as error:
        text = str(error).removeprefix("copy_: ")
        raise RuntimeError(f"{function}: {text}") from None


def describe(tensor: Tensor) -> str:
    """Return dtype and shape, for messages."""
    return f"{str(tensor.dtype).rpartition('.')[2]} {list(tensor.shape)}"


#: Sums of these are computed by functions of the host.
_HALVES = (ag.float16, ag.bfloat16)


def _is_for_mpi(tensor: Tensor) -> bool:
    """Return whether MPI can use the memory of a tensor."""
    if tensor.device.type == "cpu":
        return True
    return tensor.device.type == "cuda" and world.cuda_aware and tensor.dtype not in _HALVES


def _empty(shape: Any, like: Tensor) -> Tensor:
    """Return memory for MPI, for values of the dtype and device of a tensor."""
    if _is_for_mpi(like):
        return ag.empty(shape, dtype=like.dtype, device=like.device)
    return ag.empty(shape, dtype=like.dtype, pin_memory=like.device.type == "cuda")


def as_input(tensor: Tensor) -> Tensor:
    """Return the values of a tensor in C order where MPI can read, in its own memory if it is."""
    if rank_memory.is_plain(tensor):
        return rank_memory.values_of(tensor)
    rank_memory.refuse_wrapper(tensor)
    tensor = tensor.detach()
    if _is_plain(tensor):
        return tensor
    if not _is_for_mpi(tensor):
        values = _empty(tensor.shape, tensor)
        return values.copy_(tensor)
    return tensor.resolve_conj().resolve_neg().contiguous()


def apart(source: Tensor, memory: Tensor) -> Tensor:
    """Return what is sent, copied if it shares memory with what is written: MPI forbids that."""
    return source.detach().clone() if rank_memory.overlap(source, memory) else source


def _is_plain(tensor: Tensor) -> bool:
    """Return whether MPI can use the memory of a tensor, and it has the values in C order."""
    in_order = tensor.is_contiguous() and not tensor.is_conj() and not tensor.is_neg()
    return in_order and (tensor.is_cpu or _is_for_mpi(tensor))


def write(tensor: Tensor, values: Tensor) -> None:
    """Copy values into a tensor, or raise its version if they are its own memory."""
    if values.data_ptr() == tensor.data_ptr() and _is_plain(tensor):
        increment_version(tensor)
    else:
        if values.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr():
            values = values.clone()
        with ag.no_grad():
            tensor.detach().copy_(values.reshape(tensor.shape))


class Output:
    """The memory that an operation writes, for tensors one after the other.

    Parameters
    ----------
    tensors : sequence of Tensor
    values : bool, optional
        The operation reads the tensors, too.

    Attributes
    ----------
    memory : Tensor
        Contiguous, where MPI can use it: the tensor itself if there is one and it is so.
    """

    __slots__ = ("_is_tensor", "_tensors", "memory")

    def __init__(self, tensors: Sequence[Tensor], values: bool = False) -> None:
        self._tensors = tensors
        self._is_tensor = False
        if len(tensors) == 1:
            (tensor,) = tensors
            tensor = tensor.detach()
            if _is_plain(tensor):
                self.memory = tensor
                self._is_tensor = True
            elif values:
                self.memory = as_input(tensor)  # a copy, since the tensor itself is not plain
            else:
                self.memory = _empty(tensor.shape, tensor)
        else:
            count = sum(tensor.numel() for tensor in tensors)
            self.memory = _empty((count,), tensors[0])

    def finish(self) -> None:
        """Bring the results into the tensors."""
        if self._is_tensor:
            self._tensors[0]._bump_version()
            return
        if len(self._tensors) == 1:
            write(self._tensors[0], self.memory)
            return
        start = 0
        for tensor in self._tensors:
            count = tensor.numel()
            write(tensor, self.memory[start : start + count])
            start += count


def output_of(*tensors: Tensor, values: bool = False) -> Output | rank_memory.Own:
    """Return the memory that an operation writes, as :class:`Output` or what does the same."""
    if len(tensors) == 1 and rank_memory.is_plain(tensors[0]):
        return rank_memory.Own(tensors[0])
    return Output(tensors, values)


def group_root(
    group: ProcessGroup, root: int | None, in_group: int | None, function: str, name: str
) -> int:
    """Return the rank in a group of a root that is given by its rank in the world or in the group.

    Raises
    ------
    ValueError
        If both are given, or neither, or there is no such rank.
    """
    if root is not None and in_group is not None:
        raise ValueError(f"{function}: can't specify both group_{name} and {name}")
    if in_group is not None:
        if not 0 <= in_group < group.size():
            raise ValueError(
                f"{function}: group_{name}={in_group}; the group has {group.size()} ranks"
            )
        return in_group
    if root is None:
        raise ValueError(f"{function}: must specify {name} or group_{name}")
    if root not in group._ranks:
        raise ValueError(
            f"{function}: Global rank {root} is not part of group {group}; {name} is a rank of the "
            "world, group_{name} one of the group".replace("{name}", name)
        )
    return group._ranks.index(root)
