"""Functions under vmap get the gradients that they ask for: zeros, or None."""

import pytest

import autograd_cy as ag


@pytest.mark.parametrize("materialize", [True, False])
def test_functions_under_vmap_get_the_gradients_that_they_ask_for(materialize):
    found = []

    class Two(ag.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * 2, x * 3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.set_materialize_grads(materialize)

        @staticmethod
        def backward(ctx, first, second):
            found.append(second is None)
            return first * 2

    x = ag.ones(3, requires_grad=True)
    ag.func.vmap(Two.apply)(x)[0].sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    assert found == [not materialize]
