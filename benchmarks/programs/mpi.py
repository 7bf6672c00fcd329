"""Collectives beside raw mpi4py, and training in two ranks beside one.

    python -m benchmarks.programs.mpi [--json FILE] [--check] [--rounds N] [--parts PARTS]
                                      [--network RATE]

The program starts its two ranks itself, with one thread each, by the launcher of mpi4py's MPI. A
figure is a ratio or a difference of medians; what is compared takes turns, round by round, and
the time of a round is that of the slower rank. "best" is the same figure of minima, which other
work on the machine changes less. ``--check`` fails where a figure exceeds its limit.

- collectives: a call of this package beside the blocking call of mpi4py on the same memory;
- steps: a training step of two ranks beside one rank that has the machine alone, each rank with
  the same batch; and of one process with DistributedDataParallel beside the bare module, in
  processor time, since nothing is waited for;
- overlap: backward alone, the reduction of its gradients alone, and both. "hidden" is the time
  that both save beside the sum, divided by the smaller one. "after" is the time of the reduction
  that is left when backward has its last gradient, divided by the time of a reduction alone.
- memory: the largest resident set of a rank with and without DistributedDataParallel.

Between ranks on one machine a reduction is work of the processors that compute backward, and no
order of it can hide that. ``--network 2gbit`` lets the ranks communicate by TCP at this rate (on
Linux as root: in a namespace with a token bucket), where a reduction is mostly waiting.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import autograd_cy as ag
import autograd_cy.distributed as dist
from autograd_cy._environment import mpi_launcher
from autograd_cy.nn import functional as F
from autograd_cy.nn.parallel import DistributedDataParallel
from benchmarks.groups.models import _resnet
from benchmarks.machine import machine_description

PARTS = ("collectives", "steps", "overlap", "memory")
#: Limits: of ratios from 1 MB on, of seconds more for 4 bytes, of steps, and of the hidden share.
LARGE_RATIO, SMALL_MORE, TWO_RANKS, ONE_PROCESS, HIDDEN = 1.1, 5e-6, 1.15, 1.03, 0.8
MEGABYTE = 1 << 20

Row = dict[str, Any]


# --- what is measured ---------------------------------------------------------------------------


def collectives(count: int) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Return pairs of calls, of this package and of mpi4py, on ``count`` float32 elements a rank.

    Where ranks have parts, ``count`` is the whole.
    """
    import numpy as np
    from mpi4py import MPI

    comm, size = MPI.COMM_WORLD.Dup(), dist.get_world_size()
    part = max(1, count // size)
    ours, ours_part, ours_other = ag.ones(count), ag.ones(part), ag.ones(part * size)
    whole = ag.ones(part * size)
    a, a_part = np.ones(count, np.float32), np.ones(part, np.float32)
    a_whole, a_other = np.ones(part * size, np.float32), np.ones(part * size, np.float32)
    is_root = dist.get_rank() == 0
    parts, a_parts = list(whole.chunk(size)), a_whole if is_root else None
    target = MPI.IN_PLACE if is_root else a
    return {
        "all_reduce": (
            lambda: dist.all_reduce(ours, dist.ReduceOp.MAX),
            lambda: comm.Allreduce(MPI.IN_PLACE, a, MPI.MAX),
        ),
        "all_reduce, sum": (
            lambda: dist.all_reduce(ours),
            lambda: comm.Allreduce(MPI.IN_PLACE, a),
        ),
        "reduce": (
            lambda: dist.reduce(ours, 0, dist.ReduceOp.MAX),
            lambda: comm.Reduce(target, a if is_root else None, MPI.MAX),
        ),
        "broadcast": (lambda: dist.broadcast(ours, 0), lambda: comm.Bcast(a)),
        "all_gather_into_tensor": (
            lambda: dist.all_gather_into_tensor(whole, ours_part),
            lambda: comm.Allgather(a_part, a_whole),
        ),
        "gather": (
            lambda: dist.gather(ours_part, parts if is_root else None, 0),
            lambda: comm.Gather(a_part, a_parts),
        ),
        "scatter": (
            lambda: dist.scatter(ours_part, parts if is_root else None, 0),
            lambda: comm.Scatter(a_parts, a_part),
        ),
        "reduce_scatter_tensor": (
            lambda: dist.reduce_scatter_tensor(ours_part, whole),
            lambda: comm.Reduce_scatter_block(a_whole, a_part),
        ),
        "all_to_all_single": (
            lambda: dist.all_to_all_single(ours_other, whole),
            lambda: comm.Alltoall(a_whole, a_other),
        ),
        "barrier": (lambda: dist.barrier(), lambda: comm.Barrier()),
    }


def networks() -> dict[str, tuple[Callable[[], Any], ag.Tensor, ag.Tensor]]:
    """Return makers of modules with their inputs and classes, by name."""
    ag.manual_seed(0)

    def layers() -> Any:
        sizes = [256, *[1024] * 6, 10]
        parts: list[Any] = []
        for inputs, outputs in pairwise(sizes):
            parts += [ag.nn.Linear(inputs, outputs), ag.nn.ReLU()]
        return ag.nn.Sequential(*parts[:-1])

    def classes(batch: int) -> ag.Tensor:
        return ag.randint(0, 10, (batch,))

    return {
        "ResNet-18 of 32x32, batch 16": (
            lambda: _resnet(ag),
            ag.randn(16, 3, 32, 32),
            classes(16),
        ),
        "7 linear layers, width 1024, batch 512": (layers, ag.randn(512, 256), classes(512)),
        "7 linear layers, width 1024, batch 64": (layers, ag.randn(64, 256), classes(64)),
    }


class Step:
    """A training step of a module."""

    def __init__(self, model: Any, x: ag.Tensor, target: ag.Tensor) -> None:
        self.model, self.x, self.target = model, x, target
        self.optimizer = ag.optim.SGD(model.parameters(), lr=1e-5, momentum=0.9)

    def loss(self) -> ag.Tensor:
        """Return the loss, without gradients of an earlier step."""
        self.optimizer.zero_grad()
        return F.cross_entropy(self.model(self.x), self.target)

    def __call__(self) -> None:
        self.loss().backward()
        self.optimizer.step()


# --- measuring ----------------------------------------------------------------------------------


def meet() -> None:
    """Let both ranks begin at the same time."""
    from mpi4py import MPI

    MPI.COMM_WORLD.Barrier()


def slower(times: list[float]) -> list[float]:
    """Return the times of the slower rank, round by round."""
    every: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(every, times)
    return [max(each) for each in zip(*every, strict=True)]


def clocked(call: Callable[[], Any], calls: int = 1) -> float:
    """Return the seconds of a call, from a moment at which both ranks begin."""
    meet()
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


class Times(NamedTuple):
    """Median and least of the seconds of several rounds."""

    median: float
    least: float


def in_turns(calls: list[Callable[[], float]], rounds: int) -> list[Times]:
    """Return the times of calls that take turns; the first rounds don't count."""
    times: list[list[float]] = [[] for _ in calls]
    for number in range(rounds + 2):
        # Each begins as often.
        for place in sorted(range(len(calls)), reverse=bool(number % 2)):
            times[place].append(calls[place]())
    every = [slower(each)[2:] for each in times]
    return [Times(statistics.median(each), min(each)) for each in every]


def measure_collectives(rounds: int) -> list[Row]:
    rows = []
    for nbytes in (4, 65536, MEGABYTE, 16 * MEGABYTE):
        for name, (ours, theirs) in collectives(max(1, nbytes // 4)).items():
            if name == "barrier" and nbytes > 4:
                continue
            calls = 100 if nbytes == 4 else 20 if nbytes < MEGABYTE else 1
            own, raw = in_turns(
                [
                    partial(clocked, ours, calls),
                    partial(clocked, theirs, calls),
                ],
                rounds,
            )
            row: Row = {"part": "collectives", "case": name, "bytes": nbytes}
            row |= {"own": own.median, "raw": raw.median}
            if nbytes == 4:
                row |= {"figure": own.median - raw.median, "best": own.least - raw.least}
                row["limit"] = SMALL_MORE
            else:
                row |= {"figure": own.median / raw.median, "best": own.least / raw.least}
                if nbytes >= MEGABYTE:
                    row["limit"] = LARGE_RATIO
            rows.append(row)
    return rows


def measure_steps(rounds: int) -> list[Row]:
    rows = []
    alone = dist.new_group([0])
    for name, (make, x, target) in networks().items():
        bare, spread = Step(make(), x, target), Step(DistributedDataParallel(make()), x, target)
        single: Any = None
        if dist.get_rank() == 0:
            single = Step(DistributedDataParallel(make(), process_group=alone), x, target)

        def by_rank_0(step: Any, clock: Any = time.perf_counter) -> Callable[[], float]:
            def call() -> float:
                seconds = 0.0
                if dist.get_rank() == 0:
                    begin = clock()
                    step()
                    seconds = clock() - begin
                dist.barrier()  # the other rank sleeps here
                return seconds

            return call

        cpu = time.process_time
        one, one_cpu, of_one, two, apart = in_turns(
            [
                by_rank_0(bare),
                by_rank_0(bare, cpu),
                by_rank_0(single, cpu),
                partial(clocked, spread),
                partial(clocked, bare),
            ],
            rounds,
        )
        for what, times, to, limit in (
            ("2 ranks to 1", two, one, {"limit": TWO_RANKS}),
            ("2 bare modules at once to 1", apart, one, {}),
            ("1 process with DDP to the bare module", of_one, one_cpu, {"limit": ONE_PROCESS}),
        ):
            row = {"part": "steps", "case": name, "what": what, "one_rank": to.median}
            row |= {"seconds": times.median, "figure": times.median / to.median}
            rows.append(row | {"best": times.least / to.least} | limit)
    return rows


def measure_overlap(rounds: int) -> list[Row]:
    rows = []
    for name, (make, x, target) in networks().items():
        model = DistributedDataParallel(make())
        step = Step(model, x, target)
        last = [0.0]
        after: list[float] = []

        def note(_: Any, last: list[float] = last) -> None:
            last[0] = time.perf_counter()

        for parameter in model.parameters():
            parameter.register_post_accumulate_grad_hook(note)

        def backward_alone(model: Any = model, step: Any = step) -> float:
            with model.no_sync():
                loss = step.loss()
                return clocked(loss.backward)

        def reduction_alone(model: Any = model) -> float:
            def reduce() -> None:
                works: list[Any] = [
                    dist.all_reduce(b.flat, async_op=True) for b in model.reducer.buckets
                ]
                for work in works:
                    work.wait()

            return clocked(reduce)

        def both(step: Any = step, last: list[float] = last, after: list[float] = after) -> float:
            loss = step.loss()
            seconds = clocked(loss.backward)
            after.append(time.perf_counter() - last[0])
            return seconds

        for _ in range(2):
            both()  # the second step has the final buckets
        after.clear()
        compute, reduction, together = in_turns([backward_alone, reduction_alone, both], rounds)
        tails = slower(after)[2:]
        rows.append(
            {
                "part": "overlap",
                "case": name,
                "backward": compute.median,
                "reduction": reduction.median,
                "both": together.median,
                "after": statistics.median(tails),
                "figure": hidden([each.median for each in (compute, reduction, together)]),
                "best": hidden([each.least for each in (compute, reduction, together)]),
                "after_share": statistics.median(tails) / reduction.median,
                "after_best": min(tails) / reduction.least,
                "limit": HIDDEN,
            }
        )
    return rows


def hidden(times: list[float]) -> float:
    """Return the share of the smaller of two times that both at once save."""
    compute, reduction, together = times
    return (compute + reduction - together) / min(compute, reduction)


def largest_set() -> int:
    """Return the largest resident set so far, in bytes."""
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.split("VmHWM:")[1].split()[0])


def measure_memory(kind: str) -> list[Row]:
    """Return the largest resident set of a job that trains with or without the wrapper."""
    make, x, target = networks()["ResNet-18 of 32x32, batch 16"]
    module = make()
    nbytes = sum(parameter.nbytes for parameter in module.parameters())
    dist.all_reduce(ag.ones(MEGABYTE))  # both have MPI's buffers
    step = Step(module if kind == "bare" else DistributedDataParallel(module), x, target)
    for _ in range(4):
        step()
    (peak,) = slower([largest_set()])
    return [{"part": kind, "peak": peak, "gradients": nbytes}]


def rows_of(part: str, rounds: int) -> list[Row]:
    """Return the rows of one part; every rank takes part."""
    if part == "collectives":
        return measure_collectives(rounds)
    if part == "steps":
        return measure_steps(rounds)
    if part == "overlap":
        return measure_overlap(rounds)
    return measure_memory(part)


# --- starting ranks, and the report -------------------------------------------------------------


def start_ranks(part: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run one part in two ranks, and return what rank 0 has written."""
    launcher = mpi_launcher.find()
    path = Path(options.folder) / f"{part}.json"
    arguments = ["-m", "benchmarks.programs.mpi", "--rank", part, "--json", str(path)]
    command, variables = mpi_launcher.command_of(
        launcher, 2, [*arguments, "--rounds", str(options.rounds)]
    )
    variables["OMP_NUM_THREADS"] = "1"
    if launcher.vendor == "Open MPI":
        command[1:1] = ["--bind-to", "core"]
    else:
        command[1:1] = ["-bind-to", "core"]
    if options.network:
        variables["AUTOGRAD_CY_MPI_THREAD"] = "1"  # as between hosts
        if launcher.vendor == "Open MPI":
            command[1:1] = "--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo".split()
        else:
            variables |= {"MPIR_CVAR_NOLOCAL": "1", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "lo"}
        script = (
            "ip link set lo up && "
            f"tc qdisc add dev lo root tbf rate {options.network} burst 256kb latency 1s && "
            'exec "$@"'
        )
        command = ["unshare", "-n", "sh", "-c", script, "sh", *command]
    subprocess.run(command, env=variables, check=True)
    return json.loads(path.read_text())


def run_rank(options: argparse.Namespace) -> None:
    """Measure one part as one of two ranks."""
    dist.init_process_group()
    from mpi4py import MPI

    rows = rows_of(options.rank, options.rounds)
    if dist.get_rank() == 0:
        vendor = " ".join([MPI.get_vendor()[0], ".".join(map(str, MPI.get_vendor()[1]))])
        Path(options.json).write_text(json.dumps({"mpi": vendor, "rows": rows}))
    dist.destroy_process_group()


def show(row: Row) -> str:
    """Return one line of the report."""
    if row["part"] == "collectives":
        text = f"{row['case']:26}{row['bytes']:>10} B {1e6 * row['own']:10.1f} us own"
        text += f"{1e6 * row['raw']:10.1f} us raw"
        if row["bytes"] == 4:
            text += f"{1e6 * row['figure']:+8.1f} us, best {1e6 * row['best']:+.1f}"
            return f"{text}, of {1e6 * row['limit']:.0f}"
        text += f"{row['figure']:8.2f}, best {row['best']:.2f}"
    elif row["part"] == "steps":
        text = f"{row['case']}: {row['what']}: {1e3 * row['seconds']:.1f} ms to "
        text += f"{1e3 * row['one_rank']:.1f} ms, {row['figure']:.3f}, best {row['best']:.3f}"
    elif row["part"] == "overlap":
        text = f"{row['case']}: backward {1e3 * row['backward']:.1f} ms, reduction "
        text += f"{1e3 * row['reduction']:.1f} ms, both {1e3 * row['both']:.1f} ms, after "
        text += f"{1e3 * row['after']:.1f} ms ({row['after_share']:.2f}, best "
        text += f"{row['after_best']:.2f}), hidden "
        text += f"{row['figure']:.2f}, best {row['best']:.2f}"
    else:
        text = f"memory: {row['figure'] / MEGABYTE:.1f} MB more, gradients "
        text += f"{row['gradients'] / MEGABYTE:.1f} MB"
        return text
    return f"{text}, of {row['limit']}" if "limit" in row else text


def is_beyond(row: Row) -> bool:
    """Return whether a figure exceeds its limit."""
    if "limit" not in row:
        return False
    if row["part"] == "overlap":
        return row["figure"] < row["limit"]
    return row["figure"] > row["limit"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--check", action="store_true", help="fail where a limit is exceeded")
    parser.add_argument("--rounds", type=int, default=25, help="by default %(default)s")
    parser.add_argument("--parts", default=",".join(PARTS), help="some of: %(default)s")
    parser.add_argument("--network", metavar="RATE", help="by TCP at this rate, such as 2gbit")
    parser.add_argument("--rank", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank:
        run_rank(options)
        return
    import tempfile

    rows: list[Row] = []
    mpi = ""
    with tempfile.TemporaryDirectory() as folder:
        options.folder = folder
        for part in options.parts.split(","):
            if part == "memory":
                (bare,) = start_ranks("bare", options)["rows"]
                result = start_ranks("wrapped", options)
                (wrapped,) = result["rows"]
                more = wrapped["peak"] - bare["peak"]
                new = [
                    wrapped
                    | {"part": part, "bare": bare["peak"], "figure": more}
                    | {"limit": wrapped["gradients"]}
                ]
            else:
                result = start_ranks(part, options)
                new = result["rows"]
            mpi = result["mpi"]
            for row in new:
                print(show(row) + ("  BEYOND" if is_beyond(row) else ""), flush=True)
            rows += new
    if options.json:
        report = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine_description(),
            "autograd_cy": ag.__version__,
            "mpi": mpi,
            "network": options.network or "shared memory",
            "load": os.getloadavg()[1],
            "rows": rows,
        }
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    beyond = [row for row in rows if is_beyond(row)]
    if options.check and beyond:
        sys.exit(f"{len(beyond)} figures are beyond their limits")


if __name__ == "__main__":
    main()
