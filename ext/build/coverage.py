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

from .extensions import BUILD_DIR, LAYERS, ROOT

LINES = BUILD_DIR / "coverage" / "lines.json"
SOURCES = ("autograd_cy", *(f"ext/{layer}" for layer in LAYERS))
ENDINGS = (".pyx", ".pxi", ".pxd")
# As Cython writes them: the place of the code that follows, and the call of the tracer, whose last
# number says that it has no effect, as there is no GIL.
_PLACE = re.compile(r' */\* "(.*)":\d+$')
_TRACED = re.compile(r" *__Pyx_TraceLine\((\d+),(?:\d+,)?([01]),")
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


def traced_lines(c_files: Iterable[Path]) -> dict[str, list[int]]:
    """Return the lines that call the tracer: {source, relative to the root: lines}."""
    lines = defaultdict(set)
    for path in c_files:
        source = ""
        with path.open(encoding="utf-8") as text:
            for line in text:
                if place := _PLACE.match(line):
                    source = place[1]
                elif (call := _TRACED.match(line)) and call[2] == "0":
                    lines[source].add(int(call[1]))
    return {name: sorted(lines[name]) for name in sorted(lines) if name.startswith(SOURCES)}


def settings(data: Path, cython: bool) -> str:
    """Return the text of a file of settings for coverage.py."""
    generated = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "autograd_cy").rglob("*.py"))
        if path.name == "_build_info.py" or "do not edit" in path.read_text()[:400]
    ]
    return SETTINGS.format(
        data=data,
        plugins="plugins = ext.build.coverage\n" if cython else "",
        sources="\n".join(f"    {name}" for name in (SOURCES if cython else SOURCES[:1])),
        omit="\n".join(f"    {name}" for name in generated),
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
            shares.append((covered / count, count - covered, name))
    lines = [f"{'folder':<32} {'lines':>7} {'covered':>8} {'share':>7}"]
    for folder in sorted(folders, key=lambda name: (name in ("Python", "Cython"), name)):
        covered, count = map(sum, zip(*folders[folder], strict=True))
        lines.append(f"{folder:<32} {count:>7} {covered:>8} {_percent(covered, count):>7}")
    lines += ["", f"{'least covered':<60} {'missing':>7} {'share':>7}"]
    for share, missing, name in sorted(shares)[:least]:
        lines.append(f"{name:<60} {missing:>7} {_percent(share, 1):>7}")
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
        print("\n".join(table(json.loads(options.report.read_text())["files"])))
    else:
        from .builder import build_folder

        lines = traced_lines(sorted(build_folder({"AUTOGRAD_CY_COVERAGE": "1"}).glob("*.c")))
        if not lines:
            print("There is no C that traces: build with AUTOGRAD_CY_COVERAGE=1.", file=sys.stderr)
            return 2
        LINES.write_text(json.dumps(lines))
        print(f"{sum(map(len, lines.values()))} lines of {len(lines)} Cython sources are traced")
    return 0


# --- the plugin ---------------------------------------------------------------------------------


def coverage_init(registry, options) -> None:
    """Register the plugin; coverage.py calls this."""
    from coverage import CoveragePlugin, FileReporter, FileTracer

    known = {str(ROOT / name): set(lines) for name, lines in json.loads(LINES.read_text()).items()}

    class Tracer(FileTracer):
        """A source whose frames have its name and its lines."""

        def __init__(self, filename: str):
            self.filename = filename

        def source_filename(self) -> str:
            return self.filename

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
