"""Tangents: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import error_name, forward_over_reverse, iota, sines, tangents

fw = torch.autograd.forward_ad

def tangent_unpack_dual():
    with fw.dual_level():
        x = fw.make_dual(iota(3), iota(3) + 1)
        y = x * x
        a = [*fw.unpack_dual(y), *fw.unpack_dual(x), fw.unpack_dual(iota(3)).tangent]
    return [*a, y]

def dual_level_make_dual():
    with fw.dual_level():
        x = fw.make_dual(iota(3), iota(3) + 1)
    return x + 1

def tangent_unpack_dual_2():
    x = iota(4)
    with fw.dual_level():
        d = fw.make_dual(x, iota(4) + 1)
        a = [fw.unpack_dual(x).tangent, fw.unpack_dual(d[1:]).tangent,
            fw.unpack_dual(d.view(2, 2).t()).tangent, fw.unpack_dual(d.detach()).tangent,
            fw.unpack_dual(d.clone()).tangent, fw.unpack_dual(d.data).tangent]
    return a

def tangent_unpack_dual_3():
    with fw.dual_level():
        x = torch.zeros(4)
        v = x[1:3]
        v.copy_(fw.make_dual(iota(2), iota(2) + 5))
        a = [fw.unpack_dual(x).tangent, fw.unpack_dual(v).tangent, fw.unpack_dual(x[2:]).tangent]
        v.mul_(3)
        a += [fw.unpack_dual(x).tangent, fw.unpack_dual(v).tangent]
        x.zero_()
        a += [fw.unpack_dual(x).tangent, fw.unpack_dual(v).tangent]
    return a

def tangent_unpack_dual_4():
    with fw.dual_level():
        x = fw.make_dual(iota(4), iota(4) + 1)
        v = x[1:3]
        v.mul_(2)
        a = [fw.unpack_dual(x).tangent, fw.unpack_dual(v).tangent]
        x.add_(fw.make_dual(iota(4), iota(4)))
        a += [fw.unpack_dual(x).tangent, fw.unpack_dual(v).tangent]
    return a

def many_tangent():
    with fw.dual_level():
        many = [fw.make_dual(iota(2) + k, iota(2) * k) for k in range(5)]
        del many[2]
        many[0] = None
        s = many[1] + many[2] * many[3]
        a = [*fw.unpack_dual(s)]
        del s
        b = fw.unpack_dual(many[3]).tangent
    with fw.dual_level():
        c = [fw.unpack_dual(x).tangent for x in many if x is not None]
    return [*a, b, c]

def tangent_unpack_dual_5():
    with fw.dual_level():
        x = fw.make_dual(iota(2), iota(2) + 1)
        y = fw.make_dual(x, iota(2) + 7)
        a = [fw.unpack_dual(x).tangent, fw.unpack_dual(y).tangent]
    return a

def dual_level():
    with fw.dual_level():
        with fw.dual_level():
            pass
    return 0

torch.autograd.forward_ad.make_dual(iota(2), iota(2))

def dual_level_make_dual_2():
    with fw.dual_level():
        fw.make_dual(iota(2), iota(3))
    return 0

def dual_level_make_dual_3():
    with fw.dual_level():
        fw.make_dual(iota(2), iota(2, dtype=torch.float64))
    return 0

def dual_level_make_dual_4():
    with fw.dual_level():
        fw.make_dual(iota(2, dtype=torch.int64), iota(2))
    return 0

def key_error_make_dual():
    def f():
        with fw.dual_level():
            fw.make_dual(iota(2), iota(2))
            raise KeyError
    a = [error_name(f), error_name(f)]
    with fw.dual_level():
        a += [*fw.unpack_dual(fw.make_dual(iota(2), iota(2)).exp())]
    return a

def enter_dual_level_exit_dual_level():
    fw.enter_dual_level()
    x = fw.make_dual(iota(2), iota(2) + 1)
    fw.exit_dual_level()
    return [x, error_name(fw.exit_dual_level), error_name(lambda: fw.unpack_dual(x).tangent)]

# Levels of transformations
tangents(lambda x: x * x, sines(3))
tangents(lambda x: x.view(3)[1:] * 2, sines(3))
tangents(lambda x: torch.zeros(3, dtype=torch.float64).copy_(x), sines(3))
tangents(lambda x: x.clone().mul_(x), sines(3))
tangents(lambda x: torch.func.jvp(lambda y: y * y * x, (x,), (x * 2,))[1], sines(3))
tangents(lambda x: torch.func.jvp(torch.sin, (x,), (torch.ones(3, dtype=torch.float64),))[1],
    sines(3))
tangents(lambda x: torch.func.jvp(lambda y: x * x, (x,), (x,))[0], sines(3))
tangents(lambda x: torch.func.jvp(lambda y: (y.view(3)[1:] * x[1:]).exp(), (x * 2,), (x,))[1],
    sines(3))
tangents(lambda x: torch.func.jvp(lambda y: y.clone().mul_(x), (x,), (x,))[1], sines(3))
[tangents(lambda x: torch.func.jvp(lambda y: torch.func.jvp(lambda z: x * y * z, (z0 := y * 1,),
    (x,))[1], (x,), (x,))[1], sines(2)), forward_over_reverse(lambda x: x.sin() * x, sines(3)),
    tangents(lambda x: torch.func.grad(lambda y: (x * y * y).sum())(x), sines(3))]
torch.func.jacfwd(lambda x: x * x.sum())(sines(2))
torch.func.jacfwd(torch.func.jacfwd(lambda x: (x**3).sum()))(sines(2))
torch.func.hessian(lambda x: (x**2).prod())(sines(2))
torch.func.jacrev(torch.func.jacfwd(lambda x: x.exp()))(sines(2)).sum()
vmap(lambda x: torch.func.jvp(lambda y: y * y * x, (x,), (x,))[1])(sines(3))
vmap(lambda x, s: torch.func.jvp(lambda y: y.expand(2) * x, (x,), (s,))[1],
    in_dims=(0, None))(sines(3), torch.tensor(2.0, dtype=torch.float64))
torch.func.jvp(vmap(lambda x: x * x), (sines(3),), (sines(3),))[1]
vmap(vmap(lambda x: torch.func.jvp(torch.sin, (x,), (x,))[1]))(sines(2, 2))
vmap(lambda x: vmap(lambda y: x * y)(x))(sines(2, 2))
vmap(lambda x: x + 1, out_dims=-1)(sines(2, 3))
vmap(lambda x: x.t(), in_dims=1)(sines(2, 3, 2))
vmap(lambda x: torch.tensor(2.0) * 3)(sines(2))
vmap(lambda x: x.sum(), in_dims=-1)(sines(2, 3))
vmap(lambda x, y: x @ y, in_dims=(None, 1))(sines(2, 3), sines(3, 4)).contiguous()
vmap(lambda x: (x, x * 2))(sines(2))
vmap(lambda d: d["a"] * d["b"], in_dims=({"a": 0, "b": None},))({"a": sines(2), "b": sines(2)})

# tangents and their order
def tangent_unpack_dual_6():
    fwd = torch.autograd.forward_ad
    with fwd.dual_level():
        x = fwd.make_dual(iota(3), torch.ones(3))
        y = fwd.make_dual(iota(3), torch.ones(3) * 2)
        del x
        found = fwd.unpack_dual(y * 2).tangent
        z = y[1:]
        found = found, fwd.unpack_dual(z).tangent
    return [found, fwd.unpack_dual(y).tangent, fwd.unpack_dual(z).tangent]

tangents(lambda x: torch.func.jvp(lambda y: (x * y).sin(), (x,), (x,))[1], sines(3))
vmap(lambda x: torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))[1])(sines(2, 3))
torch.func.jvp(lambda x: vmap(torch.sin)(x), (sines(2, 3),), (sines(2, 3),))
torch.func.jacfwd(torch.func.jacfwd(lambda x: (x**3).sum()))(sines(3))
