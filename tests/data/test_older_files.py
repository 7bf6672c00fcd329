"""Files of before PyTorch 1.6, options of the unpickler, other modules that pickle, and damage.

The files are in tests/recorded/older_files, with the program that made them.
"""

import base64
import contextlib
import copy
import io
import pickle
import struct
import types
import zlib
from collections import OrderedDict
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.serialization import _archive
from autograd_cy.serialization._pickles import LoadError

FILES = Path(__file__).resolve().parents[1] / "recorded" / "older_files"


def stored(name):
    return zlib.decompress(base64.b64decode((FILES / f"{name}.b64").read_text()))


# --- streams --------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("weights_only", [True, False])
def test_streams_of_torch_are_read(protocol, weights_only, tmp_path):
    path = tmp_path / "state.pt"
    path.write_bytes(stored(f"stream_{protocol}.pt"))
    for file in (path, io.BytesIO(path.read_bytes())):
        found = ag.load(file, weights_only=weights_only)
        assert type(found) is OrderedDict and type(found["weight"]) is ag.nn.Parameter
        assert found["weight"].tolist() == [[1.5, -2.0, 0.25], [3.0, 4.0, 5.0]]
        assert found["columns"].tolist() == [[1.5, 3.0], [-2.0, 4.0], [0.25, 5.0]]
        assert found["count"].item() == 7 and found["half"].dtype is ag.float16
        assert found["flags"].tolist() == [True, False] and found["complex"].item() == 1 + 2j
        assert found["empty"].shape == (0, 2) and found["note"] == "Grüße"
        found["rows"].fill_(0)  # tensors on one memory still are
        assert found["weight"][1].tolist() == [0, 0, 0] == found["columns"][:, 1].tolist()
    with path.open("rb") as file:
        assert ag.load(file, weights_only=weights_only)["count"].item() == 7


def test_tensors_of_streams_go_where_they_are_to_be():
    data = stored("stream_2.pt")
    shapes = ag.load(io.BytesIO(data), map_location="meta")
    assert shapes["weight"].is_meta and shapes["weight"].shape == (2, 3)
    seen = []

    def place(storage, location):
        seen.append(location)
        return ag.zeros(64, dtype=ag.uint8).untyped_storage()

    moved = ag.load(io.BytesIO(data), map_location=place)
    assert moved["columns"].tolist() == [[1.5, 3.0], [-2.0, 4.0], [0.25, 5.0]]
    assert set(seen) == {"cpu"}
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        ag.load(io.BytesIO(data), mmap=True)


@pytest.mark.parametrize("protocol", [1, 2, 3, 4])
def test_streams_are_written_and_read_again(protocol):
    w = ag.arange(6.0).reshape(2, 3)
    state = {
        "w": w, "t": w.t(), "p": ag.nn.Parameter(ag.ones(2)), "b": ag.ones(2, dtype=ag.bfloat16),
        "c": ag.tensor([1j]).conj(), "n": 3, "s": ag.ones(6).untyped_storage(), "d": ag.float16,
    }  # fmt: skip
    file = io.BytesIO()
    ag.save(state, file, pickle_protocol=protocol, _use_new_zipfile_serialization=False)
    file.seek(0)
    assert file.read(2) != b"PK" and file.seek(0) == 0
    found = ag.load(file)
    assert found["w"].tolist() == w.tolist() and found["t"].tolist() == w.t().tolist()
    assert found["t"].data_ptr() == found["w"].data_ptr() and found["s"].nbytes() == 24
    assert type(found["p"]) is ag.nn.Parameter and found["b"].dtype is ag.bfloat16
    assert found["c"].tolist() == [-1j] and found["n"] == 3 and found["d"] is ag.float16


def test_torch_reads_the_streams_that_are_written():
    torch = pytest.importorskip("torch")
    w = ag.arange(6.0).reshape(2, 3)
    file = io.BytesIO()
    ag.save({"w": w, "t": w.t()[1:], "i": ag.arange(3)}, file, _use_new_zipfile_serialization=False)
    file.seek(0)
    found = torch.load(file)
    assert found["w"].tolist() == w.tolist() and found["t"].tolist() == w.t()[1:].tolist()
    assert found["i"].tolist() == [0, 1, 2]


