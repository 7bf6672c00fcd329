"""Reverse mode as transformations: grad, grad_and_value, vjp."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from autograd_cy._C.creation import ones_like, zeros_like
from autograd_cy._C.engine import run_backward
from autograd_cy._C.node import _call_transformed
from autograd_cy._C.tensor import (
    _M_INFERENCE,
    _M_NO_GRAD,
    Tensor,
    _call_with_modes,
    _get_modes,
)
from autograd_cy._C.transforms import _depends_outside, _end, _start, _without_graph
from autograd_cy._C.transforms import _needs_graph as needs_graph
from autograd_cy._vmap.pytree import flatten
from autograd_cy.func._arguments import (
    aux_tensors,
    chosen,
    need_outputs,
    only_tensors,
    replaced,
    tensors_in,
    with_aux,
)

_NOT_RECORDED = _M_NO_GRAD | _M_INFERENCE
# What needs_graph returns beside 0; if only the gradients themselves will tell, the second.
_YES, _MAYBE = 1, 2


class Graph:
    """
    One differentiation: its own leaves, and whether what is outside wants to follow it.

    `beside` is all else that the function gets, in any nesting. `later`: gradients may be taken in
    another grad mode than that of now.
    """

    def __init__(self, arguments, beside=(), later=False):
        self.arguments = arguments
        self.beside = beside
        self.outer = not _get_modes() & _M_NO_GRAD
        self.connected = self.outer or later
        if self.outer or not later:
            self.leaves = tuple([_start(x, self.outer) for x in arguments])
        else:
            self.leaves = _call_with_modes(
                _NOT_RECORDED, 0, lambda: tuple([_start(x, True) for x in arguments])
            )
        self.own = self.leaves

    def record(self, call: Callable[[list], Any]) -> Any:
        """Call a function of the leaves, recorded also within ``no_grad``."""
        return _call_transformed(
            lambda: tensors_in(self.beside),
            tuple(self.arguments),
            True,
            _NOT_RECORDED,
            0,
            lambda: call(list(self.leaves)),
        )

    def follow(self, tensors: tuple) -> int:
        """Return whether what is outside depends on gradients of `tensors`, as ``needs_graph`` says
        it."""
        return needs_graph(tensors, self.leaves) if self.connected else 0

    def gradients(self, outputs, seeds, keep: int, create: int) -> list[Tensor]:
        """Return gradients of the leaves; zeros for those that don't matter."""
        recorded = [(y, s) for y, s in zip(outputs, seeds) if y.requires_grad]
        grads_or_none = (None,) * len(self.leaves)
        if recorded:
            roots, seeds = zip(*recorded)
            grads_or_none = run_backward(
                roots, seeds, bool(keep), bool(create), self.leaves, True, False
            )
        grads = [zeros_like(x) if g is None else g for x, g in zip(self.arguments, grads_or_none)]
        if create == _MAYBE:
            return [g if _depends_outside(g, self.own) else _without_graph(g, True) for g in grads]
        return grads

    def constants(self, tensors: Sequence[Tensor], follow: int) -> list[Tensor]:
        """Outputs without the graph of this differentiation; `follow`: there may be another."""
        follow = follow if self.outer else 0
        if follow and follow != _MAYBE and len(tensors) == 1:
            return list(tensors)
        return [
            x if follow and self.leads_on(x) else _without_graph(x, not self.outer) for x in tensors
        ]

    def leads_on(self, x: Tensor) -> bool:
        """Return whether an output belongs to another graph, too."""
        answer = self.follow((x,))
        return _depends_outside(x, self.own) if answer == _MAYBE else bool(answer)


def needed(follow: int, seeds: tuple, leaves: tuple) -> int:
    """Return whether a pullback is to be recorded: for what was found before, or for its
    cotangents."""
    if _get_modes() & _M_NO_GRAD:
        return 0
    answer = _YES if follow == _YES else needs_graph(seeds, leaves)
    return answer if answer == _YES else max(follow, answer)


