"""Sizes, counts and places of more than 64 bits: refused as in torch, never an OverflowError."""

import pytest

import autograd_cy as ag

HUGE = 2**64
X = ag.ones(5)
SIZES = [
    lambda n: ag.Tensor(n),
    lambda n: ag.Tensor(2, n),
    lambda n: ag.zeros(n),
    lambda n: ag.zeros((2, n)),
    lambda n: ag.ones([n]),
    lambda n: ag.empty(n),
    lambda n: ag.full((n,), 1.0),
    lambda n: ag.rand(n),
    lambda n: ag.randint(0, 5, (n,)),
    lambda n: ag.empty_strided((n,), (1,)),
    lambda n: ag.empty_strided((2,), (n,)),
    lambda n: ag.nn.Linear(n, 2),
    lambda n: X.new_ones(n),
    lambda n: X.new_zeros((n,)),
    lambda n: X.new_full((n,), 1.0),
    lambda n: X.new_empty(2, n),
    lambda n: X.view(n),
    lambda n: X.expand(n, 5),
    lambda n: X.repeat(2, n),
    lambda n: X.sum((n,)),
    lambda n: X.permute(n),
    lambda n: X.as_strided((n,), (1,)),
    lambda n: X.clone().resize_(n),
    lambda n: X.tensor_split((1, n)),
]
NUMBERS = [
    lambda n: X.tensor_split(n),
    lambda n: X.split(n),
    lambda n: X[n],
    lambda n: X.size(n),
    lambda n: X.stride(n),
    lambda n: X.sum(n),
    lambda n: X.select(0, n),
    lambda n: X.repeat_interleave(n),
    lambda n: ag.randperm(n),
    lambda n: ag.randint(n, (2,)),
]


@pytest.mark.parametrize("n", [HUGE, -HUGE])
@pytest.mark.parametrize("call", range(len(SIZES)))
def test_a_sequence_of_ints_with_one_that_is_too_large_is_a_type_error(call, n):
    with pytest.raises(TypeError, match=r'unpack the object at pos [12] with error "Overflow when'):
        SIZES[call](n)


@pytest.mark.parametrize("n", [HUGE, -HUGE])
@pytest.mark.parametrize("call", range(len(NUMBERS)))
def test_a_single_int_that_is_too_large_is_a_value_error(call, n):
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        NUMBERS[call](n)


def test_slices_end_where_the_tensor_does():
    assert X[-HUGE:HUGE].tolist() == X.tolist()
    assert X[HUGE:].tolist() == []
