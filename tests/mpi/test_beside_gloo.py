"""The same program by this package over MPI and by PyTorch over gloo."""

import json
import math
import os
import subprocess
import sys

import pytest
from ranks import PROGRAMS, passes

#: Where the two differ, and why.
DIFFERENT = {
    "destroy_without_group": "an assertion of torch's; here the ValueError of other calls",
    "broadcast_from_outside": "gloo's RuntimeError; here the ValueError of other groups",
    "destroyed_group": "torch lets the call through",
    "not_a_module": "an AttributeError of torch's; here a TypeError that says so",
    "sum_into_a_leaf": "torch writes it; here an error, since backward wouldn't see the sum",
    "trained by bf16_compress_hook": "torch has it for GPUs only",
    "nn.functional.reduce": "torch returns parts of the sum on other ranks; here zeros",
}


def run_torch(folder, ranks):
    """Run the program in processes of PyTorch, which meet by a file."""
    processes = []
    for rank in range(ranks):
        environment = dict(
            os.environ,
            RANK=str(rank),
            LOCAL_RANK=str(rank),
            WORLD_SIZE=str(ranks),
            OMP_NUM_THREADS="1",
        )
        command = [sys.executable, PROGRAMS / "beside_torch.py", "torch", folder]
        processes.append(
            subprocess.Popen(
                [*map(str, command), f"file://{folder}/meeting?rank={rank}&world_size={ranks}"],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    try:
        for process in processes:
            text = process.communicate(timeout=120)[0]
            assert process.returncode == 0, text[-4000:]
    finally:
        for process in processes:
            process.kill()


def difference(ours, theirs):
    """Return whether two values differ by more than rounding."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) != len(theirs) or any(map(difference, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return not math.isclose(ours, theirs, rel_tol=1e-5, abs_tol=2e-6)
    return ours != theirs


@pytest.mark.parametrize("ranks", [1, 2])
def test_every_name_gives_what_torch_gives(ranks, tmp_path):
    pytest.importorskip("torch", reason="needs PyTorch, with its gloo")
    passes("beside_torch", "autograd_cy", tmp_path, ranks=ranks)
    run_torch(tmp_path, ranks)
    for rank in range(ranks):
        ours, theirs = (
            json.loads((tmp_path / f"{package}-{rank}.json").read_text())
            for package in ("autograd_cy", "torch")
        )
        assert list(ours) == list(theirs)
        different = {name for name in ours if difference(ours[name], theirs[name])}
        lines = [f"{name}:\n  {ours[name]}\n  {theirs[name]}" for name in sorted(different)]
        assert different <= set(DIFFERENT), "\n".join(lines)
