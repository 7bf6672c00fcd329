"""Vmap: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.func import vmap
from tests.recorded.inputs import differs, error_name, sines

# structures
error_name(vmap(lambda x: x, in_dims=({"x": 0},)), {"y": sines(2)})
error_name(vmap(lambda x: x, in_dims=([0, 0],)), (sines(2), sines(2)))
error_name(vmap(lambda x: x, in_dims=((0, 0),)), [sines(2), sines(2)])
error_name(vmap(lambda x: x, in_dims=((0, 0),)), sines(2))
error_name(vmap(lambda x: x, in_dims=(0, 0)), sines(2))
error_name(vmap(lambda x: x, in_dims={"x": 0}), sines(2))
error_name(vmap(lambda x: x, in_dims="0"), sines(2))
error_name(vmap(lambda: sines(2)))
error_name(vmap(lambda x: x, in_dims=(True,)), sines(2))
error_name(vmap(lambda x: x, in_dims=(0.0,)), sines(2))
error_name(vmap(lambda x: x), 3)
error_name(vmap(lambda x: x, in_dims=2), sines(2, 2))
error_name(vmap(lambda x: x, in_dims=-3), sines(2, 2))
error_name(vmap(lambda x: x), sines())
error_name(vmap(lambda x: x, in_dims=(None,)), sines(2))
error_name(vmap(lambda x, y: x), sines(2), sines(3))
with differs("torch takes no list"):
    vmap(lambda x: x, in_dims=[0])(sines(2))
vmap(lambda x: x, in_dims=-2)(sines(2, 3))
vmap(lambda x: x, in_dims=1)(sines(2, 3))
vmap(lambda x: x, in_dims=-1)(sines(2, 3))
error_name(vmap(lambda x: x, out_dims=(0, 0)), sines(2))
error_name(vmap(lambda x: (x, x), out_dims=(0,)), sines(2))
error_name(vmap(lambda x: [x, x], out_dims=(0, 0)), sines(2))
error_name(vmap(lambda x: x, out_dims="0"), sines(2))
error_name(vmap(lambda x: x, out_dims=None), sines(2))
error_name(vmap(lambda x: 3), sines(2))
error_name(vmap(lambda x: None), sines(2))
with differs("torch puts the dimension of examples elsewhere than it is asked to, and fails"):
    vmap(lambda x: sines(3), out_dims=1)(sines(2))

# chunks
vmap(lambda x: {"a": x, "b": x.sum()}, in_dims=1, out_dims={"a": 1, "b": 0},
    chunk_size=2)(sines(2, 5))["a"]
error_name(lambda: vmap(lambda x: x, chunk_size=0))
error_name(lambda: vmap(lambda x: x, chunk_size=-1))
error_name(lambda: torch.func.jacrev(lambda x: x, chunk_size=0))
error_name(lambda: vmap(lambda x: x, randomness="none"))(sines(2)) if 0 else 0

def jacrev_chunk_size():
    f = lambda x: (x**3).cumsum(0)
    return [torch.func.jacrev(f, chunk_size=n)(sines(3)) for n in (1, 2, 3, 4)]

# jvp
def jvp_func():
    J = torch.func.jvp
    return J(lambda x: x, [sines(2)], [sines(2)])

def no_grad_forward_ad():
    with torch.no_grad():
        a = torch.func.jvp(lambda x: x**2, (sines(2),), (sines(2),))
    with torch.autograd.forward_ad._set_fwd_grad_enabled(False):
        b = torch.func.jvp(lambda x: x**2, (sines(2),), (sines(2),))
    return a, b

# linearize
def linearize_no_grad():
    y, f = torch.func.linearize(lambda v: v.sum() * 2, sines(3))
    with torch.no_grad():
        z = f(sines(3).requires_grad_())
    return [z, z.requires_grad]

# grad, vjp
error_name(torch.func.vjp, lambda x: 3, sines(2))
error_name(torch.func.vjp, lambda x: (), sines(2))
error_name(torch.func.vjp, lambda x: x, 3)
error_name(lambda: torch.func.vjp(lambda x: x, sines(2), has_aux=True))
error_name(lambda: torch.func.vjp(lambda x: (x, 3), sines(2), has_aux=True))

# Jacobians
def jacrev_has_aux():
    r = torch.func.jacrev(lambda x: (x**2, {"v": x * 3}), has_aux=True)(sines(2))
    s = torch.func.jacfwd(lambda x: (x**2, {"v": x * 3}), has_aux=True)(sines(2))
    return [r[0], r[1]["v"], s[0], s[1]["v"], len(r), len(s)]

torch.func.jacrev(lambda x: x**2)(sines())
torch.func.jacfwd(lambda x: x**2)(sines())
torch.func.jacrev(lambda x: x.reshape(2, 1, 2) ** 2)(sines(2, 2)).shape
torch.func.jacfwd(lambda x: x.reshape(2, 1, 2) ** 2)(sines(4)).shape
torch.func.jacrev(lambda x: x.sum())(sines(0))
torch.func.jacfwd(lambda x: x * 2)(sines(0)).shape
error_name(torch.func.jacfwd(lambda x: 3), sines(2))
error_name(torch.func.jacrev(lambda x: 3), sines(2))
error_name(torch.func.jacrev(lambda x: x), 3)
error_name(torch.func.jacfwd(lambda x: x, argnums=2), sines(2))
error_name(torch.func.jacfwd(lambda x: x * torch.rand(2)), sines(2))
error_name(torch.func.jacfwd(lambda x: x * torch.rand(2), randomness="same"), sines(2))
error_name(torch.func.jacfwd(lambda x: x, has_aux=True), sines(2))

# Functions in vmaps
@differs("torch takes no other results than tensors")
def out_dims_save_for_forward():
    class G(torch.autograd.Function):
        generate_vmap_rule = True
        @staticmethod
        def forward(x, y, k):
            return x.exp() * y, (x > 0), k
        @staticmethod
        def setup_context(ctx, inputs, output):
            x, y, k = inputs
            ctx.k = k
            ctx.mark_non_differentiable(output[1])
            ctx.save_for_backward(x, y, output[0], x * 2)
            ctx.save_for_forward(x, y)
            ctx.set_materialize_grads(False)
        @staticmethod
        def backward(ctx, g, _, __):
            x, y, z, d = ctx.saved_tensors
            seen.append((ctx.needs_input_grad, tuple(x.shape), tuple(d.shape), ctx.k, _ is None))
            return g * z + 0 * d, g * x.exp(), None
        @staticmethod
        def jvp(ctx, a, b, _):
            x, y = ctx.saved_tensors
            return (0 if a is None else a * x.exp() * y) + (0 if b is None
                else b * x.exp()), None, None
    seen = []
    x, y = sines(2, 3).requires_grad_(), sines(3, phase=1).requires_grad_()
    z, m, k = vmap(lambda a, b: G.apply(a, b, 2), in_dims=(0, None), out_dims=(0, 0, None))(x, y)
    g = torch.autograd.grad((z * sines(2, 3)).sum(), (x, y))
    h = torch.autograd.grad(vmap(lambda b: G.apply(sines(3), b, 3)[0],
        in_dims=1)(sines(3, 2).requires_grad_()).sum(), y, allow_unused=True)
    j = torch.func.jvp(lambda a: vmap(lambda a: G.apply(a, sines(3, phase=1), 1)[0])(a),
        (sines(2, 3),), (sines(2, 3, phase=2),))
    l = torch.func.jvp(lambda b: vmap(lambda a: G.apply(a, b, 1)[0])(sines(2, 3)), (sines(3),),
        (sines(3, phase=2),))
    return [z, m, k, m.requires_grad, g, h, j, l, seen]

@differs("torch asks for backward() by this name alone")
def in_dims_out_dims():
    class S(torch.autograd.Function):
        generate_vmap_rule = True
        @staticmethod
        def forward(x, y):
            return x * y
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
        @staticmethod
        def vjp(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x
    x, y = sines(2, 3).requires_grad_(), sines(3, phase=1).requires_grad_()
    k = sines(3, 2).requires_grad_()
    a = torch.autograd.grad(vmap(S.apply, in_dims=(0, None))(x, y).sum(), (x, y))
    b = torch.autograd.grad((vmap(S.apply, in_dims=(None, 1), out_dims=1)(y, k) * sines(3,
        2)).sum(), (y, k))
    c = vmap(torch.func.grad(lambda u: S.apply(u, y.detach()).sum()))(x.detach())
    return [a, b, c]

@differs(
    "a gradient of no batch for an operand without one counts for each example, in torch for all at once")
def vmap_in_dims():
    class C(torch.autograd.Function):
        generate_vmap_rule = True
        @staticmethod
        def forward(x, y):
            return x * 1
        @staticmethod
        def setup_context(ctx, inputs, output):
            pass
        @staticmethod
        def backward(ctx, g):
            return torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    x, y = sines(3, 2).requires_grad_(), sines(2).requires_grad_()
    return torch.autograd.grad(vmap(C.apply, in_dims=(0, None))(x, y).sum(), (x, y))

# modes of generators and coroutines
def next_throw():
    @torch.no_grad()
    def gen():
        try:
            yield torch.is_grad_enabled()
        except ValueError:
            yield "caught", torch.is_grad_enabled()
        finally:
            seen.append(torch.is_grad_enabled())
    seen = []
    g = gen()
    a = next(g)
    b = g.throw(ValueError)
    c = torch.is_grad_enabled()
    d = g.close()
    return [a, b, c, d, seen, error_name(next, g)]

torch.no_grad()(torch.no_grad()(lambda: torch.is_grad_enabled()))(), torch.is_grad_enabled()

@differs("Torch's decorator leaves a coroutine alone.")
def send_close():
    import types
    @types.coroutine
    def step(x):
        return (yield x)
    @torch.no_grad()
    async def f():
        try:
            await step("then")
        finally:
            seen.append(torch.is_grad_enabled())
    @torch.no_grad()
    async def h():
        try:
            await step(1)
        except KeyError:
            await step(2)
    seen = []
    c = f()
    c.send(None)
    d = h()
    d.send(None)
    d.throw(KeyError)
    return [c.close(), seen, d.close(), torch.is_grad_enabled()]

# settings
error_name(torch.use_deterministic_algorithms, 2.5)
error_name(torch.use_deterministic_algorithms, None)
error_name(torch.set_deterministic_debug_mode, None)
error_name(torch.set_deterministic_debug_mode, "always")
error_name(torch.set_deterministic_debug_mode, 3)
error_name(torch.set_deterministic_debug_mode, -1)
error_name(torch.set_deterministic_debug_mode, 1.0)
error_name(torch.set_float32_matmul_precision, "low")
error_name(torch.set_warn_always, 1)

def warn_only_get_deterministic_debug_mode():
    found = []
    for mode in (0, 1, 2, "default", "warn", "error", 0):
        torch.set_deterministic_debug_mode(mode)
        found.append((torch.get_deterministic_debug_mode(),
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled()))
    torch.use_deterministic_algorithms(True, warn_only=True)
    found.append(torch.get_deterministic_debug_mode())
    torch.use_deterministic_algorithms(False)
    return [found, torch.get_deterministic_debug_mode()]

def get_float32_matmul_precision_set_float32_matmul_precision():
    found = [torch.get_float32_matmul_precision()]
    for p in ("high", "medium", "highest"):
        torch.set_float32_matmul_precision(p)
        found.append(torch.get_float32_matmul_precision())
    return found

# what random operators are given
def vmap_randomness():
    f = lambda a, b: torch.normal(a, b)
    return [vmap(f, randomness="different")(sines(3, 2), torch.zeros(3, 2, dtype=torch.float64)),
        vmap(f, in_dims=(1, None), randomness="different")(sines(2, 3),
        torch.zeros(2, dtype=torch.float64)), error_name(vmap(f, randomness="same"), sines(3, 2),
        torch.zeros(3, 2)), vmap(f, randomness="different")(sines(0, 2), torch.zeros(0, 2)),
        error_name(vmap(f), sines(2, 2), torch.zeros(2, 2))]

# tangents and gradients that have no examples, or have them elsewhere
@differs("Where examples lie in memory is nobody's concern; torch's rule puts them elsewhere.")
def new_ones_out_dims():
    class K(torch.autograd.Function):
        generate_vmap_rule = True
        @staticmethod
        def forward(x, y):
            return x * 2, y * 3
        @staticmethod
        def setup_context(ctx, inputs, output):
            pass
        @staticmethod
        def backward(ctx, g, h):
            return g.new_ones(2), h * 3
        @staticmethod
        def jvp(ctx, a, b):
            return torch.zeros(2, dtype=torch.float64) + 5, b * 3
    return [torch.func.jvp(lambda a: vmap(K.apply, in_dims=(d, None), out_dims=(e, None))(a,
        sines(2)), (x,), (x,)) for d, e, x in ((0, 0, sines(3, 2)), (1, 1, sines(2, 3)),
        (1, 0, sines(2, 3)))]

def in_dims_out_dims_2():
    class K(torch.autograd.Function):
        generate_vmap_rule = True
        @staticmethod
        def forward(x, y):
            return x * y
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)
        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x
        @staticmethod
        def jvp(ctx, a, b):
            x, y = ctx.saved_tensors
            return a * y + b * x
    x, y = sines(2, 3).requires_grad_(), sines(3, 2, phase=1).requires_grad_()
    r = vmap(K.apply, in_dims=(1, 0), out_dims=1)(x, y)
    return [r, torch.autograd.grad((r * sines(2, 3)).sum(), (x, y)),
        torch.func.jvp(vmap(K.apply, in_dims=(1, 0), out_dims=1), (x, y),
        (sines(2, 3), sines(3, 2)))]

# what a hook of a node replaces is let go
def sequential_functional_call():
    c = nn.Linear(2, 2, dtype=torch.float64)
    s = nn.Sequential(c)
    call = lambda m, name: torch.func.functional_call(m, {name: torch.ones(2, dtype=torch.float64)},
        torch.ones(2, dtype=torch.float64)) is not None
    return [error_name(call, c, "c.weight"), error_name(call, s, "0.x.w2"),
        error_name(call, c, "in_features"), error_name(call, s, "0.in_features"), call(s, "0.w2"),
        call(c, "w2")]
