"""tensor, as_tensor, asarray, scalar_tensor, frombuffer: what becomes which tensor."""

import array
import collections
from fractions import Fraction

import numpy as np
import pytest

import autograd_cy as ag


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (3.0, ag.float32),
        (3, ag.int64),
        (True, ag.bool),
        (2j, ag.complex64),
        ([1, 2.5], ag.float32),
        ([True, 2], ag.int64),
        ([True, 2.5], ag.float32),
        ([1, 2j], ag.complex64),
        ([[1, 2], [3, 4]], ag.int64),
        ([], ag.float32),
        ([[], []], ag.float32),
        ([[[]]], ag.float32),
        ((1.0, 2.0), ag.float32),
        ([[1, 2], (3, 4)], ag.int64),
        (range(4), ag.int64),
        (np.float32(2.5), ag.float32),
        (np.float64(2.5), ag.float64),
        (np.int32(2), ag.int32),
        (np.bool_(True), ag.bool),
        ([np.float64(2.5), 3], ag.float64),
        ([np.float32(2.5), 3], ag.float32),
        ([np.uint8(2), np.int8(3)], ag.int16),
        ([np.float16(2)], ag.float16),
        (collections.deque([1, 2]), ag.int64),
        (bytearray(b"ab"), ag.int64),
    ],
)
def test_dtype_is_inferred(data, dtype):
    t = ag.tensor(data)
    assert t.dtype == dtype
    expected = np.array(list(data) if hasattr(data, "__len__") else data, dtype=object)
    if isinstance(data, bytearray | range | collections.deque):
        expected = np.array(list(data))
    assert t.shape == expected.shape
    assert t.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int32, np.float16, np.float64, np.complex64]
)
def test_arrays_keep_their_dtype_and_are_copied(dtype):
    a = np.array([[1, 2], [3, 4]], dtype=dtype)
    t = ag.tensor(a)
    a[0, 0] = 9
    assert t.numpy().dtype == dtype
    assert t.tolist() == [[1, 2], [3, 4]]


def test_awkward_arrays_are_copied_too():
    a = np.arange(6).reshape(2, 3)
    packed = np.zeros(3, dtype=[("a", "u1"), ("b", "f8")])
    assert ag.tensor(a[::-1, ::2]).tolist() == [[3, 5], [0, 2]]
    assert ag.tensor(a.astype(">i4")).tolist() == a.tolist()
    assert ag.tensor(packed["b"]).tolist() == [0, 0, 0]
    assert ag.tensor(np.broadcast_to(np.float32(2), (2, 2))).tolist() == [[2, 2], [2, 2]]


