"""Uses that each rank refuses in the same way, by name; the program prints one line for each."""

import datetime
import sys

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.nn.parallel import DistributedDataParallel

dist.init_process_group(timeout=datetime.timedelta(seconds=10))
rank, size = dist.get_rank(), dist.get_world_size()
x = torch.ones(3, 2)


def wrapped(**options):
    return DistributedDataParallel(torch.nn.Linear(2, 2), **options)


def converted(convert, trained):
    model = wrapped()
    if trained:
        model(x).sum().backward()
    convert(model)
    model(x.to(model.module.weight.dtype)).sum().backward()


def double():
    converted(lambda model: model.double(), trained=False)


def double_after_a_step():
    converted(lambda model: model.double(), trained=True)


def half_precision():
    converted(lambda model: model.module.to(torch.bfloat16), trained=True)


def device_meta():
    DistributedDataParallel(torch.nn.Linear(2, 2, device="meta"))


def no_parameters():
    DistributedDataParallel(torch.nn.ReLU())


def frozen():
    DistributedDataParallel(torch.nn.Linear(2, 2).requires_grad_(False))


def lazy():
    DistributedDataParallel(torch.nn.LazyLinear(2))


def added():
    model = wrapped(find_unused_parameters=True)
    model.module.extra = torch.nn.Linear(1, 1)
    model(x)


def replaced():
    model = wrapped()
    model.module.weight = torch.nn.Parameter(torch.ones(2, 2))
    model(x)


def frozen_later():
    model = wrapped()
    model.module.bias.requires_grad_(False)
    model(x).sum().backward()


def second_backward():
    model = wrapped()
    loss = model(x).sum()
    loss.backward(retain_graph=True)
    loss.backward()


def sparse_gradient():
    layer = torch.nn.Embedding(5, 2, sparse=True)
    DistributedDataParallel(layer)(torch.tensor([1])).sum().backward()


def other_group():
    dist.all_reduce(x, group="other")


def destroyed_group():
    group = dist.new_group()
    dist.destroy_process_group(group)
    dist.all_reduce(x, group=group)


def model_of_destroyed_group():
    group = dist.new_group()
    model = wrapped(process_group=group)
    dist.destroy_process_group(group)
    model(x).sum().backward()


def begun_twice():
    dist.init_process_group()


def another_size():
    dist.destroy_process_group()
    try:
        dist.init_process_group(world_size=size + 1)
    finally:
        dist.init_process_group()


def after_the_end():
    dist.destroy_process_group()
    dist.all_reduce(x)


cases = [
    value for value in list(globals().values()) if getattr(value, "__module__", "") == __name__
]
for case in cases:
    if case in (wrapped, converted):
        continue
    try:
        case()
    except Exception as error:
        sys.stdout.write(f"{case.__name__}: {type(error).__name__}: {error}\n")
    else:
        sys.stdout.write(f"{case.__name__}: nothing was raised\n")
sys.stdout.flush()
