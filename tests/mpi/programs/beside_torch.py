"""One program for both: `beside_torch.py torch|autograd_cy FOLDER [INIT_METHOD]`.

Each rank writes what it gets from every public name as a JSON file into the folder. The test
compares the files of both packages. PyTorch's ranks meet by gloo.
"""

import importlib
import json
import sys
import warnings
from pathlib import Path

package, folder, *address = sys.argv[1:]
torch = importlib.import_module(package)
dist = importlib.import_module(f"{package}.distributed")
functional = importlib.import_module(f"{package}.distributed.nn.functional")
default_hooks = importlib.import_module(
    f"{package}.distributed.algorithms.ddp_comm_hooks.default_hooks"
)
Join = importlib.import_module(f"{package}.distributed.algorithms.join").Join
ZeRO = importlib.import_module(f"{package}.distributed.optim").ZeroRedundancyOptimizer
record = importlib.import_module(f"{package}.distributed.elastic.multiprocessing.errors").record
DDP = torch.nn.parallel.DistributedDataParallel
F = torch.nn.functional
warnings.simplefilter("ignore")

results = {}


def plain(value):
    """A value as JSON has it."""
    if isinstance(value, torch.Tensor):
        return [str(value.dtype).rpartition(".")[2], list(value.shape), value.double().tolist()]
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def case(function):
    """Note what a function returns, or which exception it raises."""
    try:
        value = plain(function())
    except Exception as error:
        value = f"raises {type(error).__name__}"
    results[function.__name__] = value


# Before there is a group.
for ask in (dist.is_available, dist.is_initialized, dist.is_gloo_available):
    results[ask.__name__] = ask()
results["elastic"] = dist.is_torchelastic_launched()


@case
def rank_without_group():
    return dist.get_rank()


@case
def call_without_group():
    return dist.all_reduce(torch.ones(1))


@case
def destroy_without_group():
    return dist.destroy_process_group()


