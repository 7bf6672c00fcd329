"""Find the examples of the documentation: code blocks in Markdown, sessions in docstrings.

In Markdown, each block fenced as ```python is run; the blocks of a file share their names, as a
reader would run them one after another.  A block of `>>>` lines is a session whose output is
compared.  A block that cannot run everywhere says why in its fence:

    ```python not-run: needs two nodes
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)``` *$", re.M | re.S
)
# Spaces count: a reader compares what is shown with what is printed.
OPTIONS = doctest.ELLIPSIS
# Not walked: the table of operators, whose
# records become the docstrings of what is public; and the command line.
NOT_WALKED = (
    "autograd_cy.ops",
    "autograd_cy.__main__",
)


@dataclass(frozen=True)
class Block:
    """A code block: what its fence says, its text and its first line in the file."""

    info: str
    text: str
    line: int

    @property
    def is_run(self) -> bool:
        words = self.info.split(maxsplit=1)
        return bool(words) and words[0] == "python" and not self.reason

    @property
    def reason(self) -> str:
        """Why the block is not run, as its fence says."""
        _, found, reason = self.info.partition("not-run:")
        if found and not reason.strip():
            raise ValueError(f"line {self.line}: not-run needs a reason")
        return reason.strip()


def blocks(text: str) -> Iterator[Block]:
    """All fenced blocks of a Markdown text."""
    for match in FENCE.finditer(text):
        indent = len(match["indent"])
        body = "".join(line[indent:] for line in match["body"].splitlines(keepends=True))
        line = text.count("\n", 0, match.start("body")) + 1
        yield Block(match["info"].strip(), body, line)


def run_file(path: Path) -> int:
    """Run the Python blocks of a Markdown file; returns how many there were."""
    names = {"__name__": "__main__"}
    found = [block for block in blocks(path.read_text()) if block.is_run]
    for block in found:
        if ">>>" in block.text:
            run_session(block.text, names, path.name, path, block.line - 1)
        else:
            # Empty lines in front make the line numbers of a traceback those of the file.
            code = compile("\n" * (block.line - 1) + block.text, str(path), "exec")
            exec(code, names)
    return len(found)


def run_session(text: str, names: dict, name: str, path, line: int) -> None:
    """Run one `>>>` session in `names`; a difference raises AssertionError with the report."""
    test = doctest.DocTestParser().get_doctest(text, names, name, str(path), line)
    test.globs = names  # not a copy: later blocks see what this one defines
    report = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    runner.run(test, out=report.append, clear_globs=False)
    if runner.failures:
        raise AssertionError("".join(report))


def public_modules(package) -> Iterator:
    """The package and its public modules."""
    yield package
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        parts = found.name.split(".")
        if any(part.startswith("_") for part in parts) or found.name.startswith(NOT_WALKED):
            continue
        yield importlib.import_module(found.name)


def docstrings(package) -> dict[str, str]:
    """{name: docstring} of public modules, classes, methods and functions that show a session."""
    found, seen = {}, set()
    for module in public_modules(package):
        candidates = [(module.__name__, module)]
        for name in getattr(module, "__all__", dir(module)):
            if name.startswith("_"):
                continue
            value = getattr(module, name)
            owner = getattr(value, "__module__", None) or ""
            if inspect.ismodule(value) or not owner.startswith(package.__name__):
                continue
            candidates.append((f"{module.__name__}.{name}", value))
            if inspect.isclass(value):
                members = ((n, m) for n, m in vars(value).items() if not n.startswith("_"))
                candidates += [(f"{module.__name__}.{name}.{n}", member) for n, member in members]
        for name, value in candidates:
            text = getattr(value, "__doc__", None)
            if isinstance(text, str) and ">>>" in text and text not in seen:
                seen.add(text)
                found[name] = text
    return found
