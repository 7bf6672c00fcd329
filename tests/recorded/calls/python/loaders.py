"""Loaders: calls of the Python layer (`autograd_cy`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.utils import data
from tests.recorded.inputs import differs, error_name, iota, metadata, with_warnings

# Loaders without workers.
[*data.DataLoader(range(5), 2)]
[*data.DataLoader(range(5), 2, drop_last=True)]
[*data.DataLoader(range(3))]
[*data.DataLoader(range(3), None)]
[*data.DataLoader([np.ones(1), (np.ones(1), "a")], None)]
[*data.DataLoader("abc", 2, sampler=[2, 0, 0])]
[*data.DataLoader("abc", batch_sampler=[[2, 0], [], [1]], collate_fn="".join)]
[*data.DataLoader("abc", None, sampler=[2, 0])]
[*data.DataLoader(range(4), 2, collate_fn=sum)]
[*data.DataLoader(range(4), None, collate_fn=lambda x: x * 2)]
[len(data.DataLoader(range(n), 2)) for n in range(5)]
[len(data.DataLoader(range(n), 2, drop_last=True)) for n in range(5)]
[len(data.DataLoader(range(n), None)) for n in range(3)]
len(data.DataLoader("abc", batch_sampler=[[2, 0], [], [1]]))
sorted(int(x) for x in data.DataLoader(range(6), shuffle=True))

def order_shuffle():
    def order(seed):
        return [int(x) for x in data.DataLoader(range(30), shuffle=True,
            generator=torch.Generator().manual_seed(seed))]
    return [order(1) == order(1), order(1) == order(2)]

def get_rng_state_bool():
    torch.manual_seed(1)
    state = torch.get_rng_state()
    found = [*data.DataLoader(range(3))]
    return bool((state == torch.get_rng_state()).all())

def get_state_bool():
    g = torch.Generator().manual_seed(1)
    state = g.get_state()
    found = [*data.DataLoader(range(3), generator=g)]
    return bool((state == g.get_state()).all())

def pin_memory_timeout():
    x = data.DataLoader(range(3), 2)
    return [x.batch_size, x.drop_last, type(x.sampler).__name__, type(x.batch_sampler).__name__,
        x.num_workers, x.pin_memory, x.timeout, x.prefetch_factor, x.persistent_workers,
        x.worker_init_fn, x.generator, x.collate_fn.__name__, x.multiprocessing_context, x.in_order]

def prefetch_factor_collate_fn():
    x = data.DataLoader(range(3), None, shuffle=True, num_workers=2)
    return [x.batch_size, type(x.sampler).__name__, x.batch_sampler, x.prefetch_factor,
        x.collate_fn.__name__]

[data.DataLoader([1], num_workers=1, prefetch_factor=n).prefetch_factor for n in (None, 0, 1, 5)]
data.DataLoader([1], batch_sampler=[[0]]).batch_size
[error_name(lambda: setattr(data.DataLoader([1]), name, 1))
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset",
    "persistent_workers", "timeout", "num_workers")]
[error_name(lambda: data.DataLoader([1], **options))
    for options in (dict(num_workers=-1), dict(timeout=-1), dict(prefetch_factor=1),
    dict(num_workers=1, prefetch_factor=-1), dict(persistent_workers=True),
    dict(sampler=[0], shuffle=True), dict(batch_size=None, drop_last=True), dict(batch_size=0),
    dict(shuffle=2, sampler=None))]
[error_name(lambda: data.DataLoader([1], batch_sampler=[[0]], **options))
    for options in (dict(batch_size=2), dict(shuffle=True), dict(sampler=[0]), dict(drop_last=True),
    dict(shuffle=False), dict(batch_size=1), dict(batch_size=None))]
[error_name(lambda: data.DataLoader([1], multiprocessing_context=x, num_workers=n))
    for x, n in (("fork", 0), ("fork", 1), ("odd", 1), (3, 1), (None, 0))]
error_name(lambda: [*data.DataLoader([1], timeout=1)])

def stream_drop_last():
    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter(range(5))
    return [[*data.DataLoader(Stream())], [*data.DataLoader(Stream(), 2)],
        [*data.DataLoader(Stream(), 2, drop_last=True)], [*data.DataLoader(Stream(), None)],
        [*data.DataLoader(Stream(), 5, drop_last=True)],
        [*data.DataLoader(Stream(), 6, drop_last=True)]]

def dict_shuffle():
    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter(range(5))
    return [error_name(lambda: data.DataLoader(Stream(), **options))
        for options in (dict(shuffle=True), dict(shuffle=False), dict(sampler=[0]),
        dict(batch_sampler=[[0]]), dict(drop_last=True))]

def stream_data_loader():
    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter(range(5))
    return error_name(lambda: len(data.DataLoader(Stream(), 2)))

class Stream(data.IterableDataset):
    def __iter__(self):
        return iter(range(5))
    def __len__(self):
        return 5

[len(data.DataLoader(Stream(), n, drop_last=k)) for n in (1, 2, 5, 6) for k in (False, True)]
with differs("Of a pass, too, which torch can't count."):
    [len(data.DataLoader(Stream(), None)), len(iter(data.DataLoader(Stream(), 2)))]

@differs("Whether or not somebody asked for the length.")
def stream_data_loader_2():
    class Stream(data.IterableDataset):
        def __init__(self, n):
            self.n = n
        def __iter__(self):
            return iter(range(5))
        def __len__(self):
            return self.n
    return [with_warnings(lambda: len([*data.DataLoader(Stream(n))])) for n in (3, 4, 5, 6)]

def iter_loader():
    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter(range(3))
    loader = data.DataLoader(Stream(), 2)
    return [[*loader], [*loader], next(iter(loader))]

def rows_dataset():
    class Rows(data.Dataset):
        def __getitems__(self, indices):
            return [10 * i for i in indices]
        def __len__(self):
            return 3
    return [*data.DataLoader(Rows(), 2)]

def rows_dataset_2():
    class Rows(data.Dataset):
        __getitems__ = None
        def __getitem__(self, i):
            return 10 * i
        def __len__(self):
            return 3
    return [*data.DataLoader(Rows(), 2)]

def tensor_dataset_batch_sampler():
    x = data.TensorDataset(iota(3, 2), torch.tensor([5, 6, 7]))
    return [*data.DataLoader(x, batch_sampler=[[True, False]])]

def data_loader_batch_sampler():
    x = data.TensorDataset(iota(3, 2), torch.tensor([5, 6, 7]))
    return [[*data.DataLoader(x, 2)], [*data.DataLoader(data.Subset(x, [2, 0]), 2)],
        [*data.DataLoader(x, batch_sampler=[[np.int64(1), 2]])],
        error_name(lambda: [*data.DataLoader(x, batch_sampler=[[True, False]])]),
        [*data.DataLoader(x, 2, collate_fn=len)], [*data.DataLoader(x, None)][1]]

error_name(lambda: [*data.DataLoader(data.TensorDataset(iota(3)), batch_sampler=[[]])])
error_name(lambda: [*data.DataLoader(data.TensorDataset(iota(3)), batch_sampler=[[3]])])

def tensor_dataset_data_loader():
    class Own(data.TensorDataset):
        def __getitem__(self, i):
            return 3
    return [*data.DataLoader(Own(iota(2)), 2)]

def subset_tensor_dataset():
    class Own(data.Subset):
        def __getitem__(self, i):
            return 3
        def __getitems__(self, indices):
            return [4 for i in indices]
    return [*data.DataLoader(Own(data.TensorDataset(iota(2)), [0, 1]), 2)]

[type(x[0]).__name__ for x in data.DataLoader(data.TensorDataset(nn.Parameter(iota(2))), 2)]
[metadata(x[0])[:2] for x in data.DataLoader(data.TensorDataset(iota(2).requires_grad_()), 2)]

def iter_next():
    it = iter(data.DataLoader(range(3), 2))
    return [next(it), len(it), iter(it) is it, next(it), error_name(next, it), error_name(next, it)]

def failing_next():
    def failing(x):
        raise KeyError(3)
    it = iter(data.DataLoader(range(3), 2, collate_fn=failing))
    return [error_name(next, it), error_name(next, it), error_name(next, it)]

def sched_getaffinity_num_workers():
    import os
    n = len(os.sched_getaffinity(0))
    return [with_warnings(lambda: data.DataLoader([1], num_workers=k).num_workers > n)
        for k in (0, n, n + 1)]

data.get_worker_info()
data.DataLoader[int].__name__
data.Dataset[int].__name__

# Options of loaders that don't go together.
list(data.DataLoader(data.Subset([1, 2, 3], [0, 2]), batch_size=2))
list(data.DataLoader(data.Subset(data.TensorDataset(iota(3), iota(3, 2)), [2, 0]), batch_size=2))
list(data.DataLoader(data.Subset(data.Subset(data.TensorDataset(iota(3)), [2, 0]), [1]),
    batch_size=2))
list(data.DataLoader(data.TensorDataset(torch.ones(3)), batch_sampler=[[], [0]]))

def fields_default_convert():
    class Odd:
        _fields = ("a",)
    return [type(data.default_convert(Odd())).__name__, data.default_convert((1, np.ones(1))),
        data.default_convert([b"ab", "c", {"d": np.float32(2)}])]

data.DataLoader([1], pin_memory_device="").pin_memory_device
list(data.ChainDataset([[1, 2]]))
len(data.ChainDataset([[1, 2]]))
