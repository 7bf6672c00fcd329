"""Options of custom Functions: gradients in one list, saved tensors that are read once; marks."""

import weakref

import pytest

import autograd_cy as ag
from tests.scenarios import scenarios

SCENARIOS, scenario = scenarios()


def boxed(m, backward, materialize=True, only_first=False, option=True):
    """The gradient through a Function with two outputs, used as 3 a + b or as a alone."""

    class Boxed(m.autograd.Function):
        boxed_grads_call = option

        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 1, x * 2

    Boxed.backward = staticmethod(backward)
    x = m.tensor([1.0, 2.0], requires_grad=True)
    a, b = Boxed.apply(x)
    (a if only_first else a * 3 + b).sum().backward()
    return x.grad.tolist()


@scenario([[5.0, 5.0], [1.0, 1.0], [True, [1.0, 1.0]]])
def gradients_come_in_one_list(m):
    def add(ctx, grads):
        assert isinstance(grads, list) and len(grads) == 2
        first, second = grads
        grads.clear()
        return first + second * 2

    def first_only(ctx, grads):
        missing.append(grads[1] is None)
        return grads[0]

    missing = []
    found = [boxed(m, add), boxed(m, add, only_first=True)]
    last = boxed(m, first_only, materialize=False, only_first=True)
    return [*found, [missing[0], last]]


@scenario(["RuntimeError", "boxed_grads_call must be a bool, got int"])
def the_option_is_a_bool(m):
    with pytest.raises(RuntimeError) as caught:
        boxed(m, lambda ctx, grads: grads[0], option=1)
    return [caught.type.__name__, str(caught.value).partition(" (")[0]]


@scenario(True)
def an_emptied_list_gives_memory_back(m):
    seen = []

    class Boxed(m.autograd.Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grads):
            alive = weakref.ref(grads[0])
            made = grads[0] * 2
            grads.clear()
            seen.append(alive() is None)
            return made

    (Boxed.apply(m.ones(3, requires_grad=True)) * 2).sum().backward()
    return seen[0]


@scenario([5.0, 5.0])
def once_differentiable_takes_the_list(m):
    class Boxed(m.autograd.Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx, x):
            return x * 1, x * 2

        @staticmethod
        @m.autograd.function.once_differentiable
        def backward(ctx, grads):
            a, b = grads
            grads.clear()
            return a + 2 * b

    x = m.ones(2, requires_grad=True)
    a, b = Boxed.apply(x)
    (a * 3 + b).sum().backward()
    return x.grad.tolist()


def test_a_generated_vmap_rule_passes_the_list_on():
    class Boxed(ag.autograd.Function):
        boxed_grads_call = True
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * 1, x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grads):
            a, b = grads
            grads.clear()
            return a + 2 * b * ctx.saved_tensors[0]

    def f(x):
        a, b = Boxed.apply(x)
        return (a * 3 + b).sum()

    x = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert ag.vmap(ag.func.grad(f))(x).tolist() == (3 + 2 * x).tolist()


def reads(m, option, times=1, **how):
    class Square(m.autograd.Function):
        clear_saved_tensors_on_access = option

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            for _ in range(times):
                (x,) = ctx.saved_tensors
            return 2 * x * grad

    x = m.ones(3, requires_grad=True)
    y = Square.apply(x).sum()
    found = []
    for _ in range(2):
        try:
            y.backward(**how)
            found.append(x.grad.tolist())
        except RuntimeError as error:
            found.append(str(error).partition(" when")[0].partition(" a second")[0])
    return found


ONCE = "saved_tensors can only be accessed once"


@scenario(
    [
        [[2.0] * 3, ONCE],
        [[2.0] * 3, ONCE],
        [ONCE, ONCE],
        [[2.0] * 3, [4.0] * 3],
    ]
)
def saved_tensors_are_let_go_when_they_are_read(m):
    return [
        reads(m, True),
        reads(m, True, retain_graph=True),
        reads(m, True, times=2),
        reads(m, False, times=2, retain_graph=True),
    ]


@scenario([False, False, True, True, True, True])
def functions_have_options_and_the_methods_of_ctx(m):
    methods = (
        "mark_dirty",
        "mark_non_differentiable",
        "save_for_backward",
        "save_for_forward",
        "set_materialize_grads",
    )
    classes = (
        m.autograd.function.FunctionCtx,
        m.autograd.Function,
        m.autograd.function.InplaceFunction,
        m.autograd.function.NestedIOFunction,
    )
    return [
        m.autograd.Function.boxed_grads_call,
        m.autograd.Function.clear_saved_tensors_on_access,
        *(all(callable(getattr(cls, name)) for name in methods) for cls in classes),
    ]


@scenario("ctx.mark_dirty() received a tensor that was not an input")
def a_view_of_an_intermediate_is_not_marked_dirty(m):
    class Wrong(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            v = (x * 2).view(-1)
            ctx.mark_dirty(v)
            return v

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    with pytest.raises(RuntimeError) as caught:
        Wrong.apply(m.ones(2, requires_grad=True))
    return str(caught.value).partition(". ")[0]


@pytest.mark.parametrize("name", SCENARIOS)
def test_options(name):
    function, expected = SCENARIOS[name]
    assert function(ag) == expected


@pytest.mark.parametrize("name", SCENARIOS)
def test_options_are_those_of_torch(name):
    torch = pytest.importorskip("torch")
    function, expected = SCENARIOS[name]
    assert function(torch) == expected


@pytest.mark.parametrize("show", [lambda x: x, lambda x: x.view(2), lambda x: x[:1]])
@pytest.mark.parametrize("move", [lambda t: None, lambda t: t, lambda t: t * 1])
def test_the_tangent_of_a_view_is_a_view_of_the_tangent(show, move):
    class Shown(ag.autograd.Function):
        @staticmethod
        def forward(x):
            return show(x)

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        jvp = staticmethod(lambda ctx, tangent: move(tangent))

    with pytest.raises(RuntimeError, match="the jvp is not returning a view"):
        ag.func.jvp(Shown.apply, (ag.ones(2),), (ag.ones(2),))
