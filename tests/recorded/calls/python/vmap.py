"""Vmap: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.func import vmap
from tests.recorded.inputs import complex_sines, differs, error_name, metadata, sines

J = torch.func.jvp

# structures
def namedtuple_vmap():
    from collections import namedtuple
    P = namedtuple("P", "a b")
    f = lambda p: P(p.a * 2, (p.b, {"c": [p.a.sum(), p.b]}))
    r = vmap(f)(P(sines(2, 3), sines(2, 2)))
    return [type(r).__name__, r.a, r.b[0], r.b[1]["c"], type(r.b[1]).__name__]

def ordered_dict_items():
    from collections import OrderedDict
    r = vmap(lambda d: OrderedDict((k, v * 2) for k, v in d.items()),
        in_dims=({"x": 0, "y": None},))(OrderedDict(x=sines(2, 2), y=sines(2)))
    return [list(r), r["x"], r["y"], type(r).__name__]

def jacrev_type():
    r = torch.func.jacrev(lambda d: (d["a"] * 2, [d["b"].sum()]))({"a": sines(2), "b": sines(3)})
    return [r[0]["a"], r[0]["b"], r[1][0]["a"], r[1][0]["b"], type(r).__name__, type(r[1]).__name__]

def jacfwd_argnums():
    r = torch.func.jacfwd(lambda a, b: {"s": a * b, "t": (a.sum(),)}, argnums=(0, 1))(sines(2),
        sines(2, phase=1))
    return [r["s"], r["t"]]

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
vmap(lambda x: x, out_dims=(0,))(sines(2))
vmap(lambda x: sines(3), out_dims=None)(sines(2))
vmap(lambda x: (x, sines(3)), out_dims=(0, None))(sines(2))
vmap(lambda x: x * 2, out_dims=1)(sines(2, 3))
vmap(lambda x: x * 2, out_dims=-1)(sines(2, 3, 4)).shape
with differs("torch puts the dimension of examples elsewhere than it is asked to, and fails"):
    vmap(lambda x: sines(3), out_dims=1)(sines(2))
vmap(lambda x: {"a": x, "b": (x, x.T)}, out_dims={"a": 1, "b": (0, 2)})(sines(2, 3,
    4))["b"][1].shape

# chunks
@differs("torch joins what has no examples, too")
def out_dims_chunk_size():
    seen = []
    def f(x, y):
        seen.append(torch.autograd.forward_ad is not None)
        return x + y, y
    return [vmap(f, in_dims=(0, None), out_dims=(0, None), chunk_size=2)(sines(5), sines(2)),
        len(seen)]

def seen_chunk_size():
    seen = []
    def f(x):
        seen.append(1)
        return x * 2
    r = [vmap(f, chunk_size=n)(sines(4)) for n in (1, 2, 3, 4, 5)]
    return [len(seen), r]

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
J(lambda x: x, [sines(2)], [sines(2)])
error_name(J, lambda x: x, (sines(2),), (sines(2), sines(2)))
error_name(J, lambda x: x, (), ())
error_name(J, lambda x: x, (3,), (sines(2),))
error_name(J, lambda x: x, (sines(2),), (3,))
error_name(J, lambda x: 3, (sines(2),), (sines(2),))
error_name(J, lambda x: x, (sines(2),), (sines(3),))
J(lambda x: sines(2), (sines(2),), (sines(2),))
error_name(lambda: J(lambda x: sines(2), (sines(2),), (sines(2),), strict=True))
J(lambda x: x * 1, (sines(2),), (sines(2),), strict=True)

def has_aux_len():
    r = J(lambda x: (x * 2, {"k": x * 3}), (sines(2),), (sines(2),), has_aux=True)
    return [r[0], r[1], r[2]["k"], len(r)]

error_name(lambda: J(lambda x: (x * 2, 3), (sines(2),), (sines(2),), has_aux=True))
error_name(lambda: J(lambda x: x * 2, (sines(2),), (sines(2),), has_aux=True))
error_name(lambda: J(lambda x: (x, x, x), (sines(2),), (sines(2),), has_aux=True))

def set_fwd_grad_enabled_forward_ad():
    with torch.no_grad():
        a = torch.func.jvp(lambda x: x**2, (sines(2),), (sines(2),))
    with torch.autograd.forward_ad._set_fwd_grad_enabled(False):
        b = torch.func.jvp(lambda x: x**2, (sines(2),), (sines(2),))
    return a, b

def inference_mode_jvp():
    with torch.inference_mode():
        a = torch.func.jvp(lambda x: x**2, (sines(2),), (sines(2),))
    return a

# linearize
def linearize_float64():
    L = torch.func.linearize
    y, f = L(lambda x: (x**3, x.sum()), sines(3))
    return [y, f(sines(3)), f(torch.ones(3, dtype=torch.float64))]

def linearize_phase():
    y, f = torch.func.linearize(lambda a, b: {"s": a * b}, sines(2), sines(2, phase=1))
    return [y["s"], f(sines(2), sines(2))["s"]]

def linearize_float32():
    y, f = torch.func.linearize(lambda x: x**3, sines(3))
    return [error_name(f, sines(2)), error_name(f, sines(3, dtype=torch.float32)),
        error_name(f, sines(3), sines(3))]

def linearize_retain_graph():
    x = sines(3).requires_grad_()
    y, f = torch.func.linearize(lambda v: v**3, x)
    z = f(sines(3))
    return [y.requires_grad, z.requires_grad, torch.autograd.grad(y.sum(), x, retain_graph=True)]

def linearize_requires_grad():
    y, f = torch.func.linearize(lambda v: v**3, sines(3))
    d = sines(3).requires_grad_()
    z = f(d)
    return [y.requires_grad, z.requires_grad, torch.autograd.grad(z.sum(), d),
        f(sines(3)).requires_grad]

def linearize_no_grad():
    y, f = torch.func.linearize(lambda v: v.sum() * 2, sines(3))
    with torch.no_grad():
        z = f(sines(3).requires_grad_())
    return [z, z.requires_grad]

# grad, vjp
def argnums_has_aux():
    g = torch.func.grad
    return [error_name(g(lambda x: (x,)), sines()), error_name(g(lambda x: x), sines(2)),
        error_name(g(lambda x: x), complex_sines()), error_name(g(lambda x: 3), sines()),
        error_name(g(lambda x: x.sum(), argnums=1), sines(2)),
        error_name(g(lambda x: x.sum(), argnums=-2), sines(2)),
        error_name(g(lambda x: x.sum(), argnums="0"), sines(2)),
        error_name(g(lambda x: x.sum(), argnums=(0, 1)), sines(2)),
        error_name(g(lambda x: x.sum(), has_aux=True), sines(2)),
        error_name(g(lambda x: (x.sum(), 3), has_aux=True), sines(2)),
        error_name(g(lambda x: x.sum()), 3),]

def argnums_phase():
    g = torch.func.grad
    return [g(lambda a, b: (a * b).sum(), argnums=-1)(sines(2), sines(2, phase=1)),
        g(lambda a, b: (a * b).sum(), argnums=(1, 0))(sines(2), sines(2, phase=1)),
        g(lambda a, b: (a * b).sum(), argnums=(-1,))(sines(2), sines(2, phase=1)),
        g(lambda a, k=1.0: (a * k).sum())(sines(2), k=3.0)]

def jacrev_jacfwd():
    f = lambda x: (x**2).sum()
    return [torch.func.grad(f).__name__, torch.func.grad_and_value(f).__name__,
        torch.func.jacrev(f).__name__, torch.func.jacfwd(f).__name__, torch.func.vmap(f).__name__,
        torch.func.hessian(f).__name__]

def vjp_phase():
    v, f = torch.func.vjp(lambda x, y: (x * y, [x.sum()]), sines(2), sines(2, phase=1))
    return [v, f((sines(2), [sines()])), error_name(f, (sines(2), (sines(),))),
        error_name(f, (sines(2),)), error_name(f, (sines(2), [3])),
        error_name(f, (sines(3), [sines()])), error_name(f, (sines(2), [sines(1)]))]

def vjp_retain_graph():
    v, f = torch.func.vjp(lambda x: x * 2, sines(2))
    return [f(sines(2)), f(sines(2)), error_name(lambda: f(sines(2), retain_graph=False)),
        error_name(f, sines(2))]

def vjp_has_aux():
    r = torch.func.vjp(lambda x: (x * 2, {"a": [x * 3]}), sines(2), has_aux=True)
    return [len(r), r[0], r[1](sines(2)), r[2]["a"]]

error_name(torch.func.vjp, lambda x: 3, sines(2))
error_name(torch.func.vjp, lambda x: (), sines(2))
error_name(torch.func.vjp, lambda x: x, 3)
error_name(lambda: torch.func.vjp(lambda x: x, sines(2), has_aux=True))
error_name(lambda: torch.func.vjp(lambda x: (x, 3), sines(2), has_aux=True))

# the values that come back belong to the graph outside of it, if there is one
def other_beside():
    x = sines(2).requires_grad_()
    def f(v):
        return (v**3).sum(), (v * 2, x * v)
    g, (value, aux) = torch.func.grad_and_value(f, has_aux=True)(x)
    h, (other, beside) = torch.func.grad_and_value(f, has_aux=True)(sines(2))
    return [metadata(g)[:2], metadata(value)[:2], metadata(aux[0])[:2], metadata(aux[1])[:2],
        h.requires_grad, other.requires_grad, [b.requires_grad for b in beside],
        torch.autograd.grad(g.sum() + aux[0].sum(), x)]

def requires_grad_no_grad():
    x = sines(2).requires_grad_()
    v, f = torch.func.vjp(lambda v: v**2, x)
    u, h = torch.func.vjp(lambda v: v**2, sines(2))
    with torch.no_grad():
        p = f(sines(2))[0]
    return [v.requires_grad, f(sines(2))[0].requires_grad, p.requires_grad, u.requires_grad,
        h(sines(2))[0].requires_grad, h(sines(2).requires_grad_())[0].requires_grad]

def no_grad_is_grad_enabled():
    with torch.no_grad():
        v, f = torch.func.vjp(lambda v: (v**2, torch.is_grad_enabled()) if 0 else v**2,
            sines(2).requires_grad_())
        a = f(sines(2))[0]
    b = f(sines(2).requires_grad_())[0]
    return [v.requires_grad, a, a.requires_grad, b]

torch.func.vjp(lambda x: x * 2, sines(2, dtype=torch.float32))[1](torch.ones(2))
torch.func.vjp(lambda x: (x * 2).sum(), sines(2, dtype=torch.float32))[1](torch.tensor(1.0))

def has_aux_linearize():
    x = sines(2).requires_grad_()
    v, f, aux = torch.func.vjp(lambda v: ((v * 2, x * v), (v * 3, v * x)), sines(2), has_aux=True)
    u, g = torch.func.linearize(lambda v: (v * 2, x * v), sines(2))
    return [[r.requires_grad for r in (*v, *aux, *u)],
        [r.requires_grad for r in (*f((sines(2), sines(2))), *g(sines(2)))],
        torch.autograd.grad(f((sines(2), sines(2)))[0].sum() + v[1].sum(), x)]

# Jacobians
def jacrev_argnums():
    f = lambda a, b: (a.sum() * b, {"k": a * 2})
    r = torch.func.jacrev(f, argnums=(1, 0))(sines(2), sines(3))
    s = torch.func.jacfwd(f, argnums=(1, 0))(sines(2), sines(3))
    return [r[0], r[1]["k"], s[0], s[1]["k"]]

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
torch.func.hessian(lambda x: (x**3).sum() * x[0])(sines(2))
torch.func.hessian(lambda a, b: (a * b).sum() ** 2, argnums=(0, 1))(sines(2), sines(2, phase=1))

# Functions in vmaps
def rule_dims():
    class Rule(torch.autograd.Function):
        @staticmethod
        def forward(x, y, k):
            return x * y * k, x + 1
        @staticmethod
        def setup_context(ctx, inputs, output):
            pass
        @staticmethod
        def vmap(info, dims, x, y, k):
            seen.append((info.batch_size, info.randomness, dims, tuple(x.shape)))
            x = x.movedim(dims[0], 0) if dims[0] is not None else x
            y = y.movedim(dims[1], 0) if dims[1] is not None else y
            return (x * y * k, (x + 1)), (0, 0 if dims[0] is not None else None)
    seen = []
    r = vmap(Rule.apply, in_dims=(0, None, None), randomness="same")(sines(2, 3), sines(3),
        2.0), vmap(Rule.apply, in_dims=(None, 1, None))(sines(3), sines(3, 2), 2.0) if 0 else 0
    u = vmap(lambda x: Rule.apply(sines(3), sines(3), 1.0)[0] * x, randomness="different")(sines(2))
    v = vmap(lambda x: vmap(lambda y: Rule.apply(y, sines(3), 1.0)[1])(x))(sines(2, 1, 3))
    return [r[0], u, v, seen]

def bare_three():
    class Bare(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2
        @staticmethod
        def setup_context(ctx, inputs, output):
            pass
    class Old(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2
    class Both(Bare):
        generate_vmap_rule = True
        @staticmethod
        def vmap(info, dims, x):
            return x, 0
    class One(Bare):
        @staticmethod
        def vmap(info, dims, x):
            return x
    class Three(Bare):
        @staticmethod
        def vmap(info, dims, x):
            return x, 0, 0
    class Wrong(Bare):
        @staticmethod
        def vmap(info, dims, x):
            return (x, x), (0,)
    return [error_name(vmap(k.apply), sines(2)) for k in (Bare, Old, Both, One, Three, Wrong)]

@differs("torch takes no other results than tensors")
def save_for_forward_output():
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

def setup_context_generate_vmap_rule():
    class D(torch.autograd.Function):
        generate_vmap_rule = True
        @staticmethod
        def forward(x):
            return x.mul_(2)
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(inputs[0])
        @staticmethod
        def backward(ctx, g):
            return g * 2
    return error_name(vmap(lambda x: D.apply(x * 1)), sines(2))

@differs("torch asks for backward() by this name alone")
def generate_vmap_rule_out_dims():
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
def generate_vmap_rule_in_dims():
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

def next_send():
    @torch.no_grad()
    def gen():
        got = []
        for _ in range(3):
            try:
                got.append((yield torch.is_grad_enabled()))
            except KeyError:
                got.append("key")
        return got, torch.is_grad_enabled()
    g = gen()
    r = [next(g), g.send(1), g.throw(KeyError), torch.is_grad_enabled()]
    def end(g):
        try:
            g.send(5)
        except StopIteration as e:
            return e.value
    return [r, end(g), error_name(next, g)]

def next_is_grad_enabled():
    @torch.no_grad()
    def gen():
        yield 1
        raise ValueError
    g = gen()
    next(g)
    return [error_name(next, g), error_name(next, g), torch.is_grad_enabled()]

def generator_exit_close():
    @torch.no_grad()
    def gen():
        try:
            yield 1
        except GeneratorExit:
            yield 2
    g = gen()
    next(g)
    return [error_name(g.close), torch.is_grad_enabled()]

torch.no_grad()(torch.no_grad()(lambda: torch.is_grad_enabled()))(), torch.is_grad_enabled()

@differs("Torch's decorator leaves a coroutine alone.")
def coroutine_send():
    import types
    @types.coroutine
    def step(x):
        return (yield x)
    @torch.no_grad()
    async def f():
        a = await step(torch.is_grad_enabled())
        try:
            await step("now")
        except KeyError:
            a = a, await step("key"), torch.is_grad_enabled()
        try:
            await step("then")
        finally:
            seen.append(torch.is_grad_enabled())
        return a
    seen = []
    c = f()
    r = [c.send(None), c.send(1), c.throw(KeyError), c.send(7), torch.is_grad_enabled()]
    def end(c):
        try:
            c.send(None)
        except StopIteration as e:
            return e.value
    return [r, end(c), seen]

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

def set_warn_always_is_warn_always_enabled():
    found = [torch.is_warn_always_enabled()]
    torch.set_warn_always(True)
    found.append(torch.is_warn_always_enabled())
    torch.set_warn_always(False)
    found.append(torch.is_warn_always_enabled())
    return found

# what random operators are given
def randomness_in_dims():
    f = lambda x, p: x.clone().bernoulli_(p)
    p = torch.tensor([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    return [vmap(f, randomness="different")(torch.zeros(3, 2), p),
        vmap(f, in_dims=(1, 1), randomness="different")(torch.zeros(2, 3), p.T),
        vmap(f, in_dims=(0, None), randomness="different")(torch.zeros(3, 2),
        torch.tensor([0.0, 1.0])), vmap(f, in_dims=(0, None), randomness="same")(torch.zeros(3, 2),
        torch.tensor([0.0, 1.0])), error_name(vmap(f, randomness="same"), torch.zeros(3, 2), p),
        error_name(vmap(f, randomness="error"), torch.zeros(3, 2), p),
        error_name(vmap(f, in_dims=(None, 0), randomness="different"), torch.zeros(2), p)]

vmap(lambda p: torch.bernoulli(p), in_dims=1,
    randomness="different")(torch.tensor([[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]]))
vmap(lambda x: x.clone().uniform_(2, 2 + 1e-12).round(), randomness="same")(torch.zeros(2, 2))
vmap(lambda x: x.clone().uniform_(2, 2 + 1e-12).round(), randomness="different")(torch.zeros(2, 2))

def vmap_randomness():
    f = lambda a, b: torch.normal(a, b)
    return [vmap(f, randomness="different")(sines(3, 2), torch.zeros(3, 2, dtype=torch.float64)),
        vmap(f, in_dims=(1, None), randomness="different")(sines(2, 3),
        torch.zeros(2, dtype=torch.float64)), error_name(vmap(f, randomness="same"), sines(3, 2),
        torch.zeros(3, 2)), vmap(f, randomness="different")(sines(0, 2), torch.zeros(0, 2)),
        error_name(vmap(f), sines(2, 2), torch.zeros(2, 2))]

def randomness_randperm():
    u = lambda x: torch.rand_like(x)
    r = [vmap(u, in_dims=1, randomness=k)(torch.zeros(2, 3)) for k in ("same", "different")]
    s = [vmap(lambda x: torch.rand(2, 3), randomness=k)(torch.zeros(4))
        for k in ("same", "different")] + [vmap(lambda x: torch.rand((2, 3)),
        randomness=k)(torch.zeros(4)) for k in ("same",
        "different")] + [vmap(lambda x: torch.randint(0, 10**9, (2,)),
        randomness=k)(torch.zeros(4)) for k in ("same", "different")]
    return [[tuple(x.shape) for x in (*r, *s)], [bool((x == x[:1]).all()) for x in (*r, *s)],
        error_name(vmap(u), torch.zeros(2, 3)), error_name(vmap(lambda x: torch.rand(2)),
        torch.zeros(2)), error_name(vmap(lambda x: torch.randperm(3), randomness="different"),
        torch.zeros(2))]

# sizes at the ends
with differs("Torch cuts no examples into chunks."):
    vmap(lambda x: x * 2)(sines(0, 3)), vmap(lambda x: x * 2, chunk_size=2)(sines(0, 3))

def called_said():
    class Called:
        def __repr__(self):
            return "<it>"
        def __call__(self, x):
            return x
    def said(f, *a):
        try:
            f(*a)
        except Exception as e:
            return str(e)[:40]
    return [said(vmap(Called(), in_dims=0), 3), said(vmap(lambda x: x), 3)]

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

def in_dims_out_dims():
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
def hook_kept():
    import weakref
    x = sines(3).requires_grad_()
    y = x.exp().sin()
    kept = []
    def hook(gi, go):
        kept.append(weakref.ref(gi[0]))
        return (gi[0] * 2,)
    r = y.grad_fn.register_hook(hook)
    y.sum().backward()
    return [kept[0]() is None, x.grad]

def call_sequential():
    c = nn.Linear(2, 2, dtype=torch.float64)
    s = nn.Sequential(c)
    call = lambda m, name: torch.func.functional_call(m, {name: torch.ones(2, dtype=torch.float64)},
        torch.ones(2, dtype=torch.float64)) is not None
    return [error_name(call, c, "c.weight"), error_name(call, s, "0.x.w2"),
        error_name(call, c, "in_features"), error_name(call, s, "0.in_features"), call(s, "0.w2"),
        call(c, "w2")]
