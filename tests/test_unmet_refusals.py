"""What is refused where no program comes: crafted memory, freed graphs, 65 dimensions.

As test_refusals.py; found by the lines that no test reached.
"""

import ctypes
import io

import numpy as np

import autograd_cy as torch
from autograd_cy import autograd, func, nn, optim
from autograd_cy.nn import functional
from autograd_cy.optim import lr_scheduler
from autograd_cy.utils import data, safetensors

x2, m23 = torch.zeros(2), torch.zeros(2, 3)
i2 = torch.zeros(2, dtype=torch.int64)
c2 = torch.zeros(2, dtype=torch.complex64)
deep = torch.zeros((1,) * 64)
leaf = torch.ones(2, requires_grad=True)
frozen = torch.from_numpy(np.frombuffer(bytes(16), dtype=np.float32))
rate = optim.SGD([leaf], lr=0.1)
nested65 = 1.0
for _ in range(65):
    nested65 = [nested65]


def before_init(method, *args):
    class Bare(nn.Module):
        def __init__(self):
            getattr(self, method)(*args)

    Bare()


def own():
    file = io.BytesIO()
    torch.save({"a": x2}, file)
    file.seek(0)
    return file


class Kept(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad


def freed(name):
    y = (leaf * leaf).exp()
    y.sum().backward()
    return getattr(y.grad_fn, name)


def freed_function(name):
    y = Kept.apply(leaf)
    y.sum().backward()
    return getattr(y.grad_fn, name)


def freed_list(name):
    y = torch.cat([leaf, leaf]).prod()
    y.backward()
    return getattr(y.grad_fn, name)


def freed_of(make, name):
    y = make(leaf)
    y.sum().backward()
    return getattr(y.grad_fn, name)


def a_tangent_too_deep():
    with autograd.forward_ad.dual_level():
        return autograd.forward_ad.make_dual(deep, deep)[None]


def in64(function):
    """A call on examples of 63 dimensions, which are 64 with that of the examples."""
    return func.vmap(function)(torch.zeros((2,) + (1,) * 63))


def crafted(ndim=2, size=2, offset=0):
    """A tensor of memory that another library describes wrongly."""
    capsule = np.ones((2, 3), np.float32).__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    at = get(capsule, b"dltensor")  # memory, device, ndim, dtype, shape, strides, byte_offset
    ctypes.c_int.from_address(at + 16).value = ndim
    ctypes.c_int64.from_address(ctypes.c_void_p.from_address(at + 24).value).value = size
    ctypes.c_uint64.from_address(at + 40).value = offset

    class Producer:
        def __dlpack__(self, **options):
            return capsule

        def __dlpack_device__(self):
            return 1, 0

    return torch.from_dlpack(Producer())


C_CONTIGUOUS, F_CONTIGUOUS = 0x38, 0x58


def buffer(t, flags):
    """What memoryview() does, with the flags of a consumer in C."""
    room = (ctypes.c_char * 200)()
    get = ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
    get(t, ctypes.addressof(room), flags)
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(room))


NAMES = globals() | {
    "func": func,
    "D": data,
    "F": functional,
    "S": safetensors,
    "schedules": lr_scheduler,
}

