"""Loaders: calls of the Python layer (`autograd_cy`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy.utils import data
from tests.recorded.inputs import differs, error_name, iota, metadata, with_warnings

# Loaders without workers.
sorted(int(x) for x in data.DataLoader(range(6), shuffle=True))

def data_loader_shuffle():
    def order(seed):
        return [int(x) for x in data.DataLoader(range(30), shuffle=True,
            generator=torch.Generator().manual_seed(seed))]
    return [order(1) == order(1), order(1) == order(2)]

[error_name(lambda: setattr(data.DataLoader([1]), name, 1))
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset",
    "persistent_workers", "timeout", "num_workers")]
[error_name(lambda: data.DataLoader([1], multiprocessing_context=x, num_workers=n))
    for x, n in (("fork", 0), ("fork", 1), ("odd", 1), (3, 1), (None, 0))]

def data_loader_drop_last():
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

class Stream(data.IterableDataset):
    def __iter__(self):
        return iter(range(5))
    def __len__(self):
        return 5

[len(data.DataLoader(Stream(), n, drop_last=k)) for n in (1, 2, 5, 6) for k in (False, True)]
with differs("Of a pass, too, which torch can't count."):
    [len(data.DataLoader(Stream(), None)), len(iter(data.DataLoader(Stream(), 2)))]

@differs("Whether or not somebody asked for the length.")
def iterable_dataset_data_loader():
    class Stream(data.IterableDataset):
        def __init__(self, n):
            self.n = n
        def __iter__(self):
            return iter(range(5))
        def __len__(self):
            return self.n
    return [with_warnings(lambda: len([*data.DataLoader(Stream(n))])) for n in (3, 4, 5, 6)]

def iter_next():
    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter(range(3))
    loader = data.DataLoader(Stream(), 2)
    return [[*loader], [*loader], next(iter(loader))]

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

[metadata(x[0])[:2] for x in data.DataLoader(data.TensorDataset(iota(2).requires_grad_()), 2)]

def sched_getaffinity_num_workers():
    import os
    n = len(os.sched_getaffinity(0))
    return [with_warnings(lambda: data.DataLoader([1], num_workers=k).num_workers > n)
        for k in (0, n, n + 1)]

data.get_worker_info()

# Options of loaders that don't go together.
list(data.DataLoader(data.TensorDataset(torch.ones(3)), batch_sampler=[[], [0]]))

def default_convert_data():
    class Odd:
        _fields = ("a",)
    return [type(data.default_convert(Odd())).__name__, data.default_convert((1, np.ones(1))),
        data.default_convert([b"ab", "c", {"d": np.float32(2)}])]
