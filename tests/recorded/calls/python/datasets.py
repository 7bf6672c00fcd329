"""Datasets: calls of the Python layer (`autograd_cy`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy.utils import data
from tests.recorded.inputs import error_name, metadata, with_warnings

# Data sets.
len(data.TensorDataset())
len(data.TensorDataset(torch.zeros(0, 3), torch.zeros(0)))
data.StackDataset(x=[1, 2], y="ab").__getitems__([1, 1, 0])
data.StackDataset([1, 2], "ab").__getitems__([])

def stack_dataset():
    class Few:
        def __len__(self):
            return 3
        def __getitems__(self, indices):
            return [0, 0]
    return data.StackDataset("abc", Few()).__getitems__([0, 1, 2])

def stack_dataset_2():
    class Few:
        __getitems__ = None
        def __len__(self):
            return 2
        def __getitem__(self, i):
            return -i
    return data.StackDataset(Few(), "ab").__getitems__([1])

data.ConcatDataset(["ab", "", "c"]).cumulative_sizes
[*map(len, data.ConcatDataset(iter(["ab", "c"])).datasets)]
data.ConcatDataset(iter([]))
len(data.ChainDataset([[1, 2]]))

def iterable_dataset_len():
    class Sized(data.IterableDataset):
        def __len__(self):
            return 2
        def __iter__(self):
            return iter("ab")
    return [len(Sized() + Sized()), *(Sized() + Sized())]

len(data.Subset("abcd", [3, 1, 1]))

# Parts at random.
[len(x) for x in data.random_split(range(5), [1])]
[len(x) for x in data.random_split([], [0.5, 0.5])]
[len(x) for x in data.random_split([], [])]
data.random_split(range(4), [0.5, 0.5 + 1e-10])
with_warnings(lambda: len(data.random_split([1, 2], [2, 0])))

# Orders.
[*data.SequentialSampler("abc"), len(data.SequentialSampler("abc"))]
sorted({*data.RandomSampler(range(3), True, 99)})
sorted({*data.RandomSampler([7], True, 2)})
len([*data.RandomSampler(range(3), True)])
data.RandomSampler("ab", replacement=None)
data.RandomSampler("")

def manual_seed_subset_random_sampler():
    torch.manual_seed(1)
    a = [*data.SubsetRandomSampler(range(40))]
    torch.manual_seed(1)
    return a == [*data.SubsetRandomSampler(range(40))]

len(data.SubsetRandomSampler([4, 4, 4]))
[*data.WeightedRandomSampler([0, 0, 5], 4)]
sorted({*data.WeightedRandomSampler([1, 1, 1, 1], 200)})
[type(x) for x in data.WeightedRandomSampler([1.0], 1)]
error_name(lambda: [*data.WeightedRandomSampler([0.0, 0.0], 1)])
data.WeightedRandomSampler(1.0, 1)
data.WeightedRandomSampler([1.0], 1.0)
data.WeightedRandomSampler([1.0], 1, None)
[[*data.BatchSampler(range(n), 2, True)] for n in (0, 1, 2, 3)]
data.BatchSampler("ab", True, False)
data.BatchSampler("ab", -1, False)
data.BatchSampler("ab", 1.0, False)
data.BatchSampler("ab", 1, None)
error_name(lambda: len(data.BatchSampler(iter("ab"), 1, False)))

# Shares of processes.
def distributed_sampler_set_epoch():
    share = torch.utils.data.distributed.DistributedSampler
    a, b, c = (share(range(30), 2, 1, seed=seed) for seed in (3, 1, 3))
    b.set_epoch(2)
    c.set_epoch(3)
    return [[*a] == [*b], [*a] == [*c], [*a] == [*a], len([*a])]

torch.utils.data.distributed.DistributedSampler(range(3), 2, 2)
torch.utils.data.distributed.DistributedSampler(range(3), 2, -1)
torch.utils.data.distributed.DistributedSampler(range(3), 2)
[*torch.utils.data.distributed.DistributedSampler([], 2, 1)]

# Batches of samples.
data.default_collate([np.bool_(True), np.bool_(False)])
data.default_collate([np.array(["a"])])
data.default_collate([np.array([object()])])
data.default_collate([np.datetime64("2020-01-01")])
data.default_collate([None])
data.default_collate([])
data.default_collate(((1, 2), (3,)))
data.default_collate([{"a": 1}, {"b": 2}])

def default_collate_mapping_proxy_type():
    import types
    return data.default_collate([types.MappingProxyType({"a": 1})])

data.default_convert(np.bool_(True))
metadata(data.default_collate([torch.zeros(2, requires_grad=True), torch.zeros(2)]))
