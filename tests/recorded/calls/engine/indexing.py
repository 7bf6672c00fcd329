"""Indexing: calls of the graph and its engine (`ext/engine`)."""

import numpy as np

import autograd_cy as torch
from tests.recorded.inputs import differs, error_name, iota, metadata, sines, with_warnings

# whole numbers
[iota(2, 3)[0], iota(2, 3)[1], iota(2, 3)[-1], iota(2, 3)[-2]]
iota(2, 3)[2]
iota(2, 3)[-3]
iota(2, 3)[0, 3]
iota(2, 3)[0, -4]
[iota(2, 3)[1, -3], iota(2, 3)[-2, 2]]
iota()[0]
iota()[-1]
iota()[0, 0]
iota()[np.int64(0)]
iota()[torch.tensor(0)]
iota()[:]
iota()[torch.tensor([0])]
iota(2)[0, 0]
iota(2)[0][0]
iota(2)[:, :]
iota(2)[:, 0]
iota(2)[None, 0, 0]
iota(2, 3)[0, 0, 0]
iota(2)[..., 0, 0]
iota(2, 3)[2**70]
iota(2, 3)[-(2**70)]
iota(2, 3)[0, 2**63 - 1]
iota(2, 3)[np.int64(1)]
iota(2, 3)[np.uint8(1)]
iota(2, 3)[np.array(1)]
with differs("A number of NumPy is no mask."):
    iota(2, 3)[np.array(1, dtype="u1")]
iota(2, 3)[np.array(1.0)]
iota(2, 3)[torch.tensor(1)]
iota(2, 3)[torch.tensor(-1, dtype=torch.int32)]
iota(2, 3)[torch.tensor(1, dtype=torch.int8)]
iota(2, 3)[torch.tensor(1, dtype=torch.int16), torch.tensor(0)]
iota(2, 3)[torch.tensor(2)]
iota(2, 3)[torch.tensor(1.0)]
iota(2, 3)[torch.tensor([1.0])]
iota(2, 3)[torch.tensor([1], dtype=torch.int8)]
iota(2, 3)[torch.tensor([1], dtype=torch.int16)]
iota(2, 3)[torch.tensor([1j])]

def index_iota():
    class N:
        def __index__(self):
            return 1
    return [iota(2, 3)[N()], iota(2, 3)[0, N()], iota(4)[N() :], iota(4)[: N()], iota(4)[:: N()]]

def index_repr():
    class N:
        def __index__(self):
            return 2**70
        def __repr__(self):
            return "N"
    return iota(2, 3)[N()]

iota(2, 3)["a"]
iota(2, 3)[b"a"]
iota(2, 3)[0, "a"]
iota(2, 3)[{}]
iota(2, 3)[1.0]
iota(2, 3)[0, 1.0]
iota(2, 3)[1j]
iota(2, 3)[object()].shape

# slices
iota(5)[:2]
iota(5)[3:]
iota(5)[-2:]
iota(5)[:-2]
iota(5)[1:4:2]
iota(5)[::2]
iota(5)[4:2]
iota(5)[9:]
iota(5)[-9:2]
iota(5)[::0]
iota(5)[::-1]
iota(5)[::1].stride()
iota(5)[1.5:]
iota(5)[:1.5]
iota(5)[::1.5]
iota(5)["a":]
with differs("A step beyond the end leaves the first one, as of a list."):
    [iota(5)[2**70 :], iota(5)[: 2**70], iota(5)[-(2**70) : 2], iota(5)[:: 2**70],
        iota(5)[: -(2**70)]]
iota(5)[torch.tensor(1) : torch.tensor(3)]
iota(2, 3)[:, 1:]
metadata(iota(4)[:])
metadata(iota(4)[1:])
metadata(iota(4)[...])
metadata(iota(4)[None])
metadata(iota(4)[()])
metadata(iota(4)[0])

def iota_data_ptr():
    x = iota(4)
    return [x[:] is x, x[...] is x, x[()] is x, x[:].data_ptr() == x.data_ptr()]

metadata(sines(4).requires_grad_()[:])
metadata(sines(4).requires_grad_()[...])
metadata(sines(4).requires_grad_()[()])

