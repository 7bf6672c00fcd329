"""lion-pytorch: a small network fitted by the Lion optimizer, with a schedule and a checkpoint."""

import io

import torch
from lion_pytorch import Lion
from torch import nn

from tests.packages.programs._data import fill_weights, normal, train


def results():
    inputs = normal(64, 4)
    targets = torch.sin(inputs).sum(1, keepdim=True)
    model = fill_weights(nn.Sequential(nn.Linear(4, 12), nn.GELU(), nn.Linear(12, 1)).double())
    optimizer = Lion(model.parameters(), lr=0.01, weight_decay=0.1, decoupled_weight_decay=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)

    def step():
        return nn.functional.mse_loss(model(inputs), targets)

    losses = []
    for _ in range(10):
        losses += train(step, optimizer, 1)
        schedule.step()
    file = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict()], file)
    file.seek(0)
    weights, state = torch.load(file)
    model.load_state_dict(weights)
    again = Lion(model.parameters(), lr=0.5)
    again.load_state_dict(state)
    losses += train(step, again, 5)
    return {"losses": losses, "rate": again.param_groups[0]["lr"]}
