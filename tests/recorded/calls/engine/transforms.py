"""Transforms: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import iota, metadata, sines


# whether what is outside can follow a transformation
def requires_grad_phase():
    x, y = sines(3).requires_grad_(), sines(3, phase=1.0)
    g = torch.func.grad(lambda x: (x * x).sum())(x)
    h = torch.func.grad(lambda v: (v * x).sum())(y)
    k = torch.func.grad(lambda v: (v * v).sum())(y)
    return [g.requires_grad, h.requires_grad, k.requires_grad, torch.autograd.grad(g.sum(), x),
        torch.autograd.grad(h.sum(), x)]

def no_grad_metadata():
    x = sines(3).requires_grad_()
    with torch.no_grad():
        g = torch.func.grad(lambda x: (x * x).sum())(x)
    return [metadata(g), g]

def grad_and_value_has_aux():
    x = sines(3).requires_grad_()
    g, (v, aux) = torch.func.grad_and_value(lambda x: ((x * x).sum(), x * 2), has_aux=True)(x)
    return [g.requires_grad, v.requires_grad, aux.requires_grad,
        torch.autograd.grad(aux.sum() + v, x)]

def grad_and_value_has_aux_2():
    g, (v, aux) = torch.func.grad_and_value(lambda x: ((x * x).sum(), x * 2),
        has_aux=True)(sines(3))
    return [metadata(g)[:2], metadata(v)[:2], metadata(aux)[:2]]

def grad_func():
    f = lambda x: (x**3).sum()
    return [torch.func.grad(lambda x: torch.func.grad(f)(x).sum())(sines(3)),
        torch.func.grad(lambda x: torch.func.grad(lambda x: torch.func.grad(f)(x).sum())(x).sum())(
        sines(3))]

def phase_argnums():
    f = lambda x, y: torch.func.grad(lambda v: (v * y).sum() ** 2)(x).sum()
    return [torch.func.grad(f)(sines(3), sines(3, phase=1.0)),
        torch.func.grad(f, argnums=1)(sines(3), sines(3, phase=1.0))]

def mul_func():
    def f(x):
        y = x * 1
        y[1:].mul_(x[1:])
        return torch.func.grad(lambda v: (v * y).sum() ** 2)(x).sum()
    return torch.func.grad(f)(sines(3))

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

def setup_context_inputs():
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

vmap(torch.func.grad(lambda x: (x**2).sum()))(sines(2, 3))
torch.func.grad(lambda x: vmap(torch.func.grad(lambda v: (v**3).sum()))(x).sum())(sines(2, 3))
vmap(lambda x: torch.func.grad(lambda v: (v * x).sum() ** 2)(x))(sines(2, 3))

def requires_grad_vmap():
    x = sines(2, 3).requires_grad_()
    g = vmap(lambda v: torch.func.grad(lambda u: (u * v).sum() ** 2)(v))(x)
    return [g.requires_grad, torch.autograd.grad(g.sum(), x)]

def no_grad_vmap():
    x = sines(2, 3).requires_grad_()
    with torch.no_grad():
        g = vmap(lambda v: torch.func.grad(lambda u: (u * v).sum() ** 2)(v))(x)
    return [metadata(g)[:2], g]

def requires_grad_vmap_2():
    x = sines(3).requires_grad_()
    g = torch.func.grad(lambda u: vmap(lambda v: (v * x).sum())(u).sum() ** 2)(sines(2, 3))
    return [g.requires_grad, torch.autograd.grad(g.sum(), x)]

def back_vjp():
    y, back = torch.func.vjp(lambda x: (x * x, x.sum()), sines(3))
    return [y, back((sines(3), sines())), back((sines(3), sines())), metadata(y[0])[:2],
        metadata(back((sines(3), sines()))[0])[:2]]

def back_vjp_2():
    x = sines(3).requires_grad_()
    y, back = torch.func.vjp(lambda v: v * x, sines(3))
    return [metadata(y)[:2], metadata(back(sines(3))[0])[:2]]

torch.func.grad(lambda x: x.sum())(iota(3, dtype=torch.int64))
torch.func.grad(lambda x: x)(sines(3))
torch.func.grad(lambda x: 3.0)(sines(3))

def inference_mode_func():
    with torch.inference_mode():
        x = sines(3)
    return torch.func.grad(lambda x: (x * x).sum())(x)

def jvp_metadata():
    d = sines(3).requires_grad_()
    y, v = torch.func.jvp(lambda x: x * x, (sines(3),), (d,))
    return [metadata(y)[:2], metadata(v)[:2], torch.autograd.grad(v.sum(), d)]

def no_grad_jvp():
    with torch.no_grad():
        r = torch.func.jvp(lambda x: torch.func.grad(lambda v: (v**3).sum())(x), (sines(3),),
            (sines(3),))
    return [r, metadata(r[0])[:2]]

torch.func.jvp(lambda x: torch.func.vjp(lambda v: v**3, x)[1](sines(3))[0], (sines(3),),
    (sines(3),))
torch.func.jvp(lambda x: torch.func.grad(lambda v: (v[1:] * x[:2]).sum() ** 2)(sines(3)),
    (sines(3),), (sines(3),))
