"""The hash of parameters after training in micro-batches."""

import hashlib
import sys

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.nn import functional as F
from autograd_cy.nn.parallel import DistributedDataParallel
from autograd_cy.utils.data.distributed import MicroBatchSampler

dist.init_process_group()
micro_batches = int(sys.argv[1])
own = micro_batches // dist.get_world_size()
torch.manual_seed(0)
module = torch.nn.Sequential(torch.nn.Linear(13, 40), torch.nn.Tanh(), torch.nn.Linear(40, 3))
model = DistributedDataParallel(module, micro_batches=micro_batches)
X, Y = torch.randn(480, 13), torch.randint(0, 3, (480,))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
sampler = MicroBatchSampler(X, 48, micro_batches)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for number, indices in enumerate(sampler, 1):
        F.cross_entropy(model(X[indices]), Y[indices]).backward()
        if number % own == 0:
            optimizer.step()
            optimizer.zero_grad()
parameters = b"".join(p.detach().numpy().tobytes() for p in module.parameters())
print(f"hash {hashlib.sha256(parameters).hexdigest()}", flush=True)
