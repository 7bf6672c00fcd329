"""Jacobians of complex results, by both modes."""

import pytest

import autograd_cy as ag
from autograd_cy.func import jacfwd, jacrev, vmap

x = ag.tensor([0.5, -1.0], dtype=ag.float64)
z = ag.tensor([0.5 + 1j, -1.0 + 0.3j])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: 1j * x,
        lambda x: (2 + 3j) * x.sin() * x.sum(),
        lambda x: (ag.exp(1j * x), x * x),
        lambda x: {"a": x.sum() * 1j, "b": [x, x * (1 - 2j)]},
    ],
)
@pytest.mark.parametrize("chunk_size", [None, 1, 3])
def test_jacobians_of_complex_results_are_whole(f, chunk_size):
    ag.testing.assert_close(jacrev(f, chunk_size=chunk_size)(x), jacfwd(f)(x))


def test_jacobians_of_complex_results_of_examples():
    def f(x):
        return (2 + 3j) * x.sin() * x.sum()

    batch = ag.stack([x, 2 * x])
    found = vmap(jacrev(f))(batch)
    ag.testing.assert_close(found, ag.stack([jacfwd(f)(row) for row in batch]))
    ag.testing.assert_close(jacrev(jacrev(f))(x), jacfwd(jacfwd(f))(x))


def test_a_complex_argument_has_conjugate_rows_beside_a_real_one():
    def f(x, z):
        return x * z

    by_real, by_complex = jacrev(f, argnums=(0, 1))(x.to(ag.float32), z)
    ag.testing.assert_close(by_real, ag.diag(z))
    ag.testing.assert_close(by_complex, ag.diag(x).to(ag.complex64))


def test_a_complex_result_may_have_no_elements():
    assert jacrev(lambda x: x[:0] * 1j)(x).shape == (0, 2)


def test_the_plain_jacobian_of_complex_outputs_names_what_gives_the_whole():
    with pytest.raises(RuntimeError, match="only for real scalar outputs.*forward-mode"):
        ag.autograd.functional.jacobian(lambda x: 1j * x, x)
