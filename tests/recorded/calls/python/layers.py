"""Layers: calls of the Python layer (`autograd_cy`)."""

import math

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.nn import functional as F
from autograd_cy.utils import data
from tests.recorded.inputs import differs, error_name, fill_parameters, iota, sines, with_warnings

# Layers and what is made of them, seldom asked.
F.relu6(3)
F.relu6([1.0])
F.hardtanh(torch.tensor([0, 2, 9], dtype=torch.uint8), 0, 3)
[error_name(lambda: F.hardtanh(torch.tensor([0, 2], dtype=torch.uint8), *limits))
    for limits in ((-1, 3), (-3, -1), (0, 0), (0, 3))]

def no_grad_multi_margin_loss():
    weight = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        found = F.multi_margin_loss(torch.tensor([[1.0, 2.0]]), torch.tensor([0]), weight=weight)
    return [found, error_name(lambda: F.multi_margin_loss(torch.tensor([[1.0, 2.0]]),
        torch.tensor([0]), weight=weight))]

[error_name(lambda: F.huber_loss(torch.ones(2), torch.ones(2), weight=x))
    for x in (torch.ones(1), torch.ones(2), torch.ones(2, 1))]

def embedding_max_norm():
    weight = torch.tensor([[3.0, 4.0], [6.0, 8.0]], dtype=torch.float64)
    return [F.embedding(torch.tensor([0, 1]), weight, max_norm=5.0),
        bool((weight[0] == torch.tensor([3.0, 4.0], dtype=torch.float64)).all()), weight[1]]

def max_norm_embedding_bag():
    weight = torch.tensor([[3.0, 4.0], [6.0, 8.0]], dtype=torch.float64)
    return [F.embedding(torch.tensor([1, 1], dtype=torch.int32), weight, max_norm=5.0),
        F.embedding_bag(torch.tensor([[1, 0]], dtype=torch.int32), weight, max_norm=2.0)]

def get_rng_state_bool():
    state = torch.get_rng_state()
    found = F.multi_head_attention_forward(sines(3, 2, 4), sines(3, 2, 4), sines(3, 2, 4), 4, 2,
        sines(12, 4), None, None, None, False, 0.0, sines(4, 4), None)
    return [found, bool((state == torch.get_rng_state()).all())]

[with_warnings(lambda: f(iota(1, 1, 1, 2), scale_factor=2))
    for f in (F.upsample, F.upsample_nearest, F.upsample_bilinear)]
F.upsample_bilinear(iota(1, 1, 1, 2), (1, 3))
F.upsample(iota(1, 1, 2), 3, mode="linear", align_corners=True)
F.upsample_nearest(iota(1, 1, 2), 3)
[F.lp_pool1d(sines(1, 1, 7), p, 3, s, c) for p in (1.0, 2.0, 3.0, math.inf) for s in (None, 1)
    for c in (False, True)]
F.lp_pool2d(sines(1, 1, 5, 4), 2.0, (3, 2), ceil_mode=True)

def bias_v_add_zero_attn():
    def mha(q, k, v, *more, **options):
        return F.multi_head_attention_forward(q, k, v, 4, 2, sines(12, 4), sines(12), *more,
            **{"bias_k": None, "bias_v": None, "add_zero_attn": False, "dropout_p": 0.0,
            "out_proj_weight": sines(4, 4, phase=1), "out_proj_bias": None, **options})
    x, y, z = sines(3, 2, 4), sines(5, 2, 4, phase=1), sines(5, 2, 4, phase=2)
    return [mha(x, x, x), mha(x, y, y), mha(x, y, z),
        mha(x, y, y, bias_k=sines(1, 1, 4), bias_v=sines(1, 1, 4, phase=2)),
        mha(x, y, z, add_zero_attn=True, key_padding_mask=sines(2, 5) > 0),
        mha(x, y, z, add_zero_attn=True, bias_k=sines(1, 1, 4), bias_v=sines(1, 1, 4),
        attn_mask=sines(3, 5) > 0.5, average_attn_weights=False)]

def attn_mask_add_zero_attn():
    def mha(q, k, v, *more, **options):
        return F.multi_head_attention_forward(q, k, v, 4, 2, sines(12, 4), sines(12), *more,
            **{"bias_k": None, "bias_v": None, "add_zero_attn": False, "dropout_p": 0.0,
            "out_proj_weight": sines(4, 4, phase=1), "out_proj_bias": None, **options})
    x, y, z = sines(3, 4), sines(5, 4, phase=1), sines(5, 4, phase=2)
    return [mha(x, x, x), mha(x, y, y), mha(x, y, z, attn_mask=sines(2, 3, 5)),
        mha(x, y, z, need_weights=False, attn_mask=sines(3, 5)),
        mha(x, y, z, key_padding_mask=sines(5) > 0, add_zero_attn=True),
        mha(x, y, z, average_attn_weights=False)]

