"""conj() of a complex tensor is a lazy view; its imaginary part is a lazy negative."""

import copy
import pickle

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy.autograd import forward_ad


@pytest.fixture
def x():
    return torch.tensor([[1 + 2j, 3 - 4j, -5j], [2.0, 1j, -1 - 1j]], dtype=torch.complex128)


def values(t):
    return t.clone().numpy()


def test_conj_is_a_view_with_the_bit(x):
    c = x.conj()
    assert c._base is x
    assert c.is_conj() and torch.is_conj(c) and not x.is_conj() and not c.is_neg()
    assert c.data_ptr() == x.data_ptr()
    assert not c.is_set_to(x)
    assert c.is_contiguous() and c.contiguous() is c
    assert (values(c) == np.conj(x.numpy())).all()


def test_imaginary_part_of_a_conjugate_is_a_negative_view(x):
    n = x.conj().imag
    assert n._base is x and n.is_neg() and not n.is_conj()
    assert (values(n) == -x.numpy().imag).all()
    r = x.conj().real
    assert r._base is x and not r.is_neg() and not r.is_conj()
    assert not x.conj()._neg_view().imag.is_neg()
    assert x._neg_view().imag.is_neg() and x._neg_view().real.is_neg()
    assert torch.view_as_real(x._neg_view()).is_neg()


def test_conj_twice_is_plain(x):
    again = x.conj().conj()
    assert again is not x and again._base is x and not again.is_conj()
    assert not x._neg_view()._neg_view().is_neg()


def test_conj_of_a_real_tensor_is_the_tensor():
    r = torch.ones(2)
    assert r.conj() is r and not r.is_conj()
    assert r.resolve_conj() is r and r.resolve_neg() is r


@pytest.mark.parametrize(
    "view",
    [
        lambda c: c.t(),
        lambda c: c[0],
        lambda c: c[:, 1:],
        lambda c: c.view(3, 2),
        lambda c: c.reshape(-1),
        lambda c: c.unbind()[0],
        lambda c: c.split(1)[0],
        lambda c: c.expand(4, 2, 3),
        lambda c: c.unsqueeze(0),
        lambda c: c.diagonal(),
        lambda c: c.as_strided((2,), (1,)),
        lambda c: c.detach(),
        lambda c: c.data,
        lambda c: c.contiguous(),
        lambda c: c.to(torch.complex128),
        lambda c: c._neg_view(),
        lambda c: copy.copy(c),
        lambda c: pickle.loads(pickle.dumps(c)),
        lambda c: copy.deepcopy(c.detach()),
    ],
)
def test_views_keep_the_bit(x, view):
    c = x.conj()
    kept = view(c)
    assert kept.is_conj()
    assert (values(kept) == values(view(c.clone()))).all() or kept.is_neg()


@pytest.mark.parametrize(
    "operation",
    [
        lambda c: c.clone(),
        lambda c: c.to(torch.complex64),
        lambda c: c + 0,
        lambda c: c * 1,
        lambda c: c.resolve_conj(),
        lambda c: c.t().contiguous(),
        lambda c: c.t().reshape(-1),
        lambda c: c[torch.tensor([0, 1])],
        lambda c: c.conj_physical(),
        lambda c: torch.stack([c, c])[0],
        lambda c: torch.cat([c, c])[:2],
        lambda c: torch.tensor(c.tolist()),
        lambda c: c.H.H.clone(),
    ],
)
def test_results_are_plain(x, operation):
    c = x.conj()
    result = operation(c)
    assert not result.is_conj() and not result.is_neg()
    np.testing.assert_allclose(values(result), values(operation(c.clone())))


@pytest.mark.parametrize(
    "like", [torch.empty_like, torch.zeros_like, torch.ones_like, torch.rand_like, torch.randn_like]
)
def test_tensors_like_a_conjugate_are_plain(x, like):
    assert not like(x.conj()).is_conj()
    assert not x.conj().new_zeros(2).is_conj()
    assert not like(x.conj().imag).is_neg()


def test_resolving_without_the_bit_gives_the_tensor(x):
    c = x.conj()
    assert c.resolve_neg() is c and x.resolve_conj() is x
    assert c.imag.resolve_neg() is not c.imag
    both = c._neg_view()
    assert not both.resolve_conj().is_conj() and not both.resolve_conj().is_neg()
    np.testing.assert_array_equal(values(both.resolve_conj()), values(both))


def test_adjoints_are_lazy(x):
    for a in (x.mH, x.H, x.adjoint()):
        assert a.is_conj() and a._base is x
        assert (values(a) == x.numpy().conj().T).all()
    assert not x.conj().H.is_conj()
    assert not x.conj_physical().is_conj()


