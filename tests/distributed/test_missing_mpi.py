"""Several ranks without mpi4py, with one that is broken, and with one of another MPI."""

import subprocess
import sys

import pytest

OF_TWO = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}
PROGRAM = "import autograd_cy.distributed as dist; dist.init_process_group()"
HEAD = "class rc:\n    initialize, finalize, threads, thread_level = True, None, True, 'multiple'\n"
ALONE = """
THREAD_MULTIPLE = 3


def get_vendor():
    return "MPICH", (5, 0, 0)


def Is_initialized():
    return False


def Is_finalized():
    return False


def Init_thread(level):
    print("started at", level)


class COMM_WORLD:
    def Get_size():
        return 1
"""


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Run the program in rank 0 of two, with a package mpi4py; returns what it wrote."""

    def run(head, module):
        package = tmp_path / "mpi4py"
        package.mkdir()
        (package / "__init__.py").write_text(head)
        (package / "MPI.py").write_text(module)
        monkeypatch.syspath_prepend(tmp_path)
        for name, value in OF_TWO.items():
            monkeypatch.setenv(name, value)
        paths = f"import sys; sys.path[:0] = {sys.path!r}\n"
        command = [sys.executable, "-c", paths + PROGRAM]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1, done.stderr
        return done

    return run


def test_a_missing_mpi4py_is_one_error_with_the_command(start):
    text = start("raise ModuleNotFoundError('No module named mpi4py', name='mpi4py')", "").stderr
    assert text.rstrip().splitlines()[-1] == (
        "ImportError: distributed: several processes communicate by MPI, and mpi4py isn't "
        "installed; install it for the MPI whose mpirun starts them: pip install "
        '"autograd_cy[mpi]"'
    )


def test_an_mpi4py_without_its_mpi_is_one_error_with_the_way_out(start):
    text = start(HEAD, "raise ImportError('libmpi.so.40: cannot open shared object file')").stderr
    last = text.rstrip().splitlines()[-1]
    assert "mpi4py can't load its MPI (libmpi.so.40: cannot open shared object file)" in last
    assert "load the module of the MPI that it was built for, or build it again" in last


def test_an_mpi_of_another_launcher_is_named_before_it_starts(start):
    done = start(HEAD, ALONE)
    assert "started at 3" in done.stdout
    warning, _, error = done.stderr.partition("Traceback")
    assert "Open MPI's mpirun started this process, and mpi4py uses MPICH" in warning
    assert "mpirun (Open MPI) started 2 processes, but MPI sees one" in error
