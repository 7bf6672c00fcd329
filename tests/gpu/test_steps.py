"""Steps of optimizers, scaled and clipped gradients on a GPU, against the CPU."""

import pytest
from emulator import control

import autograd_cy as torch
from autograd_cy import optim

METHODS = {
    "SGD": (optim.SGD, {"lr": 0.1}),
    "SGD with momentum": (optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
    "SGD by Nesterov": (
        optim.SGD,
        {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True},
    ),
    "SGD, dampened": (optim.SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}),
    "Adam": (optim.Adam, {"lr": 0.01}),
    "Adam with AMSGrad": (optim.Adam, {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1}),
    "AdamW": (optim.AdamW, {"lr": 0.01, "maximize": True}),
    "Adagrad": (optim.Adagrad, {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1}),
    "Adadelta": (optim.Adadelta, {"lr": 1.0, "weight_decay": 0.1}),
    "Adamax": (optim.Adamax, {"lr": 0.01, "weight_decay": 0.1}),
    "RMSprop": (optim.RMSprop, {"lr": 0.01}),
    "RMSprop, centred": (optim.RMSprop, {"lr": 0.01, "momentum": 0.9, "centered": True}),
    "Rprop": (optim.Rprop, {"lr": 0.01}),
    "ASGD": (optim.ASGD, {"lr": 0.01, "t0": 2, "weight_decay": 0.1}),
    "NAdam": (optim.NAdam, {"lr": 0.01}),
    "NAdam, decoupled": (
        optim.NAdam,
        {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True},
    ),
    "RAdam": (optim.RAdam, {"lr": 0.01, "weight_decay": 0.1}),
}
ERRORS = {
    torch.float32: 2e-6,
    torch.float64: 1e-14,
    torch.float16: 2e-3,
    torch.bfloat16: 2e-2,
    torch.complex64: 2e-6,
}
# Around the elements of a tile, one, none, and a layout of its own.
SHAPES = ((3,), (4095,), (4096,), (4097,), (2, 3, 4), (), (0, 4), (9000,))

methods = pytest.mark.parametrize("method", METHODS)
dtypes = pytest.mark.parametrize("dtype", ERRORS, ids=str)


def parameters(device, dtype, shapes=SHAPES):
    generator = torch.Generator().manual_seed(0)
    made = [torch.randn(shape, dtype=torch.float64, generator=generator) for shape in shapes]
    return [x.to(dtype).to(device).requires_grad_() for x in made]


def give_gradients(params, seed):
    generator = torch.Generator().manual_seed(seed)
    for p in params:
        p.grad = (
            torch.randn(p.shape, dtype=torch.float64, generator=generator).to(p.dtype).to(p.device)
        )


def close(mine, expected, error):
    wide = torch.complex128 if expected.is_complex() else torch.float64
    torch.testing.assert_close(
        mine.detach().cpu().to(wide), expected.detach().to(wide), rtol=error, atol=error
    )


def after_steps(device, dtype, make, steps=4):
    params = parameters(device, dtype)
    optimizer = make(params)
    for seed in range(steps):
        give_gradients(params, seed)
        optimizer.step()
    return params, optimizer


@methods
@dtypes
def test_parameters_and_state_are_those_of_the_cpu(method, dtype):
    kind, options = METHODS[method]
    mine, own = after_steps("cuda", dtype, lambda p: kind(p, **options))
    expected, other = after_steps("cpu", dtype, lambda p: kind(p, **options))
    for p, q in zip(mine, expected, strict=True):
        close(p, q, ERRORS[dtype])
        state, kept = own.state[p], other.state[q]
        assert state.keys() == kept.keys()
        for name, value in kept.items():
            if isinstance(value, torch.Tensor) and value.numel() == 1 and name != "momentum_buffer":
                close(state[name], value, max(1e-6, ERRORS[dtype]))
            elif isinstance(value, torch.Tensor):
                close(state[name], value, 3 * ERRORS[dtype])


