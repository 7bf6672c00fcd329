"""Transformations: forward mode, vmap and the functions of ``func``, small and large.

Small cases show what a transformation costs for itself, large ones what its operators do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import normal, uniform


def _func(torch: Any) -> Any:
    """Return the module of transformations; it isn't imported with the library."""
    import importlib

    return importlib.import_module(f"{torch.__name__}.func")


def _rosenbrock(torch: Any, x: Any) -> Any:
    a, b = x[1:], x[:-1]
    return (100.0 * (a - b * b) ** 2 + (1.0 - b) ** 2).sum()


def _jvp_chain(torch: Any) -> Callable:
    x, t = uniform(torch, 4), uniform(torch, 4, seed=1)
    c = uniform(torch, 4, low=0.99, high=1.01, seed=2)
    jvp = _func(torch).jvp

    def chain(y: Any) -> Any:
        for _ in range(100):
            y = y * c
        return y

    return lambda: jvp(chain, (x,), (t,))


def _jvp_powers(torch: Any) -> Callable:
    x, t = uniform(torch, 4, low=0.99, high=1.01), uniform(torch, 4, seed=1)
    jvp = _func(torch).jvp

    def powers(x: Any) -> Any:
        y = x
        for _ in range(100):
            y = y * x
        return y

    return lambda: jvp(powers, (x,), (t,))


def _dual_chain(torch: Any) -> Callable:
    import importlib

    forward_ad = importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    x, t = uniform(torch, 4), uniform(torch, 4, seed=1)
    c = uniform(torch, 4, low=0.99, high=1.01, seed=2)

    def run() -> Any:
        with forward_ad.dual_level():
            y = forward_ad.make_dual(x, t)
            for _ in range(100):
                y = y * c
            return forward_ad.unpack_dual(y).tangent

    return run


def _jvp_large(torch: Any) -> Callable:
    x, t = uniform(torch, 1_000_000), uniform(torch, 1_000_000, seed=1)
    jvp = _func(torch).jvp
    return lambda: jvp(lambda y: (y.sin() * y).exp(), (x,), (t,))


def _grad_small(torch: Any) -> Callable:
    x, grad = uniform(torch, 4), _func(torch).grad
    return lambda: grad(lambda y: (y * y).sum())(x)


def _vmap_small(torch: Any) -> Callable:
    x, y, vmap = uniform(torch, 8, 4), uniform(torch, 8, 4, seed=1), _func(torch).vmap
    return lambda: vmap(lambda a, b: (a * b).sum())(x, y)


def _per_sample(batch: int, width: int) -> Callable:
    def setup(torch: Any) -> Callable:
        func = _func(torch)
        params = {
            "w1": normal(torch, width, width) * 0.1,
            "b1": normal(torch, width, seed=1) * 0.1,
            "w2": normal(torch, 10, width, seed=2) * 0.1,
            "b2": normal(torch, 10, seed=3) * 0.1,
        }
        x, target = normal(torch, batch, width, seed=4), normal(torch, batch, 10, seed=5)

        def loss(params: Any, x: Any, target: Any) -> Any:
            h = torch.tanh(params["w1"] @ x + params["b1"])
            y = params["w2"] @ h + params["b2"]
            return ((y - target) ** 2).mean()

        gradients = func.vmap(func.grad(loss), in_dims=(None, 0, 0))

        def run() -> Any:
            found = gradients(params, x, target)
            return found["w1"], found["b2"]

        return run

    return setup


def _jacobian(kind: str, size: int) -> Callable:
    def setup(torch: Any) -> Callable:
        x, w = normal(torch, size), normal(torch, size, size, seed=1) / size**0.5
        transform = getattr(_func(torch), kind)
        return lambda: transform(lambda y: torch.tanh(w @ y))(x)

    return setup


def _hessian(size: int) -> Callable:
    def setup(torch: Any) -> Callable:
        x, hessian = uniform(torch, size), _func(torch).hessian
        return lambda: hessian(lambda y: _rosenbrock(torch, y))(x)

    return setup


def _batched_hessian(torch: Any) -> Callable:
    x, func = uniform(torch, 64, 8), _func(torch)
    return lambda: func.vmap(func.hessian(lambda y: _rosenbrock(torch, y)))(x)


def _hvp(size: int) -> Callable:
    def setup(torch: Any) -> Callable:
        x, v, func = uniform(torch, size), normal(torch, size, seed=1), _func(torch)
        gradient = func.grad(lambda y: _rosenbrock(torch, y))
        return lambda: func.jvp(gradient, (x,), (v,))[1]

    return setup


def _hvp_reverse(size: int) -> Callable:
    def setup(torch: Any) -> Callable:
        x, v, func = uniform(torch, size), normal(torch, size, seed=1), _func(torch)
        gradient = func.grad(lambda y: _rosenbrock(torch, y))
        return lambda: func.vjp(gradient, x)[1](v)[0]

    return setup


CASES = [
    # Torch takes 0.4 ms for a dual times a tensor without tangent, 15 us if both have one.
    Case("jvp of 100 multiplications by a constant", _jvp_chain),
    Case("dual level, 100 multiplications by a constant", _dual_chain),
    Case("jvp of 100 multiplications of duals", _jvp_powers),
    Case("jvp of 1e6 elements", _jvp_large),
    Case("grad, smallest", _grad_small),
    Case("vmap, smallest", _vmap_small),
    Case("per-sample gradients 64 x 32", _per_sample(64, 32)),
    Case("per-sample gradients 256 x 128", _per_sample(256, 128)),
    Case("jacrev 10", _jacobian("jacrev", 10)),
    Case("jacrev 1000", _jacobian("jacrev", 1000)),
    Case("jacfwd 10", _jacobian("jacfwd", 10)),
    Case("jacfwd 1000", _jacobian("jacfwd", 1000)),
    Case("hessian 10", _hessian(10)),
    Case("hessian 1000", _hessian(1000)),
    Case("64 hessians of 8", _batched_hessian),
    Case("hvp forward over reverse 10", _hvp(10)),
    Case("hvp forward over reverse 1e5", _hvp(100_000)),
    Case("hvp reverse over reverse 10", _hvp_reverse(10)),
]
