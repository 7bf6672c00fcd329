"""zeros, ones, full, empty, eye, their like- and new-forms: shapes, dtypes, flags."""

import numpy as np
import pytest

import autograd_cy as ag

FILLERS = [(ag.zeros, 0), (ag.ones, 1)]
DTYPES = [
    ag.bool,
    ag.uint8,
    ag.int8,
    ag.int16,
    ag.int32,
    ag.int64,
    ag.float16,
    ag.bfloat16,
    ag.float32,
    ag.float64,
    ag.complex64,
    ag.complex128,
]


@pytest.fixture
def float64_default():
    ag.set_default_dtype(ag.float64)
    yield
    ag.set_default_dtype(ag.float32)


@pytest.mark.parametrize(("make", "value"), FILLERS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_element_has_the_value(make, value, dtype):
    t = make(3, 5, dtype=dtype)
    assert t.dtype == dtype
    assert t.tolist() == [[value] * 5] * 3


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000, 70_000, 300_001])
@pytest.mark.parametrize("dtype", [ag.int8, ag.int16, ag.float32, ag.float64, ag.complex128])
def test_long_fills_reach_the_end(n, dtype):
    a = ag.full((n,), 3, dtype=dtype).numpy()
    assert a.shape == (n,)
    assert (a == 3).all()


@pytest.mark.parametrize("args", [(2, 3), ((2, 3),), ([2, 3],), (ag.Size([2, 3]),)])
def test_sizes_come_one_by_one_or_as_a_sequence(args):
    assert ag.zeros(*args).shape == (2, 3)
    assert ag.zeros(size=(2, 3)).shape == (2, 3)


def test_sizes_may_be_numpy_integers_and_0d_tensors():
    assert ag.zeros(np.int64(2), ag.tensor(3)).shape == (2, 3)


def test_no_sizes_make_a_scalar():
    assert ag.zeros(()).shape == ()
    assert ag.ones([]).item() == 1.0


@pytest.mark.parametrize("make", [ag.zeros, ag.ones, ag.empty, ag.rand, ag.randn])
class TestWrongSizes:
    @pytest.mark.parametrize("size", [(2.0,), ("a",), (True,), ((2, 3.0),), (None,)])
    def test_what_is_no_integer_raises(self, make, size):
        with pytest.raises(TypeError, match="argument 'size'"):
            make(*size)

    def test_nothing_raises(self, make):
        with pytest.raises(TypeError, match='missing 1 required positional arguments: "size"'):
            make()

    def test_negative_raises(self, make):
        with pytest.raises(RuntimeError, match="Dimension size must be non-negative"):
            make(2, -3)

    def test_sequence_and_number_together_raise(self, make):
        with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
            make([2, 3], 4)

    def test_size_given_twice_raises(self, make):
        with pytest.raises(TypeError, match="multiple values for argument 'size'"):
            make(2, size=(3,))

    def test_overflow_raises(self, make):
        with pytest.raises(RuntimeError, match="overflow"):
            make(2**40, 2**40)

    def test_65_dimensions_raise(self, make):
        with pytest.raises(ValueError, match="at most 64 dimensions"):
            make([1] * 65)


@pytest.mark.parametrize("make", [ag.zeros, ag.ones, ag.empty, ag.rand])
def test_requires_grad_is_set_and_checked(make):
    assert not make(2).requires_grad
    t = make(2, requires_grad=True)
    assert t.requires_grad
    assert t.is_leaf
    with pytest.raises(TypeError, match="'requires_grad' must be bool, not int"):
        make(2, requires_grad=1)


def test_integers_cannot_require_grad():
    text = "Only Tensors of floating point and complex dtype can require gradients"
    for make in (
        lambda: ag.zeros(2, dtype=ag.int64, requires_grad=True),
        lambda: ag.tensor([1, 2], requires_grad=True),
        lambda: ag.full((2,), 3, requires_grad=True),
        lambda: ag.arange(3, requires_grad=True),
        lambda: ag.zeros_like(ag.ones(2), dtype=ag.bool, requires_grad=True),
    ):
        with pytest.raises(RuntimeError, match=text):
            make()


