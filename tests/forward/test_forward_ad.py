"""autograd.forward_ad: levels, duals, errors, and both orders of forward and reverse mode."""

import gc
import threading
import weakref

import numpy as np
import pytest

import autograd_cy as ag
import autograd_cy.autograd.forward_ad as fw


def f64(*values, **kwargs):
    return ag.tensor(values, dtype=ag.float64, **kwargs)


def dual(value, tangent):
    return fw.make_dual(ag.tensor(value), ag.tensor(tangent))


def tangent(t):
    t = fw.unpack_dual(t).tangent
    return None if t is None else t.tolist()


# --- levels ---------------------------------------------------------------------------------


def test_a_level_begins_and_ends():
    assert fw._current_level == -1
    with fw.dual_level() as level:
        assert level == fw._current_level == 0
        y = dual([1.0, 2.0], [1.0, 0.0]) ** 2
        assert tangent(y) == [2.0, 0.0]
    assert fw._current_level == -1
    assert fw.unpack_dual(y).tangent is None


def test_levels_do_not_nest():
    with fw.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            with fw.dual_level():
                pass
        assert tangent(dual([1.0], [3.0]) * 2) == [6.0], "the open level still works"


def test_wrong_exits():
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fw.exit_dual_level()
    level = fw.enter_dual_level()
    with pytest.raises(RuntimeError, match="not the last one that was created"):
        fw.exit_dual_level(level=level + 1)
    fw.exit_dual_level(level=level)


def test_a_level_ends_when_the_block_fails():
    with pytest.raises(KeyError):
        with fw.dual_level():
            raise KeyError
    with fw.dual_level():
        assert tangent(dual([1.0], [1.0])) == [1.0]


def test_dual_level_decorates_functions_and_generators():
    @fw.dual_level()
    def derivative(x):
        return fw.unpack_dual(fw.make_dual(x, ag.ones_like(x)).sin()).tangent

    @fw.dual_level()
    def steps():
        yield tangent(dual([2.0], [1.0]) ** 2)
        yield tangent(dual([3.0], [1.0]) ** 2)

    assert derivative(ag.zeros(1)).tolist() == [1.0]
    assert list(steps()) == [[4.0], [6.0]]
    assert fw._current_level == -1


def test_the_end_of_a_level_clears_tangents_of_living_tensors():
    x = ag.zeros(3)
    with fw.dual_level():
        y = fw.make_dual(x, ag.ones(3))
        z = y * 2
        tangent_ref = weakref.ref(fw.unpack_dual(z).tangent)
        assert tangent_ref() is not None
    assert tangent_ref() is None, "the tangent is freed though z lives"
    assert "tangent" not in repr(y) + repr(z)
    with fw.dual_level():
        assert tangent(y * 3) is None and tangent(z) is None
        y = fw.make_dual(y, ag.ones(3) * 5)
        assert tangent(y) == [5.0] * 3


def test_duals_that_die_leave_the_level_usable():
    with fw.dual_level():
        keep = []
        for i in range(200):
            t = dual([float(i)], [1.0]) * 2
            if i % 3 == 0:
                keep.append(t)
        gc.collect()
        del keep[::2]
    assert all(fw.unpack_dual(t).tangent is None for t in keep)


def test_a_level_holds_in_other_threads():
    found = []
    with fw.dual_level():
        x = dual([2.0], [1.0])
        thread = threading.Thread(target=lambda: found.append(tangent(x * x)))
        thread.start()
        thread.join()
    assert found == [[4.0]]


# --- duals ----------------------------------------------------------------------------------


def test_make_dual_refuses():
    x = ag.ones(2)
    with pytest.raises(RuntimeError, match="no level exists"):
        fw.make_dual(x, x)
    with fw.dual_level():
        whole = ag.ones(2, dtype=ag.int64)
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex"):
            fw.make_dual(whole, x)
        with pytest.raises(ValueError, match="Expected tangent to be floating point or complex"):
            fw.make_dual(x, whole)
        with pytest.raises(RuntimeError, match="different size.* size \\[2\\].* size \\[3\\]"):
            fw.make_dual(x, ag.ones(3))
        with pytest.raises(RuntimeError, match="expected a real tangent"):
            fw.make_dual(x, ag.ones(2, dtype=ag.complex64))
        with pytest.raises(TypeError, match="tangent must be Tensor"):
            fw.make_dual(x, 1.0)
        with pytest.raises(RuntimeError, match="Invalid level"):
            fw.make_dual(x, x, level=1)
        d = fw.make_dual(x, x)
        with pytest.raises(RuntimeError, match="already has a forward gradient"):
            fw.make_dual(d, x)
        with pytest.raises(RuntimeError, match="itself has a forward gradient"):
            fw.make_dual(x, d)
        assert tangent(x) is None


