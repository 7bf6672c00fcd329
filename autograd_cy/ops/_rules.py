"""The rules of records that are not formulas: reasons, refusals, functions written by hand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class nondiff:
    """States that there is no derivative, and why.

    `refuse_tangents`: in forward mode an argument with a tangent is an error, because the result is
    a number of the same kind and zero would be taken for its derivative.
    """

    reason: str
    refuse_tangents: bool = False


@dataclass(frozen=True)
class loop:
    """A vmap rule: one call per example; says why nothing better exists."""

    reason: str


@dataclass(frozen=True)
class by_hand:
    """A vmap rule: ``module.function`` of autograd_cy._C, with the operator's arguments."""

    target: str


@dataclass(frozen=True)
class refuse:
    """A vmap rule: an error with this text."""

    text: str


@dataclass(frozen=True)
class randomly:
    """A vmap rule of a random operator: `randomness` of vmap decides; the text is for the docs.

    `draws` is what the numbers depend on: "elements", one for each of the first argument; "shape",
    fewer, but by its shape alone; "chances", which its elements are; "around", those of the other
    arguments, the first says the shape; "values" of any argument. Examples can't share the last
    three.

    A record of one tensor with an in-place form has another one, ``T.<key>_fresh(..., op, draws)``,
    for functions that make tensors: it fills a new tensor of an example's shape, whose version
    stays 0; `op` is the name in errors, and `draws` may be "sizes", one call for all examples.
    """

    text: str
    draws: str = "values"
