"""Variables that a module owns."""

from __future__ import annotations

from typing import Any

from ..autograd import Variable
from ..creation import default_type
from ..tensors.classes import EraTensor

__all__ = ["Parameter", "fresh"]


class Parameter(Variable):
    """
    A Variable that a module lists among its parameters when it is assigned as an attribute.

    Parameters
    ----------
    data : tensor
    requires_grad : bool, optional

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.nn.Parameter(torch.ones(2)).requires_grad
    True
    """

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        if data is None:
            data = default_type()()
        super().__init__(data, requires_grad=requires_grad)

    @property
    def volatile(self) -> bool:
        """False: a volatile parameter would never be trained."""
        return False

    @volatile.setter
    def volatile(self, value: bool) -> None:
        if value:
            raise RuntimeError("Parameters can't be volatile; make the input volatile")

    def __repr__(self) -> str:
        text = repr(EraTensor.view(self.data.contiguous(), *self.data.size()))
        return "Parameter containing:" + ("" if text.startswith("\n") else "\n") + text


def fresh(*sizes: int) -> Parameter:
    """A parameter of the default type whose values are yet to be drawn."""
    return Parameter(default_type()(*sizes))
