"""NumPy and buffers, both ways: shared memory, lifetimes, what is refused."""

import gc
import struct
import weakref

import ml_dtypes
import numpy as np
import pytest

import autograd_cy as ag

DTYPES = [
    np.bool_,
    np.uint8,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.float16,
    np.float32,
    np.float64,
    np.complex64,
    np.complex128,
    ml_dtypes.bfloat16,
]


class TestToNumpy:
    def test_memory_is_shared(self):
        t = ag.zeros(2, 3)
        a = t.numpy()
        a[0, 1] = 7
        t[1, 2] = 5
        assert t.tolist() == [[0, 7, 0], [0, 0, 5]]
        assert a.tolist() == t.tolist()

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_dtypes_and_values_agree(self, dtype):
        a = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
        t = ag.from_numpy(a)
        b = t.numpy()
        assert b.dtype == a.dtype
        assert (b == a).all()
        assert b.ctypes.data == a.ctypes.data == t.data_ptr()

    def test_strides_and_offsets_are_kept(self):
        t = ag.arange(24).reshape(2, 3, 4)
        for view in (t.permute(2, 0, 1), t[1], t[:, 1:, ::2], t[0, 0, 0].expand(3, 2)):
            assert view.numpy().tolist() == view.tolist()
            assert np.shares_memory(view.numpy(), t.numpy())

    def test_empty_and_0d(self):
        assert ag.zeros(0, 3).numpy().shape == (0, 3)
        assert ag.tensor(2.5).numpy() == np.float32(2.5)

    def test_array_outlives_the_tensor(self):
        t = ag.ones(1000)
        a = t.numpy()
        del t
        gc.collect()
        others = [ag.zeros(1000) for _ in range(10)]
        assert (a == 1).all()
        del others

    def test_array_keeps_its_memory_when_the_tensor_gets_other_data(self):
        t = ag.ones(1000)
        a = t.numpy()
        t.data = ag.zeros(1000)
        others = [ag.zeros(1000) for _ in range(10)]
        assert (a == 1).all()
        del others

    def test_that_requires_grad_is_refused(self):
        text = r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach\(\).numpy\(\)"
        x = ag.ones(2, requires_grad=True)
        for t in (x, x * 2):
            with pytest.raises(RuntimeError, match=text):
                t.numpy()
            with pytest.raises(RuntimeError, match=text):
                np.asarray(t)

    def test_that_requires_grad_is_shown_under_no_grad_or_by_force(self):
        x = ag.ones(2, requires_grad=True)
        assert x.numpy(force=True).tolist() == [1, 1]
        with ag.no_grad():
            assert x.numpy().tolist() == [1, 1]

    def test_force_is_keyword_only(self):
        with pytest.raises(TypeError):
            ag.ones(2).numpy(True)


class TestArrayFunctions:
    def test_asarray_shares(self):
        t = ag.zeros(3)
        assert np.asarray(t).ctypes.data == t.data_ptr()
        assert np.array(t, copy=False).ctypes.data == t.data_ptr()

    def test_array_copies(self):
        t = ag.zeros(3)
        a = np.array(t)
        a[0] = 1
        assert t.tolist() == [0, 0, 0]

    def test_dtype_converts(self):
        assert np.asarray(ag.ones(2), dtype=np.float64).dtype == np.float64
        if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # before, False meant "if needed"
            with pytest.raises(ValueError, match="copy"):
                np.array(ag.ones(2), dtype=np.float64, copy=False)

    def test_functions_of_numpy_return_tensors(self):
        t = np.sin(ag.ones(2))
        assert isinstance(t, ag.Tensor)
        np.testing.assert_allclose(t.numpy(), np.sin(np.ones(2)), rtol=1e-6)
        assert isinstance(np.add(ag.ones(2), np.ones(2)), ag.Tensor)

    def test_lists_of_tensors_stack(self):
        assert np.stack([ag.ones(2), ag.zeros(2)]).tolist() == [[1, 1], [0, 0]]

    def test_bfloat16_becomes_the_type_of_ml_dtypes(self):
        a = np.asarray(ag.ones(2, dtype=ag.bfloat16))
        assert a.dtype == ml_dtypes.bfloat16
        assert a.astype(float).tolist() == [1, 1]