def test_python_types_name_dtypes():
    assert ag.zeros(1, dtype=float).dtype == ag.float64
    assert ag.zeros(1, dtype=int).dtype == ag.int64
    assert ag.zeros(1, dtype=bool).dtype == ag.bool
    assert ag.zeros(1, dtype=complex).dtype == ag.complex128


def test_numpy_dtypes_name_dtypes():
    assert ag.zeros(1, dtype=np.float16).dtype == ag.float16


def test_unknown_dtype_raises():
    with pytest.raises(TypeError, match="dtype"):
        ag.zeros(1, dtype="float32")
    with pytest.raises(TypeError, match="dtype"):
        ag.zeros(1, dtype=np.dtype("datetime64[s]"))


def test_default_dtype_is_used(float64_default):
    assert ag.zeros(1).dtype == ag.float64
    assert ag.tensor(1.5).dtype == ag.float64
    assert ag.full((1,), 1j).dtype == ag.complex128
    assert ag.arange(2.5).dtype == ag.float64


class TestPlacement:
    def test_cpu_is_accepted(self):
        assert ag.zeros(2, device="cpu", layout=ag.strided).device == ag.device("cpu")

    def test_other_devices_raise(self):
        with pytest.raises(RuntimeError, match="not available"):
            ag.zeros(2, device="cuda")
        with pytest.raises(RuntimeError, match="Expected one of"):
            ag.zeros(2, device="nowhere")

    def test_layout_must_be_a_layout(self):
        with pytest.raises(TypeError, match="'layout' must be"):
            ag.zeros(2, layout=3)

    def test_pinned_memory_needs_an_accelerator(self):
        with pytest.raises(RuntimeError, match="pin_memory=True requires"):
            ag.zeros(2, pin_memory=True)

    def test_unknown_keyword_raises(self):
        with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
            ag.zeros(2, foo=3)


class TestOut:
    def test_is_written_and_returned(self):
        out = ag.ones(2)
        assert ag.zeros(2, out=out) is out
        assert out.tolist() == [0.0, 0.0]

    def test_keeps_its_dtype(self):
        out = ag.empty(2, dtype=ag.int32)
        assert ag.full((2,), 3.0, out=out).tolist() == [3, 3]
        assert out.dtype == ag.int32

    def test_of_another_dtype_than_asked_for_raises(self):
        out = ag.ones(2, dtype=ag.int32)
        with pytest.raises(RuntimeError, match="does not match dtype of out parameter"):
            ag.zeros(2, out=out, dtype=ag.float32)
        assert out.tolist() == [1, 1]

    def test_empty_one_is_resized(self):
        assert ag.arange(3, out=ag.empty(0)).tolist() == [0.0, 1.0, 2.0]
        assert ag.eye(2, out=ag.empty(0)).tolist() == [[1, 0], [0, 1]]

    def test_filled_one_is_resized_with_a_warning(self):
        with pytest.warns(UserWarning, match="was resized"):
            assert ag.ones(2, out=ag.empty(3)).shape == (2,)

    def test_that_requires_grad_raises(self):
        with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
            ag.zeros(2, out=ag.ones(2, requires_grad=True))

    def test_bumps_the_version(self):
        out = ag.empty(2)
        ag.ones(2, out=out)
        ag.rand(2, out=out)
        assert out._version == 2

    def test_strided_one_is_filled_in_place(self):
        base = ag.zeros(2, 4)
        ag.ones(2, 2, out=base[:, ::2])
        assert base.tolist() == [[1, 0, 1, 0]] * 2


