"""Derivatives of a function by central differences, for :mod:`autograd_cy.autograd.gradcheck`.

A step changes the elements of an input in place, as the function may hold the same tensor (given
twice, closed over, or as a view); the old values are put back bit by bit, also after an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from autograd_cy._C.creation import zeros as _zeros
from autograd_cy._C.ops_joining import stack as _stack
from autograd_cy._C.tensor import ItemsContext, Tensor
from autograd_cy.autograd.grad_mode import enable_grad


class GradcheckError(RuntimeError):
    """Derivatives computed by autograd aren't those of the function."""

    __module__ = "autograd_cy.autograd.gradcheck"


def is_smooth(t: Any) -> bool:
    """Return whether `t` is a tensor of a dtype that derivatives exist for."""
    return isinstance(t, Tensor) and (t.is_floating_point() or t.is_complex())


def as_outputs(result: Any) -> tuple[Tensor, ...]:
    """Return the results of a checked function as a tuple; a TypeError if they aren't tensors."""
    outputs = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    for i, out in enumerate(outputs):
        if not isinstance(out, Tensor):
            raise TypeError(
                f"gradcheck: the function must return a Tensor or a tuple of Tensors, but output "
                f"{i} has type {type(out).__name__}"
            )
    return outputs


@dataclass(frozen=True)
class Subject:
    """
    A function with the point at which it is checked.

    Attributes
    ----------
    func : callable
    inputs : tuple
    sizes : list of Size
        Shapes of the outputs at this point, once they are known.
    """

    func: Callable[..., Any]
    inputs: tuple[Any, ...]
    sizes: list[Any] = field(default_factory=list)

    @property
    def places(self) -> list[int]:
        """Numbers of the inputs whose gradients are checked."""
        return [i for i, x in enumerate(self.inputs) if is_smooth(x) and x.requires_grad]

    @property
    def differentiable(self) -> list[Tensor]:
        """The inputs whose gradients are checked."""
        return [self.inputs[i] for i in self.places]

    def outputs(self) -> tuple[Tensor, ...]:
        """The outputs, with their graph."""
        with enable_grad():
            outputs = as_outputs(self.func(*self.inputs))
        if not self.sizes:
            self.sizes.extend(out.shape for out in outputs)
        return outputs

    def values(self) -> list[Tensor]:
        """Copies of the outputs."""
        return [out.detach().clone() for out in self.outputs()]


def restored(tensors: Sequence[Tensor]) -> ItemsContext:
    """
    A context that gives the values of `tensors`, to be changed in place, outside of any graph; they
    are put back at the end.
    """
    data = [x.data for x in tensors]
    return ItemsContext(saved=[(t.clone, t.copy_) for t in data], result=data)


def _derivatives(
    subject: Subject, wanted: Sequence[int], step: Callable, eps: float, where: str = ""
) -> list[Tensor]:
    step(eps)
    above = subject.values()
    step(-eps)
    below = subject.values()
    for values in (below, above):
        if len(values) != len(subject.sizes):
            raise _varies("length", where, eps, len(values), len(subject.sizes))
    derivatives = []
    for j in wanted:
        a, b = above[j], below[j]
        if a.shape != b.shape:
            raise _varies("shape", where, eps, b.shape, a.shape)
        if a.dtype != b.dtype:
            raise _varies("dtype", where, eps, b.dtype, a.dtype)
        if a.numel() != subject.sizes[j].numel():
            raise _varies("shape", where, eps, a.shape, subject.sizes[j])
        derivatives.append(((a - b) / (2 * eps)).reshape((-1,)))
    return derivatives


def _varies(what: str, where: str, eps: float, a: Any, b: Any) -> AssertionError:
    return AssertionError(
        f"Expected `func` to return outputs with the same {what} when inputs are perturbed{where} "
        f"by {eps}, but got: {what}s {a} and {b}."
    )


def derivatives_along(
    subject: Subject, place: int, direction: Tensor, wanted: Sequence[int], eps: float
) -> list[Tensor]:
    """Return the derivatives of some outputs, flat, by input number `place` along `direction`."""
    x = subject.inputs[place]
    with restored([x]) as (data,):
        old = data.clone()
        shift = direction.reshape(data.shape)

        def step(size):
            data.copy_(old + size * shift)

        return _derivatives(subject, wanted, step, eps)


@dataclass(frozen=True)
class Columns:
    """
    Derivatives of one output with respect to one input, a row for each element of the input.

    Attributes
    ----------
    real : Tensor
        Steps along the real axis; of the dtype of the output.
    imag : Tensor or None
        Steps along the imaginary axis, for a complex input.
    """

    real: Tensor
    imag: Tensor | None


def jacobian_columns(
    subject: Subject, place: int, wanted: Sequence[int], eps: float
) -> list[Columns]:
    """Return all derivatives of some outputs by input number `place`, element by element."""
    x = subject.inputs[place]
    units = (1.0, 1.0j) if x.is_complex() else (1.0,)
    # By unit, then output: one row for each element of the input.
    rows: list[list[list[Tensor]]] = [[[] for _ in wanted] for _ in units]
    with restored([x]) as (data,):
        for index in _indices(tuple(data.shape)):
            old = data[index].clone()
            for unit, columns in zip(units, rows):

                def step(size, index=index, old=old, unit=unit):
                    data[index] = old + size * unit

                derivatives = _derivatives(subject, wanted, step, eps, f" on index {index}")
                for j, derivative in enumerate(derivatives):
                    columns[j].append(derivative)
            data[index] = old
    stacked = [
        [_rows(column, subject, j) for column, j in zip(columns, wanted)] for columns in rows
    ]
    return [
        Columns(stacked[0][j], stacked[1][j] if len(units) == 2 else None)
        for j in range(len(wanted))
    ]


def _rows(column: list[Tensor], subject: Subject, number: int) -> Tensor:
    if column:
        return _stack(column)
    out = subject.values()[number]
    return _zeros(0, out.numel(), dtype=out.dtype, device=out.device)


def _indices(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The index of each element in row-major order; `()` for a tensor without dimensions."""
    yield from product(*(range(n) for n in shape))