class TestFromNumpy:
    def test_memory_is_shared(self):
        a = np.zeros((2, 3))
        t = ag.from_numpy(a)
        a[0, 0] = 1
        t[1, 2] = 2
        assert a.tolist() == t.tolist() == [[1, 0, 0], [0, 0, 2]]
        assert t.dtype == ag.float64

    def test_array_lives_as_long_as_a_view(self):
        class Array(np.ndarray):
            pass

        a = np.ones(10).view(Array)
        alive = weakref.ref(a)
        view = ag.from_numpy(a)[2:]
        del a
        gc.collect()
        assert alive() is not None
        assert view.tolist() == [1] * 8
        del view
        gc.collect()
        assert alive() is None

    def test_strides_are_kept(self):
        a = np.arange(24).reshape(4, 6)
        for b in (a.T, a[::2, 1:], a[1], np.broadcast_to(a[0], (3, 6)), a[:0], a[2, 3]):
            b = np.asarray(b)
            t = ag.from_numpy(b)
            assert t.tolist() == b.tolist()
            assert t.shape == b.shape

    def test_negative_strides_are_refused(self):
        with pytest.raises(ValueError, match="At least one stride in the given numpy array is neg"):
            ag.from_numpy(np.arange(3)[::-1])
        assert ag.from_numpy(np.arange(1)[::-1]).tolist() == [0]

    def test_strides_between_elements_are_refused(self):
        with pytest.raises(ValueError, match="strides not a multiple of the element byte size"):
            ag.from_numpy(np.zeros(3, dtype="f4,f8")["f1"])

    def test_unaligned_memory_is_copied(self):
        a = np.frombuffer(bytearray(25), dtype=np.uint8)[1:].view(np.float64)
        a[:] = 1, 2, 3
        assert not a.flags.aligned
        with pytest.warns(UserWarning, match="from_numpy: the elements of the array do not lie on"):
            t = ag.from_numpy(a)
        t += 1
        assert t.tolist() == [2, 3, 4] and a.tolist() == [1, 2, 3]
        # Where nobody expects to see writes there is no warning.
        for function in (ag.as_tensor, ag.asarray, ag.tensor):
            assert (function(a) * 2).tolist() == [2, 4, 6]
        assert ag.asarray(memoryview(a)).tolist() == [1, 2, 3]
        a.flags.writeable = False
        assert ag.as_tensor(a[:0]).shape == (0,)
        with pytest.raises(ValueError, match="do not lie on multiples"):
            ag.asarray(a, copy=False)
        assert (ag.from_numpy(a[1:]) @ ag.from_numpy(a[:2])).item() == 8

    @pytest.mark.parametrize("dtype", ["i2", "i8", "f4", "f8", "c8", "c16"])
    def test_elements_behind_a_record_marker_are_taken(self, dtype):
        """A Fortran record begins with its length: 4 bytes, or 1 in other formats."""
        values = np.arange(5).astype(dtype)
        for shift in (1, 2, 4):
            raw = bytearray(shift) + bytearray(values.tobytes())
            array = np.frombuffer(bytes(raw), dtype, 5, shift)
            assert ag.as_tensor(array.copy()).tolist() == ag.as_tensor(array).tolist()
            buffer = bytes(raw)
            t = ag.frombuffer(buffer, dtype=ag.as_tensor(values).dtype, count=5, offset=shift)
            assert t.tolist() == values.tolist() and (t + t).tolist() == (2 * values).tolist()

    def test_swapped_bytes_are_refused(self):
        with pytest.raises(ValueError, match="byte order different from the native"):
            ag.from_numpy(np.ones(2, dtype=np.dtype("f8").newbyteorder()))

    @pytest.mark.parametrize("dtype", ["U1", "M8[s]", "longdouble", "uint32", "O"])
    def test_other_dtypes_are_refused(self, dtype):
        with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type"):
            ag.from_numpy(np.zeros(2, dtype=dtype))

    @pytest.mark.parametrize("value", [[1], 3, np.float32(3), None])
    def test_what_is_no_array_is_refused(self, value):
        with pytest.raises(TypeError, match=r"expected np.ndarray \(got"):
            ag.from_numpy(value)

    def test_read_only_array_makes_a_read_only_tensor(self):
        a = np.ones(3)
        a.flags.writeable = False
        t = ag.from_numpy(a)
        for change in (lambda: t.add_(1), lambda: t.fill_(0), lambda: t.uniform_(), t.zero_):
            with pytest.raises(RuntimeError, match="read-only"):
                change()
        with pytest.raises(RuntimeError, match="read-only"):
            t[0] = 1
        assert a.tolist() == [1, 1, 1]
        assert not t.numpy().flags.writeable
        assert t.clone().add_(1).tolist() == [2, 2, 2]


