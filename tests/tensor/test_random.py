"""Generators, distributions, reproducibility. Thresholds of statistical tests are 1e-6: they fail
once in a million runs of a right generator, and seeds are fixed besides."""

import copy
import os
import pickle

import numpy as np
import programs
import pytest
from scipy import special

import autograd_cy as ag
from autograd_cy._C import cpu
from autograd_cy._C import random_fills as compiled

N = 200_000
FLOATS = [ag.float16, ag.bfloat16, ag.float32, ag.float64]


@pytest.fixture(autouse=True)
def fixed_seed():
    ag.manual_seed(1234)


def array(t):
    return t.to(ag.float64).numpy()


# Probabilities of what is as far from the distribution as the sample, or farther. Importing
# scipy.stats for them would take longer than all tests of this file.


def kolmogorov(x, distribution):
    """Return the chance of the largest distance from a distribution function, for large samples."""
    wanted, n = distribution(np.sort(x)), len(x)
    steps = np.arange(n + 1) / n
    distance = max((steps[1:] - wanted).max(), (wanted - steps[:-1]).max())
    return special.kolmogorov(distance * n**0.5)


def uniform(x):
    return np.clip(x, 0, 1)


def kurtosis(x):
    """Beyond that of the normal distribution."""
    x = x - x.mean()
    return (x**4).mean() / (x**2).mean() ** 2 - 3


def chi_square(counts):
    """Return the chance of counts that are expected to be the same."""
    expected = counts.mean()
    return special.chdtrc(len(counts) - 1, ((counts - expected) ** 2 / expected).sum())


def binomial(k, n, p):
    """Return the chance of so many successes, in both tails."""
    return min(1, 2 * min(special.bdtr(k, n, p), special.bdtrc(k - 1, n, p)))


class TestPhilox:
    """Known answers of Philox4x32-10 that its authors publish with Random123."""

    def test_zero_counter_and_key(self):
        words = compiled._philox_words(0, 0)
        assert words[0::16] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]

    def test_reference_in_python_agrees(self):
        def reference(counter, key):
            c, k = list(counter), list(key)
            for _ in range(10):
                p0, p1 = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
                c = [
                    (p1 >> 32) ^ c[1] ^ k[0],
                    p1 & 0xFFFFFFFF,
                    (p0 >> 32) ^ c[3] ^ k[1],
                    p0 & 0xFFFFFFFF,
                ]
                k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
            return c

        ones = [0xFFFFFFFF] * 4
        assert reference(ones, ones[:2]) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
        for seed in (0, 1, 2**32, 2**64 - 1, 0x123456789ABCDEF0):
            for chunk in (0, 1, 2**28 - 1, 2**28, 2**59 + 5):
                words = compiled._philox_words(seed, chunk)
                for lane in range(16):
                    block = (chunk * 16 + lane) % 2**64
                    counter = (block % 2**32, block >> 32, 0, 0)
                    expected = reference(counter, (seed % 2**32, seed >> 32))
                    assert words[lane::16] == expected


