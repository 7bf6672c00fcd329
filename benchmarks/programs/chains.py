"""Memory and time of very long chains of small operations, here and in PyTorch.

    python -m benchmarks.programs.chains [--nodes 10000000] [--sides autograd_cy,torch]

Every figure comes from a process of its own. A node's bytes are the growth of resident memory while
the chain is made, divided by its nodes; from them goes what a tensor costs that the node has to
keep for its derivative (measured on as many plain tensors), so that what is left is the node.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from pathlib import Path

CHAINS = {
    "y * 1.0001": (lambda y: y * 1.0001, 0),
    "y.sin()": (lambda y: y.sin(), 1),
    "y * y": (lambda y: y * y, 1),
}


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def start(side: str):
    """The library, warmed up."""
    module = __import__(side)
    module.set_num_threads(1)
    x = module.ones(1, requires_grad=True)
    for step, _ in CHAINS.values():
        step(x).sum().backward()
    gc.collect()
    return module


def measure_chain(side: str, name: str, nodes: int) -> dict:
    """Make a chain, look, and free it."""
    module = start(side)
    step = CHAINS[name][0]
    y = module.ones(1, requires_grad=True) * 1
    before, began = resident(), time.perf_counter()
    for _ in range(nodes):
        y = step(y)
    made, after = time.perf_counter() - began, resident()
    began = time.perf_counter()
    del y
    freed = time.perf_counter() - began
    return {"bytes": (after - before) / nodes, "make": made / nodes, "free": freed / nodes}


def measure_tensors(side: str, nodes: int) -> dict:
    """Measure tensors that a list holds, without nodes."""
    module = start(side)
    with module.no_grad():
        y = module.ones(1)
        kept = [None] * nodes
        before = resident()
        for i in range(nodes):
            kept[i] = y = y * 1.0001
        after = resident()
    return {"bytes": (after - before) / nodes}


def in_a_process(*what: str) -> dict:
    """Return the result of this file, run as a program with these arguments."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.programs.chains", "--worker", *what],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    if done.returncode != 0:
        raise RuntimeError(f"the worker for {what} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def rows(sides: list[str], nodes: int):
    """One line of figures for each chain and library."""
    for side in sides:
        tensor = in_a_process(side, "tensors", str(nodes))["bytes"]
        for name, (_, keeps) in CHAINS.items():
            found = in_a_process(side, name, str(nodes))
            yield {
                "chain": name,
                "side": side,
                "bytes": found["bytes"],
                "over": found["bytes"] - keeps * tensor,
                "make": found["make"] * 1e9,
                "free": found["free"] * 1e9,
            }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=10**7)
    parser.add_argument("--sides", default="autograd_cy,torch")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        side, what, nodes = options.worker
        found = (
            measure_tensors(side, int(nodes))
            if what == "tensors"
            else measure_chain(side, what, int(nodes))
        )
        print(json.dumps(found))
        # The rest isn't measured, and takes long with PyTorch.
        sys.stdout.flush()
        os._exit(0)
    print("| chain | | bytes a node | over the tensor it keeps | made, ns | freed, ns |")
    print("| --- | --- | --- | --- | --- | --- |")
    for r in rows(options.sides.split(","), options.nodes):
        print(
            f"| `{r['chain']}` | {r['side']} | {r['bytes']:.0f} | {r['over']:.0f} | "
            f"{r['make']:.0f} | {r['free']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
