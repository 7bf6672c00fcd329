"""uniform_, normal_, random_, exponential_ and bernoulli_: arguments, versions, autograd."""

import pytest

import autograd_cy as ag

METHODS = {
    "uniform_": (),
    "normal_": (),
    "random_": (5,),
    "exponential_": (),
    "bernoulli_": (0.5,),
}


@pytest.mark.parametrize(("name", "args"), METHODS.items())
class TestEveryMethod:
    def test_returns_the_tensor_and_bumps_its_version(self, name, args):
        t = ag.zeros(100)
        assert getattr(t, name)(*args) is t
        assert t._version == 1
        assert (t != 0).any()

    def test_empty_and_0d(self, name, args):
        assert getattr(ag.empty(0, 3), name)(*args).shape == (0, 3)
        assert getattr(ag.empty(()), name)(*args).shape == ()

    def test_takes_a_generator(self, name, args):
        g = ag.Generator()
        a = getattr(ag.zeros(10), name)(*args, generator=g.manual_seed(1))
        b = getattr(ag.zeros(10), name)(*args, generator=g.manual_seed(1))
        assert a.tolist() == b.tolist()

    def test_view_changes_its_base_only_there(self, name, args):
        base = ag.full((4, 6), 9.0)
        getattr(base[1:3, ::2], name)(*args)
        inside = ag.zeros(4, 6, dtype=ag.bool)
        inside[1:3, ::2] = True
        assert ((base == 9) | inside).all()
        assert (base[1:3, ::2] != 9).all()
        assert base._version == 1

    def test_leaf_that_requires_grad_is_refused_and_unchanged(self, name, args):
        x = ag.ones(3, requires_grad=True)
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            getattr(x, name)(*args)
        assert x.tolist() == [1, 1, 1]
        assert x._version == 0

    def test_leaf_may_be_filled_under_no_grad(self, name, args):
        x = ag.ones(100, requires_grad=True)
        with ag.no_grad():
            getattr(x, name)(*args)
        assert x.requires_grad
        assert (x != 1).any()

    def test_gradient_is_zero_before_and_whole_after(self, name, args):
        x = ag.ones(3, requires_grad=True)
        y = x * 2
        getattr(y, name)(*args)
        assert y.grad_fn.name().startswith(name.capitalize().rstrip("_"))
        z = y * 3
        (gy,) = ag.autograd.grad(z.sum(), y, retain_graph=True)
        assert gy.tolist() == [3, 3, 3]
        z.sum().backward()
        assert x.grad.tolist() == [0, 0, 0]

    def test_saved_value_that_is_overwritten_is_noticed(self, name, args):
        x = ag.ones(3, requires_grad=True)
        y = x.exp()
        getattr(y, name)(*args)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()

    def test_overlapping_memory_is_refused(self, name, args):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            getattr(ag.ones(1).expand(3), name)(*args)

    def test_history_of_the_base_is_rewritten(self, name, args):
        x = ag.ones(2, 3, requires_grad=True)
        y = x * 2
        getattr(y[0], name)(*args)
        y.sum().backward()
        assert x.grad.tolist() == [[0, 0, 0], [2, 2, 2]]


class TestUniform:
    def test_bounds_by_position_and_name(self):
        for t in (
            ag.empty(1000).uniform_(2, 3),
            ag.empty(1000).uniform_(2, to=3),
            ag.empty(1000).uniform_(**{"from": 2, "to": 3}),
        ):
            assert t.min() >= 2
            assert t.max() < 3

    def test_equal_bounds_fill_with_the_bound(self):
        assert ag.empty(2).uniform_(1, 1).tolist() == [1, 1]

    @pytest.mark.parametrize("bounds", [(1, 0), (0, float("nan")), (float("nan"), 1)])
    def test_reversed_bounds_raise(self, bounds):
        with pytest.raises(RuntimeError, match="expects to return"):
            ag.empty(2).uniform_(*bounds)

    @pytest.mark.parametrize(
        ("dtype", "high"), [(ag.float32, float("inf")), (ag.float32, 1e39), (ag.float16, 1e5)]
    )
    def test_bounds_beyond_the_dtype_raise(self, dtype, high):
        with pytest.raises(RuntimeError, match="out of bounds for"):
            ag.empty(2, dtype=dtype).uniform_(0, high)

    def test_wrong_arguments_raise(self):
        with pytest.raises(NotImplementedError, match="Long"):
            ag.empty(2, dtype=ag.int64).uniform_()
        with pytest.raises(TypeError, match="unexpected keyword argument 'low'"):
            ag.empty(2).uniform_(low=1)
        with pytest.raises(TypeError, match="multiple values"):
            ag.empty(2).uniform_(0, 1, to=2)
        with pytest.raises(TypeError, match="at most 2"):
            ag.empty(2).uniform_(0, 1, 2)
        with pytest.raises(TypeError, match="must be Number"):
            ag.empty(2).uniform_("a")


