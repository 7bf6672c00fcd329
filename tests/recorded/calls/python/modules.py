"""Modules: calls of the Python layer (`autograd_cy`)."""

import copy
import math

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.nn import functional as F
from tests.recorded.inputs import differs, error_name, gradients, iota, sines, with_warnings

# What modules own.
nn.Module().register_parameter("a", (nn.Parameter(torch.zeros(1)) * 1))
nn.Module().register_parameter("a.b", None)
nn.Module().register_parameter("", None)
nn.Module().register_parameter(3, None)
nn.Module().register_buffer("a", 3)
nn.Module().register_buffer("a.b", None)
nn.Module().register_buffer("", None)
nn.Module().register_buffer(3, None)
nn.Module().add_module("a", torch.zeros(1))
nn.Module().add_module("a.b", None)
nn.Module().add_module("", None)
nn.Module().add_module(3, None)

def persistent_named_buffers():
    m = nn.Module()
    m.register_buffer("a", torch.zeros(1), persistent=False)
    m.a = nn.Parameter(torch.ones(1))
    return [[*m.state_dict()], [*m.named_buffers()], len(m._non_persistent_buffers_set)]

def parameter_setattr():
    m = nn.Module()
    m.a = nn.Parameter(torch.zeros(1))
    return setattr(m, "a", nn.Linear(1, 1))

def buffer_persistent():
    m = nn.Module()
    m.a = nn.Parameter(torch.zeros(2))
    return setattr(m, "a", nn.Buffer(torch.ones(2), persistent=False))

def buffer_state_dict():
    m = nn.Module()
    m.a = nn.Buffer(torch.ones(2))
    m.a = torch.zeros(3)
    return [[*m.state_dict()], m.a, type(m.a).__name__]

def register_buffer_state_dict():
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

def weight_state_dict():
    m = nn.Linear(1, 1)
    m.weight = None
    return [m.weight, "weight" in m._parameters, [*m.state_dict()]]

def sequential_setattr():
    m = nn.Sequential(nn.Linear(1, 1))
    setattr(m, "0", 3)
    return None

def module_parameter():
    class M(nn.Module):
        def __init__(self):
            self.a = nn.Parameter(torch.zeros(1))
    return M()

error_name(lambda: nn.Linear(1, 1).nothing)

def linear_delattr():
    m = nn.Linear(1, 1)
    return error_name(lambda: delattr(m, "nothing"))

"weight" in dir(nn.Linear(1, 1))
"0" in dir(nn.Sequential(nn.ReLU()))
dir(nn.ReLU()) == sorted(dir(nn.ReLU()))

# Walks.
nn.Sequential(nn.ReLU()).get_submodule("0.x")
nn.Linear(1, 1).get_parameter("no")
nn.Linear(1, 1).get_parameter("training")
nn.BatchNorm1d(1).get_parameter("running_mean")
nn.BatchNorm1d(1).get_buffer("weight")
nn.BatchNorm1d(1).get_buffer("no")
nn.Sequential(nn.BatchNorm1d(1)).get_buffer("0.running_var")
nn.Sequential(nn.BatchNorm1d(1)).get_parameter("0.weight").shape[0]
nn.Sequential(nn.ReLU()).set_submodule("0", torch.zeros(1))
nn.Linear(1, 1).set_submodule("weight", nn.Tanh())
nn.Sequential(nn.ReLU()).set_submodule("0.0.0", nn.Tanh())
nn.Linear(1, 1).train(1)

def zero_grad_weight():
    m = nn.Linear(1, 1)
    m(torch.zeros(1)).sum().backward()
    m.zero_grad(False)
    return [m.weight.grad, m.zero_grad(), m.weight.grad]

nn.Module()(1)

# Their text.
nn.Sequential(nn.Linear(1, 2), nn.Sequential(nn.ReLU(), nn.Sequential()))
nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh(), nn.ReLU()])
nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})

