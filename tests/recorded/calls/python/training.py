"""Training: calls of the Python layer (`autograd_cy`)."""

import math

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    differs,
    error_name,
    fill_parameters,
    scheduled_rates,
    sgd_with_rates,
    sines,
    with_warnings,
)

C = torch.utils.checkpoint
S = torch.optim.swa_utils

# Scales of gradients.
def grad_scaler_update():
    s = torch.amp.GradScaler("cpu", 8.0)
    return s.update()

def growth_interval_backoff_factor():
    def trained(grads, **options):
        s = torch.amp.GradScaler("cpu", 8.0, **options)
        p = torch.zeros(1, requires_grad=True)
        o = torch.optim.SGD([p], lr=1.0)
        found = []
        for g in grads:
            p.grad = None
            s.scale((p * g).sum()).backward()
            s.step(o)
            s.update()
            found += [p.detach().clone(), s.get_scale(), s.state_dict()["_growth_tracker"]]
        return found
    return [trained([1.0, 1.0, 2.0, math.inf, 1.0], growth_interval=2),
        trained([math.nan, 1.0, math.inf], growth_interval=1, backoff_factor=0.25,
        growth_factor=3.0)]

def unscale_update():
    s = torch.amp.GradScaler("cpu", 8.0)
    p = torch.zeros(1, requires_grad=True)
    o = torch.optim.SGD([p], lr=1.0)
    s.scale(p * 2).backward()
    s.unscale_(o)
    return [p.grad, error_name(s.unscale_, o), s.step(o), p, error_name(s.step, o),
        error_name(s.unscale_, o), s.update(), error_name(s.update)]

def update_unscale():
    s = torch.amp.GradScaler("cpu", 8.0)
    s.scale(torch.tensor(1.0))
    o = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    return [error_name(s.step, o), error_name(s.update), error_name(s.unscale_, o),
        error_name(s.unscale_, o)]

def grad_scaler_closure():
    s = torch.amp.GradScaler("cpu", 8.0)
    return error_name(lambda: s.step(torch.optim.SGD([torch.zeros(1)], lr=1.0), closure=lambda: 1))

error_name(lambda: torch.amp.GradScaler("cpu", growth_factor=1.0))
error_name(lambda: torch.amp.GradScaler("cpu", backoff_factor=1.0))
error_name(lambda: torch.amp.GradScaler("cpu").load_state_dict({}))

# What computes in half a type.
def device_type_is_autocast_enabled():
    class One(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx, x, many, named=None):
            return x.clone() if torch.is_autocast_enabled("cpu") else x * 3
        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            return g * (2 if torch.is_autocast_enabled("cpu") else 5), None, None
    x = torch.ones(1, requires_grad=True)
    with torch.autocast("cpu"):
        y = One.apply(x, [torch.tensor([1.0])])
    return [y, y.backward(), x.grad, One.apply(x.detach(), 3)]

def device_type_is_autocast_enabled_2():
    class One(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu")
        def forward(ctx, x):
            return (x @ x) * torch.is_autocast_enabled("cpu")
        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            return g * (2 if torch.is_autocast_enabled("cpu") else 5)
    x = torch.ones(1, 1, requires_grad=True)
    with torch.autocast("cpu"):
        y = One.apply(x)
    z = One.apply(x)
    return [y.dtype is torch.bfloat16, y.sum().backward(), x.grad, z.sum().backward(), x.grad]

def custom_fwd_device_type():
    def plain(ctx, x):
        return torch.is_autocast_enabled("cpu")
    class C:
        pass
    return [torch.amp.custom_fwd(plain, device_type="cpu")(C(), 1),
        torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)(plain)(C(), 1),
        error_name(lambda: torch.amp.custom_fwd(plain, device_type=3)),
        error_name(lambda: torch.amp.custom_bwd(plain, device_type=3))]

def is_autocast_enabled_get_autocast_dtype():
    with torch.autocast("cpu", torch.float16):
        a = (torch.ones(1, 1) @ torch.ones(1, 1)).dtype is torch.float16, torch.get_autocast_dtype(
            "cpu") is torch.float16
    with torch.autocast("cpu"):
        with torch.autocast("cpu", enabled=False):
            b = (torch.ones(1, 1) @ torch.ones(1,
                1)).dtype is torch.float32, torch.is_autocast_enabled("cpu")
    return [a, b, torch.is_autocast_enabled("cpu"),
        torch.get_autocast_dtype("cpu") is torch.bfloat16]

