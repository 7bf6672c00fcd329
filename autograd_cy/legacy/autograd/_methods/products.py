"""Products of matrices and vectors; their sums take the numbers first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tensors.wrapping import is_number
from .. import _functions as F
from .._state import VariableBase
from .operands import refuse

__all__ = ["Products"]


def _added(name: str, inplace: bool) -> Callable[..., Any]:
    function = getattr(F, name.capitalize())
    own = name + "_" * inplace

    def method(self: Any, *args: Any) -> Any:
        if len(args) == 2:
            return function(1, 1, inplace)(self, *args)
        numbers, operands = args[:-2], args[-2:]
        if len(operands) < 2 or len(numbers) > 2 or not all(map(is_number, numbers)):
            raise TypeError(f"{own}: expected ([beta, [alpha,]] Variable, Variable)")
        beta, alpha = (*numbers, 1)[:2]
        return function(beta, alpha, inplace)(self, *operands)

    method.__name__ = method.__qualname__ = own
    method.__doc__ = f"``{own}([beta, [alpha,]] a, b)`` is beta self + alpha times a product."
    return method


class Products(VariableBase):
    """The methods of matrices and vectors."""

    def mm(self, matrix: Any) -> Any:
        """The product of two matrices."""
        return F.Mm()(self, matrix)

    def bmm(self, batch: Any) -> Any:
        """The products of two batches of matrices."""
        return F.Bmm()(self, batch)

    def mv(self, vector: Any) -> Any:
        """The product of a matrix and a vector."""
        return F.Mv()(self, vector)

    def ger(self, vector: Any) -> Any:
        """The products of all elements of two vectors."""
        return F.Ger()(self, vector)

    def dot(self, other: Any) -> Any:
        """The sum of the products of the elements."""
        return F.Dot()(self, other)

    addmm = _added("addmm", False)
    addmm_ = _added("addmm", True)
    addbmm = _added("addbmm", False)
    addbmm_ = _added("addbmm", True)
    baddbmm = _added("baddbmm", False)
    baddbmm_ = _added("baddbmm", True)
    addmv = _added("addmv", False)
    addmv_ = _added("addmv", True)
    addr = _added("addr", False)
    addr_ = _added("addr", True)

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, VariableBase):
            refuse("__matmul__", other, "a Variable")
        dims = self._tensor.dim(), other._tensor.dim()
        if dims == (1, 1):
            return self.dot(other)
        if dims == (2, 1):
            return self.mv(other)
        if dims == (1, 2):
            row = F.Unsqueeze(0)(self)
            return F.Squeeze(0)(row.mm(other))
        if dims == (2, 2):
            return self.mm(other)
        raise ValueError(
            f"both arguments to __matmul__ need to be 1D or 2D, but they are {dims[0]}D and "
            f"{dims[1]}D"
        )
