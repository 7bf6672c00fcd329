"""Functional: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, differs, error_name, sines

A = torch.autograd.functional

# Jacobians, Hessians and products of autograd.functional: options, flags of results, refusals.
@differs("Torch calls the function, which then fails.")
def exception_partition():
    def said(f, *a, **k):
        try:
            f(*a, **k)
        except Exception as e:
            return str(e).partition("\n")[0]
    f = lambda x: x**2
    return [said(A.vjp, f, [sines(2)]), said(A.vjp, f, (sines(2), 3)), said(A.vjp, f, ()),
        said(A.vjp, lambda x: (x, 3), sines(2)), said(A.vjp, f, sines(2)), said(A.jvp, f, sines(2)),
        said(A.vjp, f, sines(2), sines(3)), said(A.vjp, lambda x: (x, x), sines(2), (sines(2),)),
        said(A.vjp, lambda x: (x, x), sines(2), (sines(2), sines(3))),
        said(A.vjp, f, sines(2), (sines(2), sines(2))),]

def strict_jacobian():
    one, lin, sep = lambda x, y: x.sum() * 2, lambda x, y: x.sum() + y.sum(), lambda x, y: (
        x**2).sum() + (y**2).sum()
    a, b = sines(2), sines(2, phase=1)
    def does(f, *r, **k):
        return error_name(lambda: f(*r, **k))
    return [does(A.vjp, one, (a, b), strict=True), does(A.vjp, lin, (a, b), strict=True),
        does(A.vjp, lin, (a, b), strict=True, create_graph=True),
        does(A.jvp, one, (a, b), (a, b), strict=True),
        does(A.jvp, lin, (a, b), (a, b), strict=True),
        does(A.jvp, lambda x, y: (x * 1, sines(2)), (a, b), (a, b), strict=True),
        does(A.vhp, lin, (a, b), (a, b), strict=True),
        does(A.vhp, sep, (a, b), (a, b), strict=True),
        does(A.hvp, sep, (a, b), (a, b), strict=True),
        does(A.hvp, lin, (a, b), (a, b), strict=True), does(A.jacobian, one, (a, b), strict=True),
        does(A.jacobian, lin, (a, b), strict=True),
        does(A.jacobian, lin, (a, b), strict=True, create_graph=True),
        does(A.hessian, sep, (a, b), strict=True), does(A.hessian, lin, (a, b), strict=True),
        does(A.jacobian, sep, (a, b), strict=True, vectorize=True),
        does(A.hessian, sep, (a, b), strict=True, vectorize=True)]

def vectorize_outer_jacobian_strategy():
    f = lambda x: (x**2).sum()
    def does(f, *r, **k):
        return error_name(lambda: f(*r, **k))
    return [does(A.jacobian, f, sines(2), strategy="none"),
        does(A.jacobian, f, sines(2), strategy="forward-mode"),
        does(A.jacobian, f, sines(2), strategy="forward-mode", vectorize=True, create_graph=True),
        does(A.jacobian, f, sines(2), strategy="forward-mode", vectorize=True, strict=True),
        does(A.hessian, f, sines(2), outer_jacobian_strategy="none"),
        does(A.hessian, f, sines(2), outer_jacobian_strategy="forward-mode"),
        does(A.hessian, f, sines(2), outer_jacobian_strategy="forward-mode", vectorize=True,
        create_graph=True), does(A.hessian, f, sines(2), outer_jacobian_strategy="forward-mode",
        vectorize=True, strict=True), does(A.jacobian, f, complex_sines(2)),
        does(A.jacobian, lambda x: x * 2, complex_sines(2)), does(A.hessian, lambda x: x, sines(2)),
        does(A.hessian, lambda x: (x.sum(),), sines(2)),
        does(A.hvp, lambda x: x, sines(2), sines(2)),
        does(A.hvp, lambda x: (x.sum(),), sines(2), sines(2)),
        does(A.vhp, lambda x: x, sines(2), sines(2)), does(A.hvp, f, sines(2)),
        does(A.vhp, f, sines(2)), does(A.hessian, lambda x: x.sum() * x[:1], sines(2)),]

with differs("Torch's hvp has no strategy."):
    error_name(lambda: A.hvp(lambda x: x.sum(), sines(2), sines(2), strategy="none"))
    A.hvp(lambda x: (x**3).sum(), sines(2), sines(2), strategy="auto")
    A.hvp(lambda x: (x**3).sum(), sines(2), sines(2), strategy="forward-mode")
    error_name(lambda: A.hvp(lambda x: (x**3).sum(), sines(2), sines(2), strategy="forward-mode",
        create_graph=True))
    error_name(lambda: A.hvp(lambda x: (x**3).sum(), sines(2), sines(2), strategy="forward-mode",
        strict=True))
    A.hvp(lambda x: (x**3).sum(), sines(2).requires_grad_(), sines(2), strategy="auto",
        create_graph=True)[1].requires_grad
    A.hessian(lambda x: (x**3).sum(), sines(2), outer_jacobian_strategy="auto")
    A.hessian(lambda x: (x**3).sum(), sines(2).requires_grad_(), outer_jacobian_strategy="auto",
        create_graph=True).requires_grad
    error_name(lambda: A.hvp(lambda x: x.sum(), sines(2), sines(2), strategy="auto", strict=True))
    error_name(lambda: A.hessian(lambda x: x.sum(), sines(2), strict=True,
        outer_jacobian_strategy="auto"))

# flags of results, with and without a graph
def is_leaf_create_graph():
    def flags(r):
        return [flags(x) for x in r] if isinstance(r, tuple) else r.requires_grad
    x, y, v = sines(2).requires_grad_(), sines(2, phase=1), sines(2, phase=2).requires_grad_()
    f, g = lambda x, y: (x * x * y, y * 2), lambda x, y: (x * x * y).sum()
    r = []
    for c in (False, True):
        r += [A.vjp(f, (x, y), (v, v), create_graph=c), A.jvp(f, (x, y), (v, v), create_graph=c),
            A.vhp(g, (x, y), (v, v), create_graph=c), A.hvp(g, (x, y), (v, v), create_graph=c),
            A.jacobian(f, (x, y), create_graph=c), A.hessian(g, (x, y), create_graph=c)]
    k = torch.autograd.grad(sum(q[1][0].sum() for q in r[6:10]), (x, v))
    return [flags(tuple(r)), r[0], r[1], r[2], r[3], r[4], r[5], k, x.grad is None, x.is_leaf]

# grad mode, given leaves and their grads are left as they were
def is_grad_enabled_jacobian():
    x = sines(2).requires_grad_()
    with torch.no_grad():
        r = A.jacobian(lambda x: x**2, x), A.hvp(lambda x: (x**3).sum(), x,
            sines(2)), torch.is_grad_enabled()
    return [r, x.grad is None, torch.is_grad_enabled(), error_name(A.jacobian, lambda x: 3, x),
        torch.is_grad_enabled()]

# what has no tangents, and what belongs to a graph outside
@differs("Torch's hvp has no strategy.")
def strategy_vectorize():
    class N(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3
        @staticmethod
        def backward(ctx, g):
            return 3 * g * ctx.saved_tensors[0] ** 2
    f = lambda x: N.apply(x).sum()
    return [error_name(lambda: A.hvp(f, sines(2), sines(2), strategy="forward-mode")),
        A.hvp(f, sines(2), sines(2), strategy="auto"),
        error_name(lambda: A.hessian(f, sines(2), outer_jacobian_strategy="forward-mode",
        vectorize=True)), A.hessian(f, sines(2), outer_jacobian_strategy="auto"),
        error_name(lambda: A.jacobian(f, sines(2), strategy="forward-mode", vectorize=True))]

@differs("torch keeps a graph that wasn't asked for in forward mode")
def jacobian_vectorize():
    p = sines(2).requires_grad_()
    return [A.jacobian(lambda x: x * p, sines(2), vectorize=True,
        strategy="forward-mode").requires_grad, A.jacobian(lambda x: x * p, sines(2),
        vectorize=True).requires_grad, A.jacobian(lambda x: x * p, sines(2)).requires_grad,
        A.hessian(lambda x: (x * x * p).sum(), sines(2), vectorize=True,
        outer_jacobian_strategy="forward-mode").requires_grad,
        A.hessian(lambda x: (x * x * p).sum(), sines(2), create_graph=True).requires_grad,
        A.vjp(lambda x: x * p, sines(2), sines(2))[0].requires_grad]

@differs("torch says that the gradient is independent of the inputs.")
def ones_like_rstrip():
    class Flat(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2
        @staticmethod
        def backward(ctx, grad):
            return torch.ones_like(grad)
    def said(strict, create_graph):
        try:
            return A.jvp(Flat.apply, sines(2), sines(2, phase=1), create_graph, strict)[1]
        except RuntimeError as e:
            return str(e).partition(". ")[0].rstrip(".")
    return [said(False, False), said(False, True), said(True, False), said(True, True)]
