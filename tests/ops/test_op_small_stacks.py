"""The smallest stacks of threads are enough for every operator."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import programs
import pytest

import autograd_cy as ag
from autograd_cy._C import parallel

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SMALL = 65536

# Says the name of each piece, and computes it in a thread of its own.
PROGRAM = f"""
import json, sys, threading
import autograd_cy as ag
ag.set_num_threads(1)
threading.stack_size({SMALL})
for name, piece in json.loads(sys.argv[1]).items():
    print(name, flush=True)
    thread = threading.Thread(target=exec, args=(piece, {{"ag": ag}}))
    thread.start()
    thread.join()
"""
# Frames of each kind: what the smallest samples of operators don't reach stands here.
PIECES = {
    "products of halves": "a = ag.rand(200, 200).bfloat16(); (a @ a).float().sum()",
    "products of few columns": "a = ag.rand(60, 60); b = ag.rand(60, 3); a @ b",
    "products of few rows": "ag.rand(3, 2000) @ ag.rand(2000, 900)",
    "operands turned round": "a = ag.rand(300, 300); (a + a.t()).mul_(a.t())",
    "small copies turned round": (
        "ag.rand(2, 40, 9, 9, dtype=ag.float64).contiguous(memory_format=ag.channels_last)"
    ),
    "few short rows": "ag.rand(1000, 3, dtype=ag.float64) + ag.rand(3, dtype=ag.float64)",
    "short rows": "ag.rand(5000, 3).double() + ag.rand(3)",
    "many operands of other types": (
        "x = ag.rand(3000)[::2]; ag.addcmul(x.double(), x.half(), ag.arange(1500))"
    ),
    "softmax of short rows": (
        "x = ag.rand(900, 10, dtype=ag.float64, requires_grad=True); x.softmax(1).norm().backward()"
    ),
    "pooling": (
        "x = ag.rand(4, 8, 64, 64, dtype=ag.float64, requires_grad=True); "
        "(ag.nn.functional.max_pool2d(x, 2).sum() + ag.nn.functional.avg_pool2d(x, 3, 2).sum())"
        ".backward()"
    ),
    "sampling": (
        "x = ag.rand(2, 40, 9, 9, dtype=ag.float64, requires_grad=True); "
        "g = ag.rand(2, 20, 20, 2, dtype=ag.float64, requires_grad=True); "
        "y = ag.nn.functional.grid_sample(x.contiguous(memory_format=ag.channels_last), g, "
        "mode='bicubic', align_corners=False); y.sum().backward()"
    ),
    "convolution": (
        "m = ag.nn.Conv2d(8, 16, 3); m(ag.rand(4, 8, 30, 30)).sum().backward(); "
        "m = ag.nn.ConvTranspose2d(8, 16, 3); m(ag.rand(4, 8, 30, 30)).sum().backward()"
    ),
    "recurrent layers": "m = ag.nn.LSTM(20, 40); m(ag.rand(30, 20, 20))[0].sum().backward()",
    "attention": (
        "m = ag.nn.MultiheadAttention(32, 4); x = ag.rand(50, 4, 32); "
        "m(x, x, x)[0].sum().backward()"
    ),
    "medians": "ag.rand(100_000, dtype=ag.float64).median()",
    "linear algebra": "a = ag.rand(40, 40).double(); ag.linalg.svd(a), ag.linalg.inv(a)",
}


def test_a_thread_with_64_kib_computes():
    done = programs.run("-c", PROGRAM, json.dumps(PIECES), cwd=ROOT)
    begun = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, ""), (begun[-1:], done.stderr[-2000:])
    assert begun == list(PIECES)


@pytest.mark.skipif(not parallel.info()["openmp"], reason="built without OpenMP")
def test_threads_of_openmp_with_64_kib_compute():
    text = """
import autograd_cy as ag
ag.set_num_threads(2)
a = ag.rand(300, 300).bfloat16()
x = ag.rand(1000, 1000)
print(bool(((a @ a).float() - a.float() @ a.float()).abs().max() < 1))
(x + x.t()).mul_(x.t()).sum()
ag.nn.functional.max_pool2d(ag.rand(16, 8, 64, 64, dtype=ag.float64), 2)
print("done")
"""
    done = programs.run("-c", text, env=os.environ | {"OMP_STACKSIZE": "64k"}, cwd=ROOT)
    assert done.stdout.split() == ["True", "done"], done.stderr[-2000:]


def test_results_are_the_same_on_any_stack():
    x, a = ag.rand(500, 9, dtype=ag.float64), ag.rand(70, 70).bfloat16()

    def work():
        return [x.softmax(1), a @ a, x + x[:, :1], x.sum(0), x.sort(1).values, a.t() * a]

    wanted, found = work(), []
    before = threading.stack_size(SMALL)
    try:
        thread = threading.Thread(target=lambda: found.extend(work()))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert all(ag.equal(one, other) for one, other in zip(wanted, found, strict=True))


def sweep(size, first, step):
    command = [sys.executable, "small_stacks.py", str(size), str(first), str(step)]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=HERE, env=environ, capture_output=True, timeout=600)
    last = done.stdout.decode().splitlines()[-1:]
    assert (done.returncode, last) == (0, ["done"]), done.stderr.decode()[-2000:]


def test_a_tenth_of_all_samples_run_in_a_thread_with_64_kib():
    sweep(SMALL, 3, 10)


@pytest.mark.slow
def test_all_samples_run_in_a_thread_with_64_kib():
    sweep(SMALL, 0, 1)
