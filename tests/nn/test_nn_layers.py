"""Layers, activations, losses and starting values, against formulas written out in NumPy."""

import functools
import math

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.nn import functional, init

RTOL = 2e-6  # some float32 roundings


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def test_linear_is_an_affine_map_over_the_last_dimension():
    layer = nn.Linear(3, 2)
    x = normal(4, 5, 3)
    expected = x @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    np.testing.assert_allclose(
        layer(torch.tensor(x)).detach().numpy(), expected, rtol=1e-5, atol=1e-6
    )


def test_linear_without_bias_has_none():
    layer = nn.Linear(3, 2, bias=False)
    assert layer.bias is None
    assert layer(torch.zeros(1, 3)).tolist() == [[0.0, 0.0]]


def test_linear_takes_a_dtype():
    assert nn.Linear(3, 2, dtype=torch.float64).weight.dtype is torch.float64


def test_linear_starts_within_its_bounds_and_repeats_with_a_seed():
    torch.manual_seed(3)
    layer = nn.Linear(16, 8)
    assert layer.weight.abs().max().item() <= 0.25
    assert layer.bias.abs().max().item() <= 0.25
    torch.manual_seed(3)
    assert nn.Linear(16, 8).weight.tolist() == layer.weight.tolist()


@pytest.mark.parametrize(
    ("module", "function"),
    [
        (nn.ReLU(), lambda x: np.maximum(x, 0)),
        (nn.Tanh(), np.tanh),
        (nn.Sigmoid(), lambda x: 1 / (1 + np.exp(-x))),
        (nn.GELU(), lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))),
        (nn.Softmax(1), lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
        (nn.LogSoftmax(1), lambda x: x - np.log(np.exp(x).sum(1, keepdims=True))),
        (nn.Identity(), lambda x: x),
        (nn.Flatten(), lambda x: x.reshape(4, -1)),
        (nn.Flatten(0, 1), lambda x: x.reshape(-1)),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Module) else "formula",
)
def test_activation_is_its_formula(module, function):
    x = normal(4, 5)
    result = module(torch.tensor(x)).numpy()
    np.testing.assert_allclose(result, function(x), rtol=1e-5, atol=1e-6)


def test_gelu_has_a_tanh_form():
    x = normal(50)
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    result = nn.GELU(approximate="tanh")(torch.tensor(x)).numpy()
    np.testing.assert_allclose(result, 0.5 * x * (1 + np.tanh(inner)), rtol=1e-5, atol=1e-6)


def test_relu_in_place_changes_its_input():
    x = torch.tensor([-1.0, 1.0])
    assert nn.ReLU(inplace=True)(x) is x
    assert x.tolist() == [0.0, 1.0]


def test_dropout_drops_about_p_and_scales_the_rest():
    torch.manual_seed(0)
    y = nn.Dropout(0.25)(torch.ones(10_000)).numpy()
    assert set(np.round(np.unique(y), 5)) == {0.0, np.float32(1.33333)}
    assert abs((y == 0).mean() - 0.25) < 0.03


def test_dropout_does_nothing_in_evaluation():
    x = torch.ones(10)
    assert nn.Dropout(0.5).eval()(x).tolist() == x.tolist()


@pytest.mark.parametrize("p", [-0.1, 1.1])
def test_dropout_probability_is_checked(p):
    with pytest.raises(ValueError, match="has to be between 0 and 1"):
        nn.Dropout(p)
    with pytest.raises(ValueError, match="has to be between 0 and 1"):
        functional.dropout(torch.ones(1), p)


def test_implicit_softmax_dimension_warns():
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        assert functional.softmax(torch.zeros(1, 2)).tolist() == [[0.5, 0.5]]


# --- Losses -------------------------------------------------------------------------------------


def log_probabilities(x):
    return x - np.log(np.exp(x).sum(1, keepdims=True))


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_mse_loss_is_its_formula(reduction):
    x, y = normal(4, 3), normal(4, 3, seed=1)
    expected = (x - y) ** 2
    expected = expected if reduction == "none" else getattr(expected, reduction)()
    loss = nn.MSELoss(reduction=reduction)(torch.tensor(x), torch.tensor(y))
    np.testing.assert_allclose(loss.numpy(), expected, rtol=1e-5)


