"""Modules: calls of the Python layer (`autograd_cy`)."""

import copy
import math

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    differs,
    error_name,
    gradients,
    iota,
    metadata,
    sines,
    with_warnings,
)

# What modules own.
nn.Module().register_parameter("a", torch.zeros(1))
nn.Module().register_parameter("a", (nn.Parameter(torch.zeros(1)) * 1))

def register_parameter_parameters():
    m = nn.Module()
    m.register_parameter("a", None)
    return [m.a, [*m.parameters()], [*m.state_dict()]]

nn.Module().register_parameter("a.b", None)
nn.Module().register_parameter("", None)
nn.Module().register_parameter(3, None)
nn.Module().register_parameter("forward", None)
nn.Module().register_buffer("a", 3)
nn.Module().register_buffer("a.b", None)
nn.Module().register_buffer("", None)
nn.Module().register_buffer(3, None)
nn.Module().register_buffer("forward", None)
nn.Module().add_module("a", torch.zeros(1))
nn.Module().add_module("a.b", None)
nn.Module().add_module("", None)
nn.Module().add_module(3, None)
nn.Module().add_module("forward", None)

def register_buffer_state_dict():
    m = nn.Module()
    m.register_buffer("a", torch.zeros(1))
    m.register_buffer("a", torch.ones(1), persistent=False)
    return [m.a, [*m.state_dict()], m.register_buffer("a", torch.ones(1)), [*m.state_dict()]]

def register_buffer_persistent():
    m = nn.Module()
    m.register_buffer("a", torch.zeros(1), persistent=False)
    del m.a
    m.register_buffer("a", torch.ones(1))
    return [[*m.state_dict()], m.a]

def persistent_named_buffers():
    m = nn.Module()
    m.register_buffer("a", torch.zeros(1), persistent=False)
    m.a = nn.Parameter(torch.ones(1))
    return [[*m.state_dict()], [*m.named_buffers()], len(m._non_persistent_buffers_set)]

def named_children_named_parameters():
    m = nn.Module()
    m.a = nn.Parameter(torch.zeros(1))
    return [error_name(setattr, m, "a", nn.Linear(1, 1)), [*m.state_dict()],
        [n for n, _ in m.named_children()], [n for n, _ in m.named_parameters()]]

def parameter_setattr():
    m = nn.Module()
    m.a = nn.Parameter(torch.zeros(1))
    return setattr(m, "a", nn.Linear(1, 1))

def state_dict_named_children():
    m = nn.Module()
    m.a = nn.Linear(1, 1)
    m.a = nn.Parameter(torch.zeros(2))
    return [[*m.state_dict()], [n for n, _ in m.named_children()]]

def parameter_vars():
    m = nn.Module()
    m.a = 3
    m.a = nn.Parameter(torch.zeros(2))
    return ["a" in vars(m), m.a]

def persistent_named_buffers_2():
    m = nn.Module()
    m.a = nn.Parameter(torch.zeros(2))
    return [error_name(setattr, m, "a", nn.Buffer(torch.ones(2), persistent=False)),
        [*m.state_dict()], [n for n, _ in m.named_buffers()], [n for n, _ in m.named_parameters()]]

def buffer_persistent():
    m = nn.Module()
    m.a = nn.Parameter(torch.zeros(2))
    return setattr(m, "a", nn.Buffer(torch.ones(2), persistent=False))

def buffer_state_dict():
    m = nn.Module()
    m.a = nn.Buffer(torch.ones(2))
    m.a = torch.zeros(3)
    return [[*m.state_dict()], m.a, type(m.a).__name__]

def register_buffer_buffers():
    m = nn.Module()
    m.register_buffer("a", torch.zeros(1))
    m.a = None
    return [m.a, "a" in m._buffers, [*m.state_dict()]]

def module_register_buffer():
    m = nn.Module()
    m.register_buffer("a", torch.zeros(1))
    m.a = 3
    return None

def weight_linear():
    m = nn.Linear(1, 1)
    m.weight = torch.zeros(1, 1)
    return None

def weight_parameters():
    m = nn.Linear(1, 1)
    m.weight = None
    return [m.weight, "weight" in m._parameters, [*m.state_dict()]]

def setattr_modules():
    m = nn.Sequential(nn.Linear(1, 1))
    setattr(m, "0", None)
    return [len(m), [*m.state_dict()], [*m.modules()][1:]]

def sequential_setattr():
    m = nn.Sequential(nn.Linear(1, 1))
    setattr(m, "0", 3)
    return None

def init_parameter():
    class M(nn.Module):
        def __init__(self):
            self.a = nn.Parameter(torch.zeros(1))
    return M()

def module_init():
    class M(nn.Module):
        def __init__(self):
            self.a = nn.Linear(1, 1)
    return M()

def init_register_buffer():
    class M(nn.Module):
        def __init__(self):
            self.register_buffer("a", None)
    return M()

error_name(lambda: nn.Linear(1, 1).nothing)

