"""Storages as objects: made, subclassed, sliced, resized, with attributes; typed storages."""

import copy
import gc
import io
import pickle
import sys
import warnings
import weakref

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import UntypedStorage
from autograd_cy.storage import TypedStorage


class Noted(UntypedStorage):
    """A class that pickle finds."""


# --- making -----------------------------------------------------------------------------------


def test_a_storage_is_made_of_a_size_or_of_bytes():
    assert UntypedStorage().nbytes() == 0 and UntypedStorage(5).nbytes() == 5
    assert UntypedStorage(size=3).nbytes() == 3 and UntypedStorage(np.int64(4)).nbytes() == 4
    for content in ([1, 2, 300, -1], (1, 2, 44, 255), bytes([1, 2, 44, 255])):
        assert UntypedStorage(content).tolist() == [1, 2, 44, 255]
    assert UntypedStorage(UntypedStorage([1, 2])).tolist() == [1, 2]
    assert UntypedStorage(range(3)).tolist() == [0, 1, 2]
    there = UntypedStorage(4, device="meta")
    assert there.device.type == "meta" and len(there) == 4 and there[1:].nbytes() == 3
    assert sys.getsizeof(UntypedStorage(100)) >= 100


@pytest.mark.parametrize(
    ("args", "options", "error", "text"),
    [
        ((-1,), {}, RuntimeError, "negative"),
        ((1, 2), {}, TypeError, r"invalid combination of arguments - got \(int, int\)"),
        ((), {"x": 4}, TypeError, r"got \(x=int\)"),
        ((2.5,), {}, RuntimeError, "Expected a sequence type, but got float"),
        ((True,), {}, RuntimeError, "Expected a sequence type, but got bool"),
        ((ag.ones(2),), {}, RuntimeError, "Expected a sequence type, but got Tensor"),
        (("a",), {}, RuntimeError, "of type str instead of int"),
        (([1, 1.5],), {}, RuntimeError, "of type float instead of int"),
        ((4,), {"device": "nowhere"}, RuntimeError, "device"),
    ],
)
def test_other_arguments_are_refused(args, options, error, text):
    with pytest.raises(error, match=text):
        UntypedStorage(*args, **options)


# --- bytes ------------------------------------------------------------------------------------


def test_bytes_are_read_and_written():
    s = UntypedStorage([1, 2, 3, 4])
    assert s[1] == 2 and s[-1] == 4 and list(s) == [1, 2, 3, 4]
    s[0], s[1:3] = 300, 7
    assert s.tolist() == [44, 7, 7, 4]
    assert s.fill_(257).tolist() == [1, 1, 1, 1] and s.fill_(2) is s
    assert s.copy_(UntypedStorage([5, 6, 7, 8])) is s and s.tolist() == [5, 6, 7, 8]
    s.byteswap(ag.int16)
    assert s.tolist() == [6, 5, 8, 7]
    s.byteswap(ag.complex64)
    assert s.tolist() == [7, 8, 5, 6]


@pytest.mark.parametrize(
    ("use", "error", "text"),
    [
        (lambda s: s[5], IndexError, "index 5 out of range for storage of size 3"),
        (lambda s: s[-4], IndexError, "index -4 out of range"),
        (lambda s: s["a"], TypeError, "can't index a"),
        (lambda s: s[1.5], TypeError, "can't index a"),
        (lambda s: s[::2], RuntimeError, "step of 2, but only a step of 1"),
        (lambda s: s.__setitem__(9, 1), RuntimeError, "out of bounds"),
        (lambda s: s.__setitem__("a", 1), RuntimeError, "can't index a"),
        (lambda s: s.__setitem__(0, 1.5), RuntimeError, "with a int types, but got float"),
        (lambda s: s.__setitem__(slice(0, 2), [1, 2]), RuntimeError, "but got list"),
        (lambda s: s.fill_("a"), RuntimeError, "but got str"),
        (lambda s: s.copy_(UntypedStorage(4)), RuntimeError, "self was 3 bytes but src was 4"),
        (lambda s: s.copy_(3), TypeError, "must be UntypedStorage"),
        (lambda s: s.resize_(-1), RuntimeError, "negative"),
        (lambda s: s.resize_(1.5), RuntimeError, "expects an int"),
        (lambda s: UntypedStorage(3, device="meta")[0], NotImplementedError, "meta"),
    ],
)
def test_wrong_uses_are_refused_and_change_nothing(use, error, text):
    s = UntypedStorage([1, 2, 3])
    with pytest.raises(error, match=text):
        use(s)
    assert s.tolist() == [1, 2, 3]


