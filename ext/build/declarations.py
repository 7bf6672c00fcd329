"""The declarations of a package, read once for many runs of Cython.

More than half of the run for a small module is reading the .pxd files that it cimports, the same
ones for nearly every module. Here Cython reads all of the package, and each run (a fork, see
cython_runs.py) is given those that its source reaches, as if it had just read them: Cython notes in
a declaration that somebody uses it, and generates code for what is used, so these notes are taken
back and made again for what a run reaches. The C files are the same but for the order of
``#include <...>`` lines.
"""

from __future__ import annotations

import contextlib
import copy
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from Cython.Build.Dependencies import create_dependency_tree
from Cython.Compiler import Code, Errors, Symtab
from Cython.Compiler.CmdLine import parse_command_line
from Cython.Compiler.Main import Context
from Cython.Compiler.Options import CompilationOptions


class Declarations(Context):
    """A context of Cython that knows the modules of a package before a run asks for them."""

    reading: list[str | None]  # modules whose .pxd is being read, the innermost last
    reaches: dict[str, list[str]]  # what the .pxd of a module cimports
    uses: dict[str | None, list[Any]]  # entries that it marks as used
    trees: dict[str, Any]  # what Context.pxds had for it
    visited: set[str]  # what this run has reached

    def read(self, modules: list[str]) -> None:
        """Read the .pxd files of `modules` and of what they cimport."""
        self.reading, self.reaches, self.uses, self.visited = [None], {}, {}, set()
        with self._marks_noted(), _includes_apart():
            for module in modules:
                self.find_module(module)
        self.reading.clear()
        for module, entries in self.uses.items():
            for entry in entries if module is not None else ():
                entry.__dict__.pop("used", None)
        self.trees, self.pxds = self.pxds, {}

    def find_module(self, *args, **kwargs):
        """The scope of a module; a run is given it with what it cimports."""
        scope = super().find_module(*args, **kwargs)
        if self.reading:
            self.reaches.setdefault(self.reading[-1], []).append(scope.qualified_name)
        else:
            self._give(scope.qualified_name)
        return scope

    def process_pxd(self, source_desc, scope, module_name):
        """Read one .pxd file, which asks for others."""
        if not self.reading:
            return super().process_pxd(source_desc, scope, module_name)
        self.reading.append(module_name)
        try:
            return super().process_pxd(source_desc, scope, module_name)
        finally:
            self.reading.pop()

    def _give(self, module: str) -> None:
        if module in self.visited:
            return
        self.visited.add(module)
        for other in self.reaches.get(module, ()):
            self._give(other)
        for entry in self.uses.get(module, ()):
            entry.used = True
        if module in self.trees:
            self.pxds[module] = self.trees[module]

    @contextmanager
    def _marks_noted(self) -> Iterator[None]:
        """Note which entries are marked as used, and by which module."""
        plain, uses, reading = Symtab.Entry.used, self.uses, self.reading

        class Noted:
            def __get__(self, entry, owner=None):
                return plain if entry is None else entry.__dict__.get("used", plain)

            def __set__(self, entry, value):
                if value:
                    uses.setdefault(reading[-1], []).append(entry)
                entry.__dict__["used"] = value

        Symtab.Entry.used = Noted()
        try:
            yield
        finally:
            Symtab.Entry.used = plain


@contextmanager
def _includes_apart() -> Iterator[None]:
    """Let no two modules share what they know of a header: one would add to it for the other."""
    plain = Code.IncludeCode.dict_update

    def dict_update(self, known, key):
        own = copy.copy(self)
        own.pieces = dict(self.pieces)
        plain(own, known, key)

    Code.IncludeCode.dict_update = dict_update
    try:
        yield
    finally:
        Code.IncludeCode.dict_update = plain


def read(arguments: list[str], folder: Path, package: str) -> Declarations | None:
    """The declarations in `folder` as runs with these arguments see them; None if one has a fault.

    Each run reads for itself then, and says what is wrong.
    """
    modules = [f"{package}.{path.stem}" for path in sorted(folder.glob("*.pxd"))]
    warnings = io.StringIO()
    try:
        options, _ = parse_command_line(arguments)
        declarations = Declarations.from_options(CompilationOptions(defaults=options))
        with contextlib.redirect_stderr(warnings):
            Errors.open_listing_file(None)
            declarations.read(modules)
        tree = create_dependency_tree(declarations)
        for module in modules:
            tree.cimported_files(declarations.find_pxd_file(module))
    except Exception:  # another version of Cython, perhaps
        return None
    if Errors.get_errors_count():
        return None
    sys.stderr.write(warnings.getvalue())
    return declarations


@contextmanager
def used_by_runs(declarations: Declarations) -> Iterator[None]:
    """Give the declarations to the runs of this process; one at most, as it changes them."""
    plain = Context.from_options

    def from_options(options):
        declarations.options = options
        return declarations

    Context.from_options = staticmethod(from_options)
    try:
        yield
    finally:
        Context.from_options = plain