def test_what_shows_memory_is_refused(x):
    c = x.conj()
    n = c.imag
    with pytest.raises(RuntimeError, match="conjugate bit set"):
        c.numpy()
    with pytest.raises(RuntimeError, match="negative bit set"):
        n.numpy()
    with pytest.raises(RuntimeError, match="negative bit set"):
        np.asarray(n)
    with pytest.raises(BufferError, match="conjugate bit set"):
        memoryview(c)
    with pytest.raises(BufferError, match="with the negative bit set"):
        n.__dlpack__()
    with pytest.raises(RuntimeError, match="doesn't work on unresolved conjugated tensors"):
        torch.view_as_real(c)
    with pytest.raises(RuntimeError, match="not supported for conjugate view tensors"):
        c.view(torch.float64)
    with pytest.raises(RuntimeError, match="not supported for tensors with negative bit set"):
        n.view(torch.int64)
    assert (c.numpy(force=True) == x.numpy().conj()).all()
    assert (n.numpy(force=True) == -x.numpy().imag).all()


def test_single_elements_printing_and_lists_show_values(x):
    c = x.conj()
    assert c[0, 0].item() == 1 - 2j and c.imag[0, 0].item() == -2.0
    assert complex(c[0, 0]) == 1 - 2j and float(c.imag[0, 0]) == -2.0
    assert c.tolist() == c.clone().tolist()
    assert repr(c) == repr(c.clone())
    assert repr(c.imag) == repr(c.imag.clone())
    counts = torch.tensor([-2, 0])._neg_view()
    assert int(counts[0]) == 2 and [10, 20, 30][counts[0]] == 30
    assert bool(counts[0]) and not bool(counts[1])


def test_negative_index_tensors_are_resolved():
    index = torch.tensor([-2, 0])._neg_view()
    t = torch.arange(3)
    assert t[index].tolist() == [2, 0]
    assert t[index[0]].item() == 2
    t[index] = torch.tensor([7, 8])
    assert t.tolist() == [8, 1, 7]


def test_writes_reach_the_base(x):
    original = x.clone()
    c = x.conj()
    c.mul_(2j)
    np.testing.assert_array_equal(values(x), values(original * -2j))
    c.copy_(original)
    np.testing.assert_array_equal(values(x), values(original).conj())
    c[0] = 1j
    assert (values(x[0]) == -1j).all()
    c.fill_(2 + 1j)
    assert (values(x) == 2 - 1j).all()
    n = c.imag
    n.fill_(5)
    assert (values(x.imag) == -5).all()
    n.add_(torch.ones_like(n))
    assert (values(x.imag) == -6).all()
    n.zero_()
    assert (values(x.imag) == 0).all()
    version = x._version
    n.uniform_(1, 2)
    assert x._version == version + 1
    assert (values(x.imag) < -0.9).all() and (values(n) > 0.9).all()


def test_a_tensor_can_be_overwritten_by_its_own_conjugate(x):
    original = values(x)
    x.copy_(x.conj())
    np.testing.assert_array_equal(values(x), original.conj())
    c = x.conj()
    c.copy_(x)
    np.testing.assert_array_equal(values(x), original)
    x.add_(x.conj())
    np.testing.assert_array_equal(values(x), 2 * original.real)


def test_an_expanded_negative_is_filled_once():
    t = torch.zeros(1)
    t._neg_view().expand(3).fill_(2)
    assert t.item() == -2


def test_a_resized_conjugate_keeps_its_values():
    c = torch.tensor([1 + 2j]).conj().detach()
    c.resize_(2)
    assert c.is_conj() and c[0].item() == 1 - 2j


def test_data_takes_the_bit_along():
    x = torch.tensor([1 + 2j])
    y = torch.zeros(1, dtype=torch.complex64)
    y.data = x.conj()
    assert y.is_conj() and y.item() == 1 - 2j
    y.data = x
    assert not y.is_conj() and y.item() == 1 + 2j


def test_gradients_of_writes_through_the_view():
    x = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128, requires_grad=True)
    y = x * 1
    c = y.conj()
    assert type(c.grad_fn).__name__ == "ConjBackward0"
    c.mul_(2j)
    assert type(c.grad_fn).__name__ == "ConjBackward0"
    assert type(y.grad_fn).__name__ == "CopySlices"
    w = torch.tensor([1 - 1j, 2 + 3j], dtype=torch.complex128)
    (g,) = torch.autograd.grad(y, x, w)
    z = (x.conj().clone() * 2j).conj().clone()
    (e,) = torch.autograd.grad(z, x, w)
    np.testing.assert_allclose(values(g), values(e))


def parts_changed(make, base):
    """A view's write, and the same computed without views."""
    t = make(base)
    t.mul_(torch.arange(1.0, t.numel() + 1, dtype=torch.float64).view(t.shape))
    return base


