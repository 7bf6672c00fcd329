"""Networks, modules, optimizers and what belongs to a training on CUDA: the CPU's numbers."""

import numpy as np
import pytest
from borrowed import NAME, borrowed, generators, near  # noqa: F401

import autograd_cy as ag
from autograd_cy import nn

training = borrowed("test_training_on_a_device")
layers = borrowed("test_layers_on_a_device")

# Some gradients are noise around zero, which these make as large as others: by a larger eps they
# don't. A step of SGD keeps noise as small as it is.
training.OPTIMIZERS["AdamW"] = lambda p: ag.optim.AdamW(p, lr=0.01, weight_decay=0.1, eps=1e-2)


class Training(layers.Training):
    def __init__(self, module, args, place):
        super().__init__(module, args, place)
        held = [*self.module.parameters(), *self.leaves]
        self.optimizer = ag.optim.SGD(held, lr=0.01, momentum=0.9)


METHODS = {
    "SGD": {"momentum": 0.9, "nesterov": True},
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "Adagrad": {},
    "Adadelta": {},
    "Adamax": {},
    "ASGD": {},
    "NAdam": {},
    "RAdam": {},
    "RMSprop": {"centered": True, "momentum": 0.5},
    "Rprop": {},
}


@pytest.mark.parametrize("method", training.OPTIMIZERS)
@pytest.mark.parametrize(
    "kind", [training.MLP, training.LeNet, training.LSTM, training.Transformer]
)
def test_a_training_gives_what_the_cpu_gives(kind, method):
    expected = training.Run(kind, method, "cpu").train()
    run = training.Run(kind, method, f"{NAME}:0").train()
    assert run.outcome() == expected.outcome()
    assert expected.losses[0].item() != expected.losses[-1].item()


def test_a_training_on_the_second_device():
    run = training.Run(training.MLP, "AdamW", f"{NAME}:1").train()
    assert all(p.device == ag.device(NAME, 1) for p in run.net.parameters())
    assert run.outcome() == training.Run(training.MLP, "AdamW", "cpu").train().outcome()


@pytest.mark.parametrize("method", METHODS)
def test_each_optimizer_steps_as_on_the_cpu(method, monkeypatch):
    make = getattr(ag.optim, method)
    monkeypatch.setitem(training.OPTIMIZERS, method, lambda p: make(p, lr=0.01, **METHODS[method]))
    runs = [training.Run(training.MLP, method, place).train() for place in ("cpu", NAME)]
    assert runs[0].outcome() == runs[1].outcome()
    states = [
        [near(t) for s in run.optimizer.state.values() for t in s.values() if ag.is_tensor(t)]
        for run in runs
    ]
    assert states[0] == states[1]


def test_lbfgs_finds_the_minimum():
    found = []
    for place in ("cpu", NAME):
        x = ag.tensor([1.5, -0.5], dtype=ag.float64, device=place, requires_grad=True)
        optimizer = ag.optim.LBFGS([x], lr=0.5, max_iter=8)

        def closure(x=x, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (x[0] - 2).square() + (x[1] * x[0] + 1).square()
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
        found.append(near(x))
    assert found[0] == found[1]


def test_a_step_that_overflows_is_left_out():
    runs = []
    for place in ("cpu", NAME):
        run = training.Run(training.MLP, "SGD", place)
        x, y = run.batches[0]
        run.step(x, y)
        run.step(x * float("inf"), y)
        run.step(x, y)
        runs.append((run.outcome(), run.scaler.get_scale()))
    assert runs[0] == runs[1]
    assert runs[1][1] == 4.0  # half of what it was


def test_gradients_accumulate_in_place():
    run = training.Run(training.MLP, "SGD", NAME)
    x, y = run.batches[0]
    run.net.loss(run.net(x), y).backward()
    kept = [(p, p.grad, p.grad.data_ptr()) for p in run.net.parameters()]
    run.net.loss(run.net(x), y).backward()
    for p, grad, address in kept:
        assert p.grad is grad and grad.data_ptr() == address


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "options", "args"), layers.CASES)
def test_two_steps_of_each_module(name, options, args):
    args = layers.given(args, np.random.default_rng(3))
    module = layers.module_of(name, options)
    runs = [Training(module, args, place) for place in ("cpu", f"{NAME}:0")]
    for run in runs:
        ag.manual_seed(6)
        run.step()
        run.step()
    assert runs[0].outcome() == runs[1].outcome()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", layers.STEPS)
