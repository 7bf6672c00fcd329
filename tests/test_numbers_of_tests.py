"""Random numbers of tests: what a test draws doesn't depend on the tests before it."""

import numpy as np

RNG = np.random.default_rng(0)
FIRST = np.random.default_rng(0).random()


def test_a_test_draws_the_first_number_of_its_module():
    assert RNG.random() == FIRST


def test_another_test_draws_the_same_number():
    assert RNG.random() == FIRST
