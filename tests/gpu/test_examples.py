"""The programs in examples/ compute on a GPU what they compute on the CPU."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

import autograd_cy as ag

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# Short ones, and what they print that must be alike: a pattern with one number.
RUNS = {
    "char_transformer": (["--steps", "1"], r"bits per character: ([\d.]+)"),
    "lstm_series": (["--steps", "1"], r"Error of the next sample ([\d.]+)"),
    "neural_ode": (["--steps", "1"], r"mean distance ([\d.]+)"),
    "physics_informed": (["--steps", "1"], r"loss ([\d.e+-]+)"),
    "variational_digits": (["--epochs", "1"], None),  # draws in another order of threads
    "profile_mlp": (["--steps", "1"], None),
    "profile_lstm": (["--length", "2"], None),
    "profile_double_backward": (["--steps", "1"], None),
    "train_hogwild": (["--steps", "4", "--threads", "1"], r"([\d.]+)% of unseen"),
    "train_digits": (["--epochs", "1", "--batch-size", "512"], r"loss ([\d.]+)"),
    "frozen_resnet": (["--epochs", "1"], r"loss ([\d.]+)"),
    "legacy_digits": (["--epochs", "1"], None),  # masks of dropout come from another generator
    "legacy_function": ([], None),
    "legacy_reinforce": (["--episodes", "2"], None),
}
LONG = {"frozen_resnet", "train_digits"}  # seconds of convolutions on the emulated driver


@pytest.fixture(scope="module", autouse=True)
def generator():
    """The default generator is there for good."""
    ag.rand(1, device="cuda")


def printed(name, device, monkeypatch, capsys, tmp_path):
    """Return the output of the program, run in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, *RUNS[name][0], "--device", device])
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    if name == "char_transformer":  # of what it writes and reads a few characters
        write, surprise = module.write, module.surprise
        monkeypatch.setattr(module, "write", lambda outcome, start, _: write(outcome, start, 3))
        monkeypatch.setattr(module, "surprise", lambda outcome, _: surprise(outcome, 4))
    threads = ag.get_num_threads()
    try:
        assert module.main() == 0
    finally:
        ag.set_num_threads(threads)
    return capsys.readouterr().out


def test_every_program_is_here():
    # Processes by MPI get tensors of GPUs through the host, and the program uses none.
    assert {path.stem for path in EXAMPLES.glob("*.py")} - {"train_mpi"} == RUNS.keys()


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in RUNS]
)
def test_programs_run_on_a_gpu(name, monkeypatch, capsys, tmp_path):
    for module in ("matplotlib", "sklearn"):
        pytest.importorskip(module)
    ag.cuda.init()
    if name == "frozen_resnet":
        monkeypatch.setattr("numpy.flatnonzero", first_of(__import__("numpy").flatnonzero))
    ag.cuda.reset_peak_memory_stats()
    before = ag.cuda.memory_allocated()
    found = printed(name, "cuda", monkeypatch, capsys, tmp_path)
    assert ag.cuda.max_memory_allocated() > before, "nothing was on the GPU"
    pattern = RUNS[name][1]
    if pattern is not None:
        wanted = printed(name, "cpu", monkeypatch, capsys, tmp_path)
        one, other = (float(re.search(pattern, text)[1]) for text in (found, wanted))
        assert one == pytest.approx(other, rel=0.02)


def first_of(function):
    """Limit `flatnonzero` to its first 24 results: few images are enough."""
    return lambda *arguments: function(*arguments)[:24]
