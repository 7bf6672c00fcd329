"""``Variable``, the wrapper that tensors needed before they had gradients of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_cy._C import engine as _engine
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.tensor import Tensor, _install

__all__ = ["Variable"]


class _ExecutionEngine:
    """The engine that programs reach as ``Variable._execution_engine``."""

    queue_callback = staticmethod(_engine.queue_callback)
    run_backward = staticmethod(_engine.run_backward)

    @staticmethod
    def is_checkpoint_valid() -> bool:
        """False while a backward runs that wants some gradients only."""
        return not _engine._is_selective()


def _volatile(self) -> bool:
    """Always False: :func:`no_grad` has taken its place."""
    _warn("volatile was removed (Variable.volatile is always False)", UserWarning)
    return False


def _set_volatile(self, value: Any) -> None:
    _warn(_NO_EFFECT, UserWarning)


_NO_EFFECT = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."
_install("volatile", property(_volatile, _set_volatile))


class VariableMeta(type):
    """Make every tensor an instance of :class:`Variable`, and calls of it return tensors."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)

    def __call__(
        cls,
        data: Tensor | None = None,
        requires_grad: bool = False,
        volatile: bool = False,
        **unknown: Any,
    ) -> Tensor:
        if unknown:
            raise TypeError(
                f"{next(iter(unknown))!r} is an invalid keyword argument for Variable, which takes "
                "data, requires_grad and volatile"
                + ("; grad_fn took the place of creator" if "creator" in unknown else "")
            )
        for name, flag in (("requires_grad", requires_grad), ("volatile", volatile)):
            if not isinstance(flag, int):
                raise TypeError(f"Variable: {name} must be a bool, not {type(flag).__name__}")
        if data is not None and not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if (
            requires_grad
            and data is not None
            and not (data.is_floating_point() or data.is_complex())
        ):
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients "
                f"(Variable got {data.dtype})"
            )
        if volatile:
            _warn(_NO_EFFECT, UserWarning)
            if requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time!")
        result = Tensor() if data is None else data.detach()
        return result.requires_grad_() if requires_grad else result


class Variable(Tensor, metaclass=VariableMeta):
    """
    A tensor outside of any graph, as the older interface made it; new code uses tensors directly.

    Parameters
    ----------
    data : Tensor, optional
        Memory and version counter are shared with it, its history isn't. Default: no elements.
    requires_grad : bool, default False
        Whether operations on the result are recorded.
    volatile : bool, default False
        Without effect; :func:`no_grad` has taken its place.

    Returns
    -------
    Tensor
        A leaf. ``isinstance(t, Variable)`` is True for every tensor.

    Raises
    ------
    TypeError
        If `data` is no tensor.
    RuntimeError
        If `requires_grad` is set and the dtype is neither floating nor complex.
    ValueError
        If both flags are set.

    Warns
    -----
    UserWarning
        If `volatile` is set.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.autograd.Variable(ag.ones(2), requires_grad=True)
    >>> x.sum().backward()
    >>> x.grad
    tensor([1., 1.])
    >>> isinstance(ag.zeros(1), ag.autograd.Variable)
    True
    """

    _execution_engine: Any = _ExecutionEngine()

    if TYPE_CHECKING:

        def __init__(
            self, data: Tensor | None = None, requires_grad: bool = False, volatile: bool = False
        ) -> None: ...
