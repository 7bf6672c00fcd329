"""Transforms: calls of the Python layer (`autograd_cy`)."""

import math

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import differs, error_name, iota, sines

A = torch.autograd.functional

# products and Jacobians: which results have a graph
def jacobian_vectorize():
    f = lambda x, y: (x * x * y).sum()
    x = sines(2).requires_grad_()
    return (A.jacobian(f, (x, sines(2)), vectorize=True, strategy="forward-mode"),
        A.hessian(f, (x, sines(2)), vectorize=True, outer_jacobian_strategy="forward-mode"),
        A.hessian(f, (x, sines(2)))[0][1], A.jacobian(lambda x: (x, x * 2), sines(2),
        vectorize=True, strategy="forward-mode"), A.jacobian(lambda x: [x][0], sines(2),
        vectorize=True))

torch.autograd.functional.hessian(lambda x: (x * x).sum(), sines(2), strict=True, vectorize=True)
torch.autograd.functional.jacobian(lambda x: x * x, sines(2), strict=True, vectorize=True)
torch.autograd.functional.jacobian(lambda x: x, sines(2), strategy="no")
torch.autograd.functional.hessian(lambda x: x.sum(), sines(2), outer_jacobian_strategy="no")
torch.autograd.functional.jacobian(lambda x: x, sines(2), strategy="forward-mode")
torch.autograd.functional.jacobian(lambda x: x, sines(2), True, vectorize=True,
    strategy="forward-mode")
torch.autograd.functional.hessian(lambda x: x.sum(), sines(2),
    outer_jacobian_strategy="forward-mode")

def hessian_strict():
    R = lambda g, *a, **k: error_name(lambda: g(*a, **k))
    f = lambda x: (sines(2), x * 2)
    return ([R(g, f, sines(2), *v, strict=True)
        for g, v in ((A.vjp, ((sines(2), sines(2)),)), (A.jvp, (sines(2),)), (A.jacobian, ()))],
        [R(g, lambda x: sines(), sines(2), *v, strict=True)
        for g, v in ((A.vhp, (sines(2),)), (A.hvp, (sines(2),)), (A.hessian, ()))],
        [R(g, lambda x: x.sum(), sines(2), *v, strict=True)
        for g, v in ((A.vhp, (sines(2),)), (A.hvp, (sines(2),)), (A.hessian, ()))],
        A.vjp(f, sines(2), (sines(2), sines(2))), A.jvp(f, sines(2), sines(2)),
        A.jacobian(f, sines(2)), A.vhp(lambda x: x.sum(), sines(2), sines(2)),
        A.hvp(lambda x: x.sum(), sines(2), sines(2)), A.hessian(lambda x: sines(), sines(2)),)

def strict_jacobian():
    R = lambda g, *a, **k: error_name(lambda: g(*a, **k))
    f = lambda x, y: (x**2).sum() + 0 * y.detach().sum()
    return ([R(g, f, (sines(2), sines(2)), *v, strict=True)
        for g, v in ((A.vjp, ()), (A.jvp, ((sines(2), sines(2)),)),
        (A.vhp, ((sines(2), sines(2)),)), (A.hvp, ((sines(2), sines(2)),)), (A.jacobian, ()),
        (A.hessian, ()))], A.vjp(f, (sines(2), sines(2))),
        A.jvp(f, (sines(2), sines(2)), (sines(2), sines(2))),
        A.vhp(f, (sines(2), sines(2)), (sines(2), sines(2))),
        A.hvp(f, (sines(2), sines(2)), (sines(2), sines(2))),)

with differs("forward mode records no graph"):
    torch.autograd.functional.jacobian(lambda x: x * x, sines(2).requires_grad_(), vectorize=True,
        strategy="forward-mode").requires_grad
with differs("Torch's hvp has no strategy."):
    [torch.autograd.functional.hvp(lambda x: (x**3).sum(), sines(2).requires_grad_(), sines(2),
        strategy=k) for k in ("forward-mode", "auto", "reverse-mode")]
    [torch.autograd.functional.hvp(lambda x: (x**3).sum(), sines(2).requires_grad_(), sines(2),
        strategy="forward-mode")[k].requires_grad for k in (0, 1)]
    torch.autograd.functional.hvp(lambda x: x.sum(), sines(2), sines(2), strategy="no")

