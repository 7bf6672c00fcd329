"""Mixed precision: which operators compute in what, nesting, parameters kept, custom Functions."""

import copy
import pickle
import threading
import warnings

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import amp, nn
from autograd_cy.amp.autocast_mode import _policy_of_record
from autograd_cy.utils.checkpoint import checkpoint

F = nn.functional
LOW, HIGH = ag.bfloat16, ag.float32


def draw(lib, dtype):
    return lambda *shape: lib.rand(*shape).to(getattr(lib, dtype))


def eye(lib, r):
    return lib.eye(3).to(r(1).dtype)


#: Calls of a library and a function that draws numbers in a dtype.
CALLS = {
    "matmul": lambda t, r: r(3, 3) @ r(3, 3),
    "mm": lambda t, r: t.mm(r(3, 3), r(3, 3)),
    "bmm": lambda t, r: t.bmm(r(1, 3, 3), r(1, 3, 3)),
    "mv": lambda t, r: t.mv(r(3, 3), r(3)),
    "dot": lambda t, r: t.dot(r(3), r(3)),
    "addmm": lambda t, r: t.addmm(r(3, 3), r(3, 3), r(3, 3)),
    "baddbmm": lambda t, r: t.baddbmm(t.rand(1, 3, 3), r(1, 3, 3), r(1, 3, 3)),
    "addbmm": lambda t, r: t.addbmm(r(3, 3), r(1, 3, 3), r(1, 3, 3)),
    "linear": lambda t, r: t.nn.functional.linear(r(3, 3), t.rand(3, 3), t.rand(3)),
    "multi_dot": lambda t, r: t.linalg.multi_dot([r(3, 3), r(3, 3), r(3, 3)]),
    "vecdot": lambda t, r: t.linalg.vecdot(r(3), r(3)),
    "conv1d": lambda t, r: t.nn.functional.conv1d(r(1, 1, 4), t.rand(1, 1, 2)),
    "conv2d": lambda t, r: t.nn.functional.conv2d(r(1, 1, 4, 4), t.rand(1, 1, 2, 2)),
    "conv_transpose": lambda t, r: t.nn.functional.conv_transpose2d(r(1, 1, 4, 4), r(1, 1, 2, 2)),
    "prelu": lambda t, r: t.nn.functional.prelu(r(2), t.rand(1)),
    "lstm": lambda t, r: t.nn.LSTM(2, 3)(r(4, 1, 2))[0],
    "rnn": lambda t, r: t.nn.RNN(2, 3)(r(4, 1, 2))[0],
    "prod": lambda t, r: r(3).prod(),
    "trace": lambda t, r: r(3, 3).trace(),
    "mse_loss": lambda t, r: t.nn.functional.mse_loss(r(3), r(3)),
    "l1_loss": lambda t, r: t.nn.functional.l1_loss(r(3), r(3)),
    "huber_loss": lambda t, r: t.nn.functional.huber_loss(r(3), r(3)),
    "cross_entropy": lambda t, r: t.nn.functional.cross_entropy(r(2, 3), t.tensor([0, 1])),
    "nll_loss": lambda t, r: t.nn.functional.nll_loss(r(2, 3), t.tensor([0, 1])),
    "logits": lambda t, r: t.nn.functional.binary_cross_entropy_with_logits(r(3), r(3)),
    "avg_pool3d": lambda t, r: t.nn.functional.avg_pool3d(r(1, 1, 4, 4, 4), 2),
    "max_pool3d": lambda t, r: t.nn.functional.max_pool3d(r(1, 1, 4, 4, 4), 2),
    "max_pool2d": lambda t, r: t.nn.functional.max_pool2d(r(1, 1, 4, 4), 2),
    "unpool": lambda t, r: t.nn.functional.max_unpool1d(r(1, 1, 1), t.tensor([[[1]]]), 2),
    "kl_div": lambda t, r: t.nn.functional.kl_div(r(3), r(3), reduction="sum"),
    "fft": lambda t, r: t.fft.fft(r(4)),
    "reflect": lambda t, r: t.nn.functional.pad(r(1, 1, 4), (1, 1), "reflect"),
    "replicate": lambda t, r: t.nn.functional.pad(r(1, 1, 4), (1, 1), mode="replicate"),
    "zeros around": lambda t, r: t.nn.functional.pad(r(4), (1, 1)),
    "inv": lambda t, r: t.linalg.inv(eye(t, r)),
    "cholesky": lambda t, r: t.linalg.cholesky(eye(t, r)),
    "stack": lambda t, r: t.stack([r(3), t.rand(3)]),
    "cat": lambda t, r: t.cat([r(3), t.rand(3)]),
    "sum": lambda t, r: r(3).sum(),
    "softmax": lambda t, r: t.nn.functional.softmax(r(3), 0),
    "batch_norm": lambda t, r: t.nn.functional.batch_norm(r(3, 2), t.zeros(2), t.ones(2)),
    "exp": lambda t, r: r(3).exp(),
    "add": lambda t, r: r(3) + t.rand(3),
    "doubles": lambda t, r: r(3, 3).double() @ r(3, 3).double(),
    "whole numbers": lambda t, r: t.ones(2, 2, dtype=t.int64) @ t.ones(2, 2, dtype=t.int64),
}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", CALLS)
def test_results_have_the_dtypes_of_torch(name, dtype):
    torch = pytest.importorskip("torch")
    found = []
    for lib in (ag, torch):
        with lib.autocast("cpu", dtype=lib.bfloat16):
            try:
                found.append(str(CALLS[name](lib, draw(lib, dtype)).dtype).rpartition(".")[2])
            except RuntimeError as error:
                if lib is ag or "primitive" not in str(error):
                    raise
                pytest.skip("torch's library has no such kernel for this processor")
    assert found[0] == found[1]


