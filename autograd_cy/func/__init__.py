"""
Transformations of functions: gradients, Jacobians and batches as functions of functions.

The names and the semantics of ``torch.func``. Transformations take a function and return one, and
nest in any order: ``vmap(grad(f))`` gives the gradient for each example, ``jacfwd(jacrev(f))`` a
Hessian. Arguments may be tensors in any nesting of tuples, named tuples, lists and dicts.

``f`` should return what it computes and not change its arguments in place; tensors that it uses
without taking them as arguments count as constants of the transformation (and still get their
gradients from an outer ``backward``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_cy._lazy import attach as _attach
from autograd_cy._vmap import vmap
from autograd_cy.func._debugging import debug_unwrap
from autograd_cy.func._forward import jvp, linearize
from autograd_cy.func._jacobians import hessian, jacfwd, jacrev
from autograd_cy.func._modules import functional_call, stack_module_state
from autograd_cy.func._reverse import grad, grad_and_value, vjp

__all__ = [
    "debug_unwrap",
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]


if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__, __dir__ = _attach(__name__)
