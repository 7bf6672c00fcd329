"""Starting values that depend on the shape: orthogonal, Dirac, sparse, cut-off normal."""

import numpy as np
import pytest
from scipy.special import ndtr

import autograd_cy as ag
from autograd_cy.nn import init


def are_drawn_from(law, values):
    """The test of Kolmogorov and Smirnov; refuses one right law in a thousand."""
    below = np.arange(len(values) + 1) / len(values)
    at = law(np.sort(values.astype(float)))
    return max(np.max(below[1:] - at), np.max(at - below[:-1])) < 1.95 / len(values) ** 0.5


def seeded(n):
    generator = ag.Generator()
    generator.manual_seed(n)
    return generator


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.bfloat16, ag.complex64])
@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4), (4, 2, 3, 3)])
def test_rows_or_columns_are_orthonormal(shape, dtype):
    w = init.orthogonal_(ag.empty(shape, dtype=dtype), gain=2.0, generator=seeded(0))
    flat = w.reshape(shape[0], -1).to(ag.complex128)
    product = flat @ flat.conj().t() if flat.shape[0] <= flat.shape[1] else flat.conj().t() @ flat
    tolerance = 0.1 if dtype is ag.bfloat16 else 1e-5
    np.testing.assert_allclose(product.numpy(), 4 * np.eye(len(product)), atol=tolerance)


def test_orthogonal_matrices_are_drawn_evenly():
    """Each direction of the first column is as likely: the mean of a coordinate is zero."""
    columns = [init.orthogonal_(ag.empty(2, 2), generator=seeded(i))[:, 0] for i in range(400)]
    angles = np.array([np.arctan2(c[1].item(), c[0].item()) for c in columns])
    assert are_drawn_from(lambda x: (x + np.pi) / (2 * np.pi), angles)
    assert not are_drawn_from(lambda x: (x + np.pi) / 4.5, angles)


@pytest.mark.parametrize("bounds", [(-2.0, 2.0), (-0.5, 3.0), (1.0, 2.0)])
def test_cut_off_normal_numbers_have_their_distribution(bounds):
    a, b = bounds
    mean, std = 0.5, 1.5
    x = init.trunc_normal_(ag.empty(5000), mean, std, a, b, generator=seeded(1)).numpy()
    assert a <= x.min() and x.max() <= b
    low, high = ndtr((a - mean) / std), ndtr((b - mean) / std)
    assert are_drawn_from(lambda x: (ndtr((x - mean) / std) - low) / (high - low), x)


def test_a_mean_far_outside_is_reported():
    with pytest.warns(UserWarning, match="mean is more than 2 std from"):
        init.trunc_normal_(ag.empty(3), mean=5.0)
    for mean in (-0.76, 0.76):  # two deviations beyond the bounds are 0.75
        with pytest.warns(UserWarning, match="mean is more than 2 std from"):
            init.trunc_normal_(ag.empty(3), mean, 0.25, -0.25, 0.25)


@pytest.mark.parametrize("shape", [(4, 2, 3), (4, 2, 3, 2), (4, 4, 1, 1, 5), (2, 4, 3), (4, 1, 4)])
@pytest.mark.parametrize("groups", [1, 2])
def test_dirac_weights_are_those_of_torch(shape, groups):
    torch = pytest.importorskip("torch")
    ours = init.dirac_(ag.full(shape, 7.0), groups)
    assert ours.tolist() == torch.nn.init.dirac_(torch.empty(shape), groups).tolist()


@pytest.mark.parametrize(("sparsity", "zeros"), [(0.0, 0), (0.3, 2), (0.5, 2), (1.0, 4)])
def test_columns_have_their_share_of_zeros(sparsity, zeros):
    w = init.sparse_(ag.empty(4, 30), sparsity, std=2.0, generator=seeded(2))
    assert ((w == 0).sum(0) == zeros).all()
    if not zeros:
        assert 1.6 < w.std().item() < 2.4


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: init.dirac_(ag.empty(2, 2)), "3, 4, or 5 dimensions"),
        (lambda: init.dirac_(ag.empty(4, 2, 3), 3), "divisible by groups"),
        (lambda: init.orthogonal_(ag.empty(3)), "2 or more dimensions"),
        (lambda: init.sparse_(ag.empty(3), 0.1), "2 dimensions"),
    ],
)
def test_other_shapes_are_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize(
    ("name", "shape", "rest"),
    [("dirac", (2, 2, 1), ()), ("orthogonal", (2, 2), ()), ("sparse", (2, 2), (0.5,))],
)
def test_old_names_warn(name, shape, rest):
    with pytest.warns(FutureWarning, match=f"nn.init.{name}_"):
        getattr(init, name)(ag.empty(shape), *rest)
    assert f"{name}_" in getattr(init, name).__doc__ and getattr(init, name).__name__ == name


def test_parameters_are_filled_unrecorded():
    w = ag.nn.Parameter(ag.empty(3, 4))
    for fill in (init.orthogonal_, init.trunc_normal_, lambda w: init.sparse_(w, 0.5)):
        assert fill(w) is w and w.is_leaf and w.requires_grad
    assert init.orthogonal_(ag.empty(0, 3)).shape == (0, 3)


@pytest.mark.parametrize("dtype", [ag.int64, ag.bool, ag.complex64])
def test_refused_truncated_normal_leaves_the_tensor_alone(dtype):
    t = ag.ones(4, dtype=dtype)
    with pytest.raises(NotImplementedError, match=r"trunc_normal_: a tensor of .* of shape \(4,\)"):
        init.trunc_normal_(t)
    assert (t == 1).all()


def test_refused_gain_leaves_the_matrix_alone():
    t = ag.ones(2, 3)
    with pytest.raises(RuntimeError):
        init.orthogonal_(t, ag.zeros(0, 3))
    assert (t == 1).all()


def test_layers_of_programs_ask_for_the_fans():
    fans = init._calculate_fan_in_and_fan_out
    assert fans(ag.empty(4, 3, 2, 5)) == (30, 40) and fans(ag.empty(4, 3)) == (3, 4)
    correct = init._calculate_correct_fan
    assert correct(ag.empty(4, 3), "fan_in") == 3 and correct(ag.empty(4, 3), "FAN_OUT") == 4
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        fans(ag.empty(3))
    with pytest.raises(ValueError, match="Mode both not supported, please use one of"):
        correct(ag.empty(4, 3), "both")


def test_truncated_normal_numbers_fill_tensors_of_any_shape():
    for shape in ((), (0,), (2, 0), (3, 2)):
        x = ag.full(shape, 9.0)
        assert init.trunc_normal_(x, a=-1.0, b=1.0) is x and x.shape == shape
        assert bool((x.abs() <= 1).all())
