"""Run a program as Python would, with this package by the name of torch."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from types import ModuleType, TracebackType
from typing import Any, NoReturn

from autograd_cy._as_torch.switch import as_torch

__all__ = ["USAGE", "run"]

USAGE = """\
usage: autograd-cy as-torch SCRIPT [ARGUMENT ...]
       autograd-cy as-torch -m MODULE [ARGUMENT ...]

Run a program as `python SCRIPT ...` or `python -m MODULE ...` would, in which `import torch` finds
autograd_cy. So do the packages that it imports, and processes that multiprocessing starts for it.
"""


def run(words: Sequence[str]) -> int:
    """
    Run ``SCRIPT ARGUMENTS`` or ``-m MODULE ARGUMENTS``; the program ends as it would alone.

    Returns
    -------
    int
        The exit status, if the program doesn't end the process itself.
    """
    words = list(words)
    if words[:1] in (["-h"], ["--help"]):
        print(USAGE, end="")
        return 0
    is_module = bool(words) and words[0].startswith("-m")
    if is_module:
        words = [words[0][2:], *words[1:]] if words[0] != "-m" else words[1:]
    if words[:1] == ["--"] and not is_module:
        words = words[1:]
    elif words and words[0].startswith("-") and not is_module:
        print(f"{USAGE}\nautograd-cy as-torch: {words[0]} is not known", file=sys.stderr)
        return 2
    if not words:
        print(f"{USAGE}\nautograd-cy as-torch: which program?", file=sys.stderr)
        return 2
    as_torch()
    return _run_module(words) if is_module else _run_script(words)


def _run_module(words: list[str]) -> int:
    _first_path(os.getcwd())
    _new_main()
    sys.argv = list(words)
    # What `python -m` calls.
    _as_alone(lambda: runpy._run_module_as_main(words[0]))  # type: ignore[attr-defined]
    return 0


def _run_script(words: list[str]) -> int:
    script = words[0]
    sys.argv = list(words)
    if os.path.isdir(script) or not _is_source(script):
        # A folder or an archive with a __main__.py, or compiled code.
        if script.endswith(".pyc"):
            _first_path(os.path.dirname(os.path.realpath(script)))
            _as_alone(lambda: runpy.run_path(script, run_name="__main__"))
        else:
            sys.path[:1] = [os.path.abspath(script)]
            _new_main()
            run_as_main = runpy._run_module_as_main  # type: ignore[attr-defined]
            _as_alone(lambda: run_as_main("__main__", False))
        return 0
    path = os.path.abspath(script)
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        reason = f"[Errno {error.errno}] {error.strerror}"
        print(f"{sys.executable}: can't open file {path!r}: {reason}", file=sys.stderr)
        return 2
    _first_path(os.path.dirname(os.path.realpath(script)))
    main = _new_main()
    main.__file__ = path
    main.__loader__ = SourceFileLoader("__main__", path)
    vars(main)["__cached__"] = None
    _as_alone(lambda: exec(compile(text, path, "exec", dont_inherit=True), vars(main)))
    return 0


def _is_source(path: str) -> bool:
    if path.endswith(".pyc"):
        return False
    if not os.path.isfile(path):
        return True  # of a pipe, as /dev/stdin, what is read here would be lost
    try:
        with open(path, "rb") as file:
            return not file.read(4).startswith(b"PK")
    except OSError:
        return True


def _first_path(folder: str) -> None:
    """Look for modules first where Python would, and not where the command was found."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[:1] = [folder]


def _new_main() -> ModuleType:
    """The module ``__main__`` of the program, in the place of the command's."""
    main = ModuleType("__main__")
    main.__loader__ = main.__spec__ = None
    main.__builtins__ = sys.modules["builtins"]  # type: ignore[attr-defined]
    main.__annotations__ = {}
    sys.modules["__main__"] = main
    return main


def _as_alone(program: Callable[[], Any]) -> None:
    """Run a program whose tracebacks begin with its own lines."""
    try:
        program()
    except SystemExit:
        raise
    except BaseException as error:
        _end_by(error)


def _end_by(error: BaseException) -> NoReturn:
    """Let Python end by an error as it does, and show the lines of the program alone."""
    traceback = error.__traceback__
    while traceback is not None and _is_of_the_command(traceback):
        traceback = traceback.tb_next
    shown, hook = traceback, sys.excepthook

    def show(kind: Any, value: BaseException, _: TracebackType | None) -> None:
        hook(kind, value.with_traceback(shown), shown)

    sys.excepthook = show
    raise error


def _is_of_the_command(traceback: TracebackType) -> bool:
    name = traceback.tb_frame.f_code.co_filename
    return name in (__file__, "<frozen runpy>") or name == getattr(runpy, "__file__", None)