def grad(func: Callable, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable:
    """
    Return the gradient of a function with one real number as result.

    Parameters
    ----------
    func : callable
        Returns a 0-d tensor.
    argnums : int or tuple of int, default 0
        Which positional arguments to differentiate; each may nest tensors.
    has_aux : bool, default False
        `func` returns ``(output, aux)``; `aux` is passed through, for what is outside to follow.

    Returns
    -------
    callable
        Of the same arguments; returns the gradient, or a tuple for a tuple of `argnums`, and with
        `has_aux` the pair ``(gradient, aux)``.

    Raises
    ------
    RuntimeError
        If the result isn't a 0-d real tensor, an argument isn't floating or complex, or `argnums`
        is wrong.
    ValueError
        If an argument to differentiate holds anything but tensors.

    Notes
    -----
    Within ``no_grad`` the gradient is computed, but not recorded. A ``no_grad`` inside `func` holds
    as usual. An argument that doesn't matter gets zeros.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.func import grad, vmap
    >>> grad(lambda x: x.sin())(ag.tensor(0.0))
    tensor(1.)
    >>> grad(grad(lambda x: x**3))(ag.tensor(2.0))
    tensor(12.)
    >>> vmap(grad(lambda x: (x * x).sum()))(ag.ones(2, 3))
    tensor([[2., 2., 2.],
            [2., 2., 2.]])
    """

    @functools.wraps(func)
    def gradient(*args, **kwargs):
        grads, _, aux = _grad_and_value(func, argnums, has_aux, args, kwargs, False)
        return (grads, aux) if has_aux else grads

    return gradient


def grad_and_value(
    func: Callable, argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable:
    """
    Like :func:`grad`, but the function returns ``(gradient, value)``.

    Parameters
    ----------
    func, argnums, has_aux
        As for :func:`grad`; with `has_aux` the result is ``(gradient, (value, aux))``.

    Returns
    -------
    callable

    Raises
    ------
    RuntimeError, ValueError
        As :func:`grad`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.func import grad_and_value
    >>> grad_and_value(lambda x: x**2)(ag.tensor(3.0))
    (tensor(6.), tensor(9.))
    """

    @functools.wraps(func)
    def both(*args, **kwargs):
        grads, value, aux = _grad_and_value(func, argnums, has_aux, args, kwargs, True)
        return grads, (value, aux) if has_aux else value

    return both


def _grad_and_value(func, argnums, has_aux, args, kwargs, want_value):
    leaves, structure = flatten(chosen(argnums, args))
    only_tensors(leaves)
    graph = Graph(leaves, (args, kwargs))
    returned = graph.record(
        lambda new: func(*replaced(argnums, args, structure.build(new)), **kwargs)
    )
    output, aux = with_aux(returned, has_aux, "grad_and_value(f)(*args)")
    if not isinstance(output, Tensor):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
        )
    if output.ndim:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor "
            f"with {output.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )
    if output.is_complex():
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {output.dtype}"
        )
    beside, aux_structure = aux_tensors(aux, has_aux)
    follow, follow_beside = graph.follow((output,)), graph.follow(beside)
    seed = ones_like(output) if output.is_floating_point() else None
    grads = graph.gradients((output,), (seed,), follow or follow_beside, follow)
    value = graph.constants((output,), follow)[0] if want_value else None
    if has_aux:
        aux = aux_structure.build(graph.constants(beside, follow_beside))
    # What was recorded for an outer transformation doesn't follow these leaves.
    for leaf in graph.leaves:
        _end(leaf)
    return structure.build(grads), value, aux


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """
    Return the value of a function, and the function that multiplies vectors with its Jacobian.

    Parameters
    ----------
    func : callable
        Returns tensors in any nesting.
    *primals
        The arguments, tensors in any nesting.
    has_aux : bool, default False
        `func` returns ``(output, aux)``; `aux` is passed through.

    Returns
    -------
    output
        ``func(*primals)``.
    vjp_fn : callable
        Maps cotangents, nested as the output, to a tuple with the product for each of `primals`
        (one that isn't nested comes in a tuple of one). It can be called several times, also under
        :func:`vmap`.
    aux
        Only with `has_aux`.

    Raises
    ------
    RuntimeError
        If `func` returns anything but tensors; from `vjp_fn`, if the cotangents don't fit.
    ValueError
        If an argument holds anything but tensors.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.func import vjp
    >>> y, pull = vjp(lambda x, w: x * w, ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    >>> pull(ag.ones(2))
    (tensor([3., 4.]), tensor([1., 2.]))
    """
    leaves, structure = flatten(primals)
    only_tensors(leaves)
    graph = Graph(leaves, later=True)
    returned = graph.record(lambda new: func(*structure.build(new)))
    output, aux = with_aux(returned, has_aux, "vjp(f, *primals)")
    outputs, out_structure = flatten(output)
    need_outputs(outputs, "vjp(f, *primals)")
    for y in outputs:
        if not isinstance(y, Tensor):
            raise RuntimeError(
                "vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported "
                f"type {type(y)}"
            )
        if not (y.is_floating_point() or y.is_complex()):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                f"Tensor with dtype {y.dtype}"
            )
    follow = graph.follow(tuple(outputs))
    beside, aux_structure = aux_tensors(aux, has_aux)
    follow_beside = graph.follow(beside)

    def vjp_fn(cotangents, retain_graph=True, create_graph=None):
        seeds, other = flatten(cotangents)
        if other != out_structure:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {other}, primal output: {out_structure}"
            )
        for i, (seed, y) in enumerate(zip(seeds, outputs)):
            if not isinstance(seed, Tensor):
                raise TypeError(f"cotangents must be Tensors, got {type(seed)}")
            if seed.shape != y.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{i}] has a shape of {seed.shape} and "
                    f"output[{i}] has a shape of {y.shape}."
                )
        create = create_graph
        if create is None:
            create = needed(follow, tuple(seeds), graph.leaves)
        seeds = [s if s.dtype == y.dtype else s.to(y.dtype) for s, y in zip(seeds, outputs)]
        return structure.build(graph.gradients(outputs, seeds, retain_graph, create))

    value = out_structure.build(graph.constants(outputs, follow))
    if has_aux:
        aux = aux_structure.build(graph.constants(beside, follow_beside))
        return value, vjp_fn, aux
    return value, vjp_fn
