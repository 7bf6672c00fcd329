"""The programs in examples/ that train models learn what they say, in a short form."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import autograd_cy as torch

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = [
    "train_digits",
    "char_transformer",
    "lstm_series",
    "frozen_resnet",
    "variational_digits",
    "neural_ode",
    "physics_informed",
]


@pytest.fixture
def program(request):
    """An example as a module, forgotten afterwards."""
    spec = importlib.util.spec_from_file_location(request.param, EXAMPLES / f"{request.param}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[request.param] = module
    spec.loader.exec_module(module)
    state = torch.get_rng_state()
    yield module
    torch.set_rng_state(state)
    del sys.modules[request.param]


def of(name):
    return pytest.mark.parametrize("program", [name], indirect=True)


def run(program, monkeypatch, *options):
    monkeypatch.setattr(sys, "argv", ["x", *map(str, options)])
    return program.main()


def draws(program, monkeypatch, path, *options):
    """Run the program as a user does; there is a picture then."""
    pytest.importorskip("matplotlib").use("Agg")
    assert run(program, monkeypatch, *options, "--output", path) == 0
    assert path.read_bytes().startswith(b"\x89PNG")


@of("physics_informed")
def test_the_network_obeys_the_heat_equation(program, monkeypatch, tmp_path):
    rod, losses = program.train(12, width=16, points=120)
    found, wanted = program.on_a_grid(rod, 21)
    assert losses[-1] < losses[0] / 1000
    assert np.linalg.norm(found - wanted) < 0.1 * np.linalg.norm(wanted)
    monkeypatch.setattr(program, "train", lambda steps: (rod, losses))
    draws(program, monkeypatch, tmp_path / "heat.png")


@of("physics_informed")
def test_its_exact_solution_is_one(program):
    h, (x, t) = 1e-4, np.random.default_rng(0).uniform(0.1, 0.9, size=(2, 20))
    u = program.exact
    by_time = (u(x, t + h) - u(x, t - h)) / (2 * h)
    by_place = (u(x + h, t) - 2 * u(x, t) + u(x - h, t)) / h**2
    assert np.allclose(by_time, program.CONDUCTIVITY * by_place, atol=1e-5)


@of("neural_ode")
def test_both_gradients_of_the_solver_agree(program, monkeypatch, tmp_path, capsys):
    torch.manual_seed(0)
    law = program.Law().double()
    data = torch.from_numpy(program.observe(program.LENGTH + 1, noise=0.01))
    ways = [program.gradients(law, data, adjoint) for adjoint in (False, True)]
    for one, other in zip(*ways):
        assert (one - other).norm() < 1e-3 * one.norm()
    learnt, observed, losses = program.train(60, adjoint=True)
    assert np.mean(losses[-5:]) < 0.4 * losses[0]
    monkeypatch.setattr(program, "train", lambda *_: (learnt, observed, losses))
    draws(program, monkeypatch, tmp_path / "spiral.png")
    assert "differ by" in capsys.readouterr().out


@of("variational_digits")
def test_the_bound_of_the_autoencoder_grows(program, monkeypatch, tmp_path):
    pytest.importorskip("sklearn")
    model, losses = program.train(4)
    assert losses[-1] < losses[0] - 5
    assert program.drawn(model, 3).shape == (30, 30)
    monkeypatch.setattr(program, "train", lambda epochs: (model, losses))
    draws(program, monkeypatch, tmp_path / "hidden.png")


@of("lstm_series")
def test_the_lstm_learns_the_series(program, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    outcome = program.train(40)
    assert np.mean(outcome.losses[-5:]) < np.mean(outcome.losses[:5])
    assert outcome.error < outcome.naive and outcome.free.shape == (40, 4)
    monkeypatch.setattr(program, "train", lambda steps: outcome)
    draws(program, monkeypatch, tmp_path / "waves.png")


@of("char_transformer")
def test_the_transformer_learns_characters_from_the_past_alone(program, monkeypatch, tmp_path):
    outcome = program.train(20, context=16, width=32, layers=1, batch=8)
    assert outcome.training[-1] < outcome.training[0] - 1
    model = outcome.model.eval()
    codes = torch.tensor([outcome.text.encode("the future here")])
    other = codes.clone()
    other[0, 10:] = 5
    with torch.no_grad():
        assert torch.equal(model(codes)[:, :10], model(other)[:, :10])
    assert len(program.write(outcome, "The ", 5)) == 9
    monkeypatch.setattr(program, "train", lambda steps: outcome)
    monkeypatch.setattr(program, "write", lambda *_: "The")
    draws(program, monkeypatch, tmp_path / "text.png")


@of("frozen_resnet")
def test_a_frozen_body_keeps_its_weights_and_stores_no_gradient(program, monkeypatch, tmp_path):
    pytest.importorskip("sklearn")
    runs, apart = program.compare(1, count=46)  # two batches
    # Batches of features differ from those of images in the order of sums at most.
    assert apart < 1e-5
    last = 512 * 5 + 5
    assert [run.gradients == last for run in runs] == [True, True, False]
    model = program.freeze(program.ResNet18(5), 0)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    program.train_on(model, program.load(5, 24), 1, "")
    for name, value in model.state_dict().items():
        assert torch.equal(before[name], value) != name.startswith("fc."), name
    monkeypatch.setattr(program, "compare", lambda epochs: (runs, apart))
    draws(program, monkeypatch, tmp_path / "layers.png")


@of("train_digits")
def test_an_interrupted_training_ends_with_the_same_bits(program, monkeypatch, tmp_path, capsys):
    pytest.importorskip("sklearn")
    data = program.load_digits(0)
    small = program.Data(data.train_images[:96], data.train_digits[:96], *data_tests(data))

    def options(checkpoint):
        arguments = ["x", "--epochs", "3", "--checkpoint", str(checkpoint)]
        monkeypatch.setattr(sys, "argv", arguments)
        return program.parse_arguments()

    whole = program.Training(torch, small, options(tmp_path / "whole.pt"))
    whole.run()
    cut = program.Training(torch, small, options(tmp_path / "cut.pt"))
    cut.evaluate = lambda: None

    def interrupted(path):
        program.Training.save(cut, path)
        raise KeyboardInterrupt

    cut.save = interrupted
    with pytest.raises(KeyboardInterrupt):
        cut.run()
    resumed = program.Training(torch, small, options(tmp_path / "cut.pt"))
    resumed.run()
    assert "after epoch 1" in capsys.readouterr().out
    assert resumed.outcome.losses == whole.outcome.losses
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, resumed.model.state_dict()[name]), name


@of("train_digits")
def test_a_checkpoint_of_the_end_or_of_another_training(program, monkeypatch, tmp_path, capsys):
    pytest.importorskip("sklearn")
    data = program.load_digits(0)
    small = program.Data(data.train_images[:64], data.train_digits[:64], *data_tests(data))

    def train(*arguments):
        monkeypatch.setattr(sys, "argv", ["x", "--checkpoint", str(tmp_path / "x.pt"), *arguments])
        return program.Training(torch, small, program.parse_arguments()).run()

    first, again = train("--epochs", "1"), train("--epochs", "1")
    assert again.accuracies == first.accuracies and again.losses == first.losses
    assert np.array_equal(again.predictions, first.predictions) and again.speed == 0
    with pytest.raises(SystemExit) as caught:
        train("--epochs", "2")
    assert caught.value.code == 2
    assert "is of a training with --epochs 1, not 2" in capsys.readouterr().err


def data_tests(data):
    return data.test_images[:32], data.test_digits[:32]


@of("train_digits")
def test_shifted_images_move_by_a_pixel_at_most(program):
    image = np.zeros((200, 1, 8, 8), dtype="float32")
    image[:, 0, 4, 4] = 1
    moved = program.shifted(image, np.random.default_rng(0))
    places = {tuple(place[2:]) for place in np.argwhere(moved == 1)}
    assert places == {(row, column) for row in (3, 4, 5) for column in (3, 4, 5)}
    assert moved.sum() == 200


@pytest.mark.parametrize("program", PROGRAMS, indirect=True)
def test_what_is_missing_is_named_before_the_training(program, monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert run(program, monkeypatch) == 2
    assert 'Install with: pip install -e ".[train]"' in capsys.readouterr().err
