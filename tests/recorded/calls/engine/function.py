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
)

fw = torch.autograd.forward_ad

# what apply gives: one result, several, none that are tensors, named tuples, lists
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

@differs("Torch gives a plain tuple.")
def namedtuple_collections():
    import collections
    Pair = collections.namedtuple("Pair", "a b")
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: Pair(x * 2, x + 1))
        backward = staticmethod(lambda ctx, g, h: g + h)
    return [type(F.apply(sines(3))).__name__, F.apply(sines(3).requires_grad_()).b.requires_grad]

# an input that is given back, a view of it, results that were recorded by somebody else
def grad_fn_mul():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x)
        backward = staticmethod(lambda ctx, g: g * 3)
    x = (sines(3) + 0).requires_grad_()
    a = x * 1
    y = F.apply(a)
    r = a.mul_(2)
    return y.grad_fn

def mul_staticmethod():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x[1:])
        backward = staticmethod(lambda ctx, g: None)
    x = sines(3).requires_grad_()
    y = F.apply(x)
    return y.mul_(2)

def mul_grad_fn():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x[1:])
        backward = staticmethod(lambda ctx, g: None)
    a = sines(3).requires_grad_() * 1
    y = F.apply(a)
    r = a.mul_(2)
    return y.grad_fn.name()

def mul_staticmethod_2():
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

def staticmethod_no_grad():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x)
        backward = staticmethod(lambda ctx, g: None)
    x = sines(3).requires_grad_()
    with torch.no_grad():
        y = F.apply(x)
    return [y is x, metadata(y), metadata(x)]

def grad_fn_staticmethod():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: kept)
        backward = staticmethod(lambda ctx, g: g)
    v = sines(3).requires_grad_()
    kept = v * 2
    y = F.apply(sines(3))
    return [y is kept, metadata(y), y.grad_fn]

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

def staticmethod_mark_non_differentiable():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_non_differentiable(x)
            return x
        backward = staticmethod(lambda ctx, g: g)
    x = sines(3).requires_grad_()
    y = F.apply(x)
    return [y is x, metadata(y), metadata(x)]

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
def mark_dirty_mul():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)
        backward = staticmethod(lambda ctx, g: g * 2)
    return F.apply((sines(3) + 0).requires_grad_())

def grad_fn_mark_dirty():
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
def mark_dirty_needs_input_grad():
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

def mark_dirty_mul_3():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2), x + 1
        backward = staticmethod(lambda ctx, g, h: g * 2 + h)
    return F.apply(((sines(3) + 0).requires_grad_() * 1)[1:])

def apply_mark_dirty_2():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x * 2
        backward = staticmethod(lambda ctx, g: g * 2)
    return F.apply(sines(3))

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
def float_long():
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
        backward = staticmethod(lambda ctx, g: (g, g))
    return F.apply(sines(3).requires_grad_(), 2).sum().backward()

def staticmethod_apply_3():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, n, x: x * n)
        backward = staticmethod(lambda ctx, g: (None, "a"))
    return F.apply(2, sines(3).requires_grad_()).sum().backward()

def staticmethod_apply_4():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: g * 1j)
    return F.apply(sines(3).requires_grad_()).sum().backward()

def staticmethod_apply_5():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: g[:2])
    return F.apply(sines(3).requires_grad_()).sum().backward()

def staticmethod_apply_6():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
    return F.apply(sines(3).requires_grad_()).sum().backward()

def staticmethod_apply_7():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        vjp = staticmethod(lambda ctx, g: g * 5)
    x = sines(3).requires_grad_()
    return torch.autograd.grad(F.apply(x).sum(), x)

def staticmethod_apply_8():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        vjp = backward = staticmethod(lambda ctx, g: g * 5)
    return F.apply(sines(3).requires_grad_()).sum().backward()

def apply_staticmethod_2():
    class F(torch.autograd.Function):
        backward = staticmethod(lambda ctx, g: g * 5)
    return F.apply(sines(3))

# materialized gradients
def apply_set_materialize_grads():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, flag):
            ctx.set_materialize_grads(flag)
            return x
    return F.apply(sines(3), 1)

# saved tensors
def saved_tensors_needs_input_grad():
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

def retain_graph_saved_tensors():
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

def apply_save_for_backward():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)
            return x
    return F.apply(sines(3).requires_grad_())

def apply_save_for_forward():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x, 1)
            return x
    return F.apply(sines(3).requires_grad_())

def apply_save_for_forward_under_vmap():
    class F(torch.autograd.Function):
        generate_vmap_rule = True
        forward = staticmethod(lambda x: x * 2)
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs, 1)
    return torch.func.vmap(F.apply)(sines(3))

def apply_save_for_backward_2():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)
            return x * 2
    return F.apply(sines(3))

def retain_graph_saved_tensors_2():
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
def apply_save_for_backward_3():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda x: x)
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
    return F.apply(sines(3).requires_grad_())

def apply_save_for_backward_4():
    class F(torch.autograd.Function):
        forward = staticmethod(lambda x: (x, x * 2))
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output[0])
    return F.apply(sines(3))

# classes of tensors
def as_subclass_type():
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
def staticmethod_apply_9():
    class Double(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: g * 2)
    x = sines(3).requires_grad_()
    return first_event(lambda: Double.apply(x))[0]

# Error and UndefinedGrad
def type_delayed_error():
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

def backward_delayed_error():
    x = sines(3).requires_grad_()
    return torch._C._functions.DelayedError("no way", 1)(x).sum().backward()

def backward_delayed_error_2():
    x = sines(3).requires_grad_()
    return torch._C._functions.DelayedError(b"no way", 1)(x).sum().backward()

torch._C._functions.DelayedError("no", 1)(3)
torch._C._functions.DelayedError("no", 2)(sines(3), None)

# Nothing is recorded there.
@differs("Nothing is recorded there.")
def no_grad_delayed_error():
    x = sines(3).requires_grad_()
    with torch.no_grad():
        y = torch._C._functions.DelayedError("no", 1)(x)
    return metadata(y)

def undefined_grad_allow_unused():
    x = sines(3).requires_grad_()
    y = torch._C._functions.UndefinedGrad()(x * 2)
    return [metadata(y), next_nodes(y.grad_fn), torch.autograd.grad(y.sum(), x, allow_unused=True),
        metadata(torch._C._functions.UndefinedGrad()(sines(3)))]

# results that have a history of their own, views of what was changed, odd places
@differs("A view is cut off, too.")
def output_nr_mark_non_differentiable():
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
        forward = staticmethod(lambda ctx, x: (x * 2, 7, None, x + 1, "a", x[:1]))
        backward = staticmethod(lambda ctx, g, a, b, h, c, k: g * 2 + h)
    x = sines(3).requires_grad_()
    y = F.apply(x)
    return [y[1:3], y[4], metadata(y[0]), metadata(y[3]), metadata(y[5]),
        torch.autograd.grad(y[3].sum(), x), error_name(lambda: y[5].mul_(2))]

def staticmethod_apply_10():
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

def vmap_apply_2():
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

# a view that is changed in place and stands behind others, whose gradients torch loses
@differs("Torch loses the gradient of the view.")
def mark_dirty_phase():
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