def module():
    class M(nn.Module):
        def extra_repr(self):
            return "one\ntwo"
    return M()

# State.
def load_state_dict_strict():
    m = nn.Linear(1, 1)
    return [m.load_state_dict(m.state_dict()), m.load_state_dict({}, strict=False),
        m.load_state_dict({**m.state_dict(), "x": torch.zeros(1)}, strict=False)]

nn.Linear(1, 1, False).load_state_dict({"weight": torch.zeros(1, 1), "more": torch.zeros(1)})
nn.Linear(1, 1).load_state_dict([])

def prefix_batch_norm1d():
    m = nn.Sequential(nn.BatchNorm1d(1))
    found = m.state_dict(prefix="p.")
    return [[*found], [*found._metadata], found._metadata["p.0"]]

def module_load_state_dict():
    class M(nn.Module):
        def get_extra_state(self):
            return 5
        def set_extra_state(self, state):
            self.got = state
    return M().load_state_dict({})

def module_load_state_dict_2():
    class M(nn.Module):
        def get_extra_state(self):
            return 5
    return error_name(lambda: M().load_state_dict(M().state_dict()))

nn.Module().get_extra_state()
nn.Module().set_extra_state(1)

def linear_load_state_dict():
    m = nn.Linear(1, 1)
    m.register_load_state_dict_post_hook(lambda m, keys: 1)
    return m.load_state_dict(m.state_dict())

# Conversion.
def num_batches_tracked_running_var():
    m = nn.BatchNorm1d(1)
    m.to(torch.float64)
    return [m.running_mean.dtype is torch.float64, m.num_batches_tracked.dtype is torch.int64,
        m.half().running_var.dtype is torch.float16, m.bfloat16().weight.dtype is torch.bfloat16,
        m.float().weight.dtype is torch.float32]

nn.Linear(1, 1).to(torch.int64)
nn.BatchNorm1d(1).type(torch.float64).running_mean.dtype is torch.float64
nn.BatchNorm1d(1).type(torch.float64).num_batches_tracked.dtype is torch.float64

def linear_sequential():
    part = nn.Linear(1, 1)
    m = nn.Sequential(part, part)
    calls = []
    m._apply(lambda x: (calls.append(1), x)[1])
    return len(calls)

def is_shared_running_mean():
    m = nn.Sequential(nn.BatchNorm1d(1))
    m.share_memory()
    return [m[0].running_mean.is_shared(), m[0].weight.is_shared()]

# Containers.
def tanh_sigmoid():
    m = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    del m[0]
    m[1] = nn.ELU()
    return m

def insert_sigmoid():
    m = nn.Sequential(nn.ReLU())
    m.insert(0, nn.Tanh())
    m.insert(-1, nn.ELU())
    m.insert(3, nn.Sigmoid())
    return m

nn.Sequential(nn.ReLU()).insert(3, nn.Tanh())
nn.Sequential(nn.ReLU()).insert(0, 1)
nn.Sequential(nn.ReLU()) + nn.Sequential(nn.Tanh())
nn.Sequential(nn.ReLU()) * 2
2 * nn.Sequential(nn.ReLU())
nn.Sequential(nn.ReLU()) * 0
nn.Sequential(nn.ReLU()) * 1.0
nn.Sequential(nn.ReLU()) + 1

def sequential_re_lu():
    m = nn.Sequential(nn.ReLU())
    m *= 0
    return None

@differs("Places from the end; torch has none.")
def insert_gelu():
    m = nn.ModuleList([nn.ReLU()])
    m.insert(0, nn.Tanh())
    m.insert(-1, nn.ELU())
    m += [nn.Sigmoid()]
    m[0] = nn.GELU()
    del m[1]
    return m

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
nn.ParameterList([torch.zeros(1)])[1]
nn.ParameterList([torch.zeros(1)])[-2]
nn.ParameterList([torch.zeros(1)])("x")
nn.ParameterList().extend(nn.Linear(1, 1))

