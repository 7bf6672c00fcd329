"""Layers edges: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import error_name, sines, with_warnings


# initial values: bounds, shares, what is refused
def num_layers_encoder():
    x = torch.nn.Transformer(4, 2, 1, 1, 8)
    return [bool((0 < p.abs().max()) & (p.abs().max() <= (6 / sum(p.shape)) ** 0.5))
        for p in x.parameters()
        if p.dim() > 1], x.nhead, x.d_model, x.batch_first, x.encoder.num_layers, x.decoder.num_layers, x.encoder.enable_nested_tensor, x.encoder.use_nested_tensor, x.encoder.mask_check

torch.nn.Transformer(4, 2, 1, 1, 8)(torch.zeros(2, 1, 4), torch.zeros(2, 1, 3))
torch.nn.Transformer(4, 2, 1, 1, 8)(torch.zeros(2, 2, 4), torch.zeros(2, 1, 4))
[torch.nn.TransformerEncoderLayer(4, 2, 8, activation=a).activation.__name__
    for a in ("relu", "gelu")]
torch.nn.TransformerEncoderLayer(4, 2, 8, activation="tanh")

def bias_k_bias_v():
    x = torch.nn.MultiheadAttention(4, 2, add_bias_kv=True)
    return x.in_proj_bias.tolist(), x.out_proj.bias.tolist(), bool(
        0 < x.in_proj_weight.abs().max() <= (6 / 16) ** 0.5), x.bias_k.shape, x.bias_v.shape, bool(
        (x.bias_k != 0).all()), bool((x.bias_v != 0).all()), x.q_proj_weight is None

torch.nn.MultiheadAttention(4, 3)
torch.nn.MultiheadAttention(0, 1)
torch.nn.MultiheadAttention(1, 1).head_dim, torch.nn.MultiheadAttention(6, 2).head_dim
torch.nn.init.kaiming_uniform_(torch.zeros(2, 2), mode="fan")
torch.nn.init.calculate_gain("leaky_relu", "0.1")
torch.nn.init.calculate_gain("leaky_relu", True)
torch.nn.init.eye_(torch.zeros(2))
torch.nn.init.dirac_(torch.zeros(2, 2))
torch.nn.init.dirac_(torch.zeros(3, 2, 3), 2)
torch.nn.init.dirac_(torch.ones(3, 2, 3))
torch.nn.init.dirac_(torch.ones(4, 2, 2), 2)
torch.nn.init.dirac_(torch.ones(2, 2, 3, 3))
torch.nn.init.dirac_(torch.ones(2, 1, 1, 2, 3))
torch.nn.init.orthogonal_(torch.zeros(2))
[(lambda x: ((x.reshape(x.shape[0], -1) @ x.reshape(x.shape[0], -1).t()
    if x.shape[0] <= x.numel() // x.shape[0] else x.t() @ x) * 10).round()
    + 0)(torch.nn.init.orthogonal_(torch.zeros(*n), 2.0)) for n in ((2, 3), (3, 2), (2, 2, 2))]
torch.nn.init.sparse_(torch.zeros(2), 0.5)
[len(with_warnings(lambda: torch.nn.init.trunc_normal_(torch.zeros(3), mean, 1.0, -1.0, 1.0)))
    for mean in (-3.0, -3.1, 3.0, 3.1)]

# parameters and packs
repr(torch.nn.Parameter(torch.zeros(2)))
torch.nn.Parameter(torch.zeros(2), requires_grad=None)
torch.nn.ParameterDict().popitem()
torch.nn.utils.rnn.PackedSequence((sines(3), torch.tensor([2, 1]), None))
torch.nn.utils.rnn.PackedSequence([sines(3), torch.tensor([2, 1])]).batch_sizes
torch.nn.utils.rnn.pack_padded_sequence(sines(2, 1), [])
torch.nn.utils.rnn.pack_padded_sequence(sines(2, 0, 1), torch.zeros(0, dtype=torch.int64))
torch.optim.swa_utils.AveragedModel(torch.nn.Linear(1, 1), "cpu").module.weight.device.type

# layers that are refused, and their words
torch.nn.Conv1d(1, 1, 2, 2, "same")
torch.nn.Conv1d(1, 1, 2, padding="some")
torch.nn.Conv1d(1, 1, 2, padding_mode="some")
torch.nn.ConvTranspose1d(1, 1, 2, padding_mode="reflect")
torch.nn.Conv2d(1, 1, (2, 3), padding="same")._reversed_padding_repeated_twice
torch.nn.Conv1d(1, 1, 4, padding="same", dilation=2)._reversed_padding_repeated_twice
torch.nn.Conv2d(1, 1, 2, padding="valid")._reversed_padding_repeated_twice
[error_name(lambda: torch.nn.ConvTranspose1d(1, 1, 3, 2)(torch.zeros(1, 1, 3), n))
    for n in ([6], [7], [8], [9], [1, 1, 7], [1, 7])]
[torch.nn.ConvTranspose1d(1, 1, 3, 2, padding=1, dilation=2)(torch.zeros(1, 1, 3), [n]).shape
    for n in (7, 8)]
[repr(x) for x in (torch.nn.PReLU(3, 0.5), torch.nn.Threshold(0.1, 2, True),
    torch.nn.Bilinear(1, 2, 3, False), torch.nn.CosineSimilarity(2, 1e-3),
    torch.nn.PairwiseDistance(1.0, 1e-3, True))]

def in1_features_in2_features():
    x = torch.nn.Bilinear(4, 2, 3)
    return x.weight.shape, x.bias.shape, bool(0 < x.weight.abs().max() <= 0.5), bool(
        0 < x.bias.abs().max() <= 0.5), x.in1_features, x.in2_features, x.out_features

torch.nn.AdaptiveLogSoftmaxWithLoss(4, 6, [])
torch.nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2])(torch.zeros(2, 4), torch.zeros(2))
torch.nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2, 2])
torch.nn.Embedding(3, 2, 3)
torch.nn.Embedding(3, 2, -1).padding_idx
torch.nn.Embedding(3, 2, -3).padding_idx
torch.nn.Embedding(3, 2, -1).weight[2]
torch.nn.Embedding(3, 2, _weight=torch.ones(3, 2), _freeze=True).weight.requires_grad
torch.nn.Embedding(3, 2, _weight=torch.zeros(2, 3))
torch.nn.Softmax2d()(torch.zeros(2, 2))

def vdim_named_parameters():
    x = torch.nn.MultiheadAttention(4, 2, vdim=6)
    return [(k, tuple(v.shape)) for k, v in x.named_parameters()]

def utils_remove_spectral_norm():
    x = torch.nn.Linear(2, 2)
    h = x.register_forward_pre_hook(lambda *_: None)
    x = torch.nn.utils.spectral_norm(x)
    return error_name(lambda: torch.nn.utils.spectral_norm(x)), error_name(
        lambda: torch.nn.utils.remove_spectral_norm(x,
        "bias")), len(torch.nn.utils.remove_spectral_norm(x)._forward_pre_hooks)
