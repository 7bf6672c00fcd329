"""Buckets: gradients of several parameters side by side in one tensor, which is reduced at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor

__all__ = ["FIRST_BYTES", "Bucket", "GradBucket", "assign"]

#: The first bucket is small, so that its reduction starts early.
FIRST_BYTES = 1 << 20
#: Bytes of a cache line.
LINE = 64


class Bucket:
    """Gradients of some parameters.

    Parameters
    ----------
    numbers : sequence of int
        Of the parameters among all.
    parameters : sequence of Parameter
        Of one dtype.

    Attributes
    ----------
    flat : Tensor
        All gradients, one after the other. Allocated when it is first read, without values.
    views : list of Tensor
        The part of each parameter, of its shape. ``parameter.grad`` is this after a reduction.
    pending : int
        Parameters whose gradients aren't there yet.
    """

    __slots__ = ("_flat", "_views", "numbers", "operation", "parameters", "pending")

    def __init__(self, numbers: Sequence[int], parameters: Sequence[Any]) -> None:
        self.numbers = list(numbers)
        self.parameters = list(parameters)
        self._flat: Tensor | None = None
        self._views: list[Tensor] = []
        self.pending = len(self.numbers)
        self.operation: Any = None

    @property
    def flat(self) -> Tensor:
        """Return all gradients, one after the other."""
        if self._flat is None:
            first = self.parameters[0]
            count = sum(parameter.numel() for parameter in self.parameters)
            return self._adopt(ag.empty(count, dtype=first.dtype, device=first.device))
        return self._flat

    def _adopt(self, flat: Tensor) -> Tensor:
        self._flat, self._views, start = flat, [], 0
        for parameter in self.parameters:
            part = flat[start : start + parameter.numel()]
            self._views.append(part.view(parameter.shape))
            start += parameter.numel()
        return flat

    @property
    def views(self) -> list[Tensor]:
        """Return the part of each parameter."""
        if self._flat is None:
            _ = self.flat
        return self._views

    def has(self, gradient: Any, place: int) -> bool:
        """Return whether the gradient of a parameter is its part of the bucket."""
        if self._flat is None or gradient is None:
            return False
        return gradient.data_ptr() == self._views[place].data_ptr()

    def release(self) -> None:
        """Leave the memory to the gradients that share it."""
        self._flat, self._views = None, []

    def resume(self, gradients: Sequence[Any]) -> bool:
        """Take memory back that was released, if all gradients still share it."""
        first = gradients[0]
        if first is None or first.requires_grad:
            return False
        address = first.untyped_storage().data_ptr()
        for gradient, parameter in zip(gradients, self.parameters, strict=True):
            if (
                gradient is None
                or gradient.data_ptr() != address
                or gradient.dtype != parameter.dtype
                or gradient.shape != parameter.shape
                or not gradient.is_contiguous()
            ):
                return False
            address += gradient.nbytes
        storage = first.untyped_storage()
        if address != storage.data_ptr() + storage.nbytes():
            return False
        self._adopt(first.as_strided((storage.nbytes() // first.element_size(),), (1,), 0))
        return True

    def describe(self, names: Sequence[str]) -> str:
        """Return how many parameters, and the first, for messages."""
        first = names[self.numbers[0]]
        more = len(self.numbers) - 1
        return f"{first} and {more} more" if more else first


class GradBucket:
    """
    A bucket as the hook of :meth:`DistributedDataParallel.register_comm_hook` sees it.

    Parameters
    ----------
    index : int
        Its place among the buckets.
    bucket : Bucket
    is_last : bool
        It is the last one of this backward.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed._ddp.buckets import Bucket
    >>> bucket = Bucket([0], [ag.nn.Parameter(ag.ones(2))])
    >>> ag.distributed.GradBucket(0, bucket, True).buffer().shape
    torch.Size([2])
    """

    def __init__(self, index: int, bucket: Bucket, is_last: bool) -> None:
        self._index = index
        self._bucket = bucket
        self._is_last = is_last

    def index(self) -> int:
        """Return its place among the buckets."""
        return self._index

    def buffer(self) -> Tensor:
        """Return all gradients in one vector."""
        return self._bucket.flat

    def gradients(self) -> list[Tensor]:
        """Return the gradients of the parameters, which share the memory of the vector."""
        return list(self._bucket.views)

    def is_last(self) -> bool:
        """Return whether it is the last bucket of this backward."""
        return self._is_last

    def parameters(self) -> list[Any]:
        """Return the parameters."""
        return list(self._bucket.parameters)

    def set_buffer(self, buffer: Tensor) -> None:
        """Replace the gradients by other values, of the same number."""
        with ag.no_grad():
            self._bucket.flat.copy_(buffer)


def assign(
    parameters: Sequence[Any], order: Sequence[int], first_bytes: int, bytes_of_others: int
) -> list[list[int]]:
    """Return the numbers of the parameters of each bucket, in their order in its memory.

    Parameters
    ----------
    parameters : sequence of Parameter
    order : sequence of int
        In which their gradients come.
    first_bytes, bytes_of_others : int
        The sizes at which a bucket is closed.
    """
    open_: dict[Any, list[int]] = {}
    sizes: dict[Any, int] = {}
    closed: list[list[int]] = []
    for number in order:
        parameter = parameters[number]
        key = (parameter.dtype, parameter.device)
        open_.setdefault(key, []).append(number)
        sizes[key] = sizes.get(key, 0) + parameter.nbytes
        if sizes[key] >= (bytes_of_others if closed else first_bytes):
            closed.append(open_.pop(key))
            del sizes[key]
    # Those of whole lines first, so that the others don't shift them: kernels are faster on lines.
    return [
        sorted(numbers, key=lambda number: parameters[number].nbytes % LINE != 0)
        for numbers in closed + list(open_.values())
    ]
