"""Arguments and dtypes that are allowed but seldom: masks of bytes, one-element targets, 0-d."""

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy import func
from autograd_cy.autograd import forward_ad


def test_masks_of_bytes_take_any_number_but_zero_as_true():
    x = torch.arange(6.0).view(3, 2)
    for values in ([1, 0, 1], [2, 0, 255], [0, 0, 0], [3, 1, 1]):
        mask = torch.tensor(values, dtype=torch.uint8)
        wanted = x.numpy()[np.array(values) != 0]
        y, z = x.clone(), x.clone()
        y.index_put_((mask,), torch.tensor(-1.0))
        z[mask.bool()] = -1.0
        assert y.tolist() == z.tolist()
        assert torch.index_put(x, (mask,), torch.tensor(-1.0)).tolist() == z.tolist()
        assert x[mask.bool()].tolist() == wanted.tolist()
    for dtype in (torch.int8, torch.int16, torch.int32):
        y = x.clone()
        y.index_put_((torch.tensor([2, 0], dtype=dtype),), torch.tensor(-1.0))
        assert y.tolist() == [[-1.0, -1.0], [2.0, 3.0], [-1.0, -1.0]]
    with pytest.raises(IndexError, match="long, int, byte or bool"):
        x.index_put_((torch.ones(2),), torch.tensor(1.0))


REDUCED = {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


@pytest.mark.parametrize("reduce", REDUCED)
def test_targets_of_one_element_are_reduced_into(reduce):
    function = REDUCED[reduce]
    for dtype in (torch.float64, torch.float16, torch.int64):
        start, index = torch.tensor(3, dtype=dtype), torch.tensor(0)
        found = torch.scatter_reduce(start, 0, index, torch.tensor(5, dtype=dtype), reduce)
        assert found.shape == () and found.item() == function(3, 5)
        found = torch.scatter_reduce(
            start, 0, index, torch.tensor(5, dtype=dtype), reduce, include_self=False
        )
        assert found.item() == 5
        several = torch.tensor([0, 0, 0])
        found = torch.scatter_reduce(
            torch.tensor([3], dtype=dtype), 0, several,
            torch.tensor([5, 2, 4], dtype=dtype), reduce,
        )  # fmt: skip
        assert found.tolist() == [function.reduce([3, 5, 2, 4])]


def test_pieces_of_every_size():
    x = torch.arange(7)
    for dim_size in (1, 2, 3, 7, 9):
        wanted = [list(range(i, min(i + dim_size, 7))) for i in range(0, 7, dim_size)]
        for split in (torch.split, torch.unsafe_split):
            assert [p.tolist() for p in split(x, dim_size)] == wanted
    for split in (torch.split, torch.unsafe_split_with_sizes):
        assert [p.tolist() for p in split(x, [2, 0, 5])] == [[0, 1], [], [2, 3, 4, 5, 6]]
        for bad in ([2, 4], [2, 6], []):
            with pytest.raises(RuntimeError, match="sum exactly to 7"):
                split(x, bad)
    for split in (torch.split, torch.unsafe_split):
        for bad in (0, -1):
            with pytest.raises(RuntimeError, match="split_size"):
                split(x, bad)
        assert [p.shape[0] for p in split(x[:0], 3)] == [0]
        with pytest.raises(RuntimeError, match="at least a 1-dimensional"):
            split(torch.tensor(1.0), 1)
    for chunks in (1, 2, 3, 4, 7, 9):
        wanted = [p.tolist() for p in torch.chunk(x, chunks)]
        assert [p.tolist() for p in torch.unsafe_chunk(x, chunks)] == wanted
        assert torch.cat(torch.chunk(x, chunks)).tolist() == x.tolist() and len(wanted) <= chunks


def test_kinds_of_dtypes():
    signed = {"uint8": False, "bool": False}
    for name in "uint8 int8 int16 int32 int64 bool float16 bfloat16 float32 float64".split():
        dtype = getattr(torch, name)
        assert dtype.is_signed is signed.get(name, True), name
        assert dtype.is_floating_point is ("float" in name), name
        assert dtype.is_complex is False
        assert dtype.to_complex().is_complex if "float" in name else True
    assert torch.complex64.is_complex and torch.complex64.is_signed
    assert torch.complex64.to_real() == torch.float32
    assert torch.complex128.to_real() == torch.float64
    assert torch.float32.to_real() == torch.float32


def test_duals_of_examples_in_a_level_that_began_outside():
    x = torch.arange(6.0).view(3, 2)
    t = torch.ones(2) * 5
    for primals, tangents in ((0, None), (None, 0), (0, 0), (None, None)):
        given = x if primals == 0 else x[0]
        moved = x * 10 if tangents == 0 else t
        with forward_ad.dual_level():

            def tangent(p, v, z):
                d = forward_ad.make_dual(p, v)
                return forward_ad.unpack_dual(d * d).tangent + 0 * z

            found = func.vmap(tangent, in_dims=(primals, tangents, 0))(given, moved, torch.zeros(3))
        rows = [
            2 * (given[i] if primals == 0 else given) * (moved[i] if tangents == 0 else moved)
            for i in range(3)
        ]
        assert found.tolist() == torch.stack(rows).tolist()


def test_a_view_of_a_dual_lives_on_after_its_level():
    x = torch.ones(4)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones(4) * 2)
        view = dual[:2]
        assert forward_ad.unpack_dual(view).tangent.tolist() == [2.0, 2.0]
    with forward_ad.dual_level():
        assert forward_ad.unpack_dual(view).tangent is None
        again = forward_ad.make_dual(view, torch.ones(2) * 3)
        assert forward_ad.unpack_dual(again).tangent.tolist() == [3.0, 3.0]
        view.mul_(forward_ad.make_dual(torch.ones(2), torch.ones(2) * 7))
        assert forward_ad.unpack_dual(view).tangent.tolist() == [7.0, 7.0]
    assert view.tolist() == [1.0, 1.0] and x.tolist() == [1.0] * 4


