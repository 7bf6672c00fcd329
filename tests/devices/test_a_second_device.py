"""A device that a module outside of the package registers: no record knows of it."""

import types

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._C import devices
from autograd_cy._C.launch import capture


@pytest.fixture(scope="module")
def device(plain):
    return plain


def close(a, b):
    np.testing.assert_allclose(a.detach().cpu().numpy(), b.detach().numpy(), 1e-5, 1e-6)


def test_moving_both_ways(device):
    x = ag.rand(3, 4).t()
    y = x.to("hostdevice")
    assert y.device == ag.device("hostdevice:0") and not y.is_cpu and not y.is_meta
    assert y.stride() == x.stride()
    assert y.to("hostdevice") is y
    close(y, x)
    assert "device='hostdevice:0'" in repr(y) and y.tolist() == x.tolist()
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
    assert got.device == ag.device("hostdevice:0")
    got.backward()
    close(got, expected)
    for p, q in zip(there.parameters(), here.parameters()):
        assert p.grad.device == p.device == ag.device("hostdevice:0")
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
    late = flip.replace(name="late_flip", tier="interpreted", samples=())
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
    device.register_only("early", {key: device.kernels()["flip"]})
    late_flip = load().late_flip
    x = ag.rand(3, 4)
    ran = device.state()["calls"].get("flip", 0)
    y = x.to("early").requires_grad_()
    z = late_flip(y, (0,))
    assert z.device == ag.device("early:0") and z.requires_grad
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


@pytest.mark.parametrize(
    ("who", "call"),
    [
        ("add", lambda x: x + 1),
        ("add", lambda x: x.add_(1)),
        ("fill_", lambda x: x.fill_(1)),
        ("zero_", lambda x: x.zero_()),
        ("to", lambda x: x.cpu()),
        ("to", lambda x: ag.ones(3).to("hostdevice")),
        ("clone", lambda x: x.clone()),
        ("sum", lambda x: x.sum()),
        ("item", lambda x: x[0].item()),
        ("to", lambda x: repr(x)),
    ],
)
def test_work_of_another_device_is_refused_to_be_captured(device, who, call):
    x = ag.arange(3.0).to("hostdevice")
    with pytest.raises(RuntimeError, match=f"^{who}.*: can't be captured: ") as error:
        capture(lambda: call(x))
    assert "device 'hostdevice" in str(error.value) or who == "item"
    assert x.tolist() == [0.0, 1.0, 2.0]  # nothing was done
    call(x)
