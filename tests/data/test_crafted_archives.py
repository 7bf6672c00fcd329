"""Archives that are whole as zip files, whose pickles or members say what can't be."""

import io
import pickle
import struct
import zipfile

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


def archive(pickled, order=b"little", data=FOUR):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("x/data.pkl", pickled)
        if order is not None:
            made.writestr("x/byteorder", order)
        made.writestr("x/data/0", data)
        made.writestr("x/version", "3\n")
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


def test_files_of_our_own_format():
    def own(pickled):
        return io.BytesIO(serialization.MAGIC + pickled)

    assert ag.load(own(pickle.dumps([1, 2.5]))) == [1, 2.5]
    with pytest.raises(RuntimeError, match="needs a file in PyTorch's format"):
        ag.load(own(pickle.dumps(5)), mmap=True)
    with pytest.raises(pickle.UnpicklingError, match="speaks of memory that isn't in it"):
        ag.load(own(b"\x80\x02" + memory(kind=number(1)) + b"."))
    with pytest.raises(RuntimeError, match="map_location must be 'cpu' or 'meta'"):
        ag.load(own(pickle.dumps(5)), map_location=lambda storage, place: None)
    with pytest.raises(ValueError, match="a path in order to use mmap"):
        ag.load(io.BytesIO(archive(tensor(memory()))), mmap=True)
