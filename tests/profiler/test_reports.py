"""Reports made from columns: the same as those from objects, and what goes beyond torch."""

import gc
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from samples import training, with_memory

from autograd_cy.profiler._averages import EventList
from autograd_cy.profiler._columns import Columns
from autograd_cy.profiler._groups import NONE, keys_of
from autograd_cy.profiler._reports import Loaded, load
from autograd_cy.profiler._spans import Spans
from autograd_cy.profiler._stacks import MARGIN, NARROWEST, WIDTH, _Box, _drawn


def key_of(average):
    return (
        average.key,
        average.count,
        round(average.cpu_time_total, 6),
        round(average.self_cpu_time_total, 6),
        average.cpu_memory_usage,
        average.self_cpu_memory_usage,
        average.flops,
        average.input_shapes,
        average.stack,
        average.cpu_parent is None,
        average.is_user_annotation,
    )


@pytest.mark.parametrize("grouped", [{}, {"by_shape": True}, {"by_stack": 1}])
def test_averages_from_columns_are_those_of_objects(grouped):
    report = Loaded(with_memory(training(steps=5, threads=2)))
    shape, stack = grouped.get("by_shape", False), grouped.get("by_stack", 0)
    made = report.key_averages(group_by_input_shape=shape, group_by_stack_n=stack)
    slow = report.events().key_averages(shape, stack)
    assert [key_of(a) for a in made] == [key_of(a) for a in slow]
    assert made.table() == slow.table()
    total, other = report.total_average(), report.events().total_average()
    assert (total.key, total.count, total.flops) == (other.key, other.count, other.flops)
    assert total.cpu_time_total == pytest.approx(other.cpu_time_total)


def random_columns(seed, hints):
    random = np.random.default_rng(seed)
    start = np.sort(random.integers(0, 40, 60))
    end = start + random.integers(0, 12, 60)
    return Columns(
        names=["a", "b"],
        name=random.integers(0, 2, 60),
        start=start * 1000,
        end=end * 1000,
        thread=random.integers(1, 3, 60),
        parent=np.where(np.arange(60) > 0, np.arange(60) - 1, -1) if hints else None,
    )


@pytest.mark.parametrize("hints", [False, True])
def test_the_tree_of_columns_is_that_of_objects(hints):
    # Hints that are wrong are not believed.
    for seed in range(30):
        columns = random_columns(seed, hints)
        made = Spans(columns).events()
        expected = plain_tree(columns)
        assert [
            (e.name, e.thread, e.time_range.start, e.cpu_parent and e.cpu_parent.time_range.start)
            for e in made
        ] == expected


def plain_tree(columns):
    from autograd_cy.profiler._events import FunctionEvent

    order = sorted(range(len(columns)), key=lambda i: (columns.start[i], -columns.end[i]))
    made = EventList(
        FunctionEvent(
            i,
            columns.names[columns.name[i]],
            int(columns.thread[i]),
            columns.start[i] / 1e3,
            columns.end[i] / 1e3,
        )
        for i in order
    )
    made._build_tree()
    return [
        (e.name, e.thread, e.time_range.start, e.cpu_parent and e.cpu_parent.time_range.start)
        for e in made
    ]


def test_self_times_add_up_to_the_totals_of_the_roots():
    for columns in (training(steps=9, threads=3), random_columns(4, False)):
        spans = Spans(columns)
        assert spans.self_time.sum() == spans.total[spans.parent < 0].sum()


