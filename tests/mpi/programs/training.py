"""DistributedDataParallel beside the bare module on the whole batch."""

import copy
import pickle

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.distributed.algorithms.ddp_comm_hooks import default_hooks
from autograd_cy.nn import functional as F
from autograd_cy.nn.parallel import DistributedDataParallel
from autograd_cy.utils.checkpoint import checkpoint

dist.init_process_group()
rank, size = dist.get_rank(), dist.get_world_size()


def network():
    torch.manual_seed(0)
    layers = [torch.nn.Linear(20, 300), torch.nn.ReLU(), torch.nn.Linear(300, 900), torch.nn.ReLU()]
    layers += [torch.nn.Linear(900, 300), torch.nn.BatchNorm1d(300).eval(), torch.nn.Linear(300, 5)]
    return torch.nn.Sequential(*layers)


torch.manual_seed(1)
X, Y = torch.randn(8 * size, 20), torch.randint(0, 5, (8 * size,))
mine = slice(8 * rank, 8 * rank + 8)


def assert_equal_gradients(module, reference, atol=1e-6):
    pairs = zip(reference.named_parameters(), module.parameters())
    for (name, expected), parameter in pairs:
        assert torch.allclose(parameter.grad, expected.grad, atol=atol), (rank, name)


def assert_same_on_all_ranks(tensors):
    for tensor in tensors:
        other = tensor.detach().clone()
        dist.broadcast(other, 0)
        assert torch.equal(tensor, other)


def steps():
    reference, module = network(), network()
    if rank:
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.add_(1.0)
    model = DistributedDataParallel(module, bucket_cap_mb=1)
    assert_same_on_all_ranks(module.parameters())
    theirs = torch.optim.SGD(reference.parameters(), lr=0.1, momentum=0.9)
    ours = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(6):
        F.cross_entropy(reference(X), Y).backward()
        F.cross_entropy(model(X[mine]), Y[mine]).backward()
        assert_equal_gradients(module, reference)
        for optimizer in (theirs, ours):
            optimizer.step()
            optimizer.zero_grad(set_to_none=step % 2 == 0)
    assert size == 1 or len(model.reducer.buckets) == 3
    assert_same_on_all_ranks(module.parameters())
    assert next(iter(model.state_dict())) == "module.0.weight"


def accumulated():
    reference, module = network(), network()
    model = DistributedDataParallel(module)
    half, rest = slice(8 * rank, 8 * rank + 4), slice(8 * rank + 4, 8 * rank + 8)
    with model.no_sync():
        F.cross_entropy(model(X[half]), Y[half]).backward()
    F.cross_entropy(model(X[rest]), Y[rest]).backward()
    (2 * F.cross_entropy(reference(X), Y)).backward()
    assert_equal_gradients(module, reference, atol=1e-5)


def held_gradients():
    """Gradients of an earlier step stay as they are, unless gradients are views of buckets."""
    x = X[mine]
    for as_view in (False, True):
        module = network()
        model = DistributedDataParallel(module, gradient_as_bucket_view=as_view, bucket_cap_mb=1)
        for _ in range(3):  # the second has the final buckets
            model.zero_grad()
            model(x).sum().backward()
        held = [parameter.grad for parameter in module.parameters()]
        values = [gradient.clone() for gradient in held]
        model.zero_grad()
        (2 * model(x).sum()).backward()
        shared = as_view and size > 1
        for parameter, gradient, value in zip(module.parameters(), held, values):
            assert torch.allclose(parameter.grad, 2 * value, atol=1e-4)
            assert (parameter.grad.data_ptr() == gradient.data_ptr()) == shared
            assert shared or torch.equal(gradient, value)
        # Gradients that are there stay the same tensors, and grow.
        before = [parameter.grad for parameter in module.parameters()]
        model(x).sum().backward()
        for parameter, gradient, value in zip(module.parameters(), before, values):
            assert as_view or parameter.grad is gradient
            assert torch.allclose(parameter.grad, 3 * value, atol=1e-4)
        # So do some of them, where a program has cleared the others.
        for number, parameter in enumerate(module.parameters()):
            if number % 2:
                parameter.grad = None
        before = [parameter.grad for parameter in module.parameters()]
        with model.no_sync():
            model(x).sum().backward()
        model(x).sum().backward()
        for number, parameter in enumerate(module.parameters()):
            times = 2 if number % 2 else 5
            assert torch.allclose(parameter.grad, times * values[number], atol=1e-4), number
            assert as_view or number % 2 or parameter.grad is before[number]


def mean_of(rank_values):
    return sum(rank_values) / size


def forward_decides():
    """The forward pass, not backward, must be within no_sync."""
    weight = torch.nn.Linear(1, 1, bias=False)
    model = DistributedDataParallel(weight)
    x = torch.full((1, 1), 1.0 + rank)
    averaged = mean_of(1.0 + of for of in range(size))
    loss = model(x).sum()
    with model.no_sync():
        loss.backward()
    assert weight.weight.grad.item() == averaged
    model.zero_grad()
    with model.no_sync():
        loss = model(x).sum()
    loss.backward()
    assert weight.weight.grad.item() == 1.0 + rank
    with model.no_sync():  # the module itself
        weight(x).sum().backward()
    assert weight.weight.grad.item() == 2.0 + 2 * rank
    model(x).sum().backward()
    assert abs(weight.weight.grad.item() - 3 * averaged) < 1e-6


