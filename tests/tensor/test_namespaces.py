"""The modules that programs expect: linalg, special, multiprocessing, utils."""

import numpy as np
import pytest

import autograd_cy as ag


def test_special_names_are_functions_of_the_top_level():
    assert ag.special.expit is ag.sigmoid and ag.special.psi is ag.digamma
    assert ag.special.gammainc is ag.igamma and ag.special.gammaincc is ag.igammac
    assert ag.special.softmax(ag.zeros(2), dim=0).tolist() == [0.5, 0.5]
    assert all(callable(getattr(ag.special, name)) for name in ag.special.__all__)


def test_utils_have_the_handle_of_hooks():
    handle = ag.ones(1, requires_grad=True).register_hook(print)
    assert isinstance(handle, ag.utils.hooks.RemovableHandle)


# --- processes --------------------------------------------------------------------------------


def write_rank(rank, t):
    t[rank] = rank + 1


def fail(rank):
    if rank == 1:
        raise ValueError("no such luck")


def test_spawned_processes_write_to_shared_memory():
    x = ag.zeros(3).share_memory_()
    ag.multiprocessing.spawn(write_rank, (x,), nprocs=3, start_method="fork")
    assert x.tolist() == [1, 2, 3]
    context = ag.multiprocessing.spawn(write_rank, (x,), nprocs=1, join=False, start_method="fork")
    while not context.join():
        pass
    assert len(context.pids()) == 1


def test_an_exception_of_a_process_arrives_with_its_traceback():
    with pytest.raises(ag.multiprocessing.ProcessRaisedException, match="no such luck") as caught:
        ag.multiprocessing.spawn(fail, nprocs=2, start_method="fork")
    assert caught.value.error_index == 1
    assert ag.multiprocessing.get_context("fork").Process


def fail_at_length(index):
    raise ValueError("x" * 300_000)  # more than a pipe holds


def test_a_long_error_of_a_spawned_process_is_read_while_the_process_writes_it():
    with pytest.raises(ag.multiprocessing.ProcessRaisedException, match="ValueError: x{300}"):
        ag.multiprocessing.spawn(fail_at_length, nprocs=2, start_method="fork")


def test_a_strategy_of_sharing_is_kept():
    module = ag.multiprocessing
    before = module.get_sharing_strategy()
    assert "file_system" in module.get_all_sharing_strategies()
    try:
        for strategy in module.get_all_sharing_strategies():
            module.set_sharing_strategy(strategy)
            assert module.get_sharing_strategy() == strategy
        with pytest.raises(AssertionError, match="one of .*file_system, not 'files'"):
            module.set_sharing_strategy("files")
        assert module.get_sharing_strategy() == strategy
    finally:
        module.set_sharing_strategy(before)


# --- linalg -----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [2, 1, 0, 3, 0.5, float("inf"), -float("inf")])
@pytest.mark.parametrize("dim", [None, 0, (0, 1)])
def test_vector_norms_equal_those_of_numpy(order, dim):
    x = np.random.default_rng(0).standard_normal((3, 4))
    found = ag.linalg.vector_norm(ag.from_numpy(x), order, dim, keepdim=True)
    flat = x.reshape(-1) if dim != 0 else x
    expected = np.linalg.norm(flat, order, 0)
    np.testing.assert_allclose(found.numpy().reshape(np.shape(expected)), expected)


@pytest.mark.parametrize("order", ["fro", "nuc", 2, -2, 1, -1, float("inf"), -float("inf")])
@pytest.mark.parametrize("keepdim", [False, True])
def test_matrix_norms_equal_those_of_numpy(order, keepdim):
    x = np.random.default_rng(0).standard_normal((2, 3, 4))
    for dim in ((-2, -1), (0, 2), (2, 0)):
        found = ag.linalg.matrix_norm(ag.from_numpy(x), order, dim, keepdim)
        expected = np.linalg.norm(x, order, dim, keepdim)
        np.testing.assert_allclose(found.numpy(), expected)
    flat = ag.from_numpy(x[0])
    assert ag.linalg.norm(flat, order).item() == pytest.approx(np.linalg.norm(x[0], order))