class TestFull:
    @pytest.mark.parametrize(
        ("value", "dtype"),
        [(3, ag.int64), (2.5, ag.float32), (True, ag.bool), (1j, ag.complex64)],
    )
    def test_dtype_follows_the_value(self, value, dtype):
        t = ag.full((2,), value)
        assert t.dtype == dtype
        assert t.tolist() == [value, value]

    def test_value_may_be_a_numpy_scalar_or_0d_tensor(self):
        assert ag.full((1,), np.float64(2)).dtype == ag.float32
        assert ag.full((1,), ag.tensor(3.5)).tolist() == [3.5]

    def test_float_is_cut_for_an_integer_dtype(self):
        assert ag.full((1,), 3.7, dtype=ag.int64).tolist() == [3]

    @pytest.mark.parametrize("value", ["a", None, [1], ag.ones(1)])
    def test_other_values_raise(self, value):
        with pytest.raises(TypeError, match="'fill_value' must be Number"):
            ag.full((2,), value)

    def test_value_that_requires_grad_raises(self):
        with pytest.raises(TypeError, match="must be Number"):
            ag.full((2,), ag.tensor(1.0, requires_grad=True))

    def test_value_beyond_the_dtype_raises(self):
        for value, dtype in [(300, ag.uint8), (2**63, None), (1j, ag.float32)]:
            with pytest.raises(RuntimeError, match="cannot be converted"):
                ag.full((2,), value, dtype=dtype)

    def test_size_must_be_a_sequence(self):
        with pytest.raises(TypeError, match="must be tuple of ints, not int"):
            ag.full(2, 3)


class TestEye:
    def test_square_and_not(self):
        assert ag.eye(2).tolist() == [[1, 0], [0, 1]]
        assert ag.eye(2, 3, dtype=ag.bool).tolist() == [[True, False, False], [False, True, False]]
        assert ag.eye(3, m=1).tolist() == [[1], [0], [0]]
        assert ag.eye(0).shape == (0, 0)

    def test_negative_size_raises(self):
        with pytest.raises(RuntimeError, match="n must be greater or equal to 0, got -1"):
            ag.eye(-1)
        with pytest.raises(RuntimeError, match="m must be greater or equal to 0, got -2"):
            ag.eye(1, -2)

    def test_float_size_raises(self):
        with pytest.raises(TypeError, match="argument .n. .position 1. must be int"):
            ag.eye(2.0)


class TestEmpty:
    def test_memory_format(self):
        assert ag.empty((2, 3, 4, 5), memory_format=ag.channels_last).stride() == (60, 1, 15, 3)

    def test_wrong_memory_format_raises(self):
        with pytest.raises(RuntimeError, match="required rank 4"):
            ag.empty((2, 3), memory_format=ag.channels_last)
        with pytest.raises(RuntimeError, match="preserve_format"):
            ag.empty(2, memory_format=ag.preserve_format)
        with pytest.raises(TypeError, match="memory_format"):
            ag.empty(2, memory_format=3)

    def test_strided(self):
        assert ag.empty_strided((2, 3), (1, 2)).stride() == (1, 2)
        assert ag.empty_strided((2, 3), (0, 0)).stride() == (0, 0)

    def test_strided_checks_its_arguments(self):
        with pytest.raises(RuntimeError, match="dimensionality of sizes"):
            ag.empty_strided((2, 3), (1,))
        with pytest.raises(RuntimeError, match="negative"):
            ag.empty_strided((2, 3), (1, -1))


