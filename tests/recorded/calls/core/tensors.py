"""Tensors: calls of tensors and arguments (`ext/core`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import complex_sines, differs, error_name, iota, metadata, with_warnings

# What a tensor says of itself
[x := iota(2, 3).t(), list(x.shape), x.size(0), x.size(-1), x.stride(), x.stride(0), x.stride(-2),
    x.dim(), x.ndimension(), x.ndim, x.numel(), x.nelement(), x.element_size(), x.itemsize,
    x.nbytes]
[x := iota(6, dtype=torch.float16)[2:5:2], x.storage_offset(), x.stride(), x.itemsize, x.nbytes,
    x.is_contiguous(), x[1:].is_contiguous(), x[2:].is_contiguous(), x.untyped_storage().nbytes()]
[torch.empty(0, dtype=d).itemsize for d in (torch.bool, torch.uint8, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64, torch.complex128)]
[x := torch.tensor(1.0), 0, x.size(), x.stride(), x.dim(), x.numel(), x.nbytes, x.is_contiguous(),
    x.storage_offset()]
iota(2, 3).size(2)
iota(2, 3).size(-3)
iota(2, 3).stride(2)
iota(2, 3).stride(-3)
torch.tensor(1.0).size(0)
torch.tensor(1.0).stride(0)
torch.tensor(1.0).size(-1)
iota(2).size(2**70)
iota(2).size(1.0)
iota(2).size(True)
iota(2).stride("a")
[iota(2, 3).size(np.int64(1)), iota(2, 3).stride(np.int32(-1))]
[x := iota(2, 3, 2, 2).contiguous(memory_format=torch.channels_last), x.is_contiguous(),
    x.is_contiguous(memory_format=torch.channels_last),
    x.is_contiguous(memory_format=torch.contiguous_format),
    iota(2, 3, 2, 2).is_contiguous(memory_format=torch.channels_last)][1:]
[x.is_contiguous(memory_format=torch.channels_last)
    for x in (iota(2, 1, 2, 2), iota(1, 3, 1, 1), iota(2, 3, 1, 1), iota(0, 3, 2, 2),
    iota(2, 2, 3, 2).permute(0, 3, 1, 2), iota(2, 2, 3, 2).permute(0, 3, 2, 1), iota(2, 3),
    iota(2, 2, 2, 3, 2), iota(2, 1, 2, 1))]
[x.is_contiguous(memory_format=torch.channels_last_3d)
    for x in (iota(2, 2, 3, 2, 4).permute(0, 4, 1, 2, 3), iota(2, 2, 3, 2, 4), iota(2, 1, 3, 2, 4),
    iota(2, 2, 3, 2), iota(1, 3, 1, 1, 1), iota(2, 3, 2, 4).permute(0, 3, 1, 2))]
error_name(lambda: iota(2, 3).is_contiguous(memory_format=torch.preserve_format))
error_name(lambda: iota(2, 3).is_contiguous(memory_format=3))
[x.is_contiguous() for x in (iota(2, 3)[:, :1], iota(2, 3)[:1], iota(1, 3).t(), iota(2, 0).t(),
    iota(3, 2, 1).transpose(1, 2), iota(1).expand(2), iota(1).expand(1), iota(2, 3)[1],
    iota(2, 3)[:, 1], torch.tensor(1.0).expand(1, 1))]
[x := iota(4), x.is_set_to(x.view(4)), x.is_set_to(x.view(2, 2)), x.is_set_to(x[:3]),
    x[1:].is_set_to(x[:3]), x.view(2, 2).is_set_to(x.view(2, 2).t()), x[0].is_set_to(x[0]),
    x[0].is_set_to(x[1]), x.is_set_to(iota(4)), x.is_set_to(x.detach())]
[x := complex_sines(3), x.is_set_to(x.conj()), error_name(x.is_set_to, None)]
with differs("torch compares addresses, which it makes anew"):
    [x := complex_sines(3), x.conj().is_set_to(x.conj())]
[str(x).rpartition(".")[2] for x in (iota(2).dtype, iota(2).layout,
    complex_sines(2).dtype)] + [iota(2).device.type, iota(2).is_cpu, iota(2).is_cuda,
    iota(2).is_sparse, iota(2).is_quantized, iota(2).is_meta]
[x := torch.empty(2, device="meta"), x.is_cpu, x.is_meta, x.device.type, x.data_ptr(),
    x.is_cuda][1:]
[(x := torch.empty(1, dtype=d), x.is_floating_point(), x.is_complex(), x.is_signed())[1:]
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)]
[x := complex_sines(2), x.is_conj(), x.conj().is_conj(), x.conj().conj().is_conj(),
    x.conj().imag.is_neg(), x.imag.is_neg(), x.conj().is_neg(), x.conj().real.is_neg(),
    x.conj().imag.is_conj()]
with differs("torch has no rule for negated views"):
    vmap(lambda x: x.conj())(complex_sines(2))
    vmap(lambda x: x.conj().imag)(complex_sines(2, 2))
    vmap(lambda x: torch.tensor(float(x.conj().is_conj())) + x.real)(complex_sines(2, 2))
    vmap(lambda x: torch.tensor(float(x.conj().imag.is_neg())) + x.real)(complex_sines(2, 2))
[x := iota(3), x.data_ptr() == x[:2].data_ptr(), x[1:].data_ptr() - x.data_ptr(),
    x.view(torch.int32).data_ptr() == x.data_ptr(), iota(0).data_ptr()]
error_name(vmap(lambda x: torch.tensor(x.data_ptr())), iota(3))

# Flags of autograd
def data_view():
    x = iota(3).requires_grad_(True)
    return [metadata(y) for y in (x, x[1:], x * 2, x.detach(), x.data, x.t(), x.view(3).detach())]

[x := iota(3), y := x[1:], x.add_(1), y._version, y.mul_(2), x._version, x.data._version,
    x.detach()._version, x.data.add_(1), x._version, x.detach().add_(1), x._version, x]
[x := iota(3), x.is_leaf, x.requires_grad, x.grad_fn, x.output_nr, x._base, x._is_view(),
    x.retains_grad, x.name, x.grad, x.is_inference()]
[x := iota(3), x[1:]._base is x, x[1:][1:]._base is x, x.detach()._base, x.data._base,
    x[1:].detach()._is_view(), x[1:]._is_view()]
[x := iota(4).requires_grad_(True), y := torch.split(x, 2), y[0].output_nr, y[1].output_nr,
    torch.max(x, 0)[1].requires_grad, torch.max(x.view(2, 2), 0)[0].output_nr, x.output_nr]

def mul_is_leaf():
    x = iota(3)
    y = x[1:]
    z = x[:2]
    y.mul_(iota(1).requires_grad_(True) + 1)
    return [metadata(y), metadata(x), metadata(z), x.is_leaf, z.is_leaf, z.requires_grad]

def is_leaf_is_view():
    x = iota(3)
    y = x[1:]
    y.requires_grad_(True)
    return [y.is_leaf, y.requires_grad, x.requires_grad, y._is_view(), metadata(y)]

def is_leaf_is_view_2():
    x = iota(3).requires_grad_(True)
    with torch.no_grad():
        y = x[1:]
    return [y.is_leaf, y.requires_grad, y._is_view(), metadata(y), y.detach().is_leaf]

iota(3, dtype=torch.int64).requires_grad_(True)

def requires_grad_int64():
    x = iota(3, dtype=torch.int64)
    x.requires_grad = True
    return x

def requires_grad_iota():
    x = iota(3)
    x.requires_grad = 1
    return x

def iota_requires_grad():
    x = iota(3)
    x.requires_grad_(1)
    return x

def requires_grad_iota_2():
    x = iota(3).requires_grad_(True) * 2
    x.requires_grad = False
    return x

def requires_grad_iota_3():
    x = iota(3).requires_grad_(True) * 2
    x.requires_grad = True
    return x

def requires_grad_iota_4():
    x = iota(3).requires_grad_(True) * 2
    x.requires_grad_(False)
    return x

[x := iota(3).requires_grad_(True) * 2, x.requires_grad_(True) is x, x.requires_grad_() is x,
    iota(2).requires_grad_(False).requires_grad,
    iota(2).requires_grad_().requires_grad_(False).requires_grad,
    complex_sines(2).requires_grad_().requires_grad,
    iota(2, dtype=torch.int64).requires_grad_(False).requires_grad]

def requires_grad_iota_5():
    x = iota(3).requires_grad_(True)
    y = x[1:]
    y.requires_grad_(False)
    return y

def is_inference_view():
    with torch.inference_mode():
        x = iota(3)
        y = x.requires_grad_(True).requires_grad
        z = x.view(3).is_inference(), torch.empty(3, 2).t().is_inference(), torch.zeros(3,
            device="meta").is_inference(), torch.empty_strided((2, 2),
            (1, 2)).is_inference(), iota(3).to(torch.float64).is_inference()
    return [y, z, x.is_inference(), x[1:].is_inference(), (x + 1).is_inference(),
        x.detach().is_inference(), x.data.is_inference(), x.clone().is_inference(),
        x.view(3).is_inference()]

def version_inference_mode():
    with torch.inference_mode():
        x = iota(3)
    return x._version

def inference_mode_iota():
    with torch.inference_mode():
        x = iota(3)
    return x.requires_grad_(True)

@differs("torch writes before it refuses")
def inference_mode_add():
    with torch.inference_mode():
        x = iota(3)
    return [x.requires_grad_(False).requires_grad, error_name(x.add_, 1), x.add(1), x]

# grad
[x := iota(3).requires_grad_(True), setattr(x, "grad", iota(3)), x.grad, setattr(x, "grad", None),
    x.grad, setattr(x, "grad", iota(3) + 1), delattr(x, "grad"), x.grad]

def grad_iota():
    x = iota(3).requires_grad_(True)
    x.grad = x
    return x

def grad_iota_2():
    x = iota(3).requires_grad_(True)
    x.grad = 1.0
    return x

def iota_float64():
    x = iota(3).requires_grad_(True)
    x.grad = iota(3, dtype=torch.float64)
    return x

def grad_iota_3():
    x = iota(3).requires_grad_(True)
    x.grad = iota(4)
    return x

def grad_iota_4():
    x = iota(3).requires_grad_(True)
    x.grad = iota(1, 3)
    return x

def empty_device():
    x = iota(3).requires_grad_(True)
    x.grad = torch.empty(3, device="meta")
    return x

def add_requires_grad():
    x = iota(3)
    x.grad = iota(3) + 1
    y = x.grad
    y.add_(1)
    return [x.grad, x.grad is y, x.requires_grad]

[x := iota(3).requires_grad_(True), y := x * 2, with_warnings(lambda: y.grad), y.retain_grad(),
    with_warnings(lambda: y.grad), y.retains_grad, y.sum().backward(),
    with_warnings(lambda: y.grad)[0], with_warnings(lambda: x.grad)[0], x.retains_grad]

# data
[x := iota(3).requires_grad_(True), setattr(x, "data", iota(2, 2)), x, x.grad_fn, x._version,
    x.requires_grad, x.stride()]
[x := iota(3), y := x[1:], z := iota(3) + 5, x.add_(1), z.add_(1), z.add_(1), setattr(x, "data", z),
    x._version, z._version, y._version, x.add_(1), y._version, z._version, z, y]
[x := iota(3), z := iota(3), z.add_(1), setattr(x, "data", z), x._version, z._version, x.mul_(2),
    x._version, z._version, z]

def data_iota():
    x = iota(3)
    x.data = 3
    return x

def data_int64():
    x = iota(3).requires_grad_(True)
    x.data = iota(3, dtype=torch.int64)
    return x

def data_requires_grad():
    x = iota(3)
    x.data = iota(2, 2, dtype=torch.int64)
    return [x, x.requires_grad]

def is_conj_complex_sines():
    x = iota(3)
    x.data = complex_sines(2).conj()
    return [x, x.is_conj()]

def is_conj_complex_sines_2():
    x = complex_sines(2).conj()
    x.data = iota(2)
    return [x, x.is_conj()]

def data_iota_2():
    x = iota(3).requires_grad_(True)
    x.data = iota(3, dtype=torch.float64)
    (x * 2).sum().backward()
    return x.grad

@differs("torch refuses another device")
def device_is_cpu():
    x = iota(3)
    x.data = torch.empty(2, device="meta")
    return [x.device.type, x.is_cpu, x.shape == (2,)]

@differs("torch refuses another device")
def device_is_cpu_2():
    x = torch.empty(2, device="meta")
    x.data = iota(3)
    return [x.device.type, x.is_cpu, x]

def data_iota_3():
    x = iota(3)
    del x.data
    return x

error_name(vmap(lambda x: setattr(x, "data", x) or x), iota(3))
with differs("It is a view of each example."):
    vmap(lambda x: x.data * 2)(iota(3))
    complex_sines(2).conj().data.is_conj()
    complex_sines(2).conj().data
    iota(2, 3).t().data.stride()

# Numbers of tensors
[x.item() for x in (torch.tensor(True), torch.tensor(200, dtype=torch.uint8),
    torch.tensor(-3, dtype=torch.int8), torch.tensor(-300, dtype=torch.int16),
    torch.tensor(-70000, dtype=torch.int32), torch.tensor(2**40),
    torch.tensor(0.1, dtype=torch.float16), torch.tensor(0.1, dtype=torch.bfloat16),
    torch.tensor(0.1), torch.tensor(0.1, dtype=torch.float64), torch.tensor(1 + 2j),
    torch.tensor(1 + 2j, dtype=torch.complex128))]
iota(1).item()
iota(1, 1, 1).item()
complex_sines(1).conj().item()
complex_sines(1).conj().imag.item()
iota(4)[2].item()
iota(4)[1:2].item()
type(torch.tensor(True).item()).__name__
type(torch.tensor(1).item()).__name__
type(torch.tensor(1.0).item()).__name__
type(torch.tensor(1j).item()).__name__
iota(2).item()
iota(0).item()
iota(2, 2).item()
torch.empty(1, device="meta").item()
error_name(vmap(lambda x: torch.tensor(x.item())), iota(3))
int(torch.tensor(2.7))
int(torch.tensor(-2.7))
int(torch.tensor(True))
float(torch.tensor(3))
complex(torch.tensor(2.0))
complex(torch.tensor(1 + 2j))
bool(torch.tensor(0.0))
bool(torch.tensor([[2]]))
bool(torch.tensor(math.nan))
bool(torch.tensor(0j))
int(iota(1))
float(iota(1, 1))
int(iota(2))
float(iota(2))
complex(iota(0))
bool(iota(2))
bool(iota(0))
error_name(int, torch.tensor(1j))
error_name(float, torch.tensor(1j))
int(torch.tensor(2 + 0j))
float(torch.tensor(2 + 0j))
int(complex_sines(1).conj().imag)
error_name(float, complex_sines(1).conj())
float(torch.tensor([1j]))
int(torch.tensor(1 + 2j))
error_name(int, torch.tensor(math.nan))
error_name(int, torch.tensor(math.inf))
[error_name(f, torch.empty(1, device="meta")) for f in (int, float, complex, bool)]
[error_name(vmap(lambda x, f=f: torch.tensor(float(f(x)))), iota(3))
    for f in (int, float, complex, bool, len)]

def set_warn_always_with_warnings():
    torch.set_warn_always(True)
    x = torch.tensor(2.0).requires_grad_(True)
    a = [with_warnings(float, x), with_warnings(float, x.detach()), with_warnings(float, x * 2),
        with_warnings(int, x)[1], with_warnings(float, torch.tensor(2.0))]
    with torch.no_grad():
        a.append(with_warnings(float, x))
    torch.set_warn_always(False)
    return a

list(range(5))[torch.tensor(2)]
"abc"[torch.tensor(1, dtype=torch.uint8)]
"abc"[iota(1, dtype=torch.int64)]
hex(torch.tensor(255))
"abcd"[torch.tensor([[1]]) : torch.tensor(3)]
"abc"[torch.tensor(1.0)]
"abc"[iota(2, dtype=torch.int64)]
[error_name("abc".__getitem__, x) for x in (torch.tensor(1.0), iota(2, dtype=torch.int64),
    iota(0, dtype=torch.int64), torch.tensor(1j), torch.tensor([1.0]))]
"abc"[torch.tensor(True)]
iota(2, 2).tolist()
iota(0).tolist()
iota(2, 0).tolist()
torch.tensor(2.5).tolist()
iota(2, 2).t().tolist()
complex_sines(2).conj().tolist()
torch.tensor([True, False]).tolist()
iota(6)[::2].tolist()
iota(2, 1, 2, dtype=torch.int64).tolist()
iota(3, dtype=torch.float16).tolist()
error_name(vmap(lambda x: torch.tensor(x.tolist())), iota(3))
len(iota(3, 2))
len(iota(0))
list(map(float, iota(3)))
[x.shape == (2,) for x in iota(3, 2)]
list(iota(0))
[float(x) for x in reversed(iota(3))]
reversed(iota(2, 2))
reversed(torch.tensor(1.0))
len(torch.tensor(1.0))
list(torch.tensor(1.0))
[iter(iota(2)) is None, hash(x := iota(2)) == hash(x), {x: 1}[x], len({x, x, iota(2)})]
2 in iota(3)
5 in iota(3)
torch.tensor(2.0) in iota(3)
torch.tensor([1.0, 9.0]) in iota(2)
True in torch.tensor([1])
1j in torch.tensor([1j])
2.5 in iota(3)
"a" in iota(3)
None in iota(3)
[1] in iota(3)
bytes(torch.tensor([1, 2, 3]))
bytes(torch.tensor(3))
bytes(torch.tensor([2]))
bytes(iota(0, dtype=torch.int64))
error_name(bytes, torch.tensor(1.5))
error_name(bytes, torch.tensor([1.5, 2.0]))
error_name(bytes, torch.tensor([256, 1]))
f"{torch.tensor(2.5):.3f}"
f"{torch.tensor(3):04d}"
f"{torch.tensor(2.5)}"
error_name(format, iota(2), ".2f")
f"{complex_sines(1)[0].conj():.2f}"
f"{torch.tensor(True)}"

def iota_2():
    x = iota(3)
    del x[0]
    return x

def note_dict():
    x = iota(3)
    x.note = 5
    y = x.note, x.__dict__
    del x.note
    return [y, x.__dict__, error_name(lambda: x.note), error_name(setattr, x, "shape", 3),
        error_name(setattr, x, "is_leaf", True)]

~torch.tensor([True, False])
~torch.tensor(5)
~torch.tensor(5, dtype=torch.uint8)
error_name(lambda: ~torch.tensor(1.0))
-torch.tensor([1, 2])
+iota(2)
abs(-iota(3))
~torch.tensor([3], dtype=torch.int8)
~torch.tensor(1.0)
2 - iota(3)
2 / iota(3)
2 ** iota(3)
7 // (iota(3) + 1)
7 % (iota(3) + 1)
2 + iota(3)
2 * iota(3)
iota(3) ** 2
iota(3) // 2
iota(3) % 2
iota(3) - 1
iota(3) / 2
[x := torch.tensor([6, 3]), x & 2, 2 & x, x | 8, 8 | x, x ^ 5, 5 ^ x, x << 1, 1 << x, x >> 1,
    64 >> x, x == 3, x != 3, x < 5, x <= 3, x > 3, x >= 6, 5 > x]

def tensor_version():
    x = torch.tensor([6, 3])
    x += 1
    x -= 3
    x *= 3
    x //= 2
    x **= 2
    x %= 7
    x <<= 2
    x >>= 1
    x |= 1
    x &= 13
    x ^= 2
    return [x, x._version]

def tensor_version_2():
    x = torch.tensor([6.0, 3.0])
    x /= 4
    return [x, x._version]

iota(2, 2) @ iota(2)
error_name(lambda: 2 @ iota(2))
error_name(lambda: iota(2) @ 2)
error_name(lambda: iota(2) + "a")
error_name(lambda: "a" + iota(2))
error_name(lambda: iota(2) < None)
iota(2) == None
iota(2) != None
iota(2) == "a"
error_name(pow, iota(2), 2, 3)
iota(2) == np.array([0.0, 5.0])
error_name(lambda: iota(2) == np.array(["a", "b"]))
iota(2) == [0, 1]
[x := iota(2).requires_grad_(True) + 1, (1 / x).grad_fn.name(), (1.0 / x).grad_fn.name(),
    (True / x).grad_fn.name(), 1 / x, 2 / x, 1j / x]
with differs("only of 1 the result is saved rather than the divisor"):
    [x := iota(2).requires_grad_(True) + 1, (2 / x).grad_fn.name(), (1j / x).grad_fn.name(),
        (0.5 / x).grad_fn.name()]
[x := torch.tensor([2], dtype=torch.float16).requires_grad_(True), 1 / x,
    (1 / x).dtype == torch.float16, 1 / x.detach(), 1 / torch.tensor([2])]

# Tensor(...)
torch.Tensor(2, 3).shape
torch.Tensor().shape
torch.Tensor([1, 2])
torch.Tensor((1, 2))
torch.Tensor(iota(2))
torch.Tensor([])
torch.Tensor(torch.Size([2, 3])).shape
torch.Tensor(range(3))
torch.Tensor(np.array([1.5]))
torch.Tensor(0).shape
torch.Tensor(2, 0).dtype == torch.float32
torch.Tensor(2.5)
torch.Tensor(2, 2.5)
torch.Tensor(-1)
torch.Tensor(2, 2**70)
torch.Tensor("a")
torch.Tensor([[1], [2, 3]])
with differs("A tensor has at most 64 dimensions here."):
    torch.Tensor(*[1] * 65)
torch.Tensor(*[1] * 6).shape
torch.Tensor(*[1] * 64).dim()
iota(*[1] * 64).stride() == (1,) * 64
iota(2, 1, 1, 1, 1, 3).permute(5, 0, 1, 2, 3, 4).stride()

# Sizes
[x := torch.Size([2, 3]), x.numel(), torch.Size([]).numel(), torch.Size([0, 3]).numel(),
    x == (2, 3), type(x + (1,)).__name__, type(x * 2).__name__, type(2 * x).__name__,
    type(x[:1]).__name__, x[1], x[-1], type(x[1]).__name__, hash(x) == hash((2, 3))][1:]
list(map(int, torch.Size((torch.tensor(2), np.int64(3)))))
tuple(torch.Size(iter([1, 2])))
tuple(torch.Size())
error_name(torch.Size, [1.5])
error_name(torch.Size, ["a"])
error_name(torch.Size, 3)
tuple(torch.Size([True, 2]))
type(torch.Size([True])[0]).__name__
torch.Size([1, 2.5])
torch.Size([2, 3]) + [1]
[1] + torch.Size([2, 3])
error_name(lambda: torch.Size([2]) + 3)
__import__("pickle").loads(__import__("pickle").dumps(torch.Size([2, 3]))) == torch.Size([2, 3])
type(__import__("copy").deepcopy(torch.Size([2]))).__name__
repr(torch.Size([2, 3]))[-12:]
repr(torch.Size([]))[-8:]
repr(torch.Size([4]))[-9:]
[x := iota(2, 3), tuple(x.shape), type(x.shape).__name__, type(x.size()).__name__,
    tuple(torch.tensor(1.0).shape), x.shape == x.size(), x.shape[1:] == (3,)]

# Buffers
with differs("Tensors of torch give no buffer."):
    [(v := memoryview(x), v.shape, v.strides, v.format, v.nbytes, v.itemsize, v.ndim, v.readonly,
        v.contiguous, v.c_contiguous, v.f_contiguous)[1:]
        for x in (iota(2, 3), iota(2, 3).t(), torch.tensor(1.0), iota(4)[::2], iota(0, 3),
        iota(2, 1, 3)[:, :, :1], complex_sines(2))]
    [memoryview(torch.empty(1, dtype=d)).format
        for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
        torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128)]
    bytes(memoryview(iota(3, dtype=torch.uint8)))
    bytearray(iota(3, dtype=torch.uint8))
    memoryview(iota(2, 2, dtype=torch.uint8).t()).tolist()
    memoryview(iota(4, dtype=torch.uint8)[::2]).tolist()
    memoryview(iota(6, dtype=torch.int16).view(2, 3)).tolist()
    memoryview(iota(2).bfloat16())
    memoryview(torch.empty(2, device="meta"))
    memoryview(complex_sines(2).conj())
    memoryview(complex_sines(2).conj().imag)
    memoryview(iota(2).requires_grad_(True))
    error_name(vmap(lambda x: torch.tensor(len(memoryview(x)))), iota(2, 2))
    [x := iota(3, dtype=torch.uint8), v := memoryview(x), v.__setitem__(1, 7), x,
        memoryview(iota(2).requires_grad_(True).detach()).nbytes][3:]
    np.frombuffer(iota(2).bfloat16(), dtype="u2").tolist()
    np.frombuffer(iota(3), dtype="f4").tolist()
    error_name(np.frombuffer, iota(4)[::2])
    error_name(np.frombuffer, iota(2, 3).t())
    error_name(lambda: np.frombuffer(iota(2).bfloat16(), dtype="u2").tolist())

@differs("Tensors of torch give no buffer.")
def hexdigest_hashlib():
    import hashlib
    return hashlib.md5(iota(2, 3)).hexdigest() == hashlib.md5(iota(6)).hexdigest()

@differs("Tensors of torch give no buffer.")
def hexdigest_hashlib_2():
    import hashlib
    return hashlib.md5(iota(1, 3).t()).hexdigest() == hashlib.md5(iota(3)).hexdigest()

@differs("Tensors of torch give no buffer.")
def hexdigest_hashlib_3():
    import hashlib
    return [hashlib.md5(iota(4)).hexdigest() == hashlib.md5(iota(4).numpy()).hexdigest(),
        error_name(hashlib.md5, iota(4)[::2]), error_name(hashlib.md5, iota(2, 3).t()),
        error_name(lambda: hashlib.md5(iota(2, 3)).hexdigest() == hashlib.md5(iota(6)).hexdigest()),
        error_name(lambda: hashlib.md5(iota(1, 3).t()).hexdigest()
        == hashlib.md5(iota(3)).hexdigest())]

@differs("Tensors of torch give no buffer.")
def readinto_import():
    x = torch.tensor([1, 2, 3, 4], dtype=torch.uint8)
    n = __import__("io").BytesIO(b"abcdef").readinto(x)
    return [x, n]

@differs("Tensors of torch give no buffer.")
def readinto_import_2():
    a = np.arange(3.0)
    a.flags.writeable = False
    x = torch.from_numpy(a)
    torch.set_warn_always(False)
    return [memoryview(x).readonly, error_name(x.add_, 1), error_name(x.fill_, 1),
        error_name(x.zero_), error_name(x.copy_, x),
        error_name(__import__("io").BytesIO(bytes(24)).readinto, x),
        error_name(lambda: torch.add(x, 1, out=x)), error_name(x[1:].mul_, 2), x.clone().add_(1), x]

@differs("Tensors of torch give no buffer.")
def bytes_memoryview():
    with torch.no_grad():
        x = bytes(memoryview(iota(1).requires_grad_(True)))
    return x

# the collector
@differs("a tensor without attributes holds nothing")
def is_tracked_iota():
    import gc
    return [gc.is_tracked(iota(2)), gc.is_tracked(iota(2)[1:]), gc.is_tracked(iota(2) + 1)]
