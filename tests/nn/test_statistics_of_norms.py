"""Norms with statistics that are given: both, or none."""

import pytest

import autograd_cy as torch
from autograd_cy.nn import functional as F

BATCH = torch.ones(2, 3, 4)
PARTS = {"running_mean": torch.zeros(3), "running_var": torch.ones(3)}


@pytest.mark.parametrize("name", PARTS)
def test_statistics_come_in_pairs_where_they_are_not_computed(name):
    for op in (torch.instance_norm, torch.batch_norm):
        args = [PARTS.get(k) if k == name else None for k in PARTS]
        with pytest.raises(RuntimeError, match="Expected running_mean and running_var"):
            op(BATCH, None, None, *args, False, 0.1, 1e-5, False)
        with pytest.raises(ValueError, match="running_mean and running_var must either both be"):
            op(BATCH, None, None, *args, True, 0.1, 1e-5, False)
    with pytest.raises(ValueError, match="running_mean and running_var must either both be"):
        F.instance_norm(BATCH, **{name: PARTS[name]})
    with pytest.raises(RuntimeError, match="Expected running_mean and running_var"):
        F.instance_norm(BATCH, use_input_stats=False, **{name: PARTS[name]})
    with pytest.raises(RuntimeError, match="Expected running_mean and running_var"):
        F.batch_norm(BATCH, PARTS[name] if name == "running_mean" else None,
                     PARTS[name] if name == "running_var" else None)  # fmt: skip