def test_lists_and_names_are_those_of_operators():
    """Nothing that torch lists is forgotten because it has another name here."""
    x = ag.rand(3, 3)
    with ag.autocast("cpu"):
        assert x.matmul(x).dtype is x.__matmul__(x).dtype is ag.matmul(x, x).dtype is LOW
        assert (ag.rand(3, 3).numpy() is not None) and nn.Linear(3, 3)(x).dtype is LOW
        assert nn.Conv2d(1, 1, 2)(ag.rand(1, 1, 4, 4)).dtype is LOW
        assert F.mse_loss(x.to(LOW), x.to(LOW)).dtype is HIGH
        assert nn.L1Loss()(x.to(LOW), x.to(LOW)).dtype is HIGH


def test_policies_are_those_of_records_and_of_functions_without_one():
    assert ag.mm._autocast == ag.Tensor.inner._autocast == ag.einsum._autocast == "lower"
    assert ag.linalg.inv._autocast == ag.inverse._autocast == F.huber_loss._autocast == "float32"
    assert F.pad._autocast == "padding" and F.rms_norm._autocast == "input"
    assert ag.add._autocast is ag.Tensor.addmm_._autocast is None


def test_functions_have_the_policies_of_operators_of_their_names():
    policies = {"batch_norm": "input", "cross_entropy": "float32", "max_pool3d": "float32"}
    policies |= {"max_pool2d": None, "dropout": None, "pairwise_distance": None}
    assert {name: _policy_of_record(getattr(F, name)) for name in policies} == policies

    def cross_entropy(x):
        return x

    assert _policy_of_record(cross_entropy) is _policy_of_record(ag.Tensor.__rmatmul__) is None


def network():
    ag.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def test_training_steps_have_gradients_of_float32_near_the_exact_ones():
    model, x, y = network(), ag.rand(32, 8), ag.randint(0, 4, (32,))
    F.cross_entropy(model(x), y).backward()
    exact = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    with ag.autocast("cpu", dtype=LOW):
        output = model(x)
        loss = F.cross_entropy(output, y)
    assert output.dtype is LOW and loss.dtype is HIGH
    loss.backward()
    for p, g in zip(model.parameters(), exact):
        assert p.grad.dtype is HIGH
        error = (p.grad - g).norm() / g.norm()
        assert 0 < error < 0.03  # bfloat16 has 8 bits


def test_regions_nest_and_are_left_after_errors():
    x = ag.rand(2, 2)
    with ag.autocast("cpu", dtype=LOW):
        assert ag.is_autocast_enabled("cpu") and not ag.is_autocast_enabled()
        with ag.autocast("cpu", enabled=False):
            assert (x @ x).dtype is HIGH and not ag.is_autocast_enabled("cpu")
            with ag.autocast("cpu", dtype=ag.float16):
                assert (x @ x).dtype is ag.float16 and ag.get_autocast_dtype("cpu") is ag.float16
        assert (x @ x).dtype is LOW
        with pytest.raises(ZeroDivisionError), ag.autocast("cpu", dtype=ag.float16):
            1 / 0
        assert (x @ x).dtype is LOW
    assert (x @ x).dtype is HIGH and ag.overrides._get_current_function_mode() is None
    region = ag.autocast("cpu")
    with region, region:
        assert (x @ x).dtype is LOW
    assert (x @ x).dtype is HIGH


