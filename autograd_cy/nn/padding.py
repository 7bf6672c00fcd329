"""Padding as modules; ``functional.pad`` does it."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_cy import Tensor

from . import functional
from .module import Module

_Padding = int | Sequence[int]


def _each_side(padding: _Padding, dims: int) -> tuple[int, ...]:
    """One number for all sides, or those that were given."""
    return tuple(padding) if isinstance(padding, Sequence) else (padding,) * (2 * dims)


class _ConstantPadNd(Module):
    value: float
    padding: tuple[int, ...]

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with the constant around it."""
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Return the numbers and the value."""
        return f"padding={self.padding}, value={self.value}"


class _PadNd(Module):
    padding: tuple[int, ...]

    def extra_repr(self) -> str:
        """Return the numbers."""
        return f"{self.padding}"


class ConstantPad1d(_ConstantPadNd):
    """A constant around the last dimension.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.
    value : float
        The constant.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ConstantPad1d((2, 1), 5.0)(torch.tensor([[0.0, 1.0, 2.0]]))
    tensor([[5., 5., 0., 1., 2., 5.]])
    """

    def __init__(self, padding: _Padding, value: float) -> None:
        super().__init__()
        self.value = value
        self.padding = _each_side(padding, 1)


class ConstantPad2d(_ConstantPadNd):
    """A constant around the last two dimensions.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.
    value : float
        The constant.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ConstantPad2d((2, 1, 0, 0), 5.0)(torch.tensor([[[0.0, 1.0, 2.0]]]))
    tensor([[[5., 5., 0., 1., 2., 5.]]])
    """

    def __init__(self, padding: _Padding, value: float) -> None:
        super().__init__()
        self.value = value
        self.padding = _each_side(padding, 2)


class ConstantPad3d(_ConstantPadNd):
    """A constant around the last three dimensions.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.
    value : float
        The constant.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ConstantPad3d((2, 1, 0, 0, 0, 0), 5.0)(torch.tensor([[[[0.0, 1.0, 2.0]]]]))
    tensor([[[[5., 5., 0., 1., 2., 5.]]]])
    """

    def __init__(self, padding: _Padding, value: float) -> None:
        super().__init__()
        self.value = value
        self.padding = _each_side(padding, 3)


class ZeroPad1d(ConstantPad1d):
    """Zeros around the last dimension.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ZeroPad1d((2, 1))(torch.tensor([[0.0, 1.0, 2.0]]))
    tensor([[0., 0., 0., 1., 2., 0.]])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """Return the numbers."""
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Zeros around the last two dimensions.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ZeroPad2d((2, 1, 0, 0))(torch.tensor([[[0.0, 1.0, 2.0]]]))
    tensor([[[0., 0., 0., 1., 2., 0.]]])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """Return the numbers."""
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Zeros around the last three dimensions.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ZeroPad3d((2, 1, 0, 0, 0, 0))(torch.tensor([[[[0.0, 1.0, 2.0]]]]))
    tensor([[[[0., 0., 0., 1., 2., 0.]]]])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """Return the numbers."""
        return f"{self.padding}"


class ReflectionPad1d(_PadNd):
    """Elements reflected at the edges of the last dimension.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ReflectionPad1d((2, 1))(torch.tensor([[0.0, 1.0, 2.0]]))
    tensor([[2., 1., 0., 1., 2., 1.]])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__()
        self.padding = _each_side(padding, 1)

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        return functional.pad(input, self.padding, "reflect")


class ReflectionPad2d(_PadNd):
    """Elements reflected at the edges of the last two dimensions.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ReflectionPad2d((2, 1, 0, 0))(torch.tensor([[[0.0, 1.0, 2.0]]]))
    tensor([[[2., 1., 0., 1., 2., 1.]]])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__()
        self.padding = _each_side(padding, 2)

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        return functional.pad(input, self.padding, "reflect")


class ReflectionPad3d(_PadNd):
    """Elements reflected at the edges of the last three dimensions.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ReflectionPad3d((2, 1, 0, 0, 0, 0))(torch.tensor([[[[0.0, 1.0, 2.0]]]]))
    tensor([[[[2., 1., 0., 1., 2., 1.]]]])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__()
        self.padding = _each_side(padding, 3)

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        return functional.pad(input, self.padding, "reflect")


class ReplicationPad1d(_PadNd):
    """Elements of the edges repeated of the last dimension.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ReplicationPad1d((2, 1))(torch.tensor([[0.0, 1.0, 2.0]]))
    tensor([[0., 0., 0., 1., 2., 2.]])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__()
        self.padding = _each_side(padding, 1)

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        return functional.pad(input, self.padding, "replicate")


class ReplicationPad2d(_PadNd):
    """Elements of the edges repeated of the last two dimensions.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ReplicationPad2d((2, 1, 0, 0))(torch.tensor([[[0.0, 1.0, 2.0]]]))
    tensor([[[0., 0., 0., 1., 2., 2.]]])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__()
        self.padding = _each_side(padding, 2)

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        return functional.pad(input, self.padding, "replicate")


class ReplicationPad3d(_PadNd):
    """Elements of the edges repeated of the last three dimensions.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ReplicationPad3d((2, 1, 0, 0, 0, 0))(torch.tensor([[[[0.0, 1.0, 2.0]]]]))
    tensor([[[[0., 0., 0., 1., 2., 2.]]]])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__()
        self.padding = _each_side(padding, 3)

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        return functional.pad(input, self.padding, "replicate")


class CircularPad1d(_PadNd):
    """Elements of the other end before and after each of the last dimension.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.CircularPad1d((2, 1))(torch.tensor([[0.0, 1.0, 2.0]]))
    tensor([[1., 2., 0., 1., 2., 0.]])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__()
        self.padding = _each_side(padding, 1)

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")
        return functional.pad(input, self.padding, "circular")


class CircularPad2d(_PadNd):
    """Elements of the other end before and after each of the last two dimensions.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.CircularPad2d((2, 1, 0, 0))(torch.tensor([[[0.0, 1.0, 2.0]]]))
    tensor([[[1., 2., 0., 1., 2., 0.]]])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__()
        self.padding = _each_side(padding, 2)

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        if input.dim() not in (3, 4):
            raise ValueError(f"expected 3D or 4D input (got {input.dim()}D input)")
        return functional.pad(input, self.padding, "circular")


class CircularPad3d(_PadNd):
    """Elements of the other end before and after each of the last three dimensions.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after, from the last dimension on; or one number for all sides.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.CircularPad3d((2, 1, 0, 0, 0, 0))(torch.tensor([[[[0.0, 1.0, 2.0]]]]))
    tensor([[[[1., 2., 0., 1., 2., 0.]]]])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__()
        self.padding = _each_side(padding, 3)

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        if input.dim() not in (4, 5):
            raise ValueError(f"expected 4D or 5D input (got {input.dim()}D input)")
        return functional.pad(input, self.padding, "circular")
