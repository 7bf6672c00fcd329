"""ema-pytorch: averages of weights beside a model that is trained, saved and loaded."""

import io

import torch
from ema_pytorch import EMA
from torch import nn

from tests.packages.programs._data import fill_weights, normal, train


def results():
    inputs = normal(40, 3, dtype=torch.float32)
    targets = inputs.prod(1, keepdim=True)
    model = fill_weights(
        nn.Sequential(nn.Linear(3, 10), nn.BatchNorm1d(10), nn.Tanh(), nn.Linear(10, 1))
    )
    average = EMA(model, beta=0.9, update_after_step=2, update_every=2, include_online_model=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(12):
        losses += train(lambda: nn.functional.mse_loss(model(inputs), targets), optimizer, 1)
        average.update()
    with torch.no_grad():
        outputs = average(inputs)[:4, 0].tolist()
    file = io.BytesIO()
    torch.save(average.state_dict(), file)
    file.seek(0)
    again = EMA(model, beta=0.9, include_online_model=False)
    keys = str(again.load_state_dict(torch.load(file)))
    return {
        "losses": losses,
        "averaged outputs": outputs,
        "steps": int(average.step),
        "decay": average.get_current_decay(),
        "loaded": [keys, int(again.step)],
        "keys": sorted(average.state_dict()),
        "weights": [p.sum().item() for p in average.ema_model.parameters()],
    }


TOLERANCE = 1e-4
