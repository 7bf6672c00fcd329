"""Methods and functions written in Python: each form of their arguments, each kind of result."""

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy import overrides


def test_every_form_of_to():
    x = torch.ones(2)
    double = x.double()
    same = {
        "nothing": x.to(),
        "its dtype": x.to(torch.float32),
        "its device": x.to("cpu"),
        "its device and dtype": x.to(torch.device("cpu"), torch.float32),
        "another like it": x.to(torch.zeros(3)),
        "no device": x.to(None, torch.float32),
        "no copy": x.to(torch.float32, False, False),
    }
    assert [name for name, y in same.items() if y is not x] == []
    copied = {
        "dtype": x.to(torch.float32, False, True),
        "device": x.to("cpu", torch.float32, False, True),
        "device alone": x.to("cpu", None, False, True),
        "other": x.to(torch.zeros(3), False, True),
        "keyword": x.to(copy=True),
        "dtype and keyword": x.to(torch.float32, copy=True),
    }
    for name, y in copied.items():
        assert y is not x and y.data_ptr() != x.data_ptr(), name
        assert y.dtype == torch.float32 and y.tolist() == [1.0, 1.0], name
    converted = {
        "dtype": x.to(torch.float64),
        "device and dtype": x.to("cpu", torch.float64),
        "no device": x.to(None, torch.float64),
        "other": x.to(double),
        "keywords": x.to(device="cpu", dtype=torch.float64),
        "not blocking": x.to(torch.float64, True),
    }
    assert {name: y.dtype for name, y in converted.items()} == dict.fromkeys(
        converted, torch.float64
    )
    assert x.type_as(double).dtype == torch.float64
    assert x.type_as(x) is x
    with pytest.raises(TypeError, match="type_as"):
        x.type_as(5)
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        x.to(torch.float64, False, False, 1)
    with pytest.raises(TypeError, match="memory_format must be a memory_format"):
        x.contiguous(memory_format="C")


def test_conversions_in_a_memory_format():
    x = torch.arange(24.0).view(1, 2, 3, 4)
    for y in (
        x.to(memory_format=torch.channels_last),
        x.double().to(torch.float32, memory_format=torch.channels_last),
        x.contiguous(memory_format=torch.channels_last),
    ):
        assert y.stride() == (24, 1, 8, 2)
        assert y.tolist() == x.tolist()


def test_closeness_of_special_values():
    inf, nan = float("inf"), float("nan")
    a = torch.tensor([1.0, inf, -inf, nan, inf, 0.0])
    b = torch.tensor([1.0 + 1e-6, inf, -inf, nan, -inf, 1e-9])
    assert torch.isclose(a, b).tolist() == [True, True, True, False, False, True]
    assert torch.isclose(a, b, equal_nan=True).tolist() == [True, True, True, True, False, True]
    assert torch.isclose(a, b, 0.0, 0.0).tolist() == [False, True, True, False, False, False]
    assert torch.isclose(a, b, rtol=0.0, atol=1e-8).tolist()[-1] is True
    assert not torch.allclose(a, b)
    assert torch.allclose(a[:3], b[:3]) and not torch.allclose(a[3:4], b[3:4])
    assert torch.allclose(a[3:4], b[3:4], equal_nan=True)
    whole = torch.tensor([1, 5])
    assert torch.isclose(whole, torch.tensor([1, 6]), rtol=0.5).tolist() == [True, True]
    assert torch.isclose(whole, torch.tensor([1, 6])).tolist() == [True, False]
    assert torch.equal(whole, whole) and not torch.equal(whole, whole[:1])
    assert not torch.equal(whole, torch.tensor([1, 6]))


def test_transposes_of_matrices():
    z = torch.tensor([[1 + 2j, 3.0, 4j]])
    assert z.H.tolist() == z.adjoint().tolist() == [[1 - 2j], [3.0], [-4j]]
    assert z.mT.shape == (3, 1) and z.mH.tolist() == z.H.tolist()
    batch = torch.zeros(2, 3, 4)
    assert batch.mT.shape == batch.adjoint().shape == (2, 4, 3)
    with pytest.raises(RuntimeError, match=r"tensor.H is only supported on matrices \(2-D"):
        batch.H
    for name in ("mT", "mH"):
        with pytest.raises(RuntimeError, match=r"tensor.m. is only supported on matrices or"):
            getattr(torch.zeros(2), name)


