"""Layers that are rows of a table, and functions that records ask for."""

import ast
import dataclasses
from pathlib import Path

import pytest

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.ops.layers import _schema
from ext.codegen import functional, layers, table

ROOT = Path(__file__).parents[2]


def text_of(row, *others):
    known = {one.name: one for one in (row, *others)}
    return "\n".join(layers.ClassText(row, known).lines())


@pytest.fixture
def rows(monkeypatch):
    monkeypatch.setattr(_schema, "ROWS", [])


def test_options_that_many_layers_have_need_no_annotation():
    found = _schema.parse_options("alpha: float = 1.0, inplace, *, reduction")
    assert [(o.name, o.kind, o.default, o.keyword) for o in found] == [
        ("alpha", "float", "1.0", False),
        ("inplace", "bool", "False", False),
        ("reduction", "str", '"mean"', True),
    ]


def test_a_row_becomes_a_class_with_constructor_forward_and_repr(rows):
    row = _schema.layer("Twice(factor: float = 2.0, inplace)", "celu", "The input.", ">>> 1\n1")
    names = {"Module": nn.Module, "functional": nn.functional}
    exec("from __future__ import annotations\n" + text_of(row), names)
    layer = names["Twice"](0.5, True)
    assert repr(layer) == "Twice(factor=0.5, inplace=True)"
    assert layer.__constants__ == ["factor", "inplace"]
    x = ag.tensor([-1.0, 2.0])
    assert layer(x) is x and x.tolist() == pytest.approx([0.5 * (2.718281828**-2 - 1), 2.0])
    assert "factor : float, optional" in layer.__doc__


def test_a_row_without_parameters_has_those_of_its_base(rows):
    base = _schema.layer("_Base(p: float)")
    row = _schema.layer("Own", "dropout", "The input.", ">>> 1\n1", base="_Base")
    text = text_of(row, base)
    assert "def __init__" not in text and "functional.dropout(input, self.p)" in text
    assert "    p : float\n" in text


def test_functions_are_called_in_examples_in_place_of_layers():
    known = layers.rows_by_name(layers.load())
    records = {r.name: r for found in table.load().values() for r in found}
    relu = functional.FunctionText(records["relu"], known)
    line = ">>> torch.nn.ReLU()(torch.ones(2))"
    assert relu.example(line) == ">>> torch.nn.functional.relu(torch.ones(2))"
    line = ">>> torch.nn.LeakyReLU(0.1)(x)"
    leaky = functional.FunctionText(records["_leaky_relu"], known)
    assert leaky.example(line) == ">>> torch.nn.functional.leaky_relu(x, negative_slope=0.1)"
    line = ">>> torch.nn.Dropout(0.2).eval()(x)"
    dropout = functional.FunctionText(records["dropout"], known)
    assert dropout.example(line).endswith("dropout(x, p=0.2, training=False)")
    assert relu.example("tensor([0.])") == "tensor([0.])"


def test_a_function_without_options_calls_the_method():
    known = layers.rows_by_name(layers.load())
    records = {r.name: r for found in table.load().values() for r in found}
    tanh = functional.FunctionText(records["tanh"], known)
    lines = list(tanh.lines())
    assert "@public(forwards=())" in lines and lines[-1] == "    return input.tanh()"


def test_only_rows_of_functions_that_the_build_writes_describe_a_function():
    """Nothing reads the fields of another row: its function is Python, with a text of its own."""
    known = layers.rows_by_name(layers.load())
    records = [r for found in table.load().values() for r in found if r.call.functional]
    written = {functional.FunctionText(r, known).row.name for r in records}
    fields = [
        f.name for f in dataclasses.fields(_schema.LayerRow) if f.name.startswith("function_")
    ]
    assert fields
    described = {name for name, row in known.items() if any(getattr(row, f) for f in fields)}
    assert described - written == set()


def test_what_the_build_writes_is_what_lies_there_and_is_ignored_by_git():
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    found = layers.load()
    known = layers.rows_by_name(found)
    for place, (module, own) in found.items():
        path = ROOT / "autograd_cy" / "nn" / place
        assert path.read_text() == layers.module_text(place, module, own, known)
        assert f"/autograd_cy/nn/{place}" in ignored
    path = ROOT / "autograd_cy/nn/functional/_from_records.py"
    assert path.read_text() == functional.module_text(table.load())
    ast.parse(path.read_text())
    assert "/autograd_cy/nn/functional/_from_records.py" in ignored


def test_functions_have_the_parameters_of_their_layers():
    for _, rows in layers.load().values():
        for row in rows:
            if row.function and hasattr(nn, row.name):
                assert callable(getattr(nn.functional, row.function)), row.name
