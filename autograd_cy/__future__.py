"""How modules convert their parameters, and load them: ``torch.__future__``.

By default a parameter stays the same object and gets another memory. The module may make a new
parameter instead, or exchange what both are (:func:`autograd_cy.utils.swap_tensors`).
"""

from __future__ import annotations

__all__ = [
    "get_overwrite_module_params_on_conversion",
    "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion",
    "set_swap_module_params_on_conversion",
]

_overwrite_module_params_on_conversion: bool = False
_swap_module_params_on_conversion: bool = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """
    Choose whether a conversion gives a module new parameters.

    Parameters
    ----------
    value : bool
        False, the default: parameters stay the same objects.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.__future__.set_overwrite_module_params_on_conversion(False)
    """
    global _overwrite_module_params_on_conversion
    _overwrite_module_params_on_conversion = value


def get_overwrite_module_params_on_conversion() -> bool:
    """
    Return whether a conversion gives a module new parameters.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.__future__.get_overwrite_module_params_on_conversion()
    False
    """
    return _overwrite_module_params_on_conversion


def set_swap_module_params_on_conversion(value: bool) -> None:
    """
    Choose whether conversions and ``load_state_dict`` exchange what parameters are.

    Parameters
    ----------
    value : bool
        True: by :func:`autograd_cy.utils.swap_tensors`, and ``load_state_dict`` by
        ``Tensor.module_load``. False, the default: they get other memory, or other values.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.__future__.set_swap_module_params_on_conversion(False)
    """
    global _swap_module_params_on_conversion
    _swap_module_params_on_conversion = value


def get_swap_module_params_on_conversion() -> bool:
    """
    Return whether conversions and ``load_state_dict`` exchange what parameters are.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.__future__.get_swap_module_params_on_conversion()
    False
    """
    return _swap_module_params_on_conversion