def test_functions_are_decorated():
    @ag.autocast("cpu", dtype=LOW)
    def product(x):
        """Say what it is."""
        return x @ x

    assert product(ag.rand(2, 2)).dtype is LOW and product.__doc__ == "Say what it is."
    assert (ag.rand(2, 2) @ ag.rand(2, 2)).dtype is HIGH


def test_threads_have_regions_of_their_own():
    found = []

    def other():
        found.append((ag.ones(2, 2) @ ag.ones(2, 2)).dtype)

    with ag.autocast("cpu"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert found == [HIGH]


def test_parameters_are_converted_once_until_they_change():
    w = nn.Parameter(ag.ones(2, 2))

    def cast_of(y):
        return y.grad_fn.next_functions[0][0]

    with ag.autocast("cpu"):
        first, second = w @ w, w @ w
        assert cast_of(first) is cast_of(second) is first.grad_fn.next_functions[1][0]
        with ag.no_grad():
            assert not (w @ w).requires_grad
            w.mul_(2.0)
        assert (w @ w).tolist() == [[8, 8], [8, 8]]
        ag.clear_autocast_cache()
        assert cast_of(w @ w) is not cast_of(second)
        with ag.autocast("cpu", cache_enabled=False):
            assert not ag.is_autocast_cache_enabled()
            assert cast_of(w @ w) is not cast_of(w @ w)
    (first.sum() + second.sum()).backward()
    assert w.grad.tolist() == [[8, 8], [8, 8]] and w.grad.dtype is HIGH
    with ag.no_grad(), ag.autocast("cpu"):
        w @ w  # a conversion without history must not be kept
        with ag.enable_grad():
            assert (w @ w).requires_grad
    from autograd_cy.amp.autocast_mode import _state

    assert not _state.cache


def test_places_to_write_to_are_left_alone():
    x, out = ag.ones(2, 2), ag.zeros(2, 2)
    with ag.autocast("cpu"):
        assert ag.mm(x, x, out=out) is out and out.dtype is HIGH
        assert x.addmm_(out, out).dtype is HIGH


def test_norms_take_inputs_of_less_than_their_parameters():
    norm = nn.BatchNorm1d(3) if hasattr(nn, "BatchNorm1d") else None
    x = ag.rand(4, 3).to(LOW)
    with ag.autocast("cpu"):
        y = F.batch_norm(x, ag.zeros(3), ag.ones(3), ag.ones(3), ag.zeros(3))
        assert y.dtype is LOW
        if norm is not None:
            assert norm(x).dtype is LOW and norm.running_mean.dtype is HIGH


def test_modes_of_users_see_calls_within():
    class Names(ag.overrides.TorchFunctionMode):
        def __init__(self):
            self.seen = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    x, names = ag.rand(2, 2), Names()
    with ag.autocast("cpu"), names:
        assert ag.mm(x, x).dtype is LOW
    with names, ag.autocast("cpu"):
        assert ag.mm(x, x).dtype is LOW
    assert names.seen.count("mm") == 2


class Product(ag.autograd.Function):
    seen: list = []  # noqa: RUF012

    @staticmethod
    @amp.custom_fwd(device_type="cpu")
    def forward(ctx, x):
        ctx.save_for_backward(x)
        Product.seen.append(ag.is_autocast_enabled("cpu"))
        return x @ x

    @staticmethod
    @amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        Product.seen.append(ag.is_autocast_enabled("cpu"))
        return (grad @ x.t() + x.t() @ grad).to(x.dtype)


class Exact(ag.autograd.Function):
    @staticmethod
    @amp.custom_fwd(device_type="cpu", cast_inputs=ag.float32)
    def forward(ctx, x, others):
        assert others["a"][0].dtype is HIGH or not ag.is_autocast_enabled("cpu")
        ctx.within = ag.is_autocast_enabled("cpu")
        return x @ x

    @staticmethod
    @amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        assert not ctx.within and not ag.is_autocast_enabled("cpu")
        return grad, None


def test_backward_of_functions_runs_as_their_forward():
    x = ag.ones(2, 2, requires_grad=True)
    for within in (True, False):
        Product.seen.clear()
        with ag.autocast("cpu", enabled=within):
            y = Product.apply(x)
        y.sum().backward()
        assert Product.seen == [within, within] and y.dtype is (LOW if within else HIGH)
    assert x.grad.tolist() == [[8, 8], [8, 8]]


def test_functions_may_ask_for_a_dtype():
    x = ag.ones(2, 2, dtype=LOW, requires_grad=True)
    with ag.autocast("cpu"):
        y = Exact.apply(x, {"a": [x]})
        assert ag.is_autocast_enabled("cpu")
    y.sum().backward()
    assert y.dtype is HIGH and x.grad.dtype is LOW
    assert Exact.apply(x, {"a": [x]}).dtype is LOW


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoints_are_recomputed_in_their_precision(use_reentrant):
    model, x = network(), ag.rand(4, 8, requires_grad=True)
    grads = []
    for kept in (True, False):
        model.zero_grad()
        x.grad = None
        with ag.autocast("cpu"):
            y = model(x) if kept else checkpoint(model, x, use_reentrant=use_reentrant)
        y.sum().backward()
        grads.append([p.grad.numpy() for p in (x, *model.parameters())])
    for a, b in zip(*grads):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ag.autocast(3), ValueError, "Expected `device_type` of type `str`"),
        (lambda: ag.autocast("odd"), RuntimeError, "odd"),
        (lambda: ag.get_autocast_dtype("odd"), RuntimeError, "odd"),
        (lambda: amp.custom_fwd(lambda ctx: 1, device_type=3), ValueError, "custom_fwd"),
        (lambda: amp.custom_bwd(lambda ctx: 1, device_type=3), ValueError, "custom_bwd"),
    ],
)
def test_bad_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_what_cannot_be_done_is_reported_and_switched_off():
    x = ag.ones(2, 2)
    with pytest.warns(UserWarning, match="only supports dtype of bfloat16, float16"):
        region = ag.autocast("cpu", dtype=ag.float64)
    with region:
        assert (x @ x).dtype is HIGH
    with pytest.warns(UserWarning, match="'meta', but it is not available"):
        ag.autocast("meta")
    with pytest.warns(UserWarning, match=r"CUDA is not available .*Disabling autocast"):
        region = ag.autocast("cuda")
    with region:
        assert not ag.is_autocast_enabled("cuda")
    with pytest.warns(UserWarning, match="GradScaler is enabled, but CUDA is not available"):
        assert not amp.GradScaler().is_enabled()


