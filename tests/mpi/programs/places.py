"""Print threads, seeds, lines of the logger and progress bars of each rank."""

import os
import sys

if not os.environ["OMP_NUM_THREADS"]:
    del os.environ["OMP_NUM_THREADS"]

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy import hub
from autograd_cy._environment import logger

# After the package, which sets TQDM_DISABLE.
from tqdm import tqdm  # isort: skip

dist.init_process_group()
rank = dist.get_rank()
mask = sorted(os.sched_getaffinity(0))
every = [None] * dist.get_world_size()
dist.all_gather_object(every, mask)
expected = max(1, len(mask) // every.count(mask))
if os.environ.get("OMP_NUM_THREADS"):
    expected = int(os.environ["OMP_NUM_THREADS"])
assert torch.get_num_threads() == expected, (torch.get_num_threads(), expected)
dist.all_gather_object(every, torch.rand(3).tolist())
assert all(values == every[0] for values in every)  # of the same seed
dist.barrier()
logger.tell("a line")
sys.stderr.flush()
dist.barrier()
for _number in tqdm(range(2), desc="counted"):
    pass
bar = hub._bar(10)
print("places alike no bar" if bar is None else "places alike a bar")
