"""Decompositions and solvers by their LAPACK names, on SciPy."""

from __future__ import annotations

import importlib

import autograd_cy as ag
from autograd_cy import Tensor

from .pointwise import floating_only
from .wrapping import Base, refuse, typename, wrap

__all__ = ["LinearAlgebra"]


def _linalg():
    # SciPy is large and few programs factor matrices.
    return importlib.import_module("scipy.linalg")


def _array(t, name, *others, finite=True):
    """Matrices of one type as arrays; LAPACK has no half precision, and checks no NaN."""
    arrays = []
    if not isinstance(t, Tensor):
        refuse(name, (*others, t), "tensors")
    for x in (t, *others):
        if not isinstance(x, Tensor) or x.dtype is not t.dtype:
            refuse(name, (t, x), f"a {typename(t)}")
        floating_only(x, name)
        if Tensor.dim(x) not in (1, 2) or (x is t and Tensor.dim(x) != 2):
            raise RuntimeError(f"{name}: expected a matrix, not size {tuple(x.shape)}")
        array = Tensor.numpy(x)
        if finite and not ag.isfinite(x).all():
            raise RuntimeError(f"{name}: the {typename(x)} must not contain infs or NaNs")
        arrays.append(array.astype("float32") if t.dtype is ag.float16 else array)
    return arrays if others else arrays[0]


def _square(t, name):
    array = _array(t, name)
    if array.shape[0] != array.shape[1]:
        raise _not_square(name, t)
    return array


def _not_square(name, t):
    return RuntimeError(f"{name}: A should be square, but has size {tuple(t.shape)}")


def _tensor(t, array):
    import numpy as np

    return wrap(Tensor.to(ag.from_numpy(np.array(array, order="C")), t.dtype))


def _column(array):
    return array[:, None] if array.ndim == 1 else array


def _run_lapack(name, call, cause=None):
    """Run LAPACK; what it can't do is a RuntimeError. `cause`: where SciPy's words don't say it."""
    try:
        return call()
    except _linalg().LinAlgError as error:
        raise RuntimeError(f"{name}: {cause or error}") from None


def _diagonal_factor(name, number):
    return RuntimeError(f"{name}: U({number},{number}) is zero, singular U.")


