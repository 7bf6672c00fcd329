"""Indexing: calls of the graph and its engine (`ext/engine`)."""

import numpy as np

import autograd_cy as torch
from tests.recorded.inputs import differs, error_name, iota, metadata, sines

# whole numbers
iota(2, 3)[2]
iota(2, 3)[-3]
iota(2, 3)[0, 3]
iota(2)[0][0]
iota(2, 3)[2**70]
iota(2, 3)[-(2**70)]
iota(2, 3)[torch.tensor(2)]
iota(2, 3)[torch.tensor([1], dtype=torch.int8)]
iota(2, 3)[torch.tensor([1], dtype=torch.int16)]
iota(2, 3)[torch.tensor([1j])]

def index_repr():
    class N:
        def __index__(self):
            return 2**70
        def __repr__(self):
            return "N"
    return iota(2, 3)[N()]

iota(2, 3)["a"]
iota(2, 3)[b"a"]
iota(2, 3)[0, 1.0]

# slices
iota(5)[1.5:]
iota(5)["a":]

def data_ptr():
    x = iota(4)
    return [x[:] is x, x[...] is x, x[()] is x, x[:].data_ptr() == x.data_ptr()]

# all other dimensions, new ones
iota(2, 3, 4)[..., np.array([True, False, True, False])].shape
iota(2, 3, 4)[..., torch.tensor([[True, False, True, False]] * 3)]
iota(2, 3, 4)[..., torch.tensor([[1, 0, 1, 0]] * 3, dtype=torch.uint8)]
iota(2, 3)[None, True].shape

# truth values, alone and among others
[error_name(lambda: iota(2, 3)[np.bool_(True)].shape), iota(2, 3)[np.array(True)].shape]
iota(2, 3)[torch.tensor(1, dtype=torch.uint8)]
iota(2, 3)[torch.tensor(0, dtype=torch.uint8), 1]

# masks
iota(2, 3, 4)[:, torch.tensor([[True, False, True, False]] * 3)]
iota(3, 2)[torch.tensor([1, 0, 1], dtype=torch.uint8)]
iota(3, 2)[(True, False)]
iota(3, 2)[np.array([True, False, True])]
iota(3, 2)[np.array([1, 0, 1], dtype="u1")]
iota(3, 2)[np.array([], dtype=bool)]
iota(0, 2)[np.array([], dtype=bool)]
with differs("Torch takes the real part."):
    iota(3)[np.array([1j])]
iota(3)[np.array("a")]
iota(3, 2)[torch.tensor([[True, False], [True, True], [False, False]]), ..., None].shape
iota(2, 3, 4)[torch.tensor([[True, False, True], [False, True, False]]), :, None].shape
iota(2)[torch.tensor(True, device="meta")]
iota(2, 3)[..., ..., torch.tensor([0])]

def next_functions_grad_fn():
    y = sines(2, 3).requires_grad_()[torch.tensor([1]), :, None]
    return y.grad_fn.next_functions[0][0].name()

# lists
iota(3, 2)[[1j]]
iota(3, 2)[["a"]]
iota(3, 2)[0, ["a"]]
iota(3, 2)[[["a", 1]],]
iota(3, 2)[[1, "a"],]
iota(3, 2)[[[1, 0], [1]],]
iota(3, 2)[[b"a"],]
iota(3, 2)[[[0, 1], "a"],]
iota(3, 3)[torch.tensor([3])]
iota(3, 3)[torch.tensor([0, 1, 2]), torch.tensor([0, 1])]

# iteration
list(iota(2, 3))
list(iota(3))
len(list(iota(0, 3)))
[metadata(x) for x in sines(2, 3).requires_grad_()]

# assignment
def zeros_torch():
    x = torch.zeros(())
    x[True] = 3
    return x

@differs("Lists are assigned as in NumPy.")
def zeros_float64():
    x = torch.zeros(3)
    x[1:] = [4, 5]
    x[0] = np.float64(2.5)
    return x

