"""Networks that train on the asynchronous device: the CPU's bits, and no reads by the host."""

import pytest
from proof import NAME, bits, no_reads

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.optim.lr_scheduler import CosineAnnealingLR

STEPS = 4


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(6, 16),
            nn.ReLU(),
            nn.Dropout(0.25),
            nn.Linear(16, 8),
            nn.Tanh(),
            nn.Linear(8, 3),
        )

    def forward(self, x):
        return self.layers(x)

    @staticmethod
    def batch():
        return ag.randn(8, 6), ag.randint(0, 3, (8,))

    loss = staticmethod(nn.functional.cross_entropy)


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.second = nn.Conv2d(4, 6, 3)
        self.out = nn.Linear(6 * 3 * 3, 5)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.norm(self.first(x)).relu(), 2)
        x = nn.functional.max_pool2d(self.second(x).relu(), 2)
        return self.out(x.flatten(1)).log_softmax(1)

    @staticmethod
    def batch():
        return ag.randn(4, 1, 16, 16), ag.randint(0, 5, (4,))

    loss = staticmethod(nn.functional.nll_loss)


class LSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 5)
        self.cells = nn.LSTM(5, 7, num_layers=2, batch_first=True)
        self.out = nn.Linear(7, 11)

    def forward(self, x):
        return self.out(self.cells(self.words(x))[0]).flatten(0, 1)

    @staticmethod
    def batch():
        return ag.randint(0, 11, (3, 6)), ag.randint(0, 11, (18,))

    loss = staticmethod(nn.functional.cross_entropy)


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(13, 16)
        self.block = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, batch_first=True)
        self.out = nn.Linear(16, 13)

    def forward(self, x):
        x = self.words(x)
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        return self.out(self.block(x, src_mask=mask, is_causal=True)).flatten(0, 1)

    @staticmethod
    def batch():
        return ag.randint(0, 13, (2, 5)), ag.randint(0, 13, (10,))

    loss = staticmethod(nn.functional.cross_entropy)


OPTIMIZERS = {
    "SGD": lambda p: ag.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "AdamW": lambda p: ag.optim.AdamW(p, lr=0.01, weight_decay=0.1),
}


class Run:
    """A network with all that belongs to its training, at one place."""

    def __init__(self, kind, method, place):
        ag.manual_seed(3)
        self.net = kind()
        self.batches = [kind.batch() for _ in range(STEPS)]
        self.net.to(place)
        self.batches = [(x.to(place), y.to(place)) for x, y in self.batches]
        self.optimizer = OPTIMIZERS[method](self.net.parameters())
        self.schedule = CosineAnnealingLR(self.optimizer, STEPS)
        self.scaler = ag.amp.GradScaler(ag.device(place).type, init_scale=8.0)
        self.losses = []
        ag.manual_seed(5)  # of dropout

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.net.loss(self.net(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.schedule.step()
        self.losses.append(loss.detach())

    def train(self):
        for x, y in self.batches:
            self.step(x, y)
        return self

    def outcome(self):
        held = [*self.losses, *self.net.parameters(), *self.net.buffers()]
        return [bits(t) for t in held]


@pytest.mark.parametrize("method", OPTIMIZERS)
@pytest.mark.parametrize("kind", [MLP, LeNet, LSTM, Transformer])
def test_a_training_has_the_bits_of_the_cpu_and_reads_nothing(late, kind, method):
    expected = Run(kind, method, "cpu").train()
    run = Run(kind, method, f"{NAME}:0")
    with no_reads(late):
        run.train()
    assert late.state()["waiting"] > 100, "the device has run its work already"
    assert run.outcome() == expected.outcome()
    first, last = expected.losses[0].item(), expected.losses[-1].item()
    assert first != last


@pytest.mark.parametrize("seed", range(3))
def test_any_legal_order_gives_the_same(late, seed):
    late.order("random", seed)
    run = Run(MLP, "AdamW", f"{NAME}:1").train()
    assert run.outcome() == Run(MLP, "AdamW", "cpu").train().outcome()


def test_a_step_that_overflows_is_left_out_without_a_read(late):
    runs = []
    for place in ("cpu", f"{NAME}:0"):
        run = Run(MLP, "SGD", place)
        x, y = run.batches[0]
        run.step(x, y)
        with no_reads(late):
            run.step(x * float("inf"), y)
            run.step(x, y)
        runs.append((run.outcome(), run.scaler.get_scale()))
    assert runs[0] == runs[1]
    assert runs[1][1] == 4.0  # half of what it was


def test_gradients_accumulate_in_place(late):
    run = Run(MLP, "SGD", f"{NAME}:0")
    x, y = run.batches[0]
    run.net.loss(run.net(x), y).backward()
    parameters = list(run.net.parameters())
    kept = [(p.grad, p.grad.data_ptr()) for p in parameters]
    run.net.loss(run.net(x), y).backward()
    for p, (grad, address) in zip(parameters, kept):
        assert p.grad is grad and grad.data_ptr() == address


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    ["Adam", "Adagrad", "Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop"],
)
def test_other_methods_read_nothing(late, method, monkeypatch):
    monkeypatch.setitem(OPTIMIZERS, method, lambda p: getattr(ag.optim, method)(p, lr=0.01))
    run = Run(MLP, method, f"{NAME}:0")
    with no_reads(late):
        run.train()
    assert run.outcome() == Run(MLP, method, "cpu").train().outcome()
