"""
Recordings whose times are round numbers, and how the calls of `calls/` show what is made of them.
"""

import collections
import json
import os
import platform
import tempfile
import types
import warnings
from pathlib import Path
from unittest import mock

import autograd_cy as ag
from autograd_cy import profiler
from autograd_cy.autograd.profiler_util import DeviceType, EventList, FunctionEvent
from autograd_cy.profiler import _counts, _pictures
from autograd_cy.profiler._columns import Columns
from autograd_cy.profiler._reports import Loaded

OUTER = "autograd::engine::evaluate_function: "
counting = _counts.KinetoStepTracker
# name, begin, end, then what differs from an operator of thread 1 that nothing is known of
STEPS = [
    ("ProfilerStep#1", 0, 20_000, {"scope": 7}),
    ("aten::mul", 1_000, 3_000, {"parent": 0, "seq": 5, "shape": 0, "stack": 0, "module": 0,
                                 "flops": 6, "bytes_moved": 72, "saved": 16}),
    ("aten::linear", 3_500, 9_000, {"parent": 0, "shape": 1, "stack": 1, "module": 1}),
    ("aten::addmm", 3_600, 8_800, {"parent": 2, "seq": 6, "shape": 1, "stack": 1, "module": 1,
                                   "flops": 48_000, "bytes_moved": 200, "team": 2, "saved": 40}),
    (OUTER + "MulBackward0", 10_000, 15_000,
     {"parent": 0, "fwd_thread": 1, "seq": 5, "scope": 1}),
    ("MulBackward0", 10_100, 14_000, {"parent": 4, "fwd_thread": 1, "seq": 5, "scope": 1}),
    ("aten::mul", 10_200, 12_000, {"parent": 5, "shape": 0, "flops": 6, "bytes_moved": 72}),
    ("aten::mul", 12_100, 13_900, {"parent": 5, "shape": 2}),
    (OUTER + "torch::autograd::AccumulateGrad", 15_000, 16_000, {"parent": 0, "scope": 1}),
    ("torch::autograd::AccumulateGrad", 15_100, 15_900, {"parent": 8, "scope": 1}),
    ('a "label" <of>\tone;', 16_000, 17_000, {"parent": 0, "scope": 7, "stack": 2}),
    ("aten::sum", 16_100, 16_300, {"parent": 10, "stack": 0, "failed": 1}),
    ("ProfilerStep#2", 30_000, 45_000, {"scope": 7}),
    ("Exp", 31_000, 31_500, {"parent": 12, "shape": 3, "seq": 8}),
    ("aten::mul", 32_000, 36_000, {"parent": 12}),
    ("aten::mul", 32_500, 35_500, {"parent": 14, "seq": 9, "flops": 10, "team": 3, "saved": 7}),
    ("aten::mul", 33_000, 35_000, {"parent": 15, "bytes_moved": 30, "saved": 1}),
    (OUTER + "MulBackward0", 38_000, 39_000,
     {"parent": 12, "fwd_thread": 1, "seq": 5, "scope": 1}),
    ("Optimizer.step#SGD.step", 40_000, 44_000, {"parent": 12, "scope": 7}),
    ("autograd_cy::sgd", 40_500, 43_500, {"parent": 18, "unfinished": 1}),
    ("aten::mul", 500, 900, {"thread": 2, "seq": 7, "stack": 0, "module": 1}),
    (OUTER + "AddmmBackward0", 16_500, 19_500,
     {"thread": 2, "fwd_thread": 1, "seq": 6, "scope": 1}),
    ("AddmmBackward0", 16_600, 19_400,
     {"thread": 2, "parent": 21, "fwd_thread": 1, "seq": 6, "scope": 1}),
    (OUTER + "UnknownBackward0", 19_500, 19_600,
     {"thread": 2, "fwd_thread": 1, "seq": 77, "scope": 1}),
]  # fmt: skip
# time, bytes, what is allocated then, block, thread, event
MEMORY = [
    (5, 100, 100, 1, 1, -1), (1_500, 64, 164, 2, 1, 1), (4_000, 4096, 4260, 3, 1, 3),
    (8_900, -64, 4196, 2, 1, 2), (10_500, 2048, 6244, 4, 1, 6), (13_000, 512, 6756, 5, 1, 7),
    (14_500, -4096, 2660, 3, 1, 4), (17_000, 32, 2692, 6, 2, 22), (31_200, 1000, 3692, 7, 1, 13),
    (36_500, -2048, 1644, 4, 1, 12), (46_000, -512, 1132, 5, 1, -1), (46_500, 8, 1140, 8, 2, -1),
]  # fmt: skip
# What begins with backward, has the number 0, and lies in the first event.
ZERO = [
    (OUTER + "MulBackward0", 0, 1_000, {"seq": 0, "scope": 1, "fwd_thread": 2}),
    ("aten::mul", 100, 900, {"parent": 0}),
    ("aten::add", 4_000, 9_000, {"flops": 2, "stack": 0, "seq": 3}),
    ("aten::mul", 4_100, 4_200, {"parent": 2, "flops": 1, "stack": 0}),
    ("aten::mul", 2_000, 3_000, {"thread": 2, "seq": 0, "stack": 1, "saved": 3}),
    (OUTER + "MulBackward0", 2_000, 2_900, {"thread": 3, "seq": 0, "scope": 1}),
    ("aten::exp", 5_000, 5_000, {"thread": 3}),
    ("a::b c", 9_000, 9_500, {"stack": 1}),
    ("x::", 9_500, 9_600, {"stack": 1}),
]  # fmt: skip
ZERO_MEMORY = [
    (50, 0, 0, 5, 1, 0), (60, 128, 128, 6, 1, 0), (70, 0, 128, 7, 1, 1), (80, 64, 192, 8, 1, 1),
    (90, 1, 193, 9, 4, -1),
]  # fmt: skip
TABLES = {
    "shapes": [
        ([[2, 3], []], [None, 2.0], ["float", "Scalar"]),
        ([[2, 3], [3, 4], [4]], [None] * 3, ["float"] * 3),
        ([[2, 3], []], [None, 3.0], ["float", "Scalar"]),
        ([[[2], [3]], [1]], [None, None], ["TensorList", "int"]),
    ],
    "stacks": [
        ("model.py(3): forward", "run me.py(9): <module>"),
        ("model.py(4): forward", "run me.py(9): <module>"),
        ("run me.py(9): <module>",),
    ],
    "modules": ["Net", "Net.layers.0"],
    "threads": [4001, 4002],
    "thread_names": ["MainThread", "worker"],
    "base_ns": 1_700_000_000_000_000_000,
    "wall_ns": 50_000,
}
ALL = ("record_shapes", "with_stack", "with_flops", "with_modules", "profile_memory")


