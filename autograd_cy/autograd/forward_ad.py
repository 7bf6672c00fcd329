"""
Forward mode: derivatives along a direction, computed together with the values.

A *dual* tensor has a *tangent*, the direction in which it moves. Operations on duals give duals:
their tangents are Jacobian-vector products, without a graph and without a second pass. See
:func:`autograd_cy.func.jvp` for the same as a function of functions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from autograd_cy._C.forward import (
    DualContext,
    _enter_level,
    _exit_level,
    _make_dual,
    _set_user_level,
    _unpack_dual,
)
from autograd_cy._C.tensor import _M_NO_FORWARD_AD, Tensor, _get_modes
from autograd_cy._environment.contexts import _Decorating
from autograd_cy.autograd.grad_mode import _Switch

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "is_fwd_grad_enabled",
    "make_dual",
    "set_fwd_grad_enabled",
    "unpack_dual",
]

# The level that user code entered, as torch numbers it: -1 none, 0 the only one there is.
_current_level = -1
_level: Any = None
# From now on they are changed in C, where no interrupt comes between.
_set_user_level(globals())


class UnpackedDualTensor(NamedTuple):
    """
    The result of :func:`unpack_dual`.

    Attributes
    ----------
    primal : Tensor
        The value, without the tangent.
    tangent : Tensor or None
        None if the tensor has no tangent.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> import autograd_cy.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     primal, tangent = fwAD.unpack_dual(fwAD.make_dual(ag.ones(1), ag.tensor([2.0])))
    >>> primal, tangent
    (tensor([1.]), tensor([2.]))
    """

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """
    Begin a forward-mode differentiation; :class:`dual_level` does it for a block of code.

    Returns
    -------
    int
        Number of the level, always 0.

    Raises
    ------
    RuntimeError
        If a level is open already.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> import autograd_cy.autograd.forward_ad as fwAD
    >>> level = fwAD.enter_dual_level()
    >>> fwAD.make_dual(ag.ones(1), ag.ones(1)) * 2
    tensor([2.], tangent=tensor([2.]))
    >>> fwAD.exit_dual_level(level=level)
    """
    return _enter_level()


def exit_dual_level(*, level: int | None = None) -> None:
    """
    End the forward-mode differentiation; the tangents of all tensors are cleared.

    Parameters
    ----------
    level : int, optional
        The number that :func:`enter_dual_level` returned.

    Raises
    ------
    RuntimeError
        If no level is open, or another one than `level`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> import autograd_cy.autograd.forward_ad as fwAD
    >>> _ = fwAD.enter_dual_level()
    >>> x = fwAD.make_dual(ag.ones(1), ag.ones(1))
    >>> fwAD.exit_dual_level()
    >>> x
    tensor([1.])
    """
    _exit_level(level)


class dual_level(_Decorating, DualContext):
    """
    Context manager and decorator in which tensors can have tangents.

    When the block ends, the tangents of all tensors are cleared: take what is needed out with
    :func:`unpack_dual` before.

    Raises
    ------
    RuntimeError
        If a level is open already.

    Examples
    --------
    The derivative of the cube at 2 along the direction 1, ``3 * 2**2 * 1``:

    >>> import autograd_cy as ag
    >>> import autograd_cy.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(ag.tensor(2.0), ag.tensor(1.0))
    ...     fwAD.unpack_dual(x**3).tangent
    tensor(12.)
    """


def _need_differentiable(t, what):
    if not (t.is_floating_point() or t.is_complex()):
        raise ValueError(f"Expected {what} to be floating point or complex, but got: {t.dtype}")


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """
    Return a view of `tensor` that moves in the direction `tangent`.

    The tensor itself doesn't get a tangent. In-place operations on the dual, and on views of it,
    change `tangent` in place; it is copied first if it doesn't lie in its memory as `tensor` does
    (strides, size and place within the storage).

    Parameters
    ----------
    tensor : Tensor
        Floating or complex.
    tangent : Tensor
        Of the same shape; of another floating dtype it is converted to that of `tensor`.
    level : int, optional
        Number of the open level.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        Outside of a level; if the shapes differ; if `tensor` or `tangent` is a dual already.
    ValueError
        If a dtype isn't floating or complex.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> import autograd_cy.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     fwAD.make_dual(ag.zeros(2), ag.ones(2)).sin()
    tensor([0., 0.], tangent=tensor([1., 1.]))
    """
    if level is None:
        level = _current_level
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    if level != _current_level:
        raise RuntimeError(f"Invalid level given to make_dual: {level}, not {_current_level}")
    for t, what in ((tensor, "primal"), (tangent, "tangent")):
        if not isinstance(t, Tensor):
            raise TypeError(f"make_dual(): {what} must be Tensor, not {type(t).__name__}")
        _need_differentiable(t, what)
    return _make_dual(tensor, tangent, _level)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """
    Return the value of a dual tensor and its tangent.

    Parameters
    ----------
    tensor : Tensor
    level : int, optional
        Number of the open level.

    Returns
    -------
    UnpackedDualTensor
        ``(primal, tangent)``; the primal is a view of the tensor; the tangent is None if it has
        none, or if no level is open.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> import autograd_cy.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     y = fwAD.make_dual(ag.ones(2), ag.ones(2)) * 3
    ...     primal, tangent = fwAD.unpack_dual(y)
    >>> tangent
    tensor([3., 3.])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"unpack_dual(): argument must be Tensor, not {type(tensor).__name__}")
    if level is None:
        level = _current_level
    if level < 0 or level != _current_level:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_unpack_dual(tensor, _level))


def is_fwd_grad_enabled() -> bool:
    """
    Return whether operations of this thread compute tangents, see :class:`set_fwd_grad_enabled`.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy.autograd.forward_ad as fwAD
    >>> fwAD.is_fwd_grad_enabled()
    True
    """
    return not _get_modes() & _M_NO_FORWARD_AD


class set_fwd_grad_enabled(_Switch):
    """
    Switch forward mode on or off, as a function, context manager or decorator.

    While it is off, results of operations on duals have no tangents.

    Parameters
    ----------
    mode : bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> import autograd_cy.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(ag.ones(1), ag.ones(1))
    ...     with fwAD.set_fwd_grad_enabled(False):
    ...         x * 2
    tensor([2.])
    """

    _changes = ("no_forward", "forward")


_is_fwd_grad_enabled = is_fwd_grad_enabled
_set_fwd_grad_enabled = set_fwd_grad_enabled
