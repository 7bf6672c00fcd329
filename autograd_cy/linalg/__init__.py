"""
Linear algebra by the names it has in ``torch.linalg``, as far as there is it.

What a record puts here by ``namespace="linalg"`` is taken from there.

Examples
--------
>>> import autograd_cy as ag
>>> ag.linalg.vector_norm(ag.tensor([3.0, 4.0]))
tensor(5.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_cy._interpreted import LinAlgError
from autograd_cy._interpreted import complete as _complete
from autograd_cy._lazy import attach as _attach
from autograd_cy.linalg._norms import matrix_norm, norm, vector_norm
from autograd_cy.linalg._products import cross, diagonal, multi_dot, vander, vecdot

__all__ = [
    "LinAlgError",
    "cross",
    "diagonal",
    "matrix_norm",
    "multi_dot",
    "norm",
    "vander",
    "vecdot",
    "vector_norm",
]

# Functions that are those of the top level.
_TOP = ("matmul",)

_complete("linalg", globals(), _TOP)


if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__, __dir__ = _attach(__name__)
