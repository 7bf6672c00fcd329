"""Questions about a tensor: what it is, and what is still to be done to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_cy._C.tensor import Tensor, _install
from autograd_cy._environment.docstrings import described_like

__all__ = [
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_inference",
    "is_neg",
    "is_nonzero",
    "is_tensor",
    "numel",
]


def need_tensor(x: Any, op: str, name: str = "input") -> Tensor:
    """Return an argument that must be a tensor; TypeError if it isn't."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{op}(): argument '{name}' must be Tensor, not {type(x).__name__}")
    return x


def need_tensors(arguments: Sequence[Any], op: str) -> None:
    """Refuse what is no tensor among arguments that must be."""
    for i, t in enumerate(arguments):
        if not isinstance(t, Tensor):
            raise TypeError(
                f"{op}(): expected Tensor as element {i} in argument 'tensors', but got "
                f"{type(t).__name__}"
            )


def need_dim(dim: int, ndim: int, op: str = "") -> int:
    """Return a dimension counted from the front; IndexError if there is none such."""
    if not -ndim <= dim < ndim:
        raise IndexError(
            f"{op}Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but "
            f"got {dim})"
        )
    return dim % ndim


def is_tensor(obj: Any) -> bool:
    """
    Return whether `obj` is a tensor.

    Parameters
    ----------
    obj : object

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_tensor(1.0)
    False
    """
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """
    Return whether the dtype of a tensor is a floating one.

    Parameters
    ----------
    input : Tensor
        Of any shape.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `input` is no tensor.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_floating_point(ag.ones(1))
    True
    """
    return need_tensor(input, "is_floating_point").is_floating_point()


@described_like(
    is_floating_point,
    {"a floating one": "complex", "is_floating_point": "is_complex", "True": "False"},
)
def is_complex(input: Tensor) -> bool:
    return need_tensor(input, "is_complex").is_complex()


@described_like(
    is_floating_point,
    {
        "the dtype of a tensor is a floating one": "a tensor was made in inference mode",
        "is_floating_point": "is_inference",
        "True": "False",
    },
)
def is_inference(input: Tensor) -> bool:
    return need_tensor(input, "is_inference").is_inference()


def is_nonzero(input: Tensor) -> bool:
    """
    Return whether the only element of a tensor isn't zero.

    Parameters
    ----------
    input : Tensor
        With one element.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `input` is no tensor.
    RuntimeError
        If it hasn't exactly one element.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_nonzero(ag.tensor([0.0]))
    False
    """
    return bool(need_tensor(input, "is_nonzero"))


def is_conj(input: Tensor) -> bool:
    """
    Return whether the conjugation of a tensor is still to be done: memory holds the conjugates.

    Parameters
    ----------
    input : Tensor
        Of any shape.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `input` is no tensor.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, dtype=ag.complex64)
    >>> ag.is_conj(x.conj()), ag.is_conj(x.conj().clone())
    (True, False)
    """
    return need_tensor(input, "is_conj").is_conj()


@described_like(
    is_conj,
    {
        "conjugation": "negation",
        "the conjugates": "the negatives",
        "ag.is_conj(x.conj())": "ag.is_neg(x.conj().imag)",
        "ag.is_conj(x.conj().clone())": "ag.is_neg(-x)",
    },
)
def is_neg(input: Tensor) -> bool:
    return need_tensor(input, "is_neg").is_neg()


def numel(input: Tensor) -> int:
    """
    Number of elements of a tensor.

    Parameters
    ----------
    input : Tensor
        Of any shape.

    Returns
    -------
    int
        The product of the sizes; 1 for a 0-d tensor.

    Raises
    ------
    TypeError
        If `input` is no tensor.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.numel(ag.ones(2, 3))
    6
    """
    return need_tensor(input, "numel").numel()


_install("is_nonzero", is_nonzero)
