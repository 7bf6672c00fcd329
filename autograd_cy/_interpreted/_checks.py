"""Checks of arguments that records name (their `checks`), run before a kernel sees them."""

from __future__ import annotations

from typing import Any

from autograd_cy._C.dtypes import bfloat16, int64
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.predicates import need_dim


def matrices(op: str, A: Tensor, *rest: Any) -> None:
    """At least two dimensions."""
    if A.ndim < 2:
        raise RuntimeError(
            f"{op}: The input tensor A must have at least 2 dimensions, not {A.ndim}; the last two "
            "are those of the matrices"
        )


def driven(op: str, A: Tensor, *rest: Any) -> None:
    """The last argument names a routine, of which there is one."""
    matrices(op, A)
    if rest[-1] is not None:
        raise RuntimeError(f"{op}: driver={rest[-1]!r} is for GPUs; leave it out")


def square(op: str, A: Tensor, *rest: Any) -> None:
    """Batches of square matrices."""
    matrices(op, A)
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"{op}: A must be batches of square matrices, but they are {A.shape[-2]} by "
            f"{A.shape[-1]} matrices"
        )


def triangle(op: str, A: Tensor, UPLO: str) -> None:
    """Square matrices of which one triangle is read."""
    square(op, A)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")


def solvable(op: str, A: Tensor, B: Tensor, *rest: Any) -> None:
    """Matrices of one dtype that fit."""
    square(op, A)
    if A.dtype != B.dtype:
        raise RuntimeError(
            f"{op}: Expected A and B to have the same dtype, but found A of type {A.dtype._scalar} "
            "and B "
            f"of type {B.dtype._scalar} instead"
        )
    if A.shape[-1] != B.shape[-2]:
        raise RuntimeError(
            f"{op}: Incompatible shapes of A and B for the equation AX = B "
            f"({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})"
        )
    _fit_batches(op, A, B)


def _fit_batches(op: str, A: Tensor, B: Tensor) -> None:
    batches = zip(reversed(A.shape[:-2]), reversed(B.shape[:-2]))
    for after, (a, b) in enumerate(batches, 1):
        if a != b and 1 not in (a, b):
            raise RuntimeError(
                f"{op}: The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                f"non-singleton dimension {max(A.ndim, B.ndim) - 2 - after}"
            )


def transform(op: str, input: Tensor, n: int | None, dim: int, norm: str | None) -> None:
    """A length that is not empty, along a dimension that is there."""
    need_dim(dim, input.ndim, f"{op}: ")
    size = input.shape[dim] if n is None else n
    if size < 1:
        raise RuntimeError(
            f"{op}: Invalid number of data points ({size}) specified; n is at least 1"
        )


def real_transform(op: str, input: Tensor, n: int | None, dim: int, norm: str | None) -> None:
    """Check the arguments of a transform of real numbers."""
    if input.is_complex():
        raise RuntimeError(
            f"{op} expects a real input tensor, but got {input.dtype._scalar}; use fft.fft"
        )
    transform(op, input, n, dim, norm)


def half_transform(op: str, input: Tensor, n: int | None, dim: int, norm: str | None) -> None:
    """Check the arguments of a transform of half a spectrum."""
    if n is None and -input.ndim <= dim < input.ndim:
        n = 2 * (input.shape[dim] - 1)
    transform(op, input, n, dim, norm)


def bins(op: str, self: Tensor, bins: int, low: Tensor, high: Tensor) -> None:
    """A histogram that can be made."""
    if bins <= 0:
        raise RuntimeError(f"{op}(): bins must be > 0, but got {bins}")
    if bins >= 1 << 60:
        raise RuntimeError(f"{op}(): Storage size calculation overflowed with bins={bins}")
    a, b = float(low), float(high)
    if not (abs(a) < float("inf") and abs(b) < float("inf")):
        raise RuntimeError(f"{op}(): range of [{a}, {b}] is not finite")
    if a > b:
        raise RuntimeError(f"{op}(): max must be larger than min, but got min {a} and max {b}")


def polar(op: str, abs: Tensor, angle: Tensor) -> None:
    """Floats of one dtype."""
    for x in (abs, angle):
        if not x.is_floating_point() or x.dtype is bfloat16:
            raise RuntimeError(
                "Expected both inputs to be Half, Float or Double tensors but got "
                f"{abs.dtype._scalar} and {angle.dtype._scalar}"
            )
    if abs.dtype != angle.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {abs.dtype._scalar} but got scalar type "
            f"{angle.dtype._scalar} for "
            f"second argument of {op}"
        )


def written(op: str, self: Tensor, index: Tensor, source: Tensor, *rest: Any) -> None:
    """Elements of one dtype, and a place for each."""
    if index.dtype != int64:
        raise RuntimeError(
            f"{op}(): Expected a long tensor for index, but got {index.dtype._scalar}"
        )
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"{op}(): self and source expected to have the same dtype, but got self.dtype = "
            f"{self.dtype._scalar} and source.dtype = {source.dtype._scalar}"
        )
    if index.numel() != source.numel():
        raise IndexError(
            f"{op}(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.numel()}, index.numel() = {index.numel()}"
        )


def positive_order(op: str, self: Tensor, p: int) -> None:
    """Check the order of a multivariate gamma function."""
    if p < 1:
        raise RuntimeError(f"{op}: p has to be greater than or equal to 1, but it is {p}")


def whole_matrices(op: str, A: Tensor, mode: str) -> None:
    """Check matrices and the mode of a QR decomposition."""
    matrices(op, A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', "
            "or 'complete'"
        )


def triangular(op: str, A: Tensor, B: Tensor, upper: bool, left: bool, *rest: Any) -> None:
    """Check the matrices of a triangular system."""
    square(op, A)
    if B.ndim < 2:
        raise RuntimeError(
            f"{op}: The input tensor B must have at least 2 dimensions, not {B.ndim}; make a "
            "matrix of a vector by unsqueeze(-1)"
        )
    if A.dtype != B.dtype:
        raise RuntimeError(
            f"{op}: Expected A and B to have the same dtype, but found A of type {A.dtype} and B "
            f"of type {B.dtype} instead"
        )
    if A.shape[-1] != B.shape[-2 if left else -1]:
        raise RuntimeError(
            f"{op}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})"
        )
    _fit_batches(op, A, B)


def reduced_dimension(op: str, self: Tensor, dim: int, *rest: Any) -> None:
    """Check that there is something along a dimension to choose from."""
    dim = need_dim(dim, max(self.ndim, 1))
    if self.ndim and not self.shape[dim]:
        raise IndexError(f"{op}(): Expected reduction dim {dim} to have non-zero size.")


def common_shape(op: str, self: Tensor, other: Tensor) -> None:
    """Check that the shapes of two operands have a common one."""
    a, b = self.shape, other.shape
    for after, (m, n) in enumerate(zip(reversed(a), reversed(b)), 1):
        if m != n and 1 not in (m, n):
            raise RuntimeError(
                f"{op}: The size of tensor a ({m}) must match the size of tensor b ({n}) at "
                f"non-singleton dimension {max(len(a), len(b)) - after} (shapes {list(a)}, "
                f"{list(b)})"
            )
