"""Transforms: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from tests.recorded.inputs import iota, sines


# whether what is outside can follow a transformation
def range_func():
    def f(x):
        for _ in range(300):
            x = x * 1
        return x.sum()
    return [torch.func.grad(f)(sines(3)), torch.func.grad(lambda x: torch.func.grad(f)(x
        * x).sum())(sines(3)), torch.func.grad(lambda x: torch.func.grad(lambda y: (y
        * f(x)).sum())(x).sum())(sines(3))]

def sin_func():
    def f(x):
        for _ in range(900):
            x = x.sin()
        return x.sum()
    return torch.func.grad(lambda x: (torch.func.grad(f)(x) * 1e3).sum())(sines(3))

def save_for_backward_saved_tensors():
    class D(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]
    f = lambda x: D.apply(x).sum()
    return [torch.func.grad(f)(sines(3)), torch.func.grad(lambda x: torch.func.grad(f)(x).sum())(
        sines(3))]

torch.func.grad(lambda x: x.sum())(iota(3, dtype=torch.int64))
torch.func.grad(lambda x: x)(sines(3))

def inference_mode_func():
    with torch.inference_mode():
        x = sines(3)
    return torch.func.grad(lambda x: (x * x).sum())(x)

torch.func.jvp(lambda x: torch.func.vjp(lambda v: v**3, x)[1](sines(3))[0], (sines(3),),
    (sines(3),))
torch.func.jvp(lambda x: torch.func.grad(lambda v: (v[1:] * x[:2]).sum() ** 2)(sines(3)),
    (sines(3),), (sines(3),))
