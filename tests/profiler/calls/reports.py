"""Reports of recordings made by hand."""

from by_hand import (
    MEMORY,
    STEPS,
    averages,
    facts,
    lines,
    loaded,
    part,
    refused,
    spans,
    traced,
    written,
)

loaded().table(row_limit=4)
loaded().table(sort_by="self_cpu_time_total", row_limit=3, short_names=True, rates=True)
loaded().table(
    row_limit=3,
    top_level_events_only=True,
    header="one step",
    time_unit="ms",
    max_name_column_width=20,
    max_src_column_width=14,
    max_shapes_column_width=12,
)
loaded().key_averages().table(sort_by="cpu_time_total", rates=True, row_limit=5)
loaded().key_averages(True).table(row_limit=4, time_unit="us")
loaded().key_averages(False, 1).table(short_names=True, row_limit=5)
loaded().key_averages(True, 2).table(top_level_events_only=True, row_limit=4)
averages(loaded())
averages(loaded(), True, 1)
averages(loaded(part(10, 14), memory=(), options=()), True)
[
    getattr(loaded().total_average(), k)
    for k in (
        "key count scope cpu_time_total self_cpu_time_total cpu_memory_usage"
        " self_cpu_memory_usage flops bytes_moved team failed input_shapes"
    ).split()
]
[
    getattr(loaded([], []).total_average(), k)
    for k in "key count scope cpu_time_total flops team input_shapes".split()
]
loaded().self_cpu_time_total
lines(facts(e) for e in loaded().events())
lines(facts(e) for e in loaded(memory=(), options=()).events()[:3])
loaded().summary()
loaded(part(10, 14), memory=(), options=(), dropped=1234).summary()
loaded([], [], wall_ns=0).summary()
loaded(
    [("aten::mul", k * 10_000, k * 10_000 + 100 + k, {}) for k in range(12)]
    + [("enumerate(DataLoader)#x", 200_000, 200_500, {"scope": 7})],
    [],
    wall_ns=300_000,
).summary()
loaded(
    [(f"aten::op{k}", k * 10_000, k * 10_000 + 5_000 - k, {}) for k in range(12)],
    [],
    wall_ns=110_000,
).summary().count(" us") + len(
    loaded([(f"aten::op{k}", 0, 0, {}) for k in range(12)], [], wall_ns=110_000).summary()
)
loaded().group()
lines(loaded().group("shape"))
loaded().group("line").table(max_key_column_width=12)
lines(loaded().group("line"))
lines(loaded().group("module"))
lines(loaded().group("label"))
lines(loaded().group("thread"))
loaded().group(lambda e: e.count + e.thread).table(1)
lines(loaded().group(lambda e: e.name[:4]))
loaded().group("op").table(2, 6)
loaded([], []).group("op").table() == "" and loaded([], []).group(len).by
refused(loaded().group, "nothing")
[refused(loaded(options=()).group, by) for by in ("shape", "line", "module")]
loaded().memory()
lines(loaded().memory().alive)
(
    loaded().memory().peak_bytes,
    loaded().memory().peak_us,
    loaded().memory().before_bytes,
    loaded().memory().saved,
)
repr(loaded().memory())
loaded(memory=()).memory()
loaded(memory=MEMORY[:1]).memory()
loaded(
    memory=[
        *MEMORY,
        (47_000, 9000, 10140, 4, 1, 11),
        (47_100, 500, 10640, 9, 1, 18),
        (47_200, 600, 11240, 10, 1, 19),
        (47_300, 70, 11310, 11, 1, 16),
    ]
).memory()
loaded(memory=[(k, 10 + k, 100 + k, k, 1, k) for k in range(14)]).memory()
refused(loaded(options=()).memory)
loaded(part(10, 14), []).compare(loaded(part(10, 14), []))
loaded().compare(loaded(part(12, 20), []))
lines(loaded().compare(loaded(STEPS[:12], MEMORY[:2]), "label"))
loaded(STEPS[:4]).compare(loaded(), "line").table(2, 12)
not loaded([], []).compare(loaded([], [])).table()
lines(loaded([], []).compare(loaded(STEPS[:2])))
refused(loaded().compare, 3)
written(loaded().export_stacks)
not written(loaded().export_stacks, "self_cuda_time_total")
refused(written, loaded().export_stacks, "no")
refused(written, loaded(options=()).export_stacks)
written(loaded().export_flamegraph)
written(
    loaded(
        part(12, 20),
        [
            (31_200, 1000, 3692, 7, 1, 1),
            (36_500, -2048, 1644, 4, 1, 0),
            (46_000, 12, 1132, 5, 1, -1),
        ],
    ).export_flamegraph,
    by="bytes",
)
written(
    loaded(
        [
            ("aten::a", 0, 10_000, {"stack": 0}),
            ("aten::b", 0, 9_000, {"parent": 0, "stack": 0}),
            ("aten::tiny", 9_990, 9_993, {"parent": 0}),
            ("l", 20_000, 30_000, {"scope": 7, "stack": 0}),
            ("aten::a", 21_000, 22_000, {"parent": 3, "stack": 1}),
            ("aten::c", 23_000, 29_000, {"parent": 3, "stack": 2}),
        ],
        [],
        stacks=[
            ("lib/a/very/long/path/to/model.py(3): forward", "run.py(9): <module>"),
            ("model.py(30): forward", "run.py(9): <module>"),
            ("other.py(1): x", "elsewhere.py(2): y"),
        ],
    ).export_flamegraph
)
written(loaded([], []).export_flamegraph)
refused(written, loaded().export_flamegraph, by="colour")
traced(loaded(), {"more": [1, "a"]})
traced(loaded(part(20, 22), (), options=(), threads=[], thread_names=[], dropped=3), file="t.gz")
traced(loaded([], []))
traced(loaded(part(20), MEMORY[-1:]))
lines(
    f"{key} {getattr(spans(), key).tolist()}"
    for key in (
        "name start end thread parent seq scope total self_time depth self_memory"
        " allocated memory flops nearest_backward forward_of home operator source position_of_event"
        " lost"
    ).split()
)
lines(f"{key} {spans().charged(key).tolist()}" for key in ("stack", "module"))
[x.tolist() for x in spans().levels()]
spans().innermost(spans().scope == 7).tolist()
[
    spans([("a", s, e, {"thread": t}) for s, e, t in rows], ()).parent.tolist()
    for rows in (
        [(0, 2, 1), (1, 3, 1), (1, 2, 1)],
        [(0, 9, 1), (0, 9, 2), (1, 3, 1), (3, 9, 1), (9, 9, 1), (4, 5, 2)],
        [(5, 6, 1), (0, 9, 1), (1, 2, 1), (2, 2, 1)],
        [(0, 0, 1), (0, 0, 1)],
        [(3, 1, 1), (2, 4, 1)],
    )
]
[
    spans([(n, s, e, {"parent": p}) for n, s, e, p in rows], ()).parent.tolist()
    for rows in (
        [("a", 0, 9, -1), ("b", 1, 5, 0), ("c", 4, 8, 0)],
        [("a", 0, 9, -1), ("b", 1, 10, 0)],
        [("a", 0, 9, -1), ("b", 9, 9, 0)],
        [("a", 0, 9, 1), ("b", 0, 9, -1)],
        [("a", 0, 9, -1), ("b", 0, 9, 0)],
        [("a", 0, 9, -1), ("b", 5, 12, -1), ("c", 6, 7, -1)],
    )
]
[
    spans([("a", 0, 9, {}), ("b", 1, 5, {"parent": 0, "thread": 2})], ()).parent.tolist(),
    spans(
        [
            ("a", 0, 9, {}),
            ("a", 1, 8, {"parent": 0}),
            ("a", 2, 7, {"parent": 1}),
            ("b", 3, 4, {"parent": 2}),
            ("b", 5, 6, {"parent": 2}),
        ],
        (),
    ).parent.tolist(),
    spans(
        [("a", 0, 9, {}), ("a", 1, 3, {"parent": 0}), ("a", 4, 8, {"parent": 0})], ()
    ).parent.tolist(),
]