def multi_head_attention_forward_phase():
    def mha(q, k, v, *more, **options):
        return F.multi_head_attention_forward(q, k, v, 4, options.pop("heads", 2),
            options.pop("inner", sines(12, 4)), sines(12), *more,
            **{"bias_k": None, "bias_v": None, "add_zero_attn": False, "dropout_p": 0.0,
            "out_proj_weight": sines(4, 4, phase=1), "out_proj_bias": None, **options})
    x, y = sines(3, 2, 4), sines(5, 2, 4)
    return [error_name(lambda: mha(q, k, v, **o))
        for q, k, v, o in ((sines(4), y, y, {}), (sines(1, 3, 2, 4), y, y, {}),
        (x, sines(5, 4), y, {}), (x, y, sines(5, 4), {}),
        (x, y, y, {"key_padding_mask": sines(5) > 0}), (x, y, y, {"attn_mask": sines(5) > 0}),
        (sines(3, 4), sines(5, 4), sines(5, 4), {"attn_mask": sines(2, 3, 4)}),
        (x, y, y, {"attn_mask": iota(3, 5, dtype=torch.int64)}),
        (x, y, y, {"attn_mask": sines(3, 4)}), (x, y, y, {"attn_mask": sines(2, 3, 5)}),
        (x, y, y, {"attn_mask": sines(4, 3, 5)}), (x, y, y, {"is_causal": True}),
        (sines(3, 2, 3), y, y, {}), (x, y, y, {"heads": 3}), (x, y, sines(6, 2, 4), {}),
        (x, y, y, {"bias_k": sines(1, 1, 4)}), (x, y, y,
        {"bias_k": sines(1, 1, 4), "bias_v": sines(1, 1, 4), "static_k": sines(4, 5, 2)}),
        (x, y, y, {"key_padding_mask": sines(2, 4) > 0}),
        (x, y, y, {"key_padding_mask": sines(3, 5) > 0}),
        (x, y, y, {"use_separate_proj_weight": True}), (x, y, y, {"inner": None}))]

def q_proj_weight_k_proj_weight():
    def mha(q, k, v, *more, **options):
        return F.multi_head_attention_forward(q, k, v, 4, 2, None, sines(12), *more,
            **{"bias_k": None, "bias_v": None, "add_zero_attn": False, "dropout_p": 0.0,
            "out_proj_weight": sines(4, 4, phase=1), "out_proj_bias": None,
            "use_separate_proj_weight": True, **options})
    x, y, z = sines(3, 2, 4), sines(5, 2, 3, phase=1), sines(5, 2, 2, phase=2)
    return [mha(x, y, z, q_proj_weight=sines(4, 4), k_proj_weight=sines(4, 3),
        v_proj_weight=sines(4, 2)), error_name(lambda: mha(x, y, sines(6, 2, 2),
        q_proj_weight=sines(4, 4), k_proj_weight=sines(4, 3), v_proj_weight=sines(4, 2))),
        error_name(lambda: mha(x, y, z, q_proj_weight=sines(4, 4), k_proj_weight=sines(4, 3)))]

def attn_mask_is_causal():
    mask = nn.Transformer.generate_square_subsequent_mask(3).double()
    def mha(**options):
        return F.multi_head_attention_forward(*[sines(3, 2, 4)] * 3, 4, 2, sines(12, 4), None, None,
            None, False, 0.0, sines(4, 4), None, **options)
    return [mha(attn_mask=mask, is_causal=True, need_weights=False)[0],
        mha(attn_mask=mask, is_causal=True)[1], mha(attn_mask=mask, is_causal=True,
        need_weights=False, key_padding_mask=torch.tensor([[False, True, False]] * 2))[0],
        with_warnings(lambda: mha(attn_mask=mask, key_padding_mask=torch.tensor([[False, True,
        False]] * 2)))[0], with_warnings(lambda: mha(attn_mask=mask < 0,
        key_padding_mask=torch.tensor([[False, True, False]] * 2)))[0]]

