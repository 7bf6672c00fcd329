"""functional_call: what the module assigned is handed back, and names that it lacks are there."""

import types

import pytest

import autograd_cy as ag
from tests.scenarios import scenarios

SCENARIOS, scenario = scenarios()


def module_of(m, forward):
    class Counting(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", m.zeros(1))
            self.register_buffer("none", None)
            self.weight = m.nn.Parameter(m.ones(1))
            self.tied = self.weight
            self.plain = 3
            self.inner = m.nn.Linear(1, 1, bias=False)

    Counting.forward = forward
    return Counting()


def called(m, forward, given, **options):
    """(what the module returned or raised, the dict, whether the module is as it was)."""
    module = module_of(m, forward)
    before = {name: id(t) for name, t in module.state_dict(keep_vars=True).items()}
    try:
        result = m.func.functional_call(module, given, (m.ones(1),), **options)
        result = result.item() if isinstance(result, m.Tensor) else result
    except Exception as error:
        result = type(error).__name__
    after = {name: id(t) for name, t in module.state_dict(keep_vars=True).items()}
    values = {k: t.tolist() if isinstance(t, m.Tensor) else t for k, t in given.items()}
    return result, values, before == after


def five(m):
    return m.full((1,), 5.0)


def count(self, x):
    self.seen = self.seen + x
    return self.seen


@scenario((6.0, {"seen": [6.0]}, True))
def buffers_that_were_assigned(m):
    return called(m, count, {"seen": five(m)})


@scenario(("ValueError", {"seen": [6.0]}, True))
def buffers_that_were_assigned_before_an_error(m):
    def forward(self, x):
        count(self, x)
        raise ValueError("on purpose")

    return called(m, forward, {"seen": five(m)})


@scenario((None, {"seen": None}, True))
def buffers_that_became_none(m):
    def forward(self, x):
        self.seen = None

    return called(m, forward, {"seen": five(m)})


@scenario((None, {"weight": [15.0]}, True))
def parameters_that_were_assigned(m):
    def forward(self, x):
        self.weight = type(self.tied)(self.weight.detach() * 3)

    return called(m, forward, {"weight": m.nn.Parameter(five(m))})


@scenario(([5.0], [7.0]))
def of_several_dicts_none_changes(m):
    given = {"seen": five(m)}, {"weight": m.full((1,), 7.0)}
    m.func.functional_call(module_of(m, count), given, (m.ones(1),))
    return given[0]["seen"].tolist(), given[1]["weight"].tolist()


@scenario(((6.0, {"extra": [5.0]}, True), (6.0, {"inner.extra": [5.0]}, True)))
def names_that_the_module_lacks_are_attributes(m):
    return (
        called(m, lambda self, x: self.extra + x, {"extra": five(m)}),
        called(m, lambda self, x: self.inner.extra + x, {"inner.extra": five(m)}),
    )


@scenario((["weight", "extra", "inner.weight"], ["weight", "inner.weight"]))
def a_parameter_that_the_module_lacks_is_one_of_its_parameters(m):
    def names(self, x):
        return [name for name, _ in self.named_parameters()]

    return (
        called(m, names, {"extra": m.nn.Parameter(five(m))})[0],
        called(m, names, {"extra": five(m)})[0],
    )


@scenario((None, {"extra": [6.0]}, True))
def a_name_that_the_module_lacks_is_handed_back_too(m):
    def forward(self, x):
        self.extra = self.extra + 1

    return called(m, forward, {"extra": five(m)})


@scenario((5.0, {"none": [5.0]}, True))
def a_place_without_a_buffer_is_filled(m):
    return called(m, lambda self, x: self.none, {"none": five(m)})


@scenario((5.0, 5.0))
def tied_names_get_one_tensor(m):
    return (
        called(m, lambda self, x: self.tied, {"weight": five(m)})[0],
        called(m, lambda self, x: self.weight, {"tied": five(m)})[0],
    )


@scenario(["KeyError", "KeyError", "TypeError", "TypeError", "TypeError", "AttributeError"])
def refusals(m):
    found = []
    for name in ("", "inner.", "inner", "plain", "extra_repr", "nothing.weight"):
        found.append(called(m, lambda self, x: None, {name: five(m)})[0])
    return found


@scenario(("TypeError", {"seen": 5}, True))
def what_is_no_tensor(m):
    return called(m, lambda self, x: None, {"seen": 5})


@scenario([1, 1])
def a_module_that_contains_itself(m):
    module = m.nn.Linear(1, 1)
    module.me = module
    return list(
        m.func.functional_call(
            module, {"me.weight": m.ones(1, 1)}, m.ones(1, 1), tie_weights=False
        ).shape
    )


@pytest.mark.parametrize("name", SCENARIOS)
def test_functional_call(name):
    function, expected = SCENARIOS[name]
    assert function(ag) == expected


@pytest.mark.parametrize("name", SCENARIOS)
def test_functional_call_is_that_of_torch(name):
    torch = pytest.importorskip("torch")
    function, expected = SCENARIOS[name]
    assert function(torch) == expected


def test_a_module_that_contains_itself_ties_its_weights():
    module = ag.nn.Linear(1, 1, bias=False)
    module.me = module
    y = ag.func.functional_call(module, {"me.weight": ag.full((1, 1), 3.0)}, ag.ones(1, 1))
    assert y.item() == 3.0


def test_missing_keys_are_named_in_order():
    module = module_of(ag, count)
    with pytest.raises(RuntimeError) as caught:
        ag.func.functional_call(module, {"b": ag.ones(1), "a": ag.ones(1)}, strict=True)
    assert "Unexpected key(s): 'a', 'b'." in str(caught.value)
    assert "Missing key(s): 'inner.weight', 'seen', 'tied', 'weight'." in str(caught.value)


def test_a_mapping_that_can_not_be_changed_is_taken():
    given = types.MappingProxyType({"seen": five(ag)})
    assert ag.func.functional_call(module_of(ag, count), given, (ag.ones(1),)).item() == 6.0
    assert given["seen"].item() == 5.0


def test_a_buffer_that_was_deleted_is_there_afterwards():
    def forward(self, x):
        del self.seen

    assert called(ag, forward, {"seen": five(ag)}) == (None, {"seen": [5.0]}, True)


def test_statistics_under_vmap_and_grad_are_those_of_each_model():
    # The dict that the user gave is not changed by what a transformation made of it.
    module, params = module_of(ag, count), {"seen": ag.tensor([[1.0], [2.0]])}
    made = ag.vmap(lambda p: ag.func.functional_call(module, p, (ag.ones(1),)))(params)
    assert made.tolist() == [[2.0], [3.0]]
    assert params["seen"].tolist() == [[1.0], [2.0]]
    assert module.seen.tolist() == [0.0]


@pytest.mark.parametrize("name", ["weight", "bias"])
def test_models_that_differ_in_requires_grad_are_not_stacked(name):
    a, b = ag.nn.Linear(2, 1), ag.nn.Linear(2, 1)
    getattr(b, name).requires_grad_(False)
    with pytest.raises(RuntimeError, match=f"Expected {name} from each model to have the same"):
        ag.func.stack_module_state([a, b])


def test_stacked_buffers_require_grad_as_those_of_the_models():
    def model(recorded):
        made = ag.nn.Module()
        made.register_buffer("x", ag.ones(1, requires_grad=recorded))
        return made

    _, buffers = ag.func.stack_module_state([model(True), model(True)])
    assert buffers["x"].requires_grad and buffers["x"].is_leaf
    with pytest.raises(RuntimeError, match="requires_grad"):
        ag.func.stack_module_state([model(True), model(False)])
