"""What few programs ask of modules, hooks, schedules and scalers, beside its plain counterpart."""

import os

import numpy as np
import pytest

import autograd_cy as ag
import autograd_cy.legacy as old
from autograd_cy import nn
from autograd_cy._environment import threads
from autograd_cy.legacy.autograd import Variable
from autograd_cy.legacy.nn import functional as old_F
from autograd_cy.nn.utils import parametrize

# --- the functions of the era take batches ----------------------------------------------------

OF_BATCHES = {
    "max_pool": (2,),
    "avg_pool": (2,),
    "max_unpool": (Variable(old.zeros(1, 1, 1).long()), 2),
    "conv": (Variable(old.ones(1, 1, 1)),),
    "conv_transpose": (Variable(old.ones(1, 1, 1)),),
    "adaptive_max_pool1d": (1,),
    "adaptive_max_pool2d": (1,),
    "adaptive_avg_pool1d": (1,),
    "adaptive_avg_pool2d": (1,),
    "lp_pool2d": (2, 2),
    "fractional_max_pool2d": (2, 1),
    "pixel_shuffle": (1,),
    "upsample_nearest": (None, 2),
    "upsample_bilinear": (None, 2),
}


def test_functions_of_the_era_refuse_other_numbers_of_dimensions():
    for word, rest in OF_BATCHES.items():
        of_each = word in ("max_pool", "avg_pool", "max_unpool", "conv", "conv_transpose")
        for name in [f"{word}{n}d" for n in (1, 2, 3)] if of_each else [word]:
            wanted = 2 + int(name[-2]) if name[-1] == "d" else 4
            for dims in {1, 2, 3, 4, 5, 6} - {wanted}:
                x = Variable(old.ones(*[2] * dims))
                with pytest.raises(RuntimeError, match=f"^{name}: expected {wanted} dimensions"):
                    getattr(old_F, name)(x, *rest)
            with pytest.raises(RuntimeError, match=f"^{name}: expected a Variable"):
                getattr(old_F, name)(old.ones(*[2] * wanted), *rest)


# --- schedules and averages -------------------------------------------------------------------


def schedules():
    s = ag.optim.lr_scheduler
    made = {
        "ConstantLR": {},
        "CosineAnnealingLR": {"T_max": 3},
        "CosineAnnealingWarmRestarts": {"T_0": 3},
        "CyclicLR": {"base_lr": 0.1, "max_lr": 0.2},
        "ExponentialLR": {"gamma": 0.5},
        "LambdaLR": {"lr_lambda": lambda n: 1.0},
        "LinearLR": {},
        "MultiStepLR": {"milestones": [2]},
        "MultiplicativeLR": {"lr_lambda": lambda n: 1.0},
        "OneCycleLR": {"max_lr": 0.2, "total_steps": 5},
        "PolynomialLR": {},
        "ReduceLROnPlateau": {},
        "StepLR": {"step_size": 2},
    }
    for name, options in made.items():
        yield name, getattr(s, name)(optimizer(), **options)
    for name in ("ChainedScheduler", "SequentialLR"):
        opt = optimizer()
        parts = [s.StepLR(opt, 2), s.ExponentialLR(opt, 0.5)]
        yield name, s.ChainedScheduler(parts) if "C" in name else s.SequentialLR(opt, parts, [2])


def optimizer():
    return ag.optim.SGD([ag.nn.Parameter(ag.ones(2))], lr=0.1, momentum=0.9)


def test_schedules_take_nothing_but_their_states():
    for name, schedule in schedules():
        before = schedule.state_dict()
        for wrong in (None, 5, [("last_epoch", 7)]):
            with pytest.raises(TypeError, match=rf"^{name}\.load_state_dict\(\): expected what"):
                schedule.load_state_dict(wrong)
        assert {**schedule.state_dict()} == {**before}, name


def test_averages_of_many_tensors_are_those_of_one():
    kinds = (ag.float32, ag.float16, ag.complex64, ag.int64)
    for decay in (0.25, 0.999):
        one, many = (
            getattr(ag.optim.swa_utils, f"get_ema_{kind}avg_fn")(decay) for kind in ("", "multi_")
        )
        kept = [ag.tensor([1, 8, -4]).to(dtype) for dtype in kinds]
        new = [ag.tensor([9, 0, 12]).to(dtype) for dtype in kinds]
        expected = [t.clone() for t in kept]
        for t, a, b in zip(expected, kept, new):
            t.copy_(one(a, b, ag.tensor(1)))
        many(kept, new, ag.tensor(1))
        for found, t in zip(kept, expected):
            ag.testing.assert_close(found, t)
        assert kept[3].tolist() == ([7, 2, 8] if decay == 0.25 else [1, 7, -3])


# --- scalers ----------------------------------------------------------------------------------


