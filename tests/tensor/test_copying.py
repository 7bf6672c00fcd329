"""Copies by deepcopy, pickle, save, load and of views: what is kept, shared, refused."""

import collections
import copy
import io
import pickle

import numpy as np
import pytest

import autograd_cy as ag

PROTOCOLS = [2, 3, 4, 5]


def through_pickle(obj, protocol):
    return pickle.loads(pickle.dumps(obj, protocol))


def through_file(obj, protocol):
    file = io.BytesIO()
    ag.save(obj, file, pickle_protocol=protocol)
    file.seek(0)
    return ag.load(file)


WAYS = [(lambda obj: copy.deepcopy(obj))]
WAYS += [lambda obj, p=p: through_pickle(obj, p) for p in PROTOCOLS]
WAYS += [lambda obj, p=p: through_file(obj, p) for p in PROTOCOLS]
NAMES = ["deepcopy", *(f"pickle{p}" for p in PROTOCOLS), *(f"save{p}" for p in PROTOCOLS)]


class Named(ag.Tensor):
    """A subclass with attributes."""


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
class TestEveryWay:
    @pytest.mark.parametrize(
        "dtype", [ag.bool, ag.uint8, ag.int64, ag.float16, ag.bfloat16, ag.float32, ag.complex128]
    )
    def test_values_and_dtypes_are_kept(self, way, dtype):
        t = ag.tensor([[0, 1, 2], [3, 4, 5]], dtype=dtype)
        r = way(t)
        assert r.dtype == dtype
        assert r.tolist() == t.tolist()
        assert r.data_ptr() != t.data_ptr()

    def test_empty_and_0d(self, way):
        assert way(ag.zeros(0, 3)).shape == (0, 3)
        assert way(ag.tensor(2.5)).item() == 2.5

    def test_strides_and_offset_are_kept(self, way):
        base = ag.arange(24).reshape(2, 3, 4)
        for t in (base.permute(2, 0, 1), base[1], base[:, 1:, ::2], base[0, 0].expand(3, 4)):
            r = way(t)
            assert r.tolist() == t.tolist()
            assert r.stride() == t.stride()
            assert r.storage_offset() == t.storage_offset()

    def test_requires_grad_is_kept(self, way):
        r = way(ag.ones(2, requires_grad=True))
        assert r.requires_grad
        assert r.is_leaf
        assert not way(ag.ones(2)).requires_grad

    def test_copy_is_independent(self, way):
        t = ag.zeros(3)
        r = way(t)
        r.fill_(1)
        assert t.tolist() == [0, 0, 0]

    def test_views_share_memory_again(self, way):
        base = ag.zeros(2, 3)
        a, b, c = way([base, base[1], base.data])
        b.fill_(1)
        c[0, 0] = 5
        assert a.tolist() == [[5, 0, 0], [1, 1, 1]]
        assert base.tolist() == [[0, 0, 0], [0, 0, 0]]

    def test_one_tensor_twice_stays_one(self, way):
        t = ag.ones(2)
        a, b = way([t, t])
        assert a is b

    def test_attributes_are_kept(self, way):
        t = ag.ones(2)
        t.note = {"k": [1, 2]}
        r = way(t)
        assert r.note == {"k": [1, 2]}
        assert r.note is not t.note

    def test_read_only_memory_becomes_writable(self, way):
        t = ag.frombuffer(b"abc", dtype=ag.uint8)
        r = way(t)
        r.fill_(1)
        assert r.tolist() == [1, 1, 1]

    def test_numpy_memory_becomes_our_own(self, way):
        a = np.ones((2, 3)).T
        r = way(ag.from_numpy(a))
        a[0, 0] = 5
        assert r.tolist() == [[1, 1]] * 3


class TestDeepcopy:
    def test_gradient_is_copied(self):
        x = ag.ones(2, requires_grad=True)
        (x * 3).sum().backward()
        r = copy.deepcopy(x)
        assert r.grad.tolist() == [3, 3]
        r.grad.fill_(0)
        assert x.grad.tolist() == [3, 3]

    def test_non_leaf_is_refused(self):
        with pytest.raises(RuntimeError, match="graph leaves"):
            copy.deepcopy(ag.ones(2, requires_grad=True) * 2)

    def test_subclass_is_kept(self):
        t = ag.Tensor._make_subclass(Named, ag.ones(2), True)
        t.note = [t]
        r = copy.deepcopy(t)
        assert type(r) is Named
        assert r.requires_grad
        assert r.note[0] is r

    def test_memo_is_used(self):
        t = ag.ones(2)
        memo = {id(t): "seen"}
        assert copy.deepcopy(t, memo) == "seen"


class TestCopy:
    def test_shares_memory(self):
        x = ag.ones(2, requires_grad=True)
        r = copy.copy(x)
        assert r is not x
        assert r.data_ptr() == x.data_ptr()
        assert r.requires_grad