def test_events_have_their_attributes():
    columns = with_memory(training(steps=1))
    columns.failed[1] = True
    memory, label, mul, linear, addmm, outer, inner, again = Loaded(columns).events()
    assert (memory.name, memory.time_range.elapsed_us(), memory.cpu_memory_usage) == (
        "[memory]", 0, 100,
    )  # fmt: skip
    assert label.scope == 7 and label.is_user_annotation and label.sequence_nr == -1
    assert mul.input_shapes == [[2, 3], []] and mul.concrete_inputs == [None, 2.0]
    assert mul.stack == ["model.py(3): forward", "run me.py(9): <module>"]
    assert mul.sequence_nr == outer.sequence_nr == inner.sequence_nr == 1000
    assert (mul.fwd_thread, outer.fwd_thread, mul.thread) == (0, 1, 1)
    assert inner.stack == outer.stack == mul.stack and outer.module == mul.module == "Net"
    assert linear.module == "Net.layers.0" and addmm.flops == 2000
    assert mul.failed and not linear.failed and mul.saved == 16
    assert mul.self_cpu_memory_usage == label.cpu_memory_usage == 64
    assert again.cpu_parent is inner and inner.cpu_parent is outer and outer.cpu_parent is label
    assert label.time_range.start == columns.start[0] / 1e3
    assert (mul.kernels, mul.count, mul.node_id, mul.use_device) == ([], 1, -1, None)


def test_steps_are_one_key_and_keep_their_full_name():
    columns = Columns(
        names=["ProfilerStep#1", "ProfilerStep#2"], name=[0, 1], start=[0, 10], end=[5, 15]
    )
    report = Loaded(columns)
    assert [(e.name, e.trace_name) for e in report.events()] == [
        ("ProfilerStep*", "ProfilerStep#1"),
        ("ProfilerStep*", "ProfilerStep#2"),
    ]
    assert [(a.key, a.count) for a in report.key_averages()] == [("ProfilerStep*", 2)]


def test_nested_operators_count_their_flops_once():
    columns = training(steps=1)
    columns.flops[2] = 2000  # `linear`, in which is `addmm`
    assert Loaded(columns).total_average().flops == 2000


def test_groups_have_forward_and_backward_side_by_side():
    columns = training(steps=4)
    report = Loaded(columns)
    spans = Spans(columns)
    rows = {row.key: row for row in report.group("line")}
    assert set(rows) == {"model.py(3): forward", "model.py(4): forward"}
    first = rows["model.py(3): forward"]
    outer = spans.total[spans.nearest_backward == np.arange(len(spans))].sum() / 1e3
    assert first.backward == pytest.approx(outer) and first.calls == 4 and first.saved == 64
    assert first.total == first.forward + first.backward
    assert rows["model.py(4): forward"].backward == 0
    in_labels = spans.self_time[spans.scope == 7].sum() / 1e3
    whole = report.self_cpu_time_total
    assert sum(row.total for row in rows.values()) == pytest.approx(whole - in_labels)
    ops = {row.key: row for row in report.group()}
    assert ops["mul"].backward == pytest.approx(outer) and ops["mul"].calls == 4
    assert ops["addmm"].calls == ops["linear"].calls == 4
    assert {row.key for row in report.group("module")} == {"Net", "Net.layers.0"}
    (label,) = report.group("label")
    assert label.key == "step" and label.total == pytest.approx(whole)
    assert "mul [[2, 3], []]" in [row.key for row in report.group("shape")]
    by = report.group(lambda event: event.thread)
    assert [row.key for row in by] == [1] and by[0].backward == pytest.approx(outer)
    two = Loaded(training(steps=2, threads=2)).group("thread")
    assert sorted(row.key for row in two) == ["thread 1", "thread 2"]
    head, _, line = str(report.group("line")).splitlines()[:3]
    assert head.split() == "line forward backward total calls allocated saved share".split()
    assert "model.py" in line


def test_groups_of_what_was_not_recorded_are_refused():
    columns = training(with_stack=False)
    with pytest.raises(ValueError, match="by='line' needs a profile with with_stack=True"):
        Loaded(columns).group("line")
    with pytest.raises(ValueError, match="by must be one of op, shape, line"):
        Loaded(columns).group("colour")