def test_norms_of_singular_values_have_derivatives():
    x = ag.tensor([[2.0, 1.0], [0.0, 3.0]], dtype=ag.float64, requires_grad=True)
    for order in (2, -2, "nuc"):
        ag.autograd.gradcheck(lambda a, p=order: ag.linalg.matrix_norm(a, p), (x,))
        ag.autograd.gradgradcheck(lambda a, p=order: ag.linalg.matrix_norm(a, p), (x,))
    ag.autograd.gradcheck(lambda a: ag.norm(a, "nuc"), (x,))
    ag.autograd.gradcheck(lambda a: ag.matrix_power(a, -2), (x,))
    equal = ag.eye(2, requires_grad=True)
    ag.linalg.matrix_norm(equal, 2).backward()
    assert equal.grad.tolist() == [[0.5, 0.0], [0.0, 0.5]]  # equal ones share it


def test_the_nuclear_norm_by_its_other_names():
    x = ag.from_numpy(np.random.default_rng(0).standard_normal((3, 2, 2)))
    expected = np.linalg.norm(x.numpy(), "nuc", (1, 2))
    for found in (ag.norm(x, "nuc", (1, 2)), ag.linalg.norm(x, "nuc", (1, 2))):
        np.testing.assert_allclose(found.numpy(), expected)
    assert x[0].norm("nuc").item() == pytest.approx(expected[0])
    assert ag.norm(x, "nuc", (1, 2), True).shape == (3, 1, 1)
    assert ag.linalg.matrix_norm(ag.ones(2, 0), 2).item() == 0.0
    assert ag.linalg.matrix_norm(ag.ones(2, 2), "nuc", dtype=ag.float64).dtype == ag.float64
    for call in (lambda: ag.norm(x, "nuc"), lambda: ag.linalg.norm(x, "nuc", dim=1)):
        with pytest.raises(RuntimeError, match="dim must be a 2-tuple"):
            call()
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        ag.linalg.norm(ag.ones(2), "fro")
    with pytest.raises(RuntimeError, match="Low precision dtypes not supported"):
        ag.linalg.matrix_norm(ag.ones(2, 2).half(), 2)
    with pytest.raises(RuntimeError, match="Order foo not supported"):
        ag.norm(x[0], "foo")


def test_norms_that_are_not_there_say_so():
    with pytest.raises(RuntimeError, match="Order 3 not supported"):
        ag.linalg.matrix_norm(ag.eye(2), 3)
    for dim in ((5, 0), (0, -3)):
        with pytest.raises(IndexError, match=r"range of \[-2, 1\], but got"):
            ag.linalg.matrix_norm(ag.eye(2), 1, dim)
    with pytest.raises(RuntimeError, match="vecdot: Expected a floating point or complex tensor"):
        ag.linalg.vecdot(ag.tensor([1]), ag.tensor([2]))
    with pytest.raises(RuntimeError, match="the input must be 1D or 2D"):
        ag.linalg.norm(ag.ones(2, 2, 2), 1)
    with pytest.raises(RuntimeError, match="Expected a floating point or complex tensor"):
        ag.linalg.vector_norm(ag.arange(3))
    assert ag.linalg.norm(ag.ones(2, 2, 2)).item() == pytest.approx(8**0.5)


@pytest.mark.parametrize("shapes", [((2, 3), (3, 4), (4, 5), (5, 2)), ((3,), (3, 2), (2,))])
def test_multi_dot_equals_numpys(shapes):
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s) for s in shapes]
    found = ag.linalg.multi_dot([ag.from_numpy(a) for a in arrays])
    np.testing.assert_allclose(found.numpy(), np.linalg.multi_dot(arrays))