def test_at_least_so_many_dimensions():
    shapes = [torch.zeros(s) for s in ((), (2,), (2, 3), (2, 3, 4))]
    at_least = {
        torch.atleast_1d: [(1,), (2,), (2, 3), (2, 3, 4)],
        torch.atleast_2d: [(1, 1), (1, 2), (2, 3), (2, 3, 4)],
        torch.atleast_3d: [(1, 1, 1), (1, 2, 1), (2, 3, 1), (2, 3, 4)],
    }
    for function, wanted in at_least.items():
        assert [tuple(function(x).shape) for x in shapes] == wanted
        assert [tuple(x.shape) for x in function(*shapes)] == wanted
        assert [tuple(x.shape) for x in function(shapes)] == wanted
        assert isinstance(function(shapes), tuple)
        with pytest.raises(TypeError, match="expected Tensor as element 1"):
            function(shapes[0], 5)


def test_shapes_are_broadcast_in_any_order():
    small, row, block = torch.zeros(()), torch.arange(3), torch.zeros(2, 1)
    for given in ((small, row, block), (block, row, small), (row, small, block)):
        assert {tuple(t.shape) for t in torch.broadcast_tensors(*given)} == {(2, 3)}
        assert {tuple(t.shape) for t in torch.broadcast_tensors(given)} == {(2, 3)}
    with pytest.raises(RuntimeError, match="must match|broadcast"):
        torch.broadcast_tensors(row, torch.zeros(2))


def test_grids_of_numbers_and_vectors():
    x, y = torch.tensor([1, 2]), torch.tensor([3, 4, 5])
    for indexing in ("ij", "xy"):
        found = torch.meshgrid(x, y, torch.tensor(7), indexing=indexing)
        wanted = np.meshgrid(x.numpy(), y.numpy(), 7, indexing=indexing)
        assert [t.tolist() for t in found] == [w.tolist() for w in wanted]
        (alone,) = torch.meshgrid([x], indexing=indexing)
        assert alone.tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="Expected 0D or 1D tensor"):
        torch.meshgrid(x, torch.zeros(2, 2), indexing="ij")
    with pytest.raises((RuntimeError, TypeError), match="non-empty|at least"):
        torch.meshgrid([], indexing="ij")


def test_an_old_storage_describes_itself():
    x = torch.arange(4.0)
    s, other = x[1:].storage(), x.storage()
    assert s == other and hash(s) == hash(other) and len(s) == s.size() == 4
    assert s != x.double().storage() and s != x.clone().storage()
    assert s.__eq__(5) is NotImplemented and s != 5
    assert s.element_size() == 4 and s.nbytes() == 16
    assert s.data_ptr() == x.data_ptr() and str(s.device) == "cpu"
    assert s.tolist() == [0.0, 1.0, 2.0, 3.0] and s[-1] == 3.0
    assert "float32" in repr(s) and "size 4" in repr(s) and "cpu" in repr(s)
    assert s.untyped() is x.untyped_storage()


def test_names_of_what_can_be_overridden():
    resolve = overrides.resolve_name
    assert resolve(torch.sin) == "torch.sin"
    assert resolve(torch.Tensor.grad.__get__) == "torch.Tensor.grad.__get__"
    assert resolve(len) is None and resolve(5) is None
    asks = overrides.is_tensor_method_or_property
    assert asks(torch.Tensor.add) and asks(torch.Tensor.grad.__get__)
    assert not asks(len)


class Named(torch.Tensor):
    """A class that notes the properties that are asked of it."""

    asked = ()

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.asked = (*cls.asked, overrides.resolve_name(func))
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


def test_properties_are_asked_for_put_and_dropped():
    x = torch.ones(2).as_subclass(Named)
    Named.asked = ()
    x.grad = torch.zeros(2)
    assert x.grad.tolist() == [0.0, 0.0]
    del x.grad
    assert x.grad is None
    x.requires_grad = True
    assert x.requires_grad
    names = [name for name in Named.asked if name.startswith("torch.Tensor.grad")]
    assert names[0] == "torch.Tensor.grad.__set__"
    assert "torch.Tensor.grad.__get__" in names and "torch.Tensor.grad.__delete__" in names
    assert [t.tolist() for t in torch.zeros(2, 1).as_subclass(Named)] == [[0.0], [0.0]]
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        list(torch.ones(()).as_subclass(Named))


