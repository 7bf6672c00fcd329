"""Lists of events made by hand, and sessions by steps."""

import json

from by_hand import (
    MEMORY,
    OUTER,
    STEPS,
    TABLES,
    around,
    averages,
    bars,
    columns,
    event,
    facts,
    labels_of_steps,
    lines,
    listed,
    loaded,
    on_device,
    own_counts,
    part,
    paths_of_modules,
    plan,
    refused,
    stepped,
    titles,
    traced,
    warned,
    with_kernels,
    written,
    zero,
)

import autograd_cy as ag
from autograd_cy import profiler
from autograd_cy.autograd.profiler_util import DeviceType
from autograd_cy.profiler import _averages
from autograd_cy.profiler import _formats as formats
from autograd_cy.profiler import _session as session
from autograd_cy.profiler._averages import FunctionEventAvg, columns_of
from autograd_cy.profiler._columns import Columns, joined
from autograd_cy.profiler._counts import KinetoStepTracker as counting


# sessions one after the other
def two_sessions():
    later = columns(
        STEPS[:4],
        MEMORY[:3],
        base_ns=TABLES["base_ns"] + 60_000,
        threads=[4002, 4009],
        thread_names=["", "new"],
        stacks=TABLES["stacks"][::-1],
        dropped=2,
    )
    both = joined([columns(part(12, 17)), later])
    return lines(f"{key} {getattr(both, key)}" for key in Columns.__slots__)


[
    len(joined([])),
    joined([columns()]) is not None,
    joined([columns(), columns()]).dropped,
    joined([columns(dropped=1), columns(dropped=2)]).dropped,
]
joined([columns(threads=[], thread_names=[]), columns()]).thread.tolist()

# lists of events made by hand
lines(
    facts(e)
    for e in listed(
        event("a", 0, 9),
        event("b", 1, 5, 1),
        event("c", 4, 8, 2),
        event("b", 2, 3, 3, thread=2),
        event("a", 20, 30, 4),
        event("a", 21, 29, 5),
        event("d", 22, 23, 6),
        event("e", 0, 9, 7, is_async=True),
    )
)
listed(
    event("a", 0, 9.5, flops=2_000_000),
    event("b", 1, 5, 1, cpu_memory_usage=2048),
    profile_memory=True,
    with_flops=True,
).table()
listed(event("a", 0, 2_500_000, is_async=True), event("b", 1, 5, 1, node_id=3)).table(
    sort_by="id", row_limit=1
)
listed(event("a" * 60, 0, 9), event("b", 0, 0.5, 1)).table(
    max_name_column_width=None, max_shapes_column_width=None
)
listed(event("a" * 52, 0, 9), event("b" * 51, 10, 11, 1)).table()
listed(event("zero", 5, 5)).table()
listed(event("a", 0, 9, stack=["f" * 20, "g"], input_shapes=[[1], []])).table(
    max_src_column_width=20, max_shapes_column_width=9
)
(listed().table(), str(listed()), listed().self_cpu_time_total, listed(event()).self_cpu_time_total)
[refused(listed(event()).table, sort_by=k) for k in ("name", "nothing", "saved")]
refused(listed(event()).table, time_unit="h")
listed(event("a", 0, 9, flops=999), event("b", 0, 9, 1, flops=1), with_flops=True).table(
    row_limit=1
)
listed(event("a", 0, 9, flops=1000), with_flops=True).table(row_limit=1)
listed(event("a", 0, 9, flops=5 * 10**15), with_flops=True).table(row_limit=1)
averages(
    listed(
        event("a", 0, 9, stack=["f", "g"], input_shapes=[[1]], overload_name="x"),
        event("a", 10, 12, 1, stack=["f", "h"], input_shapes=[[2]], overload_name="y"),
        event("a", 20, 25, 2, is_user_annotation=True),
        event("b", 30, 31, 3),
    )
)
averages(
    listed(
        event("a", 0, 9, stack=["f", "g"], input_shapes=[[1]], overload_name="x"),
        event("a", 10, 12, 1, stack=["f", "h"], input_shapes=[[2]], overload_name="y"),
        event("a", 20, 25, 2, is_user_annotation=True),
        event("b", 30, 31, 3),
    ),
    True,
    1,
    True,
)
averages(
    listed(
        event("a", 0, 9, stack=["f", "g"]),
        event("a", 10, 12, 1, stack=["f", "h"]),
        event("a", 13, 14, 2),
    ),
    False,
    2,
)


