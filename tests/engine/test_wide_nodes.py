"""Operations with more inputs, outputs and saved tensors than 16 bits count."""

import pytest

import autograd_cy as ag

WIDE = 70_000  # more than 16 bits count
VERY_WIDE = 300_000


def ones(n):
    return ag.ones(n, requires_grad=True)


def test_cat_of_one_tensor_many_times():
    x = ag.ones(1, requires_grad=True)
    y = x * 1
    ag.cat([y] * WIDE).sum().backward()
    assert x.grad.item() == WIDE


def test_cat_of_more_inputs_than_there_are_leaves():
    leaves = [ag.ones(1, requires_grad=True) for _ in range(WIDE)]
    times, rest = divmod(VERY_WIDE, WIDE)
    (ag.cat(leaves * times + leaves[:rest]) * 2).sum().backward()
    assert all(x.grad.item() == 2 * times + 2 for x in (leaves[0], leaves[rest - 1]))
    assert all(x.grad.item() == 2 * times for x in (leaves[rest], leaves[65_536], leaves[-1]))


def test_stack_of_one_tensor_many_times():
    x = ag.tensor(3.0, requires_grad=True)
    ag.stack([x] * WIDE).sum().backward()
    assert x.grad.item() == WIDE


@pytest.mark.parametrize(
    ("take_apart", "n"), [(lambda x: x.unbind(0), VERY_WIDE // 4), (lambda x: x.split(1), WIDE)]
)
def test_many_outputs(take_apart, n):
    x = ones(n)
    parts = take_apart(x)
    assert parts[-1].output_nr == n - 1
    (parts[65_535] + 2 * parts[65_536] + 3 * parts[-1]).sum().backward()
    assert x.grad[65_535].item() == 1
    assert x.grad[65_536].item() == 2
    assert x.grad[-1].item() == 3
    assert x.grad.sum().item() == 6


def test_all_of_many_outputs_meet_again():
    x = ones(WIDE)
    ag.stack(x.unbind(0)).sum().backward()
    assert bool((x.grad == 1).all())


class Sum(ag.autograd.Function):
    """Save all its inputs; the gradient of input i is i."""

    @staticmethod
    def forward(ctx, *tensors):
        ctx.save_for_backward(*tensors)
        return ag.stack(tensors).sum()

    @staticmethod
    def backward(ctx, grad):
        assert len(ctx.saved_tensors) == len(ctx.needs_input_grad)
        return tuple(grad * i for i in range(len(ctx.saved_tensors)))


def test_function_with_many_inputs_and_saved_tensors():
    leaves = [ag.tensor(1.0, requires_grad=True) for _ in range(2000)]
    # Saving is looked up among the inputs: many of them, few to save, is below.
    Sum.apply(*leaves).backward()
    assert leaves[-1].grad.item() == 1999


class First(ag.autograd.Function):
    @staticmethod
    def forward(ctx, *tensors):
        return tensors[0] + tensors[-1]

    @staticmethod
    def backward(ctx, grad):
        return (grad,) * len(ctx.needs_input_grad)


def test_function_with_very_many_inputs():
    x, y = ag.tensor(1.0, requires_grad=True), ag.tensor(2.0, requires_grad=True)
    First.apply(*[x] * (VERY_WIDE - 1), y).backward()
    assert x.grad.item() == VERY_WIDE - 1 and y.grad.item() == 1


class Many(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(*[x] * WIDE)
        return tuple(x * 1 for _ in range(WIDE))

    @staticmethod
    def backward(ctx, *grads):
        assert len(ctx.saved_tensors) == len(grads) == WIDE
        return sum(grads[1:], grads[0])


def test_function_with_many_outputs_and_saved_tensors():
    x = ag.tensor(1.0, requires_grad=True)
    outs = Many.apply(x)
    (outs[0] + outs[65_536] + outs[-1]).backward()
    assert x.grad.item() == 3


def test_a_gradient_edge_must_name_an_output_that_exists():
    y = ag.ones(2, requires_grad=True) * 2
    edge = ag.autograd.graph.GradientEdge(y.grad_fn, 1)
    with pytest.raises((RuntimeError, IndexError)):
        ag.autograd.backward([edge], [ag.ones(2)])
    with pytest.raises(RuntimeError, match="names output 1 of MulBackward0"):
        ag.autograd.grad(y.sum(), edge)