def test_nobody_answers():
    class Silent:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match="exp"):
        torch.exp(Silent())
    assert torch.Tensor.__torch_function__(torch.exp, (Silent,), (torch.ones(1),)) is NotImplemented


def test_a_trace_of_types():
    assert isinstance(torch.ones(1), torch.FloatTensor)
    assert not isinstance(torch.ones(1), torch.DoubleTensor)
    assert isinstance(torch.ones(1, dtype=torch.int64), torch.LongTensor)
    assert not isinstance(5, torch.FloatTensor)


def test_powers_and_polynomials_of_matrices():
    a = torch.tensor([[2.0, 1.0], [0.0, 3.0]], dtype=torch.float64)
    for n in range(-4, 9):
        wanted = np.linalg.matrix_power(a.numpy(), n)
        np.testing.assert_allclose(torch.linalg.matrix_power(a, n).numpy(), wanted, rtol=1e-12)
    assert torch.matrix_power(a, -1).tolist() == a.matrix_power(-1).tolist()
    with pytest.raises(torch.linalg.LinAlgError, match="input matrix is singular"):
        torch.linalg.matrix_power(torch.zeros(2, 2), -1)
    with pytest.raises(RuntimeError, match=r"linalg.inv: Expected a floating point or complex"):
        torch.linalg.matrix_power(torch.tensor([[2]]), -1)
    for n in (2.0, True):
        with pytest.raises(TypeError, match=r"linalg_matrix_power\(\): argument 'n' .position 2"):
            torch.linalg.matrix_power(a, n)
    with pytest.raises(RuntimeError, match="square matrices"):
        torch.linalg.matrix_power(torch.zeros(2, 3), 2)
    x = torch.tensor([2.0, 3.0], dtype=torch.float64)
    for n in (None, 2, 3, 4):
        found = torch.linalg.vander(x, N=n)
        np.testing.assert_allclose(found.numpy(), np.vander(x.numpy(), n, increasing=True))
    for call in (lambda: torch.linalg.vander(x, N=1), lambda: torch.linalg.vander(x, N=-1)):
        with pytest.raises(RuntimeError, match="N must be greater than 1"):
            call()
    with pytest.raises(RuntimeError, match="Expected dim to be 1 or larger"):
        torch.linalg.vander(torch.tensor(1.0))


def test_norms_of_every_kind():
    a = np.random.default_rng(0).standard_normal((3, 4))
    t = torch.tensor(a)
    for order in (None, 2, 1, 0, 3, float("inf"), -float("inf"), -1):
        np.testing.assert_allclose(
            torch.linalg.vector_norm(t, 2 if order is None else order).item(),
            np.linalg.norm(a.ravel(), order), rtol=1e-12,
        )  # fmt: skip
        got = torch.linalg.norm(t[0], order) if order else torch.linalg.norm(t[0])
        np.testing.assert_allclose(got.item(), np.linalg.norm(a[0], order or None), rtol=1e-12)
    for order in (1, -1, float("inf"), -float("inf"), "fro", 2, -2, "nuc"):
        for keep in (False, True):
            got = torch.linalg.matrix_norm(t, order, keepdim=keep)
            np.testing.assert_allclose(got.numpy(), np.linalg.norm(a, order, (0, 1), keep))
            got = torch.linalg.norm(t, order, dim=(1, 0), keepdim=keep)
            np.testing.assert_allclose(got.numpy(), np.linalg.norm(a, order, (1, 0), keep))
    for dim in (0, 1, -1):
        got = torch.linalg.norm(t, dim=dim)
        np.testing.assert_allclose(got.numpy(), np.linalg.norm(a, axis=dim))


def test_chains_of_products():
    rng = np.random.default_rng(1)
    shapes = [(2, 5), (5, 3), (3, 7), (7, 1)]
    chain = [rng.standard_normal(s) for s in shapes]
    for count in (2, 3, 4):
        arrays = chain[:count]
        got = torch.linalg.multi_dot([torch.tensor(x) for x in arrays])
        np.testing.assert_allclose(got.numpy(), np.linalg.multi_dot(arrays))
    row, column = rng.standard_normal(2), rng.standard_normal(7)
    arrays = [row, *chain[:3], column]
    for part in (arrays, arrays[:4], arrays[1:], arrays[1:4]):
        got = torch.linalg.multi_dot([torch.tensor(x) for x in part])
        np.testing.assert_allclose(got.numpy(), np.linalg.multi_dot(part))
        assert got.shape == np.linalg.multi_dot(part).shape


