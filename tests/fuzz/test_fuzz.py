"""The fuzzer itself: a few cases of each part, and that it finds what is broken on purpose."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import autograd_cy
from tests.fuzz import parts, worker
from tests.fuzz.case import Finding, random_numbers
from tests.fuzz.cli import main
from tests.fuzz.known import KNOWN, reason_of
from tests.fuzz.parts import calls

ROOT = Path(__file__).resolve().parents[2]
FAULTS = [
    ("wrong", "add", "by NumPy", "20"),
    ("crash", "cumsum", "SIGSEGV", "20"),
    ("hang", "flip", "no end within", "1"),
]


def fuzz(*arguments, **variables):
    """(exit code, output) of the command."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *arguments],
        cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return run.returncode, run.stdout + run.stderr


@pytest.mark.slow
def test_cases_of_a_fixed_seed_are_right():
    code, said = fuzz("--seed", "12", "--cases", "4")
    assert code == 0, said
    assert all(name in said for name in parts.NAMES), said


def test_programs_of_views_and_writes_have_the_derivatives_of_their_values():
    part, refused = parts.load("aliases"), 0
    for number in range(250):
        case = part.make(random_numbers(21, "aliases", number))
        refused += part.run(case, autograd_cy).status == "refused"
    assert refused < 50


def test_a_seed_gives_the_same_cases():
    for part in parts.NAMES:
        module = parts.load(part)
        first, second = (module.make(random_numbers(5, part, 3)).source() for _ in range(2))
        assert first == second
        compile(first, part, "exec")


@cache
def numbers():
    """{function of FAULTS: the first case of seed 2 that calls it with ordinary numbers}."""
    calls, found = parts.load("calls"), {}
    wanted = {name for _, name, *_ in FAULTS}
    for number in range(20_000):
        case = calls.make(random_numbers(2, "calls", number))
        name, form = case.operation.name, case.operation.form
        if name in wanted and form == "function" and calls._is_tame(case):
            found.setdefault(name, str(number))
            if found.keys() == wanted:
                return found
    raise LookupError(f"{wanted - found.keys()}")


def test_inputs_are_looked_at_once_however_many_results_there_are(monkeypatch):
    calls = parts.load("calls")
    for number in range(20_000):
        case = calls.make(random_numbers(2, "calls", number))
        results = calls.run(case, autograd_cy) if case.operation.name == "unbind" else None
        if results is not None and results.values and len(results.values) > 2:
            break
    looked = []
    monkeypatch.setattr(calls, "_comparable", lambda case: looked.append(case) or "all")
    calls.run(case, autograd_cy)
    assert len(looked) == 1


@pytest.fixture
def command(capsys):
    """The command in this process: (exit status, output)."""

    def run(*arguments):
        code = main(arguments)
        return code, capsys.readouterr().out

    return run


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "name", "kind", "limit"), FAULTS)
def test_faults_put_in_on_purpose_are_found(command, monkeypatch, fault, name, kind, limit):
    number = numbers()[name]
    asked = ("--seed", "2", "--only", "calls", "--case", number)
    if fault == "wrong":  # nothing else crashes or hangs
        code, said = command(*asked)
        assert code == 0, said
    monkeypatch.setenv("AUTOGRAD_CY_FUZZ_BREAK", fault)
    code, said = command(*asked, "--limit", limit)
    assert code == 1, said
    assert kind in said
    assert f"again: python -m tests.fuzz --seed 2 --only calls --case {number}" in said


def test_known_differences_have_reasons_and_cover_little():
    for known in KNOWN:
        assert len(known.reason) > 20
        assert known.part in parts.NAMES
    assert (
        reason_of(Finding("calls", 1, "wrong", "add float32", "in float64: 1, expected 2")) is None
    )


def test_products_of_many_ordinary_numbers_may_overflow():
    def case(name, array, dtype):
        inputs = [SimpleNamespace(array=array, dtype=dtype, is_smooth=True)]
        record = SimpleNamespace(name=name, kernel=None, args=(None,))
        return SimpleNamespace(operation=SimpleNamespace(record=record, inputs=inputs))

    many, few = np.full(200, 40 + 40j), np.full(20, 40 + 40j)
    for name in ("prod", "cumprod"):
        assert calls._comparable(case(name, many, "complex128")) is None
        assert calls._comparable(case(name, 1 / many, "complex128")) is None
        assert calls._comparable(case(name, few, "complex128")) == "all"
    assert calls._comparable(case("cumsum", many, "complex128")) == "all"


@pytest.mark.parametrize(
    ("size", "status"), [("np.empty(2**50)", "refused"), ("ag.empty(2**50)", "wrong")]
)
def test_memory_that_only_a_reference_needs_is_no_finding(monkeypatch, size, status):
    case = SimpleNamespace(title="large", source=lambda: size)
    part = SimpleNamespace(
        make=lambda rng: case, run=lambda case, lib: eval(size, {"np": np, "ag": lib})
    )
    monkeypatch.setattr(parts, "load", lambda name: part)
    assert worker.run_case("calls", 1, 1, autograd_cy, False)[0] == status


def test_bits_of_results_may_differ_in_those_of_nan_alone():
    nan = np.array([complex(np.nan, 1), complex(-0.0, np.nan)])
    other = np.array([complex(-np.nan, 1), complex(-0.0, -np.nan)])
    assert nan.tobytes() != other.tobytes() and calls._same_bits(nan, other)
    assert not calls._same_bits(nan, np.array([complex(np.nan, 2), complex(-0.0, np.nan)]))
    assert not calls._same_bits(nan, np.array([complex(np.nan, 1), complex(0.0, np.nan)]))
    assert calls._same_bits(np.array(np.float32(np.nan)), np.array(np.float32(-np.nan)))
    assert not calls._same_bits(np.array([1, 2]), np.array([1, 3]))
