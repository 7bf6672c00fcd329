"""Data sets, samplers, and how samples become batches."""

import collections
import itertools
from collections import OrderedDict, defaultdict, deque, namedtuple

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.utils import data as D

Pair = namedtuple("Pair", "x y")


class Stream(D.IterableDataset):
    def __init__(self, n=5):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))


class Sized(Stream):
    def __len__(self):
        return self.n


def seeded(n):
    generator = ag.Generator()
    generator.manual_seed(n)
    return generator


def test_rows_of_tensors():
    x, y = ag.arange(12.0).reshape(4, 3), ag.arange(4)
    rows = D.TensorDataset(x, y)
    assert len(rows) == 4
    assert rows[1][0].tolist() == [3, 4, 5] and rows[-1][1].item() == 3
    assert rows[[0, 2]][1].tolist() == [0, 2]


def test_data_sets_side_by_side():
    a = D.StackDataset("abc", [1, 2, 3])
    b = D.StackDataset(left="abc", right=a)
    assert a[2] == ("c", 3) and len(b) == 3
    assert b[0] == {"left": "a", "right": ("a", 1)}
    assert b.__getitems__([2, 0])[1] == {"left": "a", "right": ("a", 1)}


def test_data_sets_in_a_row():
    both = D.ConcatDataset(["abc", [], "de"])
    assert [both[i] for i in range(-5, 5)] == list("abcde") * 2
    assert list(D.Dataset.__add__(D.Subset("ab", [1]), D.Subset("ab", [0]))) == ["b", "a"]
    assert list(Stream(2) + Stream(1)) == [0, 1, 0]
    assert len(D.ChainDataset([Sized(2), Sized(3)])) == 5


def test_subsets_pass_on_several_indices():
    class Quick(D.Dataset):
        def __getitems__(self, indices):
            return [10 * i for i in indices]

    part = D.Subset(D.Subset(Quick(), [5, 6, 7]), [2, 0])
    assert part.__getitems__([0, 1]) == [70, 50]
    rows = D.TensorDataset(ag.arange(5))
    assert D.Subset(rows, [4, 3])[[0, 1]][0].tolist() == [4, 3]


@pytest.mark.parametrize(
    ("lengths", "sizes"),
    [([3, 4, 4], [3, 4, 4]), ([0.3, 0.3, 0.4], [4, 3, 4]), ([1.0], [11]), ([11, 0], [11, 0])],
)
def test_split_at_random(lengths, sizes):
    parts = D.random_split(range(11), lengths, seeded(1))
    assert [len(p) for p in parts] == sizes
    assert sorted(itertools.chain(*parts)) == list(range(11))
    again = D.random_split(range(11), lengths, generator=seeded(1))
    assert [p.indices for p in parts] == [p.indices for p in again]


def test_an_empty_part_is_reported():
    with pytest.warns(UserWarning, match="split at index 1 is 0"):
        parts = D.random_split([7], [0.4, 0.6])
    assert [len(p) for p in parts] == [1, 0]


REFUSED = [
    (lambda: D.Dataset()[0], NotImplementedError, "should implement __getitem__"),
    (lambda: iter(D.IterableDataset()), NotImplementedError, "should implement __iter__"),
    (lambda: iter(D.Sampler()), NotImplementedError, "Sampler should implement __iter__"),
    (lambda: D.TensorDataset(ag.ones(2), ag.ones(3)), AssertionError, "Size mismatch between ten"),
    (lambda: D.StackDataset("ab", "abc"), ValueError, "Size mismatch between datasets"),
    (lambda: D.StackDataset(), ValueError, "At least one dataset"),
    (lambda: D.StackDataset("a", b="b"), ValueError, "both types are given"),
    (lambda: D.ConcatDataset([]), AssertionError, "empty iterable"),
    (lambda: D.ConcatDataset([Stream()]), AssertionError, "does not support IterableDataset"),
    (lambda: D.ConcatDataset(["ab"])[2], IndexError, "index 2 is out of range"),
    (lambda: D.ConcatDataset(["ab"])[-3], ValueError, "should not exceed dataset length"),
    (lambda: list(D.ChainDataset(["ab"])), AssertionError, "only supports IterableDataset"),
    (lambda: D.random_split("abc", [1, 1]), ValueError, "does not equal the length"),
    (lambda: D.random_split("abc", [0.5, 0.6]), ValueError, "does not equal the length"),
    (lambda: D.random_split("abc", [1.5, -0.5]), ValueError, "index 0 is not between 0 and 1"),
    (lambda: D.RandomSampler([]), ValueError, "num_samples=0"),
    (lambda: D.RandomSampler("ab", num_samples=-1), ValueError, "positive integer"),
    (lambda: D.RandomSampler("ab", replacement=1), TypeError, "replacement=1"),
    (lambda: D.WeightedRandomSampler([1.0], 0), ValueError, "num_samples=0"),
    (lambda: D.WeightedRandomSampler([1.0], True), ValueError, "num_samples=True"),
    (lambda: D.WeightedRandomSampler([[1.0]], 1), ValueError, r"given weights have shape \(1, 1\)"),
    (lambda: D.WeightedRandomSampler([1.0], 1, replacement=2), ValueError, "replacement=2"),
    (lambda: list(D.WeightedRandomSampler([-1.0], 1)), RuntimeError, "finite and not negative"),
    (lambda: list(D.WeightedRandomSampler([1.0], 2, False)), RuntimeError, "2 samples without"),
    (lambda: D.BatchSampler("ab", 0, False), ValueError, "batch_size=0"),
    (lambda: D.BatchSampler("ab", 2, 1), ValueError, "drop_last=1"),
    (lambda: D.DistributedSampler("ab"), ValueError, "process group has not been initialized"),
    (lambda: D.DistributedSampler("ab", 2, 2), ValueError, r"Invalid rank 2.*\[0, 1\]"),
    (lambda: D.default_collate([object()]), TypeError, "found <class 'object'>"),
    (lambda: D.default_collate([np.array("a")]), TypeError, "found <U1"),
    (lambda: D.default_collate([np.str_("a").dtype]), TypeError, "found <class"),
    (lambda: D.default_collate([[1], [1, 2]]), RuntimeError, "should be of equal size"),
    (lambda: D.default_collate([ag.ones(1), ag.ones(2)]), RuntimeError, "equal size"),
]


