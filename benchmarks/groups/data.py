"""Around training: batches, gradients that are clipped, parameters as vectors, files in memory."""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import integers, uniform

ROWS = 2048


def _data(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.utils.data")


def _batches(**options: Any) -> Callable:
    """One pass over rows of images and labels."""

    def setup(torch: Any) -> Callable:
        data = _data(torch)
        rows = data.TensorDataset(uniform(torch, ROWS, 784), integers(torch, ROWS, high=10))
        loader = data.DataLoader(rows, batch_size=64, **options)

        def run() -> Any:
            total = 0.0
            for x, _ in loader:
                total = total + x[0, 0]
            return total

        return run

    return setup


def _plain_samples(torch: Any) -> Callable:
    """One pass over a data set of the program's own."""
    data = _data(torch)
    x = uniform(torch, ROWS, 784)

    class Rows(data.Dataset):  # type: ignore[name-defined, misc]
        def __len__(self) -> int:
            return ROWS

        def __getitem__(self, i: int) -> Any:
            return x[i], i

    loader = data.DataLoader(Rows(), batch_size=64)
    return lambda: [labels for _, labels in loader]


def _parameters(torch: Any, count: int, size: int) -> list:
    made = [torch.nn.Parameter(uniform(torch, size, seed=i)) for i in range(count)]
    for i, p in enumerate(made):
        p.grad = uniform(torch, size, seed=count + i)
    return made


def _clipped(count: int, size: int, name: str = "clip_grad_norm_") -> Callable:
    """Gradients that are too long each time."""

    def setup(torch: Any) -> Callable:
        parameters = _parameters(torch, count, size)
        grads = [p.grad.clone() for p in parameters]
        clip = getattr(torch.nn.utils, name)

        def run() -> Any:
            for p, g in zip(parameters, grads):
                p.grad.copy_(g)
            clip(parameters, 0.1)
            return parameters[0].grad

        return run

    return setup


def _vector(torch: Any) -> Callable:
    parameters = _parameters(torch, 60, 400)
    utils = torch.nn.utils

    def run() -> Any:
        with torch.no_grad():
            vector = utils.parameters_to_vector(parameters)
            utils.vector_to_parameters(vector, parameters)
        return vector

    return run


def _saved(count: int, size: int) -> Callable:
    """A dictionary of tensors, written to memory and read again."""

    def setup(torch: Any) -> Callable:
        state = {f"layer{i}.weight": uniform(torch, size, seed=i) for i in range(count)}

        def run() -> Any:
            file = io.BytesIO()
            torch.save(state, file)
            file.seek(0)
            return torch.load(file)["layer0.weight"]

        return run

    return setup


CASES = [
    Case("batches of rows, in order", _batches()),
    Case("batches of rows, 2 workers", _batches(num_workers=2)),
    Case("batches of plain samples", _plain_samples),
    Case("clip_grad_norm_, 60 of 100", _clipped(60, 100)),
    Case("clip_grad_norm_, 10 of 200000", _clipped(10, 200_000)),
    Case("clip_grad_value_, 10 of 200000", _clipped(10, 200_000, "clip_grad_value_")),
    Case("parameters to a vector and back", _vector),
    Case("save and load, 60 of 1000", _saved(60, 1000)),
    Case("save and load, 4 of 1000000", _saved(4, 1_000_000)),
]
