"""Functions whose output is a sample: a reward stands for the gradient that it has none of."""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor

from ..tensors.wrapping import is_number, typename, wrap
from ._state import VariableBase
from .engine import STOCHASTIC
from .function import Function

__all__ = ["StochasticFunction"]

_NONE_YET = object()
_DROPPED = object()


class StochasticFunction(Function):
    """
    A Function of one output, a sample, whose ``backward`` gets a reward.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import Variable
    >>> p = Variable(torch.ones(2) / 2, requires_grad=True)
    >>> sample = p.bernoulli()
    >>> sample.reinforce(1)
    >>> sample.backward()
    >>> len(p.grad)
    2
    """

    _is_stochastic = True
    reward: Any = _NONE_YET
    reward_info: Any = None

    def _do_forward(self, *inputs: Any) -> Any:
        self.reward = _NONE_YET
        result = super()._do_forward(*inputs)
        if not isinstance(result, VariableBase):
            raise RuntimeError(
                f"{type(self).__name__}: stochastic functions support only a single output"
            )
        # A sample carries no gradient; what the Function itself needs is kept for the reward.
        result._needs_grad = False
        self._outputs = None
        self.reward_info = inputs[0]._tensor.dtype, result._tensor.shape, result._tensor.device
        STOCHASTIC["used"] = True
        return result

    def _do_backward(self, grad_outputs: Any, retain_variables: bool) -> Any:
        self._check_reward()
        result = super()._do_backward((self.reward,), retain_variables)
        if not retain_variables:
            self.reward = _DROPPED
        return result

    def _check_reward(self) -> None:
        if self.reward is _NONE_YET:
            raise RuntimeError(
                "differentiating stochastic functions requires providing a reward: call "
                f"reinforce(reward) on the sample of {type(self).__name__}"
            )
        if self.reward is _DROPPED:
            raise RuntimeError(
                f"the reward of {type(self).__name__} went with the first backward, this is the "
                "second time; pass retain_variables=True to the first"
            )

    def _reinforce(self, reward: Any) -> None:
        if self.reward is not _NONE_YET:
            raise RuntimeError("you can only reinforce a stochastic Function once")
        dtype, shape, device = self.reward_info
        if is_number(reward):
            self.reward = wrap(ag.full(shape, float(reward), dtype=dtype, device=device))
            return
        if not isinstance(reward, Tensor):
            raise TypeError(
                f"a reward has to be a number or a tensor, but got {type(reward).__name__}"
            )
        if reward.dtype is not dtype:
            raise TypeError(
                f"mismatch between reward and output type: got {typename(reward)}, but expected "
                f"{typename(ag.empty(0, dtype=dtype))}"
            )
        if reward.shape != shape:
            raise ValueError(
                f"got reward of size {tuple(reward.shape)}, but expected a tensor of size "
                f"{tuple(shape)}"
            )
        self.reward = wrap(reward.detach())