class TestLikes:
    @pytest.mark.parametrize(
        ("make", "value"),
        [
            (ag.zeros_like, 0),
            (ag.ones_like, 1),
            (lambda t, **k: ag.full_like(t, 7, **k), 7),
        ],
    )
    def test_shape_and_dtype_are_kept(self, make, value):
        source = ag.tensor([[1, 2, 3]], dtype=ag.int16)
        t = make(source)
        assert t.dtype == ag.int16
        assert t.tolist() == [[value] * 3]
        assert source.tolist() == [[1, 2, 3]]
        assert make(source, dtype=ag.float64).dtype == ag.float64

    def test_requires_grad_is_not_kept(self):
        x = ag.ones(2, requires_grad=True)
        assert not ag.zeros_like(x).requires_grad
        assert ag.zeros_like(x, requires_grad=True).requires_grad

    def test_order_of_dimensions_is_kept(self):
        assert ag.zeros_like(ag.ones(2, 3).t()).stride() == (1, 3)
        assert ag.zeros_like(ag.ones(2, 6)[:, ::2]).stride() == (3, 1)
        assert ag.zeros_like(ag.ones(3).expand(2, 3)).stride() == (3, 1)

    def test_memory_format_overrides_the_order(self):
        t = ag.ones(2, 3).t()
        assert ag.ones_like(t, memory_format=ag.contiguous_format).stride() == (2, 1)
        u = ag.empty_like(ag.ones(2, 3, 4, 5), memory_format=ag.channels_last)
        assert u.stride() == (60, 1, 15, 3)

    def test_argument_must_be_a_tensor(self):
        for make in (ag.zeros_like, ag.ones_like, ag.empty_like, ag.rand_like):
            with pytest.raises(TypeError, match=r"'input' .* must be Tensor, not list"):
                make([1, 2])


class TestNewForms:
    def test_dtype_is_that_of_the_tensor(self):
        t = ag.ones(2, dtype=ag.int16)
        assert t.new_zeros(2, 3).tolist() == [[0] * 3] * 2
        assert t.new_ones((2,)).dtype == ag.int16
        assert t.new_full((2,), 3.7).tolist() == [3, 3]
        assert t.new_empty(4).dtype == ag.int16
        assert t.new_empty_strided((2, 3), (1, 2)).stride() == (1, 2)
        assert t.new_tensor([1.5]).tolist() == [1]

    def test_options_are_taken(self):
        t = ag.ones(2, dtype=ag.int16).new_ones(2, dtype=ag.float32, requires_grad=True)
        assert t.requires_grad
        assert t.dtype == ag.float32

    def test_new_tensor_of_a_tensor_warns(self):
        with pytest.warns(UserWarning, match="tensor.new_tensor"):
            ag.ones(2).new_tensor(ag.ones(1))


def test_inference_mode_marks_what_it_makes():
    with ag.inference_mode():
        made = [ag.zeros(2), ag.tensor([1.0]), ag.rand(2), ag.from_numpy(np.ones(2)), ag.arange(2)]
    assert all(t.is_inference() for t in made)
    assert not ag.zeros(2).is_inference()


OUT_FORMS = {
    "arange": (3,),
    "empty": (3,),
    "eye": (3,),
    "full": ((3,), 2.0),
    "linspace": (0, 1, 3),
    "logspace": (0, 1, 3),
    "normal": (0.0, 1.0, (3,)),
    "ones": (3,),
    "rand": (3,),
    "randint": (5, (3,)),
    "randn": (3,),
    "randperm": (3,),
    "zeros": (3,),
}


@pytest.mark.parametrize("op", OUT_FORMS)
def test_out_stays_what_it_was_in_inference_mode(op):
    out = ag.empty(0)
    with ag.inference_mode():
        getattr(ag, op)(*OUT_FORMS[op], out=out)
    assert not out.is_inference()
    out.requires_grad_().sum().backward()
    assert out.grad.shape == out.shape


def test_failed_allocation_raises_and_leaves_nothing_behind():
    from autograd_cy._C.storage import _fail_allocation_after

    before = ag.memory_summary()["live_blocks"]
    for make in (lambda: ag.zeros(4), lambda: ag.tensor([1.0]), lambda: ag.rand(3)):
        _fail_allocation_after(0)
        with pytest.raises(MemoryError, match="cannot allocate"):
            make()
    assert ag.memory_summary()["live_blocks"] == before
    assert ag.zeros(2).tolist() == [0, 0]
