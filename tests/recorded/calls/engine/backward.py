"""Backward: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import complex_sines, differs, error_name, metadata, sines

C = torch._C
E = torch.autograd.graph.GradientEdge

# gradients that are summed, cast, refused
def requires_grad_backward():
    x = sines(3).requires_grad_()
    y = x * 2
    return y.backward(sines(2))

def requires_grad_backward_2():
    x = sines(3).requires_grad_()
    y = x * 2
    return y.backward(complex_sines(3))

def staticmethod_apply():
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

def staticmethod_apply_2():
    x = sines().requires_grad_()
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: box[0])
    box = [None]
    def ask(g):
        box[0] = g
        return torch.autograd.grad(F.apply(x).sum(), x)[0]
    return [ask(sines(2, 3)), ask(sines(1)), ask(sines(1, 1)), ask(sines(0))]

# several roots, the same root twice, roots that lead to each other
def allow_unused_materialize_grads():
    x = sines(3).requires_grad_()
    u = sines(3).requires_grad_()
    y = x * 2
    return [torch.autograd.grad(y.sum(), [x, u], allow_unused=True, retain_graph=True),
        torch.autograd.grad(y.sum(), [u, x], allow_unused=True, materialize_grads=True)]

def grad_sum():
    x = sines(3).requires_grad_()
    u = sines(3).requires_grad_()
    y = x * 2
    return torch.autograd.grad(y.sum(), [x, u])

def grad_sum_2():
    x = sines(3).requires_grad_()
    y = x * 2
    return torch.autograd.grad(y.sum(), [x, sines(3)])

torch.autograd.grad(sines(3).sum(), sines(3).requires_grad_())
torch.autograd.backward([sines(3).requires_grad_().sum(), sines(3).sum()])

def no_grad_mul():
    x = sines(3).requires_grad_()
    y = x * 1
    with torch.no_grad():
        v = y[1:]
        r = y.mul_(2)
    return v.backward(sines(2))

# edges in the place of tensors
@differs("Torch looks at no number of an output before it asks for it.")
def autograd_grad_fn():
    x = sines(3).requires_grad_()
    y = x * 2
    return torch.autograd.grad(E(y.grad_fn, 1), x, sines(3))

@differs("This ends the process in torch.")
def sum_grad_fn():
    x = sines(3).requires_grad_()
    y = x * 2
    return torch.autograd.grad(y.sum(), E(y.grad_fn, -1))

def get_gradient_edge_graph():
    x = sines(3).requires_grad_()
    y = x * 2
    return torch.autograd.backward(torch.autograd.graph.get_gradient_edge(y.sum()))

def get_gradient_edge_inputs():
    x = sines(3).requires_grad_()
    y = x * 2
    E = torch.autograd.graph.get_gradient_edge
    return [torch.autograd.backward(y.sum(), inputs=[E(x)]), x.grad]

# backward to chosen inputs
def grad_inputs():
    x, u = sines(3).requires_grad_(), sines(3).requires_grad_()
    y = x * u
    z = y.exp()
    return [z.sum().backward(inputs=y), x.grad, u.grad, y.grad]

# the grad of leaves: taken over, copied, added to
def stride_detach():
    x = sines(2, 6)[:, ::2].detach().requires_grad_()
    r = (x * 2).sum().backward()
    return [x.grad, x.grad.stride()]

def stride_expand():
    x = sines(1).expand(3).detach().requires_grad_()
    r = (x * sines(3)).sum().backward()
    return [x.grad, x.grad.stride()]

def grad_create_graph():
    x = sines(3).requires_grad_()
    x.grad = sines(3)
    a = x.grad
    r = x.backward(sines(3), create_graph=True)
    return [x.grad, x.grad is a, a, metadata(x.grad)]

def backward_create_graph():
    x = sines(3).requires_grad_()
    r = (x * x).sum().backward()
    a = x.grad
    s = (x * x).sum().backward(create_graph=True)
    b = x.grad
    return [a is b, metadata(a)[:2], metadata(b)[:2], a, b]

def grad_is_conj():
    z = complex_sines(3).requires_grad_()
    r = z.backward(complex_sines(3).conj())
    return [z.grad, z.grad.is_conj()]

def grad_backward():
    x = sines(3).requires_grad_()
    y = x * 2
    r = x.requires_grad_(False)
    return [y.sum().backward(), x.grad]

def data_backward():
    x = sines(2, 3).requires_grad_()
    y = x * 2
    x.data = sines(6)
    return y.sum().backward()

def grad_backward_2():
    x = sines(3).requires_grad_()
    x.grad = sines(3)
    y = (x * 2).sum()
    return [y.backward(), x.grad]

def vmap_backward():
    x = sines(3).requires_grad_()
    return vmap(lambda a: (x * a).sum().backward())(sines(2, 3))

# gradients that meet
def float32_float16():
    x = sines(3).requires_grad_()
    y = x * 1
    a = y.to(torch.float32)
    b = y.to(torch.float16)
    return torch.autograd.grad([y, a, b], x, [sines(3), sines(3, dtype=torch.float32),
        sines(3, dtype=torch.float16)])

# wide nodes: results, operands, and a half that is wanted
def unbind_enumerate():
    x = sines(7, 2).requires_grad_()
    ys = x.unbind()
    return [torch.autograd.grad(sum((k + 1) * y.sum() for k, y in enumerate(ys)), x),
        torch.autograd.grad(ys[6].sum(), x), torch.autograd.grad(ys[4].sum() + ys[5].exp().sum(),
        x)]

def unbind_enumerate_2():
    x = sines(5, 2).requires_grad_()
    ys = x.unbind()
    return [torch.autograd.grad(sum((k + 1) * y.sum() for k, y in enumerate(ys)), x),
        error_name(lambda: torch.autograd.grad(ys[0], x, sines(3)))]

# backward inside of backward
def saved_tensors_enable_grad():
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

def register_hook_append():
    x = sines(3).requires_grad_()
    y = x * 2
    z = y * 3
    other = (x * 5).sum()
    seen = []
    h = y.register_hook(lambda g: seen.append(torch.autograd.grad(other, x)[0]))
    return [torch.autograd.grad(z.sum(), x), seen]

def register_hook_retain_graph():
    x = sines(3).requires_grad_()
    y = x * 2
    z = y.exp()
    seen = []
    h = z.register_hook(lambda g: seen.append(torch.autograd.grad(y, x, sines(3),
        retain_graph=True)[0]))
    return [torch.autograd.grad(z.sum(), x), seen]

def partial_functools():
    import functools
    G = functools.partial(torch.autograd.grad, retain_graph=True)
    x = sines(3).requires_grad_()
    y = x * 2
    z = y.exp()
    u = y.sin()
    seen = []
    h = z.register_hook(lambda g: seen.append(G([u, y], [x, y], [sines(3), sines(3)])))
    return [G((z + u).sum(), x), seen]

def register_hook_retain_graph_2():
    x = sines(3).requires_grad_()
    v = sines(3).requires_grad_()
    y = x * v
    z = y.exp()
    seen = []
    h = z.register_hook(lambda g: seen.append(torch.autograd.grad(y, x, sines(3),
        retain_graph=True)[0]))
    return [torch.autograd.grad(z.sum(), v), seen]

# questions while it runs
def retain_graph_next_functions():
    x = sines(3).requires_grad_()
    y = x * 2
    z = y * 3
    u = y.sin()
    seen = []
    h = z.register_hook(lambda g: seen.append([C._will_engine_execute_node(n)
        for n in (z.grad_fn, y.grad_fn, u.grad_fn, y.grad_fn.next_functions[0][0])]))
    return [z.sum().backward(retain_graph=True), seen]

def retain_graph_inputs():
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

def register_hook_append_2():
    x = sines(3).requires_grad_()
    y = x * 2
    seen = []
    h = y.register_hook(lambda g: seen.append(error_name(lambda: C._will_engine_execute_node(3))))
    return [y.sum().backward(), seen]

def partial_inputs():
    import functools
    G = functools.partial(torch.autograd.grad, retain_graph=True)
    x = sines(3).requires_grad_()
    y = x * 2
    seen = []
    n = y.grad_fn.next_functions[0][0]
    h = y.register_hook(lambda g: seen.append(error_name(lambda: C._will_engine_execute_node(n))))
    return [G(y.sum(), x), y.sum().backward(inputs=[x]), seen]

@differs("torch fails for some inputs alone.")
def retain_graph_inputs_2():
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

def register_hook_queue_callback():
    E = torch.autograd.Variable._execution_engine
    seen = []
    x = sines(3).requires_grad_()
    y = x * 2
    h = y.register_hook(lambda g: E.queue_callback(lambda: seen.append((2, x.grad is not None))
        or E.queue_callback(lambda: seen.append(3))))
    return [y.sum().backward(), seen, error_name(lambda: E.queue_callback(lambda: 0))]

torch.autograd.Variable._execution_engine.queue_callback(lambda: 0)

# nodes by hand after a backward of some gradients
def register_hook_set_multithreading_enabled():
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

def register_hook_set_multithreading_enabled_2():
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
def data_ptr_expand():
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

# no gradient arrives at all
def unsafe_chunk_tensor_split():
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
