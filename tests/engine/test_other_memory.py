"""Tensors with history that get other memory (`.data`, `set_`): gradients fit or are refused."""

import pytest

import autograd_cy as ag


def product(shape=(3, 3)):
    a = ag.ones(shape, requires_grad=True)
    return a, a * 1


@pytest.mark.parametrize("shape", [(2,), (1,), (1, 3), (3, 1), (4,)])
@pytest.mark.parametrize("silently", [False, True])
def test_a_gradient_of_another_shape_is_refused(shape, silently):
    _, b = product()
    if silently:
        with ag.no_grad():
            b.set_(ag.ones(shape))
    else:
        b.data = ag.ones(shape)
    assert b.requires_grad and not b.is_leaf
    with pytest.raises(RuntimeError, match=r"invalid gradient at index 0 - got \[.*expected shape"):
        b.sum().backward()


@pytest.mark.parametrize("of", [lambda a: a.view(9), lambda a: (a * 1).view(9), lambda a: a[0]])
def test_views_are_no_exception(of):
    view = of(ag.ones(3, 3, requires_grad=True))
    view.data = ag.ones(4)
    with pytest.raises(RuntimeError, match=r"invalid gradient at index 0 - got \[4\]"):
        view.sum().backward()


def test_more_dimensions_are_summed():
    a, b = product()
    b.data = ag.ones(4, 3, 3)
    b.sum().backward()
    assert a.grad.tolist() == [[4.0] * 3] * 3


def test_what_was_computed_before_keeps_its_shape():
    a, b = product()
    before = b.sum()
    b.data = ag.ones(2)
    (found,) = ag.autograd.grad(before, a)
    assert found.tolist() == [[1.0] * 3] * 3


def test_memory_of_the_same_shape_leaves_the_history():
    a, b = product()
    node = b.grad_fn
    b.data = ag.zeros(3, 3)
    assert b.grad_fn is node
    b.sum().backward()
    assert a.grad.tolist() == [[1.0] * 3] * 3


def test_hooks_of_before():
    a, b = product()
    seen = []
    b.register_hook(lambda g: seen.append(tuple(g.shape)))
    b.retain_grad()
    b.data = ag.ones(4, 3, 3)
    b.sum().backward()
    assert seen == [(3, 3)] and tuple(b.grad.shape) == (3, 3) and a.grad.tolist() == [[4.0] * 3] * 3


def test_set_in_grad_mode_has_no_derivative():
    a, b = product()
    b.set_(ag.ones(3, 3))
    with pytest.raises(RuntimeError, match="derivative for set_ is not implemented"):
        b.sum().backward()
    b = ag.zeros(3, 3)
    b.set_(a * 2)
    assert b.requires_grad
    with pytest.raises(RuntimeError, match="derivative for set_ is not implemented"):
        b.sum().backward()


def test_set_takes_typed_storages_of_its_dtype():
    x, source = ag.ones(3), ag.zeros(5)
    x.set_(source.storage(), 1, (2, 2))
    x.fill_(3.0)
    assert source.tolist() == [0.0, 3.0, 3.0, 3.0, 3.0]
    with pytest.raises(RuntimeError, match="Expected a Storage of type Float"):
        x.set_(ag.zeros(2, dtype=ag.int64).storage())
    x.set_(ag.zeros(2, dtype=ag.int64), 0, (4,))
    assert x.tolist() == [0.0] * 4


@pytest.mark.parametrize("given", [(ag.zeros(5), 1), (ag.zeros(5), 1, 3), (5,), (None,), ([1],)])
def test_other_arguments_of_set_are_refused(given):
    with pytest.raises(TypeError, match="set_"):
        ag.ones(3).set_(*given)


def test_the_flag_of_what_was_computed_cant_be_assigned():
    _, b = product()
    for value in (True, False):
        with pytest.raises(RuntimeError, match="can only change requires_grad flags of leaf"):
            b.requires_grad = value
    assert b.requires_grad_() is b


def test_a_leaf_of_another_dtype_gets_gradients_of_it():
    """A module may be converted while a graph of before lives."""
    calls = []
    w = ag.ones(2, requires_grad=True)
    w.register_post_accumulate_grad_hook(lambda p: calls.append(p.grad.dtype))
    before = w * 2
    w.data = w.data.double()
    after = w * 3
    after.sum().backward()
    assert w.grad.dtype == ag.float64
    before.sum().backward()
    assert w.grad.tolist() == [5.0, 5.0]
    assert calls == [ag.float64, ag.float64]


def test_a_leaf_on_another_device_gets_gradients_there():
    w = ag.ones(2, requires_grad=True)
    before = w * 2
    w.data = w.data.to("meta")
    (w * 3).sum().backward()
    assert w.grad.device == w.device
    del before
