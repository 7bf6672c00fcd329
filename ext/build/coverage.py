"""Line coverage of Cython sources: a plugin of coverage.py, its settings, and a table by folders.

.ci/coverage runs these, after a build with AUTOGRAD_CY_COVERAGE=1:

    python -m ext.build.coverage lines                # which lines can be traced, by the C files
    python -m ext.build.coverage settings > FILE      # for coverage run --rcfile=FILE
    python -m ext.build.coverage table coverage.json  # totals, and the least covered files

Such a build calls Python's tracer in each line that holds the GIL. Lines without it (functions and
blocks that are `nogil`, so the loops of kernels) are no lines of the report: nothing can tell
whether they have run. Sources that the build writes are left out, too.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from .extensions import BUILD_DIR, LAYERS, ROOT, SHARED

LINES = BUILD_DIR / "coverage" / "lines.json"
SOURCES = ("autograd_cy", *(f"ext/{layer}" for layer in LAYERS))
# The helper code that modules share: Cython names a file that doesn't exist.
SHARED_SOURCE = f"autograd_cy/_C/{SHARED}.pyx"
ENDINGS = (".pyx", ".pxi", ".pxd")
# In C code of Cython: the table of sources, the beginning of a function with its name and source,
# and the call of the tracer. Its third number says that it has no effect, as there is no GIL, and
# the fourth is the source of the line.
_TABLE = re.compile(r"^static const char\* *const __pyx_f\[\] = \{$(.*?)^\};$", re.M | re.S)
_START = re.compile(r' *__Pyx_TraceStart\w+\("(.*?)", __pyx_f\[(\d+)\]')
_LINE = re.compile(r" *__Pyx_TraceLine\((\d+),\d+,([01]),__PYX_ERR\((\d+),")
_RETURNED = re.compile(r"__Pyx_TraceReturnCValue\(__pyx_r, __pyx_convert__to_py_struct_\w*_(\w+),")
# The function that runs what stands outside of functions.
_IMPORT = "PyInit_"
SETTINGS = """\
[run]
core = ctrace
parallel = true
data_file = {data}
patch = subprocess, _exit
{plugins}source =
{sources}
omit =
{omit}

[report]
skip_empty = true

