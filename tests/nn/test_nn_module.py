"""Module and Parameter: registration, walks, saving, conversion, text."""

import copy
import pickle

import pytest

import autograd_cy as torch
from autograd_cy import nn


class Net(nn.Module):
    """Two layers, a shared one, a buffer and a buffer that is not saved."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Sequential(nn.ReLU(), nn.Linear(4, 2, bias=False))
        self.again = self.first
        self.register_buffer("count", torch.tensor(0))
        self.register_buffer("cache", torch.zeros(2), persistent=False)
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return self.second(self.first(x)) * self.scale


def names(pairs):
    return [name for name, _ in pairs]


# --- Parameter ----------------------------------------------------------------------------------


def test_parameter_shares_memory_requires_grad_and_is_a_leaf():
    data = torch.zeros(2)
    weight = nn.Parameter(data)
    assert isinstance(weight, torch.Tensor)
    assert weight.requires_grad
    assert weight.is_leaf
    data.add_(1.0)
    assert weight.tolist() == [1.0, 1.0]


def test_parameter_of_a_result_has_no_history():
    x = torch.ones(2, requires_grad=True)
    assert nn.Parameter(x * 2.0).grad_fn is None


def test_parameter_without_data_is_empty():
    assert nn.Parameter().numel() == 0


def test_parameter_of_something_else_is_a_type_error():
    with pytest.raises(TypeError, match="Tensor"):
        nn.Parameter([1.0])


def test_operations_on_a_parameter_give_plain_tensors():
    assert type(nn.Parameter(torch.ones(2)) * 2.0) is torch.Tensor


def test_gradient_reaches_a_parameter():
    weight = nn.Parameter(torch.tensor([1.0, 2.0]))
    (weight * weight).sum().backward()
    assert weight.grad.tolist() == [2.0, 4.0]


def test_parameter_survives_copying_and_pickling():
    weight = nn.Parameter(torch.tensor([1.0, 2.0]), requires_grad=False)
    for other in (copy.deepcopy(weight), pickle.loads(pickle.dumps(weight))):
        assert type(other) is nn.Parameter
        assert not other.requires_grad
        assert other.tolist() == [1.0, 2.0]
        assert other.data_ptr() != weight.data_ptr()


def test_deep_copy_keeps_sharing():
    net = copy.deepcopy(Net())
    assert net.again is net.first
    assert net.again.weight is net.first.weight


def test_parameter_says_what_it_is():
    assert repr(nn.Parameter(torch.ones(1))).startswith("Parameter containing:\ntensor(")


# --- Registration -------------------------------------------------------------------------------


def test_assigned_parameters_modules_and_buffers_are_registered():
    net = Net()
    assert names(net.named_parameters()) == [
        "scale",
        "first.weight",
        "first.bias",
        "second.1.weight",
    ]
    assert names(net.named_children()) == ["first", "second"]
    assert names(net.named_buffers()) == ["count", "cache"]
    assert net._modules["again"] is net.first


def test_buffer_objects_register_themselves():
    module = nn.Module()
    module.kept = nn.Buffer(torch.zeros(1))
    module.lost = nn.Buffer(torch.zeros(1), persistent=False)
    assert repr(module.kept) == str(module.lost) == "tensor([0.])"
    assert names(module.named_buffers()) == ["kept", "lost"]
    assert list(module.state_dict()) == ["kept"]


def test_assignment_before_init_is_an_attribute_error():
    class Early(nn.Module):
        def __init__(self, value):
            self.value = value

    for value in (nn.Parameter(torch.ones(1)), nn.ReLU()):
        with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call"):
            Early(value)


def test_plain_tensor_may_not_replace_a_parameter():
    with pytest.raises(TypeError, match="as parameter 'weight'"):
        nn.Linear(1, 1).weight = torch.ones(1, 1)


def test_none_replaces_a_parameter_and_leaves_its_place():
    layer = nn.Linear(1, 1)
    layer.bias = None
    assert layer.bias is None
    assert names(layer.named_parameters()) == ["weight"]
    layer.bias = nn.Parameter(torch.ones(1))
    assert names(layer.named_parameters()) == ["weight", "bias"]


def test_only_a_module_or_none_replaces_a_module():
    net = Net()
    with pytest.raises(TypeError, match="as child module 'first'"):
        net.first = 3
    net.first = None
    assert net.first is None


def test_tensor_replaces_a_buffer_and_stays_one():
    net = Net()
    net.count = torch.tensor(5)
    assert net.get_buffer("count").item() == 5
    with pytest.raises(TypeError, match="as buffer 'count'"):
        net.count = 5


def test_parameter_replaces_a_plain_attribute_or_a_module():
    net = Net()
    net.plain = 3
    net.plain = nn.Parameter(torch.ones(1))
    net.first = nn.Parameter(torch.ones(1))
    assert {"plain", "first"} <= set(names(net.named_parameters()))
    assert "first" not in names(net.named_children())


def test_deleted_attributes_are_gone():
    net = Net()
    net.plain = 3
    for name in ("scale", "count", "first", "plain"):
        delattr(net, name)
        assert not hasattr(net, name)


def test_unknown_attribute_names_class_and_attribute():
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'nothing'"):
        Net().nothing


@pytest.mark.parametrize(("name", "error"), [("a.b", KeyError), ("", KeyError), (3, TypeError)])
def test_names_are_strings_without_dots(name, error):
    module = nn.Module()
    with pytest.raises(error, match="name"):
        module.register_parameter(name, None)
    with pytest.raises(error, match="name"):
        module.register_buffer(name, None)
    with pytest.raises(error, match="name"):
        module.add_module(name, None)


def test_names_of_other_attributes_are_taken():
    for register in ("register_parameter", "register_buffer", "add_module"):
        with pytest.raises(KeyError, match="attribute 'forward' already exists"):
            getattr(nn.Module(), register)("forward", None)


def test_registered_things_have_the_right_type():
    module = nn.Module()
    with pytest.raises(TypeError, match="object to parameter 'x'"):
        module.register_parameter("x", torch.ones(1))
    with pytest.raises(TypeError, match="object to buffer 'x'"):
        module.register_buffer("x", 3)
    with pytest.raises(TypeError, match="is not a Module subclass"):
        module.add_module("x", 3)


def test_dir_lists_what_is_registered():
    assert {"scale", "first", "count", "forward"} <= set(dir(Net()))


# --- Walks --------------------------------------------------------------------------------------


def test_modules_are_walked_once_unless_duplicates_are_wanted():
    net = Net()
    assert names(net.named_modules()) == ["", "first", "second", "second.0", "second.1"]
    assert "again" in names(net.named_modules(remove_duplicate=False))
    assert "again.weight" in names(net.named_parameters(remove_duplicate=False))
    assert names(net.named_parameters(prefix="p", recurse=False)) == ["p.scale"]


def test_parts_are_found_by_dotted_name():
    net = Net()
    assert net.get_submodule("") is net
    assert net.get_submodule("second.1") is net.second[1]
    assert net.get_parameter("second.1.weight") is net.second[1].weight
    assert net.get_buffer("count") is net.count
    for call in (
        lambda: net.get_submodule("second.7"),
        lambda: net.get_submodule("scale"),
        lambda: net.get_parameter("count"),
        lambda: net.get_buffer("scale"),
    ):
        with pytest.raises(AttributeError):
            call()


def test_apply_visits_children_first():
    seen = []
    Net().apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "ReLU", "Linear", "Sequential", "Net"]


def test_training_mode_reaches_everything():
    net = Net()
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    assert all(module.training for module in net.train().modules())
    with pytest.raises(ValueError, match="boolean"):
        net.train(1)


def test_zero_grad_forgets_or_clears():
    net = Net()
    net(torch.ones(1, 3)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.scale.grad.tolist() == [0.0, 0.0]
    net.zero_grad()
    assert all(param.grad is None for param in net.parameters())


def test_frozen_module_gets_no_gradients():
    net = Net()
    net.first.requires_grad_(False)
    net(torch.ones(1, 3)).sum().backward()
    assert net.first.weight.grad is None
    assert net.second[1].weight.grad is not None


# --- Calling ------------------------------------------------------------------------------------


def test_call_runs_forward_with_all_arguments():
    class Echo(nn.Module):
        def forward(self, *args, **kwargs):
            return args, kwargs

    assert Echo()(1, 2, key=3) == ((1, 2), {"key": 3})


def test_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match='missing the required "forward" function'):
        nn.Module()(1)


# --- Saving -------------------------------------------------------------------------------------


def test_state_dict_names_everything_that_is_saved():
    assert list(Net().state_dict()) == [
        "scale",
        "count",
        "first.weight",
        "first.bias",
        "second.1.weight",
        "again.weight",
        "again.bias",
    ]
    assert list(nn.ReLU().state_dict(prefix="p.")) == []
    assert list(nn.Linear(1, 1).state_dict(prefix="p.")) == ["p.weight", "p.bias"]


def test_state_dict_shares_memory_and_has_no_history():
    layer = nn.Linear(1, 1)
    state = layer.state_dict()
    assert not state["weight"].requires_grad
    assert state["weight"].data_ptr() == layer.weight.data_ptr()
    assert layer.state_dict(keep_vars=True)["weight"] is layer.weight


def test_loading_copies_values_and_keeps_parameters():
    source, target = Net(), Net()
    weight = target.first.weight
    result = target.load_state_dict(source.state_dict())
    assert str(result) == "<All keys matched successfully>"
    assert target.first.weight is weight
    assert weight.tolist() == source.first.weight.tolist()
    assert weight.data_ptr() != source.first.weight.data_ptr()


def test_loading_by_assignment_takes_the_tensors_themselves():
    layer = nn.Linear(1, 1)
    layer.weight.requires_grad_(False)
    value = torch.tensor([[7.0]])
    layer.load_state_dict({"weight": value, "bias": torch.zeros(1)}, assign=True)
    assert type(layer.weight) is nn.Parameter
    assert layer.weight.data_ptr() == value.data_ptr()
    assert not layer.weight.requires_grad
    assert layer.bias.requires_grad


def test_strict_loading_lists_everything_that_is_wrong():
    layer = nn.Linear(2, 1)
    with pytest.raises(RuntimeError) as caught:
        layer.load_state_dict({"weight": torch.ones(3, 1), "other": torch.ones(1)})
    message = str(caught.value)
    assert message.startswith("Error(s) in loading state_dict for Linear:")
    assert 'Missing key(s) in state_dict: "bias"' in message
    assert 'Unexpected key(s) in state_dict: "other"' in message
    assert "size mismatch for weight: copying a param with shape" in message


def test_lenient_loading_returns_what_did_not_match_but_minds_shapes():
    layer = nn.Linear(2, 1)
    result = layer.load_state_dict({"other": 1, "bias": torch.ones(1)}, strict=False)
    assert result.missing_keys == ["weight"]
    assert result.unexpected_keys == ["other"]
    assert layer.bias.tolist() == [1.0]
    with pytest.raises(RuntimeError, match="size mismatch"):
        layer.load_state_dict({"bias": torch.ones(2)}, strict=False)


def test_loading_needs_a_dict_of_tensors():
    with pytest.raises(TypeError, match="dict-like"):
        nn.ReLU().load_state_dict([1])
    with pytest.raises(RuntimeError, match="expected a Tensor"):
        nn.Linear(1, 1).load_state_dict({"weight": 1, "bias": torch.ones(1)})


def test_module_survives_pickling():
    net = Net()
    other = pickle.loads(pickle.dumps(net))
    assert other.state_dict().keys() == net.state_dict().keys()
    assert other.again is other.first
    assert other(torch.ones(1, 3)).tolist() == net(torch.ones(1, 3)).tolist()


# --- Conversion ---------------------------------------------------------------------------------


def test_dtype_conversion_changes_floating_point_only_and_keeps_parameters():
    net = Net()
    weight = net.first.weight
    net(torch.ones(1, 3)).sum().backward()
    assert net.to(torch.float64) is net
    assert net.first.weight is weight
    assert weight.dtype is torch.float64
    assert weight.grad.dtype is torch.float64
    assert weight.requires_grad
    assert net.cache.dtype is torch.float64
    assert net.count.dtype is torch.int64
    assert net.float().scale.dtype is torch.float32


def test_conversion_follows_a_tensor_or_a_device():
    net = Net()
    assert net.to(torch.ones(1, dtype=torch.float64)).scale.dtype is torch.float64
    assert net.to("cpu").scale.dtype is torch.float64
    assert net.to("cpu", torch.float32).scale.dtype is torch.float32


def test_conversion_to_integers_is_a_type_error():
    with pytest.raises(TypeError, match="floating point or complex"):
        Net().to(torch.int64)


def test_sharing_moves_parameters_gradients_and_buffers():
    net = Net()
    weight = net.first.weight
    net(torch.ones(1, 3)).sum().backward()
    state = {name: value.tolist() for name, value in net.state_dict().items()}
    assert net.share_memory() is net
    assert net.first.weight is weight and weight.requires_grad and weight.grad.is_shared()
    assert all(t.is_shared() for t in (*net.parameters(), *net.buffers()))
    assert {name: value.tolist() for name, value in net.state_dict().items()} == state


def test_sharing_of_a_parameter_that_stands_twice_moves_it_once():
    tied = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    tied[1].weight = tied[0].weight
    assert tied.share_memory()[1].weight is tied[0].weight
    assert tied[0].weight.is_shared()


# --- Text ---------------------------------------------------------------------------------------


def test_text_shows_the_tree():
    assert repr(Net()) == (
        "Net(\n"
        "  (first): Linear(in_features=3, out_features=4, bias=True)\n"
        "  (second): Sequential(\n"
        "    (0): ReLU()\n"
        "    (1): Linear(in_features=4, out_features=2, bias=False)\n"
        "  )\n"
        "  (again): Linear(in_features=3, out_features=4, bias=True)\n"
        ")"
    )


def test_text_puts_extra_lines_before_children():
    class Noted(nn.Sequential):
        def extra_repr(self):
            return "one\ntwo"

    assert repr(Noted(nn.ReLU())) == "Noted(\n  one\n  two\n  (0): ReLU()\n)"


# --- Containers ---------------------------------------------------------------------------------


def test_sequential_runs_indexes_slices_and_shrinks():
    model = nn.Sequential(nn.Flatten(), nn.ReLU(), nn.Tanh())
    assert isinstance(model[-1], nn.Tanh)
    assert [type(part) for part in model[:2]] == [nn.Flatten, nn.ReLU]
    model[1] = nn.Sigmoid()
    del model[0]
    assert list(model._modules) == ["0", "1"]
    assert isinstance(model[0], nn.Sigmoid)
    with pytest.raises(IndexError, match="out of range"):
        model[2]


def test_sequential_of_a_dict_keeps_names():
    model = nn.Sequential({"act": nn.ReLU(), "out": nn.Tanh()})
    assert isinstance(model.act, nn.ReLU)
    assert names(model.named_children()) == ["act", "out"]


def test_module_list_behaves_like_a_list():
    layers = nn.ModuleList([nn.Linear(1, 1), nn.ReLU()])
    layers.insert(1, nn.Tanh())
    layers.append(nn.Sigmoid())
    assert [type(part).__name__ for part in layers] == ["Linear", "Tanh", "ReLU", "Sigmoid"]
    assert len(layers[1:]) == 3
    assert "0.weight" in names(layers.named_parameters())
    with pytest.raises(NotImplementedError):
        layers(1)


def test_module_dict_behaves_like_a_dict():
    parts = nn.ModuleDict({"a": nn.ReLU()})
    parts["b"] = nn.Linear(1, 1)
    assert list(parts) == ["a", "b"]
    assert "b.weight" in names(parts.named_parameters())
    assert isinstance(parts.pop("a"), nn.ReLU)
    del parts["b"]
    assert len(parts) == 0
