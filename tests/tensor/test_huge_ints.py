"""
Ints of more than 64 bits.

As sizes, counts and places they are refused by the errors of torch; as operands and values to fill
with by an OverflowError, but for those below 2**64 beside floats: torch takes them as uint64.
"""

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


OPERANDS = [
    lambda n: X + n,
    lambda n: n - X,
    lambda n: X.eq(n),
    lambda n: X.clone().mul_(n),
    lambda n: ag.pow(n, X),
    lambda n: ag.clamp(X, n),
    lambda n: ag.where(X > 0, n, X),
    lambda n: ag.add(X, X, alpha=n),
    lambda n: X.clone().fill_(n),
    lambda n: X.masked_fill(X > 0, n),
    lambda n: X.index_fill(0, ag.tensor([0]), n),
    lambda n: ag.full((2,), n),
    lambda n: ag.full((2,), n, dtype=ag.float64),
    lambda n: ag.full((2,), n, dtype=ag.bool),
    lambda n: ag.full_like(X, n),
    lambda n: X.new_full((2,), n),
    lambda n: ag.scalar_tensor(n),
    lambda n: ag.arange(n, n + 2),
    lambda n: ag.linspace(0, n, 3),
    lambda n: ag.result_type(X, n),
]


@pytest.mark.parametrize("n", [HUGE, -HUGE, 10**400])
@pytest.mark.parametrize("call", range(len(OPERANDS)))
def test_an_operand_that_is_too_large_is_an_overflow_error(call, n):
    with pytest.raises(OverflowError, match="int too big to convert"):
        OPERANDS[call](n)


BESIDE_FLOATS = {
    "+": lambda t, x, n: x + n,
    "r+": lambda t, x, n: n + x,
    "r-": lambda t, x, n: n - x,
    "*": lambda t, x, n: x * n,
    "/": lambda t, x, n: x / n,
    "r/": lambda t, x, n: n / x,
    "//": lambda t, x, n: x // n,
    "%": lambda t, x, n: x % n,
    "r**": lambda t, x, n: n**x,
    "==": lambda t, x, n: x == n,
    "<": lambda t, x, n: n > x,
    "+=": lambda t, x, n: x.clone().__iadd__(n),
    "add": lambda t, x, n: t.add(x, n),
    "by name": lambda t, x, n: t.add(x, other=n),
    "mul_": lambda t, x, n: x.clone().mul_(n),
    "pow": lambda t, x, n: t.pow(n, x),
    "clamp": lambda t, x, n: x.clamp(min=n),
    "where": lambda t, x, n: t.where(x == 1, n, x),
    "masked_fill": lambda t, x, n: x.masked_fill(x == 1, n),
    "index_fill": lambda t, x, n: x.index_fill(0, t.tensor([0]), n),
    "scatter": lambda t, x, n: x.scatter(0, t.tensor([0]), n),
    "addcmul": lambda t, x, n: t.addcmul(x, x, x, value=n),
    "isin": lambda t, x, n: t.isin(x, n),
}


@pytest.mark.parametrize("n", [2**63, 2**64 - 1])
@pytest.mark.parametrize("name", BESIDE_FLOATS)
def test_ints_of_64_bits_without_a_sign_are_numbers_beside_floats(name, n):
    call = BESIDE_FLOATS[name]
    for dtype in ("float32", "float64"):
        x = ag.tensor([1.0, 2.0], dtype=getattr(ag, dtype))
        found = call(ag, x, n)
        assert ag.equal(found, call(ag, x, float(n))) and found.dtype in (x.dtype, ag.bool)
        torch = pytest.importorskip("torch")
        theirs = call(torch, torch.tensor([1.0, 2.0], dtype=getattr(torch, dtype)), n)
        assert found.tolist() == theirs.tolist()
    y = ag.tensor([1, 2])
    for refused in (y, y.byte(), y.bool()):  # where torch wraps around
        with pytest.raises((OverflowError, RuntimeError)):
            call(ag, refused, n)


def test_ints_beyond_beside_complex_numbers_and_derivatives():
    z = ag.tensor([1j])
    assert (z + 2**63).tolist() == [2.0**63 + 1j]
    x = ag.tensor([1.0], requires_grad=True)
    (x * 2**63).backward()
    assert x.grad.tolist() == [2.0**63]
    assert ag.result_type(x, 2**63) is ag.float32 is ag.result_type(2**63, x)
    with pytest.raises(OverflowError, match="int too big to convert"):
        ag.result_type(ag.tensor([1]), 2**63)
    with pytest.raises(OverflowError, match="int too big to convert"):
        ag.tensor([1]).__eq__(2**63)
    assert (x == "a") is False and (x != "a") is True


@pytest.mark.parametrize("n", [HUGE, -HUGE, 2**63])
@pytest.mark.parametrize("index", [0, slice(1, 3), [0, 2], None])
def test_an_element_that_is_too_large_is_a_value_error(index, n):
    x = X.clone()
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        x[index] = n
    assert x.tolist() == X.tolist()


def test_what_is_no_number_is_refused_by_name():
    for name in ("fill_", "add_"):
        with pytest.raises(TypeError, match=rf"{name}\(\): argument '.*' \(position .\) must be"):
            getattr(X.clone(), name)("a")


def test_sizes_are_whole_numbers():
    assert ag.Size([2, True]) == (2, 1) and ag.Size() == () and ag.Size(x for x in (3,)) == (3,)
    with pytest.raises(TypeError, match=r"iterable of 'int' \(item 1 is 'float'\)"):
        ag.Size((1, 2.0))


def test_sizes_are_added_as_tuples_are():
    one, two = (1,), (2,)
    for joined in (ag.Size(one) + two, one + ag.Size(two), ag.Size(one) + ag.Size(two)):
        assert type(joined) is ag.Size and joined == (1, 2)
    for wrong in ([2], 2, None):
        with pytest.raises(TypeError):
            ag.Size([1]) + wrong
        with pytest.raises(TypeError):
            wrong + ag.Size([1])
    assert type(ag.Size([1]) * 2) is type(2 * ag.Size([1])) is ag.Size


@pytest.mark.parametrize(
    ("x", "error"),
    [
        (2**63, RuntimeError),
        (2**64 - 1, RuntimeError),
        (2**64, OverflowError),
        (2**64 + 1, OverflowError),
        (-(2**63) - 1, OverflowError),
    ],
)
def test_numbers_of_ranges_that_are_too_large_raise_as_in_torch(x, error):
    sign = 1 if x > 0 else -1
    for call in ((0, x, sign), (x, x - sign, -sign), (0, 5 * sign, x)):
        with pytest.raises(error):
            ag.arange(*call)


def test_ends_of_ranges_are_ints_of_64_bits():
    x = ag.empty(9, dtype=ag.int64)
    first, last = 2**63 - 3, 2**63 - 1
    assert set(x.random_(first, last).tolist()) <= {first, first + 1}
    assert set(x.random_(first, None).tolist()) <= {first, first + 1, last}
    assert ag.randint(last - 1, last, (3,)).tolist() == [last - 1] * 3
    assert ag.randint(-(2**63), 1 - 2**63, (3,)).tolist() == [-(2**63)] * 3
    for low, high in ((0, 2**63), (-(2**63) - 1, 0)):
        with pytest.raises(ValueError, match="an int must fit in 64 bits"):
            x.random_(low, high)
        with pytest.raises(ValueError, match="an int must fit in 64 bits"):
            ag.randint(low, high, (3,))
