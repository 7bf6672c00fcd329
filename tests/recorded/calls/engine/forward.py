"""Forward: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import complex_sines, differs, iota, metadata, sines

fw = torch.autograd.forward_ad

# duals and what they are made of
def unpack_dual_data_ptr():
    with fw.dual_level() as level:
        x, d = sines(3), sines(3, phase=1.0)
        y = fw.make_dual(x, d)
        p, u = fw.unpack_dual(y)
        q, v = fw.unpack_dual(x)
        r = [level, metadata(y), metadata(p), metadata(q), v, u is d, p is x, q is x,
            y.data_ptr() == x.data_ptr(), p.data_ptr() == x.data_ptr(), fw._current_level]
    return [r, fw.unpack_dual, fw._current_level][0] + [fw._current_level]

def dual_level_unpack_dual():
    with fw.dual_level():
        y = fw.make_dual(sines(3), sines(3, phase=1.0))
    with fw.dual_level():
        r = fw.unpack_dual(y)[1]
    return r

fw.make_dual(sines(3), sines(3))
fw.exit_dual_level()

def dual_level_make_dual():
    def f(x, d):
        with fw.dual_level():
            return fw.make_dual(x, d)
    return f(sines(3), sines(2))

@differs("A real number moves in real directions.")
def dual_level_make_dual_2():
    def f(x, d):
        with fw.dual_level():
            return fw.make_dual(x, d)
    return f(sines(3), complex_sines(3))

def dual_level_make_dual_3():
    def f(x, d):
        with fw.dual_level():
            return fw.make_dual(fw.make_dual(x, d), d)
    return f(sines(3), sines(3))

def dual_level_make_dual_4():
    def f(x, d):
        with fw.dual_level():
            return fw.make_dual(x, fw.make_dual(d, x))
    return f(sines(3), sines(3))

def dual_level_make_dual_5():
    def f(x, d):
        with fw.dual_level():
            return fw.make_dual(x, d)
    return f(iota(3, dtype=torch.int64), sines(3))

def dual_level_make_dual_6():
    def f(x, d):
        with fw.dual_level():
            return fw.make_dual(x, d)
    return f(sines(3), iota(3, dtype=torch.int64))

# whose memory a tangent is
def vmap_phase():
    def f(x):
        y = x + 1
        z = y + 1
        y.mul_(2)
        z.mul_(3)
        return x, y, z
    return [torch.func.jvp(f, (sines(3),), (sines(3, phase=1.0),)),
        vmap(lambda x, d: torch.func.jvp(f, (x,), (d,)))(sines(2, 3), sines(2, 3, phase=1.0)),
        vmap(lambda x, d: torch.func.jvp(f, (x,), (d,)), in_dims=(None, 0))(sines(3),
        sines(2, 3, phase=1.0)), torch.func.jvp(vmap(f), (sines(2, 3),), (sines(2, 3, phase=1.0),)),
        torch.func.jvp(vmap(vmap(f)), (sines(2, 2, 3),), (sines(2, 2, 3, phase=1.0),)),]

# dtypes and shapes of tangents
torch.func.jvp(lambda x: x + sines(3), (sines(3).to(torch.float32),),
    (sines(3, phase=1.0).to(torch.float32),))

def complex128_cumsum():
    y, i = complex_sines(2, phase=2.0), torch.tensor([True, False])
    return [torch.func.jvp(f, (complex_sines(2, dtype=torch.complex64),),
        (complex_sines(2, dtype=torch.complex64, phase=1.0),))[1]
        for f in (lambda x: x + y, lambda x: y - x, lambda x: x * y, lambda x: torch.where(i, x, y),
        lambda x: torch.add(y, x, alpha=2), lambda x: y.clone().add_(x),
        lambda x: y.clone().mul_(x), lambda x: x.to(torch.complex128), lambda x: torch.cat([x, y]),
        lambda x: torch.stack([y, x]), lambda x: x.sum(dtype=torch.complex128),
        lambda x: x.prod(dtype=torch.complex128), lambda x: x.cumsum(0, dtype=torch.complex128),
        lambda x: x.real + y, lambda x: x.imag.double(),)]

def real_where():
    y, i = complex_sines(2, phase=2.0), torch.tensor([True, False])
    return [torch.func.jvp(f, (complex_sines(2),), (complex_sines(2, phase=1.0),))[1]
        for z in (y.to(torch.complex64), y.real, y.real.float(), 2, 2j)
        for f in (lambda x: x + z, lambda x: z - x, lambda x: torch.where(i, z, x), lambda x: x * z,
        lambda x: x.to(torch.complex64) + z)]

def where_complex64():
    y, i = complex_sines(2, phase=2.0), torch.tensor([True, False])
    return [torch.func.jvp(f, (sines(2).to(d),), (sines(2, phase=1.0).to(d),))[1]
        for d in (torch.float32, torch.float64) for f in (lambda x: x + y,
        lambda x: y.to(torch.complex64) - x, lambda x: torch.where(i, x, y),
        lambda x: y.clone().add_(x), lambda x: torch.cat([x, y]))]

torch.func.jvp(lambda x: torch.where(x > 0, x, 0.5), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: x.sort(), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: (x > 0, x.argmax(), x.sum()), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: x.unbind(), (sines(3, 2),), (sines(3, 2, phase=1.0),))
torch.func.jvp(lambda x: torch.cat([sines(2), x]), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: torch.stack([sines(3), x]), (sines(3),), (sines(3, phase=1.0),))

# of the parts of complex numbers
def phase_view_as_complex():
    def f(x):
        y = sines(3, 2, phase=2.0)
        torch.view_as_complex(y)[1:].mul_(x[1:])
        return y * 1
    return torch.func.jvp(f, (complex_sines(3),), (complex_sines(3, phase=1.0),))

def conj_unpack_dual():
    with fw.dual_level():
        y = fw.make_dual(complex_sines(3).conj(), complex_sines(3, phase=1.0))
        z = fw.make_dual(complex_sines(3), complex_sines(3, phase=1.0).conj())
        y[1:].mul_(2)
        z[1:].mul_(2)
        r = [fw.unpack_dual(y), fw.unpack_dual(z)]
    return r

# tangents that lie otherwise than their primals
def phase_expand():
    def f(x, d, change):
        with fw.dual_level():
            y = fw.make_dual(x, d)
            change(y)
            return fw.unpack_dual(y), d
    return [f(sines(2, 3), sines(3, 2, phase=1.0).t(), lambda y: y[0].mul_(2)),
        f(sines(3, 2).t(), sines(2, 3, phase=1.0), lambda y: y[0].mul_(2)),
        f(sines(2, 3), sines(3, phase=1.0).expand(2, 3), lambda y: y[0].mul_(2)),
        f(sines(3, 3)[1:], sines(2, 3, phase=1.0), lambda y: y[0].mul_(2)),
        f(sines(4, 3)[::2], sines(2, 3, phase=1.0), lambda y: y[0].mul_(2)),
        f(sines(2, 3), sines(3, 3, phase=1.0)[1:], lambda y: y[0].mul_(2)),
        f(sines(1, 3), sines(3, 1, phase=1.0).t(), lambda y: y[0].mul_(2)),
        f(sines(), sines(phase=1.0), lambda y: y.mul_(2)),
        f(sines(0, 3), sines(0, 3), lambda y: y.mul_(2)),
        f(sines(2, 2), sines(2, 2, phase=1.0).t(), lambda y: y[0].mul_(2))]

def zero_unpack_dual():
    with fw.dual_level():
        x = sines(4, 3)
        y = fw.make_dual(x[1:3], sines(2, 3, phase=1.0))
        y[0].mul_(2)
        y.t()[1].zero_()
        r = [fw.unpack_dual(y), fw.unpack_dual(x)[1], x]
    return r

@differs("The memory that is written to is that of x, too.")
def make_dual_unpack_dual():
    x = sines(2, 3)
    with fw.dual_level():
        y = fw.make_dual(x, sines(2, 3, phase=1.0))
        v = y[0]
        a = fw.unpack_dual(v)[1]
    with fw.dual_level():
        b = fw.unpack_dual(v)[1]
        z = fw.make_dual(v, sines(3, phase=2.0))
        v.add_(fw.make_dual(sines(3), sines(3, phase=3.0)))
        c = fw.unpack_dual(v)[1], fw.unpack_dual(y)[1], fw.unpack_dual(x)[1], fw.unpack_dual(z)[1]
    return [a, b, c]

@differs("Torch leaves a real tangent to a complex number.")
def copy_make_dual():
    with fw.dual_level():
        x = sines(3).to(torch.float32)
        x.copy_(fw.make_dual(sines(3), sines(3, phase=1.0)))
        y = complex_sines(3)
        y.copy_(fw.make_dual(sines(3), sines(3, phase=1.0)))
        y.copy_(fw.make_dual(sines(3), sines(3, phase=2.0)))
        r = [fw.unpack_dual(x), fw.unpack_dual(y)]
    return r

def make_dual_unpack_dual_2():
    with fw.dual_level():
        x = fw.make_dual(sines(3).to(torch.float32), sines(3, phase=2.0).to(torch.float32))
        x.copy_(fw.make_dual(sines(3), sines(3, phase=1.0)))
        r = fw.unpack_dual(x)
    return r

# levels within levels
def hessian_jacfwd():
    f = lambda x: (x.sin() * x).sum()
    return [torch.func.jvp(lambda x: torch.func.jvp(f, (x,), (sines(3, phase=2.0),)), (sines(3),),
        (sines(3, phase=1.0),)), torch.func.hessian(f)(sines(3)),
        torch.func.jacfwd(torch.func.jacfwd(f))(sines(3)),
        torch.func.jacfwd(torch.func.jacfwd(torch.func.jacfwd(lambda x: (x**3).sum())))(sines(2))]

def mul_phase():
    def g(y):
        def f(x):
            z = x * y
            z[1:].mul_(x[1:])
            z[0] = y[0]
            return z
        return torch.func.jvp(f, (y * 2,), (y,))
    return [torch.func.jvp(g, (sines(3),), (sines(3, phase=1.0),)),
        torch.func.jvp(lambda v: torch.func.jvp(g, (v,), (v,)), (sines(3),),
        (sines(3, phase=1.0),))]

def phase_add():
    def g(y):
        def f(x):
            z = sines(3, phase=3.0)
            z[1:].mul_(x[1:])
            z[:2].add_(y[:2])
            return z * 1
        return torch.func.jvp(f, (y * 2,), (y,))
    return torch.func.jvp(g, (sines(3),), (sines(3, phase=1.0),))

def phase_add_2():
    def g(y):
        def f(x):
            z = sines(3, phase=3.0)
            z[1:].add_(y[1:])
            z[:2].mul_(x[:2])
            return z * 1
        return torch.func.jvp(f, (y * 2,), (y,))
    return torch.func.jvp(g, (sines(3),), (sines(3, phase=1.0),))

def phase_copy():
    def g(y):
        def f(x):
            z = sines(3, phase=3.0)
            z.copy_(y)
            z.mul_(x)
            z.copy_(sines(3))
            return z * x
        return torch.func.jvp(f, (y * 2,), (y,))
    return torch.func.jvp(g, (sines(3),), (sines(3, phase=1.0),))

@differs("Torch doesn't nest these.")
def make_dual_unpack_dual_3():
    with fw.dual_level():
        y = fw.make_dual(sines(3), sines(3, phase=1.0))
        r = [torch.func.jvp(lambda x: fw.unpack_dual(x * y)[1], (sines(3),),
            (sines(3, phase=2.0),)), fw.unpack_dual(
            torch.func.grad(lambda x: (x * y * y).sum())(sines(3)))]
    return r

# examples
def vmap_in_dims():
    f = lambda x, d: torch.func.jvp(lambda x: x.sin() * x, (x,), (d,))
    return [vmap(f)(sines(2, 3), sines(2, 3, phase=1.0)),
        vmap(f, in_dims=(0, None))(sines(2, 3), sines(3, phase=1.0)),
        vmap(f, in_dims=(None, 0))(sines(3), sines(2, 3, phase=1.0)),
        vmap(f, in_dims=(1, 0))(sines(3, 2), sines(2, 3, phase=1.0))]

def vmap_phase_2():
    def change(x, y):
        z = x * 1
        z[1:].mul_(y[1:])
        z[0] = y[0]
        return z
    return [vmap(lambda x, d: torch.func.jvp(lambda x: change(x, x), (x,), (d,)))(sines(2, 3),
        sines(2, 3, phase=1.0)), torch.func.jvp(vmap(change), (sines(2, 3), sines(2, 3)),
        (sines(2, 3, phase=1.0), sines(2, 3, phase=2.0))),
        torch.func.jvp(vmap(change, in_dims=(0, None)), (sines(2, 3), sines(3)),
        (sines(2, 3, phase=1.0), sines(3, phase=2.0))),]

def change(x):
    z = sines(3, phase=3.0)
    def f(d):
        y = z * 1
        y[1:].mul_(d[1:])
        return y
    return torch.func.jvp(f, (x,), (x,))

vmap(change)(sines(2, 3))
vmap(change, in_dims=1)(sines(3, 2))

def new_zeros_in_dims():
    def g(x, d):
        def f(x):
            y = x.new_zeros(3)
            y[1:].copy_(x[1:])
            y.t()
            return y * 1
        return torch.func.jvp(f, (x,), (d,))
    return [vmap(g)(sines(2, 3), sines(2, 3, phase=1.0)),
        vmap(g, in_dims=(None, 0))(sines(3), sines(2, 3, phase=1.0)),
        vmap(g, in_dims=(0, None))(sines(2, 3), sines(3, phase=1.0)),
        vmap(vmap(g))(sines(2, 2, 3), sines(2, 2, 3, phase=1.0)),
        vmap(vmap(g, in_dims=(None, 0)), in_dims=(0, None))(sines(2, 3), sines(2, 3, phase=1.0)),
        vmap(vmap(g, in_dims=(0, None)), in_dims=(None, 0))(sines(2, 3), sines(2, 3, phase=1.0))]

def vmap_in_dims_2():
    def g(x, d):
        def f(x):
            y = x.conj() * 1
            y[1:].real.mul_(3)
            return y, y.conj()
        return torch.func.jvp(f, (x,), (d,))
    return [vmap(g)(complex_sines(2, 3), complex_sines(2, 3, phase=1.0)),
        vmap(g, in_dims=(None, 0))(complex_sines(3), complex_sines(2, 3, phase=1.0))]

@differs("Torch has no rule.")
def unpack_dual_in_dims():
    with fw.dual_level():
        r = [fw.unpack_dual(vmap(lambda x, d: fw.make_dual(x, d) * x)(sines(2, 3),
            sines(2, 3, phase=1.0))), fw.unpack_dual(vmap(lambda x, d: fw.make_dual(x, d) * x,
            in_dims=(None, 0))(sines(3), sines(2, 3, phase=1.0))),
            fw.unpack_dual(vmap(lambda x, d: fw.make_dual(x, d) * x, in_dims=(0, None))(sines(2, 3),
            sines(3, phase=1.0))), fw.unpack_dual(vmap(lambda x, d: fw.make_dual(x, d) * x,
            in_dims=(1, 1))(sines(3, 2), sines(3, 2, phase=1.0)))]
    return r

@differs("Torch has no rule.")
def vmap_in_dims_3():
    def f(x, d):
        with fw.dual_level():
            y = fw.make_dual(x, d)
            y[1:].mul_(x[1:])
            return fw.unpack_dual(y)[1]
    return [vmap(f)(sines(2, 3), sines(2, 3, phase=1.0)),
        vmap(f, in_dims=(0, None))(sines(2, 3), sines(3, phase=1.0)),
        vmap(f, in_dims=(1, 0))(sines(3, 2), sines(2, 3, phase=1.0)),
        vmap(f, in_dims=(0, 1))(sines(2, 3), sines(3, 2, phase=1.0))]

# nothing moves what has no derivative
torch.func.jvp(lambda x: torch.histc(x, 3), (sines(3),), (sines(3, phase=1.0),))

# what is printed
def repr_make_dual():
    with fw.dual_level():
        x = iota(3)
        v = x[1:]
        a = repr(v)
        x.mul_(fw.make_dual(torch.tensor(2.0), torch.tensor(3.0)))
        r = [a, repr(v), repr(x)]
    return r

# a view of an input without a tangent
def set_materialize_grads_full():
    class V(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x.view(-1)
        @staticmethod
        def jvp(ctx, gx, gy):
            return gy.view(-1)
    with fw.dual_level():
        r = fw.unpack_dual(V.apply(torch.zeros(2, 1),
            fw.make_dual(torch.ones(2, 1), torch.full((2, 1), 3.0)))).tangent
    return r
