"""SyncBatchNorm on parts of different size, and an optimizer whose state is spread."""

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.distributed.optim import ZeroRedundancyOptimizer
from autograd_cy.nn import functional as F
from autograd_cy.nn.parallel import DistributedDataParallel
from autograd_cy.optim.lr_scheduler import StepLR

dist.init_process_group()
rank, size = dist.get_rank(), dist.get_world_size()


def network():
    torch.manual_seed(0)
    layers = [torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(8, 3)).double()


reference, module = network(), torch.nn.SyncBatchNorm.convert_sync_batchnorm(network())
model = DistributedDataParallel(module)
torch.manual_seed(1)
counts = [3 + 2 * of for of in range(size)]
total = sum(counts)
X, Y = torch.randn(total, 6, dtype=torch.float64), torch.randint(0, 3, (total,))
first = sum(counts[:rank])
mine = slice(first, first + counts[rank])
theirs = torch.optim.Adam(reference.parameters(), lr=0.01)
ours = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.01)
schedules = [StepLR(optimizer, 2, 0.5) for optimizer in (theirs, ours)]
for _ in range(5):
    F.cross_entropy(reference(X), Y).backward()
    (F.cross_entropy(model(X[mine]), Y[mine], reduction="sum") * size / total).backward()
    for (name, expected), parameter in zip(reference.named_parameters(), module.parameters()):
        assert torch.allclose(parameter.grad, expected.grad, atol=1e-10), (rank, name)
    for optimizer, schedule in zip((theirs, ours), schedules):
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
pairs = [*zip(reference.buffers(), module.buffers())]
pairs += zip(reference.parameters(), module.parameters())
for expected, tensor in pairs:
    assert torch.allclose(tensor, expected, atol=1e-10), rank
shares = [None] * size
dist.all_gather_object(shares, len(ours.optim.state))
assert (sum(shares) == 6 and max(shares) < 6) or size == 1, shares

ours.consolidate_state_dict(0)
if rank == 0:
    expected, state = theirs.state_dict(), ours.state_dict()
    assert state["param_groups"] == expected["param_groups"]
    for number, values in expected["state"].items():
        for name, value in values.items():
            assert torch.allclose(torch.as_tensor(state["state"][number][name]), value, atol=1e-10)
again = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.1)
again.load_state_dict(theirs.state_dict())
assert again.param_groups[0]["lr"] == theirs.param_groups[0]["lr"]
F.cross_entropy(model(X[mine]), Y[mine]).backward()
again.step()

sampler = torch.utils.data.DistributedSampler(range(10), shuffle=False, drop_last=True)
assert list(sampler) == list(range(rank, 10 - 10 % size, size))
layer = torch.nn.SyncBatchNorm(3, momentum=None)
layer(torch.randn(4, 3, 2) + rank)
assert layer.num_batches_tracked.item() == 1
layer = torch.nn.SyncBatchNorm(3, track_running_stats=False).eval()
if rank == 0:  # evaluation needs no other rank
    assert layer(torch.randn(4, 3)).shape == (4, 3)
print("ok", flush=True)
