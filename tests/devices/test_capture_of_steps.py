"""Steps of optimizers as launches: run again they go on from where the parameters are."""

import pytest

import autograd_cy as ag
from autograd_cy._C.launch import capture

SHAPES = [(7, 5), (5,), (), (3, 1, 2), (0, 4), (40, 30), (2,), (9,)]


def leaves(dtype=ag.float32):
    return [ag.randn(shape, dtype=dtype).requires_grad_() for shape in SHAPES]


def bits(tensors):
    return [t.detach().clone().numpy().tobytes() for t in tensors]


def twins(tensors):
    return [t.detach().clone().requires_grad_() for t in tensors]


def set_gradients(params, grads):
    for p, g in zip(params, grads):
        if p.grad is None:
            p.grad = g.clone()
        else:
            p.grad.copy_(g)


OPTIONS = [
    {"lr": 0.1},
    {"lr": 0.1, "weight_decay": 0.01, "maximize": True},
    {"lr": 0.1, "momentum": 0.9},
    {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
    {"lr": 0.05, "momentum": 0.5, "dampening": 0.3},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", [ag.float32, ag.complex128, ag.bfloat16])
def test_a_step_runs_again(options, dtype):
    params = leaves(dtype)
    other = twins(params)
    mine, plain = ag.optim.SGD(params, **options), ag.optim.SGD(other, **options)
    steps = [[ag.randn(shape, dtype=dtype) for shape in SHAPES] for _ in range(4)]
    for ps, optimizer in ((params, mine), (other, plain)):
        set_gradients(ps, steps[0])
        optimizer.step()
    set_gradients(params, steps[1])
    program = capture(mine.step)
    assert len(program) == 1
    for grads in steps[2:]:
        set_gradients(params, grads)
        program.replay()
    for grads in steps[1:]:
        set_gradients(other, grads)
        plain.step()
    assert bits(params) == bits(other)


def test_operands_are_the_parameters_gradients_and_buffers():
    params = [ag.randn(3).requires_grad_() for _ in range(20)]
    set_gradients(params, [ag.ones(3)] * 20)
    optimizer = ag.optim.SGD(params, lr=0.1, momentum=0.9)
    optimizer.step()
    program = capture(optimizer.step)
    accesses = [use.access for use in program.operands(0)]
    # Parameter, gradient and momentum of each; in the end the learning rate of all.
    assert accesses == [*[3, 1, 3] * 20, 1]
    assert len({use.storage for use in program.operands(0)}) == 61


def test_parameters_and_gradients_of_other_strides_run_again():
    p = ag.randn(4, 6).t().requires_grad_()
    grads = [ag.randn(6, 4), ag.randn(6, 4)]
    q = p.detach().clone().requires_grad_()
    optimizer, plain = ag.optim.SGD([p], lr=0.5), ag.optim.SGD([q], lr=0.5)
    p.grad = grads[0].clone()
    program = capture(optimizer.step)
    p.grad.copy_(grads[1])
    program.replay()
    for g in grads:
        q.grad = g.clone()
        plain.step()
    assert bits([p]) == bits([q])


def test_a_training_step_runs_again():
    x, target = ag.randn(16, 6), ag.randn(16, 3)
    first, second = ag.randn(8, 6, requires_grad=True), ag.randn(3, 8, requires_grad=True)
    params, linear = [first, second], ag.nn.functional.linear

    def run(params, optimizer, x, target):
        y = linear(linear(x, params[0]).tanh(), params[1])
        grads = ag.autograd.grad(y, params, y.detach() - target)
        for p, g in zip(params, grads):
            p.grad = g
        optimizer.step()

    other = twins(params)
    mine = ag.optim.SGD(params, lr=0.01, momentum=0.9)
    plain = ag.optim.SGD(other, lr=0.01, momentum=0.9)
    run(params, mine, x, target)
    run(other, plain, x, target)
    program = capture(lambda: run(params, mine, x, target))
    run(other, plain, x, target)
    assert bits(params) == bits(other)
    for _ in range(3):
        x.copy_(ag.randn(16, 6))
        target.copy_(ag.randn(16, 3))
        program.poison()
        program.replay_elsewhere([x, target])
        run(other, plain, x, target)
        assert bits(params) == bits(other)
