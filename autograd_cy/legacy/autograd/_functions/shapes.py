"""Shapes of operands, and gradients in the shape of what they belong to."""

from __future__ import annotations

import autograd_cy as ag

__all__ = ["in_shape", "one_minus", "zeros"]


def in_shape(t, shape):
    """A tensor with other sizes, and as many elements; nearly always it has them."""
    return t if t.shape == shape else ag.reshape(t, shape)


def zeros(shape, like):
    """Zeros of the type of another tensor, where that is."""
    return ag.zeros(shape, dtype=like.dtype, device=like.device)


def one_minus(t):
    """1 - t; two kernels are less than one call that goes through arguments of all kinds."""
    return ag.add(ag.neg(t), 1)
