"""Orders in which samples are taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import autograd_cy as ag

__all__ = [
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]


class Sampler:
    """The base of sources of sample numbers: subclasses define ``__iter__`` and ``__len__``."""

    def __init__(self, data_source: Any):
        pass

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__")


class SequentialSampler(Sampler):
    """One after the other."""

    def __init__(self, data_source: Any):
        self.num_samples = len(data_source)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.num_samples))

    def __len__(self) -> int:
        return self.num_samples


class RandomSampler(SequentialSampler):
    """Each once, in a random order."""

    def __iter__(self) -> Iterator[int]:
        return iter(ag.randperm(self.num_samples).tolist())


class SubsetRandomSampler(Sampler):
    """Each of some once, in a random order."""

    def __init__(self, indices: Sequence[int]):
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        return (self.indices[i] for i in ag.randperm(len(self.indices)).tolist())

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Drawn with weights."""

    def __init__(self, weights: Sequence[float], num_samples: int, replacement: bool = True):
        from ...tensors.classes import TYPES

        self.weights = TYPES["DoubleTensor"](list(weights))
        self.num_samples = num_samples
        self.replacement = replacement

    def __iter__(self) -> Iterator[int]:
        return iter(self.weights.multinomial(self.num_samples, self.replacement).tolist())

    def __len__(self) -> int:
        return self.num_samples