def test_a_slice_shows_the_same_memory_and_outlives_it():
    s = UntypedStorage(range(10))
    part = s[2:5]
    part[0] = 99
    assert s[2] == 99 and not part.resizable() and s[5:2].nbytes() == 0
    end = part[1:]
    del s, part
    gc.collect()
    assert end.tolist() == [3, 4]


def test_memory_of_a_read_only_array_is_not_written():
    array = np.ones(2)
    array.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        s = ag.from_numpy(array).untyped_storage()
    for write in (
        lambda: s.fill_(0),
        lambda: s.__setitem__(0, 1),
        lambda: s.copy_(UntypedStorage(16)),
        lambda: s.byteswap(ag.int16),
    ):
        with pytest.raises(RuntimeError, match="read-only"):
            write()
    assert array.tolist() == [1.0, 1.0]


def test_it_shows_its_bytes():
    assert repr(UntypedStorage([1, 2])) == (
        " 1\n 2\n[autograd_cy.storage.UntypedStorage(device=cpu) of size 2]"
    )
    assert repr(UntypedStorage(2, device="meta")).startswith("...\n[")
    assert f"[{__name__}.Noted(device=cpu) of size 0]" in repr(Noted())
    assert len(repr(UntypedStorage(10**6)).splitlines()) == 1002


# --- size -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 3, 40, 64, 100, 5000, 10**7])
def test_a_storage_of_no_tensor_has_any_size(size):
    s = UntypedStorage([1, 2, 3, 4])
    assert s.resize_(size) is s and s.nbytes() == size
    assert s.tolist()[:4] == [1, 2, 3, 4][:size]
    s.fill_(7)
    assert set(s.tolist()) <= {7}
    assert ag.empty(0, dtype=ag.uint8).set_(s).numel() == size
    live = ag.memory_summary()["live_bytes"]
    del s
    assert ag.memory_summary()["live_bytes"] < live


def test_tensors_keep_their_elements_where_a_storage_is_resized():
    x = ag.arange(100.0)
    s = x.untyped_storage()
    assert s.resize_(0).nbytes() == 0 and s.resize_(400).nbytes() == 400
    assert x.tolist() == list(range(100))
    with pytest.raises(RuntimeError, match="not resizable: tensors or arrays use the memory"):
        s.resize_(10**6)
    assert s.nbytes() == 400 and x.untyped_storage() is s


def test_memory_of_others_has_its_size():
    for s in (
        ag.from_numpy(np.ones(3)).untyped_storage(),
        UntypedStorage(4)[1:],
        ag.ones(2).share_memory_().untyped_storage(),
    ):
        assert not s.resizable()
        with pytest.raises(RuntimeError, match="not resizable"):
            s.resize_(1)


def test_set_lets_a_storage_grow_that_nothing_else_uses():
    s = UntypedStorage(8).fill_(0)
    x = ag.empty(0).set_(s, 2, (3,), (30,))
    assert s.nbytes() == 4 * (2 + 61) and x.untyped_storage() is s
    with pytest.raises(RuntimeError, match="out of bounds"):
        ag.empty(0).set_(s, 0, (1000,), (1,))
    assert s.nbytes() == 4 * (2 + 61)


# --- identity and attributes ------------------------------------------------------------------


def test_a_block_has_one_object_while_it_lives():
    x = ag.ones(4)
    s = x.untyped_storage()
    for y in (
        x[1:],
        x.detach(),
        x.data,
        x.view(ag.int32),
        ag.empty(0).set_(s),
        ag.empty(0).set_(x),
    ):
        assert y.untyped_storage() is s
    made = UntypedStorage(4)
    assert ag.empty(0).set_(made).untyped_storage() is made
    moved = ag.ones(3)
    s = moved.untyped_storage()
    moved.share_memory_()
    assert moved.untyped_storage() is s and s.is_shared()


def test_attributes_live_as_long_as_the_memory():
    x = ag.ones(3)
    x.untyped_storage().note = note = ["kept"]
    address = id(x.untyped_storage())
    for _ in range(3):
        gc.collect()
        assert x.untyped_storage().note is note and id(x.untyped_storage()) == address
    view = x[1:]
    del x
    assert view.untyped_storage().note is note
    seen = weakref.ref(view.untyped_storage())
    assert seen() is view.untyped_storage()
    count = sys.getrefcount(note)
    del view
    gc.collect()
    assert seen() is None and sys.getrefcount(note) == count - 1