def test_the_older_names_of_mixed_precision_on_the_cpu():
    from autograd_cy.cpu.amp import autocast, autocast_mode, grad_scaler

    older = ag.cpu.amp
    assert autocast_mode.autocast is older.autocast and grad_scaler.GradScaler is older.GradScaler
    x = ag.ones(2, 2)
    for arguments, dtype in (((), ag.bfloat16), ((True, ag.float16), ag.float16), ((False,), HIGH)):
        with pytest.warns(FutureWarning, match=r"use `torch\.amp\.autocast\('cpu', args"):
            region = autocast(*arguments)
        with region:
            assert (x @ x).dtype is dtype
        assert isinstance(region, amp.autocast)
    with pytest.warns(FutureWarning, match=r"use `torch\.amp\.GradScaler\('cpu', args"):
        scaler = older.GradScaler(2.0)
    assert isinstance(scaler, amp.GradScaler) and scaler.scale(x).tolist() == [[2.0] * 2] * 2


def test_the_older_names_of_mixed_precision_warn_and_change_nothing():
    from autograd_cy.cuda.amp import autocast, custom_bwd, custom_fwd, grad_scaler

    older = ag.cuda.amp
    assert older.amp_definitely_not_available() and grad_scaler.GradScaler is older.GradScaler
    x = ag.ones(2, 2)
    for arguments in ((), (True, ag.bfloat16, False)):
        with pytest.warns(FutureWarning, match=r"use `torch\.amp\.autocast\('cuda', args"):
            with pytest.warns(UserWarning, match="CUDA is not available"):
                region = autocast(*arguments)
        with region:
            assert (x @ x).dtype is HIGH and not ag.is_autocast_enabled()
        assert isinstance(region, amp.autocast)
    with pytest.warns(FutureWarning, match=r"use `torch\.amp\.GradScaler\('cuda', args"):
        scaler = older.GradScaler(2.0, enabled=False)
    assert isinstance(scaler, amp.GradScaler) and scaler.scale(x) is x and scaler.get_scale() == 1
    with pytest.warns(FutureWarning) as warned:

        class Double(ag.autograd.Function):
            @staticmethod
            @custom_fwd(cast_inputs=ag.float16)
            def forward(ctx, x):
                return x * 2

            @staticmethod
            @custom_bwd
            def backward(ctx, grad):
                return grad * 2

    assert [str(w.message).split("`")[3] for w in warned] == [
        "torch.amp.custom_fwd(args..., device_type='cuda')",
        "torch.amp.custom_bwd(args..., device_type='cuda')",
    ]
    assert [w.filename for w in warned] == [__file__] * 2
    y = Double.apply(x.requires_grad_())
    y.sum().backward()
    assert y.dtype is HIGH and x.grad.tolist() == [[2.0, 2.0]] * 2


