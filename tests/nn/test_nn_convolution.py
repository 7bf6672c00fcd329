"""Layers of convolutions: what they are made of, what they show and refuse."""

import itertools

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import nn

LAYERS = [(nn.Conv1d, 1), (nn.Conv2d, 2), (nn.Conv3d, 3)]
BACK = [(nn.ConvTranspose1d, 1), (nn.ConvTranspose2d, 2), (nn.ConvTranspose3d, 3)]


@pytest.mark.parametrize(("kind", "dims"), LAYERS + BACK)
def test_layers_call_their_functions(kind, dims):
    name = kind.__name__.lower().replace("transpose", "_transpose")
    layer = kind(4, 6, 3, stride=2, padding=1, groups=2)
    x = ag.randn(2, 4, *(5,) * dims)
    expected = getattr(nn.functional, name)(
        x, layer.weight, layer.bias, stride=2, padding=1, groups=2
    )
    assert ag.equal(layer(x), expected)
    layer(x).sum().backward()
    assert layer.weight.grad.shape == layer.weight.shape
    assert layer.bias.grad.shape == (6,)
    assert list(layer.state_dict()) == ["weight", "bias"]
    assert [n for n, _ in layer.named_parameters()] == ["weight", "bias"]
    assert kind(4, 6, 3, bias=False).bias is None


@pytest.mark.parametrize(("kind", "dims"), LAYERS + BACK)
def test_weights_start_within_their_bounds(kind, dims):
    layer = kind(4, 6, 3)
    transposed = layer.transposed
    assert layer.weight.shape == ((4, 6) if transposed else (6, 4)) + (3,) * dims
    bound = 1 / np.sqrt((6 if transposed else 4) * 3**dims)
    for t in layer.parameters():
        assert t.abs().max().item() <= bound
    assert layer.weight.abs().max().item() > 0.6 * bound


def test_what_layers_show():
    assert str(nn.Conv2d(1, 6, 5)) == "Conv2d(1, 6, kernel_size=(5, 5), stride=(1, 1))"
    layer = nn.Conv1d(3, 6, 3, 2, 1, 2, 3, False, "reflect")
    assert str(layer) == (
        "Conv1d(3, 6, kernel_size=(3,), stride=(2,), padding=(1,), dilation=(2,), groups=3, "
        "bias=False, padding_mode=reflect)"
    )
    assert "padding=same" in str(nn.Conv2d(1, 1, 3, padding="same"))
    assert "output_padding=(1, 0)" in str(nn.ConvTranspose2d(1, 1, 3, 2, output_padding=(1, 0)))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"groups": 0}, "groups must be a positive integer"),
        ({"groups": 3}, "in_channels must be divisible by groups"),
        ({"out_channels": 3, "groups": 2}, "out_channels must be divisible by groups"),
        ({"padding": "full"}, "Invalid padding string 'full'"),
        ({"padding": "same", "stride": 2}, "padding='same' is not supported for strided"),
        ({"padding_mode": "mirror"}, "padding_mode must be one of"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments, text):
    given = {"in_channels": 4, "out_channels": 4, "kernel_size": 3} | arguments
    for kind, _ in LAYERS:
        with pytest.raises(ValueError, match=text):
            kind(**given)


def test_transposed_layers_know_zeros_only():
    for kind, _ in BACK:
        with pytest.raises(ValueError, match='Only "zeros" padding mode'):
            kind(2, 2, 3, padding_mode="circular")


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding", [2, "same", "valid", (1, 3)])
def test_margins_of_elements_of_the_image(mode, padding):
    layer = nn.Conv2d(2, 3, (3, 4), padding=padding, padding_mode=mode)
    x = ag.randn(2, 2, 5, 6, requires_grad=True)
    margins = {2: ((2, 2), (2, 2)), "same": ((1, 1), (1, 2)), "valid": ((0, 0), (0, 0))}
    margins = margins.get(padding, ((1, 1), (3, 3)))
    name = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    inside = np.pad(x.detach().numpy(), ((0, 0), (0, 0), *margins), mode=name)
    expected = nn.functional.conv2d(ag.tensor(inside), layer.weight, layer.bias)
    ag.testing.assert_close(layer(x), expected)
    layer(x).sum().backward()
    assert x.grad is not None


def test_margins_that_are_too_wide_are_refused():
    x = ag.ones(1, 1, 4)
    with pytest.raises(RuntimeError, match="wrapping around more than once"):
        nn.Conv1d(1, 1, 3, padding=5, padding_mode="circular")(x)
    with pytest.raises(RuntimeError, match="Padding size should be less than"):
        nn.Conv1d(1, 1, 3, padding=4, padding_mode="reflect")(x)


