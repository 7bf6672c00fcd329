"""A device that a module outside of the package registers: no record knows of it."""

import importlib.util
import os
import shutil
import subprocess
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._C import devices

SOURCE = Path(__file__).parent / "hostdevice"
ROOT = Path(ag.__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    """The module, built and registered once."""
    pytest.importorskip("Cython")
    folder = tmp_path_factory.mktemp("hostdevice")
    shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "setup.py", "-q", "build_ext", "--inplace"],
        cwd=folder,
        env={**os.environ, "CFLAGS": "-O0", "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    (library,) = folder.glob("hostdevice*.so")
    spec = importlib.util.spec_from_file_location("hostdevice", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.register()
    yield module
    state = module.state()
    assert state["broken"] == 0, "a kernel wrote over the ends of its memory"


def close(a, b):
    np.testing.assert_allclose(a.detach().cpu().numpy(), b.detach().numpy(), 1e-5, 1e-6)


def test_moving_both_ways(device):
    x = ag.rand(3, 4).t()
    y = x.to("hostdevice")
    assert y.device == ag.device("hostdevice") and not y.is_cpu and not y.is_meta
    assert y.stride() == x.stride()
    assert y.to("hostdevice") is y
    close(y, x)
    assert "device='hostdevice'" in repr(y) and y.tolist() == x.tolist()
    assert y[1, 2].item() == x[1, 2].item()
    with pytest.raises(TypeError, match=r"Tensor.cpu\(\)"):
        y.numpy()
    with pytest.raises(RuntimeError, match="same device"):
        y + x


def test_copies_of_another_dtype_are_cast_where_they_are(device):
    x = ag.arange(6).reshape(2, 3)
    there = x.to("hostdevice")
    for source in (x, there, x[:1], there[:, :1]):
        for dtype in (ag.float32, ag.float64, ag.int64, ag.bool):
            for place in ("cpu", "hostdevice"):
                to = ag.full((2, 3), 7, device=place).to(dtype)
                assert to.copy_(source) is to
                assert to.tolist() == source.cpu().to(dtype).expand(2, 3).tolist()


def test_copies_between_windows_of_one_memory(device):
    x = ag.arange(6.0)
    there = x.to("hostdevice")
    for to, from_ in ((slice(1, 6), slice(0, 5)), (slice(0, 3), slice(3, 6))):
        results = []
        for t in (x.clone(), there.clone()):
            try:
                results.append(t[to].copy_(t[from_]).tolist() + t.tolist())
            except RuntimeError as error:
                results.append(str(error))
        assert results[0] == results[1]


def test_factories_and_casts(device):
    close(ag.zeros(2, 3, device="hostdevice"), ag.zeros(2, 3))
    close(ag.full((3,), 2.5, device="hostdevice"), ag.full((3,), 2.5))
    close(ag.arange(4, device="hostdevice").double(), ag.arange(4).double())
    poisoned = ag.empty(5, device="hostdevice")
    assert poisoned.cpu().isnan().all()
    ag.manual_seed(3)
    here = ag.rand(7)
    ag.manual_seed(3)
    close(ag.rand(7, device="hostdevice"), here)


def network():
    ag.manual_seed(1)
    return ag.nn.Sequential(
        ag.nn.Linear(6, 5), ag.nn.Tanh(), ag.nn.Linear(5, 4), ag.nn.ReLU(), ag.nn.Linear(4, 1)
    )


def loss_of(net, x, y):
    return ((net(x) - y) * (net(x) - y)).mean()


def test_a_network_forward_and_backward(device):
    """All on the device, without one kernel of the CPU."""
    x, y = ag.randn(8, 6), ag.randn(8, 1)
    here, there = network(), network().to("hostdevice")
    expected = loss_of(here, x, y)
    expected.backward()
    got = loss_of(there, x.to("hostdevice"), y.to("hostdevice"))
    assert got.device == ag.device("hostdevice")
    got.backward()
    close(got, expected)
    for p, q in zip(there.parameters(), here.parameters()):
        assert p.grad.device == p.device == ag.device("hostdevice")
        close(p.grad, q.grad)
    ran = device.state()["calls"]
    assert {"linear", "mm", "tanh_backward", "mean", "copy"} <= set(ran)


def test_inplace_out_and_views(device):
    x = ag.rand(4, 3)
    y = x.to("hostdevice")
    y[1:3].mul_(2)
    y += 1
    x[1:3].mul_(2)
    x += 1
    close(y, x)
    out = ag.empty(0, device="hostdevice")
    ag.sum(y, 0, out=out)
    close(out, x.sum(0))
    close(y.t().flip(0), x.t().flip(0))
    with pytest.raises(RuntimeError, match="device"):
        ag.sum(y, 0, out=ag.empty(3))


def test_gradients_cross_devices(device):
    x = ag.rand(3, requires_grad=True)
    (x.to("hostdevice") * 3).sum().cpu().backward()
    assert x.grad.is_cpu and x.grad.tolist() == [3.0, 3.0, 3.0]


def test_an_empty_slot_names_operator_and_device(device):
    y = ag.ones(3, 3, device="hostdevice")
    with pytest.raises(NotImplementedError, match="bmm.*hostdevice"):
        ag.bmm(y[None], y[None])
    with pytest.raises(NotImplementedError, match=r"linalg\.inv.*hostdevice"):
        ag.linalg.inv(y)
    with pytest.raises(NotImplementedError, match="no elementwise kernel"):
        y.sin()


def interpreted_flip():
    """The module that the build would write for an interpreted record like `flip`."""
    from helpers import RECORDS

    from ext.codegen import interpreted

    flip = next(r for r in RECORDS if r.key == "flip")
    late = replace(flip, name="late_flip", tier="interpreted", samples=())
    symbols = {r.symbol: [r] for r in (*RECORDS, late) if not r.overload}
    text = interpreted.family_module("shape", [late], symbols)
    module = types.ModuleType("autograd_cy._interpreted.late")
    return lambda: exec(compile(text, "late", "exec"), module.__dict__) or module


def test_a_kernel_of_an_operator_that_is_loaded_later(device):
    load, key = interpreted_flip(), "late_flip"
    signature = devices.signatures()["flip"]
    devices.expect({key: signature})  # as the package does for what the build has written
    assert devices.signatures()[key] == signature
    with pytest.raises(ValueError, match="kernel of late_flip"):
        devices.register("early", device.services_capsule(), {key: object()})
    devices.register("early", device.services_capsule(), {key: device.kernels()["flip"]})
    late_flip = load().late_flip
    x = ag.rand(3, 4)
    ran = device.state()["calls"].get("flip", 0)
    y = x.to("early").requires_grad_()
    z = late_flip(y, (0,))
    assert z.device == ag.device("early") and z.requires_grad
    assert device.state()["calls"]["flip"] == ran + 1
    close(z, x.flip(0))
    with pytest.raises(NotImplementedError, match=r"late_flip.*hostdevice"):
        late_flip(x.to("hostdevice"), (0,))


def test_memory_comes_back(device):
    before = device.state()["blocks"]
    y = ag.ones(3, device="hostdevice") * 2
    assert device.state()["blocks"] > before
    del y
    assert device.state()["blocks"] == before


def test_what_register_refuses(device):
    with pytest.raises(ValueError, match="registered already"):
        device.register()
    with pytest.raises(ValueError, match="no operator 'nothing'"):
        devices.register("other", device.services_capsule(), {"nothing": None})
    kernels = device.kernels()
    with pytest.raises(ValueError, match="kernel of bmm"):
        devices.register("other", device.services_capsule(), {"bmm": kernels["linear"]})
    with pytest.raises(ValueError, match="services"):
        devices.register("other", object(), {})
    with pytest.raises(RuntimeError, match="other"):
        ag.device("other")


def test_signatures_name_every_slot():
    found = devices.signatures()
    assert found["mm"] == "int (Tensor, Tensor, Tensor)"
    assert all(text.startswith(("int (Tensor", "int (tuple")) for text in found.values())


# --- steps of optimizers ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"momentum": 0.9, "dampening": 0.5}, {"momentum": 0.9, "nesterov": True}]
)
def test_a_step_is_a_kernel_of_the_device(device, options):
    steps = []
    for place in ("cpu", "hostdevice"):
        x = ag.linspace(-1.0, 1.0, 5).to(place).requires_grad_()
        optimizer = ag.optim.SGD([x], lr=0.1, weight_decay=0.1, **options)
        schedule = ag.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        for found in (1.0, 0.0, 0.0):
            x.grad = ag.arange(5.0).to(place)
            optimizer.grad_scale = ag.tensor(2.0, device=place)
            optimizer.found_inf = ag.tensor(found, device=place)
            optimizer.step()
            schedule.step()
        steps.append((x, x.grad, optimizer.state[x].get("momentum_buffer", x)))
    before = device.state()["calls"]["_fused_sgd_"]
    assert before >= 3
    for mine, there in zip(*steps):
        assert there.device.type == "hostdevice"
        close(there, mine)


def test_parameters_of_two_devices_are_stepped_where_they_are(device):
    params = [ag.ones(2, device=place).requires_grad_() for place in ("cpu", "hostdevice", "meta")]
    for p in params:
        p.grad = ag.ones_like(p)
    optimizer = ag.optim.SGD(params, lr=0.5, momentum=0.9)
    optimizer.step()
    assert [p.tolist() for p in params[:2]] == [[0.5, 0.5]] * 2
    assert all(optimizer.state[p]["momentum_buffer"].device == p.device for p in params)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "RMSprop"])