# transforms of functions: what is no tensor
torch.func.vjp(lambda x: 3, sines(2))
torch.func.jvp(lambda x: x, (3,), (sines(2),))
torch.func.jvp(lambda x: x, (sines(2),), (3,))
torch.func.jvp(lambda x: 3, (sines(2),), (sines(2),))
torch.func.jvp(lambda x: x, (sines(2),), (sines(3),))
torch.func.jvp(lambda x: x, sines(2), sines(2))
torch.func.grad(lambda x: x.sum())(3)
torch.func.grad(lambda x: 3)(sines(2))
torch.func.grad(lambda x: x.sum(), argnums=1)(sines(2))
torch.func.grad_and_value(lambda x: ((x * x).sum(), "aux"), has_aux=True)(sines(2))
torch.func.grad(lambda x, y: (x * y).sum(), argnums=(1, 0))(sines(2), iota(2).double())
torch.func.grad(lambda x, y: (x * y).sum(), argnums=-1)(sines(2), iota(2).double())
error_name(lambda: torch.func.grad_and_value(lambda x: ((x * x).sum(), "aux"),
    has_aux=True)(sines(2)))
torch.func.grad(lambda x: ((x * x).sum(), x), has_aux=True)(sines(2))
torch.func.jacrev(lambda x: (x * x, {"a": x.sum()}))(sines(2))[1]["a"]
torch.func.jacrev(lambda x, y: x * y, argnums=(0, 1))(sines(2), sines(2))
torch.func.jacrev(lambda x: x * x, chunk_size=1)(sines(3))
torch.func.jacrev(lambda x: (x * x, x), has_aux=True)(sines(2))
torch.func.jacfwd(lambda x: (x * x, x), has_aux=True)(sines(2))
torch.func.hessian(lambda x: (x**3).sum())(sines(2))
torch.func.vjp(lambda x: (x, "aux"), sines(2), has_aux=True)
torch.func.jvp(lambda x: (x * x, "a"), (sines(2),), (sines(2),), has_aux=True)
torch.func.jvp(lambda x, y: x * y, (sines(2), sines(2)), (sines(2), iota(2).double()))
error_name(lambda: torch.func.jvp(lambda x: (x * x, "a"), (sines(2),), (sines(2),), has_aux=True))
torch.func.jvp(lambda x: sines(2), (sines(2),), (sines(2),))
torch.func.jvp(lambda x: sines(2), (sines(2),), (sines(2),), strict=True)

# what vmap takes and gives
with differs("of vmap's own types"):
    vmap(lambda x: x, in_dims=True)(sines(2, 3))
vmap(lambda x: x, in_dims=2)(sines(2, 3))
vmap(lambda x: x, in_dims=-3)(sines(2, 3))
vmap(lambda x: x, out_dims=(0, 0))(sines(2))
vmap(lambda x: (x, x), out_dims=(0,))(sines(2))
vmap(lambda x: x, out_dims="a")(sines(2))
vmap(lambda x: x, out_dims=None)(sines(2))
vmap(lambda x: 3)(sines(2))
vmap(lambda x: x)(3)
vmap(lambda x: x)()
vmap(lambda x, y: x)(sines(2), sines(3))
vmap(lambda x: x, in_dims=None)(sines(2))
vmap(lambda x: x, in_dims=(0, 0))(sines(2))
vmap(lambda x: x, in_dims="a")(sines(2))
vmap(lambda x: x, in_dims=({"a": 0},))(sines(2))
vmap(lambda d: d["a"], in_dims=({"b": 0},))({"a": sines(2)})
vmap(lambda x: x, in_dims=([0],))(sines(2))
vmap(lambda x: torch.rand(2))(sines(3))
vmap(lambda x: x + torch.rand(2), randomness="no")(sines(3))

def rand_like_randn_like():
    def chances(f, *xs, dims=0):
        found = []
        for k in ("different", "same"):
            r = torch.manual_seed(3)
            y = error_name(vmap(f, dims, randomness=k), *xs)
            r = torch.manual_seed(3)
            found.append(y or (lambda z: (z.shape == (3, 40), z[0].equal(z[1]),
                z.unique().numel() > 1))(vmap(f, dims, randomness=k)(*xs)))
        return found
    return (chances(lambda x: torch.rand_like(x), torch.zeros(3, 40)),
        chances(lambda x: torch.randn_like(x), torch.zeros(3, 40)),
        chances(lambda x: torch.bernoulli(x), torch.ones(3, 40) / 2),
        chances(lambda x: F.dropout(x), torch.ones(3, 40)),
        chances(lambda x: x.clone().uniform_(), torch.zeros(3, 40)),
        chances(lambda x: x.clone().normal_(), torch.zeros(3, 40)),
        chances(lambda x: x.clone().bernoulli_(0.5), torch.zeros(3, 40)),
        chances(lambda x: torch.randint(0, 9, (40,)) + x, torch.zeros(3, 40)),
        chances(lambda x: torch.randperm(40) + x, torch.zeros(3, 40)),)

