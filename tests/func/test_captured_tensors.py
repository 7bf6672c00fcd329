"""A function that is transformed writes what it made or was given, and no other tensor."""

import contextlib
import threading

import pytest

import autograd_cy as ag
from autograd_cy.func import grad, grad_and_value, jacfwd, jacrev, jvp, linearize, vjp, vmap

CAPTURED = "would mutate a captured Tensor"
TRANSFORMS = {
    "grad": lambda f, x: grad(lambda x: f(x).sum())(x),
    "grad_and_value": lambda f, x: grad_and_value(lambda x: f(x).sum())(x),
    "vjp": vjp,
    "jacrev": lambda f, x: jacrev(f)(x),
    "jvp": lambda f, x: jvp(f, (x,), (ag.ones_like(x),)),
    "jacfwd": lambda f, x: jacfwd(f, randomness="different")(x),
    "linearize": linearize,
    "vmap in grad": lambda f, x: grad(lambda x: vmap(lambda _: f(x).sum())(ag.ones(2)).sum())(x),
    "grad in grad": lambda f, x: grad(lambda x: grad(lambda x: f(x).sum())(x).sum())(x),
}


def no_grad(write):
    def under(x, y):
        with ag.no_grad():
            write(x, y)

    return under


def put(index, value):
    return lambda x, y: y.__setitem__(index, value(x))