def columns(rows=STEPS, memory=MEMORY, options=ALL, **others):
    names = list(dict.fromkeys(row[0] for row in rows))
    table = {"name": [names.index(row[0]) for row in rows]}
    table |= {"start": [row[1] for row in rows], "end": [row[2] for row in rows]}
    for key in {key for row in rows for key in row[3]}:
        none = {"thread": 1, "team": 1, "fwd_thread": 0, "scope": 0}.get(
            key, -1 if key in ("seq", "parent", "shape", "stack", "module") else 0
        )
        table[key] = [row[3].get(key, none) for row in rows]
    kinds = ("time", "bytes", "total", "address", "thread", "event")
    table |= {f"mem_{kind}": list(part) for kind, part in zip(kinds, zip(*memory))}
    return Columns(names=names, **table, **(TABLES | others), options=dict.fromkeys(options, True))


def part(first, last=None):
    """Some of the steps, without parents that are not among them."""
    shifted = [{**more, "parent": more.get("parent", -1) - first} for *_, more in STEPS]
    rows = [(*row[:3], {**more, "parent": max(more["parent"], -1)})
            for row, more in zip(STEPS, shifted)]  # fmt: skip
    return rows[first:last]


def loaded(*rows, **others):
    return Loaded(columns(*rows, **others))


def spans(rows=STEPS, memory=MEMORY):
    from autograd_cy.profiler._spans import Spans

    return Spans(columns(rows, memory))