def test_polygamma_as_a_method():
    x = torch.tensor([0.5, 2.0], dtype=torch.float64)
    for n in (0, 1, 2):
        assert x.polygamma(n).tolist() == torch.special.polygamma(n, x).tolist()
    assert x.polygamma(1).tolist()[0] == pytest.approx(np.pi**2 / 2)


def test_where_as_a_method_and_of_a_condition_alone():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    condition = torch.tensor([True, False])
    y = x.where(condition, 5)
    assert y.tolist() == [1.0, 5.0] and y.grad_fn.name() == "WhereBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0]
    assert x.where(other=x * 2, condition=condition).tolist() == [1.0, 4.0]
    grid = torch.tensor([[0, 2], [3, 0]])
    for found in (torch.where(grid), torch.where(condition=grid), grid.nonzero(as_tuple=True)):
        assert [i.tolist() for i in found] == [[0, 1], [1, 0]]
    with pytest.raises(TypeError, match="argument 'other' .position 3. must be"):
        torch.where(condition, x)
    with pytest.raises(TypeError, match=r"argument 'condition' \(position 1\) must be Tensor"):
        torch.where(5)


def test_shapes_alone_are_broadcast():
    assert torch.broadcast_shapes((2, 1), 3, torch.Size([1])) == torch.Size([2, 3])
    assert torch.broadcast_shapes() == torch.Size([]) and torch.broadcast_shapes((0,), 1) == (0,)
    with pytest.raises(RuntimeError, match=r"length 2 at -1! Mismatching argument at index 1 had"):
        torch.broadcast_shapes((2, 3), (2,))
    with pytest.raises(ValueError, match="negative length"):
        torch.broadcast_shapes((2, -3))


def test_names_of_methods_and_of_functions_in_namespaces():
    names = {
        "torch.Tensor.backward": torch.Tensor.backward,
        "torch.Tensor.register_hook": torch.Tensor.register_hook,
        "torch.nn.functional.relu": torch.nn.functional.relu,
        "torch.linalg.inv": torch.linalg.inv,
        "torch.fft.fft": torch.fft.fft,
    }
    assert {name: overrides.resolve_name(f) for name, f in names.items()} == {n: n for n in names}


