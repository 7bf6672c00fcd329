"""Function: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import (
    differs,
    error_name,
    first_event,
    gradients,
    metadata,
    next_nodes,
    second_gradients,
    sines,
    with_warnings,
)

fw = torch.autograd.forward_ad

# what apply gives: one result, several, none that are tensors, named tuples, lists
def next_nodes_grad_fn():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: g * 3)
    x = sines(3).requires_grad_()
    y = F.apply(x)
    return [y, metadata(y), y.grad_fn.name(), next_nodes(y.grad_fn),
        torch.autograd.grad(y.sum(), x)]

def output_nr_grad_fn():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: (x * 2, x + 1))
        backward = staticmethod(lambda ctx, g, h: g * 3 + h)
    x = sines(3).requires_grad_()
    y, z = F.apply(x)
    return [metadata(y), metadata(z), z.grad_fn is y.grad_fn, z.output_nr,
        torch.autograd.grad(z.sum(), x), torch.autograd.grad(F.apply(x)[0].sum(), x)]

def requires_grad_apply():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: (x * 2,))
        backward = staticmethod(lambda ctx, g: g * 3)
    return [type(F.apply(sines(3))).__name__, F.apply(sines(3).requires_grad_())[0].requires_grad,
        len(F.apply(sines(3)))]

def staticmethod_len():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: (x * 2, 7, None, "a", [x]))
        backward = staticmethod(lambda ctx, g, a, b, c,
            d: g * (1 if a is b is c is d is None else 5))
    x = sines(3).requires_grad_()
    y = F.apply(x)
    return [len(y), y[1:4], y[4][0] is x, metadata(y[0]), torch.autograd.grad(y[0].sum(), x)]

def apply_staticmethod():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: 7)
        backward = staticmethod(lambda ctx, g: g)
    return F.apply(sines(3).requires_grad_())

def repr_apply():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: ())
        backward = staticmethod(lambda ctx: None)
    return repr(F.apply(sines(3).requires_grad_()))

@differs("Torch gives a plain tuple.")
def pair_collections():
    import collections
    Pair = collections.namedtuple("Pair", "a b")
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: Pair(x * 2, x + 1))
        backward = staticmethod(lambda ctx, g, h: g + h)
    return [type(F.apply(sines(3))).__name__, F.apply(sines(3).requires_grad_()).b.requires_grad]

def requires_grad_type():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: [x * 2, x])
        backward = staticmethod(lambda ctx, g: g)
    y = F.apply(sines(3).requires_grad_())
    return [type(y).__name__, y[0].requires_grad, len(y)]

# an input that is given back, a view of it, results that were recorded by somebody else
def metadata_data_ptr():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x)
        backward = staticmethod(lambda ctx, g: g * 3)
    x = sines(3).requires_grad_()
    y = F.apply(x)
    u = sines(3)
    v = F.apply(u)
    return [y is x, metadata(y), metadata(x), torch.autograd.grad(y.sum(), x), v is u, metadata(v),
        v.data_ptr() == u.data_ptr()]

def mul_staticmethod():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x)
        backward = staticmethod(lambda ctx, g: g * 3)
    x = sines(3).requires_grad_()
    y = F.apply(x)
    return y.mul_(2)

def mul_grad_fn():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x)
        backward = staticmethod(lambda ctx, g: g * 3)
    x = (sines(3) + 0).requires_grad_()
    a = x * 1
    y = F.apply(a)
    r = a.mul_(2)
    return [error_name(lambda: metadata(y)), error_name(lambda: y.grad_fn.name()),
        error_name(lambda: torch.autograd.grad(y.sum(), x))]

def grad_fn_mul():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x)
        backward = staticmethod(lambda ctx, g: g * 3)
    x = (sines(3) + 0).requires_grad_()
    a = x * 1
    y = F.apply(a)
    r = a.mul_(2)
    return y.grad_fn

def f_back_mul():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x[1:])
        backward = staticmethod(lambda ctx, g: F_back(g))
    F_back = lambda g: torch.cat([g[:1] * 0, g * 3])
    x = sines(3).requires_grad_()
    y = F.apply(x)
    return [metadata(y), torch.autograd.grad(y.sum(), x), error_name(lambda: y.mul_(2)),
        metadata(F.apply(sines(3)))]

def mul_staticmethod_2():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x[1:])
        backward = staticmethod(lambda ctx, g: None)
    x = sines(3).requires_grad_()
    y = F.apply(x)
    return y.mul_(2)

def mul_grad_fn_2():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x[1:])
        backward = staticmethod(lambda ctx, g: None)
    a = sines(3).requires_grad_() * 1
    y = F.apply(a)
    r = a.mul_(2)
    return y.grad_fn.name()

def metadata_mul():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x[1:])
        backward = staticmethod(lambda ctx, g: None)
    u = sines(3) + 0
    y = F.apply(u)
    return [metadata(y), y.mul_(2), metadata(u), metadata(y)]

def mul_staticmethod_3():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: (x[1:], x[:1]))
        backward = staticmethod(lambda ctx, g, h: None)
    y, z = F.apply(sines(3).requires_grad_() * 1)
    return y.mul_(2)

def grad_fn_no_grad():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x[1:])
        backward = staticmethod(lambda ctx, g: None)
    x = sines(3).requires_grad_()
    with torch.no_grad():
        y = F.apply(x)
    return [metadata(y), y.grad_fn]

def no_grad_metadata():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x)
        backward = staticmethod(lambda ctx, g: None)
    x = sines(3).requires_grad_()
    with torch.no_grad():
        y = F.apply(x)
    return [y is x, metadata(y), metadata(x)]

def kept_next_nodes():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: kept)
        backward = staticmethod(lambda ctx, g: g)
    v = sines(3).requires_grad_()
    kept = v * 2
    x = sines(3).requires_grad_()
    y = F.apply(x)
    return [y is kept, metadata(y), torch.autograd.grad(y.sum(), x), next_nodes(y.grad_fn)]

def kept_grad_fn():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: kept)
        backward = staticmethod(lambda ctx, g: g)
    v = sines(3).requires_grad_()
    kept = v * 2
    y = F.apply(sines(3))
    return [y is kept, metadata(y), y.grad_fn]

def requires_grad_enable_grad():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                y = x * 2
            return y.sum()
        backward = staticmethod(lambda ctx, g: g)
    x = sines(3).requires_grad_()
    return [metadata(F.apply(x)), F.apply(sines(3)).requires_grad]

def given_is_grad_enabled():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append((torch.is_grad_enabled(), (x * 2).requires_grad, x is given))
            return x * 2
        @staticmethod
        def backward(ctx, g):
            seen.append((torch.is_grad_enabled(), g.requires_grad))
            return g
    seen = []
    given = sines(3).requires_grad_()
    y = F.apply(given)
    return [torch.is_grad_enabled(), torch.autograd.grad(y.sum(), given,
        create_graph=True)[0].requires_grad, torch.autograd.grad(F.apply(given).sum(), given), seen]

# marks: not differentiable
def mark_non_differentiable_bool():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y, z = x * 2, x > 0
            ctx.mark_non_differentiable(z)
            return y, z
        backward = staticmethod(lambda ctx, g, h: g * 2 + h.sum() + (h.dtype == torch.bool))
    x = sines(3).requires_grad_()
    y, z = F.apply(x)
    return [metadata(y), metadata(z), torch.autograd.grad(y.sum(), x)]

def mark_non_differentiable_set_materialize_grads():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y, z = x * 2, x + 1
            ctx.mark_non_differentiable(z)
            ctx.set_materialize_grads(False)
            return y, z
        backward = staticmethod(lambda ctx, g, h: g * (2 if h is None else 5))
    x = sines(3).requires_grad_()
    y, z = F.apply(x)
    return [metadata(y), metadata(z), torch.autograd.grad(y.sum(), x)]

def metadata_mark_non_differentiable():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_non_differentiable(x)
            return x
        backward = staticmethod(lambda ctx, g: g)
    x = sines(3).requires_grad_()
    y = F.apply(x)
    return [y is x, metadata(y), metadata(x)]

def metadata_mark_non_differentiable_2():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x[1:]
            ctx.mark_non_differentiable(y)
            return y
        backward = staticmethod(lambda ctx, g: g)
    x = sines(3).requires_grad_()
    y = F.apply(x)
    return [metadata(y), metadata(x)]

def metadata_long():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: (x * 2, x.long()))
        backward = staticmethod(lambda ctx, g, h: g + h)
    x = sines(3).requires_grad_()
    y, z = F.apply(x)
    return [metadata(y), metadata(z), z, torch.autograd.grad(y.sum(), x)]

def apply_mark_non_differentiable():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_non_differentiable("a")
            return x
    return F.apply(sines(3))

def apply_non_differentiable():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.non_differentiable = [x]
            return x
    return F.apply(sines(3))

def apply_dirty_tensors():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.dirty_tensors = x
            return x
    return F.apply(sines(3))

def apply_to_save():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.to_save = [x]
            return x
    return F.apply(sines(3).requires_grad_())

def apply_mark_dirty():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x, 3)
            return x
    return F.apply(sines(3))

# marks: dirty
def next_nodes_mark_dirty():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)
        backward = staticmethod(lambda ctx, g: g * 2)
    x = (sines(3) + 0).requires_grad_()
    a = x * 1
    y = F.apply(a)
    u = sines(3) + 0
    v = F.apply(u)
    return [y is a, metadata(y), next_nodes(y.grad_fn), torch.autograd.grad(y.sum(), x), v is u,
        metadata(v), v]

def mark_dirty_mul():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)
        backward = staticmethod(lambda ctx, g: g * 2)
    return F.apply((sines(3) + 0).requires_grad_())

def version_mark_dirty():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)
        backward = staticmethod(lambda ctx, g: g * 2)
    x = (sines(3) + 0).requires_grad_()
    return [error_name(lambda: F.apply(x)), x._version, x.grad_fn]

def next_nodes_mark_dirty_2():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)
        backward = staticmethod(lambda ctx, g: g * 2)
    x = (sines(3) + 0).requires_grad_()
    b = x * 1
    v = b[1:]
    y = F.apply(v)
    return [y is v, metadata(b), metadata(v), next_nodes(b.grad_fn),
        torch.autograd.grad((b * sines(3)).sum(), x)]

def split_mark_dirty():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)
        backward = staticmethod(lambda ctx, g: g * 2)
    x = (sines(3) + 0).requires_grad_()
    a, b = (x * 1)[:2].split(1)
    return F.apply(a)

def mark_dirty_mul_2():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)
        backward = staticmethod(lambda ctx, g: g * 2)
    x = (sines(3) + 0).requires_grad_()
    return F.apply(x[1:])

@differs("torch takes the first edge for that of the view.")
def seen_base():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, x, b):
            ctx.mark_dirty(x)
            ctx.save_for_backward(a, x, b)
            return x.mul_(a).add_(b)
        @staticmethod
        def backward(ctx, g):
            a, x, b = ctx.saved_tensors
            seen.append((a, x, b, ctx.needs_input_grad))
            return g * x, g * a, g
    seen = []
    a, x, b = (sines(2, phase=k).requires_grad_() for k in range(3))
    base = torch.cat([x, x])
    v = base[1:3]
    y = F.apply(a, v, b)
    return [metadata(base), next_nodes(base.grad_fn),
        torch.autograd.grad((base * sines(4)).sum(), (a, x, b)), seen]

def base_next_nodes():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, x):
            ctx.mark_dirty(x)
            ctx.save_for_backward(a)
            return x.mul_(a)
        @staticmethod
        def backward(ctx, g):
            return g * 7, g * ctx.saved_tensors[0]
    a, x = (sines(2, phase=k).requires_grad_() for k in range(2))
    base = x * 1
    y = F.apply(a, base)
    return [metadata(y), next_nodes(y.grad_fn), torch.autograd.grad((y * sines(2)).sum(), (a, x))]

def mark_dirty_mul_3():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2), x + 1
        backward = staticmethod(lambda ctx, g, h: g * 2 + h)
    x = (sines(3) + 0).requires_grad_()
    y, z = F.apply(x * 1)
    return [metadata(y), metadata(z), torch.autograd.grad((y + z).sum(), x)]

def mark_dirty_mul_4():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2), x + 1
        backward = staticmethod(lambda ctx, g, h: g * 2 + h)
    return F.apply(((sines(3) + 0).requires_grad_() * 1)[1:])

def mark_dirty_mul_5():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2), x + 1
        backward = staticmethod(lambda ctx, g, h: g * 2 + h)
    u = sines(3) + 0
    y, z = F.apply(u[1:])
    return [metadata(y), metadata(z), metadata(u)]

def apply_mark_dirty_2():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x * 2
        backward = staticmethod(lambda ctx, g: g * 2)
    return F.apply(sines(3))

def mark_dirty_with_warnings():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.mark_dirty(y)
            return y
        backward = staticmethod(lambda ctx, g: g * 2)
    x = sines(3).requires_grad_()
    return [with_warnings(lambda: F.apply(x))[0], with_warnings(lambda: F.apply(sines(3)))[0],
        metadata(F.apply(x))]

def no_grad_mark_dirty():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)
        backward = staticmethod(lambda ctx, g: g * 2)
    x = (sines(3) + 0).requires_grad_()
    with torch.no_grad():
        y = F.apply(x)
    return [y is x, metadata(y), y]

# what backward gives
def given_next_nodes():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x, n, y: x * n + y)
        backward = staticmethod(lambda ctx, g: given(g))
    def ask(x, n, y):
        return torch.autograd.grad(F.apply(x, n, y).sum(), [t for t in (x, y) if t.requires_grad],
            allow_unused=True)
    given = lambda g: (g, None, g * 2)
    x, y = sines(3).requires_grad_(), sines(3).requires_grad_()
    return [ask(x, 2, y), ask(x, 2, sines(3)), ask(sines(3), 2, y), ask(x, sines(3), y),
        next_nodes(F.apply(x, 2, y).grad_fn), next_nodes(F.apply(x, sines(3), y).grad_fn)]

def given_allow_unused():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x, n, y: x * n + y)
        backward = staticmethod(lambda ctx, g: given(g))
    def ask(x, n, y):
        return torch.autograd.grad(F.apply(x, n, y).sum(), [t for t in (x, y) if t.requires_grad],
            allow_unused=True)
    x, y = sines(3).requires_grad_(), sines(3).requires_grad_()
    given = lambda g: (g, None, None)
    return [ask(x, 2, y), ask(sines(3), 2, y)]

def given_long():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x, n, y: x * n + y)
        backward = staticmethod(lambda ctx, g: given(g))
    def ask(made):
        return lambda: (box.__setitem__(0, made), F.apply(x, 2, y).sum().backward())
    box = [None]
    given = lambda g: box[0](g)
    x, y = sines(3).requires_grad_(), sines(3).requires_grad_()
    return [error_name(ask(f)) for f in (lambda g: g, lambda g: (g, None),
        lambda g: (g, None, g, None), lambda g: (g, None, g, None, None), lambda g: (g, None, g, g),
        lambda g: (g, g, g), lambda g: (g, 3, g), lambda g: (3, None, g), lambda g: [g, None, g],
        lambda g: (g[:2], None, g), lambda g: (g.sum(), None, g), lambda g: (g[None], None, g),
        lambda g: (g * 1j, None, g), lambda g: (g.float(), None, g), lambda g: (g.long(), None, g),
        lambda g: None)]

def staticmethod_apply():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x, n: x * n)
        backward = staticmethod(lambda ctx, g: g)
    return F.apply(sines(3).requires_grad_(), 2).sum().backward()

def staticmethod_apply_2():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x, n: x * n)
        backward = staticmethod(lambda ctx, g: (g, None, None, g))
    return F.apply(sines(3).requires_grad_(), 2).sum().backward()

def staticmethod_apply_3():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x, n: x * n)
        backward = staticmethod(lambda ctx, g: (g, g))
    return F.apply(sines(3).requires_grad_(), 2).sum().backward()

def staticmethod_apply_4():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, n, x: x * n)
        backward = staticmethod(lambda ctx, g: (None, "a"))
    return F.apply(2, sines(3).requires_grad_()).sum().backward()

def staticmethod_apply_5():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: g * 1j)
    return F.apply(sines(3).requires_grad_()).sum().backward()

def staticmethod_apply_6():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: g[:2])
    return F.apply(sines(3).requires_grad_()).sum().backward()

def staticmethod_apply_7():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x, y: x * 2 + y)
        backward = staticmethod(lambda ctx, g: (g, g[:2]))
    return F.apply(sines(3), sines(3).requires_grad_()).sum().backward()

def staticmethod_apply_8():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
    return F.apply(sines(3).requires_grad_()).sum().backward()

def vjp_apply():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        vjp = staticmethod(lambda ctx, g: g * 5)
    x = sines(3).requires_grad_()
    return torch.autograd.grad(F.apply(x).sum(), x)

def vjp_apply_2():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        vjp = backward = staticmethod(lambda ctx, g: g * 5)
    return F.apply(sines(3).requires_grad_()).sum().backward()

def apply_staticmethod_2():
    class F(torch.autograd.Function):
        backward = staticmethod(lambda ctx, g: g * 5)
    return F.apply(sines(3))

# materialized gradients
def seen_flag():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, flag):
            ctx.set_materialize_grads(flag)
            return x * 2, x[:2].float()
        @staticmethod
        def backward(ctx, g, h):
            seen.extend([g, h])
            return g * 2, None
    x = sines(3).requires_grad_()
    seen = []
    return [torch.autograd.grad(F.apply(x, True)[0].sum(), x),
        torch.autograd.grad(F.apply(x, False)[0].sum(), x), seen]

def set_materialize_grads_flag():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, flag):
            ctx.set_materialize_grads(flag)
            return x
    return F.apply(sines(3), 1)

# saved tensors
def none_other():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            z = x * y
            ctx.save_for_backward(x, None, z, sines(2), y)
            return z
        @staticmethod
        def backward(ctx, g):
            x, none, z, other, y = ctx.saved_tensors
            seen.append((x is a, none, z.grad_fn is not None, z._version, other, y is b,
                ctx.needs_input_grad))
            return g * y, g * x
    seen = []
    a = sines(3).requires_grad_()
    b = sines(3, phase=2)
    y = F.apply(a, b)
    return [torch.autograd.grad(y.sum(), a), seen, error_name(lambda: y.sum().backward())]

def retain_graph_raw_saved_tensors():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2
        backward = staticmethod(lambda ctx, g: g * ctx.saved_tensors[0])
    x = sines(3).requires_grad_()
    y = F.apply(x)
    return [torch.autograd.grad(y.sum(), x, retain_graph=True), len(y.grad_fn.saved_tensors),
        y.grad_fn.saved_tensors[0] is x, len(y.grad_fn._raw_saved_tensors), y.sum().backward(),
        error_name(lambda: y.grad_fn.saved_tensors),
        error_name(lambda: y.grad_fn._raw_saved_tensors)]

def save_for_backward_saved_tensors():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2
        backward = staticmethod(lambda ctx, g: g * ctx.saved_tensors[0])
    x = sines(3).requires_grad_()
    a = x * 1
    y = F.apply(a)
    r = a.mul_(2)
    return y.sum().backward()

def save_for_backward_saved_tensors_2():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(y)
            return y
        backward = staticmethod(lambda ctx, g: g * ctx.saved_tensors[0])
    x = sines(3).requires_grad_()
    y = F.apply(x)
    r = y.add_(1)
    return y.sum().backward()

def save_for_backward_saved_tensors_3():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(y)
            return y
        backward = staticmethod(lambda ctx, g: g * ctx.saved_tensors[0])
    x = sines(3).requires_grad_()
    y = F.apply(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return [g, torch.autograd.grad(g.sum(), x)]

def save_for_backward_saved_tensors_4():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y, z = x * 2, x * 3
            ctx.save_for_backward(z, y)
            return y, z
        backward = staticmethod(lambda ctx, g, h: g * ctx.saved_tensors[0] + h
            * ctx.saved_tensors[1])
    x = sines(3).requires_grad_()
    y, z = F.apply(x)
    (g,) = torch.autograd.grad((y + 2 * z).sum(), x, create_graph=True)
    return [g, torch.autograd.grad(g.sum(), x)]

def apply_save_for_backward():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)
            return x
    return F.apply(sines(3).requires_grad_())

def apply_save_for_backward_2():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)
            return x * 2
    return F.apply(sines(3))

def seen_retain_graph():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2
        @staticmethod
        def backward(ctx, g):
            r = ctx.saved_tensors[0] * g
            ctx.maybe_clear_saved_tensors()
            seen.append(error_name(lambda: ctx.saved_tensors))
            return r
    seen = []
    x = sines(3).requires_grad_()
    y = F.apply(x)
    r = y.grad_fn.maybe_clear_saved_tensors()
    return [torch.autograd.grad(y.sum(), x, retain_graph=True), torch.autograd.grad(y.sum(), x),
        seen]

# setup_context
def seen_output():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(x, n=2):
            seen.append(torch.is_grad_enabled())
            return x * n
        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append((inputs[1:], torch.is_grad_enabled(), output.requires_grad))
            ctx.save_for_backward(inputs[0], output)
        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[1], None
    seen = []
    x = sines(3).requires_grad_()
    return [torch.autograd.grad(F.apply(x).sum(), x), torch.autograd.grad(F.apply(x, 3).sum(), x),
        seen]

def setup_context_inputs():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda x: x)
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
    return F.apply(sines(3).requires_grad_())

def setup_context_output():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda x: (x, x * 2))
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output[0])
    return F.apply(sines(3))

def setup_context_output_2():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda x: x.mul_(2))
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(output)
            ctx.save_for_backward(*inputs)
        backward = staticmethod(lambda ctx, g: g * ctx.saved_tensors[0])
    x = (sines(3) + 0).requires_grad_()
    y = F.apply(x * 1)
    return [metadata(y), torch.autograd.grad(y.sum(), x)]

def setup_context_output_3():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda x, y: (x * 2, y))
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(None, inputs[0], output[0])
        backward = staticmethod(lambda ctx, g, h: (g * ctx.saved_tensors[2], h))
    x = sines(3).requires_grad_()
    y, z = F.apply(x, sines(3))
    return [metadata(y), metadata(z), torch.autograd.grad(y.sum() + z.sum(), x)]

def setup_context_apply():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda x, n, *, s=1: x * n * s)
        setup_context = staticmethod(lambda ctx, inputs, output: None)
        backward = staticmethod(lambda ctx, g: (g, None))
    return [error_name(lambda: F.apply(sines(3))), error_name(lambda: F.apply()),
        error_name(lambda: F.apply(sines(3), 2, 3))]

# classes of tensors
def mine_as_subclass():
    class Mine(torch.Tensor):
        pass
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: (x, x * 2, x[1:]))
        backward = staticmethod(lambda ctx, g, h, k: g + h)
    x = (sines(3) + 0).as_subclass(Mine)
    y = F.apply(x)
    z = F.apply((sines(3) + 0).as_subclass(Mine).requires_grad_())
    return [[type(a).__name__ for a in y], [type(a).__name__ for a in z]]

# events
def double_first_event():
    class Double(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: g * 2)
    x = sines(3).requires_grad_()
    return first_event(lambda: Double.apply(x))[0]

# Error and UndefinedGrad
def functions_delayed_error():
    C = torch._C._functions
    return [type(C.DelayedError("no", 1)(sines(3))).__name__,
        metadata(C.DelayedError("no", 1)(sines(3))),
        len(C.DelayedError("no", 2)(sines(3), sines(2)))]

def delayed_error_data_ptr():
    x = sines(3).requires_grad_()
    y, z = torch._C._functions.DelayedError("no", 2)(x, sines(2))
    n = y.grad_fn
    return [metadata(y), metadata(z), n.name(), next_nodes(n),
        error_name(lambda: y.sum().backward()), y.data_ptr() == x.data_ptr()]

def delayed_error_functions():
    x = sines(3).requires_grad_()
    return torch._C._functions.DelayedError("no way", 1)(x).sum().backward()

def delayed_error_functions_2():
    x = sines(3).requires_grad_()
    return torch._C._functions.DelayedError(b"no way", 1)(x).sum().backward()

torch._C._functions.DelayedError("no", 1)(3)
torch._C._functions.DelayedError("no", 1)(sines(3), sines(3))
torch._C._functions.DelayedError("no", 2)(sines(3), None)

# Nothing is recorded there.
@differs("Nothing is recorded there.")
def delayed_error_functions_3():
    x = sines(3).requires_grad_()
    with torch.no_grad():
        y = torch._C._functions.DelayedError("no", 1)(x)
    return metadata(y)

def undefined_grad_functions():
    x = sines(3).requires_grad_()
    y = torch._C._functions.UndefinedGrad()(x * 2)
    return [metadata(y), next_nodes(y.grad_fn), torch.autograd.grad(y.sum(), x, allow_unused=True),
        metadata(torch._C._functions.UndefinedGrad()(sines(3)))]

torch._C._functions.UndefinedGrad()(sines(3), sines(3))

# results that have a history of their own, views of what was changed, odd places
@differs("A view is cut off, too.")
def high_output_nr():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                y = (x * 2)[1:]
                low, high = (x * 3).aminmax()
            ctx.mark_non_differentiable(y, high)
            return x * 1, y, high
        backward = staticmethod(lambda ctx, g, *others: g)
    x = sines(3).requires_grad_()
    a, y, high = F.apply(x)
    return [metadata(y)[:3], metadata(high), y.output_nr, high.output_nr,
        torch.autograd.grad(a.sum(), x)]

def staticmethod_mul():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, u):
            v = u[1:]
            u.mul_(2)
            return v
        backward = staticmethod(lambda ctx, g: (g.sum() * torch.ones(3, dtype=torch.float64), None))
    x = sines(3).requires_grad_()
    y = F.apply(x, sines(3) + 0)
    return [y, metadata(y), torch.autograd.grad(y.sum(), x)]

def metadata_mul_2():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: (x * 2, 7, None, x + 1, "a", x[:1]))
        backward = staticmethod(lambda ctx, g, a, b, h, c, k: g * 2 + h)
    x = sines(3).requires_grad_()
    y = F.apply(x)
    return [y[1:3], y[4], metadata(y[0]), metadata(y[3]), metadata(y[5]),
        torch.autograd.grad(y[3].sum(), x), error_name(lambda: y[5].mul_(2))]

def input_metadata_grad_fn():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: (x * 2, x + 1))
        backward = staticmethod(lambda ctx, g, h: g + h)
    x = sines(3).requires_grad_()
    y, z = F.apply(x)
    return [y.grad_fn._input_metadata[1].shape, len(y.grad_fn._input_metadata),
        y.grad_fn._input_metadata[0].dtype == torch.float64]

def apply_materialize_non_diff_grads():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx._materialize_non_diff_grads = 1
            return x
    return F.apply(sines(3))

# a Function without setup_context where no argument differs between examples, and where one does
@differs("Nothing of it differs between examples; torch wants setup_context() all the same.")
def vmap_apply():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x, n: x * n)
        backward = staticmethod(lambda ctx, g: (g * 3, None))
    return vmap(lambda x: x + torch.func.grad(lambda z: F.apply(z, 2).sum())(sines(3)))(sines(2, 3))

@differs("Nothing of it differs between examples; torch wants setup_context() all the same.")
def vmap_apply_2():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x, n: x * n)
        backward = staticmethod(lambda ctx, g: (g * 3, None))
    return vmap(lambda x: x + F.apply(sines(3), 2))(sines(2, 3))

def vmap_apply_3():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x, n: x * n)
        backward = staticmethod(lambda ctx, g: (g * 3, None))
    return vmap(lambda x: F.apply(x, 2))(sines(2, 3))

# tangents: none (where torch stumbles) for an output, of a view
@differs("Torch fails where an output has no tangent.")
def tangent_unpack_dual():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: (x * 2, x + 1))
        backward = staticmethod(lambda ctx, g, h: g + h)
        jvp = staticmethod(lambda ctx, d: (d * 2, None))
    with fw.dual_level():
        y, z = F.apply(fw.make_dual(sines(3), sines(3, phase=1)))
        found = fw.unpack_dual(y).tangent, fw.unpack_dual(z).tangent
    return found

def tangent_unpack_dual_2():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x[1:])
        backward = staticmethod(lambda ctx, g: g)
        jvp = staticmethod(lambda ctx, d: d[1:])
    with fw.dual_level():
        y = F.apply(fw.make_dual(sines(3) + 0, sines(3, phase=1)))
        found = fw.unpack_dual(y).tangent, fw.unpack_dual(y * 2).tangent
    return found

def dual_level_make_dual():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x[1:])
        backward = staticmethod(lambda ctx, g: g)
        jvp = staticmethod(lambda ctx, d: d[1:] * 1)
    def f():
        with fw.dual_level():
            F.apply(fw.make_dual(sines(3) + 0, sines(3, phase=1)))
    return f()

def tangent_unpack_dual_3():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: (x * 2, x > 0))
        backward = staticmethod(lambda ctx, g, h: g)
        jvp = staticmethod(lambda ctx, d: box[0](d))
    box = [None]
    def f(made):
        box[0] = made
        with fw.dual_level():
            return fw.unpack_dual(F.apply(fw.make_dual(sines(3) + 0, sines(3, phase=1)))[0]).tangent
    return [f(lambda d: (d, None)), error_name(f, lambda d: (d, d)), error_name(f, lambda d: d),
        error_name(f, lambda d: (d, None, None)), error_name(f, lambda d: (3, None)),
        error_name(f, lambda d: (d[1:], None)), error_name(f, lambda d: [d, None])]

def tangent_view_as():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)
        backward = staticmethod(lambda ctx, g: g)
        jvp = staticmethod(lambda ctx, d: box[0](d))
    box = [None]
    def f(made):
        box[0] = made
        with fw.dual_level():
            return fw.unpack_dual(F.apply(fw.make_dual(sines(3) + 0, sines(3, phase=1)))).tangent
    return [f(lambda d: d.mul_(2)), error_name(f, lambda d: d * 2), error_name(f, lambda d: d),
        error_name(f, lambda d: d.mul_(2).view_as(d)), error_name(f, lambda d: None)]

def save_for_forward_none():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_forward(x, None, y)
            return x * y
        backward = staticmethod(lambda ctx, g: (g, g))
        @staticmethod
        def jvp(ctx, d, e):
            x, none, y = ctx.saved_tensors
            seen.append((d, e, none))
            return (0 if d is None else d * y) + (0 if e is None else x * e)
    seen = []
    with fw.dual_level():
        found = fw.unpack_dual(F.apply(fw.make_dual(sines(3), sines(3, phase=1)), sines(3))).tangent
    return [found, seen]

# a view that is changed in place and stands behind others, whose gradients torch loses
@differs("Torch loses the gradient of the view.")
def scaled_second_gradients():
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, v, y):
            v.mul_(x).mul_(y)
            ctx.mark_dirty(v)
            ctx.save_for_backward(v, y, x)
            return v
        @staticmethod
        def backward(ctx, g):
            v, y, x = ctx.saved_tensors
            return g * v / x, g * x * y, g * v / y
    def f(b, x, y):
        b = b * 1
        Scaled.apply(x, b[1], y)
        return b * b
    return [gradients(f, sines(2, 3) + 2, sines(3, phase=1) + 2, sines(3, phase=2) + 2),
        second_gradients(f, sines(2, 3) + 2, sines(3, phase=1) + 2, sines(3, phase=2) + 2)]
