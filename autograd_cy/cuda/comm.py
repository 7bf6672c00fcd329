"""Tensors copied to several GPUs, cut into parts for them, and added up from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from autograd_cy._C.placement import device as _device
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors import namespace as _functions
from autograd_cy.cuda import _core

__all__ = [
    "broadcast",
    "broadcast_coalesced",
    "gather",
    "reduce_add",
    "reduce_add_coalesced",
    "scatter",
]


def _devices_of(devices: Iterable[Any]) -> list[_device]:
    return [_device(f"cuda:{_core.index_of(d, optional=False)}") for d in devices]


def broadcast(
    tensor: Tensor, devices: Iterable[Any] | None = None, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """
    Copy a tensor to several GPUs.

    Parameters
    ----------
    tensor : Tensor
        On the first of `devices`, or on the CPU.
    devices : iterable of device or int
        Or `out`.
    out : sequence of Tensor, keyword-only
        Tensors on GPUs to copy to.

    Returns
    -------
    tuple of Tensor

    Raises
    ------
    RuntimeError
        Unless exactly one of `devices` and `out` is given.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(2)
    >>> copies = ag.cuda.comm.broadcast(x, range(ag.cuda.device_count()))
    """
    if (devices is None) == (out is None):
        raise RuntimeError(
            "Exactly one of 'devices' and 'out' must be specified, but got "
            f"devices={devices} and out={out}"
        )
    if out is not None:
        for target in out:
            target.copy_(tensor, non_blocking=True)
        return tuple(out)
    return tuple(tensor.to(place, non_blocking=True) for place in _devices_of(devices or ()))


def broadcast_coalesced(
    tensors: Sequence[Tensor], devices: Iterable[Any], buffer_size: int = 10485760
) -> tuple[list[Tensor], ...]:
    """
    Copy several tensors to several GPUs.

    Parameters
    ----------
    tensors : sequence of Tensor
    devices : iterable of device or int
    buffer_size : int
        Not used: copies to a GPU follow each other without waiting.

    Returns
    -------
    tuple of list of Tensor
        A list for each GPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> lists = ag.cuda.comm.broadcast_coalesced([ag.ones(2)], range(ag.cuda.device_count()))
    """
    return tuple(
        [x.to(place, non_blocking=True) for x in tensors] for place in _devices_of(devices)
    )


def reduce_add(inputs: Sequence[Tensor], destination: Any = None) -> Tensor:
    """
    Add up tensors of several GPUs.

    Parameters
    ----------
    inputs : sequence of Tensor
        Of one shape.
    destination : device or int, optional
        The GPU of the result, the current one unless given.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If one of `inputs` is on no GPU, or of another shape.
    """
    place = _core.device_name(destination)
    shape = inputs[0].shape
    for i, x in enumerate(inputs):
        if not x.is_cuda:
            raise RuntimeError("reduce_add expects all inputs to be on GPUs")
        if x.shape != shape:
            raise RuntimeError(
                f"input {i} has invalid size: got {list(x.shape)}, but expected {list(shape)}"
            )
    # From left to right, whichever GPU they are on: the same sum each time.
    total = inputs[0].to(place, copy=True)
    for x in inputs[1:]:
        total += x.to(place, non_blocking=True)
    return total


def reduce_add_coalesced(
    inputs: Sequence[Sequence[Tensor]], destination: Any = None, buffer_size: int = 10485760
) -> tuple[Tensor, ...]:
    """
    Add up lists of tensors of several GPUs, element by element.

    Parameters
    ----------
    inputs : sequence of sequence of Tensor
        A list for each GPU.
    destination : device or int, optional
        The GPU of the results, the current one unless given.
    buffer_size : int
        Not used.

    Returns
    -------
    tuple of Tensor
    """
    return tuple(reduce_add(column, destination) for column in zip(*inputs, strict=True))


def scatter(
    tensor: Tensor,
    devices: Iterable[Any] | None = None,
    chunk_sizes: Sequence[int] | None = None,
    dim: int = 0,
    streams: Sequence[Any] | None = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:
    """
    Cut a tensor into parts for several GPUs.

    Parameters
    ----------
    tensor : Tensor
    devices : iterable of device or int
        Or `out`.
    chunk_sizes : sequence of int, optional
        Equal parts unless given.
    dim : int, default 0
    streams : sequence of Stream, optional
        On which the parts are copied.
    out : sequence of Tensor, keyword-only
        Tensors on GPUs to copy to.

    Returns
    -------
    tuple of Tensor

    Raises
    ------
    RuntimeError
        If both of `devices` and `out` are given, or `chunk_sizes` beside `out`.
    """
    if out is not None:
        if devices is not None or chunk_sizes is not None:
            raise RuntimeError(
                "'devices' and 'chunk_sizes' must not be specified when 'out' is specified"
            )
        sizes = [x.size(dim) for x in out]
        for target, part in zip(out, tensor.split(sizes, dim), strict=True):
            target.copy_(part, non_blocking=True)
        return tuple(out)
    places = _devices_of(range(_core.count()) if devices is None else devices)
    parts = tensor.chunk(len(places), dim) if chunk_sizes is None else None
    if parts is None:
        parts = tensor.split(list(chunk_sizes or ()), dim)
    from autograd_cy.cuda.streams import StreamContext

    copies = []
    for i, (place, part) in enumerate(zip(places, parts, strict=False)):
        with StreamContext(streams[i] if streams else None):
            copies.append(part.contiguous().to(place, non_blocking=True))
    return tuple(copies)


def gather(
    tensors: Sequence[Tensor], dim: int = 0, destination: Any = None, *, out: Tensor | None = None
) -> Tensor:
    """
    Join tensors of several GPUs on one of them, or on the CPU.

    Parameters
    ----------
    tensors : sequence of Tensor
    dim : int, default 0
    destination : device or str or int, optional
        The current GPU unless given; -1 is the CPU.
    out : Tensor, keyword-only
        Where the result goes instead.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If both of `destination` and `out` are given.
    """
    if out is not None:
        if destination is not None:
            raise RuntimeError("'destination' must not be specified when 'out' is specified")
        return out.copy_(_functions.cat([x.to(out.device) for x in tensors], dim))
    named = isinstance(destination, (_device, str)) and _device(destination).type == "cpu"
    place = "cpu" if named or destination == -1 else _core.device_name(destination)
    return _functions.cat([x.to(place) for x in tensors], dim)
