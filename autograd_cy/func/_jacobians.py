"""Whole Jacobians and Hessians, one vmapped product with all unit vectors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import accumulate

from autograd_cy._C.ops_complex import complex as complex_of
from autograd_cy._C.ops_joining import cat
from autograd_cy._vmap import map_once
from autograd_cy._vmap.pytree import flatten
from autograd_cy.autograd._arguments import unit_vectors
from autograd_cy.func._arguments import chosen, only_tensors, replaced, with_aux
from autograd_cy.func._forward import jvp
from autograd_cy.func._reverse import vjp


def _pieces(columns, tensors):
    """``(n, *shape)`` cut along its first dimension into one piece per tensor, unflattened."""
    parts = columns.split([t.numel() for t in tensors], 0)
    return [p.reshape((*t.shape, *columns.shape[1:])) for p, t in zip(parts, tensors)]


def _turned(seeds: Sequence, outputs: list, twofold: list[int]) -> list:
    """Return the unit vectors of complex outputs, numbers `twofold`, times the imaginary unit."""
    ends = list(accumulate([y.numel() for y in outputs], initial=0))
    parts = [cat([s[ends[i] : ends[i + 1]] for i in twofold], 0) for s in seeds]
    return [k * 1j if i in twofold else k for i, k in enumerate(parts)]


def _add_imaginary(column: list, rows, outputs: list, twofold: list[int]) -> None:
    """
    Complete the derivatives of complex outputs by a real argument.

    The gradient of a real argument is a real part: of the conjugate of an output's derivative for
    the seed 1, which is the real part of the derivative, and for the seed i the imaginary part.
    """
    for i, imaginary in zip(twofold, _pieces(rows, [outputs[i] for i in twofold])):
        column[i] = complex_of(column[i], imaginary)


def jacrev(
    func: Callable,
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable:
    """
    Return the Jacobian of a function by reverse mode: one row for each element of the output.

    Parameters
    ----------
    func : callable
        Returns tensors in any nesting.
    argnums : int or tuple of int, default 0
        Which positional arguments to differentiate; each may nest tensors.
    has_aux : bool, default False
        `func` returns ``(output, aux)``; the Jacobian comes as ``(jacobian, aux)``.
    chunk_size : int, optional
        Rows computed at a time, to save memory; by default all.

    Returns
    -------
    callable
        Of the same arguments. For a tensor of shape ``m`` as output and ``n`` as argument the
        result is a tensor of shape ``m + n``; nested outputs and arguments give such tensors,
        nested as the output, and within as the arguments. That of a complex output and a real
        argument is complex, as :func:`jacfwd` gives it; by a complex argument, it is the conjugate
        (see :func:`grad`).

    Raises
    ------
    RuntimeError
        As :func:`vjp`.
    ValueError
        If `chunk_size` isn't positive.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.func import jacrev
    >>> jacrev(lambda x: x**2)(ag.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size <= 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def jacobian(*args, **kwargs):
        point = chosen(argnums, args)
        leaves, in_structure = flatten(point)
        only_tensors(leaves)
        returned = vjp(
            lambda x: func(*replaced(argnums, args, x), **kwargs), point, has_aux=has_aux
        )
        outputs, out_structure = flatten(returned[0])
        pull = returned[1]

        def row(seeds):
            return tuple(flatten(pull(out_structure.build(list(seeds)))[0])[0])

        seeds = unit_vectors(outputs)
        rows = map_once(row, (seeds,), chunk_size=chunk_size)
        # For each argument a column of pieces, one per output.
        columns = [_pieces(r, outputs) for r in rows]
        twofold = [i for i, y in enumerate(outputs) if y.is_complex()]
        if twofold and not all(x.is_complex() for x in leaves):
            turned = _turned(seeds, outputs, twofold)
            rows = map_once(row, (tuple(turned),), chunk_size=chunk_size)
            for column, r, x in zip(columns, rows, leaves):
                if not x.is_complex():
                    _add_imaginary(column, r, outputs, twofold)
        result = out_structure.build(
            [in_structure.build([c[i] for c in columns]) for i in range(len(outputs))]
        )
        return (result, returned[2]) if has_aux else result

    return jacobian


def jacfwd(
    func: Callable,
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable:
    """
    Return the Jacobian of a function by forward mode: one column for each element of the arguments.

    Parameters
    ----------
    func : callable
        Returns tensors in any nesting.
    argnums : int or tuple of int, default 0
        Which positional arguments to differentiate; each may nest tensors.
    has_aux : bool, default False
        `func` returns ``(output, aux)``; the Jacobian comes as ``(jacobian, aux)``.
    randomness : {"error", "different", "same"}
        What random operators in `func` do, see :func:`vmap`.

    Returns
    -------
    callable
        As of :func:`jacrev`.

    Raises
    ------
    RuntimeError, ValueError
        As :func:`jvp`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.func import jacfwd
    >>> jacfwd(lambda x: x.sum() * x)(ag.tensor([1.0, 2.0]))
    tensor([[4., 1.],
            [2., 5.]])
    """

    @functools.wraps(func)
    def jacobian(*args, **kwargs):
        point = chosen(argnums, args)
        leaves, in_structure = flatten(point)
        only_tensors(leaves)
        structures = []

        def call(*new):
            returned = func(*replaced(argnums, args, in_structure.build(list(new))), **kwargs)
            output, aux = with_aux(returned, has_aux, "jacfwd")
            outputs, out_structure = flatten(output)
            structures[:] = [out_structure]
            return (tuple(outputs), aux) if has_aux else tuple(outputs)

        def column(directions):
            pushed = jvp(call, tuple(leaves), directions, has_aux=has_aux)
            return pushed[1:] if has_aux else pushed[1]

        out_dims = (0, None) if has_aux else 0
        columns = map_once(
            column, (unit_vectors(leaves),), out_dims=out_dims, randomness=randomness
        )
        aux = None
        if has_aux:
            columns, aux = columns
        result = []
        for c in columns:
            # The dimension of columns goes behind those of the output.
            flat_columns = c.movedim(0, -1)
            parts = flat_columns.split([x.numel() for x in leaves], -1)
            result.append(
                in_structure.build(
                    [p.reshape((*c.shape[1:], *x.shape)) for p, x in zip(parts, leaves)]
                )
            )
        pushed = structures[0].build(result)
        return (pushed, aux) if has_aux else pushed

    return jacobian


def hessian(func: Callable, argnums: int | tuple[int, ...] = 0) -> Callable:
    """
    Return the matrix of second derivatives: ``jacfwd(jacrev(func, argnums), argnums)``.

    Parameters
    ----------
    func : callable
        Usually with one number as result.
    argnums : int or tuple of int, default 0
        Which positional arguments to differentiate.

    Returns
    -------
    callable
        Of the same arguments. For a 0-d output and an argument of shape ``n`` the result has shape
        ``n + n``.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.func import hessian
    >>> hessian(lambda x: (x**3).sum())(ag.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