def test_long_keys_are_cut():
    groups = Loaded(training()).group("shape")
    text = groups.table(max_key_column_width=12)
    assert all(line.index("  ") <= 12 for line in text.splitlines()[2:])
    assert "mul [[2, ..." in text and "mul [[2, 3], []]" in str(groups)
    lines = Loaded(training()).group("line").table(max_key_column_width=12)
    assert "...: forward" in lines
    changes = Loaded(training()).compare(Loaded(training()), by="shape")
    assert "mul [[2, ..." in changes.table(max_key_column_width=12)


def test_the_summary_knows_the_wait_for_data():
    columns = training(steps=4)
    assert "in DataLoader" not in Loaded(columns).summary()
    spans = Spans(columns)
    waited = spans.self_time[spans.scope == 7].sum() / 1e3
    columns.names = [
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" if name == "step" else name
        for name in columns.names
    ]
    assert f"in DataLoader    {waited:.3f}us" in Loaded(columns).summary()


def test_the_summary_says_where_the_time_went():
    columns = with_memory(training(steps=6))
    columns.failed[1] = columns.unfinished[0] = True
    columns.dropped = 3
    text = Loaded(columns).summary()
    for word in ("wall time", "in operators", "in backward", "outside (Python)", "peak", "mul"):
        assert word in text, word
    assert "failed             1" in text and "unfinished         1" in text
    assert "dropped            3" in text
    assert "Hint" not in text
    columns.start //= 100
    columns.end //= 100
    assert "Hint: " in Loaded(columns).summary() and "vmap" in Loaded(columns).summary()


def test_events_of_just_the_bound_are_not_short():
    for length, hint in ((2000, False), (1999, True)):
        columns = training(steps=6)
        columns.start[:] = 10_000 * np.arange(len(columns.start))
        columns.end[:] = columns.start + length
        columns.parent[:] = -1
        assert ("Hint: " in Loaded(columns).summary()) is hint


def test_boxes_of_just_the_bound_are_drawn():
    root = _Box("all", "frame")
    root.value = float(WIDTH - 2 * MARGIN)  # a pixel for each unit
    for name, value in (("wide", NARROWEST), ("narrow", 0.99 * NARROWEST)):
        root.child(name, "frame").value = value
    drawn = _drawn(root, str, "title")
    assert "wide: " in drawn and "narrow: " not in drawn


def test_changes_of_memory_outside_of_events_have_no_shape_line_or_module():
    spans = Spans(with_memory(training()))
    (place,) = np.flatnonzero(np.array(spans.names)[spans.name] == "[memory]")
    expected = {"shape": "[memory]", "line": NONE, "module": NONE, "op": "[memory]"}
    for by, key in expected.items():
        code, keys = keys_of(spans, by)
        assert keys[code[place]] == key, by


def test_tables_say_what_failed_what_was_open_and_what_was_dropped():
    columns = training()
    columns.failed[1] = columns.unfinished[0] = True
    columns.dropped = 1234
    text = Loaded(columns).table()
    assert "1 events were left by an exception" in text
    assert "1 events were open when the session ended" in text
    assert "1,234 events were dropped" in text


def test_memory_says_who_held_the_peak():
    report = Loaded(with_memory(training(steps=3)))
    found = report.memory()
    # The second and the third block are alive together, and the one from before.
    assert found.peak_bytes == 100 + 128 + 192 and found.before_bytes == 0
    assert [(h.op, h.bytes, h.blocks) for h in found.alive] == [
        ("mul", 320, 2),
        ("(outside of operators)", 100, 1),
    ]
    assert found.alive[0].line == "model.py(3): forward"
    assert found.saved == {"mul": 3 * 16}
    assert "alive at the peak" in str(found) and "saved for backward by" in str(found)
    with pytest.raises(ValueError, match="profile_memory=True"):
        Loaded(training()).memory()


