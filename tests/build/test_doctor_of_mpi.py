"""`autograd-cy doctor` about MPI, beside a mpi4py that is missing, broken, alone or waits."""

import subprocess
import sys

import pytest

from autograd_cy.__main__ import main
from autograd_cy._environment import doctor as _doctor
from autograd_cy._environment import launcher as _launcher
from autograd_cy._environment import mpi_checks as _mpi_checks
from autograd_cy._environment import mpi_launcher

STAND_IN = """
import os, time

fault = os.environ.get("STAND_IN", "")
if fault == "broken":
    raise ImportError("libmpi.so.40: cannot open shared object file")
if fault == "loads for ever":
    time.sleep(60)
COMM_TYPE_SHARED = 0


def get_vendor():
    return "Open MPI", (5, 0, 1)


def Init_thread():
    if fault == "starts for ever":
        time.sleep(60)
    if fault == "ends":
        os._exit(7)


def Finalize():
    pass


class COMM_WORLD:
    def Split_type(kind):
        return COMM_WORLD

    def Get_rank():
        return int(os.environ.get("STAND_IN_RANK", 0))

    def Get_size():
        return int(os.environ.get("STAND_IN_SIZE", 1))

    def gather(own):
        size = COMM_WORLD.Get_size()
        return None if COMM_WORLD.Get_rank() else [own | {"local_rank": n} for n in range(size)]
"""


def without_launcher():
    raise RuntimeError("its mpirun isn't there")


