"""Batch normalisation over the batches of all ranks: what nn.SyncBatchNorm computes."""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy.distributed._world import ProcessGroup

from .functional import all_gather

__all__ = ["normalize", "statistics"]


def statistics(input: Tensor, group: ProcessGroup) -> tuple[Tensor, Tensor, Tensor]:
    """
    Return mean, variance and count of the channels of a batch that is spread over ranks.

    Each rank computes mean and sum of squared deviations of its own part; the parts are combined as
    in T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating Formulae and a Pairwise Algorithm for
    Computing Sample Variances", 1979. Parts may be of different size, or empty.

    Parameters
    ----------
    input : Tensor
        Shape ``(N, C, ...)``; N may differ between ranks.
    group : ProcessGroup

    Returns
    -------
    tuple of Tensor
        Mean and biased variance, shape ``(C,)``, and the number of elements of a channel.

    Raises
    ------
    ValueError
        On every rank, if there is at most one element of a channel.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.nn.batch_norm import statistics
    >>> ag.distributed.init_process_group()
    >>> mean, var, count = statistics(ag.tensor([[1.0], [3.0]]), ag.distributed.group.WORLD)
    >>> mean.item(), var.item(), count.item()
    (2.0, 1.0, 2.0)
    >>> ag.distributed.destroy_process_group()
    """
    # Half precision is too coarse for sums.
    values = input.float() if input.dtype in (ag.float16, ag.bfloat16) else input
    dims = [0, *range(2, input.dim())]
    channels = input.shape[1]
    number = input.numel() // channels
    if number:
        mean = values.mean(dims)
        centred = values - mean.reshape(1, -1, *[1] * (input.dim() - 2))
        deviations = (centred * centred).sum(dims)
    else:  # the derivative still takes part
        mean = deviations = values.sum(dims)
    counts = ag.full((1,), float(number), dtype=values.dtype, device=values.device)
    parts = ag.stack(all_gather(ag.cat([mean, deviations, counts]), group))
    counts = parts[:, -1:].detach()
    count = counts.sum()
    if count <= 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{list(input.shape)} over all ranks"
        )
    means, deviations = parts[:, :channels], parts[:, channels : 2 * channels]
    mean = (counts * means).sum(0) / count
    var = (deviations + counts * (means - mean) ** 2).sum(0) / count
    return mean, var, count


def normalize(
    input: Tensor, mean: Tensor, var: Tensor, weight: Any, bias: Any, eps: float
) -> Tensor:
    """
    Return a batch with its channels shifted and scaled.

    Parameters
    ----------
    input : Tensor
        Shape ``(N, C, ...)``.
    mean, var : Tensor
        Shape ``(C,)``.
    weight, bias : Tensor or None
        Shape ``(C,)``.
    eps : float
        Added to the variance.

    Returns
    -------
    Tensor
        Of the shape and dtype of the input.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.nn.batch_norm import normalize
    >>> x = ag.tensor([[1.0], [3.0]])
    >>> normalize(x, ag.tensor([2.0]), ag.tensor([1.0]), None, None, 0.0)
    tensor([[-1.],
            [ 1.]])
    """
    shape = (1, -1, *[1] * (input.dim() - 2))
    scale = (var + eps).rsqrt()
    if weight is not None:
        scale = scale * weight
    result = (input - mean.reshape(shape)) * scale.reshape(shape)
    if bias is not None:
        result = result + bias.reshape(shape)
    return result.to(input.dtype)
