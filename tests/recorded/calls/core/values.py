"""Values: calls of tensors and arguments (`ext/core`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.func import vmap
from tests.recorded.inputs import complex_sines, differs, error_name, iota

# dtypes
[str(k)[-5:] for k in (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.uint8,
    torch.bool, torch.complex64)]
[k.itemsize for k in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)]
[k.is_floating_point for k in (torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16,
    torch.float64, torch.complex64, torch.complex128)]
[k.is_complex for k in (torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16,
    torch.float64, torch.complex64, torch.complex128)]
[k.is_signed for k in (torch.bool, torch.uint8, torch.int8, torch.int64, torch.float16,
    torch.bfloat16, torch.float64, torch.complex64, torch.complex128)]
torch.float32 == torch.float32
torch.float32 == torch.float64
torch.float32 != torch.float64
torch.float32 == 3
torch.float32 == "x"
torch.float32 != None
hash(torch.float32) == hash(torch.float32)
len({torch.float32, torch.float64, torch.float32, torch.int64})
[str(k.to_complex())[-4:] for k in (torch.float32, torch.float64, torch.complex64,
    torch.complex128)]
[str(k.to_real())[-4:] for k in (torch.float32, torch.float64, torch.complex64, torch.complex128,
    torch.float16)]
[str(torch.float16.to_complex())[-3:] == str(torch.complex64)[-3:]] and None

def complex128_pickle():
    import pickle
    return [pickle.loads(pickle.dumps(k)) is k for k in (torch.float32, torch.bfloat16, torch.bool,
        torch.complex128)]

def uint8_copy():
    import copy
    return [copy.deepcopy(torch.float32) is torch.float32, copy.copy(torch.uint8) is torch.uint8]

type(torch.float32)()

def kinds_index():
    kinds = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
        torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
        torch.complex128)
    return [[kinds.index(torch.promote_types(a, b))
        if (torch.float16 in (a, b)) + (torch.complex64 in (a, b)) < 2 else 0 for b in kinds]
        for a in kinds]

def kinds_can_cast():
    kinds = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
        torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
        torch.complex128)
    return [sum(torch.can_cast(a, b) for b in kinds) for a in kinds]

torch.can_cast(torch.float64, torch.int64)
torch.can_cast(torch.int64, torch.float64)
torch.can_cast(torch.int64, torch.bool)
torch.can_cast(torch.bool, torch.uint8)
torch.can_cast(torch.complex64, torch.float64)
torch.can_cast(torch.float64, torch.float16)
torch.can_cast(torch.int64, torch.uint8)
torch.promote_types(torch.float32, "x")
torch.promote_types(torch.float32, 3)
torch.can_cast("x", torch.float32)
torch.set_default_dtype(torch.int64)
torch.set_default_dtype("float64")
torch.set_default_dtype(torch.complex64)
torch.set_default_dtype(None)
str(torch.get_default_dtype())[-7:]
[torch.finfo(k).eps for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64, torch.complex128)]
[torch.finfo(k).bits for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64, torch.complex128)]
[torch.finfo(k).max for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64, torch.complex128)]
[torch.finfo(k).min for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64, torch.complex128)]
[torch.finfo(k).tiny for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64, torch.complex128)]
[torch.finfo(k).smallest_normal for k in (torch.float16, torch.bfloat16, torch.float32,
    torch.float64, torch.complex64, torch.complex128)]
[torch.finfo(k).resolution for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64, torch.complex128)]
[torch.finfo(k).dtype for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64, torch.complex128)]
torch.finfo().dtype
torch.finfo(torch.float32) == torch.finfo(torch.float32)
torch.finfo(torch.float32) == torch.finfo(torch.float64)
torch.finfo(torch.float32) == 3
torch.finfo(torch.float32) == torch.finfo(torch.complex64)
repr(torch.finfo(torch.float32))
repr(torch.finfo(torch.float64))
repr(torch.finfo(torch.float16))
torch.finfo(torch.int64)
torch.finfo(torch.bool)
torch.finfo("x")
[torch.iinfo(k).max for k in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)]
[torch.iinfo(k).min for k in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)]
[torch.iinfo(k).bits for k in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)]
[torch.iinfo(k).dtype for k in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)]
torch.iinfo(torch.int32) == torch.iinfo(torch.int32)
torch.iinfo(torch.int32) == torch.iinfo(torch.int64)
torch.iinfo(torch.int32) == 3
with differs("PyTorch rounds them"):
    repr(torch.iinfo(torch.int32))
repr(torch.iinfo(torch.uint8))
torch.iinfo(torch.float32)
torch.iinfo(torch.bool)
torch.iinfo()
with differs("Equal ones hash alike; torch's have no hash."):
    len({torch.iinfo(torch.int32), torch.iinfo(torch.int32), torch.iinfo(torch.int64)})
    len({torch.finfo(torch.float32), torch.finfo(torch.complex64), torch.finfo(torch.float64)})
torch.zeros(1, dtype=type)
torch.zeros(1, dtype=str)
torch.zeros(1, dtype=3)
with differs("Types of NumPy stand for dtypes everywhere."):
    torch.zeros(1, dtype=np.dtype("float64"))
torch.zeros(1, dtype=np.dtype("uint16"))
torch.zeros(1, dtype=np.str_)
torch.from_numpy(iota(2, dtype=torch.bfloat16).float().numpy().astype("float16"))

# devices
repr(torch.device("cpu"))
repr(torch.device("cuda:1"))
repr(torch.device("cuda", 1))
repr(torch.device("meta"))
str(torch.device("cuda:1"))
str(torch.device("cpu"))
torch.device("cpu").index
torch.device("cuda:3").index
torch.device("cuda:3").type
torch.device("cuda", index=2).index
torch.device("cuda:1", 2)
torch.device("cpu:x")
torch.device("cpu:")
torch.device("cuda:-1")
torch.device("nowhere")
torch.device(":1")
torch.device(3.5)
torch.device(None)
torch.device()
torch.device(torch.device("cuda:1")).index
torch.device("cpu") == torch.device("cpu")
torch.device("cpu") == "cpu"
torch.device("cuda:1") == torch.device("cuda:0")
torch.device("cuda") == torch.device("cuda:0")
torch.device("cpu") != torch.device("meta")
len({torch.device("cpu"), torch.device("cpu"), torch.device("meta"), torch.device("cuda:1")})
hash(torch.device("cuda", 1)) == hash(torch.device("cuda:1"))

def device_pickle():
    import pickle
    return [pickle.loads(pickle.dumps(torch.device(k))) == torch.device(k)
        for k in ("cpu", "cuda:1", "meta")]

torch.device(True)
str(torch.zeros(1, device=torch.device("meta")).device)
str(torch.zeros(1, device="meta:0").device)
str(torch.zeros(1, device="cpu:0").device) in ("cpu", "cpu:0")
with differs("an AssertionError says that a program is wrong"):
    error_name(lambda: torch.zeros(1, device="cuda"))
error_name(lambda: torch.zeros(1, device=0))
with differs("An AssertionError says that a program is wrong."):
    error_name(lambda: torch.zeros(1, device="cuda:1"))
torch.zeros(1, device=3.5)
repr(torch.strided)[-7:]
repr(torch.channels_last)[-13:]
[repr(k).rpartition(".")[2] for k in (torch.contiguous_format, torch.preserve_format,
    torch.channels_last_3d)]

def preserve_format_pickle():
    import pickle
    return [pickle.loads(pickle.dumps(k)) is k for k in (torch.channels_last,
        torch.preserve_format)]

type(torch.strided)()
type(torch.channels_last)()

# where tensors are made
def logspace_scalar_tensor():
    with torch.device("meta"):
        x = [torch.zeros(1), torch.ones(1), torch.full((1,), 1), torch.empty(1), torch.arange(2),
            torch.linspace(0, 1, 2), torch.logspace(0, 1, 2), torch.eye(2), torch.tensor([1]),
            torch.as_tensor([1]), torch.asarray([1]), torch.scalar_tensor(1), torch.rand(1),
            torch.randn(1), torch.randint(3, (1,)), torch.randperm(3),
            torch.empty_strided((1,), (1,)),]
    return [str(y.device) for y in x]

def device_new_tensor():
    y = iota(2)
    with torch.device("meta"):
        x = [torch.zeros_like(y), y.new_zeros(1), y.new_tensor([1.0]), torch.empty_like(y),
            y.clone(), torch.tensor(y), torch.as_tensor(y), torch.asarray(y),
            torch.from_numpy(np.arange(2)), torch.zeros(1, device="cpu")]
    return [str(z.device) for z in x]

def device_str():
    with torch.device("meta"):
        with torch.device("cpu"):
            a = torch.zeros(1)
        b = torch.zeros(1)
    return [str(x.device) for x in (a, b, torch.zeros(1))]

def device_str_2():
    d = torch.device("meta")
    with d:
        with d:
            a = torch.zeros(1)
        b = torch.zeros(1)
    return [str(x.device) for x in (a, b, torch.zeros(1))]

def value_error_device():
    try:
        with torch.device("meta"):
            raise ValueError
    except ValueError:
        pass
    return str(torch.zeros(1).device)

def set_default_device_get_default_device():
    torch.set_default_device("meta")
    a = torch.zeros(1)
    k = str(torch.get_default_device())
    with torch.device("cpu"):
        b = torch.zeros(1)
        n = str(torch.get_default_device())
    c = torch.zeros(1)
    torch.set_default_device(None)
    return [str(a.device), k, str(b.device), n, str(c.device), str(torch.zeros(1).device),
        str(torch.get_default_device())]

@differs("Torch leaves the device of the region behind.")
def set_default_device_str():
    with torch.device("meta"):
        torch.set_default_device("cpu")
        a = torch.zeros(1)
    torch.set_default_device(None)
    return str(torch.zeros(1).device)

error_name(torch.set_default_device, "nowhere")

# a block that was never entered is an error
error_name(torch.device("cpu").__exit__, None, None, None)

# copies of tensors
def data_ptr_copy():
    import copy
    return [copy.deepcopy(x := iota(2, 3).t()).stride(),
        copy.deepcopy(x).data_ptr() == x.data_ptr(), copy.copy(x).data_ptr() == x.data_ptr()]

def storage_offset_nbytes():
    import copy
    x = iota(6)
    y = x[2:4]
    a, b = copy.deepcopy([x, y])
    a[2] = 50
    return [b, y, b.storage_offset(), a.untyped_storage().nbytes()]

def is_leaf_data_ptr():
    import copy
    x = iota(2).requires_grad_()
    (x * 2).sum().backward()
    y = copy.deepcopy(x)
    return [y.grad, y.grad is x.grad, y.is_leaf, y.requires_grad,
        y.grad.data_ptr() == x.grad.data_ptr()]

def deepcopy_iota():
    import copy
    return copy.deepcopy(iota(2).requires_grad_() * 2)

def mark_copy():
    import copy
    x = iota(2)
    x.mark = [1]
    y = copy.deepcopy(x)
    z = copy.copy(x)
    return [y.mark, y.mark is x.mark, z.mark is x.mark]

def iota_deepcopy():
    import copy
    x = iota(2)
    a, b = copy.deepcopy([x, x])
    return a is b

@differs("A copy is as lazy as what it is a copy of.")
def deepcopy_is_conj():
    import copy
    x = complex_sines(2).conj()
    y = copy.deepcopy(x)
    return [y.is_conj(), y]

@differs("A copy is as lazy as what it is a copy of.")
def deepcopy_is_neg():
    import copy
    x = complex_sines(2).conj().imag
    y = copy.deepcopy(x)
    return [y.is_neg(), y]

def device_deepcopy():
    import copy
    return str(copy.deepcopy(torch.zeros(2, device="meta")).device)

def pickle_stride():
    import pickle
    x = pickle.loads(pickle.dumps(iota(2, 3).t()))
    return [x, x.stride()]

@differs("Pickles of torch don't share memory.")
def pickle_storage_offset():
    import pickle
    a, b = pickle.loads(pickle.dumps([x := iota(6), x[2:4]]))
    a[2] = 50
    return [b, b.storage_offset()]

def mark_is_leaf():
    import pickle
    x = iota(2).requires_grad_()
    x.mark = 3
    y = pickle.loads(pickle.dumps(x))
    return [y.is_leaf, y.requires_grad, y.mark]

def is_conj_pickle():
    import pickle
    return [(x := pickle.loads(pickle.dumps(complex_sines(2).conj()))).is_conj(), x]

def is_neg_pickle():
    import pickle
    return [(x := pickle.loads(pickle.dumps(complex_sines(2).conj().imag))).is_neg(), x]

def complex128_pickle_2():
    import pickle
    return [pickle.loads(pickle.dumps(iota(2, dtype=k))).dtype == k
        for k in (torch.bool, torch.uint8, torch.float16, torch.bfloat16, torch.complex128)]

def pickle_protocol():
    import pickle
    return [pickle.loads(pickle.dumps(iota(3, dtype=torch.float64), protocol=k))
        for k in (2, 3, 4, 5)]

def pickle_protocol_2():
    import pickle
    return [pickle.loads(pickle.dumps(torch.zeros(2, 3, device="meta").t(), protocol=k)).stride()
        for k in (2, 4, 5)]

def loads_pickle():
    import pickle
    return [pickle.loads(pickle.dumps(iota(0, 3))).shape, pickle.loads(pickle.dumps(iota())).dim(),
        pickle.loads(pickle.dumps(iota(3).expand(2, 3))).stride()]

def mine_dumps():
    import pickle
    class Mine(torch.Tensor):
        pass
    return error_name(pickle.dumps, Mine([1.0])) and None

@differs("Torch wants new_empty() of a subclass.")
def mine_mark():
    import copy
    class Mine(torch.Tensor):
        pass
    x = torch.ones(2).as_subclass(Mine)
    x.mark = 5
    y = copy.deepcopy(x)
    return [type(y).__name__, y.mark]

@differs("The words say what to do.")
def vmap_deepcopy():
    import copy
    return vmap(lambda x: x + copy.deepcopy(x))(iota(2, 3)) * 0

def parameter_data_ptr():
    import copy
    x = nn.Parameter(iota(2))
    y = copy.deepcopy(x)
    return [type(y).__name__, y.requires_grad, y.data_ptr() == x.data_ptr()]

@differs("This package alone has it.")
def tensor_untyped_storage():
    from autograd_cy._C.copying import _rebuild_tensor as r
    return r(torch.Tensor, iota(6).untyped_storage(), torch.float32, 1, (2,), (2,), False)

@differs("This package alone has it.")
def requires_grad_untyped_storage():
    from autograd_cy._C.copying import _rebuild_tensor as r
    return [r(torch.Tensor, iota(6).untyped_storage(), torch.float32, 0, (6,), (1,),
        True).requires_grad, r(torch.Tensor, iota(6).untyped_storage(), torch.float32, 6, (0,),
        (1,), False), r(torch.Tensor, iota(6).untyped_storage(), torch.float32, 0, (2, 3), (3, 1),
        False), r(torch.Tensor, iota(6).untyped_storage(), torch.float32, 5, (), (), False),]

@differs("This package alone has it.")
def tensor_untyped_storage_2():
    from autograd_cy._C.copying import _rebuild_tensor as r
    return [error_name(r, torch.Tensor, iota(6).untyped_storage(), torch.float32, *k, False)
        for k in ((0, (7,), (1,)), (1, (6,), (1,)), (0, (4,), (2,)), (-1, (1,), (1,)),
        (0, (-1,), (1,)), (0, (1,), (-1,)), (0, (2, 2), (1,)), (0, [1] * 65, [1] * 65),
        (7, (0,), (1,)), (6, (), ()), (0, (1 << 62, 4), (4, 1)), (0, (3, 3), (2, 1)),
        (0, (2, 2), (4, 1)), (0, (2, 2), (4, 2)), (0, [1] * 64, [1] * 64))]

@differs("This package alone has it.")
def tensor_untyped_storage_3():
    from autograd_cy._C.copying import _rebuild_tensor as r
    return r(torch.Tensor, iota(6).untyped_storage(), torch.int64, 0, (3,), (1,), True)

@differs("This package alone has it.")
def tensor_int64():
    from autograd_cy._C.copying import _rebuild_tensor as r
    return r(torch.Tensor, None, torch.int64, 0, (3,), (1,), False)

@differs("This package alone has it.")
def nbytes_bytearray():
    from autograd_cy._C.copying import _storage_from_bytes as s  # noqa: F401
    from autograd_cy._C.copying import _storage_on_meta as n
    return [s(bytes(range(4))).tolist(), (b := bytearray(range(64)), s(b).nbytes())[1],
        s(memoryview(bytearray(range(64)))[1:9]).tolist(), n(5).nbytes(), n(0).nbytes(),
        str(n(5).device)]

@differs("This package alone has it.")
def program():
    from autograd_cy._C.copying import _storage_from_bytes as s  # noqa: F401
    from autograd_cy._C.copying import _storage_on_meta as n
    return n(-1)

@differs("This package alone has it.")
def data_ptr_ctypes():
    from autograd_cy._C.copying import _storage_from_bytes as s  # noqa: F401
    a = np.zeros(64, dtype=np.uint8)
    b = a[-a.ctypes.data % 16 :]
    return [s(b[:16]).data_ptr() == b.ctypes.data, s(b[8:24]).data_ptr() == b[8:].ctypes.data,
        s(b[16:24]).data_ptr() == b[16:].ctypes.data]
