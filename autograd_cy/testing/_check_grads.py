"""check_grads: derivatives to any order along random directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd_cy._C.random import Generator as _Generator
from autograd_cy._C.tensor import Tensor
from autograd_cy.autograd._arguments import gradients
from autograd_cy.autograd._consistency import _random_like
from autograd_cy.autograd._differences import (
    GradcheckError,
    Subject,
    as_outputs,
    is_smooth,
    restored,
)
from autograd_cy.autograd._pushforward import push
from autograd_cy.autograd.grad_mode import enable_grad

_NAMES = {"fwd": "forward mode", "rev": "reverse mode"}


def check_grads(
    f: Callable[..., Any],
    args: Tensor | Sequence[Any],
    order: int = 2,
    modes: str | Sequence[str] = ("fwd", "rev"),
    *,
    eps: float = 1e-6,
    atol: float = 1e-6,
    rtol: float = 1e-5,
    seed: int = 0,
) -> None:
    r"""
    Check the derivatives of a function to any order, along random directions.

    For random directions `u` of the arguments and `v` of the outputs, the derivative
    :math:`J u \approx (f(x + \epsilon u) - f(x - \epsilon u)) / 2 \epsilon` is compared with the
    tangent that forward mode gives, and :math:`\langle v, J u \rangle` with
    :math:`\langle J^* v, u \rangle`, where :math:`J^* v` is what reverse mode gives. The tangent
    and the gradient are functions of the arguments themselves: they are checked in the same way,
    until `order` is reached. The cost doesn't grow with the number of elements.

    Parameters
    ----------
    f : callable
        Takes the arguments, returns a Tensor or a tuple of Tensors.
    args : Tensor or sequence
        Tensors of floating or complex dtype, in double precision; anything else is passed on. They
        are copied.
    order : int, default 2
        The highest derivative.
    modes : {"fwd", "rev"} or a sequence of them
        What to check. For higher orders every sequence of the modes is.
    eps : float, default 1e-6
        The step.
    atol, rtol : float
        Absolute and relative tolerance.
    seed : int, default 0
        Of the directions.

    Raises
    ------
    GradcheckError
        If a derivative is wrong; it says which one, as in "order 2: forward mode over reverse
        mode".
    ValueError
        For unknown modes, an order below 1, or arguments without anything to differentiate.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.tensor([0.5, 2.0], dtype=ag.float64)
    >>> ag.testing.check_grads(lambda x: x.log() * x.sum(), x, order=3)
    """
    chosen = (modes,) if isinstance(modes, str) else tuple(modes)
    if not chosen or any(mode not in _NAMES for mode in chosen):
        raise ValueError(f'check_grads: modes must be "fwd" and "rev", got {modes!r}')
    if order < 1:
        raise ValueError(f"check_grads: order must be at least 1, got {order}")
    inputs = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    copies = tuple(x.detach().clone().requires_grad_() if is_smooth(x) else x for x in inputs)
    if not Subject(f, copies).places:
        raise ValueError("check_grads: no argument is a Tensor of floating or complex dtype")
    check = _Check(copies, chosen, eps, atol, rtol, _Generator().manual_seed(seed))
    check.run(f, order, ())


class _Check:
    """The settings that stay the same from order to order."""

    def __init__(self, args, modes, eps, atol, rtol, source):
        self.args, self.modes, self.source = args, modes, source
        self.eps, self.atol, self.rtol = eps, atol, rtol

    def run(self, f, order, chain):
        """Check `f`, which the modes in `chain` made of the user's function."""
        subject = Subject(f, self.args)
        outputs = subject.outputs()
        wanted = [j for j, out in enumerate(outputs) if is_smooth(out)]
        outputs = [outputs[j] for j in wanted]
        steps = {i: _random_like(self.source, self.args[i]) for i in subject.places}
        derivatives = self.derivatives(subject, steps, wanted)
        if "fwd" in self.modes:
            self.forward(subject, wanted, outputs, steps, derivatives, chain)
        vectors = [_random_like(self.source, out) for out in outputs]
        if "rev" in self.modes:
            self.reverse(subject, outputs, vectors, steps, derivatives, chain)
        if order > 1:
            for mode in self.modes:
                self.run(
                    self.derivative(f, mode, wanted, vectors, steps), order - 1, (*chain, mode)
                )

    def derivatives(self, subject, steps, wanted):
        """Return the directional derivatives of the outputs by differences, as all arguments change
        along their directions."""
        with restored([self.args[i] for i in steps]) as data:
            changed = dict(zip(steps, data))
            old = {i: data.clone() for i, data in changed.items()}

            def at(size):
                for i, data in changed.items():
                    data.copy_(old[i] + size * steps[i])
                values = subject.values()
                return [values[j].reshape((-1,)) for j in wanted]

            return [(a - b) / (2 * self.eps) for a, b in zip(at(self.eps), at(-self.eps))]

    def forward(self, subject, wanted, outputs, steps, derivatives, chain):
        results = [t.detach().reshape((-1,)) for t in tangents_or_zeros(subject, steps, wanted)]
        for j, t, derivative in zip(wanted, results, derivatives):
            error = (t - derivative).abs()
            bound = self.atol * (1 + derivative.abs().sum()) + self.rtol * derivative.abs()
            if not bool((error <= bound).all()):
                raise GradcheckError(
                    f"check_grads: {_title('fwd', chain)} of output {j} is wrong along a random "
                    f"direction:\nby differences {derivative}\nby forward mode {t}"
                )

    def reverse(self, subject, outputs, vectors, steps, derivatives, chain):
        grads = gradients(outputs, subject.differentiable, vectors)
        expected = sum(_inner(v.reshape((-1,)), s) for v, s in zip(vectors, derivatives))
        total = size = 0.0
        for i, g in zip(subject.places, grads):
            if g is not None:
                total += _inner(g.detach(), steps[i])
                size += (g.detach().abs() * steps[i].abs()).sum().item()
        if not abs(total - expected) <= self.atol * (1 + size) + self.rtol * abs(expected):
            raise GradcheckError(
                f"check_grads: {_title('rev', chain)} is wrong along random directions: "
                f"<v, J u> is {expected:.9g} by differences, <J* v, u> is {total:.9g} by reverse "
                "mode"
            )

    def derivative(self, f, mode, wanted, vectors, steps):
        """The derivative of `f` in a mode, as a function of the arguments."""

        def gradient(*args):
            outputs = as_outputs(f(*args))
            leaves = [x for x in args if is_smooth(x) and x.requires_grad]
            grads = gradients([outputs[j] for j in wanted], leaves, vectors, create_graph=True)
            return tuple(x * 0 if g is None else g for g, x in zip(grads, leaves))

        def tangent(*args):
            subject = Subject(f, args)
            return tuple(tangents_or_zeros(subject, steps, wanted))

        return gradient if mode == "rev" else tangent


def tangents_or_zeros(subject, steps, wanted):
    """Tangents with their graph, by a level of forward mode that nests in others."""
    directions = [
        steps[i].reshape(x.shape) if i in steps else None for i, x in enumerate(subject.inputs)
    ]
    with enable_grad():
        results = push(lambda *x: as_outputs(subject.func(*x)), subject.inputs, directions, wanted)[
            1
        ]
    if all(t is not None for t in results):
        return results
    outputs = subject.outputs()
    return [outputs[j] * 0 if t is None else t for j, t in zip(wanted, results)]


def _inner(a: Tensor, b: Tensor) -> float:
    """Re(sum(conj(a) * b))."""
    x = (a.conj() * b).sum()
    return (x.real if x.is_complex() else x).item()


def _title(mode, chain):
    order = len(chain) + 1
    names = " over ".join(_NAMES[m] for m in (mode, *reversed(chain)))
    return f"derivative of order {order} ({names})"