def weight_linear_2():
    m = nn.Linear(1, 1)
    del m.weight
    return error_name(lambda: m.weight)

def linear_delattr():
    m = nn.Linear(1, 1)
    return error_name(lambda: delattr(m, "nothing"))

def sequential_count():
    m = nn.Sequential(nn.Linear(1, 1))
    del m[0]
    return [len(m), dir(m).count("0"), error_name(lambda: m[0])]

"weight" in dir(nn.Linear(1, 1))
"0" in dir(nn.Sequential(nn.ReLU()))
dir(nn.ReLU()) == sorted(dir(nn.ReLU()))

def batch_norm1d_dir():
    m = nn.BatchNorm1d(1)
    return ["running_mean" in dir(m), "weight" in dir(m), "training" in dir(m), "train" in dir(m)]

# Walks.
def part_named_modules():
    part = nn.Linear(1, 1)
    m = nn.Sequential(part, part, nn.Sequential(part, nn.ReLU()))
    return [[n for n, _ in m.named_modules()], [n
        for n, _ in m.named_modules(remove_duplicate=False)], len([*m.modules()]),
        [n for n, _ in m.named_children()], len([*m.children()])]

def part_named_parameters():
    part = nn.Linear(1, 1)
    m = nn.Sequential(part, part)
    return [[n for n, _ in m.named_parameters()],
        [n for n, _ in m.named_parameters(remove_duplicate=False)],
        [n for n, _ in m.named_parameters("p", False)],
        [n for n, _ in part.named_parameters("p", False)]]

def named_buffers_recurse():
    m = nn.Sequential(nn.BatchNorm1d(1))
    return [[n for n, _ in m.named_buffers()], [n for n, _ in m.named_buffers("p")],
        [n for n, _ in m.named_buffers(recurse=False)], len([*m.buffers(False)]),
        len([*m.buffers()]), len([*m.parameters(False)])]

def named_parameters_remove_duplicate():
    p = nn.Parameter(torch.zeros(1))
    m = nn.ParameterList([p, p])
    return [len([*m.parameters()]), len([*m.named_parameters(remove_duplicate=False)])]

def named_modules_children():
    m = nn.Sequential(nn.ReLU())
    m.register_module("no", None)
    return [len([*m.modules()]), len([*m.children()]), [n for n, _ in m.named_modules(prefix="p")],
        m.no]

def sequential_get_submodule():
    m = nn.Sequential(nn.Sequential(nn.ReLU()))
    return [m.get_submodule("") is m, m.get_submodule("0.0"), error_name(m.get_submodule, "0.1"),
        error_name(m.get_submodule, "0.training")]

nn.Sequential(nn.ReLU()).get_submodule("0.x")
nn.Linear(1, 1).get_submodule("weight")
nn.Linear(1, 1).get_parameter("no")
nn.Linear(1, 1).get_parameter("training")
nn.BatchNorm1d(1).get_parameter("running_mean")
nn.BatchNorm1d(1).get_buffer("weight")
nn.BatchNorm1d(1).get_buffer("no")
nn.Sequential(nn.BatchNorm1d(1)).get_buffer("0.running_var")
nn.Sequential(nn.BatchNorm1d(1)).get_parameter("0.weight").shape[0]

def set_submodule_tanh():
    m = nn.Sequential(nn.ReLU())
    m.set_submodule("0", nn.Tanh())
    m.set_submodule("new", nn.Tanh())
    return m

nn.Sequential(nn.ReLU()).set_submodule("", nn.Tanh())
nn.Sequential(nn.ReLU()).set_submodule("1", nn.Tanh(), strict=True)
nn.Sequential(nn.ReLU()).set_submodule("0", torch.zeros(1))
nn.Linear(1, 1).set_submodule("weight", nn.Tanh())
nn.Sequential(nn.ReLU()).set_submodule("0.0.0", nn.Tanh())
nn.Linear(1, 1).train(1)

def training_modules():
    m = nn.Sequential(nn.ReLU(), nn.Sequential(nn.ReLU()))
    m.eval()
    return [[x.training for x in m.modules()], m.train() is m, [x.training for x in m.modules()]]

def order_tanh():
    order = []
    m = nn.Sequential(nn.ReLU(), nn.Tanh())
    m.apply(lambda x: order.append(type(x).__name__))
    return order

def linear_weight():
    m = nn.Linear(1, 1)
    m.requires_grad_(False)
    return [metadata(m.weight)[:2], metadata(m.requires_grad_().weight)[:2]]

def zero_grad_weight():
    m = nn.Linear(1, 1)
    m(torch.zeros(1)).sum().backward()
    m.zero_grad(False)
    return [m.weight.grad, m.zero_grad(), m.weight.grad]

nn.Module()(1)

# Their text.
nn.Sequential(nn.Linear(1, 2), nn.Sequential(nn.ReLU(), nn.Sequential()))
nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh(), nn.ReLU()])
nn.ModuleList([])
nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})

