"""The gradients that a custom Function's backward may return: of the tensor's dtype, or not."""

import pytest
from grouping import each

import autograd_cy as ag

# What backward makes of the gradient of ones * 2, and the gradient that arrives (None: refused).
MADE = {
    "double": (lambda lib, g: g.double() * 2, 2.0),
    "half": (lambda lib, g: g.half() * 2, 2.0),
    "integers": (lambda lib, g: g.long() * 2, 2.0),
    "booleans": (lambda lib, g: g > 0, 1.0),
    "complex": (lambda lib, g: g + 1j, None),
    "another device": (lambda lib, g: g.to("meta"), None),
}


def doubling(lib, made):
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return made(lib, g)

    return Double


@each("name", MADE)
@pytest.mark.filterwarnings("ignore")
def test_a_gradient_of_another_kind(name):
    made, expected = MADE[name]
    libraries = [ag]
    try:
        import torch

        libraries.append(torch)
    except ImportError:
        pass
    for lib in libraries:
        for given in (lambda x: x, lambda x: x * 1):  # a leaf, and what was computed
            x = lib.ones(3, requires_grad=True)
            y = doubling(lib, made).apply(given(x)).sum()
            if expected is None:
                with pytest.raises(RuntimeError):
                    y.backward()
                assert x.grad is None
            else:
                y.backward()
                assert x.grad.dtype is lib.float32 and x.grad.tolist() == [expected] * 3


def test_the_error_names_function_and_dtypes():
    x = ag.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"DoubleBackward.* index 0 .*float32 but got complex64"):
        doubling(ag, MADE["complex"][0]).apply(x).sum().backward()
    with pytest.raises(RuntimeError, match="expected device cpu but got meta"):
        doubling(ag, MADE["another device"][0]).apply(x).sum().backward()


def test_a_complex_leaf_takes_a_real_gradient():
    x = ag.ones(2, dtype=ag.complex64, requires_grad=True)
    doubling(ag, lambda lib, g: g.real * 3).apply(x).sum().real.backward()
    assert x.grad.tolist() == [3, 3]