def test_stacks_are_folded_root_first(tmp_path):
    report = Loaded(training(steps=3))
    path = tmp_path / "stacks"
    report.export_stacks(path)
    lines = path.read_text().splitlines()
    assert [line.rpartition(" ")[0] for line in lines] == [
        "run_me.py(9):_<module>;model.py(3):_forward",
        "run_me.py(9):_<module>;model.py(4):_forward",
    ]
    line = report.group("line")
    expected = {row.key.replace(" ", "_"): int(row.total) for row in line}
    for text in lines:
        place, amount = text.rsplit(" ", 1)
        assert int(amount) == expected[place.split(";")[1]]
    with pytest.raises(ValueError, match="metric should be one of"):
        report.export_stacks(path, "colour")
    with pytest.raises(AssertionError, match="with_stack=True"):
        Loaded(training(with_stack=False)).export_stacks(path)


def boxes(path):
    root = ElementTree.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    found = []
    for group in root.iter(f"{space}g"):
        tip, shape = group.find(f"{space}title").text, group.find(f"{space}rect")
        found.append((tip, *(float(shape.get(k)) for k in ("x", "y", "width")), shape.get("fill")))
    return found


def test_flame_graphs_are_drawings_of_the_same_times(tmp_path):
    columns = training(steps=3)
    columns.names[5] = "a <label> & more"
    report = Loaded(columns)
    path = tmp_path / "f.svg"
    report.export_flamegraph(path)
    found = boxes(path)
    by_name = {tip.partition(": ")[0]: row for tip, *row in found if "py(" not in tip}
    assert by_name["all"][2] == pytest.approx(1180 - 0.5)
    assert "a <label> & more" in by_name and "MulBackward0" in by_name
    # Forward and backward are coloured apart, and children lie in their parents.
    assert by_name["linear"][3] != by_name["MulBackward0"][3]
    linear, addmm = by_name["linear"], by_name["addmm"]
    assert linear[0] <= addmm[0] and addmm[0] + addmm[2] <= linear[0] + linear[2] + 0.01
    assert addmm[1] > linear[1]
    whole = report.self_cpu_time_total
    assert f"all: {whole:.3f}us, 100.0 %, of which backward" in "\n".join(t for t, *_ in found)
    # Lines stand in the label, and on them what belongs to them: the backward of `mul` too.
    tips = [tip for tip, *_ in found]
    place = [k for k, tip in enumerate(tips) if tip.startswith("model.py(3): forward")]
    assert len(place) == 1 and "of which backward" in tips[place[0]]
    with pytest.raises(ValueError, match="'time' or 'bytes'"):
        report.export_flamegraph(path, by="colour")
    Loaded(with_memory(columns)).export_flamegraph(path, by="bytes")
    assert "bytes allocated" in path.read_text()


def test_pictures_are_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    report = Loaded(with_memory(training(steps=3, threads=2)))
    ax = report.plot_timeline()
    assert [t.get_text() for t in ax.get_yticklabels()] == ["thread 1", "thread 2"]
    one = pyplot.figure().add_subplot()
    assert report.plot_timeline(one, thread=2) is one
    assert len(one.collections[0].get_paths()) == len(training(steps=3))
    with pytest.raises(ValueError, match="no events of thread 7"):
        report.plot_timeline(thread=7)
    held = report.plot_memory()
    assert "peak" in held.texts[0].get_text()
    pyplot.close("all")


def test_timelines_name_steps_and_optimizers_shortly():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns = Columns(
        name=[0, 1],
        names=["ProfilerStep#7", "Optimizer.step#SGD.step"],
        start=[0, 2000],
        end=[9000, 8000],
        scope=[7, 7],
        threads=[1],
    )
    ax = Loaded(columns).plot_timeline()
    assert [text.get_text() for text in ax.texts] == ["ProfilerStep#7", "SGD.step"]
    pyplot.close("all")


