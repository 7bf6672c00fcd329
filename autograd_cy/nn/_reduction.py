"""Reductions of losses, as numbers and from the options of older programs."""

from __future__ import annotations

from .functional._arguments import reduction_code, reduction_name

__all__ = ["get_enum", "legacy_get_enum", "legacy_get_string"]


def get_enum(reduction: str) -> int:
    """Return the number of a reduction.

    Parameters
    ----------
    reduction : {"none", "mean", "sum"}

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If it is another.

    Examples
    --------
    >>> get_enum("sum")
    2
    """
    return reduction_code(None, None, reduction)


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """Return the reduction that two options of older programs mean.

    Parameters
    ----------
    size_average : bool or None
        Whether a sum is divided by the number of its terms.
    reduce : bool or None
        Whether terms are summed.
    emit_warning : bool, optional
        Whether to warn that there are newer options.

    Returns
    -------
    str

    Warns
    -----
    UserWarning
        If that is wanted.

    Examples
    --------
    >>> legacy_get_string(False, None, emit_warning=False)
    'sum'
    """
    if emit_warning:
        return reduction_name(bool(size_average is None or size_average), reduce, "mean")
    if reduce is not None and not reduce:
        return "none"
    return "mean" if size_average is None or size_average else "sum"


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """Return the number of the reduction that two options of older programs mean.

    Parameters
    ----------
    size_average, reduce : bool or None
        As of `legacy_get_string`.
    emit_warning : bool, optional
        Whether to warn that there are newer options.

    Returns
    -------
    int

    Warns
    -----
    UserWarning
        If that is wanted.

    Examples
    --------
    >>> legacy_get_enum(None, False, emit_warning=False)
    0
    """
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