class TestGenerator:
    def test_seed_repeats_the_numbers(self):
        g = ag.Generator()
        a = ag.randn(5, generator=g.manual_seed(3))
        b = ag.randn(5, generator=g.manual_seed(3))
        c = ag.randn(5, generator=g)
        assert a.tolist() == b.tolist() != c.tolist()
        assert g.initial_seed() == 3

    def test_generators_are_independent_of_the_default_one(self):
        g = ag.Generator().manual_seed(1)
        ag.manual_seed(1)
        a = ag.rand(3)
        ag.rand(3, generator=g)
        assert ag.rand(3, generator=g.manual_seed(1)).tolist() == a.tolist()

    def test_same_seed_in_every_process_unless_told(self):
        assert ag.Generator().initial_seed() == ag.Generator().initial_seed()

    @pytest.mark.parametrize(
        ("seed", "shown"), [(-1, 2**64 - 1), (2**64 - 1, 2**64 - 1), (-(2**63), 2**63), (0, 0)]
    )
    def test_seeds_have_64_bits(self, seed, shown):
        assert ag.Generator().manual_seed(seed).initial_seed() == shown
        ag.manual_seed(seed)
        assert ag.initial_seed() == shown

    @pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
    def test_longer_seeds_raise(self, seed):
        with pytest.raises(ValueError, match="Overflow"):
            ag.Generator().manual_seed(seed)

    def test_other_seeds_raise(self):
        with pytest.raises(TypeError, match="expected an int, but got float"):
            ag.Generator().manual_seed(1.5)
        with pytest.raises(ValueError, match="invalid literal"):
            ag.manual_seed("a")

    def test_seed_draws_from_the_system(self):
        g = ag.Generator()
        assert g.seed() != g.seed()
        assert ag.seed() == ag.initial_seed()

    def test_state_continues_where_it_was_taken(self):
        g = ag.Generator().manual_seed(2)
        ag.rand(100, generator=g)
        state = g.get_state()
        assert state.dtype == ag.uint8
        a = ag.rand(10, generator=g)
        h = ag.Generator()
        h.set_state(state)
        assert ag.rand(10, generator=h).tolist() == a.tolist()
        assert h.initial_seed() == 2

    def test_state_of_the_default_generator(self):
        state = ag.get_rng_state()
        a = ag.rand(10)
        ag.set_rng_state(state)
        assert ag.rand(10).tolist() == a.tolist()

    def test_wrong_states_raise(self):
        g = ag.Generator()
        with pytest.raises(TypeError, match="uint8"):
            g.set_state(ag.zeros(24))
        with pytest.raises(TypeError, match="uint8"):
            g.set_state(3)
        with pytest.raises(RuntimeError, match="state of size 24"):
            g.set_state(ag.zeros(3, dtype=ag.uint8))
        with pytest.raises(RuntimeError, match="no state of an autograd_cy generator"):
            g.set_state(ag.zeros(24, dtype=ag.uint8))

    def test_is_copied_and_pickled_with_its_state(self):
        g = ag.Generator().manual_seed(2)
        ag.rand(100, generator=g)
        copies = [copy.deepcopy(g), *(pickle.loads(pickle.dumps(g, p)) for p in (2, 5))]
        a = ag.rand(10, generator=g)
        for other in copies:
            assert ag.rand(10, generator=other).tolist() == a.tolist()

    def test_device(self):
        assert ag.Generator("cpu").device == ag.device("cpu")
        with pytest.raises(RuntimeError, match="not available"):
            ag.Generator("cuda")

    def test_fork_rng_puts_the_state_back(self):
        state = ag.get_rng_state()
        with ag.random.fork_rng():
            ag.rand(3)
        assert ag.get_rng_state().tolist() == state.tolist()
        with ag.random.fork_rng(enabled=False):
            ag.rand(3)
        assert ag.get_rng_state().tolist() != state.tolist()

    def test_other_objects_are_no_generators(self):
        for draw in (
            lambda: ag.rand(2, generator=3),
            lambda: ag.randperm(2, generator=3),
            lambda: ag.zeros(2).normal_(generator=3),
        ):
            with pytest.raises(TypeError, match=r"'generator' must be autograd_cy\.Generator"):
                draw()


SCRIPT = """
import hashlib
import autograd_cy as ag
for threads in (1, 2, 3):
    ag.set_num_threads(threads)
    ag.manual_seed(0)
    digest = hashlib.sha1()
    for n in (1, 17, 64, 65, 1000, 300_001):
        for dtype in (ag.float16, ag.bfloat16, ag.float32, ag.float64, ag.complex64):
            for t in (ag.rand(n, dtype=dtype), ag.randn(n, dtype=dtype)):
                digest.update(t.untyped_storage())
        for dtype in (ag.int8, ag.int64, ag.float32):
            digest.update(ag.randint(-5, 100, (n,), dtype=dtype).untyped_storage())
        for t in (ag.empty(n).exponential_(), ag.empty(n).bernoulli_(0.3), ag.randperm(n),
                  ag.bernoulli(ag.rand(n)), ag.empty(n, dtype=ag.int64).random_()):
            digest.update(t.untyped_storage())
    print(digest.hexdigest())
"""


