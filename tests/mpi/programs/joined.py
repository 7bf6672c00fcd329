"""Ranks with different numbers of batches."""

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.distributed.algorithms.join import Join
from autograd_cy.distributed.optim import ZeroRedundancyOptimizer
from autograd_cy.nn.parallel import DistributedDataParallel

dist.init_process_group()
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
layers = [torch.nn.Linear(3, 40), torch.nn.BatchNorm1d(40), torch.nn.Linear(40, 1)]
module = torch.nn.Sequential(*layers)
model = DistributedDataParallel(module, bucket_cap_mb=0.0001)
for spread in (False, True):
    if spread:
        optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    joined = [model, optimizer] if spread else [model]
    with Join(joined, divide_by_initial_world_size=False):
        for step in range(3 + 2 * ((rank + 1) % size)):
            optimizer.zero_grad()
            model(torch.ones(2, 3) * (step + rank)).sum().backward()
            optimizer.step()
    tensors = [*module.parameters(), *module.buffers()]
    own = torch.cat([tensor.detach().reshape(-1).float() for tensor in tensors])
    other = own.clone()
    dist.broadcast(other, 0)
    assert torch.equal(own, other)

# The mean of gradients is over ranks that have a batch.
bare = torch.nn.Linear(1, 1, bias=False)
model = DistributedDataParallel(bare)
with model.join(divide_by_initial_world_size=False):
    for step in range(1 + rank):
        bare.zero_grad()
        model(torch.ones(1, 1) * (1 + rank)).sum().backward()
        active = range(step, size)
        assert abs(bare.weight.grad.item() - sum(1 + of for of in active) / len(active)) < 1e-6
print("joined", flush=True)
try:
    with model.join(throw_on_early_termination=True):
        for _ in range(3 + 2 * rank):
            model(torch.ones(2, 1)).sum().backward()
except RuntimeError as error:
    message = str(error)
assert "ranks 0 have exhausted their inputs" in message
bare.zero_grad()
model(torch.ones(1, 1)).sum().backward()
assert abs(bare.weight.grad.item() - 1.0) < 1e-6  # the mean is over all ranks again
print("have exhausted their inputs", flush=True)
