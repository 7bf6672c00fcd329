"""``backward`` of several Variables at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_cy import Tensor

from .variable import Variable, one_for

__all__ = ["backward"]


def backward(
    variables: Sequence[Any], grad_variables: Sequence[Any], retain_variables: bool = False
) -> None:
    """
    Add the gradients of several Variables into those of the leaves, summed.

    Parameters
    ----------
    variables : sequence of Variable
        The same may occur twice.
    grad_variables : sequence of Variable, tensor or None
        A weight for each; None stands for 1 at a Variable of one element.
    retain_variables : bool, default False
        Whether saved tensors are kept for another backward.

    Raises
    ------
    RuntimeError
        If the lengths differ, a weight is missing, or nothing requires grad.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import Variable, backward
    >>> x = Variable(torch.ones(1), requires_grad=True)
    >>> backward([x * 2, x * 3], [None, torch.ones(1)])
    >>> x.grad.data.tolist()
    [5.0]
    """
    roots = (variables,) if isinstance(variables, Variable) else tuple(variables)
    if grad_variables is None or isinstance(grad_variables, (Variable, Tensor)):
        raise TypeError(
            "grad_variables has to be a sequence with a gradient or None for each variable, but "
            f"got {type(grad_variables).__name__}"
        )
    weights = tuple(grad_variables)
    if len(roots) != len(weights):
        raise RuntimeError(
            f"backward: expected a gradient for each variable, but got {len(roots)} variables and "
            f"{len(weights)} gradients"
        )
    grads = []
    for place, (root, grad) in enumerate(zip(roots, weights, strict=True)):
        if not isinstance(root, Variable):
            raise TypeError(
                f"backward: element {place} of variables is a {type(root).__name__}, not a Variable"
            )
        if isinstance(grad, Variable):
            grad = grad._tensor
        elif grad is None and root._needs_grad:
            grad = one_for(root)
        elif grad is not None and not isinstance(grad, Tensor):
            raise TypeError(
                "backward: gradients have to be tensors, Variables or None, but element "
                f"{place} is a {type(grad).__name__}"
            )
        grads.append(grad)
    Variable._execution_engine.run_backward(roots, tuple(grads), bool(retain_variables))
