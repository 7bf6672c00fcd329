"""Features of autograd as transformations of functions, so that any two can be put together.

A feature takes a function of tensors and gives a function of the same tensors. Some change no
value (checkpoints, hooks, modules, anomaly mode ...); for these the plain form is the function as
it was. The others (tangents, gradients) have a plain form of their own. For features A and B the
right value of ``A(B(f))`` is ``plain(A)(plain(B)(f))``.

`features_of(package)` makes them of any package with torch's names, PyTorch included.
"""

import contextlib
import functools
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Feature:
    """A transformation of functions.

    `around` is a context for the backward pass that looks at the result.
    """

    name: str
    apply: Any
    plain: Any = None
    around: Any = contextlib.nullcontext
    levels: int = 0
    marks: frozenset = field(default_factory=frozenset)

    def reference(self, f):
        return self.plain(f) if self.plain else f


def weight(shape, is_complex, seed):
    """Fixed numbers of the size of one, none alike and none zero."""
    count = int(np.prod(shape, dtype=np.int64))
    w = 0.6 + 0.4 * np.cos(1.7 * np.arange(count) + seed).reshape(shape)
    return w * np.exp(0.3j) if is_complex else w


def features_of(torch):
    """The features by name, made of the functions of a package."""
    checkpoint = torch.utils.checkpoint.checkpoint

    def constant(x, seed):
        """A tensor of fixed numbers in the shape of x, which may be one example of many."""
        w = torch.from_numpy(np.asarray(weight(tuple(x.shape), x.dtype.is_complex, seed)))
        return w.to(x.dtype)

    def total(outs, seed=0):
        """A real number in which all results count, or those that require grad, if any do."""
        parts = []
        live = any(x.requires_grad for x in outs)
        for i, x in enumerate(outs):
            if live and not x.requires_grad:
                continue
            part = (constant(x, seed + i).conj() * x).sum()
            parts.append(part.real if part.dtype.is_complex else part)
        return functools.reduce(lambda a, b: a + b, parts)

    def checkpointed(f, reentrant):
        def g(*xs):
            with warnings.catch_warnings():
                # Where nothing requires grad, as in the reference of a tangent.
                warnings.filterwarnings("ignore", "None of the inputs have requires_grad")
                return checkpoint(f, *xs, use_reentrant=reentrant)

        return g

    def hooked(f):
        """Saved tensors are kept elsewhere, as copies, and given out once per unpack."""

        def g(*xs):
            with torch.autograd.graph.saved_tensors_hooks(
                lambda x: [x.detach().clone()], lambda kept: kept[0]
            ):
                return f(*xs)

        return g

    def mapped(f, levels):
        def g(*xs):
            many = f
            for _ in range(levels):
                many = torch.vmap(many)
            stacked = xs
            for _ in range(levels):
                # Examples that differ, and stay in the domain of the function.
                stacked = [torch.stack([x * 0.984375, x]) for x in stacked]
            found = many(*stacked)
            for _ in range(levels):
                found = tuple(x[1] for x in found)
            return found

        return g

    def tangents(f):
        def g(*xs):
            moved = tuple(constant(x, 3 + i) for i, x in enumerate(xs))
            return torch.func.jvp(f, tuple(xs), moved)[1]

        return g

    def duals(f):
        """Differentiate by `forward_ad`, where no level of `func` is."""

        def g(*xs):
            with torch.autograd.forward_ad.dual_level():
                made = [
                    torch.autograd.forward_ad.make_dual(x, constant(x, 3 + i))
                    for i, x in enumerate(xs)
                ]
                found = [torch.autograd.forward_ad.unpack_dual(y) for y in f(*made)]
                return tuple(
                    torch.zeros_like(d.primal) if d.tangent is None else d.tangent for d in found
                )

        return g

    def differentiated(f):
        def g(*xs):
            # A copy, not detached: an outer level may differentiate by x without saying so here.
            xs = [x if x.requires_grad else x.clone().requires_grad_() for x in xs]
            with torch.enable_grad():
                value = total(f(*xs))
            if not value.requires_grad:
                return tuple(torch.zeros_like(x) for x in xs)
            found = torch.autograd.grad(value, xs, create_graph=True, allow_unused=True)
            return tuple(torch.zeros_like(x) if g is None else g for x, g in zip(xs, found))

        return g

    def differentiated_by_func(f):
        def g(*xs):
            return torch.func.grad(lambda xs: total(f(*xs)))(tuple(xs))

        return g

    class Calls(torch.nn.Module):
        def __init__(self, f):
            super().__init__()
            self.f = f

        def forward(self, *xs):
            return self.f(*xs)

    class Holds(torch.nn.Module):
        """Call f with its parameters."""

        def __init__(self, f, xs):
            super().__init__()
            self.f = f
            for i, x in enumerate(xs):
                made = torch.zeros(tuple(x.shape), dtype=x.dtype)
                self.register_parameter(f"p{i}", torch.nn.Parameter(made))

        def forward(self):
            return self.f(*(getattr(self, f"p{i}") for i in range(len(self._parameters))))

    def called_functionally(f):
        def g(*xs):
            module = Holds(f, xs)
            return torch.func.functional_call(module, {f"p{i}": x for i, x in enumerate(xs)}, ())

        return g

    def with_backward_hooks(f):
        def g(*xs):
            module = Calls(f)
            module.register_full_backward_pre_hook(lambda module, grads: grads)
            module.register_full_backward_hook(lambda module, grads, given: grads)
            return module(*xs)

        return g

    def in_anomaly_mode(f):
        def g(*xs):
            with anomaly():
                return f(*xs)

        return g

    def anomaly():
        return torch.autograd.set_detect_anomaly(True)

    def with_inference_tensors(f):
        """All arguments but the first are inference tensors, so constants."""

        def g(first, *rest):
            with torch.inference_mode():
                made = [x.clone() for x in rest]
            return f(first, *made)

        return g

    def with_constants(f):
        return lambda first, *rest: f(first, *(x.detach() for x in rest))

    made = [
        Feature("checkpoint", functools.partial(checkpointed, reentrant=False)),
        Feature("reentrant checkpoint", functools.partial(checkpointed, reentrant=True)),
        Feature("saved-tensor hooks", hooked),
        Feature("vmap", functools.partial(mapped, levels=1), levels=1),
        Feature("vmap twice", functools.partial(mapped, levels=2), levels=2),
        Feature("jvp", tangents, tangents),
        Feature("forward mode", duals, tangents),
        Feature("create_graph", differentiated, differentiated),
        Feature("func.grad", differentiated_by_func, differentiated),
        Feature("functional_call", called_functionally),
        Feature("full backward hooks", with_backward_hooks),
        Feature("anomaly mode", in_anomaly_mode, around=anomaly),
        Feature("inference tensors", with_inference_tensors, with_constants),
    ]
    return {feature.name: feature for feature in made}, total


def look(torch, total, function, xs, around=contextlib.nullcontext):
    """Values of a function and the gradients of a number in which all of them count."""
    xs = [x.detach().clone().requires_grad_() for x in xs]
    with around():
        outs = function(*xs)
        value = total(outs, 5)
        if value.requires_grad:
            value.backward()
    return [x.detach() for x in outs], [
        torch.zeros_like(x) if x.grad is None else x.grad for x in xs
    ]
