"""utils.checkpoint: recomputation in backward, by slots in the graph and by a node that runs it."""

import gc
import warnings
import weakref

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    noop_context_fn,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

BOTH = pytest.mark.parametrize("reentrant", [False, True])


def leaf(values=(0.3, -0.7)):
    return torch.tensor(list(values), dtype=torch.float64, requires_grad=True)


def curved(x):
    return (x.sin() * x).exp() + x**3


class Counted:
    """A function that knows how often it ran."""

    def __init__(self, function):
        self.function = function
        self.runs = 0

    def __call__(self, *args, **kwargs):
        self.runs += 1
        return self.function(*args, **kwargs)


@BOTH
def test_gradients_are_those_without_a_checkpoint(reentrant):
    x, plain = leaf(), leaf()
    f = Counted(curved)
    y = checkpoint(f, x * 2, use_reentrant=reentrant)
    assert f.runs == 1
    y.sum().backward()
    assert f.runs == 2
    curved(plain * 2).sum().backward()
    assert x.grad.tolist() == plain.grad.tolist()


@BOTH
def test_a_graph_that_is_kept_is_recomputed_in_every_backward(reentrant):
    x = leaf()
    f = Counted(curved)
    y = checkpoint(f, x, use_reentrant=reentrant).sum()
    y.backward(retain_graph=True)
    once = x.grad.clone()
    y.backward()
    assert f.runs == 3
    assert x.grad.tolist() == (2 * once).tolist()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


@BOTH
def test_thousands_of_checkpoints_in_one_graph(reentrant):
    x = leaf()
    y = x
    for _ in range(2000):
        y = checkpoint(lambda t: t * 1.0001, y, use_reentrant=reentrant)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([1.0001**2000] * 2)


@BOTH
def test_dropout_is_the_same_again(reentrant):
    x = torch.ones(64, requires_grad=True)
    torch.manual_seed(0)
    y = checkpoint(lambda t: torch.dropout(t, 0.5, True), x, use_reentrant=reentrant)
    after = torch.rand(1)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    torch.manual_seed(0)
    torch.dropout(torch.ones(64), 0.5, True)
    assert torch.rand(1).item() == after.item()  # recomputation drew from a state of its own


@BOTH
def test_recomputation_leaves_the_state_of_random_numbers_alone(reentrant):
    x = torch.ones(64, requires_grad=True)
    y = checkpoint(lambda t: torch.dropout(t, 0.5, True), x, use_reentrant=reentrant)
    torch.rand(5)
    before = torch.get_rng_state().tolist()
    y.sum().backward()
    assert torch.get_rng_state().tolist() == before


@BOTH
def test_segments_draw_the_same_again_unless_told_otherwise(reentrant):
    layers = torch.nn.Sequential(*(torch.nn.Dropout(0.5) for _ in range(4)))
    for options, same in (({}, True), ({"preserve_rng_state": False}, False)):
        x = torch.ones(64, requires_grad=True)
        y = checkpoint_sequential(layers, 2, x, use_reentrant=reentrant, **options)
        y.sum().backward()
        assert (x.grad.tolist() == y.tolist()) is same


def test_random_numbers_are_new_without_preserve_rng_state():
    x = torch.ones(64, requires_grad=True)
    y = checkpoint(
        lambda t: torch.dropout(t, 0.5, True), x, use_reentrant=False, preserve_rng_state=False
    )
    y.sum().backward()
    assert x.grad.tolist() != y.tolist()


def test_a_missing_choice_of_use_reentrant_is_warned_of():
    x = leaf()
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        y = checkpoint(curved, x)
    assert y.grad_fn.name() == "CheckpointFunctionBackward"
    with pytest.warns(UserWarning, match="checkpoint_sequential: the use_reentrant parameter"):
        checkpoint_sequential([torch.sin, torch.cos], 2, x)


# --- with a node that runs the function -----------------------------------------------------------


