"""Tensors in other shapes: views share their version with the input, copies don't."""

from __future__ import annotations

import autograd_cy as ag
from autograd_cy import Tensor

from ...creation import cat
from ..function import Function
from .adapter import FLOATING, Adapter, Unary, as_floating, define, leaf, never

__all__ = [
    "Chunk",
    "Clone",
    "Concat",
    "CudaTransfer",
    "Diag",
    "Expand",
    "NoGrad",
    "Permute",
    "Repeat",
    "Resize",
    "Squeeze",
    "Transpose",
    "Tril",
    "Triu",
    "Type",
    "Unsqueeze",
    "View",
]


def _sizes(sizes):
    """Sizes that were given one by one or as one sequence."""
    return tuple(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else tuple(sizes)


class _View(Adapter):
    """The elements of the input in another shape, on the same memory."""

    views = True

    def __init_subclass__(cls):
        if cls.name:
            cls._operator = staticmethod(getattr(Tensor, cls.name))
        super().__init_subclass__()


class View(_View):
    """Other sizes, of a contiguous tensor."""

    name = "view"

    def __init__(self, *sizes):
        self.sizes = _sizes(sizes)
        self.extra = self.sizes or ((),)

    def fits(self, x):
        return type(x) in FLOATING and Tensor.is_contiguous(x)


class _OfDims(_View):
    """A view by dimensions, or by none."""

    def __init__(self, *dims):
        self.extra = dims


Transpose = define(__name__, "Transpose", _OfDims)


class Squeeze(_OfDims):
    """Without dimensions of size one, or without one of them."""

    name = "squeeze"

    def __init__(self, dim=None):
        self.extra = () if dim is None else (dim,)


class Unsqueeze(_View):
    """With another dimension of size one."""

    name = "unsqueeze"

    def __init__(self, dim):
        self.dim = dim
        self.extra = (dim,)

    def fits(self, x):
        return type(x) in FLOATING and Tensor.numel(x)


class Permute(_View):
    """Dimensions in another order."""

    name = "permute"

    def __init__(self, dims):
        self.dims = self.extra = tuple(dims)


class Expand(_View):
    """Dimensions of size one shown several times, and new ones before them."""

    name = "expand"

    def __init__(self, sizes):
        self.sizes = self.extra = _sizes((sizes,))

    def forward(self, x):
        self.size = x.shape
        return super().forward(x)

    def _derived(self, grads):
        # The node leaves this to the engine of today.
        return (Tensor.sum_to_size(grads[0], self.size),)


class Resize(Adapter):
    """Other sizes with as many elements; a copy of what isn't contiguous."""

    several = True
    fits = never

    def __init__(self, *sizes):
        self.sizes = _sizes(sizes)

    def core(self, x):
        return ag.reshape(x, self.sizes)

    def method(self, x):
        count = ag.Size(self.sizes).numel()
        if count != x.numel():
            raise RuntimeError(
                f"requested resize to {'x'.join(map(str, self.sizes))} ({count} elements in "
                f"total), but the given tensor has a size of {'x'.join(map(str, x.shape))} "
                f"({x.numel()} elements). autograd's resize can only change the shape of a given "
                "tensor, while preserving the number of elements."
            )
        whole = x.contiguous()
        out = whole.view(*self.sizes)
        if whole is x:
            self.mark_shared_storage((x, out))
        return out


class Clone(Unary):
    """A contiguous copy."""

    name = "clone"

    @staticmethod
    def _operator(x):
        return ag.clone(x, memory_format=ag.contiguous_format)


class Repeat(Adapter):
    """Copies side by side along each dimension."""

    name = "repeat"
    several = True

    def __init__(self, repeats):
        self.repeats = self.extra = _sizes((repeats,))

    def core(self, x):
        return Tensor.repeat(x, self.repeats)


class _OfDiagonal(Adapter):
    """A part of a matrix by its distance from the diagonal."""

    def __init__(self, k=0):
        self.extra = (k,)


Tril, Triu = define(__name__, "Tril Triu", _OfDiagonal)
# The diagonal of a matrix, or the matrix of a diagonal.
Diag = define(__name__, "Diag", _OfDiagonal, several=True)


class Concat(Adapter):
    """Tensors one after the other along a dimension."""

    def __init__(self, dim):
        self.dim = dim

    def fits(self, *tensors):
        kind = type(tensors[0])
        return kind in FLOATING and {*map(type, tensors)} == {kind}

    def core(self, *tensors):
        return ag.cat(tensors, self.dim)

    def method(self, *tensors):
        return cat(tensors, self.dim)

    def adapted(self, inputs):
        return [as_floating(t, t.shape) for t in inputs]


class Chunk(Adapter):
    """About equal parts along a dimension."""

    def __init__(self, num_chunks, dim=0):
        self.num_chunks = num_chunks
        self.dim = dim

    def forward(self, x):
        if self._requires_grad and not ag.is_grad_enabled():
            with ag.inference_mode(False), ag.enable_grad():
                return self.forward(x)
        parts = tuple(x.chunk(self.num_chunks, self.dim))
        if self._requires_grad:
            if type(x) not in FLOATING:
                self._sizes = [(x.shape, x.dtype)]
            alias = leaf(as_floating(x, x.shape), True)
            sizes = [part.shape[self.dim] for part in parts]
            self._node, self._dtype = Tensor.split(alias, sizes, self.dim)[0].grad_fn, alias.dtype
        self.shared_pairs = tuple([(x, part) for part in parts])
        return parts


class Type(Function):
    """The elements as another type; the gradient is converted back."""

    def __init__(self, dest_type):
        self.dest_type = dest_type

    def forward(self, x):
        self.dtype = x.dtype
        out = x.type(self.dest_type)
        if out is x:
            self.mark_shared_storage((x, x))
        return out

    def backward(self, grad):
        return Tensor.to(grad, self.dtype)


class CudaTransfer(Function):
    """The elements on a GPU."""

    def __init__(self, device_id=None):
        self.device_id = device_id

    def forward(self, x):
        self.was_on = x.get_device() if x.is_cuda else None
        return x.cuda(self.device_id)

    def backward(self, grad):
        return grad.cpu() if self.was_on is None else grad.cuda(self.was_on)


class NoGrad(Function):
    """The input itself, outside of the graph."""

    def forward(self, x):
        self.mark_non_differentiable(x)
        self.mark_shared_storage((x, x))
        return x

    def backward(self, grad):
        return None
