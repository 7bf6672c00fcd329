"""`autograd-cy info` and `doctor`: the facts, and each mistake that doctor knows."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from building import ROOT, run_python

from autograd_cy.__main__ import main
from autograd_cy._environment import doctor as _doctor
from autograd_cy._environment import gpus as _gpus
from autograd_cy._environment import info as _info
from autograd_cy._environment import machine as _machine
from autograd_cy._environment import mpi_checks as _mpi_checks
from autograd_cy._environment import threads as _threads


def test_info_prints_every_section(capsys):
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    sections = ("versions", "build", "simd", "threads", "blas", "cuda", "mpi", "optional")
    sections += ("environment",)
    for section in sections:
        assert f"\n{section}\n" in f"\n{text}"
    assert _info.version_of("numpy") in text


def test_info_as_json_has_no_errors(capsys, monkeypatch):
    monkeypatch.delenv("AUTOGRAD_CY_CPU", raising=False)
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [name for name, section in facts.items() if "error" in section] == []
    assert facts["simd"]["selected"] in facts["simd"]["processor"]


def test_info_shows_the_variables_of_the_page_and_those_that_are_read():
    page = (ROOT / "docs" / "building.md").read_text()
    table = page.partition("## At run time")[2].partition("\n\n## ")[0]
    said = set(re.findall(r"`([A-Z_]{6,})[=`]", table))
    assert {"AUTOGRAD_CY_CPU", "OMP_PLACES"} <= said <= set(_info.VARIABLES)
    asked = r"""(?:environ(?:\.get)?[(\[]|getenv\()b?["'](AUTOGRAD_CY_[A-Z_]+)"""
    sources = [*(ROOT / "autograd_cy").rglob("*.py"), *(ROOT / "ext" / "core").rglob("*.p[yx]*")]
    sources += [*(ROOT / "ext" / "kernels").rglob("*.p[yx]*")]
    sources += [*(ROOT / "ext" / "cuda").rglob("*.p[yx]*")]
    read = {name for path in sources for name in re.findall(asked, path.read_text())}
    own = {name for name in _info.VARIABLES if name.startswith("AUTOGRAD_CY_")}
    assert read and read <= own and own <= said


def test_info_survives_missing_parts(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "autograd_cy._C._build_info", None)
    monkeypatch.setitem(sys.modules, "autograd_cy._C.blas", None)
    assert main(["info"]) == 0
    assert "ModuleNotFoundError" in capsys.readouterr().out


def test_info_works_from_the_command_line(tmp_path):
    place = Path(_info.__file__).parents[2]
    text = run_python("-m", "autograd_cy", "--version", cwd=tmp_path, PYTHONPATH=place).stdout
    assert text.startswith("autograd_cy ")


def findings(check, monkeypatch, **environment):
    for name in ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", *_doctor.LOCAL_RANKS):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return [(found.level, found.what) for found in check()]


@pytest.fixture
def big_node(monkeypatch):
    monkeypatch.setattr(_machine, "processors", lambda: 64)
    monkeypatch.setattr(_threads, "affinity", lambda: 4)
    monkeypatch.setattr(_threads, "cpu_quota", lambda root: None)


def test_doctor_sees_variables_that_nothing_reads(monkeypatch):
    check = _doctor.variables
    assert findings(check, monkeypatch, AUTOGRAD_CY_PROFILE="0", AUTOGRAD_CY_SIMD="avx2") == []
    monkeypatch.setenv("AUTOGRAD_CY_BLAS_THREAD", "1")
    (found,) = check()
    assert found.what.startswith("AUTOGRAD_CY_BLAS_THREAD has no effect")
    assert found.cure == "Is AUTOGRAD_CY_BLAS_THREADS meant?"
    monkeypatch.delenv("AUTOGRAD_CY_BLAS_THREAD")
    monkeypatch.setenv("AUTOGRAD_CY_", "1")
    (found,) = check()
    assert found.cure.startswith("Known are BLAS, BLAS_THREADS, ")


def test_doctor_sees_another_copy_on_the_path(monkeypatch, tmp_path):
    check = _doctor.copies
    monkeypatch.setattr(_doctor, "__file__", str(tmp_path / "a/autograd_cy/_environment/doctor.py"))
    for folder, version in (("a", "1.2"), ("b", "0.9"), ("c", "")):
        (tmp_path / folder / "autograd_cy").mkdir(parents=True)
        text = f'__version__ = "{version}"\n' if version else ""
        (tmp_path / folder / "autograd_cy" / "_version.py").write_text(text)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    for places, parts in (
        (["a", "link", "absent"], []),
        (["a", "b"], ["another copy, 0.9, in"]),
        (["a", "c", "b"], ["another copy, of an unknown version, in", "another copy, 0.9, in"]),
    ):
        monkeypatch.setattr(sys, "path", [str(tmp_path / place) for place in places])
        found = findings(check, monkeypatch)
        assert [level for level, *_ in found] == ["advice"] * len(parts)
        assert all(part in what for part, (_, what, *_) in zip(parts, found))
    (tmp_path / "a" / "setup.py").write_text("")
    assert findings(check, monkeypatch) == []  # that is for `source_tree`


def test_paths_that_the_terminal_cannot_show_are_printed(tmp_path):
    folder = tmp_path / "\xe4 \udcff"
    folder.mkdir()
    (folder / "autograd_cy").symlink_to(Path(_doctor.__file__).parents[1])
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    env = os.environ | ascii_only | {"PYTHONPATH": str(folder)}
    for command in ("info", "doctor"):
        command = [sys.executable, "-m", "autograd_cy", command]
        run = subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert (run.returncode, run.stderr) == (0, "")


def test_doctor_knows_the_variables_that_sources_and_pages_name():
    named = set()
    for folder, kinds in (("autograd_cy", ".py"), ("ext", ".py .pyx .pxi"), ("docs", ".md")):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in kinds.split():
                named.update(re.findall(r"AUTOGRAD_CY_[A-Z_]*[A-Z]", path.read_text()))
    known = {f"{_doctor.PREFIX}{name}" for name in _doctor.VARIABLES}
    assert named - {"AUTOGRAD_CY_ASKS_PROCESSOR"} == known  # that is for compilers


@pytest.mark.usefixtures("big_node")
def test_doctor_compares_the_team_with_the_affinity(monkeypatch):
    check = _doctor.team_size
    assert findings(check, monkeypatch) == []
    assert findings(check, monkeypatch, OMP_NUM_THREADS="4,1") == []
    (found,) = findings(check, monkeypatch, OMP_NUM_THREADS="5")
    assert found == ("problem", "OMP_NUM_THREADS=5, but this process may use 4 processors only")
    (found,) = findings(check, monkeypatch, OMP_NUM_THREADS="many")
    assert "is not a number" in found[1]


@pytest.mark.usefixtures("big_node")
def test_doctor_counts_threads_of_all_ranks(monkeypatch):
    check = _doctor.ranks_per_node
    monkeypatch.setattr(_mpi_checks, "is_installed", lambda: False)
    assert findings(check, monkeypatch, OMPI_COMM_WORLD_LOCAL_SIZE="16") == []
    (found,) = findings(check, monkeypatch, SLURM_NTASKS_PER_NODE="32")
    assert found == ("problem", "32 ranks of 4 threads on a node of 64 processors")
    assert findings(check, monkeypatch, SLURM_NTASKS_PER_NODE="32", OMP_NUM_THREADS="2") == []
    monkeypatch.setattr(_mpi_checks, "is_installed", lambda: True)
    assert findings(check, monkeypatch, SLURM_NTASKS_PER_NODE="32") == []  # it divides them
    assert findings(check, monkeypatch, SLURM_NTASKS_PER_NODE="32", OMP_NUM_THREADS="4")


@pytest.mark.usefixtures("big_node")
def test_doctor_sees_a_forgotten_cpus_per_task(monkeypatch):
    assert findings(_doctor.processors_granted, monkeypatch) == []
    monkeypatch.setattr(_threads, "affinity", lambda: 1)
    assert findings(_doctor.processors_granted, monkeypatch)[0][0] == "advice"


def test_doctor_sees_a_passive_wait_policy(monkeypatch):
    assert findings(_doctor.wait_policy, monkeypatch) == []
    assert findings(_doctor.wait_policy, monkeypatch, OMP_WAIT_POLICY="PASSIVE")
    assert findings(_doctor.wait_policy, monkeypatch, GOMP_SPINCOUNT="0")


def test_doctor_sees_two_openmp_runtimes(monkeypatch):
    runtimes = ["/a/libgomp.so.1", "/b/libomp.so"]
    monkeypatch.setattr(_machine, "openmp_runtimes", lambda: runtimes)
    monkeypatch.setattr("autograd_cy._C.parallel.info", lambda: {"openmp": True})
    (found,) = findings(_doctor.openmp_runtimes, monkeypatch)
    assert found == ("problem", f"2 OpenMP runtimes are loaded: {', '.join(runtimes)}")
    monkeypatch.setattr("autograd_cy._C.parallel.info", lambda: {"openmp": False})
    assert findings(_doctor.openmp_runtimes, monkeypatch)[0][0] == "advice"


def test_doctor_sees_a_newer_numpy(monkeypatch):
    monkeypatch.setattr(_info, "version_of", lambda name: "99.0")
    assert findings(_doctor.numpy_abi, monkeypatch)[0][0] == "problem"


def test_doctor_sees_that_a_better_instruction_set_exists(monkeypatch):
    facts = {"compiled": ["base", "avx2"], "processor": ["base", "avx2"], "selected": "avx2"}
    monkeypatch.setattr(_info, "simd", lambda: facts)
    assert findings(_doctor.simd_target, monkeypatch) == []
    facts["selected"] = "base"
    (found,) = findings(_doctor.simd_target, monkeypatch)
    assert found == ("advice", "kernels for base are in use, and this processor has avx2")
    facts["processor"] = ["base", "avx2", "avx512"]
    (found,) = findings(_doctor.simd_target, monkeypatch)
    assert found == ("advice", "this processor has avx512, but only base, avx2 were compiled")


def test_doctor_sees_flushed_denormals(monkeypatch):
    from autograd_cy._C import info

    assert findings(_doctor.denormals, monkeypatch) == []
    monkeypatch.setattr(info, "flushes_denormals", lambda: True)
    assert findings(_doctor.denormals, monkeypatch)[0][0] == "problem"


def test_doctor_survives_a_failing_check(monkeypatch, capsys):
    def broken():
        raise RuntimeError("no luck")

    monkeypatch.setattr(_doctor, "CHECKS", (broken, _doctor.compiled_modules))
    assert main(["doctor"]) == 0
    assert "the check broken failed: RuntimeError: no luck" in capsys.readouterr().out


def test_doctor_ends_with_one_when_there_is_a_problem(monkeypatch):
    problem = _doctor.Finding(_doctor.PROBLEM, "x", "y")
    monkeypatch.setattr(_doctor, "CHECKS", (lambda: [problem],))
    assert main(["doctor"]) == 1


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        (_machine.OPENMP_LIBRARIES, "libgomp.so.1.0.0", True),
        (_machine.OPENMP_LIBRARIES, "libgomp-a34b3233.so.1", True),
        (_machine.OPENMP_LIBRARIES, "libiomp5.so", True),
        (_machine.OPENMP_LIBRARIES, "libompitrace.so", False),
        (_machine.BLAS_LIBRARIES, "libscipy_openblas64_-7d2.so", True),
        (_machine.BLAS_LIBRARIES, "libopenblasp-r0.3.21.so", True),
        (_machine.BLAS_LIBRARIES, "libmkl_rt.so.2", True),
        (_machine.BLAS_LIBRARIES, "libblast.so", False),
    ],
)
def test_library_names(pattern, name, expected):
    assert bool(pattern.match(name)) is expected


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="reads Linux's /proc")
def test_own_blas_is_found():
    facts = _info.blas()
    if facts["provider"] == "own":
        assert "library" not in facts
    else:
        assert os.path.realpath(facts["library"]) in facts["loaded"]


GPU = """Model: \t\t NVIDIA H200
IRQ:   \t\t 120
"""
VERSION = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build"


def gpu_facts(**changes):
    whole = {
        "images": {"ew_f32": 1_500_000},
        "nvcc": "13.0.88",
        "archs": ["sm_80", "compute_80"],
        "pycuda": "2026.1",
        "driver": (13, 0),
        "module": "580.65.06",
        "gpus": ["NVIDIA H200"],
    }
    return _gpus.Facts(**(whole | changes))


def test_gpus_are_found_without_starting_cuda(tmp_path, monkeypatch):
    (tmp_path / "gpus/0000:01:00.0").mkdir(parents=True)
    (tmp_path / "gpus/0000:01:00.0/information").write_text(GPU)
    (tmp_path / "version").write_text(VERSION)
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels/ew_f32.fatbin").write_bytes(b"x" * 1000)
    monkeypatch.setenv("AUTOGRAD_CY_CUDA_KERNELS", str(tmp_path / "kernels"))
    found = _gpus.facts(tmp_path)
    assert found.gpus == ["NVIDIA H200"]
    assert found.module == "580.65.06"
    assert found.images == {"ew_f32": 1000}
    monkeypatch.setenv("AUTOGRAD_CY_CUDA_KERNELS", str(tmp_path / "none"))
    found = _gpus.facts(tmp_path / "none")
    assert (found.images, found.gpus, found.module) == ({}, [], None)
    assert found.why_none


def test_info_shows_what_work_on_gpus_needs():
    shown = _gpus.shown(gpu_facts())
    assert shown["kernels"] == "1 images, 1.5 MB"
    assert shown["driver"] == "CUDA 13.0 (580.65.06)"
    shown = _gpus.shown(_gpus.Facts(why_none="no nvcc was found", no_driver="libcuda.so.1: no"))
    assert shown["kernels"] == "none: no nvcc was found"
    assert shown["driver"] == "none: libcuda.so.1: no"


NO_DRIVER = {"driver": None, "no_driver": "libcuda.so.1: cannot open"}


@pytest.mark.parametrize(
    ("changes", "stops", "what", "cure"),
    [
        ({"images": {}, "why_none": "no nvcc"}, False, "in this build: no nvcc", "CUDA=1"),
        ({"pycuda": None}, True, "PyCUDA", "no wheels"),
        (NO_DRIVER, True, "libcuda.so.1: cannot", "--nv"),
        (NO_DRIVER | {"gpus": []}, False, "no driver", "node with a GPU"),
        ({"driver": (12, 4)}, True, "nvcc 13.0.88, and the driver knows CUDA 12.4", "of CUDA 12"),
    ],
)
def test_doctor_says_what_work_on_gpus_lacks(changes, stops, what, cure):
    ((found_stops, found_what, found_cure),) = _gpus.advice(gpu_facts(**changes))
    assert found_stops == stops
    assert what in found_what
    assert cure in found_cure


def test_doctor_finds_nothing_where_all_or_nothing_is_there(monkeypatch):
    assert _gpus.advice(gpu_facts()) == []
    nothing = _gpus.Facts(why_none="no nvcc was found", no_driver="no")
    assert _gpus.advice(nothing) == []
    assert _gpus.advice(_gpus.Facts(images={"a": 1}, nvcc="13.0.88", no_driver="no")) == []
    monkeypatch.setattr(_gpus, "facts", lambda: gpu_facts(pycuda=None))
    assert [found.level for found in _doctor.gpus()] == ["problem"]