class TestPickle:
    @pytest.mark.parametrize("protocol", PROTOCOLS)
    def test_non_leaf_comes_back_as_a_leaf(self, protocol):
        r = through_pickle(ag.ones(2, requires_grad=True) * 2, protocol)
        assert r.requires_grad
        assert r.is_leaf

    @pytest.mark.parametrize("protocol", PROTOCOLS)
    def test_gradient_is_left_out(self, protocol):
        x = ag.ones(2, requires_grad=True)
        x.sum().backward()
        assert through_pickle(x, protocol).grad is None

    @pytest.mark.parametrize("protocol", PROTOCOLS)
    def test_subclass_and_cycles_are_kept(self, protocol):
        t = ag.Tensor._make_subclass(Named, ag.ones(2))
        t.note = [t]
        r = through_pickle(t, protocol)
        assert type(r) is Named
        assert r.note[0] is r

    def test_buffers_out_of_band_share_memory(self):
        t = ag.zeros(1000)
        buffers = []
        data = pickle.dumps(t, 5, buffer_callback=buffers.append)
        assert len(data) < 500
        r = pickle.loads(data, buffers=buffers)
        t.fill_(1)
        assert r.tolist() == [1] * 1000
        del t
        others = [ag.zeros(1000) for _ in range(10)]
        assert r.tolist() == [1] * 1000
        del others

    def test_tensor_beyond_its_storage_is_refused(self):
        from autograd_cy._C.copying import _rebuild_tensor

        s = ag.zeros(4).untyped_storage()
        assert _rebuild_tensor(ag.Tensor, s, ag.float32, 1, (3,), (1,), False).shape == (3,)
        for offset, size, stride in [
            (1, (4,), (1,)),
            (0, (2,), (4,)),
            (-1, (2,), (1,)),
            (0, (2,), (-1,)),
            (0, (-2,), (1,)),
            (0, (2,), (1, 1)),
            (2**62, (0,), (1,)),
            (0, (2**31, 2**31), (2**31, 2**31)),
        ]:
            with pytest.raises(RuntimeError):
                _rebuild_tensor(ag.Tensor, s, ag.float32, offset, size, stride, False)

    @pytest.mark.parametrize("protocol", PROTOCOLS)
    def test_small_objects_too(self, protocol):
        things = [ag.float16, ag.Size([2, 3]), ag.device("cpu"), ag.strided, ag.channels_last]
        assert through_pickle(things, protocol) == things


class TestSave:
    @pytest.mark.parametrize("protocol", PROTOCOLS)
    def test_containers_and_numbers_come_back(self, protocol):
        values = [1, 2.5, None, "x", b"y", (True, {3}), 2j, frozenset([4]), range(5), bytearray(2)]
        obj = collections.OrderedDict(a=ag.ones(2), b=values)
        r = through_file(obj, protocol)
        assert list(r) == ["a", "b"]
        assert r["b"] == obj["b"]

    def test_path_or_file(self, tmp_path):
        for target in (tmp_path / "a", str(tmp_path / "b")):
            ag.save(ag.arange(3), target)
            assert ag.load(target).tolist() == [0, 1, 2]
            assert ag.load(target, map_location="cpu").tolist() == [0, 1, 2]

    def test_parameters_come_back(self):
        p = ag.nn.Parameter(ag.ones(2))
        r = through_file(p, 5)
        assert type(r) is ag.nn.Parameter
        assert r.requires_grad

    def test_code_in_a_file_is_not_run(self):
        class Harm:
            def __reduce__(self):
                return print, ("harm",)

        file = io.BytesIO()
        ag.save([Harm()], file)
        file.seek(0)
        with pytest.raises(pickle.UnpicklingError, match=r"builtins.print.*weights_only=True"):
            ag.load(file)

    def test_class_can_be_allowed(self):
        from decimal import Decimal

        file = io.BytesIO()
        ag.save(Decimal("0.5"), file)
        file.seek(0)
        with pytest.raises(pickle.UnpicklingError, match="add_safe_globals"):
            ag.load(file)
        file.seek(0)
        assert ag.load(file, weights_only=False) == Decimal("0.5")
        ag.serialization.add_safe_globals([Decimal])
        file.seek(0)
        assert ag.load(file) == Decimal("0.5")

    def test_other_files_are_refused(self):
        with pytest.raises(pickle.UnpicklingError, match="not a file that"):
            ag.load(io.BytesIO(pickle.dumps(1)))

    def test_other_devices_are_refused(self, tmp_path):
        ag.save(1, tmp_path / "a")
        with pytest.raises(RuntimeError, match="map_location"):
            ag.load(tmp_path / "a", map_location="cuda")


# --- views -------------------------------------------------------------------------------------

