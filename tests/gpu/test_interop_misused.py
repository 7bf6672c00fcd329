"""Shared memory and kernels of others that lie or are used wrongly: errors, and nothing is lost."""

import copy
import ctypes
import pickle

import numpy as np
import pytest

import autograd_cy as ag


class ByInterface:
    """An array of somebody who speaks the CUDA array interface, on memory of a tensor."""

    def __init__(self, tensor, **changes):
        self.kept = tensor
        self.__cuda_array_interface__ = dict(tensor.__cuda_array_interface__) | changes


LIES = {
    "no shape": ({"shape": None}, TypeError, "`shape`"),
    "a number as shape": ({"shape": 4}, TypeError, "must be a tuple of int"),
    "sizes that are no integers": ({"shape": (2.5,)}, TypeError, "must be a tuple of int"),
    "too large": ({"shape": (2**62, 4)}, ValueError, "no memory has elements"),
    "beyond the memory": ({"shape": (2**31,)}, ValueError, "no memory of a CUDA device"),
    "few strides": ({"strides": ()}, TypeError, "the same length as `shape`"),
    "many strides": ({"strides": (4, 4)}, TypeError, "the same length as `shape`"),
    "far strides": ({"strides": (2**62,)}, ValueError, "no memory has elements"),
    "strides that are no integers": ({"strides": ("4",)}, TypeError, "must be a tuple of int"),
    "no dtype": ({"typestr": None}, TypeError, "`typestr`"),
    "no data": ({"data": None}, TypeError, "2-tuple of .int, bool."),
    "an address alone": ({"data": (512,)}, TypeError, "2-tuple of .int, bool."),
    "a negative address": ({"data": (-1, False)}, ValueError, "no address"),
    "no address": ({"data": (0, False)}, ValueError, "no memory of a CUDA device"),
    "a negative stream": ({"stream": -5}, ValueError, "no stream"),
    "a stream that is no number": ({"stream": "x"}, TypeError, "must be an int or None"),
}


@pytest.mark.breaks
@pytest.mark.parametrize("name", LIES)
def test_interfaces_that_lie(name):
    changes, kind, words = LIES[name]
    x = ag.ones(4, device="cuda")
    with pytest.raises(kind, match=words):
        ag.as_tensor(ByInterface(x, **changes), device="cuda")
    assert ag.as_tensor(ByInterface(x), device="cuda").tolist() == [1] * 4


def test_an_interface_that_is_no_dict_or_lacks_something():
    class Shown:
        def __init__(self, shown):
            self.__cuda_array_interface__ = shown

    with pytest.raises(TypeError, match="must be a dict, not int"):
        ag.as_tensor(Shown(5), device="cuda")
    for name in ("shape", "typestr", "data"):
        shown = dict(ag.ones(2, device="cuda").__cuda_array_interface__)
        del shown[name]
        with pytest.raises(TypeError, match=f"`{name}` must exist"):
            ag.as_tensor(Shown(shown), device="cuda")


class _Array(ctypes.Structure):
    """The fields of a DLPack capsule, before version 1.0."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("type", ctypes.c_int32),
        ("index", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


@pytest.mark.breaks
@pytest.mark.parametrize(
    ("data", "index", "size", "stride", "words"),
    [
        (0, 0, 4, 1, "of no CUDA device"),
        (None, 1, 4, 1, "said to be on 'cuda:1', and the memory is of 'cuda:0'"),
        (None, 0, 2**31, 1, "or ends before that"),
        (None, 0, 2**62, 1, "no memory has 4.61e.18 elements"),
        (None, 0, 4, 2**62, "no memory has"),
        (None, 64, 4, 1, "can't be used here"),
    ],
)
def test_capsules_that_lie(data, index, size, stride, words):
    x = ag.ones(4, device="cuda")
    sizes, strides = (ctypes.c_int64 * 1)(size), (ctypes.c_int64 * 1)(stride)
    place = x.data_ptr() if data is None else data
    array = _Array(place, 2, index, 1, 2, 32, 1, sizes, strides, 0, None, None)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    with pytest.raises(BufferError, match=words):
        ag.from_dlpack(new(ctypes.addressof(array), b"dltensor", None))
    assert (x + 1).tolist() == [2] * 4


FILL = """
__global__ void f(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 7;
}
"""


@pytest.mark.emulated
def test_kernels_that_are_called_wrongly():
    f = ag.cuda.kernel(FILL, "f")
    x, n = ag.zeros(4, device="cuda"), np.int32(4)
    for options, kind, words in (
        ({"grid": 1.5}, TypeError, "grid has integers, not 1.5"),
        ({"grid": None}, TypeError, "grid has integers"),
        ({"block": "a"}, TypeError, "block has integers"),
        ({"block": True}, TypeError, "block has integers"),
        ({"grid": ()}, RuntimeError, "one to three positive numbers"),
        ({"grid": 2**40}, RuntimeError, "below 2..31"),
        ({"shared": "x"}, TypeError, "shared has integers"),
        ({"shared": -1}, RuntimeError, "shared can't be -1 bytes"),
        ({"changes": [None]}, TypeError, "changes is a sequence of tensors"),
        ({"changes": 5}, TypeError, "changes is a sequence of tensors"),
    ):
        with pytest.raises(kind, match=words):
            f(x, n, **({"grid": 1, "block": 4} | options))
    assert x.tolist() == [0] * 4
    f(x, n, grid=np.int64(1), block=(np.int32(4),), changes=x)
    assert x.tolist() == [7] * 4
    for arguments, words in (((FILL, 5), "name is a str"), ((FILL, "f"), "options are a sequence")):
        with pytest.raises(TypeError, match=words):
            ag.cuda.kernel(*arguments, options="-O3")


@pytest.mark.emulated
@pytest.mark.breaks
def test_sources_that_are_wrong():
    x = ag.zeros(4, device="cuda")
    with pytest.raises(RuntimeError, match="'g' can't be made of its source on 'cuda:0'"):
        ag.cuda.kernel(FILL, "g")(x, np.int32(4), grid=1, block=4)
    with pytest.raises(RuntimeError, match="(?s)'f' can't be made.*nonsense"):
        ag.cuda.kernel("__global__ void f(float *x) { nonsense }", "f")(x, grid=1, block=4)


@pytest.mark.emulated
def test_kernels_of_a_source_can_be_copied(context):
    import pycuda.compiler

    f = ag.cuda.kernel(FILL, "f", options=["-O3"])
    x, n = ag.zeros(4, device="cuda"), np.int32(2)
    f(x, n, grid=1, block=4)
    pickle.loads(pickle.dumps(f))(x[2:], n, grid=1, block=4)
    assert x.tolist() == [7] * 4
    assert copy.deepcopy(f)._options == ["-O3"]
    made = ag.cuda.kernel(pycuda.compiler.SourceModule(FILL).get_function("f"))
    with pytest.raises(TypeError, match="can't be pickled or copied"):
        copy.copy(made)


@pytest.mark.emulated
def test_memory_of_examples_is_not_given_away():
    f = ag.cuda.kernel(FILL, "f")
    x = ag.zeros(2, 4, device="cuda")
    for use in (lambda a: f(a, np.int32(4), grid=1, block=4), lambda a: a.__dlpack__()):
        with pytest.raises(RuntimeError, match="vmap: .*Cannot access data pointer"):
            ag.vmap(lambda a, use=use: (use(a), a)[1])(x)
    assert x.tolist() == [[0] * 4] * 2
