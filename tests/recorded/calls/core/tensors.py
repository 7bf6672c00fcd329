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
iota(2).size(2**70)
iota(2).size(1.0)
iota(2).size(True)
iota(2).stride("a")
[iota(2, 3).size(np.int64(1)), iota(2, 3).stride(np.int32(-1))]
error_name(lambda: iota(2, 3).is_contiguous(memory_format=3))
[x := complex_sines(3), x.is_set_to(x.conj()), error_name(x.is_set_to, None)]
with differs("torch compares addresses, which it makes anew"):
    [x := complex_sines(3), x.conj().is_set_to(x.conj())]
[str(x).rpartition(".")[2] for x in (iota(2).dtype, iota(2).layout,
    complex_sines(2).dtype)] + [iota(2).device.type, iota(2).is_cpu, iota(2).is_cuda,
    iota(2).is_sparse, iota(2).is_quantized, iota(2).is_meta]
with differs("torch has no rule for negated views"):
    vmap(lambda x: x.conj())(complex_sines(2))
    vmap(lambda x: x.conj().imag)(complex_sines(2, 2))
    vmap(lambda x: torch.tensor(float(x.conj().is_conj())) + x.real)(complex_sines(2, 2))
    vmap(lambda x: torch.tensor(float(x.conj().imag.is_neg())) + x.real)(complex_sines(2, 2))
error_name(vmap(lambda x: torch.tensor(x.data_ptr())), iota(3))

# Flags of autograd
def mul_is_leaf():
    x = iota(3)
    y = x[1:]
    z = x[:2]
    y.mul_(iota(1).requires_grad_(True) + 1)
    return [metadata(y), metadata(x), metadata(z), x.is_leaf, z.is_leaf, z.requires_grad]

iota(3, dtype=torch.int64).requires_grad_(True)

def requires_grad_int64():
    x = iota(3, dtype=torch.int64)
    x.requires_grad = True
    return x

def requires_grad():
    x = iota(3)
    x.requires_grad = 1
    return x

def requires_grad_2():
    x = iota(3)
    x.requires_grad_(1)
    return x

def requires_grad_3():
    x = iota(3).requires_grad_(True) * 2
    x.requires_grad = False
    return x

def requires_grad_4():
    x = iota(3).requires_grad_(True) * 2
    x.requires_grad = True
    return x

def requires_grad_5():
    x = iota(3).requires_grad_(True) * 2
    x.requires_grad_(False)
    return x

def requires_grad_6():
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

def inference_mode_torch():
    with torch.inference_mode():
        x = iota(3)
    return x._version

def requires_grad_inference_mode():
    with torch.inference_mode():
        x = iota(3)
    return x.requires_grad_(True)

# grad
def grad():
    x = iota(3).requires_grad_(True)
    x.grad = 1.0
    return x

def dtype_float64():
    x = iota(3).requires_grad_(True)
    x.grad = iota(3, dtype=torch.float64)
    return x

def grad_2():
    x = iota(3).requires_grad_(True)
    x.grad = iota(4)
    return x

def empty_device():
    x = iota(3).requires_grad_(True)
    x.grad = torch.empty(3, device="meta")
    return x

[x := iota(3).requires_grad_(True), y := x * 2, with_warnings(lambda: y.grad), y.retain_grad(),
    with_warnings(lambda: y.grad), y.retains_grad, y.sum().backward(),
    with_warnings(lambda: y.grad)[0], with_warnings(lambda: x.grad)[0], x.retains_grad]

# data
[x := iota(3).requires_grad_(True), setattr(x, "data", iota(2, 2)), x, x.grad_fn, x._version,
    x.requires_grad, x.stride()]

def data_2():
    x = iota(3)
    x.data = 3
    return x

def data_int64():
    x = iota(3).requires_grad_(True)
    x.data = iota(3, dtype=torch.int64)
    return x

def data_3():
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
torch.empty(1, device="meta").item()
error_name(vmap(lambda x: torch.tensor(x.item())), iota(3))
float(iota(2))
complex(iota(0))
bool(iota(2))
bool(iota(0))
float(torch.tensor([1j]))
error_name(int, torch.tensor(math.nan))
error_name(int, torch.tensor(math.inf))
[error_name(f, torch.empty(1, device="meta")) for f in (int, float, complex, bool)]
[error_name(vmap(lambda x, f=f: torch.tensor(float(f(x)))), iota(3))
    for f in (int, float, complex, bool, len)]
"abc"[iota(2, dtype=torch.int64)]
[error_name("abc".__getitem__, x) for x in (torch.tensor(1.0), iota(2, dtype=torch.int64),
    iota(0, dtype=torch.int64), torch.tensor(1j), torch.tensor([1.0]))]
error_name(vmap(lambda x: torch.tensor(x.tolist())), iota(3))
len(iota(3, 2))
len(iota(0))
list(map(float, iota(3)))
[x.shape == (2,) for x in iota(3, 2)]
list(iota(0))
[float(x) for x in reversed(iota(3))]
reversed(iota(2, 2))
reversed(torch.tensor(1.0))
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

def iota_2():
    x = iota(3)
    del x[0]
    return x

def note_setattr():
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

# Tensor(...)
torch.Tensor(2, 2.5)
torch.Tensor(2, 2**70)
torch.Tensor("a")
with differs("A tensor has at most 64 dimensions here."):
    torch.Tensor(*[1] * 65)

# Buffers
with differs("Tensors of torch give no buffer."):
    [memoryview(torch.empty(1, dtype=d)).format
        for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
        torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128)]
    memoryview(iota(2).bfloat16())
    memoryview(torch.empty(2, device="meta"))
    memoryview(complex_sines(2).conj())
    memoryview(complex_sines(2).conj().imag)
    memoryview(iota(2).requires_grad_(True))
    error_name(vmap(lambda x: torch.tensor(len(memoryview(x)))), iota(2, 2))
    np.frombuffer(iota(2).bfloat16(), dtype="u2").tolist()

@differs("Tensors of torch give no buffer.")
def hexdigest_hashlib():
    import hashlib
    return hashlib.md5(iota(1, 3).t()).hexdigest() == hashlib.md5(iota(3)).hexdigest()

@differs("Tensors of torch give no buffer.")
def readinto_bytes_io():
    x = torch.tensor([1, 2, 3, 4], dtype=torch.uint8)
    n = __import__("io").BytesIO(b"abcdef").readinto(x)
    return [x, n]

# the collector
@differs("a tensor without attributes holds nothing")
def is_tracked():
    import gc
    return [gc.is_tracked(iota(2)), gc.is_tracked(iota(2)[1:]), gc.is_tracked(iota(2) + 1)]
