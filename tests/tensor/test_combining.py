"""Tensors made of all pairs, of blocks and of chains; the places in triangles."""

import itertools

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.autograd import gradcheck
from autograd_cy.func import vmap


def leaf(*shape):
    generator = ag.Generator().manual_seed(len(shape))
    return ag.rand(shape, dtype=ag.float64, generator=generator).requires_grad_()


def test_cartesian_prod_takes_one_of_each():
    vectors = [ag.tensor(v) for v in ([1, 2], [3], [4, 5, 6])]
    found = ag.cartesian_prod(*vectors)
    assert found.tolist() == [list(p) for p in itertools.product([1, 2], [3], [4, 5, 6])]
    assert ag.cartesian_prod(vectors[0]) is vectors[0]
    assert ag.cartesian_prod(ag.ones(0), ag.ones(2)).shape == (0, 2)
    assert gradcheck(ag.cartesian_prod, (leaf(2), leaf(3)))


@pytest.mark.parametrize("again", [False, True])
def test_combinations_are_those_of_itertools(again):
    ways = itertools.combinations_with_replacement if again else itertools.combinations
    for n, r in itertools.product(range(5), range(5)):
        found = ag.combinations(ag.arange(n), r, again)
        assert found.shape == ((len([*ways(range(n), r)]), r) if r else (0,))
        assert found.tolist() == ([list(way) for way in ways(range(n), r)] if r else [])
    assert gradcheck(lambda x: ag.combinations(x, with_replacement=again), (leaf(4),))


def test_block_diag_puts_blocks_on_the_diagonal():
    blocks = [ag.ones(1, 2), ag.tensor(3), ag.tensor([4, 5]), ag.ones(0, 1)]
    found = ag.block_diag(*blocks)
    assert found.dtype == ag.float32
    assert found.tolist() == [[1, 1, 0, 0, 0, 0], [0, 0, 3, 0, 0, 0], [0, 0, 0, 4, 5, 0]]
    assert ag.block_diag(ag.tensor([1]), ag.tensor(2.5)).dtype == ag.float32
    assert ag.block_diag(ag.tensor([1.0]), ag.tensor(2.5, dtype=ag.float64)).dtype == ag.float32
    assert ag.block_diag().shape == (1, 0)
    assert gradcheck(ag.block_diag, (leaf(2, 1), leaf(3), leaf()))
    x = ag.arange(6.0).view(3, 2)
    batch = vmap(lambda row: ag.block_diag(row, ag.tensor(7.0)))(x)
    assert all(ag.equal(batch[i], ag.block_diag(x[i], ag.tensor(7.0))) for i in range(3))


def test_chain_matmul_takes_the_order_of_fewest_multiplications():
    sizes = [40, 2, 50, 3, 1, 60]
    matrices = [leaf(m, n) for m, n in itertools.pairwise(sizes)]
    found = ag.chain_matmul(*matrices)
    wanted = np.linalg.multi_dot([m.detach().numpy() for m in matrices])
    np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-12)
    # The column of the last but one matrix comes first, so that the last product is an outer one.
    assert found.grad_fn._saved_self.shape == (40, 1)
    assert ag.chain_matmul(matrices[0]) is matrices[0]
    many = [ag.eye(2)] * 60
    assert ag.equal(ag.chain_matmul(*many), ag.eye(2))


@pytest.mark.parametrize("name", ["tril_indices", "triu_indices"])
def test_places_of_triangles_are_those_of_numpy(name):
    for rows, columns, offset in itertools.product(range(4), range(4), range(-4, 5)):
        found = getattr(ag, name)(rows, columns, offset)
        wanted = np.stack(getattr(np, name)(rows, offset, columns))
        assert found.dtype == ag.int64 and found.is_contiguous()
        np.testing.assert_array_equal(found.numpy(), wanted)
    assert getattr(ag, name)(2, 3, dtype=ag.int32).dtype == ag.int32
    assert getattr(ag, name)(2, 2, device="meta").shape == (2, 3)