def test_a_reentrant_checkpoint_refuses_a_choice_of_inputs():
    x = leaf()
    y = checkpoint(curved, x, use_reentrant=True).sum()
    for ask in (lambda: torch.autograd.grad(y, x), lambda: y.backward(inputs=(x,))):
        with pytest.raises(RuntimeError, match="use_reentrant=True, torch.utils.checkpoint is inc"):
            ask()
    z = (x * 2).sum()
    z.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_what_a_reentrant_checkpoint_refuses():
    x = leaf()
    with pytest.raises(ValueError, match="Unexpected keyword arguments: foo"):
        checkpoint(curved, x, use_reentrant=True, foo=1)
    for options in ({"debug": True}, {"context_fn": lambda: noop_context_fn()}):
        with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
            checkpoint(curved, x, use_reentrant=True, **options)
    y = checkpoint(lambda t: t.detach(), x, use_reentrant=True).sum()
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        y.backward()
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(curved, torch.ones(2), use_reentrant=True)


# --- with slots for saved tensors -----------------------------------------------------------------


def test_any_arguments_and_results_and_inputs_that_need_no_gradient():
    weight = leaf()

    def call(x, scale, *, shift, act):
        return {"out": act(x * weight) * scale + shift["by"]}

    x = torch.ones(2, dtype=torch.float64)
    found = checkpoint(
        call, x, 3.0, use_reentrant=False, shift={"by": 1.0}, act=torch.tanh
    )  # fmt: skip
    (grad,) = torch.autograd.grad(found["out"].sum(), weight)
    expected = call(x, 3.0, shift={"by": 1.0}, act=torch.tanh)["out"].sum()
    assert grad.tolist() == torch.autograd.grad(expected, weight)[0].tolist()
    with torch.no_grad():
        f = Counted(curved)
        assert not checkpoint(f, weight, use_reentrant=False).requires_grad


def test_inner_blocks_without_recording():
    def partly(t):
        with torch.no_grad():
            scale = t.exp()
        return (t * scale).sin()

    x, plain = leaf(), leaf()
    checkpoint(partly, x, use_reentrant=False).sum().backward()
    partly(plain).sum().backward()
    assert x.grad.tolist() == plain.grad.tolist()


def test_hooks_of_the_recorded_graph_run_once():
    x, calls = leaf(), []
    x.register_hook(lambda g: calls.append("leaf"))

    def hooked(t):
        y = t.sin()
        y.register_hook(lambda g: calls.append("inside"))
        return y.exp()

    y = checkpoint(hooked, x, use_reentrant=False)
    y.grad_fn.register_hook(lambda *_: calls.append("node"))
    y.sum().backward()
    assert sorted(calls) == ["inside", "leaf", "node"]


def test_looking_at_a_saved_tensor_recomputes_each_time():
    x = leaf()
    f = Counted(lambda t: t.sin().exp())
    y = checkpoint(f, x, use_reentrant=False)
    for runs in (2, 3):
        assert y.grad_fn._saved_result.tolist() == y.tolist()
        assert f.runs == runs
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        y.grad_fn._saved_result


def test_a_tensor_from_outside_is_unpacked_as_itself():
    scale = torch.ones(2, dtype=torch.float64)
    y = checkpoint(lambda t: t * scale, leaf(), use_reentrant=False)
    assert y.grad_fn._saved_other is scale


@pytest.mark.parametrize("early", [True, False])
def test_early_stop_ends_the_recomputation(early):
    reached = []

    def call(t):
        y = t.sin()
        reached.append("saved")
        z = y + 1
        reached.append("end")
        return z

    with set_checkpoint_early_stop(early):
        y = checkpoint(call, leaf(), use_reentrant=False)
    reached.clear()
    y.sum().backward()
    assert reached == ([] if early else ["saved", "end"])


