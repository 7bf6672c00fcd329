"""`autograd.profiler.profile` and `autograd_cy.profiler.profile` around real programs."""

import gzip
import json
import os
import signal
import threading
import warnings
from pathlib import Path

import programs
import pytest

import autograd_cy as torch
from autograd_cy.autograd import profiler
from autograd_cy.autograd.profiler import profile, record_function
from autograd_cy.profiler import (
    ProfilerAction,
    ProfilerActivity,
    load,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
    trace_handler,
)
from autograd_cy.profiler import profile as stepwise

ROOT = Path(torch.__file__).resolve().parents[1]


def names(events):
    return [event.name for event in events]


def training_step():
    x = torch.ones(4, 3, requires_grad=True)
    y = (x * 2).sum()
    y.backward()


# --- autograd.profiler.profile --------------------------------------------------------------------


def test_a_block_is_recorded():
    with profile(record_shapes=True, profile_memory=True) as prof:
        training_step()
    assert "aten::mul" in names(prof.function_events)
    assert str(prof) == prof.table() == prof.function_events.table()
    assert repr(prof) == repr(prof.function_events)
    averages = {a.key: a for a in prof.key_averages()}
    assert averages["MulBackward0"].count == 1
    assert prof.total_average().count == len(prof.function_events)
    assert prof.self_cpu_time_total == pytest.approx(prof.function_events.self_cpu_time_total)
    shapes = [e.input_shapes for e in prof.function_events if e.name == "aten::mul"]
    assert shapes[0] == [[4, 3], []]
    assert prof.memory().peak_bytes > 0


def test_a_disabled_profile_answers_with_nothing():
    with profile(enabled=False) as prof:
        training_step()
    assert str(prof) == "" and len(prof.function_events) == len(prof.key_averages()) == 0
    assert prof.total_average().key == "Total" and prof.self_cpu_time_total == 0
    profile(enabled=False, use_cpu=False)


def test_a_disabled_profile_answers_with_nothing_to_what_needs_options_too(tmp_path):
    with profile(enabled=False, profile_memory=True, with_stack=True) as prof:
        training_step()
    assert prof.memory().peak_bytes == 0 and prof.memory().alive == []
    prof.export_stacks(tmp_path / "stacks.txt")
    assert (tmp_path / "stacks.txt").read_text() == ""
    with profile(enabled=False) as prof:
        training_step()
    with pytest.raises(ValueError, match="profile_memory=True"):
        prof.memory()


def test_traces_take_what_torch_takes(tmp_path):
    with profile() as prof:
        training_step()
    prof.export_chrome_trace(tmp_path / "a.json", {"run": 7}, True)
    assert json.loads((tmp_path / "a.json").read_text())["run"] == 7
    handler = tensorboard_trace_handler(tmp_path / "b", "w", False, True)
    with stepwise(on_trace_ready=handler) as prof:
        training_step()
    prof.export_chrome_trace(tmp_path / "c.json", True)
    assert json.loads((tmp_path / "c.json").read_text())["traceEvents"]
    assert len(list((tmp_path / "b").iterdir())) == 1


def test_results_before_the_end_are_an_error():
    prof = profile()
    assert str(prof) == repr(prof) == "<unfinished autograd_cy.autograd.profile>"
    for ask in (prof.key_averages, prof.table, prof.total_average, prof.summary, prof.group):
        with pytest.raises(RuntimeError, match="didn't finish running before"):
            ask()
    with prof, pytest.raises(RuntimeError, match="didn't finish running before"):
        prof.function_events


def test_entering_twice_is_an_error():
    with profile() as prof, pytest.raises(RuntimeError, match="is not reentrant"):
        prof.__enter__()
    with pytest.raises(RuntimeError, match="is not reentrant"):
        prof.__enter__()


