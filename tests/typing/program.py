"""A program as users write it; a strict type checker has nothing to say about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import autograd_cy as torch
from autograd_cy import Tensor, nn
from autograd_cy.autograd import Function, forward_ad
from autograd_cy.autograd.function import FunctionCtx, once_differentiable
from autograd_cy.autograd.functional import hessian, jacobian
from autograd_cy.autograd.profiler import profile, record_function
from autograd_cy.func import grad, jvp, vmap
from autograd_cy.nn import functional as F
from autograd_cy.optim import SGD, Adam
from autograd_cy.profiler import profile as stepwise
from autograd_cy.profiler import schedule


class Cube(Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        ctx.set_materialize_grads(True)
        return x**3

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 3 * x * x * grad


class Scaled(Function):
    @staticmethod
    def forward(x: Tensor, factor: float) -> Tensor:
        return x * factor

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, float], output: Tensor) -> None:
        _, ctx.factor = inputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad * ctx.factor, None

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, _: None) -> Tensor:
        scaled: Tensor = tangent * ctx.factor
        return scaled


class Model(nn.Module):
    def __init__(self, width: int, hidden: int = 8) -> None:
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.second = nn.Linear(hidden, 1)
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        hidden = F.relu(self.first(x))
        out: Tensor = self.second(F.dropout(hidden, 0.1, self.training))
        return out * self.scale


def batches(count: int) -> Iterator[tuple[Tensor, Tensor]]:
    for _ in range(count):
        x = torch.randn(16, 3)
        yield x, x.sum(dim=1, keepdim=True)


def train(steps: int) -> list[float]:
    model = Model(3)
    adam = Adam(model.parameters(), lr=1e-2)
    losses: list[float] = []
    handle = model.register_forward_hook(lambda module, args, output: None)
    for x, y in batches(steps):
        adam.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        adam.step()
        losses.append(loss.item())
    handle.remove()
    SGD(model.parameters(), lr=0.1, momentum=0.9).load_state_dict(
        SGD(model.parameters(), lr=0.2, momentum=0.9).state_dict()
    )
    model.load_state_dict(model.state_dict())
    return losses


def differentiate() -> tuple[Tensor, ...]:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y: Tensor = Cube.apply(x).sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), [x])
    scaled: Tensor = Scaled.apply(x, 2.0)
    scaled.sum().backward()
    with torch.no_grad():
        x -= 0.1 * first
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x.detach(), torch.ones(2))
        tangent = forward_ad.unpack_dual(dual.sin()).tangent
    assert tangent is not None and x.grad is not None
    return first, second, tangent, x.grad


def transform() -> tuple[Tensor, Tensor]:
    def loss(t: Tensor) -> Tensor:
        return (t * t).sum()

    x = torch.arange(6.0).reshape(2, 3)
    rows: Tensor = vmap(grad(loss))(x)
    _, tangent = jvp(loss, (x,), (torch.ones_like(x),))
    matrix = jacobian(lambda t: t.sin(), x[0])
    curvature = hessian(loss, x[0])
    assert isinstance(matrix, Tensor) and isinstance(curvature, Tensor)
    return rows + matrix.sum() + curvature.diagonal().sum(), tangent


def measure() -> str:
    plan = schedule(wait=0, warmup=1, active=1, repeat=1)
    with stepwise(schedule=plan, with_stack=True) as prof:
        for _ in range(2):
            with record_function("work"):
                transform()
            prof.step()
    averages = prof.key_averages()
    text: str = averages.table(sort_by="self_cpu_time_total", row_limit=3)
    rows = prof.group("line")
    with profile() as block:
        train(1)
    return text + rows.table() + block.summary()


if __name__ == "__main__":
    print(train(20)[-1], differentiate(), transform(), measure())
