"""Train a convolutional network on handwritten digits in several processes.

    pip install -e ".[train,mpi]"
    python examples/train_mpi.py               # one process
    mpirun -n 2 python examples/train_mpi.py   # two; or: python -m autograd_cy run -n 2 ...

The file is the same for one process, one node and many: started alone, its group has one process.
Each process has an equal part of every batch, and gradients are averaged while backward runs. With
``--micro-batches 8``, one, two, four or eight processes end with the same weights, bit for bit. The
data are the images of 8 x 8 pixels that come with scikit-learn; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.nn import functional as F
from autograd_cy.nn.parallel import DistributedDataParallel
from autograd_cy.utils.data import DataLoader, DistributedSampler, TensorDataset
from autograd_cy.utils.data.distributed import MicroBatchSampler

Batches = DistributedSampler | MicroBatchSampler


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Train on digits in several processes.")
    add = parser.add_argument
    add("--epochs", type=int, default=12, metavar="N", help="passes over the data (%(default)s)")
    add("--batch-size", type=int, default=64, metavar="N", help="over all processes (%(default)s)")
    add("--lr", type=float, default=2e-3, metavar="X", help="learning rate (%(default)s)")
    add("--micro-batches", type=int, metavar="K", help="the same bits for any number of processes")
    return parser.parse_args()


def load_digits() -> tuple[torch.Tensor, torch.Tensor]:
    """Return images of shape (1797, 1, 8, 8), from 0 to 1, and their digits, in random order."""
    from sklearn import datasets

    digits = datasets.load_digits()
    order = torch.randperm(len(digits.target))
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    return images[order], torch.tensor(digits.target)[order]


def network(batch_norm: bool) -> torch.nn.Module:
    """Return the network; statistics of batches would depend on the number of processes."""
    layers: list[torch.nn.Module] = []
    for channels, results in ((1, 32), (32, 64)):
        layers.append(torch.nn.Conv2d(channels, results, 3, padding=1))
        if batch_norm:
            layers.append(torch.nn.SyncBatchNorm(results))
        layers += [torch.nn.ReLU(), torch.nn.MaxPool2d(2)]
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(256, 10))


def loader_of(data: TensorDataset, options: argparse.Namespace) -> tuple[DataLoader, Batches, int]:
    """Return this process's batches, what chooses them, and how many make a step."""
    if options.micro_batches:
        sampler = MicroBatchSampler(data, options.batch_size, options.micro_batches)
        loader = DataLoader(data, batch_sampler=sampler)
        return loader, sampler, options.micro_batches // dist.get_world_size()
    shares = DistributedSampler(data, drop_last=True)
    size = options.batch_size // dist.get_world_size()
    return DataLoader(data, batch_size=size, sampler=shares, drop_last=True), shares, 1


def accuracy(model: torch.nn.Module, images: torch.Tensor, digits: torch.Tensor) -> float:
    """Return the share of right answers; each process looks at a part of the images."""
    rank, size = dist.get_rank(), dist.get_world_size()
    model.eval()
    with torch.no_grad():
        right = (model(images[rank::size]).argmax(1) == digits[rank::size]).sum()
    model.train()
    dist.all_reduce(right)
    return right.item() / len(digits)


def main() -> int:
    """Train and report."""
    options = parse_arguments()
    dist.init_process_group()
    is_first = dist.get_rank() == 0
    torch.manual_seed(0)  # alike everywhere, so that all split the data alike
    images, digits = load_digits()
    train, test = slice(360, None), slice(360)
    module = network(batch_norm=not options.micro_batches)
    model = DistributedDataParallel(module, micro_batches=options.micro_batches)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.lr)
    data = TensorDataset(images[train], digits[train])
    loader, sampler, backwards = loader_of(data, options)
    if is_first:
        print(f"{dist.get_world_size()} process(es), {torch.get_num_threads()} thread(s) each")
    start = time.perf_counter()
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        for number, (x, y) in enumerate(loader, 1):
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            if number % backwards == 0:
                optimizer.step()
                optimizer.zero_grad()
        loss = loss.detach()
        dist.all_reduce(loss, dist.ReduceOp.AVG)
        share = accuracy(module, images[test], digits[test])
        if is_first:
            print(f"epoch {epoch + 1:2d}  loss {loss.item():.4f}  accuracy {share:.2%}")
    if is_first:
        weights = b"".join(p.detach().numpy().tobytes() for p in module.parameters())
        seconds = time.perf_counter() - start
        print(f"{seconds:.1f} s, weights {hashlib.sha256(weights).hexdigest()[:12]}")
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