def an_average_of_itself():
    a = listed(event("a", 0, 9)).key_averages()[0]
    return (a.add(a).count, a.cpu_time_total, a.team, repr(a))


def an_average_of_an_event():
    a, b = listed(event("a")).key_averages()[0], event("b")
    return refused(a.add, b)


refused(FunctionEventAvg().add, 3)
[
    getattr(listed(event("a", 0, 9), event("b", 10, 12, 1, flops=3)).total_average(), k)
    for k in "key count cpu_time_total flops".split()
]
written(
    listed(
        event("a", 0, 9.5, stack=["in ner", "out;er"]),
        event("b", 10, 12, 1, stack=["in ner", "out;er"]),
        event("c", 13, 13.9, 2, stack=["x"]),
        event("d", 14, 15, 3, stack=["y"]),
        event("e", 20, 25, 4),
    ).export_stacks
)
[
    written(listed(event("a", 0, 9.5, stack=["x"])).export_stacks, metric=k)
    for k in listed().supported_export_stacks_metrics()
]
refused(written, listed().export_stacks, metric="no")


def columns_of_events():
    found = columns_of(
        listed(
            event("a", 0, 9.5, stack=["x"], flops=3, sequence_nr=4, fwd_thread=2),
            event("b", 1, 5, 1, thread=3, input_shapes=[[2], []], scope=7),
            event("a", 6, 7, 2),
        )
    )
    return lines(f"{key} {getattr(found, key)}" for key in Columns.__slots__)


columns_of([]).threads
listed(event("a", 0, 9, flops=0), event("b", 0, 9, 1, flops=-5), with_flops=True).table()
[
    a.team
    for a in loaded([*part(3, 4), ("aten::addmm", 9_000, 9_100, {"team": 5})], []).key_averages()
]


def threads_of_both():
    a, b = [listed(event("a")).key_averages()[0] for _ in range(2)]
    return (setattr(a, "team", 3), setattr(b, "team", 2), a.add(b).team, b.add(a).team)


def averages_of_something_inside():
    a = listed(event("o", 0, 20, 7), event("a", 1, 9, 8)).key_averages()[1]
    return (FunctionEventAvg().add(a).cpu_parent.id, FunctionEventAvg().add(a)._inner)


def averages_copied():
    a = listed(event("a", 0, 9, 8)).key_averages()[0]
    return (
        __import__("copy").copy(a).count,
        __import__("copy").copy(a).cpu_children,
        __import__("pickle").loads(__import__("pickle").dumps(a)).cpu_parent,
    )