def test_bincount():
    x = torch.tensor([3, 1, 3, 0])
    assert torch.bincount(x).tolist() == [1, 1, 0, 2]
    assert torch.bincount(x, minlength=6).tolist() == [1, 1, 0, 2, 0, 0]
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        counts = x.to(dtype).bincount()
        assert counts.tolist() == [1, 1, 0, 2] and counts.dtype == torch.int64
    weights = torch.tensor([0.5, 1.0, 2.0, 4.0], requires_grad=True)
    sums = torch.bincount(x, weights)
    assert sums.tolist() == [4.0, 1.0, 0.0, 2.5] and sums.dtype == torch.float32
    sums.backward(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    assert weights.grad.tolist() == [4.0, 2.0, 4.0, 1.0]
    for dtype in (torch.float16, torch.int32, torch.float64):
        assert torch.bincount(x, weights.detach().to(dtype)).dtype == torch.float64
    nothing = torch.bincount(x[:0], weights[:0], 2)
    assert nothing.tolist() == [0, 0] and nothing.dtype == torch.int64
    for refused, error, words in (
        (lambda: torch.bincount(x.double()), NotImplementedError, "got Double"),
        (lambda: torch.bincount(x > 0), NotImplementedError, "got Bool"),
        (lambda: torch.bincount(x.view(2, 2)), RuntimeError, "1-d non-negative integral inputs"),
        (lambda: torch.bincount(-x), RuntimeError, "1-d non-negative integral inputs, got -3"),
        (lambda: torch.bincount(x, weights[1:]), RuntimeError, "same length as input"),
        (lambda: torch.bincount(x, minlength=-1), RuntimeError, "minlength should be >= 0"),
        (lambda: torch.vmap(torch.bincount)(x.view(2, 2)), RuntimeError, "dynamic shape"),
    ):
        with pytest.raises(error, match=words):
            refused()


def test_one_hot_vectors():
    one_hot = torch.nn.functional.one_hot
    x = torch.tensor([[0, 2], [1, 1]])
    assert one_hot(x).tolist() == np.eye(3, dtype=int)[x.numpy()].tolist()
    assert one_hot(x, 4).shape == (2, 2, 4) and one_hot(x).dtype == torch.int64
    assert one_hot(torch.zeros(0, dtype=torch.int64), 3).shape == (0, 3)
    meta = one_hot(x.to("meta"), 4)
    assert meta.is_meta and meta.shape == (2, 2, 4) and meta.dtype == torch.int64
    with pytest.raises(RuntimeError, match="meta tensors"):
        one_hot(x.to("meta"))
    assert torch.vmap(lambda r: one_hot(r, 3))(x).tolist() == one_hot(x).tolist()
    with pytest.raises(RuntimeError, match="explicit positive num_classes"):
        torch.vmap(one_hot)(x)
    with pytest.raises(RuntimeError, match="Can not infer total number of classes"):
        one_hot(torch.zeros(0, dtype=torch.int64))
    with pytest.raises(TypeError, match=r"^one_hot\(\): argument 'num_classes' \(position 2\)"):
        one_hot(x, 2.0)


def test_methods_that_are_functions_too():
    x = torch.ones(2, 3, requires_grad=True)
    y = torch.detach(x)
    assert not y.requires_grad and y.data_ptr() == x.data_ptr()
    z = x * 2
    assert torch.detach_(z) is z and z.grad_fn is None
    assert torch.is_signed(x) and not torch.is_signed(x.bool()) and not torch.is_signed(x.byte())
    assert torch.is_same_size(x, torch.zeros(2, 3)) and not x.is_same_size(torch.zeros(3, 2))
    w = torch.arange(4.0)
    assert torch.as_strided_(w, (2, 2), (1, 2)) is w and w.tolist() == [[0.0, 2.0], [1.0, 3.0]]
    assert torch.resize_as_(torch.ones(6), x).shape == (2, 3)
    for call in (torch.detach, torch.detach_, torch.is_signed, torch.norm_except_dim):
        with pytest.raises(TypeError, match=rf"{call.__name__}\(\): .* must be Tensor, not int"):
            call(3)
    with pytest.raises(TypeError, match="argument 'other' .*must be Tensor"):
        torch.is_same_size(x, 3)


def test_anomaly_mode_is_switched_by_a_function_too():
    try:
        torch.set_anomaly_enabled(True, False)
        assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
    finally:
        torch.set_anomaly_enabled(False)
    assert not torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
    with pytest.raises(TypeError, match="must be bool, not int"):
        torch.set_anomaly_enabled(1)


def test_objects_are_named_by_their_kind():
    class Own:
        pass

    assert torch.typename(torch.ones(1)) == "autograd_cy.FloatTensor"
    assert torch.typename(torch.nn.Parameter(torch.ones(1).double())) == "autograd_cy.DoubleTensor"
    assert torch.typename(torch.LongTensor) == "autograd_cy.LongTensor"
    assert torch.typename(torch.Tensor) == "autograd_cy.Tensor"
    assert [torch.typename(x) for x in (3, [], int, None)] == ["int", "list", "int", "NoneType"]
    assert torch.typename(Own()) == torch.typename(Own) == f"{__name__}.{Own.__qualname__}"
    assert torch.typename(pytest.raises) == f"{pytest.raises.__module__}.raises"


def test_memory_blocks_are_known():
    x = torch.ones(2)
    assert torch.is_storage(x.untyped_storage()) and torch.is_storage(x.storage())
    assert not torch.is_storage(x) and not torch.is_storage(3)


def test_norms_except_along_a_dimension():
    v = torch.tensor([[3.0, 4.0], [0.0, 1.0]], requires_grad=True)
    assert torch.norm_except_dim(v).tolist() == [[5.0], [1.0]]
    assert torch.norm_except_dim(v, 1, 1).tolist() == [[3.0, 5.0]]
    assert torch.norm_except_dim(v, 2, -1).item() == pytest.approx(26**0.5)
    assert torch.norm_except_dim(torch.tensor([-2.0])).tolist() == [2.0]
    cube = torch.arange(24.0).reshape(2, 3, 4)
    assert torch.norm_except_dim(cube, 2, -2).tolist() == torch.norm_except_dim(cube, 2, 1).tolist()
    assert torch.norm_except_dim(cube, 2, -3).shape == (2, 1, 1)
    torch.norm_except_dim(v, 2, 0)[0].backward()
    assert torch.allclose(v.grad, torch.tensor([[0.6, 0.8], [0.0, 0.0]]))
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.norm_except_dim(v, 2, 2)
