"""
Runs small programs of packages that say ``import torch`` and compares their numbers.

``python -m tests.packages.compare [NAME ...]`` runs the programs of ``programs/`` with this library
by the name of torch and compares what they return with ``expected.json``, which has the numbers of
PyTorch; ``--record`` writes it, with PyTorch. ``.ci/packages`` installs the packages.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import importlib.metadata
import json
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
EXPECTED = FOLDER / "expected.json"
TOLERANCE = 1e-7
LONGEST = 100  # seconds of one program, which then ends them all with a traceback


def names() -> list[str]:
    """Return the names of all programs."""
    return sorted(path.stem for path in (FOLDER / "programs").glob("[!_]*.py"))


def differences(found: Any, expected: Any, tolerance: float, where: str = "") -> list[str]:
    """
    Return a line for each place where two results differ.

    Floats are equal within ``tolerance``, relative to the larger one and to 1; all else is equal.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        if set(found) != set(expected):
            return [f"{where}: has {sorted(found)}, not {sorted(expected)}"]
        pairs = [(f"{where}[{key!r}]", found[key], expected[key]) for key in expected]
    elif isinstance(expected, list) and isinstance(found, list):
        if len(found) != len(expected):
            return [f"{where}: has the length {len(found)}, not {len(expected)}"]
        pairs = [(f"{where}[{i}]", found[i], expected[i]) for i in range(len(found))]
    else:
        return (
            [] if _same(found, expected, tolerance) else [f"{where}: {found!r}, not {expected!r}"]
        )
    return [line for at, one, other in pairs for line in differences(one, other, tolerance, at)]


def _same(found: Any, expected: Any, tolerance: float) -> bool:
    if type(found) is not type(expected):
        return False
    if not isinstance(found, float) or found == expected:
        return bool(found == expected)
    if found != found or expected != expected:
        return found != found and expected != expected
    return abs(found - expected) <= tolerance * max(1.0, abs(expected))


def run(name: str) -> tuple[Any, float]:
    """Return the result of a program, as JSON gives it back, and its tolerance."""
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    try:
        module = importlib.import_module(f"tests.packages.programs.{name}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = module.results()
    finally:
        faulthandler.cancel_dump_traceback_later()
    return json.loads(json.dumps(found)), getattr(module, "TOLERANCE", TOLERANCE)


def compare(chosen: list[str]) -> int:
    """Run programs with this library by the name of torch; return how many failed."""
    import autograd_cy

    autograd_cy.as_torch()
    stored = json.loads(EXPECTED.read_text())
    failed = 0
    for name in chosen:
        start = time.perf_counter()
        try:
            found, tolerance = run(name)
            lines = differences(found, stored["results"][name], tolerance)
        except Exception:
            lines = traceback.format_exc().splitlines()
        failed += bool(lines)
        print(
            f"{name}: {'failed' if lines else 'passed'} ({time.perf_counter() - start:.1f} s)",
            flush=True,
        )
        for line in lines[-20:]:
            print(f"    {line}")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return failed


def record(chosen: list[str]) -> None:
    """Write the results of programs with PyTorch."""
    import torch

    stored = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {"results": {}}
    stored["torch"] = torch.__version__
    for name in chosen:
        stored["results"][name] = run(name)[0]
        print(name)
    stored["results"] = {
        name: stored["results"][name] for name in names() if name in stored["results"]
    }
    EXPECTED.write_text(_text(stored))


def _text(value: Any, indent: str = "") -> str:
    """Return JSON with a line for each entry of a dict, and lists of numbers on one."""
    if not isinstance(value, dict):
        return json.dumps(value)
    inner = indent + " "
    lines = [f"{inner}{json.dumps(key)}: {_text(entry, inner)}" for key, entry in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}" + ("" if indent else "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a program; all if none is named")
    parser.add_argument("--record", action="store_true", help="write the numbers, with PyTorch")
    options = parser.parse_args()
    chosen = options.names or names()
    if options.record:
        record(chosen)
        return 0
    return 1 if compare(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