@differs("As in NumPy.")
def zeros_range():
    x = torch.zeros(3)
    x[:] = range(3)
    return x

def zeros_torch_2():
    x = torch.zeros(3)
    x[0] = "a"
    return x

def zeros_torch_3():
    x = torch.zeros(3)
    x[0] = None
    return x

def zeros_torch_4():
    x = torch.zeros(3)
    x[0] = {}
    return x

def zeros_torch_5():
    x = torch.zeros(3)
    x["a"] = 1
    return x

def zeros_int32():
    x = torch.zeros(3, dtype=torch.int32)
    x[0] = 2**40
    return x

def zeros_int64():
    x = torch.zeros(3, dtype=torch.int64)
    x[0] = 2.7
    return x

def tensor_uint8():
    x = torch.zeros(3, dtype=torch.uint8)
    x[0] = torch.tensor(300)
    return x

def zeros_tensor():
    x = torch.zeros(3)
    x[torch.tensor([0])] = 1j
    return x

def complex64_tensor():
    x = torch.zeros(3, dtype=torch.complex64)
    x[0] = 1j
    x[torch.tensor([1])] = 2j
    return x

def bool_tensor():
    x = torch.zeros(3, dtype=torch.bool)
    x[0] = 7
    x[torch.tensor([1])] = True
    return x

def zeros_tensor_2():
    x = torch.zeros(3)
    x[torch.tensor([0, 1])] = torch.tensor([1, 2])
    return x

def tensor_float64():
    x = torch.zeros(2, 2)
    x[torch.tensor([True, False]), torch.tensor([0])] = torch.tensor(2.0, dtype=torch.float64)
    return x

def zeros_tensor_3():
    x = torch.zeros(2, 2)
    x[torch.tensor([0, 1])] = iota(2, 1, 2)
    return x

def zeros_torch_6():
    x = torch.zeros(2, 2)
    x[0, 0] = iota(2)
    return x

def zeros_torch_7():
    x = torch.zeros(2)
    x[0] = iota(1, 0)
    return x

def expand_zeros():
    x = torch.zeros(1).expand(3)
    x[:] = 1
    return x

@differs("Torch warns, and writes to all.")
def expand_tensor():
    x = torch.zeros(1).expand(3)
    x[torch.tensor([0])] = 1
    return x

def requires_grad():
    x = sines(3).requires_grad_()
    x[1] = 0
    return x

def requires_grad_2():
    x = sines(3).requires_grad_()
    x[False] = 0
    return x

with differs(
    "PyTorch counts a NumPy array as one dimension for what `...` stands for; here a mask has its own"):
    [torch.ones(3, 2)[..., np.array([[True, False], [True, True], [True, True]])].shape]

# a number for a mask that lies in what is filled
def masked_fill_index_put():
    def put(change):
        x = sines(4).requires_grad_()
        y = x * 1
        change(y, y.detach() > 0)
        return y, y._version, torch.autograd.grad((y * sines(4)).sum(), x)
    def fill(y, k):
        y[k] = y[1]
    def window(y, k):
        y[k] = y[1:2]
    def other(y, k):
        y[1:][k[1:]] = y[0]
    return [put(f) for f in (fill, window, other, lambda y, k: y.masked_fill_(k, y[1]), lambda y,
        k: y.index_put_((k,), y[1]), lambda y, k: y.index_put_((k,), y[1:2]))]

def tensor_float():
    x, at = iota(3, dtype=torch.int64), torch.tensor([True, False, True])
    return [error_name(x.__setitem__, at, v) for v in (torch.tensor(1e20), torch.tensor([2 + 1j]),
        torch.tensor(float("inf")))], x, x.__setitem__(at, torch.tensor([2 + 0j])), x

def tensor_uint8_2():
    x = iota(3, dtype=torch.uint8)
    x[True] = torch.tensor(300.0)
    return x
