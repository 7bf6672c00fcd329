"""Optimizers whose steps are recorded: what they refuse and save, and programs with them."""

import copy
import gc
import io
import pickle
import weakref

import numpy as np
import pytest
from recorded_steps import NAMES, options_of

import autograd_cy as ag
from autograd_cy import optim

FUSED = ("Adagrad", "Adam", "AdamW", "SGD")


def made(name, library=ag, start=(1.0, -2.0), **options):
    """Return a leaf, a clone of it with a gradient, and an optimizer of the clone."""
    leaf = library.tensor(start, dtype=library.float64, requires_grad=True)
    w = leaf.clone()
    w.grad = 2 * w.clone()
    return leaf, w, getattr(library.optim, name)([w], differentiable=True, **options)


# --- what they refuse ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_leaf_that_requires_grad_is_refused(name):
    x = ag.ones(2, requires_grad=True)
    x.grad = ag.ones(2)
    optimizer = getattr(optim, name)([x], differentiable=True)
    state = copy.deepcopy(optimizer.state_dict()["state"])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad .* clones"):
        optimizer.step()
    assert x.tolist() == [1.0, 1.0]
    assert x._version == 0
    assert repr(optimizer.state_dict()["state"]) == repr(state)


@pytest.mark.parametrize("name", NAMES)
def test_a_view_of_a_leaf_is_refused_and_changes_nothing(name):
    x = ag.ones(4, requires_grad=True)
    w = x[:2]
    w.grad = ag.ones(2)
    optimizer = getattr(optim, name)([w], differentiable=True)
    state = copy.deepcopy(optimizer.state_dict()["state"])
    with pytest.raises(RuntimeError, match="view of a leaf"):
        optimizer.step()
    assert x.tolist() == [1.0] * 4
    assert repr(optimizer.state_dict()["state"]) == repr(state)


@pytest.mark.parametrize("name", NAMES)
def test_only_recorded_steps_take_tensors_that_are_no_leaves(name):
    w = ag.ones(2, requires_grad=True).clone()
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        getattr(optim, name)([w])
    optimizer = getattr(optim, name)([w], differentiable=True)
    optimizer.add_param_group({"params": [w * 2]})
    with pytest.raises(TypeError, match="can only optimize Tensors"):
        optimizer.add_param_group({"params": [3.0]})


@pytest.mark.parametrize("name", FUSED)
def test_fused_steps_are_not_recorded(name):
    for more in ({}, {"foreach": True}):
        with pytest.raises(RuntimeError, match="`fused` does not support `differentiable`"):
            getattr(optim, name)([ag.ones(1)], differentiable=True, fused=True, **more)


@pytest.mark.parametrize("name", FUSED)
def test_fused_steps_are_not_asked_for_later(name):
    _, w, optimizer = made(name)
    optimizer.param_groups[0]["fused"] = True
    with pytest.raises(RuntimeError, match=f"{name}: a step with fused=True is not recorded"):
        optimizer.step()
    assert w.tolist() == [1.0, -2.0]


@pytest.mark.parametrize("name", NAMES)
def test_no_parameter_is_stepped_where_another_is_refused(name):
    _, w, optimizer = made(name)
    x = ag.ones(2, requires_grad=True)
    x.grad = ag.ones(2)
    optimizer.param_groups[0]["params"].append(x)
    version, state = w._version, copy.deepcopy(optimizer.state_dict()["state"])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        optimizer.step()
    assert w.tolist() == [1.0, -2.0]
    assert w._version == version
    assert repr(optimizer.state_dict()["state"]) == repr(state)


@pytest.mark.parametrize("name", NAMES)
def test_steps_over_lists_are_recorded_of_sgd_alone(name):
    _, w, optimizer = made(name, foreach=True)
    if name == "SGD":
        optimizer.step()
        assert w.grad_fn is not None
        return
    with pytest.raises(AssertionError, match="_foreach ops don't support autograd"):
        optimizer.step()
    assert w.tolist() == [1.0, -2.0]