def test_what_belongs_to_a_training(name):
    outcomes = []
    for place in ("cpu", f"{NAME}:0"):
        ag.manual_seed(7)
        outcomes.append([near(t) for t in layers.STEPS[name](place)])
    assert outcomes[0] == outcomes[1]


def test_batches_come_by_pinned_memory():
    ag.manual_seed(2)
    data = ag.utils.data.TensorDataset(ag.rand(12, 3), ag.randint(0, 2, (12,)))
    loader = ag.utils.data.DataLoader(data, batch_size=4, pin_memory=True, num_workers=0)
    net = nn.Linear(3, 2).to(NAME)
    optimizer = ag.optim.SGD(net.parameters(), lr=0.1)
    seen = []
    for x, y in loader:
        assert x.is_pinned() and y.is_pinned()
        there = x.to(NAME, non_blocking=True), y.to(NAME, non_blocking=True)
        seen.append((near(x), near(there[0])))
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(there[0]), there[1]).backward()
        optimizer.step()
    assert len(seen) == 3 and all(a == b for a, b in seen)


@pytest.mark.parametrize("pinned", [False, True])
def test_saved_tensors_wait_on_the_host(pinned):
    found = []
    for place in ("cpu", NAME):
        ag.manual_seed(5)
        x = ag.rand(4, 4).to(place).requires_grad_()
        with ag.autograd.graph.save_on_cpu(pin_memory=pinned and place == NAME):
            y = (x.exp() * x.tanh() @ x).sum()
        y.backward()
        found.append(near(x.grad))
    assert found[0] == found[1]
    ag.zeros(1).pin_memory()  # lets go of pinned memory whose copies have ended


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoints_compute_again(reentrant):
    found = []
    for place in ("cpu", NAME):
        ag.manual_seed(5)
        x = ag.rand(4, 4).to(place).requires_grad_()
        ag.manual_seed(6)
        y = ag.utils.checkpoint.checkpoint(
            lambda t: nn.functional.dropout(t.exp(), 0.5) @ t, x, use_reentrant=reentrant
        )
        y.sum().backward()
        found.append((near(y), near(x.grad)))
    assert found[0] == found[1]


def square(x):
    return (x.tanh() @ x).square().sum()


TRANSFORMS = {
    "grad": lambda x: ag.func.grad(square)(x),
    "grad of grad": lambda x: ag.func.grad(lambda t: ag.func.grad(square)(t).sum())(x),
    "vmap of grad": lambda x: ag.func.vmap(ag.func.grad(lambda t: t.exp().sum()))(x),
    "jacrev": lambda x: ag.func.jacrev(lambda t: t.softmax(0))(x[0]),
    "jacfwd": lambda x: ag.func.jacfwd(lambda t: t.softmax(0))(x[0]),
    "hessian": lambda x: ag.func.hessian(lambda t: t.prod().sin())(x[0]),
    "vjp": lambda x: ag.func.vjp(lambda t: t @ t, x)[1](x)[0],
    "jvp": lambda x: ag.func.jvp(lambda t: t @ t, (x,), (x,))[1],
    "linearize": lambda x: ag.func.linearize(lambda t: t.sin() * t, x)[1](x),
    "vmap with draws": lambda x: ag.func.vmap(
        lambda t: nn.functional.dropout(t, 0.5), randomness="different"
    )(x),
    "vmap of a reduction": lambda x: ag.func.vmap(lambda t: t.var(0), in_dims=1)(x),
    "gradients of functions": lambda x: ag.autograd.functional.hessian(square, x),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    found = []
    for place in ("cpu", NAME):
        ag.manual_seed(5)
        x = ag.rand(3, 3, dtype=ag.float64).to(place)
        ag.manual_seed(6)
        made = TRANSFORMS[name](x)
        assert made.device.type == ag.device(place).type
        found.append(near(made))
    assert found[0] == found[1]


def test_gradients_are_those_of_differences():
    x = ag.rand(3, 3, dtype=ag.float64, device=NAME, requires_grad=True)
    assert ag.autograd.gradcheck(lambda t: (t.exp() @ t).sum(0), (x,))
    assert ag.autograd.gradgradcheck(lambda t: t.tanh() @ t, (x,))
    assert ag.autograd.gradcheck(lambda t: t.sin() * t, (x,), fast_mode=True)
    assert ag.autograd.gradcheck(lambda t: t.sin() * t, (x,), check_forward_ad=True)
