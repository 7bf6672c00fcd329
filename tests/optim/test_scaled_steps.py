"""Steps that divide gradients by a scale, and leave all as it is where one overflowed."""

import copy
import math

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import optim
from autograd_cy._C import devices, ops_optimizers
from autograd_cy.optim._fused import FusedOptimizer

METHODS = {
    name: found
    for name, found in vars(optim).items()
    if isinstance(found, type) and issubclass(found, optim.Optimizer)
}
FUSED = sorted(name for name, found in METHODS.items() if issubclass(found, FusedOptimizer))
OPTIONS = {
    "SGD": {"momentum": 0.9, "dampening": 0.3},
    "Adam": {"amsgrad": True},
    "AdamW": {"amsgrad": True},
    "RMSprop": {"momentum": 0.9, "centered": True},
}
each = pytest.mark.parametrize("name", FUSED)


def made(name, dtype=ag.float32, shape=(5,), library=ag, **options):
    x = library.linspace(-1.0, 2.0, math.prod(shape)).reshape(shape).to(dtype).requires_grad_()
    options = {"lr": 0.1, **OPTIONS.get(name, {}), **options}
    return x, getattr(library.optim, name)([x], **options)


def all_of(x, optimizer):
    state = optimizer.state[x]
    return [x.tolist(), *(value.tolist() for value in state.values())]


# --- every class has its operator --------------------------------------------------------------


def test_all_methods_but_those_of_matrices_and_lbfgs_are_one_operator():
    assert set(METHODS) - set(FUSED) == {"Adafactor", "LBFGS", "Muon", "Optimizer"}
    assert len(FUSED) == 11


@each
def test_the_operator_of_a_class_has_a_slot_for_devices(name):
    x, optimizer = made(name)
    operator = optimizer.decoupled_operator if name == "AdamW" else optimizer.operator
    arrays = METHODS[name].arrays
    numbers = METHODS[name]._numbers_of_state
    signature = devices.signatures()[operator]
    # Parameters, gradients and a list for each name of the state; one more says what has begun.
    lists = 2 + len(arrays) + len(numbers) + (name == "SGD")
    assert signature.count("tuple") == lists, signature
    assert signature.endswith("Tensor, Tensor)") and callable(getattr(ops_optimizers, operator))
    assert METHODS[name].step is optim.Optimizer.step
    assert METHODS[name]._update is FusedOptimizer._update
    x.grad = ag.ones(5)
    optimizer.step()
    assert optimizer.state[x].keys() == {*arrays, *numbers}


@pytest.mark.parametrize("name", ["_fused_sgd_", "_fused_adam_", "_fused_adamw_"])
def test_they_are_called_as_in_torch(name):
    torch = pytest.importorskip("torch")
    seen = []
    for library in (ag, torch):
        p, g = library.tensor([1.0, 2.0]), library.tensor([4.0, -8.0])
        lists = [[library.zeros(2)] for _ in range(1 if name == "_fused_sgd_" else 3)]
        numbers = {"weight_decay": 0.1, "lr": 0.5, "maximize": False}
        if name == "_fused_sgd_":
            numbers |= {"momentum": 0.9, "dampening": 0.1, "nesterov": False, "is_first_step": True}
        else:
            numbers |= {"beta1": 0.9, "beta2": 0.99, "eps": 1e-3, "amsgrad": True}
            # There the caller counts, here the step does.
            lists.append([library.tensor(0.0 if library is ag else 1.0)])
        scale, found = library.tensor(2.0), library.tensor(0.0)
        operator = getattr(library, name)
        assert operator([p], [g], *lists, **numbers, grad_scale=scale, found_inf=found) is None
        found.fill_(1)
        operator([p], [g], *lists, **numbers, grad_scale=scale, found_inf=found)
        seen.append([p.tolist(), g.tolist(), [one.tolist() for (one,) in lists]])
    ours, theirs = seen
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-6)
    assert ours[1] == theirs[1] == [2.0, -4.0]  # gradients are divided where they are
    for mine, other in zip(ours[2], theirs[2]):
        np.testing.assert_allclose(mine, other, rtol=1e-6)


# --- scale and overflow ------------------------------------------------------------------------


