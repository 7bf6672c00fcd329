"""Functions under older names."""

from __future__ import annotations

from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted import linalg
from autograd_cy._tensors.namespace import adjoint


def qr(self: Tensor, some: bool) -> tuple[Tensor, Tensor]:
    result = linalg.qr(self, "reduced" if some else "complete")
    _warn(
        "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future "
        "PyTorch release.\nThe boolean parameter 'some' has been replaced with a string parameter "
        "'mode'.\nQ, R = torch.qr(A, some)\nshould be replaced with\n"
        "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
    )
    return result


def svd(self: Tensor, some: bool, compute_uv: bool) -> tuple[Tensor, Tensor, Tensor]:
    if compute_uv:
        U, S, Vh = linalg.svd(self, not some)
        return U, S, adjoint(Vh)
    S = linalg.svdvals(self)
    rows, columns = self.shape[-2:]
    batch = self.shape[:-2]
    return self.new_zeros((*batch, rows, rows)), S, self.new_zeros((*batch, columns, columns))


def pinverse(self: Tensor, rcond: float) -> Tensor:
    return linalg.pinv(self, rcond)
