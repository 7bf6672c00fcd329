"""
Ints of more than 64 bits.

As sizes, counts and places they are refused by the errors of torch; as operands and values to fill
with by an OverflowError, but for those from 2**63 to 2**64: torch takes them as uint64. Beside
integers their lowest bits are operands, and what must fit is refused.
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


BESIDE_INTEGERS = BESIDE_FLOATS | {
    "-": lambda t, x, n: x - n,
    "**": lambda t, x, n: x**n,
    "**=": lambda t, x, n: x.clone().pow_(n),
    "<=": lambda t, x, n: x <= n,
    "r<": lambda t, x, n: n < x,
    "!=": lambda t, x, n: x != n,
    "&": lambda t, x, n: x & n,
    "r|": lambda t, x, n: n | x,
    "^=": lambda t, x, n: x.clone().__ixor__(n),
    "<<": lambda t, x, n: x << n,
    "r>>": lambda t, x, n: n >> x,
    "r//": lambda t, x, n: n // x,
    "r%": lambda t, x, n: n % x,
    "/=": lambda t, x, n: x.clone().__itruediv__(n),
    "-=": lambda t, x, n: x.clone().__isub__(n),
    "div down": lambda t, x, n: t.div(x, n, rounding_mode="floor"),
    "div cut": lambda t, x, n: x.div(n, rounding_mode="trunc"),
    "fmod": lambda t, x, n: x.fmod(n),
    "eq_": lambda t, x, n: x.clone().eq_(n),
    "xlogy": lambda t, x, n: t.xlogy(x, n),
    "float_power": lambda t, x, n: t.float_power(n, x),
    "copysign": lambda t, x, n: t.copysign(x, n),
    "fill_": lambda t, x, n: x.clone().fill_(n),
    "clamp_max": lambda t, x, n: x.clamp_max(n),
    "method where": lambda t, x, n: x.where(x == 1, n),
    "where float": lambda t, x, n: t.where(x == 1, n, 1.5),
    "clamp float": lambda t, x, n: t.clamp(x, n, 1.5),
    "add alpha": lambda t, x, n: t.add(x, x, alpha=n),
    "add floats alpha": lambda t, x, n: t.add(x, x.float(), alpha=n),
    "addmm": lambda t, x, n: t.addmm(x[:, None], x[:, None], x[:1, None], alpha=n),
    "bucketize": lambda t, x, n: t.bucketize(n, x),
    "searchsorted": lambda t, x, n: t.searchsorted(x, n),
    "out": lambda t, x, n: t.add(x, n, out=t.empty(3, dtype=t.float64)),
    "out of its kind": lambda t, x, n: t.sub(x, n, out=t.empty_like(x)),
    "result_type": lambda t, x, n: str(t.result_type(x, n)).rpartition(".")[2],
    "full": lambda t, x, n: t.full((2,), n, dtype=x.dtype),
    "full_like": lambda t, x, n: t.full_like(x, n),
    "item": lambda t, x, n: x.clone().__setitem__(0, n),
    "tensor": lambda t, x, n: t.tensor([n], dtype=x.dtype),
}


def answer(lib, call, values, dtype, n):
    """Dtype and values, or the kind of the error."""
    try:
        found = call(lib, lib.tensor(values, dtype=getattr(lib, dtype)), n)
    except (OverflowError, RuntimeError, TypeError, ValueError) as error:
        return RuntimeError if isinstance(error, RuntimeError) else type(error)
    if isinstance(found, str):
        return found
    return str(found.dtype).rpartition(".")[2], found.tolist()


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8", "bool"])
@pytest.mark.parametrize("n", [2**63, 2**63 + 5, 2**64 - 1])
def test_beside_integers_the_lowest_bits_are_operands_and_values_must_fit(dtype, n):
    torch = pytest.importorskip("torch")
    for name, call in BESIDE_INTEGERS.items():
        if dtype == "bool" and name in ("r/", "addcmul", "addmm"):
            continue  # torch's reciprocal comes first, and other kinds of errors
        values = [1, 3, 5] if dtype != "bool" else [0, 1, 1]
        expected = answer(torch, call, values, dtype, n)
        assert answer(ag, call, values, dtype, n) == expected, name


def test_what_beside_integers_is_worth_without_another_library():
    x = ag.tensor([1, 3])
    assert (x + 2**63).tolist() == [1 - 2**63, 3 - 2**63]
    assert (x / 2**63).tolist() == [1 / 2**63, 3 / 2**63]
    assert (x < 2**63).tolist() == [False, False]  # as int64 it is negative
    assert (x.byte() + (2**63 + 5)).tolist() == [6, 8]
    assert (x.char() + (2**64 - 1)).tolist() == [0, 2]
    x *= 2**64 - 1
    assert x.tolist() == [-1, -3]
    for refused in (
        lambda: x**2**63,
        lambda: x.fill_(2**63),
        lambda: x.clamp(max=2**63),
        lambda: ag.where(x > 0, x, 2**63),
        lambda: x.add(x, alpha=2**63),
    ):
        with pytest.raises(
            RuntimeError, match="type int64_t without overflow: 9223372036854775808"
        ):
            refused()
    for refused in (lambda: x.bool() + 2**63, lambda: x.bool().eq_(2**63)):
        with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64"):
            refused()
    assert x.tolist() == [-1, -3]


NARROW = {
    "//": lambda t, x, n: x // n,
    "%": lambda t, x, n: x % n,
    "//=": lambda t, x, n: x.__ifloordiv__(n),
    "fmod": lambda t, x, n: x.fmod(n),
    "div": lambda t, x, n: t.div(x, n, rounding_mode="trunc"),
    "by a tensor": lambda t, x, n: x // t.tensor(n),
    "by tensors": lambda t, x, n: x // t.tensor([n]),
    "**": lambda t, x, n: x**n,
    "** a tensor": lambda t, x, n: x ** t.tensor(abs(n)),
    "add": lambda t, x, n: t.add(x, x, alpha=n),
    "sub": lambda t, x, n: t.sub(x, x, alpha=n),
    "sub_": lambda t, x, n: x.sub_(x, alpha=n),
    "add a number": lambda t, x, n: t.add(x, 2, alpha=n),
    "index_add": lambda t, x, n: t.index_add(x, 0, t.tensor([0, 1, 2]), x, alpha=n),
    "addcmul": lambda t, x, n: t.addcmul(x, x, x, value=n),
    "addmm": lambda t, x, n: t.addmm(x[:, None], x[:, None], x[:1, None], alpha=n),
    "addmv": lambda t, x, n: t.addmv(x, x[:, None], x[:1], beta=n),
    "baddbmm": lambda t, x, n: t.baddbmm(*[x[:, None, None]] * 3, beta=n),
}


@pytest.mark.parametrize("dtype", ["int32", "int16", "int8", "uint8", "int64"])
def test_numbers_beside_narrow_integers(dtype):
    torch = pytest.importorskip("torch")
    for n in (256, -256, 300, 2**32, 2**32 + 1, 2**40, -(2**63), 2**63 - 1, 128, -128, -1, 7):
        for name, call in NARROW.items():
            if abs(n) == 2 ** (torch.iinfo(getattr(torch, dtype)).bits - 1) and (
                name in ("add", "sub", "sub_", "add a number", "index_add")
            ):
                continue  # a factor is refused or taken by its negative
            expected = answer(torch, call, [3, 1, 2], dtype, n)
            assert answer(ag, call, [3, 1, 2], dtype, n) == expected, (name, n)


def test_a_divisor_is_what_a_narrow_dtype_makes_of_it():
    x = ag.tensor([3, 1], dtype=ag.uint8)
    for n in (256, 2**40, ag.tensor(512)):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            x // n
        assert (ag.tensor([3], dtype=ag.bool) // n).tolist() == [0]
    assert (x // 257).tolist() == [3, 1]
    with pytest.raises(RuntimeError, match="type uint8_t without overflow: 300"):
        ag.add(x, x, alpha=300)
    assert ag.sub(x.char(), x.char(), alpha=-128).tolist() == [-125, -127]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_factors_that_floats_cannot_hold(dtype):
    torch = pytest.importorskip("torch")
    calls = {
        "add": lambda t, x, n: x.add(x, alpha=n),
        "sub": lambda t, x, n: x.sub(x, alpha=n),
        "addcmul": lambda t, x, n: x.addcmul(x, x, value=n),
        "addcdiv": lambda t, x, n: x.addcdiv(x, x, value=n),
        "addmm": lambda t, x, n: x[:, None].addmm(x[:, None], x[:1, None], alpha=n),
        "lerp": lambda t, x, n: x.lerp(x, n),
        "pow": lambda t, x, n: x**n,
    }
    for n in (1e6, 10**6, 1e39, -1e39, float("inf"), 3, 0.5):
        for name, call in calls.items():
            theirs = answer(torch, call, [1.0, 1.0], dtype, n)
            ours = answer(ag, call, [1.0, 1.0], dtype, n)
            assert str(ours) == str(theirs), (name, n)


def test_ints_beyond_beside_complex_numbers_and_derivatives():
    z = ag.tensor([1j])
    assert (z + 2**63).tolist() == [2.0**63 + 1j]
    x = ag.tensor([1.0], requires_grad=True)
    (x * 2**63).backward()
    assert x.grad.tolist() == [2.0**63]
    assert ag.result_type(x, 2**63) is ag.float32 is ag.result_type(2**63, x)
    assert ag.result_type(ag.tensor([1]), 2**63) is ag.int64
    with pytest.raises(OverflowError, match="int too big to convert"):
        ag.result_type(ag.tensor([1]), 2**64)
    with pytest.raises(OverflowError, match="int too big to convert"):
        ag.result_type(2**63, 1)
    assert ag.tensor([1]).__eq__(2**63).tolist() == [False]
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
