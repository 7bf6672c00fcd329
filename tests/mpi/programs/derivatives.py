"""Derivatives of collectives beside differences of the losses of all ranks."""

import autograd_cy as torch
import autograd_cy.distributed as dist
import autograd_cy.distributed.nn.functional as collectives

dist.init_process_group()
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
INPUTS = torch.randn(size, 2, 3, dtype=torch.float64)
STEP = 1e-6


def loss(function, x):
    """The loss of this rank; the one that is differentiated is the sum over ranks."""
    results = function(x)
    results = results if isinstance(results, tuple) else (results,)
    total = 0.0
    for number, result in enumerate(results):
        weights = 1 + number + torch.arange(result.numel(), dtype=result.dtype)
        total = total + (result.sin() * weights.reshape(result.shape)).sum()
    return total * (1 + rank)


def difference(function, of, entry):
    """The derivative of the sum of losses by one entry of the input of one rank."""
    losses = []
    for sign in (1, -1):
        x = INPUTS[rank].clone()
        if rank == of:
            x.view(-1)[entry] += sign * STEP
        total = loss(function, x).detach().reshape(1).clone()
        dist.all_reduce(total)
        losses.append(total.item())
    return (losses[0] - losses[1]) / (2 * STEP)


def check(name, function):
    x = INPUTS[rank].clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(function, x), x, create_graph=True)
    for of in range(size):
        for entry in range(x.numel()):
            expected = difference(function, of, entry)
            if rank == of:
                assert abs(gradient.view(-1)[entry].item() - expected) < 1e-5, (name, rank, entry)
    (second,) = torch.autograd.grad(gradient.square().sum(), x)
    assert second.isfinite().all() and second.abs().sum() > 0, (name, rank)


def scaled(x):
    return [x * (to + 1) for to in range(size)]


def exchanged(x):
    rows = torch.cat([x[:1] * (to + 1) for to in range(size)])
    return collectives.all_to_all_single(torch.zeros(size, 3, dtype=x.dtype), rows)


check("all_reduce", collectives.all_reduce)
check("all_reduce, mean", lambda x: collectives.all_reduce(x, dist.ReduceOp.AVG))
check("broadcast", lambda x: collectives.broadcast(x, 0) + x)
check("reduce", lambda x: collectives.reduce(x, 0) + x)
check("gather", lambda x: (*collectives.gather(x, 0), x))
check("scatter", lambda x: collectives.scatter(scaled(x), 0) + x)
check("all_gather", collectives.all_gather)
check("reduce_scatter", lambda x: collectives.reduce_scatter(x, scaled(x)))
check("all_to_all", lambda x: collectives.all_to_all([x] * size, scaled(x)))
check("all_to_all_single", exchanged)
try:
    collectives.all_reduce(INPUTS[0].clone().requires_grad_(), dist.ReduceOp.MAX)
except ValueError as error:
    message = str(error)
assert "MAX has no derivative" in message
print("differentiated", flush=True)