def float64_is_autocast_enabled():
    def inside():
        with torch.autocast("cpu", torch.float64):
            return torch.is_autocast_enabled("cpu")
    return with_warnings(inside)

torch.autocast(3)
error_name(lambda: torch.autocast("odd"))

# Run again in backward.
def checkpoint_use_reentrant():
    calls = []
    def f(x, y):
        return (calls.append(1), (x * y).exp() * x)[1]
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    z = C.checkpoint(f, x, 2.0, use_reentrant=True)
    return [z, len(calls), type(z.grad_fn).__name__, z.sum().backward(), len(calls), x.grad]

def checkpoint_inputs():
    x = torch.ones(1, requires_grad=True)
    y = C.checkpoint(lambda x: x.exp(), x, use_reentrant=True)
    return [error_name(lambda: torch.autograd.grad(y, x)),
        error_name(lambda: y.backward(inputs=[x]))]

def checkpoint_use_reentrant_2():
    x = torch.ones(1, requires_grad=True)
    y = C.checkpoint(lambda x: x.detach(), x, use_reentrant=True)
    return error_name(y.backward)

def bool_dropout():
    x = torch.ones(3, requires_grad=True)
    torch.manual_seed(0)
    y = C.checkpoint(lambda x: F.dropout(x, 0.5) * x, x, use_reentrant=False)
    torch.manual_seed(5)
    y.sum().backward()
    return bool((x.grad == y.detach() * 2).all())

def get_rng_state_bool():
    x = torch.ones(30, requires_grad=True)
    torch.manual_seed(0)
    y = C.checkpoint(lambda x: F.dropout(x, 0.5) * x, x, use_reentrant=True)
    torch.manual_seed(5)
    state = torch.get_rng_state()
    y.sum().backward()
    return [bool((x.grad == y.detach() * 2).all()), bool((torch.get_rng_state() == state).all())]

def preserve_rng_state_get_rng_state():
    x = torch.ones(30, requires_grad=True)
    torch.manual_seed(0)
    y = C.checkpoint(lambda x: F.dropout(x, 0.5) * x, x, use_reentrant=False,
        preserve_rng_state=False)
    state = torch.get_rng_state()
    y.sum().backward()
    return [bool((x.grad == y.detach() * 2).all()), bool((torch.get_rng_state() == state).all())]

def checkpoint_sequential_use_reentrant():
    x = torch.ones(1, requires_grad=True)
    y = C.checkpoint_sequential(nn.Sequential(nn.Tanh(), nn.Tanh(), nn.Tanh()), 2, x,
        use_reentrant=True)
    return [y.backward(), x.grad, with_warnings(lambda: C.checkpoint_sequential([torch.exp,
        torch.exp], 1, x))[0][:1], error_name(lambda: C.checkpoint_sequential([torch.exp], 1, x,
        use_reentrant=True, k=1))]

# Optimizers.
def maximize_decoupled_weight_decay():
    def moved_by(make, grads, **more):
        p, q = torch.tensor([1.0, -2.0], dtype=torch.float64,
            requires_grad=True), torch.tensor([[0.5]], dtype=torch.float64, requires_grad=True)
        o = make([{"params": [p]}, {"params": [q], **more}])
        for k, g in enumerate(grads):
            p.grad, q.grad = torch.tensor([g, -g + 1], dtype=torch.float64), torch.tensor([[g * k]],
                dtype=torch.float64)
            o.step()
        return [p.detach(), q.detach()]
    O = torch.optim
    return [moved_by(make, [1.0, -0.5, 0.25, 2.0, 0.0, 1.5, 1.0], lr=0.25)
        for make in (lambda x: O.SGD(x, 0.1, 0.9), lambda x: O.SGD(x, 0.1, 0.9, 0.5),
        lambda x: O.SGD(x, 0.1, 0.9, nesterov=True, weight_decay=0.1),
        lambda x: O.SGD(x, 0.1, maximize=True), O.Adam,
        lambda x: O.Adam(x, amsgrad=True, weight_decay=0.1), lambda x: O.Adam(x, maximize=True),
        O.AdamW, O.NAdam, lambda x: O.NAdam(x, decoupled_weight_decay=True, weight_decay=0.1),
        O.RAdam, lambda x: O.RAdam(x, decoupled_weight_decay=True, weight_decay=0.1), O.Adamax,
        O.Adagrad, lambda x: O.Adagrad(x, lr_decay=0.5, initial_accumulator_value=0.1), O.Adadelta,
        lambda x: O.RMSprop(x, centered=True, momentum=0.5), O.RMSprop, O.Rprop, O.ASGD,
        lambda x: O.ASGD(x, t0=1, lambd=0.5))]

