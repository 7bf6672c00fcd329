"""
Variables, Functions and backward as in March 2017.

A Variable holds a tensor without a graph; each operation is a Function (``function``), which
remembers the ones before it, and a small engine (``engine``) walks back along them.
"""

from autograd_cy.legacy.autograd import _functions as _functions
from autograd_cy.legacy.autograd import engine as engine
from autograd_cy.legacy.autograd import function as function
from autograd_cy.legacy.autograd import stochastic_function as stochastic_function
from autograd_cy.legacy.autograd import variable as variable
from autograd_cy.legacy.autograd._backward import backward as backward
from autograd_cy.legacy.autograd.function import Function as Function
from autograd_cy.legacy.autograd.function import NestedIOFunction as NestedIOFunction
from autograd_cy.legacy.autograd.stochastic_function import (
    StochasticFunction as StochasticFunction,
)
from autograd_cy.legacy.autograd.variable import Variable as Variable

# As in torch, the name of the module is also that of its function, which wins.
from autograd_cy.legacy.autograd.gradcheck import gradcheck as gradcheck  # isort: skip

__all__ = [
    "Function",
    "NestedIOFunction",
    "StochasticFunction",
    "Variable",
    "backward",
    "gradcheck",
]