dist.init_process_group("gloo", **({"init_method": address[0]} if address else {}))
rank, size = dist.get_rank(), dist.get_world_size()
world = dist.group.WORLD
OPS = ("SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "AVG")


def mine(*shape, dtype=None):
    count = 1
    for length in shape:
        count *= length
    values = torch.arange(count, dtype=torch.float64).reshape(shape) + 10 * rank + 1
    return values.to(dtype or torch.float32)


@case
def names():
    return [
        dist.get_backend(),
        dist.is_initialized(),
        dist.is_backend_available("gloo"),
        dist.get_process_group_ranks(world),
        dist.get_global_rank(world, size - 1),
        dist.get_group_rank(world, size - 1),
        dist.get_node_local_rank(3),
        dist.Backend("GLOO"),
        dist.Backend.GLOO,
        isinstance(world, dist.ProcessGroup),
        world.rank(),
        world.size(),
    ]


@case
def initialized_twice():
    dist.init_process_group("gloo")


for operation in OPS:
    for dtype in ("float32", "float64", "int64", "uint8", "bfloat16", "bool"):

        def reduced(operation=operation, dtype=dtype):
            x = mine(3, dtype=getattr(torch, dtype))
            dist.all_reduce(x, getattr(dist.ReduceOp, operation))
            return x

        reduced.__name__ = f"all_reduce {operation} {dtype}"
        case(reduced)


@case
def complex_sum():
    x = torch.complex(mine(2), mine(2))
    dist.all_reduce(x)
    return torch.view_as_real(x)


@case
def complex_maximum():
    dist.all_reduce(torch.complex(mine(2), mine(2)), dist.ReduceOp.MAX)


@case
def reduced_on_one():
    x = mine(2)
    dist.reduce(x, size - 1)
    return x if rank == size - 1 else None


@case
def broadcasted():
    x, y = mine(2, 2), mine(3)
    dist.broadcast(x, size - 1)
    dist.broadcast(y, group_src=0)
    return x, y


@case
def broadcast_without_source():
    dist.broadcast(mine(2))


@case
def broadcast_from_outside():
    dist.broadcast(mine(2), size)


@case
def gathered():
    every, whole = [torch.zeros(2) for _ in range(size)], torch.zeros(size, 2)
    into = torch.zeros(2 * size)
    dist.all_gather(every, mine(2))
    dist.all_gather_into_tensor(whole, mine(1, 2))
    dist.all_gather_into_tensor(into, mine(2))
    some = [torch.zeros(2) for _ in range(size)] if rank == 0 else None
    dist.gather(mine(2), some, dst=0)
    return every, whole, into, some


@case
def gathered_into_too_few():
    dist.all_gather([torch.zeros(2)] * (size + 1), mine(2))


@case
def gather_without_list():
    if rank == 0:
        dist.gather(mine(2), None, dst=0)
    else:
        raise ValueError


@case
def scattered():
    x = torch.zeros(2)
    dist.scatter(x, [torch.full((2,), 1.0 + to) for to in range(size)] if rank == 0 else None)
    return x


@case
def reduce_scattered():
    x = torch.zeros(2)
    dist.reduce_scatter(x, [mine(2) + to for to in range(size)])
    return x


@case
def reduce_scattered_tensor():
    x = torch.zeros(2)
    dist.reduce_scatter_tensor(x, mine(2 * size))
    return x


@case
def all_to_all():
    into = [torch.zeros(1) for _ in range(size)]
    dist.all_to_all(into, [mine(1) + to for to in range(size)])
    return into


@case
def all_to_all_single():
    x = torch.zeros(size)
    dist.all_to_all_single(x, mine(size))
    return x


@case
def all_to_all_in_parts():
    sent = [1 + to for to in range(size)]
    x = torch.zeros(size * (1 + rank))
    dist.all_to_all_single(x, mine(sum(sent)), [1 + rank] * size, sent)
    return x


@case
def barriers():
    work = dist.barrier(async_op=True)
    work.wait()
    dist.monitored_barrier()
    return dist.barrier()


@case
def asynchronous():
    x = mine(2)
    work = dist.all_reduce(x, async_op=True)
    done = work.wait()
    return x, done, work.is_completed(), work.is_success()


@case
def futures():
    x = mine(2)
    work = dist.all_reduce(x, async_op=True)
    return work.get_future().then(lambda future: 2 * future.value()[0]).wait()


@case
def messages():
    x, y, z = torch.zeros(2), torch.zeros(2), torch.zeros(2)
    if size == 1:
        return None
    if rank == 0:
        dist.send(mine(2), 1, tag=3)
        dist.isend(mine(2) + 1, 1).wait()
        source = dist.recv(z)
    elif rank == 1:
        source = dist.recv(x, 0, tag=3)
        dist.irecv(y, 0).wait()
        dist.send(mine(2) + 2, 0)
    if rank < 2:
        peer = 1 - rank
        works = dist.batch_isend_irecv(
            [dist.P2POp(dist.isend, mine(2), peer), dist.P2POp(dist.irecv, z, peer)]
        )
        for work in works:
            work.wait()
    return x, y, z, source


@case
def message_to_itself():
    dist.send(mine(1), rank)


@case
def objects():
    every = [None] * size
    dist.all_gather_object(every, {"rank": rank})
    some = [None] * size if rank == 0 else None
    dist.gather_object([rank], some, dst=0)
    pair = [rank, "a"] if rank == 0 else [None, None]
    dist.broadcast_object_list(pair, src=0)
    own = [None]
    dist.scatter_object_list(own, [f"to {to}" for to in range(size)] if rank == 0 else None, src=0)
    received = [None]
    if size > 1 and rank == 0:
        dist.send_object_list([{"a": 1}], 1)
    elif rank == 1:
        dist.recv_object_list(received, 0)
    return every, some, pair, own, received


@case
def groups():
    last = dist.new_group([size - 1])
    inside = rank == size - 1
    x = mine(2)
    if inside:
        dist.all_reduce(x, group=last)
    outside = dist.get_rank(last), dist.get_world_size(last), dist._rank_not_in_group(last)
    both = dist.new_group()
    dist.all_reduce(x, group=both)
    dist.destroy_process_group(both)
    return x, outside, inside == (last is not dist.GroupMember.NON_GROUP_MEMBER)


@case
def destroyed_group():
    group = dist.new_group()
    dist.destroy_process_group(group)
    dist.all_reduce(mine(2), group=group)


@case
def call_outside_of_group():
    other = dist.new_group([0])
    x = mine(1)
    return dist.all_reduce(x, group=other), x


@case
def not_a_tensor():
    dist.all_reduce([1.0])


@case
def not_an_operation():
    dist.all_reduce(mine(1), "sum")


@case
def group_of_no_such_rank():
    dist.new_group([size])


@case
def leaves():
    x, y = mine(2).requires_grad_(), mine(2).requires_grad_()
    z = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        dist.broadcast(x, 0)
        dist.all_reduce(y)
        dist.reduce(z, 0)
    (3 * x * y).sum().backward()
    last = z.detach() if rank == 0 else None  # undefined on others
    return x.detach(), y.detach(), x.grad, y.grad, x.is_leaf, last


@case
def sum_into_a_leaf():
    leaf = torch.ones(2, requires_grad=True)
    dist.all_reduce(leaf)
    return leaf.detach()


@case
def results_into_leaves():
    leaves = [torch.ones(2, requires_grad=True) for _ in range(size)]
    dist.all_gather(leaves, mine(2))


def misfit(name, call):
    call.__name__ = f"misfit: {name}"
    case(call)


zeros = torch.zeros
misfit("sizes of all_gather", lambda: dist.all_gather([zeros(3)] * size, zeros(2)))
misfit(
    "dtypes of all_gather",
    lambda: dist.all_gather([zeros(2, dtype=torch.int64)] * size, zeros(2)),
)
misfit("all_gather_into_tensor", lambda: dist.all_gather_into_tensor(zeros(3), zeros(2)))
misfit("sizes of all_to_all", lambda: dist.all_to_all_single(zeros(size), zeros(size), [size], [9]))
misfit("number of all_to_all", lambda: dist.all_to_all([zeros(2)] * 9, [zeros(2)] * 9))
misfit("number of reduce_scatter", lambda: dist.reduce_scatter(zeros(2), [zeros(2)] * 9))
misfit("ranks of new_group", lambda: dist.new_group([0, 0]))
misfit("timeout of new_group", lambda: dist.new_group([0], timeout=3))


@case
def recorded():
    return record(lambda: 3)()


def differentiated(function):
    def run():
        x = mine(2, 2).requires_grad_()
        result = function(x)
        parts = result if isinstance(result, (list, tuple)) else [result]
        weights = torch.arange(4.0).reshape(2, 2)
        loss = sum(((1 + number) * weights * part).sum() for number, part in enumerate(parts))
        (loss * (1 + rank)).backward()
        return list(parts), x.grad

    run.__name__ = f"nn.functional.{function.__name__}"
    case(run)


@differentiated
def all_gather(x):
    return functional.all_gather(x)


@differentiated
def all_reduce(x):
    return functional.all_reduce(x)


@differentiated
def broadcast(x):
    return functional.broadcast(x, 0)


@differentiated
def gather(x):
    return functional.gather(x, 0)


@differentiated
def reduce(x):
    return functional.reduce(x, 0)


@differentiated
def reduce_scatter(x):
    return functional.reduce_scatter(torch.zeros(2, 2), [x * (1 + to) for to in range(size)])


@differentiated
def scatter(x):
    return functional.scatter([x * (1 + to) for to in range(size)], 0)


@differentiated
def all_to_all_of_list(x):
    into = [torch.zeros(2, 2) for _ in range(size)]
    return functional.all_to_all(into, [x * (1 + to) for to in range(size)])


class Network(torch.nn.Module):
    """A network whose weights are the same in both packages."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 8, bias=False)  # before a norm, its gradient is noise
        self.norm = torch.nn.BatchNorm1d(8)
        self.second = torch.nn.Linear(8, 3)
        with torch.no_grad():
            for number, p in enumerate(self.parameters()):
                index = torch.arange(p.numel(), dtype=torch.float32)
                p.copy_((torch.sin(index * 1.7 + number) * 0.4).reshape(p.shape))

    def forward(self, x):
        return self.second(torch.tanh(self.norm(self.first(x))))


def batch(step):
    index = torch.arange(24.0) + 100 * step + 31 * rank
    return torch.sin(index * 0.9).reshape(6, 4), (torch.arange(6) + step + rank) % 3


def train(model, optimizer, steps=6):
    losses = []
    for step in range(steps):
        x, y = batch(step)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [p.detach().clone() for p in model.parameters()]


@case
def trained():
    model = DDP(Network())
    return train(model, torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9))


@case
def trained_with_adam_of_parts():
    model = DDP(Network(), bucket_cap_mb=1e-4)
    return train(model, ZeRO(model.parameters(), torch.optim.Adam, lr=0.01))


for hook in ("allreduce_hook", "bf16_compress_hook", "fp16_compress_hook"):

    def trained_by_hook(hook=hook):
        model = DDP(Network())
        model.register_comm_hook(None, getattr(default_hooks, hook))
        return train(model, torch.optim.SGD(model.parameters(), lr=0.1), steps=2)

    trained_by_hook.__name__ = f"trained by {hook}"
    case(trained_by_hook)


@case
def trained_by_own_hook():
    seen = []

    def hook(state, bucket):
        assert isinstance(bucket, dist.GradBucket)
        seen.append([bucket.index(), bucket.is_last(), len(bucket.gradients())])
        work = dist.all_reduce(bucket.buffer().div_(size), async_op=True)
        return work.get_future().then(lambda future: future.value()[0])

    model = DDP(Network())
    model.register_comm_hook(None, hook)
    return train(model, torch.optim.SGD(model.parameters(), lr=0.1), steps=2), seen


@case
def trained_with_uneven_batches():
    model = DDP(Network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Join([model]):
        return train(model, optimizer, steps=2 + rank)


@case
def accumulated():
    model = DDP(Network())
    with model.no_sync():
        F.cross_entropy(model(batch(0)[0]), batch(0)[1]).backward()
    local = model.module.second.bias.grad.clone()
    F.cross_entropy(model(batch(1)[0]), batch(1)[1]).backward()
    return local, [p.grad for p in model.parameters()]


@case
def without_parameters():
    DDP(torch.nn.ReLU())


@case
def not_a_module():
    DDP(mine(1))


dist.destroy_process_group()
results["after"] = dist.is_initialized()


@case
def call_after_the_end():
    dist.all_reduce(torch.ones(1))


Path(folder, f"{package}-{rank}.json").write_text(json.dumps(results))
