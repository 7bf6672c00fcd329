"""Forward mode as transformations: jvp and linearize."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_cy._C.creation import zeros_like
from autograd_cy._C.forward import LevelContext, _make_dual, _take_dual
from autograd_cy._C.node import _call_transformed
from autograd_cy._C.tensor import _M_INFERENCE, _M_NO_FORWARD_AD, Tensor, _call_with_modes
from autograd_cy._vmap.pytree import flatten
from autograd_cy.func._arguments import need_outputs, only_tensors, with_aux
from autograd_cy.func._reverse import Graph, needed

_NOT_MOVED = _M_NO_FORWARD_AD | _M_INFERENCE
_NAME = "jvp(f, primals, tangents)"


def jvp(
    func: Callable, primals: tuple, tangents: tuple, *, strict: bool = False, has_aux: bool = False
) -> tuple:
    """
    Return the value of a function, and its derivative along a direction, the Jacobian times it.

    Parameters
    ----------
    func : callable
        Returns tensors in any nesting.
    primals : tuple
        The arguments, tensors in any nesting, floating or complex.
    tangents : tuple
        The direction, nested like `primals`, with the same shapes.
    strict : bool, default False
        Raise if an output doesn't depend on `primals`; otherwise its derivative is zeros.
    has_aux : bool, default False
        `func` returns ``(output, aux)``; `aux` is passed through.

    Returns
    -------
    tuple
        ``(output, tangent of the output)``, with `has_aux` ``(output, tangent, aux)``.

    Raises
    ------
    RuntimeError
        If the arguments don't fit each other, or `func` returns anything but tensors.
    ValueError
        If a dtype isn't floating or complex.

    Notes
    -----
    Forward mode: each operation computes the tangent of its result with the result, no graph is
    recorded. Calls nest, and mix with reverse mode in any order.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.func import jvp
    >>> jvp(lambda x: x**2, (ag.tensor(3.0),), (ag.tensor(1.0),))
    (tensor(9.), tensor(6.))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_NAME}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    leaves, structure = flatten(primals)
    directions, other = flatten(tangents)
    if other != structure:
        raise RuntimeError(
            f"{_NAME}: Expected primals and tangents to have the same python structure. For "
            "example, if primals is a tuple of 3 tensors, tangents also must be. Got primals with "
            f"structure {structure} and tangents with structure {other}"
        )
    for what, tensors in (("primals", leaves), ("tangents", directions)):
        if not tensors:
            raise RuntimeError(f"{_NAME}: Expected {what} to contain at least one Tensor.")
        for x in tensors:
            if not isinstance(x, Tensor):
                raise RuntimeError(
                    f"{_NAME}: Expected {what} to only contain Tensors, got {type(x)}"
                )
            if not (x.is_floating_point() or x.is_complex()):
                raise ValueError(
                    f"Expected {what[:-1]} to be floating point or complex, but got: {x.dtype}"
                )
    return _pushed(func, leaves, structure, directions, strict, has_aux)


def _pushed(func, leaves, structure, directions, strict, has_aux):
    with LevelContext() as level:
        return _call_with_modes(
            _NOT_MOVED,
            0,
            lambda: _pushed_at(level, func, leaves, structure, directions, strict, has_aux),
        )


def _pushed_at(level, func, leaves, structure, directions, strict, has_aux):
    duals = [_make_dual(x, t, level) for x, t in zip(leaves, directions)]
    returned = _call_transformed(
        lambda: directions, tuple(leaves), False, 0, 0, lambda: func(*structure.build(duals))
    )
    output, aux = with_aux(returned, has_aux, _NAME)
    outputs, out_structure = flatten(output)
    values, tangents = [], []
    need_outputs(outputs, _NAME)
    for y in outputs:
        if not isinstance(y, Tensor):
            raise RuntimeError(
                f"{_NAME}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(y)}"
            )
        value, tangent = _take_dual(y, level)
        if tangent is None:
            if strict:
                raise RuntimeError(
                    "jvp(f, primals, tangents, strict=True): The output of f is independent of "
                    "the inputs. This is not allowed with strict=True."
                )
            tangent = zeros_like(value)
        values.append(value)
        tangents.append(tangent)
    if has_aux:
        extra, aux_structure = flatten(aux)
        for x in extra:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
        aux = aux_structure.build([_take_dual(x, level)[0] for x in extra])
    result = out_structure.build(values), out_structure.build(tangents)
    return (*result, aux) if has_aux else result


def linearize(func: Callable, *primals: Any) -> tuple:
    """
    Return the value of a function, and the linear function that is its derivative there.

    Worth it when the derivative is applied to several directions: the function itself is computed
    once.

    Parameters
    ----------
    func : callable
        Returns tensors in any nesting.
    *primals
        The arguments, tensors in any nesting.

    Returns
    -------
    output
        ``func(*primals)``.
    jvp_fn : callable
        Maps tangents, given and nested like `primals`, to the tangent of the output.

    Raises
    ------
    RuntimeError
        From `jvp_fn`, if the tangents don't fit `primals`.

    Notes
    -----
    The pullback ``u -> J^H u`` of :func:`vjp` is itself linear; its own pullback is ``t -> J t``.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.func import linearize
    >>> y, push = linearize(lambda x: x**2, ag.tensor([1.0, 2.0]))
    >>> push(ag.tensor([1.0, 0.0])), push(ag.tensor([0.0, 1.0]))
    (tensor([2., 0.]), tensor([0., 4.]))
    """
    leaves, structure = flatten(primals)
    only_tensors(leaves)
    graph = Graph(leaves)
    outputs, out_structure = flatten(graph.record(lambda new: func(*structure.build(new))))
    only_tensors(outputs)
    follow = graph.follow(tuple(outputs))
    differentiable = [y for y in outputs if y.is_floating_point() or y.is_complex()]
    # Where the pullback is taken to pieces doesn't matter, because it is linear.
    linear = Graph([zeros_like(y) for y in differentiable])
    linear.own = graph.leaves + linear.leaves
    pulled = linear.record(lambda seeds: graph.gradients(differentiable, seeds, True, True))

    def jvp_fn(*tangents):
        directions, other = flatten(tangents)
        if other != structure:
            raise RuntimeError(
                f"Expected the tangents {other} to have the same argspec as the primals {structure}"
            )
        for i, (t, x) in enumerate(zip(directions, leaves)):
            for what in ("shape", "dtype"):
                if getattr(t, what) != getattr(x, what):
                    raise RuntimeError(
                        f"tangent:{i} with {what} {getattr(t, what)} in flattened pytree doesn't "
                        f"match the {what} {getattr(x, what)} of the corresponding primal."
                    )
        create = needed(follow, tuple(directions), linear.own)
        tangents_out = iter(linear.gradients(pulled, directions, True, create))
        return out_structure.build(
            [
                next(tangents_out) if y.is_floating_point() or y.is_complex() else zeros_like(y)
                for y in outputs
            ]
        )

    return out_structure.build(graph.constants(outputs, follow)), jvp_fn
