"""Methods of torch's tensors that these lack: reading one raises an error that says what to use."""

from __future__ import annotations

from inspect import getattr_static
from typing import Any, NoReturn

from autograd_cy._C.tensor import Tensor, _install

__all__ = ["METHODS", "Absent"]

#: The names of `ABSENT["Tensor"]`; the import of the package doesn't read the table.
METHODS = (
    "cauchy_ cholesky cholesky_inverse cholesky_solve coalesce dense_dim dequantize frexp"
    " geometric_ histogram indices int_repr is_coalesced isreal istft ldexp ldexp_ log_normal_"
    " logaddexp2 lu lu_solve nextafter nextafter_ q_scale q_zero_point qscheme"
    " renorm renorm_ sinc sinc_ sparse_dim sparse_mask stft to_dense to_sparse"
    " to_sparse_coo to_sparse_csr triangular_solve values xpu"
).split()


class Absent:
    """
    An attribute that tensors lack.

    Not ``__getattr__``, with which reading any attribute costs more.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: type) -> NoReturn:
        from autograd_cy._lazy.lookup import method_error

        raise method_error(tensor, owner, self.name)


def _is_absent(owner: type, name: str) -> bool:
    return type(getattr_static(owner, name)) is Absent


def _listed(self: Tensor) -> list[str]:
    """List the names that a tensor has, its own and those of its class."""
    absent = {name for name in METHODS if _is_absent(type(self), name)}
    return [*(set(object.__dir__(self)) - absent), *vars(self)]


# A definition that comes later, such as a record's, replaces the one here.
for _name in METHODS:
    if _name not in vars(Tensor):
        _install(_name, Absent(_name))
_install("__dir__", _listed)