def popitem_keys():
    m = nn.ParameterDict({"a": 3, "b": torch.zeros(1)})
    return [[*m], m["a"], type(m["b"]).__name__, len(m), "a" in m, m.get("c"), m.get("c", 4),
        m.pop("a"), [*m.keys()], m.popitem()[0], len(m)]

# A dictionary is taken in the order of its names.
[repr(nn.Buffer(torch.tensor([1.0]))), repr(copy.deepcopy(nn.Buffer(torch.tensor([1]))))]

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
nn.ParameterDict({"a": torch.zeros(1)})("x")
nn.ParameterDict({3: torch.zeros(1)})

# Parameters.
with differs("What isn't a tensor is a TypeError."):
    nn.Parameter(3)

# Hooks.
def with_kwargs_register_forward_hook():
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

def fill_weight():
    m, seen = nn.Linear(1, 1), []
    m.register_full_backward_hook(lambda m, inner, outer: seen.append((inner, outer)))
    m.weight.data.fill_(2.0)
    m(torch.ones(1, requires_grad=True)).backward()
    return seen

def fill_weight_2():
    m, seen = nn.Linear(1, 1), []
    m.register_full_backward_hook(lambda m, inner, outer: (inner[0] * 3,))
    m.register_full_backward_pre_hook(lambda m, outer: (outer[0] * 5,))
    m.weight.data.fill_(2.0)
    x = torch.ones(1, requires_grad=True)
    m(x).backward()
    return [x.grad, m.weight.grad]

def register_full_backward_hook_linear():
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
nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2])(torch.ones(2, 4), torch.zeros(3, dtype=torch.int64))
nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2])(torch.ones(4), torch.tensor(6))
nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2])(torch.ones(2, 4), torch.tensor([-1, 3]))
nn.Bilinear(1, 1, 2).weight.shape
nn.Bilinear(0, 2, 3)
F.interpolate(torch.ones(1, 1, 4, 4, dtype=torch.int32), 2, mode="bilinear", antialias=True)
gradients(lambda x: F.interpolate(x, (3, 2), mode="bicubic", antialias=True), sines(1, 2, 4, 5))
F.embedding(torch.tensor([0, 1]), sines(2, 2), padding_idx=2)
F.embedding_bag(torch.tensor([[0, 1], [1, 2]]), sines(3, 2), per_sample_weights=sines(2, 2),
    mode="sum")
F.embedding_bag(torch.tensor([[0, 1], [1, 2]]), sines(3, 2), per_sample_weights=sines(2, 2).mT,
    mode="sum", include_last_offset=True)
with_warnings(F.dropout2d, torch.ones(2, 3), 0.5, False)
with_warnings(F.dropout2d, torch.ones(2, 3, 1), 0.5, False)
with_warnings(F.dropout2d, torch.ones(1, 2, 3, 1), 0.5, False)
with_warnings(F.dropout3d, torch.ones(2, 3), 0.5, False)
with_warnings(F.dropout3d, torch.ones(2, 3, 1, 1), 0.5, False)
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

def set_to_none_weight():
    layer = nn.Linear(2, 1, bias=False)
    layer(torch.ones(2)).pow(2).sum().backward(create_graph=True)
    before = layer.weight.grad.grad_fn is not None
    layer.zero_grad(set_to_none=False)
    return [before, layer.weight.grad.grad_fn, layer.weight.grad.requires_grad, layer.weight.grad]

def is_leaf_extend():
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
def tangent_enumerate():
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

def pickle_protocol_zip_file():
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
nn.Linear(1, 1, bias=False).load_state_dict({"weight": torch.ones(1, 1), "x": torch.ones(1)},
    strict=False)
nn.Linear(1, 1).load_state_dict({"weight": torch.ones(1, 1)}, strict=False)
nn.Linear(1, 1).load_state_dict({"weight": torch.ones(1, 1), "bias": torch.ones(1)})