def module_extra_repr():
    class M(nn.Module):
        def extra_repr(self):
            return "one\ntwo"
    return M()

def extra_repr_part():
    class M(nn.Module):
        def extra_repr(self):
            return "one"
        def __init__(self):
            super().__init__()
            self.part = nn.ReLU()
    return M()

# State.
def load_state_dict_strict():
    m = nn.Linear(1, 1)
    return [m.load_state_dict(m.state_dict()), m.load_state_dict({}, strict=False),
        m.load_state_dict({**m.state_dict(), "x": torch.zeros(1)}, strict=False)]

nn.Linear(1, 1).load_state_dict({})
nn.Linear(1, 1, False).load_state_dict({"weight": torch.zeros(1, 1), "more": torch.zeros(1)})
nn.Linear(1, 1, False).load_state_dict({"weight": torch.zeros(2, 1)})
nn.Linear(1, 1, False).load_state_dict({"weight": 3})
nn.Linear(1, 1).load_state_dict([])

def unexpected_keys_strict():
    m = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    return m.load_state_dict({"0.weight": torch.zeros(1, 1), "0.bias": torch.zeros(1), "0.x": 1,
        "1.x": 1, "2.x": 1, "x": 1, "": 1}, strict=False).unexpected_keys

def load_state_dict_strict_2():
    m = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    return m.load_state_dict({"0.weight": torch.ones(1, 1), "0.bias.x": 1}, strict=False)

def weight_assign():
    m = nn.Linear(1, 1)
    old = m.weight
    m.load_state_dict({"weight": torch.tensor([[3.0]]), "bias": torch.tensor([2.0])}, assign=True)
    return [m.weight is old, m.weight, metadata(m.weight)[:2], type(m.weight).__name__]

def weight_load_state_dict():
    m = nn.Linear(1, 1)
    old = m.weight
    m.load_state_dict({"weight": torch.tensor([[3.0]]).double(), "bias": torch.tensor([2.0])})
    return [m.weight is old, m.weight, metadata(m.weight)]

def bias_assign():
    m = nn.Linear(1, 1, device="meta")
    m.load_state_dict({"weight": torch.tensor([[3.0]]), "bias": torch.tensor([2.0])}, assign=True)
    return m.bias

def state_dict_keep_vars():
    m = nn.Linear(1, 1)
    found = m.state_dict(prefix="p.", keep_vars=True)
    return [[*found], found["p.weight"] is m.weight, m.state_dict()["weight"] is m.weight,
        m.state_dict()["weight"].requires_grad]

def prefix_metadata():
    m = nn.Sequential(nn.BatchNorm1d(1))
    found = m.state_dict(prefix="p.")
    return [[*found], [*found._metadata], found._metadata["p.0"]]

def given_with_warnings():
    m = nn.Linear(1, 1)
    given = {}
    return with_warnings(lambda: [m.state_dict(given, "q.") is given, [*given]])

def with_warnings_state_dict():
    m = nn.Linear(1, 1)
    return with_warnings(lambda: m.state_dict(None, "", True)["weight"] is m.weight)

class M(nn.Module):
    def get_extra_state(self):
        return 5
    def set_extra_state(self, state):
        self.got = state

def dict_strict():
    m = M()
    return [dict(m.state_dict()), m.load_state_dict({"_extra_state": 7}), m.got,
        m.load_state_dict({}, strict=False)]

M().load_state_dict({})

def get_extra_state_load_state_dict():
    class M(nn.Module):
        def get_extra_state(self):
            return 5
    return error_name(lambda: M().load_state_dict(M().state_dict()))

def set_extra_state_dict():
    class M(nn.Module):
        def set_extra_state(self, state):
            self.got = state
    return [dict(M().state_dict()), error_name(lambda: M().load_state_dict({}))]

nn.Module().get_extra_state()
nn.Module().set_extra_state(1)
nn.Linear(1, 1).load_state_dict({"weight": torch.zeros(1, 1), "bias": torch.zeros(1),
    "_extra_state": 1})

def linear_load_state_dict():
    m = nn.Linear(1, 1)
    m.register_load_state_dict_post_hook(lambda m, keys: 1)
    return m.load_state_dict(m.state_dict())

def clear_missing_keys():
    m = nn.Linear(1, 1)
    m.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    return m.load_state_dict({})

def keys_prefix():
    m = nn.Linear(1, 1)
    seen = []
    m.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append((prefix, keep)))
    m.register_state_dict_post_hook(lambda m, found, prefix,
        local: seen.append((len(found), prefix, local)))
    return [m.state_dict(prefix="p.").keys() == {"p.weight", "p.bias"}, seen]

def seen_prefix():
    m = nn.Sequential(nn.Linear(1, 1, False))
    seen = []
    m[0].register_load_state_dict_pre_hook(lambda m, state, prefix,
        *rest: seen.append((type(m).__name__, sorted(state), prefix, rest)))
    m.load_state_dict({"0.weight": torch.zeros(1, 1), "x": 1}, strict=False)
    return seen

