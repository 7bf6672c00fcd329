"""Pickles of a few bytes that would take all memory or time; others that look like them."""

import contextlib
import io
import pickle
import pickletools
import threading
import zipfile
from collections import Counter, OrderedDict, deque

import pytest
from endless import soon

import autograd_cy as ag
from autograd_cy.serialization import _pickles

MANY = b"J\x00\x00\x00\x40"  # 2**30, as pickle writes it
RANGE = b"cbuiltins\nrange\n" + MANY + b"\x85R"


def in_archive(pickled):
    """The pickle in a file as torch.save writes it, with one storage."""
    whole, file = io.BytesIO(), io.BytesIO()
    ag.save([ag.ones(2)], whole)
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(file, "w") as new:
        for entry in old.infolist():
            mine = entry.filename.endswith("data.pkl")
            new.writestr(entry.filename, pickled if mine else old.read(entry))
    return io.BytesIO(file.getvalue())


ASKING = {
    "bytes": b"\x80\x02cbuiltins\nbytes\n" + MANY + b"\x85R.",
    "bytearray": b"\x80\x02cbuiltins\nbytearray\n" + MANY + b"\x85R.",
    "set": b"\x80\x02cbuiltins\nset\n" + RANGE + b"\x85R.",
    "frozenset": b"\x80\x02cbuiltins\nfrozenset\n" + RANGE + b"\x85R.",
    "deque": b"\x80\x02ccollections\ndeque\n" + RANGE + b"\x85R.",
    "Counter": b"\x80\x02ccollections\nCounter\n" + RANGE + b"\x85R.",
    "Size": b"\x80\x02cautograd_cy\nSize\n" + RANGE + b"\x85R.",
    "Size of torch": b"\x80\x02ctorch\nSize\n" + RANGE + b"\x85R.",
    "doubling": b"\x80\x02c_codecs\nencode\n(cbuiltins\nbytes\n)RX\x03\x00\x00\x00hextR.",
    "place": b"\x80\x02]r\xff\xff\xff\xff.",
    "place of a text": b"\x80\x02X\x01\x00\x00\x00rr\x00\x00\x00\x10.",
    "place behind lines": b"\x80\x02cbuiltins\nset\nr\x00\x00\x00\x10.",
    "place in words": b"]p300000000\n.",
    "place behind a long text": b"\x80\x02X\x00\x01\x00\x00" + b"r" * 256 + b"r\x00\x00\x00\x10.",
    "place behind bytes": b"\x80\x04\x8e\x02\0\0\0\0\0\0\0..r\x00\x00\x00\x10.",
}


@pytest.mark.parametrize("name", ASKING)
def test_what_asks_for_memory_is_refused_before_it_gets_any(name):
    with pytest.raises(pickle.UnpicklingError, match="damaged|does not allow"), soon():
        ag.load(in_archive(ASKING[name]))