def test_streams_of_machines_with_the_other_byte_order_are_read():
    parts = [pickle.dumps(x, 2) for x in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": False})]
    parts.append(b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\n"
                 b"ShortStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02NtQK\x00K\x02\x85K\x01"
                 b"\x85\x89ccollections\nOrderedDict\n)RtR.")  # fmt: skip
    parts.append(pickle.dumps(["0"], 2) + struct.pack(">qhh", 2, 258, -3))
    assert ag.load(io.BytesIO(b"".join(parts))).tolist() == [258, -3]


# --- tar archives ---------------------------------------------------------------------------------


def test_tar_archives_are_read(tmp_path):
    path = tmp_path / "state.pt"
    path.write_bytes(stored("archive.tar"))
    found = ag.load(path)
    assert found["whole"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert found["whole"].dtype is ag.float64 and found["part"].tolist() == [8, 9]
    found["columns"].fill_(5.0)
    assert found["whole"].tolist() == [[5.0, 5.0], [5.0, 5.0]]


# --- damage ---------------------------------------------------------------------------------------


def each_kind():
    file = io.BytesIO()
    ag.save({"w": ag.ones(3)}, file)
    return {
        "zip": file.getvalue(),
        "stream": stored("stream_2.pt"),
        "tar": stored("archive.tar").rstrip(b"\0"),
    }


@pytest.mark.parametrize("kind", ["zip", "stream", "tar"])
@pytest.mark.parametrize("weights_only", [True, False])
def test_a_cut_file_is_one_error_that_both_clauses_catch(kind, weights_only):
    data = each_kind()[kind]
    for cut in [*range(40), *range(40, len(data) - 1, max(1, len(data) // 97))]:
        with pytest.raises(LoadError) as caught:
            ag.load(io.BytesIO(data[:cut]), weights_only=weights_only)
        assert isinstance(caught.value, RuntimeError), cut
        assert isinstance(caught.value, pickle.UnpicklingError), cut
        assert str(caught.value).startswith("load: "), cut


def test_foreign_files_are_the_same_error():
    for data in (
        b"hello world",
        b"",
        b"\x93NUMPY",
        b"\x89HDF\r\n",
        pickle.dumps({"a": 1}),
        pickle.dumps(3, 0),
        b"PK\x03\x04",
        b"\0" * 257 + b"ustar" + b"\0" * 300,
    ):
        with pytest.raises(RuntimeError) as caught:
            ag.load(io.BytesIO(data))
        assert type(caught.value) is LoadError, data


def test_damaged_bytes_never_crash_and_never_pass_unsaid():
    data = bytearray(stored("stream_2.pt"))
    rng = np.random.default_rng(0)
    for _ in range(300):
        broken = bytearray(data)
        broken[rng.integers(len(data))] ^= 1 << rng.integers(8)
        with contextlib.suppress(RuntimeError, pickle.UnpicklingError):
            ag.load(io.BytesIO(bytes(broken)))


def test_a_stream_that_promises_more_memory_than_it_has_is_refused():
    parts = [pickle.dumps(x, 2) for x in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})]
    parts.append(b"\x80\x02(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000"
                 b"X\x03\x00\x00\x00cpuJ\xff\xff\xff\x7fNtQ.")  # fmt: skip
    with pytest.raises(LoadError, match="the file ends within the memory of its tensors"):
        ag.load(io.BytesIO(b"".join(parts)))


def test_the_error_survives_copies_and_processes():
    error = LoadError("load: the file is damaged")
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(again) is LoadError and again.args == error.args


# --- options --------------------------------------------------------------------------------------


def test_options_of_the_unpickler_are_taken():
    file = io.BytesIO()
    ag.save({"w": ag.ones(2)}, file)
    for options in ({"encoding": "latin1"}, {"encoding": "ascii", "errors": "ignore"}):
        file.seek(0)
        assert ag.load(file, **options)["w"].tolist() == [1.0, 1.0]
    file.seek(0)
    with pytest.raises(TypeError, match="no_such_option"):
        ag.load(file, no_such_option=1)


def test_texts_of_python_2_are_decoded_as_they_are_to_be():
    parts = [pickle.dumps(x, 2) for x in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})]
    data = b"".join([*parts, b"\x80\x02U\x02\xc3\xbc.", pickle.dumps([], 2)])
    assert ag.load(io.BytesIO(data)) == "ü"
    assert ag.load(io.BytesIO(data), encoding="latin1") == "Ã¼"
    assert ag.load(io.BytesIO(data), encoding="bytes") == b"\xc3\xbc"


class Marked:
    """An object that another module pickles in its own way."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    __hash__ = None


def another(base, unpickler=pickle.Unpickler):
    """A module in the manner of pickle, whose picklers note what they reduce."""
    module = types.ModuleType("another")

    class Pickler(base):
        noted: ClassVar[list] = []

        def reducer_override(self, obj):
            if type(obj) is Marked:
                return self._of_marked(obj)
            return NotImplemented

        def _of_marked(self, obj):
            self.noted.append(obj)
            return Marked, (obj.value,)

    class Unpickler(unpickler):
        found: ClassVar[list] = []

        def find_class(self, module, name):
            self.found.append(name)
            return super().find_class(module, name)

    module.Pickler, module.Unpickler = Pickler, Unpickler
    return module


@pytest.mark.parametrize("base", [pickle.Pickler, pickle._Pickler])
@pytest.mark.parametrize("zipped", [True, False])
def test_another_module_pickles_what_is_no_tensor(base, zipped):
    module, file = another(base), io.BytesIO()
    state = {"w": ag.arange(3.0), "m": Marked(5), "p": ag.nn.Parameter(ag.ones(1))}
    ag.save(state, file, pickle_module=module, _use_new_zipfile_serialization=zipped)
    assert module.Pickler.noted == [Marked(5)]
    file.seek(0)
    found = ag.load(file, pickle_module=module)
    assert found["w"].tolist() == [0.0, 1.0, 2.0] and found["m"] == Marked(5)
    assert type(found["p"]) is ag.nn.Parameter and "Marked" in module.Unpickler.found
    with pytest.raises(RuntimeError, match="Can not safely load weights when explicit pickle"):
        ag.load(file.seek(0) or file, pickle_module=module, weights_only=True)


def test_a_module_that_pickles_nothing_is_refused():
    for call in (
        lambda: ag.save(1, io.BytesIO(), pickle_module=zlib),
        lambda: ag.load(io.BytesIO(stored("stream_2.pt")), pickle_module=zlib),
    ):
        with pytest.raises(AttributeError, match="pickle_module must be a module with a class"):
            call()


def test_the_byte_order_of_files_that_name_none():
    order = ag.serialization.LoadEndianness
    assert ag.serialization.get_default_load_endianness() is None
    ag.serialization.set_default_load_endianness(order.LITTLE)
    assert ag.serialization.get_default_load_endianness() is order.LITTLE
    ag.serialization.set_default_load_endianness(None)
    with pytest.raises(TypeError, match="Invalid argument type"):
        ag.serialization.set_default_load_endianness("little")


class Slow(io.BytesIO):
    """A file without a buffer: each read gives a few bytes."""

    def read(self, size=-1):
        return super().read(min(size, 7) if size > 0 else size)


@pytest.mark.parametrize("zipped", [True, False])
def test_files_that_read_a_part_of_what_is_asked_for_are_read(zipped, tmp_path):
    saved = io.BytesIO()
    ag.save({"a": ag.arange(1000)}, saved, _use_new_zipfile_serialization=zipped)
    assert ag.load(Slow(saved.getvalue()))["a"].sum() == 499500
    path = tmp_path / "saved"
    path.write_bytes(saved.getvalue())
    with open(path, "rb", buffering=0) as raw:
        assert ag.load(raw)["a"].sum() == 499500


def test_a_file_that_cannot_seek_says_so():
    class Stream(io.BytesIO):
        def seek(self, *args):
            raise io.UnsupportedOperation("seek")

    class Bare:
        def __init__(self, data):
            self.read = io.BytesIO(data).read

    saved = io.BytesIO()
    ag.save(ag.ones(2), saved)
    with pytest.raises(io.UnsupportedOperation, match="must be seekable"):
        ag.load(Stream(saved.getvalue()))
    with pytest.raises(AttributeError, match="must be seekable"):
        ag.load(Bare(saved.getvalue()))


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("numbers", [(-1, 4, 1), (2**31, 4, 1), (0, -1, 1), (0, 2**31, 1),
                                     (0, 4, -1), (0, 4, 2**31), (0, 2**62, 2**62)])  # fmt: skip
def test_a_tensor_outside_of_its_memory_is_the_same_error(numbers, weights_only):
    class Outside:
        def __reduce__(self):
            offset, size, stride = numbers
            memory = ag.storage._typed_storage(ag.ones(4)), offset
            return _archive._rebuild_tensor_v2, (*memory, (size,), (stride,), False, {})

    saved = io.BytesIO()
    ag.save({"a": Outside()}, saved)
    with ag.serialization.safe_globals([_archive._rebuild_tensor_v2]), pytest.raises(LoadError):
        ag.load(io.BytesIO(saved.getvalue()), weights_only=weights_only)