def test_switches_by_hand():
    x = ag.ones(2, 2)
    ag.set_autocast_enabled("cpu", True)
    try:
        assert ag.is_autocast_cpu_enabled() and (x @ x).dtype is LOW
        ag.set_autocast_dtype("cpu", ag.float16)
        assert ag.get_autocast_cpu_dtype() is ag.float16 and (x @ x).dtype is ag.float16
        assert ag.autocast_increment_nesting() == 1
    finally:
        ag.autocast_decrement_nesting()
        ag.set_autocast_cpu_dtype(LOW)
        ag.set_autocast_cpu_enabled(False)
    assert (x @ x).dtype is HIGH and ag.overrides._get_current_function_mode() is None
    ag.set_autocast_cache_enabled(False)
    assert not ag.is_autocast_cache_enabled()
    ag.set_autocast_cache_enabled(True)


# --- scaled losses ------------------------------------------------------------------------------


def scaled(grad, **options):
    w = nn.Parameter(ag.zeros(2))
    optimizer = ag.optim.SGD([w], lr=1.0)
    scaler = amp.GradScaler("cpu", init_scale=8.0, growth_interval=2, **options)
    scaler.scale((w * ag.tensor(grad)).sum()).backward()
    return w, optimizer, scaler


def test_gradients_lose_the_scale_before_the_step():
    w, optimizer, scaler = scaled([1.0, -2.0])
    assert w.grad.tolist() == [8, -16]
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [1, -2]
    scaler.step(optimizer)
    assert w.tolist() == [-1, 2]
    scaler.update()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 16.0


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_steps_that_overflow_are_left_out(bad):
    w, optimizer, scaler = scaled([1.0, bad])
    assert scaler.step(optimizer) is None and w.tolist() == [0, 0]
    scaler.update()
    assert scaler.get_scale() == 4.0


def test_scalers_are_saved_as_in_torch():
    torch = pytest.importorskip("torch")
    _, _, scaler = scaled([1.0, 1.0])
    theirs = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    assert scaler.state_dict() == theirs.state_dict()
    other = amp.GradScaler("cpu")
    other.load_state_dict(theirs.state_dict())
    assert other.state_dict() == scaler.state_dict()


def test_calls_out_of_order_are_refused():
    _, optimizer, scaler = scaled([1.0, 1.0])
    with pytest.raises(AssertionError, match="No inf checks"):
        scaler.update()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="Closure"):
        scaler.step(optimizer, closure=lambda: 1)
    with pytest.raises(AssertionError, match="growth factor"):
        amp.GradScaler("cpu", growth_factor=1.0)
    with pytest.raises(AssertionError, match="backoff factor"):
        amp.GradScaler("cpu", backoff_factor=1.0)
    with pytest.raises(RuntimeError, match="source state dict is empty"):
        scaler.load_state_dict({})


def test_without_need_a_scaler_does_nothing():
    w, optimizer, scaler = scaled([1.0, 1.0], enabled=False)
    assert w.grad.tolist() == [1, 1] and scaler.get_scale() == 1.0 and not scaler.is_enabled()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [-1, -1] and scaler.state_dict() == {}
    a, b = amp.GradScaler("cpu", 2.0).scale([ag.ones(1), ag.ones(1)])
    assert (a + b).item() == 4


def test_a_region_is_copied_and_entered_again():
    x = ag.ones(2, 2)
    for region in (copy.deepcopy(ag.autocast("cpu")), ag.autocast("cpu", ag.float16)):
        with region, region:
            assert (x @ x).dtype is region.fast_dtype
        assert (x @ x).dtype is ag.float32
    with pytest.raises(RuntimeError, match="not entered"):
        region.__exit__()


