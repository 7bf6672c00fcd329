"""Layers: what turns one tensor into the next and is no activation."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autograd_cy import Tensor, empty

from . import functional, init
from .module import Module
from .parameter import Parameter

__all__ = ["Bilinear", "Flatten", "Identity", "Linear", "Unflatten"]


class Linear(Module):
    r"""The affine map :math:`y = x W^T + b`.

    Weight and bias start from the uniform distribution on
    :math:`[-1/\sqrt{k}, 1/\sqrt{k}]`, where `k` is ``in_features``.

    Parameters
    ----------
    in_features, out_features : int
        Sizes of the last dimension of input and output.
    bias : bool, optional
        Whether there is a `b`.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    weight : Parameter
        Of shape ``(out_features, in_features)``.
    bias : Parameter or None
        Of shape ``(out_features,)``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.Linear(20, 30)
    >>> list(layer(torch.ones(128, 20)).shape)
    [128, 30]
    """

    __constants__: ClassVar[list[str]] = ["in_features", "out_features"]
    in_features: int
    out_features: int
    weight: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty(out_features, in_features, device=device, dtype=dtype))
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
        >>> layer = torch.nn.Linear(4, 2)
        >>> layer.reset_parameters()
        >>> bool((layer.weight.abs() <= 0.5).all())
        True
        """
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Return the affine map of the input.

        Parameters
        ----------
        input : Tensor
            Of shape ``(*, in_features)``.

        Returns
        -------
        Tensor
            Of shape ``(*, out_features)``.
        """
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


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


class Identity(Module):
    """Return its input; a placeholder. Arguments are accepted and ignored.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Identity()(5)
    5
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """Return the input."""
        return input


class Flatten(Module):
    """Make one dimension of several.

    Parameters
    ----------
    start_dim, end_dim : int, optional
        First and last of them; by default all but the batch dimension.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> list(torch.nn.Flatten()(torch.ones(2, 3, 4)).shape)
    [2, 12]
    """

    __constants__: ClassVar[list[str]] = ["start_dim", "end_dim"]

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Return the flattened input."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Return the dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Make several dimensions of one.

    Parameters
    ----------
    dim : int
        The dimension.
    unflattened_size : tuple or list of int
        The sizes of the dimensions that it becomes; one may be -1.

    Raises
    ------
    TypeError
        If these are no ints.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> list(torch.nn.Unflatten(1, (3, 4))(torch.ones(2, 12)).shape)
    [2, 3, 4]
    """

    __constants__: ClassVar[list[str]] = ["dim", "unflattened_size"]

    def __init__(self, dim: int, unflattened_size: tuple[int, ...] | list[int]) -> None:
        super().__init__()
        if not isinstance(unflattened_size, tuple | list):
            raise TypeError(
                "unflattened_size must be a tuple of ints, but found type "
                f"{type(unflattened_size).__name__}"
            )
        for at, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {at}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with the dimension cut into several."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Return the dimension and the sizes."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
