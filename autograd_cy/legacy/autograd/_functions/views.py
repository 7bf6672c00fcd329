"""Tensors in other shapes: views share their version with the input, copies don't."""

from __future__ import annotations

import autograd_cy as ag

from ...creation import cat
from ..function import Function
from .shapes import in_shape, zeros

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


class _Reshaped(Function):
    """The same elements in another shape, on the same memory."""

    def forward(self, x):
        self.size = x.shape
        out = self.shape(x)
        self.mark_shared_storage((x, out))
        return out

    def backward(self, grad):
        return in_shape(grad, self.size)


class View(_Reshaped):
    """Other sizes, of a contiguous tensor."""

    def __init__(self, *sizes):
        self.sizes = _sizes(sizes)

    def shape(self, x):
        return x.view(*self.sizes)


class Squeeze(_Reshaped):
    """Without dimensions of size one, or without one of them."""

    def __init__(self, dim=None):
        self.dim = dim

    def shape(self, x):
        return x.squeeze(self.dim)


class Unsqueeze(_Reshaped):
    """With another dimension of size one."""

    def __init__(self, dim):
        self.dim = dim

    def shape(self, x):
        return x.unsqueeze(self.dim)


class Resize(Function):
    """Other sizes with as many elements; a copy of what isn't contiguous."""

    def __init__(self, *sizes):
        self.sizes = _sizes(sizes)

    def forward(self, x):
        count = ag.Size(self.sizes).numel()
        if count != x.numel():
            raise RuntimeError(
                f"requested resize to {'x'.join(map(str, self.sizes))} ({count} elements in "
                f"total), but the given tensor has a size of {'x'.join(map(str, x.shape))} "
                f"({x.numel()} elements). autograd's resize can only change the shape of a given "
                "tensor, while preserving the number of elements."
            )
        self.size = x.shape
        whole = x.contiguous()
        out = whole.view(*self.sizes)
        if whole is x:
            self.mark_shared_storage((x, out))
        return out

    def backward(self, grad):
        return in_shape(grad, self.size)


class Transpose(Function):
    """Two dimensions exchanged."""

    def __init__(self, *dims):
        self.dims = dims

    def forward(self, x):
        out = x.transpose(*self.dims)
        self.mark_shared_storage((x, out))
        return out

    def backward(self, grad):
        return ag.transpose(grad, *self.dims)


class Permute(Function):
    """Dimensions in another order."""

    def __init__(self, dims):
        self.dims = tuple(dims)

    def forward(self, x):
        out = x.permute(*self.dims)
        self.mark_shared_storage((x, out))
        return out

    def backward(self, grad):
        dims = [d % grad.dim() for d in self.dims]
        return ag.permute(grad, [dims.index(d) for d in range(len(dims))])


class Expand(Function):
    """Dimensions of size one shown several times, and new ones before them."""

    def __init__(self, sizes):
        self.sizes = _sizes((sizes,))

    def forward(self, x):
        self.size = x.shape
        out = x.expand(*self.sizes)
        self.mark_shared_storage((x, out))
        return out

    def backward(self, grad):
        extra = grad.dim() - len(self.size)
        dims = list(range(extra))
        pairs = zip(self.size, grad.shape[extra:], strict=True)
        dims += [extra + i for i, (own, shown) in enumerate(pairs) if own != shown]
        return in_shape(ag.sum(grad, dims), self.size) if dims else grad


class Repeat(Function):
    """Copies side by side along each dimension."""

    def __init__(self, repeats):
        self.repeats = _sizes((repeats,))

    def forward(self, x):
        self.size = x.shape
        return x.repeat(*self.repeats)

    def backward(self, grad):
        padded = (1,) * (len(self.repeats) - len(self.size)) + tuple(self.size)
        pairs = [n for pair in zip(self.repeats, padded, strict=True) for n in pair]
        copies = list(range(0, len(pairs), 2))
        return in_shape(ag.sum(ag.reshape(grad, pairs), copies), self.size)


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
        return ag.Tensor.to(grad, self.dtype)


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


class Clone(Function):
    """A contiguous copy."""

    def forward(self, x):
        return x.clone()

    def backward(self, grad):
        return grad


class Concat(Function):
    """Tensors one after the other along a dimension."""

    def __init__(self, dim):
        self.dim = dim

    def forward(self, *tensors):
        self.sizes = [t.shape for t in tensors]
        return cat(tensors, self.dim)

    def backward(self, grad):
        lengths = [size[self.dim] for size in self.sizes]
        return tuple(ag.split(grad, lengths, self.dim))


class Chunk(Function):
    """About equal parts along a dimension."""

    def __init__(self, num_chunks, dim=0):
        self.num_chunks = num_chunks
        self.dim = dim

    def forward(self, x):
        parts = tuple(x.chunk(self.num_chunks, self.dim))
        self.mark_shared_storage(*((x, part) for part in parts))
        return parts

    def backward(self, *grads):
        return ag.cat(grads, self.dim)


class Diag(Function):
    """The diagonal of a matrix, or the matrix of a diagonal."""

    def __init__(self, k=0):
        self.k = k

    def forward(self, x):
        self.size = x.shape
        return x.diag(self.k)

    def backward(self, grad):
        if len(self.size) == 1:
            return ag.diag(grad, self.k)
        made = zeros(self.size, grad)
        ag.Tensor.copy_(ag.diagonal(made, self.k), grad)
        return made


class Tril(Function):
    """The lower triangle of a matrix."""

    def __init__(self, k=0):
        self.k = k

    def forward(self, x):
        return x.tril(self.k)

    def backward(self, grad):
        return ag.tril(grad, self.k)


class Triu(Function):
    """The upper triangle of a matrix."""

    def __init__(self, k=0):
        self.k = k

    def forward(self, x):
        return x.triu(self.k)

    def backward(self, grad):
        return ag.triu(grad, self.k)