def test_unpack_dual_gives_a_view_without_tangent():
    x = ag.ones(2)
    assert fw.unpack_dual(x) == (x, None)
    with fw.dual_level():
        t = ag.tensor([1.0, 2.0])
        d = fw.make_dual(x, t)
        found = fw.unpack_dual(d)
        assert isinstance(found, fw.UnpackedDualTensor)
        assert found.tangent is t
        assert found.primal._is_view() and found.primal.data_ptr() == x.data_ptr()
        assert tangent(found.primal * 3) is None
        assert fw.unpack_dual(d, level=1).tangent is None
    with pytest.raises(TypeError):
        fw.unpack_dual(1.0)


def test_another_floating_dtype_of_the_tangent_is_converted():
    with fw.dual_level():
        d = fw.make_dual(ag.ones(2), ag.ones(2, dtype=ag.float64))
        assert fw.unpack_dual(d).tangent.dtype == ag.float32
        d = fw.make_dual(ag.ones(2, dtype=ag.complex64), ag.ones(2))
        assert fw.unpack_dual(d).tangent.dtype == ag.complex64


def test_printing_shows_the_tangent():
    with fw.dual_level():
        assert repr(dual([1.0], [2.0])) == "tensor([1.], tangent=tensor([2.]))"


def test_detach_data_and_integers_have_no_tangent():
    with fw.dual_level():
        d = dual([1.5], [1.0])
        for t in (d.detach(), d.data, d.long(), d > 0, ag.zeros_like(d), d.argmax()):
            assert tangent(t) is None
        assert tangent(d.clone()) == [1.0]
        assert tangent(d.floor()) == [0.0]