# Weights that are made anew.
def eval_weight():
    torch.manual_seed(0)
    m = nn.Linear(3, 3, bias=False)
    m.weight.data.copy_(torch.tensor([[4.0, 0, 0], [0, 1.0, 0], [0, 0, 0.5]]))
    nn.utils.parametrizations.spectral_norm(m)
    m.eval()
    return m.weight.detach()

# The first guess lies around zero.
def weight_u_weight_v():
    torch.manual_seed(0)
    m = nn.utils.spectral_norm(nn.Linear(40000, 1, bias=False))
    return [abs(float(m.weight_v.mean())) < 1e-3, float(m.weight_v.norm()), m.weight_u.abs()]

@differs("A weight that couldn't be taken keeps its values; torch has cut it.")
def weight_is_parametrized():
    P = nn.utils.parametrize
    class Fails(nn.Module):
        def forward(self, x):
            return x
        def right_inverse(self, x):
            return x[:1]
    m = nn.Linear(2, 2, bias=False)
    before, kept = m.weight, m.weight.detach().clone()
    return [error_name(P.register_parametrization, m, "weight", Fails()), m.weight is before,
        bool((m.weight == kept).all()), m.weight.shape[0], P.is_parametrized(m)]

@differs("A weight that couldn't be taken keeps its values; torch has cut it.")
def weight_register_parametrization():
    P = nn.utils.parametrize
    class Fails(nn.Module):
        def forward(self, x):
            return x[:, :1]
        def right_inverse(self, x):
            return x * 2
    m = nn.Linear(2, 2, bias=False)
    before, kept = m.weight, m.weight.detach().clone()
    return [error_name(P.register_parametrization, m, "weight", Fails()), m.weight is before,
        bool((m.weight == kept).all())]

# Transformers.
def transformer_encoder_layer_enable_nested_tensor():
    layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True)
    encoder = fill_parameters(nn.TransformerEncoder(layer, 1, enable_nested_tensor=False))
    seen = []
    encoder.layers[0].register_forward_pre_hook(lambda m, args,
        named: seen.append(named["is_causal"]), with_kwargs=True)
    for shape in ((2, 3, 4), (3, 2, 4), (3, 4)):
        for n in (2, 3):
            try:
                encoder(sines(*shape), nn.Transformer.generate_square_subsequent_mask(n).double())
            except (RuntimeError, AssertionError):
                pass
    return seen

[error_name(lambda: nn.TransformerEncoderLayer(4, 2, activation=x))
    for x in ("relu", "gelu", "odd", F.silu)]

# Containers and others.
def adaptive_log_softmax_with_loss_tensor():
    m = fill_parameters(nn.AdaptiveLogSoftmaxWithLoss(4, 10, [2, 5]))
    return [error_name(m, sines(2, 4), torch.tensor(x))
        for x in ([0, 10], [10, 0], [-1, 3], [3, -1], [0, 9], [9, 0])]

[with_warnings(lambda: nn.Hardtanh(**o)) for o in ({"max_value": 2.0}, {"min_value": -2.0},
    {"min_val": -3.0})]
[error_name(lambda: nn.Hardtanh(*a)) for a in ((1.0, 1.0), (1.0, 0.5), (0.5, 1.0))]

def swa_utils_get_ema_multi_avg_fn():
    S = torch.optim.swa_utils
    kept, whole = torch.tensor([1 + 2j, 3.0]), torch.tensor([8, 4])
    S.get_ema_multi_avg_fn(0.75)([kept], [torch.tensor([5 + 0j, 7j])], 3)
    S.get_ema_multi_avg_fn(0.75)([whole], [torch.tensor([0, 0])], 3)
    return [kept, whole]

[error_name(lambda: torch.einsum(torch.ones(2), x, [0]))
    for x in ([0], [0.5], ["a"], [52], [51], [-1])]
[error_name(lambda: torch.linalg.multi_dot([torch.ones(2, 2)] * 2, out=torch.empty(2, 2, dtype=d)))
    for d in (torch.float32, torch.float64)]
[F.gaussian_nll_loss(sines(3), sines(3, phase=1), x) for x in (2.0, sines(3) + 2, sines(1) + 2)]
error_name(lambda: F.local_response_norm(sines(1, 2, 3), 2**31))

def random_sampler_randint():
    def g():
        return torch.Generator().manual_seed(5)
    return [[*data.RandomSampler(range(9), True, n, g())] == torch.randint(0, 9, (n,),
        generator=g()).tolist() for n in (1, 2, 5)]
