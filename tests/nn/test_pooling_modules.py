"""Pooling modules: text, attributes and results beside torch's."""

import numpy as np
import pytest

import autograd_cy as ag

torch = pytest.importorskip("torch")

CASES = [
    ("MaxPool1d", (2,), {}),
    ("MaxPool1d", (3, 1, 1, 2, True, True), {}),
    ("MaxPool2d", (2,), {"return_indices": True}),
    ("MaxPool2d", ((3, 2), (2, 1), 1), {"ceil_mode": True}),
    ("MaxPool3d", (2, 1), {}),
    ("AvgPool1d", (2,), {}),
    ("AvgPool1d", (3, 2, 1, True, False), {}),
    ("AvgPool2d", ((2, 3),), {}),
    ("AvgPool2d", (3, 2, 1, True, False, 4), {}),
    ("AvgPool3d", (2,), {"divisor_override": 3}),
    ("AdaptiveAvgPool1d", (3,), {}),
    ("AdaptiveAvgPool2d", ((None, 3),), {}),
    ("AdaptiveAvgPool3d", (2,), {}),
    ("AdaptiveMaxPool1d", (3,), {"return_indices": True}),
    ("AdaptiveMaxPool2d", ((4, 2), True), {}),
    ("AdaptiveMaxPool3d", ((2, None, 1),), {}),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), CASES, ids=str)
def test_module_is_that_of_torch(name, args, kwargs):
    ours, theirs = getattr(ag.nn, name)(*args, **kwargs), getattr(torch.nn, name)(*args, **kwargs)
    assert repr(ours) == repr(theirs)
    public = [{k: v for k, v in vars(m).items() if k[0] != "_"} for m in (ours, theirs)]
    assert public[0] == public[1]
    x = np.random.default_rng(0).normal(size=(2, 3, *(6, 5, 7)[: int(name[-2])]))
    results = ours(ag.tensor(x)), theirs(torch.tensor(x))
    for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in results)):
        np.testing.assert_allclose(a.numpy(), b.numpy())


@pytest.mark.parametrize(
    "name", [f"{a}{n}d" for n in (1, 2, 3) for a in ("max_pool", "adaptive_max_pool")]
)
def test_forms_with_indices_return_them_always(name):
    rank = int(name[-2])
    x = np.random.default_rng(0).normal(size=(2, 3, *(6, 5, 7)[:rank]))
    pair = getattr(ag.nn.functional, name)(ag.tensor(x), 2, return_indices=True)
    both = getattr(ag.nn.functional, name + "_with_indices")
    for given in ((), (False,)):
        more = {"return_indices": given[0]} if given else {}
        again = both(ag.tensor(x), 2, **more)
        assert all(ag.equal(a, b) for a, b in zip(pair, again))