# all other dimensions, new ones
iota(2, 3, 4)[..., 1]
iota(2, 3, 4)[1, ..., 1]
iota(2, 3, 4)[1, ...].shape
iota(2, 3, 4)[..., None].shape
iota(2, 3, 4)[None, ..., None].shape
iota(2, 3, 4)[None, 1, None, ..., None, 2].shape
iota(2, 3, 4)[0, 1, 2, ...]
iota(2, 3, 4)[0, 1, 2, None]
iota(2, 3, 4)[..., 0, 1, 2, 3]
iota(2, 3, 4)[..., torch.tensor([0, 1])].shape
iota(2, 3, 4)[..., torch.tensor([0, 1]), 2]
iota(2, 3, 4)[0, ..., torch.tensor([0, 1])]
iota(2, 3, 4)[torch.tensor([0, 1]), ..., torch.tensor([0, 1])]
iota(2, 3, 4)[..., [True, False, True, False]].shape
iota(2, 3, 4)[..., np.array([True, False, True, False])].shape
iota(2, 3, 4)[..., torch.tensor([[True, False, True, False]] * 3)]
with differs("Torch counts an array as one dimension."):
    iota(2, 3, 4)[0, ..., np.array([[True, False, True, False]] * 3)]
iota(2, 3, 4)[..., torch.tensor([[1, 0, 1, 0]] * 3, dtype=torch.uint8)]
iota(2, 3)[..., ...].shape
iota(2, 3)[..., 0, ...]
iota(2, 3)[0, ..., ...]
iota(2, 3)[torch.tensor([0]), ..., ...]
iota(2, 3)[..., torch.tensor([0]), ...]
iota(2, 3, 4)[..., torch.tensor([0]), ...]
iota(2, 3)[None, True].shape

# truth values, alone and among others
[iota(2, 3)[True], iota(2, 3)[False], iota()[True], iota()[False]]
iota(2, 3)[True, 0]
iota(2, 3)[0, True]
iota(2, 3)[True, True].shape
iota(2, 3)[False, 0]
iota(2, 3)[True, torch.tensor([0, 1])]
iota(2, 3)[0, False]
iota(2, 3)[:, True].shape
iota(2, 3)[True, :, 1]
iota(2, 3)[:, True, 1]
iota(2, 3)[:, False, 1]
[iota(2, 3)[True, 0, 1], iota(2, 3)[False, ..., 1], iota(2, 3)[..., True].shape]
iota(2, 3)[True, 0, 1, 2]
iota(2, 3)[torch.tensor(True)]
iota(2, 3)[torch.tensor(False)]
iota(2, 3)[torch.tensor(True), 1]
iota(2, 3)[1, torch.tensor(True)]
iota(2, 3)[1, torch.tensor(False)]
iota(2, 3)[:, torch.tensor(True), 1]
iota(2, 3)[np.bool_(True)].shape
[error_name(lambda: iota(2, 3)[np.bool_(True)].shape), iota(2, 3)[np.array(True)].shape]
[iota(2, 3)[np.array(True), 1], iota(2, 3)[1, np.array(False)]]
iota()[torch.tensor(True)]
iota()[torch.tensor(False)]
iota(2, 3)[torch.tensor(1, dtype=torch.uint8)]
iota(2, 3)[torch.tensor(0, dtype=torch.uint8), 1]

# masks
iota(2, 3)[torch.tensor([True, False])]
iota(2, 3)[:, torch.tensor([True, False, True])]
iota(2, 3)[torch.tensor([True, False]), torch.tensor([True, False, True])]
iota(2, 3)[torch.tensor([[True, False, True], [False, True, False]])]
iota(2, 3)[torch.tensor([True, False, True])]
iota(2, 3)[:, torch.tensor([True, False])]
iota(2, 3)[torch.tensor([[True], [False]])]
iota(2, 3)[0, torch.tensor([True, False])]
iota(2, 3)[torch.tensor([True, False]), 1]
iota(2, 3)[1, torch.tensor([True, False, True])]
iota(2, 3, 4)[torch.tensor([[True, False, True], [False, True, False]]), 1]
iota(2, 3, 4)[:, torch.tensor([[True, False, True, False]] * 3)]
iota(2, 3, 4)[0, torch.tensor([[True, False, True, False]] * 3)]
iota(2, 3, 4)[:, torch.tensor([[True, False, True, False]] * 3), 0]
iota(2, 3, 4)[torch.tensor([[True, False, True], [False, True, False]]), torch.tensor([0, 1, 2])]
iota(3, 2)[torch.tensor([1, 0, 1], dtype=torch.uint8)]
with_warnings(lambda: iota(3, 2)[torch.tensor([1, 0, 1], dtype=torch.uint8)])[1]
iota(3, 2)[[True, False, True]]
iota(3, 2)[(True, False)]
iota(3, 2)[np.array([True, False, True])]
iota(3, 2)[np.array([1, 0, 1], dtype="u1")]
iota(3, 2)[np.array([1, 0, 1], dtype="u2")]
iota(3, 2)[np.array([1, 0, 1], dtype="u4"), np.array([0, 1, 1], dtype="u8")]
iota(3, 2)[np.array([1, 0, 1], dtype="i1")]
iota(3, 2)[np.array([1, 0, 1], dtype="i2")]
iota(3, 2)[np.array([1, 0, 1], dtype="i4")]
iota(3, 2)[np.array([1.0, 0.0])]
iota(3, 2)[np.array([], dtype=bool)]
iota(0, 2)[np.array([], dtype=bool)]
iota(0, 2)[torch.tensor([], dtype=torch.bool)]
iota(3, 2)[np.array([], dtype="i8")]
iota(3)[np.array([[0, 1], [1, 2]])]
iota(2, 3)[np.array([[0, 1], [1, 0]]), 0]
with differs("Torch takes the real part."):
    iota(3)[np.array([1j])]
