"""Helpers for tests: comparison of tensors, random tensors, checks of derivatives.

The checks of :mod:`autograd_cy.autograd.gradcheck` look at every element of a Jacobian;
:func:`check_grads` looks along random directions, to any order.
"""

from autograd_cy.testing._check_grads import check_grads as check_grads
from autograd_cy.testing._comparison import assert_allclose as assert_allclose
from autograd_cy.testing._comparison import assert_close as assert_close
from autograd_cy.testing._creation import make_tensor as make_tensor

__all__ = ["assert_allclose", "assert_close", "check_grads", "make_tensor"]