def test_a_step_without_a_kernel_says_so(device, name):
    x = ag.ones(2, device="hostdevice").requires_grad_()
    x.grad = ag.ones(2, device="hostdevice")
    optimizer = getattr(ag.optim, name)([x])
    with pytest.raises(
        NotImplementedError, match=r"_fused_\w+_: there is no kernel .* for device 'hostdevice'"
    ):
        optimizer.step()
    assert x.tolist() == [1, 1] and optimizer.state[x]["step"].tolist() == 0
    assert optimizer.state[x]["step"].device == x.device


def test_lists_of_two_devices_are_refused(device):
    x, g = ag.ones(2), ag.ones(2, device="hostdevice")
    with pytest.raises(RuntimeError, match="same device"):
        ag._foreach_mul_([ag.ones(2)], g)
    with pytest.raises(RuntimeError, match="_fused_sgd_: Expected all tensors to be on the same"):
        ag._fused_sgd_([x], [g], [], weight_decay=0, momentum=0, lr=0.1, dampening=0,
                       nesterov=False, maximize=False, is_first_step=True)  # fmt: skip


def test_gradients_are_scaled_where_they_are(device):
    grads = [ag.full((n,), 2.0, device="hostdevice") for n in (3, 1)]
    ag._foreach_mul_(grads, ag.tensor(0.25, device="hostdevice"))
    ag._foreach_mul_(grads, 2)
    assert [x.tolist() for x in grads] == [[1.0] * 3, [1.0]]


def test_a_scaler_of_a_device_is_on_it(device):
    scaler = ag.amp.GradScaler("hostdevice", init_scale=4.0)
    assert scaler.is_enabled()
    assert scaler.scale(ag.ones(2, device="hostdevice")).tolist() == [4.0, 4.0]
    assert scaler._scale.device.type == "hostdevice" and scaler.get_scale() == 4.0
    assert not ag.amp.GradScaler("meta").is_enabled()
    assert not ag.amp.GradScaler("mps").is_enabled()
