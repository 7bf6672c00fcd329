"""Utilities: calls of the Python layer (`autograd_cy`)."""

import math

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    differs,
    error_name,
    event_names,
    fill_parameters,
    gradients,
    iota,
    metadata,
    sines,
    with_warnings,
)

P = torch.nn.utils.parametrize

# Gradients that are clipped.
[nn.utils.get_total_norm([sines(3), sines(2, phase=1)], p) for p in (2.0, 1.0, math.inf, 0.5)]
nn.utils.get_total_norm([torch.tensor([math.inf])], error_if_nonfinite=True)

def max_norm_norm_type():
    def clipped(*grads, **options):
        params = [torch.zeros(len(g), requires_grad=True) for g in grads]
        for p, g in zip(params, grads):
            p.grad = torch.tensor(g)
        total = nn.utils.clip_grad_norm_([*params, torch.zeros(1, requires_grad=True)], **options)
        return [total, *(p.grad for p in params)]
    return [clipped([3.0], [4.0], max_norm=1.0), clipped([3.0], [4.0], max_norm=5.0),
        clipped([3.0], [4.0], max_norm=10), clipped([3.0, 4.0], max_norm=1.0, norm_type=1),
        clipped([3.0, -4.0], max_norm=2.0, norm_type=math.inf)]

def clip_grad_norm_clip_grad_value():
    p = torch.zeros(2, requires_grad=True)
    p.grad = torch.tensor([3.0, 4.0])
    return [nn.utils.clip_grad_norm_(p, 1.0), p.grad, nn.utils.clip_grad_value_(p, 0.7), p.grad]

def clip_grad_value_utils():
    p = torch.zeros(3, requires_grad=True)
    p.grad = torch.tensor([3.0, -4.0, 0.5])
    return [nn.utils.clip_grad_value_([p, torch.zeros(1)], 2), p.grad]

with_warnings(lambda: nn.utils.clip_grad_norm_((x for x in []), 1.0))
with_warnings(lambda: nn.utils.clip_grad_norm_([], 1.0))
with_warnings(lambda: nn.utils.clip_grad_norm_(iter([torch.zeros(1)]), 1.0))

def clip_grad_norm_utils():
    p = torch.zeros(1, requires_grad=True)
    p.grad = torch.tensor([4.0])
    return [with_warnings(lambda: nn.utils.clip_grad_norm([p], 1.0)), p.grad]

def vector_to_parameters_parameters_to_vector():
    m = nn.Linear(2, 1)
    nn.utils.vector_to_parameters(torch.tensor([1.0, 2.0, 3.0]), m.parameters())
    return [m.weight, m.bias, nn.utils.parameters_to_vector(m.parameters()),
        metadata(nn.utils.parameters_to_vector(m.parameters()))[:3]]

nn.utils.vector_to_parameters([1.0], [torch.zeros(1)])
nn.utils.skip_init(nn.Linear, 2, 3, device="meta").weight.is_meta
nn.utils.skip_init(dict)
nn.utils.skip_init(nn.ReLU)

# Sequences.
[*nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4, 5]), torch.tensor([6])])]
nn.utils.rnn.pack_sequence([torch.tensor([4, 5]), torch.tensor([], dtype=torch.int64)])
[*nn.utils.rnn.pack_padded_sequence(iota(4, 2), [2, 2])]
nn.utils.rnn.pack_padded_sequence(iota(3), [3])
nn.utils.rnn.pack_padded_sequence(iota(3, 2), [1, 3])
nn.utils.rnn.pack_padded_sequence(iota(3, 2), [3, 0])
with differs("Steps that are not there, and parts of steps; torch takes both."):
    nn.utils.rnn.pack_padded_sequence(iota(3, 2), [4, 1])
nn.utils.rnn.pack_padded_sequence(iota(3, 2), [[3, 1]])
nn.utils.rnn.pack_padded_sequence(iota(3, 2), torch.tensor([3, 1], device="meta"))

def pad_packed_sequence_total_length():
    p = nn.utils.rnn.pack_sequence([torch.tensor([4, 5]), torch.tensor([6]),
        torch.tensor([1, 2, 3])], enforce_sorted=False)
    return [nn.utils.rnn.pad_packed_sequence(p), nn.utils.rnn.pad_packed_sequence(p, True, -1),
        nn.utils.rnn.pad_packed_sequence(p, True, 7, 5),
        nn.utils.rnn.pad_packed_sequence(p, total_length=3), nn.utils.rnn.unpack_sequence(p)]

