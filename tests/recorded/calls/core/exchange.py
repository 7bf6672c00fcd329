"""Exchange: calls of tensors and arguments (`ext/core`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import complex_sines, differs, error_name, iota, metadata

# from NumPy
torch.from_numpy(np.array([True, False]))
torch.from_numpy(np.arange(3, dtype=">f8"))
torch.from_numpy(np.array(["a"]))
torch.from_numpy(np.array([None]))
torch.from_numpy(np.zeros(2, dtype=[("a", "u1"), ("b", "<i4")])["b"])
torch.from_numpy([1])
torch.from_numpy(3)
metadata(torch.from_numpy(np.arange(3.0)))

# to NumPy
iota(2).requires_grad_().numpy(force=True).tolist()
complex_sines(2).conj().imag.numpy(force=True).tolist()
error_name(lambda: torch.zeros(2, device="meta").numpy(force=True))
vmap(lambda x: x + x.numpy().sum())(iota(2, 3))
iota(2).numpy(3)
np.array(iota(2)).tolist()
with differs("Torch's has no copy=, which NumPy asks for."):
    [x := iota(2), x.__array__(np.float64, copy=True).dtype.name]
np.asarray(complex_sines(2).conj())
np.asarray(torch.zeros(2, device="meta"))
np.sin(iota(2))
np.add(iota(2), iota(2))
type(np.isnan(iota(2))).__name__
np.arange(2) + iota(2)

# through DLPack
torch.from_dlpack(np.arange(6.0)[::2]).untyped_storage().nbytes()
with differs("PyTorch ends the process"):
    torch.from_dlpack(np.arange(3.0)[::-1])
torch.from_dlpack(np.arange(3, dtype=np.uint16))
torch.from_dlpack(np.arange(3, dtype=np.longdouble))

# errors as of NumPy's from_dlpack
torch.from_dlpack([1])
torch.from_dlpack(iota(3, dtype=torch.bfloat16))
torch.from_dlpack(iota(3, dtype=torch.bool))
[x := iota(3), y := torch.from_dlpack(x, copy=True), y.add_(1), x]
with differs("Only the shape is taken, which torch refuses."):
    str(torch.from_dlpack(iota(3), device="meta").device)
torch.from_dlpack(iota(3).requires_grad_())
with differs("A BufferError, as of all that can't be exported."):
    torch.from_dlpack(torch.zeros(3, device="meta"))
torch.from_dlpack(complex_sines(2).conj())
with differs("PyTorch forgets the sign"):
    torch.from_dlpack(complex_sines(2).conj().imag)
metadata(torch.from_dlpack(iota(3)))
error_name(np.from_dlpack, iota(3, dtype=torch.bfloat16)) in ("RuntimeError", "BufferError")
error_name(np.from_dlpack, complex_sines(2).conj())
type(iota(2).__dlpack__()).__name__
str(iota(2).__dlpack__(max_version=(1, 0)))[:36]
str(iota(2).__dlpack__(max_version=(1, 1)))[:36]
error_name(lambda: complex_sines(2).conj().__dlpack__())
with differs("A copy has no such bit."):
    torch.from_dlpack(complex_sines(2).conj().__dlpack__(copy=True))
with differs("Torch looks at the kind of the device, not at its number."):
    iota(2).__dlpack__(dl_device=(1, 1))

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

def from_dlpack_torch():
    class Wrong:
        def __dlpack__(self, **options):
            return 3
        def __dlpack_device__(self):
            return (1, 0)
    return torch.from_dlpack(Wrong())

# what holds memory
with differs("This package alone has it."):
    [x := iota(3), y := torch.from_dlpack(x), __import__(
        "autograd_cy._C.exchange")._C.exchange._memory_users(x)]
    [__import__("autograd_cy._C.exchange")._C.exchange._memory_owner(iota(2))]

# storages
iota(4).untyped_storage().element_size()
str(iota(4).untyped_storage().device)
[x := iota(4), hash(x.untyped_storage()) == hash(x[1:].untyped_storage())]
error_name(lambda: iota(4).untyped_storage() < iota(4).untyped_storage())
iota(2, dtype=torch.int32).untyped_storage()[0]
iota(2, dtype=torch.int32).untyped_storage()[4]
iota(2, dtype=torch.int32).untyped_storage()[7]
iota(2, dtype=torch.int32).untyped_storage()[-9]
torch.zeros(3, device="meta").untyped_storage().tolist()
torch.zeros(3, device="meta").untyped_storage()[0]
bytes(torch.zeros(3, device="meta").untyped_storage())
with differs("Storages name this package."):
    type(iota(2).untyped_storage())()
with differs("The words say what to do."):
    vmap(lambda x: x + len(x.untyped_storage()))(iota(2, 3))

# nothing was allocated
[x.untyped_storage().data_ptr() for x in (torch.empty(0), torch.tensor([]), torch.empty(0, 3),
    torch.ones(0).clone())]
