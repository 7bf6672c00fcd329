"""Captured steps of all optimizers: a replay goes on as the next eager step would, bit by bit."""

import copy
import gc
import pickle
import weakref

import pytest

import autograd_cy as ag
from autograd_cy._C.launch import capture

CASES = [
    ("SGD", {"lr": 0.1, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True, "maximize": True}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.5, "initial_accumulator_value": 0.1}),
    ("Adadelta", {"lr": 0.5}),
    ("Adamax", {"lr": 0.1}),
    ("RMSprop", {"lr": 0.1, "momentum": 0.5, "centered": True}),
    ("RMSprop", {"lr": 0.1}),
    ("Rprop", {"lr": 0.1}),
    ("ASGD", {"lr": 0.1, "t0": 2.0, "lambd": 0.1}),
    ("NAdam", {"lr": 0.1}),
    (
        "RAdam",
        {"lr": 0.1, "betas": (0.9, 0.6), "weight_decay": 0.1, "decoupled_weight_decay": True},
    ),
]
cases = pytest.mark.parametrize(("name", "options"), CASES, ids=str)
counted = pytest.mark.parametrize(  # SGD has no number of steps
    ("name", "options"), [case for case in CASES if case[0] != "SGD"], ids=str
)
SHAPES = [(3, 2), (5,), (), (0,)]


def bits(tensors):
    return [t.detach().clone().numpy().tobytes() for t in tensors]


class Pair:
    """An optimizer of which steps are replayed, and one of the same that steps eagerly."""

    def __init__(self, name, options, dtype=ag.float32, seed=0):
        generator = ag.Generator().manual_seed(seed)
        self.draw = lambda shape: ag.randn(shape, generator=generator).to(dtype)
        self.params = [self.draw(shape).requires_grad_() for shape in SHAPES]
        self.others = [p.detach().clone().requires_grad_() for p in self.params]
        for p in (*self.params, *self.others):
            p.grad = ag.zeros_like(p)
        self.mine = getattr(ag.optim, name)(self.params, **options)
        self.plain = getattr(ag.optim, name)(self.others, **options)

    def gradients(self, scale=1.0):
        for p, q in zip(self.params, self.others):
            p.grad.copy_(self.draw(p.shape) * scale)
            q.grad.copy_(p.grad)

    def check(self):
        assert bits(self.params) == bits(self.others)
        for p, q in zip(self.params, self.others):
            mine, theirs = self.mine.state[p], self.plain.state[q]
            assert mine.keys() == theirs.keys()
            assert bits(mine.values()) == bits(theirs.values())


@cases
@pytest.mark.parametrize("dtype", [ag.float32, ag.complex128, ag.bfloat16], ids=str)
def test_replays_from_the_first_step_on_are_eager_steps(name, options, dtype):
    pair = Pair(name, options, dtype)
    pair.gradients()
    program = capture(pair.mine.step)  # it is done, too
    pair.plain.step()
    pair.check()
    for _ in range(7):
        pair.gradients()
        program.replay()
        pair.plain.step()
        pair.check()


@cases
def test_replays_in_other_memory_write_what_they_name_alone(name, options):
    pair = Pair(name, options)
    pair.gradients()
    for optimizer in (pair.mine, pair.plain):
        optimizer.step()
    pair.gradients()
    program = capture(pair.mine.step)
    pair.plain.step()
    for _ in range(2):
        program.replay_elsewhere(pair.params)
        pair.plain.step()
        pair.check()


@cases
def test_a_replay_follows_the_schedule(name, options):
    pair = Pair(name, options)
    schedules = [
        ag.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
        for optimizer in (pair.mine, pair.plain)
    ]
    pair.gradients()
    program = capture(pair.mine.step)
    pair.plain.step()
    for _ in range(4):
        for schedule in schedules:
            schedule.step()
        pair.gradients()
        program.replay()
        pair.plain.step()
        pair.check()


def by_hand(group):
    group["lr"] = 0.25


def updated(group):
    group.update(lr=0.25)


def joined(group):
    group |= {"lr": 0.25}


