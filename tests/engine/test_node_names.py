"""Nodes have the names that torch gives them."""

import pytest

import autograd_cy as torch

NAMES = {
    "PowBackward0": [lambda y: y**2, lambda y: y.square(), lambda y: y.pow(0.5)],
    "PowBackward1": [lambda y: y**y, lambda y: y ** torch.tensor(2.0)],
    "PowBackward2": [lambda y: 2**y],
    "RsubBackward1": [lambda y: 1 - y],
    "SubBackward0": [lambda y: y - 1, lambda y: y - y],
    "ClampBackward1": [lambda y: y.clamp(0, 1)],
    "ClampBackward0": [lambda y: y.clamp(torch.tensor(0.0), torch.tensor(1.0))],
    "SliceBackward0": [lambda y: y[:1], lambda y: y.narrow(0, 0, 1)],
    "TBackward0": [lambda y: y.t()],
    "TransposeBackward0": [lambda y: y.transpose(0, 1)],
    "PermuteBackward0": [lambda y: y.T],
    "AddBackward0": [lambda y: y + y, lambda y: y.add(y, alpha=2)],
    "CloneBackward0": [lambda y: y.clone(), lambda y: y.t().contiguous()],
    "Log1PBackward0": [lambda y: y.log1p()],
    "ZeroBackward0": [lambda y: y.zero_()],
    "FillBackward2": [lambda y: y.fill_(1.0)],
    "FillBackward3": [lambda y: y.fill_(torch.tensor(1.0))],
    "MaskedFillBackward0": [lambda y: y.masked_fill_(torch.tensor([True, False]), 1.0)],
    "CopyBackwards": [lambda y: y.copy_(torch.ones(2, 2))],
}


@pytest.mark.parametrize("name", NAMES)
def test_nodes_have_the_names_of_torch(name):
    x = torch.full((2, 2), 0.5, requires_grad=True)
    for operation in NAMES[name]:
        fn = operation(x * 1).grad_fn
        assert type(fn).__name__ == name and fn.name() == name
        assert repr(fn).startswith(f"<{name} object")
