"""Tangents through a function: one of them, or many at once by vmap.

Levels of forward mode are opened here, inside those that the caller may have open, so that all of
this nests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd_cy._C.creation import zeros as _zeros
from autograd_cy._C.creation import zeros_like as _zeros_like
from autograd_cy._C.forward import LevelContext, _make_dual, _unpack_dual
from autograd_cy._C.tensor import Tensor
from autograd_cy._vmap import vmap


def push(
    func: Callable[..., Sequence[Any]],
    inputs: Sequence[Any],
    tangents: Sequence[Tensor | None],
    keep: Sequence[int] | None = None,
) -> tuple[list[Tensor], list[Tensor | None]]:
    """
    (outputs, their tangents) of `func`, None for an output without tangent.

    Parameters
    ----------
    func : callable
        Returns a sequence.
    inputs : sequence
    tangents : sequence
        One per input; None for one that doesn't move. Inputs that are the same tensor share one.
    keep : sequence of int, optional
        Numbers of the outputs to return; by default all, which must then be tensors.
    """
    with LevelContext() as level:
        duals: dict[int, Tensor] = {}
        for x, t in zip(inputs, tangents):
            if t is not None:
                duals[id(x)] = _make_dual(x, t, level)
        outputs = func(*[duals.get(id(x), x) for x in inputs])
        chosen = list(outputs) if keep is None else [outputs[j] for j in keep]
        pairs = [_unpack_dual(out, level) for out in chosen]
    return [primal for primal, _ in pairs], [tangent for _, tangent in pairs]


def pushforward(
    func: Callable[..., Sequence[Tensor]], inputs: Sequence[Tensor], tangents: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    """Like :func:`push` with zeros for missing tangents, and outputs without a graph."""
    primals, results = push(func, inputs, tangents)
    return (
        [out.detach() for out in primals],
        [_zeros_like(out).detach() if t is None else t for out, t in zip(primals, results)],
    )


def pushforwards(
    func: Callable[..., Sequence[Tensor]], inputs: Sequence[Tensor], tangents: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    """
    (outputs, their tangents) for several tangents of each input, counted by the first dimension.

    `func` is called once.
    """
    if not len(tangents[0]):
        outputs = [out.detach() for out in func(*inputs)]
        return outputs, [
            _zeros((0, *out.shape), dtype=out.dtype, device=out.device) for out in outputs
        ]
    primals: list[Any] = []

    def one(*directions):
        outputs, pushed = pushforward(func, inputs, directions)
        primals.extend(outputs)
        return tuple(pushed)

    return primals, list(vmap(one)(*tangents))
