"""Jacobians under names that old programs take from `gradcheck`; both are deprecated in torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.creation import zeros
from autograd_cy._C.tensor import Tensor
from autograd_cy.autograd.grad_mode import no_grad
from autograd_cy.autograd.gradients import grad

__all__ = ["get_analytical_jacobian", "get_numerical_jacobian"]


def _begin(name: str, grad_out: float) -> None:
    _warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are "
        "deprecating it and it will be removed in a future version of PyTorch. (Use gradcheck, or "
        "autograd.functional.jacobian.)",
        FutureWarning,
    )
    if grad_out != 1.0:
        raise ValueError(
            f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0."
        )


def _differentiated(inputs: Any) -> list[Tensor]:
    if isinstance(inputs, Tensor):
        return [inputs] if inputs.requires_grad else []
    if isinstance(inputs, Iterable) and not isinstance(inputs, str):
        return [t for one in inputs for t in _differentiated(one)]
    return []


def get_numerical_jacobian(
    fn: Callable[[Any], Any],
    inputs: Any,
    target: Any = None,
    eps: float = 1e-3,
    grad_out: float = 1.0,
) -> tuple[Tensor, ...]:
    """
    Compute Jacobians of a function by central differences.

    Parameters
    ----------
    fn : callable
        Takes `inputs` as one argument, returns a real tensor.
    inputs : Tensor or sequence of Tensor
        Where they are taken.
    target : Tensor or sequence of Tensor, optional
        By which of the inputs; by default all that require grad.
    eps : float, optional
        The step.
    grad_out : float, optional
        Only 1.0.

    Returns
    -------
    tuple of Tensor
        For each input a matrix with a row for each of its elements, and a column for each of the
        result's.

    Raises
    ------
    ValueError
        If `grad_out` isn't 1.0, or something is complex.

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.gradcheck import get_numerical_jacobian
    >>> x = ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", FutureWarning)
    ...     (jacobian,) = get_numerical_jacobian(lambda args: args[0] ** 2, (x,))
    >>> ag.testing.assert_close(jacobian, ag.tensor([[2.0, 0.0], [0.0, 4.0]], dtype=ag.float64))
    """
    _begin("get_numerical_jacobian", grad_out)
    jacobians = []
    for t in _differentiated(inputs if target is None else target):
        if t.is_complex():
            raise ValueError(
                "Expected input to be non-complex. get_numerical_jacobian no longer supports "
                "functions that take complex inputs."
            )
        flat, rows = t.detach().view(-1), []
        for i in range(t.numel()):
            value = flat[i].item()
            ends = []
            try:
                for end in (value - eps, value + eps):
                    flat[i] = end
                    with no_grad():
                        ends.append(fn(inputs).detach().clone())
            finally:
                flat[i] = value
            if ends[0].is_complex():
                raise ValueError(
                    "Expected output to be non-complex. get_numerical_jacobian no longer supports "
                    "functions that return complex outputs."
                )
            rows.append(((ends[1] - ends[0]) / (2 * eps)).reshape(-1))
        matrix = zeros(len(rows), len(rows[0]) if rows else 0, dtype=t.dtype, device=t.device)
        for i, row in enumerate(rows):
            matrix[i] = row
        jacobians.append(matrix)
    return tuple(jacobians)


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """
    Compute Jacobians of a result by backward.

    Parameters
    ----------
    inputs : Tensor or sequence of Tensor
        What it was computed from.
    output : Tensor
        The result, real.
    nondet_tol : float, optional
        By how much two backwards may differ.
    grad_out : float, optional
        Only 1.0.

    Returns
    -------
    (tuple of Tensor, bool, bool, bool)
        Matrices as of :func:`get_numerical_jacobian`; whether two backwards agree, and whether
        gradients have the sizes and dtypes of their inputs.

    Raises
    ------
    ValueError
        If `grad_out` isn't 1.0 or the result is complex.

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.gradcheck import get_analytical_jacobian
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", FutureWarning)
    ...     get_analytical_jacobian((x,), x**2)[0]
    (tensor([[2., 0.],
            [0., 4.]]),)
    """
    _begin("get_analytical_jacobian", grad_out)
    if output.is_complex():
        raise ValueError(
            "Expected output to be non-complex. get_analytical_jacobian no longer supports "
            "functions that return complex outputs."
        )
    wanted = _differentiated(inputs)
    again, sizes, dtypes = True, True, True
    matrices = [
        zeros(t.numel(), output.numel(), dtype=t.dtype, device=output.device) for t in wanted
    ]
    for column in range(output.numel()):
        seed = zeros(output.shape, dtype=output.dtype, device=output.device)
        seed.view(-1)[column] = 1.0
        first, second = (
            grad(output, wanted, seed, retain_graph=True, allow_unused=True) for _ in range(2)
        )
        for t, matrix, one, other in zip(wanted, matrices, first, second):
            if one is None:
                continue
            sizes = sizes and one.shape == t.shape
            dtypes = dtypes and one.dtype == t.dtype
            again = again and not bool(((one - other).abs() > nondet_tol).any())
            matrix[:, column] = one.reshape(-1)
    return tuple(matrices), again, sizes, dtypes


for _f in (get_numerical_jacobian, get_analytical_jacobian):
    _f.__module__ = "autograd_cy.autograd.gradcheck"