def test_numbers_are_the_same_for_any_threads_and_instruction_set():
    found = []
    for target in cpu.usable_targets():
        env = os.environ | {"AUTOGRAD_CY_CPU": target}
        found += programs.run("-c", SCRIPT, env=env).stdout.split()
    assert len(found) == 3 * len(cpu.usable_targets())
    assert len(set(found)) == 1


def test_numbers_stay_the_same_from_release_to_release():
    ag.manual_seed(0)
    expected = [0.3990464210510254, 0.9722411632537842, 0.01944941282272339, 0.7873677611351013]
    assert ag.rand(4).tolist() == expected
    assert ag.randint(0, 1000, (6,)).tolist() == [583, 418, 103, 628, 324, 389]
    assert ag.randperm(8).tolist() == [3, 1, 0, 7, 4, 2, 6, 5]


def test_element_does_not_depend_on_the_length_or_layout():
    g = ag.Generator()
    long = ag.randn(1000, generator=g.manual_seed(0))
    assert ag.randn(10, generator=g.manual_seed(0)).tolist() == long[:10].tolist()
    strided = ag.zeros(20, 100)[:, ::2].normal_(generator=g.manual_seed(0))
    assert strided.reshape(-1).tolist() == long.tolist()
    transposed = ag.empty(50, 20).t().normal_(generator=g.manual_seed(0))
    assert transposed.reshape(-1).tolist() == long.tolist()


@pytest.mark.parametrize("dtype", FLOATS)
class TestDistributions:
    def test_uniform(self, dtype):
        x = array(ag.rand(N, dtype=dtype))
        assert x.min() >= 0
        assert x.max() < 1
        step = {ag.float16: 2**-11, ag.bfloat16: 2**-8}.get(dtype, 0)
        assert kolmogorov(x + step / 2, uniform) > 1e-6 or step
        assert abs(x.mean() + step / 2 - 0.5) < 5 * 0.289 / N**0.5

    def test_normal(self, dtype):
        x = array(ag.randn(N, dtype=dtype))
        if dtype in (ag.float32, ag.float64):
            assert kolmogorov(x, special.ndtr) > 1e-6
        assert abs(x.mean()) < 5 / N**0.5
        assert abs(x.std() - 1) < 5 / (2 * N) ** 0.5 + 0.002
        assert abs(kurtosis(x)) < 5 * (24 / N) ** 0.5 + 0.02

    def test_exponential(self, dtype):
        x = array(ag.empty(N, dtype=dtype).exponential_(2.0))
        if dtype in (ag.float32, ag.float64):
            assert kolmogorov(x, lambda x: -np.expm1(-2 * x)) > 1e-6
        assert x.min() > 0
        assert abs(x.mean() - 0.5) < 5 * 0.5 / N**0.5 + 0.001

    @pytest.mark.parametrize(("low", "high"), [(-1, 1), (3, 3.5), (0, 0.1), (-3, -1), (-1e-3, 0)])
    def test_upper_bound_is_never_reached(self, dtype, low, high):
        x = array(ag.empty(N, dtype=dtype).uniform_(low, high))
        assert x.max() < high
        assert x.min() >= array(ag.tensor(low, dtype=dtype)).item()


class TestQuality:
    @pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
    @pytest.mark.parametrize("lag", [1, 2, 4, 16, 32, 64])
    def test_neighbours_are_uncorrelated(self, dtype, lag):
        for x in (array(ag.rand(N, dtype=dtype)), array(ag.randn(N, dtype=dtype))):
            assert abs(np.corrcoef(x[:-lag], x[lag:])[0, 1]) < 5 / N**0.5
            assert abs(np.corrcoef(x[:-lag] ** 2, x[lag:] ** 2)[0, 1]) < 5 / N**0.5

    def test_calls_are_uncorrelated(self):
        x = np.array([array(ag.randn(1))[0] for _ in range(20_000)])
        assert kolmogorov(x, special.ndtr) > 1e-6
        assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 5 / 20_000**0.5

    def test_seeds_are_uncorrelated(self):
        x = [array(ag.rand(1000, generator=ag.Generator().manual_seed(i))) for i in range(20)]
        off = np.corrcoef(x) - np.eye(20)
        assert abs(off).max() < 6 / 1000**0.5

    def test_tails_of_the_normal_are_there(self):
        x = np.abs(array(ag.randn(2_000_000, dtype=ag.float64)))
        for bound in (3, 4, 4.5):
            expected = 2 * special.ndtr(-bound) * x.size
            assert abs((x > bound).sum() - expected) < 5 * expected**0.5

    def test_float64_uses_all_of_its_bits(self):
        x = array(ag.rand(1000, dtype=ag.float64)) * 2.0**53
        assert (x == np.floor(x)).all()
        assert ((x % 2) == 1).mean() == pytest.approx(0.5, abs=0.1)


