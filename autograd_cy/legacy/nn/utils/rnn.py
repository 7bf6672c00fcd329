"""Sequences of different lengths, packed step by step or padded to one Variable."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import autograd_cy as ag

from ...autograd import Variable
from .._modern import modern

__all__ = ["PackedSequence", "pack_padded_sequence", "pad_packed_sequence"]

PackedSequence = namedtuple("PackedSequence", ["data", "batch_sizes"])
PackedSequence.__doc__ = """
The rows of all sequences that reach the first step, then those that reach the second, and so on.

Attributes
----------
data : Variable
batch_sizes : list of int
    How many rows each step has.
"""


def _places_of_rows(batch_sizes: Sequence[int], count: int) -> Any:
    """Return the place of each row among those of the padded sequences, step by step."""
    return ag.cat([ag.arange(n) + t * count for t, n in enumerate(batch_sizes)])


def pack_padded_sequence(input: Any, lengths: Sequence[int], batch_first: bool = False) -> Any:
    """
    Pack padded sequences, which are in the order of their lengths, the longest first.

    Parameters
    ----------
    input : Variable
        Of size (steps, batch, ...), or (batch, steps, ...) with `batch_first`.
    lengths : list of int
    batch_first : bool, optional

    Returns
    -------
    PackedSequence

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import Variable
    >>> from autograd_cy.legacy.nn.utils.rnn import pack_padded_sequence
    >>> packed = pack_padded_sequence(Variable(torch.ones(3, 2, 4)), [3, 1])
    >>> packed.batch_sizes, packed.data.size()
    ([2, 1, 1], autograd_cy.Size([4, 4]))
    """
    if not isinstance(input, Variable):
        raise TypeError(f"pack_padded_sequence: expected a Variable, got {type(input).__name__}")
    lengths = [int(n) for n in lengths]
    if not lengths or lengths[-1] <= 0:
        raise ValueError("length of all samples has to be greater than 0")
    if any(a < b for a, b in pairwise(lengths)):
        raise ValueError("lengths array has to be sorted in decreasing order")
    steps, batch = input.size(int(batch_first)), input.size(int(not batch_first))
    if batch != len(lengths):
        raise ValueError(
            f"lengths array has incorrect size: expected {batch}, but found {len(lengths)}"
        )
    if lengths[0] > steps:
        raise ValueError(f"a length of {lengths[0]} is more than the {steps} steps of the input")
    batch_sizes = [sum(n > t for n in lengths) for t in range(lengths[0])]
    places = _places_of_rows(batch_sizes, batch)

    def compute(x):
        ordered = ag.transpose(x, 0, 1) if batch_first else x
        return ag.index_select(ag.flatten(ordered, 0, 1), 0, places)

    return PackedSequence(modern("PackPaddedSequence", compute, input), batch_sizes)


def pad_packed_sequence(sequence: Any, batch_first: bool = False) -> tuple[Any, list[int]]:
    """
    Pad packed sequences with zeros.

    Parameters
    ----------
    sequence : PackedSequence
    batch_first : bool, optional
        Whether the result is (batch, steps, ...).

    Returns
    -------
    tuple of Variable and list of int
        The padded sequences and their lengths.
    """
    data, batch_sizes = sequence
    steps, batch = len(batch_sizes), batch_sizes[0]
    places = _places_of_rows(batch_sizes, batch)

    def compute(rows):
        size = rows.shape[1:]
        zeros = ag.zeros((steps * batch, *size), dtype=rows.dtype, device=rows.device)
        padded = ag.index_copy(zeros, 0, places.to(rows.device), rows).reshape(steps, batch, *size)
        return ag.transpose(padded, 0, 1).contiguous() if batch_first else padded

    lengths = [sum(n > i for n in batch_sizes) for i in range(batch)]
    return modern("PadPackedSequence", compute, data), lengths
