"""Tensors on meta: shapes, dtypes and strides of whole programs, and nothing computed."""

import copy
import io

import pytest

import autograd_cy as ag

META = ag.device("meta")


def like(t):
    return tuple(t.shape), t.stride(), t.dtype


@pytest.mark.parametrize("make", [
    lambda d: ag.zeros(2, 3, device=d),
    lambda d: ag.ones((4,), dtype=ag.int16, device=d),
    lambda d: ag.full((2, 2), 3.5, device=d),
    lambda d: ag.empty(3, 0, device=d),
    lambda d: ag.empty(2, 3, 4, 5, memory_format=ag.channels_last, device=d),
    lambda d: ag.empty_strided((2, 3), (1, 2), device=d),
    lambda d: ag.arange(1, 10, 2, device=d),
    lambda d: ag.linspace(0, 1, 7, device=d),
    lambda d: ag.eye(3, 4, device=d),
    lambda d: ag.rand(2, 3, device=d),
    lambda d: ag.randint(0, 5, (4,), device=d),
    lambda d: ag.randperm(6, device=d),
    lambda d: ag.tensor([[1.0, 2.0]], device=d),
    lambda d: ag.scalar_tensor(2, device=d),
    lambda d: ag.as_tensor([1, 2], device=d),
    lambda d: ag.zeros_like(ag.ones(3, 2).t(), device=d),
    lambda d: ag.ones(2).new_full((3,), 2, device=d),
])  # fmt: skip
def test_factories(make):
    on_meta, on_cpu = make("meta"), make("cpu")
    assert on_meta.device == META and on_cpu.device == ag.device("cpu")
    assert on_meta.is_meta and not on_meta.is_cpu
    assert like(on_meta) == like(on_cpu)


def chain(x):
    y = (x * 2 + 1).exp()[:, 1:].t()
    z = y / (y.abs() + 1) - y.reshape(-1)[: y.shape[0]].unsqueeze(1)
    return ag.where(z > 0, z, 0.5 * z).flip(0).clone().transpose(0, 1)


def test_a_program_has_the_geometry_that_it_has_on_the_cpu():
    x = ag.rand(3, 5)
    assert like(chain(x.to("meta"))) == like(chain(x))


def test_gradients_are_on_meta():
    x = ag.rand(3, 5, device="meta", requires_grad=True)
    y = chain(x)
    y.backward(ag.ones_like(y))
    assert like(x.grad) == like(x) and x.grad.is_meta
    (g,) = ag.autograd.grad(chain(x), x, ag.ones_like(y), create_graph=True)
    assert g.is_meta and g.grad_fn is not None


def test_inplace_and_views():
    x = ag.zeros(4, 3, device="meta")
    x[1].add_(2)
    x[:, 0] = 5
    x.mul_(ag.ones(3, device="meta")).clamp_(0, 1)
    assert x._version > 0 and like(x) == like(ag.zeros(4, 3))
    w = ag.rand(3, device="meta", requires_grad=True)
    y = w * 1
    y[0:2] *= 3
    y.backward(ag.ones(3, device="meta"))
    assert w.grad.is_meta


def test_transforms():
    x = ag.rand(3, 4, device="meta")
    assert like(ag.func.vmap(lambda a: a.exp() * 2)(x)) == like(x)
    value, tangent = ag.func.jvp(lambda a: a.tanh(), (x,), (x,))
    assert value.is_meta and tangent.is_meta


@pytest.mark.parametrize(("call", "error"), [
    (lambda x: x[0].item(), RuntimeError),
    (lambda x: x.tolist(), RuntimeError),
    (lambda x: x.numpy(), TypeError),
    (lambda x: bool(x[0] > 0), RuntimeError),
    (lambda x: memoryview(x), BufferError),
    (lambda x: x.__dlpack__(), BufferError),
    (lambda x: x.cpu(), NotImplementedError),
    (lambda x: ag.ones(3).copy_(x), NotImplementedError),
    (lambda x: x.nonzero(), NotImplementedError),
    (lambda x: ag.histc(x), NotImplementedError),
    (lambda x: x + ag.ones(3), RuntimeError),
    (lambda x: ag.ones(3).add_(x), RuntimeError),
    (lambda x: ag.add(x, x, out=ag.ones(3)), RuntimeError),
    (lambda x: ag.where(ag.ones(3) > 0, x, x), RuntimeError),
    (lambda x: x.untyped_storage()[0], NotImplementedError),
])  # fmt: skip
def test_what_needs_values_is_refused(call, error):
    with pytest.raises(error):
        call(ag.ones(3, device="meta"))


def test_numbers_and_0d_tensors_of_the_cpu_go_with_meta():
    x = ag.ones(3, device="meta")
    assert (x + 1).is_meta
    assert (ag.tensor(2.0, dtype=ag.float64) * x).dtype == ag.float32
    assert (x * ag.ones((), dtype=ag.complex128)).dtype == ag.complex64


def test_text():
    assert repr(ag.ones(2, 3, device="meta")) == "tensor(..., device='meta', size=(2, 3))"
    x = ag.ones(2, dtype=ag.float16, device="meta", requires_grad=True)
    expected = "tensor(..., device='meta', size=(2,), dtype=autograd_cy.float16,"
    assert repr(x).startswith(expected)
    assert repr(x).endswith("requires_grad=True)")


