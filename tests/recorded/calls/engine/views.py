"""Views: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    forward_over_reverse,
    gradients,
    metadata,
    next_nodes,
    second_gradients,
    sines,
    tangents,
)


# windows that are changed in place: values, gradients, second derivatives, tangents
def f(x):
    y = x.t().clone()
    y[0].exp_()
    y.select(1, 1).mul_(y[1, 0].clone())
    return y

gradients(f, sines(2, 3))
second_gradients(f, sines(2, 3))

def zeros_float64():
    def f(x, v):
        y = torch.zeros(3, 2, dtype=torch.float64)
        y[1] = v
        y[2:] += x
        return y
    return [gradients(f, sines(2), sines(2)), second_gradients(lambda x, v: f(x, v) ** 2, sines(2),
        sines(2))]

def exp_clone():
    def f(x):
        y = x.clone().t()
        y[1:].exp_()
        return y
    return [gradients(f, sines(2, 3)), second_gradients(f, sines(2, 3))]

# views of parts
def mul_view_as_complex():
    def f(x):
        y = x * 1
        torch.view_as_complex(y)[1:].mul_(1 + 2j)
        return y
    return [gradients(f, sines(3, 2)), second_gradients(lambda x: f(x) ** 2, sines(3, 2)),
        tangents(f, sines(3, 2))]

def view_as_complex_mul():
    def f(x):
        y = x * 1
        z = torch.view_as_complex(y)
        z.mul_(z.clone())
        return y
    return [gradients(f, sines(3, 2)), second_gradients(f, sines(3, 2)),
        forward_over_reverse(f, sines(3, 2))]

def exp_view_as_real():
    def f(z):
        y = z * 1
        v = y.conj().imag
        v[1:].exp_()
        return torch.view_as_real(y), v * 1
    return [gradients(f, complex_sines(3)), tangents(f, complex_sines(3))]

def view_as_real_resolve_conj():
    def f(z):
        y = (z * 1).conj()
        y.imag[1:].mul_(y.real[:2].clone())
        return torch.view_as_real(y.resolve_conj())
    return [gradients(f, complex_sines(3)), tangents(f, complex_sines(3))]

# the nodes: of the base, of the view, remade
def grad_fn_mul():
    x = sines(2, 3).requires_grad_()
    b = x * 1
    v = b[1]
    n = v.grad_fn
    r = b.mul_(2)
    return [v._version, v.grad_fn is n, metadata(v), next_nodes(v.grad_fn), v.grad_fn._saved_size,
        v.grad_fn._saved_stride, v.grad_fn._saved_storage_offset]

def mul_grad():
    x = sines(2, 3).requires_grad_()
    b = x * 1
    u = b[0]
    v = b[1]
    r = v.mul_(u)
    return torch.autograd.grad((u * 2 + v).sum(), x)

def view_grad_fn():
    x = sines(3).requires_grad_()
    b = x * 1
    v = b.view(3)
    r = v.mul_(2)
    u = v.exp()
    return [next_nodes(u.grad_fn), torch.autograd.grad(u.sum(), x)]

@differs("Views of parts are remade by way of a window.")
def view_as_real_grad_fn():
    z = complex_sines(3).requires_grad_()
    b = z * 1
    v = torch.view_as_real(b)
    r = v[1].mul_(2)
    return [metadata(b), metadata(v), next_nodes(v.grad_fn)]

# retain_grad and hooks go on with the history
def retain_grad_mul():
    x = sines(4).requires_grad_()
    b = x * 1
    v = b[1:]
    v.retain_grad()
    r = v.mul_(2)
    return [(b * sines(4)).sum().backward(), v.grad, x.grad]

def retain_grad_mul_2():
    x = sines(4).requires_grad_()
    b = x * 1
    v = b[1:]
    v.retain_grad()
    r = v.mul_(2)
    u = v * 3
    return [(u * sines(3)).sum().backward(), v.grad, x.grad]

def mul_register_hook():
    seen = []
    x = sines(4).requires_grad_()
    b = x * 1
    v = b[1:]
    r = v.mul_(2)
    h = v.register_hook(lambda g: g * 10)
    return [(v * sines(3)).sum().backward(), x.grad]

# several operands; ten and more of them in place
def addcmul_value():
    x, a, b = (sines(3, phase=k).requires_grad_() for k in range(3))
    y = x * 1
    r = y[1:].addcmul_(a[:2], b[1:], value=2)
    return torch.autograd.grad((y * sines(3)).sum(), (b,))

def item_needs_input_grad():
    class Many(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, *others):
            ctx.mark_dirty(x)
            return x.add_(sum(others))
        @staticmethod
        def backward(ctx, g):
            return (g * 2, *(g * k for k in range(len(ctx.needs_input_grad) - 1)))
    x = sines(3).requires_grad_()
    others = [sines(2, phase=k).requires_grad_() for k in range(20)]
    def f(n):
        y = x * 1
        Many.apply(y[1:], *others[:n])
        return [g.sum().item() for g in torch.autograd.grad(y.sum(), [x, *others[:n]])]
    return [f(14), f(15), f(16), f(17), f(20)]

# by hand
def mul_grad_fn():
    x = sines(3).requires_grad_()
    b = x * 1
    r = b[1:].mul_(2)
    return [b.grad_fn(sines(3)), b.grad_fn(None), b.grad_fn.name()]

def exp_zero():
    x = sines(3).requires_grad_()
    b = x * 1
    r = b[1:].exp_()
    s = b[:2].zero_()
    return torch.autograd.grad(b.sum(), x)

# gradients with strides, expanded, of another dtype, with lazy bits
def conj_view_as_real():
    z = complex_sines(3).requires_grad_()
    b = z * 1
    r = torch.view_as_real(b)[1:].mul_(2)
    return torch.autograd.grad(b, z, complex_sines(3).conj())

def float32_mul():
    x = sines(3).requires_grad_()
    b = x.to(torch.float32)
    r = b[1:].mul_(sines(2))
    return torch.autograd.grad(b.sum(), x)

vmap(torch.func.jacrev(lambda x: (lambda b: (b[1:].mul_(x[0]), b)[1])(x * 1)))(sines(2, 3))
torch.func.jacfwd(lambda x: (lambda b: (b[1:].mul_(x[0]), b)[1])(x * 1))(sines(3))
torch.func.hessian(lambda x: (lambda b: (b[1:].mul_(x[0]), b**2)[1].sum())(x * 1))(sines(3))

def mul_is_grads_batched():
    x = sines(3).requires_grad_()
    b = x * 1
    r = b[1:].mul_(x[:2])
    return torch.autograd.grad(b, x, torch.eye(3, dtype=torch.float64), is_grads_batched=True)

# what isn't followed
def split_mul():
    x = sines(4).requires_grad_()
    a, b = (x * 1).split(2)
    return a.mul_(2)

def split_mul_2():
    x = sines(4).requires_grad_()
    y = x * 1
    a, b = y.split(2)
    r = y.mul_(2)
    return a * 1

def grad_fn_split():
    x = sines(4).requires_grad_()
    y = x * 1
    a, b = y.split(2)
    r = y.mul_(2)
    return a.grad_fn

def no_grad_mul():
    x = sines(4).requires_grad_()
    y = x * 1
    with torch.no_grad():
        v = y[1:]
    return [error_name(lambda: v.mul_(2)), metadata(v)]

def mul_no_grad():
    x = sines(4).requires_grad_()
    y = x * 1
    with torch.no_grad():
        v = y[1:]
    return v[1:].mul_(2)

def grad_fn_no_grad():
    x = sines(4).requires_grad_()
    y = x * 1
    with torch.no_grad():
        v = y[1:]
    r = y.mul_(2)
    return v.grad_fn

def no_grad_mul_2():
    x = sines(4).requires_grad_()
    y = x * 1
    with torch.no_grad():
        v = y[1:]
    with torch.no_grad():
        v.mul_(2)
    return metadata(v)[3:]

def no_grad_mul_3():
    x = sines(4).requires_grad_()
    y = x * 1
    with torch.no_grad():
        v = y[1:]
    with torch.no_grad():
        v.mul_(2)
    return [error_name(lambda: metadata(v)[3:]), torch.autograd.grad(y.sum(), x)]

def mul_inference_mode():
    x = sines(4).requires_grad_()
    y = x * 1
    with torch.inference_mode():
        v = y[1:]
    return v.mul_(2)

def mul_inference_mode_2():
    x = sines(4).requires_grad_()
    y = x * 1
    with torch.inference_mode():
        v = y[1:]
    return v[1:].mul_(2)

def inference_mode_mul():
    x = sines(4).requires_grad_()
    y = x * 1
    with torch.inference_mode():
        v = y[1:]
        r = v.mul_(2)
    return metadata(v)

def requires_grad_mul():
    x = sines(4).requires_grad_()
    return x[1:].mul_(2)

def requires_grad_mul_2():
    x = sines(4)
    v = x[1:].requires_grad_()
    return v.mul_(2)

# a base that was taken out of the graph
def detach_grad_fn():
    x = sines(4).requires_grad_()
    y = x * 1
    v = y[1:]
    r = y.detach_()
    r = y.mul_(2)
    return [metadata(y), metadata(v), next_nodes(v.grad_fn) if v.grad_fn else None]

# asked where nothing is recorded
def no_grad_is_grad_enabled():
    x = sines(4).requires_grad_()
    y = x * 1
    v = y[1:]
    r = y.mul_(2)
    with torch.no_grad():
        name = type(v.grad_fn).__name__
        on = torch.is_grad_enabled()
    return [name, on, metadata(v), torch.autograd.grad(v.sum(), x)]

# operands of a wider kind, of another kind
def imag_complex64():
    z = complex_sines(3, dtype=torch.complex64).requires_grad_()
    b = z * 1
    r = b[1:].mul_(complex_sines(2))
    return torch.autograd.grad(b.imag.sum(), z)

def mul_create_graph():
    x = sines(3, dtype=torch.float32).requires_grad_()
    b = x * 1
    r = b[1:].mul_(sines(2))
    (g,) = torch.autograd.grad((b * b).sum(), x, create_graph=True)
    return [g, torch.autograd.grad(g.sum(), x)]

def real_imag():
    z = complex_sines(3, dtype=torch.complex64).requires_grad_()
    b = z * 1
    r = b[1:].mul_(complex_sines(2))
    (g,) = torch.autograd.grad((b * b).real.sum(), z, create_graph=True)
    return [g, torch.autograd.grad(g.imag.sum(), z)]

# replayed views
def retain_graph_contiguous():
    x = sines(2, 3).requires_grad_()
    with torch.autograd._force_original_view_tracking(True):
        b = x * 1
        v = b.view(6)
        u = b.t()
        s = b[1:]
    r = b.mul_(2)
    return [metadata(v)[:2], type(v.grad_fn).__name__,
        torch.autograd.grad((v * sines(6)).sum(), x, retain_graph=True),
        torch.autograd.grad((u * sines(3, 2)).sum(), x, retain_graph=True)[0].contiguous(),
        torch.autograd.grad((s * sines(1, 3)).sum(), x)]

def as_strided_retain_graph():
    x = sines(2, 3).requires_grad_()
    with torch.autograd._force_original_view_tracking(True):
        b = (x * 1).t()
        v = b.as_strided((6,), (1,))
        u = b.reshape(3, 2, 1)
    r = b.mul_(2)
    return [torch.autograd.grad((v * sines(6)).sum(), x, retain_graph=True),
        torch.autograd.grad((u * sines(3, 2, 1)).sum(), x)]