def test_a_tensor_of_a_range_of_sizes_is_refused():
    storage = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\1\0\0\x000X\3\0\0\0cpuK\2tQ"
    name = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n("
    fine = name + storage + b"K\x00K\x02\x85K\x01\x85\x89Nt" + b"R."
    assert ag.load(in_archive(fine)).tolist() == [1.0, 1.0]
    few = b"cbuiltins\nrange\nK\x02\x85R"
    one, two = b"K\x01\x85", b"K\x02\x85"
    for size, stride in ((few, one), (two, few), (RANGE, one), (two, RANGE)):
        bad = name + storage + b"K\x00" + size + stride + b"\x89NtR."
        words = "damaged: a tensor's size or strides are an object of range"
        with pytest.raises(pickle.UnpicklingError, match=words), soon():
            ag.load(in_archive(bad))


@pytest.mark.parametrize("protocol", range(6))
def test_what_is_meant_in_earnest_is_read(protocol):
    things = {
        "bytes": b"abc", "no bytes": b"", "array": bytearray(b"xyz"), "set": {1, 2},
        "frozen": frozenset("ab"), "deque": deque([1, 2], 5), "counter": Counter("hello"),
        "size": ag.Size([2, 3]), "range": range(2**60), "order": OrderedDict(a=1),
        "many": [[k] for k in range(3000)], "texts": [f"r{k}p\n" * 90 for k in range(300)],
        "slice": slice(3), "numbers": [2.5, 1 << 70, -(1 << 2100), 3j, True, None],
    }  # fmt: skip
    file = io.BytesIO()
    ag.save(things, file, pickle_protocol=protocol)
    file.seek(0)
    assert ag.load(file) == things
    assert ag.load(in_archive(pickle.dumps(things["many"], protocol))) == things["many"]


@pytest.mark.parametrize("protocol", range(6))
def test_every_cut_and_every_turned_bit_is_looked_over_without_an_error_of_its_own(protocol):
    pickled = pickle.dumps({"a": [1, "b", 2.5, b"c"], "d": (1 << 40, {"e"})}, protocol)
    for k in range(len(pickled)):
        for turned in (pickled[:k], *(pickled[:k] + bytes([pickled[k] ^ bit]) + pickled[k + 1 :]
                                      for bit in (1, 2, 4, 8, 16, 32, 64, 128))):  # fmt: skip
            with contextlib.suppress(pickle.UnpicklingError), soon():
                assert _pickles.check_memo(turned) is None


LIKE_A_PLACE = b"r\xff\xff\xff\xff"
BEYOND = b"r\x00\x00\x00\x10"
FRAMES = {-2: 1, -3: 4, -4: 4, -5: 8}  # bytes of the length that stands before an argument


def arguments(op):
    """Return arguments for an opcode: they look like a place, and end where the opcode ends."""
    n = 0 if op.arg is None else op.arg.n
    if n == pickletools.UP_TO_NEWLINE:
        word = b"3\n" if op.name in ("PUT", "GET") else LIKE_A_PLACE + b"\n"
        return [word * (2 if op.name in ("GLOBAL", "INST") else 1)]
    if n < 0:
        return [len(x).to_bytes(FRAMES[n], "little") + x
                for x in (b"", b"r", LIKE_A_PLACE, LIKE_A_PLACE * 51)]  # fmt: skip
    return [b"\x01" + bytes(n - 1)] if op.name == "LONG_BINPUT" else [(LIKE_A_PLACE * 2)[:n]]


def is_refused(pickled):
    try:
        with soon():
            _pickles.check_memo(pickled)
    except pickle.UnpicklingError as error:
        return f"it remembers an object in place {1 << 28} of" in str(error)
    return False


@pytest.mark.parametrize("op", pickletools.opcodes, ids=lambda op: op.name)
def test_places_are_found_behind_every_opcode_and_not_in_its_argument(op):
    code = op.code.encode("latin-1")
    for argument in arguments(op):
        for before in (b"", b"N" * 3, b"N" * 2500):
            head = before + code + argument
            assert is_refused(head + BEYOND) == (op.name != "STOP"), argument
            assert not is_refused(head + b"."), argument
            assert not is_refused(head + b"." + BEYOND), argument
            assert not is_refused(head + b"X\x05\0\0\0" + BEYOND + b"."), argument
            assert is_refused(head + b"X\x05\0\0\0" + BEYOND + BEYOND) == (op.name != "STOP")


def test_how_large_a_place_may_be():
    """A place may be as large as the pickle is long; small pickles, of which there are most, below
    a million."""
    assert ag.load(in_archive(b"]p5\n.")) == []
    assert ag.load(in_archive(b"\x80\x02]r\xff\xff\x0f\x00.")) == []
    with pytest.raises(pickle.UnpicklingError, match="in place 6 of 5 bytes"):
        ag.load(in_archive(b"]p6\n."))


def test_what_is_no_text_is_not_encoded():
    made = b"\x80\x02c_codecs\nencode\ncbuiltins\nbytes\n)R\x85R."
    with pytest.raises(pickle.UnpicklingError, match="damaged: it encodes an object of bytes"):
        ag.load(in_archive(made))


def test_classes_are_found_in_deep_and_endless_things():
    deep = set
    for _ in range(100):
        deep = (deep,)
    within = [bytes]
    within.append(within)
    for thing in (deep, within):
        file = io.BytesIO()
        ag.save(thing, file, pickle_protocol=4)
        file.seek(0)
        with soon():
            found = ag.load(file)
        if thing is deep:
            assert found == deep
        else:
            assert found[0] is bytes
            assert found[1] is found


@pytest.mark.parametrize(("depth", "looked"), [(99, True), (100, True), (101, False)])
def test_how_deep_in_tuples_classes_are_looked_for(depth, looked):
    thing = Counter
    for _ in range(depth):
        thing = (thing,)
    file = io.BytesIO()
    ag.save(thing, file, pickle_protocol=4)
    file.seek(0)
    found = ag.load(file)
    for _ in range(depth):
        (found,) = found
    assert (found is Counter) is looked


def test_a_checkpoint_written_while_another_thread_trains_can_be_read():
    w = ag.zeros(3_000_000)
    going, stop = threading.Event(), threading.Event()

    def train():
        while not stop.is_set():
            w.add_(1)
            going.set()

    thread = threading.Thread(target=train)
    thread.start()
    try:
        going.wait(10)
        for _ in range(4):
            file = io.BytesIO()
            ag.save({"w": w}, file)
            file.seek(0)
            assert ag.load(file)["w"].shape == (3_000_000,)
    finally:
        stop.set()
        thread.join()
