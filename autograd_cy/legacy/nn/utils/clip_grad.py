"""Gradients of limited size."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["clip_grad_norm"]


def clip_grad_norm(parameters: Iterable[Any], max_norm: float, norm_type: float = 2) -> float:
    """
    Scale all gradients down together if their norm is more than `max_norm`.

    Parameters
    ----------
    parameters : iterable of Variable
    max_norm : float
    norm_type : float, optional
        ``inf`` for the largest element.

    Returns
    -------
    float
        The norm before.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy import nn
    >>> p = nn.Parameter(torch.ones(4))
    >>> (p * 3).sum().backward()
    >>> nn.utils.clip_grad_norm([p], 1.0)
    6.0
    """
    grads = [p.grad.data for p in parameters if p.grad is not None]
    if not grads:
        return 0.0
    if norm_type == float("inf"):
        total = max(g.abs().max() for g in grads)
    else:
        total = sum(g.norm(norm_type) ** norm_type for g in grads) ** (1.0 / norm_type)
    factor = max_norm / (total + 1e-6)
    if factor < 1:
        for g in grads:
            g.mul_(factor)
    return total
