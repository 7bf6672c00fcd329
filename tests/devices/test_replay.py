"""Launches of whole programs, run again on new inputs, give the bits of a fresh eager run."""

import pytest

import autograd_cy as ag
from autograd_cy._C.launch import capture
from autograd_cy.nn import functional as F


def bits(t):
    return t.detach().contiguous().numpy().tobytes()


def replayed(step, inputs, new):
    """
    The results of `step` on `new` values of its inputs, by its launches alone.

    What the launches write is poisoned first, so that nothing is left from the first run.
    """
    kept = []
    program = capture(lambda: kept.extend(step(*inputs)))
    with ag.no_grad():
        for old, value in zip(inputs, new):
            old.copy_(value)
    assert program.poison() > 0
    program.replay_elsewhere(inputs)
    return kept


def check(step, make):
    """`make(seed)` gives the inputs; `step` maps them to a list of tensors."""
    inputs, new = make(1), make(2)
    got = [bits(t) for t in replayed(step, inputs, new)]
    expected = [bits(t) for t in step(*make(2))]
    assert got == expected


def network(seed):
    ag.manual_seed(seed)
    return [ag.randn(16, 12) / 4, ag.randn(16), ag.randn(3, 16) / 4, ag.randn(3)]


def mlp_inputs(seed):
    ag.manual_seed(10 * seed)
    x, target = ag.randn(32, 12), ag.randint(0, 3, (32,))
    return [x, target, *network(seed)]


def mlp_step(x, target, *weights):
    params = [ag.nn.Parameter(w.clone()) for w in weights]
    h = F.linear(x, params[0], params[1]).tanh()
    loss = F.cross_entropy(F.linear(h, params[2], params[3]), target)
    loss.backward()
    return [loss, *(p.grad for p in params)]


def test_gradients_of_a_network():
    check(mlp_step, mlp_inputs)


@pytest.mark.parametrize("options", [{}, {"momentum": 0.9}, {"weight_decay": 0.1, "momentum": 0.5}])
def test_steps_of_sgd(options):
    """Parameters change in place: each run of the launches is a step more."""

    def program_of(seed):
        x, target, *weights = mlp_inputs(seed)
        params = [ag.nn.Parameter(w) for w in weights]
        optimizer = ag.optim.SGD(params, lr=0.1, **options)

        def step():
            optimizer.zero_grad()
            h = F.linear(x, params[0], params[1]).relu()
            F.cross_entropy(F.linear(h, params[2], params[3]), target).backward()
            optimizer.step()

        return step, params

    step, params = program_of(1)
    step()  # the momentum buffers are there after the first step
    program = capture(step)
    for _ in range(3):
        program.replay()
    fresh, expected = program_of(1)
    for _ in range(5):
        fresh()
    assert [bits(p) for p in params] == [bits(p) for p in expected]


def lstm_inputs(seed):
    ag.manual_seed(seed)
    return [ag.randn(6, 2, 5), ag.randn(2, 8), ag.randn(2, 8), ag.randn(32, 5), ag.randn(32, 8)]


def lstm_loop(x, h, c, w, u):
    w, u = w.clone().requires_grad_(), u.clone().requires_grad_()
    for t in range(x.shape[0]):
        i, f, g, o = (x[t] @ w.t() + h @ u.t()).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    loss = (h * h).sum()
    return [loss, *ag.autograd.grad(loss, (w, u))]


def test_a_recurrent_loop():
    check(lstm_loop, lstm_inputs)


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_a_hessian(dtype):
    def inputs(seed):
        ag.manual_seed(seed)
        return [ag.randn(9, dtype=dtype)]

    check(lambda x: [ag.func.hessian(rosenbrock)(x)], inputs)


def test_a_hessian_vector_product():
    def inputs(seed):
        ag.manual_seed(seed)
        return [ag.randn(7), ag.randn(7)]

    def product(x, v):
        x = x.clone().requires_grad_()
        (g,) = ag.autograd.grad(rosenbrock(x), x, create_graph=True)
        return list(ag.autograd.grad(g, x, v))

    check(product, inputs)


def test_attention():
    def inputs(seed):
        ag.manual_seed(seed)
        return [ag.randn(2, 3, 4, 5) for _ in range(3)]

    def attention(q, k, v):
        q, k, v = (t.clone().requires_grad_() for t in (q, k, v))
        weights = ((q @ k.transpose(-1, -2)) / 5**0.5).softmax(-1)
        out = weights @ v
        return [out, *ag.autograd.grad(out, (q, k, v), ag.ones_like(out))]

    check(attention, inputs)
