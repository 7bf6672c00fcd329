"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from autograd_cy import Tensor, cat

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all elements of several tensors as one vector, which has their history.

    Parameters
    ----------
    parameters : iterable of Tensor
        The tensors, usually ``model.parameters()``.

    Returns
    -------
    Tensor
        Of one dimension.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.utils.parameters_to_vector([torch.ones(1, 2), torch.zeros(1)])
    tensor([1., 1., 0.])
    """
    return cat([x.reshape(-1) for x in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make consecutive parts of a vector the values of parameters.

    The parameters share the vector's memory afterwards.

    Parameters
    ----------
    vec : Tensor
        The vector.
    parameters : iterable of Tensor
        Parameters, in the order in which the vector has them.

    Raises
    ------
    TypeError
        If `vec` is no tensor.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.Linear(2, 1)
    >>> torch.nn.utils.vector_to_parameters(torch.arange(3.0), layer.parameters())
    >>> layer.weight.tolist(), layer.bias.tolist()
    ([[0.0, 1.0]], [2.0])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec)}")
    start = 0
    for param in parameters:
        stop = start + param.numel()
        param.data = vec[start:stop].view_as(param).data
        start = stop