@each
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.bfloat16, ag.complex64], ids=str)
def test_gradients_are_divided_by_the_scale(name, dtype):
    (x, scaled), (y, plain) = (made(name, dtype) for _ in range(2))
    for k in range(3):
        x.grad = ((ag.arange(5.0) - k) * 4).to(dtype)
        y.grad = (ag.arange(5.0) - k).to(dtype)
        scaled.grad_scale, scaled.found_inf = ag.tensor(4.0), ag.tensor(0.0)
        scaled.step()
        plain.step()
        assert all_of(x, scaled) == all_of(y, plain)
        assert x.grad.tolist() == y.grad.tolist()


@each
def test_strided_gradients_are_divided_where_they_are(name):
    (x, scaled), (y, plain) = (made(name, shape=(3, 4)) for _ in range(2))
    wide = ag.arange(24.0).reshape(3, 8)
    x.grad, y.grad = wide[:, ::2], wide[:, ::2] / 8
    scaled.grad_scale = ag.tensor(8.0)
    scaled.step()
    plain.step()
    assert all_of(x, scaled) == all_of(y, plain)
    assert wide[:, ::2].tolist() == y.grad.tolist() and wide[:, 1].tolist() == [1, 9, 17]


@each
def test_nothing_changes_where_a_gradient_overflowed(name):
    x, optimizer = made(name)
    for _ in range(2):  # before the first step as well as later
        x.grad = ag.ones(5)
        if optimizer.state.get(x):
            optimizer.step()
        before = copy.deepcopy(optimizer.state_dict()), x.tolist()
        optimizer.grad_scale, optimizer.found_inf = ag.tensor(2.0), ag.tensor(1.0)
        optimizer.step()
        optimizer.grad_scale = optimizer.found_inf = None
        assert x.tolist() == before[1] and x.grad.tolist() == [1.0] * 5
        now = optimizer.state_dict()["state"]
        if before[0]["state"]:
            assert repr(now) == repr(before[0]["state"])
        optimizer.step()


@each
def test_a_first_step_that_overflowed_is_made_later(name):
    (x, late), (y, plain) = (made(name) for _ in range(2))
    x.grad = ag.full((5,), math.inf)
    late.found_inf = ag.tensor(1.0)
    late.step()
    late.found_inf = None
    assert "momentum_buffer" not in late.state_dict()["state"].get(0, {}) or name != "SGD"
    copied = copy.deepcopy(late)
    (z,) = copied.param_groups[0]["params"]
    for _ in range(2):
        for one, optimizer in ((x, late), (y, plain), (z, copied)):
            one.grad = ag.arange(5.0)
            optimizer.step()
    assert all_of(x, late) == all_of(y, plain) == all_of(z, copied)


@each
def test_a_rate_may_be_a_tensor(name):
    for rate in (ag.tensor(0.25), ag.tensor([0.25], dtype=ag.float64), ag.tensor(0.25).half()):
        (x, first), (y, second) = made(name, lr=rate), made(name, lr=0.25)
        for one, optimizer in ((x, first), (y, second)):
            one.grad = ag.arange(5.0)
            optimizer.step()
        assert all_of(x, first) == all_of(y, second)


# --- a scaler of losses ------------------------------------------------------------------------


def trained(library, name, factors, fused=True, unscales=False, **options):
    x, optimizer = made(name, library.float32, library=library, **options)
    if not fused:
        optimizer._step_supports_amp_scaling = False
    scaler = library.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    for factor in factors:
        optimizer.zero_grad()
        loss = (x * x).sum() * factor
        scaler.scale(loss).backward()
        if unscales:
            scaler.unscale_(optimizer)
            library.nn.utils.clip_grad_norm_([x], 1.0)
        scaler.step(optimizer)
        scaler.update()
    return x.detach().numpy().copy(), scaler.state_dict()


FACTORS = (math.inf, 1.0, 1.0, 2.0, math.nan, 1.0, 1e30, 1.0)


@each
@pytest.mark.parametrize("unscales", [False, True])
def test_scaled_training_is_that_of_torch(name, unscales):
    torch = pytest.importorskip("torch")
    ours, state = trained(ag, name, FACTORS, unscales=unscales)
    theirs, expected = trained(torch, name, FACTORS, unscales=unscales)
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)
    assert state == expected