@pytest.mark.parametrize(("call", "error", "text"), REFUSED)
def test_what_cannot_be_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_random_orders_are_permutations_fixed_by_the_generator():
    a = list(D.RandomSampler(range(50), generator=seeded(3)))
    assert sorted(a) == list(range(50)) and a != sorted(a)
    assert a == list(D.RandomSampler(range(50), generator=seeded(3)))
    sampler = D.RandomSampler(range(50))
    ag.manual_seed(1)
    first, second = list(sampler), list(sampler)
    ag.manual_seed(1)
    assert [first, second] == [list(sampler), list(sampler)] and first != second


def test_more_samples_than_there_are():
    sampler = D.RandomSampler(range(10), num_samples=25, generator=seeded(1))
    drawn = list(sampler)
    assert len(sampler) == len(drawn) == 25
    assert sorted(drawn[:10]) == sorted(drawn[10:20]) == list(range(10))
    many = list(D.RandomSampler(range(10), True, 10_000, seeded(1)))
    counts = collections.Counter(many)
    assert set(counts) == set(range(10)) and max(counts.values()) < 1200


def test_weights_are_probabilities():
    weights = [0.0, 1.0, 3.0, 0.0, 4.0, 0.0]
    drawn = list(D.WeightedRandomSampler(weights, 8000, generator=seeded(0)))
    shares = np.bincount(drawn, minlength=6) / 8000
    np.testing.assert_allclose(shares, np.array(weights) / 8, atol=0.02)  # 4 standard deviations
    first = [next(iter(D.WeightedRandomSampler(weights, 3, False, seeded(i)))) for i in range(2000)]
    np.testing.assert_allclose(
        np.bincount(first, minlength=6) / 2000, np.array(weights) / 8, atol=0.045
    )
    assert sorted(D.WeightedRandomSampler(weights, 3, False)) == [1, 2, 4]


def test_batches_of_indices():
    sampler = D.BatchSampler(D.SequentialSampler("abcde"), 2, False)
    assert list(sampler) == [[0, 1], [2, 3], [4]] and len(sampler) == 3
    sampler = D.BatchSampler(range(5), 2, True)
    assert list(sampler) == [[0, 1], [2, 3]] and len(sampler) == 2
    assert list(D.SubsetRandomSampler([7], seeded(1))) == [7]


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("size", [0, 2, 10, 12])
@pytest.mark.parametrize("shuffle", [False, True])
def test_processes_share_a_data_set(drop_last, size, shuffle):
    samplers = [
        D.DistributedSampler(range(size), 4, r, shuffle=shuffle, drop_last=drop_last, seed=5)
        for r in range(4)
    ]
    shares = [list(s) for s in samplers]
    assert {len(s) for s in shares} == {len(samplers[0])}
    met = collections.Counter(itertools.chain(*shares))
    if drop_last:
        assert set(met.values()) <= {1} and len(met) == size // 4 * 4
    else:
        assert set(met) == set(range(size))
    if not shuffle and size == 10 and not drop_last:
        assert shares == [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]]
    if shuffle and size == 12:
        for s in samplers:
            s.set_epoch(1)
        assert [list(s) for s in samplers] != shares


BATCHES = {
    "ints": [1, 2],
    "large": [2**40, 1],
    "bools": [True, False],
    "floats": [1.5, 2],
    "mixed": [1, 2.5],
    "text": ["a", "b"],
    "bytes": [b"a", b"b"],
    "dicts": [{"a": 1, "b": (1, 2.0)}, {"a": 2, "b": (3, 4.0)}],
    "ordered": [OrderedDict(a=1), OrderedDict(a=2)],
    "default": [defaultdict(list, a=[1]), defaultdict(list, a=[2])],
    "named": [Pair(1, 2.0), Pair(3, 4.0)],
    "lists": [[1, 2], [3, 4]],
    "tuples": ((1, 2), (3, 4)),
    "ranges": [range(2), range(2)],
    "deques": [deque([1, 2]), deque([1, 2])],
    "arrays": [np.ones(2), np.zeros(2)],
    "0-d arrays": [np.array(1), np.array(2)],
    "scalars": [np.float32(1), np.float32(2)],
    "doubles": [np.float64(1), 1],
    "small ints": [np.int8(1), np.int8(2)],
}


def told(x):
    return repr(x).replace("autograd_cy.", "torch.")


@pytest.mark.parametrize("name", BATCHES)
def test_samples_become_batches_as_in_torch(name):
    theirs = pytest.importorskip("torch.utils.data")
    batch = BATCHES[name]
    assert told(D.default_collate(batch)) == told(theirs.default_collate(batch))
    for sample in batch:
        assert told(D.default_convert(sample)) == told(theirs.default_convert(sample))


def test_tensors_are_stacked_with_their_history():
    p = ag.nn.Parameter(ag.ones(2))
    batch = D.default_collate([p, p.detach() * 2])
    batch.sum().backward()
    assert batch.tolist() == [[1, 1], [2, 2]] and p.grad.tolist() == [1, 1]
    a, b = D.default_collate([(ag.zeros(2), 1), (ag.ones(2), 2)])
    assert a.shape == (2, 2) and b.tolist() == [1, 2]