iota(3)[np.array(["a"])]
iota(3)[np.array("a")]
iota(3)[np.array([0, 1]), np.array([[0], [1]])]
iota(3, 2)[torch.tensor([[True, False], [True, True], [False, False]]), ..., None].shape
iota(2, 3, 4)[torch.tensor([[True, False, True], [False, True, False]]), :, None].shape
iota(2, 3, 4)[torch.tensor([[True, False, True], [False, True, False]]), :, torch.tensor([0])]
iota(2, 3, 4)[torch.tensor([[True, False, True], [False, True, False]]), torch.tensor([0, 1, 2]),
    None]
iota(2, 3, 4)[None, torch.tensor([[True, False, True], [False, True, False]]),
    torch.tensor([0, 1, 2])]
iota(2)[torch.tensor(True, device="meta")]
iota(2, 3)[..., ..., 0]
with differs("There is no dimension left for it."):
    iota(2, 3)[..., ..., :]
    iota(2, 3)[..., ..., 0:1]
iota(2, 3)[..., ..., torch.tensor([0])]
iota(2, 3)[..., ..., None]
metadata(sines(3, 2)[[0, 1]])

@differs("Torch keeps what it was given.")
def saved_indices_data_ptr():
    i, j = torch.tensor([1, 0]), torch.tensor([1, 0], dtype=torch.int32)
    y = sines(2, 3).requires_grad_()[:, i]
    z = sines(2, 3).requires_grad_()[j]
    return [len(y.grad_fn._saved_indices), y.grad_fn._saved_indices[1].data_ptr() == i.data_ptr(),
        len(z.grad_fn._saved_indices), z.grad_fn._saved_indices[0].dtype]

def next_functions_grad_fn():
    y = sines(2, 3).requires_grad_()[torch.tensor([1]), :, None]
    return y.grad_fn.next_functions[0][0].name()

# lists
iota(3, 2)[[]]
iota(3, 2)[[2, 0]]
iota(3, 2)[[2, 0], [1, 0]]
iota(3, 2)[[2, 0], 1]
iota(3, 2)[[[2, 0], [1, 1]]]
iota(3, 2)[[[2, 0], [1, 1]],]
iota(3, 2)[[2.0, 0.0]]
iota(3, 2)[[2.7, 0.1], 1]
iota(3, 2)[[1j]]
iota(3, 2)[["a"]]
iota(3, 2)[0, ["a"]]
iota(3, 2)[[["a", 1]],]
iota(3, 2)[[1, "a"],]
iota(3, 2)[[object()],]
iota(3, 2)[[[1, 0], [1]],]
iota(3, 2)[[{}],]
iota(3, 2)[{1}]
iota(3, 2)[[b"a"],]
iota(3, 2)[[[0, 1], "a"],]
iota(3, 2)[range(2)]
iota(3, 2)[(range(2),)]
iota(3, 2)[[0, slice(None)]]
iota(3, 2)[[slice(0, 2), 1]]
iota(3, 2)[[None, 1]].shape
iota(3, 2)[[..., 1]]
iota(3, 2)[[torch.tensor([0, 1]), 1]]
iota(3, 2)[[np.array([0, 1]), 1]]
iota(3, 2)[[range(2), 1]]
iota(3, 2)[[(0, 1), 1]]
with_warnings(lambda: iota(3, 2)[[0, slice(None)]])
len(with_warnings(lambda: iota(3, 2)[[0, 1]])[0])
with_warnings(lambda: iota(3, 2)[[[0, 1], [1, 1]]])
iota(40, 2)[[[0, 1]] * 31].shape
iota(40, 2)[[[0, 1]] * 32].shape
iota(40, 2)[[[0, 1]] * 33].shape
iota(3)[[np.int64(2), 0]]
iota(3)[[torch.tensor(2), torch.tensor(0)]]
with differs("Numbers of any dtype in a list are numbers."):
    iota(3)[[torch.tensor(2, dtype=torch.uint8), torch.tensor(0, dtype=torch.uint8)],]