@methods
def test_a_step_is_two_launches_and_nothing_else(method):
    kind, options = METHODS[method]
    params = parameters("cuda", torch.float32)
    optimizer = kind(params, **options)
    for seed in range(3):
        give_gradients(params, seed)
        control.order()
        before = control.counts()
        optimizer.step()
        spent = {name: n for name, n in control.spent(before).items() if n}
    assert spent.pop("launches") == 2
    spent.pop("waiting", None)
    assert not spent


@pytest.mark.parametrize("n", [1, 67, 68, 69, 150])
def test_lists_longer_than_the_arguments_of_a_launch(n):
    shapes = [(i % 5,) for i in range(n)]
    found = []
    for device in ("cuda", "cpu"):
        params = parameters(device, torch.float32, shapes)
        optimizer = optim.Adam(params, lr=0.01)
        for seed in range(2):
            give_gradients(params, seed)
            optimizer.step()
        found.append(params)
    for p, q in zip(*found, strict=True):
        close(p, q, 2e-6)


def test_dtypes_of_one_group_are_stepped_together():
    found = []
    for device in ("cuda", "cpu"):
        params = [parameters(device, dtype, [(5,), (4100,)]) for dtype in ERRORS]
        params = [p for pair in zip(*params, strict=True) for p in pair]
        optimizer = optim.AdamW(params, lr=0.01)
        for seed in range(2):
            give_gradients(params, seed)
            optimizer.step()
        found.append(params)
    for p, q in zip(*found, strict=True):
        close(p, q, ERRORS[q.dtype])


def test_layouts_and_shared_memory_are_those_of_the_cpu():
    found = []
    for device in ("cuda", "cpu"):
        base = torch.arange(24.0).reshape(4, 6).to(device)
        params = [base[:, :2].requires_grad_(), base[:, 4:].requires_grad_()]
        tied = torch.ones(6, device=device, requires_grad=True)
        params += [tied, torch.ones(3, 5, device=device).t().requires_grad_()]
        optimizer = optim.SGD(params, lr=0.5, momentum=0.9)
        for seed in range(2):
            give_gradients(params, seed)
            params[3].grad = params[3].grad.t().contiguous().t()
            optimizer.step()
        found.append(params)
    for p, q in zip(*found, strict=True):
        close(p, q, 1e-6)


@pytest.mark.parametrize("order", ["random", "late"])
def test_the_bits_do_not_depend_on_the_order_of_blocks(order):
    found = []
    for seed in range(2):
        control.order(order, seed)
        params, _ = after_steps("cuda", torch.float32, lambda p: optim.NAdam(p, lr=0.01))
        norm = torch.nn.utils.clip_grad_norm_(params, 0.1)
        found.append(
            [*[p.detach().cpu() for p in params], *[p.grad.cpu() for p in params], norm.cpu()]
        )
    for x, y in zip(*found, strict=True):
        assert torch.equal(x, y)


def test_a_count_of_steps_that_is_none_steps_nothing():
    params = parameters("cuda", torch.float32, [(3,), (5,)])
    optimizer = optim.Adam(params, lr=0.01)
    give_gradients(params, 0)
    optimizer.step()
    optimizer.state[params[1]]["step"].fill_(-1.0)
    before = [p.detach().clone() for p in params]
    optimizer.step()
    with pytest.raises(ValueError, match="step") as found:
        torch.cuda.synchronize()
    expected = optim.Adam(parameters("cpu", torch.float32, [(3,), (5,)]), lr=0.01)
    params_there = expected.param_groups[0]["params"]
    give_gradients(params_there, 0)
    expected.step()
    expected.state[params_there[1]]["step"].fill_(-1.0)
    with pytest.raises(ValueError) as there:
        expected.step()
    assert str(found.value).splitlines()[0] == str(there.value).splitlines()[0]
    for p, q in zip(params, before, strict=True):
        assert torch.equal(p.detach(), q)


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_a_rate_in_memory_is_read_when_the_step_runs(where):
    rate = torch.tensor(0.5, device=where)
    p = torch.ones(3, device="cuda", requires_grad=True)
    optimizer = optim.Adam([p], lr=rate, capturable=True)
    p.grad = torch.ones(3, device="cuda")
    optimizer.step()
    close(p, torch.full((3,), 0.5), 1e-6)