@pytest.mark.filterwarnings("ignore:Detected call of")
@pytest.mark.parametrize("write", [by_hand, updated, joined])
@pytest.mark.parametrize("name", ["SGD", "Adam", "ASGD"])
def test_a_replay_follows_what_a_program_writes_into_the_group(name, write):
    pair = Pair(name, {"lr": 0.1})
    pair.gradients()
    program = capture(pair.mine.step)
    pair.plain.step()
    write(pair.mine.param_groups[0])
    pair.plain.param_groups[0]["lr"] = 0.25
    pair.gradients()
    program.replay()
    pair.plain.step()
    pair.check()


def test_a_replay_follows_loaded_options():
    pair = Pair("Adagrad", {"lr": 0.1})
    program = capture(pair.mine.step)
    pair.plain.step()
    saved = ag.optim.Adagrad([ag.ones(1)] * 1, lr=0.5)
    groups = pair.mine.state_dict()
    groups["param_groups"][0]["lr"] = saved.param_groups[0]["lr"]
    states = dict(pair.mine.state)
    pair.mine.load_state_dict(groups)
    # Steps go on with the tensors of the state that was loaded; the launch has those from before.
    for p, state in states.items():
        pair.mine.state[p] = state
    pair.plain.param_groups[0]["lr"] = 0.5
    pair.gradients()
    program.replay()
    pair.plain.step()
    pair.check()


@pytest.mark.parametrize("name", ["SGD", "NAdam"])
def test_a_captured_training_from_its_beginning_is_done_again(name):
    def train():
        x = ag.ones(3).requires_grad_()
        optimizer = getattr(ag.optim, name)([x], lr=0.1)
        schedule = ag.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        for _ in range(3):
            x.grad = ag.full((3,), 0.5)
            optimizer.step()
            schedule.step()
        found.append(x)

    found = []
    program = capture(train)
    train()
    program.poison()
    program.replay()
    assert found[0].tolist() == found[1].tolist()


@pytest.mark.parametrize("name", ["SGD", "AdamW"])
def test_a_rate_in_a_tensor_is_read_by_replays(name):
    rate = ag.tensor(0.1, dtype=ag.float64)
    pair = Pair(name, {"lr": rate})
    pair.plain.param_groups[0]["lr"] = 0.1
    pair.gradients()
    program = capture(pair.mine.step)
    pair.plain.step()
    rate.fill_(0.3)
    pair.plain.param_groups[0]["lr"] = 0.3
    program.replay()
    pair.plain.step()
    pair.check()


@pytest.mark.parametrize("name", ["SGD", "NAdam"])
def test_parameters_that_share_memory_are_stepped_in_turn_by_replays_too(name):
    def made():
        memory = ag.arange(10.0)
        params = [memory[window].requires_grad_() for window in (slice(0, 6), slice(3, 9, 2))]
        for p in params:
            p.grad = ag.ones_like(p)
        return memory, getattr(ag.optim, name)(params, lr=0.5, weight_decay=0.5)

    (mine, optimizer), (theirs, plain) = made(), made()
    program = capture(optimizer.step)
    plain.step()
    for _ in range(2):
        program.replay()
        plain.step()
    assert mine.tolist() == theirs.tolist()


@pytest.mark.filterwarnings("ignore:optimizer contains a parameter group")
def test_a_parameter_listed_twice_follows_the_schedule_too():
    params = [ag.ones(2, requires_grad=True) for _ in range(2)]
    for p in params:
        p.grad = ag.ones(2)
    mine, plain = (ag.optim.Adam([p, p], lr=0.1) for p in params)
    program = capture(mine.step)
    plain.step()
    for optimizer in (mine, plain):
        optimizer.param_groups[0]["lr"] = 0.01
    program.replay()
    plain.step()
    assert params[0].tolist() == params[1].tolist()


@counted
@pytest.mark.parametrize("count", [float("nan"), -1.0, float("-inf")])
def test_a_count_that_is_none_is_the_eager_error_in_a_replay(name, options, count):
    pair = Pair(name, options)
    program = capture(pair.mine.step)
    pair.plain.step()
    for optimizer, params in ((pair.mine, pair.params), (pair.plain, pair.others)):
        optimizer.state[params[1]]["step"].fill_(count)
    before = bits(pair.params)
    with pytest.raises(ValueError, match="parameter 1 has made") as eager:
        pair.plain.step()
    with pytest.raises(ValueError, match="parameter 1 has made") as replayed:
        program.replay()
    assert str(replayed.value) == str(eager.value)
    assert bits(pair.params) == before
    pair.mine.state[pair.params[1]]["step"].fill_(1.0)
    program.replay()  # what was wrong is forgotten


