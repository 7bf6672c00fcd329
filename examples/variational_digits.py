"""Draw digits that nobody wrote: a variational autoencoder with two hidden numbers.

    python examples/variational_digits.py [--epochs 60] [--device cuda] [--output hidden.png]

An encoder gives, for each image, a normal distribution of two numbers; a decoder makes an image of
numbers drawn from it. Both are trained at once to maximise a lower bound of the images' likelihood
(Kingma and Welling: Auto-encoding variational Bayes, 2014). The picture shows what the decoder
draws over the plane of the two numbers, and where the digits lie in it, though no label was used.

The data come with scikit-learn; needs ``pip install -e ".[train]"``.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import time
from pathlib import Path
from statistics import NormalDist

import numpy as np

import autograd_cy as torch
from autograd_cy import nn

PACKAGES = {"sklearn": "scikit-learn", "matplotlib": "matplotlib"}


class Autoencoder(nn.Module):
    """Images of 64 numbers from 0 to 1, through two numbers, to logits of images."""

    def __init__(self, width: int = 128) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(64, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 4)
        )
        self.decoder = nn.Sequential(
            nn.Linear(2, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 64)
        )

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mean, log_variance = self.encoder(images).chunk(2, dim=1)
        hidden = mean + torch.exp(log_variance / 2) * torch.randn_like(mean)
        return self.decoder(hidden), mean, log_variance


def bound(model: Autoencoder, images: torch.Tensor) -> torch.Tensor:
    """The negative of the lower bound, per image, up to what no parameter changes."""
    logits, mean, log_variance = model(images)
    likelihood = nn.functional.binary_cross_entropy_with_logits(logits, images, reduction="sum")
    divergence = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum()
    return (likelihood + divergence) / len(images)


def load() -> tuple[np.ndarray, np.ndarray]:
    """Images as rows from 0 to 1, and their digits."""
    datasets = importlib.import_module("sklearn.datasets")
    images, digits = datasets.load_digits(return_X_y=True)
    return (images / 16).astype("float32"), digits


def train(epochs: int, batch: int = 64, seed: int = 0) -> tuple[Autoencoder, list[float]]:
    """Return the model and the bound after each epoch."""
    torch.manual_seed(seed)
    images = torch.from_numpy(load()[0])
    data = torch.utils.data.TensorDataset(images)
    model = Autoencoder()
    device = model.encoder[0].weight.device
    # Copies from pinned memory to a GPU go on while the host does something else.
    pin = device.type == "cuda"
    loader = torch.utils.data.DataLoader(data, batch_size=batch, shuffle=True, pin_memory=pin)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for (rows,) in loader:
            optimizer.zero_grad()
            loss = bound(model, rows.to(device, non_blocking=True))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(images))
        if (epoch + 1) % max(1, epochs // 6) == 0:
            print(f"epoch {epoch + 1:>3} of {epochs}, bound {losses[-1]:.3f}")
    return model, losses


def drawn(model: Autoencoder, count: int) -> np.ndarray:
    """Return the decoder's images for a grid of normal quantiles, as one image."""
    normal = NormalDist()
    quantiles = torch.tensor([normal.inv_cdf(p) for p in np.linspace(0.03, 0.97, count)])
    plane = torch.stack(torch.meshgrid(quantiles.flip(0), quantiles, indexing="ij"), dim=2)
    with torch.no_grad():
        images = torch.sigmoid(model.decoder(plane[:, :, [1, 0]].reshape(-1, 2)))
    framed = nn.functional.pad(images.reshape(count, count, 8, 8), (1, 1, 1, 1))
    return framed.transpose(1, 2).reshape(10 * count, 10 * count).cpu().numpy()


def draw(model: Autoencoder, path: Path) -> None:
    """Write a picture: the plane as the decoder draws it, and where the digits are."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    images, digits = load()
    with torch.no_grad():
        means = model.encoder(torch.as_tensor(images))[:, :2].cpu().numpy()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11.5, 5.5), layout="constrained")
    left.imshow(drawn(model, 16), cmap="gray_r", vmin=0, vmax=1)
    left.set(title="What the decoder draws over the plane", xticks=[], yticks=[])
    dots = right.scatter(*means.T, c=digits, cmap="tab10", vmin=-0.5, vmax=9.5, s=8, lw=0)
    right.set(title="Where the images are; the colours are labels that it never saw")
    right.set_aspect("equal", "datalim")
    figure.colorbar(dots, ax=right, ticks=range(10))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> int:
    """Train and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=60, help="passes over the data (%(default)s)")
    parser.add_argument("--output", type=Path, default=Path("hidden.png"), help="picture to write")
    parser.add_argument("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    options = parser.parse_args()
    missing = [name for module, name in PACKAGES.items() if not importlib.util.find_spec(module)]
    if missing:
        names = ", ".join(missing)
        print(f'{names} missing. Install with: pip install -e ".[train]"', file=sys.stderr)
        return 2
    start = time.perf_counter()
    with torch.device(options.device):
        model, losses = train(options.epochs)
        print(f"Bound {losses[-1]:.3f} after {time.perf_counter() - start:.1f} s")
        draw(model, options.output)
    print(f"Picture: {options.output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
