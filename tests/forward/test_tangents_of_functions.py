"""The values that the jvp of a custom Function may return, and must."""

import warnings

import pytest

import autograd_cy as ag
import autograd_cy.autograd.forward_ad as fw

NOT_A_VIEW = (
    "forward is returning a view \\(or an input as-is\\) but the jvp is not returning a view"
)
OTHER_VIEW = "returning a view but the jvp is not returning a view of the given grad input"
OTHER_BASE = "jvp is not returning a view of the same base as the given grad input"
NONE = "You should return None at that position instead"
SAME_PLACE = "jvp function must modify the corresponding gradient inplace"
AS_IS = "must modify the gradient inplace and return it as-is"
NUMBER = "invalid number of forward gradients \\(expected {} but got {}\\)"
SIZE = "Trying to set a forward gradient that has a different size than that of the original Tensor"
TYPE = "expected Variable or None \\(got {}\\) for grad output {}"


def as_is(ctx, x):
    return x


def front(ctx, x):
    return x[:2]


def twice(ctx, x):
    return x * 2


def pair(ctx, x):
    return x * 2, x * 3


def marked(ctx, x):
    y = x * 2
    ctx.mark_non_differentiable(y)
    return y, x * 3


def integer(ctx, x):
    return (x * 2).long(), x * 3


def with_number(ctx, x):
    return x * 2, 3


