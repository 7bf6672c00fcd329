"""Networks that people train, with small sizes, and trainings of them: for test_training_steps."""

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.nn import functional
from autograd_cy.optim.lr_scheduler import CosineAnnealingLR

PIECES = 4  # batches that a training goes round
LENGTH = 20  # of sequences


class MLP(nn.Module):
    """Three layers."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4)
        )

    def forward(self, x):
        return self.layers(x)

    @staticmethod
    def batch():
        return ag.randn(8, 10), ag.randint(0, 4, (8,))

    loss = staticmethod(functional.cross_entropy)


class LeNet(nn.Module):
    """Two convolutions with pooling, and three layers."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 6, 5, padding=2)
        self.second = nn.Conv2d(6, 8, 5)
        self.layers = nn.Sequential(
            nn.Linear(32, 20), nn.ReLU(), nn.Linear(20, 12), nn.ReLU(), nn.Linear(12, 10)
        )

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.first(x)), 2)
        x = functional.max_pool2d(functional.relu(self.second(x)), 2)
        return self.layers(x.flatten(1))

    @staticmethod
    def batch():
        return ag.randn(4, 1, 16, 16), ag.randint(0, 10, (4,))

    loss = staticmethod(functional.cross_entropy)


class Block(nn.Module):
    """Two convolutions with norms, and what goes past them."""

    def __init__(self, before, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or before != channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(before, channels, 1, stride, bias=False), nn.BatchNorm2d(channels)
            )

    def forward(self, x):
        past = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.bn2(self.conv2(x))
        x += past
        return self.relu(x)


class ResNet18(nn.Module):
    """Eight blocks of two convolutions, with few channels."""

    def __init__(self, channels=4):
        super().__init__()
        self.conv1 = nn.Conv2d(3, channels, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        layers, before = [], channels
        for stage in range(4):
            after = channels * 2**stage
            layers += [Block(before, after, 1 + (stage > 0)), Block(after, after, 1)]
            before = after
        self.layers = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(before, 5)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        return self.fc(self.avgpool(self.layers(x)).flatten(1))

    @staticmethod
    def batch():
        return ag.randn(8, 3, 32, 32), ag.randint(0, 5, (8,))

    loss = staticmethod(functional.cross_entropy)


class Encoder(nn.Module):
    """An embedding with a layer of a transformer's encoder."""

    dropout = 0.0

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(13, 16)
        self.block = nn.TransformerEncoderLayer(16, 4, 32, dropout=self.dropout, batch_first=True)
        self.out = nn.Linear(16, 13)

    def forward(self, x):
        return self.out(self.block(self.words(x))).flatten(0, 1)

    @staticmethod
    def batch():
        return ag.randint(0, 13, (2, 6)), ag.randint(0, 13, (12,))

    loss = staticmethod(functional.cross_entropy)


class EncoderWithDropout(Encoder):
    """A network as above, with dropout."""

    dropout = 0.1


class LSTM(nn.Module):
    """An LSTM of twenty steps over an embedding."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 6)
        self.cells = nn.LSTM(6, 8, batch_first=True)
        self.out = nn.Linear(8, 11)

    def forward(self, x):
        return self.out(self.cells(self.words(x))[0][:, -1])

    @staticmethod
    def batch():
        return ag.randint(0, 11, (3, LENGTH)), ag.randint(0, 11, (3,))

    loss = staticmethod(functional.cross_entropy)


NETWORKS = (MLP, LeNet, ResNet18, Encoder, EncoderWithDropout, LSTM)

OPTIMIZERS = {
    "SGD": lambda p: ag.optim.SGD(p, lr=0.01, momentum=0.9),
    "AdamW": lambda p: ag.optim.AdamW(p, lr=0.01),
}


class Training:
    """A network with all that belongs to its training, on a device."""

    def __init__(self, kind, place, method="SGD", clipping=False, mixed=None, dtype=None):
        ag.manual_seed(3)
        self.net = kind().to(dtype)
        batches = [kind.batch() for _ in range(PIECES)]
        self.net.to(place)
        self.batches = [(self._placed(x, place, dtype), y.to(place)) for x, y in batches]
        self.optimizer = OPTIMIZERS[method](self.net.parameters())
        self.schedule = CosineAnnealingLR(self.optimizer, 100)
        self.place, self.clipping, self.mixed = ag.device(place).type, clipping, mixed
        self.scaler = ag.amp.GradScaler(self.place, init_scale=8.0, enabled=mixed is not None)
        ag.manual_seed(5)  # of dropout

    @staticmethod
    def _placed(x, place, dtype):
        return x.to(place, dtype if x.is_floating_point() else None)

    def forward(self, number=0):
        x, y = self.batches[number % PIECES]
        with ag.autocast(self.place, self.mixed or ag.bfloat16, enabled=self.mixed is not None):
            return self.net.loss(self.net(x), y)

    def step(self, number=0):
        self.optimizer.zero_grad()
        loss = self.forward(number)
        self.scaler.scale(loss).backward()
        if self.clipping:
            self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.schedule.step()
        return loss.detach()

    def train(self, steps):
        """Return the losses, which stay on the device."""
        losses = ag.zeros(steps, device=self.place, dtype=ag.float64)
        for number in range(steps):
            losses[number] = self.step(number)
        return losses
