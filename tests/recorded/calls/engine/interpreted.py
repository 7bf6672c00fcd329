"""Interpreted: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    event_names,
    forward_over_reverse,
    gradients,
    iota,
    metadata,
    sines,
    tangents,
)


# operators of the interpreted tier: what is recorded, where results go
def rsub_next_functions():
    x = sines(3).requires_grad_()
    with torch.no_grad():
        y = torch.special.i1(x)
    return [metadata(y), metadata(torch.rsub(x, 2)), metadata(torch.rsub(x.detach(), x)),
        [a and a[0] is not None for a in torch.rsub(x, 2).grad_fn.next_functions]]

torch.special.i0(sines(3), out=torch.zeros(3, dtype=torch.int64))
torch.special.i0(sines(3), out=torch.zeros(3))
torch.special.i0(sines(3).requires_grad_(), out=torch.zeros(3, dtype=torch.float64))
torch.special.i0(sines(3), out=3)
torch.polygamma(1, complex_sines(3))
torch.angle(complex_sines(3), out=torch.zeros(3, dtype=torch.float64))
torch.angle(complex_sines(3), out=torch.zeros(3))
torch.angle(complex_sines(3), out=torch.zeros(3, dtype=torch.complex128))
torch.angle(sines(3), out=torch.zeros(3, dtype=torch.float64))
torch.polar(sines(3), sines(3).to(torch.float32))
torch.polar(complex_sines(3), complex_sines(3))
torch.polar(sines(3).abs(), sines(3), out=torch.zeros(3, dtype=torch.complex128))
torch.vdot(complex_sines(3), complex_sines(3), out=torch.zeros((), dtype=torch.complex128))
torch.vdot(sines(3), sines(3).to(torch.float32))
torch.aminmax(sines(2, 3), dim=0, out=(torch.zeros(3, dtype=torch.float64),))
torch.linalg.inv(sines(2, 2), out=torch.zeros(2, 2, dtype=torch.float64))
with differs("No kernel has the dtype."):
    torch.linalg.inv(iota(2, 2, dtype=torch.int64))
torch.fft.fft(sines(4), out=torch.zeros(4, dtype=torch.complex128))
torch.fft.rfft(complex_sines(4))
torch.fft.irfft(complex_sines(3))
gradients(lambda x: torch.view_as_real(torch.fft.fft(x)), sines(4))
gradients(lambda x: torch.fft.irfft(x), complex_sines(3))
tangents(torch.fft.fft, complex_sines(4))
tangents(lambda x: torch.fft.rfft(x, dim=0), sines(4, 2))
vmap(torch.fft.fft)(sines(2, 4))
vmap(lambda x: torch.fft.fft(x, dim=0), in_dims=1)(sines(4, 2))
vmap(lambda x: torch.fft.rfft(x, dim=-2))(sines(2, 3, 2)).contiguous()
vmap(torch.angle)(sines(2, 3) - 0.5)
vmap(torch.polar, in_dims=(0, None))(sines(2, 3).abs(), sines(3))
vmap(lambda x, y: torch.rsub(x, y))(iota(2), iota(2, 3))
vmap(torch.linalg.inv)(sines(3, 2, 2)).contiguous()
vmap(torch.vdot)(sines(2, 3), sines(2, 3, phase=1.0))
vmap(torch.vdot, in_dims=(None, 0))(sines(3), sines(2, 3, phase=1.0))
vmap(lambda x: torch.polygamma(1, x.abs() + 1))(sines(2, 3))
vmap(lambda x: torch.special.i0(sines(3)) + x)(sines(2))
vmap(lambda x: torch.linalg.cholesky(x @ x.mT + torch.eye(2, dtype=torch.float64)))(sines(3, 2,
    2)).contiguous()
vmap(torch.func.grad(lambda x: torch.linalg.inv(x).sum()))(sines(3, 2, 2))
vmap(lambda x: torch.logdet(x @ x.mT))(sines(3, 2, 2))

def put_tensor():
    x = sines(3)
    y = x.put_(torch.tensor([0, 2]), torch.tensor([5.0, 6.0], dtype=torch.float64))
    return [y is x, x, x._version]

def put_tensor_2():
    x = sines(3).requires_grad_()
    y = x * 1
    y.put_(torch.tensor([0, 2]), torch.tensor([5.0, 6.0], dtype=torch.float64))
    return [metadata(y), torch.autograd.grad((y * sines(3)).sum(), x)]

sines(3).requires_grad_().put_(torch.tensor([0]), torch.tensor([5.0], dtype=torch.float64))
sines(3).put(torch.tensor([0]), torch.tensor([5.0]))
sines(3).put(torch.tensor([0.5]), torch.tensor([5.0], dtype=torch.float64))

def mul_special():
    x = sines(3).requires_grad_() * 1
    y = torch.special.i0(x)
    x.mul_(2)
    return torch.autograd.grad(y.sum(), x)

event_names(torch.special.i0, sines(3))[0]
event_names(torch.angle, sines(3))[0]
event_names(torch.polygamma, 1, sines(3).abs())[0]
event_names(torch.vdot, sines(3), sines(3))[0]
with differs("What NumPy computes has no rule for shapes alone."):
    torch.special.i0(torch.zeros(2, device="meta")).device.type
    error_name(lambda: torch.special.i0(torch.zeros(2, device="meta")).device.type)
    torch.angle(torch.zeros(2, device="meta", dtype=torch.complex64)).dtype
gradients(lambda a, b: torch.cdist(a, b), sines(2, 3), sines(4, 3))
forward_over_reverse(lambda x: torch.special.i0(x), sines(3))
torch.histc(sines(5), 3, out=torch.zeros(3, dtype=torch.float64))
torch.histc(sines(5), 3, out=torch.zeros(3))
metadata(torch.histc(sines(5).requires_grad_(), 3))