def in_place(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def in_place_and_more(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2), x * 3


def the_dual(d):
    return d


def computed(d):
    return d * 1


def a_view(d):
    return (d * 1).view(3)


def view_of_the_dual(d):
    return d.view(3)


# forward, input made of the dual, jvp as function of (library, tangent), expected error or tangents
CASES = {
    "as is: view": (as_is, the_dual, lambda m, t: t.view_as(t), [[1.0, 2.0, 3.0]]),
    "as is: tangent": (as_is, the_dual, lambda m, t: t, NOT_A_VIEW),
    "as is: new": (as_is, the_dual, lambda m, t: t * 2, NOT_A_VIEW),
    "as is: other view": (as_is, the_dual, lambda m, t: m.ones(5)[:3], OTHER_VIEW),
    "as is: view of a copy": (as_is, computed, lambda m, t: t.clone().view_as(t), OTHER_VIEW),
    "view as is: tangent": (as_is, a_view, lambda m, t: t, [[1.0, 2.0, 3.0]]),
    "view as is: other view": (as_is, a_view, lambda m, t: m.ones(5)[:3], OTHER_BASE),
    "view: view": (front, the_dual, lambda m, t: t[:2], [[1.0, 2.0]]),
    "view: new": (front, the_dual, lambda m, t: t[:2] * 1, NOT_A_VIEW),
    "view: other view": (front, the_dual, lambda m, t: m.ones(5)[:2], OTHER_VIEW),
    "view of computed: other view": (front, computed, lambda m, t: m.ones(5)[:2], OTHER_VIEW),
    "view of a view: view": (front, a_view, lambda m, t: t[:2], [[1.0, 2.0]]),
    "view of a view: other view": (front, a_view, lambda m, t: m.ones(5)[:2], OTHER_BASE),
    "view of a dual's: other": (front, view_of_the_dual, lambda m, t: m.ones(5)[:2], OTHER_BASE),
    "view of a view: new": (front, a_view, lambda m, t: m.ones(2), NOT_A_VIEW),
    "marked: tangent": (marked, the_dual, lambda m, t: (t * 2, t * 3), NONE),
    "marked: None": (marked, the_dual, lambda m, t: (None, t * 3), [None, [3.0, 6.0, 9.0]]),
    "integer: tangent": (integer, the_dual, lambda m, t: (t * 2, t * 3), NONE),
    "integer: integer": (integer, the_dual, lambda m, t: ((t * 2).long(), t * 3), NONE),
    "integer: None": (integer, the_dual, lambda m, t: (None, t * 3), [None, [3.0, 6.0, 9.0]]),
    "number: tangent": (with_number, the_dual, lambda m, t: (t * 2, t), [[2.0, 4.0, 6.0], 3]),
    "number: None": (with_number, the_dual, lambda m, t: (t * 2, None), [[2.0, 4.0, 6.0], 3]),
    "number: text": (with_number, the_dual, lambda m, t: (t * 2, "t"), TYPE.format("str", 1)),
    "changed: changed": (in_place, computed, lambda m, t: t.mul_(2), [[2.0, 4.0, 6.0]]),
    "changed: unchanged": (in_place, computed, lambda m, t: t, SAME_PLACE),
    "changed: new": (in_place, computed, lambda m, t: t * 2, SAME_PLACE),
    "changed: None": (in_place, computed, lambda m, t: None, SAME_PLACE),
    "changed: view": (in_place, computed, lambda m, t: t.mul_(2).view(3), AS_IS),
    "changed: changed and new": (in_place, computed, lambda m, t: t.mul_(2) * 1, SAME_PLACE),
    "changed dual: changed": (in_place, the_dual, lambda m, t: t.mul_(2), [[2.0, 4.0, 6.0]]),
    "changed dual: unchanged": (in_place, the_dual, lambda m, t: t, SAME_PLACE),
    "changed view: changed": (in_place, a_view, lambda m, t: t.mul_(2), [[2.0, 4.0, 6.0]]),
    "changed view: unchanged": (in_place, a_view, lambda m, t: t, SAME_PLACE),
    "changed and more": (
        in_place_and_more,
        computed,
        lambda m, t: (t.mul_(2), t * 3),
        [[2.0, 4.0, 6.0], [6.0, 12.0, 18.0]],
    ),
    "one too few": (pair, the_dual, lambda m, t: t * 2, NUMBER.format(2, 1)),
    "one of two in a tuple": (pair, the_dual, lambda m, t: (t * 2,), NUMBER.format(2, 1)),
    "None for two": (pair, the_dual, lambda m, t: None, NUMBER.format(2, 1)),
    "one too many": (twice, the_dual, lambda m, t: (t * 2, t * 3), NUMBER.format(1, 2)),
    "one None too many": (twice, the_dual, lambda m, t: (t * 2, None), NUMBER.format(1, 2)),
    "number, too few": (with_number, the_dual, lambda m, t: t * 2, NUMBER.format(2, 1)),
    "size": (twice, the_dual, lambda m, t: t[:2], SIZE),
    "size without dimensions": (twice, the_dual, lambda m, t: t.sum(), SIZE),
    "number for a tensor": (twice, the_dual, lambda m, t: 3, TYPE.format("int", 0)),
    "list": (pair, the_dual, lambda m, t: [t * 2, t * 3], TYPE.format("list", 0)),
    "other dtype": (twice, the_dual, lambda m, t: (t * 2).double(), [[2.0, 4.0, 6.0]]),
    "twice the same": (
        pair,
        the_dual,
        lambda m, t: (lambda q: (q, q))(t * 2),
        [[2.0, 4.0, 6.0], [2.0, 4.0, 6.0]],
    ),
}


def run(m, name):
    """The tangents of the outputs (other things as they are)."""
    forward, prepare, jvp, _ = CASES[name]
    function = type(
        "Made",
        (m.autograd.Function,),
        {"forward": staticmethod(forward), "jvp": staticmethod(lambda ctx, t: jvp(m, t))},
    )
    forward_ad = m.autograd.forward_ad
    with forward_ad.dual_level():
        x = prepare(forward_ad.make_dual(m.ones(3), m.tensor([1.0, 2.0, 3.0])))
        made = function.apply(x)
        found = []
        for out in made if isinstance(made, tuple) else (made,):
            if isinstance(out, m.Tensor):
                out = forward_ad.unpack_dual(out).tangent
                out = None if out is None else out.tolist()
            found.append(out)
        return found


@pytest.mark.parametrize("name", CASES)
def test_what_jvp_returns_is_checked(name):
    expected = CASES[name][-1]
    if isinstance(expected, str):
        with pytest.raises(RuntimeError, match=expected):
            run(ag, name)
    else:
        assert run(ag, name) == expected


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", CASES)
def test_what_jvp_returns_is_checked_as_in_torch(name):
    torch = pytest.importorskip("torch")
    outcomes = []
    for m in (torch, ag):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                outcomes.append((run(m, name), ""))
            except RuntimeError as error:
                outcomes.append((type(error), str(error)))
    (wanted, text), (found, message) = outcomes
    assert found == wanted
    assert message.startswith(text)


def test_an_undefined_tangent_of_a_changed_input_may_stay_so():
    class Scaled(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            ctx.mark_dirty(x)
            ctx.y = y
            return x.mul_(2), y * 1

        @staticmethod
        def jvp(ctx, tangent_x, tangent_y):
            return tangent_x, tangent_y

    with fw.dual_level():
        x = ag.ones(2)
        changed, other = Scaled.apply(x, fw.make_dual(ag.ones(2), ag.ones(2)))
        assert changed is x
        assert fw.unpack_dual(changed).tangent is None
        assert fw.unpack_dual(other).tangent.tolist() == [1.0, 1.0]


def test_views_by_functions_move_under_vmap():
    class Front(ag.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x[:2]

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def jvp(ctx, t):
            return t[:2]

    class Same(Front):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def jvp(ctx, t):
            return t.view_as(t)

    x, t = ag.arange(6.0).reshape(2, 3), ag.arange(6.0).reshape(2, 3) + 1
    for function, expected in ((Front, t[:, :2]), (Same, t)):
        _, found = ag.vmap(lambda x, t, f=function: ag.func.jvp(f.apply, (x,), (t,)))(x, t)
        assert ag.equal(found, expected)
        _, found = ag.func.jvp(lambda x, f=function: ag.vmap(f.apply)(x), (x,), (t,))
        assert ag.equal(found, expected)
        _, found = ag.vmap(lambda x, f=function: ag.func.jvp(f.apply, (x,), (t[0],)))(x)
        assert ag.equal(found, expected[:1].expand_as(expected))
