"""Tangents through a function: one of them, or many at once by vmap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd_cy._C.creation import zeros as _zeros
from autograd_cy._C.creation import zeros_like as _zeros_like
from autograd_cy._C.formulas import _make_dual, _primal, _tangent
from autograd_cy._C.tensor import Tensor
from autograd_cy._vmap import vmap


def pushforward(
    func: Callable[..., Sequence[Tensor]], inputs: Sequence[Tensor], tangents: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    """(outputs, their tangents) of `func`; zeros for an output without tangent."""
    outputs = func(*[_make_dual(x, t) for x, t in zip(inputs, tangents)])
    pushed = [_tangent(out) for out in outputs]
    return (
        [_primal(out).detach() for out in outputs],
        [_zeros_like(_primal(out)) if t is None else t for out, t in zip(outputs, pushed)],
    )


def pushforwards(
    func: Callable[..., Sequence[Tensor]], inputs: Sequence[Tensor], tangents: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    """
    (outputs, their tangents) for several tangents of each input, counted by the first dimension.

    `func` is called once.
    """
    count = len(tangents[0])
    if not count:
        outputs = [out.detach() for out in func(*inputs)]
        return outputs, [_zeros((0, *out.shape), dtype=out.dtype) for out in outputs]
    primals: list[Any] = []

    def one(*directions):
        outputs, pushed = pushforward(func, inputs, directions)
        primals.extend(outputs)
        return tuple(pushed)

    return primals, list(vmap(one)(*tangents))