@each
def test_a_scaler_reads_nothing_for_a_method_that_takes_scales(name, monkeypatch):
    x, optimizer = made(name)
    scaler = ag.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(x.sum()).backward()

    def refused(*_):
        raise AssertionError("a value was read")

    from autograd_cy._C.launch import capture  # which refuses reads

    capture(lambda: (scaler.step(optimizer), scaler.update()))
    monkeypatch.setattr("autograd_cy.amp.grad_scaler._overflow", refused)
    scaler.step(optimizer)
    scaler.update()


@each
def test_a_method_of_others_steps_by_what_the_host_reads(name):
    ours, state = trained(ag, name, FACTORS)
    theirs, expected = trained(ag, name, FACTORS, fused=False)
    assert np.array_equal(ours, theirs) and state == expected


def test_halves_are_unscaled_by_steps_alone():
    torch = pytest.importorskip("torch")
    for library in (ag, torch):
        x = library.ones(2).half().requires_grad_()
        optimizer = library.optim.SGD([x], lr=0.5)
        scaler = library.amp.GradScaler("cpu", init_scale=8.0)
        scaler.scale(x.float().sum()).backward()
        with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
            scaler.unscale_(optimizer)
        if library is ag:
            scaler.step(optimizer)
            assert x.tolist() == [0.5, 0.5]


def test_calls_of_unscaling_are_checked_as_in_torch():
    torch = pytest.importorskip("torch")
    for library in (ag, torch):
        unscale = library._amp_foreach_non_finite_check_and_unscale_
        one, found = library.ones(2), library.tensor(0.0)
        half = library.tensor(0.5)
        for args, error, text in [
            (([one.long()], found, half), NotImplementedError, "not implemented for"),
            (([one], library.zeros(2), half), RuntimeError, "found_inf must be a 1-element tensor"),
            (([one], found, library.zeros(2)), RuntimeError, "inv_scale must be a 1-element"),
            (([one], found, half.double()), RuntimeError, "inv_scale must be a float tensor"),
        ]:
            with pytest.raises(error, match=text):
                unscale(*args)
        assert unscale([], found, half) is None
        many = [one, library.tensor([1.0, math.inf]), library.ones(3, 2).t(), library.ones(0)]
        unscale(many, found, half)
        assert [x.tolist() for x in many] == [[0.5] * 2, [0.5, math.inf], [[0.5] * 3] * 2, []]
        assert found.item() == 1.0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan, None])
def test_every_place_is_looked_at(dtype, bad):
    for place in (0, 513, 70_000):
        x = ag.ones(70_001, dtype=getattr(ag, dtype))
        if bad is not None:
            x[place] = bad
        found = ag.tensor(0.0)
        ag._amp_foreach_non_finite_check_and_unscale_([ag.ones(3), x], found, ag.tensor(2.0))
        assert found.item() == (bad is not None)
        assert x[1].item() == 2.0


def test_the_scale_moves_as_in_torch():
    torch = pytest.importorskip("torch")
    for start, tracker, found in [(4, 0, 0), (4, 1, 0), (4, 1, 1), (3e38, 1, 0), (1e-45, 0, 2)]:
        seen = []
        for library in (ag, torch):
            scale = library.tensor(float(start))
            count = library.tensor(tracker, dtype=library.int32)
            bad = library.tensor(float(found))
            library._amp_update_scale_(scale, count, bad, 2.0, 0.5, 2)
            seen.append((scale.item(), count.item()))
        assert seen[0] == seen[1]


# --- where a step is no step -------------------------------------------------------------------


@each
def test_examples_of_a_vmap_are_refused(name):
    def step(x):
        y = x.clone().detach().requires_grad_()
        y.grad = ag.ones(2)
        getattr(optim, name)([y], lr=0.1).step()
        return y

    with pytest.raises(RuntimeError, match="vmap"):
        ag.vmap(step)(ag.ones(3, 2))


@each
def test_tangents_are_refused(name):
    def step(x):
        y = x.clone()
        y.retain_grad() if y.requires_grad else None
        optimizer = getattr(optim, name)([y], lr=0.1)
        y.grad = ag.ones(2)
        optimizer.step()
        return y

    with pytest.raises(NotImplementedError, match="forward AD with _fused"):
        ag.func.jvp(step, (ag.ones(2),), (ag.ones(2),))


