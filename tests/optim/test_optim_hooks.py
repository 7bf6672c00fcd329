"""Hooks of optimizers: around steps, at saving and loading, and of all optimizers at once."""

import contextlib
import copy
import pickle
from importlib import import_module

import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy import optim

KINDS = (
    "step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre",
    "load_state_dict_post",
)  # fmt: skip


def libraries():
    """This library, and torch where it is installed."""
    found = [ag]
    with contextlib.suppress(ImportError):
        found.append(import_module("torch"))
    return found


def made(library, **options):
    param = library.ones(2, requires_grad=True)
    param.grad = library.ones(2)
    return library.optim.SGD([param], lr=0.5, **options)


def around_steps(library):
    """Record what runs around steps, in order, and what it is given."""
    seen = []

    def note(label):
        def hook(optimizer, args, kwargs):
            assert args[0] is optimizer
            seen.append((label, [type(arg).__name__ for arg in args], sorted(kwargs)))

        return hook

    optimizer, module = made(library), import_module(f"{library.__name__}.optim.optimizer")
    handles = [
        optimizer.register_step_pre_hook(note("own before")),
        optimizer.register_step_post_hook(note("own after")),
        module.register_optimizer_step_pre_hook(note("all before")),
        module.register_optimizer_step_post_hook(note("all after")),
        optimizer.register_step_pre_hook(note("second before")),
        optimizer.register_step_post_hook(note("second after")),
    ]

    def closure():
        seen.append("closure")
        return 1.5

    seen.append(optimizer.step())
    seen.append(optimizer.step(closure))
    seen.append(optimizer.step(closure=closure))
    for handle in handles:
        handle.remove()
    seen.append(optimizer.step())
    return seen


def test_hooks_run_around_steps_in_the_order_of_torch():
    one, *others = map(around_steps, libraries())
    assert [label for label, *_ in one[:6]] == [
        "all before", "own before", "second before", "own after", "second after", "all after",
    ]  # fmt: skip
    assert one[-2:] == [1.5, None]
    assert all(other == one for other in others)


def test_a_hook_before_a_step_may_replace_the_arguments():
    for library in libraries():
        optimizer = made(library)
        handle = optimizer.register_step_pre_hook(lambda opt, args, kwargs: ((opt, lambda: 7), {}))
        assert optimizer.step() == 7
        handle.remove()
        optimizer.register_step_pre_hook(lambda *_: 3)
        with pytest.raises(RuntimeError, match=r"None or a tuple of \(new_args, new_kwargs\)"):
            optimizer.step()
        assert optimizer.param_groups[0]["params"][0].tolist() == [0.5, 0.5]


def test_state_dict_hooks_are_those_of_torch():
    for library in libraries():
        optimizer, seen = made(library, momentum=0.5), []
        optimizer.register_state_dict_pre_hook(lambda opt: seen.append("first"))
        optimizer.register_state_dict_pre_hook(lambda opt: seen.append("ahead"), prepend=True)
        optimizer.register_state_dict_post_hook(lambda opt, saved: {**saved, "epoch": 3})
        optimizer.register_state_dict_post_hook(lambda opt, saved: saved.update(more=4))
        optimizer.register_state_dict_post_hook(
            lambda opt, saved: seen.append(sorted(saved)), prepend=True
        )
        saved = optimizer.state_dict()
        assert seen == ["ahead", "first", ["param_groups", "state"]]
        assert saved["epoch"] == 3 and saved["more"] == 4


def test_load_state_dict_hooks_are_those_of_torch():
    for library in libraries():
        optimizer, seen = made(library), []
        saved = optimizer.state_dict()

        def change(opt, given, seen=seen, saved=saved):
            assert given is not saved and given["param_groups"] is saved["param_groups"]
            given["note"] = 1
            seen.append("changed")

        def replace(opt, given, seen=seen):
            seen.append(given["note"])
            return {**given, "param_groups": [{**given["param_groups"][0], "lr": 0.25}]}

        optimizer.register_load_state_dict_pre_hook(replace)
        optimizer.register_load_state_dict_pre_hook(change, prepend=True)
        optimizer.register_load_state_dict_post_hook(
            lambda opt, seen=seen: seen.append(opt.param_groups[0]["lr"])
        )
        optimizer.load_state_dict(saved)
        assert seen == ["changed", 1, 0.25]
        assert "note" not in saved


def test_hooks_run_once_where_a_step_calls_that_of_its_base():
    class Own(optim.SGD):
        def step(self, closure=None):
            return super().step(closure)

    seen = []
    optimizer = Own([ag.ones(1, requires_grad=True)], lr=0.1)
    optimizer.register_step_pre_hook(lambda *_: seen.append(1))
    optimizer.step()
    assert seen == [1]


def test_hooks_of_an_optimizer_with_a_step_of_its_own():
    optimizer, seen = optim.LBFGS([ag.ones(1, requires_grad=True)]), []
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: seen.append(len(args)))
    optimizer.register_step_post_hook(lambda opt, args, kwargs: seen.append(len(args)))

    def closure():
        optimizer.zero_grad()
        loss = (optimizer.param_groups[0]["params"][0] ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert seen == [2, 2]


def test_hooks_run_inside_the_label_of_the_step():
    optimizer = made(ag)

    def hook(*_):
        with ag.autograd.profiler.record_function("inside"):
            pass

    optimizer.register_step_pre_hook(hook)
    with ag.autograd.profiler.profile() as recorded:
        optimizer.step()
    step = next(e for e in recorded.function_events if e.name == "Optimizer.step#SGD.step")
    assert step.cpu_children[0].name == "inside"


@each("kind", KINDS)
def test_hooks_are_removed_and_not_copied(kind):
    optimizer, seen = made(ag), []
    handle = getattr(optimizer, f"register_{kind}_hook")(lambda *_: seen.append(kind))
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        other.step()
        other.load_state_dict(other.state_dict())
    assert seen == []
    for _ in range(2):
        optimizer.step()
        optimizer.load_state_dict(optimizer.state_dict())
        handle.remove()
    assert seen == [kind]


def test_steps_may_have_arguments_of_any_name():
    class Scheduled(optim.SGD):
        def step(self, closure=None, step=0, run=0, method=0):
            return step, run, method

    optimizer = Scheduled([ag.ones(1, requires_grad=True)], lr=0.1)
    seen = []
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(kwargs))
    assert optimizer.step(step=3, run=4, method=5) == (3, 4, 5)
    assert seen == [{"step": 3, "run": 4, "method": 5}]


@each("kind", KINDS)
def test_what_cannot_be_called_is_refused(kind):
    with pytest.raises(TypeError, match="a hook must be callable, not int"):
        getattr(made(ag), f"register_{kind}_hook")(3)


def test_signatures_name_the_arguments():
    with pytest.raises(TypeError, match=r"^AdamW\.__init__\(\) got an unexpected .*'lrr'"):
        optim.AdamW([ag.ones(1)], lrr=1)