def test_places_of_thin_triangles_take_no_more_than_themselves():
    n = 10**6
    assert ag.tril_indices(n, n, 2 - n).tolist() == [[n - 2, n - 1, n - 1], [0, 0, 1]]
    assert ag.triu_indices(n, n, n - 2).tolist() == [[0, 0, 1], [n - 2, n - 1, n - 1]]
    assert ag.tril_indices(2, 2, -(2**63)).shape == ag.triu_indices(2, 2, 2**63 - 1).shape == (2, 0)
    assert ag.triu_indices(2, 2, -(2**63)).shape == ag.tril_indices(2, 2, 2**63 - 1).shape == (2, 4)
    assert ag.tril_indices(n, n, device="meta").shape == (2, n * (n + 1) // 2)


def test_numbers_among_blocks_count_by_their_category():
    half, number = ag.ones(1, 2, dtype=ag.float16), ag.tensor(2.0, dtype=ag.float64)
    bytes_ = ag.ones(2, dtype=ag.uint8)
    for blocks in itertools.permutations([half, number, bytes_]):
        assert ag.block_diag(*blocks).dtype == ag.float16
    assert ag.block_diag(number, bytes_).dtype == ag.float64


def test_numbers_repeated_by_counts():
    counts = ag.tensor([2, 0, 3], dtype=ag.int32)
    for found in (ag.repeat_interleave(counts), ag.repeat_interleave(repeats=counts)):
        assert found.tolist() == [0, 0, 2, 2, 2] and found.dtype == ag.int32
    assert ag.repeat_interleave(counts, output_size=5).tolist() == [0, 0, 2, 2, 2]
    assert ag.repeat_interleave(input=counts, repeats=1).tolist() == [2, 0, 3]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ag.cartesian_prod(), RuntimeError, "cartesian_prod expects a non-empty"),
        (lambda: ag.cartesian_prod(1), TypeError, "cartesian_prod.*element 0.*int"),
        (lambda: ag.cartesian_prod(ag.ones(2, 2)), RuntimeError, r"1D vector, but got.*\[2, 2\]"),
        (lambda: ag.cartesian_prod(ag.ones(1), ag.arange(2)), RuntimeError, "the same dtype"),
        (lambda: ag.combinations(ag.ones(2, 2)), RuntimeError, "combinations: Expect a 1D vector"),
        (lambda: ag.combinations(ag.ones(2), -1), RuntimeError, "non-negative number, but got -1"),
        (lambda: ag.combinations(ag.ones(2), 1.5), TypeError, "combinations.*'r'.*float"),
        (lambda: ag.combinations(ag.arange(200), 100), RuntimeError, "take 100 of 200.*memory"),
        (lambda: ag.block_diag(ag.ones(1, 1, 1)), RuntimeError, "Input 0 has 3 dimensions"),
        (lambda: ag.block_diag([ag.ones(1)]), TypeError, "block_diag.*element 0.*list"),
        (lambda: ag.chain_matmul(), RuntimeError, "one or more matrices"),
        (lambda: ag.chain_matmul(ag.ones(1)), RuntimeError, "chain_matmul.*dimension is 1"),
        (lambda: ag.chain_matmul(ag.ones(1, 2), ag.ones(1, 2)), RuntimeError, "matrix 1 has 1 row"),
        (lambda: ag.tril_indices(-1, 2), RuntimeError, "tril_indices: row must be non-negative"),
        (lambda: ag.triu_indices(1, -2), RuntimeError, "triu_indices: col must be non-negative"),
        (lambda: ag.tril_indices(2**62, 2**62), RuntimeError, "tril_indices.*more than memory"),
        (lambda: ag.tril_indices(1.0, 2), TypeError, "tril_indices.*'row'.*float"),
        (lambda: ag.tril_indices(1, 2, dtype=ag.float32), NotImplementedError, "tril_indices"),
        (lambda: ag.triu_indices(1, 2, requires_grad=True), RuntimeError, "triu_indices: Only"),
        (lambda: ag.repeat_interleave(ag.ones(2)), NotImplementedError, "repeat_interleave"),
        (lambda: ag.repeat_interleave(ag.tensor([[1]])), RuntimeError, "1-dim tensor"),
        (lambda: ag.repeat_interleave(ag.tensor([-1])), RuntimeError, "can not be negative"),
        (lambda: ag.repeat_interleave(ag.tensor([1]), output_size=2), RuntimeError, "size"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