def test_early_stop_can_be_an_argument():
    f = Counted(lambda t: (t.sin(), reached.append(1))[0])
    reached: list = []
    y = checkpoint(f, leaf(), use_reentrant=False, early_stop=False)
    y.sum().backward()
    assert len(reached) == 2


def changing(first, then):
    """A function that is another one at its second run."""
    runs = []

    def call(x):
        runs.append(x)
        return first(x) if len(runs) == 1 else then(x)

    return call


DIFFERENT = {
    "shape": (lambda x: x[:1].sin().exp(), "have different metadata"),
    "dtype": (lambda x: x.float().sin().exp(), "have different metadata"),
    "fewer": (lambda x: x.sin(), "A different number of tensors was saved"),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_another_recomputation_is_an_error(what):
    then, text = DIFFERENT[what]
    y = checkpoint(changing(lambda x: x.sin().exp(), then), leaf(), use_reentrant=False)
    with pytest.raises(CheckpointError, match=text):
        y.sum().backward()
    assert issubclass(CheckpointError, RuntimeError)


def test_more_tensors_are_an_error_only_if_the_function_runs_to_its_end():
    function = lambda: changing(torch.sin, lambda x: x.sin().exp())  # noqa: E731
    checkpoint(function(), leaf(), use_reentrant=False).sum().backward()
    y = checkpoint(function(), leaf(), use_reentrant=False, early_stop=False)
    with pytest.raises(CheckpointError, match="trying to save more tensors during recomputation"):
        y.sum().backward()


def test_the_check_can_be_left_out():
    other = changing(lambda x: x.sin(), lambda x: x.float().sin())
    x = leaf()
    checkpoint(other, x, use_reentrant=False, determinism_check="none").sum().backward()
    assert x.grad is not None
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        checkpoint(curved, x, use_reentrant=False, determinism_check="some")


def test_debug_shows_where_tensors_were_saved():
    y = checkpoint(
        changing(lambda x: x.sin().exp(), lambda x: x.sin()),
        leaf(),
        use_reentrant=False,
        debug=True,
    )
    with pytest.raises(CheckpointError, match="Where the original saved its tensors") as caught:
        y.sum().backward()
    assert "test_checkpoint.py" in str(caught.value)
    with set_checkpoint_debug_enabled(False):
        other = changing(lambda x: x.sin().exp(), lambda x: x.sin())
        y = checkpoint(other, leaf(), use_reentrant=False, debug=True)
    with pytest.raises(CheckpointError, match="With debug=True"):
        y.sum().backward()


class ReadsTwice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.sin())
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        ctx.saved_tensors
        return grad * ctx.saved_tensors[0]


def test_saved_tensors_can_be_read_once():
    y = checkpoint(ReadsTwice.apply, leaf(), use_reentrant=False)
    with pytest.raises(CheckpointError, match="Unpack is being triggered for a tensor that was al"):
        y.sum().backward()


def test_contexts_of_the_first_run_and_of_recomputation():
    entered = []

    class Note:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            entered.append(self.name)

        def __exit__(self, *error):
            entered.append("end of " + self.name)

    y = checkpoint(
        curved, leaf(), use_reentrant=False, context_fn=lambda: (Note("first"), Note("again"))
    )
    assert entered == ["first", "end of first"]
    y.sum().backward()
    assert entered[2:] == ["again", "end of again"]


# --- nesting --------------------------------------------------------------------------------------