def test_the_number_of_threads_is_kept_within_bounds():
    before = torch.get_num_threads()
    try:
        for n in (1, 2, 3):
            torch.set_num_threads(n)
            assert torch.get_num_threads() == n
        for bad in (0, -1):
            with pytest.raises((RuntimeError, ValueError), match="positive"):
                torch.set_num_threads(bad)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_one_thread_override_after_the_other():
    from autograd_cy._C import parallel

    before = parallel._set_thread_override(2)
    try:
        assert parallel._set_thread_override(1) == 2
        assert parallel._set_thread_override(0) == 1
        assert parallel._set_thread_override(-5) == 0
        assert parallel._set_thread_override(3) == 0
    finally:
        parallel._set_thread_override(before)


def test_a_forged_tensor_has_no_more_dimensions_than_others():
    from autograd_cy._C.copying import _rebuild_tensor

    x = torch.arange(4.0)
    memory = x.untyped_storage()

    def rebuilt(size, stride, offset=0):
        return _rebuild_tensor(torch.Tensor, memory, torch.float32, offset, size, stride, False)

    assert rebuilt((1,) * 64, (1,) * 64, 3).item() == 3.0
    assert rebuilt((2, 2), (2, 1)).tolist() == [[0.0, 1.0], [2.0, 3.0]]
    for n in (65, 66, 100):
        with pytest.raises(RuntimeError, match="^not a tensor: size"):
            rebuilt((1,) * n, (1,) * n)
    for size, stride, offset in (
        ((2,), (1, 1), 0), ((2, 2), (1,), 0), ((2,), (1,), -1), ((-1,), (1,), 0), ((2,), (-1,), 0)
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="^not a tensor: size"):
            rebuilt(size, stride, offset)
    for size, stride, offset in (((5,), (1,), 0), ((2,), (4,), 0), ((1,), (1,), 4)):
        with pytest.raises(RuntimeError):
            rebuilt(size, stride, offset)


def test_made_tensors_of_every_dtype():
    make = torch.testing.make_tensor
    for name in "bool uint8 int8 int64 float16 bfloat16 float32 float64 complex64".split():
        dtype = getattr(torch, name)
        t = make((50, 2), dtype=dtype, device="cpu")
        assert t.dtype == dtype and t.shape == (50, 2) and not t.requires_grad
        assert not make(4, dtype=dtype, device="cpu", noncontiguous=True).is_contiguous()
        assert (make(200, dtype=dtype, device="cpu", exclude_zero=True) != 0).all()
        if dtype.is_floating_point or dtype.is_complex:
            assert make(2, dtype=dtype, device="cpu", requires_grad=True).requires_grad
            parts = torch.view_as_real(t) if dtype.is_complex else t
            assert parts.min() >= -9 and parts.max() <= 9 and parts.min() < 0 < parts.max()
            some = make(200, dtype=dtype, device="cpu", low=2, high=3)
            parts = torch.view_as_real(some) if dtype.is_complex else some
            assert parts.min() >= 2 and parts.max() <= 3 and parts.min() < parts.max()
        else:
            with pytest.raises(ValueError, match="boolean and integral"):
                make(2, dtype=dtype, device="cpu", requires_grad=True)
            least, most = {"bool": (0, 1), "uint8": (0, 9)}.get(name, (-9, 9))
            drawn = set(make(2000, dtype=dtype, device="cpu").to(torch.int64).tolist())
            assert drawn == set(range(least, most + 1))
