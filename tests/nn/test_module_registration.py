"""Assigning to a module registers parts of it, and calls no method of the module."""

import pytest

import autograd_cy as ag
from autograd_cy import nn
from tests.scenarios import scenarios

SCENARIOS, scenario = scenarios()


@scenario(3)
def a_wrapper_falls_back_to_what_it_wraps(m):
    class Wrapped(m.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    return Wrapped(m.nn.Linear(2, 3)).out_features


@scenario(["layers", "head"])
def an_own_add_module_is_not_asked(m):
    class Stack(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = m.nn.ModuleList()
            self.head = m.nn.Linear(1, 1)

        def add_module(self, layer):
            self.layers.append(layer)

    return list(Stack()._modules)


@scenario([["head.bias", "head.weight"], True])
def an_attribute_of_the_class_may_have_the_name(m):
    class Net(m.nn.Module):
        head = None

        def __init__(self):
            super().__init__()
            self.head = m.nn.Linear(2, 1)

    return [sorted(Net().state_dict()), Net().head is None]


@scenario([["children"], ["type"], ["half"], ["forward"], ["a.b"], [""]])
def modules_take_any_name(m):
    found = []
    for name in ("children", "type", "half", "forward", "a.b", ""):
        module = m.nn.Module()
        setattr(module, name, m.nn.Linear(1, 1))
        found.append(list(module._modules))
    return found


@scenario(["KeyError"] * 9)
def names_of_calls_are_checked(m):
    found = []
    for name in ("children", "a.b", ""):
        for call in (
            lambda module: module.add_module(name, m.nn.ReLU()),
            lambda module: module.register_parameter(name, m.nn.Parameter(m.ones(1))),
            lambda module: module.register_buffer(name, m.ones(1)),
        ):
            with pytest.raises(KeyError) as caught:
                call(m.nn.Module())
            found.append(caught.type.__name__)
    return found


@scenario([3, [1, 2, 3]])
def containers_of_nothing_ask_no_override(m):
    class Meter(m.nn.ModuleDict):
        def __init__(self):
            super().__init__()
            self.total = 0

        def update(self, value):
            self.total += value

    class Layers(m.nn.ModuleList):
        def __init__(self, modules):
            super().__init__(modules)
            self.sizes = [len(self)]

        def append(self, module):
            super().append(module)
            self.sizes.append(len(self))
            return self

    meter = Meter()
    meter.update(3)
    layers = Layers([m.nn.ReLU()])
    layers.append(m.nn.Tanh())
    layers.extend([])
    layers.append(m.nn.ELU())
    return [meter.total, layers.sizes]


@scenario([((), {}), ((1,), {"x": 2}), False, "TypeError", "TypeError"])
def init_goes_on_with_the_next_base_if_a_class_says_so(m):
    class Other:
        def __init__(self, *args, **kwargs):
            self.got = args, kwargs

    class Both(m.nn.Module, Other):
        call_super_init = True

    class Plain(m.nn.Module, Other):
        pass

    found = [Both().got, Both(1, x=2).got, hasattr(Plain(), "got")]
    for call in (lambda: Plain(1), lambda: Plain(x=2)):
        with pytest.raises(TypeError) as caught:
            call()
        found.append(caught.type.__name__)
    return found


@scenario([[("a.inner", 1), ("a.b.inner", 1)], [("a.inner", 1)], [("inner", 1)]])
def programs_name_members_of_their_own_kind(m):
    class Own(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.mine = {"inner": 1, "none": None}

    module = Own()
    module.b = Own()

    def members(part):
        return part.mine.items()

    named = module._named_members
    return [
        list(named(members, prefix="a", remove_duplicate=False)),
        list(named(members, prefix="a")),
        list(named(members, recurse=False)),
    ]


@pytest.mark.parametrize("name", SCENARIOS)
def test_registration(name):
    function, expected = SCENARIOS[name]
    assert function(ag) == expected


@pytest.mark.parametrize("name", SCENARIOS)
def test_registration_is_that_of_torch(name):
    torch = pytest.importorskip("torch")
    function, expected = SCENARIOS[name]
    assert function(torch) == expected


# What torch's Module has under names with an underscore, and what programs may so not use as names
# of their own.
OF_TORCH = frozenset(
    "_apply _backward_hooks _backward_pre_hooks _buffers _call_impl _compiled_call_impl "
    "_forward_hooks _forward_hooks_always_called _forward_hooks_with_kwargs _forward_pre_hooks "
    "_forward_pre_hooks_with_kwargs _get_backward_hooks _get_backward_pre_hooks _get_name "
    "_is_full_backward_hook _load_from_state_dict _load_state_dict_post_hooks "
    "_load_state_dict_pre_hooks _maybe_warn_non_full_backward_hook _modules _named_members "
    "_non_persistent_buffers_set _parameters _register_load_state_dict_pre_hook "
    "_register_state_dict_hook _replicate_for_data_parallel _save_to_state_dict _slow_forward "
    "_state_dict_hooks _state_dict_pre_hooks _version _wrapped_call_impl".split()
)


def test_modules_have_no_private_methods_of_their_own():
    # A program's module may have a method `_replace` or `_add_hook`.
    for cls in (nn.Module, nn.Sequential, nn.ModuleList, nn.ModuleDict, nn.ParameterDict):
        private = {name for name in dir(cls) if name.startswith("_") and name[1:2] != "_"}
        assert sorted(private - OF_TORCH) == ["_hooked"], cls


def test_what_a_function_of_apply_does_in_place_is_counted():
    layer = nn.Linear(2, 2)
    layer.register_buffer("count", ag.ones(1))
    layer.weight.grad = ag.ones(2, 2)
    tensors = (layer.weight, layer.weight.grad, layer.count)
    before = [t._version for t in tensors]
    layer._apply(lambda t: t.mul_(2))
    assert [t._version - v for t, v in zip(tensors, before, strict=True)] == [1, 1, 1]
    loss = (layer.weight * layer.weight).sum()
    layer._apply(lambda t: t.mul_(2))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_apply_gives_the_parameters_themselves():
    layer, seen = nn.Linear(2, 2), []
    layer._apply(lambda t: seen.append(t) or t)
    assert [id(t) for t in seen] == [id(layer.weight), id(layer.bias)]


def test_layers_have_constants_that_subclasses_extend():
    class Conv(nn.Conv2d):
        __constants__ = [*nn.Conv2d.__constants__, "gain"]  # noqa: RUF012 - as programs do

    assert "gain" in Conv.__constants__ and "stride" in Conv.__constants__
    assert [*nn.Linear.__constants__, "gain"] == ["in_features", "out_features", "gain"]
    assert all(
        isinstance(cls.__constants__, list)
        for cls in vars(nn).values()
        if hasattr(cls, "__constants__")
    )


def test_constants_are_those_of_torch():
    torch = pytest.importorskip("torch")
    differ = [
        name
        for name, cls in vars(torch.nn).items()
        if hasattr(cls, "__constants__")
        and hasattr(nn, name)
        and getattr(nn, name).__constants__ != cls.__constants__
    ]
    assert differ == []


def test_a_counter_on_meta_becomes_real_when_a_state_without_one_is_assigned():
    with ag.device("meta"):
        net = nn.Sequential(nn.BatchNorm1d(3))
    net.load_state_dict({}, strict=False, assign=True)
    assert net[0].num_batches_tracked.device.type == "cpu"
    assert net[0].num_batches_tracked.item() == 0
