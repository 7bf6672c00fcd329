"""Derivatives of functions: Jacobians, Hessians, their products with vectors, gradcheck.

Sizes are those of the input; up to 1000 the calls cost more than the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import normal, uniform


def _elementwise(x: Any) -> Any:
    return x.exp() * x.sum()


def _energy(x: Any) -> Any:
    return (x.sin() * x).sum() + (x * x).sum().exp()


def _jacobian(size: int, **options: Any) -> Callable:
    def setup(torch: Any) -> Callable:
        x = uniform(torch, size) / size
        return lambda: torch.autograd.functional.jacobian(_elementwise, x, **options)

    return setup


def _layer_jacobian(**options: Any) -> Callable:
    """Return the Jacobian of a layer with 10 outputs for 300 inputs, or the other way round."""

    def setup(torch: Any) -> Callable:
        tall = options.get("strategy") == "forward-mode"
        rows, columns = (300, 10) if tall else (10, 300)
        weight, x = normal(torch, rows, columns) / columns, normal(torch, columns, seed=1)

        def layer(x: Any) -> Any:
            return torch.tanh(torch.mv(weight, x))

        return lambda: torch.autograd.functional.jacobian(layer, x, **options)

    return setup


def _hessian(size: int, **options: Any) -> Callable:
    def setup(torch: Any) -> Callable:
        x = uniform(torch, size) / size
        return lambda: torch.autograd.functional.hessian(_energy, x, **options)

    return setup


def _product(name: str, size: int, own: dict[str, Any] | None = None) -> Callable:
    """Return a product with a vector; `own` are options that only this library has."""

    def setup(torch: Any) -> Callable:
        x, v = uniform(torch, size) / size, normal(torch, size, seed=1)
        function = getattr(torch.autograd.functional, name)
        options = own if own and torch.__name__ == "autograd_cy" else {}
        target = _energy if name in ("hvp", "vhp") else _elementwise
        return lambda: function(target, x, v, **options)

    return setup


def _network_hvp(own: dict[str, Any]) -> Callable:
    """Return the curvature of the loss of a network with 64 hidden units, along a direction."""

    def setup(torch: Any) -> Callable:
        x, y = normal(torch, 32, 64), normal(torch, 32, 10, seed=1)
        shapes = ((64, 64), (64, 64), (64, 10))
        weights = tuple(normal(torch, *s, seed=k) / 8 for k, s in enumerate(shapes))
        directions = tuple(normal(torch, *s, seed=k + 9) for k, s in enumerate(shapes))
        options = own if torch.__name__ == "autograd_cy" else {}

        def loss(a: Any, b: Any, c: Any) -> Any:
            hidden = torch.tanh(torch.mm(torch.tanh(torch.mm(x, a)), b))
            return ((torch.mm(hidden, c) - y) ** 2).mean()

        return lambda: torch.autograd.functional.hvp(loss, weights, directions, **options)

    return setup


def _gradcheck(second: bool = False, **options: Any) -> Callable:
    def setup(torch: Any) -> Callable:
        double = torch.float64
        x = normal(torch, 4, 3).to(double).requires_grad_(True)
        a = normal(torch, 3, 5, seed=1).to(double).requires_grad_(True)
        b = normal(torch, 5, 2, seed=2).to(double).requires_grad_(True)
        check = torch.autograd.gradgradcheck if second else torch.autograd.gradcheck

        def network(x: Any, a: Any, b: Any) -> Any:
            return torch.mm(torch.tanh(torch.mm(x, a)), b)

        def run() -> Any:
            return torch.tensor(float(check(network, (x, a, b), **options)))

        return run

    return setup


_FORWARD = {"vectorize": True, "strategy": "forward-mode"}
_OUTER_FORWARD = {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}

CASES = [
    Case("jacobian, loop, 30", _jacobian(30)),
    Case("jacobian, loop, 300", _jacobian(300)),
    Case("jacobian, loop, 1000", _jacobian(1000)),
    Case("jacobian, vectorised, 30", _jacobian(30, vectorize=True)),
    Case("jacobian, vectorised, 300", _jacobian(300, vectorize=True)),
    Case("jacobian, vectorised, 1000", _jacobian(1000, vectorize=True)),
    Case("jacobian, forward, 30", _jacobian(30, **_FORWARD)),
    Case("jacobian, forward, 300", _jacobian(300, **_FORWARD)),
    Case("jacobian, forward, 1000", _jacobian(1000, **_FORWARD)),
    Case("jacobian of a layer, 300 to 10, loop", _layer_jacobian()),
    Case("jacobian of a layer, 300 to 10, vectorised", _layer_jacobian(vectorize=True)),
    Case("jacobian of a layer, 10 to 300, forward", _layer_jacobian(**_FORWARD)),
    Case("hessian, loop, 30", _hessian(30)),
    Case("hessian, loop, 300", _hessian(300)),
    Case("hessian, vectorised, 30", _hessian(30, vectorize=True)),
    Case("hessian, vectorised, 300", _hessian(300, vectorize=True)),
    Case("hessian, forward, 30", _hessian(30, **_OUTER_FORWARD)),
    Case("hessian, forward, 300", _hessian(300, **_OUTER_FORWARD)),
    Case("vjp, 1000", _product("vjp", 1000)),
    Case("jvp, 1000", _product("jvp", 1000)),
    Case("vhp, 1000", _product("vhp", 1000)),
    Case("hvp, 1000", _product("hvp", 1000)),
    Case("hvp, auto, 1000", _product("hvp", 1000, {"strategy": "auto"})),
    Case("hvp of a network", _network_hvp({})),
    Case("hvp of a network, auto", _network_hvp({"strategy": "auto"})),
    Case("gradcheck of a network", _gradcheck()),
    Case("gradcheck of a network, fast", _gradcheck(fast_mode=True)),
    Case("gradgradcheck of a network", _gradcheck(second=True)),
    Case("gradgradcheck of a network, fast", _gradcheck(second=True, fast_mode=True)),
]
