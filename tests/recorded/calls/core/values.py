"""Values: calls of tensors and arguments (`ext/core`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import differs, error_name, iota

# dtypes
[k.itemsize for k in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)]
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
type(torch.float32)()

def int16_can_cast():
    kinds = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
        torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
        torch.complex128)
    return [sum(torch.can_cast(a, b) for b in kinds) for a in kinds]

torch.promote_types(torch.float32, "x")
torch.can_cast("x", torch.float32)
torch.set_default_dtype("float64")
torch.set_default_dtype(torch.complex64)
torch.set_default_dtype(None)
torch.finfo(torch.float32) == torch.finfo(torch.float32)
torch.finfo(torch.float32) == torch.finfo(torch.float64)
torch.finfo(torch.float32) == 3
torch.finfo(torch.float32) == torch.finfo(torch.complex64)
torch.finfo(torch.bool)
torch.finfo("x")
torch.iinfo(torch.int32) == torch.iinfo(torch.int32)
torch.iinfo(torch.int32) == torch.iinfo(torch.int64)
torch.iinfo(torch.int32) == 3
torch.iinfo()
with differs("Equal ones hash alike; torch's have no hash."):
    len({torch.iinfo(torch.int32), torch.iinfo(torch.int32), torch.iinfo(torch.int64)})
    len({torch.finfo(torch.float32), torch.finfo(torch.complex64), torch.finfo(torch.float64)})
torch.zeros(1, dtype=str)
with differs("A dtype of NumPy is taken for that of the same name."):
    torch.zeros(1, dtype=np.dtype("uint16"))

# devices
torch.device("nowhere")
torch.device(":1")
torch.device(None)
torch.device()
torch.device(True)
error_name(lambda: torch.zeros(1, device=0))
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

def value_error_device():
    try:
        with torch.device("meta"):
            raise ValueError
    except ValueError:
        pass
    return str(torch.zeros(1).device)

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
def deepcopy_requires_grad():
    import copy
    return copy.deepcopy(iota(2).requires_grad_() * 2)

def deepcopy():
    import copy
    x = iota(2)
    a, b = copy.deepcopy([x, x])
    return a is b

def mark_is_leaf():
    import pickle
    x = iota(2).requires_grad_()
    x.mark = 3
    y = pickle.loads(pickle.dumps(x))
    return [y.is_leaf, y.requires_grad, y.mark]

def loads_pickle():
    import pickle
    return [pickle.loads(pickle.dumps(iota(0, 3))).shape, pickle.loads(pickle.dumps(iota())).dim(),
        pickle.loads(pickle.dumps(iota(3).expand(2, 3))).stride()]

def dumps_pickle():
    import pickle
    class Mine(torch.Tensor):
        pass
    return error_name(pickle.dumps, Mine([1.0])) and None

@differs("Torch wants new_empty() of a subclass.")
def mark_as_subclass():
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

@differs("This package alone has it.")
def tensor_untyped_storage():
    from autograd_cy._C.copying import _rebuild_tensor as r
    return r(torch.Tensor, iota(6).untyped_storage(), torch.float32, 1, (2,), (2,), False)

@differs("This package alone has it.")
def tensor_int64():
    from autograd_cy._C.copying import _rebuild_tensor as r
    return r(torch.Tensor, None, torch.int64, 0, (3,), (1,), False)

@differs("This package alone has it.")
def program():
    from autograd_cy._C.copying import _storage_from_bytes as s  # noqa: F401
    from autograd_cy._C.copying import _storage_on_meta as n
    return n(-1)