def test_the_size_of_a_transposed_result_can_be_asked_for():
    layer = nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1)
    x = ag.ones(1, 2, 4, 4)
    assert layer(x).shape == (1, 3, 7, 7)
    for size in ((8, 8), (1, 3, 8, 8)):
        assert layer(x, output_size=size).shape == (1, 3, 8, 8)
    assert layer(x[0], (3, 8, 7)).shape == (3, 8, 7)
    with pytest.raises(ValueError, match="requested an output size"):
        layer(x, (9, 8))
    with pytest.raises(ValueError, match="output_size must have 2 or 4 elements"):
        layer(x, (8,))


def test_layers_against_torch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    for dims, transposed in itertools.product((1, 2, 3), (False, True)):
        name = f"Conv{'Transpose' if transposed else ''}{dims}d"
        options = {"stride": 2, "padding": 1, "groups": 2, "dilation": 2}
        ours = getattr(nn, name)(4, 6, 3, **options)
        theirs = getattr(torch.nn, name)(4, 6, 3, **options)
        assert str(ours) == str(theirs)
        state = {k: v.numpy() for k, v in theirs.state_dict().items()}
        ours.load_state_dict({k: ag.tensor(v) for k, v in state.items()})
        values = rng.standard_normal((3, 4, *(9, 8, 7)[:dims])).astype(np.float32)
        x, t = ag.tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
        y, u = ours(x), theirs(t)
        np.testing.assert_allclose(y.detach().numpy(), u.detach().numpy(), rtol=0, atol=1e-5)
        (y * y).sum().backward()
        (u * u).sum().backward()
        for a, b in ((x, t), (ours.weight, theirs.weight), (ours.bias, theirs.bias)):
            ours_grad, theirs_grad = a.grad.numpy(), b.grad.numpy()
            scale = np.abs(theirs_grad).max()
            # torch's sum of a bias's gradient is off by that much.
            np.testing.assert_allclose(ours_grad, theirs_grad, rtol=0, atol=1e-4 * scale)


def test_layers_of_columns():
    x = ag.randn(2, 3, 5, 6)
    unfold = nn.Unfold((2, 3), dilation=1, padding=1, stride=2)
    fold = nn.Fold((5, 6), (2, 3), dilation=1, padding=1, stride=2)
    assert str(unfold) == "Unfold(kernel_size=(2, 3), dilation=1, padding=1, stride=2)"
    assert str(fold).startswith("Fold(output_size=(5, 6), kernel_size=(2, 3), dilation=1, ")
    columns = unfold(x)
    assert ag.equal(columns, nn.functional.unfold(x, (2, 3), padding=1, stride=2))
    count = fold(unfold(ag.ones_like(x)))
    ag.testing.assert_close(fold(columns), x * count)


def test_options_that_are_the_usual_ones_are_not_shown_in_any_length():
    # As in torch, where one number in a tuple does for all dimensions.
    usual = repr(nn.Conv2d(2, 4, 3))
    for options in ({"padding": (0,)}, {"dilation": [1]}, {"dilation": (1, 1)}):
        assert repr(nn.Conv2d(2, 4, 3, **options)) == usual
    assert repr(nn.Conv2d(2, 4, 3, padding="valid")) == usual[:-1] + ", padding=valid)"
    assert repr(nn.Conv2d(2, 4, 3, dilation=2)) == usual[:-1] + ", dilation=(2, 2))"


def test_steps_of_two_across_rows_of_every_width():
    """Every second element of a row is copied in pieces that may overlap."""
    rng = np.random.default_rng(7)
    for width, pad in itertools.product(range(2, 42), range(2)):
        # Small whole numbers, whose sums are exact in any order.
        x = rng.integers(-8, 9, (2, 3, width)).astype(np.float32)
        w = rng.integers(-8, 9, (3, 1, 2)).astype(np.float32)
        filled = np.pad(x, ((0, 0), (0, 0), (pad, pad)))
        taps = np.stack([filled[..., :-1], filled[..., 1:]], axis=-1)[:, :, ::2]
        weight = ag.tensor(w, requires_grad=True)
        y = nn.functional.conv1d(ag.tensor(x), weight, stride=2, padding=pad, groups=3)
        assert np.array_equal(y.detach().numpy(), (taps * w).sum(-1)), (width, pad)
        y.sum().backward()
        assert np.array_equal(weight.grad.numpy()[:, 0], taps.sum((0, 2))), (width, pad)
