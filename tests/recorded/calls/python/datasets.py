"""Datasets: calls of the Python layer (`autograd_cy`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy.utils import data
from tests.recorded.inputs import differs, error_name, metadata, with_warnings

share = torch.utils.data.distributed.DistributedSampler

# Data sets.
len(data.TensorDataset())
data.TensorDataset(torch.tensor([1, 2]), torch.tensor([3, 4]))[1]
data.TensorDataset(torch.tensor([1, 2, 3]))[1:]
error_name(data.TensorDataset, torch.zeros(2), torch.zeros(2), torch.zeros(3))
len(data.TensorDataset(torch.zeros(0, 3), torch.zeros(0)))
data.StackDataset([1, 2], "ab")[1]
data.StackDataset(x=[1, 2], y="ab").__getitems__([1, 1, 0])
data.StackDataset([1, 2], "ab").__getitems__([])

def getitems_stack_dataset():
    class Few:
        def __len__(self):
            return 3
        def __getitem__(self, i):
            return i
        def __getitems__(self, indices):
            return [10 * i for i in indices][:2]
    return [data.StackDataset(Few(), "abc").__getitems__([2, 1]),
        data.StackDataset("abc", Few())[2]]

def getitems_stack_dataset_2():
    class Few:
        def __len__(self):
            return 3
        def __getitems__(self, indices):
            return [0, 0]
    return data.StackDataset("abc", Few()).__getitems__([0, 1, 2])

class Few:
    __getitems__ = None
    def __len__(self):
        return 2
    def __getitem__(self, i):
        return -i

data.StackDataset(Few(), "ab").__getitems__([1])
data.Subset(Few(), [1, 0]).__getitems__([0, 1])
data.StackDataset(a="ab", b="abc")
data.ConcatDataset(["ab", "", "c"]).cumulative_sizes
[data.ConcatDataset(["ab", "", "c"])[i] for i in (0, 1, 2, -1, -2, -3)]
data.ConcatDataset(["ab", "", "c"])[3]
data.ConcatDataset(["ab", "", "c"])[-4]
len(data.ConcatDataset(["ab", "", "c"]))
[*map(len, data.ConcatDataset(iter(["ab", "c"])).datasets)]
data.ConcatDataset(iter([]))
len(data.TensorDataset(torch.zeros(2)) + data.TensorDataset(torch.zeros(3)))
len(data.ChainDataset([[1, 2]]))

class Sized(data.IterableDataset):
    def __len__(self):
        return 2
    def __iter__(self):
        return iter("ab")

[len(Sized() + Sized()), *(Sized() + Sized())]
error_name(lambda: [*data.ChainDataset([Sized(), "ab"])])
data.Subset("abcd", [3, 1])[1]
len(data.Subset("abcd", [3, 1, 1]))
data.Subset(np.arange(5), [3, 1, 0])[[2, 0]].tolist()
data.Subset("ab", [0])[1]

# Parts at random.
[len(x) for x in data.random_split(range(10), [1 / 3, 1 / 3, 1 / 3])]
[len(x) for x in data.random_split(range(3), [0.5, 0.5])]
[len(x) for x in data.random_split(range(5), [1])]
[len(x) for x in data.random_split(range(1), [1, 0])]
[len(x) for x in data.random_split(range(4), [0.0, 1.0])]
[len(x) for x in data.random_split(range(8), [0.1] * 9 + [0.1 - 1e-12])]
[len(x) for x in data.random_split([], [0.5, 0.5])]
[len(x) for x in data.random_split([], [])]
data.random_split(range(4), [0.5, 0.5 + 1e-10])
data.random_split(range(4), [0.5, 0.4])
data.random_split(range(4), [1.25, -0.25])
data.random_split(range(4), [-0.25, 1.25])
data.random_split(range(4), [3, 2])
with_warnings(lambda: len(data.random_split([1], [0.5, 0.25, 0.25])))
with_warnings(lambda: len(data.random_split([1, 2], [0.5, 0.5])))
with_warnings(lambda: len(data.random_split([1, 2], [2, 0])))
sorted(sum((x.indices for x in data.random_split(range(7), [4, 0, 3])), []))

def indices_random_split():
    torch.manual_seed(3)
    a = [x.indices for x in data.random_split(range(30), [15, 15])]
    torch.manual_seed(3)
    b = [x.indices for x in data.random_split(range(30), [15, 15])]
    return [a == b, a == [x.indices for x in data.random_split(range(30), [15, 15])]]

def indices_random_split_2():
    def one(seed):
        return [x.indices for x in data.random_split(range(30), [9, 21],
            torch.Generator().manual_seed(seed))]
    return [one(1) == one(1), one(1) == one(2)]

def get_rng_state_random_split():
    torch.manual_seed(3)
    a = torch.get_rng_state()
    data.random_split(range(3), [1, 2], torch.Generator())
    return bool((a == torch.get_rng_state()).all())

# Orders.
[*data.SequentialSampler("abc"), len(data.SequentialSampler("abc"))]
[len([*data.RandomSampler(range(3), True, n)]) for n in (1, 4095, 4096, 4097, 8192, 8193)]
[len({*data.RandomSampler(range(5), num_samples=n)}) for n in (1, 4, 5, 6)]
[len([*data.RandomSampler(range(5), num_samples=n)]) for n in (1, 4, 5, 6, 10, 11)]
sorted({*data.RandomSampler(range(3), True, 99)})
sorted({*data.RandomSampler([7], True, 2)})
len([*data.RandomSampler(range(3), True)])

def source_sampler():
    source = [1]
    sampler = data.RandomSampler(source)
    source += [2, 3]
    return [len(sampler), sampler.num_samples, sorted(sampler)]

data.RandomSampler("ab", num_samples=0)
data.RandomSampler("ab", num_samples=1.0)
data.RandomSampler("ab", replacement=None)
data.RandomSampler("")

def order_random_sampler():
    g = torch.Generator().manual_seed(3)
    def order():
        return [*data.RandomSampler(range(40), generator=g)]
    a, b = order(), order()
    g.manual_seed(3)
    return [a == order(), b == order(), a == b]

def order_random_sampler_2():
    g = torch.Generator().manual_seed(3)
    def order():
        return [*data.RandomSampler(range(40), True, generator=g)]
    a, b = order(), order()
    g.manual_seed(3)
    return [a == order(), b == order(), a == b]

def order_subset_random_sampler():
    g = torch.Generator().manual_seed(3)
    def order():
        return [*data.SubsetRandomSampler(range(40), g)]
    a, b = order(), order()
    g.manual_seed(3)
    return [a == order(), b == order(), a == b, len(a)]

def manual_seed_subset_random_sampler():
    torch.manual_seed(1)
    a = [*data.SubsetRandomSampler(range(40))]
    torch.manual_seed(1)
    return a == [*data.SubsetRandomSampler(range(40))]

len(data.SubsetRandomSampler([4, 4, 4]))

def order_weighted_random_sampler():
    g = torch.Generator().manual_seed(3)
    def order():
        return [*data.WeightedRandomSampler([1.0] * 40, 40, False, g)]
    a, b = order(), order()
    g.manual_seed(3)
    return [a == order(), b == order(), a == b, sorted(a) == [*range(40)]]

def order_weighted_random_sampler_2():
    g = torch.Generator().manual_seed(3)
    def order():
        return [*data.WeightedRandomSampler([1.0] * 40, 40, generator=g)]
    a, b = order(), order()
    g.manual_seed(3)
    return [a == order(), b == order(), a == b, len(a), sorted(a) == [*range(40)]]

[*data.WeightedRandomSampler([0, 0, 5], 4)]
sorted(data.WeightedRandomSampler([1, 2], 2, False))
sorted({*data.WeightedRandomSampler([1, 1, 1, 1], 200)})
[type(x) for x in data.WeightedRandomSampler([1.0], 1)]
with differs("The second has no chance, torch draws it."):
    error_name(lambda: [*data.WeightedRandomSampler([1.0, 0.0], 2, False)])
error_name(lambda: [*data.WeightedRandomSampler([0.0, 0.0], 1)])
error_name(lambda: [*data.WeightedRandomSampler([math.inf, 1.0], 1)])
error_name(lambda: [*data.WeightedRandomSampler([math.nan, 1.0], 1)])
data.WeightedRandomSampler(1.0, 1)
data.WeightedRandomSampler([1.0], 1.0)
data.WeightedRandomSampler([1.0], 1, None)
str(data.WeightedRandomSampler([1, 2], 3).weights.dtype)[-7:]
[len(data.WeightedRandomSampler([1, 2], 3)), data.WeightedRandomSampler([1, 2], 3).replacement]
[[*data.BatchSampler(range(n), 2, False)] for n in (0, 1, 2, 3)]
[[*data.BatchSampler(range(n), 2, True)] for n in (0, 1, 2, 3)]
[len(data.BatchSampler(range(n), 3, False)) for n in range(8)]
[len(data.BatchSampler(range(n), 3, True)) for n in range(8)]
data.BatchSampler("ab", True, False)
data.BatchSampler("ab", -1, False)
data.BatchSampler("ab", 1.0, False)
data.BatchSampler("ab", 1, None)
error_name(lambda: len(data.BatchSampler(iter("ab"), 1, False)))

# Shares of processes.
[[*share(range(n), 3, r, shuffle=False)] for n in (1, 2, 3, 7) for r in range(3)]
[[*share(range(n), 3, r, shuffle=False, drop_last=True)] for n in (3, 7) for r in range(3)]
[(len(share(range(n), 3, 1)), share(range(n), 3, 1).total_size) for n in range(8)]
[len(share(range(n), 3, 1, drop_last=True)) for n in (3, 5, 6, 7)]
[x.epoch for x in [share(range(3), 3, 1)]]

def set_epoch_seed():
    a, b, c = (share(range(30), 2, 1, seed=seed) for seed in (3, 1, 3))
    b.set_epoch(2)
    c.set_epoch(3)
    return [[*a] == [*b], [*a] == [*c], [*a] == [*a], len([*a])]

sorted([*share(range(8), 2, 0)] + [*share(range(8), 2, 1)])
torch.utils.data.distributed.DistributedSampler(range(3), 2, 2)
torch.utils.data.distributed.DistributedSampler(range(3), 2, -1)
with differs("There are no processes to ask; torch has a ValueError where they lack."):
    torch.utils.data.distributed.DistributedSampler(range(3), 2)
    torch.utils.data.distributed.DistributedSampler(range(3), rank=2)
[*torch.utils.data.distributed.DistributedSampler([], 2, 1)]
[*torch.utils.data.distributed.DistributedSampler("a", 2, 1, drop_last=True)]

# Batches of samples.
data.default_collate([np.int32(1), np.int32(2)])
data.default_collate([np.float64(1), np.float64(2)])
data.default_collate([np.bool_(True), np.bool_(False)])
data.default_collate([True, False])
data.default_collate([np.array([1, 2]), np.array([3, 4])])
data.default_collate([np.array(["a"])])
[(type(x).__name__, str(x)) for x in data.default_collate([np.str_("a"), np.str_("b")])]
data.default_collate([np.array([object()])])
data.default_collate([np.bytes_(b"a")])
data.default_collate([np.datetime64("2020-01-01")])
data.default_collate([b"a", b"b"])
data.default_collate([1 + 2j])
data.default_collate([None])
data.default_collate([])
data.default_collate(("a", "b"))
data.default_collate(((1, "a"), (2, "b")))
data.default_collate(((1, 2), (3,)))
data.default_collate([[1, 2], (3, 4)])
data.default_collate([(), ()])
data.default_collate([{"a": 1}, {"b": 2}])
[*data.default_collate([{"a": 1}, {"a": 2, "b": 3}])]

def default_collate_mapping_proxy_type():
    import types
    return data.default_collate([types.MappingProxyType({"a": 1})])

def default_collate_default_convert():
    class Odd(dict):
        def __init__(self, one, two):
            super().__init__(one=one, two=two)
    return [type(x).__name__ for x in [data.default_collate([Odd(1, 2)]),
        data.default_convert(Odd(1, 2))]]

def mapping_default_convert():
    from collections.abc import Mapping
    class Odd(Mapping):
        def __init__(self, one, two):
            self.all = {"one": one, "two": two}
        def __getitem__(self, key):
            return self.all[key]
        def __iter__(self):
            return iter(self.all)
        def __len__(self):
            return 2
    return [data.default_collate([Odd(1, 2), Odd(3, 4)]),
        type(data.default_convert(Odd(1, np.ones(1)))).__name__]

def default_collate_default_convert_2():
    from collections.abc import Sequence
    class Odd(Sequence):
        def __init__(self, one, two):
            self.all = [one, two]
        def __getitem__(self, key):
            return self.all[key]
        def __len__(self):
            return 2
    return [data.default_collate([Odd(1, 2), Odd(3, 4)]),
        type(data.default_convert(Odd(1, 2))).__name__]

def default_collate_default_convert_3():
    from collections.abc import Sequence
    class Odd(Sequence):
        def __init__(self, all):
            self.all = all
        def __getitem__(self, key):
            return self.all[key]
        def __len__(self):
            return 2
    return [type(x).__name__ for x in [data.default_collate([Odd([1, 2])]),
        data.default_convert(Odd([1, 2]))]]

def given_user_list():
    from collections import UserList
    given = UserList([1, 2])
    found = data.default_collate([given, given])
    return [type(found).__name__, found[0], found[1], given]

def default_collate_array():
    import array
    return data.default_collate([array.array("i", [1, 2]), array.array("i", [3, 4])])

def maxlen_deque():
    from collections import deque
    return data.default_collate([deque([1, 2], 2)]).maxlen

def given_ordered_dict():
    from collections import OrderedDict
    given = OrderedDict(b=1, a=2)
    found = data.default_collate([given])
    return [type(found).__name__, [*found], given["b"]]

[(type(x).__name__, str(x)) for x in data.default_convert([1, "a", b"a", None, np.str_("a")])]
data.default_convert((np.float32(1), np.ones(2)))
data.default_convert(np.array(["a"])).tolist()
data.default_convert({"a": (1, 2)})
data.default_convert(range(2))

def pair_default_convert():
    from collections import namedtuple
    Pair = namedtuple("Pair", "x y")
    return [type(data.default_convert(Pair(1, np.ones(1)))).__name__,
        *data.default_convert(Pair(1, np.ones(1)))]

def pair_default_collate():
    from collections import namedtuple
    Pair = namedtuple("Pair", "x y")
    return data.default_collate([Pair(1, 2.0), Pair(3, 4.0)])

data.default_convert(np.bool_(True))
metadata(data.default_collate([torch.zeros(2, requires_grad=True), torch.zeros(2)]))
