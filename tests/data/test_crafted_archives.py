"""Archives that are whole as zip files, whose pickles or members say what can't be."""

import io
import pickle
import struct
import zipfile

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import serialization


def text(word):
    return b"X" + struct.pack("<I", len(word)) + word.encode()


def number(n):
    return b"J" + struct.pack("<i", n)


FOUR, WORD, KEY, PLACE = struct.pack("<4f", 1, 2, 3, 4), text("storage"), text("0"), text("cpu")
COUNT = number(4)
FLOATS = b"ctorch\nFloatStorage\n"


def memory(word=WORD, kind=FLOATS, key=KEY, place=PLACE, count=COUNT):
    """A persistent id, as `torch.save` writes it."""
    return b"(" + word + kind + key + place + count + b"tQ"


def tensor(of):
    """The call that makes a tensor of two elements, from the third on."""
    return (
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + of + number(2) + b"(" + number(2) + b"t("
        + number(1) + b"t\x89ccollections\nOrderedDict\n)RtR."
    )  # fmt: skip


def archive(pickled, order=b"little", data=FOUR, version=b"3\n", **more):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("x/data.pkl", pickled)
        for name, content in more.items():
            made.writestr(name.replace("_", "/") + "/data.pkl", content)
        if order is not None:
            made.writestr("x/byteorder", order)
        made.writestr("x/data/0", data)
        if version is not None:
            made.writestr("x/version", version)
    return file.getvalue()


def loaded(content, tmp_path, mmap):
    if not mmap:
        return ag.load(io.BytesIO(content))
    path = tmp_path / "file.pt"
    path.write_bytes(content)
    return ag.load(path, mmap=True)


@pytest.mark.parametrize("mmap", [False, True])
def test_what_is_written_by_the_rules_is_read(mmap, tmp_path):
    assert loaded(archive(tensor(memory())), tmp_path, mmap).tolist() == [3.0, 4.0]
    assert loaded(archive(tensor(memory()), order=None), tmp_path, mmap).tolist() == [3.0, 4.0]
    swapped = archive(tensor(memory()), b"big", struct.pack(">4f", 1, 2, 3, 4))
    assert loaded(swapped, tmp_path, mmap).tolist() == [3.0, 4.0]


WRONG = {
    "byte order": (archive(tensor(memory()), b"middle"), "unknown byte order b'middle'"),
    "no tuple": (archive(tensor(number(5) + b"Q")), "unknown kind of persistent id: 5"),
    "another word": (archive(tensor(memory(text("store")))), "unknown kind of persistent id"),
    "too short": (archive(tensor(b"(" + text("storage") + b"tQ")), "unknown kind of persistent"),
    "kind": (archive(tensor(memory(kind=number(1)))), "memory of an unknown kind"),
    "key": (archive(tensor(memory(key=number(0)))), "memory of an unknown kind"),
    "place": (archive(tensor(memory(place=number(0)))), "memory without a size or a place"),
    "size": (archive(tensor(memory(count=number(-1)))), "memory without a size or a place"),
    "size in words": (archive(tensor(memory(count=text("4")))), "memory without a size or a pl"),
    "no memory": (archive(tensor(number(5))), "a tensor's memory has no dtype"),
    "missing member": (archive(tensor(memory(key=text("1")))), "it has no data/1"),
    "short member": (archive(tensor(memory()), data=bytes(12)), ("12 bytes of 16", "is too short")),
    "window outside": (
        archive(tensor(memory(count=number(3))), data=bytes(12)),
        "does not fit into a storage of 12 bytes",
    ),
}


@pytest.mark.parametrize("mmap", [False, True])
def test_what_cannot_be_is_refused(mmap, tmp_path):
    for name, (content, words) in WRONG.items():
        with pytest.raises((pickle.UnpicklingError, RuntimeError)) as error:
            loaded(content, tmp_path, mmap)
        wanted = words if isinstance(words, str) else words[mmap]
        assert wanted in str(error.value), name


def test_memory_is_mapped_from_paths_alone():
    with pytest.raises(ValueError, match="a path in order to use mmap"):
        ag.load(io.BytesIO(archive(tensor(memory()))), mmap=True)


def patched(content, signature, name, place, value):
    """The archive with other bytes in the header of a member."""
    start = content.rindex(name)
    at = content.rindex(signature, 0, start) + place
    return content[:at] + value + content[at + len(value) :]


FINE = archive(tensor(memory()))
LOCAL, CENTRAL, DATA = b"PK\x03\x04", b"PK\x01\x02", b"x/data/0"
BODY = FINE[: FINE.index(CENTRAL)]
PATCHED = {
    "encrypted": (patched(FINE, CENTRAL, DATA, 8, b"\x01"), "data/0 is compressed or encrypted"),
    "elsewhere": (patched(FINE, CENTRAL, DATA, 42, b"\x05"), "no data/0 where it should be"),
    "at the end": (
        patched(FINE, CENTRAL, DATA, 42, struct.pack("<I", len(FINE) - 9)),
        "no data/0 where it should be",
    ),
    "beyond the end": (
        patched(BODY, LOCAL, DATA, 28, b"\xff\xff") + FINE[len(BODY) :],
        "the file ends within data/0",
    ),
    "two pickles": (archive(tensor(memory()), y=b"N."), "not one of torch.save"),
}


