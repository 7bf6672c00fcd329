"""Usual parametrizations: weights of fixed norm, of spectral norm one, orthogonal ones."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_cy as _operators
from autograd_cy import Tensor, cat, eye, from_numpy, no_grad, vdot
from autograd_cy._tensors.predicates import need_dim

from ..module import Module
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def norm_except(weight: Tensor, dim: int | None) -> Tensor:
    """
    Return the norms of the slices along a dimension, with sizes that broadcast.

    None or -1 takes the norm of all elements; other negative numbers count from the end.
    """
    return _operators.norm_except_dim(weight, 2, -1 if dim is None else dim)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0):
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """
    Compute a weight as ``g * v / norm(v)``.

    Salimans and Kingma, "Weight normalization" (2016). The norms are of slices along `dim`.

    Parameters
    ----------
    module : Module
        What owns the weight.
    name : str, default "weight"
        Its name.
    dim : int or None, default 0
        None takes one norm of all elements.

    Returns
    -------
    Module
        The module.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 2))
    >>> layer.parametrizations.weight.original0.shape
    autograd_cy.Size([2, 1])
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(module: Module, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Files of the older `weight_norm` have other names."""
        for old, new in (("g", 0), ("v", 1)):
            key = f"{prefix}{name}_{old}"
            if key in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.original{new}"] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
    return module


def unit(vector: Tensor, eps: float) -> Tensor:
    """Return a vector divided by its norm, which isn't taken smaller than `eps`."""
    return vector / _operators.linalg.vector_norm(vector).clamp(min=eps)


def put_unit(target: Tensor, vector: Tensor, eps: float) -> None:
    """
    Write ``unit(vector, eps)`` over a tensor that a module keeps.

    By `out=`, which functions that are transformed may use with tensors that aren't theirs.
    """
    vector = vector.detach()
    _operators.div(vector, _operators.linalg.vector_norm(vector).clamp(min=eps), out=target)


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float):
        super().__init__()
        dim = need_dim(dim, weight.dim())
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim
        self.eps = eps
        if weight.dim() > 1:
            self.n_power_iterations = n_power_iterations
            with no_grad():
                matrix = self._matrix(weight)
                rows, columns = matrix.shape
                self.register_buffer("_u", unit(matrix.new_empty(rows).normal_(0, 1), eps))
                self.register_buffer("_v", unit(matrix.new_empty(columns).normal_(0, 1), eps))
                self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        others = [d for d in range(weight.dim()) if d != self.dim]
        return weight.permute(self.dim, *others).flatten(1)

    def _iterate(self, matrix: Tensor, times: int) -> None:
        """Steps of the power method, in place, for the first singular vectors."""
        with no_grad():
            for _ in range(times):
                put_unit(self._u, matrix.mv(self._v), self.eps)
                put_unit(self._v, matrix.mH.mv(self._u), self.eps)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            return unit(weight, self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        # Copies: several forwards before a backward would change what was saved.
        u, v = self._u.clone(), self._v.clone()
        return weight / vdot(u, matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value  # whose norm may be wrong, which forward mends


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """
    Divide a weight by its largest singular value, which the power method follows.

    Miyato and others, "Spectral normalization for generative adversarial networks" (2018).

    Parameters
    ----------
    module : Module
        What owns the weight.
    name : str, default "weight"
        Its name.
    n_power_iterations : int, default 1
        Steps of the power method in each forward that trains.
    eps : float, default 1e-12
        Norms aren't taken smaller than this.
    dim : int, optional
        The dimension of outputs: 1 for transposed convolutions, else 0.

    Returns
    -------
    Module
        The module.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(3, 2))
    >>> for key in layer.state_dict():
    ...     print(key)
    bias
    parametrizations.weight.original
    parametrizations.weight.0._u
    parametrizations.weight.0._v
    """
    weight = _tensor_of(module, name)
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    return register_parametrization(
        module, name, _SpectralNorm(weight, n_power_iterations, dim, eps)
    )


def _tensor_of(module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


#: Coefficients of the diagonal Pade approximant of exp of order 13 (Higham, 2005).
_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
    129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0,
    960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip


def _matrix_exp(a: Tensor) -> Tensor:
    """The exponential of a square matrix, by scaling and squaring."""
    with no_grad():
        norm = a.abs().sum(-2).amax().item()
    halvings = 0
    while norm > 5.37:  # within this the approximant is exact to double precision
        norm, halvings = norm / 2, halvings + 1
    a = a / 2**halvings
    one = eye(a.shape[-1], dtype=a.dtype, device=a.device)
    power, even, odd = one, _PADE[0] * one, _PADE[1] * one
    square = a @ a
    for i in range(2, 14, 2):
        power = power @ square
        even, odd = even + _PADE[i] * power, odd + _PADE[i + 1] * power
    odd = a @ odd
    exponential = _operators.linalg.solve(even - odd, even + odd)
    for _ in range(halvings):
        exponential = exponential @ exponential
    return exponential


def _reflections(a: Tensor) -> Tensor:
    """The product of the Householder reflections whose vectors are below the diagonal."""
    rows, columns = a.shape[-2:]
    vectors = a.tril(-1) + eye(rows, columns, dtype=a.dtype, device=a.device)
    scales = 2.0 / (1.0 + (a.tril(-1) ** 2).sum(-2))
    product = eye(rows, columns, dtype=a.dtype, device=a.device)
    for i in reversed(range(columns)):
        v = vectors[..., :, i : i + 1]
        product = product - scales[..., i, None, None] * v @ (v.transpose(-2, -1) @ product)
    return product


class _Orthogonal(Module):
    def __init__(self, weight: Tensor, how: str, use_trivialization: bool):
        super().__init__()
        self.how = how
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        n, k = x.shape[-2:]
        wide = n < k
        if wide:
            x, n, k = x.transpose(-2, -1), k, n
        if self.how == "householder":
            # The signs of the diagonal are those of the columns.
            q = _reflections(x) * x.detach().diagonal(dim1=-2, dim2=-1).trunc().unsqueeze(-2)
        else:
            # A skew-symmetric matrix, of whose orthogonal map the first columns are taken.
            a = x.tril()
            if n != k:
                a = cat([a, a.new_zeros((*a.shape[:-1], n - k))], -1)
            a = a - a.transpose(-2, -1)
            if self.how == "matrix_exp":
                q = _matrix_exp(a)
            else:
                one = eye(n, dtype=a.dtype, device=a.device)
                q = _operators.linalg.solve(one - 0.5 * a, one + 0.5 * a)
            q = q[..., :k]
        if getattr(self, "base", None) is not None:
            q = self.base @ q
        return q.transpose(-2, -1) if wide else q

    def right_inverse(self, value: Tensor) -> Tensor:
        wide = value.shape[-2] < value.shape[-1]
        q = (value.transpose(-2, -1) if wide else value).detach()
        n, k = q.shape[-2:]
        values = q.double().cpu().numpy()
        gram = np.swapaxes(values, -2, -1) @ values
        if not np.allclose(gram, np.eye(k), atol=10 * n * np.finfo(np.float32).eps):
            values, r = np.linalg.qr(values)
            values = values * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :]
        if hasattr(self, "base"):
            full = values
            if n != k:
                # Columns that make it square.
                full = np.linalg.qr(values, "complete")[0]
                full[..., :, :k] = values
            self.base = from_numpy(np.ascontiguousarray(full)).to(value)
            # The map of this is the unit matrix.
            preimage = value.new_zeros(q.shape)
            preimage.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        elif self.how != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        else:
            raw = np.stack([_vectors(x) for x in values.reshape(-1, n, k)]).reshape(values.shape)
            preimage = from_numpy(np.ascontiguousarray(raw)).to(value)
        return preimage.transpose(-2, -1) if wide else preimage


def _vectors(matrix: np.ndarray) -> np.ndarray:
    """Householder vectors of an orthogonal matrix, with signs of its columns on the diagonal."""
    packed, scales = np.linalg.qr(matrix, "raw")
    vectors = packed.T.copy()
    signs = np.sign(np.diagonal(vectors)) * np.where(scales == 0, -1.0, 1.0)
    np.fill_diagonal(vectors, signs)
    return vectors


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """
    Keep a weight orthogonal: its columns orthonormal, or its rows if these are fewer.

    Lezcano-Casado, "Trivializations for gradient-based optimization on manifolds" (2019).

    Parameters
    ----------
    module : Module
        What owns the weight.
    name : str, default "weight"
        Its name.
    orthogonal_map : {"matrix_exp", "cayley", "householder"}, optional
        What makes an orthogonal matrix of any; by default ``"matrix_exp"`` for square ones, else
        ``"householder"``.
    use_trivialization : bool, default True
        Whether that matrix multiplies a fixed one, ``base``; then the weight begins as the nearest
        to what it was, and values can be assigned.

    Returns
    -------
    Module
        The module.

    Raises
    ------
    ValueError
        If the weight is no matrix, or there is no such map.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(3, 2))
    >>> torch.testing.assert_close(layer.weight @ layer.weight.t(), torch.eye(2))
    """
    weight = _tensor_of(module, name)
    if weight.dim() < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: '
            f"{orthogonal_map}"
        )
    if weight.is_complex():
        raise ValueError("orthogonal: weights of complex numbers aren't supported")
    parametrization = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, parametrization, unsafe=True)
