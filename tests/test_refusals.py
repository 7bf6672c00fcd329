"""Calls that are refused, one line each: the call, the type of its error and words of the message.

A call that goes through here would go on with numbers that mean nothing.
"""

import copy
import pickle

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy import autograd, func, nn, optim
from autograd_cy.autograd import forward_ad

x2, x3 = torch.zeros(2), torch.zeros(3)
m23, m33 = torch.zeros(2, 3), torch.zeros(3, 3)
c2 = torch.zeros(2, dtype=torch.complex64)
i2 = torch.zeros(2, dtype=torch.int64)
scalar = torch.tensor(1.0)
deep = torch.zeros((1,) * 64)
frozen = torch.from_numpy(np.frombuffer(bytes(16), dtype=np.float32))
leaf = torch.ones(2, requires_grad=True)
leaf_c = torch.ones(2, dtype=torch.complex64, requires_grad=True)
linear = nn.Linear(2, 2)
functional = autograd.functional
DIMS = "a tensor has at most 64 dimensions"


class Bare(autograd.Function):
    """A Function without methods."""


class Keywords(autograd.Function):
    @staticmethod
    def forward(ctx, x, *, factor=2):
        return x * factor


class OnlyForward(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


class Split(autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2


def square(x):
    return (x * x).sum()


def backward_twice():
    y = square(leaf)
    autograd.grad(y, leaf)
    autograd.grad(y, leaf)


def dual(make=True, level=None, primal=x2, tangent=x2):
    with forward_ad.dual_level():
        return forward_ad.make_dual(primal, tangent, level=level)


def returns_keys(module, keys):
    return keys


def with_post_hook():
    module = nn.Linear(2, 2)
    module.register_load_state_dict_post_hook(returns_keys)
    return module.load_state_dict(module.state_dict())


def in_vmap(function):
    return func.vmap(function)(torch.ones(3, 2))


def doubled(optimizer):
    optimizer.add_param_group({"params": list(linear.parameters())})


NAMES = globals() | {"copy": copy, "optim": optim, "pickle": pickle}

# group: {call: (type of error, words of its message)}
REFUSED = {
    "sizes and dimensions": {
        "torch.zeros((1,) * 65)": (ValueError, DIMS),
        "torch.Tensor(*(1,) * 65)": (ValueError, DIMS),
        "torch.empty_strided((1,) * 65, (1,) * 65)": (ValueError, DIMS),
        "deep.unsqueeze(0)": (RuntimeError, DIMS),
        "torch.stack([deep, deep])": (RuntimeError, "more than 64 dimensions"),
        "deep.unfold(0, 1, 1)": (RuntimeError, DIMS),
        "deep[None]": ((RuntimeError, ValueError, IndexError), DIMS),
        "deep.view((1,) * 65)": (RuntimeError, DIMS),
        "deep.expand((1,) * 65)": (RuntimeError, DIMS),
        "torch.zeros(1).resize_((1,) * 65)": (RuntimeError, DIMS),
        "torch.zeros(2).as_strided((1,) * 65, (1,) * 65)": (RuntimeError, DIMS),
        "torch.Tensor('a')": (TypeError, ""),
        "torch.Tensor(1.5, 2)": (TypeError, "sizes must be integers"),
        "x2.permute(0, 0)": (RuntimeError, ""),
        "m23.permute(0, 0)": (RuntimeError, "duplicate dims are not allowed"),
        "scalar.narrow(0, 0, 1)": (RuntimeError, "narrow() cannot be applied to a 0-dim tensor"),
        "x3.narrow(0, 0, -1)": (RuntimeError, "length must be non-negative"),
        "x3.narrow(0, 2, 2)": (RuntimeError, "exceeds dimension size"),
        "scalar.select(0, 0)": (IndexError, "select() cannot be applied to a 0-dim tensor"),
        "x3.select(0, 3)": (IndexError, "out of range"),
        "x3.select(0, -4)": (IndexError, "out of range"),
        "x3.select(1, 0)": (IndexError, "Dimension out of range"),
        "x3.as_strided((2, 2), (1,))": (RuntimeError, "mismatch in length of strides and shape"),
        "m23.diagonal(0, 1, 1)": (RuntimeError, "diagonal dimensions cannot be identical"),
        "torch.diag_embed(x2, 0, 1, 1)": (RuntimeError, "dimensions cannot be identical"),
        "x3.view(None)": (TypeError, ""),
        "x3.unfold(0, 4, 1)": (RuntimeError, "maximum size for tensor at dimension 0 is 3"),
        "x3.unfold(0, 1, 0)": (RuntimeError, "step"),
        "x3.unfold(0, -1, 1)": (RuntimeError, "size"),
        "x3.expand(-2)": (RuntimeError, "invalid size|-2"),
        "x3.expand(2, 2)": (RuntimeError, "must match the existing size"),
        "x3.expand(-1, 3)": (RuntimeError, "leading, non-existing dimension 0"),
        "m23.expand(3)": (RuntimeError, "number of sizes provided"),
        "x3.unflatten(0, (-1, -1))": (RuntimeError, "only one dimension can be inferred"),
        "x3.reshape(-1, -1)": (RuntimeError, "only one dimension can be inferred"),
        "x3.reshape(-2, 3)": (RuntimeError, "invalid shape dimension"),
        "x3.reshape(2, -1)": (RuntimeError, "is invalid for input of size 3"),
        "torch.zeros(0).reshape(0, -1)": (RuntimeError, "cannot reshape tensor of 0 elements"),
        "m23.flatten(1, 0)": (RuntimeError, "start_dim cannot come after end_dim"),
        "x3.sum_to_size(2)": (RuntimeError, "not expandable"),
        "x3.sum_to_size(1, 3)": (RuntimeError, "not expandable"),
        "x3.split(-1)": (RuntimeError, "split_size be non-negative"),
        "torch.split(x3, -1)": (RuntimeError, "split_size be non-negative"),
        "torch.split(x3, [1, 1])": (RuntimeError, "sum exactly to 3"),
        "torch.tensor_split(x3, 0)": (RuntimeError, "larger than 0"),
        "torch.chunk(x3, 0)": (RuntimeError, "chunks"),
        "torch.zeros(2, 2, 2).t()": (RuntimeError, "expects a tensor with <= 2 dimensions"),
        "torch.zeros(2, 2, 2).t_()": (RuntimeError, "expects a tensor with <= 2 dimensions"),
        "m23.to(memory_format=torch.channels_last)": (RuntimeError, "required rank 4"),
        "m23.contiguous(memory_format=torch.channels_last_3d)": (RuntimeError, "required rank 5"),
        "torch.empty(2, memory_format=torch.preserve_format)": (RuntimeError, "preserve_format"),
        "x3.movedim(0, 1)": (IndexError, "Dimension out of range"),
        "m23.movedim((0, 1), (0, 0))": (RuntimeError, "repeated|unique|appears multiple times"),
        "m23.squeeze((0, 0))": (RuntimeError, "appears multiple times"),
        "m23.sum((0, 0))": (RuntimeError, "appears multiple times"),
        "torch.roll(x3, (1, 2), 0)": (RuntimeError, "shifts and dimensions must align"),
        "torch.roll(m23, (1, 2))": (RuntimeError, "shifts and dimensions must align"),
        "torch.rot90(m23, 1, (0, 0))": (RuntimeError, "dims to be different"),
        "torch.rot90(m23, 1, (0,))": (RuntimeError, "rotation dims"),
        "torch.rot90(m23, 1, (0, 2))": ((RuntimeError, IndexError), "ange"),
        "torch.repeat_interleave(x2, -1)": (RuntimeError, "can not be negative"),
        "torch.repeat_interleave(x2, torch.tensor([1, -1]))": (RuntimeError, "negative"),
        "torch.repeat_interleave(x2, x2)": (RuntimeError, "0-dim or 1-dim tensor of integers"),
        "torch.repeat_interleave(x2, torch.tensor([1, 2, 3]))": (RuntimeError, "same size"),
        "torch.repeat_interleave(x2, torch.tensor([1, 2]), output_size=2)": (RuntimeError, "3|2"),
    },
    "indices": {
        "x3['a']": (TypeError, "invalid data type 'str'"),
        "x3[1.5]": (IndexError, "only integers, slices"),
        "m23[0, 0, 0]": (IndexError, "too many indices"),
        "x3[3]": (IndexError, "out of bounds"),
        "x3[-4]": (IndexError, "out of bounds"),
        "x3[::-1]": (ValueError, "step must be greater than zero"),
        "scalar[0]": (IndexError, "0-dim|dimension 0"),
        "scalar[:]": (IndexError, ""),
        "m33[torch.tensor([True, False])]": (IndexError, "mask"),
        "x3[torch.tensor([3])]": (IndexError, "out of bounds"),
        "x3[x3]": (IndexError, "must be long, int, byte or bool"),
        "m33[torch.tensor([0, 1]), torch.tensor([0, 1, 2])]": (IndexError, "broadcast"),
        "torch.index_select(scalar, 0, i2)": (
            RuntimeError,
            "Index to scalar can have only 1 value",
        ),
        "torch.index_select(m23, 0, m23.long())": ((IndexError, RuntimeError), "vector|dimension"),
        "torch.index_select(x3, 0, x2)": (RuntimeError, "int"),
        "torch.index_copy(x3, 0, m23.long(), x3)": (IndexError, "dimension 1 or 0"),
        "torch.index_copy(x3, 0, x2, x2)": (RuntimeError, "long tensor for index"),
        "torch.index_copy(x3, 0, i2, x3)": ((IndexError, RuntimeError), ""),
        "torch.index_add(x3, 0, i2, x3)": ((IndexError, RuntimeError), ""),
        "torch.take(x3, x2)": (RuntimeError, "long tensor for index"),
        "torch.gather(x3, 0, x2)": (RuntimeError, "int64"),
        "torch.gather(x3, 0, m23.long())": (RuntimeError, "same number of dimensions"),
        "torch.scatter(x3, 0, m23.long(), 1.0)": (RuntimeError, "dimensions"),
        "torch.scatter(x3, 0, i2, torch.zeros(1))": (RuntimeError, ""),
        "torch.masked_fill(x3, x3, 1.0)": (RuntimeError, "bool"),
        "torch.masked_select(x3, x3)": (RuntimeError, "BoolTensor|bool"),
        "x3.masked_scatter_(x3 == 0, i2)": (RuntimeError, "same dtypes"),
        "x3.masked_scatter_(x3 == 0, x2)": (RuntimeError, ""),
        "x3.put_(x2, x2)": ((RuntimeError, AttributeError), ""),
    },
    "arguments and values": {
        "bool(torch.zeros(0))": (RuntimeError, "Boolean value of Tensor with no values"),
        "bool(x2)": (RuntimeError, "more than one value is ambiguous"),
        "len(scalar)": (TypeError, "len() of a 0-d tensor"),
        "list(scalar)": (TypeError, "iteration over a 0-d tensor"),
        "'a' in x2": (RuntimeError, "only supports Tensor or scalar"),
        "x2.item()": (RuntimeError, "cannot be converted to Scalar"),
        "float(c2[0] + 1j)": ((RuntimeError, TypeError), "complex"),
        "x2.type('torch.NoTensor')": (ValueError, "invalid type"),
        "x2.type(int)": (ValueError, "invalid type"),
        "x2.fill_(1j)": (RuntimeError, "cannot be converted to type float"),
        "torch.tensor(1j, dtype=torch.float32)": ((RuntimeError, TypeError), "complex"),
        "torch.tensor([1, [2]])": (TypeError, "nested deeper"),
        "torch.tensor([[1], 2])": ((ValueError, TypeError), "not a sequence|sequence of length"),
        "torch.tensor([[1, 2], [3]])": (ValueError, "expected sequence of length 2 at dim 1"),
        "torch.tensor([np.zeros(2), np.zeros((2, 2))])": (ValueError, ""),
        "torch.tensor([object()])": ((RuntimeError, TypeError), "object"),
        "torch.iinfo(torch.float32)": (TypeError, "requires an integer input type"),
        "torch.finfo(torch.int32)": (TypeError, "requires a floating point input type"),
        "torch.isclose(x2, x2, rtol=-1.0)": (RuntimeError, "must be >= 0, but got -1.0"),
        "torch.isclose(x2, x2, atol=-1.0)": (RuntimeError, "must be >= 0, but got 1e-05 and -1.0"),
        "torch.isclose(x2, i2)": (RuntimeError, "did not match"),
        "torch.result_type()": (TypeError, ""),
        "torch.result_type('a', x2)": (TypeError, "must be Tensor or Number"),
        "i2 // 0": (RuntimeError, "ZeroDivisionError"),
        "i2 % 0": (RuntimeError, "ZeroDivisionError"),
        "torch.sum(x2, 0, False, None)": (TypeError, ""),
        "scalar.index_fill(0, i2[:1] + 1, 0.0)": (IndexError, "index 1 is out of bounds"),
        "scalar.index_fill(0, i2[:1] - 2, 0.0)": (IndexError, "index -2 is out of bounds"),
        "scalar.index_select(0, i2[:1] + 1)": (IndexError, "index 1 is out of bounds"),
        "scalar.index_select(0, i2)": (RuntimeError, "can have only 1 value, got 2"),
        "scalar.index_add(0, i2[:1] + 1, scalar)": (RuntimeError, "index 1 is out of bounds"),
        "torch.trace(x2)": (RuntimeError, "trace: expected a matrix, but got tensor with dim 1"),
        "torch.trace(m33[None])": (RuntimeError, "expected a matrix, but got tensor with dim 3"),
        "torch.view_as_real(deep.to(torch.complex64))": (RuntimeError, DIMS),
        "x3[slice(None, None, -1)]": (ValueError, "step must be greater than zero"),
        "x3[::0]": (ValueError, ""),
        "i2[:0].median()": (RuntimeError, "without elements"),
        "i2[:0].median(0)": (IndexError, "non-zero size"),
        "torch.norm(x2, p='bad')": (RuntimeError, ""),
        "x2.data.__setattr__('grad', x3)": (RuntimeError, ""),
        "x2.__setattr__('grad', x2)": (RuntimeError, "can't assign Variable as its own grad"),
        "x2.__setattr__('grad', 1)": (TypeError, ""),
        "frozen.fill_(1.0)": (RuntimeError, "read-only memory"),
        "frozen.add_(1.0)": (RuntimeError, "read-only memory"),
        "frozen.mul_(frozen)": (RuntimeError, "read-only memory"),
        "frozen.zero_()": (RuntimeError, "read-only memory"),
        "frozen.copy_(torch.ones(4))": (RuntimeError, "read-only memory"),
        "frozen.uniform_()": (RuntimeError, "read-only memory"),
        "frozen.__setitem__(0, 1.0)": (RuntimeError, "read-only memory"),
        "frozen[:2].exp_()": (RuntimeError, "read-only memory"),
        "frozen.t_()": (RuntimeError, ""),
        "torch.exp(x2, out=frozen[:2])": (RuntimeError, "read-only memory"),
        "torch.mm(x2[:1, None], x2[:1, None], out=frozen[:1, None])": (RuntimeError, "read-only"),
        "x2.__reversed__(1)": (TypeError, ""),
    },
    "made of numbers": {
        "torch.arange()": (TypeError, 'missing 1 required positional arguments: "end"'),
        "torch.arange(0, 1, 1, 1)": (TypeError, "at most 3 positional arguments"),
        "torch.arange(0, 1, start=0)": (TypeError, "multiple values for argument 'start'"),
        "torch.arange(0, 1, end=0)": (TypeError, "multiple values for argument 'end'"),
        "torch.arange(0, 1, 1, step=0)": (TypeError, "multiple values for argument 'step'"),
        "torch.arange(0, 1, 0)": (RuntimeError, "step must be nonzero"),
        "torch.arange(0, 1.0, 0.5, dtype=torch.int64)": (ValueError, "step must be nonzero"),
        "torch.arange(1, 0)": (RuntimeError, "inconsistent with step sign"),
        "torch.arange(0, 1, -1)": (RuntimeError, "inconsistent with step sign"),
        "torch.arange(0, float('inf'))": (RuntimeError, "unsupported range"),
        "torch.arange(float('nan'), 1)": (RuntimeError, "unsupported range"),
        "torch.arange(0.0, 1e300, 1e-300)": (RuntimeError, "possible overflow"),
        "torch.arange(0, 2**70)": (OverflowError, "int too big to convert"),
        "torch.arange(1j)": (RuntimeError, "without overflow"),
        "torch.arange(2, dtype=torch.bool)": (NotImplementedError, "not implemented for"),
        "torch.arange(2, dtype=torch.complex64)": (NotImplementedError, "not implemented for"),
        "torch.linspace(0, 1, -1)": (RuntimeError, "number of steps must be non-negative"),
        "torch.linspace(0, 1, 2.0)": (TypeError, "'steps' must be int"),
        "torch.linspace(0, 1, True)": (TypeError, "'steps' must be int"),
        "torch.linspace(x2, 1, 2)": (RuntimeError, "0-dimensional start and end tensors"),
        "torch.linspace(0, 1j, 2, dtype=torch.float32)": (RuntimeError, "need a complex dtype"),
        "torch.linspace(0, 1, 2, dtype=torch.bool)": (NotImplementedError, "bool"),
        "torch.logspace(0, 1, -1)": (RuntimeError, "number of steps must be non-negative"),
        "torch.logspace(0, 1j, 2, dtype=torch.float32)": (RuntimeError, "need a complex dtype"),
        "torch.empty(2, device='cuda')": (RuntimeError, "not available"),
        "torch.empty(2, pin_memory=True)": (RuntimeError, "pin_memory"),
        "torch.device(5.0)": (TypeError, "must be str"),
        "torch.device('cpu:0', 1)": (RuntimeError, "must not include an index"),
        "torch.device('nosuch')": (RuntimeError, "Expected one of|device type"),
        "torch.zeros(-1)": (RuntimeError, "must be non-negative"),
        "torch.full((2,), 'a')": (TypeError, ""),
        "torch.eye(-1)": (RuntimeError, "greater or equal to 0"),
        "torch.frombuffer(b'', dtype=torch.float32)": (ValueError, "length"),
        "torch.frombuffer(memoryview(bytes(8))[::2], dtype=torch.uint8)": (
            (RuntimeError, BufferError),
            "contiguous",
        ),
        "torch.randint(3, 3, (2,))": (RuntimeError, "'from' to be less than 'to'"),
        "torch.randint(4, 3, (2,))": (RuntimeError, "'from' to be less than 'to'"),
        "torch.randint(300, (2,), dtype=torch.uint8)": (RuntimeError, "out of bounds"),
        "torch.randint(-1, 3, (2,), dtype=torch.uint8)": (RuntimeError, "out of bounds"),
        "x2.uniform_(1, 0)": (RuntimeError, "[from, to) range"),
        "x2.uniform_(0, 1e39)": (RuntimeError, "out of bounds"),
        "i2.uniform_()": (NotImplementedError, "not implemented for"),
        "x2.normal_(0, -1)": (RuntimeError, "std >= 0.0"),
        "x2.normal_(0, float('nan'))": (RuntimeError, "std >= 0.0"),
        "x2.exponential_(0)": (RuntimeError, "lambda > 0.0"),
        "i2.exponential_()": (RuntimeError, "continuous probability distribution"),
        "x2.bernoulli_(1.5)": (RuntimeError, "p to be in [0, 1]"),
        "x2.bernoulli_(-0.5)": (RuntimeError, "p to be in [0, 1]"),
        "torch.bernoulli(torch.tensor([0.5, 2.0]))": (RuntimeError, "p_in >= 0 && p_in <= 1"),
        "torch.bernoulli(torch.tensor([-0.5, 0.5]))": (RuntimeError, "p_in >= 0 && p_in <= 1"),
        "x2.bernoulli_(i2)": (NotImplementedError, "probabilities must be floating"),
        "c2.bernoulli_(0.5)": (NotImplementedError, "not implemented for"),
        "torch.normal(x2, c2)": (RuntimeError, "standard deviation to be non-complex"),
        "torch.normal(x2, x2, (2,))": (TypeError, "leave it out"),
        "torch.randperm(-1)": (RuntimeError, "non-negative"),
        "torch.multinomial(x2, 1)": ((RuntimeError, AttributeError), ""),
        "torch.testing.make_tensor(2, dtype=torch.float32, low=float('nan'), device='cpu')": (
            ValueError,
            "cannot be NaN",
        ),
        "torch.testing.make_tensor(2, dtype=torch.float32, low=2, high=1, device='cpu')": (
            ValueError,
            "",
        ),
    },
    "products and losses": {
        "torch.mm(m23, m23)": (RuntimeError, "shapes cannot be multiplied"),
        "torch.mm(x2, m23)": (RuntimeError, ""),
        "torch.mv(m23, x2)": (RuntimeError, "size mismatch"),
        "torch.mv(m23, m23)": (RuntimeError, ""),
        "torch.dot(x2, x3)": (RuntimeError, "same number of elements|inconsistent tensor size"),
        "torch.dot(m23, m23)": (RuntimeError, "1D tensors expected"),
        "torch.dot(x2, i2)": (RuntimeError, "same dtype|dtype"),
        "torch.bmm(m23, m23)": (RuntimeError, "must be 3D|must be a 3D"),
        "torch.bmm(torch.zeros(2, 2, 3), torch.zeros(2, 2, 3))": (
            RuntimeError,
            "Expected size for first two dimensions of batch2",
        ),
        "torch.bmm(torch.zeros(2, 2, 3), torch.zeros(3, 3, 3))": (
            RuntimeError,
            "Expected size for first two dimensions of batch2",
        ),
        "torch.matmul(m23, m23)": (RuntimeError, "cannot be multiplied|inner sizes differ"),
        "torch.matmul(m23, x2)": (RuntimeError, ""),
        "torch.matmul(x2, m33)": (RuntimeError, ""),
        "torch.matmul(torch.zeros(2, 2, 3), torch.zeros(2, 2, 3))": (RuntimeError, ""),
        "torch.matmul(torch.zeros(2, 2, 3), torch.zeros(3, 3, 2))": (RuntimeError, ""),
        "torch.matmul(scalar, x2)": (RuntimeError, "at least 1D"),
        "torch.addmm(m23, m33, m33)": (RuntimeError, ""),
        "torch.addr(m23, x3, x3)": (RuntimeError, ""),
        "torch.addr(m23, m23, x3)": (RuntimeError, "1-D"),
        "torch.outer(m23, x3)": (RuntimeError, "1-D"),
        "torch.linalg.multi_dot([m23])": (RuntimeError, "expected at least 2 tensors but got 1"),
        "torch.linalg.matrix_norm(x2)": (RuntimeError, "at least 2 dimensions"),
        "torch.linalg.matrix_norm(m23, dim=(0, 0))": (RuntimeError, "dims must be different"),
        "torch.nn.functional.cross_entropy(m23, i2, label_smoothing=2.0)": (
            RuntimeError,
            "label_smoothing must be between",
        ),
        "torch.nn.functional.cross_entropy(m23, i2, label_smoothing=-0.1)": (
            RuntimeError,
            "label_smoothing must be between",
        ),
        "torch.nn.functional.nll_loss(m23, torch.tensor([0, 3]))": (
            (IndexError, RuntimeError),
            "out of bounds",
        ),
        "torch.nn.functional.nll_loss(m23, torch.tensor([0, 1, 2]))": (
            (ValueError, RuntimeError),
            "",
        ),
        "torch.nn.functional.nll_loss(m23, i2, weight=x2)": (RuntimeError, "weight"),
        "torch.nn.functional.nll_loss(m23, i2, reduction='bad')": (ValueError, "bad"),
        "torch.nn.functional.mse_loss(x2, x2, reduction='bad')": (ValueError, "bad"),
        "torch.nn.init.xavier_uniform_(x2)": (ValueError, "fewer than 2 dimensions"),
        "torch.nn.init.sparse_(x2, 0.1)": ((ValueError, AttributeError), ""),
        "torch.nn.init.eye_(x2)": ((ValueError, AttributeError), ""),
        "torch.cat([])": ((ValueError, RuntimeError), "non-empty"),
        "torch.cat([x2, m23])": (RuntimeError, "same number of dimensions|dimensions"),
        "torch.cat([m23, m33], 1)": (RuntimeError, "Sizes of tensors must match"),
        "torch.cat([scalar, scalar])": (RuntimeError, "zero-dimensional"),
        "torch.stack([])": ((ValueError, RuntimeError), "non-empty"),
        "torch.stack([x2, x3])": (RuntimeError, "equal size"),
        "torch.meshgrid(x2, i2, indexing='ij')": (RuntimeError, "same dtype"),
        "torch.meshgrid(x2, x2, indexing='a')": (RuntimeError, "indexing"),
    },
    "backward and grad": {
        "(leaf * 2).backward()": (RuntimeError, "only for scalar outputs"),
        "(leaf_c * 2).sum().backward()": (RuntimeError, "real scalar outputs"),
        "autograd.backward(leaf * 2, [1.0])": (TypeError, "either Tensors or None"),
        "autograd.backward(leaf * 2, [x3])": (RuntimeError, "Mismatch in shape"),
        "autograd.backward(leaf * 2, [c2])": (RuntimeError, "both should be complex|omplex"),
        "autograd.backward([leaf * 2, leaf * 3], [x2])": (
            RuntimeError,
            "2 tensors and 1 gradients",
        ),
        "autograd.backward(square(leaf), inputs=[])": (RuntimeError, "cannot be empty"),
        "autograd.backward(x2.sum())": (RuntimeError, "does not require grad"),
        "autograd.backward('a')": (TypeError, ""),
        "autograd.grad(square(leaf), [])": (RuntimeError, "`grad()` cannot be empty"),
        "autograd.grad(square(leaf), x2)": (RuntimeError, "not require grad"),
        "autograd.grad(square(leaf), leaf, [None, None])": (
            RuntimeError,
            "1 outputs and 2 gradients",
        ),
        "autograd.grad(square(leaf), torch.ones(2, requires_grad=True))": (
            RuntimeError,
            "not have been used in the graph",
        ),
        "autograd.grad(square(leaf), leaf, allow_unused=False, materialize_grads=True)": (
            ValueError,
            "Expected allow_unused to be True",
        ),
        "backward_twice()": (RuntimeError, "second time"),
        "autograd.graph.increment_version(5)": (RuntimeError, "Iterable[Tensor]"),
        "autograd.graph.increment_version([5])": (RuntimeError, "each element of the iterable"),
        "autograd.graph.get_gradient_edge(x2)": (RuntimeError, "require gradients"),
        "x2.register_hook(print)": (RuntimeError, "doesn't require gradient"),
        "x2.retain_grad()": (RuntimeError, "requires_grad=False"),
        "(leaf * 2).register_post_accumulate_grad_hook(print)": (RuntimeError, "leaf"),
        "x2.register_post_accumulate_grad_hook(print)": (RuntimeError, "doesn't require gradient"),
        "i2.requires_grad_()": (RuntimeError, "floating point"),
        "(leaf * 2).requires_grad_(False)": (RuntimeError, "leaf variables"),
        "leaf.__setattr__('grad', x3)": (RuntimeError, "size"),
        "leaf.__setattr__('grad', x2.double())": (RuntimeError, "type"),
        "leaf.numpy()": (RuntimeError, "requires grad"),
        "leaf.add_(1)": (RuntimeError, "leaf Variable"),
        "square(leaf).grad_fn()": (TypeError, "expected 1 arguments"),
        "square(leaf).grad_fn(1)": (TypeError, "argument 0 is not a Variable"),
        "square(leaf).grad_fn(x2, x2)": (TypeError, "expected 1 arguments, got 2"),
        "(leaf * leaf).grad_fn._raw_saved_self.register_hooks(1, 2)": (TypeError, "two callables"),
        "(leaf * leaf).grad_fn._raw_saved_self.register_hooks(id, 2)": (TypeError, "two callables"),
        "(leaf * leaf).grad_fn._raw_saved_self.register_hooks(1, id)": (TypeError, "two callables"),
        "autograd.graph._register_logging_hooks_on_whole_graph(1)": (
            (TypeError, AttributeError),
            "",
        ),
    },
    "functions": {
        "Bare.apply(leaf)": (NotImplementedError, "must implement the forward function"),
        "Bare.setup_context(None, (), None)": (NotImplementedError, "setup_context"),
        "Bare.jvp(None)": (NotImplementedError, "jvp function"),
        "Bare.backward(None)": (NotImplementedError, "backward or vjp"),
        "Bare.vmap(None)": (NotImplementedError, "override the vmap staticmethod"),
        "Keywords.apply(leaf, factor=3)": (TypeError, ""),
        "OnlyForward.apply(leaf).sum().backward()": (NotImplementedError, "backward or vjp"),
        "in_vmap(OnlyForward.apply)": (RuntimeError, "vmap"),
        "in_vmap(lambda x: x.sum().item())": (RuntimeError, ".item() on a Tensor"),
        "in_vmap(lambda x: x if x.sum() > 0 else -x)": (
            RuntimeError,
            "data-dependent control flow",
        ),
        "in_vmap(pickle.dumps)": (RuntimeError, "inside vmap cannot be copied or pickled"),
        "in_vmap(lambda x: 5)": (ValueError, "must only return Tensors"),
        "in_vmap(lambda x: torch.rand(2))": (RuntimeError, "randomness"),
        "func.vmap(lambda x: x)(5)": (ValueError, "input is of type <class 'int'>"),
        "func.vmap(lambda x: x)()": (ValueError, "no inputs"),
        "func.vmap(lambda x: x, in_dims=1)(x2)": (ValueError, "in_dim"),
        "func.vmap(lambda x: x, in_dims=None)(x2)": (ValueError, "at least one"),
        "func.vmap(lambda x: x, in_dims='a')(x2)": (ValueError, "in_dims"),
        "func.vmap(lambda x, y: x, in_dims=(0,))(x2, x2)": (ValueError, "in_dims"),
        "func.vmap(lambda x, y: x)(x2, x3)": (ValueError, "same|inconsistent"),
        "func.vmap(lambda x: x, out_dims='a')(x2)": (ValueError, "out_dims"),
        "func.vmap(lambda x: x, out_dims=3)(x2)": (IndexError, "ange"),
        "func.vmap(lambda x: x, randomness='a')(x2)": (RuntimeError, "randomness"),
        "func.vmap(lambda x: x, chunk_size=0)(x2)": (ValueError, "chunk_size"),
        "func.grad(lambda x: x)(x2)": (RuntimeError, "scalar"),
        "func.grad(lambda x: 1.0)(x2)": (RuntimeError, "Tensor"),
        "func.grad(square, argnums=1)(x2)": (RuntimeError, "argnum"),
        "func.grad(square, argnums='a')(x2)": (RuntimeError, "argnum"),
        "func.jvp(square, (x2,), (x3,))": ((RuntimeError, ValueError), ""),
        "func.jvp(square, x2, x2)": (RuntimeError, "tuple"),
        "func.jacrev(square, chunk_size=0)(x2)": (ValueError, "chunk_size"),
        "functional.jacobian(lambda x: 1.0, x2)": (TypeError, "Tensor"),
        "functional.hessian(lambda x: x, x2)": (RuntimeError, "single element|scalar"),
        "functional.jacobian(square, 5)": (TypeError, "Tensor"),
        "functional.jacobian(square, x2, strategy='a')": (AssertionError, "trategy"),
        "functional.jacobian(square, x2, strategy='forward-mode', create_graph=True)": (
            NotImplementedError,
            "create_graph",
        ),
        "functional.jacobian(square, x2, strict=True, vectorize=True)": (
            RuntimeError,
            "`strict=True` and `vectorized=True` are not supported together",
        ),
        "functional.vjp(lambda x: x, x2)": (RuntimeError, "v"),
        "functional.vjp(lambda x: x, x2, x3)": (RuntimeError, "size"),
        "functional.jvp(square, x2)": (RuntimeError, "v"),
        "functional.hvp(square, x2, x3)": (RuntimeError, "size"),
        "forward_ad.make_dual(x2, x2)": (RuntimeError, "no level exists"),
        "dual(level=7)": (RuntimeError, "Invalid level given to make_dual"),
        "dual(primal=5)": (TypeError, "primal must be Tensor"),
        "dual(tangent=5)": (TypeError, "tangent must be Tensor"),
        "dual(primal=i2)": ((ValueError, RuntimeError), "floating"),
        "dual(tangent=i2)": ((ValueError, RuntimeError), "floating"),
        "dual(tangent=x3)": (RuntimeError, ""),
        "forward_ad.exit_dual_level()": (RuntimeError, ""),
        "autograd.gradcheck(square, 5)": (ValueError, "at least one input tensor"),
        "autograd.gradcheck(square, x2)": (ValueError, "requires_grad"),
    },
    "modules and optimizers": {
        "linear.load_state_dict(5)": (TypeError, "dict-like"),
        "linear.load_state_dict({})": (RuntimeError, "Missing key"),
        "linear.load_state_dict({**linear.state_dict(), 'a': x2})": (
            RuntimeError,
            "Unexpected key",
        ),
        "linear.load_state_dict({'weight': x3, 'bias': x2})": (RuntimeError, "size mismatch"),
        "with_post_hook()": (AssertionError, "not expected to return new values"),
        "linear.__setattr__('weight', x2)": (TypeError, "cannot assign"),
        "linear.register_parameter('a.b', None)": (KeyError, "."),
        "linear.register_parameter('', None)": (KeyError, "empty"),
        "linear.register_parameter(5, None)": (TypeError, ""),
        "linear.register_parameter('forward', None)": (KeyError, "exists"),
        "linear.register_parameter('p', x2)": (TypeError, "arameter"),
        "linear.register_buffer('a.b', None)": (KeyError, "."),
        "linear.register_buffer('', None)": (KeyError, "empty"),
        "linear.register_buffer('b', 5)": (TypeError, "Tensor"),
        "linear.register_buffer('weight', x2)": (KeyError, "exists"),
        "linear.add_module('a.b', None)": (KeyError, "."),
        "linear.add_module('a', 5)": (TypeError, "Module"),
        "linear.get_parameter('nosuch')": (AttributeError, "nosuch"),
        "linear.get_submodule('nosuch')": (AttributeError, "nosuch"),
        "linear.nosuch": (AttributeError, "nosuch"),
        "linear(x3)": (RuntimeError, ""),
        "linear.to(torch.int64)": (TypeError, "floating"),
        "linear.to('nosuch')": (RuntimeError, ""),
        "nn.Module().forward(1)": (NotImplementedError, "forward"),
        "nn.Dropout(1.5)": (ValueError, "between 0 and 1"),
        "nn.Dropout(-0.5)": (ValueError, "between 0 and 1"),
        "nn.Sequential(nn.ReLU())[1]": (IndexError, "out of range"),
        "nn.Sequential(nn.ReLU())[-2]": (IndexError, "out of range"),
        "nn.ModuleList([nn.ReLU()])[1]": (IndexError, "out of range"),
        "nn.Sequential(5)": (TypeError, "Module"),
        "optim.SGD([], lr=1)": (ValueError, "empty parameter list"),
        "optim.SGD([{'params': {leaf}}], lr=1)": (TypeError, "ordered collections"),
        "optim.SGD([5], lr=1)": (TypeError, "can only optimize Tensors"),
        "optim.SGD([leaf * 2], lr=1)": (ValueError, "non-leaf"),
        "doubled(optim.SGD(linear.parameters(), lr=1))": (
            ValueError,
            "more than one parameter group",
        ),
        "optim.SGD([leaf], lr=-1)": (ValueError, "Invalid learning rate"),
        "optim.SGD([leaf], lr=1, momentum=-1)": (ValueError, "Invalid momentum"),
        "optim.SGD([leaf], lr=1, weight_decay=-1)": (ValueError, "Invalid weight_decay"),
        "optim.SGD([leaf], lr=1, nesterov=True)": (ValueError, "momentum"),
        "optim.SGD([leaf], lr=1, nesterov=True, momentum=0.9, dampening=0.1)": (
            ValueError,
            "dampening",
        ),
        "optim.Adam([leaf], lr=-1)": (ValueError, "Invalid learning rate"),
        "optim.Adam([leaf], eps=-1)": (ValueError, "Invalid epsilon"),
        "optim.Adam([leaf], betas=(-0.1, 0.9))": (ValueError, "Invalid beta"),
        "optim.Adam([leaf], betas=(0.9, 1.0))": (ValueError, "Invalid beta"),
        "optim.Adam([leaf], betas=(1.0, 0.9))": (ValueError, "Invalid beta"),
        "optim.Adam([leaf], weight_decay=-1)": (ValueError, "Invalid weight_decay"),
        "optim.Optimizer([leaf], {}).step()": (NotImplementedError, "no step"),
        "optim.SGD([leaf], lr=1).load_state_dict({})": ((KeyError, ValueError), ""),
        "optim.SGD([leaf], lr=1).load_state_dict(optim.SGD([leaf, x2], lr=1).state_dict())": (
            ValueError,
            "size of optimizer's group|doesn't match",
        ),
    },
    "copies and exchange": {
        "copy.deepcopy(leaf * 2)": (RuntimeError, "explicitly by the user (graph leaves)"),
        "type(x2.numpy().base)()": (TypeError, "cannot be made"),
        "leaf.__dlpack__()": (BufferError, "require gradient"),
        "x2.__dlpack__(stream=5)": (ValueError, "stream should be None"),
        "x2.__dlpack__(dl_device=(2, 0))": (BufferError, "GPU 0, can't be used here"),
        "frozen.__dlpack__()": (BufferError, "read-only memory"),
        "torch.from_dlpack(5)": (RuntimeError, "invalid capsule"),
        "torch.from_dlpack(np.zeros(3)[::-1])": (BufferError, "negative strides"),
        "torch.from_numpy(5)": (TypeError, "ndarray"),
        "torch.from_numpy(np.zeros(2, dtype='U1'))": (TypeError, "can't convert"),
        "torch.from_numpy(np.zeros(3)[::-1])": (ValueError, "negative"),
        "torch.utils.dlpack.from_dlpack(5)": (RuntimeError, "invalid capsule"),
        "func.functional_call(linear, {'nosuch': x2}, x2, strict=True)": (RuntimeError, "nosuch"),
    },
}


@pytest.mark.parametrize("group", REFUSED)
def test_what_means_nothing_is_refused(group):
    wrong = {}
    for call, (kind, words) in REFUSED[group].items():
        try:
            found = eval(call, NAMES)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            if not isinstance(error, kind) or not any(w in said for w in words.split("|")):
                wrong[call] = said[:200]
        else:
            wrong[call] = f"went through: {found}"
    assert not wrong, "\n".join(f"{call}\n    {said}" for call, said in wrong.items())
