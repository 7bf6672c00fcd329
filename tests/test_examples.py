"""The programs in examples/ do what they say."""

import ast
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


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_each_option_says_what_it_is(path):
    silent = [
        call.args[0].value
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).rpartition(".")[2] in ("add", "add_argument")
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and "help" not in [word.arg for word in call.keywords]
    ]
    assert silent == []


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


def example(name):
    """A fixture's body: the example as a module, forgotten afterwards."""
    yield load(name)
    del sys.modules[name]


@pytest.fixture
def old_digits():
    yield from example("legacy_digits")


@pytest.fixture
def old_reinforce():
    yield from example("legacy_reinforce")


@pytest.fixture
def old_function():
    yield from example("legacy_function")


def run_main(module, monkeypatch, path, *options):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(sys, "argv", ["x", *options, "--output", str(path)])
    assert module.main() == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_network_of_2017_learns_digits_and_tests_with_volatile_input(
    old_digits, monkeypatch, tmp_path
):
    model, rows, testing, predictions = old_digits.run(epochs=4, samples=800)
    assert rows[-1][0] < rows[0][0] - 0.5  # the loss, of 2.3 by chance
    assert rows[-1][2] > 0.5  # a tenth would be right by chance
    assert predictions.eq(testing.target_tensor).sum() == round(rows[-1][2] * len(testing))
    assert not model.training
    outcome = model, rows, testing, predictions
    monkeypatch.setattr(old_digits, "run", lambda epochs, device: outcome)
    run_main(old_digits, monkeypatch, tmp_path / "digits.png", "--epochs", "1")


def test_reinforce_finds_the_way_to_the_goal(old_reinforce, monkeypatch, tmp_path, capsys):
    policy, curve = old_reinforce.train(episodes=40)
    assert curve[0][0] < 0 < 0.6 < curve[-1][0] and curve[-1][1] > 0.9
    # Where the goal is next, the best step goes there.
    assert old_reinforce.as_text(policy).splitlines()[0].endswith("\u2192 G")
    monkeypatch.setattr(old_reinforce, "train", lambda episodes, device: (policy, curve))
    run_main(old_reinforce, monkeypatch, tmp_path / "grid.png")
    assert "P" in capsys.readouterr().out


def test_a_function_with_numpy_inside_passes_gradcheck_and_sharpens(
    old_function, monkeypatch, tmp_path, capsys
):
    signal, blurred, found, losses = old_function.sharpen(steps=120)
    assert losses[-1] < losses[0] / 3
    assert ((found - signal) ** 2).mean() < 0.6 * ((blurred - signal) ** 2).mean()
    monkeypatch.setattr(old_function, "sharpen", lambda device: (signal, blurred, found, losses))
    run_main(old_function, monkeypatch, tmp_path / "function.png")
    assert "gradcheck: True" in capsys.readouterr().out


def test_a_wrong_backward_of_the_function_is_found(old_function, monkeypatch):
    kind = old_function.CircularConvolution
    right = kind.backward
    monkeypatch.setattr(kind, "backward", lambda self, g: tuple(x * 2 for x in right(self, g)))
    assert old_function.check() is False


@pytest.mark.parametrize("name", ["legacy_digits", "legacy_function", "legacy_reinforce"])
def test_without_matplotlib_a_program_of_2017_says_so_before_it_trains(name, monkeypatch, capsys):
    module = load(name)
    try:
        for work in {"run", "check", "train"} & vars(module).keys():
            monkeypatch.setattr(module, work, lambda *_: pytest.fail("it trained first"))
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        monkeypatch.setattr(sys, "argv", ["x"])
        assert module.main() == 2
    finally:
        del sys.modules[name]
    assert 'matplotlib missing. Install with: pip install -e ".[train]"' in capsys.readouterr().err


def test_all_programs_are_installed_by_the_line_of_the_readme():
    line = 'pip install -e ".[train]"'
    assert line in (EXAMPLES.parent / "README.md").read_text()
    for path in EXAMPLES.glob("*.py"):
        text = path.read_text()
        assert "autograd_cy[" not in text, path.name
        assert line in text or "matplotlib" not in text.replace("no matplotlib", ""), path.name


@pytest.fixture
def profiled(request):
    yield load(request.param)
    del sys.modules[request.param]


PROFILED = {
    "profile_mlp": ("mlp.svg", "Net.middle", b"<svg"),
    "profile_lstm": ("lstm.png", "profile_lstm.py(3", b"PNG"),
    "profile_double_backward": ("memory.png", "alive at the peak", b"PNG"),
}


@pytest.mark.parametrize(
    ("profiled", "expected"), PROFILED.items(), ids=PROFILED, indirect=["profiled"]
)
def test_profiled_programs_print_and_draw(profiled, expected, tmp_path, monkeypatch, capsys):
    picture, words, kind = expected
    if picture.endswith(".png"):
        pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.setattr(sys, "argv", ["x", "--picture", str(tmp_path / picture)])
    assert profiled.main() == 0
    assert words in capsys.readouterr().out
    assert kind in (tmp_path / picture).read_bytes()[:200]


@pytest.mark.parametrize("profiled", ["profile_mlp"], indirect=True)
def test_layers_cost_forward_and_backward(profiled):
    rows = {row.key: row for row in profiled.record(steps=3).group("module")}
    for layer in ("Net.first", "Net.middle", "Net.last"):
        assert rows[layer].calls == 3 and rows[layer].forward > 0 and rows[layer].backward > 0


@pytest.mark.parametrize("profiled", ["profile_lstm"], indirect=True)
def test_the_loop_has_a_label_for_each_cell(profiled):
    prof = profiled.record(length=5)
    counts = {average.key: average.count for average in prof.key_averages()}
    forward = {row.key: row.calls for row in prof.group("op")}
    assert counts["cell"] == forward["cat"] == forward["linear"] == 5
    assert counts["ProfilerStep*"] == 1


@pytest.mark.parametrize("profiled", ["profile_double_backward"], indirect=True)
def test_the_second_backward_runs_the_nodes_of_the_first(profiled):
    prof = profiled.record(steps=1)
    names = {average.op for average in prof.key_averages()}
    assert "TanhBackward0" in names and "TanhBackwardBackward0" in names
    assert sum(row.bytes for row in prof.memory().alive) > 0
