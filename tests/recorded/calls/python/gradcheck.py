"""Gradcheck: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, differs, error_name, sines

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

def raise_exception_detach():
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
with differs("Torch takes more gradients than there are outputs."):
    torch.autograd.gradgradcheck(torch.sin, sines(3).requires_grad_(), (sines(3), sines(3)))

@differs("The words say which element differs most.")
def fast_mode_error():
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
