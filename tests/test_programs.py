"""Programs that are forked see and end as those that Python starts."""

import os
import signal
import subprocess
import sys

import programs
import pytest

SEEN = """
import os, sys, __main__
print(sys.argv, sys.path[0], __name__, __main__.__dict__ is globals(), os.getcwd())
print("__file__" in globals(), sys.stdin.read() == "", os.environ.get("AUTOGRAD_CY_CACHE_MB"))
print("autograd_cy" in sys.modules, sys.flags.interactive, sys.stdout.isatty())
print([p for p in sys.path[1:] if "given" in p])
"""


def plain(*command, **options):
    """Run the command by Python itself."""
    return subprocess.run(
        [sys.executable, *map(str, command)],
        **{"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, **options},
    )


def test_a_program_sees_what_it_would_see(tmp_path):
    env = os.environ | {"AUTOGRAD_CY_CACHE_MB": "3", "PYTHONPATH": str(tmp_path / "given")}
    file = tmp_path / "program.py"
    file.write_text(SEEN)
    for command in (("-c", SEEN, "x", "--y"), (file, 1, 2), ("-m", "program", "a b")):
        found = programs.run(*command, env=env, cwd=tmp_path)
        wanted = plain(*command, env=env, cwd=tmp_path)
        assert found.returncode == wanted.returncode == 0, found.stderr
        assert found.stdout == wanted.stdout


ENDS = {
    "plain": "print('last')",
    "status": "import sys; sys.exit(7)",
    "message": "import sys; sys.exit('no')",
    "error": "print('out'); 1 / 0",
    "syntax": "(",
    "interrupt": "raise KeyboardInterrupt",
    "signal": "import os; os.kill(os.getpid(), 9)",
    "at exit": "import atexit; atexit.register(print, 'bye'); raise SystemExit(2)",
    "at once": "import os; os._exit(4)",
    "thread": "import threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.01), print('late'))).start()",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_program_ends_as_it_would_end(end):
    found, wanted = programs.run("-c", ENDS[end]), plain("-c", ENDS[end])
    assert (found.returncode, found.stdout) == (wanted.returncode, wanted.stdout)
    assert found.stderr.splitlines()[-1:] == wanted.stderr.splitlines()[-1:]


def test_the_package_is_new_in_each_and_starts_threads():
    text = """
import sys
from autograd_cy._C import parallel
assert not parallel.info()["forked_child"]
import autograd_cy as ag
ag.set_num_threads(2)
assert (ag.ones(10**6) + 1).sum() == 2 * 10**6 and ag.get_num_threads() == 2
print(ag.memory_summary()["cache_limit"])
"""
    found = [programs.run("-c", text, env=os.environ | {"AUTOGRAD_CY_CACHE_MB": mb}) for mb in "12"]
    assert [run.stdout for run in found] == ["1048576\n", "2097152\n"], found[0].stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_programs_are_forked_whatever_of_ours_the_variables_say(monkeypatch):
    text = "import os, sys; print('numpy' in sys.modules, os.environ['PYTEST_CURRENT_TEST'])"
    for name in ("one", "other"):
        monkeypatch.setenv("PYTEST_CURRENT_TEST", name)
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        assert programs.run("-c", text).stdout == f"True {name}\n"


def test_a_program_without_end_is_killed():
    with pytest.raises(subprocess.TimeoutExpired):
        programs.run("-c", "while True: pass", timeout=0.1)
    assert programs.run("-c", "print('next')").stdout == "next\n"


def test_much_output_and_ctrl_c():
    assert programs.run("-c", "print('x' * 10**6)").stdout == "x" * 10**6 + "\n"
    text = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    assert programs.run("-c", text).stdout == "True\n"
    text = "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(9)"
    assert programs.run("-c", text).returncode == -signal.SIGINT


@pytest.mark.parametrize("how", ["options", "variables"])
def test_what_would_see_a_difference_is_started_by_python(how):
    text = "import sys; print(sys.flags.optimize, 'numpy' in sys.modules)"
    found = (
        programs.run("-O", "-c", text)
        if how == "options"
        else programs.run("-c", text, env=os.environ | {"PYTHONOPTIMIZE": "1"})
    )
    assert found.stdout == "1 False\n"


def passes(value):
    assert os.environ["AUTOGRAD_CY_CACHE_MB"] == "5"
    assert value in (1, 2)


passes = pytest.mark.parametrize("value", [1, 2])(passes)


@pytest.mark.parametrize(("a", "b"), [(1, 2)])
@pytest.mark.parametrize("c", [3, 4])
def fails(a, b, c):
    assert a + b == c


def test_tests_of_a_file_run_again():
    assert programs.run_tests(__file__, ["passes"], AUTOGRAD_CY_CACHE_MB="5") == 2
    with pytest.raises(AssertionError, match=r"failed: fails \{'c': 4, 'a': 1, 'b': 2\}"):
        programs.run_tests(__file__, ["fails"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_other_variables_have_a_process_of_their_own_that_forks():
    text = "import os, sys; print('numpy' in sys.modules, os.environ.get('PLACE'))"
    for place in ("a", "b", "a", "c", "d", "a"):
        done = programs.run("-c", text, env=os.environ | {"PLACE": place})
        assert done.stdout == f"True {place}\n"
    assert len(programs.Nursery.all) == programs.Nursery.many