class TestNormal:
    def test_mean_and_std(self):
        t = ag.empty(100_000).normal_(mean=3, std=2)
        assert abs(t.mean() - 3) < 0.05
        assert abs(t.numpy().std() - 2) < 0.05
        assert ag.empty(2).normal_(1, 0).tolist() == [1, 1]

    def test_negative_std_raises(self):
        with pytest.raises(RuntimeError, match=r"expects std >= 0\.0, but found std -1"):
            ag.empty(2).normal_(0, -1)

    def test_integers_raise(self):
        with pytest.raises(NotImplementedError, match="Int"):
            ag.empty(2, dtype=ag.int32).normal_()

    def test_complex_mean_goes_to_the_real_part(self):
        assert ag.empty(2, dtype=ag.complex64).normal_(1, 0).tolist() == [1, 1]


class TestRandom:
    def test_without_bounds_the_dtype_decides(self):
        for dtype, top in [(ag.int8, 127), (ag.uint8, 255), (ag.bool, 1), (ag.float16, 2**11)]:
            t = ag.empty(100_000, dtype=dtype).random_().to(ag.int64)
            assert t.min() == 0
            assert t.max() == top
        big = ag.empty(1000, dtype=ag.int64).random_()
        assert big.min() >= 0
        assert big.max() > 2**62
        for dtype, top in [(ag.uint16, 2**16), (ag.uint32, 2**32)]:
            t = ag.empty(1000, dtype=dtype).random_().to(ag.int64)
            assert t.min() >= 0 and t.max() > top * 0.98

    def test_uint64_needs_an_upper_bound(self):
        t = ag.ones(3, dtype=ag.uint64)
        with pytest.raises(NotImplementedError, match="not implemented for 'UInt64'"):
            t.random_()
        with pytest.raises(RuntimeError, match="to - 1 is out of bounds for long unsigned int"):
            t.random_(5, None)
        assert t.tolist() == [1, 1, 1]
        assert all(2**62 <= x < 2**62 + 9 for x in t.random_(2**62, 2**62 + 9).tolist())

    def test_one_bound_is_the_upper_one(self):
        assert set(ag.empty(100).random_(2).tolist()) == {0, 1}
        assert set(ag.empty(100).random_(to=2).tolist()) == {0, 1}
        assert set(ag.empty(100).random_(3, 5).tolist()) == {3, 4}
        assert ag.empty(100, dtype=ag.int8).random_(100, None).min() >= 100

    def test_wrong_bounds_raise(self):
        for bounds in [(0,), (3, 3), (5, 3)]:
            with pytest.raises(RuntimeError, match="'from' to be less than 'to'"):
                ag.empty(2).random_(*bounds)
        with pytest.raises(RuntimeError, match="to - 1 is out of bounds"):
            ag.empty(2, dtype=ag.uint8).random_(0, 257)
        with pytest.raises(TypeError, match="must be int, not float"):
            ag.empty(2).random_(1.5)
        with pytest.raises(NotImplementedError, match="ComplexFloat"):
            ag.empty(2, dtype=ag.complex64).random_()


class TestExponential:
    @pytest.mark.parametrize("rate", [0, -1, float("nan")])
    def test_rate_must_be_positive(self, rate):
        with pytest.raises(RuntimeError, match=r"expects lambda > 0\.0"):
            ag.empty(2).exponential_(rate)

    def test_integers_raise(self):
        with pytest.raises(RuntimeError, match="must be a floating point"):
            ag.empty(2, dtype=ag.int64).exponential_()


