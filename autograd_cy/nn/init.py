"""Starting values of parameters: each function fills a tensor, unrecorded, and returns it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_cy import Tensor, complex128, empty, float64, from_numpy, no_grad, randperm
from autograd_cy._C._warned import warn as _warn

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_GAINS = {
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "conv_transpose1d": 1.0,
    "conv_transpose2d": 1.0,
    "conv_transpose3d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4.0,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor by which an activation's layer should be scaled.

    Parameters
    ----------
    nonlinearity : str
        Name of the activation, as in `nn.functional`.
    param : float, optional
        The negative slope of ``leaky_relu``; by default 0.01.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the activation is not known or its parameter is no number.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.init.calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with numbers drawn evenly from ``[a, b)``.

    Parameters
    ----------
    tensor : Tensor
        What to fill.
    a, b : float, optional
        The bounds.
    generator : Generator, optional
        Where the numbers come from.

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> bool((torch.nn.init.uniform_(torch.empty(9), 2.0, 3.0) >= 2.0).all())
    True
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normally distributed numbers.

    Parameters
    ----------
    tensor : Tensor
        What to fill.
    mean, std : float, optional
        Mean and standard deviation.
    generator : Generator, optional
        Where the numbers come from.

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.init.normal_(torch.empty(2), mean=3.0, std=0.0)
    tensor([3., 3.])
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number.

    Parameters
    ----------
    tensor : Tensor
        What to fill.
    val : float
        The number.

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.init.constant_(torch.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones.

    Parameters
    ----------
    tensor : Tensor
        What to fill.

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.init.ones_(torch.empty(2))
    tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros.

    Parameters
    ----------
    tensor : Tensor
        What to fill.

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.init.zeros_(torch.empty(2))
    tensor([0., 0.])
    """
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on the diagonal and zeros elsewhere.

    Parameters
    ----------
    tensor : Tensor
        What to fill.

    Returns
    -------
    Tensor
        The same one.

    Raises
    ------
    ValueError
        If it has not two dimensions.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.init.eye_(torch.empty(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        tensor.zero_()
        tensor.diagonal().fill_(1.0)
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    r"""Fill from the uniform distribution that keeps variances forward and backward (Glorot).

    The bound is :math:`\text{gain} \sqrt{6 / (\text{fan in} + \text{fan out})}`.

    Parameters
    ----------
    tensor : Tensor
        What to fill.
    gain : float, optional
        See `calculate_gain`.
    generator : Generator, optional
        Where the numbers come from.

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> bool((torch.nn.init.xavier_uniform_(torch.empty(3, 3)).abs() <= 1.0).all())
    True
    """
    bound = gain * math.sqrt(6.0 / _fans_sum(tensor))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    r"""Fill from the normal distribution that keeps variances forward and backward (Glorot).

    The standard deviation is :math:`\text{gain} \sqrt{2 / (\text{fan in} + \text{fan out})}`.

    Parameters
    ----------
    tensor : Tensor
        What to fill.
    gain : float, optional
        See `calculate_gain`.
    generator : Generator, optional
        Where the numbers come from.

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> list(torch.nn.init.xavier_normal_(torch.empty(3, 2)).shape)
    [3, 2]
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / _fans_sum(tensor)), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    r"""Fill from the uniform distribution that keeps the variance through rectifiers (He).

    The bound is :math:`\text{gain} \sqrt{3 / \text{fan}}`.

    Parameters
    ----------
    tensor : Tensor
        What to fill.
    a : float, optional
        Negative slope of the rectifier after this layer.
    mode : {"fan_in", "fan_out"}, optional
        Whether the variance is kept forward or backward.
    nonlinearity : str, optional
        The activation, see `calculate_gain`.
    generator : Generator, optional
        Where the numbers come from.

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> bool((torch.nn.init.kaiming_uniform_(torch.empty(3, 6)).abs() <= 1.0).all())
    True
    """
    if tensor.numel() == 0:
        return _left_empty(tensor)
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    r"""Fill from the normal distribution that keeps the variance through rectifiers (He).

    The standard deviation is :math:`\text{gain} / \sqrt{\text{fan}}`.

    Parameters
    ----------
    tensor : Tensor
        What to fill.
    a : float, optional
        Negative slope of the rectifier after this layer.
    mode : {"fan_in", "fan_out"}, optional
        Whether the variance is kept forward or backward.
    nonlinearity : str, optional
        The activation, see `calculate_gain`.
    generator : Generator, optional
        Where the numbers come from.

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> list(torch.nn.init.kaiming_normal_(torch.empty(3, 6), nonlinearity="relu").shape)
    [3, 6]
    """
    if tensor.numel() == 0:
        return _left_empty(tensor)
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Fill with normally distributed numbers, of which only those within bounds are taken.

    By inversion: the normal quantiles of numbers drawn evenly between those of the bounds.

    Parameters
    ----------
    tensor : Tensor
        What to fill.
    mean, std : float, optional
        Mean and standard deviation before anything is cut off.
    a, b : float, optional
        The bounds.
    generator : Generator, optional
        Where the numbers come from.

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> bool((torch.nn.init.trunc_normal_(torch.empty(99), a=-1.0, b=1.0).abs() <= 1).all())
    True
    """
    if not tensor.is_floating_point():
        raise NotImplementedError(
            f"trunc_normal_: a tensor of {tensor.dtype} of shape {tuple(tensor.shape)} can't be "
            "filled with real numbers; use one of a floating-point dtype"
        )
    if mean < a - 2 * std or mean > b + 2 * std:
        _warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect.",
        )

    from scipy.special import erfinv  # type: ignore[import-untyped]

    def share_below(x: float) -> float:
        return (1.0 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2.0

    with no_grad():
        drawn = empty(tensor.shape, dtype=float64, device=tensor.device)
        drawn.uniform_(2 * share_below(a) - 1, 2 * share_below(b) - 1, generator=generator)
        quantiles = from_numpy(np.asarray(erfinv(drawn.cpu().numpy())))  # a scalar where it is 0-d
        tensor.copy_(quantiles * (std * math.sqrt(2.0)) + mean)
        return tensor.clamp_(min=a, max=b)


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it passes its input on, channel by channel.

    Parameters
    ----------
    tensor : Tensor
        Of three, four or five dimensions: the first two count channels.
    groups : int, optional
        Of the convolution.

    Returns
    -------
    Tensor
        The same one.

    Raises
    ------
    ValueError
        If it has another number of dimensions, or the first doesn't divide by `groups`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.init.dirac_(torch.empty(2, 2, 3))
    tensor([[[0., 1., 0.],
             [0., 0., 0.]],
    <BLANKLINE>
            [[0., 0., 0.],
             [0., 1., 0.]]])
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    outputs, inputs, *sizes = tensor.shape
    if outputs % groups:
        raise ValueError("dim 0 must be divisible by groups")
    middle = tuple(n // 2 for n in sizes)
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            first = group * (outputs // groups)
            for channel in range(min(outputs // groups, inputs)):
                tensor[(first + channel, channel, *middle)] = 1
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill a matrix with orthonormal rows or columns, whichever are fewer, drawn evenly.

    More than two dimensions are taken as a matrix of the first and all others. Saxe, McClelland and
    Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep linear neural networks"
    (2013).

    Parameters
    ----------
    tensor : Tensor
        What to fill, of at least two dimensions.
    gain : float, optional
        A factor, see `calculate_gain`.
    generator : Generator, optional
        Where the numbers come from.

    Returns
    -------
    Tensor
        The same one.

    Raises
    ------
    ValueError
        If it has fewer than two dimensions.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> w = torch.nn.init.orthogonal_(torch.empty(2, 3))
    >>> torch.testing.assert_close(w @ w.t(), torch.eye(2))
    """

    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    with no_grad():
        drawn = empty(rows, columns, dtype=tensor.dtype, device=_drawn_on(tensor))
        drawn.normal_(0, 1, generator=generator)
        wide = drawn.cpu().to(complex128 if drawn.is_complex() else float64).numpy()
        q, r = np.linalg.qr(wide.T if rows < columns else wide)
        diagonal = np.diagonal(r)
        q = q * (diagonal / np.abs(diagonal))  # else the distribution isn't even
        values = from_numpy(np.ascontiguousarray(q.T if rows < columns else q)).to(drawn.device)
        # The factor first: where it is refused, the tensor is as before.
        return tensor.copy_(values.reshape(tensor.shape).to(tensor.dtype).mul_(gain))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix with normally distributed numbers, and each column with some zeros.

    Martens, "Deep learning via Hessian-free optimization" (2010).

    Parameters
    ----------
    tensor : Tensor
        What to fill.
    sparsity : float
        The share of zeros in each column, rounded up.
    std : float, optional
        Standard deviation of the others.
    generator : Generator, optional
        Where the numbers come from.

    Returns
    -------
    Tensor
        The same one.

    Raises
    ------
    ValueError
        If it has not two dimensions.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> (torch.nn.init.sparse_(torch.empty(4, 3), 0.5) == 0).sum(0)
    tensor([2, 2, 2])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            order = randperm(rows, generator=generator, device=_drawn_on(tensor))
            tensor[order[:zeros], column] = 0
    return tensor


def _drawn_on(tensor: Tensor) -> Any:
    """Return the device that numbers for a tensor are drawn on, whose generator it is."""
    return "cpu" if tensor.is_meta else tensor.device


# Programs call these two by the names that torch gives them.


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Return how many inputs feed an output, and how many outputs an input feeds."""
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    receptive = math.prod(tensor.shape[2:])
    return tensor.shape[1] * receptive, tensor.shape[0] * receptive


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """Return one of the two, by its name."""
    modes = ["fan_in", "fan_out"]
    if str(mode).lower() not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


def _fans_sum(tensor: Tensor) -> float:
    return float(sum(_calculate_fan_in_and_fan_out(tensor)))


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _left_empty(tensor: Tensor) -> Tensor:
    _warn("Initializing zero-element tensors is a no-op")
    return tensor


# Names of torch that initializers of others call.
def _no_grad_fill_(tensor: Tensor, val: float) -> Tensor:
    return constant_(tensor, val)


def _no_grad_zero_(tensor: Tensor) -> Tensor:
    return constant_(tensor, 0)


def _no_grad_normal_(tensor: Tensor, mean: float, std: float, generator: Any = None) -> Tensor:
    return normal_(tensor, mean, std, generator)


def _no_grad_uniform_(tensor: Tensor, a: float, b: float, generator: Any = None) -> Tensor:
    return uniform_(tensor, a, b, generator)


def _no_grad_trunc_normal_(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any = None
) -> Tensor:
    return trunc_normal_(tensor, mean, std, a, b, generator)


def _renamed(new: str) -> Any:
    """The name without underscore, of the time before in-place functions had one."""
    fill, old = globals()[new], new[:-1]

    def renamed(*args: Any, **kwargs: Any) -> Tensor:
        _warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.",
            FutureWarning,
        )
        return fill(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = old
    renamed.__doc__ = f"Deprecated: :func:`{new}` took its place."
    return renamed


uniform = _renamed("uniform_")
normal = _renamed("normal_")
constant = _renamed("constant_")
eye = _renamed("eye_")
dirac = _renamed("dirac_")
orthogonal = _renamed("orthogonal_")
sparse = _renamed("sparse_")
xavier_uniform = _renamed("xavier_uniform_")
xavier_normal = _renamed("xavier_normal_")
kaiming_uniform = _renamed("kaiming_uniform_")
kaiming_normal = _renamed("kaiming_normal_")