listed(
    event("a", 0, 1000),
    event("b", 0, 10**6, 1, thread=2),
    event("c", 0, 999.9994, 2, thread=3),
    event("d", 0, 999_999.9, 3, thread=4),
).table()
(
    [formats._format_time(x) for x in (0, 0.9994, 999.9, 1e3, 999_999, 1e6, 2.5e9)]
    + [
        formats._format_memory(x)
        for x in (0, 1, 1023, 1024, -1024, 1 << 20, 1 << 30, -3 << 40, 1.5)
    ]
    + [formats._format_time_share(1, 3), formats._format_time_share(0, 0)]
)
refused(formats._format_time_share, 1, 0)
[formats._memory_unit(x) for x in (0, 1023, 1024, -1024, 1 << 20, 1 << 30)]
[refused(getattr, event(), k) for k in ("nothing", "cuda_nothing", "self_cuda_nothing")]
[
    getattr(with_kernels(("k", 3), ("j", 4)), k)
    for k in (
        "kernels device_time_total self_device_time_total cuda_time_total"
        " self_cuda_time_total device_time cuda_time device_time_str"
        " self_device_time_total_str device_resource_id"
    ).split()
]
listed(
    with_kernels(("k", 3), ("j", 4)),
    event("b", 1, 5, 1, device_memory_usage=2048),
    profile_memory=True,
    use_device="cuda",
).table()
listed(
    with_kernels(("k", 0.5), device_memory_usage=4096, cpu_memory_usage=2048), profile_memory=True
).table(time_unit="us")
listed(with_kernels(("k", 3)), on_device(1, 2, 9, use_device="cuda", thread=5)).table()
lines(facts(e) for e in listed(with_kernels(("k", 3)), on_device(1, 2, 9, use_device="cuda")))
[
    getattr(on_device(1, 2, 9, use_device="cuda", cpu_memory_usage=5, device_memory_usage=6), k)
    for k in (
        "cpu_time_total self_cpu_time_total self_cpu_memory_usage"
        " self_device_memory_usage device_time_total self_device_time_total"
    ).split()
]
[
    getattr(
        event(
            "a", 2, 9, use_device="cuda", is_async=True, cpu_memory_usage=5, device_memory_usage=6
        ),
        k,
    )
    for k in (
        "cpu_time_total self_cpu_time_total self_cpu_memory_usage"
        " self_device_memory_usage device_time_total self_device_time_total"
    ).split()
]


def device_of_what_lies_in_it():
    e = listed(
        with_kernels(("k", 3), cpu_memory_usage=9, device_memory_usage=20),
        event("in", 1, 5, 1, cpu_memory_usage=2, device_memory_usage=6),
    )
    return [
        getattr(e[0], k)
        for k in (
            "self_cpu_time_total self_cpu_memory_usage self_device_memory_usage"
            " device_time_total self_device_time_total"
        ).split()
    ]


[
    refused(on_device(1, 2, 9).append_kernel, "k", 0, 1),
    refused(event().append_cpu_child, 3),
    refused(on_device(1, 2, 9).append_cpu_child, event()),
    refused(event().append_cpu_child, on_device(1, 2, 9)),
    refused(event().set_cpu_parent, 3),
    refused(on_device(1, 2, 9).set_cpu_parent, event()),
    refused(event().set_cpu_parent, on_device(1, 2, 9)),
]
refused(lambda e: [listed(*e), listed(*e)], [event("a", 0, 9), event("b", 1, 5, 1)])
lines(
    map(
        repr,
        listed(
            event("a", 0, 9, 4, input_shapes=[[2]], cpu_memory_usage=7),
            event("b", 1, 5, 1, device_resource_id=8, overload_name="x"),
        ),
    )
)
[event(device_resource_id=8).device_resource_id, event(thread=6).device_resource_id]
[
    e.op
    for e in (
        event("aten::add_"),
        event("x::"),
        event("a b::c"),
        event("::c"),
        event("a::b::c"),
        event(OUTER + "torch::autograd::AccumulateGrad"),
        event("plain"),
    )
]
lines(
    facts(e)
    for e in listed(
        event("a", 0, 9),
        event("b", 9, 9, 1),
        event("c", 0, 9, 2),
        event("a", 10, 20, 3),
        event("a", 11, 19, 4),
        event("a", 12, 18, 5),
        event("b", 13, 14, 6),
        event("b", 15, 16, 7),
    )
)
[k.name for e in listed(event("a", 10, 20, 3), with_kernels(("k", 1), ("j", 2))) for k in e.kernels]


def kernels_of_a_copy():
    e = [event("a", 10, 20, 3), event("a", 11, 19, 4)]
    return (e[1].append_kernel("k", 0, 5), e[0].kernels, [x.kernels for x in listed(*e)])