class TestComplex:
    def test_normal_has_unit_variance(self):
        x = ag.randn(N, dtype=ag.complex128).numpy()
        assert abs((abs(x) ** 2).mean() - 1) < 0.02
        assert abs(np.corrcoef(x.real, x.imag)[0, 1]) < 5 / N**0.5
        assert kolmogorov(x.imag * 2**0.5, special.ndtr) > 1e-6

    def test_uniform_fills_both_parts(self):
        x = ag.rand(N, dtype=ag.complex64).numpy()
        for part in (x.real, x.imag):
            assert kolmogorov(part, uniform) > 1e-6


class TestRandint:
    def test_values_are_even(self):
        x = ag.randint(0, 7, (N,)).numpy()
        assert chi_square(np.bincount(x, minlength=7)) > 1e-6

    def test_bounds(self):
        x = ag.randint(-3, 4, (N,)).numpy()
        assert (x.min(), x.max()) == (-3, 3)
        assert ag.randint(5, 6, (10,)).tolist() == [5] * 10

    def test_forms(self):
        assert ag.randint(5, (2, 3)).shape == (2, 3)
        assert ag.randint(low=0, high=4, size=(2,)).dtype == ag.int64
        assert ag.randint(2, 5, (2,), dtype=ag.float32).dtype == ag.float32
        assert ag.randint(2, (2,), dtype=ag.bool).dtype == ag.bool
        assert ag.randint(3, size=[2]).shape == (2,)
        assert ag.randint(5, (2,), dtype=ag.float32, requires_grad=True).requires_grad

    @pytest.mark.parametrize("high", [2**31, 5 * 10**9, 2**63 - 1])
    def test_wide_ranges(self, high):
        x = ag.randint(0, high, (N,)).numpy()
        assert x.max() < high
        assert kolmogorov(x / high, uniform) > 1e-6

    def test_whole_range_of_int64(self):
        x = ag.randint(-(2**63), 2**63 - 1, (N,)).numpy()
        assert kolmogorov(x / 2.0**64 + 0.5, uniform) > 1e-6

    @pytest.mark.parametrize(
        ("args", "dtype", "message"),
        [
            ((5, 2), None, "expects 'from' to be less than 'to'"),
            ((5, 5), None, "expects 'from' to be less than 'to'"),
            ((0, 300), ag.uint8, "to - 1 is out of bounds"),
            ((-1, 200), ag.uint8, "from is out of bounds"),
            ((0, 3), ag.bool, "to - 1 is out of bounds"),
            ((0, 70000), ag.float16, "to - 1 is out of bounds"),
        ],
    )
    def test_wrong_bounds_raise(self, args, dtype, message):
        with pytest.raises(RuntimeError, match=message):
            ag.randint(*args, (2,), dtype=dtype)

    def test_wrong_arguments_raise(self):
        with pytest.raises(ValueError, match="'high': Overflow when unpacking long long"):
            ag.randint(0, 2**63 + 1, (2,))
        with pytest.raises(TypeError, match="'high' must be int, not float"):
            ag.randint(3.5, (2,))
        with pytest.raises(TypeError, match='"size"'):
            ag.randint(3)
        with pytest.raises(TypeError, match="'size' must be tuple of ints"):
            ag.randint(5, 2)
        with pytest.raises(TypeError, match="at most 3 positional"):
            ag.randint(1, 2, 3, (2,))
        with pytest.raises(RuntimeError, match="Complex"):
            ag.randint(3, (2,), dtype=ag.complex64)


