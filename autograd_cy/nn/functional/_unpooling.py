"""Pooling by norms, and what puts pooled elements back; one body for all dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._interpreted import Family
from autograd_cy._tensors.public import autocast_policy, public
from autograd_cy.nn.functional._dimensions import Sizes, named, per_dimension

__all__ = ["lp_pool1d", "lp_pool2d", "lp_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d"]

_pools = Family("ops_pooling")
_resampling = Family("ops_resampling")

_LP = """Return the norm of the elements of each window of {some}.

    The p-th root of the sum of p-th powers; the elements count as they are, not their sizes.

    Parameters
    ----------
    input : Tensor
        Planes in the last dimensions, with channels before them and maybe a batch before those.
    norm_type : float
        The order p; infinity for the largest element.
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    ceil_mode : bool, optional
        Have a last window that isn't full.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.tensor({opening}[3.0, 4.0]{closing})
    >>> torch.nn.functional.{name}(x, 2, {window})
    tensor({opening}[5.]{closing})
    """

_UNPOOL = """Return zeros but for elements that max_pool{rank}d chose, which are where they were.

    Parameters
    ----------
    input : Tensor
        The elements.
    indices : Tensor
        Where in their plane they were, of the same shape.
    kernel_size : int or sequence of int
        The size of a window.
    stride : int or sequence of int, optional
        The step from one window to the next; by default the size of a window.
    padding : int or sequence of int, optional
        How far windows began before the first element.
    output_size : sequence of int, optional
        The size of the result, where several are possible.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        No pooling of such windows comes from the `output_size`.
    RuntimeError
        A place is not in the plane, or shapes differ.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x, at = torch.tensor({opening}[3.0, 2.0]{closing}), torch.tensor({opening}[1, 2]{closing})
    >>> torch.nn.functional.{name}(x, at, {window})
    tensor({opening}[0., 3., 2., 0.]{closing})
    """


# --- norms ---------------------------------------------------------------------------------------


def _volume(size: Any, rank: int) -> int:
    n = 1
    for k in per_dimension(size, rank):
        n *= k
    return n


def _lp_pool(rank: int) -> Any:
    def pool(
        input: Tensor,
        norm_type: float,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        if norm_type == float("inf"):
            function = getattr(_pools, f"max_pool{rank}d")
            return function(abs(input), kernel_size, stride, 0, 1, ceil_mode)
        mean = getattr(_pools, f"avg_pool{rank}d")(
            input.pow(norm_type), kernel_size, stride, 0, ceil_mode
        )
        # A window that isn't full counts as if it were, as in torch. Sign and size apart have a
        # gradient of zero at zero.
        whole = _operators.sign(mean) * _operators.relu(abs(mean))
        return whole.mul(_volume(kernel_size, rank)).pow(1.0 / norm_type)

    window = repr((1,) * (rank - 1) + (2,)) if rank > 1 else "2"
    return public(named(pool, f"lp_pool{rank}d", _LP, rank, window=window))


lp_pool1d = _lp_pool(1)
lp_pool2d = _lp_pool(2)
lp_pool3d = _lp_pool(3)


# --- places --------------------------------------------------------------------------------------


def _unpooled(
    input: Tensor,
    rank: int,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_size: Sequence[int] | None,
) -> tuple[int, ...]:
    """The size that planes had: the smallest, or what is asked for if it is possible."""
    if input.ndim < rank:
        raise IndexError(
            f"max_unpool{rank}d: expected input with planes of {rank} dimensions, but got a tensor "
            f"with {input.ndim}"
        )
    own = input.shape[input.ndim - rank :]
    usual = [(n - 1) * s + k - 2 * p for n, s, k, p in zip(own, stride, kernel, padding)]
    if output_size is None:
        return tuple(usual)
    size = list(output_size)
    if len(size) == rank + 2:
        size = size[2:]
    if len(size) != rank:
        raise ValueError(
            f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it "
            f"has a length of '{len(size)}'"
        )
    for d, (n, default, step) in enumerate(zip(size, usual, stride)):
        if not default - step < n < default + step:
            raise ValueError(
                f'invalid output_size "{tuple(size)}" (dim {d} must be between {default - step} '
                f"and {default + step})"
            )
    return tuple(size)


def _max_unpool(rank: int) -> Any:
    def unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        output_size: Sequence[int] | None = None,
    ) -> Tensor:
        for place, (name, tensor) in enumerate((("input", input), ("indices", indices)), 1):
            if not isinstance(tensor, Tensor):
                raise TypeError(
                    f"max_unpool{rank}d(): argument '{name}' (position {place}) must be Tensor, "
                    f"not {type(tensor).__name__}"
                )
        kernel = per_dimension(kernel_size, rank)
        step = per_dimension(stride, rank) if stride is not None else kernel
        size = _unpooled(input, rank, kernel, step, per_dimension(padding, rank), output_size)
        return _resampling._unpool(input, indices, size)

    window = repr((1,) * (rank - 1) + (2,)) if rank > 1 else "2"
    unpool = named(unpool, f"max_unpool{rank}d", _UNPOOL, rank, window=window)
    return public(autocast_policy("float32")(unpool))


max_unpool1d = _max_unpool(1)
max_unpool2d = _max_unpool(2)
max_unpool3d = _max_unpool(3)
