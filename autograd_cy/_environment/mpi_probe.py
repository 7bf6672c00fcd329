"""The program with which `autograd-cy doctor` tries MPI: in a process that can be ended.

MPI may wait without an end, and a process that has ended it can't start it again. It reads the
place and the findings of its rank as JSON from stdin, and writes one line of JSON after each step,
so that its parent knows which one hangs. `mpi_checks.py` starts it and reads them.
"""

from __future__ import annotations

import json
import socket
import sys
from typing import Any

__all__: list[str] = []


def _write(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def main() -> None:
    """Load MPI, start it, and bring what the ranks say to rank 0."""
    own = json.load(sys.stdin)
    import mpi4py

    mpi4py.rc.initialize = False
    from mpi4py import MPI

    vendor, version = MPI.get_vendor()
    _write(vendor=vendor, version=".".join(map(str, version)))
    MPI.Init_thread()
    comm = MPI.COMM_WORLD
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    own |= {
        "host": socket.gethostname(),
        "local_rank": node.Get_rank(),
        "local_size": node.Get_size(),
    }
    _write(rank=comm.Get_rank(), size=comm.Get_size())
    ranks = comm.gather(own)
    _write(ranks=ranks or [])
    MPI.Finalize()


if __name__ == "__main__":
    main()