written(listed(event("a", 0, 9, 4)).export_chrome_trace).count('"ph": "X"')
[
    plan(12, wait=1, warmup=1, active=2),
    plan(12, wait=1, warmup=1, active=2, repeat=2),
    plan(9, wait=0, warmup=0, active=1),
    plan(12, wait=2, warmup=1, active=1, skip_first=3),
    plan(12, wait=2, warmup=1, active=1, skip_first=3, skip_first_wait=1, repeat=2),
    plan(8, wait=1, warmup=0, active=3, repeat=1),
]
[
    refused(profiler.schedule, **{"wait": 1, "warmup": 1, "active": 1, **more})
    for more in ({"wait": -1}, {"warmup": -1}, {"active": 0}, {"repeat": -1}, {"skip_first": -1})
]
refused(profiler.schedule(wait=1, warmup=1, active=1), -1)
stepped(2)
stepped(5, profiler.schedule(wait=1, warmup=1, active=2))
stepped(9, profiler.schedule(wait=1, warmup=1, active=2))
stepped(9, profiler.schedule(wait=1, warmup=1, active=2, repeat=2), acc_events=True)
stepped(3, profiler.schedule(wait=0, warmup=1, active=3))


def sessions_again():
    p = profiler.profile()
    return (
        p.start(),
        refused(p.start),
        p.step(),
        p.step_num,
        p.stop(),
        p.stop(),
        [e.trace_name or e.name for e in p.events()],
        p.start(),
        p.step_num,
        ag.ones(1),
        p.stop(),
        [e.trace_name or e.name for e in p.events()],
    )


def what_needs_a_start():
    p = profiler.profile()
    return (refused(p.stop), refused(p.events), refused(p.step))


[refused(profiler.profile, activities=x) for x in ([], [profiler.ProfilerActivity.CUDA], [3])]
(
    profiler.kineto_available(),
    refused(lambda: profiler.ExecutionTraceObserver),
    refused(lambda: profiler.nothing),
)


def a_plan_before_its_first_step():
    p = profiler.profile(schedule=profiler.schedule(wait=5, warmup=1, active=1))
    return (
        p.step_num,
        p.current_action.name,
        p.profiler,
        p.start(),
        p.profiler is p,
        len(p.events()),
        p.stop(),
    )


def events_of_several_sessions():
    p = profiler.profile(acc_events=True)
    return (
        p.start(),
        ag.ones(1),
        p.stop(),
        len(p.events()),
        p.start(),
        p.stop(),
        len(p.events()),
        p.start(),
        ag.ones(1),
        p.stop(),
        len(p.events()),
    )


def counts_of_steps_by_name():
    T = own_counts()
    return (
        T._step_dict.clear(),
        setattr(T, "_current_step", 3),
        T.init_step_count("a"),
        dict(T._step_dict),
        T.increment_step("a"),
        T.increment_step("b"),
        T.increment_step("b"),
        dict(T._step_dict),
        T.current_step(),
        T.erase_step_count("b"),
        T.erase_step_count("b"),
        T.increment_step("a"),
        T.current_step(),
        T._step_dict.clear(),
    )


warned(
    lambda T: (
        T._step_dict.update(a=T.current_step() + 1),
        T.increment_step("a") - T.current_step(),
        T._step_dict.clear(),
    ),
    own_counts(),
)
warned(
    lambda T: (
        T._step_dict.update(a=T.current_step()),
        T.increment_step("a") - T.current_step(),
        T._step_dict.clear(),
    ),
    own_counts(),
)


def steps_while_it_runs():
    p = profiler.profile()
    return (
        p.start(),
        "ProfilerStep" in counting._step_dict,
        p.stop(),
        "ProfilerStep" in counting._step_dict,
    )


def steps_that_are_counted():
    before = counting.current_step()
    return (counting.current_step() - before, len(stepped(3)[0]), counting.current_step() - before)


