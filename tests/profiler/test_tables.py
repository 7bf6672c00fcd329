"""Tables, averages and the tree of events: those of torch, character by character."""

import random

import pytest
from grouping import each

from autograd_cy.profiler._averages import EventList, FunctionEventAvg
from autograd_cy.profiler._events import FunctionEvent
from autograd_cy.profiler._formats import _format_memory, _format_time, _format_time_share


def events(*spans, **more):
    names = more.pop("names", "abcdefgh")
    made = [FunctionEvent(i, names[i], 1, s, e, **more) for i, (s, e) in enumerate(spans)]
    made = EventList(made)
    made._build_tree()
    return made


def tree(made):
    return [(e.id, e.cpu_parent and e.cpu_parent.id, [c.id for c in e.cpu_children]) for e in made]


def random_list(event_class, list_class, seed):
    rnd = random.Random(seed)
    has_stacks, has_shapes = rnd.random() < 0.5, rnd.random() < 0.5
    made = []
    for i in range(rnd.randint(1, 30)):
        start = rnd.randint(0, 20)
        end = start + rnd.randint(0, 8) * rnd.choice([1, 1, 1000, 100000]) * 0.5
        names = ["aten::mul", "aten::add", "ProfilerStep#3", "x" * rnd.randint(1, 60)]
        frames = [f"f.py({rnd.randint(1, 3)}): g", "h" * rnd.randint(1, 90)]
        sizes = [[2] * rnd.randint(0, 30), []]
        made.append(
            event_class(
                i,
                rnd.choice(names),
                rnd.randint(1, 2),
                start,
                end,
                input_shapes=sizes if has_shapes else [],
                stack=frames if has_stacks else [],
                cpu_memory_usage=rnd.randint(-5000, 10**8),
                flops=0,
                is_user_annotation=rnd.random() < 0.2,
            )
        )
    made = list_class(made, profile_memory=seed % 2 == 0)
    made._build_tree()
    return made


SHOWN = {
    "table": lambda made: made.table(),
    "header": lambda made: made.table("cpu_time_total", 5, header="hi", time_unit="ms"),
    "narrow": lambda made: made.table(
        top_level_events_only=True,
        max_name_column_width=20,
        max_shapes_column_width=14,
        max_src_column_width=30,
    ),
    "averages": lambda made: made.key_averages().table(),
    "groups": lambda made: made.key_averages(True, 1).table(),
    "events": lambda made: repr(list(made)),
    "rows": lambda made: repr(list(made.key_averages())),
    "total": lambda made: repr(made.total_average()),
    "tree": tree,
    "own": lambda made: [(e.self_cpu_time_total, e.self_cpu_memory_usage) for e in made],
}


@each("what", SHOWN)
def test_random_events_are_shown_as_torch_shows_them(what):
    theirs = pytest.importorskip("torch.autograd.profiler_util")
    for seed in range(40):
        one = random_list(FunctionEvent, EventList, seed)
        other = random_list(theirs.FunctionEvent, theirs.EventList, seed)
        assert SHOWN[what](one) == SHOWN[what](other), seed


def test_a_partial_overlap_ends_the_candidate():
    assert tree(events((0, 2), (1, 3), (1, 2))) == [(0, None, []), (1, None, [2]), (2, 1, [])]


def test_children_lie_inside_and_may_touch_the_ends():
    made = events((1, 2), (0, 3), (0, 3), names="abc")
    assert tree(made) == [(0, 2, []), (1, None, [2]), (2, 1, [0])]


def test_a_child_alone_in_its_like_is_merged():
    made = events((0, 4), (0.5, 4), (1, 2), names="aab")
    assert tree(made) == [(0, None, [2]), (2, 0, [])]
    assert len(events((0, 4), (0, 4), (0, 4), names="aaa")) == 1
    assert len(events((0, 4), (0, 1), (2, 3), names="aaa")) == 3


def test_asynchronous_events_have_no_part_in_the_tree():
    made = events((0, 4), (1, 2), is_async=True)
    assert tree(made) == [(0, None, []), (1, None, [])]
    assert made[0].self_cpu_time_total == 0 and made[0].cpu_time_total == 4


def test_only_events_are_children_and_parents():
    event = FunctionEvent(0, "a", 1, 0, 1)
    with pytest.raises(AssertionError, match="Expected child to be a FunctionEvent"):
        event.append_cpu_child(3)
    with pytest.raises(AssertionError, match="Expected parent to be a FunctionEvent"):
        event.set_cpu_parent("a")