[html]
directory = htmlcov
title = autograd_cy
"""


class Lines(NamedTuple):
    """Lines that call the tracer, of sources relative to the root."""

    all: dict[str, list[int]]
    at_import: dict[str, list[int]]  # among them, those that the import of the module runs


def traced_lines(c_files: Iterable[Path]) -> Lines:
    """Return the lines that call the tracer, as the C files of Cython say.

    The tracer gets the source of the function with each line. So lines of an included file that run
    in a function of another source (of the import, mostly) are none.
    """
    every, at_import = defaultdict(set), defaultdict(set)
    for path in c_files:
        text = path.read_text(encoding="utf-8")
        table = _TABLE.search(text)
        names = re.findall(r'^ *"(.*)",$', table[1], re.M) if table else []
        function, source = "", -1
        for line in text.splitlines():
            if "__Pyx_TraceStart" in line and (start := _START.match(line)):
                function, source = start[1], int(start[2])
            elif "__Pyx_TraceLine(" in line and (call := _LINE.match(line)):
                number, nogil, place = map(int, call.groups())
                if nogil or place != source:
                    continue
                every[names[place]].add(number)
                if function.startswith(_IMPORT):
                    at_import[names[place]].add(number)
    return Lines(_of_package(every), _of_package(at_import))


def _of_package(lines: dict[str, set[int]]) -> dict[str, list[int]]:
    """Return the lines of hand-written sources, sorted."""
    names = sorted(name for name in lines if name.startswith(SOURCES) and name != SHARED_SOURCE)
    return {name: sorted(lines[name]) for name in names}


def returned_structs(path: Path) -> list[str]:
    """Return the structs that functions of a C file show to the tracer as their results."""
    names = set(_RETURNED.findall(path.read_text(encoding="utf-8")))
    return sorted(f"{path.stem}.{name}" for name in names)


def settings(data: Path, cython: bool) -> str:
    """Return the text of a file of settings for coverage.py."""
    generated = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "autograd_cy").rglob("*.py"))
        if path.name == "_build_info.py" or "do not edit" in path.read_text(encoding="utf-8")[:400]
    ]
    return SETTINGS.format(
        data=data,
        plugins="plugins = ext.build.coverage\n" if cython else "",
        sources="\n".join(f"    {name}" for name in (SOURCES if cython else SOURCES[:1])),
        omit="\n".join(f"    {name}" for name in (*generated, SHARED_SOURCE)),
    )


def table(files: dict[str, dict], least: int = 25) -> list[str]:
    """Return the lines of a report: totals by folder, and the files with the lowest shares.

    Parameters
    ----------
    files : dict
        `files` of a report of coverage.py in JSON.
    least : int
        How many of the least covered files are listed.
    """
    folders: dict[str, list[tuple[int, int]]] = defaultdict(list)
    shares = []
    for name, entry in files.items():
        summary = entry["summary"]
        covered, count = summary["covered_lines"], summary["num_statements"]
        path = Path(name)
        kind = "Cython" if path.suffix in ENDINGS else "Python"
        for folder in ("/".join(path.parts[:2] if len(path.parts) > 2 else path.parts[:1]), kind):
            folders[folder].append((covered, count))
        if count:
            shares.append((covered / count, covered - count, name))
    lines = [f"{'folder':<32} {'lines':>7} {'covered':>8} {'share':>7}"]
    for folder in sorted(folders, key=lambda name: (name in ("Python", "Cython"), name)):
        covered, count = map(sum, zip(*folders[folder], strict=True))
        lines.append(f"{folder:<32} {count:>7} {covered:>8} {_percent(covered, count):>7}")
    lines += ["", f"{'least covered':<60} {'missing':>7} {'share':>7}"]
    for share, surplus, name in sorted(shares)[:least]:
        lines.append(f"{name:<60} {-surplus:>7} {_percent(share, 1):>7}")
    return lines


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def main(arguments: list[str] | None = None) -> int:
    """Run one of the commands of this file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("lines", help="look which lines can be traced")
    setting = commands.add_parser("settings", help="print the settings of coverage.py")
    setting.add_argument("--data", type=Path, default=BUILD_DIR / "coverage" / "data")
    setting.add_argument("--python", action="store_true", help="of Python alone")
    shown = commands.add_parser("table", help="print totals by folder")
    shown.add_argument("report", type=Path, help="the report of coverage.py in JSON")
    options = parser.parse_args(arguments)
    if options.command == "settings":
        print(settings(options.data, not options.python), end="")
    elif options.command == "table":
        print("\n".join(table(json.loads(options.report.read_text(encoding="utf-8"))["files"])))
    else:
        from .builder import build_folder

        c_files = sorted(build_folder({"AUTOGRAD_CY_COVERAGE": "1"}).glob("*.c"))
        lines = traced_lines(c_files)
        if not lines.all:
            print("There is no C that traces: build with AUTOGRAD_CY_COVERAGE=1.", file=sys.stderr)
            return 2
        returned = [name for path in c_files for name in returned_structs(path)]
        if returned:
            print(
                f"{', '.join(returned)}: a function that holds the GIL returns it, and Python's "
                "tracer would read its pointers as text: take its address as an argument",
                file=sys.stderr,
            )
            return 1
        LINES.write_text(json.dumps(lines._asdict()), encoding="utf-8")
        count = sum(map(len, lines.all.values()))
        print(f"{count} lines of {len(lines.all)} Cython sources are traced")
    return 0


# --- the plugin ---------------------------------------------------------------------------------


def coverage_init(registry, options) -> None:
    """Register the plugin; coverage.py calls this."""
    from coverage import CoveragePlugin, FileReporter, FileTracer

    stored = Lines(**json.loads(LINES.read_text(encoding="utf-8")))
    known = {str(ROOT / name): set(lines) for name, lines in stored.all.items()}
    at_import = {str(ROOT / name): set(lines) for name, lines in stored.at_import.items()}
    no_line = (-1, -1)

    class Tracer(FileTracer):
        """A source whose frames have its name and its lines."""

        def __init__(self, filename: str):
            self.filename = filename
            self.at_import = at_import.get(filename, set())

        def source_filename(self) -> str:
            return self.filename

        def line_number_range(self, frame) -> tuple[int, int]:
            line = frame.f_lineno
            # The import of a module runs lines of included files, too.
            if line not in self.at_import and frame.f_code.co_name.startswith(_IMPORT):
                return no_line
            return line, line

    class Reporter(FileReporter):
        """The lines of a source that can be traced."""

        def lines(self) -> set[int]:
            return known.get(self.filename, set())

    class Plugin(CoveragePlugin):
        """Takes the Cython sources of this package."""

        def file_tracer(self, filename: str) -> Tracer | None:
            return Tracer(filename) if filename in known else None

        def file_reporter(self, filename: str) -> Reporter:
            return Reporter(filename)

        def find_executable_files(self, src_dir: str) -> Iterator[str]:
            return (name for name in known if Path(src_dir) in Path(name).parents)

    registry.add_file_tracer(Plugin())


if __name__ == "__main__":
    sys.exit(main())
