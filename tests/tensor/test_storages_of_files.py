"""Storages on files and parts of storages: what programs that read safetensors files call."""

import os
import sys
import warnings

import pytest

import autograd_cy as ag


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(16)))
    return path


def test_a_private_map_leaves_the_file_as_it_is(path):
    storage = ag.UntypedStorage.from_file(str(path), False, 8)
    assert storage.tolist() == list(range(8))
    tensor = ag.asarray(storage, dtype=ag.uint8)
    tensor += 1
    assert storage.tolist() == list(range(1, 9))
    assert path.read_bytes() == bytes(range(16))


def test_a_shared_map_writes_the_file(path):
    storage = ag.UntypedStorage.from_file(filename=str(path), shared=True, nbytes=20)
    ag.asarray(storage, dtype=ag.uint8).fill_(7)
    assert path.read_bytes() == bytes([7] * 20)


def test_a_shared_map_creates_the_file(tmp_path):
    storage = ag.UntypedStorage.from_file(str(tmp_path / "new"), True, 4)
    assert storage.tolist() == [0] * 4
    assert os.path.getsize(tmp_path / "new") == 4


def test_the_memory_outlives_the_storage(path):
    tensor = ag.asarray(ag.UntypedStorage.from_file(str(path), False, 16)[4:8], dtype=ag.uint8)
    path.unlink()
    assert tensor.tolist() == [4, 5, 6, 7]


@pytest.mark.parametrize(
    ("shared", "nbytes", "part"),
    [
        (False, 17, "size <16> is smaller than the required mapping size <17>"),
        (False, -1, "unable to mmap -1 bytes"),
        (True, -1, "unable to mmap -1 bytes"),
    ],
)
def test_sizes_that_are_refused(path, shared, nbytes, part):
    with pytest.raises(RuntimeError, match=part):
        ag.UntypedStorage.from_file(str(path), shared, nbytes)
    assert path.read_bytes() == bytes(range(16))


@pytest.mark.parametrize(("shared", "mode"), [(False, "read-only"), (True, "read-write")])
def test_files_that_cannot_be_opened(tmp_path, shared, mode):
    place = tmp_path / "none" / "bytes"
    part = f"unable to open file <{place}> in {mode} mode: No such file or directory"
    with pytest.raises(RuntimeError, match=part):
        ag.UntypedStorage.from_file(str(place), shared, 4)


@pytest.mark.parametrize(
    "part", [slice(2, 5), slice(5, 2), slice(-3, None), slice(100, None), slice(None), slice(0, 0)]
)
def test_parts_are_those_of_a_list(part):
    tensor = ag.arange(8, dtype=ag.uint8)
    found = tensor.untyped_storage()[part]
    assert type(found) is ag.UntypedStorage
    assert found.tolist() == list(range(8))[part]
    tensor.mul_(2)
    assert found.tolist() == list(range(0, 16, 2))[part]


def test_parts_of_read_only_memory_are_read_only():
    array = ag.zeros(4).numpy()
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it comes once in a process
        storage = ag.from_numpy(array).untyped_storage()
    assert storage[2:4].is_readonly()


def test_parts_with_a_step_are_refused():
    with pytest.raises(RuntimeError, match="slice with a step of 2, but only a step of 1"):
        ag.zeros(4).untyped_storage()[::2]


def test_sizes_of_objects_contain_the_memory():
    for kind in ("untyped_storage", "storage"):
        small, large = (sys.getsizeof(getattr(ag.zeros(n), kind)()) for n in (1, 101))
        assert large - small == 400
