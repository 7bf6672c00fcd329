"""pytorch-crf: a recurrent tagger with a conditional random field on top."""

import torch
from torch import nn
from torchcrf import CRF

from tests.packages.programs._data import fill_weights, integers, normal, train


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 5, bidirectional=True, batch_first=True)
        self.scores = nn.Linear(10, 4)
        self.crf = CRF(4, batch_first=True)

    def forward(self, words):
        return self.scores(self.lstm(words)[0])


def results():
    words, tags = normal(8, 9, 6), integers(4, (8, 9))
    mask = torch.arange(9) < torch.tensor([9, 7, 5, 9, 3, 8, 6, 4])[:, None]
    tagger = fill_weights(Tagger().double())
    optimizer = torch.optim.Adam(tagger.parameters(), lr=0.05)
    losses = train(
        lambda: -tagger.crf(tagger(words), tags, mask=mask, reduction="token_mean"), optimizer, 15
    )
    with torch.no_grad():
        best = tagger.crf.decode(tagger(words), mask=mask)
    return {"losses": losses, "best tags": best, "transitions": tagger.crf.transitions.tolist()}