def words(*arguments, **options):
    try:
        nn.Sequential(nn.Linear(1, 1)).load_state_dict(*arguments, **options)
    except RuntimeError as error:
        return str(error)

with differs("The words are ours."):
    words({})
    words({"0.bias": torch.zeros(1), "a": 1, "0.b": 2})
    words({"0.weight": 3, "0.bias": torch.zeros(2)})
    words({"0.weight": torch.zeros(2, 1), "a": 1}, strict=False)
    words({"a": 1}, strict=False)
    words({"0.weight": torch.zeros(1)}, False, True)

# Conversion.
def weight_double():
    m = nn.Linear(1, 1)
    m(torch.ones(1)).sum().backward()
    p = m.weight
    m.double()
    return [m.weight is p, m.weight.dtype is torch.float64, m.weight.grad.dtype is torch.float64,
        metadata(m.weight)[:2]]

def num_batches_tracked_running_var():
    m = nn.BatchNorm1d(1)
    m.to(torch.float64)
    return [m.running_mean.dtype is torch.float64, m.num_batches_tracked.dtype is torch.int64,
        m.half().running_var.dtype is torch.float16, m.bfloat16().weight.dtype is torch.bfloat16,
        m.float().weight.dtype is torch.float32]

nn.Linear(1, 1).to(torch.int64)
nn.Linear(1, 1).to(torch.complex64).weight.dtype is torch.complex64
nn.Linear(1, 1).to(torch.zeros(1, dtype=torch.float64)).weight.dtype is torch.float64
nn.Linear(1, 1).to("meta").weight.is_meta
nn.Linear(1, 1).to("cpu", torch.float64, True).bias.dtype is torch.float64
nn.Linear(1, 1).to(dtype=torch.float64).weight.dtype is torch.float64
nn.Linear(1, 1).to(device="meta").weight.is_meta
nn.Linear(1, 1).to(tensor=torch.zeros(1, dtype=torch.float64)).weight.dtype is torch.float64
[x.is_contiguous(memory_format=torch.channels_last)
    for x in [nn.Conv2d(2, 2, 2).to(memory_format=torch.channels_last).weight,
    nn.Conv2d(2, 2, 2).to(torch.float64, memory_format=torch.channels_last).weight,
    nn.Conv2d(2, 2, 2).weight]]
nn.BatchNorm1d(1).type(torch.float64).running_mean.dtype is torch.float64
nn.BatchNorm1d(1).type(torch.float64).num_batches_tracked.dtype is torch.float64

def is_meta_to_empty():
    m = nn.Sequential(nn.Linear(1, 1))
    return [m.to_empty(device="meta")[0].weight.is_meta,
        nn.Sequential(nn.Linear(1, 1)).to_empty(device="meta", recurse=False)[0].weight.is_meta]

def part_calls():
    part = nn.Linear(1, 1)
    m = nn.Sequential(part, part)
    calls = []
    m._apply(lambda x: (calls.append(1), x)[1])
    return len(calls)

def share_memory_is_shared():
    m = nn.Linear(1, 1)
    m(torch.ones(1)).sum().backward()
    m.share_memory()
    return [m.weight.is_shared(), m.weight.grad.is_shared()]

def is_shared_running_mean():
    m = nn.Sequential(nn.BatchNorm1d(1))
    m.share_memory()
    return [m[0].running_mean.is_shared(), m[0].weight.is_shared()]

# Containers.
def tanh_sigmoid():
    m = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    return [m[1:], m[-1], len(m[:0]), m[::2]]

nn.Sequential(nn.ReLU())[1]
nn.Sequential(nn.ReLU())[-2]

def tanh_sigmoid_2():
    m = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    del m[0]
    m[1] = nn.ELU()
    return m

def tanh_sigmoid_3():
    m = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    del m[1:]
    return m

def insert_sigmoid():
    m = nn.Sequential(nn.ReLU())
    m.insert(0, nn.Tanh())
    m.insert(-1, nn.ELU())
    m.insert(3, nn.Sigmoid())
    return m

nn.Sequential(nn.ReLU()).insert(3, nn.Tanh())
nn.Sequential(nn.ReLU()).insert(0, 1)

def sequential_tanh():
    m = nn.Sequential(nn.ReLU(), nn.Tanh())
    return [m.pop(0), m.pop(-1), len(m)]

nn.Sequential(nn.ReLU()) + nn.Sequential(nn.Tanh())
nn.Sequential(nn.ReLU()) * 2
2 * nn.Sequential(nn.ReLU())
nn.Sequential(nn.ReLU()) * 0
nn.Sequential(nn.ReLU()) * 1.0
nn.Sequential(nn.ReLU()) + 1

def sequential_tanh_2():
    m = nn.Sequential(nn.ReLU())
    m += nn.Sequential(nn.Tanh())
    m *= 2
    return m