warned(
    stepped,
    4,
    lambda step: [
        profiler.ProfilerAction.RECORD,
        profiler.ProfilerAction.RECORD,
        profiler.ProfilerAction.NONE,
        profiler.ProfilerAction.RECORD,
        profiler.ProfilerAction.RECORD,
    ][step],
)
warned(
    stepped,
    3,
    lambda step: [
        profiler.ProfilerAction.RECORD_AND_SAVE,
        profiler.ProfilerAction.RECORD_AND_SAVE,
        profiler.ProfilerAction.WARMUP,
        profiler.ProfilerAction.NONE,
    ][step],
)
warned(profiler.profile, use_cuda=True)[0], warned(profiler.profile, use_cuda=False)[0]
around(lambda: stepped(2, profiler.schedule(wait=0, warmup=1, active=2)))
around(
    lambda: (
        lambda p: (
            p.start(),
            ag.ones(1),
            p.toggle_collection_dynamic(False, [profiler.ProfilerActivity.CPU]),
            ag.ones(2),
            p.toggle_collection_dynamic(True, [profiler.ProfilerActivity.CPU]),
            ag.zeros(1),
            p.toggle_collection_dynamic(False, []),
            ag.zeros(2),
            p.stop(),
            [e.name for e in p.events() if e.name != "aten::empty"],
        )
    )(profiler.profile())
)


def metadata_of_a_trace():
    p = profiler.profile()
    return (
        p.add_metadata("a", "x"),
        p.add_metadata_json("b", "[1, 2]"),
        refused(p.add_metadata, 3, "x"),
        refused(p.add_metadata_json, 3, "1"),
        refused(p.add_metadata_json, "c", "{")[:42],
        p.start(),
        p.stop(),
        [json.loads(written(p.export_chrome_trace)).get(k) for k in "abc"],
    )


def trace_id_of_ones_own():
    p = profiler.profile(custom_trace_id_callback=lambda: "mine")
    return (
        p.start(),
        p.get_trace_id(),
        p.stop(),
        p.get_trace_id(),
        json.loads(written(p.export_chrome_trace))["trace_id"],
    )


[refused(session.checked_events, x) for x in (0, -1, 1 << 63, "a", 1.5)] + [
    session.checked_events(1),
    session.checked_events((1 << 63) - 1),
]
listed(event("a", 0, 9, flops=1), with_flops=True).table()
listed(event("a", 0, 9, flops=1)).table()
[
    len(
        loaded([(f"aten::op{k}", k * 10, k * 10 + 5, {}) for k in range(n)], [], wall_ns=1000)
        .summary()
        .split("Hint")
    )
    for n in (9, 10, 11)
]
averages(
    listed(event("a", 0, 9, stack=["f", "g"]), event("a", 10, 12, 1, stack=["h", "g"])), False, 1
)
str(listed(event("a")).key_averages().key_averages())
repr(listed(event("a", 0, 9, use_device="xpu")).key_averages()[0])


def times_of_device_of_both():
    inner = event("in", 1, 5, 1, use_device="cuda")
    inner.append_kernel("j", 0, 4)
    outer = listed(with_kernels(("k", 3)), inner)[0]
    return [outer.device_time_total, outer.self_device_time_total]


written(
    loaded(
        [
            ("a", 0, 999, {"stack": 0}),
            ("b", 1000, 2000, {"stack": 1}),
            ("c", 2000, 2001, {"stack": 2}),
        ],
        [],
        stacks=[("x",), ("y",), ("x",)],
    ).export_stacks
)

# averages of more pairs of a name and sizes than are counted in an array


def averages_of_many_shapes():
    found = loaded(
        [(f"n{k % 60}", k, k + 1, {"shape": k}) for k in range(70)],
        [],
        shapes=[([[k]], [None], ["float"]) for k in range(70)],
    ).key_averages(True)
    return (len(found), sum(a.count for a in found), [a.input_shapes for a in found][::25])


