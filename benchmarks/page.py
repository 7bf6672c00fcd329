"""The command that measures and draws docs/performance.md: ``python -m benchmarks.page``.

It measures a selection of cases in some fifteen minutes, keeps medians and minima in
``benchmarks/results/performance.json``, and writes what follows from them: the tables between the
marks of docs/performance.md and README.md (``page_tables.py``) and the plots in docs/pictures
(``page_plots.py``). ``--redraw`` measures nothing.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import page_tables
from benchmarks.case import load_group, select
from benchmarks.cli import Printer, introduce
from benchmarks.compare import Comparison, Settings
from benchmarks.machine import machine_description, usable_cores
from benchmarks.quiet import Cores
from benchmarks.side import Side, thread_environment
from benchmarks.summary import Row

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path("benchmarks/results/performance.json")
FORMAT = 1
_DEFAULTS = Row("", "", "ok")


@dataclass(frozen=True)
class Part:
    """Some cases of a group.

    Parameters
    ----------
    group : str
        Name of the group.
    patterns : tuple of str, optional
        Patterns of case names, see :func:`benchmarks.case.select`; by default all cases.
    samples : int, optional
        Samples per library and case.
    """

    group: str
    patterns: tuple[str, ...] = ()
    samples: int = 5


_CALLS = (
    "a [+*] b", "a + number", "relu", "exp", "sum", "mean", "m @ m", "cat", "stack", "where",
    "x [*] y recording", "relu recording", "mm 2x2 recording", "chain of 5*", "view", "reshape",
    "transpose", "a[[]0]", "a[[]1:3]", "tensor from list", "zeros", "item", "numpy",
    "add_ in place", "broadcasting", "float32 + float64", "a[[]indices]", "no_grad block",
)  # fmt: skip
_ELEMENTWISE = (
    "add 1e? float32", "mul 1e? float32", "where 1e? float32", "exp 1e? float32",
    "log 1e? float32", "tanh 1e? float32", "gelu 1e? float32", "pow 1.7 1e? float32",
    "add 1e? float64", "pow 1.7 1e? float64", "broadcast (1000, 1*float32", "copy*float32",
    "add turned*float32", "half*",
)  # fmt: skip
_REDUCTIONS = (
    "sum 1e? float*", "argmax 1e? float32", "sum of rows 1e? float32",
    "sum of columns 1e? float32", "cumsum of rows 1e? float32", "logsumexp 1e? float32",
    "cumsum of rows 1e? float64", "median*float32",
)  # fmt: skip

#: What is measured with one thread.
ONE_THREAD = (
    Part("dispatch", _CALLS),
    Part("backward"),
    Part("hooks", samples=3),
    Part("functions", samples=3),
    Part("views", samples=3),
    Part("transforms", samples=3),
    Part("functional", ("300", "hvp of", "gradcheck"), samples=3),
    Part("train"),
    Part("models"),
    Part("elementwise", _ELEMENTWISE, samples=3),
    Part("reductions", _REDUCTIONS, samples=3),
    Part("softmax", ("*float32",), samples=3),
    Part("gemm", samples=3),
    Part("convolution", samples=3),
    Part("attention", samples=3),
    Part("normalization", ("128x768", "16x64x28x28"), samples=3),
    Part("recurrent", samples=3),
    Part("losses", ("forward and backward", "*16", "*512", "multi_margin"), samples=3),
    Part("pooling", ("*and backward 8x16x32x32",), samples=3),
    Part("channels_last", ("*and backward 8x64x56x56",), samples=3),
    Part("resizing", ("8x3x512",), samples=3),
    Part(
        "masks", ("x[[]mask*50*", "x.masked*50*", "y[[][r:]*= 0, 50*", "mask.nonzero*"), samples=3
    ),
    Part("profiler", samples=3),
    Part("operators", samples=2),
    Part("startup", ("impor[t]", "memory*"), samples=3),
)

#: What is measured with all threads, each on a core of its own.
ALL_THREADS = (
    Part("train", ("batch 512", "10 x 1e6"), samples=3),
    Part("models"),
    Part("elementwise", ("add 1e[67] float32", "exp 1e[567] float32"), samples=3),
    Part("reductions", ("sum 1e[67] float32", "sum of columns 1e[67] float32"), samples=3),
    Part("gemm", ("mm 256*", "mm 512*", "mm 1024*", "linear 512x784*", "batched 8*"), samples=3),
    Part("convolution", ("ResNet 64->64*", "ResNet 256->512*", "depthwise 64 3x3, *"), samples=3),
    Part("attention", ("4 x 8 x 128", "8 x 64 x 256"), samples=3),
)


def main(arguments: list[str] | None = None) -> int:
    """Measure and draw the page.

    Parameters
    ----------
    arguments : list of str, optional
        Command line; by default that of the process.

    Returns
    -------
    int
        Exit status: 1 if a result was wrong or a worker failed, 2 if nothing could be measured.
    """
    options = _parser().parse_args(arguments)
    path = options.folder / RESULTS
    if options.redraw:
        results = load(path)
    else:
        results = _measure(options)
        if results is None:
            return 2
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(to_json(results))
    draw(results, options.folder)
    failed = [row for run in results["runs"] for row in run["rows"] if row.status in _FAILURES]
    for row in failed:
        print(f"{row.group}: {row.case}: {row.status}: {row.note}", file=sys.stderr)
    return 1 if failed else 0


_FAILURES = ("WRONG", "crash", "error")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.page",
        description="Measure what docs/performance.md shows, beside PyTorch, and draw the page.",
    )
    add = parser.add_argument
    add("--redraw", action="store_true", help="draw the stored results and measure nothing")
    add("--torch-python", default=sys.executable, metavar="PATH", help="interpreter that has torch")
    add("--folder", type=Path, default=ROOT, metavar="FOLDER", help="checkout to write to")
    add("--groups", default="", metavar="A,B", help="measure these groups only, for a trial")
    add("--samples", type=int, metavar="N", help="most samples per library, for a trial")
    add("--min-time", type=float, default=0.01, metavar="S", help="seconds per sample")
    add("--quiet-wait", type=float, default=2.0, metavar="S", help="longest wait before a round")
    return parser


def chosen(parts: tuple[Part, ...]) -> list[tuple[Part, Any]]:
    """Return the cases of some parts.

    Parameters
    ----------
    parts : tuple of Part
        Parts of groups.

    Returns
    -------
    list of (Part, Case or Command)

    Examples
    --------
    >>> [case.name for _, case in chosen((Part("dispatch", ("a [+] b",)),))]
    ['a + b']
    """
    return [
        (part, case)
        for part in parts
        for case in select(load_group(part.group).CASES, part.patterns)
    ]


def _measure(options: argparse.Namespace) -> dict[str, Any] | None:
    groups = [name for name in options.groups.split(",") if name]
    runs, libraries = [], None
    for threads, parts in ((1, ONE_THREAD), (usable_cores(), ALL_THREADS)):
        if runs and threads == 1:
            break
        wanted = tuple(part for part in parts if not groups or part.group in groups)
        measured = _run(threads, wanted, options)
        if measured is None:
            return None
        libraries, rows = measured
        runs.append({"threads": threads, "rows": rows})
    return {
        "date": datetime.date.today().isoformat(),
        "machine": machine_description(),
        "libraries": libraries,
        "runs": runs,
    }


def _run(
    threads: int, parts: tuple[Part, ...], options: argparse.Namespace
) -> tuple[dict[str, Any], list[Row]] | None:
    """Measure some parts with a number of threads; None if a library is not there."""
    environment = thread_environment(threads, bind=threads > 1)
    pythons = {"autograd_cy": sys.executable, "torch": options.torch_python}
    sides = [Side(name, python, threads, environment) for name, python in pythons.items()]
    with sides[0] as left, sides[1] as right:
        libraries = introduce(left, right)
        if libraries is None or "right" not in libraries:
            return None
        for library in libraries.values():
            library.pop("threads", None)
        cores = Cores(options.quiet_wait, 120.0, lambda: left.cpu_time() + right.cpu_time())
        rows, show = [], Printer(*pythons)
        for part, case in chosen(parts):
            samples = min(part.samples, options.samples or part.samples)
            settings = Settings(samples, options.min_time, max_time=6.0)
            rows.append(Comparison(left, right, settings, cores).run(part.group, case))
            show(rows[-1])
    return libraries, rows


def to_json(results: dict[str, Any]) -> str:
    """Write results as JSON: a line for each row, with medians and minima and without samples.

    Parameters
    ----------
    results : dict
        ``date``, ``machine``, ``libraries``, and ``runs`` with ``threads`` and ``rows``.

    Returns
    -------
    str

    Examples
    --------
    >>> from_json(to_json({"runs": [{"threads": 1, "rows": []}]}))
    {'runs': [{'threads': 1, 'rows': []}]}
    """
    head = {"format": FORMAT, **{name: results[name] for name in results if name != "runs"}}
    runs = []
    for run in results["runs"]:
        rows = ",\n".join(json.dumps(_record(row)) for row in run["rows"])
        runs.append(f'{{"threads": {run["threads"]}, "rows": [\n{rows}\n]}}')
    text = json.dumps(head, indent=1).removesuffix("\n}")
    return f'{text},\n "runs": [{", ".join(runs)}]\n}}\n'


def _record(row: Row) -> dict[str, Any]:
    record: dict[str, Any] = {"group": row.group, "case": row.case}
    for name in ("status", "note", "unit", "disturbed", "rounds"):
        if getattr(row, name) != getattr(_DEFAULTS, name):
            record[name] = getattr(row, name)
    for name in ("left", "right"):
        side = getattr(row, name)
        if side is not None:
            record[name] = [float(f"{side[what]:.4g}") for what in ("median", "minimum")]
    return record


def from_json(text: str) -> dict[str, Any]:
    """Read the results that ``to_json`` wrote.

    Parameters
    ----------
    text : str
        JSON.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        If the text has another format number.
    """
    results = json.loads(text)
    if results.pop("format", None) != FORMAT:
        raise ValueError(f"results of another format than {FORMAT}: measure anew.")
    for run in results["runs"]:
        run["rows"] = [_row(record) for record in run["rows"]]
    return results


def _row(record: dict[str, Any]) -> Row:
    for name in ("left", "right"):
        if name in record:
            record[name] = dict(zip(("median", "minimum"), record[name]))
    return Row(**{"status": "ok", **record})


def load(path: Path) -> dict[str, Any]:
    """Read stored results.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    dict
    """
    return from_json(path.read_text())


def draw(results: dict[str, Any], folder: Path) -> None:
    """Write the tables and the plots of the page.

    Parameters
    ----------
    results : dict
        Results, as ``load`` returns them.
    folder : Path
        A checkout, with ``docs/performance.md`` and ``README.md``.
    """
    from benchmarks import page_plots

    results = from_json(to_json(results))  # what is drawn is what is stored
    page_plots.save(results, folder / "docs/pictures")
    for name in ("docs/performance.md", "README.md"):
        path = folder / name
        path.write_text(page_tables.fill(path.read_text(), page_tables.blocks(results)))


if __name__ == "__main__":
    sys.exit(main())