def test_a_scaler_forgets_what_it_found_with_each_update():
    opt = ag.optim.SGD([ag.nn.Parameter(ag.ones(2))], lr=0.1, momentum=0.9)
    weight = opt.param_groups[0]["params"][0]
    scaler = ag.amp.GradScaler("cpu", init_scale=8.0, growth_interval=1)
    scaler.scale(ag.ones(()))
    for value, expected in ((float("inf"), 4.0), (1.0, 8.0), (float("nan"), 4.0), (1.0, 8.0)):
        weight.grad = ag.full((2,), value)
        scaler.step(opt)
        scaler.update()
        assert scaler.get_scale() == expected
        with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
            scaler.update()
        assert scaler.get_scale() == expected


# --- optimizers that know of the scaler --------------------------------------------------------


def asking(m, takes_scaler, log):
    """An optimizer that unscales for itself, and notes what it was told."""

    class Asks(m.optim.SGD):
        _step_supports_amp_scaling = True

    def told(optimizer, scaler=None):
        scale, found = (getattr(optimizer, k, "-") for k in ("grad_scale", "found_inf"))
        log.append([scaler, *(t.item() if isinstance(t, m.Tensor) else t for t in (scale, found))])
        return "done"

    if takes_scaler:
        Asks.step = lambda self, closure=None, *, grad_scaler=None: told(self, grad_scaler)
    else:
        Asks.step = lambda self, closure=None: told(self)
    return Asks


def optimizers_that_scale(m):
    found = []
    for takes_scaler in (True, False):
        for factor in (1.0, float("inf")):
            for unscaled in (False, True):
                log = []
                p = m.nn.Parameter(m.ones(1))
                optimizer = asking(m, takes_scaler, log)([p], lr=0.1)
                scaler = m.amp.GradScaler("cpu", init_scale=8.0)
                scaler.scale((p * factor).sum()).backward()
                if unscaled:
                    scaler.unscale_(optimizer)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FutureWarning)
                    result = scaler.step(optimizer)
                if takes_scaler:
                    assert log[0][0] is scaler
                if not takes_scaler or unscaled:
                    scaler.update()
                left = [k for k in vars(optimizer) if k in ("grad_scale", "found_inf")]
                found.append([*log[0][1:], result, left, p.grad.item(), scaler.get_scale()])
    return found


SCALED = [
    ["-", "-", "done", [], 8.0, 8.0],
    ["-", "-", "done", [], 1.0, 8.0],
    ["-", "-", "done", [], float("inf"), 8.0],
    ["-", "-", "done", [], float("inf"), 4.0],
    [8.0, 0.0, "done", [], 8.0, 8.0],
    [None, 0.0, "done", [], 1.0, 8.0],
    [8.0, 1.0, "done", [], float("inf"), 4.0],
    [None, 1.0, "done", [], float("inf"), 4.0],
]


def test_optimizers_that_scale_get_the_scaler_or_tensors():
    assert optimizers_that_scale(ag) == SCALED


def test_optimizers_that_scale_get_what_torch_gives_them():
    assert optimizers_that_scale(pytest.importorskip("torch")) == SCALED


def test_the_scale_is_a_tensor_from_the_first_scaling_on():
    scaler = ag.amp.GradScaler("cpu", init_scale=8.0)
    assert scaler._scale is None and scaler.get_scale() == 8.0
    assert scaler.state_dict()["scale"] == 8.0
    for call in (lambda: scaler.update(), lambda: scaler.update(2.0)):
        with pytest.raises(AssertionError, match="Attempted update but _scale is None"):
            call()
    scaler.scale(ag.ones(1))
    assert scaler._scale.item() == 8.0 and scaler._scale.dtype is ag.float32
    assert scaler._growth_tracker.item() == 0
    kept = scaler._scale
    scaler.load_state_dict(dict(scaler.state_dict(), scale=2.0, _growth_tracker=3))
    assert scaler._scale is kept and kept.item() == 2.0 and scaler._growth_tracker.item() == 3
    again = pickle.loads(pickle.dumps(scaler))
    assert again._scale is None and again.get_scale() == 2.0
    assert again.state_dict() == scaler.state_dict()


def test_a_scaler_in_the_middle_of_an_iteration_is_not_pickled():
    p = ag.nn.Parameter(ag.ones(1))
    scaler, optimizer = ag.amp.GradScaler("cpu"), ag.optim.SGD([p], lr=0.1)
    scaler.scale(p.sum()).backward()
    scaler.step(optimizer)
    with pytest.raises(AssertionError, match="may only be pickled at the beginning"):
        pickle.dumps(scaler)
