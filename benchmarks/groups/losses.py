"""Losses: forward and backward of one loss, small (calls count) and large (memory counts).

The goal is less time than PyTorch's eager mode everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, uniform

SMALL, LARGE = (32, 10), (1024, 1024)
HALF = (512, 1024)


def _pair(torch: Any, shape: tuple[int, ...], dtype: str = "float32") -> tuple[Any, Any]:
    """Two tensors of numbers between 0 and 1."""
    first, second = (uniform(torch, *shape, low=0.1, high=0.9, seed=seed) for seed in (0, 1))
    return first.to(getattr(torch, dtype)), second.to(getattr(torch, dtype))


def _loss(
    name: str, shape: tuple[int, ...], backward: bool, dtype: str = "float32", **options: Any
) -> Callable:
    def setup(torch: Any) -> Callable:
        function = getattr(torch.nn.functional, name)
        x, y = _pair(torch, shape, dtype)
        if not backward:
            return lambda: function(x, y, **options)
        x = leaf(x)

        def run() -> Any:
            x.grad = None
            function(x, y, **options).backward()
            return x.grad

        return run

    return setup


def _weighted(torch: Any) -> Callable:
    x, y = _pair(torch, LARGE)
    x = leaf(x)
    weight = _pair(torch, (LARGE[1],))[0]

    def run() -> Any:
        x.grad = None
        loss = torch.nn.functional.binary_cross_entropy_with_logits(x, y, pos_weight=weight)
        loss.backward()
        return x.grad

    return run


def _vectors(name: str, shape: tuple[int, ...], count: int, reduced: bool) -> Callable:
    """A distance, or a loss made of distances, and its gradients."""

    def setup(torch: Any) -> Callable:
        function = getattr(torch.nn.functional, name)
        tensors = [leaf(uniform(torch, *shape, seed=seed)) for seed in range(count)]

        def run() -> Any:
            for t in tensors:
                t.grad = None
            value = function(*tensors)
            (value if reduced else value.sum()).backward()
            return tensors[0].grad

        return run

    return setup


def _classes(torch: Any) -> Callable:
    x = leaf(uniform(torch, *LARGE))
    target = torch.arange(LARGE[0]) % LARGE[1]

    def run() -> Any:
        x.grad = None
        torch.nn.functional.multi_margin_loss(x, target).backward()
        return x.grad

    return run


ONE_PASS = {
    "l1_loss": {},
    "smooth_l1_loss": {},
    "huber_loss": {},
    "mse_loss": {},
    "binary_cross_entropy": {},
    "binary_cross_entropy_with_logits": {},
    "kl_div": {"reduction": "batchmean"},
    "soft_margin_loss": {},
}

CASES = [
    *(
        Case(f"{name}, {'x'.join(map(str, shape))}{way}", _loss(name, shape, back, **options))
        for name, options in ONE_PASS.items()
        for shape in (SMALL, LARGE)
        for back, way in ((False, ", forward"), (True, ", forward and backward"))
    ),
    *(
        Case(f"{name}, {dtype}", _loss(name, HALF, True, dtype))
        for name in ("smooth_l1_loss", "binary_cross_entropy_with_logits")
        for dtype in ("float64", "bfloat16")
    ),
    Case("binary_cross_entropy_with_logits, pos_weight", _weighted),
    *(
        Case(f"{name}, {'x'.join(map(str, shape))}", _vectors(name, shape, count, count == 3))
        for name, count in (
            ("cosine_similarity", 2),
            ("pairwise_distance", 2),
            ("triplet_margin_loss", 3),
        )
        for shape in ((32, 16), (1024, 512))
    ),
    Case("multi_margin_loss, 1024x1024", _classes),
]
