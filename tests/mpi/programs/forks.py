"""Forked processes leave MPI to their parents: they end as others do, and don't communicate."""

import os
import sys

import pytest

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.distributed._world import world
from autograd_cy.distributed.work import Work
from autograd_cy.utils.data import DataLoader, Dataset

dist.init_process_group()
rank, size = dist.get_rank(), dist.get_world_size()


class Ranks(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        if size > 1:
            with pytest.raises(RuntimeError, match="MPI belongs to its parent"):
                dist.all_reduce(torch.ones(1))
        return dist.get_rank()


loader = DataLoader(Ranks(), batch_size=2, num_workers=2, multiprocessing_context="fork")
assert [batch.tolist() for batch in loader] == [[rank, rank]] * 2
for number in range(2):
    dist.barrier()
    child = os.fork()
    if child == 0 and number == 0:
        sys.exit(3)
    if child == 0:
        raise KeyError("of a child")
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == (3, 1)[number]
for count in (3, 1 << 20) if size > 1 else ():
    # A child that waits for operations of its parent would take their messages.
    x, y = torch.ones(count), torch.zeros(3)
    works = [dist.all_reduce(x, async_op=True), dist.irecv(y, (rank - 1) % size)]
    world.watch.begin_background()
    child = os.fork()
    if child == 0:
        for work in works:
            for ask in (work.wait, work.is_completed, work.get_future().wait):
                with pytest.raises(RuntimeError, match="MPI belongs to its parent"):
                    ask()
        del work, works
        alone = dist.ProcessGroup([0], 0, None, 99, 60.0, "mpi")
        Work(alone, alone._call("nothing"), None)  # looks at works that were dropped
        world.watch.end_background()  # the thread may have had its lock
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    world.watch.end_background()
    dist.send(torch.ones(3), (rank + 1) % size)
    for work in works:
        work.wait()
    assert x.unique().tolist() == [size] and y.tolist() == [1, 1, 1]
x = torch.ones(2)
dist.all_reduce(x)
assert x.tolist() == [size, size]
dist.destroy_process_group()
dist.init_process_group()
dist.barrier()
print("whole", flush=True)
