"""Hooks of modules: what runs when, with which arguments, and what it may replace."""

import copy
import gc
import warnings
import weakref

import pytest

import autograd_cy as ag
from tests.scenarios import scenarios

SCENARIOS, scenario = scenarios()


def plain(x):
    """Tensors as lists, in tuples and dicts too."""
    if hasattr(x, "tolist"):
        return x.tolist()
    if isinstance(x, (tuple, list)):
        return type(x)(plain(y) for y in x)
    if isinstance(x, dict):
        return {k: plain(y) for k, y in x.items()}
    return x


def scale(m, factor=2.0):
    class Scale(m.nn.Module):
        def forward(self, x, plus=0.0, fail=False):
            if fail:
                raise ArithmeticError("no")
            return x * factor + plus

    return Scale()


def failure(call):
    """Class and message of what `call` raises, in the words that both libraries share."""
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error)
    return None


def without_hint(raised):
    """The words of torch: the name of the hook stands behind them."""
    return raised[0], raised[1].partition(" (hook '")[0]


def caught(call):
    """(result, messages of warnings) of a call."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = call()
    return result, [(w.category.__name__, str(w.message)) for w in found]


# --- around forward -----------------------------------------------------------------------------


@scenario(["a", "b", "first", "x", "y", 5.0, "a", "first", "x", "y", 5.0])
def order_and_removal(m):
    log, layer = [], scale(m)
    layer.register_forward_pre_hook(lambda *_: log.append("a"))
    second = layer.register_forward_pre_hook(lambda *_: log.append("b"))
    layer.register_forward_hook(lambda *_: log.append("x"))
    layer.register_forward_hook(lambda *_: log.append("y"))
    layer.register_forward_hook(lambda *_: log.append("first"), prepend=True)
    log.append(layer(m.tensor(2.5)).item())
    second.remove()
    second.remove()
    log.append(layer(m.tensor(2.5)).item())
    return log


@scenario(
    [
        ((1.0,), {"plus": 1.0}),
        ((3.0,), {"plus": 5.0}, 11.0),
        ((3.0,), 12.0),
        ((3.0,), 13.0),
        26.0,
    ]
)
def arguments_and_results_are_replaced(m):
    log, layer = [], scale(m)

    def before(module, args, kwargs):
        log.append((plain(args), kwargs))
        return (args[0] + 1,), {"plus": 5.0}

    def after(module, args, kwargs, output):
        log.append((plain(args), kwargs, output.item()))
        return output + 1

    def replace(module, args, output):
        log.append((plain(args), output.item()))
        return output + 1 if output < 13 else output * 2

    layer.register_forward_pre_hook(before, with_kwargs=True)
    layer.register_forward_pre_hook(lambda module, args: args[0] + 1)
    layer.register_forward_hook(after, with_kwargs=True)
    layer.register_forward_hook(replace)
    layer.register_forward_hook(replace)
    log.append(layer(m.tensor(1.0), plus=1.0).item())
    return log


@scenario(
    [
        (
            "RuntimeError",
            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got 3.",
        ),
    ]
)
def a_pre_hook_with_keywords_returns_both(m):
    layer = scale(m)
    layer.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)
    return [failure(lambda: layer(m.ones(1)))]


@scenario(
    [
        ("ArithmeticError", "no"),
        [
            (
                "UserWarning",
                "module forward hook with ``always_call=True`` raised an exception that was "
                "silenced as another error was raised in forward: mine",
            )
        ],
        ("always", None),
        ("keywords", None, {"fail": True}),
    ]
)
def some_hooks_run_after_failures(m):
    log, layer = [], scale(m)

    def broken(module, args, output):
        raise ValueError("mine")

    layer.register_forward_hook(lambda *a: log.append(("never", a[-1])))
    layer.register_forward_hook(lambda *a: log.append(("always", a[-1])), always_call=True)
    layer.register_forward_hook(
        lambda module, args, kwargs, out: log.append(("keywords", out, kwargs)),
        always_call=True,
        with_kwargs=True,
    )
    layer.register_forward_hook(broken, always_call=True)
    found, messages = caught(lambda: failure(lambda: layer(m.ones(1), fail=True)))
    return [found, messages, *log]


@scenario([("once", 2.0), ("ValueError", "mine")])
def a_hook_that_failed_is_not_called_again(m):
    log, layer = [], scale(m)

    def broken(module, args, output):
        log.append(("once", output.item()))
        raise ValueError("mine")

    layer.register_forward_hook(broken, always_call=True)
    log.append(failure(lambda: layer(m.tensor(1.0))))
    return log


# --- in backward --------------------------------------------------------------------------------


@scenario([("pre", ([3.0],)), ("full", ([6.0],), ([3.0],)), [6.0]])
def gradients_of_inputs_and_outputs(m):
    log, layer = [], scale(m)
    layer.register_full_backward_pre_hook(lambda _, g: log.append(("pre", plain(g))))
    layer.register_full_backward_hook(lambda _, i, o: log.append(("full", plain(i), plain(o))))
    x = m.ones(1, requires_grad=True)
    (layer(x) * 3).sum().backward()
    return [*log, x.grad.tolist()]


@scenario(
    [
        ("pre", ([10.0],)),
        ("full 1", ([200.0],), ([100.0],)),
        ("full 2", ([7.0],), ([100.0],)),
        [7.0],
    ]
)
def gradients_are_replaced(m):
    log, layer = [], scale(m)

    def before(module, grads):
        return (grads[0] * 10,)

    def log_before(module, grads):
        log.append(("pre", plain(grads)))
        return (grads[0] * 10,)

    def full(number):
        def hook(module, i, o):
            log.append((f"full {number}", plain(i), plain(o)))
            return (m.full((1,), 7.0),) if number == 1 else None

        return hook

    layer.register_full_backward_pre_hook(log_before)
    layer.register_full_backward_pre_hook(before, prepend=True)
    layer.register_full_backward_hook(full(2))
    layer.register_full_backward_hook(full(1), prepend=True)
    x = m.ones(1, requires_grad=True)
    layer(x).sum().backward()
    return [*log, x.grad.tolist()]


@scenario([([[2.0], [0.0], None],), ([1.0], None)])
def places_that_are_no_tensors_are_none(m):
    log = []

    class Several(m.nn.Module):
        def forward(self, x, y, n):
            return x * 2 + y * 0, y * n

    layer = Several()

    def hook(module, given, made):
        log.extend([([plain(g) for g in given],), plain(made)])

    layer.register_full_backward_hook(hook)
    layer(m.ones(1, requires_grad=True), m.ones(1), 3)[0].backward()
    return log


@scenario(
    [
        ((None,), ([1.0],)),
        [
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients"
        ],
        [1.0],
    ]
)
def no_input_requires_grad(m):
    log = []

    class Add(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.p = m.nn.Parameter(m.zeros(1))

        def forward(self, x):
            return self.p + x

    layer = Add()
    layer.register_full_backward_hook(lambda _, i, o: log.append((plain(i), plain(o))))
    _, messages = caught(lambda: layer(m.ones(1)).backward())
    return [*log, [text.partition(". See")[0] for _, text in messages], layer.p.grad.tolist()]


@scenario(
    [
        (
            "RuntimeError",
            "Backward hook for Modules where no input requires gradient should always return None "
            "or None for all gradients.",
        )
    ]
)
def nothing_replaces_gradients_of_no_input(m):
    layer = m.nn.Linear(1, 1)
    layer.register_full_backward_hook(lambda _, i, o: (m.ones(1, 1),))
    return [without_hint(caught(lambda: failure(lambda: layer(m.ones(1, 1)).backward()))[0])]


@scenario(
    [
        (
            "RuntimeError",
            "Backward hook returned an invalid number of grad_input, got 2, but expected 1",
        ),
        (
            "RuntimeError",
            "Backward pre hook returned an invalid number of grad_output, got 2, but expected 1",
        ),
    ]
)
def wrong_numbers_of_gradients(m):
    found = []
    for register in ("register_full_backward_hook", "register_full_backward_pre_hook"):
        layer = scale(m)
        getattr(layer, register)(lambda *a: (m.ones(1), m.ones(1)))
        y = layer(m.ones(1, requires_grad=True))
        found.append(without_hint(failure(y.backward)))
    return found


@scenario([1, [6.0], 1, [6.0]])
def not_called_again_in_double_backward(m):
    class Cube(m.nn.Module):
        def forward(self, x):
            return x * x * x

    calls, layer = [], Cube()
    layer.register_full_backward_hook(lambda *a: calls.append(a))
    x = m.ones(1, requires_grad=True)
    y = layer(x)
    (g,) = m.autograd.grad(y, x, create_graph=True)
    first = len(calls)
    (h,) = m.autograd.grad(g, x, retain_graph=True)
    g.backward()
    return [first, h.tolist(), len(calls), x.grad.tolist()]


@scenario([2, [4.0]])
def each_call_and_each_backward_counts(m):
    calls, layer = [], scale(m)
    layer.register_full_backward_hook(lambda *a: calls.append(a))
    x = m.ones(1, requires_grad=True)
    layer(layer(x)).backward()
    return [len(calls), x.grad.tolist()]


@scenario([0, False])
def nothing_is_watched_without_grad_mode(m):
    calls, layer = [], scale(m)
    layer.register_full_backward_hook(lambda *a: calls.append(a))
    with m.no_grad():
        y = layer(m.ones(1, requires_grad=True))
    return [len(calls), y.requires_grad]


@scenario(
    [
        [
            (
                "UserWarning",
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                "Tensors but received <class 'list'>",
            )
        ],
        [2.0],
    ]
)
def other_outputs_are_not_watched(m):
    class Listed(m.nn.Module):
        def forward(self, x):
            return [x * 2]

    layer = Listed()
    layer.register_full_backward_hook(lambda *a: None)
    x = m.ones(1, requires_grad=True)
    (y,), messages = caught(lambda: layer(x))
    y.backward()
    return [messages, x.grad.tolist()]


KINDS = (
    "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use "
    "only one of them."
)


@scenario([("RuntimeError", KINDS), ("RuntimeError", KINDS)])
def kinds_of_backward_hooks_do_not_mix(m):
    one, other = scale(m), scale(m)
    one.register_full_backward_hook(lambda *a: None)
    other.register_backward_hook(lambda *a: None)
    return [
        failure(lambda: one.register_backward_hook(lambda *a: None)),
        failure(lambda: other.register_full_backward_hook(lambda *a: None)),
    ]


@scenario(
    [
        (([1.0],), ([1.0],)),
        [
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is "
            "deprecated and will be removed in future versions. This hook will be missing some "
            "grad_input. Please use register_full_backward_hook to get the documented behavior."
        ],
        ["Using non-full backward hooks on a Module that does not return a single Tensor or a"],
        ["Using non-full backward hooks on a Module that does not take as input a single Tensor"],
        ["Using a non-full backward hook when outputs are generated by different autograd Nodes"],
        [],
    ]
)
def hooks_of_the_last_node(m):
    log = []

    class Any(m.nn.Module):
        def __init__(self, function):
            super().__init__()
            self.function = function

        def forward(self, *args):
            return self.function(*args)

    layers = []

    def run(function, *args):
        layer = Any(function)
        layers.append(layer)
        layer.register_backward_hook(lambda _, i, o: log.append((plain(i), plain(o))))
        result, messages = caught(lambda: layer(*args))
        return result, [text for _, text in messages]

    x = m.ones(1, requires_grad=True)
    y, first = run(lambda x: (x * 2).exp().view(1), x)
    y.backward()
    others = [
        run(lambda x: [x * 2], x)[1],
        run(lambda x, n: x * n, x, 2)[1],
        run(lambda x: (x * 2, x * 3), x)[1],
        run(lambda x: x.sin(), x * 2)[1],
    ]
    return [*log[:1], first, *([text[:85].rstrip(" t") for text in o] for o in others)]


# --- at saving and loading ----------------------------------------------------------------------


@scenario(
    [
        ("before", "", False),
        ("before", "part.", False),
        ("after", "part.", ["part.weight", "part.bias"]),
        ("after", "", ["part.weight", "part.bias"]),
        ["part.weight", "part.bias", "version"],
        ("RuntimeError", "state_dict post-hook must return None"),
    ]
)
def hooks_of_state_dict(m):
    log = []
    model = m.nn.Module()
    model.part = m.nn.Linear(1, 1)
    for module in (model, model.part):
        module.register_state_dict_pre_hook(
            lambda _, prefix, keep: log.append(("before", prefix, keep))
        )
        module.register_state_dict_post_hook(
            lambda _, state, prefix, metadata: log.append(("after", prefix, list(state)))
        )
    handle = model.register_state_dict_post_hook(
        lambda _, state, prefix, metadata: state.__setitem__("version", 3)
    )
    names = list(model.state_dict())
    del log[4:]
    handle.remove()
    wrong = m.nn.Linear(1, 1)
    wrong.register_state_dict_post_hook(lambda *a: 3)
    return [*log, names, failure(wrong.state_dict)]


@scenario(
    [
        ("", True, []),
        ("part.", True, []),
        ("after", ["part.bias"], ["extra"]),
        ([], ["extra"]),
        [[5.0]],
        ["kernel", "extra"],
    ]
)
def hooks_of_load_state_dict(m):
    log = []
    model = m.nn.Module()
    model.part = m.nn.Linear(1, 1)

    def before(module, state, prefix, metadata, strict, missing, unexpected, errors):
        log.append((prefix, strict, list(missing)))
        if "kernel" in state:
            state["part.weight"] = state.pop("kernel")

    def after(module, keys):
        log.append(("after", list(keys.missing_keys), list(keys.unexpected_keys)))
        keys.missing_keys.clear()

    def lenient(module, keys):
        keys.unexpected_keys.remove("extra")

    for module in (model, model.part):
        module.register_load_state_dict_pre_hook(before)
    model.register_load_state_dict_post_hook(after)
    handle = model.register_load_state_dict_post_hook(lenient)
    given = {"kernel": m.full((1, 1), 5.0), "extra": m.ones(1)}
    model.load_state_dict(given)
    handle.remove()
    found = model.load_state_dict(given, strict=False)
    return [
        *log[:3],
        (list(found.missing_keys), list(found.unexpected_keys)),
        model.part.weight.tolist(),
        list(given),
    ]


# --- set_submodule ------------------------------------------------------------------------------


@scenario(
    [
        ("0", "0.1"),
        ("ValueError", "Cannot set the submodule without a target name!"),
        ("AttributeError", "Sequential has no attribute `5`"),
        ("AttributeError", "`weight` is not an nn.Module"),
        "ValueError",
        "AttributeError",
    ]
)
def submodules_are_replaced(m):
    model = m.nn.Sequential(m.nn.Sequential(m.nn.ReLU()), m.nn.Linear(1, 1))
    tanh, linear = m.nn.Tanh(), m.nn.Linear(1, 1)
    model.set_submodule("0.0", tanh)
    model.set_submodule("0.1", linear)
    assert model[0][0] is tanh and model[0][1] is linear
    return [
        tuple(name for name, _ in model.named_modules() if name in ("0", "0.1")),
        failure(lambda: model.set_submodule("", tanh)),
        failure(lambda: model.set_submodule("0.5", tanh, strict=True)),
        failure(lambda: model.set_submodule("1.weight", tanh)),
        failure(lambda: model.set_submodule("0.0", 3))[0],
        failure(lambda: model.set_submodule("7.0", tanh))[0],
    ]


# --- what hooks are given, and what they may return ----------------------------------------------


@scenario(
    [
        ((2.0,), {"fail": True, "plus": 7.0}, None),
        "ArithmeticError",
        ((2.0,), {"plus": 7.0}, 11.0),
        ((2.0,), {"plus": 7.0}, 11.0),
        "KeyError",
        ((2.0,), {"plus": 7.0}, 11.0),
        [("first", 11.0), ("second", 55.0)],
        ((2.0,), None),
        "KeyError",
    ]
)
def hooks_that_are_always_called_see_what_others_made(m):
    log = []

    def note(_, args, kwargs, output):
        log.append((args, kwargs, output))

    def change(_, args, kwargs):
        return (args[0] + 1,), dict(kwargs, plus=7.0)

    def bad(*_):
        raise KeyError("a hook")

    layer = scale(m)
    layer.register_forward_pre_hook(change, with_kwargs=True)
    layer.register_forward_hook(note, with_kwargs=True, always_call=True)
    log.append(failure(lambda: layer(1.0, fail=True))[0])
    layer(1.0)
    layer = scale(m)
    layer.register_forward_pre_hook(change, with_kwargs=True)
    layer.register_forward_hook(bad)
    layer.register_forward_hook(note, with_kwargs=True, always_call=True)
    log.append(failure(lambda: layer(1.0))[0])
    seen = []
    layer.register_forward_hook(lambda _, a, o: seen.append(("first", o)) or 55.0, always_call=True)
    layer.register_forward_hook(lambda _, a, o: seen.append(("second", o)), always_call=True)
    failure(lambda: layer(1.0))
    log.append(seen)
    layer = scale(m)
    layer.register_forward_pre_hook(lambda _, args: (args[0] + 1,))
    layer.register_forward_pre_hook(bad)
    layer.register_forward_hook(lambda _, a, o: log.append((a, o)), always_call=True)
    log.append(failure(lambda: layer(1.0))[0])
    return log


@scenario([[0, 0, 0], [1, 0, 0]])
def removed_hooks_leave_no_ids(m):
    def left(layer):
        return [
            len(layer._forward_hooks_always_called),
            len(layer._forward_hooks_with_kwargs),
            len(layer._forward_pre_hooks_with_kwargs),
        ]

    layer = scale(m)
    handles = [
        layer.register_forward_hook(lambda *_: None, with_kwargs=True, always_call=True),
        layer.register_forward_pre_hook(lambda *_: None, with_kwargs=True),
    ]
    for handle in handles:
        handle.remove()
    found = [left(layer)]
    layer.register_forward_hook(lambda *_: None, always_call=True)
    return [*found, left(layer)]


@scenario([4.0, 2.0, 4.0, 2.0, 8.0, {}])
def tables_of_hooks_can_be_changed(m):
    layer, x = scale(m), m.ones(())
    layer._forward_hooks.clear()
    layer.register_forward_hook(lambda _, a, output: output * 2)
    found = [layer(x).item()]
    kept = dict(layer._forward_hooks)
    layer._forward_hooks.clear()
    found.append(layer(x).item())
    layer._forward_hooks.update(kept)
    found.append(layer(x).item())
    layer._forward_hooks = type(layer._forward_pre_hooks)()
    found.append(layer(x).item())
    other = scale(m)
    other._forward_pre_hooks[7] = lambda _, args: (args[0] * 4,)
    found.append(other(x).item())
    return [*found, dict(other._state_dict_pre_hooks)]


def gradients(m, hook, pre=False):
    """Return the gradients of the input and the weights of a layer with a backward hook."""
    layer = m.nn.Linear(2, 1).double()
    with m.no_grad():
        layer.weight.copy_(m.tensor([[2.0, 3.0]]))
    (layer.register_full_backward_pre_hook if pre else layer.register_full_backward_hook)(hook)
    x = m.ones(1, 2, dtype=m.float64, requires_grad=True)
    layer(x).sum().backward()
    return [None if t.grad is None else t.grad.tolist() for t in (x, layer.weight, layer.bias)]


@scenario(
    [
        [[[6.0, 9.0]], [[1.0, 1.0]], [1.0]],
        [[[6.0, 9.0]], [[3.0, 3.0]], [3.0]],
        [None, [[1.0, 1.0]], [1.0]],
        [[[0.0, 0.0]], None, None],
    ]
)
def backward_hooks_return_lists_or_nothing(m):
    return [
        gradients(m, lambda _, i, o: [g * 3 for g in i]),
        gradients(m, lambda _, o: [g * 3 for g in o], pre=True),
        gradients(m, lambda _, i, o: (None,)),
        gradients(m, lambda _, o: (None,), pre=True),
    ]


@scenario(["BackwardHookFunctionBackward", "Output 0 of BackwardHookFunction is a view"])
def errors_speak_of_hooks(m):
    layer = m.nn.ReLU(inplace=True)
    layer.register_full_backward_hook(lambda *_: None)
    x = m.ones(2, requires_grad=True) * 1
    text = failure(lambda: layer(x))[1]
    layer.inplace = False
    return [layer(x).grad_fn.name(), text[: text.index(" and")]]


def my_hook(*_):
    return ("no tensor",)


def my_size(*_):
    return (ag.ones(5, dtype=ag.float64),)


def my_dtype(*_):
    return (ag.ones(1, 2),)


@pytest.mark.parametrize(
    ("hook", "pre", "kind", "words"),
    [
        (my_hook, False, TypeError, "expected Variable, but hook returned 'str' (hook 'my_hook'"),
        (my_hook, True, TypeError, "expected Variable, but hook returned 'str' (hook 'my_hook'"),
        (my_size, False, RuntimeError, "hook 'my_size' has changed the size of value"),
        (my_size, True, RuntimeError, "hook 'my_size' has changed the size of value"),
        (my_dtype, False, RuntimeError, "hook 'my_dtype' has changed the type of value"),
    ],
)
def test_errors_about_returned_gradients_name_the_hook(hook, pre, kind, words):
    with pytest.raises(kind) as caught:
        gradients(ag, hook, pre)
    assert words in str(caught.value)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_errors_of_hooks_of_the_old_kind_name_them():
    layer = ag.nn.Linear(2, 1)
    layer.register_backward_hook(my_hook)
    y = layer(ag.ones(1, 2, requires_grad=True)).sum()
    with pytest.raises(RuntimeError, match="hook 'my_hook' has returned an incorrect number"):
        y.backward()


# --- the tests ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCENARIOS)
def test_hooks(name):
    function, expected = SCENARIOS[name]
    assert function(ag) == expected


@pytest.mark.parametrize("name", SCENARIOS)
def test_hooks_are_those_of_torch(name):
    torch = pytest.importorskip("torch")
    function, expected = SCENARIOS[name]
    assert function(torch) == expected


class Watched:
    pass


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("hooks", [1, 3, 20])
def test_no_cycle_outlives_the_gradient_and_the_collector(hooks):
    def run():
        layer, watched = scale(ag), Watched()

        def full(module, given, made):
            watched.seen = given
            return (given[0] * 1,)

        for _ in range(hooks):
            layer.register_full_backward_hook(full)
            layer.register_full_backward_pre_hook(lambda module, made: (made[0] * watched.factor,))
        watched.factor = 1
        x = ag.ones(1, requires_grad=True)
        layer(x * 1).pow(2).sum().backward(create_graph=True)
        assert x.grad.tolist() == [8.0]
        x.grad = None
        return weakref.ref(watched)

    found = run()
    gc.collect()
    assert found() is None


def test_a_module_without_hooks_is_not_marked_as_one_with_hooks():
    layer = scale(ag)
    assert "_hooked" not in vars(layer)
    handle = layer.register_forward_hook(lambda *a: None)
    assert len(layer._forward_hooks) == 1
    handle.remove()
    assert len(layer._forward_hooks) == 0


def test_a_hook_must_be_callable():
    with pytest.raises(TypeError, match="a hook must be callable, not int"):
        scale(ag).register_forward_hook(3)


def test_hooks_are_copied_with_the_module():
    calls, layer = [], scale(ag)
    layer.register_forward_hook(lambda *a: calls.append(1))
    copied = copy.deepcopy(layer)
    copied.register_forward_hook(lambda *a: calls.append(2))
    layer(ag.ones(1))
    copied(ag.ones(1))
    assert calls == [1, 1, 2]


def test_hooked_modules_work_under_vmap_and_forward_mode():
    layer, seen = scale(ag), []
    layer.register_full_backward_hook(lambda _, given, made: seen.append(made))
    x = ag.tensor([1.0, 2.0])
    gradients = ag.vmap(ag.func.grad(lambda t: layer(t) * t))(x)
    assert gradients.tolist() == [4.0, 8.0] and len(seen) == 1
    _, tangent = ag.func.jvp(ag.func.grad(lambda t: layer(t) * t), (x[0],), (ag.tensor(1.0),))
    assert tangent.item() == 4.0
