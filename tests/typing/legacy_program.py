"""A program of the Variable era that passes strict type checkers and runs."""

from typing import Any

from autograd_cy import legacy
from autograd_cy.legacy.autograd import (
    Function,
    NestedIOFunction,
    StochasticFunction,
    Variable,
    backward,
    gradcheck,
)


class Scale(Function):
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def forward(self, x: Any) -> Any:
        self.save_for_backward(x)
        return x * self.factor

    def backward(self, grad: Any) -> Any:
        (saved,) = self.saved_tensors
        assert self.needs_input_grad == (True,) and saved is not None
        return grad * self.factor


class Both(NestedIOFunction):
    def forward_extended(self, pair: Any) -> Any:
        return pair[0] * 2, pair[1] * 3

    def backward_extended(self, first: Any, second: Any) -> Any:
        return first * 2, second * 3


def differentiate() -> list[Variable]:
    x = Variable(legacy.ones(2), requires_grad=True)
    handle = x.register_hook(lambda grad: grad * 2)
    y: Variable = Scale(3.0)(x)
    a, b = Both()((y, y))
    backward([a.sum(), b.sum()], [None, legacy.ones(1)], retain_variables=True)
    handle.remove()
    sample = x.bernoulli()
    assert isinstance(sample.creator, StochasticFunction)
    sample.reinforce(1.0)
    sample.backward()
    assert gradcheck(Scale(2.0), (Variable(legacy.rand(2).double(), requires_grad=True),))
    return [x.grad, x.detach()]


if __name__ == "__main__":
    print(differentiate())