def test_multi_dot_refuses_what_does_not_fit():
    for shapes, message in (
        (((2, 2),), "at least 2 tensors"),
        (((2, 2), (2,), (2, 2)), "tensor 1 must be 2D but got 1D"),
        (((2, 2), (3, 2)), "cannot be multiplied"),
        (((), (3, 2)), "the first tensor must be 1D or 2D but got 0D"),
        (((2, 3), (3, 2, 1)), "the last tensor must be 1D or 2D but got 3D"),
    ):
        with pytest.raises(RuntimeError, match=message):
            ag.linalg.multi_dot([ag.ones(s) for s in shapes])
    a, b = ag.ones(2, 3), ag.ones(3, 2)
    for call, error, message in (
        (lambda: ag.linalg.multi_dot(5), TypeError, "multi_dot.*argument 'tensors'.*not int"),
        (lambda: ag.linalg.multi_dot(ag.ones(2, 2, 2)), TypeError, "multi_dot.*not Tensor"),
        (lambda: ag.linalg.multi_dot([a, 5]), TypeError, "multi_dot.*int"),
        (lambda: ag.linalg.multi_dot([a, b.double()]), RuntimeError, "tensor 1 of Double"),
        (lambda: ag.linalg.multi_dot([a, b], out=a.double()), RuntimeError, "expected out tensor"),
        (
            lambda: ag.linalg.multi_dot([a > 0, b > 0]),
            NotImplementedError,
            "not implemented for 'Bool'",
        ),
        (
            lambda: ag.linalg.multi_dot([a.clone().requires_grad_(), b], out=ag.empty(2, 2)),
            RuntimeError,
            "multi_dot.*don't support automatic differentiation",
        ),
    ):
        with pytest.raises(error, match=message):
            call()


def test_multi_dot_writes_into_out_and_has_gradients():
    rng = np.random.default_rng(1)
    for dtype in ("float64", "complex128", "int64", "float16"):
        for shapes in (
            ((2, 3), (3, 4), (4, 5)),
            ((3,), (3, 2), (2,)),
            ((3,), (3, 2)),
            ((4, 3), (3, 2), (2,)),
            ((0, 3), (3, 2)),
            ((2, 0), (0, 2)),
        ):
            arrays = [np.rint(rng.standard_normal(s) * 3).astype(dtype) for s in shapes]
            tensors = [ag.from_numpy(a) for a in arrays]
            wanted = np.linalg.multi_dot(arrays)
            for shape in (wanted.shape, (0,)):
                out = ag.empty(shape, dtype=getattr(ag, dtype))
                assert ag.linalg.multi_dot(tensors, out=out) is out
                np.testing.assert_array_equal(out.numpy(), wanted)
            assert ag.equal(ag.linalg.multi_dot(tensors), out)
            if dtype in ("float64", "complex128"):
                leaves = [t.requires_grad_() for t in tensors]
                found = ag.linalg.multi_dot(leaves)
                assert found.grad_fn.name() == (
                    "MmBackward0" if found.ndim == 2 else "ViewBackward0"
                )
                assert ag.autograd.gradcheck(lambda *x: ag.linalg.multi_dot(x), leaves)


def test_small_functions_of_linalg():
    a = ag.tensor([[1.0, 1.0], [0.0, 1.0]])
    assert ag.linalg.matrix_power(a, 5).tolist() == [[1, 5], [0, 1]]
    assert ag.linalg.matrix_power(a, 0).tolist() == [[1, 0], [0, 1]]
    assert ag.linalg.matrix_power(a, -2).tolist() == [[1, -2], [0, 1]]
    assert ag.linalg.vander(ag.tensor([2, 3]), 3).tolist() == [[1, 2, 4], [1, 3, 9]]
    z = ag.tensor([1j, 2])
    assert ag.linalg.vecdot(z, z).item() == 5
    assert ag.linalg.diagonal(ag.arange(8).reshape(2, 2, 2)).tolist() == [[0, 3], [4, 7]]
    e = ag.eye(3)
    assert ag.linalg.cross(e[0], e[1]).tolist() == [0, 0, 1]
