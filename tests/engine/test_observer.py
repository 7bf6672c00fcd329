"""What is observed begins and ends in pairs, whatever happens between."""

import pytest

import autograd_cy as ag
from autograd_cy._C import observe, tensor


class Fails(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise ValueError("in forward")


class FailsLater(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("in backward")


@pytest.fixture
def seen():
    """What was observed, as a list of +name and -."""
    log = []
    observe._set_observer(lambda name: log.append("+" + name), lambda: log.append("-"))
    word = tensor._get_global_modes()
    tensor._set_global_modes(word | 1)  # G_PROFILE
    yield log
    tensor._set_global_modes(word)
    observe._set_observer(None, None)


@pytest.mark.parametrize("call", [
    lambda x: x + ag.ones(4),                                # an elementwise driver
    lambda x: x.add_(ag.ones(4)),
    lambda x: x.sum(5),
    lambda x: x.mm(x),
    lambda x: x.view(7),
    lambda x: ag.linalg.cholesky(-ag.eye(3)),                # interpreted
    lambda x: Fails.apply(x),
    lambda x: FailsLater.apply(x.requires_grad_()).sum().backward(),
    lambda x: ag.func.vmap(lambda a: a.mm(a))(x),
])  # fmt: skip
def test_errors_end_what_they_began(seen, call):
    with pytest.raises((RuntimeError, ValueError, IndexError)):
        call(ag.ones(3))
    depth = 0
    for entry in seen:
        depth += 1 if entry[0] == "+" else -1
        assert depth >= 0
    assert depth == 0


def test_names_are_public(seen):
    x = ag.rand(3, requires_grad=True)
    ag.nn.functional.gelu(x).sum().backward()
    assert "+gelu" in seen and not [name for name in seen if name.startswith("+_")]
