"""
The names of ``torch.sparse``; there are no sparse tensors, so each function raises.

Examples
--------
>>> import autograd_cy as ag
>>> ag.sparse.mm(ag.eye(2), ag.eye(2))
Traceback (most recent call last):
NotImplementedError: autograd_cy.sparse.mm: there are no sparse tensors; use dense ones
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

__all__ = [
    "addmm",
    "as_sparse_gradcheck",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "spsolve",
    "sum",
    "to_sparse_semi_structured",
]


_TEXT = """
    Raise an error: there are no sparse tensors.

    Parameters
    ----------
    *args, **kwargs
        Not looked at.

    Raises
    ------
    NotImplementedError
        Always.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.sparse.{name}()
    Traceback (most recent call last):
    NotImplementedError: autograd_cy.sparse.{name}: there are no sparse tensors; use dense ones
    """


def _absent(name: str) -> Callable[..., NoReturn]:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            f"autograd_cy.sparse.{name}: there are no sparse tensors; use dense ones"
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _TEXT.format(name=name)
    return function


addmm = _absent("addmm")
as_sparse_gradcheck = _absent("as_sparse_gradcheck")
check_sparse_tensor_invariants = _absent("check_sparse_tensor_invariants")
log_softmax = _absent("log_softmax")
mm = _absent("mm")
sampled_addmm = _absent("sampled_addmm")
softmax = _absent("softmax")
spdiags = _absent("spdiags")
spsolve = _absent("spsolve")
sum = _absent("sum")
to_sparse_semi_structured = _absent("to_sparse_semi_structured")