@pytest.mark.parametrize("mmap", [False, True])
def test_headers_that_cannot_be_are_refused(mmap, tmp_path):
    for name, (content, words) in PATCHED.items():
        with pytest.raises(pickle.UnpicklingError) as error:
            loaded(content, tmp_path, mmap)
        assert words in str(error.value), name
    deeper = archive(tensor(memory()), x_y=b"N.")
    assert loaded(deeper, tmp_path, mmap).tolist() == [3.0, 4.0]


def test_members_may_be_longer_than_what_is_read():
    for order, end in ((b"big", ">"), (b"little", "<")):
        content = archive(tensor(memory()), order, struct.pack(end + "4f", 1, 2, 3, 4) + b"ab")
        assert ag.load(io.BytesIO(content)).tolist() == [3.0, 4.0]


class Slow(io.BytesIO):
    """A file that gives a few bytes at a time."""

    def readinto(self, part):
        return super().readinto(part[:7])


def test_what_comes_piece_by_piece_is_put_together():
    content = archive(tensor(memory()), data=bytes(range(16)))
    assert ag.equal(ag.load(Slow(content)), ag.load(io.BytesIO(content)))


def test_members_are_looked_for_on_meta_too():
    for content, words in (WRONG["missing member"], PATCHED["encrypted"]):
        with pytest.raises(pickle.UnpicklingError, match=words):
            ag.load(io.BytesIO(content), map_location="meta")
    assert ag.load(io.BytesIO(FINE), map_location="meta").is_meta


def test_functions_of_storages_give_storages():
    with pytest.raises(pickle.UnpicklingError, match="a tensor was to be made of int"):
        ag.load(io.BytesIO(FINE), map_location=lambda storage, place: 5)
    made = b"\x80\x02ctorch._utils\n_rebuild_tensor_v3\n(" + number(5) + number(0)
    content = archive(made + b"))\x89Nctorch\nfloat32\ntR.")
    with pytest.raises(pickle.UnpicklingError, match="a tensor was to be made of int"):
        ag.load(io.BytesIO(content))


def test_places_that_a_file_names():
    far = archive(tensor(memory(place=text("cuda:1"))))
    found = ag.load(io.BytesIO(far), map_location={"cuda:1": "cpu:0", "cpu": "meta"})
    assert found.tolist() == [3.0, 4.0]
    for where in (None, {"cuda:0": "cpu"}, {"cuda:1": "cuda:0"}, {"cuda:1": ag.device("cuda")}):
        with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
            ag.load(io.BytesIO(far), map_location=where)
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
        ag.load(io.BytesIO(FINE), map_location=ag.device("cuda"))


def test_what_is_trusted_is_not_looked_over():
    beyond = io.BytesIO(archive(b"]p6\n."))
    for trust in (False, 0):
        beyond.seek(0)
        assert ag.load(beyond, weights_only=trust) == []
    for trust in (None, True, 1):
        beyond.seek(0)
        with pytest.raises(pickle.UnpicklingError, match="in place 6 of 5"):
            ag.load(beyond, weights_only=trust)


def test_classes_within_classes_are_not_asked_for():
    dotted = b"\x80\x04\x8c\x0bautograd_cy\x8c\x0cnn.Parameter\x93."
    with pytest.raises(pickle.UnpicklingError, match="which weights_only=True does not allow"):
        ag.load(io.BytesIO(archive(dotted)))
    with pytest.raises(pickle.UnpicklingError, match="which weights_only=True does not allow"):
        ag.load(io.BytesIO(archive(b"cautograd_cy.nn\nLinear\n.")))


def test_what_is_allowed_by_name_may_be_of_torch():
    asked = archive(b"\x80\x02ctorch.unheard.of\nThing\n.")
    with pytest.raises(pickle.UnpicklingError, match="an object of PyTorch's that isn't here"):
        ag.load(io.BytesIO(asked))
    serialization.add_safe_globals([(range, "torch.unheard.of.Thing")])
    try:
        assert ag.load(io.BytesIO(asked)) is range
        assert serialization.get_safe_globals()[-1] == (range, "torch.unheard.of.Thing")
    finally:
        serialization.clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError, match="an object of PyTorch's that isn't here"):
        ag.load(io.BytesIO(asked))


class Own(ag.Tensor):
    pass


