"""The memory of tangents: duals, views of duals, primals, in and outside of vmap."""

import pytest

import autograd_cy as ag
import autograd_cy.autograd.forward_ad as fw
from autograd_cy.func import jvp, vmap
from autograd_cy.profiler import profile


def tangent(t):
    found = fw.unpack_dual(t).tangent
    return None if found is None else found.tolist()


# --- the tangent of make_dual -------------------------------------------------------------------

SAME = {
    "plain": lambda m: (m.ones(3), m.arange(3.0)),
    "transposed alike": lambda m: (m.ones(2, 3).t(), m.arange(6.0).reshape(2, 3).t()),
    "windows alike": lambda m: (m.ones(7)[2:5], m.arange(7.0)[2:5]),
    "strides of one element": lambda m: (m.ones(1, 3), m.arange(3.0).reshape(3, 1).t()),
    "empty": lambda m: (m.ones(0, 3), m.ones(3, 0).t()),
}
OTHER = {
    "window of a larger storage": lambda m: (m.ones(7)[2:5], m.arange(3.0)),
    "tangent in a larger storage": lambda m: (m.ones(3), m.arange(7.0)[:3]),
    "at another offset": lambda m: (m.ones(7)[2:5], m.arange(7.0)[3:6]),
    "strided tangent": lambda m: (m.ones(3), m.arange(6.0)[::2]),
    "transposed": lambda m: (m.ones(2, 3).t(), m.arange(6.0).reshape(3, 2)),
    "stretched tangent": lambda m: (m.ones(2, 3), m.arange(3.0).expand(2, 3)),
    "real part": lambda m: (m.ones(3, dtype=m.complex64).real, m.arange(3.0)),
}


@pytest.mark.parametrize("name", SAME)
def test_a_tangent_that_lies_as_its_primal_is_taken_over(name):
    primal, given = SAME[name](ag)
    with fw.dual_level():
        assert fw.unpack_dual(fw.make_dual(primal, given)).tangent is given


@pytest.mark.parametrize("name", OTHER)
def test_a_tangent_that_lies_otherwise_is_copied_to_the_layout_of_the_primal(name):
    primal, given = OTHER[name](ag)
    before = given.tolist()
    with fw.dual_level():
        dual = fw.make_dual(primal, given)
        found = fw.unpack_dual(dual).tangent
        assert found.tolist() == before
        assert found.stride() == primal.stride()
        assert found.storage_offset() == primal.storage_offset()
        assert found.untyped_storage().nbytes() == primal.untyped_storage().nbytes()
        dual.mul_(2)
        assert given.tolist() == before
        assert ag.equal(found, 2 * given)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize("name", [*SAME, *OTHER])
def test_copies_of_tangents_are_as_in_torch(name):
    torch = pytest.importorskip("torch")
    make = {**SAME, **OTHER}[name]
    found = []
    for module in (ag, torch):
        forward_ad = module.autograd.forward_ad
        with forward_ad.dual_level():
            primal, given = make(module)
            t = forward_ad.unpack_dual(forward_ad.make_dual(primal, given)).tangent
            found.append((t is given, t.tolist(), t.stride(), t.untyped_storage().nbytes()))
    assert found[0] == found[1]


def test_the_tangent_of_an_expanded_primal_keeps_its_values():
    with fw.dual_level():
        dual = fw.make_dual(ag.ones(1).expand(3), ag.arange(3.0))
        assert tangent(dual) == [0.0, 1.0, 2.0]
        assert tangent(dual[1:] * 2) == [2.0, 4.0]
        assert tangent(dual.unfold(0, 2, 1)) == [[0.0, 1.0], [1.0, 2.0]]


def test_a_copied_tangent_keeps_its_graph_and_its_own_tangents():
    v = ag.arange(3.0, requires_grad=True)
    with fw.dual_level():
        dual = fw.make_dual(ag.ones(7)[2:5], v)
        (g,) = ag.autograd.grad(fw.unpack_dual(dual * dual).tangent.sum(), v)
    assert g.tolist() == [2.0, 2.0, 2.0]

    def gradient(v):
        return jvp(lambda x: x * x, (ag.full((7,), 3.0)[2:5],), (v,))[1]

    assert jvp(gradient, (ag.ones(3),), (ag.arange(3.0),))[1].tolist() == [0.0, 6.0, 12.0]