nn.utils.rnn.pad_packed_sequence(nn.utils.rnn.pack_sequence([torch.tensor([4, 5])]), total_length=1)
nn.utils.rnn.pad_sequence([torch.tensor([1])], padding_side="up")
nn.utils.rnn.pad_sequence([])
nn.utils.rnn.pad_sequence(3)
nn.utils.rnn.pad_sequence(iota(2, 3))
[x.tolist() for x in nn.utils.rnn.unpad_sequence(iota(3, 2), torch.tensor([3, 1]))]
nn.utils.rnn.unpad_sequence(iota(2, 3), torch.tensor([3, 1]), True)
[nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1])), nn.utils.rnn.invert_permutation(None)]
nn.utils.rnn.PackedSequence(torch.tensor([1]), torch.tensor([1], device="meta"))
[*nn.utils.rnn.PackedSequence((torch.tensor([1]), torch.tensor([1])))]
error_name(nn.utils.rnn.PackedSequence, torch.tensor([1]))
with differs("There is no GPU; torch calls that an assertion."):
    error_name(nn.utils.rnn.pack_sequence([torch.tensor([4])]).cuda)
error_name(nn.utils.rnn.pack_sequence([torch.tensor([4])]).pin_memory)
gradients(lambda x, y: nn.utils.rnn.pack_sequence([x, y], False).data, sines(2, 2), sines(3, 2))
gradients(lambda x: nn.utils.rnn.pad_packed_sequence(nn.utils.rnn.pack_padded_sequence(x, [1, 2],
    enforce_sorted=False))[0], sines(3, 2))

# Weights of a norm.
def parametrizations_weight_norm():
    P = nn.utils.parametrizations
    m = P.weight_norm(fill_parameters(nn.Linear(2, 1, False)))
    m.load_state_dict({"weight_g": torch.tensor([[5.0]]), "weight_v": torch.tensor([[3.0, 4.0]])})
    return m.weight

def weight_norm_weight_g():
    m = nn.utils.weight_norm(fill_parameters(nn.Linear(3, 2)), dim=None)
    return [m.weight_g, m(sines(3))]

with_warnings(lambda: nn.utils.weight_norm(nn.Linear(1, 1)))[0]

def bias_g_remove_weight_norm():
    m = nn.utils.weight_norm(nn.utils.weight_norm(fill_parameters(nn.Linear(3, 2))), "bias", 0)
    return [sorted(m.state_dict()), m.bias_g, sorted(nn.utils.remove_weight_norm(m,
        "bias").state_dict())]

def n_power_iterations_eval():
    P = nn.utils.parametrizations
    m = P.spectral_norm(fill_parameters(nn.Linear(3, 2)), n_power_iterations=9)
    for _ in range(9):
        m(sines(3))
    return [sorted(m.state_dict()), m.weight, m.eval().weight]

def spectral_norm_buffers():
    P = nn.utils.parametrizations
    m = P.spectral_norm(fill_parameters(nn.ConvTranspose1d(2, 3, 2)))
    return [[x.shape[0] for x in m.buffers()], [x.shape[0]
        for x in P.spectral_norm(nn.Conv1d(2, 3, 2)).buffers()],
        [x.shape[0] for x in P.spectral_norm(nn.Linear(4, 3), dim=1).buffers()],
        [x.shape[0] for x in P.spectral_norm(nn.Linear(4, 3), dim=-1).buffers()]]

nn.utils.parametrizations.spectral_norm(nn.Linear(1, 1), n_power_iterations=0)
nn.utils.parametrizations.spectral_norm(nn.Linear(1, 1), "no")

def parametrizations_bool():
    m = nn.utils.parametrizations.spectral_norm(fill_parameters(nn.Linear(3, 2)))
    before = m.parametrizations.weight[0]._u.clone()
    a = (m.parametrizations.weight[0]._u == before).all(), m.eval()
    m.weight
    b = (m.parametrizations.weight[0]._u == before).all(), m.train()
    m.weight
    return [bool(a[0]), bool(b[0]), bool((m.parametrizations.weight[0]._u == before).all())]

