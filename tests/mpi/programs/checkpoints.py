"""Checkpoints of several ranks: training that is taken up again, and faults of single ranks.

The first argument names what is done, the second the folder.
"""

import hashlib
import itertools
import os
import resource
import signal
import sys
import warnings

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.distributed import checkpoint
from autograd_cy.distributed.checkpoint import CheckpointException
from autograd_cy.distributed.optim import ZeroRedundancyOptimizer
from autograd_cy.nn import functional as F
from autograd_cy.nn.parallel import DistributedDataParallel
from autograd_cy.utils.data import DistributedSampler, StatefulDataLoader, TensorDataset
from autograd_cy.utils.data.distributed import MicroBatchSampler
from autograd_cy.utils.preemption import PreemptionHandler

what, folder = sys.argv[1:3]
dist.init_process_group()
rank, size = dist.get_rank(), dist.get_world_size()
MICRO_BATCHES = 8


class Run:
    """A run whose bits don't depend on the number of ranks."""

    def __init__(self, spread):
        torch.manual_seed(0)
        module = torch.nn.Sequential(
            torch.nn.Linear(5, 16), torch.nn.Tanh(), torch.nn.Linear(16, 8), torch.nn.Linear(8, 3)
        )
        self.model = DistributedDataParallel(module, micro_batches=MICRO_BATCHES)
        if spread:
            self.optimizer = ZeroRedundancyOptimizer(
                module.parameters(), torch.optim.AdamW, lr=0.01, amsgrad=True
            )
        else:
            self.optimizer = torch.optim.AdamW(module.parameters(), lr=0.01, amsgrad=True)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 3, 0.5)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=2.0, growth_interval=3)
        data = TensorDataset(torch.randn(80, 5), torch.randint(0, 3, (80,)))
        self.sampler = MicroBatchSampler(data, 16, MICRO_BATCHES)
        self.loader = StatefulDataLoader(data, batch_sampler=self.sampler)
        self.state = {
            "model": module,
            "optimizer": self.optimizer,
            "schedule": self.schedule,
            "scaler": self.scaler,
            "loader": self.loader,
            "random": checkpoint.RandomState(),
            "step": 0,
            "epoch": 0,
        }

    def train(self, until):
        own = MICRO_BATCHES // size
        while self.state["step"] < until:
            self.sampler.set_epoch(self.state["epoch"])
            for number, (x, y) in enumerate(self.loader, 1):
                loss = F.cross_entropy(self.model(x), y)
                self.scaler.scale(loss).backward()
                if number % own:
                    continue
                # One number a step, the same on all ranks: the generators' place counts.
                for group in self.optimizer.param_groups:
                    group["weight_decay"] = 0.1 * torch.rand(()).item()
                self.scaler.step(self.optimizer)
                self.scaler.update()
                self.optimizer.zero_grad()
                self.schedule.step()
                self.state["step"] += 1
                if self.state["step"] == until:
                    return
            self.state["epoch"] += 1

    def digest(self):
        if isinstance(self.optimizer, ZeroRedundancyOptimizer):
            self.optimizer.consolidate_state_dict()
        digest = hashlib.sha256()
        for parameter in self.model.module.parameters():
            digest.update(parameter.detach().numpy().tobytes())
        if rank == 0:
            for _, values in sorted(self.optimizer.state_dict()["state"].items()):
                for _, value in sorted(values.items()):
                    digest.update(value.numpy().tobytes())
        digest.update(repr((torch.rand(4).tolist(), self.scaler.state_dict())).encode())
        digest.update(repr(self.schedule.state_dict()).encode())
        return digest.hexdigest()


def train():
    """Go on from the last checkpoint until a step, save, and print a hash of everything."""
    until, spread = int(sys.argv[3]), sys.argv[4] == "spread"
    run = Run(spread)
    last = checkpoint.latest(folder)
    if last is not None:
        for parameter in run.model.module.parameters():
            torch.nn.init.zeros_(parameter)
        torch.manual_seed(100 + rank)
        checkpoint.load(run.state, checkpoint_id=last)
    run.train(until)
    checkpoint.save(run.state, checkpoint_id=f"{folder}/step_{until}", keep=2)
    digest = run.digest()
    if rank == 0:
        print(f"hash {digest}", flush=True)


