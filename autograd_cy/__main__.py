"""Command line: `python -m autograd_cy info`, `doctor`, `profile`, `run` and `as-torch`."""

from __future__ import annotations

import argparse
import io
import json
import sys

from ._version import __version__


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["as-torch"]:  # all that follows is the program's
        from autograd_cy._as_torch import command

        return command.run(words[1:])
    if words[:1] == ["run"]:  # likewise
        from autograd_cy._environment import mpi_launcher

        return mpi_launcher.run(words[1:])
    parser = argparse.ArgumentParser(prog="autograd-cy", description="About this installation.")
    parser.add_argument("--version", action="version", version=f"autograd_cy {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    info = commands.add_parser("info", help="versions, compiler, processor, threads and BLAS")
    info.add_argument("--json", action="store_true", help="print JSON")
    commands.add_parser("doctor", help="look for the usual mistakes on clusters")
    profile = commands.add_parser("profile", help="run a program and say where its time went")
    _profile_arguments(profile, words)
    commands.add_parser("as-torch", help="run a program in which `import torch` finds autograd_cy")
    commands.add_parser("run", help="start a script in several processes by MPI")
    arguments = parser.parse_args(words)
    if arguments.command == "profile":
        from autograd_cy.profiler import _command

        return _command.run(arguments)
    _show_any_path()
    if arguments.command == "doctor":
        from autograd_cy._environment import doctor

        return doctor.run()
    return _info(arguments.json)


def _profile_arguments(parser: argparse.ArgumentParser, words: list[str]) -> None:
    # The other commands need none of this.
    if words[:1] == ["profile"]:
        from autograd_cy.profiler import _command

        _command.add_arguments(parser)


def _show_any_path() -> None:
    """Let paths be printed that the encoding of the terminal lacks."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _info(as_json: bool) -> int:
    from autograd_cy._environment import info

    facts = info.collect()
    print(json.dumps(facts, indent=2) if as_json else info.render(facts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
