"""Save a small checkpoint, then one at which a fault happens: a full disk, or a killed rank."""

import datetime
import os
import signal
import sys

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.distributed import checkpoint

fault, folder = sys.argv[1:]
dist.init_process_group(timeout=datetime.timedelta(seconds=3))
rank = dist.get_rank()


class Killing:
    """A state whose rank is killed while all save."""

    def state_dict(self):
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return {}

    def load_state_dict(self, state):
        pass


small = {"weight": torch.arange(10.0), "step": 1}
checkpoint.save(small, checkpoint_id=f"{folder}/step_1")
if rank == 0:
    print("saved the first")
if fault == "full_disk":
    second = {"weight": torch.ones(2_000_000), "step": 2}
else:
    second = {"weight": torch.ones(10), "step": 2, "killing": Killing()}
checkpoint.save(second, checkpoint_id=f"{folder}/step_2")