@pytest.mark.parametrize("lazy_base", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        lambda b: b.imag,
        lambda b: b.real,
        lambda b: b.conj().imag,
        lambda b: b._neg_view().imag,
        lambda b: torch.view_as_real(b.conj()) if b.is_conj() else torch.view_as_real(b),
        lambda b: b.conj()[1:],
        lambda b: b.conj()._neg_view()[1:],
    ],
)
def test_gradients_of_writes_to_parts(make, lazy_base):
    """Checked numerically, without and with a graph of the gradient."""
    start = torch.tensor([1 + 2j, -3 + 0.5j], dtype=torch.complex128)

    def function(x):
        if lazy_base:
            base = torch.zeros(2, dtype=torch.complex128).conj().detach()
            base.copy_(x)
            assert base.is_conj() and base._base is None
        else:
            base = x * 1
        return parts_changed(make, base)

    x = start.clone().requires_grad_(True)
    assert torch.autograd.gradcheck(function, (x,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, (x,))


def test_views_made_before_a_write_see_its_gradient():
    x = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128, requires_grad=True)
    y = x * 1
    n = y.conj().imag
    y.mul_(1j)
    (g,) = torch.autograd.grad(n.sum(), x)
    (e,) = torch.autograd.grad((x * 1j).conj().imag.sum(), x)
    np.testing.assert_allclose(values(g), values(e))


def test_gradients_that_arrive_lazily_are_stored_as_values():
    x = torch.zeros(2, dtype=torch.complex128, requires_grad=True)
    g = torch.tensor([1 + 2j, 3j], dtype=torch.complex128)
    x.backward(g.conj())
    assert not x.grad.is_conj()
    x.backward(g.conj())
    np.testing.assert_array_equal(values(x.grad), 2 * g.numpy().conj())
    x.grad = g.conj()
    x.backward(torch.tensor([1.0 + 1j, 1j], dtype=torch.complex128))
    np.testing.assert_array_equal(values(x.grad), [2 - 1j, -2j])


def test_broadcast_gradients_are_summed_as_values():
    x = torch.zeros(1, dtype=torch.complex128, requires_grad=True)
    g = torch.tensor([1 + 2j, 3j], dtype=torch.complex128)
    x.expand(2).backward(g.conj())
    assert x.grad.item() == 1 - 5j


def test_optimizers_step_with_lazy_gradients():
    g = torch.tensor([1 + 2j, 3j])
    for make in (torch.optim.SGD, torch.optim.Adam):
        steps = []
        for grad in (g.conj(), g.conj().clone()):
            p = torch.ones(2, dtype=torch.complex64, requires_grad=True)
            p.grad = grad
            make([p], lr=0.1).step()
            steps.append(values(p.detach()))
        np.testing.assert_array_equal(*steps)


def test_saved_conjugates_notice_changes():
    x = torch.tensor([1 + 2j], requires_grad=True)
    b = torch.tensor([2 + 1j])
    y = x * b.conj()
    b.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward(torch.ones_like(y))


def test_tangents_of_conjugates_are_conjugates():
    x = torch.tensor([1 + 2j])
    t = torch.tensor([3 - 1j])
    with forward_ad.dual_level():
        d = forward_ad.make_dual(x, t)
        tangent = forward_ad.unpack_dual(d.conj()).tangent
        assert tangent.is_conj() and tangent.item() == 3 + 1j
        # The tangent of a conjugate has its bit: views of both go together.
        d = forward_ad.make_dual(x.conj(), t)
        tangent = forward_ad.unpack_dual(d).tangent
        assert tangent is not t and tangent.is_conj() and tangent.item() == 3 - 1j
        assert forward_ad.unpack_dual(d.imag).tangent.item() == -1
        d.mul_(2)
        assert t.item() == 3 - 1j and forward_ad.unpack_dual(d).tangent.item() == 6 - 2j


def test_wrappers_of_vmap_tell_the_bit():
    x = torch.tensor([[1 + 2j], [3j]])
    seen = []

    def function(a):
        c = a.conj()
        seen.append((c.is_conj(), c.imag.is_neg(), a.is_conj()))
        c.mul_(2)
        return c

    out = torch.vmap(function)(x)
    assert seen == [(True, True, False)]
    assert out.tolist() == [[2 - 4j], [-6j]] and x.tolist() == [[2 + 4j], [6j]]


def test_files_keep_values(tmp_path, x):
    torch.save({"x": x, "c": x.conj()}, tmp_path / "t")
    loaded = torch.load(tmp_path / "t")
    np.testing.assert_array_equal(values(loaded["c"]), values(x.conj()))
    loaded["c"].mul_(2)
    np.testing.assert_array_equal(values(loaded["x"]), values(x * 2))


def test_lazy_views_of_bools_are_refused():
    with pytest.raises(RuntimeError, match="bool"):
        torch.tensor([True])._neg_view()
