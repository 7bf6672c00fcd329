"""Normalisation: what belongs to the Python side of it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._tensors.public import public

__all__ = ["batch_norm", "group_norm", "instance_norm", "local_response_norm", "normalize"]


def _check_batch(size: Sequence[int]) -> None:
    """Refuse channels of one element each."""
    count = 1
    for d, n in enumerate(size):
        count *= n if d != 1 else 1
    if count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size}"
        )


_ONE_STATISTIC = "running_mean and running_var must either both be None or neither be None"


@public
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    r"""Return channels with mean 0 and variance 1, times `weight`, plus `bias`.

    Source: S. Ioffe, C. Szegedy, "Batch normalization" (2015).

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C)`` or ``(N, C, *)``.
    running_mean, running_var : Tensor or None
        Of shape ``(C,)``; with `training` changed in place.
    weight, bias : Tensor, optional
        Of shape ``(C,)``.
    training : bool, optional
        Take the statistics of the batch, and not the running ones.
    momentum : float, optional
        How far the running statistics move towards those of the batch.
    eps : float, optional
        What is added to variances.

    Returns
    -------
    Tensor
        Of the shape of `input`.

    Raises
    ------
    ValueError
        If the channels of a batch have one element each.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.tensor([[1.0], [3.0]])
    >>> torch.nn.functional.batch_norm(x, None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    if training:
        if input.dim() > 1 and input.numel() == input.size(1):
            _check_batch(input.size())
        if (running_mean is None) != (running_var is None):
            raise ValueError(_ONE_STATISTIC)
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    return _operators.batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, True
    )


@public
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    r"""Return groups of channels with mean 0 and variance 1 in each sample.

    Source: Y. Wu, K. He, "Group normalization" (2018).

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, *)``.
    num_groups : int
        How many groups the channels make.
    weight, bias : Tensor, optional
        Of shape ``(C,)``.
    eps : float, optional
        What is added to variances.

    Returns
    -------
    Tensor
        Of the shape of `input`.

    Raises
    ------
    ValueError
        If there is one element in each group, and one sample.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.group_norm(torch.tensor([[1.0, 3.0, 5.0, 9.0]]), 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    if input.dim() >= 2 and num_groups > 0:
        size = input.size()
        _check_batch([size[0] * size[1] // num_groups, num_groups, *size[2:]])
    return _operators.group_norm(input, num_groups, weight, bias, eps)


@public
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    r"""Return channels of each sample with mean 0 and variance 1.

    Source: D. Ulyanov, A. Vedaldi, V. Lempitsky, "Instance normalization" (2016).

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, *)``.
    running_mean, running_var : Tensor, optional
        Of shape ``(C,)``; with `use_input_stats` changed in place.
    weight, bias : Tensor, optional
        Of shape ``(C,)``.
    use_input_stats : bool, optional
        Take the statistics of the samples, and not the running ones.
    momentum : float, optional
        How far the running statistics move towards the mean of those of the samples.
    eps : float, optional
        What is added to variances.

    Returns
    -------
    Tensor
        Of the shape of `input`.

    Raises
    ------
    ValueError
        If a channel of a sample has one element.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.instance_norm(torch.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.0000,  1.0000]]])
    """
    if use_input_stats:
        size, count = input.size(), 1
        for n in size[2:]:
            count *= n
        if count == 1:
            raise ValueError(
                f"Expected more than 1 spatial element when training, got input size {size}"
            )
        if (running_mean is None) != (running_var is None):
            raise ValueError(_ONE_STATISTIC)
    return _operators.instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True
    )


@public
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    r"""Divide each element by what its neighbours in the channels are like.

    The divisor is :math:`(k + \frac{\alpha}{n} \sum x_i^2)^\beta`, over `n` channels around it,
    with zeros beyond the first and the last one. Source: A. Krizhevsky, I. Sutskever, G. Hinton,
    "ImageNet classification with deep convolutional neural networks" (2012), section 3.3.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, *)``, with at least three dimensions.
    size : int
        The number of channels `n`.
    alpha, beta, k : float, optional
        Constants of the formula.

    Returns
    -------
    Tensor
        Of the shape of `input`.

    Raises
    ------
    ValueError
        If the input has fewer than three dimensions.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.local_response_norm(torch.ones(1, 1, 2), 1, alpha=3.0, beta=1.0)
    tensor([[[0.2500, 0.2500]]])
    """
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = _operators.square(input)
    size = index(size)  # a narrow number of NumPy would wrap around below
    channels, total = input.size(1), None
    if size >= 2**31:
        raise RuntimeError(f"local_response_norm: integer out of range: size={size}")
    for shift in range(max(-(size // 2), -channels), min((size - 1) // 2, channels) + 1):
        low, high = max(0, -shift), min(channels, channels - shift)
        if low >= high:
            continue
        part = squares.narrow(1, low + shift, high - low)
        if low or high < channels:
            shape = list(input.shape)
            shape[1] = low
            before = input.new_zeros(shape)
            shape[1] = channels - high
            part = _operators.cat((before, part, input.new_zeros(shape)), 1)
        total = part if total is None else total + part
    if total is None:
        raise RuntimeError(f"local_response_norm: size must be positive, but got {size}")
    return input / (total * (alpha / size) + k) ** beta


@public
def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: int | tuple[int, ...] = 1,
    eps: float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    r"""Return vectors of norm 1, :math:`x / \max(\|x\|_p, \epsilon)`.

    Parameters
    ----------
    input : Tensor
        Any shape.
    p : float, optional
        The exponent of the norm.
    dim : int or tuple of int, optional
        The dimensions of the vectors.
    eps : float, optional
        The smallest divisor.
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor
        Of the shape of `input`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.normalize(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    length = _operators.norm(input, p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return _operators.div(input, length, out=out)
