"""Products of matrices and vectors; their sums take the numbers first."""

from __future__ import annotations

import autograd_cy as ag

from .wrapping import Base, _make, is_number, refuse, same_dtype, scalar_for, typename

__all__ = ["Products"]


def _product(name, dims):
    compute = getattr(ag, name)

    def method(self, other):
        other = same_dtype(self, other, name)
        if (self.dim(), other.dim()) != dims:
            raise RuntimeError(
                f"{name}: expected tensors of {dims[0]} and {dims[1]} dimensions, got sizes "
                f"{tuple(self.shape)} and {tuple(other.shape)}"
            )
        return _make(type(self), compute(self, other))

    method.__name__ = name
    method.__doc__ = f"The product of tensors of {dims[0]} and {dims[1]} dimensions."
    return method


def _result_size(name, a, b):
    if name in ("addmm", "addbmm"):
        return a.shape[-2], b.shape[-1]
    if name == "baddbmm":
        return a.shape[0], a.shape[1], b.shape[2]
    return (a.shape[0],) if name == "addmv" else (a.shape[0], b.shape[0])


_DIMS = {"addmm": (2, 2), "addbmm": (3, 3), "baddbmm": (3, 3), "addmv": (2, 1), "addr": (1, 1)}


def _parts(t, args, name):
    """(beta, alpha, a, b) of ``([beta, [alpha,]] a, b)``."""
    numbers, rest = args[:-2], args[-2:]
    fits = len(rest) == 2 and len(numbers) <= 2 and all(is_number(x) for x in numbers)
    if not fits:
        refuse(name, (t, *args), f"([beta, [alpha,]] {typename(t)}, {typename(t)})")
    a, b = (same_dtype(t, x, name) for x in rest)
    beta, alpha = (*(scalar_for(t, x, name) for x in numbers), 1, 1)[:2]
    if (a.dim(), b.dim()) != _DIMS[name]:
        dims = " and ".join(map(str, _DIMS[name]))
        raise RuntimeError(
            f"{name}: expected tensors of {dims} dimensions, got sizes {tuple(a.shape)} and "
            f"{tuple(b.shape)}"
        )
    size = _result_size(name, a, b)
    if tuple(t.shape) != size:
        raise RuntimeError(
            f"{name}: the product has size {size} and the tensor added to it {tuple(t.shape)}; "
            "nothing is broadcast, use expand"
        )
    return beta, alpha, a, b


def _sum_of_product(name):
    compute, compute_ = getattr(ag, name), getattr(ag, name + "_")

    def method(self, *args):
        beta, alpha, a, b = _parts(self, args, name)
        return _make(type(self), compute(self, a, b, beta=beta, alpha=alpha))

    def in_place(self, *args):
        beta, alpha, a, b = _parts(self, args, name)
        compute_(self, a, b, beta=beta, alpha=alpha)
        return self

    method.__name__, in_place.__name__ = name, name + "_"
    method.__doc__ = f"``{name}([beta, [alpha,]] a, b)`` is ``beta self + alpha a b``."
    in_place.__doc__ = method.__doc__[:-1] + ", in place."
    return method, in_place


class Products(Base):
    """The methods that multiply matrices and vectors."""

    __slots__ = ()

    mm = _product("mm", (2, 2))
    bmm = _product("bmm", (3, 3))
    mv = _product("mv", (2, 1))
    ger = _product("ger", (1, 1))
    addmm, addmm_ = _sum_of_product("addmm")
    addbmm, addbmm_ = _sum_of_product("addbmm")
    baddbmm, baddbmm_ = _sum_of_product("baddbmm")
    addmv, addmv_ = _sum_of_product("addmv")
    addr, addr_ = _sum_of_product("addr")

    def cross(self, other, dim=-1):
        """The cross product along a dimension of size 3, by default the first such."""
        other = same_dtype(self, other, "cross")
        if self.shape != other.shape:
            raise RuntimeError(
                f"cross: inconsistent tensor sizes {tuple(self.shape)} and {tuple(other.shape)}"
            )
        if dim == -1:
            if 3 not in self.shape:
                raise RuntimeError("cross: no dimension of size 3")
            dim = list(self.shape).index(3)
        if self.shape[dim] != 3:
            raise RuntimeError(f"cross: dimension {dim} does not have size 3")
        return _make(type(self), ag.cross(self, other, dim=dim))
