"""Gradient edges that get_gradient_edge() would not make."""

from __future__ import annotations

import pytest

import autograd_cy as torch
from autograd_cy.autograd.graph import GradientEdge


@pytest.mark.parametrize("gradient", [None, torch.ones(2)])
@pytest.mark.parametrize("node", [None, 1, "node"])
def test_an_edge_of_no_node_is_refused_by_name(node, gradient):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(TypeError, match="node of a GradientEdge must be a Node"):
        torch.autograd.grad(GradientEdge(node, 0), x, gradient)


@pytest.mark.parametrize("gradient", [None, torch.ones(2)])
@pytest.mark.parametrize("number", [-1, 1, 2**40, 2**70, "a", None])
def test_an_edge_to_an_output_that_its_node_lacks_is_refused(number, gradient):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    with pytest.raises(RuntimeError, match="which has 1 outputs"):
        torch.autograd.grad(GradientEdge(y.grad_fn, number), x, gradient)
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [2, 2]
