"""The tests of the engine with CUDA as default device: `on_cuda.py [options of pytest]`.

They run from a copy in which arrays are taken by way of the host. What speaks of the CPU alone is
left out, with the reason.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "engine"
NO_MEMORY = "lets allocations of the CPU fail"

OF_THE_CPU = (
    "its operands are made on the CPU, or in threads, which have default devices of their own"
)
LEFT_OUT = {
    "test_processes.py": "a forked child can't use CUDA",
    "test_threads_and_fork.py::test_forked_child_computes": "a forked child can't use CUDA",
    "test_failures_of_memory.py": NO_MEMORY,
    "test_failures_of_transforms.py::test_allocations_that_fail": NO_MEMORY,
    "test_saved_tensors.py::test_a_saved_number_takes_no_memory": "counts memory of the CPU",
    "test_other_memory.py::test_other_arguments_of_set_are_refused": "has tensors of the CPU",
    "test_state_left_behind.py::test_each_session_counts_the_memory": "counts memory of the CPU",
    "test_state_left_behind.py::test_producers_of_dlpack": "exports to a consumer of the CPU",
    "test_anomaly.py::test_inplace_error_names_both_lines": "names a type of tensors of the CPU",
    "test_contexts.py::test_every_context_is_in_the_table": "knows no contexts of CUDA",
    "test_contexts.py::test_state_comes_back": "a generator of the CPU, and its interrupts",
    "test_gradients_of_other_kinds.py::test_the_error_names": "names the CPU",
    "test_selective_checkpoints.py::test_there_are_no_states_of_devices": "there are, of CUDA",
    "test_refused_graphs.py::test_what_a_graph_cannot_answer": "compares with torch on the CPU",
    "test_programs_of_changes_against_torch.py::test_programs_of_changes[": "a version that torch "
    "counts otherwise on the CPU, too",
    "test_checkpoint.py::test_what_a_backward_that_failed": OF_THE_CPU,
    "test_gradients_that_meet.py::test_their_sum_is_the_gradient": OF_THE_CPU,
    "test_saved_tensors.py::test_hooks_pack_and_unpack": OF_THE_CPU,
    "test_saved_tensors.py::test_double_backward_through_hooks": OF_THE_CPU,
    "test_selective_checkpoints.py::test_what_a_kept_operation": OF_THE_CPU,
    "test_threads.py::test_a_finalizer_of_the_replaced_gradient": OF_THE_CPU,
}


# --- within the run, where this module is a plugin ------------------------------------------------


def pytest_configure(config):
    """Use the emulated driver, or a GPU."""
    if os.environ.get("AUTOGRAD_CY_GPU") != "real":
        from emulator import places

        places.start()


def pytest_runtest_setup(item):
    name = item.nodeid.partition(f"{FOLDER}/")[2]
    for left, reason in LEFT_OUT.items():
        if name.startswith(left):
            pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    import autograd_cy as ag

    ag.set_default_device("cuda")
    try:
        return (yield)
    finally:
        ag.set_default_device(None)


# --- the run --------------------------------------------------------------------------------------


def copied(folder):
    """The tests, with the rest of the tree beside them; arrays come by way of the host."""
    for path in ROOT.iterdir():
        if path.name not in ("tests", "build", ".git"):
            Path(folder, path.name).symlink_to(path)
    tests = Path(folder, "tests")
    shutil.copytree(ROOT / "tests", tests, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (tests / FOLDER).glob("*.py"):
        text = path.read_text(encoding="utf-8").replace(".numpy()", ".cpu().numpy()")
        text = re.sub(r"ag\.from_numpy\(([^()]*)\)", r'ag.from_numpy(\1).to("cuda")', text)
        path.write_text(text, encoding="utf-8")
    return tests


def main(options):
    """Run them; the status of pytest."""
    with tempfile.TemporaryDirectory(prefix="autograd_cy_on_cuda_") as folder:
        tests = copied(folder)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "on_cuda", "-p", "no:cacheprovider"]
        paths = [str(ROOT / "tests" / "gpu"), str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        return subprocess.run(
            [*command, *options, f"tests/{FOLDER}"], cwd=tests.parent, env=environment
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