def test_gradients_that_do_not_fit_are_refused():
    w, count = ag.ones(2), ag.ones(2, dtype=ag.int64)
    optimizer = optim.Adam([w], differentiable=True)
    w.grad = ag.ones(2)
    w.data = ag.ones(3)
    with pytest.raises(RuntimeError, match=r"must agree: .*float32 \[3\] and .*float32 \[2\]"):
        optimizer.step()
    count.grad = ag.ones(2, dtype=ag.int64)
    with pytest.raises(RuntimeError, match="floating point or complex"):
        optim.SGD([count], differentiable=True).step()
    assert not optimizer.state


def test_a_state_of_another_method_is_refused():
    _, w, optimizer = made("Adam")
    optimizer.state[w] = {"step": ag.tensor(1.0), "exp_avg": ag.zeros(2, dtype=ag.float64)}
    with pytest.raises(RuntimeError, match="Adam: 'exp_avg_sq' of the state of a param"):
        optimizer.step()
    assert w.tolist() == [1.0, -2.0]
    assert optimizer.state[w]["step"] == 1


# --- the graph ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_steps_are_recorded_wherever_they_are_called(name):
    with ag.no_grad():
        leaf, w, optimizer = made(name)
        optimizer.step()
    assert w.grad_fn is None  # the clone was made without a graph
    leaf, w, optimizer = made(name)
    with ag.no_grad():
        optimizer.step()
    assert w.requires_grad
    (found,) = ag.autograd.grad(w.sum(), leaf)
    assert found.isfinite().all()
    assert (found != 0).any()
    assert ag.is_grad_enabled()


@pytest.mark.parametrize("name", NAMES)
def test_states_carry_the_graph_and_are_replaced(name):
    leaf, w, optimizer = made(name, **({"momentum": 0.9} if name == "SGD" else {}))
    optimizer.step()
    before = dict(optimizer.state[w])
    values = {key: value.clone() for key, value in before.items()}
    arrays = [key for key, value in before.items() if value.ndim]
    assert any(before[key].requires_grad for key in arrays) or name == "Rprop"
    w.grad = -w.clone()
    optimizer.step()
    assert optimizer.param_groups[0]["params"][0] is w
    for key, value in before.items():  # what was saved for backward is as it was
        assert ag.equal(value, values[key])
        assert value._version == 0
    (w**2).sum().backward()
    assert leaf.grad.isfinite().all()


def test_a_state_that_is_given_is_differentiated():
    _, w, optimizer = made("Adam", lr=0.1)
    m = ag.tensor([0.5, 0.2], dtype=ag.float64, requires_grad=True)
    v = ag.tensor([0.3, 0.9], dtype=ag.float64, requires_grad=True)
    optimizer.state[w] = {"step": ag.tensor(4.0), "exp_avg": m, "exp_avg_sq": v}
    optimizer.step()
    found = ag.autograd.grad(w.sum(), (m, v))
    mean, square = 0.9 * m + 0.1 * w.grad, 0.999 * v + 0.001 * w.grad**2
    direct = -0.1 * mean / (1 - 0.9**5) / ((square / (1 - 0.999**5)).sqrt() + 1e-8)
    for a, b in zip(found, ag.autograd.grad(direct.sum(), (m, v)), strict=True):
        assert ag.allclose(a, b)


def test_a_closure_computes_the_gradients():
    leaf = ag.tensor([1.0, -2.0], requires_grad=True)
    w = leaf.clone()
    optimizer = optim.SGD([w], lr=0.25, differentiable=True)

    def closure():
        loss = (w.clone() ** 2).sum()
        (w.grad,) = ag.autograd.grad(loss, w, create_graph=True)
        return loss

    with ag.no_grad():
        assert optimizer.step(closure) == 5
    assert ag.allclose(w, leaf / 2)
    assert ag.autograd.grad(w.sum(), leaf)[0].tolist() == [0.5, 0.5]


def test_hooks_run_around_recorded_steps():
    _, _, optimizer = made("Adam")
    seen = []
    optimizer.register_step_pre_hook(lambda o, *_: seen.append(o))
    optimizer.register_step_post_hook(lambda o, *_: seen.append(o))
    optimizer.step()
    assert seen == [optimizer, optimizer]