def test_mse_loss_warns_of_different_sizes():
    with pytest.warns(UserWarning, match="different to the input size"):
        functional.mse_loss(torch.ones(2, 1), torch.ones(2))


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_is_its_formula(reduction, weighted):
    x, target = normal(6, 4), np.array([0, 1, 3, -100, 2, 2])
    weight = np.array([1.0, 2.0, 0.5, 3.0], "float32") if weighted else np.ones(4, "float32")
    counted = (target >= 0) * weight[target % 4]
    losses = -log_probabilities(x)[np.arange(6), target % 4] * counted
    expected = {"none": losses, "sum": losses.sum(), "mean": losses.sum() / counted.sum()}
    module = nn.CrossEntropyLoss(
        weight=torch.tensor(weight) if weighted else None, reduction=reduction
    )
    loss = module(torch.tensor(x), torch.tensor(target))
    np.testing.assert_allclose(loss.numpy(), expected[reduction], rtol=1e-5, atol=1e-6)


def test_nll_loss_of_log_softmax_is_cross_entropy():
    x, target = torch.tensor(normal(6, 4)), torch.tensor([0, 1, 3, 2, 2, 0])
    logarithms = functional.log_softmax(x, 1)
    expected = functional.cross_entropy(x, target).item()
    assert math.isclose(nn.NLLLoss()(logarithms, target).item(), expected, rel_tol=RTOL)


def test_cross_entropy_takes_probabilities_and_smoothed_labels():
    x, target = normal(6, 4), np.array([0, 1, 3, 2, 2, 0])
    smoothed = 0.9 * np.eye(4, dtype="float32")[target] + 0.1 / 4
    expected = -(smoothed * log_probabilities(x)).sum(1).mean()
    by_smoothing = functional.cross_entropy(
        torch.tensor(x), torch.tensor(target), label_smoothing=0.1
    )
    by_probability = functional.cross_entropy(
        torch.tensor(x), torch.tensor(smoothed.astype("float32"))
    )
    assert math.isclose(by_smoothing.item(), expected, rel_tol=1e-5)
    assert math.isclose(by_probability.item(), expected, rel_tol=1e-5)


def test_no_class_of_probabilities_can_be_left_out():
    x, probabilities = torch.ones(2, 3), torch.full((2, 3), 1 / 3)
    for call in (
        functools.partial(functional.cross_entropy, x, probabilities, ignore_index=1),
        functools.partial(functional.cross_entropy, x, probabilities, None, None, 0),
        functools.partial(nn.CrossEntropyLoss(ignore_index=2), x, probabilities),
    ):
        with pytest.raises(RuntimeError, match="ignore_index is not supported for floating point"):
            call()
    for index in (-1, -100):
        found = functional.cross_entropy(x, probabilities, ignore_index=index)
        assert math.isclose(found.item(), math.log(3), rel_tol=RTOL)


def test_probabilities_have_a_weight_for_each_class():
    x, probabilities = torch.ones(2, 3), torch.full((2, 3), 1 / 3)
    for shape in ((1,), (2,), (3, 1), ()):
        with pytest.raises(RuntimeError, match="either for all 3 classes or no classes but got"):
            functional.cross_entropy(x, probabilities, torch.ones(shape))


def test_cross_entropy_gradient_is_softmax_minus_one_hot():
    x, target = normal(6, 4), np.array([0, 1, 3, 2, 2, 0])
    logits = torch.tensor(x, requires_grad=True)
    nn.CrossEntropyLoss()(logits, torch.tensor(target)).backward()
    expected = (np.exp(log_probabilities(x)) - np.eye(4)[target]) / 6
    np.testing.assert_allclose(logits.grad.numpy(), expected, atol=1e-6)


def test_older_spelling_of_reduction_warns_and_works():
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert nn.MSELoss(size_average=False).reduction == "sum"
    with pytest.warns(UserWarning, match="reduction='none'"):
        assert nn.MSELoss(reduce=False).reduction == "none"


def test_unknown_reduction_is_a_value_error():
    with pytest.raises(ValueError, match="not a valid value for reduction"):
        functional.mse_loss(torch.ones(1), torch.ones(1), reduction="median")


def test_class_weights_are_a_buffer():
    module = nn.CrossEntropyLoss(weight=torch.ones(3))
    assert list(module.state_dict()) == ["weight"]


# --- Starting values ----------------------------------------------------------------------------


