"""The state that memory, views, duals and nodes keep, where hardly a program looks."""

import copy
import gc
import weakref

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._C import storage
from autograd_cy._C.recorder import _enabled
from autograd_cy.autograd import forward_ad
from autograd_cy.profiler._session import Session


def test_storages_know_their_bytes():
    array = np.ones((3, 4))
    x = ag.ones(3, 4, dtype=ag.float64)
    x.requires_grad_()
    memory = {
        "own": x,
        "array": ag.from_numpy(array),
        "alias": x.data,
        "another alias": x.detach().data[1:],
        "piece": ag.unsafe_split(x.detach(), 1)[2],
        "meta": ag.empty(3, 4, dtype=ag.float64, device="meta"),
        "DLPack": ag.from_dlpack(array),
        "buffer": ag.frombuffer(array, dtype=ag.float64),
        "copy": copy.deepcopy(x),
    }
    for name, t in memory.items():
        assert t.untyped_storage().nbytes() == 96, name
        assert len(t.untyped_storage()) == 96, name
    with pytest.raises(RuntimeError, match="storage"):
        x.data.as_strided((13,), (1,))


def test_copies_of_storages_that_are_one_are_one():
    memory = ag.ones(3).untyped_storage()
    first, second = copy.deepcopy([memory, memory])
    assert first is second
    assert first is not memory


def test_views_of_inference_tensors_are_such():
    with ag.inference_mode():
        a = ag.ones(4, 2)
    for v in (a[1:], a.t(), a.view(-1), a.unbind()[0], a.detach()[0][:1]):
        assert v.is_inference()
        assert v._base is None
    with ag.inference_mode():
        inside = a[1:]
        outside = ag.ones(3)
    assert inside.is_inference() and outside.is_inference()


def test_a_dual_is_let_go_with_its_level():
    """Views of a dual know it while they have its tangents."""
    x = ag.ones(3)
    for used_inside in (True, False):
        with forward_ad.dual_level():
            d = forward_ad.make_dual(x, x * 2)
            with forward_ad._set_fwd_grad_enabled(used_inside):
                v = d[:2]
            if used_inside:
                assert forward_ad.unpack_dual(v * 3).tangent.tolist() == [6.0, 6.0]
        gone = weakref.ref(d)
        del d
        with forward_ad.dual_level():
            other = forward_ad.make_dual(ag.ones(2), ag.ones(2))
            assert forward_ad.unpack_dual(v * other).tangent.tolist() == [1.0, 1.0]
            assert forward_ad.unpack_dual(v).tangent is None
            gc.collect()
            assert gone() is None, used_inside


def test_detached_duals_let_go_of_what_they_showed():
    x = ag.ones(3)
    with forward_ad.dual_level():
        d = forward_ad.make_dual(x, x * 2)
        y = d * 3
        y.detach_()
        assert forward_ad.unpack_dual(y).tangent is None
        assert forward_ad.unpack_dual(d).tangent.tolist() == [2.0] * 3
        # Memory that overlaps has a tangent that doesn't.
        wide = ag.ones(2, 1, 1, 1).expand(2, 3, 2, 2)
        tangent = forward_ad.unpack_dual(forward_ad.make_dual(wide, wide)).tangent
        assert tangent.stride() == (12, 4, 2, 1)
        assert tangent.tolist() == wide.tolist()


def test_events_of_nodes_have_the_operators_names():
    x = ag.ones(3, requires_grad=True)
    session = Session()
    session.start()
    y = (x * 1).ceil_()
    z = x * 1
    z.lt_(y)
    z.sum().backward()
    y.sum().backward()
    names = [row[0] if isinstance(row, tuple) else row for row in _names(session.stop())]
    for name in ("CeilBackward0", "LtBackward0"):
        assert any(name in text for text in names), (name, names)
    assert not _enabled()


def _names(spans):
    return [spans.names[n] for n in spans.name]


def test_each_session_counts_the_memory_that_is_in_use():
    kept = []
    for _ in range(2):
        kept.append(ag.ones(5000))  # not seen by any session
        before = storage.memory_summary()["live_bytes"]
        first, second = Session(profile_memory=True), Session(profile_memory=True)
        first.start()
        kept.append(ag.ones(1000))
        second.start()
        kept.append(ag.ones(2000))
        inner, outer = second.stop(), first.stop()
        own = [n for n in outer.mem_bytes if n >= 4000]
        assert len(own) == 2
        assert outer.mem_total[0] - outer.mem_bytes[0] == before
        assert inner.mem_total[-1] == outer.mem_total[-1] == before + 12000


def test_gradients_that_arrive_can_be_collected_with_their_hooks():
    """A hook that leads back to the leaf closes a cycle through its accumulator."""

    def closed():
        leaf = ag.ones(2, requires_grad=True)
        y = leaf * 2
        held = []
        leaf.register_post_accumulate_grad_hook(lambda t: held.append(t))
        held.append(y.grad_fn)
        return weakref.ref(leaf)

    gone = closed()
    gc.collect()
    assert gone() is None


def test_lists_as_indices_are_refused_as_what_they_are():
    x = ag.ones(3, 3)
    for index, error in (
        ([[0, 1], [2]], ValueError),
        ([0, "a"], TypeError),
        ([0, object()], (TypeError, RuntimeError)),
        ([1j], TypeError),
    ):
        with pytest.raises(error):
            x[(index, 0)]


