"""The programs in examples/ do what they say."""

import importlib.util
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def load(name):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def hogwild():
    yield load("train_hogwild")
    del sys.modules["train_hogwild"]


@pytest.mark.parametrize("threads", [1, 4])
def test_threads_without_locks_learn_the_spirals(hogwild, threads):
    # A third of the points would be right by chance.
    outcome = hogwild.train(threads, steps=1200, batch=64, width=64)
    assert outcome.accuracy > 0.95


def test_threads_share_weights_and_no_gradients(hogwild):
    import autograd_cy as torch

    model = hogwild.make_model(8)
    one, other = (hogwild.on_the_same_memory(model) for _ in range(2))
    torch.nn.functional.mse_loss(one(torch.ones(2, 2)), torch.ones(2, 3)).backward()
    for p, q, r in zip(model.parameters(), one.parameters(), other.parameters()):
        assert p.data_ptr() == q.data_ptr() == r.data_ptr()
        assert p.grad is None and q.grad is not None and r.grad is None
        versions = p._version, q._version, r._version
        with torch.no_grad():
            q.add_(1)
        assert (p._version, q._version - 1, r._version) == versions
    assert torch.equal(one(torch.ones(1, 2)), other(torch.ones(1, 2)))


def test_the_command_line_prints_the_accuracy(hogwild, monkeypatch, capsys):
    import autograd_cy as torch

    before = torch.get_num_threads()
    monkeypatch.setattr(sys, "argv", ["x", "--threads", "2", "--steps", "20", "--compare"])
    try:
        assert hogwild.main() == 0
    finally:
        torch.set_num_threads(before)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" of ")[0][:13] for line in lines] == ["1 thread(s): ", "2 thread(s): "]
    assert all("of unseen points right" in line for line in lines)
