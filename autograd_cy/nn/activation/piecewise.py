"""Activations made of pieces; their functions: ``functional/_piecewise_activation.py``."""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor, empty
from autograd_cy._C._warned import warn as _warn

from .. import functional
from ..init import constant_
from ..module import Module
from ..parameter import Parameter


class Threshold(Module):
    r"""The elements above a threshold, and a value in place of the others.

    Parameters
    ----------
    threshold, value : float
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Threshold(1, -1)(torch.tensor([0.5, 2.0]))
    tensor([-1.,  2.])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the elements above the threshold, and the value for the others."""
        return functional.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """Return the threshold, the value, and whether it works in place."""
        inplace = ", inplace=True" if self.inplace else ""
        return f"threshold={self.threshold}, value={self.value}{inplace}"


class ReLU(Module):
    r"""The positive part, :math:`\max(0, x)`.

    Parameters
    ----------
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the positive part of the input."""
        return functional.relu(input, self.inplace)

    def extra_repr(self) -> str:
        """Return whether it works in place."""
        return "inplace=True" if self.inplace else ""


class Hardtanh(Module):
    """The elements limited to an interval.

    Parameters
    ----------
    min_val, max_val : float, optional
        The bounds.
    inplace : bool, optional
        Whether the input itself is changed.
    min_value, max_value : float, optional
        Deprecated names of the bounds.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Hardtanh(-2, 2)(torch.tensor([-3.0, 0.5, 3.0]))
    tensor([-2.0000,  0.5000,  2.0000])
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        if min_value is not None:
            _renamed("min_value", "min_val")
            min_val = min_value
        if max_value is not None:
            _renamed("max_value", "max_val")
            max_val = max_value
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace
        if max_val <= min_val:  # NaN is neither, as in torch
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")

    def forward(self, input: Tensor) -> Tensor:
        """Return the elements of the input between the bounds."""
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """Return the bounds, and whether it works in place."""
        inplace = ", inplace=True" if self.inplace else ""
        return f"min_val={self.min_val}, max_val={self.max_val}{inplace}"


def _renamed(old: str, new: str) -> None:
    _warn(
        f"keyword argument `{old}` is deprecated and renamed to `{new}`",
        FutureWarning,
    )


class ReLU6(Hardtanh):
    r"""The positive part limited to 6, :math:`\min(\max(0, x), 6)`.

    Parameters
    ----------
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ReLU6()(torch.tensor([-1.0, 2.0, 9.0]))
    tensor([0., 2., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """Return whether it works in place."""
        return "inplace=True" if self.inplace else ""


class ELU(Module):
    r"""The exponential linear unit: :math:`x`, and :math:`\alpha (e^x - 1)` below 0.

    Parameters
    ----------
    alpha : float, optional
        What is approached on the left, negated.
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ELU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """Return alpha, and whether it works in place."""
        inplace = ", inplace=True" if self.inplace else ""
        return f"alpha={self.alpha}{inplace}"


class CELU(Module):
    r"""The continuous `ELU`: :math:`x`, and :math:`\alpha (e^{x / \alpha} - 1)` below 0.

    Parameters
    ----------
    alpha : float, optional
        What is approached on the left, negated.
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.CELU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """Return alpha, and whether it works in place."""
        inplace = ", inplace=True" if self.inplace else ""
        return f"alpha={self.alpha}{inplace}"


class SELU(Module):
    r"""The scaled exponential linear unit, which keeps mean 0 and variance 1.

    Parameters
    ----------
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.SELU()(torch.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.selu(input, self.inplace)

    def extra_repr(self) -> str:
        """Return whether it works in place."""
        return "inplace=True" if self.inplace else ""


class LeakyReLU(Module):
    r"""The input, times a small slope below 0.

    Parameters
    ----------
    negative_slope : float, optional
        The slope below 0.
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.LeakyReLU(0.1)(torch.tensor([-1.0, 1.0]))
    tensor([-0.1000,  1.0000])
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """Return the slope, and whether it works in place."""
        inplace = ", inplace=True" if self.inplace else ""
        return f"negative_slope={self.negative_slope}{inplace}"


class PReLU(Module):
    r"""The input, times a slope below 0 that is learned.

    Parameters
    ----------
    num_parameters : int, optional
        The number of slopes: 1, or that of the channels.
    init : float, optional
        What they start from.
    device, dtype : optional
        Of the slopes.

    Attributes
    ----------
    weight : Parameter
        The slopes, of shape ``(num_parameters,)``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.PReLU()(torch.tensor([-1.0, 1.0])).detach()
    tensor([-0.2500,  1.0000])
    """

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes back to what they started from.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.PReLU(2, init=0.5)
        >>> layer.reset_parameters()
        >>> layer.weight.tolist()
        [0.5, 0.5]
        """
        constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Return the number of slopes."""
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    r"""The input, times a slope below 0 that is random in training, and the mean in evaluation.

    Parameters
    ----------
    lower, upper : float, optional
        The limits of the slopes.
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.RReLU(0.1, 0.3).eval()(torch.tensor([-1.0, 2.0]))
    tensor([-0.2000,  2.0000])
    """

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Return the limits, and whether it works in place."""
        inplace = ", inplace=True" if self.inplace else ""
        return f"lower={self.lower}, upper={self.upper}{inplace}"


class Hardsigmoid(Module):
    r"""The line :math:`(x + 3) / 6` limited to :math:`[0, 1]`.

    Parameters
    ----------
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Hardsigmoid()(torch.tensor([-4.0, 0.0, 4.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.hardsigmoid(input, self.inplace)


class Hardswish(Module):
    r"""The input times its `Hardsigmoid`.

    Parameters
    ----------
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Hardswish()(torch.tensor([-4.0, 0.0, 4.0]))
    tensor([-0., 0., 4.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.hardswish(input, self.inplace)


class Hardshrink(Module):
    r"""The elements, and 0 in place of those within :math:`[-\lambda, \lambda]`.

    Parameters
    ----------
    lambd : float, optional
        The end of the interval.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Hardshrink()(torch.tensor([-1.0, 0.3, 2.0]))
    tensor([-1.,  0.,  2.])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Return the end of the interval."""
        return f"{self.lambd}"


class Softshrink(Module):
    r"""The elements moved towards 0, as far as 0.

    Parameters
    ----------
    lambd : float, optional
        By how much; not negative.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Softshrink()(torch.tensor([-1.0, 0.3, 2.0]))
    tensor([-0.5000,  0.0000,  1.5000])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Return by how much they move."""
        return f"{self.lambd}"