def test_an_object_that_was_kept_outlives_its_tensors():
    x = ag.arange(3.0)
    x.untyped_storage().note = 1
    s = x.untyped_storage()
    del x
    gc.collect()
    assert s.note == 1 and ag.empty(0).set_(s).tolist() == [0, 1, 2]
    s.resize_(1000)
    assert s.note == 1 and s.nbytes() == 1000


def test_a_kept_object_moves_to_shared_memory():
    x = ag.arange(3.0)
    x.untyped_storage().note = 1
    x.share_memory_()
    assert x.untyped_storage().note == 1 and x.untyped_storage().is_shared()
    assert x.tolist() == [0, 1, 2]
    live = ag.memory_summary()["live_blocks"]
    assert live >= 0 and x.untyped_storage().nbytes() == 12


def test_objects_that_are_kept_give_the_memory_back():
    before = ag.memory_summary()["live_bytes"]
    for i in range(50):
        x = ag.empty(0, dtype=ag.uint8).set_(Noted(100_000))
        x.untyped_storage().number = i
        y = ag.ones(1000)
        y.untyped_storage().me = y.untyped_storage()
    del x
    gc.collect()
    del y
    gc.collect()
    # One that refers to itself is let go by the collector, when its tensor is gone.
    assert ag.memory_summary()["live_bytes"] - before < 100_000


def test_an_object_without_attributes_is_not_kept():
    x = ag.ones(2)
    seen = weakref.ref(x.untyped_storage())
    assert seen() is None


def test_errors_survive_what_is_let_go_beside_them():
    def fail():
        x = ag.ones(3)
        x.untyped_storage().note = 1
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail()


# --- subclasses -------------------------------------------------------------------------------


class Sized(UntypedStorage):
    """A class with arguments of its own."""

    def __new__(cls, *args, **options):
        return super().__new__(cls, 4)

    def __init__(self, *args, **options):
        super().__init__()
        self.args = args


def test_subclasses_stay_what_they_are():
    s = Noted([1, 2, 3, 4])
    x = ag.empty(0, dtype=ag.uint8).set_(s)
    del s
    gc.collect()
    again = x.untyped_storage()
    assert type(again) is Noted and again.tolist() == [1, 2, 3, 4]
    for other in (again.clone(), again[1:], again.new(), copy.deepcopy(again), copy.copy(again)):
        assert type(other) is Noted and other is not again
    assert Sized(1, 2, x=3).args == (1, 2) and Sized().nbytes() == 4
    assert type(Sized().clone()) is Sized


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_keep_class_attributes_and_identity(protocol):
    s = Noted([1, 2, 3, 4])
    s.note = "here"
    x = ag.empty(0, dtype=ag.uint8).set_(s)
    again, y = pickle.loads(pickle.dumps([s, x], protocol))
    assert type(again) is Noted and again.note == "here" and again.tolist() == [1, 2, 3, 4]
    assert y.untyped_storage() is again
    plain = pickle.loads(pickle.dumps(UntypedStorage([1, 2]), protocol))
    assert type(plain) is UntypedStorage and plain.tolist() == [1, 2]
    there = pickle.loads(pickle.dumps(Noted(3, device="meta"), protocol))
    assert type(there) is Noted and there.device.type == "meta" and there.nbytes() == 3


def test_what_keeps_arrays_alive_cannot_be_made():
    with pytest.raises(TypeError, match="StorageBase objects cannot be made"):
        ag.StorageBase()
    assert issubclass(UntypedStorage, ag.StorageBase)
    base = ag.ones(2).numpy().base
    assert type(base) is ag.StorageBase


# --- sources ----------------------------------------------------------------------------------