def n_power_iterations_remove_spectral_norm():
    m = nn.utils.spectral_norm(fill_parameters(nn.Linear(3, 2)), n_power_iterations=9)
    for _ in range(9):
        m(sines(3))
    return [sorted(m.state_dict()), m(sines(3)), error_name(nn.utils.spectral_norm, m),
        sorted(nn.utils.remove_spectral_norm(m).state_dict()), m.weight, type(m.weight).__name__,
        len(m._forward_pre_hooks), error_name(nn.utils.remove_spectral_norm, m)]

nn.utils.spectral_norm(nn.Linear(1, 1, False), "bias")

# Orthogonal ones.
def orthogonal_map_use_trivialization():
    P = nn.utils.parametrizations
    return [P.orthogonal(fill_parameters(nn.Linear(*size, bias=False)), orthogonal_map=how,
        use_trivialization=False).weight.contiguous() for how in ("matrix_exp", "cayley")
        for size in ((2, 2), (3, 2), (2, 3))]

def orthogonal_map_bias():
    P = nn.utils.parametrizations
    return [P.orthogonal(fill_parameters(nn.Linear(*size, bias=False)), orthogonal_map=how).weight
        for how in (None, "matrix_exp", "cayley", "householder") for size in ((2, 2),)]

def orthogonal_map_bias_2():
    P = nn.utils.parametrizations
    def off(m):
        return float((m.weight @ m.weight.T - torch.eye(len(m.weight))).abs().max()) < 1e-6 if len(
            m.weight) <= m.weight.shape[1] else float((m.weight.T @ m.weight
            - torch.eye(m.weight.shape[1])).abs().max()) < 1e-6
    return [off(P.orthogonal(fill_parameters(nn.Linear(*size, bias=False)), orthogonal_map=how))
        for how in (None, "matrix_exp", "cayley", "householder")
        for size in ((3, 3), (4, 2), (2, 4))]

def orthogonal_use_trivialization():
    P = nn.utils.parametrizations
    return [P.orthogonal(fill_parameters(nn.Linear(*size, bias=False)),
        use_trivialization=False).weight.contiguous() for size in ((3, 2), (2, 3))]

nn.utils.parametrizations.orthogonal(nn.Linear(1, 1), "bias")
nn.utils.parametrizations.orthogonal(nn.Linear(1, 1), orthogonal_map="odd")
nn.utils.parametrizations.orthogonal(nn.Linear(1, 1), "no")

def orthogonal_use_trivialization_2():
    m = nn.utils.parametrizations.orthogonal(nn.Linear(2, 2), use_trivialization=False)
    m.weight = torch.eye(2)
    return None

def weight_orthogonal():
    m = nn.utils.parametrizations.orthogonal(fill_parameters(nn.Linear(2, 2)))
    m.weight = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    return m.weight

# What makes a weight of others.
def original_remove_parametrizations():
    R = nn.utils.parametrize
    class Twice(nn.Module):
        def forward(self, x):
            return x * 2
        def right_inverse(self, x):
            return x / 2
    m = fill_parameters(nn.Linear(2, 1))
    R.register_parametrization(m, "weight", Twice())
    R.register_parametrization(m, "weight", Twice())
    return [m.weight, m.parametrizations.weight.original,
        setattr(m, "weight", torch.ones(1, 2, dtype=torch.float64) * 8), m.weight,
        m.parametrizations.weight.original, R.remove_parametrizations(m, "weight") is m, m.weight,
        type(m).__name__, R.is_parametrized(m), hasattr(m, "parametrizations")]

def is_parametrized_remove_parametrizations():
    R = nn.utils.parametrize
    class Twice(nn.Module):
        def forward(self, x):
            return x * 2
    m = R.register_parametrization(fill_parameters(nn.Linear(2, 1)), "weight", Twice())
    R.register_parametrization(m, "bias", Twice())
    return [R.remove_parametrizations(m, "weight", False).weight, R.is_parametrized(m),
        type(m.weight).__name__, m.bias, type(R.remove_parametrizations(m, "bias")).__name__]

def ntensors_remove_parametrizations():
    R = nn.utils.parametrize
    class Sum(nn.Module):
        def forward(self, x, y):
            return x + y
        def right_inverse(self, x):
            return x * 3, x * -2
    m = R.register_parametrization(fill_parameters(nn.Linear(2, 1)), "weight", Sum())
    return [m.weight, sorted(m.state_dict()), m.parametrizations.weight.ntensors,
        m.parametrizations.weight.is_tensor, m.parametrizations.weight.original0,
        setattr(m, "weight", torch.ones(1, 2, dtype=torch.float64)),
        m.parametrizations.weight.original1, error_name(R.remove_parametrizations, m, "weight",
        False), R.remove_parametrizations(m, "weight").weight, type(m.weight).__name__]

