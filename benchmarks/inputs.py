"""Inputs that are the same numbers in every library: NumPy draws them, the library copies them.

The copy matters: each library gets memory from its own allocator, with its own alignment.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def normal(torch: Any, *shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    """Return a tensor of standard normal numbers.

    Parameters
    ----------
    torch : module
        The library.
    *shape : int
        Shape of the tensor.
    dtype : str, optional
        Name of the dtype.
    seed : int, optional
        Seed of the numbers.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> numpy_like = SimpleNamespace(tensor=np.array)
    >>> normal(numpy_like, 2, 3).shape
    (2, 3)
    """
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def uniform(
    torch: Any, *shape: int, low: float = 0.5, high: float = 1.5, dtype="float32", seed: int = 0
) -> Any:
    """Return a tensor of numbers drawn evenly between two bounds.

    Parameters
    ----------
    torch : module
        The library.
    *shape : int
        Shape of the tensor.
    low, high : float, optional
        Bounds. The default keeps sums, quotients and logarithms well conditioned.
    dtype : str, optional
        Name of the dtype.
    seed : int, optional
        Seed of the numbers.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> numpy_like = SimpleNamespace(tensor=np.array)
    >>> bool((uniform(numpy_like, 5, low=2.0, high=3.0) >= 2.0).all())
    True
    """
    return torch.tensor(np.random.default_rng(seed).uniform(low, high, shape).astype(dtype))


def integers(torch: Any, *shape: int, high: int, seed: int = 0) -> Any:
    """Return a tensor of 64-bit integers from zero to ``high - 1``.

    Parameters
    ----------
    torch : module
        The library.
    *shape : int
        Shape of the tensor.
    high : int
        Number of different values.
    seed : int, optional
        Seed of the numbers.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> numpy_like = SimpleNamespace(tensor=np.array)
    >>> int(integers(numpy_like, 100, high=3).max())
    2
    """
    return torch.tensor(np.random.default_rng(seed).integers(0, high, shape))


def leaf(tensor: Any) -> Any:
    """Make a tensor require gradients and return it.

    Parameters
    ----------
    tensor : Tensor
        A tensor without history.

    Returns
    -------
    Tensor
        The same object.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> leaf(SimpleNamespace(requires_grad=False)).requires_grad
    True
    """
    tensor.requires_grad = True
    return tensor