def test_comparisons_mark_other_counts():
    before, after = Loaded(training(steps=4)), Loaded(training(steps=5))
    rows = {row.key: row for row in before.compare(after)}
    assert rows["mul"].count_before == 8 and rows["mul"].count_after == 10
    assert rows["mul"].ratio == pytest.approx(rows["mul"].after / rows["mul"].before)
    text = str(before.compare(after))
    assert "8 -> 10 *" in text and text.splitlines()[-1].startswith("total")
    assert "new" in str(Loaded(Columns(options={})).compare(after))
    assert "gone" in str(after.compare(Loaded(Columns())))
    assert "*" not in str(before.compare(before, by="line"))
    with pytest.raises(TypeError, match="expected a profile"):
        before.compare(3)


def test_a_file_answers_what_the_profile_answered(tmp_path):
    report = Loaded(with_memory(training()))
    report.save(tmp_path / "x.npz")
    again = load(tmp_path / "x.npz")
    assert again.summary() == report.summary()
    assert again.table() == str(again) == report.table()
    assert len(again.to_columns()) == len(report.to_columns())
    assert again.function_events is again.events()


def test_empty_recordings_answer_with_nothing(tmp_path):
    report = Loaded(Columns(options={"with_stack": True, "profile_memory": True}))
    assert str(report) == "" and len(report.events()) == len(report.key_averages()) == 0
    assert report.total_average().key == "Total" and report.self_cpu_time_total == 0
    assert len(report.group()) == 0 and str(report.group()) == ""
    assert report.memory().peak_bytes == 0 and "wall time" in report.summary()
    report.export_stacks(tmp_path / "s")
    report.export_chrome_trace(tmp_path / "t.json")
    report.export_flamegraph(tmp_path / "f.svg")
    assert str(report.compare(report)) == ""


def test_making_objects_leaves_the_collector_as_it_was():
    assert gc.isenabled()
    Loaded(training()).events()
    assert gc.isenabled()


def test_hints_that_are_right_change_nothing():
    columns = training(steps=5, threads=3)
    given = {key: getattr(columns, key) for key in Columns.__slots__}
    plain = Columns(**given | {"parent": None})
    assert np.array_equal(Spans(columns).parent, Spans(plain).parent)
    assert (Spans(columns).parent >= 0).sum() == 6 * 15


def test_sessions_are_joined_with_the_times_of_the_first():
    from autograd_cy.profiler._columns import joined

    one, other = with_memory(training(steps=1)), with_memory(training(steps=2))
    other.base_ns = one.base_ns + 10**6
    both = joined([one, other])
    assert len(both) == len(one) + len(other) and both.wall_ns == 10**6 + other.wall_ns
    assert np.array_equal(both.start[len(one) :], other.start + 10**6)
    assert np.array_equal(both.mem_time[len(one.mem_time) :], other.mem_time + 10**6)
    names, seconds = both.names, other.names
    assert [names[k] for k in both.name[len(one) :]] == [seconds[k] for k in other.name]
    parents = both.parent[len(one) :]
    assert np.array_equal(parents[parents >= 0], other.parent[other.parent >= 0] + len(one))
    assert both.threads == [4000] and set(both.thread.tolist()) == {1}
    assert len(Loaded(both).events()) == len(both) + 2  # with two changes of memory outside
    assert joined([one]) is one and len(joined([])) == 0


def test_what_is_merged_leaves_its_node_its_operations_and_its_bytes():
    columns = Columns(
        names=["aten::split"],
        name=[0, 0, 0],
        start=[0, 1, 2],
        end=[9, 8, 7],
        seq=[-1, 5, -1],
        parent=[-1, 0, 1],
        saved=[1, 10, 100],
        flops=[0, 6, 6],
        bytes_moved=[8, 4, 2],
        team=[1, 1, 3],
    )
    spans = Spans(columns)
    (event,) = spans.events()
    assert (event.sequence_nr, event.flops) == (5, 6)
    found = {key: spans.column(key).tolist() for key in ("saved", "bytes_moved", "team", "seq")}
    assert found == {"saved": [111], "bytes_moved": [8], "team": [3], "seq": [5]}
