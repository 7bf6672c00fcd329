"""A process that uses a wheel together with packages that bring an OpenMP runtime of their own."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "build"))
from building import clean_environment, run_python

OTHERS = [name for name in ("sklearn", "torch") if importlib.util.find_spec(name)]

# Imports packages in the order of its argument, computes in parallel with each in that order and
# the other way round, with all threads and with one, and in a forked child.
PROGRAM = """
import importlib, json, os, signal, sys

import numpy as np
import threadpoolctl

order = sys.argv[1].split(",")


def autograd_cy():
    import autograd_cy as ag

    x = ag.arange(1_000_000, dtype=ag.float64, requires_grad=True)
    (x * x).sum().backward()
    assert x.grad[-1].item() == 2.0 * 999_999
    return float(x.grad.sum())


def sklearn():
    from sklearn.cluster import KMeans

    points = np.random.default_rng(0).normal(size=(5000, 3))
    return float(KMeans(4, init=points[:4].copy(), n_init=1, max_iter=20).fit(points).inertia_)


def torch():
    import torch

    return float((torch.arange(1_000_000, dtype=torch.float64) * 3).sum())


def sizes():
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "openmp"]
    return {pool["filepath"]: pool["num_threads"] for pool in pools}


work = {"autograd_cy": autograd_cy, "sklearn": sklearn, "torch": torch}
for name in order:
    importlib.import_module(name)
first = {name: work[name]() for name in order}
again = {name: work[name]() for name in reversed(order)}
with threadpoolctl.threadpool_limits(1):
    alone = {name: work[name]() for name in order}

import autograd_cy as ag
from autograd_cy._C import parallel

before = sizes()
with threadpoolctl.threadpool_limits(1):
    limited = ag.get_num_threads()
ag.set_num_threads(1)
after = sizes()
ag.set_num_threads(2)

read, write = os.pipe()
child = os.fork()
if child == 0:
    signal.alarm(60)  # ends a child that waits for threads of its parent
    os.write(write, repr(autograd_cy()).encode())
    os._exit(0)
os.close(write)
status = os.waitpid(child, 0)[1]
print(json.dumps({
    "first": first, "again": again, "alone": alone, "before": before, "after": after,
    "own": os.path.realpath(parallel.info()["library"]), "limited": limited,
    "threads": ag.get_num_threads(), "status": status, "forked": os.read(read, 100).decode(),
}))
"""


def install(wheel, folder):
    """Install a wheel alone in a folder."""
    options = ("--quiet", "--no-deps", "--no-index", "--target", folder)
    run_python("-m", "pip", "install", *options, wheel, cwd=folder)
    return folder


def run_beside(site, folder, order):
    """Run the program with the package installed in `site`; return what it reports."""
    pytest.importorskip("threadpoolctl", reason="comes with scikit-learn")
    (folder / "program.py").write_text(PROGRAM)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "program.py", order], cwd=folder, timeout=300, text=True,
        env=clean_environment(PYTHONPATH=site, OMP_NUM_THREADS=2), capture_output=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads(run.stdout)


def check(report):
    """Each package computes what it computes alone, and each pool keeps its own size."""
    first = report["first"]
    for other in ("again", "alone"):
        assert report[other] == pytest.approx(first, rel=1e-12)
    assert (report["status"], report["forked"]) == (0, repr(first["autograd_cy"]))
    assert report["own"] in {os.path.realpath(path) for path in report["before"]}
    assert set(report["before"].values()) == {2}
    assert (report["limited"], report["threads"]) == (1, 2)
    # The package chooses the size of its own teams: the pools of others stay as they are.
    assert report["after"] == report["before"]