def test_elements_of_a_buffer_are_copied():
    from_buffer = UntypedStorage.from_buffer
    assert from_buffer(b"1234", dtype=ag.uint8).tolist() == [49, 50, 51, 52]
    assert from_buffer(b"1234", "little", dtype=ag.int16).tolist() == [49, 50, 51, 52]
    assert from_buffer(b"1234", "big", dtype=ag.int16).tolist() == [50, 49, 52, 51]
    assert from_buffer(b"123456", "little", 1, 2, dtype=ag.int16).tolist() == [51, 52]
    for args, dtype, error, text in (
        ((b"12",), ag.int16, RuntimeError, "missing required argument 'byte_order'"),
        ((b"12",), None, RuntimeError, "'dtype' cannot be None"),
        ((b"12", "x"), ag.int16, ValueError, "invalid byte_order 'x'"),
        ((b"123", "big"), ag.int16, ValueError, "must be a multiple of element size"),
        ((b"12", "big", -1, 3), ag.int16, ValueError, "offset must be non-negative"),
        ((b"12", "big", 2), ag.int16, ValueError, "has only 1 elements"),
    ):
        with pytest.raises(error, match=text):
            from_buffer(*args, dtype=dtype)


def test_files_are_mapped(tmp_path):
    path = str(tmp_path / "numbers")
    with pytest.raises(RuntimeError, match="unable to open file"):
        ag.from_file(path, size=2)
    x = ag.from_file(path, shared=True, size=4, dtype=ag.int16)
    x.copy_(ag.arange(4))
    assert (tmp_path / "numbers").read_bytes() == bytes([0, 0, 1, 0, 2, 0, 3, 0])
    assert x.untyped_storage().filename == path and not x.untyped_storage().resizable()
    own = ag.from_file(path, size=2, dtype=ag.int16)
    own.fill_(9)
    assert x.tolist() == [0, 1, 2, 3] and own.untyped_storage().filename is None
    with pytest.raises(RuntimeError, match="smaller than the required mapping size"):
        ag.from_file(path, size=100)
    s = UntypedStorage.from_file(path, True)
    s[0] = 5
    assert x[0] == 5 and s.nbytes() == 8
    assert ag.ShortStorage.from_file(path, False, 2).tolist() == [5, 1]
    assert ag.from_file(path).tolist() == [] and ag.UntypedStorage(1).filename is None


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("filename", {"filename": ag.zeros(2)}, "str, not Tensor"),
        ("filename", {"filename": None}, "str, not NoneType"),
        ("shared", {"shared": 1}, "bool, not int"),
        ("size", {"size": 4.0}, "int, not float"),
        ("size", {"size": True}, "int, not bool"),
        ("dtype", {"dtype": "float32"}, ""),
    ],
)
def test_arguments_of_mapped_files_have_their_types(tmp_path, name, given, wanted):
    path = tmp_path / "numbers"
    with pytest.raises(TypeError, match=rf"{name}.* must be .*{wanted}"):
        ag.from_file(**{"filename": str(path), "shared": True, "size": 2, **given})
    assert not path.exists()
    assert ag.from_file(bytes(path), True, ag.tensor(2)).shape == (2,)


def test_a_storage_of_no_tensor_is_moved_to_shared_memory():
    s = UntypedStorage([1, 2, 3])
    assert not s.is_shared() and s.share_memory_() is s
    assert s.is_shared() and s.tolist() == [1, 2, 3] and s.share_memory_() is s
    x = ag.ones(2)
    with pytest.raises(RuntimeError, match="Call share_memory_.. of the tensor"):
        x.untyped_storage().share_memory_()
    made = Noted._new_shared(4)
    assert type(made) is Noted and made.is_shared() and made.tolist() == [0] * 4


# --- typed storages ---------------------------------------------------------------------------