def test_devices_warn_and_the_cpu_is_recorded():
    with pytest.warns(FutureWarning, match="use_cuda"), pytest.warns(UserWarning, match="CUDA is"):
        prof = profile(use_cuda=True)
    with prof:
        torch.ones(2) * 2
    assert "aten::mul" in names(prof.function_events)
    with pytest.warns(UserWarning, match="XPU is not available"):
        profile(use_device="xpu")
    with pytest.warns(UserWarning, match="The colour is not a valid device option"):
        profile(use_device="colour")
    with pytest.raises(AssertionError, match="nothing to record"):
        profile(use_cpu=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        profile(use_kineto=True, experimental_config=object(), use_mtia=True)


def test_profiles_nest_and_each_has_its_own_span():
    with profile() as outer:
        torch.ones(2) * 2
        with profile(record_shapes=True) as inner:
            torch.ones(2) + 2
        torch.ones(2) / 2
    assert {"aten::mul", "aten::add", "aten::div"} <= set(names(outer.function_events))
    assert "aten::mul" not in names(inner.function_events)
    assert "aten::add" in names(inner.function_events)


def test_exceptions_pass_and_leave_the_results():
    prof = profile()
    with pytest.raises(KeyError), prof:
        {}[torch.ones(2) * 2]
    assert "aten::mul" in names(prof.function_events)
    with profile() as prof, pytest.raises(RuntimeError):
        torch.ones(2, 3) @ torch.ones(2, 3)
    failed = [e for e in prof.function_events if e.failed]
    assert failed and "were left by an exception" in prof.table()


def test_all_threads_are_recorded_or_only_one():
    def work():
        with record_function("in the thread"):
            torch.ones(2) * 2

    for every in (True, False):
        with profile(all_threads=every) as prof:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            torch.ones(2) + 1
        assert ("in the thread" in names(prof.function_events)) is every
        assert "aten::add" in names(prof.function_events)


def test_the_names_of_the_module_are_those_of_torch():
    assert profiler.kineto_available() and torch.autograd.kineto_available()
    assert torch.autograd.profiler is profiler
    assert torch.autograd.DeviceType.CPU == 0
    assert profiler.MEMORY_EVENT_NAME == "[memory]"
    for name in profiler.__all__:
        assert hasattr(profiler, name)
    assert not torch.autograd._profiler_enabled()
    with profile():
        assert torch.autograd._profiler_enabled()
    assert not torch.autograd._profiler_enabled()


def test_a_file_gives_the_profile_again(tmp_path):
    with profile(with_stack=True) as prof:
        training_step()
    prof.save(tmp_path / "x.npz")
    again = load(tmp_path / "x.npz")
    assert again.table() == prof.table()
    assert str(prof.group("line")) == str(again.group("line"))
    assert "test_profile.py" in str(prof.group("line"))


# --- by steps -------------------------------------------------------------------------------------


def letters(plan, count):
    short = {"NONE": "N", "WARMUP": "W", "RECORD": "R", "RECORD_AND_SAVE": "S"}
    return "".join(short[plan(step).name] for step in range(count))


def test_schedules():
    assert letters(schedule(wait=1, warmup=1, active=2, repeat=2), 10) == "NWRSNWRSNN"
    assert letters(schedule(wait=0, warmup=1, active=1, skip_first=2), 6) == "NNWSWS"
    with pytest.warns(UserWarning, match="won't be using warmup"):
        plan = schedule(wait=2, warmup=0, active=1, skip_first=1, skip_first_wait=1, repeat=2)
    assert letters(plan, 10) == "NSNNSNNNNN"
    with pytest.raises(AssertionError, match="Got wait=-1"):
        schedule(wait=-1, warmup=1, active=1)
    with pytest.raises(AssertionError, match=r"active=0 \(need > 0\)"):
        schedule(wait=0, warmup=1, active=0)
    with pytest.raises(AssertionError, match="Step must be non-negative. Got -1"):
        schedule(wait=1, warmup=1, active=1)(-1)


@pytest.mark.parametrize("seed", range(20))
def test_schedules_are_those_of_torch(seed):
    import random

    theirs = pytest.importorskip("torch.profiler")
    random = random.Random(seed)
    given = {
        "wait": random.randint(0, 3),
        "warmup": random.randint(1, 3),
        "active": random.randint(1, 3),
        "repeat": random.randint(0, 2),
        "skip_first": random.randint(0, 3),
        "skip_first_wait": random.randint(0, 1),
    }
    assert letters(schedule(**given), 30) == letters(theirs.schedule(**given), 30)


def run(steps, plan, **more):
    ready = []

    def handler(prof):
        ready.append((prof.step_num, [e.trace_name for e in prof.events() if e.trace_name]))

    with stepwise(schedule=plan, on_trace_ready=handler, **more) as prof:
        for _ in range(steps):
            torch.ones(2) * 2
            prof.step()
    return prof, ready


def test_handlers_get_the_events_of_their_cycle():
    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    prof, ready = run(9, plan)
    assert ready == [
        (4, ["ProfilerStep#2", "ProfilerStep#3"]),
        (8, ["ProfilerStep#6", "ProfilerStep#7"]),
    ]
    averages = {a.key: a.count for a in prof.key_averages()}
    assert averages["ProfilerStep*"] == averages["aten::mul"] == 2
    _, ready = run(9, plan, acc_events=True)
    assert [len(names) for _, names in ready] == [2, 4]


def test_leaving_in_an_active_step_calls_the_handler_and_in_a_wait_it_does_not():
    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    assert run(3, plan)[1] == [(3, ["ProfilerStep#2", "ProfilerStep#3"])]
    assert run(1, plan)[1] == run(0, plan)[1] == []


def test_without_a_schedule_everything_is_recorded_once():
    prof, ready = run(3, None)
    assert ready == [(3, [])]
    assert names(prof.events()).count("aten::mul") == 3


def test_outside_of_active_steps_nothing_is_recorded():
    plan = schedule(wait=1, warmup=1, active=1, repeat=1)
    with stepwise(schedule=plan) as prof:
        for step in range(5):
            assert torch.autograd._profiler_enabled() is (step == 2)
            prof.step()


def test_a_cycle_without_end_warns():
    def plan(step):
        return ProfilerAction.RECORD if step == 0 else ProfilerAction.NONE

    with stepwise(schedule=plan) as prof, pytest.warns(UserWarning, match="RECORD to NONE"):
        prof.step()


def test_the_profiler_of_a_profile_answers_as_the_older_interface():
    prof = stepwise()
    assert prof.profiler is None
    with prof:
        training_step()
    inner = prof.profiler
    assert len(inner.function_events) == len(prof.events())
    assert inner.self_cpu_time_total > 0 and inner.total_average().key == "Total"
    assert inner.table() == prof.table()


def test_results_before_the_start_are_assertion_errors():
    prof = stepwise()
    for ask, text in (
        (prof.events, "accessing events"),
        (prof.key_averages, "getting key averages"),
        (lambda: prof.export_chrome_trace("x"), "exporting chrome trace"),
        (lambda: prof.export_stacks("x"), "exporting stacks"),
        (prof.step, "stepping"),
        (prof.stop, "stopping trace"),
    ):
        with pytest.raises(AssertionError, match=f"Profiler must be initialized before {text}"):
            ask()
    assert prof.get_trace_id() is None
    prof.start()
    with pytest.raises(RuntimeError, match="runs already"):
        prof.start()
    prof.stop()
    prof.stop()


def test_activities():
    assert supported_activities() == {ProfilerActivity.CPU}
    stepwise(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    for given in ([], [ProfilerActivity.CUDA]):
        with pytest.raises(AssertionError, match="No valid profiler activities found"):
            stepwise(activities=given)


def test_collection_pauses_and_goes_on():
    with stepwise() as prof:
        torch.ones(2) * 2
        prof.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
        torch.ones(2) + 2
        prof.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
        torch.ones(2) / 2
        prof.toggle_collection_dynamic(False, [ProfilerActivity.CUDA])
    found = names(prof.events())
    assert "aten::mul" in found and "aten::div" in found and "aten::add" not in found
    starts = [e.time_range.start for e in prof.events()]
    assert starts == sorted(starts)


def test_the_plain_profiler_pauses_and_goes_on():
    with torch.autograd.profiler.profile() as prof:
        prof.toggle_collection_dynamic(False, [ProfilerActivity.CUDA])
        torch.ones(2) * 2
        prof.toggle_collection_dynamic(False, [ProfilerActivity.CUDA, ProfilerActivity.CPU])
        prof.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
        torch.ones(2) + 2
        prof.toggle_collection_dynamic(True, [])
        torch.ones(2) - 2
        prof.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
        prof.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
        torch.ones(2) / 2
    prof.toggle_collection_dynamic(False, [ProfilerActivity.CPU])  # it has ended
    found = {event.name for event in prof.function_events}
    assert {"aten::mul", "aten::div"} <= found
    assert not {"aten::add", "aten::sub"} & found
    with torch.autograd.profiler.profile() as paused:
        torch.ones(2) * 2
        paused.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
    paused.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
    torch.ones(2) / 2
    names = {event.name for event in paused.function_events}
    assert "aten::mul" in names and "aten::div" not in names


def test_traces_have_metadata_and_a_name(tmp_path):
    with stepwise(custom_trace_id_callback=lambda: "mine") as prof:
        torch.ones(2) * 2
    prof.add_metadata("text", 'a "word"')
    prof.add_metadata_json("value", '{"a": [1, 2]}')
    with pytest.raises(ValueError, match="is no JSON"):
        prof.add_metadata_json("value", "{")
    prof.export_chrome_trace(tmp_path / "t.json")
    trace = json.loads((tmp_path / "t.json").read_text())
    assert (trace["text"], trace["value"], trace["trace_id"]) == ('a "word"', {"a": [1, 2]}, "mine")
    assert prof.get_trace_id() == "mine"


def test_handlers_write_traces_and_tables(tmp_path, monkeypatch):
    with stepwise(on_trace_ready=tensorboard_trace_handler(tmp_path / "a" / "b", use_gzip=True)):
        torch.ones(2) * 2
    (path,) = (tmp_path / "a" / "b").iterdir()
    assert path.name.endswith(".pt.trace.json.gz") and f"_{os.getpid()}." in path.name
    with gzip.open(path, "rt") as file:
        assert json.load(file)["schemaVersion"] == 1
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "3")
    with stepwise(on_trace_ready=tensorboard_trace_handler(tmp_path / "c")):
        torch.ones(2) * 2
    (path,) = (tmp_path / "c").iterdir()
    assert f"_{os.getpid()}_rank3." in path.name and path.name.endswith(".pt.trace.json")
    with stepwise(on_trace_ready=tensorboard_trace_handler(tmp_path / "d", "worker")):
        pass
    (path,) = (tmp_path / "d").iterdir()
    assert path.name.startswith("worker.")
    with stepwise(on_trace_ready=trace_handler(tmp_path / "e")):
        torch.ones(2) * 2
    one, other = sorted((tmp_path / "e").iterdir())
    assert one.name.endswith(".trace.json") and "aten::mul" in other.read_text()


# --- without a change of the program --------------------------------------------------------------

SCRIPT = """
import sys
import autograd_cy as torch
from autograd_cy.profiler import record_function
print("arguments", sys.argv[1:], __name__)
x = torch.ones(5, requires_grad=True)
with record_function("label of the script"):
    (x * 2).sum().backward()
"""
ENDS = {
    "exception": ("raise KeyError('oh')", 1, "KeyError: 'oh'"),
    "exit": ("sys.exit(7)", 7, ""),
    "sigterm": ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM, ""),
    "interrupt": ("raise KeyboardInterrupt", -signal.SIGINT, "KeyboardInterrupt"),
}


def started(*command, **environment):
    return programs.run(*command, env=os.environ | {"PYTHONPATH": str(ROOT)} | environment)


def test_a_program_is_profiled_by_the_command(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = started(
        *("-m", "autograd_cy", "profile", "--stacks", "--trace", tmp_path / "t.json.gz"),
        *("--flamegraph", tmp_path / "f.svg", script, "--flag", "3"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "arguments ['--flag', '3'] __main__\n"
    assert "wall time" in done.stderr and "script.py(8): <module>" in done.stderr
    with gzip.open(tmp_path / "t.json.gz", "rt") as file:
        found = {event["name"] for event in json.load(file)["traceEvents"]}
    assert {"label of the script", "aten::mul", "MulBackward0"} <= found
    assert "label of the script" in (tmp_path / "f.svg").read_text()


@pytest.mark.parametrize("end", ENDS)
def test_the_variable_profiles_any_program_however_it_ends(tmp_path, end):
    line, status, message = ENDS[end]
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + line)
    folder = tmp_path / "made" / "here"
    done = started(script, AUTOGRAD_CY_PROFILE=str(folder), OMPI_COMM_WORLD_RANK="2")
    assert done.returncode == status, done.stderr
    assert message in done.stderr and "wall time" in done.stderr
    (path,) = folder.iterdir()
    assert path.name.endswith("_rank2.npz")
    assert "label of the script" in names(load(path).events())


@pytest.mark.parametrize("end", ["exception", "sigterm"])
def test_the_command_reports_however_the_program_ends(tmp_path, end):
    line, status, message = ENDS[end]
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + line)
    save = tmp_path / "x.npz"
    done = started("-m", "autograd_cy", "profile", "--save", save, script)
    assert done.returncode == status, done.stderr
    assert message in done.stderr and done.stderr.count("wall time") == 1
    assert "aten::mul" in names(load(save).events())


def test_forked_children_report_nothing(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys\nimport autograd_cy as torch\ntorch.ones(2) * 2\n"
        "pid = os.fork()\nif not pid: sys.exit(0)\nos.waitpid(pid, 0)\n"
    )
    done = started(script, AUTOGRAD_CY_PROFILE=str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out").iterdir())) == 1 and done.stderr.count("wall time") == 1


def test_steps_of_optimizers_bound_the_recording(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import autograd_cy as torch\n"
        "from autograd_cy.profiler import record_function\n"
        "x = torch.ones(3, requires_grad=True)\n"
        "sgd = torch.optim.SGD([x], lr=0.1)\n"
        "for k in range(6):\n"
        "    with record_function(f'step {k}'):\n"
        "        (x * 2).sum().backward()\n"
        "    sgd.step()\n"
    )
    save = tmp_path / "x.npz"
    done = started("-m", "autograd_cy", "profile", "--steps", "2:4", "--save", save, script)
    assert done.returncode == 0, done.stderr
    labels = [name for name in names(load(save).events()) if name.startswith("step ")]
    assert labels == ["step 2", "step 3"]
    for steps in ("4:2", "4"):
        done = started("-m", "autograd_cy", "profile", "--steps", steps, script)
        assert done.returncode == 2 and "no range of steps" in done.stderr
    done = started("-m", "autograd_cy", "profile", "--steps", "40:50", script)
    assert (done.returncode, done.stderr) == (
        0,
        "nothing was recorded: the program made 6 steps of an optimizer, and --steps begins "
        "with 40\n",
    )
    done = started("-m", "autograd_cy", "profile", tmp_path / "absent.py")
    assert done.returncode == 2 and done.stderr.endswith("absent.py\n")


def test_an_event_that_took_in_its_like_has_the_node_of_that():
    x = torch.ones((4, 6), requires_grad=True)
    with profile(record_shapes=True, with_stack=True) as prof:
        for part in x.split(3, 1):
            part.sum().backward(retain_graph=True)
    (split,) = (e for e in prof.function_events if e.op == "split")
    nodes = {e.sequence_nr for e in prof.function_events if e.name == "SplitBackward0"}
    assert nodes == {split.sequence_nr} and split.sequence_nr >= 0
    row = next(row for row in prof.group("op") if row.key == "split")
    assert row.calls == 1 and row.backward > 0
    assert not any("SplitBackward" in row.key for row in prof.group("op"))


def test_the_module_lists_its_names():
    from autograd_cy import profiler

    assert set(profiler.__all__) <= set(dir(profiler))
    with pytest.raises(AttributeError, match="export_chrome_trace"):
        profiler.ExecutionTraceObserver


def test_devices_and_activities_are_those_of_torch():
    theirs = pytest.importorskip("torch.profiler")
    for ours, known in (
        (ProfilerActivity, theirs.ProfilerActivity),
        (torch.profiler.DeviceType, theirs.DeviceType),
    ):
        assert {e.name: e.value for e in ours} == {
            name: int(member.value) for name, member in known.__members__.items()
        }


def test_importing_the_package_loads_no_profiler():
    code = "import sys, autograd_cy; print([m for m in sys.modules if 'autograd_cy.profiler' in m])"
    assert started("-c", code).stdout.strip() == "[]"


def test_shapes_of_many_dimensions_are_recorded():
    x, many = torch.ones((1,) * 60), [torch.ones((1,) * 50) for _ in range(30)]
    with profile(record_shapes=True) as prof:
        x * 2
        torch.cat(many)
    events = {e.name: e.input_shapes for e in prof.function_events}
    assert events["aten::mul"][0] == [1] * 60
    assert len(events) == 2


def test_a_recording_of_memory_alone_is_shown(tmp_path):
    held = [torch.ones(1000)]
    with profile(profile_memory=True) as prof:
        held.clear()
    assert [(e.name, e.cpu_memory_usage) for e in prof.function_events] == [("[memory]", -4000)]
    prof.export_chrome_trace(tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert [e["args"]["Bytes"] for e in events if e["name"] == "[memory]"] == [-4000]


def test_averages_are_apart_by_shape_and_only_outer_ones_are_shown_if_asked():
    x, y = torch.ones(2), torch.ones(3)
    with profile(record_shapes=True) as found:
        x.add(x)
        x.add(x)
        y.add(y)
        with record_function("outer"):
            y.mul(y)
    rows = found.key_averages(group_by_input_shape=True)
    assert sorted((e.key, e.count, str(e.input_shapes)) for e in rows if "add" in e.key) == [
        ("aten::add", 1, "[[3], [3]]"), ("aten::add", 2, "[[2], [2]]")
    ]  # fmt: skip
    rows = found.key_averages()
    assert [e.count for e in rows if e.key == "aten::add"] == [3]
    for kept, shown in ((False, True), (True, False)):
        assert ("aten::mul" in rows.table(top_level_events_only=kept)) == shown
        assert "outer" in rows.table(top_level_events_only=kept)