# Functions of one's own
def staticmethod_apply():
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(x, k=2, *rest, last=5):
            return x * k
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.k, ctx.n = inputs[1], len(inputs)
        @staticmethod
        def backward(ctx, g):
            return (g * ctx.k,) + (None,) * (ctx.n - 1)
    x = sines(2).requires_grad_()
    return Scaled.apply(x, 3)

def set_materialize_grads_vmap():
    class Twice(torch.autograd.Function):
        generate_vmap_rule = True
        @staticmethod
        def forward(x, y):
            return x * y
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.set_materialize_grads(False)
        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x
    return (vmap(Twice.apply)(sines(2, 3), sines(2, 3)),
        vmap(Twice.apply, (1, None))(sines(3, 2), sines(3)),
        vmap(torch.func.grad(lambda x, y: Twice.apply(x, y).sum()), (0, None))(sines(2, 3),
        sines(3)), vmap(torch.func.grad(lambda x, y: Twice.apply(x, y).sum(), 1),
        (0, None))(sines(2, 3), sines(3)), torch.func.grad(lambda y: vmap(Twice.apply,
        (0, None))(sines(2, 3), y).sum())(sines(3)),
        torch.func.grad(lambda x: vmap(Twice.apply, (0, None))(x, sines(3)).sum())(sines(2, 3)))

def batch_size_movedim():
    class Rule(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2
        @staticmethod
        def setup_context(ctx, inputs, output):
            pass
        @staticmethod
        def vmap(info, dims, x):
            return Rule.apply(x.movedim(dims[0], 0)) + info.batch_size, 0
        @staticmethod
        def backward(ctx, g):
            return g * 2
    return vmap(Rule.apply)(sines(2, 3)), vmap(Rule.apply,
        1)(sines(3, 2)), vmap(vmap(Rule.apply))(sines(2, 2, 2))

def staticmethod_apply_2():
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2
        @staticmethod
        def setup_context(ctx, inputs, output):
            pass
        @staticmethod
        def vmap(info, dims, x):
            return x
    return vmap(Bad.apply)(sines(2, 3))

def vmap_apply():
    class None_(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2
        @staticmethod
        def setup_context(ctx, inputs, output):
            pass
    return vmap(None_.apply)(sines(2, 3))

# random tensors for tests
def device_high():
    R = lambda g, *a, **k: error_name(lambda: g(*a, **k))
    M = torch.testing.make_tensor
    return R(M, 2, dtype=torch.float32, device="cpu", low=3, high=2), R(M, 2, dtype=torch.float32,
        device="cpu", low=math.nan), R(M, 2, dtype=torch.int64, device="cpu", requires_grad=True)

# closeness
def assert_close_math():
    R = lambda g, *a, **k: error_name(lambda: g(*a, **k))
    C = torch.testing.assert_close
    return [R(C, *a, **k) for a, k in (((sines(2), sines(2)), {}), ((sines(2), sines(2) + 1), {}),
        ((sines(2), sines(2) + 1e-9), {}), ((1, 1.0), {}), ((1, 2), {}), ((sines(2), [1, 2]), {}),
        ((sines(2), sines(3)), {}), ((sines(2), iota(2)), {}),
        ((sines(2), iota(2)), {"check_dtype": False}), (([sines(2), 1], [sines(2), 1]), {}),
        (([sines(2)], [sines(2), 1]), {}), (({"a": 1}, {"a": 1}), {}), (({"a": 1}, {"b": 1}), {}),
        ((math.nan, math.nan), {}), ((math.nan, math.nan), {"equal_nan": True}),
        ((sines(2), None), {}), ((None, None), {}), ((None, 1), {}),
        ((sines(2), sines(2)), {"rtol": 1}), ((torch.tensor([1.0]), torch.tensor([1.5])),
        {"rtol": 0, "atol": 0.5}), ((torch.tensor([1.0]), torch.tensor([1.5])),
        {"rtol": 0.34, "atol": 0}), ((True, True), {}), ((1j, 1j), {}))]

with differs("Torch fails where it compares a truth value with a number."):
    torch.testing.assert_close(True, 1)
torch.testing.assert_close(torch.tensor([1, 2]), torch.tensor([1, 4]))
torch.testing.assert_close(1, 3)
torch.testing.assert_close(1.0, 3.0, rtol=0, atol=0)
torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0]), msg="mine")
torch.testing.assert_close(torch.tensor([1.0, math.nan]), torch.tensor([1.0, math.nan]))
