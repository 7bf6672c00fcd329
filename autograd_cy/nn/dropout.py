"""Dropout as modules; the functions themselves are in ``functional/_dropout.py``."""

from __future__ import annotations

from autograd_cy import Tensor

from . import functional
from .functional._arguments import check_probability
from .module import Module


class _DropoutNd(Module):
    """What all have: a probability, and whether the input itself is changed."""

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        check_probability(p)
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Return the probability."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """In training, sets each element to zero with probability `p` and scales the others.

    Parameters
    ----------
    p : float, optional
        The probability.
    inplace : bool, optional
        Whether the input itself is changed.

    Raises
    ------
    ValueError
        If ``p`` is not between 0 and 1.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> bool((torch.nn.Dropout(0.2).eval()(torch.ones(3)) == 1).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with some of it dropped."""
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """In training, sets whole channels of signals to zero and scales the others.

    Parameters
    ----------
    p : float, optional
        The probability.
    inplace : bool, optional
        Whether the input itself is changed.

    Raises
    ------
    ValueError
        If ``p`` is not between 0 and 1.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> bool((torch.nn.Dropout1d(0.2).eval()(torch.ones(1, 3, 2)) == 1).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with some of it dropped."""
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """In training, sets whole channels of images to zero and scales the others.

    Parameters
    ----------
    p : float, optional
        The probability.
    inplace : bool, optional
        Whether the input itself is changed.

    Raises
    ------
    ValueError
        If ``p`` is not between 0 and 1.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> bool((torch.nn.Dropout2d(0.2).eval()(torch.ones(1, 3, 2, 2)) == 1).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with some of it dropped."""
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """In training, sets whole channels of volumes to zero and scales the others.

    Parameters
    ----------
    p : float, optional
        The probability.
    inplace : bool, optional
        Whether the input itself is changed.

    Raises
    ------
    ValueError
        If ``p`` is not between 0 and 1.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> bool((torch.nn.Dropout3d(0.2).eval()(torch.ones(1, 3, 2, 2, 2)) == 1).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with some of it dropped."""
        return functional.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """In training, drops elements so that mean 0 and variance 1 stay, for networks of `SELU`.

    Parameters
    ----------
    p : float, optional
        The probability.
    inplace : bool, optional
        Part of the signature only, as in PyTorch: the input is never changed.

    Raises
    ------
    ValueError
        If ``p`` is not between 0 and 1.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> bool((torch.nn.AlphaDropout(0.2).eval()(torch.ones(3)) == 1).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with some of it dropped."""
        return functional.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """In training, drops channels so that mean 0 and variance 1 stay, for networks of `SELU`.

    Parameters
    ----------
    p : float, optional
        The probability.
    inplace : bool, optional
        Part of the signature only, as in PyTorch: the input is never changed.

    Raises
    ------
    ValueError
        If ``p`` is not between 0 and 1.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> bool((torch.nn.FeatureAlphaDropout(0.2).eval()(torch.ones(1, 3, 2)) == 1).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with some of it dropped."""
        return functional.feature_alpha_dropout(input, self.p, self.training)