def test_producers_of_dlpack_are_asked_for_copies_only_if_wanted():
    asked = []

    class Producer:
        def __init__(self, device=(1, 0), old=False):
            self.device, self.old = device, old

        def __dlpack_device__(self):
            return self.device

        def __dlpack__(self, **options):
            asked.append(options)
            if self.old and options:
                raise TypeError("no arguments")
            return np.arange(3.0).__dlpack__()

    for copied in (None, True, False):
        assert ag.from_dlpack(Producer(), copy=copied).tolist() == [0.0, 1.0, 2.0]
        expected = {"max_version": (1, 0)} | ({} if copied is None else {"copy": copied})
        assert asked.pop() == expected
    assert ag.from_dlpack(Producer(old=True)).tolist() == [0.0, 1.0, 2.0]
    assert asked == [{"max_version": (1, 0)}, {}]
    with pytest.raises(BufferError, match="only the CPU"):
        ag.from_dlpack(Producer(device=(10, 0)))
    with pytest.raises(BufferError, match="type 2, GPU 0, can't be used here"):
        ag.from_dlpack(Producer(device=(2, 0)))
    with pytest.raises(RuntimeError, match="no __dlpack__ method"):
        ag.from_dlpack(object())


def test_what_has_still_to_run_is_in_order():
    """Also what waits beside the node that runs."""
    x = ag.ones(3, requires_grad=True)
    ask = ag._C._current_graph_task_execution_order
    seen = {}

    def note(name):
        return lambda grad: seen.update({name: [n.name() for n in ask()]})

    a, b, c = x * 2, x.sin(), x.exp()
    for name, t in (("a", a), ("b", b), ("c", c)):
        t.register_hook(note(name))
    with ag.autograd.set_multithreading_enabled(False):
        (a + b.cos() + c).sum().backward()
    left = ["ExpBackward0", "SinBackward0", "MulBackward0"]
    leaf = next(n for n in seen["a"] if "Accumulate" in n)
    assert [n for n in seen["a"] if n != leaf] == left[2:]
    assert [n for n in seen["b"] if n != leaf] == left[1:]
    assert next(n for n in seen["c"] if n != leaf) == left[0]
    assert set(left) < set(seen["c"])
    assert all(names.count(leaf) == 1 for names in seen.values())


def test_second_derivatives_where_hooks_pack_what_is_saved():
    def cubes(t):
        with ag.autograd.graph.saved_tensors_hooks(lambda s: (s,), lambda packed: packed[0]):
            return (t * t * t).sum()

    x, v = ag.tensor([1.0, 2.0]), ag.tensor([3.0, 5.0])
    gradients, tangent = ag.func.jvp(ag.func.grad(cubes), (x,), (v,))
    assert gradients.tolist() == [3.0, 12.0]
    assert tangent.tolist() == [18.0, 60.0]
    outer = ag.tensor([1.0, 2.0], requires_grad=True)
    (again,) = ag.autograd.grad(ag.func.grad(cubes)(outer).sum(), outer)
    assert again.tolist() == [6.0, 12.0]
    each = ag.func.vmap(ag.func.grad(cubes))(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert each.tolist() == [[3.0, 12.0], [27.0, 48.0]]


def test_random_values_have_no_tangents():
    for name, args in {
        "normal_": (), "uniform_": (), "bernoulli_": (0.5,), "exponential_": (), "random_": (),
    }.items():  # fmt: skip
        with forward_ad.dual_level():
            d = forward_ad.make_dual(ag.ones(3), ag.ones(3) * 2) * 1
            part = d[:2]
            getattr(part, name)(*args)
            assert forward_ad.unpack_dual(d).tangent.tolist() == [0.0, 0.0, 2.0], name
            assert forward_ad.unpack_dual(part).tangent.tolist() == [0.0, 0.0], name


def test_random_numbers_do_not_go_where_history_is():
    p, leaf = ag.full((3,), 0.5), ag.ones(3, requires_grad=True)
    for call in (
        lambda out: ag.bernoulli(p, out=out),
        lambda out: ag.normal(p, p, out=out),
        lambda out: ag.normal(p, 2.0, out=out),
        lambda out: ag.normal(0.0, p, out=out),
        lambda out: ag.rand(3, out=out),
        lambda out: ag.randn(3, out=out),
    ):
        for out in (leaf, leaf * 1):
            before = out._version
            with pytest.raises(RuntimeError, match="out="):
                call(out)
            assert out._version == before
            assert out.tolist() == [1.0] * 3
        assert call(ag.ones(3)).shape == (3,)


def test_tensors_have_no_name():
    hooked = ag.ones(2, requires_grad=True)
    hooked.register_hook(lambda g: g)
    assert ag.ones(2).name is None
    assert hooked.name is None
    assert (hooked * 2).name is None


def test_switches_put_back_what_was_when_they_were_made():
    off, on = ag.set_grad_enabled, ag.enable_grad
    with ag.no_grad():
        with off(False):
            assert not ag.is_grad_enabled()
        assert not ag.is_grad_enabled()
        with off(True):
            assert ag.is_grad_enabled()
        assert not ag.is_grad_enabled()
        with on():
            with off(False):
                assert not ag.is_grad_enabled()
            assert ag.is_grad_enabled()
    assert ag.is_grad_enabled()
    with ag.inference_mode():
        with ag.set_grad_enabled(True):
            assert ag.is_inference_mode_enabled()
        assert ag.is_inference_mode_enabled()
        assert not ag.is_grad_enabled()
