"""FloatTensor and its relatives, Tensor.new and Tensor.type."""

import pickle

import numpy as np
import pytest

import autograd_cy as torch

TYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "ShortTensor": torch.int16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "BoolTensor": torch.bool,
}


@pytest.mark.parametrize("name", TYPES)
def test_a_type_makes_and_recognises_tensors_of_its_dtype(name):
    kind = getattr(torch, name)
    made = kind([0, 1])
    assert type(made) is torch.Tensor and made.dtype == kind.dtype == TYPES[name]
    assert made.tolist() == [0, 1]
    assert [n for n in TYPES if isinstance(made, getattr(torch, n))] == [name]
    assert made.type() == f"autograd_cy.{name}"
    assert torch.zeros(2).type(kind).dtype == TYPES[name]
    assert torch.zeros(2).type(f"torch.{name}").dtype == TYPES[name]
    assert torch.zeros(2).type(made.type()).dtype == TYPES[name]


def test_parameters_are_instances_and_other_objects_are_not():
    assert isinstance(torch.nn.Parameter(torch.ones(1)), torch.FloatTensor)
    assert not isinstance(1.0, torch.FloatTensor)
    assert not isinstance(np.ones(1, dtype="f4"), torch.FloatTensor)


def test_numbers_are_sizes_and_sequences_are_data():
    assert torch.FloatTensor(2, 3).shape == (2, 3)
    assert torch.FloatTensor(torch.Size([2, 3])).shape == (2, 3)
    assert torch.FloatTensor(torch.tensor(2), np.int64(3)).shape == (2, 3)
    assert torch.FloatTensor(size=(2, 3)).shape == (2, 3)
    assert torch.FloatTensor(0).shape == torch.FloatTensor().shape == (0,)
    assert torch.FloatTensor((2, 3)).tolist() == [2.0, 3.0]
    assert torch.FloatTensor(range(3)).tolist() == [0.0, 1.0, 2.0]
    assert torch.FloatTensor([[1, 2], [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert torch.FloatTensor(data=[1], device="cpu").tolist() == [1.0]
    assert torch.LongTensor([1.5, 2]).tolist() == [1, 2]
    from_array = torch.FloatTensor(np.array([1.0, 2.0]))
    assert from_array.dtype == torch.float32 and from_array.tolist() == [1.0, 2.0]


def test_a_tensor_of_the_same_dtype_is_aliased_with_its_history():
    x = torch.ones(2, requires_grad=True)
    y = torch.FloatTensor(x)
    assert y.data_ptr() == x.data_ptr() and y.grad_fn.name() == "AliasBackward0"
    (y * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_storage_is_shared():
    x = torch.tensor([1.0, 2.0])
    for storage in (x.storage(), x.untyped_storage()):
        y = torch.FloatTensor(storage)
        assert y.data_ptr() == x.data_ptr() and y.tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="expected a storage of autograd_cy.float64"):
        torch.DoubleTensor(x.storage())


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "text"),
    [
        ((3.5,), {}, TypeError, r"new\(\): data must be a sequence \(got float\)"),
        ((None,), {}, TypeError, r"data must be a sequence \(got NoneType\)"),
        ((True,), {}, TypeError, r"data must be a sequence \(got bool\)"),
        (({},), {}, TypeError, r"data must be a sequence \(got dict\)"),
        (("ab",), {}, TypeError, "invalid data type 'str'"),
        ((1, 2.5), {}, TypeError, "failed to unpack the object at pos 2"),
        ((-1,), {}, RuntimeError, "negative"),
        (([1],), {"requires_grad": True}, TypeError, "invalid combination of arguments"),
        (([1],), {"data": [1]}, TypeError, "invalid combination of arguments"),
        (([1],), {"device": "cuda"}, (RuntimeError, AssertionError), "cuda|CUDA|GPU"),
    ],
)
def test_wrong_arguments_are_refused(args, kwargs, error, text):
    with pytest.raises(error, match=text):
        torch.FloatTensor(*args, **kwargs)


def test_a_tensor_of_another_dtype_is_refused():
    with pytest.raises(TypeError, match=r"expected a tensor of autograd_cy.float32 \(got .*64"):
        torch.FloatTensor(torch.ones(1).double())


def test_values_that_do_not_fit_are_refused():
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t"):
        torch.ByteTensor([256])


def test_types_have_the_attributes_of_tensors_and_pickle_by_name():
    assert torch.FloatTensor.add is torch.Tensor.add
    assert not torch.FloatTensor.is_cuda and not torch.FloatTensor.is_sparse
    assert torch.FloatTensor.layout is torch.strided
    assert pickle.loads(pickle.dumps(torch.FloatTensor)) is torch.FloatTensor
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Mine", (torch.FloatTensor,), {})


def test_new_makes_tensors_of_the_same_dtype():
    x = torch.zeros(2, dtype=torch.float64)
    assert x.new().shape == (0,)
    assert x.new(2, 3).shape == (2, 3) and x.new(2, 3).dtype == torch.float64
    assert x.new([1, 2]).dtype == torch.float64
    assert x.new(x).data_ptr() == x.data_ptr()


def test_type_by_dtype_and_by_class():
    x = torch.ones(1)
    assert x.type(torch.float64).dtype == torch.float64
    assert x.double().type(torch.Tensor).dtype == torch.get_default_dtype()
    assert x.type(torch.FloatTensor) is x


@pytest.mark.parametrize("name", ["Foo", "FloatTensor", "torch.Foo", "mine.FloatTensor", float])
def test_type_refuses_what_is_no_tensor_type(name):
    with pytest.raises(ValueError, match="invalid type"):
        torch.ones(1).type(name)
    with pytest.raises(TypeError, match="dtype must be a type, str, or dtype object"):
        torch.ones(1).type(3)


def test_type_of_a_gpu_is_refused():
    with pytest.raises((RuntimeError, AssertionError), match="cuda|CUDA|GPU"):
        torch.ones(1).type("torch.cuda.FloatTensor")


def test_default_tensor_type_sets_the_default_dtype():
    before = torch.get_default_dtype()
    try:
        with pytest.warns(UserWarning, match="deprecated"):
            torch.set_default_tensor_type(torch.DoubleTensor)
        assert torch.get_default_dtype() == torch.float64
        with pytest.warns(UserWarning, match="deprecated"):
            torch.set_default_tensor_type("torch.FloatTensor")
        assert torch.get_default_dtype() == torch.float32
        with pytest.raises(TypeError, match="only floating-point types are supported"):
            torch.set_default_tensor_type(torch.IntTensor)
    finally:
        torch.set_default_dtype(before)