@differs("Torch leaves out what a pair has too much.")
def requires_grad_optim():
    p = torch.zeros(1, requires_grad=True)
    return error_name(torch.optim.SGD, [("a", p, 1)])

def add_param_group_param_groups():
    p, q = (torch.zeros(1, requires_grad=True) for _ in range(2))
    o = torch.optim.SGD([("a", p)], 0.1)
    return [o.param_groups[0]["param_names"], error_name(o.add_param_group, {"params": [q]}),
        error_name(o.add_param_group, {"params": [("b", q)]}),
        [g["param_names"] for g in o.param_groups]]

def adam_param_groups():
    p, q = (torch.zeros(1, requires_grad=True) for _ in range(2))
    o = torch.optim.Adam([{"params": [p], "lr": 0.5}, {"params": q}])
    p.grad = torch.ones(1)
    o.step()
    state = o.state_dict()
    other = torch.optim.Adam([{"params": [p]}, {"params": [q]}])
    other.load_state_dict(state)
    return [[*state["state"]], [g["params"] for g in state["param_groups"]],
        [g["lr"] for g in other.param_groups], sorted(other.state[p]),
        float(other.state[p]["step"]), len(other.state),
        other.state[p]["exp_avg"] is o.state[p]["exp_avg"]]

def zero_grad_optimizer():
    p = torch.zeros(1, requires_grad=True)
    o = torch.optim.SGD([p], 0.1)
    o.zero_grad()
    p.grad = torch.ones(1)
    p.grad.requires_grad_(True)
    return [o.zero_grad(False), p.grad, p.grad.requires_grad, o.zero_grad(), p.grad,
        o.step(lambda: 3), o.step(), error_name(torch.optim.Optimizer([p], {}).step)]

def max_iter_line_search_fn():
    def least(**options):
        x = torch.tensor([-1.0, 1.5], dtype=torch.float64, requires_grad=True)
        o = torch.optim.LBFGS([x], **options)
        losses = []
        def closure():
            o.zero_grad()
            y = (1 - x[0]) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2
            y.backward()
            losses.append(y.item())
            return y
        for _ in range(3):
            o.step(closure)
        return x.detach(), len(losses), losses[-1], o.state[x]["n_iter"], o.state[x]["func_evals"]
    return [least(max_iter=4, lr=0.1), least(max_iter=4, line_search_fn="strong_wolfe"),
        least(max_iter=8, history_size=2, line_search_fn="strong_wolfe"),
        least(max_iter=9, max_eval=4, lr=0.1), least(max_iter=9, max_eval=5,
        line_search_fn="strong_wolfe"), least(tolerance_grad=1.0, lr=0.1),
        least(tolerance_change=0.1, lr=0.1), least(max_iter=1, lr=0.1)]

# Averages of weights.
def num_batches_tracked_module():
    m = fill_parameters(nn.BatchNorm1d(1))
    a, b, c, d = S.AveragedModel(m), S.AveragedModel(m,
        multi_avg_fn=S.get_ema_multi_avg_fn(0.75)), S.AveragedModel(m,
        avg_fn=S.get_ema_avg_fn(0.75), use_buffers=True), S.AveragedModel(m, use_buffers=True)
    for k in range(3):
        m.weight.data.fill_(k + 1.0)
        m.running_mean.fill_(k + 1.0)
        m.num_batches_tracked.fill_(4 * k)
        for x in (a, b, c, d):
            x.update_parameters(m)
    return [[x.module.weight, x.module.running_mean, x.module.num_batches_tracked, x.n_averaged]
        for x in (a, b, c, d)]

