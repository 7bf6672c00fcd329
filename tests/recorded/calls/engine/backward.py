"""Backward: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    iota,
    metadata,
    sines,
    tangents,
)

C = torch._C
E = torch.autograd.graph.get_gradient_edge

# gradients that are summed, cast, refused
def grad_sines():
    x = sines(3).requires_grad_()
    y = x * sines(2, 1, 3)
    return torch.autograd.grad(y, x, sines(2, 1, 3))

def error_name_float32():
    x = sines(3).requires_grad_()
    y = x * 2
    return [error_name(lambda: torch.autograd.grad(y, x, sines(2))),
        error_name(lambda: torch.autograd.grad(y, x, sines(1, 3))),
        error_name(lambda: torch.autograd.grad(y, x, sines(1))),
        torch.autograd.grad(y, x, sines(3).to(torch.float32))]

def backward_sines():
    x = sines(3).requires_grad_()
    y = x * 2
    return y.backward(sines(2))

def backward_complex_sines():
    x = sines(3).requires_grad_()
    y = x * 2
    return y.backward(complex_sines(3))

def error_name_complex_sines():
    x = sines(3).requires_grad_()
    y = x * (2 + 1j)
    return [torch.autograd.grad(y, x, complex_sines(3)), error_name(lambda: y.backward(sines(3))),
        error_name(y.sum().backward)]

def ask_box():
    x = sines(2, 3).requires_grad_()
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: box[0])
    box = [None]
    def ask(g):
        box[0] = g
        return torch.autograd.grad(F.apply(x).sum(), x)[0]
    return [ask(sines(2, 3)), ask(sines(4, 2, 3)), ask(sines(1, 2, 3)), ask(sines(4, 1, 2, 3)),
        ask(iota(2, 3, dtype=torch.float32)), ask(iota(2, 3, dtype=torch.int64)),
        ask(sines(1, 2, 3).requires_grad_())]

def ask_box_2():
    x = sines(2, 1).requires_grad_()
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: box[0])
    box = [None]
    def ask(g):
        box[0] = g
        return torch.autograd.grad(F.apply(x).sum(), x)[0]
    return [ask(sines(2, 3)), ask(sines(4, 2, 3)), ask(sines(2, 1)), error_name(ask, sines(3, 1)),
        error_name(ask, sines(2)), error_name(ask, sines(1)), error_name(ask, sines())]

def ask_box_3():
    x = sines().requires_grad_()
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: box[0])
    box = [None]
    def ask(g):
        box[0] = g
        return torch.autograd.grad(F.apply(x).sum(), x)[0]
    return [ask(sines(2, 3)), ask(sines(1)), ask(sines(1, 1)), ask(sines(0))]

def requires_grad_create_graph():
    x = sines(1, 1).requires_grad_()
    v = sines(1, 2, 3).requires_grad_()
    return [torch.autograd.grad((x * v).sum(), (x, v)),
        torch.autograd.grad((x * v).sum(), x, create_graph=True)[0].requires_grad]

def create_graph_grad_fn():
    x = sines(1, 3).requires_grad_()
    v = sines(1, 1, 1, 3).requires_grad_()
    g = torch.autograd.grad((x * x * v).sum(), (x, v), create_graph=True)
    return [*g, torch.autograd.grad((g[0] * sines(1, 3)).sum(), (x, v)), g[0].grad_fn.name()]

vmap(torch.func.grad(lambda x: (x * sines(1, 1, 3)).sum()))(sines(2, 3))
vmap(torch.func.grad(lambda x: (x * sines(4, 3)).sum()))(sines(2, 1))

# several roots, the same root twice, roots that lead to each other
def partial_functools():
    import functools
    G = functools.partial(torch.autograd.grad, retain_graph=True)
    x = sines(3).requires_grad_()
    y = x * 2
    z = y * 3
    return [G([y, z], x, [sines(3), sines(3, phase=1)]), G([y, y], x, [sines(3), sines(3)])]

def grad_backward():
    x = sines(3).requires_grad_()
    y = x * 2
    return [torch.autograd.backward([y.sum(), x.sum()]), x.grad,
        torch.autograd.backward([x, x], [sines(3), sines(3)]), x.grad]

def unbind_retain_graph():
    x = sines(3).requires_grad_()
    a, b = x.aminmax()
    u, v = (x * 2).unbind()[:2]
    return [torch.autograd.grad([b, a], x, retain_graph=True), torch.autograd.grad(b, x),
        torch.autograd.grad([u, v], x)]

def grad_sum():
    x = sines(3).requires_grad_()
    return [torch.autograd.grad(x, x, sines(3)), torch.autograd.grad(x.sum(), x),
        torch.autograd.grad([x, x], [x, x], [sines(3), sines(3)])]

def exp_retain_graph():
    x = sines(3).requires_grad_()
    y = x * 2
    z = y.exp()
    return [torch.autograd.grad(z.sum(), [y, x, y], retain_graph=True),
        torch.autograd.grad([z, y], [y, x], [sines(3), sines(3)])]

def allow_unused_materialize_grads():
    x = sines(3).requires_grad_()
    u = sines(3).requires_grad_()
    y = x * 2
    return [torch.autograd.grad(y.sum(), [x, u], allow_unused=True, retain_graph=True),
        torch.autograd.grad(y.sum(), [u, x], allow_unused=True, materialize_grads=True)]

def grad_sum_2():
    x = sines(3).requires_grad_()
    u = sines(3).requires_grad_()
    y = x * 2
    return torch.autograd.grad(y.sum(), [x, u])

def grad_sum_3():
    x = sines(3).requires_grad_()
    y = x * 2
    return torch.autograd.grad(y.sum(), sines(3))

def grad_sum_4():
    x = sines(3).requires_grad_()
    y = x * 2
    return torch.autograd.grad(y.sum(), [x, sines(3)])

torch.autograd.grad(sines(3).sum(), sines(3).requires_grad_())
torch.autograd.backward([sines(3).requires_grad_().sum(), sines(3).sum()])

def requires_grad_no_grad():
    x = sines(3).requires_grad_()
    y = x * 1
    with torch.no_grad():
        v = y[1:]
    return v.sum().requires_grad, v.requires_grad

def no_grad_mul():
    x = sines(3).requires_grad_()
    y = x * 1
    with torch.no_grad():
        v = y[1:]
        r = y.mul_(2)
    return v.backward(sines(2))

# edges in the place of tensors
def grad_retain_graph():
    x = sines(3).requires_grad_()
    y = x * 2
    z = y.exp()
    return [torch.autograd.grad(E(z), E(y), sines(3), retain_graph=True),
        torch.autograd.grad(z.sum(), [E(x), E(y)], retain_graph=True),
        torch.autograd.grad([E(z)], x, [sines(3)])]

def output_nr_node():
    x = sines(3).requires_grad_()
    a, b = (x * 2).unbind()[1:]
    return [E(b).output_nr, E(x).output_nr, type(E(x).node).__name__,
        torch.autograd.grad(E(b), x, torch.tensor(2.0), retain_graph=True),
        torch.autograd.grad(x.exp().sum(), E(x)), error_name(
        lambda: torch.autograd.graph.get_gradient_edge(sines(3)))]

@differs("Torch looks at no number of an output before it asks for it.")
def gradient_edge_graph():
    x = sines(3).requires_grad_()
    y = x * 2
    E = torch.autograd.graph.GradientEdge
    return torch.autograd.grad(E(y.grad_fn, 1), x, sines(3))

@differs("This ends the process in torch.")
def gradient_edge_graph_2():
    x = sines(3).requires_grad_()
    y = x * 2
    E = torch.autograd.graph.GradientEdge
    return torch.autograd.grad(y.sum(), E(y.grad_fn, -1))

def get_gradient_edge_graph():
    x = sines(3).requires_grad_()
    y = x * 2
    return torch.autograd.backward(torch.autograd.graph.get_gradient_edge(y.sum()))

def backward_inputs():
    x = sines(3).requires_grad_()
    y = x * 2
    return [torch.autograd.backward(y.sum(), inputs=[E(x)]), x.grad]

# backward to chosen inputs
def exp_inputs():
    x, u = sines(3).requires_grad_(), sines(3).requires_grad_()
    y = x * u
    z = y.exp()
    return [z.sum().backward(inputs=[x]), x.grad, u.grad]

def retains_grad_inputs():
    x, u = sines(3).requires_grad_(), sines(3).requires_grad_()
    y = x * u
    z = y.exp()
    return [z.sum().backward(inputs=[y, u]), x.grad, u.grad, y.grad, y.retains_grad]

def grad_inputs():
    x, u = sines(3).requires_grad_(), sines(3).requires_grad_()
    y = x * u
    z = y.exp()
    return [z.sum().backward(inputs=y), x.grad, u.grad, y.grad]

def exp_inputs_2():
    x, u = sines(3).requires_grad_(), sines(3).requires_grad_()
    y = x * 2
    z = y.exp()
    return [z.sum().backward(inputs=[u]), x.grad, u.grad, error_name(lambda: z.sum().backward())]

def error_name_inputs():
    x, u = sines(3).requires_grad_(), sines(3).requires_grad_()
    return [error_name(lambda: (x * u).sum().backward(inputs=[])),
        error_name(lambda: (x * u).sum().backward(inputs=[sines(3)])), x.grad]

def seen_enumerate():
    x = sines(3).requires_grad_()
    seen = []
    y = x.exp()
    z = y * 2 + y.sin()
    h = [t.register_hook(lambda g, k=k: seen.append((k, g))) for k, t in enumerate((x, y, z))]
    return [torch.autograd.grad(z.sum(), y), seen]

def retain_graph_enumerate():
    import functools
    G = functools.partial(torch.autograd.grad, retain_graph=True)
    x = sines(3).requires_grad_()
    seen = []
    y = x.exp()
    z = y * 2
    h = [n.register_prehook(lambda g, k=k: seen.append(k))
        for k, n in enumerate((y.grad_fn, z.grad_fn))]
    i = [n.register_hook(lambda g, o, k=k: seen.append(k + 10))
        for k, n in enumerate((y.grad_fn, z.grad_fn))]
    return [G(z.sum(), y), seen[:], z.sum().backward(inputs=[y], retain_graph=True), seen[:],
        G(z.sum(), [x, y]), seen]

# what a first backward frees, and what it keeps
def saved_result_grad_fn():
    x = sines(3).requires_grad_()
    y = x.exp()
    z = y.sum()
    return [z.backward(), error_name(z.backward), error_name(lambda: y.grad_fn._saved_result),
        x.grad]

def backward_retain_graph():
    x = sines(3).requires_grad_()
    y = x.exp()
    z = y.sum()
    return [z.backward(retain_graph=True), z.backward(), error_name(z.backward), x.grad]

def requires_grad_create_graph_2():
    x = sines(3).requires_grad_()
    z = x.exp().sum()
    return [z.backward(create_graph=True), x.grad.requires_grad, x.grad, z.backward(),
        x.grad.requires_grad, error_name(z.backward)]

def create_graph_retain_graph():
    x = sines(3).requires_grad_()
    z = x.exp().sum()
    return [z.backward(create_graph=True, retain_graph=False), error_name(z.backward),
        x.grad.requires_grad]

def exp_sin():
    x = sines(3).requires_grad_()
    y = x.exp()
    z = (y * 2).sum()
    u = y.sin().sum()
    return [z.backward(), error_name(u.backward), x.grad]

def exp_is_grad_enabled():
    x = sines(3).requires_grad_()
    z = x.exp()
    return [torch.is_grad_enabled(), error_name(lambda: z.backward(sines(2))),
        torch.is_grad_enabled(), z.backward(sines(3)), x.grad]

def seen_create_graph():
    x = sines(3).requires_grad_()
    seen = []
    y = x * 2
    h = y.register_hook(lambda g: seen.append((torch.is_grad_enabled(), g.requires_grad)))
    return [torch.autograd.grad(y.sum(), x, create_graph=True)[0].requires_grad,
        torch.autograd.grad(y.sum(), x)[0].requires_grad, seen]

def after_create_graph():
    x = sines(3).requires_grad_()
    y = (x * x).sum()
    with torch.no_grad():
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        after = torch.is_grad_enabled()
    return [g.requires_grad, after]

# the grad of leaves: taken over, copied, added to
def metadata_data_ptr():
    x = sines(2, 3).requires_grad_()
    y = x * 1
    g = sines(2, 3)
    r = y.backward(g)
    return [x.grad, metadata(x.grad), x.grad.data_ptr() == g.data_ptr()]

def grad_metadata():
    x = sines(2, 3).requires_grad_()
    g = sines(2, 3)
    r = x.backward(g)
    a = x.grad
    r = x.backward(g)
    return [x.grad is a, a, metadata(a)[:2]]

def expand_stride():
    x = sines(2, 3).requires_grad_()
    r = x.backward(sines(1, 1).expand(2, 3))
    return [x.grad, x.grad.stride()]

def grad_stride():
    x = sines(2, 3).requires_grad_()
    r = x.backward(sines(3, 2).t())
    return [x.grad, x.grad.stride()]

def grad_stride_2():
    x = (sines(2, 3) + 0).t().requires_grad_()
    r = x.sum().backward()
    return [x.grad, x.grad.stride()]

def stride_detach():
    x = sines(2, 6)[:, ::2].detach().requires_grad_()
    r = (x * 2).sum().backward()
    return [x.grad, x.grad.stride()]

def stride_detach_2():
    x = sines(2, 6)[:, ::2].detach().requires_grad_()
    r = x.backward(sines(3, 2).t())
    return [x.grad, x.grad.stride()]

def stride_expand():
    x = sines(1).expand(3).detach().requires_grad_()
    r = (x * sines(3)).sum().backward()
    return [x.grad, x.grad.stride()]

def grad_stride_3():
    x = sines(3, 1).requires_grad_()
    r = x.backward(sines(1, 3).t())
    return [x.grad, x.grad.stride()]

def grad_stride_4():
    x = sines(3).requires_grad_()
    r = x.sum().backward()
    x.grad = None
    s = (x * 2).sum().backward()
    return [x.grad, x.grad.stride()]

def create_graph_metadata():
    x = sines(3).requires_grad_()
    x.grad = sines(3)
    a = x.grad
    r = x.backward(sines(3), create_graph=True)
    return [x.grad, x.grad is a, a, metadata(x.grad)]

def create_graph_metadata_2():
    x = sines(3).requires_grad_()
    r = (x * x).sum().backward(create_graph=True)
    a = x.grad
    s = (x * 2).sum().backward()
    b = x.grad
    return [a is b, metadata(a)[:2], metadata(b)[:2], a, b]

def create_graph_metadata_3():
    x = sines(3).requires_grad_()
    r = (x * x).sum().backward()
    a = x.grad
    s = (x * x).sum().backward(create_graph=True)
    b = x.grad
    return [a is b, metadata(a)[:2], metadata(b)[:2], a, b]

def mul_grad():
    x = sines(3).requires_grad_()
    v = sines(3).requires_grad_()
    r = (x + v).backward(sines(3))
    s = x.grad.mul_(2)
    return [x.grad, v.grad]

def mul_grad_2():
    x = sines(3).requires_grad_()
    v = sines(3).requires_grad_()
    y = x * 2
    r = (y + v).backward(sines(3))
    s = v.grad.mul_(5)
    return [x.grad, v.grad]

def seen_data_ptr():
    x = sines(2).requires_grad_()
    y = x * 1
    seen = []
    h = y.register_hook(seen.append)
    r = y.backward(sines(2))
    return [seen[0].data_ptr() == x.grad.data_ptr(), x.grad.mul_(3), seen]

def is_conj_complex_sines():
    z = complex_sines(3).requires_grad_()
    r = z.backward(complex_sines(3).conj())
    return [z.grad, z.grad.is_conj()]

def complex_sines_conj():
    z = complex_sines(3).requires_grad_()
    r = z.backward(complex_sines(3))
    s = z.backward(complex_sines(3).conj())
    return z.grad

def grad_backward_2():
    x = sines(3).requires_grad_()
    y = x * 2
    r = x.requires_grad_(False)
    return [y.sum().backward(), x.grad]

def data_error_name():
    x = sines(3).requires_grad_()
    y = x * 2
    x.data = sines(2)
    return [error_name(lambda: y.sum().backward()), x.grad]

def data_backward():
    x = sines(2, 3).requires_grad_()
    y = x * 2
    x.data = sines(6)
    return y.sum().backward()

def grad_backward_3():
    x = sines(3).requires_grad_()
    x.grad = sines(3)
    y = (x * 2).sum()
    return [y.backward(), x.grad]

vmap(lambda a: torch.func.grad(lambda x: (x * a).sum())(sines(3)))(sines(2, 3))

def vmap_backward():
    x = sines(3).requires_grad_()
    return vmap(lambda a: (x * a).sum().backward())(sines(2, 3))

def error_name_vmap():
    x = sines(3).requires_grad_()
    return [error_name(lambda: vmap(lambda a: (x * a).sum().backward())(sines(2, 3))), x.grad]

# gradients that meet
def exp_sin_2():
    x = sines(3).requires_grad_()
    y = x * 1
    z = y.exp() + y.sin() + y * y + y
    return torch.autograd.grad(z.sum(), x)

def create_graph_sin():
    x = sines(3).requires_grad_()
    y = x * 1
    z = y.exp() + y.sin() + y * y + y
    return [torch.autograd.grad(z.sum(), x, create_graph=True),
        torch.autograd.grad(torch.autograd.grad(z.sum(), x, create_graph=True)[0].sum(), x)]

def partial_functools_2():
    import functools
    G = functools.partial(torch.autograd.grad, retain_graph=True)
    x = sines(2, 3).requires_grad_()
    y = x * 1
    g = sines(3, 2).t()
    h = sines(2, 3)
    return [G([y, y], x, [g, h]), G([y, y], x, [h, g]), g, h]

def expand_grad():
    x = sines(2, 3).requires_grad_()
    g = sines(1, 3).expand(2, 3)
    h = sines(2, 3)
    y = x * 1
    return [torch.autograd.grad([y, y, y], x, [g, h, g]), g, h]

def float32_float16():
    x = sines(3).requires_grad_()
    y = x * 1
    a = y.to(torch.float32)
    b = y.to(torch.float16)
    return torch.autograd.grad([y, a, b], x, [sines(3), sines(3, dtype=torch.float32),
        sines(3, dtype=torch.float16)])

def complex_sines_conj_2():
    import functools
    G = functools.partial(torch.autograd.grad, retain_graph=True)
    z = complex_sines(3).requires_grad_()
    y = z * 1
    return [G([y, y], z, [complex_sines(3), complex_sines(3).conj()]),
        G([y, y], z, [complex_sines(3).conj(), complex_sines(3).conj()]),
        G([y.real, y], z, [sines(3), complex_sines(3)])]

def partial_functools_3():
    import functools
    G = functools.partial(torch.autograd.grad, retain_graph=True)
    x = sines(3).requires_grad_()
    u, v = sines(3), sines(3)
    y = x * 1
    return [G([y, y], x, [u, u]), u, G([y + y, y], x, [u, v]), u, v]

def partial_functools_4():
    import functools
    G = functools.partial(torch.autograd.grad, retain_graph=True)
    x = sines(3).requires_grad_()
    y = x * 1
    g = sines(3).requires_grad_()
    return [G([y, y], x, [g, sines(3)])[0].requires_grad,
        G([y, y], x, [sines(3), g])[0].requires_grad,
        G([y, y], x, [g, g], create_graph=True)[0].requires_grad]

def tangents_vmap():
    def f(a):
        return torch.autograd.grad([y, y], x, [a, a * 2], retain_graph=True)[0]
    x = sines(3).requires_grad_()
    y = x * 1
    return [vmap(f)(sines(2, 3)), tangents(f, sines(3))]

# wide nodes: results, operands, and a half that is wanted
def item_phase():
    xs = [sines(2, phase=k).requires_grad_() for k in range(12)]
    y = torch.cat(xs)
    return [g.sum().item() for g in torch.autograd.grad((y * sines(24)).sum(), xs)]

def item_phase_2():
    xs = [sines(2, phase=k).requires_grad_() for k in range(9)]
    y = torch.cat(xs)
    return [g.sum().item() for g in torch.autograd.grad((y * sines(18)).sum(), xs[7:])]

def unbind_enumerate():
    x = sines(7, 2).requires_grad_()
    ys = x.unbind()
    return [torch.autograd.grad(sum((k + 1) * y.sum() for k, y in enumerate(ys)), x),
        torch.autograd.grad(ys[6].sum(), x), torch.autograd.grad(ys[4].sum() + ys[5].exp().sum(),
        x)]

def unbind_enumerate_2():
    x = sines(4, 2).requires_grad_()
    ys = x.unbind()
    return torch.autograd.grad(sum((k + 1) * y.sum() for k, y in enumerate(ys)), x)

def unbind_enumerate_3():
    x = sines(5, 2).requires_grad_()
    ys = x.unbind()
    return [torch.autograd.grad(sum((k + 1) * y.sum() for k, y in enumerate(ys)), x),
        error_name(lambda: torch.autograd.grad(ys[0], x, sines(3)))]

# many nodes that are ready at once run newest first
def order_picks():
    def order(n, picks):
        x = sines(3).requires_grad_()
        seen = []
        ys = [x * k for k in range(n)]
        for k, y in enumerate(ys):
            y.register_hook(lambda g, k=k: seen.append(k))
        torch.autograd.backward([ys[k] for k in picks(n)], [sines(3)] * len(picks(n)))
        return seen
    return [order(1, range), order(2, range), order(9, range), order(7, lambda n: range(n)[::-1]),
        order(11, lambda n: [(k * 7) % n for k in range(n)])]

def order_reverse():
    def order(n, step):
        x = sines(1).requires_grad_()
        seen = []
        ys = [x * k for k in range(n)]
        for k, y in enumerate(ys):
            y.register_hook(lambda g, k=k: seen.append(k))
        torch.autograd.backward([ys[(k * step) % n] for k in range(n)], [sines(1)] * n)
        return seen == sorted(seen, reverse=True)
    return [order(n, step) for n in (31, 32, 33, 64, 65, 97, 130) for step in (1, 5)]

# backward inside of backward
def depth_enable_grad():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            ctx.save_for_backward(x)
            return x * 2
        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            if ctx.depth:
                with torch.enable_grad():
                    u = x.detach().requires_grad_()
                    F.apply(u, ctx.depth - 1).sum().backward()
                return u.grad + g, None
            return g, None
    x = sines(2).requires_grad_()
    return [torch.autograd.grad(F.apply(x, n).sum(), x) for n in (0, 1, 3, 39, 40, 45)]

def other_seen():
    x = sines(3).requires_grad_()
    y = x * 2
    z = y * 3
    other = (x * 5).sum()
    seen = []
    h = y.register_hook(lambda g: seen.append(torch.autograd.grad(other, x)[0]))
    return [torch.autograd.grad(z.sum(), x), seen]

def seen_retain_graph():
    x = sines(3).requires_grad_()
    y = x * 2
    z = y.exp()
    seen = []
    h = z.register_hook(lambda g: seen.append(torch.autograd.grad(y, x, sines(3),
        retain_graph=True)[0]))
    return [torch.autograd.grad(z.sum(), x), seen]

def seen_partial():
    import functools
    G = functools.partial(torch.autograd.grad, retain_graph=True)
    x = sines(3).requires_grad_()
    y = x * 2
    z = y.exp()
    u = y.sin()
    seen = []
    h = z.register_hook(lambda g: seen.append(G([u, y], [x, y], [sines(3), sines(3)])))
    return [G((z + u).sum(), x), seen]

def seen_register_hook():
    x = sines(3).requires_grad_()
    y = x * 2
    z = y.exp()
    seen = []
    h = y.register_hook(lambda g: seen.append(error_name(lambda: torch.autograd.grad(z.sum(),
        sines(3)))))
    return [torch.autograd.grad(z.sum(), x), seen]

def seen_retain_graph_2():
    x = sines(3).requires_grad_()
    v = sines(3).requires_grad_()
    y = x * v
    z = y.exp()
    seen = []
    h = z.register_hook(lambda g: seen.append(torch.autograd.grad(y, x, sines(3),
        retain_graph=True)[0]))
    return [torch.autograd.grad(z.sum(), v), seen]

# questions while it runs
def seen_retain_graph_3():
    x = sines(3).requires_grad_()
    y = x * 2
    z = y * 3
    u = y.sin()
    seen = []
    h = z.register_hook(lambda g: seen.append([C._will_engine_execute_node(n)
        for n in (z.grad_fn, y.grad_fn, u.grad_fn, y.grad_fn.next_functions[0][0])]))
    return [z.sum().backward(retain_graph=True), seen]

def seen_retain_graph_4():
    x, v = sines(3).requires_grad_(), sines(3).requires_grad_()
    y = x * 2
    a = v * 2
    z = y * a
    seen = []
    h = z.register_hook(lambda g: seen.append([C._will_engine_execute_node(n)
        for n in (z.grad_fn, y.grad_fn, a.grad_fn)]))
    return [torch.autograd.grad(z.sum(), x, retain_graph=True),
        torch.autograd.grad(z.sum(), [a, y], retain_graph=True), z.sum().backward(inputs=[v]), seen]

torch._C._will_engine_execute_node(None)

def seen_register_hook_2():
    x = sines(3).requires_grad_()
    y = x * 2
    seen = []
    h = y.register_hook(lambda g: seen.append(error_name(lambda: C._will_engine_execute_node(3))))
    return [y.sum().backward(), seen]

def seen_inputs():
    import functools
    G = functools.partial(torch.autograd.grad, retain_graph=True)
    x = sines(3).requires_grad_()
    y = x * 2
    seen = []
    n = y.grad_fn.next_functions[0][0]
    h = y.register_hook(lambda g: seen.append(error_name(lambda: C._will_engine_execute_node(n))))
    return [G(y.sum(), x), y.sum().backward(inputs=[x]), seen]

@differs("torch fails for some inputs alone.")
def seen_retain_graph_5():
    x, v = sines(3).requires_grad_(), sines(3).requires_grad_()
    y = x * 2
    a = v.exp()
    z = y * a + y
    seen = []
    h = z.register_hook(lambda g: seen.append([n.name()
        for n in C._current_graph_task_execution_order()]))
    with torch.autograd.set_multithreading_enabled(False):
        z.sum().backward(retain_graph=True)
        r = torch.autograd.grad(z.sum(), x, retain_graph=True)
        s = z.backward(sines(3), inputs=[v])
    return seen

def seen_current_graph_task_id():
    x = sines(3).requires_grad_()
    y = x * 2
    seen = []
    h = y.register_hook(lambda g: seen.append(error_name(C._current_graph_task_execution_order)))
    return [y.sum().backward(), seen, error_name(C._current_graph_task_execution_order),
        C._current_graph_task_id()]

def execution_engine_queue_callback():
    E = torch.autograd.Variable._execution_engine
    seen = []
    x = sines(3).requires_grad_()
    y = x * 2
    h = y.register_hook(lambda g: E.queue_callback(lambda: seen.append((2, x.grad is not None))
        or E.queue_callback(lambda: seen.append(3))))
    return [y.sum().backward(), seen, error_name(lambda: E.queue_callback(lambda: 0))]

def execution_engine_queue_callback_2():
    E = torch.autograd.Variable._execution_engine
    seen = []
    x = sines(3).requires_grad_()
    y = x * 2
    h = y.register_hook(lambda g: (E.queue_callback(lambda: 1 / 0),
        E.queue_callback(lambda: seen.append(1)))[2:] or None)
    return [error_name(y.sum().backward), seen, x.grad,
        error_name(lambda: E.queue_callback(lambda: 0)), torch.is_grad_enabled()]

torch.autograd.Variable._execution_engine.queue_callback(lambda: 0)

# nodes by hand after a backward of some gradients
def retain_graph_inputs():
    x, v = sines(3).requires_grad_(), sines(3).requires_grad_()
    y = x * v
    z = y * y.detach()
    return [torch.autograd.grad(z.sum(), x, retain_graph=True), y.grad_fn(sines(3)),
        z.sum().backward(inputs=[v], retain_graph=True), y.grad_fn(sines(3)),
        torch.autograd.grad(z.sum(), [x, v])]

def seen_register_hook_3():
    x = sines(3).requires_grad_()
    y = x * 2
    z = y * 3
    u = x.sin()
    v = x.exp()
    seen = []
    h = v.register_hook(lambda g: seen.append([n.name()
        for n in C._current_graph_task_execution_order()]))
    with torch.autograd.set_multithreading_enabled(False):
        torch.autograd.backward([z, u, v], [sines(3)] * 3)
    return [seen, x.grad]

def seen_register_hook_4():
    x = sines(3).requires_grad_()
    y = x * 2
    z = y * 3
    u = x.sin()
    v = x.exp()
    seen = []
    h = v.register_hook(lambda g: [C._current_graph_task_execution_order() for k in range(9)][9:]
        or None)
    with torch.autograd.set_multithreading_enabled(False):
        torch.autograd.backward([z, u, v], [sines(3)] * 3)
    return x.grad

# memory that becomes grad
def taken_expand():
    def taken(x, change=lambda x: x * 1):
        seen = []
        x.requires_grad_()
        h = x.register_hook(lambda g: seen.append(g.data_ptr()))
        (change(x) * 2).sum().backward()
        return seen[0] == x.grad.data_ptr()
    return [taken(sines(3)), taken(sines(1).expand(3)), taken((sines(2, 3) + 0).t()),
        taken(sines(2, 6)[:, ::2]), taken(sines(3, 1)), taken(sines())]

# a cycle through the accumulator of a leaf that lives on
def collect_next_functions():
    import gc
    x = sines(3).requires_grad_()
    n = (x * 1).grad_fn.next_functions[0][0]
    n.metadata["me"] = n
    del n
    r = gc.collect()
    return [(x * 3).sum().backward(), x.grad, (x.exp() * x).sum().backward(), x.grad]

def grad_fn_collect():
    import gc
    x = sines(3).requires_grad_()
    y = x.exp()
    n = y.grad_fn
    n.metadata["me"] = n
    del n, y
    r = gc.collect()
    return [(x * 3).sum().backward(), x.grad]

# gradients that are given
def tensor_float64():
    x = sines(3).requires_grad_()
    return [(x * 2).sum().backward(torch.tensor(3.0, dtype=torch.float64)), x.grad,
        (x * 2).sum().backward(torch.tensor(2.0, dtype=torch.float64), True), x.grad,
        (x * 2)[:1].backward(sines(1)), x.grad]

def dtype_float32():
    x = sines(3).requires_grad_()
    return [x.backward(sines(3, dtype=torch.float32)), x.grad, x.grad.dtype == torch.float64]

def requires_grad_mul():
    x = sines(3).requires_grad_()
    y = x * 1
    r = y[1:].mul_(sines(2))
    u = y[1:]
    return [u.requires_grad, metadata(u)[:3], torch.autograd.grad(u.sum(), x)]

def requires_grad_mul_2():
    b = sines(3) + 0
    x = sines(2).requires_grad_()
    v = b[1:]
    r = v.mul_(x)
    return [v.requires_grad, b.requires_grad, b[:1].requires_grad,
        torch.autograd.grad((v * v).sum() + b.sum(), x)]

# no gradient arrives at all
def nothing_unsafe_chunk():
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2
        @staticmethod
        def backward(ctx, g):
            return None
    x = sines(3, 3).requires_grad_()
    return [torch.autograd.grad(Nothing.apply(y).sum(), x, allow_unused=True)
        for y in (x.unbind()[1], x.split(1)[0], x.split([1, 2])[0], x.chunk(2)[0],
        torch.unsafe_chunk(x, 2)[1], x.tensor_split(3)[0], torch.linalg.svd(x)[1], x.max(0)[0],
        torch.aminmax(x, dim=0)[0], torch.stack([x, x]), torch.cat([x, x]), x.std(),
        torch.std_mean(x)[0], x.sort()[0])], torch.autograd.grad(Nothing.apply(x.unbind()[0]).sum()
        + x.unbind()[1].sum(), x)
