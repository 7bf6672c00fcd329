"""The sort of pairs that scatters and sorts on a GPU are built on, against NumPy's stable sort."""

import numpy as np
import pytest
from emulator import control

import autograd_cy as torch
from autograd_cy._C import cuda_sort

# Around what one block sorts, a tile, and blocks of several tiles.
SIZES = [0, 1, 2, 31, 33, 255, 257, 2047, 2048, 2049, 8191, 8192, 8193, 20_000]
BITS = [0, 1, 5, 8, 9, 16, 20]


def sorted_pairs(keys, first, bits, dtype=torch.int32):
    on_device = torch.from_numpy(keys).to("cuda")
    places = torch.empty(len(keys), dtype=dtype, device="cuda")
    cuda_sort._sort_tensors(on_device, first, bits, places)
    return on_device.cpu().numpy(), places.cpu().numpy()


def expected(keys, first, bits):
    of_bits = keys.astype(np.uint64) >> np.uint64(first) & np.uint64(2**bits - 1)
    order = np.argsort(of_bits, kind="stable")
    return keys[order], order


def check(keys, first, bits, dtype=torch.int32):
    for found, wanted in zip(
        sorted_pairs(keys, first, bits, dtype), expected(keys, first, bits), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_places_and_keys(n, bits, dtype):
    keys = np.random.default_rng(n + bits).integers(0, 2**20, n).astype(dtype)
    check(keys, 0, bits)


@pytest.mark.parametrize("n", [100, 9000])
@pytest.mark.parametrize(("first", "bits"), [(0, 64), (0, 63), (40, 24), (13, 11)])
def test_bits_of_long_keys(n, first, bits):
    keys = np.random.default_rng(1).integers(-(2**63), 2**63 - 1, n)
    found = sorted_pairs(keys, first, bits)
    of_bits = keys.view(np.uint64) >> np.uint64(first) & np.uint64(2**bits - 1)
    order = np.argsort(of_bits, kind="stable")
    np.testing.assert_array_equal(found[1], order)
    np.testing.assert_array_equal(found[0], keys[order])


@pytest.mark.parametrize("n", [1, 3000, 9000])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_places_of_eight_bytes(n, dtype):
    keys = np.random.default_rng(3).integers(0, 2**12, n).astype(dtype)
    check(keys, 0, 12, torch.int64)


@pytest.mark.parametrize("n", [3000, 9000])
def test_equal_keys_keep_their_order(n):
    keys = np.zeros(n, "int64")
    check(keys, 0, 16)
    keys[::7] = 3
    check(keys, 0, 16)


@pytest.mark.parametrize("n", [500, 9000])
def test_the_same_in_any_order_of_threads(n):
    keys = np.random.default_rng(2).integers(0, 50, n)
    for seed in range(2):
        with control.ordered("random", seed):
            check(keys, 0, 6)