# what lists say of themselves goes on to their averages
def a_note_of_a_list():
    made = listed(event())
    made._note = "of a part"
    return made.key_averages()._note


# listeners hear of a step once, whoever counts it


def listeners_of_steps():
    C, heard = own_counts(), []
    return (
        C._listeners.append(heard.append),
        C.increment_step("a"),
        C.increment_step("b"),
        C.increment_step("b"),
        heard,
    )[1:]


# kernels without a device, and of what isn't waited for
[
    (e.device_time_total, e.self_device_time_total)
    for e in (with_kernels(("k", 5)), with_kernels(("k", 5), is_async=True), with_kernels())
]


def times_of_device_without_one():
    e = event("e")
    e.use_device = None
    e.append_kernel("k", 0, 3)
    return e.device_time_total, e.self_device_time_total


def times_of_device_below():
    e, below = event("e", use_device="cuda", is_async=True), with_kernels(("k", 5), number=1)
    return (e.append_cpu_child(below), e.device_time_total, e.self_device_time_total)[1:]


# two letters are a type, one is none
[
    DeviceType
    and __import__("autograd_cy.profiler._events", fromlist=["StringTable"]).StringTable()[key]
    for key in ("i", "Pi", "", "_Z3addii")
]

# operators in the first one of all, of one line and of two
lines(
    loaded(
        [("aten::a", 0, 100, {"stack": 0}), ("aten::b", 10, 20, {"parent": 0, "stack": 0})], []
    ).group("line")
)
titles(
    loaded([("aten::a", 0, 100, {"stack": 0}), ("aten::b", 10, 20, {"parent": 0, "stack": 1})], [])
)

# labels whose place in the program is that of what lies in them, but for the last frame
titles(
    loaded(
        [("l", 0, 100, {"scope": 7, "stack": 0}), ("aten::b", 10, 20, {"parent": 0, "stack": 1})],
        [],
        stacks=[
            ("b.py(2): g", "a.py(2): f", "me.py(1): <module>"),
            ("b.py(3): g", "a.py(2): f", "me.py(1): <module>"),
        ],
    )
)

# paths that differ in their label and in their place
titles(
    loaded(
        [
            ("k", 0, 100, {"scope": 7}),
            ("aten::b", 10, 20, {"parent": 0, "stack": 1}),
            ("l", 200, 300, {"scope": 7}),
            ("aten::b", 210, 240, {"parent": 2, "stack": 0}),
        ],
        [],
    )
)

# names that just fit
[
    part
    for part in written(bars(*[100] * 14, name="n" * 17, gap=0).export_flamegraph).split(">")
    if part.startswith("n") and ":" not in part
]

# nodes without a forward operator
lines(
    facts(e) for e in loaded([(OUTER + "ExpBackward0", 0, 10, {"scope": 1, "seq": 3})], []).events()
)
[e.sequence_nr for e in zero().events()]

# what backward takes over from forward: of the last number, too


def links_from_forward():
    c = {
        key: _averages.np.array(value)
        for key, value in {
            "seq": [3, 5, 9, 3, 9, 10, 2, -1],
            "scope": [0, 0, 0, 1, 1, 1, 1, 1],
            "thread": [1, 2, 3, 4, 4, 4, 4, 4],
            "stack": [0, 1, 2, -1, -1, -1, -1, -1],
        }.items()
    }
    return (session._from_forward(c), c["fwd_thread"].tolist(), c["stack"].tolist())[1:]


# labels of steps: each ends when the next one begins, or the profile ends
labels_of_steps(3)
labels_of_steps(2, early=True)

# threads that the system has no number of
traced(loaded([("aten::a", 0, 100, {"thread": 3}), ("aten::b", 0, 100, {})], [], threads=[7]))

# modules: each call has its own path, also a part called alone, or under another name
paths_of_modules()