@pytest.fixture
def job(monkeypatch, tmp_path):
    """A process without a launcher, whose mpi4py is the one above; gives variables to it."""
    for names in _launcher._KNOWN:
        for name in names[1:]:
            monkeypatch.delenv(name, raising=False)
    for name in (*_launcher.TRACES, "WORLD_SIZE", "OMP_NUM_THREADS", "SLURM_STEP_ID"):
        monkeypatch.delenv(name, raising=False)
    package = tmp_path / "modules" / "mpi4py"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("class rc:\n    initialize = True\n")
    (package / "MPI.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_mpi_checks, "is_installed", lambda: True)
    monkeypatch.setattr(mpi_launcher, "find", without_launcher)
    monkeypatch.setattr(_doctor, "CHECKS", ())

    def set_variables(**variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return set_variables


OF_TWO = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}


def test_nothing_is_started_without_mpi4py(job, monkeypatch):
    monkeypatch.setattr(_mpi_checks, "is_installed", lambda: False)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert _mpi_checks.advice() == []
    assert _mpi_checks.examine_ranks([]) is None


def test_a_launcher_without_mpi4py_is_a_problem(job, monkeypatch, capsys):
    monkeypatch.setattr(_mpi_checks, "is_installed", lambda: False)
    job(**OF_TWO)
    assert main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert "mpirun (Open MPI) started 2 processes, and mpi4py isn't installed" in text
    assert 'pip install "autograd_cy[mpi]"' in text


def test_an_mpi_that_starts_is_no_finding(job):
    assert [what for _, what, _ in _mpi_checks.advice() if "PATH" not in what] == []


def test_a_missing_launcher_is_an_advice(job):
    ((stops, what, _),) = _mpi_checks.advice()
    assert not stops
    assert what == "mpi4py uses Open MPI, and no mpirun, mpiexec or srun is on PATH"


def test_a_launcher_of_another_mpi_is_an_advice(job, monkeypatch, tmp_path):
    script = tmp_path / "mpirun"
    script.write_text(f"#!{sys.executable}\nprint('HYDRA build details:')\n")
    script.chmod(0o755)
    ((stops, what, cure),) = _mpi_checks.advice()
    assert not stops
    assert what.startswith(f"{script} is the launcher of MPICH, and mpi4py uses Open MPI")
    assert cure.startswith("Load the module of Open MPI")
    ours = mpi_launcher.Launcher("/opt/mpirun", "Open MPI")
    monkeypatch.setattr(mpi_launcher, "find", lambda: ours)
    assert _mpi_checks.advice()[0][2].startswith("Start scripts by /opt/mpirun")


@pytest.mark.parametrize("environment", [{}, OF_TWO])
def test_an_mpi_that_does_not_load_is_a_problem(job, environment):
    job(STAND_IN="broken", **environment)
    ranks = _mpi_checks.examine_ranks([])
    ((stops, what, cure),) = ranks.own if environment else _mpi_checks.advice()
    assert stops
    assert what == (
        "mpi4py can't load its MPI: ImportError: libmpi.so.40: cannot open shared object file"
    )
    assert "Load the module of the MPI" in cure


@pytest.mark.parametrize("step", ["loads", "starts"])
def test_an_mpi_that_waits_is_ended(job, monkeypatch, step):
    monkeypatch.setattr(_mpi_checks.probe, "__defaults__", (2.0,))
    job(STAND_IN=f"{step} for ever")
    ((stops, what, _),) = _mpi_checks.advice()
    if step == "loads":
        assert stops and what == "mpi4py can't load its MPI: it doesn't end within 2 s"
    else:
        assert "Open MPI 5.0.1" in what and "MPI_Init doesn't return within 2 s" in what
    job(**OF_TWO)
    assert "within 2 s" in _mpi_checks.examine_ranks([]).own[0][1]


def test_an_mpi_that_ends_its_process_is_seen(job):
    job(STAND_IN="ends")
    ((stops, what, _),) = _mpi_checks.advice()
    assert not stops and "exit status 7" in what
    job(**OF_TWO)
    ((stops, what, _),) = _mpi_checks.examine_ranks([]).own
    assert stops and "MPI_Init fails: exit status 7" in what


@pytest.mark.parametrize(
    ("environment", "cure"),
    [
        (OF_TWO, "use the launcher of its MPI"),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2"}, "srun --mpi=list"),
    ],
)
def test_processes_that_are_alone_are_a_problem(job, capsys, environment, cure):
    job(**environment)
    assert main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert "started 2 processes, but MPI sees one: each would train alone" in text
    assert cure in text


def test_ranks_without_a_launcher_of_mpi_are_a_problem(job, monkeypatch, capsys):
    job(WORLD_SIZE="4")
    monkeypatch.setattr(_doctor, "CHECKS", (_doctor.mpi,))
    assert main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert "WORLD_SIZE is 4, and no launcher of MPI" in text and "mpirun -n 4" in text


def test_an_unknown_launcher_is_named(job, capsys):
    job(PMIX_RANK="0", STAND_IN_SIZE="3")
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("3 ranks on 1 host, by Open MPI 5.0.1\nrank  host")
    assert "PMIX_RANK is there, of a launcher that isn't known here: 3 ranks" in text


def test_findings_of_all_ranks_are_printed_once_on_rank_0(job, monkeypatch, capsys):
    problem = _doctor.Finding(_doctor.PROBLEM, "x", "y")
    monkeypatch.setattr(_doctor, "CHECKS", (lambda: [problem],))
    job(**OF_TWO, STAND_IN_SIZE="2")
    assert main(["doctor"]) == 1
    assert "problem: all ranks: x\n  y\n" in capsys.readouterr().out
    job(OMPI_COMM_WORLD_RANK="1", STAND_IN_RANK="1")
    assert main(["doctor"]) == 1
    assert capsys.readouterr().out == ""


def test_ranks_of_a_finding_are_named():
    own = {"findings": [("problem", "x", "y")]}
    merged = _mpi_checks._merge([own, {"findings": []}, own])
    assert merged == [("ranks 0, 2", ("problem", "x", "y"))]


def test_threads_of_ranks_on_the_same_processors_are_divided():
    shared = {"host": "a", "cpus": [0, 1, 2, 3], "processors": 4, "limit": 4, "fixed": False}
    shared |= {"local_rank": 0, "local_size": 3}
    bound = shared | {"cpus": [4, 5], "processors": 2, "limit": 2}
    facts = {"vendor": "MPICH", "version": "5", "ranks": [shared, shared, bound]}
    rows = _mpi_checks._table(facts).splitlines()[2:]
    assert [row.split()[-1] for row in rows] == ["2", "2", "2"]
    facts["ranks"] = [shared | {"limit": 3, "fixed": True}] * 2
    rows = _mpi_checks._table(facts).splitlines()[2:]
    assert [row.split()[-1] for row in rows] == ["3", "3"]


def test_unknown_launchers_leave_traces(job):
    assert _mpi_checks._trace_of_launcher() is None
    job(PMIX_RANK="1")
    assert _mpi_checks._trace_of_launcher() == "PMIX_RANK"
    job(SLURM_STEP_ID="batch")
    assert _mpi_checks._trace_of_launcher() is None
