"""Forward: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import complex_sines, differs, error_name, iota, metadata, sines

fw = torch.autograd.forward_ad

# duals and what they are made of
def unpack_dual_current_level():
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

fw.unpack_dual(sines(3))[1]
fw.make_dual(sines(3), sines(3))
fw.exit_dual_level()

def level_error_name():
    level = fw.enter_dual_level()
    a = error_name(fw.enter_dual_level), error_name(
        lambda: fw.exit_dual_level(level=1)), error_name(
        lambda: fw.exit_dual_level(level=-1)), fw._current_level
    fw.exit_dual_level(level=0)
    return [level, a, fw._current_level, error_name(fw.exit_dual_level)]

def current_level_enter_dual_level():
    level = fw.enter_dual_level()
    fw.exit_dual_level()
    return fw._current_level

def current_level_dual_level():
    def f():
        with fw.dual_level():
            with fw.dual_level():
                pass
    return [error_name(f), fw._current_level]

def current_level_value_error():
    def f():
        with fw.dual_level():
            raise ValueError("here")
    return [error_name(f), fw._current_level]

def current_level_exit_dual_level():
    def f():
        with fw.dual_level():
            fw.exit_dual_level()
    return [error_name(f), fw._current_level]

def dual_level_make_dual():
    def f(x, d):
        with fw.dual_level():
            return fw.make_dual(x, d)
    return f(sines(3), sines(2))

def dual_level_make_dual_2():
    def f(x, d):
        with fw.dual_level():
            return fw.make_dual(x, d)
    return f(sines(3), sines(1))

@differs("A real number moves in real directions.")
def complex_sines_make_dual():
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

def unpack_dual_complex_sines():
    def f(x, d):
        with fw.dual_level():
            y = fw.make_dual(x, d)
            return fw.unpack_dual(y * y)
    return [f(complex_sines(2), complex_sines(2, phase=1.0)),
        f(iota(2, dtype=torch.float32), sines(2).to(torch.float32))]

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

def make_dual_unpack_dual():
    x = sines(3).requires_grad_()
    with fw.dual_level():
        y = fw.make_dual(x, sines(3, phase=1.0))
        z = y * y
        p, u = fw.unpack_dual(z)
        r = [metadata(x)[:2] for x in (y, p, u)] + [torch.autograd.grad(p.sum(), x)]
    return r

def make_dual_unpack_dual_2():
    d = sines(3, phase=1.0).requires_grad_()
    with fw.dual_level():
        z = fw.make_dual(sines(3), d) * sines(3)
        u = fw.unpack_dual(z)[1]
        r = [metadata(z)[:2], metadata(u)[:2], torch.autograd.grad(u.sum(), d)]
    return r

def set_fwd_grad_enabled_unpack_dual():
    with fw.dual_level():
        y = fw.make_dual(sines(3), sines(3, phase=1.0))
        with torch.no_grad():
            a = fw.unpack_dual(y * 2)[1]
        with torch.inference_mode():
            b = fw.unpack_dual(y * 2)[1]
        with fw._set_fwd_grad_enabled(False):
            c = fw.unpack_dual(y * 2)[1]
        r = [a, b, c, fw.unpack_dual(y.detach())[1], fw.unpack_dual(y.clone())[1]]
    return r

# whose memory a tangent is
def make_dual_unpack_dual_3():
    with fw.dual_level():
        d = sines(3, phase=1.0)
        x = fw.make_dual(sines(3), d)
        y = x + 1
        y.mul_(2)
        z = x.clone()
        z.mul_(3)
        r = [fw.unpack_dual(x)[1], fw.unpack_dual(y)[1], fw.unpack_dual(z)[1], d]
    return r

def make_dual_unpack_dual_4():
    with fw.dual_level():
        d = sines(3, phase=1.0)
        x = fw.make_dual(sines(3), d)
        x.mul_(2)
        r = [fw.unpack_dual(x), d]
    return r

def vmap_phase():
    def f(x):
        y = x + 1
        y.mul_(2)
        return x, y
    return [torch.func.jvp(f, (sines(3),), (sines(3, phase=1.0),)),
        vmap(lambda x, d: torch.func.jvp(f, (x,), (d,)))(sines(2, 3), sines(2, 3, phase=1.0)),
        torch.func.jvp(vmap(f), (sines(2, 3),), (sines(2, 3, phase=1.0),))]

def vmap_phase_2():
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
torch.func.jvp(lambda x: x + sines(3).to(torch.float32), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: x + sines(3), (sines(3).to(torch.float32),),
    (sines(3, phase=1.0).to(torch.float32),))
torch.func.jvp(lambda x: x + sines(3), (sines(1),), (sines(1, phase=1.0),))
torch.func.jvp(lambda x: x + sines(2, 3), (sines(),), (sines(phase=1.0),))
torch.func.jvp(lambda x: x * complex_sines(3), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: (x * complex_sines(3)).real, (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: (x * complex_sines(3)).abs(), (sines(3),), (sines(3, phase=1.0),))

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
torch.func.jvp(lambda x: x.to(torch.float32), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: x.sort(), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: x.max(0), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: (x > 0, x.argmax(), x.sum()), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: x.unbind(), (sines(3, 2),), (sines(3, 2, phase=1.0),))
torch.func.jvp(lambda x: x.split(2), (sines(3, 2),), (sines(3, 2, phase=1.0),))
torch.func.jvp(lambda x: torch.cat([x, sines(2), x * 2]), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: torch.cat([sines(2), x]), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: torch.stack([sines(3), x]), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: torch.cat([sines(2), sines(3)]), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x, y: torch.cat([x, y]), (sines(3), sines(2)),
    (sines(3, phase=1.0), sines(2, phase=2.0)))
torch.func.jvp(lambda x: 3.0 * sines(3), (sines(3),), (sines(3, phase=1.0),))

# views of duals
def diagonal_unfold():
    def f(view, x=sines(2, 3), d=sines(2, 3, phase=1.0)):
        with fw.dual_level():
            return fw.unpack_dual(view(fw.make_dual(x, d)))[1]
    return [f(v) for v in (lambda x: x[0], lambda x: x.t(), lambda x: x[:, 1:],
        lambda x: x.view(3, 2), lambda x: x.expand(2, 2, 3), lambda x: x.diagonal(),
        lambda x: x[None], lambda x: x.as_strided((2, 2), (1, 2)), lambda x: x[1:, ::2],
        lambda x: x.unfold(1, 2, 1), lambda x: x.reshape(-1)[2:], lambda x: x.detach())]

def view_as_real_conj():
    def f(view, x=complex_sines(2, 3), d=complex_sines(2, 3, phase=1.0)):
        with fw.dual_level():
            return fw.unpack_dual(view(fw.make_dual(x, d)))[1]
    return [f(v) for v in (lambda x: x.real, lambda x: x.imag, lambda x: x.conj(),
        lambda x: x.conj()[0], lambda x: x.conj().imag, lambda x: x.conj().t().real,
        torch.view_as_real, lambda x: torch.view_as_real(x)[..., 1],
        lambda x: torch.view_as_real(x[1]))]

def view_as_complex_imag():
    def f(view, x=sines(2, 2), d=sines(2, 2, phase=1.0)):
        with fw.dual_level():
            return fw.unpack_dual(view(fw.make_dual(x, d)))[1]
    return [f(torch.view_as_complex), f(lambda x: torch.view_as_complex(x)[1:]),
        f(lambda x: torch.view_as_complex(x).conj()), f(lambda x: torch.view_as_complex(x).imag)]

# what is written into views, before and after the base moves
def runs_diagonal():
    def runs(change, x=sines(2, 3), d=sines(2, 3, phase=1.0)):
        def f(x):
            y = x * 1
            out = change(y, x)
            return y, out
        return torch.func.jvp(f, (x,), (d,))
    return [runs(lambda y, x: y[0].mul_(2)), runs(lambda y, x: y.t().mul_(2)),
        runs(lambda y, x: y[:, 1:].mul_(x[:, 1:])), runs(lambda y, x: y[0].zero_()),
        runs(lambda y, x: y[0].fill_(3)), runs(lambda y, x: y[1].copy_(x[0])),
        runs(lambda y, x: y[1].copy_(sines(3))), runs(lambda y, x: y.diagonal().add_(x[0, 0])),
        runs(lambda y, x: y.view(-1)[2:5].exp_())]

def runs_copy():
    def runs(change, x=sines(2, 3), d=sines(2, 3, phase=1.0)):
        def f(x):
            y = sines(2, 3, phase=2.0)
            out = change(y, x)
            return y * 1, out * 1
        return torch.func.jvp(f, (x,), (d,))
    return [runs(lambda y, x: y[0].mul_(x[1])), runs(lambda y, x: y.t().mul_(x.t())),
        runs(lambda y, x: y[:, 1:].copy_(x[:, 1:])), runs(lambda y, x: y.mul_(x)),
        runs(lambda y, x: y.copy_(x)), runs(lambda y, x: y.copy_(x[0])),
        runs(lambda y, x: y[1].copy_(x.sum())), runs(lambda y,
        x: y[1:].t()[1:].copy_(x[1:].t()[1:]))]

def phase_mul():
    def f(x):
        y = sines(2, 3, phase=2.0)
        a, b, c = y[0], y[1], y.t()
        a.mul_(x[0])
        return y * 1, a * 1, b * 1, c * 1, y[:, 1] * 1
    return torch.func.jvp(f, (sines(2, 3),), (sines(2, 3, phase=1.0),))

def add_phase():
    def f(x):
        y = sines(3, 2, phase=2.0).t()
        a = y[1]
        y[0].mul_(x[0])
        a.add_(x[1])
        return y * 1, a * 1
    return torch.func.jvp(f, (sines(2, 3),), (sines(2, 3, phase=1.0),))

def mul_phase():
    def f(x):
        y = x * 1
        a, b = y[0], y[:, 0]
        y.mul_(2)
        a.mul_(3)
        return y, a, b
    return torch.func.jvp(f, (sines(2, 3),), (sines(2, 3, phase=1.0),))

def copy_phase():
    def f(x):
        y = x * 1
        a = y[0]
        y.copy_(sines(2, 3))
        return y, a * 1
    return torch.func.jvp(f, (sines(2, 3),), (sines(2, 3, phase=1.0),))

def jvp_phase():
    def f(x):
        y = x * 1
        y[0] = sines(3)
        y[1, 1] = x[0, 0]
        y[:, 2] = 0
        return y
    return torch.func.jvp(f, (sines(2, 3),), (sines(2, 3, phase=1.0),))

def mul_phase_2():
    def f(x):
        y = x * 1
        y.detach().mul_(5)
        return y
    return torch.func.jvp(f, (sines(2, 3),), (sines(2, 3, phase=1.0),))

def expand_phase():
    def f(x):
        y = (x * 1).expand(2, 3)
        z = y.clone()
        z[0] *= 2
        return z
    return torch.func.jvp(f, (sines(3),), (sines(3, phase=1.0),))

def mul_phase_3():
    def f(x):
        y = torch.zeros(4, 3, dtype=torch.float64)
        y[1:3] = x
        y[::2].mul_(x.sum())
        return y
    return torch.func.jvp(f, (sines(2, 3),), (sines(2, 3, phase=1.0),))

def copy_phase_2():
    def f(x):
        y = torch.zeros(0, 3, dtype=torch.float64)
        y[:, 1:].copy_(x[:0, 1:])
        return y * 1
    return torch.func.jvp(f, (sines(2, 3),), (sines(2, 3, phase=1.0),))

def copy_phase_3():
    def f(x):
        y = torch.zeros(1, 3, dtype=torch.float64)
        y[0, 1:].copy_(x[0, 1:])
        return y * 1
    return torch.func.jvp(f, (sines(2, 3),), (sines(2, 3, phase=1.0),))

# of the parts of complex numbers
def zero_complex_sines():
    def f(x):
        y = x * 1
        y.real.mul_(2)
        y.imag.zero_()
        return y
    return torch.func.jvp(f, (complex_sines(3),), (complex_sines(3, phase=1.0),))

def phase_real():
    def f(x):
        y = complex_sines(3, phase=2.0)
        y.real.mul_(x)
        return y * 1
    return torch.func.jvp(f, (sines(3),), (sines(3, phase=1.0),))

def phase_imag():
    def f(x):
        y = complex_sines(3, phase=2.0)
        y.imag[1:].copy_(x[1:])
        return y * 1
    return torch.func.jvp(f, (sines(3),), (sines(3, phase=1.0),))

def complex_sines_view_as_complex():
    def f(x):
        y = sines(3, 2, phase=2.0)
        torch.view_as_complex(y)[1:].mul_(x[1:])
        return y * 1
    return torch.func.jvp(f, (complex_sines(3),), (complex_sines(3, phase=1.0),))

def conj_complex_sines():
    def f(x):
        y = x.conj()
        z = y.clone()
        z[1:].mul_(2)
        return z, y * 1
    return torch.func.jvp(f, (complex_sines(3),), (complex_sines(3, phase=1.0),))

def conj_complex_sines_2():
    def f(x):
        y = x * 1
        z = y.conj()
        z[1:].mul_(x[1:])
        return z * 1, y
    return torch.func.jvp(f, (complex_sines(3),), (complex_sines(3, phase=1.0),))

def complex_sines_phase():
    def f(x):
        y = complex_sines(3, phase=2.0)
        z = y.conj()
        z[1:].copy_(x[1:])
        z.imag.mul_(3)
        return z * 1, y * 1
    return torch.func.jvp(f, (complex_sines(3),), (complex_sines(3, phase=1.0),))

def conj_complex_sines_3():
    with fw.dual_level():
        y = fw.make_dual(complex_sines(3).conj(), complex_sines(3, phase=1.0))
        z = fw.make_dual(complex_sines(3), complex_sines(3, phase=1.0).conj())
        y[1:].mul_(2)
        z[1:].mul_(2)
        r = [fw.unpack_dual(y), fw.unpack_dual(z)]
    return r

# tangents that lie otherwise than their primals
def change_expand():
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

@differs("Torch makes no duals of what overlaps itself.")
def expand_unpack_dual():
    with fw.dual_level():
        y = fw.make_dual(sines(3).expand(2, 3), sines(2, 3, phase=1.0))
        z = fw.make_dual(sines(3).expand(2, 3), sines(3, phase=1.0).expand(2, 3))
        r = [fw.unpack_dual(y), fw.unpack_dual(z), fw.unpack_dual(y[1])[1],
            fw.unpack_dual(z * 2)[1], fw.unpack_dual(y[1])[1].stride()]
    return r

def zero_unpack_dual():
    with fw.dual_level():
        x = sines(4, 3)
        y = fw.make_dual(x[1:3], sines(2, 3, phase=1.0))
        y[0].mul_(2)
        y.t()[1].zero_()
        r = [fw.unpack_dual(y), fw.unpack_dual(x)[1], x]
    return r

def unpack_dual_view():
    with fw.dual_level():
        x = sines(2, 3)
        v = x[0]
        y = fw.make_dual(x, sines(2, 3, phase=1.0))
        r = [fw.unpack_dual(v)[1], fw.unpack_dual(x[0])[1], fw.unpack_dual(y[0])[1],
            fw.unpack_dual(x.view(-1))[1]]
    return r

@differs("The memory that is written to is that of x, too.")
def make_dual_unpack_dual_5():
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

def zero_unpack_dual_2():
    with fw.dual_level():
        x = sines(2, 3)
        x.add_(fw.make_dual(sines(2, 3), sines(2, 3, phase=1.0)))
        y = x[0]
        a = fw.unpack_dual(x)[1], fw.unpack_dual(y)[1]
        x.zero_()
        b = fw.unpack_dual(x)[1], fw.unpack_dual(y)[1]
    return [a, b, fw.unpack_dual(x)[1]]

def unpack_dual_make_dual():
    with fw.dual_level():
        x = sines(2, 3)
        x.copy_(fw.make_dual(sines(3), sines(3, phase=1.0)))
        x[0].mul_(2)
        r = fw.unpack_dual(x)
    return r

def unpack_dual_make_dual_2():
    with fw.dual_level():
        x = iota(3, dtype=torch.int64)
        x.copy_(fw.make_dual(sines(3), sines(3, phase=1.0)))
        r = fw.unpack_dual(x)
    return r

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

def make_dual_unpack_dual_6():
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

def jvp_phase_2():
    def g(x, y):
        return torch.func.jvp(lambda z: z * x * y, (x * y,), (x,))
    return [torch.func.jvp(g, (sines(3), sines(3, phase=1.0)),
        (sines(3, phase=2.0), sines(3, phase=3.0)))]

def mul_phase_4():
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

def copy_phase_4():
    def g(y):
        def f(x):
            z = x * 1
            z.copy_(y)
            v = z[1:]
            z.mul_(x)
            return z, v * 1
        return torch.func.jvp(f, (y * 2,), (y,))
    return torch.func.jvp(g, (sines(3),), (sines(3, phase=1.0),))

def jvp_phase_3():
    def g(y):
        z = y * 1
        def f(x):
            return z * x, z[1:] * x[1:]
        return torch.func.jvp(f, (y.detach() * 2,), (y,))
    return torch.func.jvp(g, (sines(3),), (sines(3, phase=1.0),))

def jvp_phase_4():
    def g(y):
        z = y * 1
        v = z[1:]
        def f(x):
            return v * x[1:], z + x
        return torch.func.jvp(f, (sines(3),), (sines(3),))
    return torch.func.jvp(g, (sines(3),), (sines(3, phase=1.0),))

@differs("Torch doesn't nest these.")
def make_dual_unpack_dual_7():
    with fw.dual_level():
        y = fw.make_dual(sines(3), sines(3, phase=1.0))
        a = torch.func.jvp(lambda x: x * y, (y * 2,), (sines(3),))
        r = [(fw.unpack_dual(v)) for v in a]
    return r

@differs("Torch doesn't nest these.")
def make_dual_unpack_dual_8():
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

def change_vmap():
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

def complex_sines_in_dims():
    def g(x, d):
        def f(x):
            y = x.conj() * 1
            y[1:].real.mul_(3)
            return y, y.conj()
        return torch.func.jvp(f, (x,), (d,))
    return [vmap(g)(complex_sines(2, 3), complex_sines(2, 3, phase=1.0)),
        vmap(g, in_dims=(None, 0))(complex_sines(3), complex_sines(2, 3, phase=1.0))]

@differs("Torch has no rule.")
def unpack_dual_vmap():
    with fw.dual_level():
        x = fw.make_dual(sines(2, 3), sines(2, 3, phase=1.0))
        r = [fw.unpack_dual(vmap(lambda x: x * x)(x)),
            fw.unpack_dual(vmap(lambda y: y * x)(sines(2))),
            fw.unpack_dual(vmap(lambda x: fw.unpack_dual(x)[0] * x)(x)),
            vmap(lambda x: fw.unpack_dual(x)[1])(x),
            vmap(lambda x: fw.unpack_dual(x)[1], in_dims=1)(x)]
    return r

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
def vmap_in_dims_2():
    def f(x, d):
        with fw.dual_level():
            y = fw.make_dual(x, d)
            y[1:].mul_(x[1:])
            return fw.unpack_dual(y)[1]
    return [vmap(f)(sines(2, 3), sines(2, 3, phase=1.0)),
        vmap(f, in_dims=(0, None))(sines(2, 3), sines(3, phase=1.0)),
        vmap(f, in_dims=(1, 0))(sines(3, 2), sines(2, 3, phase=1.0)),
        vmap(f, in_dims=(0, 1))(sines(2, 3), sines(3, 2, phase=1.0))]

@differs("Torch has no rule.")
def vmap_in_dims_3():
    def f(x, d):
        with fw.dual_level():
            y = fw.make_dual(x, d)
            return fw.unpack_dual(y * y)[1]
    return vmap(f, in_dims=(None, 0))(sines(3), sines(2, 3, phase=1.0))

# nothing moves what has no derivative
torch.func.jvp(lambda x: torch.searchsorted(sines(3).sort()[0], x), (sines(3),),
    (sines(3, phase=1.0),))[0]
torch.func.jvp(lambda x: torch.histc(x, 3), (sines(3),), (sines(3, phase=1.0),))
torch.func.jvp(lambda x: torch.bucketize(x, sines(3).sort()[0]) + x, (sines(3),),
    (sines(3, phase=1.0),))

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
