"""Tangents: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import error_name, forward_over_reverse, iota, sines, tangents

fw = torch.autograd.forward_ad

def tangent_unpack_dual():
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

def dual_level_make_dual():
    with fw.dual_level():
        fw.make_dual(iota(2), iota(3))
    return 0

def dual_level_make_dual_2():
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
[tangents(lambda x: torch.func.jvp(lambda y: torch.func.jvp(lambda z: x * y * z, (z0 := y * 1,),
    (x,))[1], (x,), (x,))[1], sines(2)), forward_over_reverse(lambda x: x.sin() * x, sines(3)),
    tangents(lambda x: torch.func.grad(lambda y: (x * y * y).sum())(x), sines(3))]
vmap(vmap(lambda x: torch.func.jvp(torch.sin, (x,), (x,))[1]))(sines(2, 2))
vmap(lambda x: vmap(lambda y: x * y)(x))(sines(2, 2))
vmap(lambda x: x + 1, out_dims=-1)(sines(2, 3))
vmap(lambda x: x.t(), in_dims=1)(sines(2, 3, 2))
vmap(lambda x: torch.tensor(2.0) * 3)(sines(2))

# tangents and their order
vmap(lambda x: torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))[1])(sines(2, 3))
torch.func.jvp(lambda x: vmap(torch.sin)(x), (sines(2, 3),), (sines(2, 3),))
