"""Fused optimizer steps of any dtype and layout against their formulas."""

import itertools

import numpy as np
import pytest
from bridge import COMPLEX, DTYPES, FLOATS, array, layouts, sample, tensor, wide

import autograd_cy as ag
from autograd_cy._C import parallel
from autograd_cy._C.ops_optimizers import _fused_adam_, _fused_adamw_, _fused_sgd_
from autograd_cy.optim import _formulas

NAMES = FLOATS + COMPLEX
SHAPES = [(), (3,), (0,), (5, 7), (300, 70)]
ADAM = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
ROUGH = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 3e-6, "complex64": 3e-6}


def sgd_step(p, g, buffers, lr, momentum=0.0, dampening=0.0, decay=0.0, nesterov=False,
             maximize=False, first=False):  # fmt: skip
    _fused_sgd_(p, g, buffers, weight_decay=decay, momentum=momentum, lr=lr, dampening=dampening,
                nesterov=nesterov, maximize=maximize, is_first_step=first)  # fmt: skip


def adam_step(p, g, m, v, top, steps, amsgrad=False, decoupled=False, maximize=False, decay=0.0,
              eps=1e-8):  # fmt: skip
    operator = _fused_adamw_ if decoupled else _fused_adam_
    operator(p, g, m, v, top, steps, lr=0.01, beta1=0.9, beta2=0.99, weight_decay=decay, eps=eps,
             amsgrad=amsgrad, maximize=maximize)  # fmt: skip


def parts(a):
    """Complex arrays as pairs of reals, in double."""
    a = np.ascontiguousarray(a)
    if a.dtype.kind == "c":
        return np.stack([a.real, a.imag], -1).astype(np.float64)
    return a.astype(np.float64)


def double(a):
    """The tensor of what `parts` returns."""
    return ag.tensor(parts(a))


def close(got, want, name):
    rough = ROUGH.get(name, 1e-12)
    np.testing.assert_allclose(parts(got), want, rtol=rough, atol=rough)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("momentum", "dampening", "nesterov"),
    [(0, 0, False), (0.9, 0, False), (0.9, 0.3, False), (0.8, 0, True)],
)
@pytest.mark.parametrize(("decay", "maximize"), [(0, False), (0.1, False), (0.1, True)])
def test_sgd(name, momentum, dampening, nesterov, decay, maximize):
    params = [np.array(a) for shape in SHAPES for a in layouts(sample(name, shape))]
    for k, a in enumerate(params):
        if a.ndim > 1 and k % 2:
            params[k] = np.asfortranarray(a)
    p = [tensor(a) for a in params]
    x = [double(a) for a in params]
    bufs = [ag.full_like(t, 7) for t in p] if momentum else []  # what is there is not read
    mine = [{} for _ in p]
    for step in range(3):
        grads = [sample(name, a.shape, seed=step + 1) for a in params]
        g = [tensor(a) for a in grads]
        sgd_step(p, g, bufs, 0.1, momentum, dampening, decay, nesterov, maximize, step == 0)
        for k in range(len(p)):
            d = double(grads[k]) * (-1 if maximize else 1)
            x[k] = _formulas.sgd(
                x[k], d, step + 1, mine[k], lr=0.1, momentum=momentum, dampening=dampening,
                weight_decay=decay, nesterov=nesterov,
            )  # fmt: skip
    for k in range(len(p)):
        close(array(p[k]), x[k].numpy(), name)
        if momentum:
            close(array(bufs[k]), mine[k]["momentum_buffer"].numpy(), name)
        assert p[k]._version == 3


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("amsgrad", "decoupled", "maximize"), list(itertools.product([False, True], repeat=3))
)
def test_adam(name, amsgrad, decoupled, maximize):
    params = [np.array(a) for shape in SHAPES for a in layouts(sample(name, shape))]
    p = [tensor(a) for a in params]
    x = [double(a) for a in params]
    states = [[np.zeros_like(a) for a in params] for _ in range(3)]
    m, v, top = ([tensor(a) for a in state] for state in states)
    steps = [ag.tensor(0.0) for _ in p]
    mine = [{name: ag.zeros_like(a) for name in ADAM} for a in x]
    lr, b1, b2, eps, decay = 0.01, 0.9, 0.99, 1e-3, 0.1
    for step in range(1, 4):
        grads = [sample(name, a.shape, seed=step) for a in params]
        g = [tensor(a) for a in grads]
        adam_step(p, g, m, v, top, steps, amsgrad, decoupled, maximize, decay, eps)
        assert [s.item() for s in steps] == [step] * len(p)
        for k in range(len(p)):
            d = double(grads[k]) * (-1 if maximize else 1)
            x[k] = _formulas.adam(
                x[k], d, step, mine[k], lr=lr, beta1=b1, beta2=b2, eps=eps, weight_decay=decay,
                amsgrad=amsgrad, decoupled_weight_decay=decoupled,
            )  # fmt: skip
    for k in range(len(p)):
        close(array(p[k]), x[k].numpy(), name)
        close(array(m[k]), mine[k]["exp_avg"].numpy(), name)
        assert p[k]._version == 3


def test_errors():
    p, g = tensor(np.ones(3)), tensor(np.ones(4))
    with pytest.raises(RuntimeError, match=r"must agree: float64 \[3\] and float64 \[4\]"):
        sgd_step([p], [g], [], 0.1)
    with pytest.raises(RuntimeError, match="must agree: float64 .* and float32"):
        sgd_step([p], [tensor(np.ones(3, np.float32))], [], 0.1)
    with pytest.raises(RuntimeError, match="must be floating point or complex, not int64"):
        sgd_step([tensor(np.ones(3, int))], [tensor(np.ones(3, int))], [], 0.1)
    with pytest.raises(ValueError, match="got 1 parameters but 0 gradients"):
        sgd_step([p], [], [], 0.1)
    with pytest.raises(ValueError, match="got 1 parameters but 0 gradients or state"):
        sgd_step([p], [p], [], 0.1, momentum=0.9)
    with pytest.raises(ValueError, match="counted from 1"):
        adam_step([p], [p], [p], [p], [], [ag.tensor(-1.0)])
    with pytest.raises(ValueError, match="got 1 parameters but 0 gradients or state"):
        adam_step([p], [p], [p], [p], [], [ag.tensor(0.0)], amsgrad=True)


def test_bit_equal_for_any_number_of_threads():
    before = parallel.get_num_threads()
    runs = []
    try:
        for n in (1, 2, 5):
            parallel.set_num_threads(n)
            arrays = [sample("float32", size) for size in (7, 100_000, 33, 50_001)]
            p = [tensor(a) for a in arrays]
            state = [[np.zeros_like(a) for a in arrays] for _ in range(2)]
            m, v = ([tensor(a) for a in s] for s in state)
            g = [tensor(wide(a).astype(DTYPES["float32"])) for a in arrays]
            adam_step(p, g, m, v, [], [ag.tensor(0.0) for _ in p])
            sgd_step(p, g, [ag.zeros_like(t) for t in p], 0.01, 0.9, first=True)
            runs.append(b"".join(a.tobytes() for a in arrays))
    finally:
        parallel.set_num_threads(before)
    assert runs[0] == runs[1] == runs[2]