def test_a_scaler_forgets_what_it_found_with_each_update():
    opt = optimizer()
    weight = opt.param_groups[0]["params"][0]
    scaler = ag.amp.GradScaler("cpu", init_scale=8.0, growth_interval=1)
    scaler.scale(ag.ones(()))
    for value, expected in ((float("inf"), 4.0), (1.0, 8.0), (float("nan"), 4.0), (1.0, 8.0)):
        weight.grad = ag.full((2,), value)
        scaler.step(opt)
        scaler.update()
        assert scaler.get_scale() == expected
        with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
            scaler.update()
        assert scaler.get_scale() == expected


# --- parametrizations -------------------------------------------------------------------------


class Plain(nn.Module):
    def forward(self, x):
        return x * 2

    def right_inverse(self, x):
        return x / 2


class Other(Plain):
    """Its inverse has another shape, or another dtype."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def right_inverse(self, x):
        return self.change(x / 2)


CHANGES = {"shape": lambda x: x[:1], "dtype": lambda x: x.double()}


def test_a_second_parametrization_is_checked_as_the_first():
    for change in CHANGES.values():
        module = nn.Linear(2, 2)
        parametrize.register_parametrization(module, "weight", Plain())
        before = module.weight.detach().clone()
        with pytest.raises(ValueError, match="right_inverse"):
            parametrize.register_parametrization(module, "weight", Other(change))
        assert len(module.parametrizations.weight) == 1
        assert ag.equal(module.weight, before)


def test_a_chain_is_unsafe_once_one_of_its_parts_is():
    for order in ((False, False), (False, True), (True, False), (True, True)):
        module = nn.Linear(2, 2)
        for unsafe in order:
            parametrize.register_parametrization(module, "weight", Plain(), unsafe=unsafe)
        assert module.parametrizations.weight.unsafe is any(order)
        assert parametrize.is_parametrized(module, "weight")
        assert not parametrize.is_parametrized(module, "bias")
        assert parametrize.is_parametrized(module)
        assert not parametrize.is_parametrized(nn.Linear(2, 2), "weight")


# --- hooks, and classes that ask ---------------------------------------------------------------


def test_hooks_of_a_tensor_are_replaced_by_those_that_are_given():
    x, calls = ag.ones(2, requires_grad=True), []
    for name in "abc":
        x.register_hook(lambda g, name=name: calls.append(name))
    x._backward_hooks = {1: lambda g: calls.append("new")}
    x.sum().backward()
    assert calls == ["new"]
    assert len(x._backward_hooks) == 1


def test_hooks_of_any_gradient_keep_nothing_of_passes_that_are_over():
    x = ag.ones(2, requires_grad=True)
    y = ag.ones(2, requires_grad=True)
    calls = []
    ag.autograd.graph.register_multi_grad_hook([x, y], calls.append, mode="any")
    hook = next(iter(x._backward_hooks.values()))
    (seen,) = (c.cell_contents for c in hook.__closure__ if isinstance(c.cell_contents, set))
    for count in range(1, 9):
        (x * y).sum().backward()
        assert len(calls) == count
        assert len(seen) == 1


def test_a_context_without_functions_asks_neither_classes_nor_modes():
    asked = []

    class Asking(ag.Tensor):
        @classmethod
        def __torch_function__(cls, f, types, args=(), kwargs=None):
            asked.append(f)
            with ag._C.DisableTorchFunctionSubclass():
                return f(*args, **(kwargs or {}))

    x = ag.ones(2).as_subclass(Asking)
    for context in (ag._C.DisableTorchFunction, ag._C.DisableTorchFunctionSubclass):
        asked.clear()
        with context():
            ag.add(x, x)
            x * 2
        assert not asked
        ag.add(x, x)
        assert asked


@pytest.mark.parametrize("materialize", [True, False])
def test_functions_under_vmap_get_the_gradients_that_they_ask_for(materialize):
    found = []

    class Two(ag.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * 2, x * 3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.set_materialize_grads(materialize)

        @staticmethod
        def backward(ctx, first, second):
            found.append(second is None)
            return first * 2

    x = ag.ones(3, requires_grad=True)
    ag.func.vmap(Two.apply)(x)[0].sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    assert found == [not materialize]


# --- values ------------------------------------------------------------------------------------


def test_points_without_coordinates_have_no_distance():
    for p in (0.0, 1.0, 2.0, 3.0, float("inf")):
        for rows, columns in ((2, 3), (30, 3), (0, 3), (2, 0)):
            a = ag.ones(rows, 0, requires_grad=True)
            found = ag.cdist(a, ag.ones(columns, 0), p)
            assert found.tolist() == np.zeros((rows, columns)).tolist()
            found.sum().backward()
            assert a.grad.shape == (rows, 0)


def test_processors_are_those_of_this_process(monkeypatch):
    if hasattr(os, "sched_setaffinity"):
        allowed = os.sched_getaffinity(0)
        assert threads.affinity() == len(allowed)
        try:
            os.sched_setaffinity(0, {min(allowed)})
            assert threads.affinity() == 1
        finally:
            os.sched_setaffinity(0, allowed)
    # Where a process has no processors of its own, all count.
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert threads.affinity() == (os.cpu_count() or 1)