def sequential_re_lu():
    m = nn.Sequential(nn.ReLU())
    m *= 0
    return None

def extend_tanh():
    m = nn.Sequential(nn.ReLU())
    m.append(nn.Tanh()).extend([nn.ELU()])
    return m

def ordered_dict_tanh():
    from collections import OrderedDict
    m = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
    return [m, m[0], m.a, [*m]]

nn.Sequential()(torch.zeros(1))

def module_list_tanh():
    m = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    return [m[-1], m[:1], len(m), [*m], error_name(m.forward, 1)]

@differs("Places from the end; torch has none.")
def insert_gelu():
    m = nn.ModuleList([nn.ReLU()])
    m.insert(0, nn.Tanh())
    m.insert(-1, nn.ELU())
    m += [nn.Sigmoid()]
    m[0] = nn.GELU()
    del m[1]
    return m

def module_list_tanh_2():
    m = nn.ModuleList([nn.ReLU(), nn.Tanh(), nn.ELU()])
    del m[::2]
    return [m, m.pop(0), len(m)]

nn.ModuleList([nn.ReLU()]) + [nn.Tanh()]
[*map(len, [nn.ModuleList([nn.ReLU()]).extend([nn.Tanh()]), nn.ModuleList()])]
nn.ModuleList([nn.ReLU()])[1]
nn.ModuleList([nn.ReLU()])[-2]
nn.ModuleList([1])
nn.ModuleList().extend(3)

def keys_items():
    m = nn.ModuleDict([["a", nn.ReLU()], ["b", nn.Tanh()]])
    return ["a" in m, len(m), [*m], [*m.keys()], [n for n, _ in m.items()], [*m.values()],
        m.pop("a"), [*m], m.clear(), len(m)]

def module_dict_gelu():
    m = nn.ModuleDict({"a": nn.ReLU()})
    m.update(nn.ModuleDict({"b": nn.Tanh(), "a": nn.ELU()}))
    m["c"] = nn.GELU()
    del m["b"]
    return m

nn.ModuleDict().update(3)
nn.ModuleDict().update([3])
nn.ModuleDict().update([["a", nn.ReLU(), 1]])
nn.ModuleDict()["no"]

def parameter_list_named_parameters():
    m = nn.ParameterList([nn.Parameter(torch.zeros(1)), torch.ones(2), 3])
    return [len(m), [type(x).__name__ for x in m], m[-1], len(m[1:]),
        [n for n, _ in m.named_parameters()], len(m[:2])]

def parameter_list_extend():
    m = nn.ParameterList([torch.zeros(1)])
    m.append(5)
    m += [torch.ones(1)]
    m.extend((1, 2))
    m[0] = torch.ones(3)
    return [len(m), m[0].shape[0], type(m[0]).__name__, m[-1]]

nn.ParameterList([torch.zeros(1)])[1]
nn.ParameterList([torch.zeros(1)])[-2]
nn.ParameterList([torch.zeros(1)])("x")
nn.ParameterList().extend(nn.Linear(1, 1))

def popitem_keys():
    m = nn.ParameterDict({"a": 3, "b": torch.zeros(1)})
    return [[*m], m["a"], type(m["b"]).__name__, len(m), "a" in m, m.get("c"), m.get("c", 4),
        m.pop("a"), [*m.keys()], m.popitem()[0], len(m)]

def setdefault_reversed():
    m = nn.ParameterDict({"b": torch.zeros(1)})
    return [m.setdefault("b", 3).shape[0], m.setdefault("c", 4), m.setdefault("d"), [*m],
        [*reversed(m)], [*m.copy()]]

# A dictionary is taken in the order of its names.
def parameter_dict_fromkeys():
    m = nn.ParameterDict({"b": 1, "a": 2})
    m.update({"d": 1, "c": 2})
    m.update([("f", 1), ("e", 2)])
    m.update(nn.ParameterDict([("h", 1), ("g", 2)]))
    return [[*m], [*m.copy()], [*m.fromkeys(["z", "y"])], [*(m | {"j": 1, "i": 2})],
        [*({"b": 1, "a": 2} | nn.ParameterDict())],
        [*nn.ModuleDict({"b": nn.ReLU(), "a": nn.ReLU()})]]

[repr(nn.Buffer(torch.tensor([1.0]))), repr(copy.deepcopy(nn.Buffer(torch.tensor([1]))))]
[*(nn.ParameterDict({"a": 1}) | nn.ParameterDict({"b": 2, "a": 3})).items()]
[*({"b": 2, "a": 3} | nn.ParameterDict({"a": 1})).items()]

def parameter_dict_clear():
    m = nn.ParameterDict({"a": 1})
    m |= nn.ParameterDict({"b": torch.zeros(1)})
    m.update([("c", 2)])
    del m["a"]
    return [[*m], m.clear(), len(m)]

