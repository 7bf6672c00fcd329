"""Classes are found where they say they are: what they make can be pickled and copied."""

import copy
import importlib
import pickle
import pkgutil
import subprocess
import sys

import pytest

import autograd_cy as ag


def found_again(cls):
    place = importlib.import_module(cls.__module__)
    for part in cls.__qualname__.split("."):
        place = getattr(place, part)
    return place is cls


def test_public_classes_are_where_they_say():
    lost = set()
    for module in pkgutil.walk_packages(ag.__path__, "autograd_cy."):
        if any(part.startswith("_") and part != "_C" for part in module.name.split(".")[1:]):
            continue
        if module.name.startswith("autograd_cy.legacy"):
            continue
        try:
            place = importlib.import_module(module.name)
        except ImportError:  # an optional part
            continue
        for name, value in vars(place).items():
            ours = isinstance(value, type) and value.__module__.startswith(
                ("autograd_cy", "importlib")
            )
            try:
                if ours and name[0] != "_" and not found_again(value):
                    lost.add(f"{module.name}.{name}: {value.__module__}.{value.__qualname__}")
            except (ImportError, AttributeError):
                lost.add(f"{module.name}.{name}: {value.__module__}.{value.__qualname__}")
    assert sorted(lost) == []


@pytest.mark.parametrize("name", ag.return_types.__all__)
def test_results_with_names(name):
    cls = getattr(ag.return_types, name)
    values = list(range(len(cls._fields)))
    result = cls(values)
    assert result == cls(*values) == cls(**dict(zip(cls._fields, values, strict=True)))
    assert result == tuple(values)
    shown = ",\n".join(f"{field}={i}" for i, field in enumerate(cls._fields))
    assert repr(result) == f"autograd_cy.return_types.{name}(\n{shown})"
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
        assert type(again) is cls
        assert again == result
    for wrong in ([*values, 0], values[1:]):
        with pytest.raises(TypeError, match="positional argument"):
            cls(wrong)
    assert cls in ag.return_types.all_return_types
    assert name in dir(ag.return_types)


def test_results_are_read_where_their_operators_are_not_loaded():
    program = "import pickle, sys; print(repr(pickle.load(sys.stdin.buffer)))"
    found = ag.return_types.linalg_eigh([1, 2]), ag.return_types.topk([3, 4])
    read = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(found), capture_output=True, check=True
    )
    assert read.stdout.decode().strip() == repr(found)
    with pytest.raises(AttributeError, match="autograd_cy.return_types"):
        ag.return_types.nothing
