"""The normalisation that transformers use."""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor, ones, zeros

from .module import Module
from .parameter import Parameter

__all__ = ["LayerNorm"]


class LayerNorm(Module):
    """Rows with mean 0 and variance 1, times a weight, plus a bias."""

    def __init__(
        self,
        width: int,
        eps: float = 1e-5,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (width,)
        self.eps = eps
        self.elementwise_affine = True
        self.weight = Parameter(ones(width, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(zeros(width, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalised rows."""
        centred = input - input.mean(-1, keepdim=True)
        scale = ((centred * centred).mean(-1, keepdim=True) + self.eps).rsqrt()
        result = centred * scale * self.weight
        return result if self.bias is None else result + self.bias

    def extra_repr(self) -> str:
        """Return shape and options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )
