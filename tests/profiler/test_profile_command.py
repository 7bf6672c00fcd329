"""The command and the variable, in this process; ranges of other tools; spans around launches."""

import argparse
import atexit
import gc
import os
import signal
import sys
import threading
import types

import pytest

import autograd_cy as ag
from autograd_cy._C import recorder
from autograd_cy.autograd.profiler import emit_itt, emit_nvtx, profile, record_function
from autograd_cy.profiler import _command, _ranges, _session, _tools
from autograd_cy.profiler._counts import KinetoStepTracker
from autograd_cy.profiler._reports import load

X = ag.ones(2, 3)


@pytest.fixture(autouse=True)
def left_as_it_was(monkeypatch):
    """Handlers of signals, listeners to steps, what the process is called with."""
    before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    monkeypatch.setattr(KinetoStepTracker, "_listeners", [])
    yield
    signal.signal(signal.SIGTERM, before)
    assert not recorder._enabled()


def names(found):
    return [e.name for e in found.events()]


# --- recordings -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        ((2, 4), ["aten::neg", "aten::neg"]),
        ((1, 2), ["aten::neg"]),
        ((0, 2), ["aten::neg", "aten::neg"]),
        ((0, 100), ["aten::neg"] * 6),
        ((5, 100), ["aten::neg"]),
        ((7, 9), None),
        (None, ["aten::neg"] * 6),
    ],
)
def test_a_recording_lasts_from_step_to_step(steps, wanted):
    made = _command.Recording({"with_stack": True}, steps)
    assert (made.last_step, made.reported) == (0, False)
    running = [made._session.running]
    for step in range(1, 7):
        X.neg()
        for listener in KinetoStepTracker._listeners:
            listener(step)
        running.append(made._session is not None and made._session.running)
    first, last = steps or (0, 100)
    assert running == [first <= step < last for step in range(7)]
    assert made.last_step == (0 if steps is None else 6)
    found = made.report()
    assert made.reported is (wanted is not None)
    assert (found and names(found)) == wanted
    assert made.report() is None and made.reported is (wanted is not None)


def test_a_child_reports_nothing():
    made = _command.Recording({})
    made._pid -= 1
    assert made.report() is None and made.reported is True
    made._pid += 1
    assert made.report() is not None


def test_ranges_of_steps():
    ok = {"2:4": (2, 4), ":4": (0, 4), "3:": (3, sys.maxsize), ":": (0, sys.maxsize), "0:1": (0, 1)}
    assert {text: _command._range_of_steps(text) for text in ok} == ok
    for text in ("4:2", "4", "2:2", "a:b", "-1:3", "", "1:x", "x:4", "0:0"):
        with pytest.raises(argparse.ArgumentTypeError, match="is no range of steps such as 10:20"):
            _command._range_of_steps(text)


def parsed(*words):
    parser = argparse.ArgumentParser()
    _command.add_arguments(parser)
    return parser.parse_args([str(word) for word in words])


def test_options_of_the_command():
    none = {"trace": None, "save": None, "flamegraph": None, "stacks": False, "shapes": False,
            "memory": False, "steps": None, "module": False, "arguments": []}  # fmt: skip
    assert vars(parsed("s.py")) == none | {"script": "s.py"}
    found = parsed(*"--trace t --save s --flamegraph f --stacks --shapes --memory".split(),
                   *"--steps 1:2 -m mod a --trace -b".split())  # fmt: skip
    wanted = {"trace": "t", "save": "s", "flamegraph": "f", "stacks": True, "shapes": True}
    wanted |= {"memory": True, "steps": (1, 2), "module": True, "script": "mod"}
    assert vars(found) == wanted | {"arguments": ["a", "--trace", "-b"]}


SCRIPT = "import sys\nimport autograd_cy as ag\nag.ones(7).exp()\nprint(sys.argv, sys.path[0])\n"


@pytest.mark.parametrize("stacks", [True, False])
def test_a_script_is_run_and_reported(tmp_path, capsys, stacks):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    words = ["--save", tmp_path / "s.npz", "--trace", tmp_path / "t.json", "--memory", "--shapes"]
    words += ["--stacks"] * stacks
    path, argv = list(sys.path), list(sys.argv)
    assert _command.run(parsed(*words, script, "-x", 3)) == 0
    assert (sys.path, sys.argv) == (path, argv)
    out, error = capsys.readouterr()
    assert out == f"{[str(script), '-x', '3']} {tmp_path}\n"
    assert error.count("wall time") == 1 and ("script.py(3): <module>" in error) is stacks
    assert error.endswith(f"wrote {tmp_path / 't.json'}\nwrote {tmp_path / 's.npz'}\n")
    found = load(tmp_path / "s.npz")
    options = {"with_stack": stacks, "record_shapes": True, "profile_memory": True}
    assert options.items() <= found.to_columns().options.items()
    assert {"aten::ones", "aten::exp"} <= set(names(found)) and (tmp_path / "t.json").exists()


def test_a_module_is_run_with_the_folder_first(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_module_of_ours.py").write_text(SCRIPT + "print(__name__)\n")
    assert _command.run(parsed("--flamegraph", "f.svg", "-m", "a_module_of_ours", "y")) == 0
    out, error = capsys.readouterr()
    assert out.endswith(f", 'y'] {tmp_path}\n__main__\n") and "wrote f.svg\n" in error
    assert "script" not in error and (tmp_path / "f.svg").exists()


def test_an_error_of_the_script_passes_after_the_report(tmp_path, capsys, monkeypatch):
    """Errors that end the process later are not reported any more."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + "raise KeyError('oh')\n")
    with pytest.raises(KeyError, match="oh"):
        _command.run(parsed(script))
    assert capsys.readouterr().err.count("wall time") == 1
    killed = []
    monkeypatch.setattr(os, "kill", lambda *given: killed.append(given))
    handler = signal.getsignal(signal.SIGTERM)
    handler(signal.SIGTERM, None)
    assert killed == [(os.getpid(), signal.SIGTERM)]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert capsys.readouterr().err == ""
    script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\nprint(5)\n")
    assert _command.run(parsed("--steps", "3:4", script)) == 0
    out, error = capsys.readouterr()
    assert (out, killed[1:]) == ("5\n", [(os.getpid(), signal.SIGTERM)])
    wanted = "the program made 0 steps of an optimizer, and --steps begins with 3"
    assert error == f"nothing was recorded: {wanted}\n"
    assert _command.run(parsed(tmp_path / "none.py")) == 2
    assert capsys.readouterr().err == (
        f"autograd-cy profile: there is no script {tmp_path / 'none.py'}\n"
    )


def test_the_end_by_a_signal_reports_once(tmp_path, capsys, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text("")
    assert _command.run(parsed("--steps", "3:4", script)) == 0
    assert capsys.readouterr().err.startswith("nothing was recorded")
    monkeypatch.setattr(os, "kill", lambda *given: None)
    signal.getsignal(signal.SIGTERM)(signal.SIGTERM, None)
    assert capsys.readouterr().err == ""


def test_handlers_of_programs_stay():
    mine = lambda *given: None  # noqa: E731
    signal.signal(signal.SIGTERM, mine)
    _command._on_termination(print)
    assert signal.getsignal(signal.SIGTERM) is mine
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    errors = []

    def elsewhere():
        try:
            _command._on_termination(print)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert errors == [] and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_files_of_ranks(monkeypatch):
    from autograd_cy.profiler import _steps

    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    assert (
        _steps.rank_of_process() is None and _command._of_rank("a.b/t.json.gz") == "a.b/t.json.gz"
    )
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    found = [_command._of_rank(path) for path in ("a.b/t.json.gz", "t", "/x/t.npz")]
    assert found == ["a.b/t.rank0.json.gz", "t.rank0", "/x/t.rank0.npz"]


def test_what_the_variable_asks_for(tmp_path, capsys, monkeypatch):
    """Into a folder that is there, one that isn't, and one that can't be."""
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("")
    for folder, fits in (("there", True), ("made/here", True), ("file", False)):
        ends = []
        monkeypatch.setattr(atexit, "register", ends.append)
        _command.record_from_now(str(tmp_path / folder))
        X.neg()
        assert callable(signal.getsignal(signal.SIGTERM))
        (end,) = ends
        end()
        error = capsys.readouterr().err
        assert error.count("wall time") == 1
        if fits:
            (path,) = (tmp_path / folder).iterdir()
            assert error.endswith(f"wrote {path}\n")
            found = load(path)
            assert names(found) == ["aten::neg"] and found.to_columns().options["with_stack"]
        else:
            assert f"AUTOGRAD_CY_PROFILE: can't write into {tmp_path / folder}: " in error
        end()
        assert capsys.readouterr().err == ""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


# --- ranges of other tools --------------------------------------------------------------------


@pytest.fixture
def ranges(monkeypatch):
    """The calls of the package nvtx: texts, and None where one ends."""
    calls = []
    module = types.ModuleType("nvtx")
    module.push_range, module.mark = calls.append, calls.append
    module.pop_range = lambda: calls.append(None)
    monkeypatch.setitem(sys.modules, "nvtx", module)
    return calls


@pytest.mark.usefixtures("ranges")
def test_recordings_for_ranges_are_begun_anew(monkeypatch):
    """Each time as many events have begun as are kept, also of several."""
    begun = []
    real = _ranges._Emitter._record

    def record(self):
        begun.append(self._pushed)
        real(self)

    monkeypatch.setattr(_ranges, "KEPT", 4)
    monkeypatch.setattr(_ranges._Emitter, "_record", record)
    for _ in range(2):
        begun.clear()
        emitter = emit_nvtx()
        assert (emitter.enabled, emitter.entered, emitter.record_shapes) == (True, False, False)
        with emitter as same:
            assert same is emitter and emitter.entered
            for _ in range(13):
                X.neg()
        assert begun == [0, 4, 8, 12] and not emitter.entered and not recorder._enabled()
    with emitter:
        pass


def test_texts_in_any_mode(ranges):
    with emit_nvtx(), profile(record_shapes=True):
        with ag.no_grad():
            X.neg()
        with record_function("a label"):
            pass
        X.neg()
    nr = ag._C.node._next_sequence_nr()
    assert ranges == ["aten::neg", None, "a label", None, f"aten::neg, seq = {nr}", None]
    assert _ranges.text_of_range("x", 0, 0, None) == "x, seq = 0"
    assert _ranges.text_of_range("x", 0, 1, [[2]]) == "x, stashed seq = 0, sizes = [[2]]"
    assert _ranges.text_of_range("x", -1, 1, []) == "x"
    ranges.clear()
    with emit_nvtx(record_shapes=True):
        X.neg()
    assert ranges == [f"aten::neg, seq = {nr}, sizes = [[2, 3]]", None]


def test_an_emitter_that_could_not_begin_begins_later(ranges, monkeypatch):
    module = sys.modules["nvtx"]
    monkeypatch.setitem(sys.modules, "nvtx", None)
    emitter = emit_nvtx()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="package nvtx"):
            emitter.__enter__()
        assert not emitter.entered
    monkeypatch.setitem(sys.modules, "nvtx", module)
    with emitter, pytest.raises(RuntimeError, match="NVTX annotation context manager is not reent"):
        emitter.__enter__()
    off = emit_nvtx(enabled=False)
    with off:
        X.neg()
        with pytest.raises(RuntimeError, match="not reentrant"):
            off.__enter__()
    with off:
        pass
    assert ranges == []
    with pytest.raises(NotImplementedError):
        _ranges._Emitter().__enter__()


def test_an_emitter_without_its_object_ends(ranges):
    held = [emit_nvtx()]
    held[0].__enter__()
    X.neg()
    held.clear()
    gc.collect()
    assert not recorder._enabled() and len(ranges) == 2
    with emit_nvtx():
        X.neg()
    X.neg()
    assert len(ranges) == 4


def test_tasks_of_vtune(monkeypatch):
    calls = []
    package, native = types.ModuleType("ittapi"), types.ModuleType("ittapi.native")
    package.domain = lambda name: f"domain {name}"
    package.string_handle = lambda text: calls.append(("handle", text)) or f"<{text}>"
    native.task_begin = lambda *given: calls.append(("begin", *given))
    native.task_end = lambda *given: calls.append(("end", *given))
    monkeypatch.setitem(sys.modules, "ittapi", package)
    monkeypatch.setitem(sys.modules, "ittapi.native", native)
    with emit_itt() as emitter, ag.no_grad():
        X.neg()
        X.neg()
        with pytest.raises(RuntimeError, match="ITT annotation context manager"):
            emitter.__enter__()
    where = "domain autograd_cy"
    one = [("begin", where, "<aten::neg>"), ("end", where)]
    assert calls == [("handle", "aten::neg"), *one, *one]


# --- files of other profilers -----------------------------------------------------------------


def test_a_launch_belongs_to_the_innermost_range():
    def around(spans, start, end):
        return _tools._innermost([(*span[:2], span[2]) for span in spans], start, end)

    nested = [(0, 100, "a"), (10, 99, "b"), (10, 50, "c"), (40, 85, "d"), (60, 95, "e")]
    times = [(0, 100), (5, 6), (10, 50), (12, 14), (45, 48), (41, 51), (61, 62), (60, 95), (86, 96)]
    found = [around(nested, *time) for time in times]
    assert found == ["a", "a", "c", "c", "c", "d", "e", "e", "b"]
    assert around([(0, 9, "a"), (0, 9, "b")], 3, 4) == "b"
    assert [around(nested, *time) for time in ((0, 101), (101, 102))] == [None, None]
    assert _tools._innermost([(5, 9, "a")], 3, 4) is None


def test_kernels_are_tied_to_ranges():
    ranges = [(3, "late", 1, 7_000, 9_000), (1, "a", 1, 1_000, 5_000), (2, "b", 2, 2_000, 3_000),
              (4, "in a", 1, 1_000, 2_000)]  # fmt: skip
    launches = [(1_500, 1_600, 1, 70), (2_100, 2_200, 2, 71), (2_100, 2_200, 3, 72),
                (4_000, 4_100, 1, 73), (4_000, 4_100, 1, 99)]  # fmt: skip
    kernels = [(70, "k0", 0, 0, 1_500), (71, "k1", 1, 10, 20), (72, "none", 0, 0, 1),
               (73, "k3", 0, 5, 6), (70, "k4", 0, 0, 2_000)]  # fmt: skip
    found = _tools._tied(ranges, launches, kernels)
    rows = [(e.id, e.name, e.thread, e.time_range.start, e.time_range.end, e.kernels,
             e.cpu_parent and e.cpu_parent.name) for e in found]  # fmt: skip
    assert rows == [
        (1, "a", 1, 0.0, 4.0, [("k3", 0, 0.001)], None),
        (4, "in a", 1, 0.0, 1.0, [("k0", 0, 1.5), ("k4", 0, 2.0)], "a"),
        (2, "b", 2, 1.0, 2.0, [("k1", 1, 0.01)], None),
        (3, "late", 1, 6.0, 8.0, [], None),
    ]
    assert _tools._tied([], launches, kernels) == []


# --- sessions ---------------------------------------------------------------------------------


def test_backward_has_what_its_forward_has():
    np = pytest.importorskip("numpy")
    rows = [  # scope, seq, thread, stack
        (0, 5, 1, 10), (1, 5, 2, 20), (1, 4, 2, 21), (0, 0, 3, 12), (7, 5, 1, 13), (1, 9, 2, 22),
        (0, -1, 1, 14), (1, -1, 2, 23), (1, 0, 2, 24), (0, 2, 4, 15), (1, 2, 2, 25), (0, 5, 6, 16),
    ]  # fmt: skip
    scope, seq, thread, stack = (np.array(part) for part in zip(*rows))
    columns = {"scope": scope, "seq": seq, "thread": thread, "stack": stack}
    _session._from_forward(columns)
    assert columns["fwd_thread"].tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 3, 0, 4, 0]
    assert columns["stack"].tolist() == [10, 10, 21, 12, 13, 22, 14, 23, 12, 15, 15, 16]
    assert list(columns) == ["scope", "seq", "thread", "stack", "fwd_thread"]
    for kept in ([1], [6, 1], [4, 1]):
        columns = {"scope": scope[kept], "seq": seq[kept], "thread": thread[kept]}
        _session._from_forward(columns)
        assert columns["fwd_thread"].tolist() == [0] * len(kept)


def test_rules_are_asked_once_for_each_description():
    import numpy as np

    asked = []

    def rule(*arguments):
        asked.append(arguments)
        if arguments[0] == [9]:
            raise IndexError
        return arguments[0][0] + 10 * len(arguments)

    shapes = [([[2], []], [None, 5], []), ([[3]], [None], []), ([[9]], [None], []), ([[4]], [], [])]
    name, shape = np.array([0, 0, 1, 0, 0, 0, 2]), np.array([0, 0, 0, 2, -1, 1, 3])
    found = _session._counted(name, shape, [(0, rule), (2, rule)], shapes)
    assert found.tolist() == [22, 22, 0, 0, 0, 13, 14]
    assert sorted(map(len, asked)) == [1, 1, 1, 2]
    assert asked[0] == ([2], 5) and type(asked[0][0]) is not list
    assert _session._counted(name, shape - 5, [], shapes).tolist() == [0] * 7
    assert _session._counted(name[:0], shape[:0], [(0, rule)], []).tolist() == []


def test_files_of_frames_are_shown_as_imports_see_them(monkeypatch):
    from pathlib import Path

    monkeypatch.setattr(sys, "path", ["", "/a", "/a/b/", Path("/p"), b"/x", None, "/a/b/c/d"])
    files = ["/nowhere/x.py", "/a/b/c.py", "/a/x.py", "/ab.py", "/p/q.py", "/x/y.py", "b"]
    rows = [[(file, 3, "f") for file in files], [("/a/z.py", 7, "<module>")], []]
    shown = ["/nowhere/x.py", "c.py", "x.py", "/ab.py", "q.py", "/x/y.py", "b"]
    assert _session._stack_texts(rows) == [
        tuple(f"{file}(3): f" for file in shown), ("z.py(7): <module>",), ()
    ]  # fmt: skip