class TestRandperm:
    @pytest.mark.parametrize("n", [0, 1, 2, 33, 1000])
    def test_is_a_permutation(self, n):
        t = ag.randperm(n)
        assert t.dtype == ag.int64
        assert sorted(t.tolist()) == list(range(n))

    def test_orders_are_even(self):
        found = np.array([ag.randperm(4).tolist() for _ in range(24_000)])
        orders, counts = np.unique(found, axis=0, return_counts=True)
        assert len(orders) == 24
        assert chi_square(counts) > 1e-6

    def test_dtype_and_out(self):
        assert ag.randperm(5, dtype=ag.float32).dtype == ag.float32
        out = ag.empty(0, dtype=ag.int32)
        assert ag.randperm(5, out=out) is out
        assert sorted(out.tolist()) == [0, 1, 2, 3, 4]

    def test_wrong_arguments_raise(self):
        with pytest.raises(RuntimeError, match="non-negative"):
            ag.randperm(-1)
        with pytest.raises(TypeError, match="'n' must be int, not float"):
            ag.randperm(5.0)
        with pytest.raises(RuntimeError, match="do not fit Byte"):
            ag.randperm(300, dtype=ag.uint8)
        with pytest.raises(RuntimeError, match="Only Tensors of floating point"):
            ag.randperm(5, requires_grad=True)


class TestLikes:
    def test_shape_dtype_and_order_are_taken(self):
        t = ag.ones(2, 3, dtype=ag.float64).t()
        for draw in (ag.rand_like, ag.randn_like, lambda x, **k: ag.randint_like(x, 5, **k)):
            r = draw(t)
            assert (r.shape, r.stride(), r.dtype) == ((3, 2), (1, 3), ag.float64)
            assert draw(t, dtype=ag.float32, requires_grad=True).requires_grad
        assert t.tolist() == [[1, 1]] * 3

    def test_randint_like_forms(self):
        t = ag.zeros(100)
        assert set(ag.randint_like(t, 3, 5).tolist()) == {3.0, 4.0}
        assert set(ag.randint_like(t, low=3, high=5).tolist()) == {3.0, 4.0}
        with pytest.raises(TypeError, match='"high"'):
            ag.randint_like(t)

    def test_integers_have_no_uniform_or_normal(self):
        for draw in (ag.rand_like, ag.randn_like):
            with pytest.raises(NotImplementedError, match="Long"):
                draw(ag.zeros(2, dtype=ag.int64))
        for draw in (ag.rand, ag.randn):
            with pytest.raises(NotImplementedError, match="Long"):
                draw(2, dtype=ag.int64)