class LinearAlgebra(Base):
    """The methods named after LAPACK's routines."""

    __slots__ = ()

    def inverse(self):
        """The inverse of a square matrix."""
        array = _square(self, "inverse")
        return _tensor(self, _run_lapack("inverse", lambda: _linalg().inv(array)))

    def gesv(self, A):
        """(X, LU) with ``A X = self``."""
        array, rhs = _array(A, "gesv", self, finite=False)
        if array.shape[0] != array.shape[1]:
            raise _not_square("gesv", A)
        lu, _, solved, info = _linalg().get_lapack_funcs("gesv", (array, rhs))(array, _column(rhs))
        if info > 0:
            raise _diagonal_factor("gesv", info)
        return _tensor(self, solved), _tensor(self, lu)

    def gels(self, A):
        """(X, R): the X of least ``|A X - self|``, and the triangular factor of A."""
        array, rhs = _array(A, "gels", self)
        if array.shape[0] < array.shape[1]:
            solved = _linalg().lstsq(array, _column(rhs))[0]
            return _tensor(self, solved), _tensor(self, _linalg().qr(array.T, mode="r")[0])
        q, r = _linalg().qr(array, mode="economic")
        top = _run_lapack("gels", lambda: _linalg().solve_triangular(r, q.T @ _column(rhs)))
        return _tensor(self, top), _tensor(self, r)

    def trtrs(self, A, upper=True, transpose=False, unitriangular=False):
        """(X, A) with ``A X = self`` for a triangular A."""
        array, rhs = _array(A, "trtrs", self)
        _square(A, "trtrs")

        def solve():
            return _linalg().solve_triangular(
                array,
                _column(rhs),
                trans=int(transpose),
                lower=not upper,
                unit_diagonal=unitriangular,
            )

        return _tensor(self, _run_lapack("trtrs", solve)), A

    def symeig(self, eigenvectors=False, upper=True):
        """(eigenvalues, eigenvectors) of a symmetric matrix, of which one triangle is read."""
        array = _square(self, "symeig")
        if not eigenvectors:
            values = _linalg().eigvalsh(array, lower=not upper)
            return _tensor(self, values), self.new().resize_as_(self).zero_()
        values, vectors = _linalg().eigh(array, lower=not upper)
        return _tensor(self, values), _tensor(self, vectors)

    def eig(self, eigenvectors=False):
        """(eigenvalues as rows of real and imaginary part, eigenvectors as LAPACK packs them)."""
        array = _square(self, "eig")
        geev = _linalg().get_lapack_funcs("geev", (array,))
        real, imaginary, _, right, info = geev(array, compute_vl=0, compute_vr=int(eigenvectors))
        if info:
            raise RuntimeError(f"eig: {info} off-diagonal elements didn't converge to zero")
        import numpy as np

        values = _tensor(self, np.stack([real, imaginary], 1))
        return values, _tensor(self, right) if eigenvectors else self.new()

    def svd(self, some=True):
        """(U, S, V) with ``U diag(S) V^T`` this matrix."""
        array = _array(self, "svd")
        u, s, vh = _run_lapack("svd", lambda: _linalg().svd(array, full_matrices=not some))
        return _tensor(self, u), _tensor(self, s), _tensor(self, vh.T)

    def qr(self):
        """(Q, R): an orthogonal and an upper triangular factor."""
        q, r = _linalg().qr(_array(self, "qr"), mode="economic")
        return _tensor(self, q), _tensor(self, r)

    def geqrf(self):
        """(reflectors and R in one matrix, tau), which ``orgqr`` and ``ormqr`` take."""
        (packed, tau), _ = _linalg().qr(_array(self, "geqrf"), mode="raw")
        return _tensor(self, packed), _tensor(self, tau)

    def orgqr(self, tau):
        """The orthogonal matrix of the reflectors of ``geqrf``."""
        array, factors = _array(self, "orgqr", tau)
        return _tensor(self, _linalg().get_lapack_funcs("orgqr", (array,))(array, factors)[0])

    def ormqr(self, tau, mat, left=True, transpose=False):
        """The product of the orthogonal matrix of ``geqrf`` and another one."""
        array, factors, other = _array(self, "ormqr", tau, mat)
        ormqr = _linalg().get_lapack_funcs("ormqr", (array,))
        side, trans = "L" if left else "R", "T" if transpose else "N"
        lwork = 64 * max(other.shape)
        return _tensor(self, ormqr(side, trans, array, factors, other, lwork)[0])

    def potrf(self, upper=True):
        """The triangular factor of a positive definite matrix."""
        array = _square(self, "potrf")
        factor = _run_lapack(
            "potrf",
            lambda: _linalg().cholesky(array, lower=not upper),
            "the matrix is not positive definite",
        )
        return _tensor(self, factor)

    def potri(self, upper=True):
        """The inverse of the matrix of which this is the triangular factor."""
        array = _square(self, "potri")
        import numpy as np

        factor = (array, not upper)
        solved = _run_lapack("potri", lambda: _linalg().cho_solve(factor, np.eye(len(array))))
        return _tensor(self, solved)

    def potrs(self, input2, upper=True):
        """The X with ``A X = self``, where `input2` is the triangular factor of A."""
        factor, rhs = _array(input2, "potrs", self)
        _square(input2, "potrs")
        solved = _linalg().cho_solve((factor, not upper), _column(rhs))
        return _tensor(self, solved)

    def pstrf(self, upper=True, tol=-1):
        """(factor, pivots from 1) of a positive semidefinite matrix."""
        array = _square(self, "pstrf")
        pstrf = _linalg().get_lapack_funcs("pstrf", (array,))
        packed, pivots, _, _ = pstrf(array, lower=int(not upper), tol=tol)
        import numpy as np

        factor = np.triu(packed) if upper else np.tril(packed)
        return _tensor(self, factor), wrap(ag.from_numpy(pivots.astype("int32")))