def event(name="e", start=0, end=10, number=0, **given):
    return FunctionEvent(number, name, given.pop("thread", 1), start, end, **given)


def listed(*events, built=True, **options):
    made = EventList(events, **options)
    if built:
        made._build_tree()
    return made


def written(method, *args, **named):
    """The text of the file that a method writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / named.pop("file", "file.txt")
        method(path, *args, **named)
        if path.suffix == ".gz":
            import gzip

            return gzip.decompress(path.read_bytes()).decode()
        return path.read_text(encoding="utf-8")


def titles(profile):
    """Return the texts of the boxes of a flame graph."""
    parts = written(profile.export_flamegraph).split("<title>")[1:]
    return lines(part.partition("</title>")[0] for part in parts)


def traced(profile, *args, **named):
    """A trace as lines, without what belongs to the machine."""
    found = json.loads(written(profile.export_chrome_trace, *args, **named))
    for key in ("trace_id", "host_name"):
        found[key] = {platform.node(): "host"}.get(found[key], len(found[key]))
    text = [json.dumps({key: found[key] for key in found if key != "traceEvents"})]
    for entry in found["traceEvents"]:
        assert entry.pop("pid") == os.getpid()
        text.append(json.dumps(entry, ensure_ascii=False))
    return "\n".join(text)


def refused(function, *args, **named):
    try:
        function(*args, **named)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def zero(**others):
    return loaded(ZERO, ZERO_MEMORY, **others)


def on_device(number, start, end, **given):
    return event("kernel", start, end, number, device_type=DeviceType.CUDA, **given)


def with_kernels(*pairs, **given):
    """An event that started kernels of these durations."""
    made = event("launch", 0, 10, use_device="cuda", **given)
    for name, duration in pairs:
        made.append_kernel(name, 0, duration)
    return made


def stepped(steps, plan=None, **options):
    """Return the steps and the events of a profile that follows a plan."""
    found = []

    def ready(prof):
        names = [e.trace_name or e.name for e in prof.events() if e.name != "aten::empty"]
        found.append((prof.step_num, prof.current_action.name, names))

    with profiler.profile(schedule=plan, on_trace_ready=ready, **options) as prof:
        for _ in range(steps):
            ag.ones(1)
            prof.step()
    return found, prof.step_num, prof.current_action.name, len(prof.events())


def labels_of_steps(steps, early=False):
    """The labels of steps: whether they ended, and what they lie in."""
    plan = profiler.schedule(wait=0, warmup=1, active=steps + early)
    with profiler.profile(schedule=plan) as prof:
        for _ in range(steps + 1):
            ag.ones(1)
            prof.step()
        ag.zeros(1)
    found = [(e.trace_name or e.name, e.unfinished, e.cpu_parent and e.cpu_parent.name)
             for e in prof.events()]  # fmt: skip
    return lines(found), prof._label


def paths_of_modules():
    """Modules of operators: of a net, of a part alone, of the part once it has another name."""
    net = ag.nn.Sequential(ag.nn.Tanh(), ag.nn.Sequential(ag.nn.Sigmoid()))
    with profiler.profile(with_modules=True) as prof:
        x = ag.ones(2)
        net(x)
        net[0](x)
        x.exp()
        net.add_module("own", net._modules.pop("0"))
        net(x)
    return [(e.name, getattr(e, "module", None)) for e in prof.events()]


class Drawn:
    """Stand for matplotlib: a list of what is done with it, as text."""

    def __init__(self, lines, name):
        self.lines, self.name = lines, name

    def __getattr__(self, name):
        return Drawn(self.lines, f"{self.name}.{name}")

    def __getitem__(self, key):
        return Drawn(self.lines, f"{self.name}[{key!r}]")

    def __call__(self, *args, **named):
        given = [plain(x) for x in args] + [f"{key}={plain(x)}" for key, x in named.items()]
        text = f"{self.name}({', '.join(given)})"
        if self.name in ("Patch", "PolyCollection"):
            return text
        self.lines.append(text)
        return Drawn(self.lines, "it" if self.name == "ax.annotate" else "pyplot")


def plain(x):
    if isinstance(x, (list, tuple)) or hasattr(x, "tolist"):
        return f"[{', '.join(map(plain, x))}]" if getattr(x, "shape", 1) else plain(float(x))
    return f"{x:.7g}" if isinstance(x, float) else x if isinstance(x, str) else repr(x)


def drawn(method, *args, own=True, most=None, **named):
    """Return the parts of a picture; with axes that are given, or those that it makes."""
    done = []
    ax = Drawn(done, "ax")
    parts = {"collections": "PolyCollection", "patches": "Patch"}
    made = {f"matplotlib.{key}": types.SimpleNamespace(**{name: Drawn(done, name)})
            for key, name in parts.items()}  # fmt: skip

    def subplots(**how):
        done.append(f"subplots({how})")
        return "figure", ax

    pyplot = types.SimpleNamespace(subplots=subplots)
    made |= {"matplotlib": types.SimpleNamespace(pyplot=pyplot), "matplotlib.pyplot": pyplot}
    bars = _pictures.MOST_BARS if most is None else most
    with mock.patch.dict("sys.modules", made), mock.patch.object(_pictures, "MOST_BARS", bars):
        found = method(*args, **named) if own else method(*args, ax=ax, **named)
    assert found is ax
    return lines(done)


def bars(*widths, name="n" * 40, gap=10):
    """Events side by side."""
    rows, at = [], 1000
    for k, width in enumerate(widths):
        rows.append((name[k:] if name[0] == "n" else name, at, at + width, {}))
        at += width + gap
    return loaded(rows, [])


def warned(function, *args, **named):
    """The warnings of a call, each by its first words, and what it returns."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        value = function(*args, **named)
    return [f"{w.category.__name__}: {str(w.message)[:46]}" for w in found], value