@pytest.mark.parametrize("set_to_none", [True, False])
def test_gradients_are_forgotten(set_to_none):
    _, w, optimizer = made("SGD")
    optimizer.step()
    optimizer.zero_grad(set_to_none)
    if set_to_none:
        version = w._version
        with pytest.warns(UserWarning, match="not a leaf"):  # as of any such tensor without one
            optimizer.step()
        assert w._version == version
    else:
        assert w.grad.tolist() == [0.0, 0.0]
        assert not w.grad.requires_grad


@pytest.mark.parametrize("name", NAMES)
def test_parameters_without_gradients_stay(name):
    _, _, optimizer = made(name)
    other = ag.ones(2)
    optimizer.add_param_group({"params": [other]})
    optimizer.step()
    assert other.tolist() == [1.0, 1.0]
    assert other._version == 0
    assert name == "Adagrad" or other not in optimizer.state


@pytest.mark.parametrize("name", NAMES)
def test_optimizers_are_freed_by_reference_counts(name):
    optimizer = made(name)[2]
    optimizer.step()
    there = weakref.ref(optimizer)
    gc.disable()
    try:
        del optimizer
        assert there() is None
    finally:
        gc.enable()


def test_a_step_is_not_captured():
    from autograd_cy._C import launch

    optimizer = made("Adam")[2]
    with pytest.raises(RuntimeError, match="can't be captured"):
        launch.capture(optimizer.step)
    assert not optimizer.state


# --- what is saved ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_copies_and_pickles_record_their_steps(name):
    x = ag.tensor([1.0, -2.0], dtype=ag.float64)
    x.grad = ag.tensor([0.5, 0.1], dtype=ag.float64)
    optimizer = getattr(optim, name)([x], differentiable=True)
    optimizer.step()
    file = io.BytesIO()
    ag.save(optimizer.state_dict(), file)
    file.seek(0)
    loaded = getattr(optim, name)([x.clone()], differentiable=True)
    loaded.load_state_dict(ag.load(file))
    rate = ag.tensor(0.1, dtype=ag.float64, requires_grad=True)
    after = []
    copies = [copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer)), loaded]
    for other in [*copies, optimizer]:
        (group,) = other.param_groups
        (param,) = group["params"]
        group["lr"] = rate
        param.grad = ag.tensor([-0.3, 0.7], dtype=ag.float64)
        other.step()
        assert param.requires_grad == (name not in ("Rprop", "ASGD"))  # whose state has the rate
        assert not other._step_supports_amp_scaling
        after.append(param)
    assert all(ag.equal(param, x) for param in after)


def test_states_of_recorded_steps_go_to_others():
    """A state with a graph is loaded as it is, and an ordinary step goes on with its values."""
    leaf, w, optimizer = made("Adam")
    optimizer.step()
    state = optimizer.state_dict()
    x = w.detach().clone().requires_grad_()
    ordinary = optim.Adam([x])
    ordinary.load_state_dict(state)
    recorded = optim.Adam([w.detach().clone()], differentiable=True)
    recorded.load_state_dict(state)
    x.grad = recorded.param_groups[0]["params"][0].grad = ag.ones(2, dtype=ag.float64)
    optimizer.step()
    recorded.step()
    (param,) = recorded.param_groups[0]["params"]
    (found,) = ag.autograd.grad(param.sum(), leaf)
    assert (found != 0).all()


# --- with other parts ---------------------------------------------------------------------------

SCHEDULES = {
    "LambdaLR": lambda o: optim.lr_scheduler.LambdaLR(o, lambda k: 0.5**k),
    "StepLR": lambda o: optim.lr_scheduler.StepLR(o, 1, 0.5),
    "ExponentialLR": lambda o: optim.lr_scheduler.ExponentialLR(o, 0.5),
}