class TestBuffer:
    def test_shows_format_shape_and_strides(self):
        t = ag.arange(6, dtype=ag.int32).reshape(2, 3)
        m = memoryview(t)
        assert (m.format, m.itemsize, m.shape, m.strides) == ("i", 4, (2, 3), (12, 4))
        assert m.tolist() == t.tolist()
        assert memoryview(t.t()).strides == (4, 12)
        assert memoryview(t).tobytes() == struct.pack("6i", *range(6))

    @pytest.mark.parametrize(
        "name",
        ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float64", "complex64"],
    )
    def test_numpy_reads_its_own_types(self, name):
        """An array of the other of two types of one size shows its type."""
        dtype = np.dtype(name)
        a = np.array([0, 1], dtype)
        t = ag.from_numpy(a)
        for found in (np.array(t), np.asarray(t), t.numpy(), np.stack([t, t])[0]):
            assert found.dtype.char == dtype.char
            assert repr(found) == repr(a)

    def test_writes_show_in_the_tensor(self):
        t = ag.zeros(3)
        memoryview(t)[1] = 2.5
        assert t.tolist() == [0, 2.5, 0]

    def test_keeps_its_memory_when_the_tensor_gets_other_data(self):
        t = ag.ones(1000)
        m = memoryview(t)
        t.data = ag.zeros(1000)
        others = [ag.zeros(1000) for _ in range(10)]
        assert m.tolist() == [1] * 1000
        m.release()
        del others

    def test_that_requires_grad_is_refused(self):
        x = ag.ones(2, requires_grad=True)
        with pytest.raises(BufferError, match="requires grad"):
            memoryview(x)
        with ag.no_grad():
            assert memoryview(x).tolist() == [1, 1]

    def test_strided_memory_is_not_shown_as_contiguous(self):
        with pytest.raises(BufferError, match="contiguous"):
            struct.unpack_from("f", ag.zeros(4)[::2])

    def test_read_only_memory_stays_so(self):
        assert memoryview(ag.frombuffer(b"ab", dtype=ag.uint8)).readonly
        with pytest.raises(TypeError, match="read-write"):
            struct.pack_into("B", ag.frombuffer(b"ab", dtype=ag.uint8), 0, 1)

    def test_bfloat16_has_no_format(self):
        with pytest.raises(BufferError, match="bfloat16"):
            memoryview(ag.zeros(2, dtype=ag.bfloat16))


class TestStorage:
    def test_is_one_object_for_all_views(self):
        t = ag.zeros(2, 3)
        s = t.untyped_storage()
        assert s is t[1].untyped_storage()
        assert s is t.data.untyped_storage()
        assert s is t.detach().untyped_storage()
        assert s != ag.zeros(2, 3).untyped_storage()

    def test_shows_size_address_and_bytes(self):
        t = ag.tensor([1, 2], dtype=ag.uint8)
        s = t[1:].untyped_storage()
        assert (len(s), s.nbytes(), s.size(), s.element_size()) == (2, 2, 2, 1)
        assert s.data_ptr() == t.data_ptr()
        assert s.tolist() == [1, 2]
        assert s[-1] == 2
        assert s.device == ag.device("cpu")
        with pytest.raises(IndexError):
            s[2]

    def test_outlives_the_tensor(self):
        s = ag.ones(4).untyped_storage()
        others = [ag.zeros(4) for _ in range(10)]
        assert bytes(s) == np.ones(4, dtype=np.float32).tobytes()
        del others

    def test_clone_is_independent(self):
        t = ag.zeros(4)
        c = t.untyped_storage().clone()
        t.fill_(1)
        assert set(c.tolist()) == {0}

    def test_typed_storage_counts_elements(self):
        s = ag.tensor([1.0, 2.0, 3.0])[1:].storage()
        assert len(s) == 3
        assert s[0] == 1.0
        assert s.tolist() == [1.0, 2.0, 3.0]
        assert s == ag.TypedStorage(wrap_storage=s.untyped(), dtype=ag.float32)


@pytest.mark.parametrize(("kind", "wider"), [("uint16", 32), ("uint32", 64), ("uint64", 64)])
def test_unsigned_integers_that_no_dtype_holds_say_which_one_does(kind, wider):
    for call in (ag.from_numpy, ag.tensor, ag.as_tensor):
        with pytest.raises(
            TypeError, match=rf"type {kind}.* with \.astype\(numpy\.int{wider}\)\.$"
        ):
            call(np.ones(2, kind))
