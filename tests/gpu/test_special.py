"""Functions with loops on a GPU, against SciPy."""

import numpy as np
import pytest
from emulator import control

import autograd_cy as torch

special = pytest.importorskip("scipy.special")

# How far apart a result and SciPy's may be, relative, and of what is next to nothing.
ERRORS = {"float16": (2e-3, 1e-7), "bfloat16": (1.6e-2, 1e-37), "float32": (3e-7, 1e-37),
          "float64": (1e-11, 1e-290)}  # fmt: skip
dtypes = pytest.mark.parametrize("dtype", ERRORS)


def check(found, expected, dtype, least=None):
    rtol, atol = ERRORS[dtype]
    np.testing.assert_allclose(found.cpu().double().numpy(), expected, rtol, atol)


def pairs():
    """Small ones, such near the mean, large ones, and such far from the mean."""
    random = np.random.default_rng(3)
    a = 10 ** random.uniform(-9, 0.5, 300)
    b = 10 ** random.uniform(0, 5, 300)
    near = b * (1 + random.normal(size=300) * 2 / np.sqrt(b))
    return (
        np.concatenate([a, b, b]),
        np.abs(np.concatenate([10 ** random.uniform(-9, 1, 300), near, random.permutation(b)])),
    )


@dtypes
@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_incomplete_gamma_functions(name, dtype):
    a, x = (torch.tensor(t).to(getattr(torch, dtype)) for t in pairs())
    function = {"igamma": special.gammainc, "igammac": special.gammaincc}[name]
    expected = function(a.double().numpy(), x.double().numpy())
    expected = torch.tensor(expected).to(a.dtype).double().numpy()
    check(getattr(torch, name)(a.to("cuda"), x.to("cuda")), expected, dtype)


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_ends(name):
    ends = [0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, float("inf"), float("-inf"), float("nan")]
    a, x = (torch.tensor(t) for t in np.meshgrid(ends, ends))
    found = getattr(torch, name)(a.to("cuda"), x.to("cuda"))
    torch.testing.assert_close(found.cpu(), getattr(torch, name)(a, x), equal_nan=True)


@dtypes
@pytest.mark.parametrize("order", [0, 1, 2, 3, 7])
def test_polygamma(order, dtype):
    random = np.random.default_rng(1)
    x = np.concatenate([10 ** random.uniform(-1, 2, 100), -random.uniform(0.1, 0.9, 50)])
    if dtype == "float64":
        x = np.concatenate([x, -20 * random.random(50)])
    t = torch.tensor(x).to(getattr(torch, dtype))
    found = torch.polygamma(order, t.to("cuda")).cpu().double().numpy()
    x = t.double().numpy()
    positive = x > 0
    expected = special.polygamma(order, x[positive])
    if dtype == "float16":
        expected[np.abs(expected) > 65519] *= np.inf
    np.testing.assert_allclose(
        found[positive], expected, *(100 * e if order < 2 else e for e in ERRORS[dtype])
    )
    # psi(n, x) of negative numbers by one step of the recurrence each.
    if order > 1 and dtype == "float64":
        with np.errstate(all="ignore"):
            steps = np.ceil(-x[~positive]).astype(int) + 1
        for value, number, k in zip(found[~positive], x[~positive], steps, strict=True):
            terms = (
                (-1) ** (order + 1)
                * special.factorial(order)
                * ((number + np.arange(k)) ** -(order + 1.0))
            )
            assert value == pytest.approx(
                special.polygamma(order, number + k) + terms.sum(), rel=1e-9
            )


def test_polygamma_at_its_ends():
    x = torch.tensor([0.0, -0.0, -1.0, -7.0, float("inf"), float("nan"), 1e-300, 1e300])
    for order in (2, 3):
        found = torch.polygamma(order, x.to("cuda")).cpu()
        torch.testing.assert_close(found, torch.polygamma(order, x), equal_nan=True)
    assert not torch.polygamma(2, torch.empty(0, device="cuda")).numel()


def test_strides_shapes_and_places():
    random = np.random.default_rng(2)
    a = torch.tensor(random.random((4, 1)) + 0.5)
    x = torch.tensor(random.random((6, 4))).t()[:, ::2]
    torch.testing.assert_close(
        torch.igamma(a.to("cuda"), x.to("cuda")).cpu(), torch.igamma(a, x), rtol=1e-12, atol=0
    )
    y = x.to("cuda").clone()
    y.polygamma_(2)
    torch.testing.assert_close(y.cpu(), torch.polygamma(2, x), rtol=1e-12, atol=0)


def test_one_launch_and_nothing_waits():
    x = torch.linspace(0.5, 1.5, 50).to("cuda")
    torch.igamma(x, x), torch.polygamma(3, x)
    before = control.counts()
    torch.igamma(x, x), torch.igammac(x, x), torch.polygamma(3, x)
    spent = control.spent(before)
    assert spent["launches"] == 3
    assert not spent.get("copies_out") and not spent.get("synchronizations"), spent