def register_parametrization_double():
    R = nn.utils.parametrize
    class Odd(nn.Module):
        def __init__(self, to, back=None):
            super().__init__()
            self.to_, self.back = to, back
        def forward(self, *x):
            return self.to_(*x)
        def right_inverse(self, x):
            return self.back(x) if self.back else x
    def made(*arguments, **options):
        return error_name(R.register_parametrization, nn.Linear(2, 1), "weight", Odd(*arguments),
            **options)
    return [error_name(lambda: R.register_parametrization(nn.Linear(2, 1), "weight", Odd(*a)))
        for a in ((lambda x: x.double(),), (lambda x: x[0],), (lambda x: 3,),
        (lambda x: x, lambda x: 3), (lambda x: x, lambda x: x.double()),
        (lambda x: x, lambda x: [x, 3]), (lambda x: x, lambda x: x))]

def unsafe_setattr():
    R = nn.utils.parametrize
    class Shape(nn.Module):
        def forward(self, x):
            return x[0]
    m = R.register_parametrization(fill_parameters(nn.Linear(2, 1)), "weight", Shape(), unsafe=True)
    return [m.weight, m.parametrizations.weight.unsafe,
        error_name(setattr, m, "weight", torch.zeros(2))]

def register_parametrization_identity():
    R = nn.utils.parametrize
    return R.register_parametrization(nn.Linear(2, 1), "no", nn.Identity())

nn.utils.parametrize.remove_parametrizations(nn.Linear(2, 1), "weight")
error_name(lambda: nn.utils.parametrize.ParametrizationList([], torch.zeros(1)))

@differs("The values are given, not the parameter itself.")
def original_parametrizations():
    R = nn.utils.parametrize
    class Twice(nn.Module):
        def forward(self, x):
            return x * 2
    a = R.register_parametrization(fill_parameters(nn.Linear(2, 1)), "weight", Twice())
    b, c = nn.Linear(2, 1).double(), nn.ReLU()
    return [R.transfer_parametrizations_and_params(a, b) is b, b.weight,
        b.parametrizations.weight.original is a.parametrizations.weight.original,
        R.transfer_parametrizations_and_params(a, c, "weight").weight,
        R.transfer_parametrizations_and_params(nn.ReLU(), c) is c]

def functional_call_stateless():
    m = fill_parameters(nn.Linear(2, 1))
    return [torch.func.functional_call(m, {"weight": torch.ones(1, 2, dtype=torch.float64)},
        sines(2)), m(sines(2)), nn.utils.stateless.functional_call(m,
        {"bias": torch.zeros(1, dtype=torch.float64)}, sines(2))]

# ranges of make_tensor
def uint8_make_tensor():
    def made(dtype, low, high):
        return torch.testing.make_tensor((3,), dtype=dtype, device="cpu", low=low, high=high)
    return made(torch.uint8, -1, 0)

def make_tensor_int8():
    def made(dtype, low, high):
        return torch.testing.make_tensor((3,), dtype=dtype, device="cpu", low=low, high=high)
    return [made(torch.int64, 2.5, 3.5), made(torch.bool, 1, 2), made(torch.int8, 127, 500),
        made(torch.float32, 3, 3)]

def isfinite_math():
    def made(dtype, low, high):
        return torch.testing.make_tensor((3,), dtype=dtype, device="cpu", low=low, high=high)
    return [made(k, low, high).isfinite().all()
        for k, low, high in ((torch.float16, 6e4, 1e9), (torch.float32, -math.inf, math.inf),
        (torch.float64, -math.inf, math.inf), (torch.complex64, -1e39, 2.0),
        (torch.float16, -1e9, -65504.0))]

# Modules that are mended, fused and parametrized.
[F.interpolate(iota(1, 1, 4), scale_factor=1.5, mode=mode)
    for mode in ("nearest", "nearest-exact", "linear", "area")]
F.interpolate(iota(1, 1, 4), 3, recompute_scale_factor=True)
F.interpolate(iota(1, 1, 4), 3, align_corners=True)
F.interpolate(iota(1, 1, 4), 3, mode="linear", antialias=True)
[event_names(lambda x: F.interpolate(x, 2, mode=mode), iota(1, 1, 4))[0]
    for mode in ("nearest", "nearest-exact", "linear")]

