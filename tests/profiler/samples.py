"""Recordings made by hand."""

import numpy as np

from autograd_cy.profiler._columns import Columns

NAMES = [
    "aten::mul",
    "aten::linear",
    "aten::addmm",
    "autograd::engine::evaluate_function: MulBackward0",
    "MulBackward0",
    "step",
    "ProfilerStep#1",
    "torch::autograd::AccumulateGrad",
]
MUL, LINEAR, ADDMM, OUTER, INNER, STEP, NUMBERED, ACCUMULATE = range(len(NAMES))
FIELDS = "name start end thread fwd_thread seq scope parent shape stack".split()


def training(steps=3, threads=1, seed=0, **options):
    """Steps of a label around `mul`, `linear` (with `addmm` in it) and the backward of `mul`."""
    random = np.random.default_rng(seed)
    rows = []
    for thread in range(1, threads + 1):
        time, seq = 100, 1000 * thread
        for _ in range(steps):
            label = len(rows)
            rows.append([STEP, time, 0, thread, 0, -1, 7, -1, -1, -1])
            time += 500
            length = int(random.integers(1000, 9000))
            rows.append([MUL, time, time + length, thread, 0, seq, 0, label, 0, 0])
            time += length + 300
            length, outer = int(random.integers(4000, 20000)), len(rows)
            end = time + length
            rows.append([LINEAR, time, end, thread, 0, -1, 0, label, 1, 1])
            rows.append([ADDMM, time + 100, end - 100, thread, 0, seq + 1, 0, outer, 1, 1])
            time = end + 200
            length, outer = int(random.integers(4000, 20000)), len(rows)
            end = time + length
            rows.append([OUTER, time, end, thread, thread, seq, 1, label, -1, -1])
            rows.append([INNER, time + 200, end - 300, thread, thread, seq, 1, outer, -1, -1])
            rows.append([MUL, time + 500, end - 500, thread, 0, -1, 0, outer + 1, 0, -1])
            time = end + 200
            rows[label][2] = time
            time += 100
            seq += 2
    table = dict(zip(FIELDS, np.array(rows).T))
    makes_node = (table["name"] == MUL) & (table["seq"] >= 0)
    in_layer = np.isin(table["name"], (LINEAR, ADDMM))
    return Columns(
        names=NAMES,
        **table,
        flops=np.where(table["name"] == ADDMM, 2000, 0),
        saved=np.where(makes_node, 16, 0),
        module=np.where(in_layer, 1, np.where(makes_node, 0, -1)),
        modules=["Net", "Net.layers.0"],
        shapes=[
            ([[2, 3], []], [None, 2.0], ["float", "Scalar"]),
            ([[2, 3], [3, 4], [4]], [None] * 3, ["float"] * 3),
        ],
        stacks=[
            ("model.py(3): forward", "run me.py(9): <module>"),
            ("model.py(4): forward", "run me.py(9): <module>"),
        ],
        threads=[4000 + k for k in range(threads)],
        thread_names=["MainThread"] * threads,
        base_ns=1_700_000_000_000_000_000,
        wall_ns=int(table["end"].max()) + 1000,
        options={
            "record_shapes": True,
            "with_stack": True,
            "with_flops": True,
            "with_modules": True,
        }
        | options,
    )


def with_memory(columns):
    """Add a block that each `mul` allocates and the next one releases."""
    place = np.flatnonzero((columns.name == MUL) & (columns.seq >= 0))
    start = columns.start[place]
    time, size, total, address, event = [5], [100], [100], [1], [-1]
    held = 100
    for k, at in enumerate(start.tolist()):
        for amount, block in ((64 * (k + 1), 1000 + k), (-64 * k, 999 + k)):
            if amount:
                held += amount
                time.append(at + 10)
                size.append(amount)
                total.append(held)
                address.append(block)
                event.append(place[k])
    arrays = {
        "mem_time": time,
        "mem_bytes": size,
        "mem_total": total,
        "mem_address": address,
        "mem_thread": [1] * len(time),
        "mem_event": event,
    }
    kept = {key: getattr(columns, key) for key in Columns.__slots__ if not key.startswith("mem_")}
    kept["options"] = kept["options"] | {"profile_memory": True}
    return Columns(**kept, **arrays)
