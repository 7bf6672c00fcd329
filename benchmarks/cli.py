"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import datetime
import sys
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.case import Case, Command, group_names, load_group, select
from benchmarks.compare import Comparison, Settings, run_all
from benchmarks.machine import machine_description
from benchmarks.quiet import Cores
from benchmarks.side import Side, thread_environment
from benchmarks.summary import Row

#: Groups that run only when they are named.
_ON_REQUEST = ("build",)


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks, or turn an earlier run into tables.

    Parameters
    ----------
    arguments : list of str, optional
        Command line; by default that of the process.

    Returns
    -------
    int
        Exit status: 1 if a result was wrong or a worker failed, 2 if nothing could be run.

    Examples
    --------
    >>> main(["--list", "--groups", "startup"])
    startup: import
    startup: interpreter start to end of import
    startup: memory of the import
    0
    """
    options = _parser().parse_args(arguments)
    try:
        if options.from_json:
            rows, about = report.from_json(options.from_json.read_text())
            _write(rows, about, options)
            return 0
        selected = _selection(options)
    except (ValueError, OSError) as error:
        return _complain(error)
    if options.list:
        for group, case in selected:
            print(f"{group}: {case.name}")
        return 0
    return _run(selected, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare a library with PyTorch eager, side by side in one run.",
        epilog=f"Groups: {', '.join(group_names())}. {' and '.join(_ON_REQUEST)} only on request.",
    )
    add = parser.add_argument
    add("--left", default="autograd_cy", metavar="MODULE", help="library under test (%(default)s)")
    add("--right", default="torch", metavar="MODULE", help="what it is compared with (%(default)s)")
    add("--torch-python", default=sys.executable, metavar="PATH", help="interpreter that has torch")
    add("--groups", default="", metavar="A,B", help="groups to run, or dotted names of modules")
    add("--cases", default="", metavar="X,Y", help="parts of case names, or shell patterns")
    add("--threads", type=int, default=1, metavar="N", help="threads per library (%(default)s)")
    add("--bind", action="store_true", help="keep each OpenMP thread on its core")
    add(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="cpu: for 1 thread on a busy machine",
    )
    add("--samples", type=int, default=15, metavar="N", help="samples per side (%(default)s)")
    add(
        "--min-time", type=float, default=0.01, metavar="S", help="seconds per sample (%(default)s)"
    )
    add("--max-time", type=float, default=10.0, metavar="S", help="seconds per case (%(default)s)")
    add("--quiet-wait", type=float, default=2.0, metavar="S", help="longest wait before a round")
    add("--quiet-budget", type=float, default=300.0, metavar="S", help="longest wait in all")
    add("--json", type=Path, metavar="FILE", help="write the run as JSON")
    add("--markdown", type=Path, metavar="FILE", help="write the tables as markdown")
    add("--from-json", type=Path, metavar="FILE", help="read an earlier run instead of running")
    add("--list", action="store_true", help="list the cases and stop")
    return parser


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _selection(options: argparse.Namespace) -> list[tuple[str, Case | Command]]:
    groups = _split(options.groups) or [g for g in group_names() if g not in _ON_REQUEST]
    patterns = _split(options.cases)
    found = [(g, case) for g in groups for case in select(load_group(g).CASES, patterns)]
    if not found:
        raise ValueError("no case matches --groups and --cases; --list shows what there is.")
    return found


def _run(selected: list[tuple[str, Case | Command]], options: argparse.Namespace) -> int:
    environment = thread_environment(options.threads, options.bind)
    sides = [
        Side(library, _interpreter(library, options), options.threads, environment, options.clock)
        for library in (options.left, options.right)
    ]
    with sides[0] as left, sides[1] as right:
        libraries = introduce(left, right)
        if libraries is None:
            return 2
        compared = right if "right" in libraries else None
        cores = Cores(
            options.quiet_wait, options.quiet_budget, lambda: left.cpu_time() + right.cpu_time()
        )
        settings = Settings(options.samples, options.min_time, options.max_time)
        comparison = Comparison(left, compared, settings, cores)
        names = [libraries[side]["name"] for side in libraries]
        rows = run_all(comparison, selected, Printer(*names))
    print("\n" + report.text_summary(rows))
    _write(rows, _about(libraries, options), options)
    return 1 if any(row.status in ("WRONG", "crash", "error") for row in rows) else 0


def _interpreter(library: str, options: argparse.Namespace) -> str:
    return options.torch_python if library == "torch" else sys.executable


def introduce(left: Side, right: Side) -> dict[str, dict[str, Any]] | None:
    """Start both workers and describe their libraries.

    Parameters
    ----------
    left, right : Side
        The library under test and the other one.

    Returns
    -------
    dict or None
        None if the left library is not there. Without the right one there are times only.

    Examples
    --------
    >>> import sys
    >>> with Side("math", sys.executable, 1, {}) as a, Side("cmath", sys.executable, 1, {}) as b:
    ...     list(introduce(a, b))  # doctest: +ELLIPSIS
    math: ...
    cmath: ...
    ['left', 'right']
    """
    answers = [side.ask(do="hello") for side in (left, right)]
    if answers[0]["status"] != "ok":
        _complain(f"cannot import {left.library}: {answers[0]['note']}")
        return None
    libraries = {"left": {"name": left.library, **answers[0]}}
    if answers[1]["status"] == "ok":
        libraries["right"] = {"name": right.library, **answers[1]}
    else:
        print(f"{right.library} is not there ({answers[1]['note']}): absolute times only.")
    for library in libraries.values():
        del library["status"]
        described = ", ".join(f"{k} {v}" for k, v in library.items() if k != "name" and v)
        print(f"{library['name']}: {described}")
    return libraries


def _about(libraries: dict[str, dict], options: argparse.Namespace) -> dict[str, Any]:
    settings = ("threads", "bind", "clock", "samples", "min_time")
    return {
        "date": datetime.date.today().isoformat(),
        "machine": machine_description(),
        "libraries": libraries,
        "settings": {name: getattr(options, name) for name in settings},
    }


def _write(rows: list[Row], about: dict[str, Any], options: argparse.Namespace) -> None:
    if options.json:
        options.json.write_text(report.to_json(rows, about))
    if options.markdown:
        options.markdown.write_text(report.markdown_document(rows, about))


def _complain(error: object) -> int:
    print(f"benchmarks: {error}", file=sys.stderr)
    return 2


class Printer:
    """Print rows as they come, with a head before each group.

    Parameters
    ----------
    left : str
        Name of the library under test.
    right : str, optional
        Name of the other library.

    Examples
    --------
    >>> Printer("a", "b")(Row("gemm", "64", "missing", note="no mm"))  # doctest: +ELLIPSIS
    <BLANKLINE>
    gemm                                          a            b    ratio     best         rate
    64 ...  missing: no mm
    """

    def __init__(self, left: str, right: str | None = None) -> None:
        self._names = (left, right)
        self._group: str | None = None

    def __call__(self, row: Row) -> None:
        if row.group != self._group:
            self._group = row.group
            print(report.text_header(row.group, *self._names))
        print(report.text_row(row), flush=True)