def max_unpool1d_max_unpool3d():
    pool, back = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)
    y, places = pool(iota(1, 1, 4, 4))
    return [back(y, places), back, nn.MaxUnpool1d(3, 2, 1), nn.MaxUnpool3d((1, 2, 3)),
        *(error_name(lambda: back(y, places, output_size=size))
        for size in ((4, 5), (1, 1, 5, 5), (5, 4), (4, 6), (4, 2), (4,), (2, 4), (1, 1, 1, 4, 4),
        (3, 5), (5, 5), (6, 5), (2, 5)))]

nn.MaxUnpool1d(2)(*nn.MaxPool1d(2, return_indices=True)(iota(1, 1, 6)))
nn.MaxUnpool1d(3, 2, 1)(*nn.MaxPool1d(3, 2, 1, return_indices=True)(iota(1, 1, 5)))
nn.MaxUnpool3d((1, 2, 2))(*nn.MaxPool3d((1, 2, 2), return_indices=True)(iota(1, 1, 1, 4, 2)))
with differs("Real weights only."):
    torch.nn.utils.parametrizations.orthogonal(nn.Linear(2, 2, dtype=torch.complex64),
        orthogonal_map="cayley")

def is_parametrized_identity():
    class Half(nn.Module):
        def forward(self, x):
            return x.double()
    class Back(nn.Module):
        def forward(self, x):
            return x
        def right_inverse(self, x):
            return x.double()
    class Wider(nn.Module):
        def forward(self, x):
            return torch.cat([x, x])
    def registered(kind, **how):
        layer = fill_parameters(nn.Linear(2, 1, bias=False)).float()
        kept = layer.weight
        name = error_name(lambda: P.register_parametrization(layer, "weight", kind(), **how))
        return name, P.is_parametrized(layer), list(layer.state_dict()), layer.weight is kept
    return [registered(kind, **how) for kind in (Half, Back, Wider, nn.Identity)
        for how in ({}, {"unsafe": True})]

def register_parametrization_parametrizations():
    layer = fill_parameters(nn.Linear(2, 1, bias=False))
    kept, memory = layer.weight, layer.weight.data_ptr()
    P.register_parametrization(layer, "weight", nn.Identity())
    original = layer.parametrizations.weight.original
    first = original is kept, original.data_ptr() == memory
    P.register_parametrization(layer, "weight", nn.Tanh())
    second = error_name(lambda: P.register_parametrization(layer, "weight",
        type("Back", (nn.Module,), {"forward": lambda self, x: x.double(),
        "right_inverse": lambda self, x: x.float()})()))
    return [*first, second, len(layer.parametrizations.weight), layer.weight]

[torch.nn.utils.rnn.unpack_sequence(torch.nn.utils.rnn.pack_padded_sequence(sines(3, 2, 2),
    torch.tensor(lengths), enforce_sorted=False)) for lengths in ([1, 3], [3, 2])]
torch.nn.utils.rnn.pack_sequence([sines(1, 2), sines(3, 2)])
(lambda x: (x.sorted_indices, x.unsorted_indices))(torch.nn.utils.rnn.PackedSequence(sines(4, 2),
    torch.tensor([2, 1, 1]), None, torch.tensor([1, 0])))

def isinstance_bilinear():
    def both(layer, *names):
        for name in names:
            torch.nn.utils.spectral_norm(layer, name)
        return layer
    layer = both(fill_parameters(nn.Bilinear(2, 2, 2)), "weight")
    layer.weight_u.copy_(torch.tensor([0.6, 0.8]))
    layer.eval()
    before = layer.weight.detach().clone()
    torch.nn.utils.remove_spectral_norm(layer)
    return [sorted(layer.state_dict()), list(layer._forward_pre_hooks),
        isinstance(layer.weight, nn.Parameter), "weight" in layer.__dict__]

def remove_spectral_norm_lstmcell():
    layer = torch.nn.utils.spectral_norm(torch.nn.utils.spectral_norm(nn.LSTMCell(2, 3),
        "weight_ih"), "weight_hh")
    torch.nn.utils.remove_spectral_norm(layer, "weight_hh")
    return [sorted(layer.state_dict()), error_name(torch.nn.utils.remove_spectral_norm, layer,
        "bias_ih"), error_name(torch.nn.utils.remove_spectral_norm, layer, "weight_hh"),
        len(layer._forward_pre_hooks)]
