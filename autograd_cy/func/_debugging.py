"""Looking into transformations."""

from __future__ import annotations

from autograd_cy._C.batching import _unwrap
from autograd_cy._C.levels import _batch_level
from autograd_cy._C.tensor import Tensor


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """
    Show the tensor that an argument of a transformed function stands for.

    Use it in a debugger or to print values: a computation with the result is unknown to the
    transformations.

    Parameters
    ----------
    tensor : Tensor
        In a `vmap`, what stands for one example.
    recurse : bool, default True
        Whether to go through all transformations, or through the innermost one.

    Returns
    -------
    Tensor
        All examples, without derivatives; `tensor` itself if nothing transforms it.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.func import debug_unwrap, vmap
    >>> def f(x):
    ...     print(debug_unwrap(x))
    ...     return x * 2
    >>> y = vmap(f)(ag.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"debug_unwrap(): expected a Tensor, got {type(tensor).__name__}")
    while (level := _batch_level(tensor)) > 0:
        tensor, _ = _unwrap(tensor, level)
        if not recurse:
            break
    return tensor