iota(3, 3)[torch.tensor([2, 0]), [0, 1]]
iota(3, 3)[torch.tensor([2, 0], dtype=torch.int32), torch.tensor([0, 1], dtype=torch.int32)]
iota(3, 3)[torch.tensor([[2], [0]]), torch.tensor([0, 1])]
iota(3, 3)[torch.tensor([3])]
iota(3, 3)[torch.tensor([-4])]
iota(3, 3)[torch.tensor([0, 1, 2]), torch.tensor([0, 1])]
iota(2, 3)[torch.tensor([0]), torch.tensor([0]), torch.tensor([0])]
iota(2, 3)[torch.Size([0, 1])]
iota(3, 4, 5)[:, torch.tensor([0, 1]), :, None].shape
iota(3, 4, 5)[torch.tensor([0, 1]), :, torch.tensor([0, 1])].shape
iota(3, 4, 5)[torch.tensor([0, 1]), None, torch.tensor([0, 1])].shape
iota(3, 4, 5)[0, :, torch.tensor([0, 1])].shape
iota(3, 4, 5)[:, torch.tensor([0, 1]), 0].shape
iota(3, 4, 5)[:, 0, torch.tensor([0, 1])].shape
metadata(sines(3, 2).requires_grad_()[[0, 1]])

# iteration
list(iota(2, 3))
list(iota(3))
list(iota())
len(list(iota(0, 3)))
[metadata(x) for x in sines(2, 3).requires_grad_()]

# assignment
def tensor_version():
    x = torch.zeros(2, 3)
    x[0] = 1
    x[1, 2] = 5
    x[:, 1] = torch.tensor([7.0, 8.0])
    return [x, x._version]

def zeros_iota():
    x = torch.zeros(2, 3)
    x[...] = iota(3)
    x[1:] = 9
    return x

def tensor_version_2():
    x = torch.zeros(2, 3)
    x[torch.tensor([0, 1]), torch.tensor([1, 2])] = torch.tensor([3.0, 4.0])
    x[torch.tensor([[True, False, False], [False, False, False]])] = 6
    return [x, x._version]

def zeros_version():
    x = torch.zeros(2, 3)
    x[True] = 3
    x[False] = 4
    return [x, x._version]

def version_tensor():
    x = torch.zeros(2, 3)
    x[torch.tensor(False)] = 4
    return [x, x._version]

def zeros_version_2():
    x = torch.zeros(2, 3)
    x[True, 0] = 3
    x[False, 0] = 4
    return [x, x._version]

def zeros_torch():
    x = torch.zeros(())
    x[True] = 3
    return x

def zeros_torch_2():
    x = torch.zeros(())
    x[()] = 3
    return x

def zeros_tensor():
    x = torch.zeros(())
    x[...] = torch.tensor([3.0])
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

@differs("As in NumPy.")
def zeros_array():
    x = torch.zeros(3)
    x[:2] = np.array([1, 2])
    x[2:] = (3,)
    return x

def zeros_torch_3():
    x = torch.zeros(3)
    x[0] = "a"
    return x

def zeros_torch_4():
    x = torch.zeros(3)
    x[0] = None
    return x

def zeros_torch_5():
    x = torch.zeros(3)
    x[0] = {}
    return x

def zeros_torch_6():
    x = torch.zeros(3)
    x["a"] = 1
    return x

def zeros_torch_7():
    x = torch.zeros(3)
    x[3] = 1
    return x

def zeros_int64():
    x = torch.zeros(3, dtype=torch.int64)
    x[0] = 2**70
    return x

