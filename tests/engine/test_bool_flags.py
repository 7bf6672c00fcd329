"""Flags are bools: what torch refuses for one is refused, before anything is done."""

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag


def square(lib):
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    return x, (x * x).sum()


# What is called with a flag, and whether integers and tensors of one element pass for one.
CALLS = {
    "backward-retain_graph": (True, lambda lib, v: square(lib)[1].backward(retain_graph=v)),
    "backward-create_graph": (True, lambda lib, v: square(lib)[1].backward(create_graph=v)),
    "grad-retain_graph": (
        True,
        lambda lib, v: lib.autograd.grad(*square(lib)[::-1], retain_graph=v),
    ),
    "grad-create_graph": (
        True,
        lambda lib, v: lib.autograd.grad(*square(lib)[::-1], create_graph=v),
    ),
    "grad-allow_unused": (
        True,
        lambda lib, v: lib.autograd.grad(*square(lib)[::-1], allow_unused=v),
    ),
    "grad-materialize_grads": (
        True,
        lambda lib, v: lib.autograd.grad(*square(lib)[::-1], materialize_grads=v),
    ),
    "jacobian-create_graph": (
        True,
        lambda lib, v: lib.autograd.functional.jacobian(
            lambda a: a * a, lib.ones(2), create_graph=v
        ),
    ),
    "Parameter": (False, lambda lib, v: lib.nn.Parameter(lib.ones(2), v)),
    "set_grad_enabled": (False, lambda lib, v: lib.set_grad_enabled(v)),
    "inference_mode": (False, lambda lib, v: lib.inference_mode(v).__enter__()),
    "set_detect_anomaly": (False, lambda lib, v: lib.autograd.set_detect_anomaly(v)),
    "check_nan": (False, lambda lib, v: lib.autograd.set_detect_anomaly(True, check_nan=v)),
    "autocast": (False, lambda lib, v: lib.autocast("cpu", enabled=v).__enter__()),
    "autocast-cache": (
        False,
        lambda lib, v: lib.autocast("cpu", cache_enabled=v).__enter__(),
    ),
    "set_autocast_enabled": (False, lambda lib, v: lib.set_autocast_enabled("cpu", v)),
    "train": (False, lambda lib, v: lib.nn.Linear(1, 1).train(v)),
}
NEVER = ("no", 2.5, [], object(), np.bool_(True))
VALUES = [*NEVER, 1, 0]


@each("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_what_is_no_flag_is_refused(name):
    as_number, call = CALLS[name]
    for value in VALUES:
        if as_number and not any(value is v for v in NEVER):
            call(ag, value)
            continue
        before = ag.is_grad_enabled(), ag.is_anomaly_enabled(), ag.is_autocast_enabled("cpu")
        with pytest.raises((TypeError, ValueError), match="bool|boolean"):
            call(ag, value)
        after = ag.is_grad_enabled(), ag.is_anomaly_enabled(), ag.is_autocast_enabled("cpu")
        assert after == before


@each("name", [n for n, (as_number, _) in CALLS.items() if as_number])
@pytest.mark.filterwarnings("ignore")
def test_torch_refuses_the_same(name):
    torch = pytest.importorskip("torch")
    for value in VALUES:
        found = []
        for lib in (ag, torch):
            try:
                CALLS[name][1](lib, value)
                found.append("done")
            except (TypeError, ValueError):
                found.append("refused")
        assert found[0] == found[1], value


def test_a_flag_of_materialization_is_a_bool():
    class Twice(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads("x")

    with pytest.raises(TypeError, match="bool"):
        Twice.apply(ag.ones(2))
