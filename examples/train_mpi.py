"""Train a convolutional network on handwritten digits in several processes.

    pip install -e ".[train,mpi]"
    python examples/train_mpi.py               # one process
    mpirun -n 2 python examples/train_mpi.py   # two; or: python -m autograd_cy run -n 2 ...

The file is the same for one process, one node and many: started alone, its group has one process.
Each process has an equal part of every batch, and gradients are averaged while backward runs. With
``--micro-batches 8``, one, two, four or eight processes end with the same weights, bit for bit. The
data are the images of 8 x 8 pixels that come with scikit-learn; nothing is downloaded.

With ``--checkpoints FOLDER`` the program saves its state there, and goes on from the last one when
it is started again, in any number of processes. The signal SIGUSR1, which SLURM sends by
``#SBATCH --signal=USR1@90``, makes it save, and put its job back into SLURM's queue.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
from typing import Any

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.distributed import checkpoint
from autograd_cy.nn import functional as F
from autograd_cy.nn.parallel import DistributedDataParallel
from autograd_cy.utils.data import DistributedSampler, StatefulDataLoader, TensorDataset
from autograd_cy.utils.data.distributed import MicroBatchSampler
from autograd_cy.utils.preemption import PreemptionHandler

Batches = DistributedSampler | MicroBatchSampler


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Train on digits in several processes.")
    add = parser.add_argument
    add("--epochs", type=int, default=12, metavar="N", help="passes over the data (%(default)s)")
    add("--batch-size", type=int, default=64, metavar="N", help="over all processes (%(default)s)")
    add("--lr", type=float, default=2e-3, metavar="X", help="learning rate (%(default)s)")
    add("--micro-batches", type=int, metavar="K", help="the same bits for any number of processes")
    add("--checkpoints", metavar="FOLDER", help="save there, and go on from the last one")
    add("--save-every", type=int, default=50, metavar="N", help="steps (%(default)s)")
    add("--keep", type=int, default=2, metavar="N", help="checkpoints to keep (%(default)s)")
    add("--pause", type=float, default=0, metavar="S", help="seconds between steps, for trials")
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


def loader_of(
    data: TensorDataset, options: argparse.Namespace
) -> tuple[StatefulDataLoader, Batches, int]:
    """Return this process's batches, what chooses them, and how many make a step."""
    if options.micro_batches:
        sampler = MicroBatchSampler(data, options.batch_size, options.micro_batches)
        loader = StatefulDataLoader(data, batch_sampler=sampler)
        return loader, sampler, options.micro_batches // dist.get_world_size()
    shares = DistributedSampler(data, drop_last=True)
    size = options.batch_size // dist.get_world_size()
    return StatefulDataLoader(data, batch_size=size, sampler=shares, drop_last=True), shares, 1


def evaluate(
    model: torch.nn.Module, images: torch.Tensor, digits: torch.Tensor
) -> tuple[float, float]:
    """Return loss and share of right answers; each process looks at a part of the images."""
    rank, size = dist.get_rank(), dist.get_world_size()
    images, digits = images[rank::size], digits[rank::size]
    model.eval()
    with torch.no_grad():
        scores = model(images)
        loss = F.cross_entropy(scores, digits, reduction="sum")
        sums = torch.stack([loss, (scores.argmax(1) == digits).sum(), torch.tensor(len(digits))])
    model.train()
    dist.all_reduce(sums)
    loss, right, count = sums.tolist()
    return loss / count, right / count


class Trainer:
    """A run of training that can be saved, stopped and taken up again."""

    def __init__(self, options: argparse.Namespace, handler: PreemptionHandler | None) -> None:
        self.options = options
        self.handler = handler
        torch.manual_seed(0)  # alike everywhere, so that all split the data alike
        images, digits = load_digits()
        train, test = slice(360, None), slice(360)
        self.test = images[test], digits[test]
        self.module = network(batch_norm=not options.micro_batches)
        self.model = DistributedDataParallel(self.module, micro_batches=options.micro_batches)
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=options.lr)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, options.epochs)
        data = TensorDataset(images[train], digits[train])
        self.loader, self.sampler, self.backwards = loader_of(data, options)
        #: All that a checkpoint holds.
        self.state: dict[str, Any] = {
            "model": self.module,
            "optimizer": self.optimizer,
            "schedule": self.schedule,
            "loader": self.loader,
            "random": checkpoint.RandomState(),
            "epoch": 0,
            "step": 0,
        }

    def resume(self) -> None:
        """Go on from the last checkpoint, if there is one."""
        if self.options.checkpoints:
            last = checkpoint.latest(self.options.checkpoints)
            if last is not None:
                checkpoint.load(self.state, checkpoint_id=last)
                report(f"resumed at step {self.state['step']}, from {last}")

    def save(self) -> None:
        """Write a checkpoint, where they are asked for."""
        if self.options.checkpoints:
            folder = os.path.join(self.options.checkpoints, f"step_{self.state['step']:06d}")
            checkpoint.save(self.state, checkpoint_id=folder, keep=self.options.keep)

    def train_epoch(self) -> bool:
        """Train for the rest of a pass over the data; return whether the job has to stop."""
        for number, (x, y) in enumerate(self.loader, 1):
            F.cross_entropy(self.model(x), y).backward()
            if number % self.backwards:
                continue
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.state["step"] += 1
            if self.options.pause:
                time.sleep(self.options.pause)
            stops = self.handler is not None and self.handler.should_stop()
            if stops or self.state["step"] % self.options.save_every == 0:
                self.save()
            if stops:
                return True
        return False

    def train(self) -> bool:
        """Train to the end; return whether the job has to stop before."""
        for epoch in range(self.state["epoch"], self.options.epochs):
            self.sampler.set_epoch(epoch)
            if self.train_epoch():
                return True
            self.schedule.step()
            self.state["epoch"] = epoch + 1
            loss, share = evaluate(self.module, *self.test)
            report(f"epoch {epoch + 1:2d}  loss {loss:.4f}  accuracy {share:.2%}")
        return False

    def stop(self) -> None:
        """Let the scheduler start the program again."""
        report(f"stopped at step {self.state['step']}, by a signal")
        if self.handler is not None and "SLURM_JOB_ID" in os.environ:
            self.handler.requeue()


def report(text: str) -> None:
    """Print a line, once for all processes."""
    if dist.get_rank() == 0:
        print(text, flush=True)


def main() -> int:
    """Train and report."""
    options = parse_arguments()
    handler = PreemptionHandler() if options.checkpoints else None  # before the long work
    dist.init_process_group()
    trainer = Trainer(options, handler)
    report(f"{dist.get_world_size()} process(es), {torch.get_num_threads()} thread(s) each")
    start = time.perf_counter()
    trainer.resume()
    if trainer.train():
        trainer.stop()
    else:
        weights = b"".join(p.detach().numpy().tobytes() for p in trainer.module.parameters())
        seconds = time.perf_counter() - start
        report(f"{seconds:.1f} s, weights {hashlib.sha256(weights).hexdigest()[:12]}")
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