def test_a_bad_count_names_its_parameter_where_parameters_share_memory():
    memory = ag.arange(4.0)
    params = [memory[:3].requires_grad_(), memory[1:].requires_grad_()]
    for p in params:
        p.grad = ag.ones_like(p)
    optimizer = ag.optim.Adam(params, lr=0.5)
    program = capture(optimizer.step)
    optimizer.state[params[1]]["step"].fill_(float("nan"))
    with pytest.raises(ValueError, match="parameter 1 has made nan"):
        program.replay()


@counted
def test_a_caught_error_of_a_count_is_no_capture(name, options):
    pair = Pair(name, options)
    pair.mine.step()
    pair.mine.state[pair.params[0]]["step"].fill_(float("nan"))

    def caught():
        with pytest.raises(ValueError):
            pair.mine.step()

    with pytest.raises(RuntimeError, match="an error was caught"):
        capture(caught)


# --- what Python replaces after the capture -----------------------------------------------------


def loaded(optimizer):
    optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))


def cleared(optimizer):
    optimizer.state.clear()


def unpickled(optimizer):
    optimizer.__setstate__(pickle.loads(pickle.dumps(optimizer)).__getstate__())


@pytest.mark.parametrize("replace", [loaded, cleared, unpickled])
@pytest.mark.parametrize(("name", "options"), [c for c in CASES if c[0] != "SGD"], ids=str)
def test_a_replay_refuses_state_that_is_another_one_now(name, options, replace):
    pair = Pair(name, options)
    program = capture(pair.mine.step)
    replace(pair.mine)
    before = bits(pair.params)
    with pytest.raises(RuntimeError, match=f"{name}: .* replaced; capture it anew"):
        program.replay()
    assert bits(pair.params) == before


def test_a_replay_refuses_momentum_that_was_loaded():
    pair = Pair("SGD", {"lr": 0.1, "momentum": 0.9})
    program = capture(pair.mine.step)
    loaded(pair.mine)
    with pytest.raises(RuntimeError, match="SGD: 'momentum_buffer' .* replaced"):
        program.replay()


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("SGD", "weight_decay", 0.5),
        ("SGD", "maximize", True),
        ("Adam", "betas", (0.5, 0.9)),
        ("Adagrad", "lr_decay", 0.5),
        ("RMSprop", "alpha", 0.5),
        ("ASGD", "t0", 1.0),
        ("Adam", "lr", ag.tensor(0.1)),
    ],
)
def test_a_replay_refuses_options_that_changed(name, option, value):
    pair = Pair(name, {"lr": 0.1})
    program = capture(pair.mine.step)
    group = pair.mine.param_groups[0]
    before, kept = bits(pair.params), group[option]
    group[option] = value
    with pytest.raises(RuntimeError, match="the option '.*' of group 0 has changed"):
        program.replay()
    assert bits(pair.params) == before
    group[option] = kept
    program.replay()


@pytest.mark.parametrize("value", [0.5, ag.tensor(0.5)], ids=str)
def test_a_replay_refuses_another_rate_where_it_reads_a_tensor(value):
    pair = Pair("SGD", {"lr": ag.tensor(0.1)})
    program = capture(pair.mine.step)
    pair.mine.param_groups[0]["lr"] = value
    with pytest.raises(RuntimeError, match="the option 'lr' of group 0 has changed"):
        program.replay()


def test_a_replay_refuses_groups_that_were_added():
    pair = Pair("Adam", {"lr": 0.1})
    program = capture(pair.mine.step)
    pair.mine.add_param_group({"params": [ag.ones(1, requires_grad=True)]})
    with pytest.raises(RuntimeError, match="Adam: a group of parameters was added"):
        program.replay()


def other_memory(p):
    p.data = ag.zeros_like(p)


def other_gradient(p):
    p.grad = p.grad.clone()


def no_gradient(p):
    p.grad = None


