"""Data that tests of reads and writes by index share."""

import numpy as np
import pytest
from reducing import numbers, same

import autograd_cy as torch
from autograd_cy._C import cuda_mirrors

# Shapes around what a block, a chunk and a word hold: name: (shape, view of it).
LAYOUTS = {
    "dense": ((7, 33, 4), lambda x: x),
    "words": ((9, 8, 16), lambda x: x),
    "off by one": ((6, 9, 5), lambda x: x[1:, 1:, 1:]),
    "gaps": ((8, 10, 12), lambda x: x[::2, :, ::3]),
    "transposed": ((5, 6, 7), lambda x: x.permute(2, 0, 1)),
    "expanded": ((5, 1, 7), lambda x: x.expand(5, 6, 7)),
    "long": ((3, 300, 2), lambda x: x),
}


@pytest.fixture
def no_host():
    """Refuse what goes by the host."""
    cuda_mirrors.show("error")
    yield
    cuda_mirrors.show()


def pair(layout, dtype, seed=0):
    """A view on the CPU, and the same on the GPU, of memory that was moved as a whole."""
    shape, view = LAYOUTS[layout]
    x = numbers(shape, dtype, seed)
    return view(x), view(x.to("cuda"))


def places(shape, size, seed=0, low=0, dtype="int64"):
    """Random indices below `size`."""
    random = np.random.default_rng(seed)
    return torch.tensor(random.integers(low, size, shape), dtype=getattr(torch, dtype))


def agree(call, *operands):
    """Compare a call on the GPU with the same one on the CPU, bit by bit."""
    same(call(*(moved(x) for x in operands)), call(*operands))


def moved(x):
    if isinstance(x, (tuple, list)):
        return type(x)(moved(y) for y in x)
    return x.to("cuda") if isinstance(x, torch.Tensor) else x
