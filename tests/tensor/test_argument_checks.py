"""Functions of several tensors and of shapes refuse arguments of other kinds, as torch does."""

import pytest

import autograd_cy as ag

X = ag.arange(6.0).reshape(2, 3)
STACKS = ("hstack", "vstack", "dstack", "column_stack", "row_stack")


@pytest.mark.parametrize("name", STACKS)
def test_stacks_need_a_sequence_of_at_least_one_tensor(name):
    stack = getattr(ag, name)
    for wrong in (X, "ab", 1, None, [X, 1]):
        with pytest.raises(TypeError, match="tensors"):
            stack(wrong)
    with pytest.raises(RuntimeError, match="expects a non-empty TensorList"):
        stack([])
    out = ag.empty(0)
    assert stack([X, X], out=out) is out
    assert out.tolist() == stack([X, X]).tolist()


@pytest.mark.parametrize("name", ["cat", "stack"])
def test_joins_write_to_out(name):
    out = ag.empty(0)
    assert getattr(ag, name)([X, X], 1, out=out) is out
    assert out.tolist() == getattr(ag, name)([X, X], 1).tolist()
    leaf = ag.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        getattr(ag, name)([X, leaf], out=out)
    with pytest.raises(TypeError, match="can't be cast"):
        getattr(ag, name)([X, X], out=ag.empty(0, dtype=ag.int64))


@pytest.mark.parametrize("name", ["hsplit", "vsplit"])
def test_splits_take_an_int_or_several(name):
    split = getattr(ag, name)
    x = ag.arange(4.0).reshape(2, 2)
    assert len(split(x, 2)) == len(split(x, (1,))) == len(split(x, ag.tensor(2))) == 2
    for wrong in ("a", None, True, 1.5, ag.tensor([1, 1]), (1.0,)):
        with pytest.raises(TypeError, match=rf"{name}\(\): argument 'indices_or_sections'"):
            split(x, wrong)
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'input'"):
        split([1, 2], 2)


def test_comparisons_of_all_elements_need_two_tensors():
    for function in (ag.isclose, ag.allclose, ag.equal):
        with pytest.raises(
            TypeError, match=r"argument 'other' \(position 2\) must be Tensor, not int"
        ):
            function(X, 1)
        with pytest.raises(TypeError, match=r"argument 'input' \(position 1\) must be Tensor"):
            function(1, X)
    for wrong in ({"rtol": "a"}, {"atol": None}, {"equal_nan": 1}):
        with pytest.raises(TypeError, match="must be"):
            ag.isclose(X, X, **wrong)


def test_flips_and_rolls_of_tensors_with_too_few_dimensions():
    number = ag.tensor(1.0)
    with pytest.raises(RuntimeError, match="Input must be >= 1-d"):
        ag.flipud(number)
    for x in (number, ag.ones(3)):
        with pytest.raises(RuntimeError, match="Input must be >= 2-d"):
            ag.fliplr(x)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        ag.roll(number, 1, 0)
    assert ag.roll(number, 1).item() == 1.0


def test_parts_of_complex_numbers_are_floats_of_one_dtype():
    with pytest.raises(RuntimeError, match="Expected object of scalar type Float .* Double"):
        ag.complex(X, X.double())
    for real, imag in ((X, X.long()), (X.long(), X.long())):
        with pytest.raises(RuntimeError, match="Expected both inputs to be Half, Float or Double"):
            ag.complex(real, imag)


def test_dimensions_of_size_and_stride_are_ints():
    for wrong in (True, "a", 1.0):
        for method in (X.size, X.stride):
            with pytest.raises(TypeError, match=r"argument 'dim' \(position 1\) must be int, not"):
                method(wrong)
    with pytest.raises(TypeError, match=r"requires_grad_\(\): argument 'requires_grad'"):
        ag.ones(1).requires_grad_(1)


def test_truth_values_and_integers_where_torch_takes_them():
    yes, ints = ag.tensor([True, False]), ag.tensor([-1, 3])
    assert yes.prod().dtype == yes.square().dtype == yes.cumsum(0).dtype == ag.int64
    assert ints.isfinite().all()
    assert not ints.isinf().any()
    assert not yes.isnan().any()
    assert ag.signbit(ints).tolist() == [True, False]
    assert ag.fmax(ints, ag.tensor(0)).tolist() == [0, 3]
    assert ag.fmin(ints, ag.tensor(0)).dtype == ag.int64
    assert ag.heaviside(ints, ints).tolist() == [0, 1]
    assert ag.logsumexp(ints, 0).dtype == ag.float32
    assert ints.mean(dtype=ag.float64).item() == 1.0
    assert ag.softmax(ints, 0, dtype=ag.float64).sum().item() == 1.0
    assert ag.atanh(yes).tolist() == [float("inf"), 0.0]
    assert ag.conj_physical(ints).tolist() == [-1, 3]
    assert X.clone().conj_physical_().tolist() == X.tolist()


def test_gelu_names_itself():
    with pytest.raises(RuntimeError, match=r"^gelu: not implemented"):
        ag.nn.functional.gelu(ag.arange(3))
    with pytest.raises(TypeError):
        ag.nn.functional.gelu(X, "tanh")


def test_masks_are_bool():
    for dtype in (ag.uint8, ag.int64, ag.float32):
        mask = ag.ones(2, 3, dtype=dtype)
        with pytest.raises(RuntimeError, match="only supports boolean masks, but got mask with"):
            X.masked_fill(mask, 1.0)
        with pytest.raises(RuntimeError, match="only supports boolean masks"):
            X.masked_fill_(mask, 1.0)
        with pytest.raises(RuntimeError, match="expected BoolTensor for mask"):
            X.masked_select(mask)
    assert X.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_truth_values_are_not_subtracted():
    for call in (lambda: X - True, lambda: True - X, lambda: ag.sub(True, X), lambda: X.sub_(True)):
        with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
            call()


def test_sizes_of_windows_come_in_sequences():
    for call in (
        lambda: X.as_strided(2, (1,)),
        lambda: X.as_strided((2,), 1),
        lambda: X.rot90(1, 0),
        lambda: X.unflatten(1, 3),
    ):
        with pytest.raises(TypeError, match="must be tuple of ints, not int"):
            call()
    assert X.roll(1, 0).tolist() == X.roll((1,), (0,)).tolist()


def test_output_size_of_repeat_interleave_is_checked():
    assert X.repeat_interleave(2, 0, output_size=4).shape == (4, 3)
    with pytest.raises(RuntimeError, match="5 and 4"):
        X.repeat_interleave(2, 0, output_size=5)


def test_complex_weights_need_complex_tensors():
    with pytest.raises(RuntimeError, match="without overflow"):
        ag.lerp(X, X, 1j)


@pytest.mark.parametrize("name", ["allclose", "isclose", "equal"])
def test_comparisons_of_numbers_name_themselves(name):
    with pytest.raises(
        TypeError, match=rf"{name}\(\): argument 'other' \(position 2\) must be Tensor"
    ):
        getattr(ag, name)(ag.ones(1), 1)
