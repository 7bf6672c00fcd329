"""The buffer protocol for dtypes that it has no letter for.

Libraries that find no buffer fall back to DLPack and may then treat bfloat16 as bytes: mpi4py adds
the bytes up in reductions, without an error. docs/mechanics.md warns of it.
"""

import pytest

import autograd_cy as torch


def test_bfloat16_has_no_buffer_and_the_error_names_the_way_out():
    with pytest.raises(BufferError, match=r"bfloat16.*\.float\(\)"):
        memoryview(torch.ones(2, dtype=torch.bfloat16))


def test_float16_and_float32_have_one():
    assert memoryview(torch.ones(2, dtype=torch.float16)).format == "e"
    assert memoryview(torch.ones(2)).format == "f"