@pytest.mark.parametrize(
    ("replace", "match"),
    [
        (other_memory, "a parameter has other memory"),
        (other_gradient, "the gradient of a parameter was replaced"),
        (no_gradient, "the gradient of a parameter was replaced"),
    ],
)
def test_a_replay_refuses_memory_that_is_no_longer_the_parameters(replace, match):
    pair = Pair("Adam", {"lr": 0.1})
    program = capture(pair.mine.step)
    replace(pair.params[1])
    before = bits(pair.params)
    with pytest.raises(RuntimeError, match=f"replay: Adam: {match}.*; capture it anew"):
        program.replay()
    assert bits(pair.params) == before


def test_gradients_that_the_program_makes_may_be_dropped():
    pair = Pair("SGD", {"lr": 0.1})

    def step(optimizer, params):
        optimizer.zero_grad()
        sum((p * p).sum() for p in params).backward()
        optimizer.step()

    program = capture(lambda: step(pair.mine, pair.params))
    step(pair.plain, pair.others)
    for _ in range(2):
        pair.mine.zero_grad()
        program.replay()
        step(pair.plain, pair.others)
        pair.check()


def test_a_replay_refuses_another_growth_of_the_scale():
    pair = Pair("SGD", {"lr": 0.1})
    scaler = ag.amp.GradScaler("cpu", init_scale=4.0, growth_interval=1)
    scaler.scale(ag.ones(()))
    program = capture(lambda: (scaler.step(pair.mine), scaler.update()))
    scaler.set_growth_factor(4.0)
    with pytest.raises(RuntimeError, match="GradScaler: .*growth_factor.* has changed"):
        program.replay()
    scaler.set_growth_factor(2.0)
    program.replay()
    assert scaler.get_scale() == 16.0


def test_options_that_the_captured_function_sets_itself_are_no_change():
    pair = Pair("SGD", {"lr": 0.1})

    def steps(optimizer):
        for decay in (0.0, 0.5):
            optimizer.param_groups[0]["weight_decay"] = decay
            optimizer.step()

    pair.gradients()
    program = capture(lambda: steps(pair.mine))
    steps(pair.plain)
    pair.gradients()
    program.replay()
    steps(pair.plain)
    pair.check()


def test_a_program_keeps_no_optimizer():
    pair = Pair("Adam", {"lr": 0.1})
    program = capture(pair.mine.step)
    there = weakref.ref(pair.mine)
    del pair.mine
    gc.collect()
    assert there() is None
    program.replay()


# --- clipping and scaled losses ----------------------------------------------------------------


@pytest.mark.parametrize("norm", [2.0, 1.0, float("inf")])
def test_clipped_steps_are_replayed(norm):
    clip = ag.nn.utils.clip_grad_norm_
    pair = Pair("AdamW", {"lr": 0.1})

    def step(params, optimizer):
        total = clip(params[:-1], 0.5, norm)  # nothing has no largest element
        ag.nn.utils.clip_grad_value_(params, 0.3)
        optimizer.step()
        return total

    pair.gradients()
    totals = []
    program = capture(lambda: totals.append(step(pair.params, pair.mine)))
    step(pair.others, pair.plain)
    pair.check()
    for scale in (0.01, 3.0):
        pair.gradients(scale)
        program.replay()
        assert step(pair.others, pair.plain).item() == totals[0].item()
        pair.check()
        assert bits(p.grad for p in pair.params) == bits(p.grad for p in pair.others)


def test_a_norm_that_must_be_finite_is_read():
    p = ag.ones(2, requires_grad=True)
    p.grad = ag.ones(2)
    with pytest.raises(RuntimeError, match="values of a tensor"):
        capture(lambda: ag.nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True))


@cases
def test_scaled_losses_are_replayed_with_overflows(name, options):
    pair = Pair(name, options)
    mine, plain = (ag.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2) for _ in range(2))
    for scaler in (mine, plain):
        scaler.scale(ag.ones(()))

    def step(scaler, optimizer):
        scaler.step(optimizer)
        scaler.update()

    program = None
    for factor in (float("inf"), 1.0, 1.0, float("nan"), 1.0, 1.0, 1.0):
        pair.gradients(factor)
        if program is None:
            program = capture(lambda: step(mine, pair.mine))
        else:
            program.replay()
        step(plain, pair.plain)
        assert mine.get_scale() == plain.get_scale()
        assert mine._get_growth_tracker() == plain._get_growth_tracker()
        pair.check()