def test_texts_say_what_no_element_shows():
    for name in ("bool", "int64", "float64", "complex64"):
        for shape in ((3,), (0,), ()):
            found = repr(ag.ones(shape, dtype=getattr(ag, name), device="meta"))
            expected = f"tensor(..., device='meta', size={shape}, dtype=autograd_cy.{name})"
            assert found == expected
    ag.set_default_dtype(ag.float64)
    try:
        assert repr(ag.ones(2, device="meta")) == "tensor(..., device='meta', size=(2,))"
        assert "float32" in repr(ag.ones(2, dtype=ag.float32, device="meta"))
    finally:
        ag.set_default_dtype(ag.float32)


def test_moving():
    x = ag.ones(2, 3, requires_grad=True)
    y = x.to("meta")
    assert y.is_meta and y.grad_fn is not None and x.to("cpu") is x
    assert y.to(META) is y and y.to(META, copy=True) is not y
    assert x.to("meta", ag.float64).dtype == ag.float64
    assert y.to(ag.ones(1, dtype=ag.int64, device="meta")).dtype == ag.int64
    with pytest.raises(RuntimeError, match="not available"):
        x.to("cuda")
    for device in (0, 1):  # a number is the CUDA device with it, unless there is an accelerator
        with pytest.raises(RuntimeError, match=f"device 'cuda:{device}' is not available"):
            x.to(device)


def test_modules_and_files():
    net = ag.nn.Sequential(ag.nn.Linear(3, 4), ag.nn.Tanh()).to("meta")
    assert all(p.is_meta and p.requires_grad for p in net.parameters())
    again = copy.deepcopy(net)
    assert all(p.is_meta for p in again.parameters())
    file = io.BytesIO()
    ag.save(net.state_dict(), file)
    file.seek(0)
    state = ag.load(file)
    assert all(t.is_meta for t in state.values())
    file = io.BytesIO()
    ag.save({"w": ag.ones(3)}, file)
    file.seek(0)
    assert ag.load(file, map_location="meta")["w"].is_meta
    assert net.to_empty(device="cpu")[0].weight.is_cpu


@pytest.mark.parametrize("make", [
    lambda p: ag.optim.SGD(p, lr=0.1, momentum=0.9),
    lambda p: ag.optim.Adam(p, lr=0.1),
])  # fmt: skip
def test_optimizers_step(make):
    net = ag.nn.Linear(3, 2, device="meta")
    optimizer = make(net.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        net(ag.ones(4, 3, device="meta")).sum().backward()
        optimizer.step()
    assert all(p.is_meta and p._version >= 2 for p in net.parameters())


def test_memory_and_gradients_of_other_devices_are_refused():
    x = ag.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="device"):
        x.grad = ag.ones(2, device="meta")
    with pytest.raises(RuntimeError, match="different device"):
        ag.zeros(2).set_(ag.zeros(2, device="meta"))
    y = ag.zeros(2, device="meta")
    assert y.resize_(5).shape == (5,) and y.is_meta
    p = ag.nn.Parameter(ag.ones(2))
    p.data = ag.ones(2, device="meta")
    p.grad = ag.ones(2, device="meta")
    ag.optim.SGD([p], lr=0.1).step()
    p.data = ag.ones(2)
    with pytest.raises(RuntimeError, match="same device"):
        ag.optim.SGD([p], lr=0.1).step()


def test_random_numbers_with_parameters_on_meta():
    p = ag.full((3,), 0.5, device="meta")
    assert ag.bernoulli(p).is_meta and p.bernoulli_(p.clone()).is_meta
    assert ag.normal(p, p).is_meta and ag.normal(0.0, p).is_meta
    with pytest.raises(RuntimeError, match="same device"):
        ag.ones(3).bernoulli_(p)
    with pytest.raises(RuntimeError, match="not supported"):
        ag.Generator("meta")
    with pytest.raises(NotImplementedError, match="no data"):
        ag.set_rng_state(ag.get_rng_state().to("meta"))


@pytest.mark.parametrize("make", [
    lambda **o: ag.zeros(2, **o),
    lambda **o: ag.full((2,), 1.0, **o),
    lambda **o: ag.empty(2, **o),
    lambda **o: ag.eye(2, **o),
    lambda **o: ag.arange(2.0, **o),
    lambda **o: ag.linspace(0, 1, 2, **o),
    lambda **o: ag.rand(2, **o),
    lambda **o: ag.randperm(2, **o),
])  # fmt: skip
def test_out_and_device_must_agree(make):
    out = ag.empty(0)
    with pytest.raises(RuntimeError, match="does not match device of out"):
        make(out=out, device="meta")
    assert out.numel() == 0
    assert make(out=ag.empty(0, device="meta"), device="meta").is_meta


def test_constructors_of_types_are_of_one_device():
    with pytest.raises(RuntimeError, match="legacy constructor expects device type: cpu"):
        ag.FloatTensor(2, 3, device="meta")
    x = ag.ones(2, device="meta")
    assert x.new(3).is_meta and x.new([1.0]).is_meta and x.new(3, device="meta").is_meta
    with pytest.raises(RuntimeError, match="legacy constructor expects device type: meta"):
        x.new(3, device="cpu")
    assert ag.from_dlpack(ag.ones(2), device="meta").is_meta


def test_no_memory_is_taken():
    before = ag.memory_summary()["live_bytes"]
    x = ag.empty(1 << 20, 1 << 20, device="meta")
    y = (x * 2).t() + 1
    assert y.shape == (1 << 20, 1 << 20)
    assert ag.memory_summary()["live_bytes"] - before < 1 << 20