def test_a_class_of_tensors_is_stepped():
    class Tagged(ag.Tensor):
        pass

    x = Tagged([1.0, 2.0]).requires_grad_()
    for name in FUSED:
        x.grad = ag.ones(2)
        getattr(optim, name)([x], lr=0.1).step()
    assert type(x) is Tagged and x.requires_grad and x[0].item() < 1


def test_groups_are_dicts_that_are_copied_and_saved():
    x, optimizer = made("Adam")
    group = optimizer.param_groups[0]
    assert isinstance(group, dict) and group == {**group} and repr(group) == repr(dict(group))
    copied = copy.deepcopy(optimizer)
    x.grad = ag.ones(5)
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 3.0
    assert copied.param_groups[0]["lr"] == 0.1
    assert type(optimizer.state_dict()["param_groups"][0]) is dict
    assert copy.copy(group) == group and copy.copy(group).rates == {}


# --- scalers and steps of others ------------------------------------------------------------------


class Scaling(ag.optim.SGD):
    """A step that takes scale and overflow from the scaler, as fused ones of other packages do."""

    def __init__(self, params):
        super().__init__(params, lr=0.5)
        self._step_supports_amp_scaling = True

    def step(self, closure=None, *, grad_scaler=None):
        found = grad_scaler._check_inf_per_device(self)
        assert grad_scaler._found_inf_per_device(self) is found
        if not any(found.values()):
            for group in self.param_groups:
                for param in group["params"]:
                    param.data -= group["lr"] * param.grad / grad_scaler._get_scale_async()


@pytest.mark.parametrize("factor", [1.0, float("inf")])
def test_a_step_that_gets_the_scaler_asks_it_for_overflow(factor):
    p = ag.nn.Parameter(ag.ones(2))
    optimizer, scaler = Scaling([p]), ag.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale((p * factor).sum()).backward()
    with pytest.warns(FutureWarning, match="stop passing itself"):
        scaler.step(optimizer)
    scaler.update()
    assert p.tolist() == ([0.5, 0.5] if factor == 1 else [1.0, 1.0])
    assert scaler.get_scale() == (4.0 if factor == 1 else 2.0)


class Watching(ag.amp.GradScaler):
    """A scaler whose parts are overridden, as those for parameters in pieces are."""

    def __init__(self):
        super().__init__("cpu", init_scale=4.0)
        self.called = []

    def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
        self.called.append(("unscale", inv_scale.item(), found_inf.item(), allow_fp16))
        return super()._unscale_grads_(optimizer, inv_scale, found_inf, allow_fp16)

    def _maybe_opt_step(self, optimizer, optimizer_state, *args, **kwargs):
        found = {str(k): v.item() for k, v in optimizer_state["found_inf_per_device"].items()}
        self.called.append(("step", found, args, kwargs))
        return super()._maybe_opt_step(optimizer, optimizer_state, *args, **kwargs)


@pytest.mark.parametrize("explicit", [False, True])
def test_parts_of_a_scaler_may_be_overridden(explicit):
    p = ag.nn.Parameter(ag.ones(2))
    optimizer, scaler = ag.optim.LBFGS([p]), Watching()
    optimizer.step = lambda *args, **kwargs: "stepped"
    scaler.scale(p.sum()).backward()
    if explicit:
        scaler.unscale_(optimizer)
    assert scaler.step(optimizer, 1, two=2) == "stepped"
    assert p.grad.tolist() == [1.0, 1.0]
    assert scaler.called == [
        ("unscale", 0.25, 0.0, False),
        ("step", {"cpu": 0.0}, (1,), {"two": 2}),
    ]
    fused = ag.optim.SGD([p])
    scaler.called.clear()
    scaler.update()
    scaler.scale(p.sum()).backward()
    scaler.step(fused)
    assert scaler.called == [("unscale", 1.0, 0.0, True)]


def test_nothing_is_stepped_before_the_first_losses():
    p = ag.nn.Parameter(ag.ones(2))
    scaler = ag.amp.GradScaler("cpu")
    for call in (scaler.step, scaler.unscale_, scaler._check_inf_per_device):
        with pytest.raises(AssertionError, match="_scale is None"):
            call(ag.optim.SGD([p]))
    with pytest.raises(AssertionError, match="Attempted update but _scale is None"):
        scaler.update()
