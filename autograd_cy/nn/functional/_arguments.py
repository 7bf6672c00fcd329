"""What functions of layers and losses ask of their arguments."""

from __future__ import annotations

import warnings

from autograd_cy import Tensor

__all__ = ["check_probability", "implicit_dim", "reduction_name"]


def reduction_name(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """Return the reduction that the arguments of a loss mean, old and new.

    Parameters
    ----------
    size_average, reduce : bool or None
        The older spelling; it wins if either is given.
    reduction : str
        The newer one.

    Returns
    -------
    {"mean", "sum", "none"}

    Raises
    ------
    ValueError
        If ``reduction`` is none of these.

    Examples
    --------
    >>> reduction_name(None, None, "sum")
    'sum'
    """
    if size_average is not None or reduce is not None:
        summed = size_average is not None and not size_average
        each = reduce is not None and not reduce
        reduction = "none" if each else "sum" if summed else "mean"
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{reduction}' instead.",
            stacklevel=3,
        )
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def check_probability(p: float) -> None:
    """Raise unless a dropout probability is one.

    Parameters
    ----------
    p : float
        The probability.

    Raises
    ------
    ValueError
        If it is not between 0 and 1.

    Examples
    --------
    >>> check_probability(0.5)
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def implicit_dim(name: str, input: Tensor) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if input.dim() in (0, 1, 3) else 1