EVERYWHERE = ag.tensor([0, 1, 2])
WRITES = {
    "mul_": lambda x, y: y.mul_(x),
    "by a number": lambda x, y: y.mul_(2),
    "+=": lambda x, y: y.__iadd__(x),
    "copy_": lambda x, y: y.copy_(x),
    "zero_": lambda x, y: y.zero_(),
    "fill_": lambda x, y: y.fill_(2.0),
    "an item": put(0, lambda x: x[0]),
    "all items": put(slice(None), lambda x: x),
    "a number": put(0, lambda x: 5.0),
    "by a mask": put(ag.tensor([True, True, True]), lambda x: x),
    "by indices": put(EVERYWHERE, lambda x: x),
    "a view": lambda x, y: y[:].mul_(x),
    "detached": lambda x, y: y.detach().mul_(2),
    "data": lambda x, y: y.data.mul_(2),
    "without grad mode": no_grad(lambda x, y: y.mul_(x)),
    "index_add_": lambda x, y: y.index_add_(0, EVERYWHERE, x),
    "masked_fill_": lambda x, y: y.masked_fill_(y > 0, 3.0),
    "clamp_": lambda x, y: y.clamp_(0, 0.5),
    "normal_": lambda x, y: y.normal_(),
    "polygamma_": lambda x, y: y.polygamma_(1),
    "relu": lambda x, y: ag.nn.functional.relu(y, inplace=True),
    "geometry": lambda x, y: y.unsqueeze_(0),
    "resize_": lambda x, y: y.resize_(2),
    "set_": lambda x, y: y.set_(ag.zeros(3)),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_writes_to_captured_tensors_are_refused_before_they_happen(transform, write):
    y = ag.ones(3)

    def f(x):
        WRITES[write](x, y)
        return x + y

    with pytest.raises(RuntimeError, match=f"{CAPTURED}|vmap: .*random"):
        TRANSFORMS[transform](f, ag.ones(3) * 2)
    assert y.tolist() == [1.0, 1.0, 1.0] and y._version == 0
    assert y.is_leaf and not y.requires_grad and y.grad_fn is None
    y.mul_(2)  # outside it is as before
    assert y.tolist() == [2.0, 2.0, 2.0]


def test_vmap_has_an_error_of_its_own():
    y = ag.ones(3)
    with pytest.raises(RuntimeError, match="vmap: inplace arithmetic"):
        vmap(lambda x: y.mul_(x))(ag.ones(3))
    vmap(lambda x: (y.mul_(2), x)[1])(ag.ones(3))  # all examples share it, as in torch
    assert y.tolist() == [2.0, 2.0, 2.0] and not y.requires_grad


def made(x):
    y = ag.zeros(3)
    y[0] = x[0]
    y[1:] += x[1:]
    return y.mul_(x)


def cloned(x):
    return OUTSIDE.clone().mul_(x).mul_(x)


def many(x):
    total = ag.zeros(3)
    for _ in range(400):  # more than the table of births has room for at first
        part = ag.zeros(3).add_(x)
        total.add_(part).sub_(x).add_(part.detach().mul_(0))
    kept = [ag.zeros(3).add_(i) for i in range(400)]
    return total.add_(x * x).add_(sum(t.sum() for t in kept) * 0)


def of_other_memory(x):
    return ag.from_numpy(ag.zeros(3).numpy()).add_(x * x)


OUTSIDE = ag.ones(3)


@pytest.mark.parametrize("f", [made, cloned, many, of_other_memory])
def test_a_function_writes_what_it_made(f):
    x = ag.tensor([1.0, 2.0, 3.0])
    wanted = [2.0, 4.0, 6.0]
    assert grad(lambda x: f(x).sum())(x).tolist() == wanted
    assert jvp(f, (x,), (ag.ones(3),))[1].tolist() == wanted
    assert jacrev(f)(x).diag().tolist() == wanted
    assert jacfwd(f)(x).diag().tolist() == wanted
    assert grad(lambda x: grad(lambda x: f(x).sum())(x).sum())(x).tolist() == [2.0, 2.0, 2.0]
    assert OUTSIDE.tolist() == [1.0, 1.0, 1.0]


def test_what_an_outer_function_made_is_captured_by_the_inner_one():
    def outer(x):
        y = ag.zeros(3)
        y.add_(x)
        return grad(lambda z: (y.mul_(2) * z).sum())(x).sum()

    with pytest.raises(RuntimeError, match=CAPTURED):
        grad(outer)(ag.ones(3))


def test_arguments_that_are_not_differentiated_may_be_written():
    counts = {"n": ag.zeros(())}

    def f(x, y, counts, scale=None):
        counts["n"].add_(1)
        scale.mul_(2)
        return (x * y.mul_(2)).sum()

    y, scale = ag.ones(3), ag.ones(3)
    assert grad(f)(ag.ones(3), y, counts, scale=scale).tolist() == [2.0, 2.0, 2.0]
    assert y.tolist() == scale.tolist() == [2.0] * 3 and counts["n"].item() == 1.0
    assert (
        vmap(grad(f), in_dims=(0, 0, None))(
            ag.ones(2, 3), ag.ones(2, 3), counts, scale=scale
        ).tolist()
        == [[2.0] * 3] * 2
    )
    # But not so that they would come back with a history.
    with pytest.raises(RuntimeError, match=CAPTURED):
        grad(lambda x, y: (x * y.mul_(x)).sum())(ag.ones(3), y)
    assert y.tolist() == [2.0] * 3 and not y.requires_grad


def test_the_tensor_in_whose_place_a_function_gets_another_one_is_captured():
    x = ag.ones(3)
    for write in (lambda z: x.mul_(z), lambda z: x[:2].mul_(z[:2])):
        with pytest.raises(RuntimeError, match=CAPTURED):
            grad(lambda z: (write(z), z.sum())[1])(x)
    assert x.tolist() == [1.0] * 3 and not x.requires_grad


def test_arguments_of_jvp_may_be_written():
    x, v = ag.ones(3), ag.ones(3) * 3
    value, tangent = jvp(lambda x: x.mul_(2) * x[:1].add_(1), (x,), (v,))
    assert value.tolist() == [9.0, 6.0, 6.0] and tangent.tolist() == [36.0, 30.0, 30.0]


def test_results_beside_the_written_may_go_to_captured_tensors():
    """`out=` of constants, and statistics that a call updates, as in torch."""
    y, mean, var = ag.ones(3), ag.zeros(3), ag.ones(3)

    def f(x):
        ag.mul(ag.ones(3), 2, out=y)
        return ag.nn.functional.batch_norm(x, mean, var, training=True).square().sum()

    grad(f)(ag.arange(6.0).reshape(2, 3))
    assert y.tolist() == [2.0] * 3 and mean.tolist() != [0.0] * 3
    assert not mean.requires_grad and not y.requires_grad
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        grad(lambda x: ag.mul(x, 2, out=y).sum())(ag.ones(3))


@pytest.mark.parametrize("name", ["grad", "vjp", "jacrev", "jvp", "linearize", "grad in grad"])
def test_statistics_over_instances_move_as_those_over_batches(name):
    layer, plain = (ag.nn.InstanceNorm1d(3, track_running_stats=True) for _ in range(2))
    x = ag.arange(24.0).reshape(2, 3, 4)
    version = layer.running_mean._version
    TRANSFORMS[name](layer, x)
    for _ in range(layer.running_mean._version - version):
        plain(x)
    assert layer.running_mean._version > version
    for found, expected in zip(layer.buffers(), plain.buffers(), strict=True):
        assert ag.equal(found, expected) and not found.requires_grad
    with pytest.raises(RuntimeError, match=CAPTURED):
        TRANSFORMS[name](lambda x: layer.running_mean.copy_(x[0, :, 0].detach()) + x, x)


STATES = {
    "spectral_norm": lambda: ag.nn.utils.parametrizations.spectral_norm(ag.nn.Linear(3, 3)),
    "spectral_norm, older": lambda: ag.nn.utils.spectral_norm(ag.nn.Linear(3, 3)),
    "rows of an embedding": lambda: ag.nn.Sequential(
        ag.nn.Flatten(0), ag.nn.Embedding(4, 3, max_norm=0.1)
    ),
}


@pytest.mark.parametrize("name", STATES)
def test_state_of_modules_that_changes_by_the_way(name):
    """The state changes as in torch; the count of batch normalization may not, unless it is an
    argument."""
    module = STATES[name]()
    integers = name.startswith("rows")
    x = ag.tensor([[0, 1], [2, 3]]) if integers else ag.ones(2, 3)
    params = dict(module.named_parameters())
    before = {k: t._version for k, t in module.state_dict().items()}

    def loss(params):
        return ag.func.functional_call(module, params, (x,)).sum()

    found = grad(loss)(params)
    assert found.keys() == params.keys()
    assert all(t.is_leaf for t in module.state_dict().values())
    assert any(before[k] < t._version for k, t in module.state_dict().items())
    counted = ag.nn.BatchNorm1d(3)
    params, buffers = dict(counted.named_parameters()), dict(counted.named_buffers())

    def normalized(params, buffers):
        return ag.func.functional_call(counted, (params, buffers), (ag.ones(2, 3),)).sum()

    with pytest.raises(RuntimeError, match=CAPTURED):
        grad(lambda p: normalized(p, {}))(params)
    assert counted.num_batches_tracked.item() == 0
    grad(normalized)(params, buffers)
    assert counted.num_batches_tracked.item() == 1


def test_writes_are_free_again_after_an_error():
    y = ag.ones(3)

    def fails(x):
        raise KeyError("inside")

    for transform in TRANSFORMS.values():
        with contextlib.suppress(KeyError):
            transform(fails, ag.ones(3))
        assert y.add_(1).sum().item() > 3
    assert ag._C.tensor._get_modes() == 0


def test_other_threads_write_what_they_like():
    y, errors = ag.ones(3), []

    def write():
        try:
            y.mul_(2)
        except RuntimeError as error:
            errors.append(error)

    def f(x):
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        return x.sum()

    grad(f)(ag.ones(3))
    assert not errors and y.tolist() == [2.0] * 3


def test_mutation_on_saved_tensors_goes_with_it():
    """The context that watches writes, too: neither ends the other."""
    y = ag.ones(3)
    allow = ag.autograd.graph.allow_mutation_on_saved_tensors

    def f(x):
        with allow():
            z = x * 1
            w = z.sin()
            z.mul_(2)
            total = grad(lambda a: (a * a).sum())(w.detach()).sum()
            del z
        with pytest.raises(RuntimeError, match=CAPTURED):
            y.mul_(2)
        return (x * total).sum()

    grad(f)(ag.ones(3))
    with allow():
        x = ag.ones(3, requires_grad=True)
        z = x * 1
        w = z.sin().sum()
        grad(lambda a: (a * a).sum())(ag.ones(3))
        z.zero_()
        w.backward()
    assert ag.allclose(x.grad, ag.ones(3).cos()) and ag._C.tensor._get_modes() == 0
