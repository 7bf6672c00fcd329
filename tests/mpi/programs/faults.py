"""Faults of one rank, by name: each must end the job with its message."""

import datetime
import os
import signal
import sys
import time

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.nn.parallel import DistributedDataParallel

fault = sys.argv[1]
if fault == "never_begins" and os.environ["RANK"] == "1":
    time.sleep(2)  # Open MPI's mpirun may hang if the other rank is about to connect to it
    sys.exit(3)
dist.init_process_group(timeout=datetime.timedelta(seconds=3))
rank = dist.get_rank()
dist.all_reduce(torch.ones(2))


class Three(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for name in ("first", "second", "third"):
            setattr(self, name, torch.nn.Linear(3, 3))

    def forward(self, x, more):
        return self.first(x) + (self.second(x) if more else 0)


def shape():
    dist.all_reduce(torch.ones(2 + rank))


def dtype():
    dist.broadcast(torch.ones(2, dtype=torch.int32 if rank else torch.float32), 0)


def operation():
    if rank == 0:
        dist.all_reduce(torch.ones(5))
    else:
        dist.broadcast(torch.ones(5), 0)


def order():
    calls = [lambda: dist.all_reduce(torch.ones(5)), lambda: dist.all_reduce(torch.ones(6))]
    for call in calls:
        call()
    for call in calls if rank else calls[::-1]:
        call()


def skipped():
    if rank == 0:
        dist.all_reduce(torch.ones(2))


def exits():
    if rank == 1:
        sys.exit(3)
    dist.all_reduce(torch.ones(2))


def vanishes():
    """End without a word: no exit handler runs, and the launcher sees success."""
    if rank == 1:
        os._exit(0)
    dist.all_reduce(torch.ones(2))


def exception():
    if rank == 1:
        raise KeyError("ouch")
    dist.all_reduce(torch.ones(2))


def killed():
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(torch.ones(2))


def killed_at_the_end():
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def killed_in_backward():
    model = DistributedDataParallel(torch.nn.Sequential(*[torch.nn.Linear(9, 9) for _ in range(9)]))
    x = torch.ones(2, 9, requires_grad=True)
    y = model(x)
    if rank == 1:
        model.module[4].weight.register_hook(lambda grad: os.kill(os.getpid(), signal.SIGKILL))
    y.sum().backward()


def stopped():
    if rank == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
    dist.all_reduce(torch.ones(2))


def computes():
    if rank == 1:
        time.sleep(60)
    dist.all_reduce(torch.ones(2))


def large_computes():
    if rank == 1:
        time.sleep(60)
    dist.all_reduce(torch.ones(1 << 20))


def large_late():
    work = dist.all_reduce(torch.ones(1 << 20), async_op=True)
    if rank == 1:
        time.sleep(60)
    work.wait()


def monitored():
    if rank == 1:
        time.sleep(60)
    dist.monitored_barrier()


def message_dtype():
    if rank == 0:
        dist.send(torch.ones(3), 1)
    else:
        dist.recv(torch.ones(3, dtype=torch.float64), 0)


def message_size():
    if rank == 0:
        dist.send(torch.ones(3), 1)
    else:
        dist.recv(torch.ones(2), 0)


def splits():
    dist.all_to_all_single(torch.zeros(3), torch.zeros(3), [1, 2], [1 + rank, 2 - rank])


def splits_of_one():
    sizes = ([1, 2], [1, 2]) if rank == 0 else ()
    dist.all_to_all_single(torch.zeros(4 - (rank == 0)), torch.zeros(4 - (rank == 0)), *sizes)


def leaf():
    dist.all_reduce(torch.ones(2, requires_grad=True))


def modules_differ():
    DistributedDataParallel(torch.nn.Linear(3, 3 + rank))


def unused():
    model = DistributedDataParallel(Three())
    model(torch.ones(2, 3), rank == 0).sum().backward()


def second_backward():
    model = DistributedDataParallel(torch.nn.Linear(3, 3))
    loss = model(torch.ones(2, 3)).sum()
    loss.backward(retain_graph=True)
    loss.backward()


def added():
    model = DistributedDataParallel(Three(), find_unused_parameters=True)
    model.module.fourth = torch.nn.Linear(1, 1)
    model(torch.ones(2, 3), True)


def begins_again():
    dist.destroy_process_group()
    if rank == 0:
        dist.init_process_group(timeout=datetime.timedelta(seconds=3))


def alarm():
    def handler(*_):
        raise TimeoutError("rang")

    if rank == 1:
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        dist.all_reduce(torch.ones(2))
    time.sleep(60)


def workers():
    loader = torch.utils.data.DataLoader(range(100), num_workers=2)
    for number, _ in enumerate(loader):
        if rank == 1 and number == 3:
            raise KeyError("beside workers")
        if rank == 0:
            time.sleep(60)


globals()[fault]()