[*nn.ParameterDict().fromkeys(["a", "b"], 3).items()]
nn.ParameterDict().update(3)
nn.ParameterDict().update([3])
nn.ParameterDict().update([["a", 1, 2]])
error_name(lambda: nn.ParameterDict()["a"])
nn.ParameterDict({"a": torch.zeros(1)})("x")
nn.ParameterDict({3: torch.zeros(1)})
[repr(x).replace("autograd_cy", "torch").split("\n")
    for x in (nn.ParameterList([torch.zeros(2, 1), 3]),
    nn.ParameterDict({"a": torch.zeros(2, 1), "b": 3}))]

# Parameters.
def parameter_data():
    p = nn.Parameter(torch.ones(2))
    return [p, metadata(p), metadata(nn.Parameter(torch.ones(2), False)),
        metadata(nn.Parameter(p * 2)), nn.Parameter().shape[0], type(p.data).__name__,
        type(p * 1).__name__]

with differs("What isn't a tensor is a TypeError."):
    nn.Parameter(3)

def parameter_deepcopy():
    import copy
    p = nn.Parameter(torch.ones(2), False)
    q = copy.deepcopy(p)
    return [type(q).__name__, q.requires_grad, q is p, q]

def buffer_persistent_2():
    b = nn.Buffer(torch.ones(2))
    return [b.persistent, metadata(b), nn.Buffer(torch.ones(1), persistent=False).persistent,
        isinstance(torch.ones(1), nn.Buffer), isinstance(torch.ones(1), nn.Parameter)]

# Hooks.
def register_forward_hook_given():
    m = nn.ReLU()
    m.register_forward_pre_hook(lambda m, given: given[0] + 1)
    m.register_forward_pre_hook(lambda m, given: (given[0] * 2,))
    m.register_forward_hook(lambda m, given, found: found + given[0])
    return m(torch.tensor([1.0]))

def prepend_given():
    m = nn.ReLU()
    m.register_forward_pre_hook(lambda m, given: given[0] + 1)
    m.register_forward_pre_hook(lambda m, given: (given[0] * 2,), prepend=True)
    return m(torch.tensor([1.0]))

def with_kwargs_named():
    class M(nn.Module):
        def forward(self, x, k=1):
            return x * k
    m = M()
    m.register_forward_pre_hook(lambda m, given, named: (given, {"k": 5}), with_kwargs=True)
    m.register_forward_hook(lambda m, given, named, found: found + named["k"], with_kwargs=True)
    return m(torch.tensor([1.0]), k=2)

def re_lu_with_kwargs():
    m = nn.ReLU()
    m.register_forward_pre_hook(lambda m, given, named: 3, with_kwargs=True)
    return m(torch.tensor([1.0]))

def seen_always_call():
    class M(nn.Module):
        def forward(self, x):
            raise KeyError(3)
    m, seen = M(), []
    m.register_forward_hook(lambda m, given, found: seen.append(found), always_call=True)
    return [error_name(m, 1), seen]

def handle_remove():
    m = nn.ReLU()
    handle = m.register_forward_hook(lambda m, given, found: found * 3)
    before = m(torch.tensor([1.0]))
    handle.remove()
    return [before, m(torch.tensor([1.0])), handle.remove()]

def inner_outer():
    m, seen = nn.Linear(1, 1), []
    m.register_full_backward_hook(lambda m, inner, outer: seen.append((inner, outer)))
    m.weight.data.fill_(2.0)
    m(torch.ones(1, requires_grad=True)).backward()
    return seen

def inner_outer_2():
    m, seen = nn.Linear(1, 1), []
    m.register_full_backward_hook(lambda m, inner, outer: (inner[0] * 3,))
    m.register_full_backward_pre_hook(lambda m, outer: (outer[0] * 5,))
    m.weight.data.fill_(2.0)
    x = torch.ones(1, requires_grad=True)
    m(x).backward()
    return [x.grad, m.weight.grad]

def inner_outer_3():
    m, seen = nn.Linear(1, 1), []
    m.register_full_backward_hook(lambda m, inner, outer: seen.append((inner, outer)))
    m(torch.ones(1)).backward()
    return seen

def linear_register_backward_hook():
    m = nn.Linear(1, 1)
    m.register_full_backward_hook(lambda m, inner, outer: None)
    return m.register_backward_hook(lambda m, inner, outer: None)

def register_backward_hook_register_full_backward_hook():
    m = nn.Linear(1, 1)
    m.register_backward_hook(lambda m, inner, outer: None)
    return m.register_full_backward_hook(lambda m, inner, outer: None)

# Modules at their limits.
nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2])(torch.ones(2, 3, 4), torch.zeros(2, 3, dtype=torch.int64))
nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2])(torch.ones(2, 4), torch.zeros(3, dtype=torch.int64))
nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2])(torch.ones(4), torch.tensor(6))
nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2])(torch.ones(2, 4), torch.tensor([-1, 3]))
nn.Bilinear(1, 1, 2).weight.shape
nn.Bilinear(0, 2, 3)
[F.interpolate(sines(1, 2, 7, 5), size, mode=mode, antialias=True, align_corners=align).sum((0, 1))
    for size in ((3, 2), (9, 5), (1, 8)) for mode in ("bilinear", "bicubic")
    for align in (False, True)]
