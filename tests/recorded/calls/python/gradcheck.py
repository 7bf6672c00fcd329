"""Gradcheck: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, differs, error_name, sines, with_warnings

C = torch.autograd.gradcheck

# what passes, what fails, and how
def gradgradcheck_real():
    C, D = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    x, z, y = sines(2, 3).requires_grad_(), complex_sines(2).requires_grad_(), sines(
        3).requires_grad_()
    return [C(f, a, **k) for f, a in ((torch.sin, x), (torch.sin, (x,)), (torch.sin, [x]),
        (torch.mul, (x, y)), (lambda x: (x * 2, x.sum()), x), (lambda x: x.abs(), z),
        (lambda x: x * x, z), (lambda x: (x * 1j).real, z), (lambda x: x + 1j * x, y),
        (lambda x, n: x**n, (x, 3))) for k in ({}, {"fast_mode": True}, {"check_forward_ad": True},
        {"check_batched_grad": True, "check_undefined_grad": True},
        {"check_forward_ad": True, "check_batched_forward_grad": True, "fast_mode": True},
        {"check_backward_ad": False, "check_forward_ad": True})]

def gradgradcheck_sort():
    C, D = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    x, z, y = sines(2, 3).requires_grad_(), complex_sines(2).requires_grad_(), sines(
        3).requires_grad_()
    return [D(f, a, **k) for f, a in ((torch.sin, x), (torch.mul, (x, y)),
        (lambda x: (x * 2, x.exp().sum()), x), (lambda x: x * x, z),
        (lambda x: x.sort()[0] ** 2, y)) for k in ({}, {"fast_mode": True},
        {"check_fwd_over_rev": True}, {"gen_non_contig_grad_outputs": True},
        {"check_fwd_over_rev": True, "check_rev_over_rev": False, "check_undefined_grad": False},
        {"check_batched_grad": True})]

def atol_rtol():
    x = sines(3).requires_grad_()
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, a, b):
            ctx.a, ctx.b = a, b
            ctx.set_materialize_grads(False)
            return x * a
        @staticmethod
        def backward(ctx, g):
            return (None if g is None else g * ctx.b), None, None
    def f(a, b):
        return lambda x: Scaled.apply(x, a, b)
    def said(*a, **k):
        return error_name(lambda: C(*a, **k)), C(*a, raise_exception=False, **k)
    return [said(f(2.0, 2.0), x), said(f(2.0, 2.1), x), said(f(2.0, 2.1), x, fast_mode=True),
        said(f(2.0, 2.0 + 1e-7), x), said(f(2.0, 2.1), x, atol=0.2), said(f(2.0, 2.1), x, rtol=0.2),
        said(f(2.0, 2.1), x, atol=0.05, rtol=0.0),
        said(f(2.0, 2.1), x, atol=0.2, rtol=0.0, fast_mode=True), said(f(2.0, -2.0), x),
        said(f(0.0, 1e-3), x), said(f(0.0, 1e-6), x)]

def said_fast_mode():
    class Off(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, a, b):
            ctx.a, ctx.b = a, b
            return x * a
        @staticmethod
        def backward(ctx, g):
            return g * ctx.b, None, None
    x, z = sines(3).requires_grad_(), complex_sines(2).requires_grad_()
    y = sines(3, phase=1.0).requires_grad_()
    def said(f, *a, **k):
        return C(f, a, raise_exception=False, **k)
    return [said(lambda z: Off.apply(z, 2.0, 2.0j), z),
        said(lambda z: Off.apply(z, 2.0j, -2.0j), z), said(lambda z: Off.apply(z, 2.0j, 2.0j), z),
        said(lambda z: Off.apply(z, 2.0j, 2.0j), z, fast_mode=True),
        said(lambda z: Off.apply(z, 2.0j, -2.0j), z, fast_mode=True),
        said(lambda x, y: x * Off.apply(y, 2.0, 3.0), x, y),
        said(lambda x, y: (x, Off.apply(y, 2.0, 3.0)), x, y),
        said(lambda x, y: (x, Off.apply(y, 2.0, 3.0)), x, y.detach()),
        said(lambda x, y: (Off.apply(x, 2.0, 3.0), y), x, y, fast_mode=True),
        said(lambda x: Off.apply(x.real, 2.0, 1.0), z),
        said(lambda x: Off.apply(x.imag, 2.0, 1.0), z, fast_mode=True)]

def check_forward_ad_raise_exception():
    class J(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, b):
            ctx.b = b
            return x * 2
        @staticmethod
        def jvp(ctx, d, _):
            return d * ctx.b
        @staticmethod
        def backward(ctx, g):
            return g * 2, None
    x, z = sines(3).requires_grad_(), complex_sines(2).requires_grad_()
    return [C(lambda x: J.apply(x, b), v, check_forward_ad=True, raise_exception=False, **k)
        for b in (2.0, 2.5, 2.0j) for v in ((x, z) if b != 2.0j else (z,))
        for k in ({}, {"fast_mode": True}, {"check_backward_ad": False})], C(lambda x: J.apply(x,
        3.0), x)

# backward against itself
def said_check_batched_grad():
    class K(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, how):
            ctx.how = how
            if how == "none":
                ctx.set_materialize_grads(False)
            return x * 2, x * 3
        @staticmethod
        def backward(ctx, g, h):
            if ctx.how == "none":
                return g * 2 + h * 3, None
            if ctx.how == "ones":
                return (g if g is not None else 1) * 2 + h * 3 + (1 if not g.any() and not h.any()
                    else 0), None
            if ctx.how == "size":
                return (g * 2 + h * 3)[:1], None
            if ctx.how == "count":
                ctx.how = "counted"
                return g * 2 + h * 3, None
            if ctx.how == "counted":
                return g * 2 + h * 3 + 1e-9, None
            if ctx.how == "float":
                return g * 2 + float(h.sum()) * 0 + h * 3, None
            return g * 2 + h * 3, None
    x = sines(3).requires_grad_()
    def said(how, **k):
        return C(lambda x: K.apply(x, how), x, raise_exception=False, **k)
    return [said(""), error_name(said, "none"), error_name(lambda: said("none",
        check_undefined_grad=False)), said("ones"), said("float"),
        said("float", check_batched_grad=True), said("", check_batched_grad=True),
        error_name(lambda: C(lambda x: K.apply(x, "none"), x)),
        error_name(lambda: C(lambda x: K.apply(x, "ones"), x)),
        error_name(lambda: C(lambda x: K.apply(x, "size"), x))]

def calls_nondet_tol():
    class N(torch.autograd.Function):
        calls = 0
        @staticmethod
        def forward(ctx, x):
            return x * 2
        @staticmethod
        def backward(ctx, g):
            N.calls += 1
            return g * 2 + N.calls * 1e-9 * g
    x = sines(3).requires_grad_()
    return [C(N.apply, x, raise_exception=False, nondet_tol=t, fast_mode=f) for t in (0.0, 1e-3)
        for f in (False, True)]

def raise_exception_check_undefined_grad():
    class P(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x * 2, y * 3
        @staticmethod
        def backward(ctx, g, h):
            return (sines(3) if g is None else g * 2), (None if h is None else h * 3)
    x, y = sines(3).requires_grad_(), sines(3).requires_grad_()
    return [C(P.apply, (x, y), raise_exception=False),
        C(P.apply, (x, y), raise_exception=False, check_undefined_grad=False)]

def setup_context_raise_exception():
    class Q(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y
        @staticmethod
        def setup_context(ctx, inputs, output):
            pass
        @staticmethod
        def backward(ctx, g):
            return g, g
    x = sines(3).requires_grad_()
    return [C(lambda x: torch.ones(3, dtype=torch.float64) * x.detach(), x, raise_exception=False),
        C(lambda x: x.detach() * 0 + 3, x, raise_exception=False),
        C(lambda x: (x.detach() * 0, x * 1), x), error_name(lambda: C(lambda x: x.detach(), x))]

# what is refused
torch.autograd.gradcheck(torch.sin, sines(3))
torch.autograd.gradcheck(torch.sin, sines(3).requires_grad_(), check_forward_ad=False,
    check_backward_ad=False)
torch.autograd.gradcheck(torch.sin, sines(3).requires_grad_(), check_batched_grad=True,
    check_backward_ad=False, check_forward_ad=True)
torch.autograd.gradcheck(torch.sin, sines(3).requires_grad_(), check_batched_forward_grad=True)
torch.autograd.gradcheck(torch.sin, sines(1).expand(3).detach().requires_grad_())
torch.autograd.gradgradcheck(torch.sin, sines(3))
torch.autograd.gradgradcheck(torch.sin, sines(3).requires_grad_(), check_fwd_over_rev=False,
    check_rev_over_rev=False)
torch.autograd.gradgradcheck(torch.sin, sines(3).requires_grad_(), check_undefined_grad=True,
    check_rev_over_rev=False, check_fwd_over_rev=True)
torch.autograd.gradgradcheck(torch.sin, sines(3).requires_grad_(), check_batched_grad=True,
    check_undefined_grad=False, check_rev_over_rev=False, check_fwd_over_rev=True)
with_warnings(lambda: C(torch.sin, sines(2).to(torch.float32).requires_grad_(), eps=1e-2, atol=1e-1,
    rtol=1e-1))
with_warnings(lambda: C(torch.sin, sines(2).requires_grad_()))
with_warnings(lambda: C(torch.mul, (sines(2).requires_grad_(), sines(2).to(torch.float32)),
    atol=1e-3))

def gradgradcheck_as_strided():
    C, D = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    x = sines(4, 4).requires_grad_()
    return [C(torch.sin, sines(3, 2).t().detach().requires_grad_()),
        C(torch.sin, sines(6)[::2].detach().requires_grad_()),
        C(torch.sin, sines(0).requires_grad_()), C(torch.sin, sines().requires_grad_()),
        C(torch.sin, sines(1, 1).requires_grad_()),
        C(torch.sin, sines(8).as_strided((2, 2), (3, 2)).detach().requires_grad_()),
        C(torch.sin, sines(1).expand(1, 1).detach().requires_grad_()),
        C(lambda x, y: x * y, (x[0].detach().requires_grad_(),) * 2),
        D(torch.sin, sines(0).requires_grad_()), D(lambda x: x.t() ** 2, x),
        D(torch.sin, x, (sines(4, 4).requires_grad_(),)),
        D(torch.sin, x, sines(4, 4).requires_grad_()), D(lambda x: x.detach() * 1, x) if 0 else 1,]

# It is said by the element.
with differs("That elements share memory is said by the operand; torch finds another Jacobian."):
    torch.autograd.gradcheck(torch.sin, sines(5).as_strided((2, 2),
        (2, 2)).detach().requires_grad_())
    torch.autograd.gradcheck(torch.sin, sines(5).as_strided((2, 3),
        (1, 1)).detach().requires_grad_())
with differs("Torch takes more gradients than there are outputs."):
    torch.autograd.gradgradcheck(torch.sin, sines(3).requires_grad_(), (sines(3), sines(3)))

@differs("The words say which element differs most.")
def words_fast_mode():
    class Off(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * torch.tensor([2.0, 3.0], dtype=torch.float64)
        @staticmethod
        def backward(ctx, g):
            return g * torch.tensor([2.0, 4.0], dtype=torch.float64)
    def words(f, *a, **k):
        try:
            torch.autograd.gradcheck(f, a, **k)
        except Exception as error:
            return str(error)
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    return [words(Off.apply, x), words(Off.apply, x, fast_mode=True),
        words(lambda x: (x, Off.apply(x) * 1j), x),
        words(lambda x: Off.apply(x) + 0j, x, fast_mode=True)]
