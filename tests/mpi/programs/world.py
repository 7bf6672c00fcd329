"""Say the place of each rank, and check that all are one world."""

import os
import socket

import autograd_cy as torch
import autograd_cy.distributed as dist

dist.init_process_group()
rank, size = dist.get_rank(), dist.get_world_size()
total = torch.ones(1000) * (rank + 1)
dist.all_reduce(total)
assert total.eq(size * (size + 1) / 2).all()
place = ", ".join(
    f"{name}={os.environ.get(name)}"
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
)
places = [None] * size
dist.all_gather_object(places, f"{socket.gethostname()}: {place}")
if rank == 0:
    print(f"a world of {size}", *places, sep="\n")
dist.destroy_process_group()