def own_counts():
    """Counts of steps that nobody else sees."""
    own = {"_step_dict": collections.defaultdict(int), "_current_step": 0, "_listeners": []}
    return type("Counts", (counting,), own)


def around(function):
    """Return the result of a function, and the labels that a profile around it sees, and those
    after it."""
    with ag.autograd.profiler.profile() as prof:
        value = function()
        ag.zeros(3)
    seen = [
        (e.trace_name or e.name, e.unfinished, e.cpu_parent is None) for e in prof.function_events
    ]
    return value, [row for row in seen if row[0] not in ("aten::empty", "aten::ones")]


def plan(steps, **given):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        action = profiler.schedule(**given)
    letters = {"RECORD": "R", "RECORD_AND_SAVE": "S", "NONE": "n", "WARMUP": "w"}
    return "".join(letters[action(k).name] for k in range(steps)) + "!" * len(found)


def lines(values):
    return "\n".join(map(str, values))


def facts(e):
    """Return the properties of an event."""
    shown = {}
    for key in (
        "id name key op trace_name thread fwd_thread scope sequence_nr count flops bytes_moved "
        "team saved failed unfinished module input_shapes structured_input_shapes concrete_inputs "
        "input_dtypes stack cpu_time_total self_cpu_time_total cpu_time cpu_memory_usage "
        "self_cpu_memory_usage is_async is_remote is_user_annotation node_id use_device"
    ).split():
        value = getattr(e, key, "absent")
        if value not in (None, 0, -1, [], "", "absent", False):
            shown[key] = value
    above = e.cpu_parent and e.cpu_parent.id
    return f"{shown} in {above} around {[c.id for c in e.cpu_children]}"


def averages(profile, *how):
    """Averages with all that tables do not show."""
    return lines(
        (a.key, a.count, a.scope, a.cpu_time_total, a.self_cpu_time_total, a.cpu_memory_usage,
         a.self_cpu_memory_usage, a.flops, a.bytes_moved, a.team, a.failed, a.input_shapes, a.stack,
         a._inner, a.is_user_annotation, a.overload_name, a.node_id,
         a.cpu_parent and a.cpu_parent.id, a.cpu_children and [c.id for c in a.cpu_children])
        for a in profile.key_averages(*how)
    )  # fmt: skip
