"""Leaves whose gradients have a dtype of their own: `Tensor.grad_dtype`."""

import pytest

import autograd_cy as ag
from tests.scenarios import scenarios

SCENARIOS, scenario = scenarios()


def name(dtype):
    return None if dtype is None else str(dtype).partition(".")[2]


def leaf(m, dtype="unset"):
    x = m.ones(2, requires_grad=True)
    if dtype != "unset":
        x.grad_dtype = dtype and getattr(m, dtype)
    return x


def in_double(m):
    """A Function whose backward gives float64, whatever its input."""

    class Cast(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.to(m.float64)

        @staticmethod
        def backward(ctx, grad):
            return grad

    return Cast.apply


CHOICES = ("unset", None, "float32", "float64", "float16")


@scenario(["float32", "int64", "float64", None, "float64"])
def the_choice_is_told(m):
    x = leaf(m)
    found = [name(x.grad_dtype), name(m.ones(2, dtype=m.int64).grad_dtype)]
    x.grad_dtype = m.float64
    found.append(name(x.grad_dtype))
    x.grad_dtype = None
    y = m.ones(2)
    y.grad_dtype = m.float64
    return [*found, x.grad_dtype, name(y.requires_grad_().grad_dtype)]


@scenario([("float32", [2.0, 2.0])] * 3 + [("float64", [2.0, 2.0]), ("float16", [2.0, 2.0])])
def gradients_are_kept_in_it(m):
    found = []
    for choice in CHOICES:
        x = leaf(m, choice)
        (x * 2).sum().backward()
        found.append((name(x.grad.dtype), x.grad.tolist()))
    return found


@scenario(["float32", "float64", "float32", "float64", "float16"])
def hooks_see_gradients_in_it(m):
    found = []
    for choice in CHOICES:
        x, seen = leaf(m, choice), []
        x.register_hook(lambda g, seen=seen: seen.append(name(g.dtype)))
        x.register_post_accumulate_grad_hook(lambda p, seen=seen: seen.append(name(p.grad.dtype)))
        (in_double(m)(x) * 2).sum().backward()
        assert len(set(seen)) == 1, seen
        found += seen[:1]
    return found


@scenario([["float32", "float64", "float32", "float64", "float16"]] * 2)
def grad_gives_it(m):
    cast = in_double(m)
    return [
        [
            name(m.autograd.grad((cast(x) * 2).sum(), x, create_graph=graph)[0].dtype)
            for x in (leaf(m, choice) for choice in CHOICES)
        ]
        for graph in (False, True)
    ]


@scenario([("float64", [4.0, 4.0]), ("float64", [4.0, 4.0]), ("float32", [4.0, 4.0])])
def gradients_add_up_in_the_dtype_of_the_first(m):
    cast, found = in_double(m), []
    for choice, paths in (("float64", (1, 1)), (None, (cast, 1)), (None, (1, cast))):
        x = leaf(m, choice)
        for path in paths:
            ((x if path == 1 else path(x)) * 2).sum().backward()
        found.append((name(x.grad.dtype), x.grad.tolist()))
    return found


@scenario("float64")
def the_choice_may_come_after_the_graph(m):
    x = leaf(m)
    y = (x * 2).sum()
    x.grad_dtype = m.float64
    y.backward()
    return name(x.grad.dtype)


@scenario(["float64", "float16", "RuntimeError"])
def assigned_gradients_have_it(m):
    found = []
    for choice, dtype in (("float64", "float64"), (None, "float16"), ("float64", "float32")):
        x = leaf(m, choice)
        grad = m.ones(2, dtype=getattr(m, dtype))
        if choice and choice != dtype:
            with pytest.raises(RuntimeError, match="with grad_dtype"):
                x.grad = grad
            found.append("RuntimeError")
        else:
            x.grad = grad
            found.append(name(x.grad.dtype))
    return found


@scenario(
    [
        "grad_dtype can only be accessed on leaf tensors.",
        "grad_dtype can only be set on leaf tensors.",
        "grad_dtype must be a torch.dtype or None, but got int",
        "Cannot set grad_dtype to",
    ]
)
def refusals(m):
    def with_gradient():
        x = leaf(m)
        x.grad = m.ones(2)
        x.grad_dtype = m.float64

    found = []
    for call in (
        lambda: (leaf(m) * 2).grad_dtype,
        lambda: setattr(leaf(m) * 2, "grad_dtype", m.float64),
        lambda: setattr(leaf(m), "grad_dtype", 3),
        with_gradient,
    ):
        with pytest.raises(RuntimeError) as caught:
            call()
        found.append(str(caught.value).partition(" '")[0])
    return found


@scenario(["float32", "float32", "float64"])
def copies_choose_anew(m):
    x = leaf(m, "float64")
    p = m.nn.Linear(1, 1)
    p.weight.grad_dtype = m.float64
    p.half()
    return [name(x.detach().grad_dtype), name(x.data.grad_dtype), name(p.weight.grad_dtype)]


@scenario(["float32", True, "float32", [[[[0.0, 0.0]]]]])
def formulas_see_the_dtype_of_a_leaf_that_takes_any(m):
    x = m.ones(1, 1, 1, 2, requires_grad=True)
    x.grad_dtype = None
    y = m.nn.functional.avg_pool2d(x, (1, 2))
    found = [name(y.grad_fn.next_functions[0][0]._input_metadata[0].dtype)]
    (first,) = m.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = m.autograd.grad(first.sum(), x)
    return [*found, first.requires_grad, name(second.dtype), second.tolist()]


@scenario([(1, 2), (3, 1), (1, 2), (3, 1), (1, 2), (3, 1), (1, 2)])
def the_layout_policy_can_be_switched_off(m):
    policy = m.autograd.enforce_grad_layout_policy

    def strides():
        x = m.ones(3, 2).t().requires_grad_()
        (x * m.ones(2, 3)).sum().backward()
        return x.grad.stride()

    found = [strides()]
    with policy(False):
        found.append(strides())
        with policy(True):
            found.append(strides())
        found.append(strides())
    found.append(strides())
    policy(False)
    try:
        found.append(strides())
    finally:
        policy(True)
    return [*found, strides()]


@pytest.mark.filterwarnings("ignore:The .grad attribute")
@pytest.mark.parametrize("case", SCENARIOS)
def test_grad_dtype(case):
    function, expected = SCENARIOS[case]
    assert function(ag) == expected


@pytest.mark.filterwarnings("ignore:The .grad attribute")
@pytest.mark.parametrize("case", SCENARIOS)
def test_grad_dtype_is_that_of_torch(case):
    torch = pytest.importorskip("torch")
    function, expected = SCENARIOS[case]
    assert function(torch) == expected


def test_integers_are_refused_at_once():
    with pytest.raises(RuntimeError, match="floating point or complex"):
        leaf(ag).grad_dtype = ag.int64


def test_the_private_name_of_grad_is_the_gradient():
    p = ag.nn.Parameter(ag.ones(2))
    p._grad = ag.ones(2)
    assert p.grad.tolist() == [1.0, 1.0] and "_grad" not in vars(p)
    with pytest.raises(RuntimeError, match="of size"):
        p._grad = ag.ones(3)
    p._grad = None
    assert p.grad is None


METHODS = "SGD Adam AdamW RMSprop Adagrad Adadelta Adamax NAdam RAdam ASGD Rprop".split()


@pytest.mark.parametrize("options", [{}, {"foreach": False}])
@pytest.mark.parametrize("method", METHODS)
def test_optimizers_step_right_or_refuse(method, options):
    """With a gradient of another dtype a step is that of the gradient cast, or nothing changes."""
    make = getattr(ag.optim, method)
    plain, other = ag.nn.Parameter(ag.ones(5)), ag.nn.Parameter(ag.ones(5))
    other.grad_dtype = ag.float64
    steps = [make([p], lr=0.1, **options) for p in (plain, other)]
    for p in (plain, other):
        (p * p).sum().backward()
    steps[0].step()
    refusal = ""
    try:
        steps[1].step()
    except RuntimeError as error:
        refusal = str(error)
    if refusal:
        assert "must agree" in refusal and other.detach().tolist() == [1.0] * 5
    else:
        ag.testing.assert_close(other.detach(), plain.detach())
