"""Pooling functions that return where elements were if they are asked to, or keep sizes.

One body serves one, two and three dimensions. The others are operators as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_cy import Tensor
from autograd_cy._interpreted import Family
from autograd_cy._tensors.public import forward_to, names_errors, public
from autograd_cy.nn.functional._dimensions import Sizes, named, per_dimension

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool3d",
]

_pools = Family("ops_pooling")

_MAX = """Return the largest elements of windows of {some}.

    Parameters
    ----------
    input : Tensor
        Planes in the last dimensions, with channels before them and maybe a batch before those.
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    padding : int or sequence of int, optional
        How far windows begin before the first element.
    dilation : int or sequence of int, optional
        The distance of the elements of a window.
    ceil_mode : bool, optional
        Have a last window that isn't full.
    return_indices : bool, optional
        {returned}

    Returns
    -------
    {result}

    Raises
    ------
    RuntimeError
        There is no such window.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.tensor({opening}[1.0, 3.0, 2.0, 0.0]{closing})
    >>> torch.nn.functional.{name}(x, {window}){first}
    tensor({opening}[3., 2.]{closing})
    """

_ADAPTIVE = """Return the {what} of as many windows of {some} as are asked for.

    Parameters
    ----------
    input : Tensor
        Planes in the last dimensions, with channels before them and maybe a batch before those.
    output_size : int or sequence of int
        The number of windows, in all dimensions or in each.{none}{indices}

    Returns
    -------
    {result}

    Raises
    ------
    RuntimeError
        The input has no elements there.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.nn.functional.{name}(ag.tensor({opening}[1.0, 3.0, 2.0]{closing}), {window}){first}
    tensor({opening}[{value}]{closing})
    """

_RETURN_INDICES = "Whether to return where in their plane the elements were, too."
_IGNORED = "Changes nothing: they are returned always."
_PAIR = "tuple of Tensor\n        The elements, and where they were in their plane."


# --- windows of one kernel -----------------------------------------------------------------------


def _max_pool(rank: int) -> Any:
    plain, both = f"max_pool{rank}d", f"max_pool{rank}d_with_indices"
    operators = _pools if rank == 3 else forward_to

    @names_errors(plain)
    def with_indices(
        input: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None,
        padding: Sizes,
        dilation: Sizes,
        ceil_mode: bool,
    ) -> tuple[Tensor, Tensor]:
        function = getattr(forward_to if rank == 1 else _pools, both)
        return function(input, kernel_size, stride, padding, dilation, ceil_mode)

    def pool(
        input: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        if return_indices:
            return with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        function = getattr(operators, plain)
        return function(input, kernel_size, stride, padding, dilation, ceil_mode)

    named(
        pool,
        plain,
        _MAX,
        rank,
        window=repr((1,) * (rank - 1) + (2,)) if rank > 1 else "2",
        returned=_RETURN_INDICES,
        result="Tensor, or a tuple of it and of where its elements were.",
        first="",
    )
    return public(pool) if rank == 3 else public(forwards=plain)(pool)


max_pool1d = _max_pool(1)
max_pool2d = _max_pool(2)
max_pool3d = _max_pool(3)


def _max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    return forward_to.max_pool1d_with_indices(
        input, kernel_size, stride, padding, dilation, ceil_mode
    )


max_pool1d_with_indices = public(forwards="max_pool1d_with_indices")(
    named(
        _max_pool1d_with_indices,
        "max_pool1d_with_indices",
        _MAX,
        1,
        window="2",
        returned=_IGNORED,
        result=_PAIR,
        first="[0]",
    )
)


# --- a given number of windows -------------------------------------------------------------------


def _full_size(output_size: Any, input: Tensor, rank: int) -> Any:
    """The sizes, with those of the input in place of None."""
    if not isinstance(output_size, (tuple, list)) or not isinstance(input, Tensor):
        return output_size  # which the operator takes or refuses
    unknown = None in output_size
    if input.ndim <= len(output_size) and (unknown or rank > 1):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    if not unknown:
        return output_size
    own = input.shape[input.ndim - len(output_size) :]
    return tuple(size if n is None else n for n, size in zip(output_size, own))


def _adaptive_avg_pool(rank: int) -> Any:
    name = f"adaptive_avg_pool{rank}d"

    def pool(input: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
        return getattr(_pools, name)(
            input, per_dimension(_full_size(output_size, input, rank), rank)
        )

    named(
        pool,
        name,
        _ADAPTIVE,
        rank,
        what="averages",
        none=" None keeps the size of the input.",
        indices="",
        result="Tensor",
        window=repr((1,) * rank),
        first="",
        value="2.",
    )
    return public(pool)


adaptive_avg_pool2d = _adaptive_avg_pool(2)
adaptive_avg_pool3d = _adaptive_avg_pool(3)


def _adaptive_max_pool(rank: int, always: bool) -> Any:
    name = f"adaptive_max_pool{rank}d" + "_with_indices" * always
    inner = "adaptive_max_pool1d" if rank == 1 else f"adaptive_max_pool{rank}d_with_indices"

    def pool(
        input: Tensor, output_size: int | Sequence[int | None], return_indices: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        size = per_dimension(_full_size(output_size, input, rank), rank)
        result = getattr(_pools, inner)(input, size)
        return result if always or return_indices else result[0]

    text = _IGNORED if always else _RETURN_INDICES
    named(
        pool,
        name,
        _ADAPTIVE,
        rank,
        what="largest elements",
        none=" None keeps the size of the input." if rank > 1 else "",
        indices=f"\n    return_indices : bool, optional\n        {text}",
        result=_PAIR if always else "Tensor, or a tuple of it and of where its elements were.",
        window=repr((1,) * rank) if rank > 1 else "1",
        first="[0]" if always else "",
        value="3.",
    )
    return public(pool)


adaptive_max_pool1d = _adaptive_max_pool(1, False)
adaptive_max_pool2d = _adaptive_max_pool(2, False)
adaptive_max_pool3d = _adaptive_max_pool(3, False)
adaptive_max_pool1d_with_indices = _adaptive_max_pool(1, True)
adaptive_max_pool2d_with_indices = _adaptive_max_pool(2, True)
adaptive_max_pool3d_with_indices = _adaptive_max_pool(3, True)
