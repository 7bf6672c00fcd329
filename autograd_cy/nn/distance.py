"""Distances and similarities of vectors, and forms of two vectors."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autograd_cy import Tensor, empty

from . import functional, init
from .module import Module
from .parameter import Parameter

__all__ = ["Bilinear", "CosineSimilarity", "PairwiseDistance"]


class CosineSimilarity(Module):
    """Cosines of the angles between vectors.

    Parameters
    ----------
    dim : int, optional
        The dimension along which the vectors are.
    eps : float, optional
        What the length of a vector is at least.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.CosineSimilarity(dim=0)(torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0]))
    tensor(0.9600)
    """

    __constants__: ClassVar[list[str]] = ["dim", "eps"]

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the cosines."""
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """Norms of the differences of vectors in the last dimension.

    Parameters
    ----------
    p : float, optional
        The order of the norm.
    eps : float, optional
        What is added to each difference.
    keepdim : bool, optional
        Whether the last dimension stays, of size 1.

    Attributes
    ----------
    norm : float
        The order of the norm.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.PairwiseDistance()(torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2))
    tensor([5.0000])
    """

    __constants__: ClassVar[list[str]] = ["norm", "eps", "keepdim"]

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the distances."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class Bilinear(Module):
    r"""Bilinear forms :math:`y_k = x_1^T A_k x_2 + b_k`.

    Weight and bias start from the uniform distribution on
    :math:`[-1/\sqrt{n}, 1/\sqrt{n}]`, where `n` is ``in1_features``.

    Parameters
    ----------
    in1_features, in2_features, out_features : int
        Sizes of the last dimension of both inputs, and of the output.
    bias : bool, optional
        Whether there is a `b`.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    weight : Parameter
        Of shape ``(out_features, in1_features, in2_features)``.
    bias : Parameter or None
        Of shape ``(out_features,)``.

    Raises
    ------
    ValueError
        If ``in1_features`` is not positive.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.Bilinear(2, 3, 4)
    >>> list(layer(torch.ones(5, 2), torch.ones(5, 3)).shape)
    [5, 4]
    """

    __constants__: ClassVar[list[str]] = ["in1_features", "in2_features", "out_features"]

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(
            empty(out_features, in1_features, in2_features, device=device, dtype=dtype)
        )
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.Bilinear(4, 2, 3)
        >>> layer.reset_parameters()
        >>> bool((layer.weight.abs() <= 0.5).all())
        True
        """
        bound = 1 / math.sqrt(self.weight.shape[1])
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Return the forms.

        Parameters
        ----------
        input1 : Tensor
            Of shape ``(*, in1_features)``.
        input2 : Tensor
            Of shape ``(*, in2_features)``.

        Returns
        -------
        Tensor
            Of shape ``(*, out_features)``.
        """
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
