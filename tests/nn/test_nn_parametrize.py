"""Parametrizations: their mechanism, the usual ones, and the older hooks, beside torch's."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.nn.utils import parametrizations, parametrize


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).transpose(-1, -2)

    def right_inverse(self, a):
        return a.triu()


class Sum(nn.Module):
    def forward(self, a, b):
        return a + b

    def right_inverse(self, x):
        return x / 2, x / 2


class Plain(nn.Module):
    """Give what `act` does with the tensor; its inverse is `back`."""

    def __init__(self, act, back=None):
        super().__init__()
        self.act, self.back = act, back

    def forward(self, x):
        return self.act(x)

    def right_inverse(self, x):
        if self.back is None:
            raise NotImplementedError
        return self.back(x)


def test_a_tensor_is_computed_whenever_it_is_asked_for():
    layer = nn.Linear(3, 3)
    before = layer.weight
    assert parametrize.register_parametrization(layer, "weight", Symmetric()) is layer
    assert layer.parametrizations.weight.original is before  # as the optimizer knows it
    w = layer.weight
    assert (w == w.t()).all() and w is not layer.weight
    layer(ag.ones(1, 3)).sum().backward()
    assert before.grad.tolist() == [[1, 2, 2], [0, 1, 2], [0, 0, 1]]
    assert [n for n, _ in layer.named_parameters()] == ["bias", "parametrizations.weight.original"]
    with parametrize.cached():
        assert layer.weight is layer.weight
        with parametrize.cached():
            kept = layer.weight
        assert layer.weight is kept
    assert layer.weight is not kept


def test_values_can_be_assigned_by_the_inverse():
    layer = parametrize.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    value = ag.rand(3, 3)
    value = value + value.t()
    layer.weight = value
    assert ag.allclose(layer.weight, value)
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Sum())
    layer.weight = ag.eye(2)
    assert layer.weight.tolist() == [[1, 0], [0, 1]]
    parametrize.register_parametrization(layer, "weight", Plain(ag.exp))
    with pytest.raises(NotImplementedError):
        layer.weight = ag.eye(2)


def test_several_parametrizations_are_a_chain():
    layer = parametrize.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    parametrize.register_parametrization(layer, "weight", Plain(lambda x: 2 * x, lambda x: x / 2))
    original = layer.parametrizations.weight.original.detach()
    assert ag.allclose(layer.weight, 2 * Symmetric()(original))
    layer.weight = Symmetric()(ag.rand(3, 3))
    parametrize.register_parametrization(layer, "bias", Plain(lambda x: x + 1))
    assert parametrize.is_parametrized(layer, "bias")
    assert parametrize.is_parametrized(layer) and not parametrize.is_parametrized(nn.ReLU())


@pytest.mark.parametrize("leave", [True, False])
def test_parametrizations_are_removed(leave):
    layer = nn.Linear(3, 3)
    before = layer.weight
    value = before.detach().clone()
    parametrize.register_parametrization(layer, "weight", Plain(lambda x: x + 1))
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=leave)
    assert type(layer) is nn.Linear and layer.weight is before
    assert ag.allclose(layer.weight, value + 1 if leave else value)
    assert list(layer.state_dict()) == ["bias", "weight"] and before.requires_grad
    assert not hasattr(layer, "parametrizations")


def test_buffers_and_frozen_parameters_stay_what_they_are():
    class Owner(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", ag.ones(2))
            self.frozen = nn.Parameter(ag.ones(2), requires_grad=False)

    owner = Owner()
    parametrize.register_parametrization(owner, "table", Plain(lambda x: 2 * x))
    parametrize.register_parametrization(owner, "frozen", Sum())
    assert owner.table.tolist() == [2, 2] and not owner.frozen.requires_grad
    assert [n for n, _ in owner.named_buffers()] == ["parametrizations.table.original"]
    parametrize.remove_parametrizations(owner, "table")
    parametrize.remove_parametrizations(owner, "frozen")
    assert owner.table.tolist() == [2, 2] and type(owner) is Owner


def test_copies_and_files():
    layer = parametrize.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    other = copy.deepcopy(layer)
    assert type(other) is type(layer) and ag.equal(other.weight, layer.weight)
    other.weight = ag.eye(3)
    assert not ag.equal(other.weight, layer.weight)
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(layer)
    other.load_state_dict(layer.state_dict())
    assert ag.equal(other.weight, layer.weight)


def test_parametrizations_go_to_another_module():
    layer = parametrize.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    parametrize.register_parametrization(layer, "bias", Plain(ag.exp))
    other = parametrize.transfer_parametrizations_and_params(layer, nn.Linear(3, 3), "weight")
    assert ag.equal(other.weight, layer.weight)
    assert not parametrize.is_parametrized(other, "bias")
    assert other.parametrizations.weight.original is not layer.parametrizations.weight.original
    plain = nn.Linear(1, 1)
    assert parametrize.transfer_parametrizations_and_params(nn.Linear(1, 1), plain) is plain


REFUSED = [
    (Plain(lambda x: x.double()), "may not change the dtype"),
    (Plain(lambda x: x.flatten()), "may not change the shape"),
    (Plain(lambda x: 3), "must return a tensor. Got int"),
    (Plain(lambda x: x, lambda x: 3), "'right_inverse' must return a Tensor or a Sequence"),
    (Plain(lambda x: x, lambda x: x.double()), "it may not change the dtype"),
    (Plain(lambda x: x, lambda x: [x, 3]), "Got element 1 of the sequence with type int"),
]


@pytest.mark.parametrize(("parametrization", "text"), REFUSED)
def test_what_a_parametrization_must_not_do(parametrization, text):
    layer = nn.Linear(2, 2)
    before = layer.weight.tolist()
    with pytest.raises(ValueError, match=text):
        parametrize.register_parametrization(layer, "weight", parametrization)
    assert type(layer) is nn.Linear and layer.weight.tolist() == before
    if parametrization.back is None:
        parametrize.register_parametrization(layer, "weight", Symmetric())
        with pytest.raises(ValueError, match=text):
            parametrize.register_parametrization(layer, "weight", parametrization)
        assert len(layer.parametrizations.weight) == 1


def test_other_requests_are_refused():
    layer = nn.Linear(2, 2)
    with pytest.raises(ValueError, match="a parametrized element with name 'odd'"):
        parametrize.register_parametrization(layer, "odd", Symmetric())
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(layer, "weight")
    parametrize.register_parametrization(layer, "weight", Sum())
    with pytest.raises(ValueError, match="parametrized in terms of a sequence"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    with pytest.raises(ValueError, match="requires one or more modules"):
        parametrize.ParametrizationList([], ag.ones(1))
    parametrize.register_parametrization(layer, "bias", Plain(lambda x: x.double()), unsafe=True)
    assert layer.bias.dtype is ag.float64


# --- the usual ones -----------------------------------------------------------------------------


def sides(make, shape=(4, 3)):
    """Return the layer in both libraries, after `make(nn.utils, layer)`."""
    torch = pytest.importorskip("torch")
    w = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    pair = []
    for lib in (ag, torch):
        layer = lib.nn.Linear(shape[1], shape[0])
        layer.load_state_dict({"weight": lib.tensor(w), "bias": lib.zeros(shape[0])})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            pair.append((lib, make(lib.nn.utils, layer)))
    return pair


MAKERS = {
    "weight_norm": lambda u, m: u.parametrizations.weight_norm(m),
    "weight_norm 1": lambda u, m: u.parametrizations.weight_norm(m, dim=1),
    "weight_norm all": lambda u, m: u.parametrizations.weight_norm(m, dim=None),
    "spectral_norm": lambda u, m: u.parametrizations.spectral_norm(m),
    "spectral_norm bias": lambda u, m: u.parametrizations.spectral_norm(m, "bias"),
    "matrix_exp": lambda u, m: u.parametrizations.orthogonal(m, orthogonal_map="matrix_exp"),
    "cayley": lambda u, m: u.parametrizations.orthogonal(m, orthogonal_map="cayley"),
    "householder": lambda u, m: u.parametrizations.orthogonal(m, orthogonal_map="householder"),
    "direct": lambda u, m: u.parametrizations.orthogonal(
        m, orthogonal_map="householder", use_trivialization=False
    ),
    "old weight_norm": lambda u, m: u.weight_norm(m),
    "old spectral_norm": lambda u, m: u.spectral_norm(m),
}


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3)])
@pytest.mark.parametrize("name", MAKERS)
def test_values_gradients_and_keys_are_those_of_torch(name, shape):
    (_, ours), (torch, theirs) = sides(MAKERS[name], shape)
    assert repr(ours) == repr(theirs)
    state = theirs.state_dict()
    assert list(ours.state_dict()) == list(state)
    rng = np.random.default_rng(1)
    if "orthogonal" in str(MAKERS[name].__code__.co_names):
        # Away from the starting point, which would test zeros only.
        key = "parametrizations.weight.original"
        state[key] = state[key] + torch.tensor(0.3 * rng.standard_normal(state[key].shape)).float()
        theirs.load_state_dict(state)
    ours.load_state_dict({k: ag.tensor(v.numpy()) for k, v in state.items()})
    x = rng.standard_normal((2, shape[1])).astype(np.float32)
    for lib, layer in ((ag, ours), (torch, theirs)):
        (layer(lib.tensor(x)) ** 3).sum().backward()
    for (key, p), q in zip(ours.named_parameters(), theirs.parameters()):
        np.testing.assert_allclose(
            p.grad.numpy(), q.grad.numpy(), rtol=2e-4, atol=2e-5, err_msg=key
        )
    np.testing.assert_allclose(
        ours.weight.detach().numpy(), theirs.weight.detach().numpy(), rtol=1e-4, atol=1e-5
    )
    for key, value in theirs.state_dict().items():
        np.testing.assert_allclose(
            ours.state_dict()[key].numpy(), value.numpy(), rtol=1e-4, atol=1e-5, err_msg=key
        )


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3), (2, 4, 3)])
@pytest.mark.parametrize("how", ["matrix_exp", "cayley", "householder"])
def test_weights_are_orthogonal_and_stay_so(how, shape):
    class Owner(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(nn.init.orthogonal_(ag.empty(shape)) if len(shape) == 2
                                       else ag.rand(shape))  # fmt: skip

    owner = Owner()
    before = owner.weight.detach().clone()
    parametrizations.orthogonal(owner, orthogonal_map=how)
    if len(shape) == 2:
        assert ag.allclose(owner.weight, before, atol=1e-5)
    optimizer = ag.optim.SGD(owner.parameters(), lr=0.5)
    for _ in range(3):
        optimizer.zero_grad()
        ((owner.weight - 1) ** 2).sum().backward()
        optimizer.step()
    w = owner.weight
    product = w @ w.transpose(-1, -2) if shape[-2] < shape[-1] else w.transpose(-1, -2) @ w
    one = ag.eye(min(shape[-2:])).expand(product.shape)
    assert ag.allclose(product, one, atol=1e-5) and not ag.allclose(w, before)
    value = nn.init.orthogonal_(ag.empty(shape[-2:]))
    owner.weight = value.expand(shape)
    assert ag.allclose(owner.weight, value.expand(shape), atol=1e-5)


def test_without_a_base_only_reflections_can_be_assigned():
    value = nn.init.orthogonal_(ag.empty(4, 3))
    layer = parametrizations.orthogonal(
        nn.Linear(3, 4), orthogonal_map="householder", use_trivialization=False
    )
    layer.weight = value
    assert ag.allclose(layer.weight, value, atol=1e-5)
    layer = parametrizations.orthogonal(
        nn.Linear(3, 4), orthogonal_map="cayley", use_trivialization=False
    )
    with pytest.raises(NotImplementedError, match="use_trivialization=False"):
        layer.weight = value


def test_large_matrices_are_exponentiated_right():
    from scipy.linalg import expm

    a = 30 * np.random.default_rng(0).standard_normal((5, 5))
    a = a - a.T
    found = parametrizations._matrix_exp(ag.tensor(a)).numpy()
    np.testing.assert_allclose(found, expm(a), atol=1e-11)


def test_the_spectral_norm_becomes_one():
    layer = parametrizations.spectral_norm(nn.Linear(20, 10), n_power_iterations=30)
    for _ in range(10):
        layer.weight
    assert abs(np.linalg.norm(layer.weight.detach().numpy(), 2) - 1) < 1e-3
    layer.eval()
    assert ag.equal(layer.weight, layer.weight)


def test_files_of_the_old_weight_norm_are_loaded():
    with pytest.warns(FutureWarning, match="parametrizations.weight_norm"):
        old = nn.utils.weight_norm(nn.Linear(3, 2))
    new = parametrizations.weight_norm(nn.Linear(3, 2))
    new.load_state_dict(old.state_dict())
    assert ag.allclose(new.weight, old.weight)
    x = ag.ones(1, 3)
    expected = old(x)
    assert nn.utils.remove_weight_norm(old) is old
    assert ag.allclose(old(x), expected) and list(old.state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        nn.utils.remove_weight_norm(old)


def test_the_old_spectral_norm_is_removed():
    layer = nn.utils.spectral_norm(nn.Linear(3, 2))
    with pytest.raises(RuntimeError, match="Cannot register two spectral_norm hooks"):
        nn.utils.spectral_norm(layer)
    layer.eval()
    x = ag.ones(1, 3)
    expected = layer(x)
    nn.utils.remove_spectral_norm(layer)
    assert ag.allclose(layer(x), expected, atol=1e-6)
    with pytest.raises(ValueError, match="spectral_norm of 'weight' not found"):
        nn.utils.remove_spectral_norm(layer)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda m: parametrizations.orthogonal(m, "bias"), "Got a tensor of 1 dimensions"),
        (lambda m: parametrizations.orthogonal(m, orthogonal_map="x"), "orthogonal_map has to be"),
        (lambda m: parametrizations.weight_norm(m, "odd"), "with name 'odd'"),
        (lambda m: parametrizations.spectral_norm(m, "odd"), "with name 'odd'"),
        (lambda m: parametrizations.spectral_norm(m, n_power_iterations=0), "to be positive"),
        (lambda m: nn.utils.spectral_norm(m, n_power_iterations=0), "to be positive"),
    ],
)
def test_bad_arguments(call, text):
    with pytest.raises(ValueError, match=text):
        call(nn.Linear(2, 2))


def test_modules_without_values():
    layer = nn.utils.skip_init(nn.Linear, 5, 1, dtype=ag.float64)
    assert layer.weight.shape == (1, 5) and layer.bias.dtype is ag.float64
    assert not layer.weight.is_meta and layer.weight.requires_grad
    assert nn.utils.skip_init(nn.Linear, 5, 1, device="meta").weight.is_meta
    with pytest.raises(RuntimeError, match="'device' arg"):
        nn.utils.skip_init(nn.ReLU)
    with pytest.raises(RuntimeError, match="Expected a Module"):
        nn.utils.skip_init(dict)


def test_the_old_functional_call():
    layer = nn.Linear(1, 1)
    with pytest.warns(FutureWarning, match="func.functional_call"):
        found = nn.utils.stateless.functional_call(
            layer, {"weight": ag.ones(1, 1), "bias": ag.ones(1)}, ag.ones(1)
        )
    assert found.item() == 2.0


# --- spectral norms ---------------------------------------------------------------------------


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("dtype", [ag.float32, ag.complex64])
def test_a_weight_of_spectral_norm_is_divided_by_its_largest_singular_value(older, dtype):
    layer = nn.Linear(3, 4, dtype=dtype)
    weight = layer.weight.detach().clone()
    made = nn.utils.spectral_norm if older else parametrizations.spectral_norm
    layer = made(layer, n_power_iterations=100)
    layer(ag.ones(1, 3, dtype=dtype))
    largest = np.linalg.svd(weight.numpy())[1][0]
    np.testing.assert_allclose(layer.weight.detach().numpy(), weight.numpy() / largest, atol=1e-4)


def test_the_older_spectral_norm_writes_its_version():
    layer = nn.utils.spectral_norm(nn.Linear(2, 3))
    model = nn.Sequential(layer)
    assert layer.state_dict()._metadata[""]["spectral_norm"] == {"weight.version": 1}
    assert model.state_dict()._metadata["0"]["spectral_norm"] == {"weight.version": 1}
    nn.utils.remove_spectral_norm(layer)
    assert "spectral_norm" not in layer.state_dict()._metadata[""]