#: Function of a library and a tensor of 3 x 4 -> the view, by the method that gives it.
VIEWS = {
    "alias_copy": (lambda t, x: t.alias_copy(x), lambda x: x),
    "as_strided_copy": (
        lambda t, x: t.as_strided_copy(x, (2, 2), (1, 2), 1),
        lambda x: x.as_strided((2, 2), (1, 2), 1),
    ),
    "detach_copy": (lambda t, x: t.detach_copy(x), lambda x: x.detach()),
    "diagonal_copy": (lambda t, x: t.diagonal_copy(x, 1), lambda x: x.diagonal(1)),
    "expand_copy": (lambda t, x: t.expand_copy(x, (2, 3, 4)), lambda x: x.expand(2, 3, 4)),
    "permute_copy": (lambda t, x: t.permute_copy(x, (1, 0)), lambda x: x.permute(1, 0)),
    "select_copy": (lambda t, x: t.select_copy(x, 1, 2), lambda x: x.select(1, 2)),
    "slice_copy": (lambda t, x: t.slice_copy(x, -1, 1, 4, 2), lambda x: x[:, 1:4:2]),
    "slice_copy of all": (lambda t, x: t.slice_copy(x), lambda x: x[:]),
    "split_copy": (lambda t, x: t.split_copy(x, 3, 1), lambda x: x.split(3, 1)),
    "split_with_sizes_copy": (
        lambda t, x: t.split_with_sizes_copy(x, [1, 2]),
        lambda x: x.split([1, 2]),
    ),
    "squeeze_copy": (lambda t, x: t.squeeze_copy(x[:1]), lambda x: x[0]),
    "squeeze_copy of one": (lambda t, x: t.squeeze_copy(x[None], 0), lambda x: x),
    "squeeze_copy of two": (lambda t, x: t.squeeze_copy(x[None], (0, 1)), lambda x: x),
    "t_copy": (lambda t, x: t.t_copy(x), lambda x: x.t()),
    "transpose_copy": (lambda t, x: t.transpose_copy(x, 0, 1), lambda x: x.t()),
    "unbind_copy": (lambda t, x: t.unbind_copy(x, 1), lambda x: x.unbind(1)),
    "unfold_copy": (lambda t, x: t.unfold_copy(x, 1, 2, 1), lambda x: x.unfold(1, 2, 1)),
    "unsqueeze_copy": (lambda t, x: t.unsqueeze_copy(x, 1), lambda x: x.unsqueeze(1)),
    "view_as_complex_copy": (
        lambda t, x: t.view_as_complex_copy(x.reshape(3, 2, 2)),
        lambda x: ag.view_as_complex(x.reshape(3, 2, 2)),
    ),
    "view_as_real_copy": (
        lambda t, x: t.view_as_real_copy(x * 1j),
        lambda x: ag.view_as_real(x * 1j),
    ),
    "view_copy": (lambda t, x: t.view_copy(x, (4, 3)), lambda x: x.reshape(4, 3)),
    "view_copy of a dtype": (lambda t, x: t.view_copy(x, t.int32), lambda x: x.view(ag.int32)),
}


def listed(result):
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", VIEWS)
def test_copies_of_views_have_memory_of_their_own_and_the_history_of_views(name):
    copied, view = VIEWS[name]
    x = ag.arange(12.0).reshape(3, 4).requires_grad_()
    again = x.detach().clone().requires_grad_()
    found, expected = listed(copied(ag, x)), listed(view(again))
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ag.equal(ours, theirs) and ours.requires_grad == theirs.requires_grad
        assert ours.is_contiguous() and ours._base is None
        assert ours.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
        if ours.requires_grad:
            ag.view_as_real(ours).sum().backward() if ours.is_complex() else ours.sum().backward()
            (ag.view_as_real(theirs) if theirs.is_complex() else theirs).sum().backward()
    assert (x.grad is None) == (again.grad is None)
    assert x.grad is None or ag.equal(x.grad, again.grad)


@pytest.mark.parametrize("name", VIEWS)
def test_copies_of_views_are_those_of_torch(name):
    torch = pytest.importorskip("torch")
    copied, _ = VIEWS[name]
    with torch.no_grad():
        theirs = listed(copied(torch, torch.arange(12.0).reshape(3, 4)))
    ours = listed(copied(ag, ag.arange(12.0).reshape(3, 4)))
    assert [(t.tolist(), t.stride()) for t in ours] == [(t.tolist(), t.stride()) for t in theirs]


def test_copies_of_views_go_where_they_should_and_refuse_what_views_refuse():
    x, out = ag.arange(6.0).reshape(2, 3), ag.empty(0)
    assert ag.permute_copy(x, (1, 0), out=out) is out and ag.equal(out, x.t())
    assert ag.view_copy(x.t(), (6,)).tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    places = [ag.empty(0), ag.empty(0)]
    assert ag.unbind_copy(x, out=places) is None
    assert [p.tolist() for p in places] == x.tolist()
    with pytest.raises(RuntimeError, match="result list of size 2, but got 1"):
        ag.unbind_copy(x, out=places[:1])
    with pytest.raises(IndexError, match="Dimension out of range"):
        ag.slice_copy(x, 2)
    with pytest.raises(TypeError, match=r"t_copy\(\): argument 'input' .* must be Tensor, not int"):
        ag.t_copy(3)
