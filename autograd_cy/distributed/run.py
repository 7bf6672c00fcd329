"""
The command that a script for ``torchrun`` is started with here: that of MPI.

MPI's launcher, or SLURM's, starts the processes. ``python -m autograd_cy.distributed.run`` with the
options of ``torchrun`` shows the line to use.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

# Options of torchrun that are followed by nothing.
_FLAGS = ("standalone", "no_python", "run_path", "signals_to_handle", "use_env")


def _command_of(arguments: Sequence[str]) -> str:
    """Return MPI's line for the options of torchrun, as far as they say."""
    sizes = {"nproc_per_node": "1", "nnodes": "1"}
    rest = list(arguments)
    module = False
    while rest and rest[0].startswith("-"):
        option, _, value = rest.pop(0).lstrip("-").partition("=")
        option = option.replace("-", "_")
        if option in ("m", "module"):
            module = True
            continue
        if option in _FLAGS or option in ("h", "help"):
            continue
        if not value and rest:
            value = rest.pop(0)
        if option in sizes:
            sizes[option] = value.rpartition(":")[2]
    numbers = [int(value) if value.isdecimal() else 0 for value in sizes.values()]
    ranks = str(numbers[0] * numbers[1] or "N")
    script = " ".join(["-m"] * module + (rest or ["SCRIPT"]))
    return f"mpirun -n {ranks} python {script}"


def main(args: Sequence[str] | None = None) -> None:
    """
    Show the command of MPI that takes the place of ``torchrun``'s, and end with an error.

    Parameters
    ----------
    args : sequence of str, optional
        The options of ``torchrun`` and the script; by default those of this process.

    Raises
    ------
    SystemExit
        Always.

    Examples
    --------
    >>> from autograd_cy.distributed import run
    >>> try:
    ...     run.main(["--nnodes=2", "--nproc-per-node=4", "train.py"])
    ... except SystemExit as error:
    ...     print(error)
    torchrun: processes are started by MPI here: mpirun -n 8 python train.py, or by srun in a job...
    """
    command = _command_of(sys.argv[1:] if args is None else args)
    raise SystemExit(
        f"torchrun: processes are started by MPI here: {command}, or by srun in a job of SLURM; "
        "rendezvous, addresses and ports are left out"
    )


if __name__ == "__main__":
    main()