def zeros_torch_8():
    x = torch.zeros(3)
    x[0] = 2**70
    return x

def zeros_int32():
    x = torch.zeros(3, dtype=torch.int32)
    x[0] = 2**40
    return x

def zeros_int64_2():
    x = torch.zeros(3, dtype=torch.int64)
    x[0] = 2.7
    return x

def zeros_uint8():
    x = torch.zeros(3, dtype=torch.uint8)
    x[0] = 300
    return x

def zeros_uint8_2():
    x = torch.zeros(3, dtype=torch.uint8)
    x[0] = -1
    return x

def tensor_uint8():
    x = torch.zeros(3, dtype=torch.uint8)
    x[0] = torch.tensor(300)
    return x

def uint8_tensor():
    x = torch.zeros(3, dtype=torch.uint8)
    x[torch.tensor([0, 1])] = 300
    return x

def zeros_torch_9():
    x = torch.zeros(3)
    x[0] = 1j
    return x

def zeros_tensor_2():
    x = torch.zeros(3)
    x[torch.tensor([0])] = 1j
    return x

def zeros_tensor_3():
    x = torch.zeros(3)
    x[0] = torch.tensor(1j)
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

def zeros_float16():
    x = torch.zeros(3, dtype=torch.float16)
    x[0] = 1e6
    return x

def tensor_float64():
    x = torch.zeros(3)
    x[torch.tensor([0, 1])] = torch.tensor([1.0, 2.0], dtype=torch.float64)
    return x

def zeros_tensor_4():
    x = torch.zeros(3)
    x[torch.tensor([0, 1])] = torch.tensor([1, 2])
    return x

def zeros_tensor_5():
    x = torch.zeros(3)
    x[0:2] = torch.tensor([1, 2])
    return x

def tensor_float64_2():
    x = torch.zeros(3)
    x[torch.tensor([True, False, True])] = torch.tensor(2.0, dtype=torch.float64)
    return x

def tensor_float64_3():
    x = torch.zeros(3)
    x[torch.tensor([True, False, True])] = torch.tensor([2.0], dtype=torch.float64)
    return x

def tensor_float64_4():
    x = torch.zeros(3)
    x[torch.tensor([True, False, True])] = torch.tensor([2.0, 3.0], dtype=torch.float64)
    return x

def tensor_float64_5():
    x = torch.zeros(3)
    x[torch.tensor([0, 2])] = torch.tensor(2.0, dtype=torch.float64)
    return x

def zeros_tensor_6():
    x = torch.zeros(3)
    x[torch.tensor([0, 2])] = 2
    return x

@differs("As in NumPy.")
def zeros_torch_10():
    x = torch.zeros(3)
    x[[0, 2]] = [2, 3]
    return x

def tensor_float64_6():
    x = torch.zeros(2, 2)
    x[torch.tensor([True, False]), 0] = torch.tensor(2.0, dtype=torch.float64)
    return x

def tensor_float64_7():
    x = torch.zeros(2, 2)
    x[torch.tensor([True, False]), torch.tensor([0])] = torch.tensor(2.0, dtype=torch.float64)
    return x

def zeros_tensor_7():
    x = torch.zeros(2, 2)
    x[True] = torch.tensor([[1, 2], [3, 4]])
    return x

def zeros_iota_2():
    x = torch.zeros(2, 2)
    x[True] = iota(1, 1, 2, 2)
    return x

def zeros_iota_3():
    x = torch.zeros(2, 2)
    x[0] = iota(1, 1, 2)
    return x

def zeros_iota_4():
    x = torch.zeros(2, 2)
    x[0] = iota(2, 1)
    return x

def zeros_iota_5():
    x = torch.zeros(2, 2)
    x[:, 0] = iota(1, 2, 1)
    return x

def zeros_tensor_8():
    x = torch.zeros(2, 2)
    x[torch.tensor([0, 1])] = iota(1, 1, 2, 2)
    return x

def zeros_tensor_9():
    x = torch.zeros(2, 2)
    x[torch.tensor([0, 1])] = iota(2, 1, 2)
    return x

def zeros_iota_6():
    x = torch.zeros(2, 2)
    x[0, 0] = iota(1, 1)
    return x

def zeros_iota_7():
    x = torch.zeros(2, 2)
    x[0, 0] = iota(2)
    return x

def zeros_iota_8():
    x = torch.zeros(1, 2)
    x[:] = iota(1, 1, 2)
    return x

