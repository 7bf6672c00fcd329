"""Programs on the asynchronous device give the bits that they give on the CPU."""

import copy
import io
import pickle
import warnings

import pytest
from proof import NAME, bits, current, no_reads

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.autograd import forward_ad
from autograd_cy.utils.checkpoint import checkpoint

PROGRAMS = {}


def program(f):
    """A function of a place, which gives tensors that are the same everywhere."""
    PROGRAMS[f.__name__] = f
    return f


def rand(place, *shape, seed=1, dtype=None):
    ag.manual_seed(seed)
    return ag.rand(*shape, dtype=dtype).to(place)


class Cube(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return t * 3 * x * x


class Both(ag.autograd.Function):
    """Write to its input, and give a second result that has no derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        positive = x > 1
        ctx.mark_non_differentiable(positive)
        return x, positive

    @staticmethod
    def backward(ctx, g, _):
        return g * 2


@program
def custom_function(place):
    x = rand(place, 5).requires_grad_()
    y = Cube.apply(x)
    (g,) = ag.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = ag.autograd.grad(g.sum(), x)
    z, positive = Both.apply(x * 1)
    (k,) = ag.autograd.grad(z.sum(), x)
    return y, g, h, z, positive, k


@program
def hooks(place):
    x = rand(place, 4).requires_grad_()
    seen = []
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 3)
    y.grad_fn.register_prehook(lambda g: (g[0] + 1,))
    y.grad_fn.register_hook(lambda i, o: seen.extend((i[0], o[0])))
    x.register_hook(lambda g: seen.append(g))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.clone()))
    (y * y).sum().backward()
    return *seen, x.grad, y.grad


@program
def module_hooks(place):
    ag.manual_seed(2)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).to(place)
    seen = []
    net[0].register_forward_hook(lambda m, i, o: seen.append(o))
    net[2].register_full_backward_hook(lambda m, i, o: seen.extend((*i, *o)))
    net(rand(place, 2, 3)).sum().backward()
    return *seen, *(p.grad for p in net.parameters())


@program
def double_backward(place):
    x, w = rand(place, 3, 4).requires_grad_(), rand(place, 4, 2, seed=2).requires_grad_()
    y = (x @ w).tanh().sum()
    gx, gw = ag.autograd.grad(y, (x, w), create_graph=True)
    penalty = (gx.norm() - 1) ** 2 + gw.square().mean()
    penalty.backward()
    return gx, gw, x.grad, w.grad


@program
def forward_mode(place):
    x, t = rand(place, 3, 3), rand(place, 3, 3, seed=2)
    with forward_ad.dual_level():
        y = (forward_ad.make_dual(x, t).exp() @ x.t()).softmax(1)
        value, tangent = forward_ad.unpack_dual(y)
    jacobian = ag.func.jacfwd(lambda z: z.sin().sum(0))(x)
    hessian = ag.func.hessian(lambda z: (z * z.tanh()).sum())(x[0])
    return value, tangent, jacobian, hessian


@program
def vmap(place):
    x, w = rand(place, 5, 3), rand(place, 3, 2, seed=2)
    grads = ag.vmap(ag.func.grad(lambda v: (v @ w).sigmoid().sum()))(x)
    picked = ag.vmap(lambda v, i: v.gather(0, i))(x, ag.tensor([[0], [1], [2], [0], [1]]).to(place))
    return grads, picked, ag.vmap(ag.cumsum, (0, None))(x, 0)


@program
def per_sample_gradients(place):
    ag.manual_seed(3)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).to(place)
    parameters = dict(net.named_parameters())

    def loss(p, x, y):
        out = ag.func.functional_call(net, p, (x[None],))
        return nn.functional.cross_entropy(out, y[None])

    x, y = rand(place, 4, 3), ag.tensor([0, 1, 1, 0]).to(place)
    found = ag.vmap(ag.func.grad(loss), (None, 0, 0))(parameters, x, y)
    return tuple(found.values())


@program
def checkpoints(place):
    ag.manual_seed(4)
    net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.ReLU()).to(place)
    x = rand(place, 4, 3).requires_grad_()
    ag.manual_seed(5)
    checkpoint(net, x, use_reentrant=False).sum().backward()
    first = x.grad.clone()
    checkpoint(net, x, use_reentrant=True).sum().backward()
    return first, x.grad


@program
def saved_on_the_cpu(place):
    x = rand(place, 4).requires_grad_()
    with ag.autograd.graph.save_on_cpu():
        y = (x.exp() * x).sum()
    y.backward()
    return (x.grad,)


@program
def saved_in_pinned_memory(place):
    x = rand(place, 4).requires_grad_()
    with ag.autograd.graph.save_on_cpu(pin_memory=place != "cpu"):
        y = (x.exp() * x).sum()
    y.backward()
    return (x.grad,)


@program
def views_and_changes(place):
    x = rand(place, 4, 5).requires_grad_()
    y = x * 2
    y[1:3].mul_(3)
    y[:, 2] = 7.0
    y.t()[0].add_(x.sum(1)[0])
    z = y[x.detach() > 0.5]
    w = y.clone()
    w[w > 1] = 0
    (z.sum() + w.square().sum()).backward()
    return y, z, w, x.grad


@program
def masks_and_sizes(place):
    x = (rand(place, 6, 4) * 4).floor()
    values, inverse, counts = x.unique(return_inverse=True, return_counts=True)
    index = (x > 1).nonzero()
    more = x.flatten().to(ag.int64)
    x[x == 2] += 1
    return values, inverse, counts, index, more.bincount(), x, x.masked_select(x > 2), more[:3]


@program
def ctc(place):
    ag.manual_seed(6)
    logs = ag.randn(8, 2, 5).log_softmax(2).to(place).requires_grad_()
    targets = ag.tensor([[1, 2, 2], [3, 4, 0]]).to(place)
    sizes, lengths = ag.tensor([8, 6]).to(place), ag.tensor([3, 2]).to(place)
    loss = nn.functional.ctc_loss(logs, targets, sizes, lengths)
    loss.backward()
    return loss, logs.grad


@program
def numbers_of_the_cpu(place):
    """0-d tensors of the CPU go with any device."""
    x = rand(place, 3, 4)
    one, two = ag.tensor(0.5), ag.tensor(2)
    return x * one, x.pow(two), ag.where(x > one, x, one), x.clamp(one), one - x, x.addcmul(x, one)


@program
def deep_copies(place):
    ag.manual_seed(7)
    net = nn.LSTM(3, 4).to(place)
    other = copy.deepcopy(net)
    x = rand(place, 2, 1, 3)
    assert all(p.device == q.device for p, q in zip(net.parameters(), other.parameters()))
    return net(x)[0], other(x)[0]


@program
def pickled(place):
    x = rand(place, 3, 4).requires_grad_()
    y = pickle.loads(pickle.dumps({"x": x, "t": x.detach().t()}))
    assert y["x"].device == x.device and y["x"].requires_grad
    assert y["t"].stride() == (1, 4)
    return y["x"], y["t"]


@program
def saved_and_loaded(place):
    ag.manual_seed(8)
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).to(place)
    file = io.BytesIO()
    ag.save(net.state_dict(), file)
    file.seek(0)
    state = ag.load(file)
    assert all(t.device == net[0].weight.device for t in state.values())
    file.seek(0)
    on_cpu = ag.load(file, map_location="cpu")
    assert all(t.is_cpu for t in on_cpu.values())
    other = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).to(place)
    other.load_state_dict(on_cpu)
    x = rand(place, 5, 3)
    return net(x), other(x)


@program
def random_numbers(place):
    ag.manual_seed(9)
    g = ag.Generator(device=place).manual_seed(3)
    x = ag.zeros(7, device=place)
    found = [ag.rand(5, device=place), ag.randn(2, 3, device=place), x.uniform_(1, 2).clone()]
    found += [x.normal_(0, 2).clone(), ag.randint(0, 9, (4,), device=place)]
    found += [nn.functional.dropout(ag.ones(20, device=place), 0.5), ag.bernoulli(x * 0 + 0.5)]
    return *found, ag.randperm(6, device=place), ag.rand(3, device=place, generator=g)


@program
def factories(place):
    x = rand(place, 2, 3)
    found = [ag.arange(2, 9, 3, device=place), ag.linspace(0, 1, 5, device=place)]
    found += [ag.eye(3, device=place), ag.full((2,), 1.5, device=place), ag.zeros_like(x)]
    found += [x.new_ones(2), x.new_tensor([1, 2]), ag.tensor([[1.0, 2.0]], device=place)]
    found += [ag.as_tensor([3, 4], device=place), ag.tril(ag.ones(3, 3, device=place))]
    return tuple(found)


@program
def clipped(place):
    ag.manual_seed(2)
    net = nn.Linear(3, 4).to(place)
    net(rand(place, 2, 3)).sum().backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    nn.utils.clip_grad_value_(net.parameters(), 0.05)
    return norm, *(p.grad for p in net.parameters())


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_the_bits_of_the_cpu(late, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        expected = PROGRAMS[name]("cpu")
        got = PROGRAMS[name](f"{NAME}:0")
    assert len(got) == len(expected) > 0
    for i, (a, b) in enumerate(zip(got, expected)):
        assert a.device == ag.device(f"{NAME}:0"), i
        assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride()), i
        assert bits(a) == bits(b), i


READS = {
    "saved_in_pinned_memory",
    "masks_and_sizes",
    "views_and_changes",
    "saved_on_the_cpu",
    "pickled",
    "saved_and_loaded",
}


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in READS])
def test_a_program_reads_nothing(late, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with no_reads(late):
            PROGRAMS[name](f"{NAME}:1")


def test_two_devices_in_one_graph(late):
    ag.manual_seed(1)
    x, w = ag.rand(3, 4), ag.rand(4, 2)
    results = []
    for first, second in (("cpu", "cpu"), (f"{NAME}:0", f"{NAME}:1")):
        a, b = (t.clone().to(p).requires_grad_() for t, p in ((x, first), (w, second)))
        y = (a.exp().to(second) @ b).tanh().sum()
        y.backward()
        assert y.device == b.grad.device == ag.device(second) and a.grad.device == ag.device(first)
        results.append([bits(t) for t in (y, a.grad, b.grad)])
    assert results[0] == results[1]


def test_two_streams_in_one_graph(late):
    ag.manual_seed(1)
    x = ag.rand(3, 4)
    results = []
    for place in ("cpu", NAME):
        a = x.clone().to(place).requires_grad_()
        if place == "cpu":
            y = a.exp().sum() + a.sin().sum()
        else:
            main, side = current(), ag.Stream(NAME)
            side.wait_stream(main)
            with side:
                a.record_stream(side)
                part = a.exp().sum()
            main.wait_stream(side)
            part.record_stream(main)
            y = part + a.sin().sum()
        y.backward()
        results.append([bits(y), bits(a.grad)])
    assert results[0] == results[1]


def test_assert_close_looks_at_the_device(late):
    x = rand(f"{NAME}:0", 4)
    ag.testing.assert_close(x, x.clone())
    ag.testing.assert_close(x, x.cpu(), check_device=False)
    with pytest.raises(AssertionError, match="not close"):
        ag.testing.assert_close(x, x + 1)
    with pytest.raises(AssertionError, match="device"):
        ag.testing.assert_close(x, x.cpu())


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("mode", [{}, {"check_forward_ad": True}])
def test_gradcheck(late, fast, mode):
    x = rand(f"{NAME}:0", 3, 2, dtype=ag.float64).requires_grad_()
    assert ag.autograd.gradcheck(lambda t: (t.exp() @ t.t()).sum(0), x, fast_mode=fast, **mode)

    class Wrong(Cube):
        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(RuntimeError, match="Jacobian"):
        ag.autograd.gradcheck(Wrong.apply, x, fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_gradgradcheck(late, fast):
    x = rand(f"{NAME}:0", 3, dtype=ag.float64).requires_grad_()
    assert ag.autograd.gradgradcheck(lambda t: t.sin() * t, x, fast_mode=fast)


def test_modules_move(late):
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    weight = net[0].weight
    net.to(f"{NAME}:1")
    assert net[0].weight is weight  # as torch: the parameter stays, its data move
    assert {t.device for t in net.state_dict().values()} == {ag.device(f"{NAME}:1")}
    net.cpu()
    assert weight.is_cpu
    with pytest.raises(RuntimeError, match="2"):
        net.to(f"{NAME}:2")
    assert weight.is_cpu


def test_a_loader_pins_its_batches(late):
    data = ag.utils.data.TensorDataset(ag.arange(12.0).reshape(6, 2), ag.arange(6))
    loader = ag.utils.data.DataLoader(data, batch_size=2, pin_memory=True)
    total = ag.zeros((), device=NAME)
    with no_reads(late):
        for x, y in loader:
            assert x.is_pinned() and y.is_pinned()
            total += x.to(NAME, non_blocking=True).sum() + y.to(NAME, non_blocking=True).sum()
    del x, y
    assert total.item() == 66.0 + 15.0


def test_pinned_memory_is_read_late(late):
    x = ag.zeros(3).pin_memory()
    y = x.to(NAME, non_blocking=True)
    x.fill_(4)
    assert y.tolist() == [4.0, 4.0, 4.0]  # as torch warns
    z = x.to(NAME)
    x.fill_(5)
    assert z.tolist() == [4.0, 4.0, 4.0]


def test_pinned_memory_stays_until_it_was_read(late):
    x = ag.arange(3.0).pin_memory()
    y = x.to(NAME, non_blocking=True)
    del x
    ag.zeros(3).pin_memory()
    assert y.tolist() == [0.0, 1.0, 2.0]


def test_a_copy_to_pinned_memory_has_to_be_waited_for(late):
    x = ag.arange(3.0, device=NAME)
    to = ag.zeros(3).pin_memory()
    with no_reads(late):
        to.copy_(x, non_blocking=True)
        assert to.tolist() == [0.0, 0.0, 0.0]
    current().synchronize()
    assert to.tolist() == [0.0, 1.0, 2.0]
