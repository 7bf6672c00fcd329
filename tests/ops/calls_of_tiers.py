"""Calls of functions `f` of records, compared between two tiers (test_moved_calls.py)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import (
    complex_sines,
    error_name,
    event_names,
    first_event,
    gradients,
    iota,
    metadata,
    next_nodes,
    second_gradients,
    sines,
    tangents,
)

OPERATORS = """
xlogy fmod lerp where square isnan isinf signbit logical_not logical_and clamp_min clamp_max sum
mean prod cumsum logsumexp softmax std std_mean all any max cummax sort topk unbind split
transpose squeeze cat stack mm mv dot addmm gather index_select _batch_norm _native_layer_norm
_dropout_mask _channel_mask masked_fill scatter embedding argmax sign round split_with_sizes
view_as_real diagonal expand select tril relu threshold addcmul _real _max_pool permute square
copysign scatter_add linear nll_loss_forward _div_rounded exp sqrt flip convolution var cumprod
hypot _conj view_as_complex _embedding_rows complex outer diag clamp narrow_copy index_fill
nan_to_num heaviside repeat igamma
""".split()
f = None  # the functions of one tier

fw = torch.autograd.forward_ad

# dtypes that are widened, claimed, refused
def complex64_prod():
    xs = [iota(2, dtype=d) for d in (torch.uint8, torch.int32, torch.int64, torch.bool,
        torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64)]
    return [f.square(x) for x in xs], [f.cumsum(x, 0) for x in xs], [f.prod(x)
        for x in xs], [f.sum(x) for x in xs]

def isinf_signbit():
    xs = [iota(2, dtype=d) for d in (torch.uint8, torch.int32, torch.int64, torch.bool,
        torch.float16, torch.bfloat16, torch.float32, torch.float64)]
    return [f.isnan(x) for x in xs], [f.isinf(x) for x in xs], [f.signbit(x)
        for x in xs], [f.logsumexp(x, 0) for x in xs]

[error_name(f.signbit, complex_sines(2)), error_name(f.logsumexp, complex_sines(2), 0),
    f.isnan(complex_sines(2)), f.isinf(complex_sines(2))]

def set_default_dtype_int32():
    torch.set_default_dtype(torch.float64)
    try:
        found = f.isnan(iota(2, dtype=torch.int32)), f.logsumexp(iota(2, dtype=torch.int32),
            0), f.mean(sines(2))
    finally:
        torch.set_default_dtype(torch.float32)
    return found

f.signbit(complex_sines(2))
f.xlogy(complex_sines(2), 2)
f.xlogy(sines(2), complex_sines(2))
f.lerp(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64), iota(2, dtype=torch.int64))
f.std(iota(2, dtype=torch.int64))
f.std_mean(iota(2, dtype=torch.int64))
f.mean(iota(2, dtype=torch.int64))
[f.mean(iota(2, dtype=torch.int64), dtype=torch.float64),
    f.softmax(iota(2, dtype=torch.int64), 0, dtype=torch.float64),
    f.mean(iota(2, dtype=torch.int64), 0, dtype=torch.float32)]
f.softmax(iota(2, dtype=torch.int64), 0)
f.softmax(sines(2), 0, dtype=torch.int64)
f.mean(sines(2), dtype=torch.int64)
f.mean(sines(2, 2), 0, dtype=torch.int64)
f.relu(complex_sines(2))
f.fmod(complex_sines(2), 2)
f.clamp_min(complex_sines(2), 1)
f._batch_norm(iota(2, 2, dtype=torch.int64), None, None, None, None, 0.1, 1e-5)
f._native_layer_norm(iota(2, 2, dtype=torch.int64), [2], None, None, 1e-5)
f.max(complex_sines(2), 0)

# nodes and what they keep
def clamp_min_fmod():
    x, y = sines(3).abs().requires_grad_(), (sines(3, phase=1.0).abs() + 1).requires_grad_()
    return [(metadata(r), next_nodes(r.grad_fn),
        [k for k in dir(r.grad_fn) if k.startswith("_saved")])
        for r in (f.xlogy(x, y), f.xlogy(x, 2), f.xlogy(2, y), f.xlogy(x.detach(), y),
        f.xlogy(x, y.detach()), f.clamp_min(x, 0.5), f.clamp_min(x, y), f.clamp_min(x.detach(), y),
        f.fmod(x, 2), f.fmod(x, y), f.lerp(x, y, 0.5), f.lerp(x, y, y), f.lerp(x, y.detach(), y),
        f.masked_fill(x, x > 0.5, 2.0), f.masked_fill(x, x > 0.5, y[0]),
        f.scatter(x, 0, torch.tensor([1]), 2.0), f.scatter(x, 0, torch.tensor([1]), y))]

def getattr_startswith():
    x = sines(3).abs().requires_grad_()
    r = [f.xlogy(x, 2), f.xlogy(2, x), f.clamp_min(x, 0.5), f.lerp(x, x, 0.25),
        f.masked_fill(x, x > 0.5, 3.0), f.sum(x), f.cumsum(x, -1), f.softmax(x, -1), f.cat([x, x]),
        f.std_mean(x), f.mean(x, 0, dtype=torch.float32), f.unbind(x), f.select(x, -1, -2),
        f.transpose(x.reshape(1, 3), -1, 0), f.sort(x)]
    r = [y[0] if isinstance(y, tuple) else y for y in r]
    return [[(k, getattr(y.grad_fn, k)) for k in dir(y.grad_fn) if k.startswith("_saved")]
        for y in r]

def cummax_topk():
    x = sines(2, 3).requires_grad_()
    r = f.sort(x), f.cummax(x, 1), f.max(x, 1), f.topk(x, 2)
    return [[(metadata(a), a.dtype) for a in y] for y in r]

def no_grad_transpose():
    x = sines(2, 3).requires_grad_()
    with torch.no_grad():
        r = f.xlogy(x, x), f.cat([x, x]), f.sort(x)[0], f.transpose(x, 0, 1), f.unbind(x)[1]
    return [metadata(y) for y in r]

def logical_not_sign():
    x = sines(2, 3).requires_grad_()
    return [metadata(y) for y in (f.argmax(x), f.isnan(x), f.logical_not(x), f.all(x), f.sign(x),
        f.any(x, 1))]

def stack_where():
    x = sines(2, 3)
    return [metadata(y) for y in (f.cat([x, x]), f.stack([x, x.requires_grad_()]),
        f.where(x > 0, x, x), f.where(x > 0, x.detach(), x), f.where(x > 0, 1.0, x),
        f.where(x > 0, x, 1.0), f.where(x > 0, 1.0, 2.0))]

def next_nodes_grad_fn():
    x, y = sines(2, 3).requires_grad_(), sines(2, 3)
    return [next_nodes(f.cat(z).grad_fn) for z in ([x, y], [y, x], [x, x, y],
        [y, y, x])], [torch.autograd.grad(f.cat(z).mul(sines(6, 3)).sum(), x)[0]
        for z in ([x, y, y], [y, x, y], [y, y, x])]

def batch_norm_nll_loss_forward():
    x, y = sines(2, 3).requires_grad_(), sines(3).requires_grad_()
    return [next_nodes(z.grad_fn) for z in (f._batch_norm(x, None, None, None, None, 0.1, 1e-5)[0],
        f._batch_norm(x, y, None, None, None, 0.1, 1e-5)[0],
        f._batch_norm(x, None, y, None, None, 0.1, 1e-5)[0],
        f._native_layer_norm(x, [3], None, y, 1e-5)[0],
        f.nll_loss_forward(x, torch.tensor([0, 2]), None, 1, -100)[0])]

# gradients: some, none, zeros, twice
def split_with_sizes_permute():
    x = sines(2, 3).requires_grad_()
    return [torch.autograd.grad(r.sum(), x)[0] for r in (f.unbind(x)[1],
        f.unbind(x, 1)[2] * f.unbind(x, 1)[0], f.split(x, 2, 1)[1],
        f.split_with_sizes(x, [1, 2], -1)[0], f.std_mean(x)[0], f.std_mean(x, 1)[1], f.sort(x)[0],
        f.max(x, 1)[0], f.cummax(x, 0)[0], f.topk(x, 2)[0] * sines(2),
        f._native_layer_norm(x, [3], None, None, 1e-5)[0] * sines(2, 3), f.diagonal(x),
        f.expand(x, 4, 2, 3), f.tril(x), f.permute(x, 1, 0) * sines(3, 2))]

def native_layer_norm_retain_graph():
    a, b, c = (sines(*s).requires_grad_() for s in ((2, 3), (3,), (3,)))
    r = f._native_layer_norm(a, [3], b, c, 1e-5)[0]
    s = (r * sines(2, 3)).sum()
    return [torch.autograd.grad(s, z, retain_graph=True)
        for z in ([a], [b], [c], [c, b], [a, b, c])]

def gradients_detach():
    a, b = sines(2, 3).requires_grad_(), sines(3, 2).requires_grad_()
    return [gradients(f.mm, sines(2, 3), sines(3, 2)),
        second_gradients(f.mm, sines(2, 3), sines(3, 2)),
        torch.autograd.grad(f.mm(a, b.detach()).sum(), a),
        torch.autograd.grad(f.mm(a.detach(), b).sum(), b),
        torch.autograd.grad(f.mm(a, b).sum(), [b])]

def nothing_allow_unused():
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None

    x = sines(3).abs().requires_grad_()
    return [torch.autograd.grad(Nothing.apply(y).sum(), x, allow_unused=True)
        for y in (f.xlogy(x, x), f.xlogy(x, 2), f.sort(x)[0], f.unbind(x)[0], f.std_mean(x)[0],
        f.cat([x, x]), f.mm(x[None], x[:, None]), f._native_layer_norm(x[None], [3], x, x,
        1e-5)[0])]

def backward_xlogy():
    x = sines(3).abs().requires_grad_()
    y = f.xlogy(x, x).sum()
    y.backward()
    return y.backward()

def backward_cumsum():
    x = sines(3).requires_grad_()
    y = f.cumsum(x, 0).sum() + f.sum(x) + f.cat([x, x]).sum()
    y.backward()
    return error_name(y.backward), x.grad

def grad_backward():
    x = sines(3).abs().requires_grad_()
    y = f.sum(x)
    y.backward()
    y.backward()
    return x.grad

def no_grad_mul():
    x = sines(3).abs().requires_grad_()
    y = f.softmax(x, 0)
    with torch.no_grad():
        y.mul_(2)
    return y.sum().backward()

def xlogy_mul():
    x = sines(3).abs().requires_grad_()
    z = x * 1
    y = f.xlogy(z, z)
    z.mul_(2)
    return y.sum().backward()

def xlogy_mul_2():
    x = sines(3).abs().requires_grad_()
    z = x * 1
    y = f.xlogy(z.detach(), x)
    z.mul_(2)
    return y.sum().backward()

def every_addcmul():
    def every(g, *xs):
        def square(*xs):
            found = g(*xs)
            found = found if isinstance(found, tuple) else [found]
            return [y**2 for y in found if y.is_floating_point()]

        return gradients(g, *xs), second_gradients(square, *xs), tangents(g, *xs), tangents(square,
            *xs)

    p, q, n = sines(2, 3).abs() + 0.5, sines(2, 3, phase=1.0).abs() + 0.5, sines(3, phase=2.0)
    return [every(*a) for a in ((f.xlogy, p, q), (lambda x: f.xlogy(x, 2), p),
        (lambda x: f.xlogy(2, x), p), (f.lerp, p, q, n), (lambda x, y: f.lerp(x, y, 0.25), p, n),
        (f.clamp_min, p, q), (lambda a, b: f.where(p > q, a, b), p, q), (f.addcmul, p, q, n),
        (f.prod, p), (lambda x: f.prod(x, 1), p), (lambda x: f.cumsum(x, 1), p),
        (lambda x: f.logsumexp(x, (0, 1)), p), (lambda x: f.softmax(x, -1), p), (f.std, p),
        (lambda x: f.std_mean(x, 1), p), (f.mean, p), (lambda x: f.mean(x, 1), p), (f.hypot, p, q),
        (f.exp, p), (f.sqrt, p), (f.square, p))]

def every_beta():
    def every(g, *xs):
        def square(*xs):
            found = g(*xs)
            found = found if isinstance(found, tuple) else [found]
            return [y**2 for y in found if y.is_floating_point()]

        return gradients(g, *xs), second_gradients(square, *xs), tangents(g, *xs)

    p, q, n = sines(2, 3), sines(2, 3, phase=1.0), sines(3, phase=2.0)
    return [every(*a) for a in ((lambda a, b: f.cat([a, b]), p, q),
        (lambda a, b: f.cat([a, b], -1), p, q), (lambda a, b: f.stack([a, b, a], 1), p, q),
        (lambda x: f.sort(x)[0] * sines(2, 3), p), (lambda x: f.max(x, 0)[0], p),
        (lambda x: f.cummax(x, 1)[0] ** 2, p), (lambda x: f.topk(x, 2, 0)[0] ** 2, p),
        (lambda x: f.unbind(x), p), (lambda x: f.split(x, 2, 1), p),
        (lambda x: f.transpose(x, 0, 1) ** 2, p), (lambda x: f.gather(x, 1,
        torch.tensor([[2, 0], [1, 1]])), p), (lambda x: f.index_select(x, 1, torch.tensor([2, 0])),
        p), (lambda x, v: f.masked_fill(x, x > 0, v), p, sines()),
        (lambda x, y: f.scatter(x, 1, torch.tensor([[2, 0], [1, 2]]), y), p, sines(2, 2)),
        (f.dot, n, sines(3)), (f.mv, p, n), (lambda a, b, c: f.addmm(a, b, c, beta=2, alpha=3),
        sines(2, 2), p, sines(3, 2)), (lambda x, a, b: f._native_layer_norm(x, [3], a, b, 1e-5)[0],
        p, n, sines(3)), (lambda x, a, b: f._batch_norm(x, a, b, None, None, 0.1, 1e-5)[0], p, n,
        sines(3)), (lambda x, a: f.linear(x, a), p, sines(4, 3)),
        (lambda x: f.nll_loss_forward(x, torch.tensor([0, 2]), None, 1, -100)[0], p),
        (lambda x: f._max_pool(x[None], [2, 2], [1, 1], [0, 0], [1, 1], False)[0], p))]

[gradients(lambda z: torch.view_as_real(f.mm(z, z)), complex_sines(2, 2)),
    tangents(lambda z: f.prod(z, 0), complex_sines(2, 2)),
    gradients(lambda z: torch.view_as_real(f.cat([z, z.conj()])), complex_sines(2)),
    gradients(lambda a, z: torch.view_as_real(f.cat([a, z])), sines(2), complex_sines(2)),
    gradients(lambda a, z: torch.view_as_real(f.addcmul(a, z, z)), sines(2), complex_sines(2)),
    gradients(lambda x: torch.view_as_real(f.complex(x, x)), sines(2)),
    gradients(lambda z: f.view_as_real(z), complex_sines(2)),
    gradients(lambda z: f._real(z), complex_sines(2))]

# tangents: of some operands, of none, of outer levels, of views
def tangents_linear():
    def tangents(g):
        with fw.dual_level():
            found = g(lambda x, turn=2.0: fw.make_dual(x, sines(*x.shape, phase=turn).to(x.dtype)))
            found = found if isinstance(found, (list, tuple)) else [found]
            return [(metadata(y), *fw.unpack_dual(y)) for y in found]

    p, q = sines(3).abs(), sines(3, phase=1.0).abs() + 1
    return [tangents(g) for g in (lambda d: f.xlogy(d(p), q), lambda d: f.xlogy(p, d(q)),
        lambda d: f.xlogy(d(p), d(q)), lambda d: f.xlogy(p, q), lambda d: f.xlogy(d(p), 2),
        lambda d: f.cat([d(p), q, d(q)]), lambda d: f.cat([p, q]), lambda d: f.stack([p, d(q)], 1),
        lambda d: f.dot(d(p), q), lambda d: f.dot(p, d(q)), lambda d: f.dot(d(p), d(q)),
        lambda d: f.sort(d(p)), lambda d: f.std_mean(d(p)), lambda d: f.where(p > 0.5, d(p), q),
        lambda d: f.where(p > 0.5, p, d(q)), lambda d: f.isnan(d(p)), lambda d: f.argmax(d(p)),
        lambda d: f.unbind(d(p)), lambda d: f.select(d(p), 0, 1), lambda d: f.sign(d(p)),
        lambda d: f.linear(d(p), q[None]), lambda d: f.linear(p, d(q[None])),
        lambda d: f.mm(p[None], d(q[:, None])))]

def base_view():
    p, q = sines(3).abs(), sines(3, phase=1.0).abs() + 1
    with fw.dual_level():
        base = p.clone()
        view = base[1:]
        base.mul_(fw.make_dual(torch.tensor(2.0, dtype=torch.float64),
            torch.tensor(3.0, dtype=torch.float64)))
        found = [fw.unpack_dual(y) for y in (f.xlogy(view, q[1:]), f.cat([q, view]),
            f.sort(view)[0], f.select(view, 0, 1))]
    return found

[torch.func.jvp(lambda x: torch.func.jvp(lambda y: g(y, x), (sines(3),), (sines(3, phase=1.0),))[1],
    (sines(3, phase=2.0),), (sines(3, phase=3.0),))
    for g in (lambda x, y: f.xlogy(x * x, y * y + x), lambda x, y: f.cat([x * y, y * x * x]),
    lambda x, y: f.dot(x * x, x * y), lambda x, y: f.sort(x * x * y)[0], lambda x,
    y: f.cumsum(x * x * y, 0), lambda x, y: f.std_mean(x * x * y), lambda x,
    y: f.where(y > x, x * x * y, y), lambda x, y: f.mm((x * y)[None], (y * x)[:, None]),)]
[torch.func.hessian(g)(sines(3).abs() + 1) for g in (lambda x: f.xlogy(x, x).sum(),
    lambda x: f.dot(f.cumsum(x, 0), x * x), lambda x: f.logsumexp(x * x, 0),
    lambda x: (f.cat([x, x * x]) ** 2).sum(), lambda x: f.std_mean(x * x)[0])]
[torch.func.jacfwd(g)(sines(2, 2) + 1.5) for g in (lambda x: f.xlogy(x, x), lambda x: f.unbind(x),
    lambda x: f.sort(x)[0], lambda x: f.transpose(x, 0, 1),
    lambda x: f._native_layer_norm(x, [2], None, None, 1e-5)[0],
    lambda x: f._batch_norm(x, None, None, None, None, 0.1, 1e-5)[0])]

# examples of vmap
def in_dims_where():
    x, y, k = sines(2, 3), sines(2, 3, phase=1.0), torch.tensor([[2, 0], [1, 1]])
    return [vmap(lambda a: f.xlogy(a.abs(), 2))(x),
        vmap(f.xlogy, in_dims=(0, None))(x.abs(), y[0].abs()),
        vmap(f.xlogy, in_dims=(None, 1))(x[0, :2].abs(), y.abs()),
        vmap(f.xlogy)(x[:, 0].abs(), y.abs()), vmap(lambda a: f.where(a > 0, a, 2.0))(x),
        vmap(f.where, in_dims=(0, None, 0))(x > 0, x[0], y),
        vmap(f.where, in_dims=(0, None, None))(x[:, 0] > 0, x[0], y[0].to(torch.float32)),
        vmap(f.where)(x > 0, x.to(torch.float32), y),
        vmap(lambda a, b: f.where(a, b, 1.0))(x.abs(), y) if 0 else 0,
        vmap(f.lerp, in_dims=(None, 0, None))(x, y, 0.5),
        vmap(lambda a: f.lerp(x.to(torch.float32), y.to(torch.float32),
        a))(torch.tensor([0.5, 0.25]))]

def flip_squeeze():
    x, k = sines(2, 3, 2), torch.tensor([[2, 0], [1, 1]])
    return [vmap(lambda a: f.sum(a, 0))(x), vmap(lambda a: f.sum(a, -1), in_dims=1)(x),
        vmap(lambda a: f.sum(a, (0, -1)), in_dims=2)(x), vmap(f.sum)(x), vmap(f.mean)(x),
        vmap(lambda a: f.sort(a, 0))(x), vmap(lambda a: f.max(a, -1))(x),
        vmap(lambda a: f.std_mean(a, 0))(x), vmap(lambda a: f.cumsum(a, -2))(x),
        vmap(lambda a: f.transpose(a, 0, -1))(x), vmap(lambda a: f.unbind(a, -1))(x),
        vmap(lambda a: f.split(a, 2))(x), vmap(lambda a: f.select(a, 0, -1))(x),
        vmap(lambda a: f.softmax(a, 0))(x), vmap(lambda a: f.topk(a, 1, 0))(x),
        vmap(lambda a: f.flip(a, (0,)))(x), vmap(lambda a: f.all(a > 0))(x),
        vmap(lambda a: f.any(a > 0, 0))(x), vmap(lambda a: f.argmax(a, 0))(x),
        vmap(lambda a: f.diagonal(a))(x), vmap(lambda a: f.squeeze(a, 0))(x[:, :1]),]

def logsumexp_expand():
    x = sines(2)
    return [vmap(lambda a: f.sum(a, 0))(x), vmap(lambda a: f.sort(a, 0))(x),
        vmap(lambda a: f.max(a, -1))(x), vmap(lambda a: f.cumsum(a, 0))(x),
        vmap(lambda a: f.softmax(a, -1))(x), vmap(lambda a: f.std_mean(a.expand(2)))(x),
        vmap(lambda a: f.argmax(a, 0))(x), vmap(lambda a: f.logsumexp(a, 0))(x),
        vmap(lambda a: f.transpose(a, 0, -1))(x)]

vmap(f.unbind)(sines(2))
vmap(lambda a: f.sum(a, 1))(sines(2))
vmap(lambda a: f.sort(a, -2))(sines(2, 3))
vmap(lambda a: f.split(a, 1))(sines(2))
vmap(f.mm, in_dims=(0, None))(sines(2, 2), sines(2, 2))
vmap(lambda a: f.mm(a, sines(4, 2)))(sines(2, 2, 3))

def in_dims_addmm():
    x, y = sines(2, 3), sines(2, 3, phase=1.0)
    return [vmap(lambda a, b: f.cat([a, b]))(x, y),
        vmap(lambda a, b: f.cat([a, b]), in_dims=(0, None))(x, y[0]),
        vmap(lambda a, b: f.cat([b, a, b]), in_dims=(1, None))(x, y[0]),
        vmap(lambda a, b: f.stack([b, a], -1), in_dims=(0, None))(x, y[0]), vmap(f.dot)(x, y),
        vmap(f.dot, in_dims=(0, None))(x, y[1]), vmap(f.dot, in_dims=(None, 0))(x[1], y),
        vmap(f.mv, in_dims=(None, 0))(sines(2, 3), y),
        vmap(f.mv, in_dims=(0, None))(sines(2, 2, 3), y[0]),
        vmap(f.mm, in_dims=(None, 0))(sines(2, 3), sines(2, 3, 2)),
        vmap(f.mm, in_dims=(2, 1))(sines(2, 3, 2), sines(3, 2, 2)),
        vmap(f.addmm, in_dims=(None, 0, None))(sines(2, 2), sines(2, 2, 3), sines(3, 2))]

def scatter_add_embedding():
    x, k = sines(2, 3), torch.tensor([[2, 0], [1, 1]])
    return [vmap(lambda a, i: f.gather(a, 0, i))(x, k),
        vmap(lambda a, i: f.gather(a, 0, i), in_dims=(0, None))(x, k[0]),
        vmap(lambda a, i: f.gather(a, 0, i), in_dims=(None, 0))(x[0], k),
        vmap(lambda a, i: f.index_select(a, 0, i))(x, k),
        vmap(lambda a, i: f.index_select(a, 0, i), in_dims=(None, 0))(x[0], k),
        vmap(lambda a, i: f.scatter(a, 0, i, 2.0))(x, k),
        vmap(lambda a, i, b: f.scatter(a, 0, i, b), in_dims=(0, None, None))(x, k[0], sines(2)),
        vmap(lambda a, i: f.scatter_add(a, 0, i, sines(2)), in_dims=(None, 0))(x[0], k),
        vmap(lambda a, i: f.masked_fill(a, i, 5.0), in_dims=(None, 0))(x[0], x > 0),
        vmap(lambda i: f.embedding(sines(4, 2), i))(k),
        vmap(lambda a: f.embedding(a, k))(sines(2, 4, 3))]

def norm_convolution():
    x, a, b = sines(2, 4, 3), sines(2, 3), sines(2, 3, phase=2.0)

    def norm(x, a, b):
        return f._native_layer_norm(x, [3], a, b, 1e-5)

    return [vmap(lambda x: norm(x, None, None))(x), vmap(norm)(x, a, b),
        vmap(norm, in_dims=(0, None, None))(x, a[0], b[0]),
        vmap(norm, in_dims=(None, 0, None))(x[0], a, b[0]),
        vmap(lambda x: f._batch_norm(x, None, None, None, None, 0.1, 1e-5)[0])(x),
        vmap(lambda x, a: f._batch_norm(x, a, None, None, None, 0.1, 1e-5)[0],
        in_dims=(None, 0))(x[0], a), vmap(lambda x: f._max_pool(x[None], [2, 2], [1, 1], [0, 0],
        [1, 1], False))(x), vmap(lambda x: f.nll_loss_forward(x, torch.tensor([0, 2, 1, 0]), None,
        1, -100)[0])(x), vmap(lambda x, k: f.convolution(x[None], k, None, [1], [0], [1], False,
        [0], 1), in_dims=(0, None))(x, sines(2, 4, 2))]

vmap(lambda x, m: f._batch_norm(x, None, None, m, m, 0.1, 1e-5)[0],
    in_dims=(0, None))(sines(2, 4, 3), torch.zeros(3, dtype=torch.float64))

def version_batch_norm():
    m0 = torch.zeros(2, 3, dtype=torch.float64), torch.ones(2, 3, dtype=torch.float64)
    y = vmap(lambda x, m, v: f._batch_norm(x, None, None, m, v, 0.1, 1e-5)[0])(sines(2, 4, 3), *m0)
    return [y, m0, m0[0]._version > 0]

vmap(lambda x, m: f._batch_norm(x, None, None, m, m, 0.1, 1e-5)[0], in_dims=(None, 0))(sines(4, 3),
    torch.zeros(2, 3, dtype=torch.float64))
[vmap(vmap(f.xlogy, in_dims=(0, None)), in_dims=(0, 0))(sines(2, 3, 2).abs(), sines(2, 2).abs()),
    vmap(vmap(lambda a, b: f.cat([a, b]), in_dims=(None, 0)), in_dims=(0, None))(sines(2, 2),
    sines(3, 2)), vmap(lambda x: vmap(lambda y: f.dot(x, y))(sines(3, 2)))(sines(2, 2)),
    vmap(lambda x: vmap(lambda y: f.sort(y))(sines(3, 2)))(sines(2, 2)),
    vmap(lambda x: f.unbind(sines(2, 2)))(sines(3)),
    vmap(lambda x: vmap(lambda y: f.unbind(x))(sines(3, 2)))(sines(2, 2))]
[vmap(torch.func.grad(lambda x: g(x).sum()))(sines(2, 3).abs() + 1)
    for g in (lambda x: f.xlogy(x, 2), lambda x: f.cat([x, x * x]), lambda x: f.sort(x)[0] ** 2,
    lambda x: f.unbind(x)[1], lambda x: f.logsumexp(x, 0), lambda x: f.std_mean(x)[0],
    lambda x: f.dot(x, x), lambda x: f.cumsum(x, 0))]

def inside_retain_graph():
    x = sines(2, 3).requires_grad_()
    found = [f.xlogy(x.abs(), 2), *f.sort(x)]

    def inside(a):
        return f.xlogy(a.abs(), 2), f.unbind(x)[0] * a, f.select(a, 0, 1)

    return [torch.autograd.grad(y.sum(), x, retain_graph=True)[0] for y in vmap(inside)(x)]

def drawn_randomness():
    def drawn(randomness, **others):
        torch.manual_seed(3)
        return vmap(lambda x: f._dropout_mask(x, 0.5), randomness=randomness,
            **others)(torch.ones(2, 64)).sum(1)

    a, b = drawn("same"), drawn("different")
    return [a[0] == a[1], (0 < a).all(), (a < 128).all(), error_name(drawn, "error"),
        [list(drawn(r).shape) for r in ("same", "different")]]

def shared_randomness():
    def shared(randomness):
        torch.manual_seed(3)
        return vmap(lambda x: f._dropout_mask(torch.ones(64), 0.5) + x,
            randomness=randomness)(torch.zeros(2))

    return [(shared("same")[0] == shared("same")[1]).all(),
        (shared("different")[0] == shared("different")[1]).all(), error_name(shared, "error")]

# in place
def next_nodes_grad_fn_2():
    x = sines(3).abs().requires_grad_()
    y = x * 1
    z = f.xlogy_(y, 2)
    return [z is y, metadata(y), next_nodes(y.grad_fn), torch.autograd.grad(y.sum(), x)]

def next_nodes_grad_fn_3():
    x, k = sines(3).abs().requires_grad_(), (sines(3, phase=1.0).abs() + 1).requires_grad_()
    y = k * 1
    f.xlogy_(y, x)
    return [metadata(y), next_nodes(y.grad_fn), torch.autograd.grad((y * sines(3)).sum(), (x, k))]

def next_nodes_grad_fn_4():
    x, k = sines(3).abs().requires_grad_(), sines(3, phase=1.0).abs() + 1
    f.xlogy_(k, x)
    return [metadata(k), next_nodes(k.grad_fn), torch.autograd.grad((k * sines(3)).sum(), x)]

def xlogy_metadata():
    x = sines(3).abs().requires_grad_()
    y = x * 1
    v = y[1:]
    f.xlogy_(v, 2)
    return [metadata(y), metadata(v), torch.autograd.grad((y * sines(3)).sum(), x), y]

def no_grad_xlogy():
    x = sines(3).abs().requires_grad_()
    with torch.no_grad():
        f.xlogy_(x, 2)
    return [metadata(x), x]

f.xlogy_(sines(3).requires_grad_(), 2)
f.square_(sines(3).requires_grad_())
f.logical_not_(sines(3).requires_grad_())
f.xlogy_(complex_sines(3), 2)
f.xlogy_(iota(3, dtype=torch.int64), 2)
f.xlogy_(sines(3), sines(2, 3))
f.xlogy_(sines(1).expand(3), 2)
f.cumsum_(sines(1).expand(3), 0)
f.cumsum_(sines(3, 2), 2)
error_name(f.masked_fill_, sines(3), sines(2, 3) > 0, 1.0)

def sines_lerp():
    a = sines(6)
    return f.lerp_(a[1:], a[:5], 0.5)

def scatter_masked_fill():
    a = sines(6)
    return f.cumsum_(a[::2], 0), f.scatter_(a[1:4], 0, torch.tensor([2, 0]), 9.0), f.masked_fill_(a,
        a > 1, 7.0), a

def addmm_tril():
    a = sines(3, 3)
    return [f.addmm_(sines(3, 3), a, a), f.tril_(a, -1), a._version, f.tril_(a.t()),
        error_name(f.addmm_, a, a, a), f.scatter_add_(sines(3), 0, torch.tensor([1, 1]), sines(2)),
        error_name(f.scatter_add_, a[0], 0, torch.tensor([1]), a[0]),
        error_name(f.scatter_, a[0], 0, torch.tensor([1]), a[0, :2])]

def tril_threshold():
    x = sines(2, 3).requires_grad_()
    y, z, u, v, k = x * 1, x * 1, x * 1, x * 1, x * 1
    f.cumsum_(y, -1), f.masked_fill_(z, x > 0, 2.0), f.tril_(u), f.relu_(v), f.threshold_(k, 0.1,
        20.0)
    return [(metadata(a), torch.autograd.grad((a * sines(2, 3)).sum(), x, retain_graph=True))
        for a in (y, z, u, v, k)]

def scatter_add_addmm():
    x, s = sines(2, 3).requires_grad_(), sines(2, 2).requires_grad_()
    y, z, u = x * 1, x * 1, s * 1
    f.scatter_(y, 1, torch.tensor([[0, 2], [1, 0]]), s), f.scatter_add_(z, -1,
        torch.tensor([[0, 2], [1, 0]]), s), f.addmm_(u, x, x.t())
    return [(metadata(a), torch.autograd.grad((a * sines(*a.shape)).sum(), (x, s),
        retain_graph=True)) for a in (y, z, u)]

def requires_grad_logical_and():
    x = sines(3).requires_grad_()
    y, z, u = x * 1, x * 1, sines(3)
    f.logical_not_(y), f.logical_and_(z, x), f.logical_and_(u, x)
    return [(metadata(a), a, next_nodes(a.grad_fn)) if a.requires_grad else (metadata(a), a)
        for a in (y, z, u)], torch.autograd.grad(y.sum() + z.sum(), x)

def sqrt_saved_result():
    x = sines(3).requires_grad_()
    y = x * 1
    f.exp_(y)
    z = f.sqrt_(y * 1)
    return [torch.autograd.grad(z.sum(), x, retain_graph=True), z.grad_fn._saved_result is z,
        torch.autograd.grad(y.sum(), x)]

def base_make_dual():
    with fw.dual_level():
        d = fw.make_dual(sines(3).abs(), sines(3, phase=1.0))
        e = sines(3).abs()
        f.xlogy_(d, 2), f.xlogy_(e, d)
        base = sines(4).abs()
        f.xlogy_(base[1:], d)
        g = fw.make_dual(sines(3), sines(3, phase=1.0))
        f.logical_not_(g), f.cumsum_(d, 0)
        found = [fw.unpack_dual(y) for y in (d, e, base, g)]
    return found, [metadata(y) for y in (d, e, base)]

def masked_fill_cumsum():
    a, b = sines(2, 3).abs(), sines(2, 3).abs()
    return [vmap(lambda x: f.xlogy_(x, 2))(a), a, a._version,
        vmap(lambda x, y: f.masked_fill_(x, y > 0.5, 1.0))(a, b), a,
        vmap(lambda x: f.cumsum_(x, -1), in_dims=1)(b), b,
        error_name(vmap(lambda y: f.xlogy_(sines(3), y)), b)]

vmap(lambda y: f.xlogy_(sines(3), y))(sines(2, 3))

def square_is_conj():
    z = complex_sines(3).conj()
    return [f.square_(z), z.is_conj(), f.square(z), f.sum(z), f.cat([z, z]), f.prod(z),
        f.mm(z[None], z[:, None]), f.real(z) if 0 else f._real(z), f.select(z, 0, 1),
        f.where(torch.tensor(True), z, z), f._conj(z).is_conj(), f.cumsum(z, 0),
        f.gather(z, 0, torch.tensor([1])), f.std(z)]

def is_neg_relu():
    z = complex_sines(3).conj().imag
    return [z.is_neg(), f.square(z), f.xlogy(z.abs(), z), f.sum(z), f.cat([z, sines(1)]),
        f.stack([z, z]), f.sort(z), f.cumsum(z, 0), f.relu_(z.clone()), f.softmax(z, 0), f.isnan(z),
        f.signbit(z), f.unbind(z), f.addmm(z[None], z[None], sines(3, 3))]

# out=
def empty_complex128():
    o = [torch.empty(0, dtype=d) for d in (torch.float64, torch.float32, torch.complex128,
        torch.float16)]
    return [(f.xlogy(sines(3).abs(), 2, out=x) is x, x, x._version) for x in o]

def version_lerp():
    o = [torch.zeros(3, dtype=d) for d in (torch.float64, torch.float32, torch.int64)]
    return [(error_name(lambda: f.lerp(sines(3), sines(3), 0.5, out=x)), x, x._version) for x in o]

f.lerp(sines(3), sines(3), 0.5, out=torch.zeros(3))
f.sign(sines(3), out=torch.zeros(3))
f.signbit(sines(3), out=torch.zeros(3))
[f.signbit(sines(3), out=torch.zeros(3, dtype=torch.bool)),
    f.sign(sines(3), out=torch.zeros(3, dtype=torch.float64)),
    f.sign(iota(3, dtype=torch.int32), out=torch.zeros(3, dtype=torch.int32)),
    f.where(sines(3) > 0, sines(3), 2.0, out=torch.zeros(3, dtype=torch.float64)),
    f.where(sines(3) > 0, iota(3, dtype=torch.int64), sines(3),
    out=torch.zeros(3, dtype=torch.float64)), f.complex(sines(3), sines(3),
    out=torch.zeros(3, dtype=torch.complex128))]
f.where(sines(3) > 0, sines(3), 2.0, out=torch.zeros(3))
f.complex(sines(3), sines(3), out=torch.zeros(3, dtype=torch.complex64))
f.xlogy(complex_sines(2), 2, out=torch.zeros(2, dtype=torch.complex128))
f.signbit(complex_sines(2), out=torch.zeros(2, dtype=torch.bool))
f.std(iota(2, dtype=torch.int64), 0, out=torch.zeros(()))
f.xlogy(sines(3), 2, out=torch.zeros(3, dtype=torch.int64))
f.sum(sines(3), 0, out=torch.zeros((), dtype=torch.int64))
f.cumsum(sines(3), 0, out=torch.zeros(3, dtype=torch.bool))
[f.sum(iota(3, dtype=torch.int64), 0, out=torch.zeros((), dtype=torch.float64)),
    f.sum(sines(3), 0, out=torch.zeros(())), f.sum(iota(3, dtype=torch.int32), 0,
    out=torch.zeros((), dtype=torch.int32)), f.sum(sines(3).to(torch.float16), 0,
    out=torch.zeros(())), f.sum(sines(3), 0, dtype=torch.float32, out=torch.zeros(())),
    f.cumsum(iota(3, dtype=torch.uint8) + 120, 0, out=torch.zeros(3, dtype=torch.uint8)),
    f.cumsum(iota(3, dtype=torch.uint8) + 120, 0, out=torch.zeros(3, dtype=torch.int64)),
    f.cumsum(sines(3).to(torch.float16), 0, out=torch.zeros(3)),
    f.prod(iota(3, dtype=torch.int64) + 1, 0, out=torch.zeros((), dtype=torch.float32)),
    f.prod(iota(3, dtype=torch.uint8) + 120, 0, out=torch.zeros((), dtype=torch.uint8))]
f.sum(sines(3), 0, dtype=torch.float32, out=torch.zeros((), dtype=torch.float64))
f.cumsum(sines(3), 0, dtype=torch.float32, out=torch.zeros(3, dtype=torch.float64))
[f.mean((sines(3) * 2049).to(torch.float16), 0, out=torch.zeros(())),
    f.mean(sines(2, 3), 1, out=torch.empty(0, dtype=torch.float64)),
    f.logsumexp(sines(3).to(torch.float16), 0, out=torch.zeros(())),
    f.logsumexp(iota(3, dtype=torch.int64), 0, out=torch.zeros(())),
    f.std((sines(3) * 2049).to(torch.float16), 0, out=torch.zeros(())),
    f.mean(sines(3).to(torch.bfloat16), 0, out=torch.zeros((), dtype=torch.float64))]
([f.all(sines(2, 3) > 0, 1, out=torch.zeros(2, dtype=d)) for d in (torch.bool, torch.uint8)],
    f.any(torch.tensor([1, 0], dtype=torch.uint8), 0, out=torch.zeros((), dtype=torch.uint8)),
    [error_name(lambda: f.all(sines(2, 3) > 0, 1, out=torch.zeros(2, dtype=d)))
    for d in (torch.float64, torch.int64, torch.float32, torch.int32)])
f.all(sines(2, 3) > 0, 1, out=torch.zeros(2, dtype=torch.int64))

def empty_cummax():
    o = torch.empty(0, dtype=torch.float64), torch.empty(0, dtype=torch.int64)
    r = f.sort(sines(2, 3), out=o)
    return [r[0] is o[0], r[1] is o[1], o, [x._version for x in o],
        f.max(sines(2, 3), 1, out=(o[0], o[1])), o, f.topk(sines(2, 3), 2, out=o),
        f.cummax(sines(2, 3), 1, out=o)]

f.sort(sines(3), out=(torch.zeros(3), torch.zeros(3, dtype=torch.int64)))
f.sort(sines(3), out=(torch.zeros(3, dtype=torch.float64), torch.zeros(3)))
f.sort(sines(3), out=torch.zeros(3))
f.sort(sines(3), out=(torch.zeros(3, dtype=torch.float64),))
f.sort(sines(3), out=(torch.zeros(3, dtype=torch.float64), 3))
f.sort(sines(3).requires_grad_(), out=(torch.zeros(3, dtype=torch.float64),
    torch.zeros(3, dtype=torch.int64)))
f.xlogy(sines(3), 2, out=3)
f.xlogy(sines(3).requires_grad_(), 2, out=torch.zeros(3, dtype=torch.float64))
f.xlogy(sines(3), 2, out=torch.zeros(3, dtype=torch.float64).requires_grad_())
f.cat([sines(3), sines(3).requires_grad_()], out=torch.empty(0, dtype=torch.float64))
vmap(lambda x: f.xlogy(x, 2, out=torch.empty(0, dtype=torch.float64)))(sines(2, 3))

def version_cumsum():
    a = sines(6).abs()
    return [error_name(lambda: f.xlogy(a[1:], 2, out=a[:5])),
        error_name(lambda: f.cumsum(a[1:], 0, out=a[:5])),
        error_name(lambda: f.cat([a[:2], a[3:]], out=a[1:])), a, f.xlogy(a, 2, out=a),
        f.cumsum(a[:3], 0, out=a[:3]), f.cumsum(a[:3], 0, out=a[3:]), a._version, a]

def complex_real():
    a, b, z = sines(6), sines(6) > 0, complex_sines(4)
    g = torch.zeros(16, dtype=torch.bool)
    return ([error_name(h) for h in (lambda: f.lerp(a[1:], a[1:], 0.5, out=a[:5]),
        lambda: f.sign(a[1:], out=a[:5]), lambda: f.where(b[1:], a[1:], 2.0, out=a[:5]),
        lambda: f.where(b[1:], b[1:], b[1:], out=b[:5]),
        lambda: f.signbit(g.view(torch.float64), out=g[:2]),
        lambda: f.complex(z.real, a[:4], out=z), lambda: f.complex(a[:3], z.imag[1:], out=z[:3]),
        lambda: f.sign(a[:2], out=torch.zeros(1, dtype=torch.float64).expand(2)))], a, b, z,
        g.any(), a._version)

def sign_view():
    a = sines(6)
    return [f.sign(a, out=a) is a, a, f.lerp(a[:3], a[:3], 0.5, out=a[3:]),
        f.where(a > 0, 1.0, a, out=a), f.signbit(a,
        out=torch.zeros(2, 3, dtype=torch.bool).view(6)[:]),
        f.sign(a.view(2, 3), out=torch.zeros(3, 2, dtype=torch.float64).t()), a._version]

def tril_empty():
    a = torch.zeros(2, 3, dtype=torch.float64)
    return [f.cat([sines(2, 1), sines(2, 2)], 1, out=a),
        f.stack([sines(2), sines(2)], 1, out=torch.empty(0)), f.mm(sines(2, 2), sines(2, 3), out=a),
        f.mm(sines(2, 2), sines(2, 3), out=torch.zeros(3, 2, dtype=torch.float64).t()),
        f.gather(sines(2, 3), 1, torch.tensor([[0], [2]]), out=torch.empty(0, dtype=torch.float64)),
        f.index_select(sines(2, 3), 1, torch.tensor([0, 2]),
        out=torch.zeros(2, 2, dtype=torch.float64)), f.tril(sines(2, 3), out=a), f.tril(a, out=a),
        f.addmm(a, sines(2, 2), a.clone(), out=a),
        f.argmax(sines(2, 3), 1, out=torch.empty(0, dtype=torch.int64)),
        f.softmax(sines(2, 3), 1, out=a) if 0 else 0]

f.mm(sines(2, 2), sines(2, 3), out=torch.zeros(2, 3))
f.gather(sines(2, 3), 1, torch.tensor([[0], [2]]), out=torch.zeros(2, 1))

def conj_complex128():
    z = complex_sines(3).conj()
    o = torch.view_as_real(z.resolve_conj()), torch.zeros(3, dtype=torch.complex128).conj()
    return [f.square(z, out=torch.zeros(3, dtype=torch.complex128)),
        f.square(complex_sines(3), out=o[1]), o[1].is_conj(), f.cumsum(z, 0, out=o[1]),
        f.mm(z[None], z[:, None], out=torch.zeros(1, 1, dtype=torch.complex128).conj()),
        f._real(z, out=torch.zeros(3)), f._real(z, out=torch.zeros(3, dtype=torch.complex128)),
        f.sum(z, 0, out=torch.zeros((), dtype=torch.complex128).conj())]

# devices, memory, what is said
f.xlogy(sines(3), torch.zeros(3, device="meta"))
[error_name(f.mm, sines(2, 2), torch.zeros(2, 2, device="meta")),
    error_name(f.cat, [sines(2), torch.zeros(2, device="meta")]),
    f.mm(torch.zeros(2, 3, device="meta"), torch.zeros(3, 2, device="meta")).shape,
    f.xlogy(torch.zeros(3, device="meta"), 2).shape,
    [x.shape for x in f.sort(torch.zeros(2, 3, device="meta"))],
    f.unbind(torch.zeros(2, 3, device="meta"))[1].shape,
    f.select(torch.zeros(2, 3, device="meta"), 1, 0).device.type,
    f.cumsum_(torch.zeros(3, device="meta"), 0).shape,
    f.cumsum(torch.zeros(3, device="meta"), 0, out=torch.zeros(2, device="meta")).shape,
    f.sum(torch.zeros(3, device="meta")).shape]
f.mm(sines(2, 2), torch.zeros(2, 2, device="meta"))
f.mm(sines(2, 3), sines(2, 3))
f.cat([])
f.cat([sines(2), sines(2, 2)])
f.cat([sines(2), 3])
f.sum(sines(2), 1)
f.select(sines(2), 0, 2)
f.sort(sines(2, 2), -3)
f.transpose(sines(2, 2), 0, 2)
f.xlogy(2, 3)
[event_names(*a)[0] for a in ((f.xlogy, sines(3), 2), (f.xlogy_, sines(3), 2), (f.sort, sines(3)),
    (f.mm, sines(2, 2), sines(2, 2)), (f.outer, sines(2), sines(2)), (f.clamp, sines(2), 0),
    (f.clamp_, sines(2), 0), (f.diag, sines(2)), (f.nan_to_num_, sines(2)),
    (f.cumsum_, sines(3), 0))]

def outer_event_names():
    o = torch.zeros(2, 2, dtype=torch.float64)
    a, b = sines(2, 2), sines(2)
    g = (lambda: f.mm(a, a, out=o)), (lambda: f.outer(b, b, out=o)), (lambda: f.xlogy(a, a,
        out=o)), (lambda: f.sort(a, out=(o, iota(2, 2, dtype=torch.int64))))
    return [event_names(y) for y in g[:1]], [event_names(y)[0]
        for y in g[1:3]], "aten::sort" in event_names(g[3])

[first_event(lambda: f.xlogy(sines(3), sines(3))), first_event(lambda: f.xlogy_(sines(3), 2)),
    first_event(lambda: f.outer(sines(2), sines(3))), first_event(lambda: f.clamp_(sines(2), 0)),
    first_event(lambda: f.cat([sines(2), sines(3)]))]

def seen_sorted():
    x = sines(2, 2).requires_grad_()
    with torch.autograd.profiler.profile(with_flops=True) as seen:
        y = f.mm(x, x)
        z = f.xlogy_(x.abs(), x)
        y.sum().backward()
    return sorted((e.name, e.sequence_nr >= 0, e.flops)
        for e in seen.function_events if e.name in ("aten::mm", "aten::xlogy_", "MmBackward0"))

# composites
def clamp_narrow_copy():
    x = sines(2, 3).requires_grad_()
    return [metadata(y) for y in (f.outer(x[0], x[1]), f.clamp(x, 0, 1), f.clamp(x, 0),
        f.clamp(x, None, 0.5), f.diag(x), f.narrow_copy(x, 1, 0, 2),
        f.index_fill(x, 1, torch.tensor([0]), 2.0), f.nan_to_num(x), f.repeat(x, (2, 1)))]

[f.outer(sines(2), sines(3), out=torch.empty(0, dtype=torch.float64)),
    f.outer(sines(2), sines(3), out=torch.zeros(2, 3)),
    f.clamp(sines(3), 0, out=torch.zeros(3, dtype=torch.float64)),
    f.nan_to_num(sines(3), out=torch.zeros(3, dtype=torch.float64)),
    f.heaviside(sines(3), sines(3), out=torch.zeros(3, dtype=torch.float64)),
    f.diag(sines(2), out=torch.empty(0, dtype=torch.float64))]

def clamp_nan_to_num():
    o = [torch.zeros(3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64),
        torch.zeros(2, 2, dtype=torch.float64)]
    r = [f.clamp(sines(3), 0, out=o[0]), f.nan_to_num(sines(3), out=o[1]),
        f.diag(sines(2), out=o[2])]
    return [a is b for a, b in zip(r, o)], [x._version for x in o]

f.outer(sines(2).requires_grad_(), sines(3), out=torch.empty(0, dtype=torch.float64))
f.outer(sines(2), sines(3), out=torch.zeros(2, 3, dtype=torch.int64))
f.outer(sines(2), sines(3), out=3)
f.diag(sines(2), out=torch.zeros(2, 2, dtype=torch.int64))
f.nan_to_num(sines(2), out=torch.zeros(2, dtype=torch.float64).requires_grad_())

def clamp_nan_to_num_2():
    x = sines(3).requires_grad_()
    y, z = x * 1, x * 1
    f.clamp_(y, 0, 0.5), f.nan_to_num_(z)
    return [y._version, z._version, torch.autograd.grad((y + z).sum(), x),
        error_name(f.clamp_, x, 0), x._version]

def seen_bytes_moved():
    with torch.autograd.profiler.profile(record_shapes=True, profile_memory=True) as seen:
        f.exp(sines(3)), f.sort(sines(2, 2)), f.outer(sines(2),
            sines(2)), f.exp_(sines(3)), f.mm(sines(2, 2), sines(2, 2),
            out=torch.zeros(2, 2, dtype=torch.float64))
    return [(e.name, e.bytes_moved) for e in seen.function_events
        if e.name in ("aten::exp", "aten::exp_", "aten::sort", "aten::mm", "aten::outer")]