# call: (type of error, words of its message)
REFUSED = {
    'freed_of(lambda l: l.pow(2), "_saved_exponent")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_of(lambda l: l.pow(2), "_saved_self")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_of(lambda l: l.clone()[torch.tensor([0,1])], "_saved_indices")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_of(lambda l: torch.index_select(l,0,i2), "_saved_index")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_of(lambda l: l.std(), "_saved_result")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_of(lambda l: torch.stack([l,l]).prod(0), "_saved_self")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    "(leaf*2).grad_fn(x2, x2)": (
        TypeError,
        "expected 1 arguments, got 2 instead (MulBackward0 takes one gradient",
    ),
    "a_tangent_too_deep()": (RuntimeError, "a tensor has at most 64 dimensions"),
    "in64(lambda t: t[None])": (RuntimeError, "a tensor has at most 64 dimensions"),
    "in64(lambda t: t.unsqueeze(0))": (RuntimeError, "a tensor has at most 64 dimensions"),
    "in64(lambda t: t.new_zeros((1,)*64))": (ValueError, "a tensor has at most 64 dimensions"),
    "in64(lambda t: torch.stack([t]))": (
        RuntimeError,
        "stack: the result would have more than 64 dimensions",
    ),
    "deep[:, None]": (RuntimeError, "a tensor has at most 64 dimensions"),
    "deep[None, 0]": (RuntimeError, "a tensor has at most 64 dimensions"),
    "deep[..., i2.reshape(2,1,1)[:1]]": (ValueError, "a tensor has at most 64 dimensions"),
    "deep[None, i2[:1]]": (RuntimeError, "a tensor has at most 64 dimensions"),
    "x2[1:1, 0]": (IndexError, "too many indices for tensor of dimension 1"),
    "x2[0, 1:]": (IndexError, "too many indices for tensor of dimension 1"),
    "x2[0][0]": (IndexError, "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a"),
    "x2[..., :, :]": (IndexError, "too many indices for tensor of dimension 1"),
    "torch.tensor(1.0)[:]": (IndexError, "too many indices for tensor of dimension 0"),
    "torch.tensor(1.0)[0]": (
        IndexError,
        "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a",
    ),
    "torch.tensor(1.0)[None][0, 0]": (IndexError, "too many indices for tensor of dimension 1"),
    "torch.fill(x2, 1j)": (
        RuntimeError,
        "fill: value cannot be converted to type autograd_cy.float32 without",
    ),
    "torch.tensor([1j], dtype=torch.float32)": (
        TypeError,
        "must be real number, not complex (1j into float32)",
    ),
    "torch.tensor(1j, dtype=torch.int64)": (
        TypeError,
        "must be real number, not complex (1j into int64)",
    ),
    "torch.tensor([[1.0, 1j]], dtype=torch.float64)": (
        TypeError,
        "must be real number, not complex (1j into float64)",
    ),
    "torch.full((2,), 1j, dtype=torch.float32)": (
        RuntimeError,
        "value cannot be converted to type float32 without overflow: 1j",
    ),
    "x2.clone().masked_fill_(x2 == 0, 1j)": (
        RuntimeError,
        "value cannot be converted to type float32 without overflow",
    ),
    "x2.new_tensor([1j])": (TypeError, "must be real number, not complex (1j into float32)"),
    "x2.new_full((2,), 1j)": (
        RuntimeError,
        "value cannot be converted to type float32 without overflow: 1j",
    ),
    "torch.arange(1j)": (
        RuntimeError,
        "arange: value cannot be converted to type double without overflow: 1j",
    ),
    "x2.clone().index_fill_(0, i2, 1j)": (
        RuntimeError,
        "a complex value can't go into float32",
    ),
    "torch.clamp(x2, 1j)": (
        RuntimeError,
        "clamp: value cannot be converted to type float32 without overflow: 1j",
    ),
    "torch.add(x2, x2, alpha=1j)": (
        RuntimeError,
        "add: For non-complex input tensors, argument alpha must not be a",
    ),
    "torch.tensor([x2, 3])": (
        ValueError,
        "only one element tensors can be converted to Python scalars",
    ),
    "torch.tensor([{}])": (RuntimeError, "Could not infer dtype of dict"),
    "torch.tensor([None])": (RuntimeError, "Could not infer dtype of NoneType"),
    "torch.tensor(None)": (RuntimeError, "Could not infer dtype of NoneType"),
    'torch.tensor([1, "a"])': (TypeError, "new(): invalid data type 'str'"),
    "torch.tensor([[1], [2, 3]])": (ValueError, "expected sequence of length 1 at dim 1 (got 2)"),
    "torch.tensor([[1, 2], 3])": (
        TypeError,
        "not a sequence: expected one of length 2 at dim 1, got int",
    ),
    "torch.tensor([np.ones(2), np.ones(3)])": (
        ValueError,
        "expected sequence of length 2 at dim 1 (got 3)",
    ),
    'torch.tensor([np.str_("a")])': (ValueError, "too many dimensions 'str_'"),
    'torch.tensor(np.array(["a"]))': (
        TypeError,
        "can't convert np.ndarray of type <U1. The only supported types are:",
    ),
    "F.conv2d(torch.ones(1,1,4,4), torch.ones(1,1,2,2), stride=(1,2,3))": (
        RuntimeError,
        "expected stride to be a single integer value or a list of 2 values to",
    ),
    "F.max_pool2d(torch.ones(1,1,4,4), (1,2,3))": (
        RuntimeError,
        "max_pool2d: kernel_size must either be a single int, or a tuple of",
    ),
    "F.avg_pool2d(torch.ones(1,1,4,4), (1,2,3))": (
        RuntimeError,
        "avg_pool2d: kernel_size must either be a single int, or a tuple of",
    ),
    "F.unfold(torch.ones(1,1,4,4), 2, dilation=(1,2,3))": (
        RuntimeError,
        "unfold: It is expected dilation equals to 2, but got size 3; give 2",
    ),
    "F.unfold(torch.ones(1,1,4,4), 2, padding=(1,2,3))": (
        RuntimeError,
        "unfold: It is expected padding equals to 2, but got size 3; give 2",
    ),
    "F.unfold(torch.ones(1,1,4,4), 2, stride=(1,2,3))": (
        RuntimeError,
        "unfold: It is expected stride equals to 2, but got size 3; give 2",
    ),
    "F.unfold(torch.ones(1,1,4,4), 2, stride=())": (
        RuntimeError,
        "unfold: It is expected stride equals to 2, but got size 0; give 2",
    ),
    "F.fold(torch.ones(1,4,4), 3, (2,2,2))": (
        RuntimeError,
        "fold: It is expected kernel_size equals to 2, but got size 3; give 2",
    ),
    "F.embedding(i2.reshape((2,)+(1,)*63), torch.ones(2,3))": (
        RuntimeError,
        "embedding: indices have too many dimensions (64)",
    ),
    'F.embedding_bag(i2, torch.ones(2,3), i2[:1], per_sample_weights=torch.ones(2), mode="mean")': (
        NotImplementedError,
        "embedding_bag: per_sample_weights was not None. per_sample_weights is",
    ),
    'F.embedding_bag(i2, torch.ones(2,3), i2[:1], per_sample_weights=torch.ones(3), mode="sum")': (
        ValueError,
        "embedding_bag: If per_sample_weights (autograd_cy.Size([3])) is not",
    ),
    'F.embedding_bag(i2, torch.ones(2,3), i2[:1], mode="none")': (
        ValueError,
        "mode has to be one of sum, mean or max",
    ),
    "x2.clone().requires_grad_(1)": (
        TypeError,
        "requires_grad_(): argument 'requires_grad' (position 1) must be bool,",
    ),
    "leaf.clone().register_post_accumulate_grad_hook(lambda t: None)": (
        RuntimeError,
        "post accumulate grad hooks cannot be registered on non-leaf tensors",
    ),
    "torch.argmax(c2)": (
        NotImplementedError,
        "argmax: not implemented for tensors of dtype complex64; convert them",
    ),
    "torch.optim.Optimizer([leaf], {}).step()": (NotImplementedError, "Optimizer defines no step."),
    "optim.lr_scheduler.LRScheduler(optim.SGD([leaf], lr=0.1))": (
        NotImplementedError,
        "LRScheduler defines no get_lr.",
    ),
    "torch.multinomial(torch.zeros(2, 0), 1)": (
        RuntimeError,
        "cannot sample n_sample > prob_dist.size(-1) samples without",
    ),
    "torch.multinomial(torch.zeros(2, 0), 0)": (
        RuntimeError,
        "cannot sample n_sample <= 0 samples, got 0",
    ),
    "torch.multinomial(torch.zeros(0), 1, True)": (
        RuntimeError,
        "invalid multinomial distribution (sum of probabilities <= 0)",
    ),
    'func.vmap(lambda t: t.bernoulli(), randomness="same")(torch.ones(0, 2))': (
        RuntimeError,
        "Vmap does not currently support same randomness with a batched tensor",
    ),
    "nn.LSTM(2, 3).check_input(x2, None)": (RuntimeError, "input must have 3 dimensions, got 1"),
    "nn.RNN(2, 3).check_input(torch.ones(2,2,5), None)": (
        RuntimeError,
        "input.size(-1) must be equal to input_size. Expected 2, got 5",
    ),
    'before_init("register_parameter","w",None)': (
        AttributeError,
        "cannot assign parameter before Module.__init__() call",
    ),
    'before_init("register_buffer","w",None)': (
        AttributeError,
        "cannot assign buffer before Module.__init__() call",
    ),
    'before_init("add_module","w",nn.ReLU())': (
        AttributeError,
        "cannot assign module before Module.__init__() call",
    ),
    "schedules.SequentialLR(rate, [], [])": (
        ValueError,
        "SequentialLR expects at least one scheduler, but got no scheduler.",
    ),
    "schedules.ChainedScheduler([])": (
        ValueError,
        "ChainedScheduler expects at least one scheduler to be chained, but",
    ),
    "schedules.ChainedScheduler([], rate)": (
        ValueError,
        "ChainedScheduler expects at least one scheduler to be chained, but",
    ),
    "torch.load(own(), mmap=True)": (
        ValueError,
        "load: f must be a path in order to use mmap=True",
    ),
    'torch.load(own(), map_location="cuda")': (
        RuntimeError,
        "load: map_location must be 'cpu' or 'meta', not 'cuda'; move what was",
    ),
    'D.default_collate([np.array(["a"]), np.array(["b"])])': (
        TypeError,
        "default_collate: batch must contain tensors, numpy arrays, numbers,",
    ),
    'D.default_collate([np.array("a"), np.array("b")])': (
        TypeError,
        "default_collate: batch must contain tensors, numpy arrays, numbers,",
    ),
    "D.ConcatDataset([[1, 2], [3]])[-4]": (
        ValueError,
        "absolute value of index should not exceed dataset length",
    ),
    "D.ConcatDataset([[1, 2], [3]])[3]": (
        IndexError,
        "index 3 is out of range: there are 3 samples",
    ),
    "D.random_split([1, 2], [1.5, -0.5])": (
        ValueError,
        "Fraction at index 0 is not between 0 and 1",
    ),
    "iter(D.Sampler())": (NotImplementedError, "Subclasses of Sampler should implement __iter__."),
    "S._specs(None, 5)": (ValueError, "expected a dict of name to tensor, got int"),
    'S._specs(None, {"a": 5})': (ValueError, "key `a` is no tensor but a int"),
    'S._tensor("a", {"dtype": "none"})': (
        ValueError,
        "key `a` has the dtype none, which isn't here",
    ),
    'S._specs(None, {"a": m23.t()})': (
        ValueError,
        "You are trying to save a non contiguous tensor: `a` which is not",
    ),
    'S._specs(None, {"a": x2, "b": x2[:1]})': (
        RuntimeError,
        "Some tensors share memory, which safetensors can't say: `a` and `b`.",
    ),
    "crafted(ndim=65)": (BufferError, "from_dlpack: a tensor has at most 64 dimensions, not 65"),
    "crafted(size=-1)": (BufferError, "from_dlpack: negative size -1"),
    "crafted(offset=1)": (
        BufferError,
        "from_dlpack: the elements do not lie on multiples of their size",
    ),
    "buffer(m23, F_CONTIGUOUS)": (BufferError, "the tensor is not contiguous in Fortran order"),
    "buffer(m23.t(), C_CONTIGUOUS)": (
        BufferError,
        "the tensor is not contiguous; use tensor.contiguous()",
    ),
    "torch.full((4,), 1.0, out=frozen)": (
        RuntimeError,
        "full: the output shows read-only memory; clone() it first",
    ),
    "torch.zeros(4, out=frozen)": (
        RuntimeError,
        "zeros: the output shows read-only memory; clone() it first",
    ),
    "frozen.fill_(1)": (RuntimeError, "fill_: the tensor shows read-only memory; clone() it first"),
    "frozen.zero_()": (RuntimeError, "zero_: the tensor shows read-only memory; clone() it first"),
    "x2.fill_(1j)": (
        RuntimeError,
        "value cannot be converted to type float32 without overflow: fill_ got",
    ),
    "torch.full_like(x2, 1j)": (
        RuntimeError,
        "value cannot be converted to type float32 without overflow: 1j",
    ),
    "x2.__setitem__(0, 1j)": (
        RuntimeError,
        "value cannot be converted to type float32 without overflow: 1j",
    ),
    'freed("_saved_result")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_function("saved_tensors")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_function("_raw_saved_tensors")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    'freed_list("_saved_self")': (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly",
    ),
    "torch.masked_select(x2, i2)": (
        RuntimeError,
        "masked_select: expected BoolTensor for mask, but got int64",
    ),
    "x2.masked_select(x2)": (
        RuntimeError,
        "masked_select: expected BoolTensor for mask, but got float32",
    ),
    "deep[None]": (RuntimeError, "a tensor has at most 64 dimensions"),
    "deep[i2[:1].reshape(1, 1)]": (ValueError, "a tensor has at most 64 dimensions"),
    "deep[..., None]": (RuntimeError, "a tensor has at most 64 dimensions"),
    "c2.sort()": (
        NotImplementedError,
        "sort: not implemented for tensors of dtype complex64; convert them",
    ),
    "c2.argsort()": (
        NotImplementedError,
        "sort: not implemented for tensors of dtype complex64; convert them",
    ),
    "c2.topk(1)": (
        NotImplementedError,
        "topk: not implemented for tensors of dtype complex64; convert them",
    ),
    "torch.unique(c2)": (
        NotImplementedError,
        "unique: not implemented for tensors of dtype complex64; convert them",
    ),
    "c2.median()": (
        NotImplementedError,
        "median: not implemented for tensors of dtype complex64; convert them",
    ),
    "torch.autograd.graph.get_gradient_edge(x2)": (
        RuntimeError,
        "It is not possible to get the gradient edge for a Tensor that does",
    ),
    "torch.tensor([np.ones(2), 3])": (
        TypeError,
        "not a sequence: expected one of length 2 at dim 1, got int",
    ),
    "torch.tensor([torch.ones(2), 3.0])": (
        ValueError,
        "only one element tensors can be converted to Python scalars",
    ),
    "torch.tensor([[1, 2], [3, object()]])": (RuntimeError, "Could not infer dtype of object"),
    "torch.tensor([x2, x2])": (
        ValueError,
        "only one element tensors can be converted to Python scalars",
    ),
    'torch.tensor(["a"])': (ValueError, "too many dimensions 'str'"),
    "F.unfold(torch.ones(1,1,4,4), (2,2,2))": (
        RuntimeError,
        "unfold: It is expected kernel_size equals to 2, but got size 3; give",
    ),
    "F.fold(torch.ones(1,4,4), (3,3,3), 2)": (
        RuntimeError,
        "fold: It is expected output_size equals to 2, but got size 3; give 2",
    ),
    "x2[(slice(None),)*3]": (IndexError, "too many indices for tensor of dimension 1"),
    "x2[..., 0, 0]": (IndexError, "too many indices for tensor of dimension 1"),
    "x2[0, :]": (IndexError, "too many indices for tensor of dimension 1"),
    "torch.index_put(x2, (), x2, True)": (
        ValueError,
        "index_put_: at least one index tensor is needed to accumulate",
    ),
    "x2.index_put_((), x2, accumulate=True)": (
        RuntimeError,
        "index_put_: unsupported operation: some elements of the input tensor",
    ),
    "func.jvp(lambda x: x, (5,), (x2,))": (
        RuntimeError,
        "jvp(f, primals, tangents): Expected primals to only contain Tensors,",
    ),
    "func.linearize(lambda x: x, 5)": (
        ValueError,
        "Thing passed to transform API must be Tensor, got <class 'int'>",
    ),
    "torch.empty(2, size=(2,))": (TypeError, "empty() got multiple values for argument 'size'"),
    "torch.zeros((2,), size=(2,))": (TypeError, "zeros() got multiple values for argument 'size'"),
    "x2.expand((2,), size=(2,))": (TypeError, "expand() got multiple values for argument 'size'"),
    "x2.view(2, size=(2,))": (TypeError, "view() got multiple values for argument 'size'"),
    "x2.new_zeros((2,), size=(2,))": (
        TypeError,
        "new_zeros() got multiple values for argument 'size'",
    ),
    "torch.stack([deep])": (RuntimeError, "stack: the result would have more than 64 dimensions"),
    "deep.unfold(0, 1, 1)": (RuntimeError, "a tensor has at most 64 dimensions"),
    "deep.unsqueeze(0)": (RuntimeError, "a tensor has at most 64 dimensions"),
    "torch.full((1,)*65, 1.0)": (ValueError, "full: a tensor has at most 64 dimensions, not 65"),
    "torch.tensor(nested65)": (ValueError, "too many dimensions: a tensor has at most 64"),
    "deep.expand((1,)*65)": (RuntimeError, "a tensor has at most 64 dimensions, not 65"),
    "deep.reshape((1,)*65)": (RuntimeError, "a tensor has at most 64 dimensions, not 65"),
    "deep.new_ones((1,)*65)": (ValueError, "new_ones: a tensor has at most 64 dimensions, not 65"),
    "torch.view_as_real(deep.to(torch.complex64))": (
        RuntimeError,
        "a tensor has at most 64 dimensions",
    ),
    "deep.diag_embed()": (RuntimeError, "a tensor has at most 64 dimensions, not 65"),
    "F.one_hot(deep.long())": (RuntimeError, "a tensor has at most 64 dimensions"),
    "torch.atleast_3d(deep).unfold(0,1,1)": (RuntimeError, "a tensor has at most 64 dimensions"),
    "deep.unflatten(0, (1, 1))": (RuntimeError, "a tensor has at most 64 dimensions, not 65"),
    "torch.searchsorted(c2, c2)": (
        NotImplementedError,
        "searchsorted: not implemented for tensors of dtype complex64; convert",
    ),
    "x2.contiguous(memory_format=torch.channels_last)": (
        RuntimeError,
        "required rank 4 tensor to use channels_last format, got 1 dimensions",
    ),
}


def test_what_means_nothing_is_refused():
    wrong = {}
    for call, (kind, words) in REFUSED.items():
        try:
            found = eval(call, NAMES)
        except Exception as error:
            if type(error) is not kind or words not in str(error):
                wrong[call] = f"{type(error).__name__}: {error}"[:200]
        else:
            wrong[call] = f"went through: {found}"
    assert not wrong, "\n".join(f"{call}\n    {said}" for call, said in wrong.items())


def test_what_crafted_memory_may_be():
    assert crafted().tolist() == [[1.0] * 3] * 2
    buffer(m23, C_CONTIGUOUS)
    buffer(m23.t(), F_CONTIGUOUS)
