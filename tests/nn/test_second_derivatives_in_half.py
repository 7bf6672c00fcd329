"""Second derivatives of normalisations in half types: the squares of large numbers have no room."""

import pytest

import autograd_cy as torch
import autograd_cy.nn.functional as F

NORMS = {
    "layer_norm": lambda x, w: F.layer_norm(x, (6,), w),
    "rms_norm": lambda x, w: F.rms_norm(x, (6,), w, 1e-5),
    "group_norm": lambda x, w: F.group_norm(x.t(), 2, w).t(),
    "batch_norm": lambda x, w: F.batch_norm(x, None, None, w, training=True),
    "batch_norm in use": lambda x, w: F.batch_norm(
        x, w.detach(), w.detach() * x.new_tensor(9.0), w
    ),
    "instance_norm": lambda x, w: F.instance_norm(x[None].transpose(1, 2), weight=w),
}


def derivatives(norm, x, w, seeds):
    """Return the derivatives of a sum of first derivatives."""
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    first = torch.autograd.grad(norm(x, w), (x, w), seeds[0], create_graph=True)
    total = (first[0] * seeds[1]).sum() + first[1].sum() * 2.0**-6
    return torch.autograd.grad(total, (x, w), allow_unused=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", NORMS)
def test_they_are_those_of_float32_within_roundings(name, dtype):
    norm, numbers = NORMS[name], torch.Generator().manual_seed(3)
    x = (600 * torch.randn(6, 6, generator=numbers)).to(dtype)
    w = (1 + torch.rand(6, generator=numbers)).to(dtype)
    shape = norm(x, w).shape
    seeds = [torch.randn(shape, generator=numbers).to(dtype), torch.randn(6, 6, generator=numbers)]
    seeds[1] = (64 * seeds[1]).to(dtype)
    found = derivatives(norm, x, w, seeds)
    expected = derivatives(norm, x.float(), w.float(), [s.float() for s in seeds])
    for f, e in zip(found, expected):
        assert (f is None) == (e is None)
        if f is not None:
            assert f.dtype == dtype
            largest = e.abs().max().item()
            least = 2.0**-24 if dtype == torch.float16 else 0.0
            allowed = (2.0**-8 if dtype == torch.float16 else 2.0**-5) * largest + 4 * least
            assert (f.float() - e).abs().max().item() <= allowed
