"""Variables: tensors with a place in the graph."""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy.utils.hooks import RemovableHandle

from .. import _dispatch
from . import _functions as F
from . import function as _function
from ._methods import Arithmetic, Choosing, Products, Reductions, Shaping
from ._state import name_absent
from .engine import ImperativeEngine
from .stochastic_function import StochasticFunction

__all__ = ["Variable"]


class Variable(Arithmetic, Products, Reductions, Shaping, Choosing):
    """
    A tensor that operations remember the way to.

    Parameters
    ----------
    data : tensor
        Shown and not copied.
    requires_grad : bool, default False
        Whether backward computes a gradient of it, a Variable as `grad`.
    volatile : bool, default False
        Whether nothing that is made of it is recorded, whatever else it is made of.
    creator : Function, optional

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import Variable
    >>> x = Variable(torch.ones(2), requires_grad=True)
    >>> (x * x * 3).sum().backward()
    >>> x.grad.data.tolist()
    [6.0, 6.0]
    """

    _execution_engine: Any = ImperativeEngine()

    def backward(self, gradient: Any = None, retain_variables: bool = False) -> None:
        """
        Add the gradients of this Variable into those of the leaves that it was made of.

        Parameters
        ----------
        gradient : tensor or Variable, optional
            The weight of each element; 1 if there is one element only.
        retain_variables : bool, default False
            Whether saved tensors are kept for another backward.

        Raises
        ------
        RuntimeError
            Of a volatile Variable; of several elements without a gradient.
        """
        if self._is_volatile:
            raise RuntimeError("calling backward on a volatile variable")
        if gradient is None and self._needs_grad:
            gradient = one_for(self)
        elif isinstance(gradient, Variable):
            gradient = gradient._tensor
        elif gradient is not None and not isinstance(gradient, Tensor):
            raise TypeError(
                f"gradient has to be a tensor, Variable or None, but got {type(gradient).__name__}"
            )
        self._execution_engine.run_backward((self,), (gradient,), bool(retain_variables))

    def register_hook(self, hook: Any) -> RemovableHandle:
        """
        Call ``hook(grad)`` with the complete gradient, a Variable; one that it returns replaces it.

        Raises
        ------
        RuntimeError
            Of a volatile Variable, or one that doesn't require grad.
        """
        if self._is_volatile:
            raise RuntimeError("cannot register a hook on a volatile variable")
        if not self._needs_grad:
            raise RuntimeError("cannot register a hook on a variable that doesn't require gradient")
        hooks = self._hooks_to_add_to()
        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        return handle

    def detach(self) -> Any:
        """A leaf on the same data that needs no gradient; they share their version."""
        result = F.NoGrad()(self)
        result._creator = None
        return result

    def detach_(self) -> None:
        """Make this Variable a leaf that needs no gradient."""
        self._creator = None
        self._needs_grad = False

    def reinforce(self, reward: Any) -> None:
        """
        Give the reward of a sample, which stands for its gradient in backward.

        Parameters
        ----------
        reward : number or tensor
            A tensor of the size of the sample, and of the type of what it was drawn with.

        Raises
        ------
        RuntimeError
            Of a Variable that is no sample, or has a reward.
        """
        if not isinstance(self._maker, StochasticFunction):
            raise RuntimeError("reinforce() can be only called on outputs of stochastic functions")
        self._maker._reinforce(reward)

    @staticmethod
    def cat(iterable: Any, dim: int = 0) -> Any:
        """Variables one after the other along a dimension."""
        return F.Concat(dim)(*iterable)

    @staticmethod
    def normal(means: Any, std: Any = 1) -> Any:
        """Samples of normal distributions."""
        if isinstance(std, Variable):
            if not isinstance(means, Variable):
                raise TypeError("normal: means and deviations have both to be Variables")
            return F.Normal()(means, std)
        return F.Normal(std)(means)


def one_for(variable: Any) -> Any:
    """The gradient of a Variable of one element that nobody gave."""
    if variable._tensor.numel() != 1:
        raise RuntimeError(
            "backward should be called only on a scalar (i.e. 1-element tensor) or with gradient "
            f"w.r.t. the variable (of size {tuple(variable._tensor.shape)})"
        )
    return ag.ones_like(variable._tensor)


def _stack(sequence: Any, dim: int = 0) -> Any:
    """Variables of one size along a new dimension."""
    return Variable.cat([v.unsqueeze(dim) for v in sequence], dim)


name_absent(Variable)
_function._bind(Variable)
_dispatch.register(
    Variable,
    {
        "cat": Variable.cat,
        "chunk": Variable.chunk,
        "normal": Variable.normal,
        "split": Variable.split,
        "stack": _stack,
        "unbind": Variable.unbind,
    },
)