def zeros_iota_9():
    x = torch.zeros(2)
    x[0] = iota(1, 0)
    return x

def expand_zeros():
    x = torch.zeros(1).expand(3)
    x[0] = 1
    return x

def expand_zeros_2():
    x = torch.zeros(1).expand(3)
    x[:] = 1
    return x

def setitem_slice():
    x = torch.zeros(1).expand(3)
    return [error_name(x.__setitem__, slice(None), 1.0), x._version]

@differs("Torch warns, and writes to all.")
def expand_tensor():
    x = torch.zeros(1).expand(3)
    x[torch.tensor([0])] = 1
    return x

def zeros_version_3():
    x = torch.zeros(4)
    y = x[::2]
    y[:] = 3
    return [x, x._version, y._version]

def zeros_slice():
    x = torch.zeros(2, 3)
    x[[0, slice(None)]] = 3
    return x

def zeros_torch_11():
    x = torch.zeros(2, 3)
    x[..., None] = 3
    return x

def zeros_torch_12():
    x = torch.zeros(3)
    x[None, 1] = 3
    return x

def requires_grad_metadata():
    x = sines(3).requires_grad_() * 1
    x[1] = 0
    return [metadata(x), x]

def tensor_metadata():
    x = sines(3).requires_grad_() * 1
    x[torch.tensor([1])] = 0
    return [metadata(x), x]

def requires_grad_sines():
    x = sines(3).requires_grad_()
    x[1] = 0
    return x

def requires_grad_sines_2():
    x = sines(3).requires_grad_()
    x[False] = 0
    return x

def float64_metadata():
    v = sines(2).requires_grad_()
    x = torch.zeros(3, dtype=torch.float64)
    x[:2] = v
    return [metadata(x), torch.autograd.grad((x * sines(3)).sum(), v)]

def float64_metadata_2():
    v = sines(1, 2).requires_grad_()
    x = torch.zeros(3, dtype=torch.float64)
    x[torch.tensor([0, 2])] = v
    return [metadata(x), torch.autograd.grad((x * sines(3)).sum(), v)]

def metadata_float32():
    v = sines(2).to(torch.float32).requires_grad_()
    x = torch.zeros(3, dtype=torch.float64)
    x[:2] = v
    return [metadata(x), torch.autograd.grad((x * sines(3)).sum(), v)]

torch.ones(3, 2)[..., np.array(True)].shape
torch.ones(3, 2)[1, ..., np.array(True)].shape
torch.ones(3)[..., np.array(False)].shape
with differs(
    "PyTorch counts a NumPy array as one dimension for what `...` stands for; here a mask has its own"):
    [torch.ones(3, 2)[..., np.array([[True, False], [True, True], [True, True]])].shape]
torch.ones(3, 2)[np.array(True)].shape
torch.ones(3, 2)[:, np.array(True)].shape
torch.ones(3)[None, np.array(True)].shape

# a number for a mask that lies in what is filled
def fill_window():
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

def index_put_masked_fill():
    y, k = sines(4), torch.tensor([True, False, True, True])
    return [error_name(y.index_put_, (k,), y[1], True), error_name(y.index_put_, (k,), y[1:]),
        error_name(y.index_put_, (torch.tensor([0, 2]),), y[1]),
        error_name(y.__setitem__, torch.tensor([0, 2]), y[1]), error_name(y.__setitem__, k, y[1:]),
        y, y.masked_fill(k, y[1]), y.index_put((k,), y[1]), y._version]

def setitem_uint8():
    x, at = iota(3, dtype=torch.uint8), torch.tensor([True, False, True])
    return [error_name(x.__setitem__, i, v) for i,
        v in ((at, torch.tensor(300.0)), (at, torch.tensor(-1.5)),
        ((..., at), torch.tensor(float("nan"))), (at,
        torch.tensor([2 + 1j])))], x, x.__setitem__(at, torch.tensor([7.5])), x

def setitem_float():
    x, at = iota(3, dtype=torch.int64), torch.tensor([True, False, True])
    return [error_name(x.__setitem__, at, v) for v in (torch.tensor(1e20), torch.tensor([2 + 1j]),
        torch.tensor(float("inf")))], x, x.__setitem__(at, torch.tensor([2 + 0j])), x

def tensor_uint8_2():
    x = iota(3, dtype=torch.uint8)
    x[True] = torch.tensor(300.0)
    return x