def nested(function, depth):
    if depth == 0:
        return function
    return lambda *args: checkpoint(nested(function, depth - 1), *args, use_reentrant=False)


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_nested_to_the_third_derivative(depth, early):
    def third(function, x):
        for _ in range(3):
            (x_grad,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
            yield x_grad.tolist()
            before = function
            function = lambda t, f=before: torch.autograd.grad(  # noqa: E731
                f(t).sum(), t, create_graph=True
            )[0]

    with set_checkpoint_early_stop(early):
        found = list(third(nested(curved, depth), leaf()))
    for one, other in zip(found, third(curved, leaf())):
        assert one == pytest.approx(other, rel=1e-12)


def test_gradients_inside_of_the_function():
    def derivative(x):
        y = checkpoint(curved, x, use_reentrant=False)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return g * checkpoint(torch.exp, g, use_reentrant=False)

    x, plain = leaf(), leaf()
    checkpoint(derivative, x, use_reentrant=False).sum().backward()
    (g,) = torch.autograd.grad(curved(plain).sum(), plain, create_graph=True)
    (g * g.exp()).sum().backward()
    assert x.grad.tolist() == pytest.approx(plain.grad.tolist(), rel=1e-12)


@pytest.mark.parametrize("inside", [True, False])
def test_with_save_on_cpu(inside):
    x, plain = leaf(), leaf()
    save = torch.autograd.graph.save_on_cpu
    if inside:

        def f(t):
            with save():
                return curved(t)

        y = checkpoint(f, x, use_reentrant=False)
    else:
        with save():
            y = checkpoint(curved, x, use_reentrant=False)
    y.sum().backward()
    curved(plain).sum().backward()
    assert x.grad.tolist() == plain.grad.tolist()


@BOTH
def test_a_backward_within_a_hook_of_another(reentrant):
    x, other = leaf(), leaf()
    y = checkpoint(curved, x, use_reentrant=reentrant)
    z = checkpoint(curved, other, use_reentrant=reentrant).sum()
    y.register_hook(lambda g: z.backward())
    y.sum().backward()
    assert x.grad.tolist() == other.grad.tolist()


def test_what_a_checkpoint_around_it_drops_is_not_held_by_the_arguments():
    alive = []

    def outer(x):
        middle = x.sin().exp()
        alive.append(weakref.ref(middle.untyped_storage()))
        alive.append(weakref.ref(middle))
        return checkpoint(curved, middle, use_reentrant=False)

    y = checkpoint(outer, leaf(), use_reentrant=False)
    gc.collect()
    assert alive[1]() is None
    y.sum().backward()


def test_nothing_outlives_the_graph():
    class Kept:
        pass

    held = Kept()
    seen = weakref.ref(held)
    x = leaf()
    y = checkpoint(lambda t, k: curved(t), x, held, use_reentrant=False)
    del held
    y.sum().backward(retain_graph=True)
    assert seen() is not None
    with warnings.catch_warnings():
        del y
    assert seen() is None


def test_what_a_backward_that_failed_has_recomputed_goes_with_the_next():
    seen, handles = [], []

    def fail(grad):
        raise ValueError("stop")

    def f(t):
        memory = np.ones(2)
        seen.append(weakref.ref(memory))
        first = t * torch.from_numpy(memory)
        if not handles:
            handles.append(first.register_hook(fail))
        return first * torch.from_numpy(np.ones(2))

    y = checkpoint(f, leaf(), use_reentrant=False).sum()
    with pytest.raises(ValueError, match="stop"):
        y.backward(retain_graph=True)
    assert seen[1]() is not None  # backward would have come to it
    handles[0].remove()
    y.backward(retain_graph=True)
    assert all(r() is None for r in seen) and len(seen) == 3


def test_segments_of_a_sequence():
    layers = torch.nn.Sequential(*(torch.nn.Linear(3, 3) for _ in range(5))).double()
    x = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    expected = torch.autograd.grad(layers(x).sum(), x)[0].tolist()
    for segments in (1, 2, 3, 5):
        y = checkpoint_sequential(layers, segments, x, use_reentrant=False)
        assert torch.autograd.grad(y.sum(), x)[0].tolist() == expected
    for segments in (0, 6):
        with pytest.raises(ValueError, match="between 1 and 5 segments"):
            checkpoint_sequential(layers, segments, x, use_reentrant=False)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: foo"):
        checkpoint_sequential(layers, 2, x, use_reentrant=False, foo=1)
