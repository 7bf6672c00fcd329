"""einops: a small mixer of patches, by rearrange, reduce, repeat, einsum and the layers."""

import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn

from tests.packages.programs._data import fill_weights, integers, normal, train


class Mixer(nn.Module):
    def __init__(self, channels=8, patches=16):
        super().__init__()
        self.patches = Rearrange("b c (h p1) (w p2) -> b (h w) (c p1 p2)", p1=4, p2=4)
        self.embedding = nn.Linear(3 * 16, channels)
        self.tokens = EinMix(
            "b t c -> b t_out c",
            weight_shape="t t_out",
            bias_shape="t_out",
            t=patches,
            t_out=patches,
        )
        self.channels = nn.Linear(channels, channels)
        self.head = nn.Sequential(Reduce("b t c -> b c", "mean"), nn.Linear(channels, 4))

    def forward(self, images):
        x = self.embedding(self.patches(images))
        x = x + torch.tanh(self.tokens(x))
        return self.head(x + torch.tanh(self.channels(x)))


def results():
    images, labels = normal(12, 3, 16, 16), integers(4, (12,))
    model = fill_weights(Mixer().double())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = train(lambda: nn.functional.cross_entropy(model(images), labels), optimizer, 15)

    packed, shapes = pack([images, images.mean(1)], "b * h w")
    parts = unpack(packed, shapes, "b * h w")
    heads = rearrange(images, "b c (h n) w -> n b c h w", n=2)
    return {
        "losses": losses,
        "largest pixels": reduce(images, "b c (h 8) (w 8) -> b c", "max").sum().item(),
        "packed": [list(packed.shape), [list(part.shape) for part in parts]],
        "products": einsum(heads, heads, "n b c h w, n b c k w -> n h k").flatten()[:6].tolist(),
        "repeated": repeat(images.mean((1, 3)), "b h -> b (h two)", two=2)[0, :6].tolist(),
    }