# --- scaled losses -----------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [None, float("inf"), float("nan")])
@pytest.mark.parametrize("unscaled", [False, True])
def test_scaled_losses_go_without_a_look(bad, unscaled):
    found = []
    for device in ("cuda", "cpu"):
        params = parameters(device, torch.float32)
        optimizer = optim.Adam(params, lr=0.01)
        scaler = torch.amp.GradScaler(device, init_scale=8.0, growth_interval=2)
        scaler.scale(torch.zeros((), device=device))
        for seed in range(5):
            give_gradients(params, seed)
            for p in params:
                p.grad *= 8.0
            if bad is not None and seed == 3:
                params[4].grad[0, 0, 0] = bad
            if device == "cuda":
                control.order()
                before = control.counts()
            if unscaled:
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(params, 1.0)
            scaler.step(optimizer)
            scaler.update()
            if device == "cuda" and seed > 1:
                spent = control.spent(before)
                assert not spent.keys() - {"launches", "fills", "waiting"}, spent
        found.append((params, scaler.get_scale()))
    assert found[0][1] == found[1][1]
    for p, q in zip(found[0][0], found[1][0], strict=True):
        close(p, q, 3e-6)


@dtypes
def test_gradients_are_scaled_and_what_is_not_finite_is_found(dtype):
    for bad in (None, float("inf"), float("nan")):
        grads = [p.detach() for p in parameters("cuda", dtype)]
        expected = [(g * 0.5).cpu() for g in grads]
        if bad is not None:
            grads[3].view(-1)[4096] = bad
        found, factor = torch.zeros(1, device="cuda"), torch.full((), 0.5, device="cuda")
        torch._amp_foreach_non_finite_check_and_unscale_(grads, found, factor)
        assert found.item() == (bad is not None)
        for g, h in zip(grads[:3], expected, strict=False):
            close(g, h, ERRORS[dtype])


# --- clipping ----------------------------------------------------------------------------------


@dtypes
@pytest.mark.parametrize("bound", [0.5, 1e6])
def test_clipped_gradients_are_those_of_the_cpu(dtype, bound):
    found = []
    for device in ("cuda", "cpu"):
        params = parameters(device, dtype)
        give_gradients(params, 0)
        norm = torch.nn.utils.clip_grad_norm_(params, bound)
        found.append([norm, *(p.grad for p in params)])
    for mine, expected in zip(*found, strict=True):
        close(mine, expected, 4 * ERRORS[dtype])


def test_clipping_is_three_launches():
    params = parameters("cuda", torch.float32, [(8, 8), (8,)] * 3)
    give_gradients(params, 0)
    torch.nn.utils.clip_grad_norm_(params, 0.1)
    control.order()
    before = control.counts()
    torch.nn.utils.clip_grad_norm_(params, 0.1)
    spent = {name: n for name, n in control.spent(before).items() if n}
    assert spent.pop("launches") == 3
    spent.pop("waiting", None)
    assert not spent


@pytest.mark.parametrize("n", [1, 159, 160, 161, 400])
def test_norms_of_lists_longer_than_the_arguments_of_a_launch(n):
    shapes = [(i % 3 + 1,) for i in range(n)]
    grads = [p.detach() for p in parameters("cuda", torch.float32, shapes)]
    expected = torch.cat([g.cpu().double() for g in grads]).norm()
    close(torch.nn.utils.get_total_norm(grads), expected, 1e-6)


def test_a_norm_that_is_not_a_number_goes_to_all_gradients():
    params = parameters("cuda", torch.float32, [(3,), (4,)])
    give_gradients(params, 0)
    params[0].grad[1] = float("nan")
    torch.nn.utils.clip_grad_norm_(params, 1.0)
    assert all(p.grad.isnan().all().item() for p in params)