error_name(lambda: S.AveragedModel(nn.ReLU(), avg_fn=S.get_swa_avg_fn(),
    multi_avg_fn=S.get_swa_multi_avg_fn()))
error_name(S.get_ema_avg_fn, 1.5)
error_name(S.get_ema_multi_avg_fn, -0.5)
error_name(S.get_ema_avg_fn, 1.0)
S.get_swa_avg_fn()(torch.tensor(1.0), torch.tensor(4.0), 2)
S.get_ema_avg_fn(0.5)(torch.tensor(1.0), torch.tensor(4.0), 2)

def update_bn_training():
    m = nn.Sequential(nn.BatchNorm1d(1), nn.Dropout())
    m.eval()
    S.update_bn([[torch.tensor([[1.0], [3.0]]), 1], torch.tensor([[5.0], [9.0]])], m)
    return [m[0].running_mean, m[0].running_var, m[0].momentum, m.training, m[1].training,
        m[0].num_batches_tracked, S.update_bn([], nn.ReLU())]

scheduled_rates(torch.optim.swa_utils.SWALR(sgd_with_rates(1.0, 0.5), 0.25, 4), 6)
scheduled_rates(torch.optim.swa_utils.SWALR(sgd_with_rates(1.0, 0.5), [0.25, 0.125], 2, "linear"),
    4)
scheduled_rates(torch.optim.swa_utils.SWALR(sgd_with_rates(1.0), 0.25, 0), 2)
[error_name(lambda: torch.optim.swa_utils.SWALR(sgd_with_rates(1.0), *a))
    for a in ((0.1, -1), (0.1, 1.0), (0.1, 1, "odd"), ([0.1, 0.2],))]

# Attention and transformers.
def static_k_static_v():
    def mha(q, k, v, *more, **options):
        return F.multi_head_attention_forward(q, k, v, 4, 2, sines(12, 4), sines(12), None, None,
            False, 0.0, sines(4, 4, phase=1), None, *more, **options)
    return [mha(sines(3, 4), sines(5, 4, phase=1), sines(5, 4),
        key_padding_mask=torch.tensor([False, True, False, False, True])),
        mha(sines(3, 2, 4), sines(5, 2, 4, phase=1), sines(5, 2, 4), static_k=sines(4, 3, 2),
        static_v=sines(4, 3, 2, phase=2)), mha(sines(3, 2, 4), sines(5, 2, 4, phase=1),
        sines(5, 2, 4), need_weights=False)[0]]

def phase_static_k():
    def mha(q, k, v, *more, **options):
        return F.multi_head_attention_forward(q, k, v, 4, 2, sines(12, 4), sines(12), None, None,
            False, 0.0, sines(4, 4, phase=1), None, *more, **options)
    return [error_name(lambda: mha(sines(3, 2, 4), sines(5, 2, 4), sines(5, 2, 4), static_k=x))
        for x in (sines(3, 3, 2), sines(4, 3, 3))]

def identity_custom_decoder():
    t3 = nn.Transformer(4, 2, 1, 1, 8, 0.0, custom_encoder=nn.Identity())
    return [type(t3.encoder).__name__, type(nn.Transformer(4, 2, 1, 1, 8,
        custom_decoder=nn.Identity()).decoder).__name__]

def tgt_mask_src_key_padding_mask():
    m = fill_parameters(nn.Transformer(4, 2, 1, 2, 8, 0.0, batch_first=True))
    return [m(sines(2, 3, 4), sines(2, 2, 4)), m(sines(2, 3, 4), sines(2, 2, 4),
        tgt_mask=m.generate_square_subsequent_mask(2).double(),
        src_key_padding_mask=torch.tensor([[False, True, False]] * 2)), m(sines(3, 4), sines(2, 4))]

def gelu_norm_first():
    m = fill_parameters(nn.Transformer(4, 2, 1, 1, 8, 0.0, F.gelu, norm_first=True))
    return [m(sines(3, 2, 4), sines(2, 2, 4)), error_name(m, sines(3, 2, 4), sines(2, 1, 4)),
        error_name(m, sines(3, 2, 5), sines(2, 2, 5))]