def written_once():
    """Tensors of all ranks are dealt over the ranks."""
    tensors = {f"t{number}": torch.full((1000,), float(number)) for number in range(2 * size)}
    checkpoint.save({"all": tensors, "own": {rank: torch.ones(3) * rank}}, checkpoint_id=folder)
    sizes = [
        os.path.getsize(os.path.join(folder, f"rank_{r:05d}.safetensors")) for r in range(size)
    ]
    assert all(8000 < each < 9500 for each in sizes), sizes
    state = {"all": {name: torch.zeros(1000) for name in tensors}, "own": {}}
    checkpoint.load(state, checkpoint_id=folder)
    assert all(torch.equal(state["all"][name], value) for name, value in tensors.items())
    assert {name: value[0].item() for name, value in state["own"].items()} == {
        each: each for each in range(size)
    }


def differing():
    """Values of one name that differ are each rank's own, and the first one's elsewhere."""
    state = {
        "x": torch.full((2,), rank + 1),
        "name": f"rank {rank}",
        "list": [rank] * (rank + 1),
        "same": torch.ones(3),
        "halves": {"of": torch.full((3,), rank // (size - 1))},  # the last one differs
        "random": checkpoint.RandomState(),
    }
    torch.manual_seed(rank)
    checkpoint.save(state, checkpoint_id=folder)
    drawn = torch.rand(2)
    again = {**state, "x": torch.zeros(2, dtype=int), "name": "", "list": [], "halves": {}}
    checkpoint.load(again, checkpoint_id=folder)
    assert torch.equal(again["halves"]["of"], state["halves"]["of"])
    assert again["x"].tolist() == [rank + 1] * 2 and again["name"] == f"rank {rank}"
    assert again["list"] == [rank] * (rank + 1) and torch.equal(torch.rand(2), drawn)
    half = dist.new_group(list(range(size - 1)))
    if rank < size - 1:
        checkpoint.load(again, checkpoint_id=folder, process_group=half)
        assert again["x"].tolist() == [1, 1] and again["name"] == "rank 0"
        assert torch.equal(torch.rand(2), drawn)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert checkpoint.save({}, checkpoint_id=folder, process_group=half) is None


def fails_alike(call, *parts):
    """Check that a call raises the same error on all ranks."""
    try:
        call()
    except CheckpointException as error:
        texts = [None] * size
        dist.all_gather_object(texts, str(error))
        assert len(set(texts)) == 1, texts
        for part in parts:
            assert part in texts[0], (part, texts[0])
    else:
        raise AssertionError("no error")


def refused():
    """Errors of one rank are errors of all; the checkpoint of before stays whole."""
    last = size - 1
    model = torch.nn.Linear(3, 2)
    for tensor in (model.weight.detach(), model.bias.detach()):
        dist.broadcast(tensor, 0)
    path = f"{folder}/step_1"
    checkpoint.save({"model": model}, checkpoint_id=path)
    other = torch.nn.Linear(3, 4 if rank == last else 2)
    before = other.weight.clone()
    fails_alike(
        lambda: checkpoint.load({"model": other}, checkpoint_id=path),
        "model.weight has shape [2, 3] in the checkpoint and [4, 3] here",
        f"rank {last} on ",
    )
    assert torch.equal(other.weight, before)
    bad = {"a": print if rank == last else 1}
    fails_alike(lambda: checkpoint.save(bad, checkpoint_id=path), "a is a builtin", f"rank {last}")
    fails_alike(lambda: checkpoint.load({}, checkpoint_id=folder), "there are some below it")
    fails_alike(
        lambda: checkpoint.save({"model": model}, checkpoint_id="/proc/nowhere/step_1"),
        "can't write /proc/nowhere",
        "are intact",
    )

    class Fragile:
        def state_dict(self):
            return {"a": 1}

        def load_state_dict(self, state):
            if rank == last:
                raise KeyError("ouch")

    checkpoint.save({"fragile": Fragile()}, checkpoint_id=f"{folder}/step_2")
    fails_alike(
        lambda: checkpoint.load({"fragile": Fragile()}, checkpoint_id=f"{folder}/step_2"),
        "KeyError: 'ouch'",
        f"rank {last}",
    )
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    state = {"large": {rank: torch.zeros(100_000)}}
    if rank == last:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    for name in (path, f"{folder}/step_3"):
        fails_alike(
            lambda name=name: checkpoint.save(state, checkpoint_id=name, keep=1),
            "File too large",
            "are intact",
            f"rank {last}",
        )
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    if os.geteuid() == 0:  # as another user, for whom the folder is read-only
        dist.barrier()
        os.seteuid(65534)
    else:
        dist.barrier()
        os.chmod(folder, 0o555)
    fails_alike(
        lambda: checkpoint.save({"model": model}, checkpoint_id=f"{folder}/step_4"),
        "Permission denied; give a folder that this user may read and write",
    )
    if os.getuid() == 0:
        os.seteuid(0)
    else:
        os.chmod(folder, 0o755)
    dist.barrier()
    assert sorted(os.listdir(folder)) == ["step_1", "step_2"]
    again = torch.nn.Linear(3, 2)
    checkpoint.load({"model": again}, checkpoint_id=path)
    assert torch.equal(again.weight, model.weight)


def killed():
    """The last rank is killed while it writes."""
    state = {"all": {rank: torch.zeros(10)}, "step": 2}

    def stop(event, arguments):
        if event == "open" and rank == size - 1 and "incomplete" in str(arguments[0]):
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(stop)
    checkpoint.save(state, checkpoint_id=sys.argv[3])


def step():
    """Print the step of a checkpoint."""
    state = {"step": 0}
    checkpoint.load(state, checkpoint_id=checkpoint.latest(folder))
    if rank == 0:
        print("step", state["step"], sorted(os.listdir(folder)), flush=True)


def place():
    """The place in the data is that of all ranks, if their batch has the same size."""
    data = range(48)
    state_file = os.path.join(folder, "place")

    def loader(of, batch=None):
        sampler = DistributedSampler(data, seed=3, num_replicas=of, rank=min(rank, of - 1))
        sampler.set_epoch(2)
        return StatefulDataLoader(data, batch_size=batch or 8 // of, sampler=sampler)

    first = loader(size)
    taken = [batch for _, batch in zip(range(3), first)]
    checkpoint.save({"loader": first}, checkpoint_id=state_file)
    rest = loader(size)
    checkpoint.load({"loader": rest}, checkpoint_id=state_file)
    assert rest.sampler.epoch == 2
    seen = [None] * size
    dist.all_gather_object(seen, torch.cat([*taken, *rest]).tolist())
    assert sorted(itertools.chain(*seen)) == list(data)
    alone = loader(1)
    checkpoint.load({"loader": alone}, checkpoint_id=state_file)
    together = torch.cat(list(alone)).tolist()
    remaining = [None] * size
    dist.all_gather_object(remaining, torch.cat(taken).tolist())
    assert sorted(itertools.chain(together, *remaining)) == list(data)
    fails_alike(
        lambda: checkpoint.load({"loader": loader(1, 5)}, checkpoint_id=state_file),
        "24 samples were taken over all processes, which isn't a multiple",
    )


def preempted():
    """A signal of one rank stops all at the same step; the first one requeues."""
    with PreemptionHandler() as handler:
        for number in range(100):
            if number == 3 and rank == size - 1:
                os.kill(os.getpid(), signal.SIGUSR1)
            if handler.should_stop():
                break
    numbers = [None] * size
    dist.all_gather_object(numbers, number)
    assert set(numbers) == {3} and handler.requested == (rank == size - 1)
    message = ""
    try:
        handler.requeue()
    except RuntimeError as error:
        message = str(error)
    assert "this isn't a job of SLURM" in message
    os.environ.update(SLURM_JOB_ID="12", SLURM_ARRAY_JOB_ID="11", SLURM_ARRAY_TASK_ID="5")
    os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]
    handler.requeue()


globals()[what]()
dist.barrier()
print("passed", flush=True)