CLASSES = {
    "BFloat16Storage": ag.bfloat16,
    "BoolStorage": ag.bool,
    "ByteStorage": ag.uint8,
    "CharStorage": ag.int8,
    "ComplexDoubleStorage": ag.complex128,
    "ComplexFloatStorage": ag.complex64,
    "DoubleStorage": ag.float64,
    "FloatStorage": ag.float32,
    "HalfStorage": ag.float16,
    "IntStorage": ag.int32,
    "LongStorage": ag.int64,
    "ShortStorage": ag.int16,
}
CONVERSIONS = {
    "bfloat16": "BFloat16Storage",
    "bool": "BoolStorage",
    "byte": "ByteStorage",
    "char": "CharStorage",
    "complex_double": "ComplexDoubleStorage",
    "complex_float": "ComplexFloatStorage",
    "double": "DoubleStorage",
    "float": "FloatStorage",
    "half": "HalfStorage",
    "int": "IntStorage",
    "long": "LongStorage",
    "short": "ShortStorage",
}


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_classes_of_typed_storages(name):
    cls, dtype = getattr(ag, name), CLASSES[name]
    s = cls([1, 0, 1])
    assert type(s) is TypedStorage and s.dtype is dtype and cls.dtype is dtype
    assert isinstance(s, cls) and issubclass(cls, TypedStorage)
    assert [other for other in CLASSES if isinstance(s, getattr(ag, other))] == [name]
    assert s.tolist() == ag.tensor([1, 0, 1]).to(dtype).tolist() and cls(4).size() == 4
    assert s.pickle_storage_type() == name and s.type() == f"torch.{name}"
    assert ag.zeros(2, dtype=dtype).storage_type() is cls
    assert pickle.loads(pickle.dumps(cls)) is cls
    assert ag.empty(0, dtype=dtype).set_(s).tolist() == s.tolist()
    assert not isinstance(s, getattr(ag.cuda, name)) and ag.is_storage(s)
    for again in (pickle.loads(pickle.dumps(s)), copy.deepcopy(s), copy.copy(s), s.clone()):
        assert again.tolist() == s.tolist() and again.dtype is dtype and again != s
    file = io.BytesIO()
    ag.save([s, ag.empty(0, dtype=dtype).set_(s)], file)
    file.seek(0)
    first, second = ag.load(file)
    assert first.tolist() == s.tolist() and first.untyped() is second.untyped_storage()
    for method, other in CONVERSIONS.items():
        made = getattr(s, method)()
        assert made.dtype is CLASSES[other]
        assert made.tolist() == ag.tensor([1, 0, 1]).to(CLASSES[other]).tolist()
        made = getattr(UntypedStorage([1, 0, 1]), method)()
        assert isinstance(made, getattr(ag, other)) and bool(made[0]) and not made[1]
        assert s.type(getattr(ag, other)).dtype is CLASSES[other]


def test_a_typed_storage_wraps_memory_or_makes_it():
    memory = UntypedStorage(9)
    s = TypedStorage(wrap_storage=memory, dtype=ag.int16)
    assert s.untyped() is memory and s.size() == len(s) == 4 and s.element_size() == 2
    assert ag.FloatStorage(wrap_storage=memory).size() == 2
    assert TypedStorage(3).dtype is ag.get_default_dtype()
    assert TypedStorage(3, dtype=ag.int32, device="meta").device.type == "meta"
    s.fill_(3)
    s[0], s[1:3] = 7, 5
    assert s.tolist() == [7, 5, 5, 3] and list(s) == s.tolist() and s[-1] == 3
    assert s.resize_(2) is None and s.size() == 2 and s.resizable()
    assert repr(ag.FloatStorage([1, 2])) == (
        " 1.0\n 2.0\n[autograd_cy.storage.TypedStorage(dtype=autograd_cy.float32, device=cpu) of "
        "size 2]"
    )
    x = ag.ones(3)
    assert x._typed_storage()._data_ptr() == x.data_ptr() == x.storage().data_ptr()
    assert x.storage().untyped() is x.untyped_storage()


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: TypedStorage(UntypedStorage(8), dtype=ag.int16), TypeError, "not recognized"),
        (lambda: TypedStorage(wrap_storage=UntypedStorage(8)), RuntimeError, "'dtype' must be"),
        (lambda: ag.FloatStorage(3, 4), RuntimeError, "Too many positional arguments"),
        (lambda: ag.FloatStorage(device="meta"), RuntimeError, "'device' cannot be specified"),
        (lambda: ag.FloatStorage(wrap_storage=1), TypeError, "must be UntypedStorage"),
        (lambda: ag.FloatStorage(ag.ones(2)), TypeError, "not recognized: .*Tensor"),
        (lambda: ag.FloatStorage(2.5), TypeError, "not recognized: .*float"),
        (lambda: ag.FloatStorage([1, 2])[2], IndexError, "index 2 out of range"),
        (lambda: ag.FloatStorage([1, 2])[1:], RuntimeError, "slices are only supported"),
        (lambda: ag.FloatStorage([1, 2])["a"], RuntimeError, "can't index a"),
        (lambda: TypedStorage.from_file("x"), RuntimeError, "derived classes"),
    ],
)
def test_wrong_uses_of_typed_storages(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_typed_storages_warn_once():
    ag.storage._reset_warn_typed_storage_removal()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        ag.ones(1).storage()
        ag.FloatStorage(1)
        TypedStorage(1)
        ag.ones(1)._typed_storage()
    assert ["TypedStorage is deprecated" in str(w.message) for w in seen] == [True]
    assert seen[0].filename == __file__
