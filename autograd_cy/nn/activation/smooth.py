"""Smooth activations; their functions: ``functional/_smooth_activation.py``."""

from __future__ import annotations

from autograd_cy import Tensor

from .. import functional
from ..module import Module


class Tanh(Module):
    """The hyperbolic tangent.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Tanh()(torch.tensor([0.0]))
    tensor([0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the hyperbolic tangent of the input."""
        return functional.tanh(input)


class Sigmoid(Module):
    r"""The logistic function, :math:`1 / (1 + e^{-x})`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Sigmoid()(torch.tensor([0.0]))
    tensor([0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the logistic function of the input."""
        return functional.sigmoid(input)


class GELU(Module):
    r"""The Gaussian error linear unit, :math:`x\,\Phi(x)`.

    Parameters
    ----------
    approximate : {"none", "tanh"}, optional
        Whether the normal distribution is approximated by a tanh.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.GELU()(torch.tensor([0.0]))
    tensor([0.])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Return the approximation."""
        return f"approximate={self.approximate!r}"


class SiLU(Module):
    r"""The swish function, :math:`x \sigma(x)`.

    Parameters
    ----------
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.SiLU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.2689,  0.7311])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.silu(input, self.inplace)

    def extra_repr(self) -> str:
        """Return whether it works in place."""
        return "inplace=True" if self.inplace else ""


class Mish(Module):
    r"""The function :math:`x \tanh(\log(1 + e^x))`.

    Parameters
    ----------
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Mish()(torch.tensor([-1.0, 1.0]))
    tensor([-0.3034,  0.8651])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.mish(input, self.inplace)

    def extra_repr(self) -> str:
        """Return whether it works in place."""
        return "inplace=True" if self.inplace else ""


class Softplus(Module):
    r"""A smooth positive part, :math:`\log(1 + e^{\beta x}) / \beta`.

    Parameters
    ----------
    beta : float, optional
        How sharp the bend is.
    threshold : float, optional
        Where :math:`\beta x` exceeds it, the result is the input.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Softplus()(torch.tensor([0.0, 30.0]))
    tensor([ 0.6931, 30.0000])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Return both parameters."""
        return f"beta={self.beta}, threshold={self.threshold}"


class Softsign(Module):
    r"""The function :math:`x / (1 + |x|)`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Softsign()(torch.tensor([1.0, -3.0]))
    tensor([ 0.5000, -0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.softsign(input)


class Tanhshrink(Module):
    r"""The function :math:`x - \tanh(x)`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Tanhshrink()(torch.tensor([1.0]))
    tensor([0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.tanhshrink(input)


class LogSigmoid(Module):
    r"""The logarithm of the logistic function, without overflow.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.LogSigmoid()(torch.tensor([0.0]))
    tensor([-0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.logsigmoid(input)


class GLU(Module):
    r"""The gated linear unit: :math:`a\,\sigma(b)` of the halves `a` and `b` of a dimension.

    Parameters
    ----------
    dim : int, optional
        The dimension, of even size.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.GLU()(torch.tensor([2.0, 0.0]))
    tensor([1.])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.glu(input, self.dim)

    def extra_repr(self) -> str:
        """Return the dimension."""
        return f"dim={self.dim}"
