"""The tests of ReFrame, run by ReFrame on its generic system; they fail where they should."""

import json
import shutil
import sys

import pytest
from site_recipes import PACKAGING, ROOT, run, tool

pytestmark = pytest.mark.slow

FOLDER = PACKAGING / "reframe"


def reframe(tmp_path, *options, check=True, **environment):
    """Run all tests of the file; return {name: its entry in ReFrame's report}."""
    command = tool("reframe", "pip install ReFrame-HPC")
    report = tmp_path / "report.json"
    done = run(
        command, "-c", FOLDER / "autograd_cy_check.py", "--prefix", tmp_path / "reframe",
        "--report-file", report, "-S", f"python={sys.executable}", *options, "-r",
        cwd=tmp_path, check=check, PYTHONPATH=ROOT, PYTHONDONTWRITEBYTECODE=1, **environment,
    )  # fmt: skip
    (session,) = json.loads(report.read_text())["runs"]
    return {case["name"]: case for case in session["testcases"]}, done


def test_both_tests_pass_and_report_a_speed(tmp_path):
    cases, done = reframe(tmp_path)
    assert set(cases) == {"AutogradCyDoctor", "AutogradCyTraining"}
    assert {case["result"] for case in cases.values()} == {"pass"}
    (values,) = [case["perfvalues"] for case in cases.values() if case["perfvalues"]]
    ((name, value),) = values.items()
    assert name.endswith(":speed")
    assert value[0] > 0
    assert value[-2:] == ["steps/s", "pass"] or "steps/s" in value, value
    assert "steps/s" in done.stdout


def test_threads_reach_the_programs(tmp_path):
    cases, _ = reframe(tmp_path, "-S", "threads=2", "-n", "AutogradCyTraining")
    (case,) = cases.values()
    folder = tmp_path / "reframe" / "output"
    (output,) = folder.rglob("rfm_job.out")
    assert "2 thread(s)" in output.read_text()
    assert case["result"] == "pass"


def test_too_low_an_accuracy_fails(tmp_path):
    options = ("-S", "accuracy=1.01", "-n", "AutogradCyTraining")
    cases, done = reframe(tmp_path, *options, check=False)
    assert done.returncode
    assert cases["AutogradCyTraining"]["result"].startswith("fail")


def test_a_problem_that_doctor_finds_fails(tmp_path):
    options = ("-S", "threads=4096", "-n", "AutogradCyDoctor")
    cases, done = reframe(tmp_path, *options, check=False)
    assert done.returncode
    assert cases["AutogradCyDoctor"]["result"].startswith("fail")


def test_the_program_needs_nothing_but_the_package(tmp_path):
    shutil.copy(FOLDER / "src" / "train.py", tmp_path)
    script = (
        "import sys; sys.modules.update(dict.fromkeys(('sklearn', 'torch', 'pandas')));"
        "import runpy; runpy.run_path('train.py', run_name='__main__')"
    )
    text = run(sys.executable, "-c", script, cwd=tmp_path, PYTHONPATH=ROOT).stdout
    assert "test accuracy: " in text
