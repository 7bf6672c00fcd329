"""Gradients kept small: all scaled by one factor, or each element cut off."""

from __future__ import annotations

from collections.abc import Iterable
from types import GeneratorType
from typing import Any

from autograd_cy import Tensor, isinf, isnan, no_grad, stack, tensor
from autograd_cy._C._warned import warn as _warn
from autograd_cy._interpreted import Family

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]


_lists = Family("ops_optimizers")


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Return the norm of all elements of several tensors, as if they were one vector.

    Parameters
    ----------
    tensors : Tensor or iterable of Tensor
        The tensors, which are usually gradients.
    norm_type : float, optional
        The order p of the norm; ``inf`` is the largest absolute value.
    error_if_nonfinite : bool, optional
        Whether a norm that is NaN or infinite is an error.
    foreach : bool, optional
        Accepted as in torch; there is one implementation.

    Returns
    -------
    Tensor
        Of no dimensions.

    Raises
    ------
    RuntimeError
        If `error_if_nonfinite` and the norm isn't finite.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
    tensor(5.)
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    order = float(norm_type)
    if not tensors:
        return tensor(0.0)
    with no_grad():
        first = tensors[0]
        if order == 2.0 and first.is_floating_point() and _are_like(first, tensors):
            total = _lists._foreach_total_norm(tensors)
        else:
            norms = _lists._foreach_norm(tensors, order)
            place = norms[0].device
            total = stack([x if x.device == place else x.to(place) for x in norms]).norm(order)
        if error_if_nonfinite and bool((isnan(total) | isinf(total)).item()):
            raise RuntimeError(
                f"The total norm of order {order} for gradients from `parameters` is non-finite, "
                "so it cannot be clipped. To disable this error and scale the gradients by the "
                "non-finite norm anyway, set `error_if_nonfinite=False`"
            )
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scale gradients by ``max_norm / (total_norm + 1e-6)``, if that is less than 1.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        Those whose gradients are scaled.
    max_norm : float
        The wanted bound.
    total_norm : Tensor
        The norm of all gradients, as `get_total_norm` gives it.
    foreach : bool, optional
        Accepted as in torch; there is one implementation.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> w = torch.nn.Parameter(torch.ones(2))
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> torch.nn.utils.clip_grads_with_norm_(w, 1.0, torch.tensor(10.0))
    >>> w.grad
    tensor([0.3000, 0.4000])
    """
    grads = _grads(parameters)
    if not grads:
        return
    with no_grad():
        # Never read: a factor of 1 changes nothing, and NaN goes to all gradients, as in torch.
        for device, some in _by_device(grads).items():
            here = total_norm if total_norm.is_floating_point() else total_norm.double()
            here = here if here.device == device else here.to(device)
            _lists._foreach_clip_(some, here, float(max_norm))


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients by one factor so that their total norm is at most `max_norm`.

    Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks" (2013).

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        Those whose gradients are scaled.
    max_norm : float
        The bound.
    norm_type : float, optional
        The order of the norm, see `get_total_norm`.
    error_if_nonfinite : bool, optional
        Whether a norm that is NaN or infinite is an error.
    foreach : bool, optional
        Accepted as in torch; there is one implementation.

    Returns
    -------
    Tensor
        The norm before.

    Raises
    ------
    RuntimeError
        If `error_if_nonfinite` and the norm isn't finite.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> w = torch.nn.Parameter(torch.ones(2))
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> torch.nn.utils.clip_grad_norm_(w, 1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    if not isinstance(parameters, Tensor):
        generator = isinstance(parameters, GeneratorType)
        parameters = list(parameters)
        if generator and not parameters:
            _warn(
                "`parameters` is an empty generator, no gradient clipping will occur.",
            )
    total = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """
    Deprecated: :func:`clip_grad_norm_` took its place.

    Parameters
    ----------
    parameters, max_norm, norm_type, error_if_nonfinite, foreach
        As for :func:`clip_grad_norm_`.

    Returns
    -------
    Tensor
        The norm of all gradients before.

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as torch
    >>> weight = torch.zeros(2, requires_grad=True)
    >>> (3 * weight[0] + 4 * weight[1]).backward()
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", FutureWarning)
    ...     torch.nn.utils.clip_grad_norm(weight, 1.0)
    tensor(5.)
    """
    _warn(
        "`nn.utils.clip_grad_norm` is now deprecated in favor of `nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Cut off the elements of gradients outside of ``[-clip_value, clip_value]``.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        Those whose gradients are changed.
    clip_value : float
        The bound.
    foreach : bool, optional
        Accepted as in torch; there is one implementation.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> w = torch.nn.Parameter(torch.ones(2))
    >>> w.grad = torch.tensor([3.0, -4.0])
    >>> torch.nn.utils.clip_grad_value_(w, 1.0)
    >>> w.grad
    tensor([ 1., -1.])
    """
    bound = float(clip_value)
    with no_grad():
        for grad in _grads(parameters):
            grad.clamp_(-bound, bound)


def _grads(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    params = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [x.grad for x in params if x.grad is not None]


def _are_like(first: Tensor, tensors: list[Tensor]) -> bool:
    """Tell if all have the dtype and device of the first one."""
    return all(x.dtype == first.dtype and x.device == first.device for x in tensors)


def _by_device(tensors: list[Tensor]) -> dict[Any, list[Tensor]]:
    groups: dict[Any, list[Tensor]] = {}
    for x in tensors:
        groups.setdefault(x.device, []).append(x)
    return groups