def test_formats():
    times = [_format_time(t) for t in (0.5, 1.5, 1500, 2.5e6)]
    assert times == ["0.500us", "1.500us", "1.500ms", "2.500s"]
    sizes = [_format_memory(n) for n in (0, 2048, -3 * 2**20, 5 * 2**30, -5)]
    assert sizes == ["0 B", "2.00 KB", "-3.00 MB", "5.00 GB", "-5 B"]
    assert _format_time_share(1, 3) == "33.33%" and _format_time_share(0, 0) == "NaN"
    with pytest.raises(AssertionError):
        _format_time_share(1, 0)


def test_names_are_short_without_the_prefix():
    names = "aten::mul mul_ a::b::Cx".split()
    assert [FunctionEvent(0, n, 1, 0, 1).op for n in names] == ["mul", "mul_", "Cx"]
    node = "autograd::engine::evaluate_function: MulBackward0"
    assert FunctionEvent(0, node, 1, 0, 1).op == "MulBackward0"
    assert FunctionEvent(0, "Optimizer.step#SGD.step", 1, 0, 1).op == "Optimizer.step#SGD.step"


def test_devices_have_the_older_names_too():
    event = FunctionEvent(0, "a", 1, 0, 1, use_device="cuda")
    event.append_kernel("k", 0, 12.5)
    assert event.kernels == [("k", 0, 12.5)] and event.kernels[0].duration == 12.5
    assert event.cuda_time_total == event.self_cuda_time_total == event.device_time == 12.5
    table = EventList([event], use_device="cuda").table()
    assert "Self CUDA %" in table and "Self CUDA time total: 12.500us" in table
    plain = FunctionEvent(0, "a", 1, 0, 1)
    assert plain.kernels == [] and plain.cuda_time == 0
    with pytest.raises(AttributeError, match="'FunctionEvent' object has no attribute 'colour'"):
        plain.colour


def test_sorting_by_what_there_is_not_lists_what_there_is():
    made = events((0, 4))
    with pytest.raises(ValueError, match=r"can't sort by 'colour'; choose one of .*cpu_time_total"):
        made.table(sort_by="colour")
    with pytest.raises(ValueError, match="time_unit must be"):
        made.table(time_unit="hours")


def test_flops_are_shown_in_the_unit_of_the_largest():
    made = [
        FunctionEvent(i, "mm", 1, i, i + 1, flops=f)
        for i, f in enumerate((0, 2000, 3 * 10**9, None))
    ]
    text = EventList(made, with_flops=True).table()
    rows = text.splitlines()[3:7]
    assert "Total GFLOPs" in text
    assert [row.split()[-1] for row in rows] == ["--", "0.000", "3.000", "--"]


def test_sources_and_flops_stand_under_their_heads():
    event = FunctionEvent(0, "mm", 1, 0, 1, stack=["a.py(1): f", "b.py(2): g"], flops=7)
    head, _, first, second = EventList([event], with_flops=True).table().splitlines()[1:5]
    place = head.index("Source Location")
    assert first[place:].split() == ["a.py(1):", "f", "7.000"]
    assert second.split() == ["b.py(2):", "g"]


def test_rates_are_amounts_over_time():
    event = FunctionEvent(0, "mm", 1, 0, 2, flops=4000)
    event.bytes_moved, event.team = 1000, 2
    head, _, row = EventList([event]).table(rates=True).splitlines()[1:4]
    assert head.split()[-3:] == ["GFLOP/s", "GB/s", "Threads"]
    assert row.split()[-3:] == ["2.000", "0.500", "2"]


def test_an_empty_list_is_an_empty_table():
    assert EventList().table() == str(EventList()) == ""
    assert EventList().total_average().key == "Total"


def test_averages_add_events_and_averages():
    one, other = FunctionEvent(0, "a", 1, 0, 2), FunctionEvent(1, "a", 1, 2, 6, flops=5)
    average = FunctionEventAvg()
    average += one
    assert average.add(other) is average
    assert (average.key, average.count, average.cpu_time, average.flops) == ("a", 2, 3.0, 5)
    average += average
    assert (average.count, average.cpu_time_total) == (4, 12)
    with pytest.raises(AssertionError, match="Expected keys to match, but got b vs a"):
        average.add(FunctionEvent(2, "b", 1, 0, 1))
    with pytest.raises(AssertionError, match="Expected other to be"):
        average.add(3)


def test_averages_know_the_place_of_their_first_event():
    averages = events((0, 4), (1, 2)).key_averages()
    assert averages[1].cpu_parent.name == "a" and averages[0].cpu_children[0].name == "b"
    assert averages[0].cpu_parent is None and averages[0].input_shapes == ""
