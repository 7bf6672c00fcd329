"""Operations go on by a thread while the process computes, and give the same gradients."""

import os
import sys
import threading
import time

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.distributed._world import world
from autograd_cy.nn.parallel import DistributedDataParallel

dist.init_process_group()
rank, size, watch = dist.get_rank(), dist.get_world_size(), world.watch
switch = os.environ.get("AUTOGRAD_CY_MPI_THREAD")
has_thread = switch == "1" if switch else len(set(watch.hosts)) > 1


def threads():
    return [each.name for each in threading.enumerate() if each.name == "autograd_cy.distributed"]


def is_complete_unasked():
    """Return whether a sum is complete after a while in which nobody asks about it."""
    x = torch.full((1 << 20,), rank + 1.0)
    dist.barrier()
    watch.begin_background()
    work = dist.all_reduce(x, async_op=True)
    until = time.monotonic() + (20 if has_thread else 0.5)
    while watch.exchanges and time.monotonic() < until:
        time.sleep(0.01)
    complete = not watch.exchanges
    watch.end_background()
    work.wait()
    assert x.unique().tolist() == [sum(range(1, size + 1))]
    return complete


if size < 4:  # more ranks leave it to MPI
    assert is_complete_unasked() == has_thread
calls = [0]
progress, watch.progress = watch.progress, lambda: (calls.__setitem__(0, calls[0] + 1), progress())

torch.manual_seed(0)
layers = [torch.nn.Linear(64, 512), *[torch.nn.Linear(512, 512) for _ in range(6)]]
module = torch.nn.Sequential(*layers)
model = DistributedDataParallel(module, bucket_cap_mb=1)
for _ in range(5):
    model.zero_grad()
    model(torch.ones(256, 64) * (rank + 1)).mean().backward()
    # After backward the thread rests.
    before = calls[0]
    time.sleep(0.02)
    assert calls[0] == before
assert len(threads()) == has_thread, threads()
gradients = [parameter.grad.clone() for parameter in module.parameters()]
for gradient in gradients:
    other = gradient.clone()
    dist.broadcast(other, 0)
    assert torch.equal(gradient, other)
if rank == 0 and len(sys.argv) > 1:
    torch.save(gradients, sys.argv[1])
print("went on by a thread" if has_thread else "went on", flush=True)