[F.interpolate(sines(1, 1, 6, 7), scale_factor=scale, mode=mode, antialias=True).sum(1)
    for scale in ((0.5, 0.4), (1.5, 0.7)) for mode in ("bilinear", "bicubic")]
[F.interpolate(sines(2, 1, 6, 7), scale_factor=(0.5, 0.4), mode=mode, antialias=True,
    recompute_scale_factor=True).sum(1) for mode in ("bilinear", "bicubic")]
F.interpolate(torch.ones(1, 1, 4, 4, dtype=torch.int32), 2, mode="bilinear", antialias=True)
F.interpolate(torch.ones(1, 0, 4, 4), 2, mode="bilinear", antialias=True)
F.interpolate(torch.ones(1, 1, 4, 4), (0, 2), mode="bilinear", antialias=True)
gradients(lambda x: F.interpolate(x, (3, 2), mode="bicubic", antialias=True), sines(1, 2, 4, 5))
F.embedding(torch.tensor([0, 1]), sines(2, 2), padding_idx=-3)
F.embedding(torch.tensor([0, 1]), sines(2, 2), padding_idx=2)
[*gradients(lambda x: F.embedding(torch.tensor([0, 1, 1]), x, padding_idx=-2), sines(2, 2)),
    *gradients(lambda x: F.embedding(torch.tensor([0, 1, 1]), x, padding_idx=1), sines(2, 2))]
F.embedding_bag(torch.tensor([[0, 1], [1, 2]]), sines(3, 2), per_sample_weights=sines(2, 2),
    mode="sum")
F.embedding_bag(torch.tensor([[0, 1], [1, 2]]), sines(3, 2), per_sample_weights=sines(2, 2).mT,
    mode="sum", include_last_offset=True)
with_warnings(F.dropout2d, torch.ones(2, 3), 0.5, False)
with_warnings(F.dropout2d, torch.ones(2, 3, 1), 0.5, False)
with_warnings(F.dropout2d, torch.ones(1, 2, 3, 1), 0.5, False)
with_warnings(F.dropout3d, torch.ones(2, 3), 0.5, False)
with_warnings(F.dropout3d, torch.ones(2, 3, 1, 1), 0.5, False)
F.dropout(torch.ones(1), 1.0)
F.dropout1d(torch.ones(1, 1, 1), 1.0)
F.dropout2d(torch.ones(1, 1, 1, 1), 1.0)
F.alpha_dropout(torch.ones(1), 1.0)
F.feature_alpha_dropout(torch.ones(1, 1), 1.0)
error_name(F.dropout, torch.ones(1, requires_grad=True), 0.5, True, True)
error_name(F.dropout2d, torch.ones(1, 1, 1, 1, requires_grad=True), 0.5, True, True)
error_name(F.alpha_dropout, torch.ones(1, requires_grad=True), 0.5, True, True)
nn.init.eye_(sines(2, 3) + 5)
bool((nn.init.kaiming_normal_(torch.ones(1, 1)) != 1).all())
bool((nn.init.kaiming_uniform_(torch.ones(1, 1)) != 1).all())
bool((nn.init.xavier_normal_(torch.ones(1, 1)) != 1).all())
bool((nn.init.orthogonal_(torch.zeros(1, 1)) != 0).all())
with_warnings(nn.init.kaiming_normal_, torch.ones(0, 1))
with_warnings(nn.init.kaiming_uniform_, torch.ones(0, 1))
nn.CircularPad1d(1)(torch.ones(3))
nn.CircularPad2d(1)(torch.ones(3))
nn.CircularPad3d(1)(torch.ones(2, 2))
nn.ReflectionPad1d(1)(torch.ones(3))
nn.CircularPad1d(1)(iota(1, 3))
nn.CircularPad1d(1)(iota(1, 1, 3))
nn.CircularPad3d((1, 0, 0, 0, 0, 0))(iota(1, 1, 1, 3))

def layer_set_to_none():
    layer = nn.Linear(2, 1, bias=False)
    layer(torch.ones(2)).pow(2).sum().backward(create_graph=True)
    before = layer.weight.grad.grad_fn is not None
    layer.zero_grad(set_to_none=False)
    return [before, layer.weight.grad.grad_fn, layer.weight.grad.requires_grad, layer.weight.grad]

def grads_into():
    class Two(nn.Module):
        def forward(self, a, b):
            self.seen = a.requires_grad, b.requires_grad, b.is_leaf
            return a * b, b + 1
    m2 = Two()
    grads = []
    m2.register_full_backward_hook(lambda module, into, outof: grads.extend([*into, *outof]))
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y, z = m2(x, torch.tensor([3.0, 4.0]))
    y.sum().backward()
    return [m2.seen, y.requires_grad, z.requires_grad, x.grad, *grads]

