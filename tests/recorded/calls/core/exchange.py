"""Exchange: calls of tensors and arguments (`ext/core`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import complex_sines, differs, error_name, iota, metadata

# from NumPy
torch.from_numpy(np.arange(3))
torch.from_numpy(np.arange(6.0).reshape(2, 3).T).stride()
torch.from_numpy(np.arange(6.0)[::2])
torch.from_numpy(np.arange(6.0)[1::2]).storage_offset()
torch.from_numpy(np.arange(6.0)[::-1])
with differs("the strides of one element, and of none, are nobody's concern"):
    torch.from_numpy(np.arange(6.0)[:1][::-1])
    torch.from_numpy(np.arange(6.0).reshape(2, 3)[:1, ::-1][:, :1])
    torch.from_numpy(np.zeros((0, 3))[::-1]).stride()
torch.from_numpy(np.zeros((2, 0))[::-1]).shape
with differs("The strides of what is empty are nobody's concern."):
    torch.from_numpy(np.zeros((2, 0))).stride()
torch.from_numpy(np.zeros((0, 2))).untyped_storage().nbytes()
torch.from_numpy(np.arange(6.0)[::2]).untyped_storage().nbytes()
torch.from_numpy(np.arange(6.0).reshape(2, 3)[:, 1:]).untyped_storage().nbytes()
torch.from_numpy(np.arange(6.0).reshape(3, 2).T).untyped_storage().nbytes()
torch.from_numpy(np.broadcast_to(np.arange(3.0), (2, 3)).copy()).stride()
torch.from_numpy(np.array(2.5))
torch.from_numpy(np.array([True, False]))
torch.from_numpy(np.array([1j], dtype=np.complex64))
torch.from_numpy(np.arange(3, dtype=np.float16))
torch.from_numpy(np.arange(3, dtype=np.int8))
torch.from_numpy(np.arange(3, dtype=np.int16))
torch.from_numpy(np.arange(3, dtype=np.uint8))
torch.from_numpy(np.arange(3, dtype=">f8"))
torch.from_numpy(np.array(["a"]))
torch.from_numpy(np.array([None]))
torch.from_numpy(np.zeros(2, dtype=[("a", "u1"), ("b", "<i4")])["b"])
with differs("The stride of a single element is nobody's concern."):
    torch.from_numpy(np.zeros(2, dtype=[("a", "u1"), ("b", "<i4")])["b"][:1]).shape
torch.from_numpy([1])
torch.from_numpy(3)
torch.from_numpy(iota(2))
torch.from_numpy(np.float64(3))
torch.from_numpy(np.frombuffer(bytes(range(9)), dtype=np.uint8)[1:].view("<i4"))
torch.from_numpy(np.zeros(1)).reshape([1] * 64).dim()
[x := np.arange(3.0), y := torch.from_numpy(x), y.add_(1), x[0]]
metadata(torch.from_numpy(np.arange(3.0)))

@differs("Torch doesn't know which memory is read-only.")
def writeable_from_numpy():
    a = np.arange(3.0)
    a.flags.writeable = False
    return torch.from_numpy(a).add_(1)

@differs("Torch can't be asked.")
def is_readonly_untyped_storage():
    a = np.arange(3.0)
    a.flags.writeable = False
    return torch.from_numpy(a).untyped_storage().is_readonly(), iota(
        2).untyped_storage().is_readonly()

def is_inference_from_numpy():
    with torch.inference_mode():
        x = torch.from_numpy(np.arange(3.0))
    return x.is_inference()

def is_inference_from_dlpack():
    with torch.inference_mode():
        x = torch.from_dlpack(np.arange(3.0))
    return x.is_inference()

# to NumPy
iota(2, 3).numpy().tolist()
iota(2, 3).t().numpy().strides
iota(2, 3)[1:].numpy().tolist()
iota(2, 3).numpy().dtype.name
iota().numpy().ndim
iota(0, 3).numpy().shape
[x := iota(3), y := x.numpy(), y.__setitem__(0, 5), x]
iota(2).requires_grad_().numpy()
iota(2).requires_grad_().numpy(force=True).tolist()
iota(2).requires_grad_().detach().numpy().tolist()
(iota(2).requires_grad_() * 2).numpy()

def no_grad_numpy():
    with torch.no_grad():
        found = error_name(iota(2).requires_grad_().numpy)
    return found

complex_sines(2).conj().numpy()
complex_sines(2).conj().numpy(force=True).tolist()
complex_sines(2).conj().imag.numpy()
complex_sines(2).conj().imag.numpy(force=True).tolist()
complex_sines(2).conj().resolve_conj().numpy().tolist()
torch.zeros(2, device="meta").numpy()
error_name(lambda: torch.zeros(2, device="meta").numpy(force=True))
vmap(lambda x: x + x.numpy().sum())(iota(2, 3))
iota(2).numpy(3)
iota(2).numpy(force=1).tolist()
np.asarray(iota(2)).tolist()
np.asarray(iota(2), dtype=np.float64).dtype.name
np.asarray(iota(2), dtype=np.float32).dtype.name
np.array(iota(2)).tolist()
[x := iota(2), np.asarray(x).__setitem__(0, 5), x]
[x := iota(2), np.array(x).__setitem__(0, 5), x]
[x := iota(2), np.asarray(x, dtype=np.float32).__setitem__(0, 5), x]
[x := iota(2), np.asarray(x, dtype=np.float64).__setitem__(0, 5), x]
[x := iota(2), np.array(x, copy=True).__setitem__(0, 5), x]
[x := iota(2), x.__array__().__setitem__(0, 5), x]
with differs("Torch's has no copy=, which NumPy asks for."):
    iota(2).__array__(np.float64, copy=False)
    iota(2).__array__(np.float32, copy=False).tolist()
    [x := iota(2), x.__array__(copy=True).__setitem__(0, 5), x]
    [x := iota(2), x.__array__(np.float64, copy=True).dtype.name]
    [x := iota(2), x.__array__(copy=False).__setitem__(0, 5), x]
np.asarray(iota(2).requires_grad_())
np.asarray(complex_sines(2).conj())
np.asarray(torch.zeros(2, device="meta"))
np.sin(iota(2))
np.add(iota(2), iota(2))
np.multiply.outer(iota(2), iota(2)).shape
type(np.sin(iota(2))).__name__
type(np.isnan(iota(2))).__name__
type(np.float64(2) * iota(2)).__name__
type(np.arange(2) + iota(2)).__name__
np.float32(2) * iota(2)
np.arange(2) + iota(2)

# through DLPack
torch.from_dlpack(np.arange(3))
torch.from_dlpack(np.arange(3.0))
torch.from_dlpack(np.arange(6.0).reshape(2, 3).T).stride()
torch.from_dlpack(np.arange(6.0)[::2])
torch.from_dlpack(np.arange(6.0)[1:]).storage_offset()
torch.from_dlpack(np.arange(6.0)[::2]).untyped_storage().nbytes()
torch.from_dlpack(np.arange(6.0).reshape(2, 3)[:, 1:]).untyped_storage().nbytes()
torch.from_dlpack(np.array(2.5))
torch.from_dlpack(np.zeros((0, 3))).shape
with differs("The strides of what is empty are nobody's concern."):
    torch.from_dlpack(np.zeros((2, 0))).stride()
with differs("PyTorch ends the process"):
    torch.from_dlpack(np.arange(3.0)[::-1])
torch.from_dlpack(np.array([True, False]))
torch.from_dlpack(np.arange(3, dtype=np.int8))
torch.from_dlpack(np.arange(3, dtype=np.int16))
torch.from_dlpack(np.arange(3, dtype=np.int32))
torch.from_dlpack(np.arange(3, dtype=np.uint8))
torch.from_dlpack(np.arange(3, dtype=np.float16))
torch.from_dlpack(np.arange(3, dtype=np.float32))
torch.from_dlpack(np.array([1j, 2]))
torch.from_dlpack(np.array([1j, 2], dtype=np.complex64))
torch.from_dlpack(np.arange(3, dtype=np.int64))
error_name(torch.from_dlpack, np.array(["a"]))
error_name(torch.from_dlpack, np.array([1 + 2j], dtype=np.complex256))
with differs("There are no uint16 and uint32 here."):
    torch.from_dlpack(np.arange(3, dtype=np.uint16))
    torch.from_dlpack(np.arange(3, dtype=np.uint32))
torch.from_dlpack(np.arange(3, dtype=np.longdouble))

# errors as of NumPy's from_dlpack
torch.from_dlpack(3)
torch.from_dlpack([1])
torch.from_dlpack(iota(3))
torch.from_dlpack(iota(2, 3).t()).stride()
torch.from_dlpack(iota(3, dtype=torch.bfloat16))
torch.from_dlpack(iota(3, dtype=torch.float16))
torch.from_dlpack(iota(3, dtype=torch.bool))
torch.from_dlpack(iota(3, dtype=torch.uint8))
torch.from_dlpack(iota(3, dtype=torch.int8))
torch.from_dlpack(iota(3, dtype=torch.int16))
torch.from_dlpack(iota(3, dtype=torch.int32))
torch.from_dlpack(iota(3, dtype=torch.int64))
torch.from_dlpack(iota(3, dtype=torch.float64))
torch.from_dlpack(complex_sines(2))
torch.from_dlpack(complex_sines(2, dtype=torch.complex64))
torch.from_dlpack(iota())
torch.from_dlpack(iota(0, 2)).shape
torch.from_dlpack(iota(3)[1:])
[x := iota(3), y := torch.from_dlpack(x), y.add_(1), x]
[x := np.arange(3.0), y := torch.from_dlpack(x), y.add_(1), x[0]]
[x := np.arange(3.0), y := torch.from_dlpack(x, copy=True), y.add_(1), x[0]]
[x := np.arange(3.0), y := torch.from_dlpack(x, copy=False), y.add_(1), x[0]]
[x := iota(3), y := torch.from_dlpack(x, copy=True), y.add_(1), x]
torch.from_dlpack(iota(3), device="cpu")
with differs("Only the shape is taken, which torch refuses."):
    str(torch.from_dlpack(iota(3), device="meta").device)
torch.from_dlpack(iota(3).requires_grad_())
with differs("A BufferError, as of all that can't be exported."):
    torch.from_dlpack(torch.zeros(3, device="meta"))
torch.from_dlpack(complex_sines(2).conj())
with differs("PyTorch forgets the sign"):
    torch.from_dlpack(complex_sines(2).conj().imag)
metadata(torch.from_dlpack(iota(3)))
np.from_dlpack(iota(2, 3).t()).strides
np.from_dlpack(iota(2, 3)[1:]).tolist()
np.from_dlpack(iota(3, dtype=torch.uint8)).dtype.name
np.from_dlpack(iota(3, dtype=torch.int8)).dtype.name
np.from_dlpack(iota(3, dtype=torch.bool)).dtype.name
np.from_dlpack(complex_sines(3)).dtype.name
np.from_dlpack(iota(3, dtype=torch.float16)).dtype.name
error_name(np.from_dlpack, iota(3, dtype=torch.bfloat16)) in ("RuntimeError", "BufferError")
error_name(np.from_dlpack, iota(3).requires_grad_())
error_name(np.from_dlpack, complex_sines(2).conj())
type(iota(2).__dlpack__()).__name__
str(iota(2).__dlpack__())[:26]
str(iota(2).__dlpack__(max_version=(1, 0)))[:36]
str(iota(2).__dlpack__(max_version=(1, 1)))[:36]
str(iota(2).__dlpack__(max_version=(2, 0)))[:36]
str(iota(2).__dlpack__(max_version=(0, 8)))[:26]
torch.from_dlpack(iota(2).__dlpack__())
torch.from_dlpack(iota(2).__dlpack__(max_version=(1, 0)))
torch.from_dlpack(iota(2, 3).t().__dlpack__(max_version=(1, 0))).stride()
[x := iota(2), y := torch.from_dlpack(x.__dlpack__()), y.add_(1), x]
with differs("A capsule may be copied, too."):
    [x := iota(2), y := torch.from_dlpack(x.__dlpack__(), copy=True), y.add_(1), x]
[x := iota(2), y := torch.from_dlpack(x.__dlpack__(max_version=(1, 0), copy=True)), y.add_(1), x]
[x := iota(2), y := torch.from_dlpack(x.__dlpack__(copy=True)), y.add_(1), x]
(x := iota(2).__dlpack__(), torch.from_dlpack(x), error_name(torch.from_dlpack, x))[1:]
(x := iota(2).__dlpack__(max_version=(1, 0)), torch.from_dlpack(x),
    error_name(torch.from_dlpack, x))[1:]
(x := iota(2).__dlpack__(), torch.from_dlpack(x), str(x)[:31])[1:]
(x := iota(2).__dlpack__(max_version=(1, 0)), torch.from_dlpack(x), str(x)[:41])[1:]
iota(2).__dlpack_device__()[1]
int(iota(2).__dlpack_device__()[0])
with differs("A BufferError, as of all that can't be exported."):
    error_name(torch.zeros(2, device="meta").__dlpack_device__)
error_name(torch.zeros(2, device="meta").__dlpack__)
error_name(lambda: iota(2).requires_grad_().__dlpack__())
error_name(lambda: complex_sines(2).conj().__dlpack__())
with differs("A copy has no such bit."):
    torch.from_dlpack(complex_sines(2).conj().__dlpack__(copy=True))
error_name(lambda: iota(2).__dlpack__(stream=-1))
with differs("An AssertionError says that a program is wrong."):
    iota(2).__dlpack__(stream=1)
with differs("A BufferError, as of all that can't be exported."):
    iota(2).__dlpack__(dl_device=(4, 0))
with differs("Torch looks at the kind of the device, not at its number."):
    iota(2).__dlpack__(dl_device=(1, 1))
torch.from_dlpack(iota(2).__dlpack__(dl_device=(1, 0)))

@differs("Torch doesn't know which memory is read-only.")
def dlpack_from_numpy():
    a = np.arange(3.0)
    a.flags.writeable = False
    return torch.from_numpy(a).__dlpack__()

@differs("Torch doesn't know which memory is read-only.")
def max_version_from_numpy():
    a = np.arange(3.0)
    a.flags.writeable = False
    return torch.from_dlpack(torch.from_numpy(a).__dlpack__(max_version=(1, 0))).add_(1)

def max_version_from_numpy_2():
    a = np.arange(3.0)
    a.flags.writeable = False
    return torch.from_dlpack(torch.from_numpy(a).__dlpack__(max_version=(1, 0), copy=True)).add_(1)

@differs("Torch doesn't know which memory is read-only.")
def writeable_from_dlpack():
    a = np.arange(3.0)
    a.flags.writeable = False
    return torch.from_dlpack(a).add_(1)

def old_dlpack():
    class Old:
        def __dlpack__(self):
            return iota(2).__dlpack__()
        def __dlpack_device__(self):
            return (1, 0)
    return torch.from_dlpack(Old())

class Old:
    def __init__(self):
        self.x = iota(2)
    def __dlpack__(self):
        return self.x.__dlpack__()
    def __dlpack_device__(self):
        return (1, 0)

(o := Old(), torch.from_dlpack(o, copy=True).add_(1), o.x)[1:]
(o := Old(), torch.from_dlpack(o).add_(1), o.x)[1:]

@differs("A BufferError, as of all that can't be read.")
def dlpack_options():
    class Far:
        def __dlpack__(self, **options):
            return iota(2).__dlpack__(**options)
        def __dlpack_device__(self):
            return (4, 0)
    return torch.from_dlpack(Far())

def host_dlpack():
    class Host:
        def __dlpack__(self, **options):
            return iota(2).__dlpack__(**options)
        def __dlpack_device__(self):
            return (3, 0)
    return torch.from_dlpack(Host())

def copying_asked():
    class Copying:
        def __init__(self):
            self.x, self.asked = iota(2), []
        def __dlpack__(self, **options):
            self.asked.append(sorted(options))
            return self.x.__dlpack__(**options)
        def __dlpack_device__(self):
            return (1, 0)
    return (o := Copying(), torch.from_dlpack(o, copy=True).add_(1), o.x, torch.from_dlpack(o),
        torch.from_dlpack(o, copy=False), o.asked)[1:]

def wrong_from_dlpack():
    class Wrong:
        def __dlpack__(self, **options):
            return 3
        def __dlpack_device__(self):
            return (1, 0)
    return torch.from_dlpack(Wrong())

# what holds memory
def numpy_tolist():
    import weakref
    x = iota(3)
    a = x.numpy()
    r = weakref.ref(x)
    del x
    return [r() is None, a.tolist()]

def weakref_exec():
    import weakref
    a = np.arange(3.0)
    x = torch.from_numpy(a)
    r = weakref.ref(a)
    del a
    return [r() is None, x, exec("del x"), r() is None]

def weakref_exec_2():
    import weakref
    a = np.arange(3.0)
    x = torch.from_dlpack(a)
    r = weakref.ref(a)
    del a
    return [r() is None, x, exec("del x"), r() is None]

def getrefcount_from_numpy():
    import sys
    a = np.arange(3.0)
    n = sys.getrefcount(a)
    for k in range(5):
        torch.from_numpy(a), torch.from_dlpack(a), error_name(torch.from_numpy, a[::-1])
    return sys.getrefcount(a) - n

def getrefcount_frombuffer():
    import sys
    a = bytearray(8)
    n = sys.getrefcount(a)
    for k in range(5):
        torch.frombuffer(a, dtype=torch.float32), error_name(lambda: torch.frombuffer(a,
            dtype=torch.float32, offset=9))
    return sys.getrefcount(a) - n

with differs("This package alone has it."):
    [x := iota(3), [x.__dlpack__() for _ in range(5)] and None,
        __import__("autograd_cy._C.exchange")._C.exchange._memory_users(x)]
    [x := iota(3), [x.__dlpack__(max_version=(1, 0)) for _ in range(5)] and None,
        __import__("autograd_cy._C.exchange")._C.exchange._memory_users(x)]
    [x := iota(3), [torch.from_dlpack(x) for _ in range(5)] and None,
        __import__("autograd_cy._C.exchange")._C.exchange._memory_users(x)]
    [x := iota(3), y := torch.from_dlpack(x), __import__(
        "autograd_cy._C.exchange")._C.exchange._memory_users(x)]
    (x := iota(3), y := x.numpy(), z := x.untyped_storage(),
        __import__("autograd_cy._C.exchange")._C.exchange._memory_users(x))[3:]
    [a := np.arange(3.0), x := torch.from_numpy(a),
        __import__("autograd_cy._C.exchange")._C.exchange._memory_owner(x) is a]
    [__import__("autograd_cy._C.exchange")._C.exchange._memory_owner(iota(2))]

# storages
iota(4).untyped_storage().nbytes()
iota(4).untyped_storage().size()
len(iota(4).untyped_storage())
iota(4).untyped_storage().element_size()
str(iota(4).untyped_storage().device)
[x := iota(4), x.untyped_storage().data_ptr() == x.data_ptr(),
    x[1:].untyped_storage().data_ptr() == x.data_ptr()]
with differs("All tensors of a memory have one storage."):
    [x := iota(4), s := x.untyped_storage(), x[1:].untyped_storage() is s,
        x.detach().untyped_storage() is s, x.clone().untyped_storage() is s]
[x := iota(4), x.data.untyped_storage() == x.untyped_storage(),
    x.clone().untyped_storage() == x.untyped_storage()]
(s := iota(4).untyped_storage(), s == s, s != s, s == 3, s != 3)[1:]
with differs("All tensors of a memory have one storage, and others differ."):
    [x := iota(4), s := x.untyped_storage(), s == iota(4).untyped_storage(),
        s != iota(4).untyped_storage()]

def device_untyped_storage():
    x, y = torch.zeros(4, device="meta"), torch.zeros(4, device="meta")
    return [x.untyped_storage() == y.untyped_storage(),
        x[1:].untyped_storage() == x.untyped_storage()]

[x := iota(4), hash(x.untyped_storage()) == hash(x[1:].untyped_storage())]
error_name(lambda: iota(4).untyped_storage() < iota(4).untyped_storage())
iota(2, dtype=torch.int32).untyped_storage().tolist()
iota(2, dtype=torch.int32).untyped_storage()[0]
iota(2, dtype=torch.int32).untyped_storage()[4]
iota(2, dtype=torch.int32).untyped_storage()[-4]
iota(2, dtype=torch.int32).untyped_storage()[7]
iota(2, dtype=torch.int32).untyped_storage()[8]
iota(2, dtype=torch.int32).untyped_storage()[-8]
iota(2, dtype=torch.int32).untyped_storage()[-9]
(x := iota(2, dtype=torch.int32), s := x.untyped_storage().clone(), x.add_(1), s.tolist(),
    x.untyped_storage().tolist())[3:]
with differs("Storages don't show their bytes."):
    iota(4).untyped_storage()
    repr(torch.zeros(3, device="meta").untyped_storage())
torch.zeros(3, device="meta").untyped_storage().nbytes()
str(torch.zeros(3, device="meta").untyped_storage().device)
torch.zeros(3, device="meta").untyped_storage().tolist()
torch.zeros(3, device="meta").untyped_storage()[0]
torch.zeros(3, device="meta").untyped_storage().clone().nbytes()
bytes(torch.zeros(3, device="meta").untyped_storage())
bytes(iota(2, dtype=torch.int32).untyped_storage())
with differs("Torch's storages give no memory to others."):
    memoryview(iota(2, dtype=torch.int32).untyped_storage()).readonly

@differs("Torch's storages give no memory to others.")
def readonly_memoryview():
    a = np.arange(2, dtype=np.int32)
    a.flags.writeable = False
    return memoryview(torch.from_numpy(a).untyped_storage()).readonly

def data_ptr_deepcopy():
    import copy
    return [s := iota(2, dtype=torch.int32).untyped_storage(), copy.deepcopy(s).tolist(),
        copy.deepcopy(s).data_ptr() == s.data_ptr()] and None

@differs("Storages don't show their bytes.")
def untyped_storage_copy():
    import copy
    return [s := iota(2, dtype=torch.int32).untyped_storage(), copy.copy(s) is s,
        copy.deepcopy(s) is s, copy.deepcopy([s, s])[0] is s]

with differs("Torch makes empty ones."):
    type(iota(2).untyped_storage())()
with differs("The words say what to do."):
    vmap(lambda x: x + len(x.untyped_storage()))(iota(2, 3))

# nothing was allocated
[x.untyped_storage().data_ptr() for x in (torch.empty(0), torch.tensor([]), torch.empty(0, 3),
    torch.ones(0).clone())]
[x.untyped_storage().data_ptr() != 0 for x in (torch.ones(3)[:0], torch.from_numpy(np.empty(0)))]
