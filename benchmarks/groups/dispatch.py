"""Micro: the cost of one call on four elements, with and without recording, where no work hides it.

Cases are statements, so that no Python call of the harness is in the figure.
"""

from __future__ import annotations

from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import integers, leaf, uniform


def _names(torch: Any) -> dict[str, Any]:
    """Return what most statements use: plain a, b, c, m, and x, y, w that require gradients."""
    a, b, c = (uniform(torch, 4, seed=seed) for seed in (1, 2, 3))
    return {
        "torch": torch,
        "a": a,
        "b": b,
        "c": c,
        "x": leaf(uniform(torch, 4, seed=4)),
        "y": leaf(uniform(torch, 4, seed=5)),
        "m": uniform(torch, 2, 2, seed=6),
        "w": leaf(uniform(torch, 2, 2, seed=7)),
    }


def _pair(first: str, second: str):
    """Return a setup with two plain tensors of the given dtypes."""

    def setup(torch: Any) -> dict[str, Any]:
        return {"a": uniform(torch, 4, dtype=first), "b": uniform(torch, 4, dtype=second, seed=1)}

    return setup


def _broadcasting(torch: Any) -> dict[str, Any]:
    return {"a": uniform(torch, 4, 1), "b": uniform(torch, 1, 4, seed=1)}


def _indexing(torch: Any) -> dict[str, Any]:
    return {"a": uniform(torch, 4), "i": integers(torch, 4, high=4)}


def _in_place(torch: Any) -> dict[str, Any]:
    return {"a": uniform(torch, 4), "zero": uniform(torch, 4) * 0.0}


def _functions(torch: Any) -> dict[str, Any]:
    """Return the functions of the namespace as plain names, as after ``from torch import add``."""
    names = _names(torch)
    return {**names, "add": torch.add, "mul": torch.mul}


_STATEMENTS = {
    # Arithmetic without recording.
    "a + b": "a + b",
    "a - b": "a - b",
    "a * b": "a * b",
    "a / b": "a / b",
    "a + number": "a + 1.5",
    "number * a": "2.0 * a",
    "-a": "-a",
    "a ** 2": "a ** 2",
    "a == b": "a == b",
    "a.add(b)": "a.add(b)",
    "relu": "torch.relu(a)",
    "exp": "torch.exp(a)",
    "tanh": "torch.tanh(a)",
    "sum": "a.sum()",
    "mean": "a.mean()",
    "mm 2x2": "torch.mm(m, m)",
    "m @ m": "m @ m",
    "cat": "torch.cat((a, b))",
    "stack": "torch.stack((a, b))",
    "where": "torch.where(a > b, a, b)",
    "clone": "a.clone()",
    "chain of 5": "((a + b) * c - a) / b + c",
    # The same with recording.
    "x + b recording": "x + b",
    "x * b recording": "x * b",
    "x * y recording": "x * y",
    "x / y recording": "x / y",
    "x * number recording": "x * 2.0",
    "relu recording": "torch.relu(x)",
    "exp recording": "torch.exp(x)",
    "sum recording": "x.sum()",
    "mm 2x2 recording": "torch.mm(m, w)",
    "cat recording": "torch.cat((x, y))",
    "chain of 5 recording": "((x + b) * c - x) / b + y",
    # Views.
    "view": "a.view(2, 2)",
    "reshape": "a.reshape(2, 2)",
    "t": "m.t()",
    "transpose": "m.transpose(0, 1)",
    "unsqueeze": "a.unsqueeze(0)",
    "expand": "a.expand(3, 4)",
    "a[0]": "a[0]",
    "a[1:3]": "a[1:3]",
    "view recording": "x.view(2, 2)",
    "x[1:3] recording": "x[1:3]",
    "detach": "x.detach()",
    # What surrounds operations.
    "tensor from list": "torch.tensor([1.0, 2.0, 3.0, 4.0])",
    "zeros": "torch.zeros(4)",
    "ones_like": "torch.ones_like(a)",
    "shape": "a.shape",
    "requires_grad": "x.requires_grad",
    "item": "a[0].item()",
    "numpy": "a.numpy()",
}

CASES = [
    *(Case(name, _names, statement=code) for name, code in _STATEMENTS.items()),
    Case("add(a, b)", _functions, statement="add(a, b)"),
    Case("mul(x, b) recording", _functions, statement="mul(x, b)"),
    Case("add_ in place", _in_place, statement="a.add_(zero)"),
    Case("broadcasting", _broadcasting, statement="a + b"),
    Case("float32 + float64", _pair("float32", "float64"), statement="a + b"),
    Case("int64 + float32", _pair("int64", "float32"), statement="a + b"),
    Case("a[indices]", _indexing, statement="a[i]"),
    Case("no_grad block", _names, statement="with torch.no_grad(): a + b"),
]