def test_arrays_and_tensors_may_be_items():
    assert ag.tensor([np.array([1.0, 2.0]), [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert ag.tensor([np.ones((2, 2)), np.zeros((2, 2))]).shape == (2, 2, 2)
    assert ag.tensor([ag.tensor(1), ag.tensor(2.5)]).tolist() == [1.0, 2.5]
    assert ag.tensor([[ag.ones(1)], [2]]).tolist() == [[1.0], [2.0]]


def test_given_dtype_converts():
    assert ag.tensor([1.7, -1.7], dtype=ag.int64).tolist() == [1, -1]
    assert ag.tensor([0, 2], dtype=ag.bool).tolist() == [False, True]
    assert ag.tensor([1, 2], dtype=ag.complex64).tolist() == [1, 2]
    assert ag.tensor(1e5, dtype=ag.float16).item() == float("inf")
    assert ag.tensor(2**64, dtype=ag.float64).item() == 2.0**64
    assert ag.tensor(-1, dtype=ag.uint8).item() == 255
    assert ag.tensor(np.array([1.5, 2.5]), dtype=ag.int32).tolist() == [1, 2]


def test_long_lists_of_each_kind_are_read_right():
    n = 1000
    for values in ([float(i) for i in range(n)], list(range(n)), [i % 2 == 0 for i in range(n)]):
        assert ag.tensor(values).tolist() == values
        assert ag.tensor(tuple(values)).tolist() == values
    mixed = [i if i % 3 else float(i) for i in range(n)]
    assert ag.tensor(mixed).tolist() == mixed
    assert ag.tensor(mixed).dtype == ag.float32
    late = [1] * n + [2.5]
    assert ag.tensor(late).dtype == ag.float32


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ([[1, 2], [3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
        ([[1, 2], [3, 4, 5]], ValueError, r"expected sequence of length 2 at dim 1 \(got 3\)"),
        ([[1, 2], 3], TypeError, "not a sequence"),
        ([1, [2, 3]], TypeError, "list"),
        ([np.ones(2), np.ones(3)], ValueError, "expected sequence of length 2 at dim 1"),
        ([np.ones(2), np.ones((2, 2))], ValueError, "dimension"),
        (["a"], ValueError, "too many dimensions 'str'"),
        ([1, "a"], TypeError, "invalid data type 'str'"),
        ("a", TypeError, "invalid data type 'str'"),
        (b"a", TypeError, "invalid data type 'bytes'"),
        (None, RuntimeError, "Could not infer dtype of NoneType"),
        ([None], RuntimeError, "Could not infer dtype of NoneType"),
        ({}, RuntimeError, "Could not infer dtype of dict"),
        ({1}, RuntimeError, "Could not infer dtype of set"),
        (object(), RuntimeError, "Could not infer dtype of object"),
        (iter([1]), RuntimeError, "Could not infer dtype of list_iterator"),
        ([Fraction(1, 2)], RuntimeError, "Could not infer dtype of Fraction"),
        (2**63, ValueError, "Overflow when unpacking long long"),
        ([1, 2**63], ValueError, "Overflow when unpacking long long"),
        ([ag.ones(2)], ValueError, "only one element tensors can be converted"),
        (np.array(["a"]), TypeError, "can't convert np.ndarray of type"),
        (np.array([1], dtype="M8[s]"), TypeError, "can't convert np.ndarray of type"),
    ],
)
def test_what_is_no_tensor_raises(data, error, message):
    with pytest.raises(error, match=message):
        ag.tensor(data)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (300, ag.uint8),
        (-256, ag.uint8),
        (200, ag.int8),
        (2**31, ag.int32),
        (3.7e10, ag.int32),
        (float("nan"), ag.int32),
        (float("inf"), ag.int64),
    ],
)
def test_value_beyond_the_dtype_raises(value, dtype):
    for data in (value, [value], [[0, value]]):
        with pytest.raises(RuntimeError, match="without overflow"):
            ag.tensor(data, dtype=dtype)


def test_complex_into_a_real_dtype_raises():
    for dtype in (ag.float32, ag.int64):
        with pytest.raises(TypeError, match="must be real number, not complex"):
            ag.tensor([1 + 2j], dtype=dtype)


def test_self_containing_list_raises():
    data = []
    data.append(data)
    with pytest.raises(ValueError, match="too many dimensions"):
        ag.tensor(data)


def test_list_that_shrinks_while_it_is_read_raises():
    class Number(int):
        def __int__(self):
            data.clear()
            return 1

        __index__ = __int__

    data = [Number(1), 2, 3, 4]
    with pytest.raises((IndexError, ValueError)):
        ag.tensor(data, dtype=ag.int8)


def test_tensor_of_a_tensor_is_a_detached_copy_and_warns():
    x = ag.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="recommended to use"):
        t = ag.tensor(x)
    assert not t.requires_grad
    assert t.data_ptr() != x.data_ptr()


def test_requires_grad_makes_a_leaf():
    t = ag.tensor([1.0, 2.0], requires_grad=True)
    assert t.requires_grad
    assert t.is_leaf
    with pytest.raises(TypeError, match="must be bool, not NoneType"):
        ag.tensor([1.0], requires_grad=None)


def test_dtype_is_keyword_only():
    with pytest.raises(TypeError):
        ag.tensor([1.0], ag.float64)


class TestAsTensor:
    def test_tensor_is_returned_as_it_is(self):
        x = ag.ones(2, requires_grad=True)
        assert ag.as_tensor(x) is x

    def test_array_is_shared(self):
        a = np.zeros(2)
        t = ag.as_tensor(a)
        a[0] = 1
        assert t.tolist() == [1, 0]

    def test_other_dtype_copies(self):
        a = np.zeros(2)
        t = ag.as_tensor(a, dtype=ag.float32)
        a[0] = 1
        assert t.tolist() == [0, 0]
        assert ag.as_tensor([1, 2], dtype=ag.float64).dtype == ag.float64

    def test_conversion_is_recorded(self):
        x = ag.ones(2, requires_grad=True)
        y = ag.as_tensor(x, dtype=ag.float64)
        assert y.dtype == ag.float64
        assert y.requires_grad
        for plain in (ag.ones(2), x.detach()):
            assert not ag.as_tensor(plain, dtype=ag.float64).requires_grad
            assert not ag.asarray(plain, dtype=ag.float64).requires_grad


class TestAsarray:
    def test_shares_what_can_be_shared(self):
        a = np.zeros(2)
        for t in (ag.asarray(a), ag.asarray(a, copy=False)):
            a[0] += 1
            assert t.numpy()[0] == a[0]
        buffer = array.array("d", [1, 2])
        t = ag.asarray(buffer)
        buffer[0] = 5
        assert t.tolist() == [5, 2]
        assert ag.asarray(t) is t

    def test_copy_copies(self):
        a = np.zeros(2)
        t = ag.asarray(a, copy=True)
        a[0] = 1
        assert t.tolist() == [0, 0]
        assert ag.asarray(t, copy=True).data_ptr() != t.data_ptr()

    def test_bytes_are_read_as_the_dtype(self):
        assert ag.asarray(bytearray(b"\0\0\x80?")).tolist() == [1.0]
        assert ag.asarray(bytearray(b"ab"), dtype=ag.uint8).tolist() == [97, 98]

    def test_lists_and_numbers_are_converted(self):
        assert ag.asarray([1, 2]).dtype == ag.int64
        assert ag.asarray(2.5).item() == 2.5
        assert ag.asarray(np.float32(2)).dtype == ag.float32

    def test_forbidden_copy_raises(self):
        for data in ([1, 2], 3):
            with pytest.raises(ValueError, match="can't alias arbitrary sequence"):
                ag.asarray(data, copy=False)
        with pytest.raises(ValueError, match="can't alias tensor with dtype"):
            ag.asarray(np.ones(2), dtype=ag.float32, copy=False)

    def test_requires_grad_of_the_source_is_kept_unless_told(self):
        x = ag.ones(2, requires_grad=True)
        assert ag.asarray(x).requires_grad
        assert not ag.asarray(x, requires_grad=False).requires_grad
        assert x.requires_grad
        assert ag.asarray(ag.ones(2), requires_grad=True).requires_grad


class TestScalarTensor:
    def test_default_dtype_unless_told(self):
        assert ag.scalar_tensor(3).dtype == ag.float32
        assert ag.scalar_tensor(True).item() == 1.0
        assert ag.scalar_tensor(3, dtype=ag.int64).item() == 3

    def test_wrong_values_raise(self):
        with pytest.raises(TypeError, match="must be Number, not list"):
            ag.scalar_tensor([1])
        with pytest.raises(RuntimeError, match="cannot be converted"):
            ag.scalar_tensor(2j)


class TestFrombuffer:
    def test_shares_the_memory(self):
        data = bytearray([1, 0, 2, 0])
        t = ag.frombuffer(data, dtype=ag.int16)
        data[0] = 7
        assert t.tolist() == [7, 2]

    def test_count_and_offset(self):
        data = bytearray(b"abcdefgh")
        assert ag.frombuffer(data, dtype=ag.uint8, count=2, offset=3).tolist() == [100, 101]
        assert ag.frombuffer(data, dtype=ag.int16, offset=2).shape == (3,)

    def test_keeps_the_buffer_alive_and_locked(self):
        data = bytearray(8)
        t = ag.frombuffer(data, dtype=ag.float64)
        with pytest.raises(BufferError):
            data.append(1)
        del t
        data.append(1)

    def test_read_only_buffer_makes_a_read_only_tensor(self):
        t = ag.frombuffer(b"abcd", dtype=ag.uint8)
        with pytest.raises(RuntimeError, match="read-only"):
            t.fill_(0)
        assert t.tolist() == [97, 98, 99, 100]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"count": 8}, "must not be greater than actual buffer length"),
            ({"offset": 9}, "must be non-negative and no greater"),
            ({"offset": -1}, "must be non-negative and no greater"),
            ({"offset": 1}, "multiple of element size"),
            ({"count": 0}, "must not be 0"),
        ],
    )
    def test_sizes_are_checked(self, options, message):
        with pytest.raises(ValueError, match=message):
            ag.frombuffer(bytearray(8), dtype=ag.int16, **options)

    def test_other_objects_raise(self):
        with pytest.raises(ValueError, match="does not implement Python buffer protocol"):
            ag.frombuffer([1], dtype=ag.int16)
        with pytest.raises(TypeError, match="dtype"):
            ag.frombuffer(bytearray(2))


def test_constructor_takes_sizes_or_data():
    assert ag.Tensor(2, 3).shape == (2, 3)
    assert ag.Tensor([1, 2]).dtype == ag.float32
    assert ag.Tensor((2, 3)).tolist() == [2.0, 3.0] and ag.Tensor(range(2)).tolist() == [0.0, 1.0]
    assert ag.Tensor(ag.Size([2, 3])).shape == (2, 3)
    assert ag.Tensor(ag.tensor([1, 2])).tolist() == [1, 2]
