"""Functions of the era take batches: other numbers of dimensions are refused."""

import pytest

import autograd_cy.legacy as old
from autograd_cy.legacy.autograd import Variable
from autograd_cy.legacy.nn import functional as old_F

OF_BATCHES = {
    "max_pool": (2,),
    "avg_pool": (2,),
    "max_unpool": (Variable(old.zeros(1, 1, 1).long()), 2),
    "conv": (Variable(old.ones(1, 1, 1)),),
    "conv_transpose": (Variable(old.ones(1, 1, 1)),),
    "adaptive_max_pool1d": (1,),
    "adaptive_max_pool2d": (1,),
    "adaptive_avg_pool1d": (1,),
    "adaptive_avg_pool2d": (1,),
    "lp_pool2d": (2, 2),
    "fractional_max_pool2d": (2, 1),
    "pixel_shuffle": (1,),
    "upsample_nearest": (None, 2),
    "upsample_bilinear": (None, 2),
}


def test_functions_of_the_era_refuse_other_numbers_of_dimensions():
    for word, rest in OF_BATCHES.items():
        of_each = word in ("max_pool", "avg_pool", "max_unpool", "conv", "conv_transpose")
        for name in [f"{word}{n}d" for n in (1, 2, 3)] if of_each else [word]:
            wanted = 2 + int(name[-2]) if name[-1] == "d" else 4
            for dims in {1, 2, 3, 4, 5, 6} - {wanted}:
                x = Variable(old.ones(*[2] * dims))
                with pytest.raises(RuntimeError, match=f"^{name}: expected {wanted} dimensions"):
                    getattr(old_F, name)(x, *rest)
            with pytest.raises(RuntimeError, match=f"^{name}: expected a Variable"):
                getattr(old_F, name)(old.ones(*[2] * wanted), *rest)
