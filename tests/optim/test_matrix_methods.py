"""Adafactor and Muon, whose steps look at whole matrices."""

import copy

import numpy as np
import pytest

import autograd_cy as ag

# After steps with gradients 2 w: what PyTorch 2.13 gives.
ADAFACTOR = {
    "matrix": [[0.48549274, 1.2309197], [2.251792, 3.283523]],
    "vector": [0.9, 1.4],
}


def run(lib, make, start, steps=4):
    w = lib.nn.Parameter(lib.tensor(start, dtype=lib.float64))
    optimizer = make(lib, [w])
    for step in range(steps):
        optimizer.zero_grad()
        ((w + 0.1 * step) ** 2).sum().backward()
        optimizer.step()
    return w, optimizer


MATRIX = np.random.default_rng(0).standard_normal((3, 5))
CUBE = np.random.default_rng(1).standard_normal((2, 3, 4))
VECTOR = np.array([1.0, -2.0, 0.5])
OPTIONS = (
    {},
    {"lr": 0.3},
    {"lr": 0.1, "weight_decay": 0.1},
    {"beta2_decay": -0.5, "eps": (1e-5, 0.1)},
    {"d": 1.5, "maximize": True, "lr": 0.05},
)


def test_three_steps_of_adafactor_by_hand():
    w = ag.nn.Parameter(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    optimizer = ag.optim.Adafactor([w], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        (w * w).sum().backward()
        optimizer.step()
    np.testing.assert_allclose(w.detach().numpy(), ADAFACTOR["matrix"], rtol=1e-5)
    assert sorted(optimizer.state[w]) == ["col_var", "row_var", "step"]
    assert optimizer.state[w]["row_var"].shape == (2, 1)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("start", [MATRIX, VECTOR, CUBE])
def test_adafactor_is_that_of_torch(options, start):
    torch = pytest.importorskip("torch")

    def make(lib, params):
        return lib.optim.Adafactor(params, **options)

    (w, ours), (v, theirs) = run(ag, make, start), run(torch, make, start)
    np.testing.assert_allclose(w.detach().numpy(), v.detach().numpy(), rtol=1e-7)
    for name, value in theirs.state[v].items():
        mine = ours.state[w][name]
        np.testing.assert_allclose(mine.numpy(), value.numpy(), rtol=1e-7, err_msg=name)
        assert str(mine.dtype).split(".")[1] == str(value.dtype).split(".")[1]
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize(
    "options",
    [{}, {"lr": 0.1}, {"nesterov": False}, {"adjust_lr_fn": "match_rms_adamw", "lr": 0.05}],
)
@pytest.mark.parametrize("start", [MATRIX, MATRIX.T.copy()])
def test_muon_is_that_of_torch(options, start):
    torch = pytest.importorskip("torch")

    def make(lib, params):
        return lib.optim.Muon(params, **options)

    (w, ours), (v, theirs) = run(ag, make, start), run(torch, make, start)
    moved = np.abs(v.detach().numpy() - start).max()
    # Products in bfloat16, which are rounded in another order.
    np.testing.assert_allclose(w.detach().numpy(), v.detach().numpy(), atol=0.03 * moved)
    buffers = [o.state[p]["momentum_buffer"] for o, p in ((ours, w), (theirs, v))]
    np.testing.assert_allclose(buffers[0].numpy(), buffers[1].numpy(), rtol=0.05, atol=1e-3)
    assert repr(ours) == repr(theirs)


def test_a_step_of_muon_has_singular_values_near_one():
    w = ag.nn.Parameter(ag.tensor(MATRIX))
    w.grad = ag.tensor(MATRIX * 100)
    ag.optim.Muon([w], lr=1.0, weight_decay=0.0).step()
    values = ag.linalg.svdvals(ag.tensor(MATRIX) - w.detach())
    assert bool(((values > 0.6) & (values < 1.3)).all())


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("Adafactor", {"lr": -1}, "Learning rate should be >= 0 but is: -1"),
        ("Adafactor", {"beta2_decay": 1}, "beta2_decay should be <= 0 but is: 1"),
        ("Adafactor", {"eps": (-1, 1)}, "epsilon1 should be >= 0 but is: -1"),
        ("Adafactor", {"eps": (1, -1)}, "epsilon2 should be >= 0 but is: -1"),
        ("Adafactor", {"d": 0.5}, "Clipping threshold d should be >= 1 but is: 0.5"),
        ("Adafactor", {"weight_decay": -1}, "weight_decay should be >= 0 but is: -1"),
        ("Muon", {"lr": -1}, "Learning rate should be >= 0 but is: -1"),
        ("Muon", {"momentum": -1}, "momentum should be >= 0 but is: -1"),
        ("Muon", {"weight_decay": -1}, "weight decay should be >= 0 but is: -1"),
        ("Muon", {"adjust_lr_fn": "x"}, "Adjust learning rate function x is not supported"),
    ],
)
def test_options_out_of_range_are_refused(name, options, text):
    with pytest.raises(ValueError, match=text):
        getattr(ag.optim, name)([ag.zeros(2, 2, requires_grad=True)], **options)


def test_parameters_of_other_kinds_are_refused():
    with pytest.raises(ValueError, match="Muon only supports 2D parameters whereas we found a"):
        ag.optim.Muon([ag.zeros(2, requires_grad=True)])
    for name in ("Adafactor", "Muon"):
        w = ag.zeros(2, 2, dtype=ag.complex64, requires_grad=True)
        w.grad = ag.ones(2, 2, dtype=ag.complex64)
        optimizer = getattr(ag.optim, name)([w])
        with pytest.raises(RuntimeError, match=f"{name} does not support complex parameters"):
            optimizer.step()
        assert (w == 0).all() and not optimizer.state[w]


@pytest.mark.parametrize("name", ["Adafactor", "Muon"])
def test_a_saved_state_goes_on_where_it_was(name):
    def make(lib, params):
        return getattr(lib.optim, name)(params, lr=0.1)

    w, optimizer = run(ag, make, MATRIX, steps=2)
    other = ag.nn.Parameter(w.detach().clone())
    again = make(ag, [other])
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for p, o in ((w, optimizer), (other, again)):
        p.grad = ag.ones_like(p)
        o.step()
    assert ag.equal(w, other)