class TestBernoulli:
    def test_tensor_of_probabilities_is_broadcast(self):
        p = ag.tensor([0.0, 1.0, 1.0])
        assert ag.empty(2, 3).bernoulli_(p).tolist() == [[0, 1, 1]] * 2
        assert p.tolist() == [0, 1, 1]

    def test_tensor_of_another_shape_raises(self):
        with pytest.raises(RuntimeError, match="expanded size"):
            ag.empty(5).bernoulli_(ag.ones(4))

    def test_gradient_of_the_probabilities_is_zero(self):
        p = ag.full((3,), 0.5, requires_grad=True)
        t = ag.zeros(3).bernoulli_(p)
        assert t.requires_grad
        t.sum().backward()
        assert p.grad.tolist() == [0, 0, 0]

    @pytest.mark.parametrize("p", [-0.5, 1.5])
    def test_what_is_no_probability_raises(self, p):
        with pytest.raises(RuntimeError, match=r"expects p to be in \[0, 1\]"):
            ag.empty(2).bernoulli_(p)


def test_inference_tensor_is_refused_outside_of_the_mode():
    with ag.inference_mode():
        t = ag.zeros(2)
        t.uniform_()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        t.uniform_()


NO_GENERATOR = "argument 'generator' must be autograd_cy.Generator, not int"
REFUSED = {
    "mean": ("normal", ([None], ag.ones(3)), {}, "must be Number"),
    "std": ("normal", (ag.ones(3), [None]), {}, "must be Number"),
    "std of one size": ("normal", (0.0, [1.0], (3,)), {}, "must be Number"),
    "mean of one size": ("normal", ("0", 1.0, (3,)), {}, "must be Number"),
    "negative std": ("normal", (0.0, -1.0, (3,)), {}, "expects std >= 0"),
    "negative std of one": ("normal", (ag.ones(3), -1.0), {}, "expects std >= 0"),
    "negative std of some": (
        "normal",
        (0.0, ag.tensor([1.0, -1.0])),
        {},
        "all elements of std >= 0",
    ),
    "range": ("randint", (5, 5, (3,)), {}, "expects 'from' to be less than 'to'"),
    "probability": ("bernoulli", (ag.zeros(3), 2.0), {}, r"p to be in \[0, 1\]"),
    "probabilities": ("bernoulli", (ag.tensor([0.0, 2.0]),), {}, "element 1 is 2.0"),
    **{
        f"generator of {op}": (op, arguments, {"generator": 5}, rf"{op}\(\): {NO_GENERATOR}")
        for op, arguments in {
            "rand": (3,),
            "randn": (3,),
            "randint": (0, 5, (3,)),
            "randperm": (3,),
            "normal": (ag.zeros(3), 1.0),
            "bernoulli": (ag.zeros(3),),
        }.items()
    },
}


@pytest.mark.parametrize("case", REFUSED)
def test_random_numbers_that_are_refused_leave_out_as_it_was(case):
    op, arguments, keywords, message = REFUSED[case]
    out = ag.tensor([1.0, 3.0])
    with pytest.raises((TypeError, RuntimeError), match=message):
        getattr(ag, op)(*arguments, **keywords, out=out)
    assert out.tolist() == [1.0, 3.0] and out._version == 0


@pytest.mark.parametrize("op", ["rand_like", "randn_like", "multinomial"])
def test_generator_of_a_wrong_kind_is_named_with_the_function(op):
    arguments = (2,) if op == "multinomial" else ()
    with pytest.raises(TypeError, match=rf"{op}\(\): {NO_GENERATOR}"):
        getattr(ag, op)(ag.ones(3), *arguments, generator=5)


def test_out_may_be_the_probabilities_or_a_view():
    p = ag.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert ag.bernoulli(p.t(), out=p) is p
    assert p.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    both = ag.zeros(2, 3)
    ag.randperm(3, out=both[1])
    assert both[0].tolist() == [0, 0, 0] and sorted(both[1].tolist()) == [0, 1, 2]
