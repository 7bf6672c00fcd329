"""Derivatives of a function by autograd, in the layout of ``_differences.py``, for gradcheck.

Jacobians have a row for each element of an input and a column for each element of an output.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograd_cy._C.creation import zeros as _zeros
from autograd_cy._C.creation import zeros_like as _zeros_like
from autograd_cy._C.ops_joining import stack as _stack
from autograd_cy._C.tensor import Tensor
from autograd_cy.autograd import forward_ad
from autograd_cy.autograd._arguments import gradients
from autograd_cy.autograd._differences import Columns, Subject, as_outputs
from autograd_cy.autograd.grad_mode import enable_grad


def vjp(output: Tensor, inputs: Sequence[Tensor], vector: Tensor) -> list[Tensor | None]:
    """Gradients for one vector; the graph is kept."""
    return list(gradients([output], inputs, [vector.reshape(output.shape)]))


def filled(grads: Sequence[Tensor | None], inputs: Sequence[Tensor]) -> list[Tensor]:
    """Gradients as flat tensors without graph, zeros for those that don't exist."""
    return [
        (_zeros_like(x) if g is None else g).detach().clone().reshape((-1,))
        for g, x in zip(grads, inputs)
    ]


def backward_rows(output: Tensor, inputs: Sequence[Tensor], seed: complex) -> list[Tensor]:
    """
    The Jacobians of one output with respect to each input, by one backward pass per element.

    `seed` is the incoming gradient: 1, or 1j for the imaginary part of a complex output.
    """
    columns: list[list[Tensor]] = [[] for _ in inputs]
    for element in range(output.numel()):
        unit = _zeros(output.numel(), dtype=output.dtype, device=output.device)
        unit[element] = seed
        for column, g in zip(columns, filled(vjp(output, inputs, unit), inputs)):
            column.append(g)
    return [
        _stack(column, 1) if column else _zeros(x.numel(), 0, dtype=x.dtype, device=x.device)
        for column, x in zip(columns, inputs)
    ]


def tangents(
    subject: Subject, directions: dict[int, Tensor], wanted: Sequence[int]
) -> list[Tensor | None]:
    """
    Tangents of some outputs in forward mode; None where there is none.

    `directions` are tangents of inputs by number. An input that is passed twice has one tangent.
    The function is run under a level that it can see, and none of its inputs requires grad.
    """
    still = {id(x): x.detach() for x in subject.differentiable}
    with enable_grad(), forward_ad.dual_level():
        for i, direction in directions.items():
            x = subject.inputs[i]
            still[id(x)] = forward_ad.make_dual(x.detach(), direction.reshape(x.shape))
        outputs = as_outputs(subject.func(*(still.get(id(x), x) for x in subject.inputs)))
        return [forward_ad.unpack_dual(outputs[j]).tangent for j in wanted]


def pushed(
    subject: Subject, directions: dict[int, Tensor], wanted: Sequence[int], outputs
) -> list[Tensor]:
    """
    Like :func:`tangents`, flat, with zeros where there is none.

    Inputs without a direction get zeros; that leaving them out is the same is a check of its own.
    """
    pushed_inputs = [subject.inputs[place] for place in directions]
    still = {
        place: _zeros_like(subject.inputs[place]).detach()
        for place in subject.places
        if not any(subject.inputs[place] is x for x in pushed_inputs)
    }
    return [
        (_zeros_like(out) if t is None else t).detach().clone().reshape((-1,))
        for t, out in zip(tangents(subject, directions | still, wanted), outputs)
    ]


def forward_columns(
    subject: Subject, place: int, wanted: Sequence[int], outputs: Sequence[Tensor]
) -> list[Columns]:
    """The Jacobians of some outputs with respect to one input, by one tangent per element."""
    x = subject.inputs[place]
    units = (1.0, 1.0j) if x.is_complex() else (1.0,)
    rows: list[list[list[Tensor]]] = [[[] for _ in wanted] for _ in units]
    for unit, columns in zip(units, rows):
        for element in range(x.numel()):
            direction = _zeros(x.numel(), dtype=x.dtype, device=x.device)
            direction[element] = unit
            for row, t in zip(columns, pushed(subject, {place: direction}, wanted, outputs)):
                row.append(t)
    matrices = [
        [
            _stack(row) if row else _zeros(0, out.numel(), dtype=out.dtype, device=out.device)
            for row, out in zip(columns, outputs)
        ]
        for columns in rows
    ]
    return [
        Columns(matrices[0][j], matrices[1][j] if len(units) == 2 else None)
        for j in range(len(wanted))
    ]
