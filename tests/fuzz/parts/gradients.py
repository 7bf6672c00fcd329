"""First and second derivatives of operators at random points, from several sides.

Along random directions: the slope by central differences, reverse mode, forward mode; and for the
second order, differences of the gradient against reverse over reverse. Everything in float64.
"""

from dataclasses import dataclass

import numpy as np

from .. import operators
from ..case import PRELUDE, REFUSALS, Result, Wrong, choice
from ..values import to_array

STEP = 1e-6
# A step may cross one of their jumps or kinks, which are everywhere.
UNSMOOTH = frozenset(
    "median nanmedian topk sort argsort threshold round floor ceil fmod remainder".split()
)


@dataclass(frozen=True)
class Slope:
    """An operator in float64, and a seed for the directions."""

    operation: operators.Operation
    seed: int

    @property
    def title(self):
        return self.operation.name

    def source(self):
        call = self.operation.source(["float64"] * len(self.operation.inputs))
        return f"{PRELUDE}{call}\nprint(result)\n"


def smooth_records():
    """Records with a derivative, real input and a function."""
    return [
        r
        for r in operators.records()
        if r.derivatives.differentiable and "f" in r.call.dtypes and r.name not in UNSMOOTH
    ]


def make(rng):
    record = choice(rng, smooth_records())
    operation = operators.random_operation(rng, record, dtype="float64", plain=True)
    return Slope(operation, int(rng.integers(2**32)))


def run(case, lib):
    operation, rng = case.operation, np.random.default_rng(case.seed)
    leaves = [x.tensor(lib).detach() for x in operation.inputs]
    if sum(t.numel() for t in leaves) > 3000:
        return Result("refused", "too large for differences")
    moving = [i for i, x in enumerate(operation.inputs) if x.requires_grad and leaves[i].numel()]
    if not moving:
        return Result()

    def value(tensors):
        lib.manual_seed(0)
        found = operation.call(lib, list(tensors))
        parts = found if isinstance(found, (tuple, list)) else [found]
        parts = [p for p in parts if p.dtype.is_floating_point]
        lib.manual_seed(1)
        return sum(
            ((p * lib.rand(p.shape, dtype=p.dtype)).sum() for p in parts),
            lib.zeros((), dtype=lib.float64),
        )

    try:
        with lib.no_grad():
            value(leaves)
    except REFUSALS as error:
        return Result("refused", f"{type(error).__name__}: {error}")
    steps = {i: lib.from_numpy(rng.standard_normal(leaves[i].shape)) for i in moving}

    def gradient(tensors, create_graph=False):
        given = [t.detach().requires_grad_(i in steps) for i, t in enumerate(tensors)]
        out = value(given)
        wanted = [given[i] for i in moving]
        if not out.requires_grad:
            return given, [lib.zeros_like(t) for t in wanted]
        return given, lib.autograd.grad(
            out, wanted, create_graph=create_graph, allow_unused=True, materialize_grads=True
        )

    def moved(size):
        return [t + size * steps[i] if i in steps else t for i, t in enumerate(leaves)]

    def along(gradients):
        return sum((g * steps[i]).sum().item() for g, i in zip(gradients, moving))

    try:
        _, first = gradient(leaves)
    except RuntimeError as error:
        if "not differentiable" not in str(error):
            raise
        return Result("refused", str(error))  # as qr(mode="complete") of a tall matrix
    derivative = along(first)
    with lib.no_grad():
        values = [value(moved(size)).item() for size in (-STEP, 0.0, STEP)]
    size = sum((g.abs() * steps[i].abs()).sum().item() for g, i in zip(first, moving))
    _compare("reverse mode", derivative, values, size)
    _check_forward(case, lib, value, leaves, steps, derivative, size)
    _check_second(lib, gradient, moved, leaves, steps, moving, along)
    return Result(values=[to_array(g) for g in first])


def _compare(what, found, values, size):
    """
    `found` against the difference of the values behind, at and ahead of a point.

    Differences are exact to about the square of the step, and to rounding over the step. Where
    those of both sides are not one, there is a kink, or an end of a domain.
    """
    behind, here, ahead = values
    wanted, scale = (ahead - behind) / (2 * STEP), max(abs(ahead), 1.0)
    if not (np.isfinite(found) and np.isfinite(wanted)):
        if np.isfinite(wanted):
            raise Wrong(f"{what} gives {found}, differences {wanted}")
        return
    bound = 1e-5 * (1 + size) + 1e-9 * scale / STEP * 1e-4
    if abs(found - wanted) > bound * 10:
        if abs((ahead - here) - (here - behind)) / STEP > abs(found - wanted):
            return
        raise Wrong(f"{what} gives {found:.9g}, differences {wanted:.9g} (within {bound:.2g})")


def _check_forward(case, lib, value, leaves, steps, derivative, size):
    fw = lib.autograd.forward_ad
    try:
        with fw.dual_level():
            out = value(
                [fw.make_dual(t, steps[i]) if i in steps else t for i, t in enumerate(leaves)]
            )
            tangent = fw.unpack_dual(out).tangent
    except NotImplementedError:
        return
    found = 0.0 if tangent is None else tangent.item()
    if np.isfinite(derivative) and abs(found - derivative) > 1e-9 * (1 + size):
        raise Wrong(f"forward mode gives {found!r}, reverse mode {derivative!r}")


def _check_second(lib, gradient, moved, leaves, steps, moving, along):
    given, first = gradient(leaves, create_graph=True)
    total = sum((g * steps[i]).sum() for g, i in zip(first, moving))
    if not (isinstance(total, lib.Tensor) and total.requires_grad):
        second = [lib.zeros_like(leaves[i]) for i in moving]
    else:
        try:
            second = lib.autograd.grad(
                total, [given[i] for i in moving], allow_unused=True, materialize_grads=True
            )
        except RuntimeError as error:
            if "not implemented" in str(error) or "Double backward" in str(error):
                return
            raise
    curvature = along(second)
    derivatives = [along(gradient(moved(step))[1]) for step in (-STEP, 0.0, STEP)]
    size = sum((g.abs() * steps[i].abs()).sum().item() for g, i in zip(second, moving))
    _compare("the second derivative", curvature, derivatives, size)
