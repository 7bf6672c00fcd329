"""Functions of the older interface that programs still name."""

from __future__ import annotations

from math import prod

from autograd_cy.autograd.function import Function

__all__ = ["Resize"]


class Resize(Function):
    """View the elements in another shape; new code uses ``reshape``."""

    @staticmethod
    def forward(ctx, tensor, sizes):
        ctx.sizes = tensor.shape
        if prod(sizes) != tensor.numel():
            raise RuntimeError(
                f"requested resize to {'x'.join(map(str, sizes))} ({prod(sizes)} elements in "
                f"total), but the given tensor has a size of {'x'.join(map(str, tensor.shape))} "
                f"({tensor.numel()} elements). autograd's resize can only change the shape of a "
                "given tensor, while preserving the number of elements."
            )
        return tensor.contiguous().view(sizes)

    @staticmethod
    def backward(ctx, grad):
        return grad.contiguous().view(ctx.sizes), None
