"""Sequences of different lengths: padded to one tensor, or packed step by step.

A packed sequence holds the rows of all sequences that reach the first step, then those that reach
the second, and so on; the sequences are ordered from the longest to the shortest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from autograd_cy import (
    Tensor,
    arange,
    cat,
    contiguous_format,
    full,
    index_copy,
    index_select,
    int64,
    stack,
    tensor,
    zeros_like,
)
from autograd_cy._C.exchange import _constant_array

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

_P = TypeVar("_P", bound="PackedSequence")


class _PackedFields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_PackedFields):
    """Sequences of different lengths, packed; `pack_padded_sequence` and `pack_sequence` make one.

    Parameters
    ----------
    data : Tensor
        The rows of all steps.
    batch_sizes : Tensor, optional
        How many rows each step has: int64, on the CPU. Without it, `data` is a pair of both.
    sorted_indices : Tensor, optional
        The places that the sequences had before they were ordered by length.
    unsorted_indices : Tensor, optional
        Where each of them is now; found from the former if it isn't given.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
    >>> packed.data, packed.batch_sizes
    (tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
    """

    def __new__(
        cls: type[_P],
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> _P:
        """Check the parts."""
        if batch_sizes is None:
            if not isinstance(data, list | tuple) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if batch_sizes is not None and batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                "created manually. They should be instantiated by functions like pack_sequence "
                "and pack_padded_sequence in nn.utils.rnn."
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        # The fields' own __new__ takes no subclass parameters in typed code.
        return tuple.__new__(cls, (data, batch_sizes, sorted_indices, unsorted_indices))

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return the parts, for copies and pickles."""
        return tuple(self)

    def to(self: _P, *args: Any, **kwargs: Any) -> _P:
        """Convert the data as ``Tensor.to`` does; itself if nothing changes.

        Parameters
        ----------
        *args, **kwargs
            What ``Tensor.to`` takes.

        Returns
        -------
        PackedSequence
            With the same sizes; the indices follow to another device.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> packed = torch.nn.utils.rnn.pack_sequence([torch.ones(2)])
        >>> packed.to(torch.float64).data.dtype == torch.float64
        True
        """
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        places = (
            None if index is None else index.to(data.device)
            for index in (self.sorted_indices, self.unsorted_indices)
        )
        return type(self)(data, self.batch_sizes, *places)

    def pin_memory(self: _P) -> _P:
        """Return it in memory of the host that an accelerator copies from directly.

        Raises
        ------
        RuntimeError
            If no accelerator pins memory.
        """
        places = (
            None if index is None else index.pin_memory()
            for index in (self.sorted_indices, self.unsorted_indices)
        )
        return type(self)(self.data.pin_memory(), self.batch_sizes, *places)

    def cuda(self: _P, *args: Any, **kwargs: Any) -> _P:
        """Return it on the GPU."""
        return self._converted(self.data.cuda(*args, **kwargs))

    def cpu(self: _P) -> _P:
        """Return it on the CPU."""
        return self.to("cpu")

    def double(self: _P) -> _P:
        """Return it as float64."""
        return self._converted(self.data.double())

    def float(self: _P) -> _P:
        """Return it as float32."""
        return self._converted(self.data.float())

    def half(self: _P) -> _P:
        """Return it as float16."""
        return self._converted(self.data.half())

    def long(self: _P) -> _P:
        """Return it as int64."""
        return self._converted(self.data.long())

    def int(self: _P) -> _P:
        """Return it as int32."""
        return self._converted(self.data.int())

    def short(self: _P) -> _P:
        """Return it as int16."""
        return self._converted(self.data.short())

    def char(self: _P) -> _P:
        """Return it as int8."""
        return self._converted(self.data.char())

    def byte(self: _P) -> _P:
        """Return it as uint8."""
        return self._converted(self.data.byte())

    @property
    def is_cuda(self) -> bool:
        """True if the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Tell if the data is in pinned memory."""
        return self.data.is_pinned()

    def _converted(self: _P, data: Tensor) -> _P:
        return self if data is self.data else type(self)(data, *self[1:])


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the permutation that undoes another one.

    Parameters
    ----------
    permutation : Tensor or None
        Where each place is taken from.

    Returns
    -------
    Tensor or None
        None for None.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    numbers = arange(len(permutation), dtype=permutation.dtype, device=permutation.device)
    return zeros_like(numbers).scatter_(0, permutation.to(int64), numbers)


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Pack padded sequences.

    Parameters
    ----------
    input : Tensor
        Of shape ``(steps, batch, *)``, or with the first two exchanged (`batch_first`).
    lengths : Tensor or sequence of int
        The length of each sequence; a tensor is on the CPU.
    batch_first : bool, optional
        Whether the batch is the first dimension.
    enforce_sorted : bool, optional
        Whether the sequences must come from the longest to the shortest; otherwise they are
        ordered here, and `pad_packed_sequence` puts them back.

    Returns
    -------
    PackedSequence
        The rows within the lengths.

    Raises
    ------
    RuntimeError
        If the lengths don't fit the input, or aren't in order.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils.rnn import pack_padded_sequence
    >>> packed = pack_padded_sequence(torch.tensor([[1, 4], [2, 0], [3, 0]]), [3, 1])
    >>> packed.data
    tensor([1, 4, 2, 3])
    """
    if not isinstance(input, Tensor):
        raise TypeError(
            "pack_padded_sequence(): argument 'input' (position 1) must be Tensor, not "
            f"{type(input).__name__}"
        )
    if input.ndim < 2:
        raise IndexError(
            "Dimension out of range (expected to be in range of [-1, 0], but got 1): "
            f"pack_padded_sequence needs steps and batch, got shape {tuple(input.shape)}"
        )
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    steps, batch = input.shape[0], input.shape[1]
    if batch_first:
        steps, batch = batch, steps
    sizes = _lengths(lengths)
    if len(sizes) != batch:
        raise RuntimeError(
            "Expected `len(lengths)` to be equal to batch_size, but got "
            f"{len(sizes)} (batch_size={batch})"
        )
    order = None
    if not enforce_sorted:
        order = np.argsort(-sizes, kind="stable")
        sizes = sizes[order]
    elif (sizes[1:] > sizes[:-1]).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    if sizes[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if sizes[0] > steps:
        raise RuntimeError(
            f"pack_padded_sequence: a length of {sizes[0]} exceeds the {steps} steps of the input"
        )
    step, sequence = _packed_places(sizes)
    if order is not None:
        sequence = order[sequence]
    rows = sequence * steps + step if batch_first else step * batch + sequence
    flat = input.reshape(steps * batch, *input.shape[2:])
    data = index_select(flat, 0, _constant_array(rows).to(input.device))
    batch_sizes = _constant_array(_batch_sizes(sizes))
    if order is None:
        return PackedSequence(data, batch_sizes)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return PackedSequence(
        data,
        batch_sizes,
        _constant_array(order).to(input.device),
        _placed(back, input.device),
    )


def _placed(order: np.ndarray, place: Any) -> Tensor:
    """A tensor of an order, which `_on_host` gives back without a wait for its device."""
    there = _constant_array(order).to(place)
    there._order = there._version, order  # type: ignore[attr-defined]
    return there


def _on_host(order: Tensor) -> np.ndarray:
    version, known = getattr(order, "_order", (None, None))
    return known if known is not None and version == order._version else order.cpu().numpy()


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Pad packed sequences; undoes `pack_padded_sequence`.

    Parameters
    ----------
    sequence : PackedSequence
        What to pad.
    batch_first : bool, optional
        Whether the result has the batch as first dimension.
    padding_value : float, optional
        What stands behind the ends.
    total_length : int, optional
        How many steps the result has; by default those of the longest sequence.

    Returns
    -------
    tuple of Tensor
        The padded sequences and their lengths, in the order before packing.

    Raises
    ------
    ValueError
        If `total_length` is less than the longest length.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils.rnn import pack_sequence, pad_packed_sequence
    >>> pad_packed_sequence(pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]))
    (tensor([[1, 3],
            [2, 0]]), tensor([2, 1]))
    """
    batch_sizes = sequence.batch_sizes.numpy()
    steps = longest = len(batch_sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in "
                f"input, but got total_length={total_length} and max sequence length being "
                f"{longest}"
            )
        steps = total_length
    batch = int(batch_sizes[0]) if longest else 0
    lengths = (batch_sizes[:, None] > np.arange(batch)).sum(0).astype(np.int64)
    step, place = _packed_places(lengths)
    if sequence.unsorted_indices is not None:
        back = _on_host(sequence.unsorted_indices)
        lengths = lengths[back]
        where = np.empty_like(back)
        where[back] = np.arange(len(back))
        place = where[place]
    rows = place * steps + step if batch_first else step * batch + place
    data = sequence.data
    empty = full(
        (steps * batch, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device
    )
    flat = index_copy(empty, 0, _constant_array(rows).to(data.device), data)
    shape = (batch, steps) if batch_first else (steps, batch)
    return flat.reshape(*shape, *data.shape[1:]), _constant_array(lengths)


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Join sequences of different lengths in one tensor.

    Parameters
    ----------
    sequences : iterable of Tensor
        Each of shape ``(length, *)``.
    batch_first : bool, optional
        Whether the result is ``(batch, steps, *)`` instead of ``(steps, batch, *)``.
    padding_value : float, optional
        What fills the shorter ones.
    padding_side : {"right", "left"}, optional
        Where it goes.

    Returns
    -------
    Tensor
        The padded sequences.

    Raises
    ------
    RuntimeError
        If there are none, or their shapes behind the first dimension differ.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.utils.rnn.pad_sequence([torch.tensor([1, 2]), torch.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    parts = tuple(sequences)
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if not parts:
        raise RuntimeError("received an empty list of sequences")
    for i, part in enumerate(parts):
        if not isinstance(part, Tensor):
            raise TypeError(
                "pad_sequence(): argument 'sequences' (position 1) must be tuple of Tensors, but "
                f"got {type(part).__name__} as element {i}"
            )
    first = parts[0]
    for part in parts:
        if not part.ndim or part.shape[1:] != first.shape[1:]:
            raise RuntimeError(
                "pad_sequence: sequences must have a length and agree in all other sizes, got "
                f"shapes {[tuple(p.shape) for p in parts]}"
            )
    steps = max(len(part) for part in parts)
    padded = []
    for part in parts:
        part = part.to(first.dtype)
        missing = steps - len(part)
        if missing:
            fill = full(
                (missing, *first.shape[1:]), padding_value, dtype=first.dtype, device=first.device
            )
            part = cat((part, fill) if padding_side == "right" else (fill, part))
        padded.append(part)
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """Take padded sequences apart.

    Parameters
    ----------
    padded_sequences : Tensor
        Of shape ``(steps, batch, *)``, or with the first two exchanged (`batch_first`).
    lengths : Tensor
        The length of each sequence.
    batch_first : bool, optional
        Whether the batch is the first dimension.

    Returns
    -------
    list of Tensor
        Copies of the sequences, without padding.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils.rnn import unpad_sequence
    >>> unpad_sequence(torch.tensor([[1, 2], [3, 0]]), torch.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([3])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [
        one[: int(n)].clone(memory_format=contiguous_format)
        for one, n in zip(padded_sequences.unbind(0), lengths.tolist(), strict=False)
    ]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths.

    Parameters
    ----------
    sequences : sequence of Tensor
        Each of shape ``(length, *)``.
    enforce_sorted : bool, optional
        Whether they must come from the longest to the shortest.

    Returns
    -------
    PackedSequence
        Their rows, step by step.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils.rnn import pack_sequence
    >>> pack_sequence([torch.tensor([1]), torch.tensor([2, 3])], enforce_sorted=False).data
    tensor([2, 1, 3])
    """
    lengths = tensor([len(v) for v in sequences], dtype=int64, device="cpu")
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Take packed sequences apart; undoes `pack_sequence`.

    Parameters
    ----------
    packed_sequences : PackedSequence
        What to unpack.

    Returns
    -------
    list of Tensor
        The sequences, in the order before packing.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils.rnn import pack_sequence, unpack_sequence
    >>> unpack_sequence(pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


def _lengths(lengths: Tensor | Sequence[int]) -> np.ndarray:
    if not isinstance(lengths, Tensor):
        lengths = tensor(lengths, dtype=int64, device="cpu")
    if lengths.ndim != 1 or lengths.device.type != "cpu":
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{lengths.ndim}D {lengths.device} {lengths.dtype} tensor"
        )
    return lengths.to(int64).numpy()


def _batch_sizes(lengths: np.ndarray) -> np.ndarray:
    """Count, for each step, the lengths that reach it, from the largest to the smallest."""
    reached = np.bincount(lengths - 1)
    return np.ascontiguousarray(reached[::-1].cumsum()[::-1]).astype(np.int64)


def _packed_places(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Step and sequence of each packed row."""
    sizes = _batch_sizes(lengths) if len(lengths) else np.zeros(0, np.int64)
    step = np.repeat(np.arange(len(sizes)), sizes)
    sequence = np.arange(len(step)) - np.repeat(sizes.cumsum() - sizes, sizes)
    return step, sequence
