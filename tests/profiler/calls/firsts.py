"""Reports of a recording that begins with backward and has the number 0."""

from by_hand import (
    ZERO,
    ZERO_MEMORY,
    averages,
    facts,
    lines,
    loaded,
    part,
    spans,
    traced,
    written,
    zero,
)

zero().table(row_limit=2)
lines(facts(e) for e in zero().events())
zero().summary()
lines(zero().group("op"))
lines(zero().group("line"))
lines(zero().group(len and (lambda e: e.thread)))
[
    zero().group("op").table(row_limit=0),
    zero().group("op").table(row_limit=-1) == zero().group("op").table(),
]
zero().memory()
written(zero().export_flamegraph)
traced(zero())
lines(
    f"{key} {getattr(spans(ZERO, ZERO_MEMORY), key).tolist()}"
    for key in (
        "start thread parent total self_memory allocated memory flops nearest_backward"
        " forward_of home"
    ).split()
)
spans(ZERO, ()).innermost(spans(ZERO, ()).scope == 1).tolist()
lines(loaded(part(0, 12), [], stacks=[]).group("op"))
loaded([("aten::" + "n" * 30, 0, 10, {}), ("x", 20, 30, {})], []).group().table(
    max_key_column_width=30
)
loaded([("aten::" + "n" * 30, 0, 10, {}), ("x", 20, 30, {})], []).group().table(
    max_key_column_width=29
)
loaded([("aten::" + "n" * 30, 0, 10, {}), ("x", 20, 30, {})], []).group().table(
    max_key_column_width=2
)
averages(
    loaded([("a", 0, 10, {}), ("a", 20, 30, {"scope": 7}), ("a", 40, 50, {"stack": 0})], []),
    False,
    0,
)
loaded([("ProfilerStep#0", 0, 20, {}), ("z", 5, 9, {"parent": 0})], []).events()[0].trace_name