class TestNormal:
    def test_numbers_need_a_size(self):
        x = array(ag.normal(2.0, 3.0, (N,)))
        assert kolmogorov((x - 2) / 3, special.ndtr) > 1e-6
        assert ag.normal(0, 1, size=(2,), dtype=ag.float64).dtype == ag.float64
        with pytest.raises(TypeError, match='"size"'):
            ag.normal(0.0, 1.0)

    def test_tensors_are_broadcast(self):
        mean = ag.tensor([[1.0], [2.0]])
        t = ag.normal(mean, ag.zeros(3))
        assert t.tolist() == [[1, 1, 1], [2, 2, 2]]
        assert ag.normal(mean).shape == (2, 1)
        assert ag.normal(0.0, ag.tensor([0.0, 0.0])).tolist() == [0, 0]
        assert ag.normal(mean, 0.0).tolist() == mean.tolist()

    def test_each_element_has_its_own_parameters(self):
        mean, std = ag.arange(4.0), ag.tensor([1.0, 2.0, 0.5, 3.0])
        x = array(ag.normal(mean.expand(N // 4, 4), std))
        z = (x - mean.numpy()) / std.numpy()
        assert kolmogorov(z.reshape(-1), special.ndtr) > 1e-6

    def test_gradients_are_zeros_of_nodes_named_as_in_torch(self):
        mean, std = (ag.ones(n, requires_grad=True) for n in ((2, 1), 3))
        for name, args in {
            "NormalBackward1": (mean, 1.0),
            "NormalBackward2": (0.0, std),
            "NormalBackward3": (mean, std),
        }.items():
            drawn = ag.normal(*args)
            leaves = [x for x in args if isinstance(x, ag.Tensor)]
            found = ag.autograd.grad(drawn.sum(), leaves)
            assert type(drawn.grad_fn).__name__ == name
            assert [g.tolist() for g in found] == [ag.zeros_like(x).tolist() for x in leaves]

    def test_dtype_is_that_of_the_mean(self):
        assert ag.normal(ag.zeros(2), ag.ones(2, dtype=ag.float64)).dtype == ag.float32

    def test_parameters_are_checked(self):
        with pytest.raises(RuntimeError, match=r"expects std >= 0\.0, but found std -1"):
            ag.normal(0.0, -1.0, (3,))
        with pytest.raises(RuntimeError, match="all elements of std >= 0"):
            ag.normal(ag.zeros(3), -ag.ones(3))
        with pytest.raises(RuntimeError, match="must match the size"):
            ag.normal(ag.zeros(2), ag.ones(3))
        with pytest.raises(NotImplementedError, match="Long"):
            ag.normal(ag.zeros(2, dtype=ag.int64))
        with pytest.raises(TypeError, match="size"):
            ag.normal(ag.zeros(2), ag.ones(2), (2,))


class TestBernoulli:
    def test_probabilities_are_met(self):
        p = ag.rand(N)
        x = array(ag.bernoulli(p)) - p.numpy()
        assert abs(x.sum()) < 5 * (N / 6) ** 0.5
        assert ag.bernoulli(ag.tensor([0.0, 1.0])).tolist() == [0, 1]

    def test_one_probability(self):
        x = array(ag.bernoulli(ag.empty(N), 0.01)).sum()
        assert binomial(int(x), N, 0.01) > 1e-6
        assert ag.bernoulli(ag.zeros(2, dtype=ag.int64), 1.0).tolist() == [1, 1]

    @pytest.mark.parametrize("p", [1.5, -0.1, float("nan")])
    def test_what_is_no_probability_raises(self, p):
        with pytest.raises(RuntimeError, match="p_in"):
            ag.bernoulli(ag.tensor([0.0, p]))
        with pytest.raises(RuntimeError, match=r"expects p to be in \[0, 1\]"):
            ag.bernoulli(ag.zeros(2), p)

    def test_integers_are_no_probabilities(self):
        with pytest.raises(NotImplementedError, match="must be floating"):
            ag.bernoulli(ag.tensor([1, 0]))

    def test_gradient_is_zero(self):
        p = ag.full((3,), 0.5, requires_grad=True)
        y = ag.bernoulli(p)
        assert y.grad_fn.name() == "BernoulliBackward0"
        y.sum().backward()
        assert p.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", [ag.bool, ag.int8, ag.int64, *FLOATS])
def test_bernoulli_fills_every_dtype(dtype):
    x = ag.empty(N, dtype=dtype).bernoulli_(0.3)
    assert binomial(int(array(x).sum()), N, 0.3) > 1e-6


@pytest.mark.parametrize("name", ["Exponential", "HalfNormal", "HalfCauchy"])
@pytest.mark.parametrize("value", [0.5, float("inf"), float("nan")])
def test_the_mode_of_a_distribution_that_begins_at_0_is_0(name, value):
    rate = ag.tensor([value, 1.0], requires_grad=True)
    made = getattr(ag.distributions, name)(rate, validate_args=False)
    assert made.mode.tolist() == [0.0, 0.0] and not made.mode.requires_grad


@pytest.mark.parametrize("name", ["Exponential", "Cauchy", "Gumbel", "Normal", "Uniform"])
@pytest.mark.parametrize("value", [0.5, 0.25, None, "a"])
def test_icdf_takes_the_numbers_that_torch_takes(name, value):
    torch = pytest.importorskip("torch")

    def outcome(lib):
        parameters = (0.5,) if name == "Exponential" else (0.5, 1.5)
        try:
            found = getattr(lib.distributions, name)(*parameters).icdf(value)
        except (TypeError, ValueError, AttributeError) as error:
            return type(error).__name__
        return round(float(found), 5)

    assert outcome(ag) == outcome(torch)
