"""Attention alone, forward and with gradients; training steps of transformers; embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import integers, leaf, normal


def _attention(
    batch: int, heads: int, rows: int, width: int, backward: bool, **options
) -> Callable:
    def setup(torch: Any) -> Callable:
        shape = (batch, heads, rows, width)
        operands = [normal(torch, *shape, seed=seed) for seed in range(3)]
        grad = normal(torch, *shape, seed=3)
        function = torch.nn.functional.scaled_dot_product_attention
        if not backward:
            return lambda: function(*operands, **options)
        operands = [leaf(x) for x in operands]
        return lambda: torch.autograd.grad(function(*operands, **options), operands, grad)

    return setup


def _block(batch: int, rows: int, width: int, heads: int) -> Callable:
    """A training step of one layer of an encoder, its weights from NumPy."""

    def setup(torch: Any) -> Callable:
        layer = torch.nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True
        )
        with torch.no_grad():
            for seed, weight in enumerate(layer.parameters()):
                if weight.dim() > 1:
                    weight.copy_(normal(torch, *weight.shape, seed=seed) * width**-0.5)
                elif not bool((weight == 1).all()):  # the scales of a norm stay
                    weight.zero_()
        x, target = normal(torch, batch, rows, width, seed=50), normal(torch, batch, rows, width)
        update = torch.optim.SGD(layer.parameters(), lr=1e-3)

        def run() -> Any:
            update.zero_grad()
            loss = torch.nn.functional.mse_loss(layer(x), target)
            loss.backward()
            update.step()
            return loss

        return run

    return setup


def _embedding(count: int, rows: int, width: int) -> Callable:
    def setup(torch: Any) -> Callable:
        table = leaf(normal(torch, rows, width))
        indices = integers(torch, count, high=rows)
        grad = normal(torch, count, width, seed=1)

        def run() -> Any:
            result = torch.nn.functional.embedding(indices, table)
            return torch.autograd.grad(result, table, grad)

        return run

    return setup


CASES = [
    Case("attention 8 x 8 x 16 x 32", _attention(8, 8, 16, 32, False)),
    Case("attention 4 x 8 x 128 x 64", _attention(4, 8, 128, 64, False)),
    Case("attention 1 x 8 x 512 x 64, causal", _attention(1, 8, 512, 64, False, is_causal=True)),
    Case("attention with gradients 8 x 8 x 16 x 32", _attention(8, 8, 16, 32, True)),
    Case("attention with gradients 4 x 8 x 128 x 64", _attention(4, 8, 128, 64, True)),
    Case(
        "attention with gradients 1 x 8 x 512 x 64, causal",
        _attention(1, 8, 512, 64, True, is_causal=True),
    ),
    Case("encoder layer, 8 x 16 x 64, SGD", _block(8, 16, 64, 4)),
    Case("encoder layer, 8 x 64 x 256, SGD", _block(8, 64, 256, 8)),
    Case("embedding with gradient, 512 of 1000 x 64", _embedding(512, 1000, 64)),
]