def test_operations_that_do_not_follow_tangents_refuse_them():
    with fw.dual_level():
        d = dual([4.0, 6.0], [1.0, 1.0])
        with pytest.raises(NotImplementedError, match="forward AD with floor_divide"):
            d // 2
        for place in (lambda: ag.add(d, 1, out=ag.zeros(2)), lambda: ag.exp(ag.ones(2), out=d)):
            with pytest.raises(NotImplementedError, match="because it is an out= function"):
                place()
        assert (fw.unpack_dual(d).primal // 2).tolist() == [2.0, 3.0]
        assert d.tolist() == [4.0, 6.0]


def test_set_fwd_grad_enabled_switches_tangents_off():
    with fw.dual_level():
        d = dual([1.0], [1.0])
        with fw.set_fwd_grad_enabled(False):
            assert not fw.is_fwd_grad_enabled()
            assert tangent(d * 2) is None
        assert fw.is_fwd_grad_enabled()

        @fw.set_fwd_grad_enabled(False)
        def without():
            return tangent(d * 2)

        assert without() is None and tangent(d * 2) == [2.0]
        with ag.inference_mode():
            assert tangent(d * 2) is None
        with ag.no_grad():
            assert tangent(d * 2) == [2.0]


# --- views and in-place ---------------------------------------------------------------------


def test_an_in_place_operation_on_a_view_reaches_the_dual():
    with fw.dual_level():
        d = dual([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
        d[1].mul_(5)
        assert d.tolist() == [1.0, 10.0, 3.0] and tangent(d) == [1.0, 5.0, 1.0]


def test_an_in_place_operation_on_a_dual_reaches_its_views():
    with fw.dual_level():
        d = dual([1.0, 2.0], [1.0, 1.0])
        first = d[:1]
        d.mul_(d)
        assert tangent(d) == [2.0, 4.0] and tangent(first) == [2.0]


def test_writing_a_dual_into_a_view_gives_the_base_and_other_views_a_tangent():
    with fw.dual_level():
        base = ag.zeros(4)
        window, other = base[1:3], base[:2]
        window.copy_(dual([1.0, 2.0], [3.0, 4.0]))
        assert tangent(base) == [0.0, 3.0, 4.0, 0.0]
        assert tangent(other) == [0.0, 3.0]
        assert tangent(other * 2) == [0.0, 6.0]
        base.mul_(10)
        assert tangent(window) == [30.0, 40.0] and tangent(other) == [0.0, 30.0]
        other.zero_()
        assert tangent(base) == [0.0, 0.0, 40.0, 0.0]


def test_writing_into_a_transposed_base():
    with fw.dual_level():
        base = ag.zeros(2, 3).t()
        base[1].copy_(dual([1.0, 2.0], [3.0, 4.0]))
        assert tangent(base) == [[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]
        strided = ag.zeros(3, 2).t().contiguous()
        strided[:, 1] = dual([1.0, 2.0], [5.0, 6.0])
        assert tangent(strided) == [[0.0, 5.0, 0.0], [0.0, 6.0, 0.0]]


def test_tangents_of_bases_take_as_much_memory():
    with fw.dual_level():
        for base in (ag.zeros(6), ag.zeros(5, 7), ag.zeros(7, 5).t(), ag.zeros(2, 3, 4)):
            part = ag.ones(base.shape[1:])
            base[0] = fw.make_dual(part, part)
            found = fw.unpack_dual(base).tangent
            assert found.stride() == base.stride() and found.equal(base)
            assert found.untyped_storage().nbytes() == base.untyped_storage().nbytes()


def test_index_assignment_follows_tangents():
    with fw.dual_level():
        y = ag.zeros(3)
        x = dual([1.0, 2.0], [10.0, 20.0])
        y[0] = x[1]
        y[ag.tensor([1, 2])] = x * 2
        assert y.tolist() == [2.0, 2.0, 4.0] and tangent(y) == [20.0, 20.0, 40.0]
        y[1] = 7.0
        assert tangent(y) == [20.0, 0.0, 40.0]


def test_the_primal_is_a_view_and_the_tangent_is_changed_in_place():
    with fw.dual_level():
        x, t = ag.ones(2), ag.ones(2)
        fw.make_dual(x, t).mul_(3)
        assert x.tolist() == [3.0, 3.0] and t.tolist() == [3.0, 3.0]
        assert tangent(x) is None


def test_an_expanded_tangent_is_copied_before_it_is_changed():
    with fw.dual_level():
        d = fw.make_dual(ag.ones(3), ag.ones(1).expand(3))
        d[0] = 0.0
        assert tangent(d) == [0.0, 1.0, 1.0]


def test_a_constant_written_into_a_dual_clears_its_tangent():
    with fw.dual_level():
        for change in (lambda t: t.fill_(2.0), lambda t: t.zero_(), lambda t: t.copy_(ag.ones(2))):
            d = dual([5.0, 5.0], [1.0, 1.0])
            change(d)
            assert tangent(d) == [0.0, 0.0]


# --- complex --------------------------------------------------------------------------------


def test_complex_and_real_mix():
    with fw.dual_level():
        z = fw.make_dual(ag.tensor([1 + 2j]), ag.tensor([1j]))
        assert fw.unpack_dual(z.abs()).tangent.item() == pytest.approx(2 / 5**0.5)
        assert tangent(z.real) == [0.0] and tangent(z.imag) == [1.0]
        r = dual([3.0], [1.0])
        assert tangent(r * z) == [1 + 2j + 3j]


def test_views_of_parts_share_tangents():
    with fw.dual_level():
        base = ag.zeros(3, dtype=ag.complex64)
        imaginary = base.imag
        base.real[1:].copy_(dual([1.0, 2.0], [3.0, 4.0]))
        assert tangent(base) == [0, 3, 4] and tangent(imaginary) == [0.0] * 3
        ag.view_as_real(base)[0].copy_(dual([1.0, 2.0], [5.0, 6.0]))
        assert tangent(base) == [5 + 6j, 3, 4] and tangent(imaginary * 2) == [12.0, 0.0, 0.0]
        real = ag.zeros(2, 2)
        ag.view_as_complex(real)[1] = dual([1 + 1j], [2 - 3j])[0]
        assert tangent(real) == [[0.0, 0.0], [2.0, -3.0]]


# --- both modes -----------------------------------------------------------------------------


def test_forward_over_reverse_gives_hessian_vector_products():
    x = f64(1.0, 2.0, requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(x, f64(1.0, -1.0))
        (g,) = ag.autograd.grad((d**3).sum() + d[0] * d[1], d)
        assert g.tolist() == [3.0 + 2.0, 12.0 + 1.0]
        np.testing.assert_allclose(tangent(g), [6 - 1, -12 + 1])


def test_reverse_over_forward_differentiates_tangents():
    x = f64(1.0, 2.0, requires_grad=True)
    v = f64(1.0, -1.0, requires_grad=True)
    with fw.dual_level():
        jvp = fw.unpack_dual((fw.make_dual(x, v) ** 3).sum()).tangent
        assert jvp.item() == 3.0 - 12.0
    gx, gv = ag.autograd.grad(jvp, (x, v))
    assert gx.tolist() == [6.0, -12.0] and gv.tolist() == [3.0, 12.0]


def test_primal_keeps_its_place_in_the_graph():
    x = f64(2.0, requires_grad=True)
    with fw.dual_level():
        primal, _ = fw.unpack_dual(fw.make_dual(x * 1, f64(1.0)) ** 2)
    primal.sum().backward()
    assert x.grad.tolist() == [4.0]


def test_a_failure_in_a_rule_leaves_inputs_as_they_were():
    with fw.dual_level():
        d = dual([1.0, 2.0], [1.0, 1.0])
        with pytest.raises(RuntimeError):
            d + ag.ones(3)
        assert tangent(d) == [1.0, 1.0] and tangent(d * 2) == [2.0, 2.0]


def test_as_strided_of_a_tangent_with_other_strides():
    x = ag.arange(6.0).double()
    tangent = ag.randn(3, 2).double().t()
    expected = tangent.contiguous().as_strided((2, 2), (1, 2), 1)
    with fw.dual_level():
        dual = fw.make_dual(x.reshape(2, 3), tangent)
        tangent_of_window = fw.unpack_dual(dual.as_strided((2, 2), (1, 2), 1)).tangent
        assert ag.equal(tangent_of_window, expected)
    batch = ag.randn(6, 4).double()

    def one(t):
        with fw.dual_level():
            return fw.unpack_dual(fw.make_dual(x, t).as_strided((2, 2), (1, 2), 1)).tangent

    rows = ag.vmap(one, in_dims=1)(batch)
    for i in range(4):
        assert ag.equal(rows[i], batch[:, i].clone().as_strided((2, 2), (1, 2), 1))


# --- whose memory a tangent is ------------------------------------------------------------------

PASSED_ON = {
    "add": lambda x: x + ag.ones(3),
    "sub": lambda x: x - 1,
    "radd": lambda x: 2 + x,
    "clone": lambda x: x.clone(),
    "stretched": lambda x: x[:1] + ag.ones(3),
    "to": lambda x: x.to(ag.float64),
    "where": lambda x: ag.where(ag.tensor(True), x, ag.zeros(3)),
    "reshape of a copy": lambda x: x.expand(2, 3).t().reshape(-1)[:3],
}


@pytest.mark.parametrize("name", PASSED_ON)
@pytest.mark.parametrize("first", [True, False], ids=["argument", "result"])
def test_in_place_operations_change_no_other_tangents(name, first):
    with fw.dual_level():
        x = fw.make_dual(ag.ones(3), ag.tensor([1.0, 2.0, 3.0])) * 1
        y = PASSED_ON[name](x)
        changed, other = (x, y) if first else (y, x)
        before = tangent(other)
        expected = [2 * t for t in tangent(changed)]
        changed.mul_(2)
        assert tangent(other) == before
        assert tangent(changed) == expected


def test_detach_in_place_takes_the_tangent_away():
    with fw.dual_level():
        x = fw.make_dual(ag.ones(3), ag.ones(3)) * 2
        for mode in (ag.enable_grad, ag.no_grad):
            y = x * 1
            with mode():
                y.detach_()
            assert tangent(y) is None
        assert tangent(x) == [2.0] * 3


def test_a_constant_written_through_overlapping_windows_clears_the_tangent():
    with fw.dual_level():
        x = fw.make_dual(ag.ones(3), ag.ones(3)) * 1
        with ag.no_grad():
            x.unfold(0, 2, 1).fill_(5.0)
        assert x.tolist() == [5.0] * 3
        assert tangent(x) == [0.0] * 3
