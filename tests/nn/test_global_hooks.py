"""Hooks that all modules share."""

import pytest

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.nn.modules import module as shared


class Scaled(nn.Module):
    def forward(self, x, factor=2.0):
        return x * factor


def test_they_run_before_a_modules_own_and_for_every_module():
    log = []
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    net[1].register_forward_pre_hook(lambda m, args: log.append("own pre"))
    net[1].register_forward_hook(lambda m, args, out: log.append("own"))
    net[1].register_full_backward_hook(lambda m, ins, outs: log.append("own backward"))
    x = torch.ones(1, 2, requires_grad=True)

    def note(kind):
        return lambda m, *rest: log.append((kind, type(m).__name__))

    handles = [
        shared.register_module_forward_pre_hook(note("pre")),
        shared.register_module_forward_hook(note("forward")),
        shared.register_module_full_backward_pre_hook(note("backward pre")),
        shared.register_module_full_backward_hook(note("backward")),
    ]
    net(x).sum().backward()
    for handle in handles:
        handle.remove()
    assert log == [
        ("pre", "Sequential"),
        ("pre", "Linear"),
        ("forward", "Linear"),
        ("pre", "ReLU"),
        "own pre",
        ("forward", "ReLU"),
        "own",
        ("forward", "Sequential"),
        ("backward pre", "Sequential"),
        ("backward pre", "ReLU"),
        ("backward", "ReLU"),
        "own backward",
        ("backward pre", "Linear"),
        ("backward", "Linear"),
        ("backward", "Sequential"),
    ]
    del log[:]
    net(x)
    assert log == ["own pre", "own"]
    assert "_hooked" not in vars(net) and not net._hooked


def test_what_they_return_replaces():
    x = torch.ones(2, requires_grad=True)
    with shared.register_module_forward_pre_hook(lambda m, args: args[0] * 3):
        assert Scaled()(x).tolist() == [6.0, 6.0]
    with shared.register_module_forward_hook(lambda m, args, kwargs, out: kwargs, with_kwargs=True):
        assert Scaled()(x, factor=4) == {"factor": 4}
    with shared.register_module_full_backward_hook(lambda m, ins, outs: (ins[0] * 5,)):
        Scaled()(x).sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]
    assert Scaled()(x).tolist() == [2.0, 2.0]


def test_a_failure_in_forward_reaches_hooks_that_are_always_called():
    seen = []

    class Bad(nn.Module):
        def forward(self, x):
            raise ValueError("in forward")

    with shared.register_module_forward_hook(lambda m, a, o: seen.append("not")):
        with shared.register_module_forward_hook(lambda m, a, o: seen.append(o), always_call=True):
            with pytest.raises(ValueError, match="in forward"):
                Bad()(torch.ones(1))
    assert seen == [None]


def test_old_and_full_hooks_do_not_mix_but_may_follow_each_other():
    x = torch.ones(2, requires_grad=True)
    with shared.register_module_full_backward_hook(lambda m, i, o: None):
        with pytest.raises(RuntimeError, match="as a global Module hook"):
            shared.register_module_backward_hook(lambda m, i, o: None)
    with shared.register_module_backward_hook(lambda m, ins, outs: (ins[0] * 3,)):
        with pytest.raises(RuntimeError, match="Cannot use both"):
            shared.register_module_full_backward_hook(lambda m, i, o: None)
        with pytest.warns(FutureWarning, match="missing some grad_input"):
            y = nn.ReLU()(x)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_registration_is_seen_and_changed():
    log = []
    with (
        shared.register_module_parameter_registration_hook(lambda m, n, p: log.append(n)),
        shared.register_module_buffer_registration_hook(lambda m, n, b: b + 1),
        shared.register_module_module_registration_hook(
            lambda m, n, child: nn.Identity() if n == "replaced" else None
        ),
    ):
        owner = nn.Module()
        owner.weight = nn.Parameter(torch.ones(1))
        owner.register_parameter("absent", None)
        owner.register_buffer("count", torch.zeros(1))
        owner.replaced = nn.ReLU()
        owner.kept = nn.ReLU()
    assert log == ["weight", "absent"]
    assert owner.count.tolist() == [1.0]
    assert type(owner.replaced) is nn.Identity and type(owner.kept) is nn.ReLU


def test_a_hook_must_be_callable():
    with pytest.raises(TypeError, match="must be callable, not int"):
        shared.register_module_forward_hook(3)
