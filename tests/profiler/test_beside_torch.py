"""Lists of events made by hand, their averages and tables: the same text as torch's."""

import importlib
import warnings

import pytest

torch = pytest.importorskip("torch")

THEIRS = importlib.import_module("torch.autograd.profiler_util")
OURS = importlib.import_module("autograd_cy.autograd.profiler_util")


def event(module, place, name, start, end, **more):
    return module.FunctionEvent(
        place, name, 1, float(start), float(end), **{"stack": [], "input_shapes": [], **more}
    )


def plain(module, **flags):
    """A parent with two children of a name, and one beside them with a long one."""
    spans = [("aten::a", 0, 100), ("aten::b", 10, 20), ("aten::b", 30, 60), ("c" * 70, 100, 101)]
    made = module.EventList(
        [
            event(
                *(module, place, name, start, end),
                cpu_memory_usage=2048 * place,
                input_shapes=[[2, 3], []],
                stack=["a.py(1): f", "b.py(2): g"],
            )
            for place, (name, start, end) in enumerate(spans)
        ],
        **flags,
    )
    made._build_tree()
    return made


def on_device(module, device="cuda", **flags):
    """Two operators, of which the inner one started a kernel, and the kernel itself."""
    made = module.EventList(
        [
            event(
                *(module, 0, "aten::a", 0, 100),
                use_device=device,
                cpu_memory_usage=64,
                device_memory_usage=4096,
            ),
            event(module, 1, "aten::b", 10, 60, use_device=device, device_memory_usage=1024),
            event(
                *(module, 2, "kernel", 20, 55),
                use_device=device,
                device_type=module.DeviceType.CUDA,
            ),
        ],
        use_device=device,
        **flags,
    )
    made[1].append_kernel("kernel", 0, 35.0)
    made._build_tree()
    return made


def tree_of(module, *events):
    made = module.EventList([event(module, k, *one[:3], **one[3]) for k, one in enumerate(events)])
    made._build_tree()
    return made


def attributes(events):
    names = (
        *("cpu_time_total", "self_cpu_time_total", "device_time_total", "self_device_time_total"),
        *("self_cpu_memory_usage", "self_device_memory_usage", "cpu_time", "device_time", "count"),
    )
    return [[getattr(e, name) for name in names] for e in events]


def refused(call):
    with pytest.raises(AssertionError) as caught:
        call()
    return str(caught.value)


def on_gpu(module):
    return event(module, 0, "k", 0, 1, device_type=module.DeviceType.CUDA)


COMPARED = {
    **{
        f"table with {options}": lambda m, options=options: plain(m).key_averages().table(**options)
        for options in (
            {},
            {"sort_by": "cpu_time_total"},
            {"row_limit": 1},
            {"row_limit": 0},
            {"row_limit": -1},
            {"header": "HEAD"},
            {"time_unit": "ms"},
            {"max_name_column_width": 10},
            {"max_name_column_width": None},
            {"max_src_column_width": 20},
        )
    },
    "events": lambda m: plain(m).table(sort_by="cpu_time"),
    "top level": lambda m: plain(m).table(top_level_events_only=True),
    "shapes": lambda m: plain(m).key_averages(group_by_input_shapes=True).table(),
    "narrow shapes": lambda m: (
        plain(m).key_averages(group_by_input_shapes=True).table(max_shapes_column_width=3)
    ),
    "stacks": lambda m: plain(m).key_averages(group_by_stack_n=2).table(),
    "memory": lambda m: plain(m, profile_memory=True).key_averages().table(),
    "device": lambda m: on_device(m).key_averages().table(),
    "device's events": lambda m: on_device(m, profile_memory=True).table(),
    "device's memory": lambda m: on_device(m, profile_memory=True).key_averages().table(),
    "another device": lambda m: (
        on_device(m, "xpu").key_averages().table(sort_by="self_device_time_total")
    ),
    "total": lambda m: repr(on_device(m).total_average()),
    "texts of events": lambda m: [repr(e) for e in on_device(m)],
    "texts of averages": lambda m: [repr(e) for e in on_device(m).key_averages()],
    "attributes of events": lambda m: attributes(on_device(m)),
    "attributes of averages": lambda m: attributes(on_device(m).key_averages()),
    "overloads": lambda m: [
        (e.key, e.overload_name, e.count)
        for e in tree_of(
            m, ("a", 0, 1, {"overload_name": "T"}), ("a", 2, 3, {"overload_name": "S"})
        ).key_averages(group_by_overload_name=True)
    ],
    "asynchronous": lambda m: tree_of(m, ("a", 0, 9, {"is_async": True}), ("b", 2, 3, {})).table(),
    "remote": lambda m: (
        tree_of(m, ("a", 0, 9, {"is_remote": True, "node_id": 1}), ("a", 12, 13, {"node_id": 0}))
        .key_averages()
        .table()
    ),
    "a kernel of a kernel": lambda m: refused(lambda: on_gpu(m).append_kernel("x", 0, 1)),
    "a child on a device": lambda m: refused(
        lambda: event(m, 0, "a", 0, 1).append_cpu_child(on_gpu(m))
    ),
    "a parent on a device": lambda m: refused(
        lambda: event(m, 0, "a", 0, 1).set_cpu_parent(on_gpu(m))
    ),
    "a child of a kernel": lambda m: refused(
        lambda: on_gpu(m).append_cpu_child(event(m, 0, "a", 0, 1))
    ),
    "formats": lambda m: (
        [m._format_time(t) for t in (0, 0.5, 999.9, 1000, 999999, 1e6, -3)]
        + [m._format_memory(n) for n in (0, 1023, 1024, 1536, -3 * 2**20, 5 * 2**30, -5)]
    ),
}


@pytest.mark.parametrize("name", COMPARED)
def test_lists_made_by_hand_read_as_torchs_do(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert COMPARED[name](OURS) == COMPARED[name](THEIRS)