# --- views of duals -----------------------------------------------------------------------------

CHANGES = {
    "dual": lambda d, v, s: d.mul_(s),
    "view": lambda d, v, s: v.mul_(s),
    "copy": lambda d, v, s: d.copy_(d * s),
    "index": lambda d, v, s: d.__setitem__(slice(1, None), d[1:] * s),
    "fill of a view": lambda d, v, s: v.fill_(s),
}
VIEWS = {
    "slice": lambda d: d[:2],
    "reversed twice": lambda d: d[1:][:1],
    "alias": lambda d: d.view(3),
    "as_strided": lambda d: d.as_strided((2,), (2,), 0),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("primal_batched", [True, False])
@pytest.mark.parametrize("tangent_batched", [True, False])
def test_views_and_duals_follow_each_other_under_vmap(
    view, change, primal_batched, tangent_batched
):
    primals = ag.arange(6.0).reshape(2, 3) + 1
    moves = ag.arange(6.0).reshape(2, 3) - 2
    scales, turns = ag.tensor([2.0, 3.0]), ag.tensor([5.0, 7.0])

    def once(primal, move, scale, turn):
        def function(x, s):
            d = x.clone() if not primal_batched and not tangent_batched else x
            v = VIEWS[view](d)
            CHANGES[change](d, v, s)
            return d * 1, v * 1

        return jvp(function, (primal, scale), (move, turn))

    # What has no examples can't be written to by what has.
    primals = primals if primal_batched else primals[:1].expand(2, 3)
    moves = moves if tangent_batched else moves[:1].expand(2, 3)
    dims = (0 if primal_batched else None, 0 if tangent_batched else None)
    dims += (0 if primal_batched else None, 0)
    scales = scales if primal_batched else scales[:1].expand(2)
    given = [
        t if dim == 0 else t[0].clone() for t, dim in zip((primals, moves, scales, turns), dims)
    ]
    given[0] = given[0].clone()
    given[1] = given[1].clone()
    found = vmap(once, in_dims=dims)(*given)
    for i in range(2):
        expected = once(primals[i].clone(), moves[i].clone(), scales[i], turns[i])
        for got, want in zip(found, expected):
            for g, w in zip(got, want):
                row = g[i] if g.ndim > w.ndim else g
                assert ag.allclose(row, w), (i, row, w)


def test_a_view_that_was_used_before_follows_the_replaced_tangent_of_its_base():
    def one(s):
        with fw.dual_level():
            base = fw.make_dual(ag.ones(3), ag.ones(3)) * 1
            view = base[1:]
            assert ag.equal(fw.unpack_dual(view).tangent, ag.ones(2))
            base.add_(fw.make_dual(ag.zeros(3), s))
            return fw.unpack_dual(view).tangent, fw.unpack_dual(view * 2).tangent

    after, used = vmap(one)(ag.arange(6.0).reshape(2, 3))
    assert after.tolist() == [[2.0, 3.0], [5.0, 6.0]]
    assert used.tolist() == [[4.0, 6.0], [10.0, 12.0]]


@pytest.mark.parametrize("has_tangent", [True, False])
def test_an_unpacked_primal_and_its_views_have_tangents_of_their_own(has_tangent):
    with fw.dual_level():
        x = ag.ones(3)
        t = fw.make_dual(x, ag.ones(3)) if has_tangent else x
        kept = [1.0] * 3 if has_tangent else None
        primal = fw.unpack_dual(t).primal
        view = primal[:2]
        primal.add_(fw.make_dual(ag.ones(3), ag.arange(3.0)))
        assert tangent(view) == [0.0, 1.0] and tangent(primal) == [0.0, 1.0, 2.0]
        assert tangent(t) == kept
        primal = fw.unpack_dual(t).primal
        primal[1:].add_(fw.make_dual(ag.ones(2), ag.tensor([5.0, 6.0])))
        assert tangent(primal) == [0.0, 5.0, 6.0] and tangent(t) == kept
    assert x.tolist() == [2.0, 3.0, 3.0]


def test_a_dual_and_its_view_still_work_in_a_later_level():
    x = ag.ones(3)
    with fw.dual_level():
        dual = fw.make_dual(x, ag.ones(3))
        view = dual[:2]
        assert tangent(view) == [1.0, 1.0]
    with fw.dual_level():
        assert tangent(dual) is None and tangent(view) is None
        view.mul_(fw.make_dual(ag.ones(2), ag.arange(2.0)))
        assert tangent(view) == [0.0, 1.0] and tangent(dual) == [0.0, 1.0, 0.0]


def test_a_dual_that_is_transposed_in_place_keeps_its_views():
    with fw.dual_level():
        dual = fw.make_dual(ag.ones(2, 3), ag.arange(6.0).reshape(2, 3).clone())
        row = dual[1]
        dual.t_()
        dual.mul_(2)
        assert tangent(dual) == [[0.0, 6.0], [2.0, 8.0], [4.0, 10.0]]
        assert tangent(row) == [6.0, 8.0, 10.0]
        row.zero_()
        assert tangent(dual) == [[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]


def test_views_made_by_a_function_move_with_their_views():
    class Front(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:2]

        @staticmethod
        def jvp(ctx, t):
            return t[:2]

    with fw.dual_level():
        dual = fw.make_dual(ag.ones(3), ag.arange(3.0))
        front = Front.apply(dual)
        last = front[1:]
        front.mul_(3)
        assert tangent(last) == [3.0] and tangent(dual) == [0.0, 3.0, 2.0]


# --- the place of a dual in the graph -----------------------------------------------------------


def test_tangents_of_any_output_of_a_node_are_differentiable():
    x = ag.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    with fw.dual_level():
        rows = fw.make_dual(x, ag.ones(3, 2)).unbind()
        for i, row in enumerate(rows):
            tangent = fw.unpack_dual(row * row).tangent  # 2 x
            (g,) = ag.autograd.grad(tangent.sum(), x, retain_graph=True)
            assert g.tolist() == [[2.0, 2.0] if k == i else [0.0, 0.0] for k in range(3)]
            (g,) = ag.autograd.grad(fw.unpack_dual(row).primal.sum(), x, retain_graph=True)
            assert g.tolist() == [[1.0, 1.0] if k == i else [0.0, 0.0] for k in range(3)]


def _clones(function):
    """Count the copies of a call that no operator asked for."""
    function()
    with profile() as seen:
        function()
    return sum(event.name == "aten::clone" for event in seen.events())


def test_tangents_of_many_examples_are_not_copied():
    """Each is held by its wrapper and the tensor below it, and by nobody else."""
    x = ag.tensor([0.3, 0.7])
    assert _clones(lambda: ag.func.jacfwd(lambda x: x.sin().exp())(x)) == 0
    assert _clones(lambda: ag.func.hessian(lambda x: (x[0] * x[1].sin()).exp())(x)) <= 1
    # This one is that of x itself.
    assert _clones(lambda: ag.func.jacfwd(lambda x: x + 1)(x)) == 1


def test_a_tangent_of_many_examples_that_is_shared_is_copied():
    def changed(x):
        y = x + 1
        y.mul_(3)
        return x * 1, y

    one, three = ag.func.jacfwd(changed)(ag.tensor([1.0, 2.0]))
    assert one.tolist() == [[1, 0], [0, 1]]
    assert three.tolist() == [[3, 0], [0, 3]]


def test_what_has_a_tangent_is_not_resized():
    with fw.dual_level():
        x = fw.make_dual(ag.ones(3), ag.full((3,), 2.0))
        for change in (
            lambda: x.resize_(5),
            lambda: x.resize_(3),
            lambda: x.resize_as_(ag.ones(2)),
        ):
            with pytest.raises(
                RuntimeError, match="cannot resize variables that has a forward grad"
            ):
                change()
        primal, direction = fw.unpack_dual(x)
        assert primal.tolist() == [1.0] * 3 and direction.tolist() == [2.0] * 3
    assert x.resize_(2).shape == (2,)


def test_a_mask_of_attention_takes_the_tangent_of_its_base():
    query, key, value = (
        ag.sin(ag.arange(float(n * 3)) * s).reshape(1, 1, n, 3)
        for n, s in ((4, 0.3), (5, 0.5), (5, 0.7))
    )
    base = ag.zeros(4, 5)
    seen = base[:]
    with fw.dual_level():
        base.copy_(fw.make_dual(ag.ones(4, 5), ag.cos(ag.arange(20.0)).reshape(4, 5)))
        found, wanted = (
            fw.unpack_dual(
                ag.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
            ).tangent
            for mask in (seen, base)
        )
    assert found.any() and ag.equal(found, wanted)
