"""torchinfo: the table of a network with convolutions, a recurrent part and shared layers."""

import torch
from torch import nn
from torchinfo import summary

from tests.packages.programs._data import fill_weights, integers, normal, train


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.again = nn.Conv2d(8, 8, 3, padding=1)
        self.rows = nn.GRU(64, 16, batch_first=True)
        self.head = nn.Linear(16, 5)

    def forward(self, images):
        x = self.again(self.again(self.features(images)))
        return self.head(self.rows(x.transpose(1, 2).flatten(2))[0][:, -1])


def results():
    model = fill_weights(Network().double(), 0.1)
    table = summary(
        model,
        input_size=(2, 3, 16, 16),
        dtypes=[torch.float64],
        col_names=("input_size", "output_size", "num_params", "kernel_size", "mult_adds"),
        depth=3,
        verbose=0,
    )
    images, labels = normal(4, 3, 16, 16), integers(5, (4,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return {
        "table": str(table).splitlines(),
        "parameters": table.total_params,
        "operations": table.total_mult_adds,
        "losses": train(lambda: nn.functional.cross_entropy(model(images), labels), optimizer, 5),
    }