def test_classes_that_were_allowed_can_be_taken_back():
    own = ag.ones(2).as_subclass(Own)
    own.note = "hi"
    file = io.BytesIO()
    ag.save([own, own], file)
    for _ in range(2):
        file.seek(0)
        with pytest.raises(pickle.UnpicklingError, match=r"asks for test_crafted_archives\.Own"):
            ag.load(file)
        serialization.add_safe_globals([Own])
        try:
            file.seek(0)
            first, second = ag.load(file)
        finally:
            serialization.clear_safe_globals()
        assert type(first) is Own and first is second and first.note == "hi"
        assert serialization.get_safe_globals() == []


def test_what_an_archive_looks_like(monkeypatch):
    """Names are written once; memory lies where it can be mapped, also that of large members."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1000)
    bytes_of_six = ag.zeros(6, dtype=ag.uint8)
    odd = bytes_of_six[:4].view(ag.float32)
    things = [ag.ones(3), ag.ones(300), odd, ag.ones(5, dtype=ag.int64), ag.device("cpu"),
              ag.empty(2, 3, device="meta").t(), ag.empty(4, 0, device="meta")]  # fmt: skip
    file = io.BytesIO()
    ag.save(things, file)
    reader = serialization._archive.Reader(file, lambda place: ag.device("cpu"))
    assert [reader.find(f"data/{k}")[0] % 64 for k in range(4)] == [0] * 4
    assert [reader.find(f"data/{k}")[1] for k in range(4)] == [12, 1200, 6, 40]
    pickled = bytes(reader.pickled())
    assert pickled.count(b"_rebuild_tensor_v2") == 1 and pickled.count(b"FloatStorage") == 1
    assert bytes(reader.read("byteorder")) == b"little" and bytes(reader.read("version")) == b"3\n"
    file.seek(0)
    ones, many, odd, whole, place, meta, nothing = ag.load(file)
    assert (ones.tolist(), many.sum().item(), whole.tolist()) == ([1] * 3, 300, [1] * 5)
    assert odd.tolist() == [0.0] and odd.untyped_storage().nbytes() == 6
    assert place == ag.device("cpu")
    assert (meta.shape, meta.stride(), meta.untyped_storage().nbytes()) == ((3, 2), (1, 3), 24)
    assert (nothing.shape, nothing.untyped_storage().nbytes()) == ((4, 0), 0)
    with pytest.raises(TypeError, match="torch.Size is only a name here"):
        serialization._archive._SIZE()


def test_numbers_of_numpy_say_all_that_they_need():
    file = io.BytesIO()
    ag.save({"loss": np.float64(1.5)}, file)
    file.seek(0)
    words = r"add_safe_globals\(\[(numpy\.[\w.]+\.scalar), numpy\.dtype\]\), .* float\(x\)"
    with pytest.raises(pickle.UnpicklingError, match=words):
        ag.load(file)
    needed = [np.float64(1.0).__reduce__()[0], np.dtype]
    with serialization.safe_globals(needed):
        file.seek(0)
        assert ag.load(file) == {"loss": 1.5}


@pytest.mark.parametrize("mmap", [False, True])
def test_versions_that_are_known_are_read(mmap, tmp_path):
    pickled = tensor(memory())
    for version in (b"1", b"3", b" 3\n", b"10\n"):
        assert loaded(archive(pickled, version=version), tmp_path, mmap).tolist() == [3, 4]
    for version, words in (
        (b"99", "of version 99, but versions 1 to 10"),
        (b"0", "of version 0, but"),
        (b"9" * 5000, "of version 9999"),
        (b"abc", "damaged: its version is 'abc'"),
        (b"", "damaged: its version is ''"),
        (b"-1", "damaged: its version is '-1'"),
        (b"\xb3", "damaged: its version is"),
        (None, "damaged: it has no version"),
    ):
        with pytest.raises(pickle.UnpicklingError, match=words):
            loaded(archive(pickled, version=version), tmp_path, mmap)


def test_tensors_are_recorded_or_not():
    hooks = b"ccollections\nOrderedDict\n)R"
    shape = number(2) + b"(" + number(2) + b"t(" + number(1) + b"t"
    makers = {
        "_rebuild_tensor_v2": memory() + shape + b"%s" + hooks,
        "_rebuild_tensor_v3": memory() + shape + b"%s" + hooks + b"ctorch\nfloat32\n",
        "_rebuild_meta_tensor_no_storage": b"ctorch\nfloat32\n" + shape[len(number(2)) :] + b"%s",
        "_rebuild_parameter": tensor(memory())[2:-1] + b"%s" + hooks,
    }
    for name, arguments in makers.items():
        made = b"\x80\x02ctorch._utils\n" + name.encode() + b"\n(%stR."
        for flag, recorded in ((b"\x88", True), (b"\x89", False)):
            found = ag.load(io.BytesIO(archive(made % (arguments % flag))))
            assert found.requires_grad is recorded and found.shape == (2,)
        for flag, kind in ((text("yes"), "str"), (number(1), "int"), (b"N", "NoneType")):
            with pytest.raises(pickle.UnpicklingError, match=f"must be (a )?bool, not {kind}"):
                ag.load(io.BytesIO(archive(made % (arguments % flag))))
