"""schedulefree: the three optimizers, their two modes, and a wrapped optimizer."""

import schedulefree
import torch
from torch import nn

from tests.packages.programs._data import fill_weights, normal, train


def results():
    inputs = normal(64, 4)
    targets = torch.cos(inputs).sum(1, keepdim=True)
    makers = {
        "SGD": lambda p: schedulefree.SGDScheduleFree(p, lr=0.1, warmup_steps=3),
        "SGD, tensor by tensor": lambda p: schedulefree.SGDScheduleFree(p, lr=0.1, foreach=False),
        "AdamW": lambda p: schedulefree.AdamWScheduleFree(p, lr=0.02, weight_decay=0.01),
        "AdamW, tensor by tensor": lambda p: schedulefree.AdamWScheduleFree(
            p, lr=0.02, foreach=False
        ),
        "RAdam": lambda p: schedulefree.RAdamScheduleFree(p, lr=0.02),
        "AdamW, reference": lambda p: schedulefree.AdamWScheduleFreeReference(p, lr=0.02),
        "wrapped": lambda p: schedulefree.ScheduleFreeWrapper(
            torch.optim.SGD(p, lr=0.1), momentum=0.9
        ),
    }
    found = {}
    for name, make in makers.items():
        model = fill_weights(nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1)).double())
        optimizer = make(model.parameters())
        optimizer.train()

        def step(model=model):
            return nn.functional.mse_loss(model(inputs), targets)

        losses = train(step, optimizer, 10)
        optimizer.eval()
        averaged = step().item()
        optimizer.train()
        found[name] = [*losses, averaged, *train(step, optimizer, 2)]
    return found