@differs(
    "Hooks let tangents pass, which those of torch refuse; each of two arguments may have one.")
def moved_recorded():
    class Two(nn.Module):
        def forward(self, a, b):
            return a * b, b + 1
    AD = torch.autograd.forward_ad
    def moved(recorded, *duals):
        m2 = Two()
        m2.register_full_backward_hook(lambda module, into, outof: None)
        xs = [torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])]
        with AD.dual_level():
            xs = [x.requires_grad_(i in recorded) for i, x in enumerate(xs)]
            xs = [AD.make_dual(x, x + 1) if i in duals else x for i, x in enumerate(xs)]
            return [AD.unpack_dual(y).tangent for y in m2(*xs)]
    return [moved([0], 0), moved([0], 1), moved([0], 0, 1), moved([1], 0), moved([1], 1),
        moved([0, 1], 0), moved([0, 1], 0, 1), moved([], 1)]

F.embedding_bag(torch.tensor([0, 1]), sines(3, 2), torch.tensor([0]), mode="max",
    scale_grad_by_freq=True)
F.affine_grid(sines(1, 2, 2), (1, 1, 2, 2))
F.affine_grid(sines(2, 3), (1, 1, 2, 2))
F.affine_grid(sines(1, 1, 2, 3), (1, 1, 2, 2))
F.gaussian_nll_loss(sines(3), sines(3, phase=1), 0.0)
F.gaussian_nll_loss(sines(3), sines(3, phase=1), torch.zeros(3, dtype=torch.float64), full=True)
F.gaussian_nll_loss(sines(3), sines(3, phase=1), 0.5, reduction="none")
F.gaussian_nll_loss(sines(3), sines(3), -1.0)
F.gaussian_nll_loss(sines(3), sines(3), torch.ones(3), reduction="unheard")
gradients(lambda g: F.grid_sample(sines(1, 2, 3, 4), g, "nearest", "border", False),
    sines(1, 2, 2, 2))
gradients(lambda g: F.grid_sample(sines(1, 1, 2, 3, 2), g, "nearest", "zeros", True),
    torch.tensor([[[[[0.2, -3.0, 0.7]]]]], dtype=torch.float64))
gradients(lambda g: F.grid_sample(sines(1, 1, 3, 3), g, "nearest", "reflection", False),
    torch.tensor([[[[math.inf, 0.2], [math.nan, 0.0]]]], dtype=torch.float64))
[F.grid_sample(sines(1, 1, *size), torch.tensor([[[[-1.5, 0.2], [0.7, 1.4], [3.2, -2.1]]]],
    dtype=torch.float64), mode, pad, align) for size in ((1, 3), (3, 1), (1, 1), (2, 2))
    for mode in ("bilinear", "nearest", "bicubic") for pad in ("zeros", "border", "reflection")
    for align in (False, True)]
[gradients(lambda x, g: F.grid_sample(x, g, mode, pad, align), sines(1, 1, *size),
    torch.tensor([[[[-1.5, 0.2], [0.7, 1.4], [3.2, -2.1]]]], dtype=torch.float64))
    for size in ((1, 3), (3, 1)) for mode in ("bilinear", "bicubic")
    for pad in ("border", "reflection") for align in (False, True)]

def head_archive():
    import io
    import zipfile
    def head(protocol):
        file = io.BytesIO()
        torch.save({"a": torch.tensor([1.0])}, file, pickle_protocol=protocol)
        archive = zipfile.ZipFile(file)
        name = next(name for name in archive.namelist() if name.endswith("data.pkl"))
        return archive.read(name)[:1] == bytes([128])
    return [head(k) for k in (1, 2, 3)]

with differs("Torch indexes what is not there, and overlooks what is too much."):
    nn.LSTM(2, 3)(torch.ones(1, 2), (torch.zeros(1, 3),))
    nn.LSTM(2, 3)(torch.ones(1, 2), (torch.zeros(1, 3), torch.zeros(1, 3), torch.zeros(1, 3)))

@differs("A buffer takes the place of what had its name, as a parameter does; torch refuses it.")
def part_modules():
    m1 = nn.Module()
    m1.x, m1.part = 1, nn.Tanh()
    m1.x, m1.part = nn.Buffer(torch.ones(1)), nn.Buffer(torch.zeros(1), persistent=False)
    return [m1.x, m1.part, "x" in m1.__dict__, list(m1._modules), list(m1.state_dict())]

def early_buffer():
    class Early(nn.Module):
        def __init__(self):
            self.x = nn.Buffer(torch.ones(1))
    return Early()

nn.Linear(1, 1, bias=False).load_state_dict({"weight": torch.ones(1, 1), "x": torch.ones(1)},
    strict=False)
nn.Linear(1, 1).load_state_dict({"weight": torch.ones(1, 1)}, strict=False)
nn.Linear(1, 1).load_state_dict({"weight": torch.ones(1, 1), "bias": torch.ones(1)})