def accumulated_and_unused():
    """A gradient from before is reduced, though its parameter isn't in the last forward pass."""
    model = DistributedDataParallel(Three(), find_unused_parameters=True)
    x = torch.full((1, 3), 1.0 + rank)
    with model.no_sync():
        model(x, True).sum().backward()
    model(x, False).sum().backward()
    averaged = mean_of(1.0 + of for of in range(size))
    for layer, times in ((model.module.first, 2), (model.module.second, 1)):
        assert torch.allclose(layer.weight.grad, torch.full((3, 3), times * averaged))


def frozen_and_wrapped_again():
    module = torch.nn.Linear(2, 1)
    x = torch.full((1, 2), 1.0 + rank, requires_grad=True)
    averaged = torch.full((1, 2), mean_of(1.0 + of for of in range(size)))
    for _ in range(2):
        model = DistributedDataParallel(module)
        model.requires_grad_(False)  # as a discriminator is while the generator learns
        model(x).sum().backward()
        model.requires_grad_(True)
        model.zero_grad()
        model(x).sum().backward()
        assert torch.allclose(module.weight.grad, averaged)
        del model


def copies():
    """Copies and pickles have hooks of their own."""
    x = torch.full((1, 2), 1.0 + rank)
    averaged = torch.full((1, 2), mean_of(1.0 + of for of in range(size)))
    group = dist.new_group()
    model = DistributedDataParallel(torch.nn.Linear(2, 1), process_group=group)
    model.register_comm_hook(None, default_hooks.allreduce_hook)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.process_group is group and other.reducer.comm_hook == model.reducer.comm_hook
        other(x).sum().backward()
        assert torch.allclose(other.module.weight.grad, averaged)
        assert model.module.weight.grad is None
    model(x).sum().backward()
    assert torch.allclose(model.module.weight.grad, averaged)


def micro_batches():
    weight = torch.nn.Linear(1, 1, bias=False)
    model = DistributedDataParallel(weight, micro_batches=2 * size)
    x = torch.full((1, 1), 1.0 + rank)
    for step in range(2):  # gradients of two steps accumulate
        for _ in range(2):
            model(x).sum().backward()
        averaged = mean_of(1.0 + of for of in range(size))
        assert abs(weight.weight.grad.item() - (1 + step) * averaged) < 1e-6
    model.zero_grad()
    with model.join():  # of ranks with as many batches
        for _ in range(2):
            model(x).sum().backward()
    assert abs(weight.weight.grad.item() - averaged) < 1e-6
    try:
        with model.no_sync():
            model(x)
    except RuntimeError as error:
        message = str(error)
    assert "leave no_sync out" in message


class Checkpoints(torch.nn.Module):
    """Two layers, each in a backward inside of another."""

    def __init__(self, *layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers[:2]:
            x = checkpoint(layer, x, use_reentrant=True)
        return self.layers[2](x) if len(self.layers) == 3 else x


def checkpoints():
    for count, options in ((2, {}), (3, {}), (2, {"micro_batches": size})):
        torch.manual_seed(2)
        module = Checkpoints(*(torch.nn.Linear(3, 3) for _ in range(count)))
        reference = copy.deepcopy(module)
        model = DistributedDataParallel(module, bucket_cap_mb=0.00002, **options)
        for _ in range(3):
            x = torch.arange(3.0 * size).reshape(size, 3).requires_grad_()
            reference.zero_grad()
            model.zero_grad()
            (reference(x).square().sum() / size).backward()
            model(x[rank : rank + 1].detach().requires_grad_()).square().sum().backward()
            assert_equal_gradients(module, reference, atol=1e-4)


class Three(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for name in ("first", "second", "third"):
            setattr(self, name, torch.nn.Linear(3, 3))

    def forward(self, x, more):
        return self.first(x) + (self.second(x) if more else 0)


def unused():
    for options in ({"find_unused_parameters": True}, {"static_graph": True}):
        model = DistributedDataParallel(Three(), **options)
        for _ in range(3):
            model.zero_grad()
            more = rank == 0 or "static_graph" in options
            model(torch.ones(2, 3), more).sum().backward()
            assert model.module.third.weight.grad is None
            expected = 2.0 if "static_graph" in options else 2.0 / size
            gradient = model.module.second.weight.grad
            assert torch.allclose(gradient, torch.full((3, 3), expected)), (options, gradient)


def hooks():
    for hook, atol in (
        (default_hooks.allreduce_hook, 1e-6),
        (default_hooks.fp16_compress_hook, 1e-2),
        (default_hooks.bf16_compress_hook, 1e-1),
    ):
        reference, module = network(), network()
        model = DistributedDataParallel(module, bucket_cap_mb=1)
        model.register_comm_hook(None, hook)
        for _ in range(2):
            module.zero_grad()
            reference.zero_grad()
            F.cross_entropy(reference(X), Y).backward()
            F.cross_entropy(model(X[mine]), Y[mine]).backward()
            assert_equal_gradients(module, reference, atol)


def buffers():
    model = DistributedDataParallel(torch.nn.BatchNorm1d(20))
    for _ in range(2):
        model(X[mine]).sum().backward()
    assert_same_on_all_ranks([p.grad for p in model.parameters()])
    with torch.no_grad():
        model(X[mine])
    model.eval()
    model(X[mine])
    assert_same_on_all_ranks(model.buffers())


def several_forwards():
    reference, module = network(), network()
    model = DistributedDataParallel(module)
    (F.cross_entropy(model(X[mine]), Y[mine]) + model(X[mine]).square().mean()).backward()
    (F.cross_entropy(reference(X), Y) + reference(X).square().mean()).backward()
    assert_equal_gradients(module, reference)


for part in (steps, accumulated, unused, hooks, buffers, several_forwards, forward_decides):
    part()
for part in (accumulated_and_unused, frozen_and_wrapped_again, copies, micro_batches, checkpoints):
    part()
held_gradients()
print("trained alike", flush=True)