@pytest.mark.parametrize("name", ["SGD", "Adam", "ASGD"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules_change_the_rate_of_recorded_steps(name, schedule):
    def run(differentiable, lr):
        leaf = ag.tensor([1.0, -2.0], dtype=ag.float64, requires_grad=True)
        w = leaf.clone() if differentiable else leaf
        optimizer = getattr(optim, name)([w], lr=lr, differentiable=differentiable)
        rates = SCHEDULES[schedule](optimizer)
        for k in range(3):
            w.grad = ag.tensor([1.0, 0.5 - k], dtype=ag.float64)
            optimizer.step()
            rates.step()
        return w, rates.get_last_lr()

    expected, rates = run(False, 0.1)
    recorded, same = run(True, 0.1)
    assert rates == same == [0.0125]
    assert ag.allclose(recorded, expected, rtol=1e-6)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        run(True, ag.tensor(0.1, requires_grad=True))  # a schedule writes into the tensor
    rate = ag.tensor(0.1, dtype=ag.float64, requires_grad=True)
    scheduled, _ = run(True, rate * 1)
    assert ag.allclose(scheduled, expected, rtol=1e-6)
    scheduled.sum().backward()  # what schedules write has no derivative


@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_scales_of_losses_leave_no_trace_in_derivatives(name, explicit):
    def run(scaled):
        leaf = ag.tensor([1.0, -2.0], dtype=ag.float64, requires_grad=True)
        w = leaf.clone()
        optimizer = getattr(optim, name)([w], lr=0.1, differentiable=True)
        scaler = ag.amp.GradScaler("cpu", init_scale=8.0, enabled=scaled)
        for _ in range(2):
            loss = scaler.scale((w.clone() ** 3).sum())
            (w.grad,) = ag.autograd.grad(loss, w, create_graph=True)
            if explicit:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
        (found,) = ag.autograd.grad((w * w).sum(), leaf)
        return w, found, w.grad

    for a, b in zip(run(True), run(False), strict=True):
        assert ag.allclose(a, b, rtol=1e-6), name


@pytest.mark.parametrize("name", NAMES)
def test_a_step_that_overflowed_is_left_out(name):
    _, w, optimizer = made(name)
    before = copy.copy(optimizer.state_dict()["state"])
    scaler = ag.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(w.sum())
    w.grad = (w.clone() * float("inf")).detach() if name == "SGD" else w.clone() * float("inf")
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 4.0
    assert w.tolist() == [1.0, -2.0]
    assert repr(optimizer.state_dict()["state"]) == repr(before)


# --- programs -----------------------------------------------------------------------------------


RATE = 1e-4  # at which learning rates are learned


def regression(library, seed=0):
    rng = np.random.default_rng(seed)
    x = library.tensor(rng.normal(size=(16, 3)))
    return x, (x @ library.tensor(rng.normal(size=(3, 1)))).tanh()


def forward(params, x):
    first, bias, second = params
    return (x @ first + bias).tanh() @ second


def start_of(library, seed=1):
    rng = np.random.default_rng(seed)
    shapes = ((3, 5), (5,), (5, 1))
    return [library.tensor(0.5 * rng.normal(size=s)).requires_grad_() for s in shapes]


def unrolled(library, name, meta, lr, steps, data, **options):
    """Return parameters after some steps on a task, in a graph that begins at `meta`."""
    x, y = data
    params = [p.clone() for p in meta]
    optimizer = getattr(library.optim, name)(params, lr=lr, differentiable=True, **options)
    for _ in range(steps):
        # Copies, as the graph of the loss saves what the step changes.
        seen = [p.clone() for p in params]
        loss = ((forward(seen, x) - y) ** 2).mean()
        for p, g in zip(params, library.autograd.grad(loss, seen, create_graph=True)):
            p.grad = g
        optimizer.step()
    return params


def loss_after(library, rate):
    """Return the loss after five steps with a rate."""
    x, y = regression(library)
    params = unrolled(library, "SGD", start_of(library), rate, 5, (x, y))
    return ((forward(params, x) - y) ** 2).mean()


def learn_a_rate(library, steps=4):
    """Return learning rates as hypergradients change them, and the losses."""
    rate = library.tensor(0.02, dtype=library.float64, requires_grad=True)
    outer = library.optim.SGD([rate], lr=RATE)
    seen = []
    for _ in range(steps):
        loss = loss_after(library, rate)
        outer.zero_grad()
        loss.backward()
        outer.step()
        seen.append((rate.item(), loss.item()))
    return np.array(seen)


def learn_to_start(library, name="Adam", steps=4):
    """Return losses over several tasks after two inner steps, as the start is learned (MAML)."""
    meta = start_of(library)
    outer = library.optim.Adam(meta, lr=0.05)
    seen = []
    for _ in range(steps):
        outer.zero_grad()
        total = 0.0
        for task in range(3):
            data = regression(library, task)
            params = unrolled(library, name, meta, 0.05, 2, data, eps=1e-3)
            loss = ((forward(params, data[0]) - data[1]) ** 2).mean()
            loss.backward()
            total += loss.item()
        outer.step()
        seen.append(total)
    return np.array(seen), np.concatenate([p.grad.numpy().ravel() for p in meta])


def test_a_learning_rate_is_learned():
    rates, losses = learn_a_rate(ag).T
    assert (np.diff(rates) > 0).all()
    assert (np.diff(losses) < 0).all()
    # The derivative behind the first change is that of the loss.
    h = 1e-6
    derivative = (loss_after(ag, 0.02 + h) - loss_after(ag, 0.02 - h)).item() / (2 * h)
    np.testing.assert_allclose(rates[0], 0.02 - RATE * derivative, rtol=1e-6)


@pytest.mark.parametrize("name", [n for n in NAMES if "eps" in options_of(n)])
def test_a_start_is_learned(name):
    losses, _ = learn_to_start(ag, name)
    assert losses[-1] < losses[0]


def test_programs_learn_what_they_do_in_torch():
    torch = pytest.importorskip("torch")
    np.testing.assert_allclose(learn_a_rate(ag), learn_a_rate(torch), rtol=1e-9)
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # in which its Adam corrects means if it is recorded
    try:
        theirs = learn_to_start(torch)
    finally:
        torch.set_default_dtype(default)
    for a, b in zip(learn_to_start(ag), theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


# --- parameters that share memory ---------------------------------------------------------------


def test_views_of_one_vector_are_stepped_in_it():
    leaf = ag.tensor([1.0, -2.0, 0.5, 3.0], dtype=ag.float64, requires_grad=True)

    def run(vector):
        parts = vector[:2], vector[2:].view(2, 1)
        optimizer = optim.Adam(parts, lr=0.1, differentiable=True)
        for _ in range(2):
            for part in parts:
                part.grad = part.clone() ** 2
            optimizer.step()
        return vector

    whole = run(leaf.clone())
    assert whole.grad_fn.name().endswith("CopySlices")
    apart = leaf.clone()
    optimizer = optim.Adam([apart], lr=0.1, differentiable=True)
    for _ in range(2):
        apart.grad = apart.clone() ** 2
        optimizer.step()
    assert ag.allclose(whole, apart)
    weights = ag.tensor([1.0, 2.0, 3.0, 4.0], dtype=ag.float64)
    one, other = (ag.autograd.grad((x * weights).sum(), leaf)[0] for x in (whole, apart))
    assert ag.allclose(one, other)


def test_parts_of_one_operation_are_refused_and_stay():
    parts = ag.ones(4, requires_grad=True).clone().chunk(2)
    optimizer = optim.Adam([parts[0]], differentiable=True)
    parts[0].grad = ag.ones(2)
    with pytest.raises(RuntimeError, match="multiple views"):
        optimizer.step()
    assert not optimizer.state
    assert parts[0].tolist() == [1.0, 1.0]


def test_a_group_follows_the_defaults_of_its_optimizer():
    """As in torch, the optimizer says whether steps are recorded, and not a group."""
    leaf = ag.ones(2, requires_grad=True)
    w = leaf.clone()
    optimizer = optim.Adam([{"params": [w], "differentiable": False}], differentiable=True)
    w.grad = w.clone()
    optimizer.step()
    assert w.requires_grad
    other = optim.Adam([{"params": [leaf], "differentiable": True}])
    leaf.grad = ag.ones(2)
    other.step()
    assert leaf.is_leaf
    assert all(not value.requires_grad for value in other.state[leaf].values())


@pytest.mark.parametrize("name", NAMES)
def test_steps_on_meta_have_shapes_and_a_graph(name):
    rate = ag.tensor(0.1, requires_grad=True)
    w = ag.ones(3, device="meta", requires_grad=True).clone()
    w.grad = ag.ones(3, device="meta")
    optimizer = getattr(optim, name)([w], differentiable=True)
    optimizer.step()
    optimizer.param_groups[0]["lr"] = rate.to("meta")
    optimizer.step()
    assert w.is_meta
    assert w.shape == (3,)
    assert w.requires_grad
    assert all(value.is_meta for value in optimizer.state[w].values())
