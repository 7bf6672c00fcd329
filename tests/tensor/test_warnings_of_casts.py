"""A complex number that becomes a real one loses its imaginary part, which is warned of."""

import warnings

import pytest

import autograd_cy as ag

Z = ag.tensor([1 + 1j, 2.0])
LEAF = ag.tensor([1 + 1j, 2.0], requires_grad=True)
REAL = ag.ones(2, requires_grad=True)

WARN = {
    "to": lambda: Z.to(ag.float32),
    "to another": lambda: Z.to(ag.zeros(1)),
    "float": lambda: Z.float(),
    "int": lambda: Z.int(),
    "type": lambda: Z.type(ag.float32),
    "type_as": lambda: Z.type_as(ag.zeros(1)),
    "copy_": lambda: ag.zeros(2).copy_(Z),
    "assignment": lambda: ag.zeros(2).__setitem__(slice(None), Z),
    "fill_": lambda: ag.zeros(2).fill_(Z[0]),
    "as_tensor": lambda: ag.as_tensor(Z, dtype=ag.float32),
    "sum": lambda: Z.sum(dtype=ag.float32),
    "mean": lambda: Z.mean(dtype=ag.float32),
    "cumsum": lambda: Z.cumsum(0, dtype=ag.float32),
    "prod": lambda: Z.prod(dtype=ag.float32),
    "softmax": lambda: ag.softmax(Z, 0, dtype=ag.float32),
    "log_softmax": lambda: ag.log_softmax(Z, 0, dtype=ag.float32),
    "backward of to": lambda: LEAF.to(ag.float32).sum().backward(),
}
SILENT = {
    "truth": lambda: Z.bool(),
    "to complex": lambda: Z.to(ag.complex128),
    "real": lambda: Z.real.double(),
    "gradient of a real leaf": lambda: REAL.to(ag.complex64).backward(Z),
    "gradient of a product": lambda: (REAL * Z).backward(Z),
    "parts": lambda: (REAL.to(ag.complex64) * Z).real.sum().backward(),
    "real into complex": lambda: LEAF.clone().copy_(REAL).abs().sum().backward(),
}


@pytest.fixture(autouse=True)
def _always():
    before = ag.is_warn_always_enabled()
    ag.set_warn_always(True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    ag.set_warn_always(before)


@pytest.mark.parametrize("name", WARN)
def test_a_lost_imaginary_part_is_warned_of(name):
    with pytest.warns(UserWarning, match="Casting complex values to real discards the imaginary"):
        WARN[name]()


@pytest.mark.parametrize("name", SILENT)
def test_nothing_is_lost_in_derivatives_and_other_conversions(name):
    SILENT[name]()


def test_it_comes_once_in_a_process():
    ag.set_warn_always(False)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            Z.float()
    assert len(seen) <= 1


def test_a_norm_of_complex_numbers_has_no_real_dtype_to_compute_in():
    with pytest.raises(RuntimeError, match="dtype should be complex for complex inputs, but got"):
        Z.norm(dtype=ag.float32)


@pytest.mark.parametrize("name", ["scatter", "scatter_"])
def test_an_old_argument_of_scatter_is_warned_of(name):
    index = ag.tensor([0, 0])
    with pytest.warns(UserWarning, match="reduce argument of torch.scatter with Tensor src is dep"):
        found = getattr(ag.zeros(2), name)(0, index, ag.ones(2), reduce="add")
    assert found.tolist() == [2.0, 0.0]
    assert getattr(ag.zeros(2), name)(0, index[:1], 1.0, reduce="add").tolist() == [1.0, 0.0]