def test_constants_fill_parameters_without_recording():
    weight = nn.Parameter(torch.empty(2, 3))
    assert init.constant_(weight, 3.0) is weight
    assert weight.tolist() == [[3.0] * 3] * 2
    assert init.ones_(weight).sum().item() == 6.0
    assert init.zeros_(weight).sum().item() == 0.0
    assert init.eye_(weight).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert weight.is_leaf
    assert weight.requires_grad


@pytest.mark.parametrize(
    ("fill", "std"),
    [
        (lambda t: init.uniform_(t, -1.0, 1.0), 1 / math.sqrt(3)),
        (lambda t: init.normal_(t, 0.0, 0.7), 0.7),
        (lambda t: init.xavier_uniform_(t, gain=2.0), 2 * math.sqrt(2 / 500)),
        (lambda t: init.xavier_normal_(t), math.sqrt(2 / 500)),
        (lambda t: init.kaiming_uniform_(t), math.sqrt(2 / 200)),
        (lambda t: init.kaiming_uniform_(t, a=math.sqrt(5)), math.sqrt(1 / 600)),
        (lambda t: init.kaiming_normal_(t, nonlinearity="relu"), math.sqrt(2 / 200)),
        (lambda t: init.kaiming_normal_(t, mode="fan_out"), math.sqrt(2 / 300)),
    ],
)
def test_random_starts_have_the_right_spread(fill, std):
    torch.manual_seed(1)
    values = fill(torch.empty(300, 200)).numpy()
    assert abs(values.std() / std - 1) < 0.02
    assert abs(values.mean()) < 0.02 * std


def test_fans_count_the_receptive_field():
    values = init.xavier_uniform_(torch.empty(4, 3, 5, 5)).numpy()
    assert np.abs(values).max() <= math.sqrt(6 / (25 * 7))


def test_gains_are_those_of_the_documentation():
    assert init.calculate_gain("relu") == math.sqrt(2)
    assert init.calculate_gain("leaky_relu", 0.2) == math.sqrt(2 / 1.04)
    assert init.calculate_gain("selu") == 0.75
    assert init.calculate_gain("sigmoid") == init.calculate_gain("conv2d") == 1.0
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        init.calculate_gain("nonsense")
    with pytest.raises(ValueError, match="not a valid number"):
        init.calculate_gain("leaky_relu", "a")


def test_starts_that_need_two_dimensions_say_so():
    for fill in (init.xavier_uniform_, init.kaiming_normal_):
        with pytest.raises(ValueError, match="fewer than 2 dimensions"):
            fill(torch.empty(3))
    with pytest.raises(ValueError, match="2 dimensions"):
        init.eye_(torch.empty(3))
    with pytest.raises(ValueError, match="not supported, please use one of"):
        init.kaiming_uniform_(torch.empty(2, 2), mode="nonsense")


def test_empty_weights_are_left_alone_with_a_warning():
    with pytest.warns(UserWarning, match="zero-element"):
        assert init.kaiming_uniform_(torch.empty(0, 3)).numel() == 0


@pytest.mark.parametrize("bias", [(), (1,)])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 5, 3), (0, 3)])
def test_a_bias_of_one_element_is_added_to_all_outputs(bias, shape):
    x, weight, one = (
        torch.rand(sizes, dtype=torch.float64, requires_grad=True)
        for sizes in (shape, (4, 3), bias)
    )
    y = torch.nn.functional.linear(x, weight, one)
    assert torch.equal(y, torch.nn.functional.linear(x, weight, one.expand(4)))
    (gradient,) = torch.autograd.grad(y.sum(), one)
    assert gradient.shape == one.shape and gradient.item() == y.numel()
    if y.numel():
        assert torch.autograd.gradcheck(
            torch.nn.functional.linear, (x, weight, one), check_forward_ad=True
        )
    several = torch.rand(3, *bias, dtype=torch.float64)
    batched = torch.vmap(lambda b: torch.nn.functional.linear(x, weight, b))(several)
    each = torch.stack([torch.nn.functional.linear(x, weight, b) for b in several])
    assert torch.allclose(batched, each)  # tiny products of a batch may round otherwise


def test_other_shapes_of_a_bias_are_refused():
    for sizes in ((3,), (3, 4), (2, 2), (3, 1)):
        with pytest.raises(RuntimeError, match="linear: bias of shape .* does not"):
            torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 3), torch.ones(sizes))
