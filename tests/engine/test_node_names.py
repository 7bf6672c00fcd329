"""Nodes have the names that torch gives them."""

import contextlib

import pytest

import autograd_cy as torch

NAMES = {
    "PowBackward0": [lambda y: y**2, lambda y: y.square(), lambda y: y.pow(0.5)],
    "PowBackward1": [lambda y: y**y, lambda y: y ** torch.tensor(2.0)],
    "PowBackward2": [lambda y: 2**y],
    "RsubBackward1": [lambda y: 1 - y],
    "SubBackward0": [lambda y: y - 1, lambda y: y - y],
    "ClampBackward1": [lambda y: y.clamp(0, 1)],
    "ClampBackward0": [lambda y: y.clamp(torch.tensor(0.0), torch.tensor(1.0))],
    "SliceBackward0": [lambda y: y[:1], lambda y: y.narrow(0, 0, 1)],
    "TBackward0": [lambda y: y.t()],
    "TransposeBackward0": [lambda y: y.transpose(0, 1)],
    "PermuteBackward0": [lambda y: y.T],
    "AddBackward0": [lambda y: y + y, lambda y: y.add(y, alpha=2)],
    "CloneBackward0": [lambda y: y.clone(), lambda y: y.t().contiguous()],
    "Log1PBackward0": [lambda y: y.log1p()],
    "ZeroBackward0": [lambda y: y.zero_()],
    "FillBackward2": [lambda y: y.fill_(1.0)],
    "FillBackward3": [lambda y: y.fill_(torch.tensor(1.0))],
    "MaskedFillBackward0": [lambda y: y.masked_fill_(torch.tensor([True, False]), 1.0)],
    "CopyBackwards": [lambda y: y.copy_(torch.ones(2, 2))],
}


@pytest.mark.parametrize("name", NAMES)
def test_nodes_have_the_names_of_torch(name):
    x = torch.full((2, 2), 0.5, requires_grad=True)
    for operation in NAMES[name]:
        fn = operation(x * 1).grad_fn
        prefix = "torch::autograd::" if name == "CopyBackwards" else ""
        assert type(fn).__name__ == name and fn.name() == prefix + name
        assert repr(fn).startswith(f"<{name} object")


# --- edges ------------------------------------------------------------------------------------


def edges(y):
    return [None if node is None else type(node).__name__ for node, _ in y.grad_fn.next_functions]


LEAF = "AccumulateGrad"
NUMBERS = {
    "x ** 3": (lambda x: x**3, [LEAF]),
    "2 ** x": (lambda x: 2**x, [LEAF]),
    "clamp(0)": (lambda x: x.clamp(0), [LEAF]),
    "clamp(max=0)": (lambda x: x.clamp(max=0), [LEAF]),
    "clamp(0, 1)": (lambda x: x.clamp(0, 1), [LEAF]),
    "2 - x": (lambda x: 2 - x, [LEAF]),
    "x - 2": (lambda x: x - 2, [LEAF, None]),
    "2 * x": (lambda x: 2 * x, [LEAF, None]),
    "x * 2": (lambda x: x * 2, [LEAF, None]),
    "2 + x": (lambda x: 2 + x, [LEAF, None]),
    "1 / x": (lambda x: 1 / x, ["ReciprocalBackward0", None]),
    "x % 2": (lambda x: x % 2, [LEAF]),
    "fmod(x, 2)": (lambda x: torch.fmod(x, 2), [LEAF]),
    "xlogy(x, 2)": (lambda x: torch.xlogy(x, 2), [LEAF]),
    "lerp(x, x, 0.3)": (lambda x: torch.lerp(x, x, 0.3), [LEAF, LEAF]),
    "x ** x": (lambda x: x**x, [LEAF, LEAF]),
    "x ** tensor": (lambda x: x ** torch.ones(2), [LEAF, None]),
    "tensor ** x": (lambda x: torch.ones(2) ** x, [None, LEAF]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_have_the_edges_that_they_have_in_torch(name):
    function, expected = NUMBERS[name]
    assert edges(function(torch.ones(2, requires_grad=True))) == expected


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_have_the_same_edges_in_torch(name):
    reference = pytest.importorskip("torch")
    with contextlib.ExitStack() as stack:
        stack.enter_context(pytest.MonkeyPatch.context()).setitem(globals(), "torch", reference)
        function, expected = NUMBERS[name]
        assert edges(function(reference.ones(2, requires_grad=True))) == expected


def test_a_node_whose_only_other_operand_is_a_number_gives_one_gradient():
    x = torch.full((2,), 3.0, requires_grad=True)
    one = torch.ones(2)
    for y, expected in ((x**3, 27.0), (2 - x, -1.0), (x.exp(), x.exp()[0].item())):
        made = y.grad_fn(one)
        assert isinstance(made, torch.Tensor) and made[0].item() == pytest.approx(expected)
    assert isinstance((x * 2).grad_fn(one), tuple)
    seen = []
    y = 2 - x
    y.grad_fn.register_hook(lambda made, given: seen.append(len(made)) or (made[0] * 10,))
    y.sum().backward()
    assert seen == [1] and x.grad.tolist() == [-10.0, -10.0]


def test_saved_numbers_are_numbers():
    x = torch.ones(2, requires_grad=True)
    cube = (x**3).grad_fn
    assert cube._saved_exponent == 3 and type(cube._saved_exponent) is int
    assert (x**2.5).grad_fn._saved_exponent == 2.5
    assert "_raw_saved_exponent" not in dir(cube) and "_raw_saved_self" in dir(cube)
    assert "_raw_saved_exponent" in dir((x**x).grad_fn)
    assert isinstance((x**x).grad_fn._saved_exponent, torch.Tensor)
    clamped = x.clamp(0, 5).grad_fn
    assert (clamped._saved_min, clamped._saved_max) == (0, 5)
    assert (2**x).grad_fn._saved_self == 2
    with pytest.raises(AttributeError, match="_raw_saved_exponent"):
        _ = cube._raw_saved_exponent


def test_sizes_of_inputs_are_shown():
    x = torch.ones(2, 3, requires_grad=True)
    for y in (
        x.sum(1),
        x.mean(1),
        x.max(1)[0],
        x[torch.tensor([0])],
        x.view(6),
        x[0],
    ):
        assert y.grad_fn._saved_self_sym_sizes == (2, 3)
        assert "_saved_self_sym_sizes" in dir(y.grad_fn)
