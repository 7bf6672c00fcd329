"""Lifetimes: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import error_name, event_names, metadata, sines


# what lives no longer than it must
def saved_tensors_mark_non_differentiable():
    import weakref
    class D(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            ctx.mark_non_differentiable(x * 1)
            return x * y
        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x
    a = sines(3).requires_grad_()
    z = sines(3)
    r = weakref.ref(z)
    y = D.apply(a, z)
    del z
    node = y.grad_fn
    y.sum().backward()
    return [r() is None, a.grad, error_name(lambda: node.saved_tensors)]

# contexts that are entered again
def saved_tensors_hooks_graph():
    hooks = torch.autograd.graph.saved_tensors_hooks
    c = hooks(lambda x: x, lambda x: x)
    return error_name(c.__exit__)

def runtime_error_saved_tensors_hooks():
    g = torch.autograd.graph
    seen = []
    c = g.disable_saved_tensors_hooks("not here")
    def f():
        with g.saved_tensors_hooks(lambda x: x, lambda x: x):
            return 1
    with c:
        a = error_name(f)
        with g.disable_saved_tensors_hooks("nor here"):
            try:
                f()
            except RuntimeError as e:
                seen.append(str(e))
        try:
            f()
        except RuntimeError as e:
            seen.append(str(e))
    return [a, seen, f(), error_name(lambda: g.disable_saved_tensors_hooks(3).__enter__()) if 0
        else 0]

def graph_saved_tensors_hooks():
    g = torch.autograd.graph
    def f():
        with g.saved_tensors_hooks(lambda x: x, lambda x: x):
            with g.disable_saved_tensors_hooks("none in here"):
                return 1
    return f()

def graph_allow_mutation_on_saved_tensors():
    g = torch.autograd.graph
    def f():
        with g.allow_mutation_on_saved_tensors():
            with g.allow_mutation_on_saved_tensors():
                pass
    a = error_name(f)
    x = sines(3).requires_grad_()
    with g.allow_mutation_on_saved_tensors():
        y = x * 1
        z = y * y
        y.mul_(2)
        z.sum().backward()
    with g.allow_mutation_on_saved_tensors():
        pass
    y = x * 1
    z = y * y
    y.mul_(2)
    return [a, x.grad, error_name(lambda: z.sum().backward())]

# what profiles call it
def fill_diagonal_transpose():
    def named(f, x):
        return [e for e in event_names(f, x) if e.endswith("_")][0]
    return [named(*a) for a in ((lambda x: x.copy_(x), sines(3)),
        (lambda x: x.detach_(), sines(3).requires_grad_() * 1),
        (lambda x: x.fill_diagonal_(1), torch.zeros(2, 2)),
        (lambda x: x.resize_(2), sines(3).clone()), (lambda x: x.t_(), sines(2, 3).clone()),
        (lambda x: x.zero_(), sines(3)), (lambda x: x.squeeze_(), sines(2, 1).clone()),
        (lambda x: x.unsqueeze_(0), sines(2, 3).clone()),
        (lambda x: x.transpose_(0, 1), sines(2, 3).clone()), (lambda x: x.fill_(2), sines(2)))]

# no recording, vmaps and tangents at once
def vmap_in_dims():
    with torch.no_grad():
        f = lambda x, d: torch.func.jvp(torch.func.grad(lambda v: (v**3).sum()), (x,), (d,))
        r = vmap(f)(sines(2, 3), sines(2, 3, phase=1.0)), vmap(f, in_dims=(0, None))(sines(2, 3),
            sines(3, phase=1.0)), vmap(f, in_dims=(None, 1))(sines(3), sines(3, 2, phase=1.0))
    return [r, [metadata(x)[:2] for x in r[0]]]

def grad_and_value_has_aux():
    x = sines(2, 3).requires_grad_()
    with torch.no_grad():
        r = vmap(lambda v: torch.func.grad_and_value(lambda u: ((u * u).sum(), u * v),
            has_aux=True)(v))(x)
    return [r[0], r[1][0], r[1][1], metadata(r[0])[:2], metadata(r[1][1])[:2]]

# many edges and outputs
def enumerate_unbind():
    x = sines(12, 2).requires_grad_()
    return [torch.autograd.grad(sum((y * (k + 1)).sum() for k, y in enumerate(x[:n].unbind())), x)
        for n in (3, 4, 5, 12)]

# which node runs, and what is asked of the task
def retain_graph_grad_fn():
    x = sines(3).requires_grad_()
    y = x * 2
    z, u = y.exp(), x * 3
    seen = []
    def hook(g):
        seen.append([torch._C._will_engine_execute_node(n)
            for n in (y.grad_fn, z.grad_fn, u.grad_fn)])
    z.register_hook(hook)
    torch.autograd.grad(z.sum(), y, retain_graph=True)
    z.sum().backward(retain_graph=True)
    torch.autograd.grad(z.sum(), x)
    return [seen, error_name(torch._C._will_engine_execute_node, y.grad_fn)]
