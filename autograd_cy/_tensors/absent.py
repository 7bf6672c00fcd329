"""Methods of torch's tensors that these have not: asked for, they say what to use instead."""

from __future__ import annotations

from inspect import getattr_static
from typing import Any, NoReturn

from autograd_cy._C.tensor import Tensor, _install

__all__ = ["Absent"]

_NAMES = """
argwhere cholesky cholesky_inverse cholesky_solve corrcoef cov det histogram istft lu lu_solve
matrix_exp mode pinverse qr quantile nanquantile slogdet stft svd triangular_solve
erfinv erfinv_ frexp gcd gcd_ isreal lcm lcm_ ldexp ldexp_ logaddexp2 mvlgamma mvlgamma_
nextafter nextafter_ renorm renorm_ sinc sinc_
cauchy_ geometric_ log_normal_
pin_memory record_stream xpu
coalesce dense_dim indices is_coalesced sparse_dim sparse_mask to_dense to_sparse to_sparse_coo
to_sparse_csr values
dequantize int_repr q_scale q_zero_point qscheme
""".split()


class Absent:
    """
    An attribute that tensors have not.

    Not ``__getattr__``, with which reading any attribute costs more.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: type) -> NoReturn:
        from autograd_cy._environment.absent_names import no_method

        raise no_method(tensor, owner, self.name)


def _listed(self: Tensor) -> list[str]:
    """The names that a tensor has, its own and those of its class."""
    absent = {name for name in _NAMES if type(getattr_static(type(self), name)) is Absent}
    return [*(set(object.__dir__(self)) - absent), *vars(self)]


for _name in _NAMES:
    _install(_name, Absent(_name))
_install("__dir__", _listed)
