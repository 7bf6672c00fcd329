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
    second_gradients,
    sines,
    tangents,
)


# operators of the interpreted tier: what is recorded, where results go
def polygamma_polar():
    x = sines(3).requires_grad_()
    return [metadata(torch.special.i0(x)), metadata(torch.special.i0(x.detach())),
        metadata(torch.polygamma(1, x.abs())), metadata(torch.polar(x.abs(), x)),
        metadata(torch.angle(x)), metadata(torch.linalg.inv(sines(2, 2).requires_grad_()))[:3]]

def rsub_next_functions():
    x = sines(3).requires_grad_()
    with torch.no_grad():
        y = torch.special.i1(x)
    return [metadata(y), metadata(torch.rsub(x, 2)), metadata(torch.rsub(x.detach(), x)),
        [a and a[0] is not None for a in torch.rsub(x, 2).grad_fn.next_functions]]

def vdot_special():
    a, x = sines(2, 3), complex_sines(2, 2)
    return [gradients(lambda a: torch.special.i0(a), a), second_gradients(torch.special.i1, a),
        tangents(torch.special.i0e, a), gradients(torch.angle, x), tangents(torch.angle, x),
        gradients(lambda a, b: torch.view_as_real(torch.polar(a, b)), sines(3).abs(), sines(3)),
        gradients(lambda a, b: torch.view_as_real(torch.vdot(a, b)), complex_sines(3),
        complex_sines(3, phase=1.0)), tangents(torch.vdot, complex_sines(3),
        complex_sines(3, phase=1.0)), gradients(lambda a, b: torch.rsub(a, b), sines(3),
        sines(3, phase=1.0)), second_gradients(lambda x: torch.polygamma(1, x.abs() + 1), sines(3))]

def empty_special():
    o = torch.empty(0, dtype=torch.float64)
    r = torch.special.i0(sines(2, 3), out=o)
    return [r is o, o, o._version]

def empty_special_2():
    o = torch.empty(0)
    return [torch.special.i0(sines(2, 3).to(torch.float32), out=o) is o, o, o._version]

torch.special.i0(sines(3), out=torch.zeros(3, dtype=torch.int64))
torch.special.i0(sines(3), out=torch.zeros(3))
torch.special.i0(sines(3), out=sines(3).requires_grad_())
torch.special.i0(sines(3).requires_grad_(), out=torch.zeros(3, dtype=torch.float64))
torch.special.i0(sines(3), out=3)
torch.special.i0(iota(3, dtype=torch.int64))
torch.special.i0(complex_sines(3))
torch.polygamma(1, complex_sines(3))
torch.angle(iota(3, dtype=torch.int64) - 1)
torch.angle(complex_sines(3), out=torch.zeros(3, dtype=torch.float64))
torch.angle(complex_sines(3), out=torch.zeros(3))
torch.angle(complex_sines(3), out=torch.zeros(3, dtype=torch.complex128))
torch.angle(sines(3), out=torch.zeros(3, dtype=torch.float64))
torch.polar(sines(3), sines(3).to(torch.float32))
torch.polar(complex_sines(3), complex_sines(3))
torch.polar(sines(3).abs(), sines(3), out=torch.zeros(3, dtype=torch.complex128))
torch.polar(sines(3).abs(), sines(3), out=torch.zeros(3, dtype=torch.float64))
torch.vdot(complex_sines(3), complex_sines(3), out=torch.zeros((), dtype=torch.complex128))
torch.vdot(sines(3), sines(2))
torch.vdot(sines(3), sines(3).to(torch.float32))

def aminmax_dim():
    o = torch.zeros(2, 3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64)
    return torch.aminmax(sines(2, 3), dim=0, out=(o[1], torch.zeros(3, dtype=torch.float64)))

torch.aminmax(sines(2, 3), dim=0, out=(torch.zeros(3, dtype=torch.float64),))
torch.aminmax(sines(2, 3), dim=-3)
torch.aminmax(sines(2, 3), dim=-1)
torch.linalg.eigh(torch.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=torch.float64))[0]
torch.linalg.inv(sines(2, 2), out=torch.zeros(2, 2, dtype=torch.float64))
torch.linalg.inv(sines(2, 3))
with differs("No kernel has the dtype."):
    torch.linalg.inv(iota(2, 2, dtype=torch.int64))
torch.linalg.cholesky(torch.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=torch.float64),
    upper=True).contiguous()
torch.fft.fft(sines(4), dim=-1)
torch.fft.fft(sines(2, 4), dim=-2).contiguous()
torch.fft.fft(sines(2, 4), dim=2)
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
vmap(lambda x: torch.fft.fft(x))(sines(2))
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

def put_version():
    x = sines(3)
    y = x.put_(torch.tensor([0, 2]), torch.tensor([5.0, 6.0], dtype=torch.float64))
    return [y is x, x, x._version]

def put_metadata():
    x = sines(3).requires_grad_()
    y = x * 1
    y.put_(torch.tensor([0, 2]), torch.tensor([5.0, 6.0], dtype=torch.float64))
    return [metadata(y), torch.autograd.grad((y * sines(3)).sum(), x)]

sines(3).requires_grad_().put_(torch.tensor([0]), torch.tensor([5.0], dtype=torch.float64))
sines(3).put(torch.tensor([0]), torch.tensor([5.0]))
sines(3).put(torch.tensor([3]), torch.tensor([5.0], dtype=torch.float64))
sines(3).put(torch.tensor([0.5]), torch.tensor([5.0], dtype=torch.float64))

def version_angle():
    x = complex_sines(3)
    return [error_name(lambda: x.angle_()), x._version]

def version_special():
    x = iota(3, dtype=torch.int64)
    return [error_name(lambda: torch.special.i0(x, out=x)), x._version]

def grad_special():
    x = sines(3).requires_grad_()
    y = torch.special.i0(x)
    a = torch.autograd.grad(y.sum(), x)
    return error_name(torch.autograd.grad, y.sum(), x)

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
torch.cdist(sines(2, 3), sines(2, 2))
gradients(lambda a, b: torch.cdist(a, b), sines(2, 3), sines(4, 3))
forward_over_reverse(lambda x: torch.special.i0(x), sines(3))
torch.histc(sines(5), 3, out=torch.zeros(3, dtype=torch.float64))
torch.histc(sines(5), 3, out=torch.zeros(3))
metadata(torch.histc(sines(5).requires_grad_(), 3))
